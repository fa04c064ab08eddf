"""Changes of several files at once: all of them or none, whatever happens in between.

The journal, ``local/journal/<entry>.json``, holds the old and the new bytes of every file (of one
that only grows, those at its end) before the first of them is touched. Whoever takes the store lock
next after a kill calls ``recover``, which finishes what it finds. A failure that the process
survives is undone at once. Every function but ``pending`` wants the store lock to be held.
"""

from __future__ import annotations

import binascii
import os
import re
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import TYPE_CHECKING, TypeAlias

from memspec_py.errors import Conflict, MemspecError, StorageFailed, UsageError
from memspec_py.store import files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

_FORMAT = 1
_FOLDER = ("local", "journal")
_ENTRY = re.compile(r"[A-Za-z0-9_-]{1,100}\Z")
# Names with another dot in them were set aside: `x.conflict.json`, `x.damaged.json`.
_WAITING = re.compile(r"[A-Za-z0-9_-]{1,100}\.json\Z")
_ENDING = 1_024  # so many bytes tell whether a file that is to grow is still the same


@dataclass(frozen=True, slots=True)
class Create:
    """A new file. Paths of all changes are relative to the store, with ``/``."""

    path: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Replace:
    """New content for a file whose digest is still ``expect``."""

    path: str
    data: bytes
    expect: str


@dataclass(frozen=True, slots=True)
class Move:
    """New content under a new name, in place of the file at ``src`` whose digest is ``expect``."""

    src: str
    dst: str
    data: bytes
    expect: str


@dataclass(frozen=True, slots=True)
class Append:
    """Whole lines at the end of a file, which is made when it is missing.

    What somebody else adds to it at the same time stays, and each of these lines stands once.
    """

    path: str
    data: bytes


Change: TypeAlias = Create | Replace | Move | Append


@dataclass(frozen=True, slots=True)
class _Step:
    """One file going from ``old`` to ``new``, where None means that there is no file.

    With ``start`` it grows: both are what it has from there on, and ``new`` begins with ``old``.
    """

    path: str
    old: bytes | None
    new: bytes | None
    mode: int | None = None
    start: int | None = None

    def reversed(self) -> _Step:
        return replace(self, old=self.new, new=self.old)


_Steps: TypeAlias = tuple[_Step, ...]  # of one change, in the order in which they are made


class _NotAFile:
    """What is found where a folder, a link or a pipe stands: equal to no bytes."""


