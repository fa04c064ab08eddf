"""Which store serves a directory, and why: one resolver for every read and every write."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.errors import NoStore
from memspec_py.store.layout import POINTER_NAME, STORE_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Surroundings(NamedTuple):
    """What the process lives in, handed down by the fronts."""

    cwd: Path
    home: Path | None
    env: Mapping[str, str]


class Resolved(NamedTuple):
    """A store's root (the ``.memspec`` folder) and the steps that led to it."""

    root: Path
    steps: tuple[str, ...]


def resolve(where: Surroundings, start: Path | None = None) -> Resolved:
    """The store for ``start``, else ``MEMSPEC_ROOT``, else the working directory.

    Raises ``NoStore``, which says where it looked and how to make one.
    """
    asked, steps = _starting_point(where, start)
    if asked.name == STORE_NAME:
        if asked.is_dir():
            return Resolved(root=asked, steps=(*steps, f"{asked} is named as the store itself"))
        raise NoStore(f"no store at {asked}", hint=f"make one with: memspec init {asked}")
    pointers: list[str] = []
    for folder in _upward(asked, where):
        candidate = folder / STORE_NAME
        if candidate.is_dir():
            return Resolved(root=candidate, steps=(*steps, *pointers, f"{candidate} is a store"))
        if (folder / POINTER_NAME).is_file():
            pointers.append(f"{folder / POINTER_NAME} is a pointer, which is not followed yet")
    raise NoStore(
        f"no store in {asked} or above it" + "".join(f"; {pointer}" for pointer in pointers),
        hint=f"make one with: memspec init {asked}",
    )


def enclosing_store(folder: Path, where: Surroundings) -> Path | None:
    """The nearest store strictly above a folder, within the fence; ``init`` refuses to nest."""
    for parent in _upward(folder, where):
        if parent != folder and (parent / STORE_NAME).is_dir():
            return parent / STORE_NAME
    return None


def expanded(path: Path, where: Surroundings) -> Path:
    """An absolute path without ``~`` and ``..``; symbolic links stay as they are."""
    text = os.fspath(path)
    if where.home is not None and (text == "~" or text.startswith("~/")):
        text = os.path.join(where.home, text[2:])
    return Path(os.path.normpath(os.path.join(where.cwd, text)))


def _starting_point(where: Surroundings, start: Path | None) -> tuple[Path, tuple[str, ...]]:
    if start is not None:
        place = expanded(start, where)
        return place, (f"start at {place}, as asked",)
    named = where.env.get("MEMSPEC_ROOT")
    if named:
        place = expanded(Path(named), where)
        return place, (f"start at {place}, from MEMSPEC_ROOT",)
    return where.cwd, (f"start at {where.cwd}, the working directory",)


def _upward(start: Path, where: Surroundings) -> Iterator[Path]:
    """The folders to look in, nearest first.

    Inside the home folder the walk ends there, so that nothing above it can capture a session;
    elsewhere it goes to the root of the file system.
    """
    yield start
    fences = [where.home, where.home and Path(os.path.realpath(where.home))]
    if where.env.get("MEMSPEC_NO_WALK") == "1" or start in fences:
        return
    for parent in start.parents:
        yield parent
        if parent in fences:
            return
