"""What would be done to which file of which harness, decided before anything is written."""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.acts.harness import claude, words
from memspec_py.acts.harness.pieces import (
    JsonPiece,
    Outcome,
    Refused,
    Registered,
    TextPiece,
    WholePiece,
)
from memspec_py.acts.harness.table import BY_NAME, HARNESSES, HOME, PROJECT, JsonServer, Place
from memspec_py.store import files
from memspec_py.store.resolve import is_home

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memspec_py.acts.harness.pieces import Piece
    from memspec_py.acts.harness.table import Harness
    from memspec_py.store.resolve import Surroundings

_MOST_BYTES = 4_194_304
_AGENTS, _CLAUDE = "AGENTS.md", "CLAUDE.md"


class Wanted(NamedTuple):
    """What to set up, or to take out with ``uninstall``: for which harnesses, and which parts.

    ``events`` are the moments that hooks are registered for. ``force`` also changes a file that a
    link of the project leads out of it to, and replaces a skill that somebody changed.
    """

    harnesses: Sequence[str] = ()
    contract: bool = True
    servers: bool = True
    events: Sequence[str] = ()
    uninstall: bool = False
    force: bool = False


class Target(NamedTuple):
    """A file and the piece to put into it, or to take out; ``base`` is what it belongs to."""

    path: Path
    base: str
    piece: Piece


class Edit(NamedTuple):
    """A file with the bytes it has and is to have; None is no file.

    ``problem`` says why it is left alone, ``snippet`` what could be pasted into it by hand.
    """

    path: Path
    real: Path
    before: bytes | None
    after: bytes | None
    notes: tuple[str, ...] = ()
    problem: str | None = None
    snippet: str | None = None

    @property
    def changes(self) -> bool:
        """Whether there is anything to write."""
        return self.problem is None and self.before != self.after

    @property
    def diff(self) -> str:
        """The change as a unified diff."""
        before, after = self.before, self.after
        return "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in difflib.unified_diff(
                _lines(before),
                _lines(after),
                "/dev/null" if before is None else str(self.real),
                "/dev/null" if after is None else str(self.real),
                n=1,
            )
        )


def found_here(project: Path, where: Surroundings) -> tuple[str, ...]:
    """The harnesses that seem to be in use, by their folders."""
    return tuple(
        one.name for one in HARNESSES if any(_exists(place, project, where) for place in one.signs)
    )


def edits(project: Path, wanted: Wanted, where: Surroundings) -> list[Edit]:
    """What to do to each file, in order; a file of several harnesses is there once."""
    by_file: dict[Path, list[Target]] = {}
    for target in targets(project, wanted, where):
        by_file.setdefault(Path(os.path.realpath(target.path)), []).append(target)
    return [_edit(real, some, project, wanted) for real, some in by_file.items()]


def targets(project: Path, wanted: Wanted, where: Surroundings) -> Iterator[Target]:
    """Each piece and its file. Pieces of one JSON file come one by one."""
    chosen = [BY_NAME[name] for name in wanted.harnesses]
    for target in _targets(project, chosen, wanted, where):
        # The home is no project: what a project shares has no place there.
        if target.base != PROJECT or not is_home(project, where):
            yield target


def _targets(
    project: Path, chosen: Sequence[Harness], wanted: Wanted, where: Surroundings
) -> Iterator[Target]:
    if wanted.contract:
        for file in _instructions(project, chosen, wanted):
            yield Target(file, PROJECT, TextPiece(words.CONTRACT))
    for one in chosen:
        if wanted.servers:
            yield from _servers(one, project, where)
        yield from _hooks(one, project, wanted.events, where)
        if wanted.servers and one.skill is not None:
            path = _path(one.skill, project, where)
            if path is not None:
                yield Target(path, one.skill.base, WholePiece(words.skill(), wanted.force))


def _servers(one: Harness, project: Path, where: Surroundings) -> Iterator[Target]:
    for server in one.servers:
        path = _path(server.place, project, where)
        if path is None:
            continue
        if isinstance(server, JsonServer):
            part = Registered(server.entry)
            yield Target(path, server.place.base, JsonPiece((part,), server.always, where))
        else:
            yield Target(path, server.place.base, TextPiece(server.body, server.syntax))


def _hooks(
    one: Harness, project: Path, events: Sequence[str], where: Surroundings
) -> Iterator[Target]:
    if one.hooks is None or not events:
        return
    path = _path(one.hooks.place, project, where)
    if path is None:
        return
    for event in events:
        entry = one.hook(event)
        if entry is not None:
            piece = JsonPiece((Registered(entry, event),), one.hooks.always, where)
            yield Target(path, one.hooks.place.base, piece)


