"""Which scope a working directory is in, and which store covers it, by patterns of folders.

A pattern names folders and takes in each of them with everything below it. ``~`` is the home, and a
relative pattern starts at the folder whose settings declare it. ``*`` and ``?`` stay within one
name, ``[a-z]`` and ``[!a-z]`` stand for one character of it, and ``**`` is any number of names,
none included. A name that is written as it is always fits, whatever marks it contains; upper and
lower case differ. Folders are compared by what they are and not only by what they are called, so
that a symbolic link on either side makes no difference.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path


class Specificity(NamedTuple):
    """How narrow a pattern is; of two, the greater one is the narrower.

    ``depth`` counts the names before the first wildcard (of the real folder, where links are in
    play), ``loose`` is minus the wildcard characters, ``named`` counts the other characters behind.
    """

    depth: int
    loose: int = 0
    named: int = 0


class Derived(NamedTuple):
    """The scope of a folder and the pattern that says so; neither when no pattern matches.

    ``tied`` names the scopes whose patterns are equally narrow; then none of them is chosen.
    """

    name: str | None = None
    pattern: str | None = None
    tied: tuple[str, ...] = ()


class Covering(NamedTuple):
    """The store that covers a folder and the pattern of its ``claims:`` that says so.

    ``tied`` names the stores whose patterns are equally narrow; then none of them is chosen.
    """

    store: str | None = None
    pattern: str | None = None
    tied: tuple[str, ...] = ()


def derive(
    scopes: Mapping[str, tuple[str, ...]], cwd: Path, *, base: Path, home: Path | None
) -> Derived:
    """The scope with the narrowest pattern that matches the working directory."""
    if not scopes:
        return Derived()
    start = os.fspath(base)
    return _narrowest(((name, scopes[name], start) for name in scopes), cwd, home)


def covering(
    cwd: Path, stores: Iterable[tuple[str, Sequence[str], Path]], *, home: Path | None
) -> Covering | None:
    """The store that covers a folder most narrowly; ``None`` when none of them does.

    Each store is given by its name, its ``claims:`` and the folder these start at.
    """
    named = [(name, claims, os.fspath(base)) for name, claims, base in stores if claims]
    chosen = _narrowest(named, cwd, home) if named else Derived()
    return Covering(*chosen) if chosen != Derived() else None


def covered_by(claims: Sequence[str], cwd: Path, *, base: Path, home: Path | None) -> str | None:
    """The narrowest of a store's ``claims:`` that match a folder; ``None`` when none does."""
    return _narrowest([("", claims, os.fspath(base))], cwd, home).pattern


def matches(pattern: str, folder: Path, *, base: Path, home: Path | None) -> bool:
    """Whether a pattern names this folder or one above it."""
    return specificity(pattern, folder, base=base, home=home) is not None


def specificity(pattern: str, folder: Path, *, base: Path, home: Path | None) -> Specificity | None:
    """How narrow a pattern is that matches this folder; ``None`` when it does not match."""
    at = _Folder(os.fspath(folder))
    return _specificity(pattern, at, os.fspath(base), None if home is None else os.fspath(home))


def near(name: str, known: Iterable[str]) -> str | None:
    """The known name that somebody may have meant who wrote an unknown one."""
    names = {each.lower(): each for each in known}
    if not names or name in names.values():
        return None
    from difflib import get_close_matches

    found = get_close_matches(name.lower(), names, n=1, cutoff=0.6)
    return names[found[0]] if found else None


def _narrowest(
    choices: Iterable[tuple[str, Sequence[str], str]], cwd: Path, home: Path | None
) -> Derived:
    """The best of some choices, each with the folder that its relative patterns start at."""
    folder = _Folder(os.fspath(cwd))
    own = None if home is None else os.fspath(home)
    best: Specificity | None = None
    found: dict[str, str] = {}
    for name, patterns, base in choices:
        for pattern in patterns:
            narrow = _specificity(pattern, folder, base, own)
            if narrow is None or (best is not None and narrow < best):
                continue
            if narrow != best:
                best, found = narrow, {}
            found.setdefault(name, pattern)
    if len(found) > 1:
        return Derived(tied=tuple(found))
    return Derived(*next(iter(found.items()))) if found else Derived()


def _specificity(pattern: str, folder: _Folder, base: str, home: str | None) -> Specificity | None:
    literal, rest = _split(pattern, base, home)
    if literal is None:
        return None
    ways = folder.ways_from(literal)
    if rest:
        ways = [way for way in ways if _lead_into(rest, way[1].split("/") if way[1] else [])]
    if not ways:
        return None
    depth = ways[0][0] if len(ways) == 1 else max(ways)[0]
    if not rest:
        return Specificity(depth)
    text = "/".join(rest)
    wild = text.count("*") + text.count("?") + text.count("[")
    return Specificity(depth, -wild, len(text) - wild)