def apply(
    root: Path,
    changes: Sequence[Change],
    entry: str,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Make all the changes or none; ``entry`` names the journal (a record's id will do).

    ``progress`` is called with (done, total) after each file. Interrupted by a kill or an exception
    from outside, the change is finished by the next ``recover``.

    Raises: ``UsageError`` for a path outside the store, ``Conflict`` with nothing changed when a
    file is not as expected, ``StorageFailed``.
    """
    _refuse_nonsense(root, changes, entry)
    if pending(root):
        raise Conflict(
            f"an interrupted change waits in {root.joinpath(*_FOLDER)}",
            hint="it has to be finished first: recover, then try again",
        )
    planned = [_plan(root, change) for change in changes]
    steps = tuple(chain.from_iterable(planned))
    if len(steps) <= 1 and not any(map(_grows, steps)):  # it is all or nothing by itself
        _make_all(root, steps, progress, None)
        return
    journal = root.joinpath(*_FOLDER, f"{entry}.json")
    written = _encode(planned)
    files.create(journal, written)
    try:
        folders: set[Path] = set()
        _make_all(root, steps, progress, folders)
        _sync(folders)
    except MemspecError as failed:
        _undo(root, planned, failed)
        _clear(journal, written, failed.message)
        raise
    _clear(journal, written, "the change is made")


def recover(root: Path) -> list[str]:
    """Finish every interrupted change; the sentences name what a person has to look at.

    A file that somebody edited in between keeps its bytes: its change is left out, and the journal,
    with the bytes that were meant, is set aside beside its place. So is a journal that cannot be
    read.

    Raises: ``StorageFailed`` when the disk refuses; the journal waits for the next attempt.
    """
    folder = root.joinpath(*_FOLDER)
    with files.storage_errors(folder):
        waiting = _waiting(folder)
    told = [sentence for name in waiting for sentence in _finish(root, folder / name)]
    files.remove_strays(folder)
    return told


def pending(root: Path) -> bool:
    """Whether an interrupted change waits to be finished; cheap, and needs no lock."""
    try:
        return bool(_waiting(root.joinpath(*_FOLDER)))
    except OSError:  # who may not look into local/ cannot write either, and reading must go on
        return False


def _refuse_nonsense(root: Path, changes: Iterable[Change], entry: str) -> None:
    if not _ENTRY.match(entry):
        raise UsageError(
            f"{entry!r} cannot name a journal", hint="letters, digits, _ and - will do"
        )
    seen: set[str] = set()
    for path in chain.from_iterable(map(_paths, changes)):
        if path in seen:
            raise UsageError(f"{path} is changed twice at once")
        seen.add(path)
        if (why := _refusal(root, path)) is not None:
            raise UsageError(f"{path!r} {why}", hint="a change stays inside its store")


def _paths(change: Change) -> tuple[str, ...]:
    return (change.src, change.dst) if isinstance(change, Move) else (change.path,)


def _refusal(root: Path, path: str) -> str | None:
    """Why a path is no place in the store, or None when it is one."""
    place = root
    for part in path.split("/"):
        if part in {"", ".", ".."} or any(sign in part for sign in "\\:\0"):
            return "is not a relative path with / inside the store"
        place /= part
        if place.is_symlink():
            return "leads through a symbolic link"
    return None


def _plan(root: Path, change: Change) -> _Steps:
    if isinstance(change, Append):
        return (_growth(root / change.path, change),)
    if isinstance(change, Create):
        files.absent(root / change.path)
        return (_Step(change.path, None, change.data),)
    source = root / (change.src if isinstance(change, Move) else change.path)
    with files.storage_errors(source):
        old, mode = files.expected(source, change.expect)
    if isinstance(change, Replace):
        return (_Step(change.path, old, change.data),)
    files.absent(root / change.dst)
    # First the new file, then the old one away: no instant has neither.
    return _Step(change.dst, None, change.data, mode), _Step(change.src, old, None, mode)


def _growth(path: Path, change: Append) -> _Step:
    try:
        start, old = files.read_end(path, -_ENDING)
    except FileNotFoundError:
        return _Step(change.path, None, change.data)
    except OSError:
        with files.storage_errors(path):
            raise
    gap = b"" if not old or old.endswith(b"\n") else b"\n"
    return _Step(change.path, old, old + gap + change.data, start=start)


def _grows(step: _Step) -> bool:
    return step.start is not None


def _make_all(
    root: Path,
    steps: _Steps,
    progress: Callable[[int, int], None] | None,
    folders: set[Path] | None,
) -> None:
    for done, step in enumerate(steps, 1):
        _make(root, step, folders)
        if progress is not None:
            progress(done, len(steps))


def _make(root: Path, step: _Step, folders: set[Path] | None) -> None:
    """Take one file from old to new; its folder is synced at once, or put among ``folders``.

    These are for a change with a journal, which stands until all of them are synced.
    Raises: ``Conflict`` when the file is not as expected, ``StorageFailed``.
    """
    path = root / step.path
    if _grows(step):
        _grow(path, step)
    elif step.old is None and step.new is not None:
        files.create(path, step.new, mode=step.mode, later=folders)
    elif step.new is None and step.old is not None:
        files.remove(path, expect=files.digest(step.old), later=folders)
    elif step.new is not None and step.old is not None:
        files.replace(path, step.new, expect=files.digest(step.old), later=folders)


def _make_again(root: Path, step: _Step, folders: set[Path]) -> None:
    """As ``_make``, of a step that a killed writer may have made already."""
    path = root / step.path
    if _grows(step) or _present(path) != step.new:
        _make(root, step, folders)
    elif path.parent.is_dir():
        # Seen after a kill, which does not mean that it would outlast a power cut.
        folders.add(path.parent)


def _sync(folders: Iterable[Path]) -> None:
    for folder in sorted(folders):
        with files.storage_errors(folder):
            files.sync_folder(folder)


def _grow(path: Path, step: _Step) -> None:
    present = _present(path, step.start)
    if not isinstance(present, bytes) or not present.startswith(step.old or b""):
        raise Conflict(
            f"{path} was changed by somebody else",
            hint="try again",
            details={"path": str(path)},
        )
    files.append(path, _lacking(step, present))  # it is synced also when it lacks nothing


def _lacking(step: _Step, present: bytes) -> bytes:
    """What a file that begins as expected still has to get; a kill may have left a part."""
    old, new = step.old or b"", step.new or b""
    if new.startswith(present):
        return new[len(present) :]
    # Somebody else added something. Whole lines of ours stand; of a torn one nothing is left.
    lines = set(present[len(old) :].split(b"\n"))
    rest = [line for line in new[len(old) :].split(b"\n") if line and line not in lines]
    if not rest:
        return b""
    gap = [] if present.endswith(b"\n") else [b""]
    return b"\n".join([*gap, *rest, b""])


def _present(path: Path, start: int | None = None) -> bytes | _NotAFile | None:
    try:
        return files.read(path) if start is None else files.read_end(path, start)[1]
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        return _NotAFile()
    except OSError:
        # A failing disk must not look like a conflict, so the name has to be there.
        if os.path.lexists(path) and (path.is_symlink() or not path.is_file()):
            return _NotAFile()
        with files.storage_errors(path):
            raise


def _undo(root: Path, planned: Iterable[_Steps], failed: MemspecError) -> None:
    folders: set[Path] = set()
    try:
        for step in reversed(tuple(chain.from_iterable(planned))):
            # What is neither old nor new belongs to somebody else and stays.
            if _grows(step):
                _shrink(root / step.path, step)
            elif step.new != step.old and _present(root / step.path) == step.new:
                _make(root, step.reversed(), folders)
        _sync(folders)
    except MemspecError as stuck:
        raise StorageFailed(
            f"{failed.message}; taking the rest back failed too: {stuck.message}",
            hint="the next write to the store finishes the change",
            details=stuck.details,
        ) from failed


def _shrink(path: Path, step: _Step) -> None:
    present, old, new = _present(path, step.start), step.old or b"", step.new or b""
    if isinstance(present, bytes) and present.startswith(old) and new.startswith(present):
        files.shorten(path, (step.start or 0) + len(old))


def _clear(journal: Path, written: bytes, outcome: str) -> None:
    try:
        files.remove(journal, expect=files.digest(written))
    except MemspecError as stuck:
        raise StorageFailed(
            f"{outcome}, but its journal may still be there: {stuck.message}",
            hint="the next write to the store finishes what the journal says",
            details=stuck.details,
        ) from stuck


def _waiting(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(
                entry.name
                for entry in entries
                if _WAITING.match(entry.name) and entry.is_file(follow_symlinks=False)
            )
    except FileNotFoundError:
        return []


def _finish(root: Path, journal: Path) -> list[str]:
    with files.storage_errors(journal):
        written = files.read(journal)
    try:
        planned = _decode(written)
    except (ValueError, TypeError, KeyError, RecursionError) as damage:
        kept = _set_aside(journal, "damaged")
        return [f"the journal of an interrupted change cannot be read ({damage!r}); it is {kept}"]
    told = [sentence for steps in planned for sentence in _roll_forward(root, steps)]
    _sweep(root, [step.path for step in chain.from_iterable(planned)])
    if not told:
        files.remove(journal, expect=files.digest(written))
        return []
    kept = _set_aside(journal, "conflict")
    return [f"{sentence}; what was meant is in {kept}" for sentence in told]


def _roll_forward(root: Path, steps: _Steps) -> list[str]:
    for step in steps:
        why = _refusal(root, step.path)
        if why is None and not _is_expected(step, _present(root / step.path, step.start)):
            why = "was changed by somebody else after an interrupted change, and keeps its content"
        if why is not None:
            return [f"{step.path} {why}"]
    folders: set[Path] = set()
    for step in steps:
        _make_again(root, step, folders)
    _sync(folders)
    return []


def _is_expected(step: _Step, present: bytes | _NotAFile | None) -> bool:
    if _grows(step):
        return isinstance(present, bytes) and present.startswith(step.old or b"")
    return present in (step.old, step.new)


def _sweep(root: Path, paths: Iterable[str]) -> None:
    for folder in {(root / path).parent for path in paths if _refusal(root, path) is None}:
        files.remove_strays(folder)


def _set_aside(journal: Path, why: str) -> str:
    numbered = (f"{why}-{number}" if number > 1 else why for number in count(1))
    names = (journal.with_name(f"{journal.stem}.{suffix}.json") for suffix in numbered)
    kept = next(name for name in names if not os.path.lexists(name))
    with files.storage_errors(journal):
        journal.rename(kept)
        files.sync_folder(journal.parent)
    return "/".join((*_FOLDER, kept.name))


def _encode(planned: Iterable[_Steps]) -> bytes:
    import json  # readers come by for `pending` and never need it

    changes = [
        [
            {
                "path": step.path,
                "old": _armoured(step.old),
                "new": _armoured(step.new),
                "mode": step.mode,
                "start": step.start,
            }
            for step in steps
        ]
        for steps in planned
    ]
    return json.dumps(
        {
            "format": _FORMAT,
            "sha256": files.digest(json.dumps(changes).encode()),
            "changes": changes,
        }
    ).encode()


def _decode(written: bytes) -> list[_Steps]:
    import json

    found = json.loads(written)
    if found["format"] != _FORMAT:
        raise ValueError(f"format {found['format']!r} is not known")
    if files.digest(json.dumps(found["changes"]).encode()) != found["sha256"]:
        raise ValueError("the sha256 does not match")
    return [tuple(_step(**step) for step in steps) for steps in found["changes"]]


def _step(
    *,
    path: object,
    old: str | None,
    new: str | None,
    mode: int | None,
    start: object = None,
) -> _Step:
    if not isinstance(path, str):
        raise TypeError(f"{path!r} is not a path")
    if not (start is None or (isinstance(start, int) and start >= 0)):
        raise TypeError(f"{start!r} is not a place in a file")
    return _Step(path, _bare(old), _bare(new), None if mode is None else mode & 0o777, start)


def _armoured(data: bytes | None) -> str | None:
    return None if data is None else binascii.b2a_base64(data, newline=False).decode("ascii")


def _bare(text: str | None) -> bytes | None:
    return None if text is None else binascii.a2b_base64(text, strict_mode=True)