def _instructions(project: Path, chosen: Sequence[Harness], wanted: Wanted) -> list[Path]:
    """The instruction files: those that are there, else AGENTS.md, and what a harness reads only.

    A file that takes in another of them, or is another by a link, needs nothing of its own. What is
    to be taken out is looked for in all.
    """
    own = [one.instructions for one in chosen if one.instructions is not None]
    shared = [name for name in (_AGENTS, _CLAUDE) if (project / name).exists()] or [_AGENTS]
    every = [project / name for name in dict.fromkeys([*shared, *own])]
    if wanted.uninstall:
        return every
    return [one for one in every if not any(_takes_in(one, other) for other in every)]


def _takes_in(one: Path, other: Path) -> bool:
    """Whether an instruction file names another one to be read with it."""
    if one == other:
        return False
    try:
        lines = files.read(os.path.realpath(one), _MOST_BYTES).splitlines()
    except OSError:
        return False
    names = (f"@{other.name}", f"@./{other.name}")
    return any(line.strip().decode("utf-8", "replace") in names for line in lines)


def _edit(real: Path, some: Sequence[Target], project: Path, wanted: Wanted) -> Edit:
    path = some[0].path
    piece = _together([one.piece for one in some])
    notes = [] if _is_itself(path, some[0].base, project) else [f"{path} leads to {real}"]
    try:
        before = _read(real)
        made = _outcome(piece, before, wanted)
    except Refused as problem:
        return Edit(path, real, None, None, tuple(notes), str(problem), piece.snippet)
    notes += made.notes
    edit = Edit(path, real, before, made.data, tuple(notes))
    is_inside = some[0].base != PROJECT or _is_inside(real, project)
    if edit.changes and not is_inside and not wanted.force:
        outside = "it lies outside of the project; --force changes it all the same"
        return edit._replace(problem=outside, snippet=piece.snippet)
    return edit


def _outcome(piece: Piece, before: bytes | None, wanted: Wanted) -> Outcome:
    if not wanted.uninstall:
        return piece.put(before)
    # What does not name us has nothing of ours, whatever else it is.
    if before is None or b"memspec" not in before:
        return Outcome(before)
    return piece.take(before)


def _together(pieces: Sequence[Piece]) -> Piece:
    """One piece for a file: the entries of all; other pieces of one file are equal."""
    first = pieces[0]
    if not isinstance(first, JsonPiece):
        return first
    parts = [part for piece in pieces if isinstance(piece, JsonPiece) for part in piece.parts]
    always = {
        key: one
        for piece in pieces
        if isinstance(piece, JsonPiece)
        for key, one in piece.always.items()
    }
    return first._replace(parts=tuple(_distinct(parts)), always=always)


def _distinct(parts: Iterable[Registered]) -> list[Registered]:
    found: list[Registered] = []
    for one in parts:
        if one not in found:
            found.append(one)
    return found


def _read(real: Path) -> bytes | None:
    try:
        return files.read(real, _MOST_BYTES)
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise Refused(f"it cannot be read: {problem.strerror or problem}") from None


def _path(place: Place, project: Path, where: Surroundings) -> Path | None:
    """The file that a place means here; None where there is no home for it."""
    base = _base(place, project, where)
    if base is None:
        return None
    every = [base / name for name in place.names]
    return next((one for one in every if os.path.lexists(one)), every[0])


def _base(place: Place, project: Path, where: Surroundings) -> Path | None:
    if place.base == PROJECT:
        return project
    return where.home if place.base == HOME else claude.folder(where)


def _exists(place: Place, project: Path, where: Surroundings) -> bool:
    base = _base(place, project, where)
    return base is not None and any((base / name).exists() for name in place.names)


def _is_itself(path: Path, base: str, project: Path) -> bool:
    """Whether no link is on the way to a file, from the project or from its own folder on."""
    start = project if base == PROJECT else path.parent
    inside = os.path.relpath(path, start)
    return os.path.realpath(path) == os.path.join(os.path.realpath(start), inside)


def _is_inside(real: Path, project: Path) -> bool:
    from memspec_py.anchors.locate import repository_of

    base = Path(os.path.realpath(project))
    return real.is_relative_to(repository_of(base) or base)


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "backslashreplace").splitlines(keepends=True)