def _split(pattern: str, base: str, home: str | None) -> tuple[str | None, list[str]]:
    """The folder that a pattern starts at, and the names from its first wildcard on.

    Without a folder it matches nothing.
    """
    first = len(pattern)
    for mark in "*?[":
        at = pattern.find(mark, 0, first)
        if at >= 0:
            first = at
    rest = []
    if first < len(pattern):
        cut = pattern.rfind("/", 0, first) + 1
        rest = [name for name in pattern[cut:].split("/") if name and name != "."]
        # What home and base are called is no pattern, so their names are put before it only now.
        pattern = pattern[:cut]
    elif not pattern:
        return None, rest
    if "\0" in pattern:
        return None, rest
    if pattern.startswith("/"):
        return _normal(pattern), rest
    if pattern.startswith("~") and pattern[1:2] in {"", "/"}:
        return (None if home is None else _normal(home + pattern[1:])), rest
    return _normal(f"{base}/{pattern}"), rest


def _normal(path: str) -> str:
    """An absolute path without ``..`` and needless slashes; that of the root is empty."""
    if "//" in path or "/." in path:
        path = os.path.normpath("/" + path.lstrip("/"))
    return path.rstrip("/")


class _Folder:
    """A folder by all its ways: the path one came by, and the real one."""

    def __init__(self, path: str) -> None:
        given = _normal(path)
        self._paths = [given]
        # By the identity of each folder on a way: how deep it is, and the names below it.
        self._places: dict[tuple[int, int], list[tuple[int, str]]] = {}
        if self._note(given):
            real = _normal(os.path.realpath(given))
            self._paths.append(real)
            self._note(real)

    def ways_from(self, folder: str) -> list[tuple[int, str]]:
        """Depth and names below of another folder, each time it lies on a way to this one."""
        ways = [
            (folder.count("/"), path[len(folder) + 1 :])
            for path in self._paths
            if path.startswith(folder) and path[len(folder) : len(folder) + 1] in {"", "/"}
        ]
        if ways and len(self._paths) == 1:
            return ways
        about = _look(os.stat, folder)
        if about is None:
            return ways
        return ways + self._places.get((about.st_dev, about.st_ino), [])

    def _note(self, path: str) -> bool:
        """Take in each folder on a way, and tell whether one of them is a link."""
        is_linked = False
        depth = path.count("/")
        end = len(path)
        while depth:
            folder = path[:end]
            about = _look(os.lstat, folder)
            if about is not None and stat.S_ISLNK(about.st_mode):
                is_linked = True
                about = _look(os.stat, folder)
            if about is not None:
                place = (about.st_dev, about.st_ino)
                self._places.setdefault(place, []).append((depth, path[end + 1 :]))
            end = path.rfind("/", 0, end)
            depth -= 1
        return is_linked


def _look(how: Callable[[str], os.stat_result], folder: str) -> os.stat_result | None:
    """What a folder is, where the file system can tell one from another."""
    try:
        about = how(folder)
    except (OSError, ValueError):
        return None
    return about if about.st_ino else None


def _lead_into(wanted: list[str], names: list[str]) -> bool:
    """Whether some names end in a folder that the parts of a pattern describe, or below one."""
    if "**" not in wanted:
        return len(wanted) <= len(names) and all(map(_fits, wanted, names))
    at = 0
    for number, run in enumerate(_runs(wanted)):
        places = range(at, len(names) - len(run) + 1)
        if number == 0:
            places = places[:1]
        # What follows is free to begin anywhere behind, so that the first place is the best one.
        found = next((one for one in places if all(map(_fits, run, names[one:]))), None)
        if found is None:
            return False
        at = found + len(run)
    return True


def _runs(wanted: list[str]) -> Iterator[list[str]]:
    """The parts of a pattern before, between and behind its ``**``."""
    run: list[str] = []
    for part in wanted:
        if part == "**":
            yield run
            run = []
        else:
            run.append(part)
    if run:
        yield run


def _fits(pattern: str, name: str) -> bool:
    """Whether one part of a pattern describes a name.

    Written out because a regular expression costs more to compile than all the rest.
    """
    if pattern in (name, "*"):
        return True
    if pattern[0] not in "*?[" and pattern[0] != name[0]:
        return False
    marks = list(_marks(pattern))
    at = here = 0
    star = resumed = -1
    while here < len(name):
        if at < len(marks) and marks[at] == "*":
            star, resumed = at, here
            at += 1
        elif at < len(marks) and _is_one_of(marks[at], name[here]):
            at += 1
            here += 1
        elif star >= 0:  # the last star takes in one character more
            resumed += 1
            at, here = star + 1, resumed
        else:
            return False
    return all(mark == "*" for mark in marks[at:])


def _marks(pattern: str) -> Iterator[str]:
    """The characters of a pattern; a class such as ``[a-z]`` counts as one."""
    at = 0
    while at < len(pattern):
        end = at
        if pattern[at] == "[":
            # A bracket that comes first in a class is one of its characters.
            first = at + 2 + pattern.startswith("!", at + 1)
            end = max(pattern.find("]", first), at)
        yield pattern[at : end + 1]
        at = end + 1


def _is_one_of(mark: str, character: str) -> bool:
    if len(mark) == 1:
        return mark in {"?", character}
    is_negated = mark[1] == "!"
    members = mark[1 + is_negated : -1]
    return _is_member(character, members) != is_negated


def _is_member(character: str, members: str) -> bool:
    at = 0
    while at < len(members):
        is_range = members.startswith("-", at + 1) and at + 2 < len(members)
        last = members[at + 2] if is_range else members[at]
        if members[at] <= character <= last:
            return True
        at += 3 if is_range else 1
    return False
