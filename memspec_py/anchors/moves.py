"""Where code went: renames that git knows, and the same code in another file of a repository."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from memspec_py.anchors.blob import blob_id, is_same
from memspec_py.anchors.git import fields
from memspec_py.anchors.locate import NoBytes, read_file
from memspec_py.anchors.symbols import Symbols, suffix_of, symbols_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from memspec_py.anchors.git import Git
    from memspec_py.anchors.symbols import Unreadable

MOST_HOPS = 20
MOST_FILES = 300
SECONDS = 5.0


def renamed(git: Git, paths: Iterable[str]) -> dict[str, str]:
    """Where git saw each file go, staged or committed; only what exists in the work tree now."""
    steps = _staged(git)
    found = {}
    gone = list(paths)
    history = _history(git, [path for path in gone if path not in steps])
    for path in gone:
        place, seen = path, {path}
        for _ in range(MOST_HOPS):
            if place != path and place not in steps and place not in history:
                history |= _history(git, [place])
            place = steps.get(place) or history.get(place) or ""
            if not place or place in seen:
                break
            seen.add(place)
            if os.path.isfile(os.path.join(git.top, place)):
                found[path] = place
                break
    return found


def _staged(git: Git) -> dict[str, str]:
    told = git.ask("diff-index", "--cached", "-M", "--diff-filter=R", "-z", "--name-status", "HEAD")
    return dict(_rename_pairs(told or b""))


def _history(git: Git, paths: list[str]) -> dict[str, str]:
    """The commits that removed some files, and what git takes for their new names there."""
    if not paths:
        return {}
    told = git.ask_about(("log", "--no-renames", "--diff-filter=D", "--format=%H", "-z"), paths)
    commits = [commit for commit in fields((told or b"") + b"\0") if commit][:MOST_HOPS]
    found: dict[str, str] = {}
    for commit in commits:
        told = git.ask(
            *("diff-tree", "-r", "-M", "--diff-filter=R", "-z", "--name-status", "--no-commit-id"),
            *("--root", "-m", "--first-parent", commit),
        )
        for old, new in _rename_pairs(told or b""):
            if old in paths:
                found.setdefault(old, new)
    return found


def _rename_pairs(told: bytes) -> Iterator[tuple[str, str]]:
    parts = fields(told)
    yield from zip(parts[1::3], parts[2::3], strict=False)


def twins(git: Git, wanted: Mapping[str, str]) -> dict[str, str]:
    """For files with a blob id that are gone: the one other file with the same bytes.

    Tracked files are known by their ids; of the others, those with the same ending are read.
    """
    by_id = {sha: path for path, sha in wanted.items() if sha != blob_id(b"", len(sha))}
    found: dict[str, list[str]] = {}
    for entry in fields(git.ask("ls-files", "-s", "-z") or b""):
        about, _, place = entry.partition("\t")
        gone = by_id.get(about.split(" ")[1])
        if gone is not None and os.path.isfile(os.path.join(git.top, place)):
            found.setdefault(gone, []).append(place)
    left = {path: sha for sha, path in by_id.items() if path not in found}
    if left:
        others = fields(git.ask("ls-files", "-o", "--exclude-standard", "-z") or b"")
        endings = {suffix_of(path) for path in left}
        alike = [place for place in others if suffix_of(place) in endings][:MOST_FILES]
        for place, data in _read(git.top, alike):
            for path, sha in left.items():
                if suffix_of(path) == suffix_of(place) and is_same(sha, data):
                    found.setdefault(path, []).append(place)
    return {path: places[0] for path, places in found.items() if len(places) == 1}


def homes(git: Git, wanted: Iterable[tuple[str, str, str]]) -> dict[tuple[str, str], list[str]]:
    """Where else in a repository symbols stand that are gone from their file.

    ``wanted`` are the file, the name and the id of each; the answer maps name and id to places as
    they would be typed. Files that do not spell the name are never opened, and a search that takes
    too long ends with what it has.
    """
    until = time.monotonic() + SECONDS
    found: dict[tuple[str, str], list[str]] = {}
    by_ending: dict[str, list[tuple[str, str]]] = {}
    for file, name, symbol_id in wanted:
        by_ending.setdefault(suffix_of(file), []).append((name, symbol_id))
    for ending, sought in by_ending.items():
        words = dict.fromkeys(name.rpartition(".")[2] for name, _ in sought)
        told = git.ask(
            *("grep", "-l", "-z", "-I", "-F", "--untracked", "--no-color"),
            *(part for word in words for part in ("-e", word)),
            *("--", f":(glob)**/*{ending}"),
            literal=False,
            good=(0, 1),
        )
        for place, data in _read(git.top, fields(told or b"")[:MOST_FILES]):
            if time.monotonic() > until:
                return found
            symbols = symbols_of(place, data)
            if isinstance(symbols, Symbols):
                for name, symbol_id in sought:
                    if home := symbols.with_id(symbol_id, name):
                        found.setdefault((name, symbol_id), []).append(f"{place}#{home}")
    return found


def newly_there(git: Git, file: str, sha: str, symbol_id: str, places: list[str]) -> list[str]:
    """Those places that had not got the code yet when the file still was as anchored.

    Where git does not know when that was, all of them.
    """
    then = _last_commit_with(git, file, sha) if places and sha else None
    if then is None:
        return places
    files = dict.fromkeys(place.partition("#")[0] for place in places)
    ids = git.blobs_at(then, list(files)) or {}
    contents = git.contents(ids.values())
    old = {path: symbols_of(path, contents[ids[path]]) for path in ids if ids[path] in contents}
    return [
        place for place in places if not _had(old.get(place.partition("#")[0]), place, symbol_id)
    ]


def _had(symbols: Symbols | Unreadable | None, place: str, symbol_id: str) -> bool:
    name = place.partition("#")[2]
    return isinstance(symbols, Symbols) and symbols.id_of(name) == symbol_id


def _last_commit_with(git: Git, file: str, sha: str) -> str | None:
    """The last commit in which a file had some content."""
    told = git.ask("log", "-1", "--format=%H", f"--find-object={sha}", "--", file)
    commit = (told or b"").decode().strip()
    for candidate in (commit, f"{commit}^") if commit else ():
        if (git.blobs_at(candidate, [file]) or {}).get(file) == sha:
            return candidate
    return None


def _read(top: str, places: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    for place in places:
        try:
            yield place, read_file(os.path.join(top, place))
        except NoBytes:
            continue
