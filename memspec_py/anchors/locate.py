"""From the path a person types to an anchor that means the same on every machine."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from memspec_py.anchors.blob import blob_id
from memspec_py.record.model import Anchor


@dataclass(frozen=True, slots=True, kw_only=True)
class Unresolved:
    """A path that could not be anchored, and why."""

    path: str
    reason: str


def anchor_file(typed: str, *, cwd: Path, project: Path) -> Anchor | Unresolved:
    """The anchor of one file.

    A relative path is looked up in the working directory, then in the project. A file of the
    project's own repository (or of none) is recorded relative to the project; a file of another
    repository as ``repo`` (the name of its folder) and a path within it, because that is what other
    machines have in common.
    """
    found = _existing(typed, cwd, project)
    if found is None:
        places = " or ".join(dict.fromkeys((str(cwd), str(project))))
        return Unresolved(path=typed, reason=f"no such file in {places}")
    try:
        data = found.read_bytes()
    except OSError as problem:
        return Unresolved(path=typed, reason=f"cannot be read: {problem.strerror or problem}")
    own = repository_of(project)
    theirs = repository_of(found)
    if theirs is not None and theirs != own:
        inside = found.relative_to(theirs).as_posix()
        return Anchor(repo=theirs.name, file=inside, sha=blob_id(data))
    relative = _within(found, project)
    if relative is None:
        return Unresolved(path=typed, reason=f"lies outside {project} and in no repository")
    return Anchor(file=relative, sha=blob_id(data))


def _within(found: Path, project: Path) -> str | None:
    """The path of a file in the project, also where one of the two was reached by a link."""
    for base, place in ((project, found), (project.resolve(), found.resolve())):
        if place.is_relative_to(base):
            return place.relative_to(base).as_posix()
    return None


def repository_of(path: Path) -> Path | None:
    """The top of the git checkout a path lies in; a linked worktree or submodule is its own."""
    for folder in (path, *path.parents):
        if (folder / ".git").exists():
            return folder
    return None


def _existing(typed: str, cwd: Path, project: Path) -> Path | None:
    for base in (cwd, project):
        place = os.path.normpath(base / typed)
        if os.path.isfile(place):  # unlike Path.is_file, it never raises, however odd the name
            return Path(place)
    return None
