"""Records by the code they are anchored to: from a path as typed to the records that name it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.index.search import bindable

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping, Sequence


class Place(NamedTuple):
    """A file or a folder as anchors name it; an empty ``file`` is the whole repository."""

    repo: str | None
    file: str

    def holds(self, repo: str | None, file: str) -> bool:
        """Whether an anchor with these names is on this file, or on one below this folder."""
        is_below = not self.file or file == self.file or file.startswith(f"{self.file}/")
        return repo == self.repo and is_below


def places_of(typed: str, cwd: Path, project: Path) -> list[Place]:
    """Every name that anchors may have for a path that is relative to the working directory.

    The file need not exist: what was deleted has claims about it too. ``PATH#Symbol`` and the other
    forms of an anchor mean their file.
    """
    if not typed or "\0" in typed:
        return []
    return list(dict.fromkeys(_named(_file_of(typed, cwd), project)))


def anchored_to(
    db: sqlite3.Connection,
    places: Mapping[str, Sequence[Place]],
    clause: str,
    values: Mapping[str, object],
) -> dict[str, list[int]]:
    """For each path, the keys of the records ``r`` that fit the clause and are anchored there."""
    found: dict[str, list[int]] = {typed: [] for typed in places}
    every = {place for some in places.values() for place in some}
    if not every:
        return found
    # Places of several repositories may name one file, and each needle is sought in every head.
    needles = {f"needle{at}": text for at, text in enumerate(set(map(_needle, every)))}
    rows = db.execute(
        "select r.key, json_extract(r.head, '$.anchors') from shown r"
        f" where r.anchored and {clause}"
        f" and ({' or '.join(f'instr(r.head, :{name})' for name in needles)})",
        {**values, **needles},
    )
    for key, text in rows:
        anchors = json.loads(text)
        for typed, some in places.items():
            if any(one.holds(a.get("repo"), a["file"]) for one in some for a in anchors):
                found[typed].append(key)
    return found


def _needle(place: Place) -> str:
    """What the front matter of a record with an anchor there contains, as the index keeps it."""
    return bindable('"file":' + json.dumps(place.file, ensure_ascii=False)[:-1])


def _file_of(typed: str, cwd: Path) -> str:
    """The absolute path that was meant; of an anchor's form, its file if that is there."""
    from memspec_py.anchors.grain import readings

    for reading in readings(typed):
        place = os.path.normpath(os.path.join(cwd, reading.path))
        if os.path.lexists(place):
            return place
    return os.path.normpath(os.path.join(cwd, typed))


def _named(path: str, project: Path) -> Iterator[Place]:
    from memspec_py.anchors.locate import git_folder, repository_name, repository_of

    real, base = os.path.realpath(path), os.path.realpath(project)
    yield from _below(path, str(project))
    yield from _below(real, base)
    top = repository_of(Path(real))
    if top is None:
        return
    inside = os.path.relpath(real, top)
    yield from (Place(repository_name(top), one.file) for one in _below(real, str(top)))
    own = repository_of(Path(base))
    if own is not None and own != top and _is_one(git_folder(top), git_folder(own)):
        yield from _below(os.path.join(own, inside), base)  # from another worktree of it


def _below(path: str, folder: str) -> Iterator[Place]:
    relative = os.path.relpath(path, folder).replace(os.sep, "/")
    if relative != ".." and not relative.startswith("../"):
        yield Place(None, "" if relative == "." else relative)


def _is_one(first: Path | None, second: Path | None) -> bool:
    return first is not None and second is not None and first.resolve() == second.resolve()
