"""Whether the code that claims depend on is as it was.

Each file is read once, each repository asked at most a handful of questions for all of its files,
and none while every file of the work tree is as it was.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from memspec_py.anchors.blob import blob_id, is_blob_id, is_lfs_pointer, lfs_pointer
from memspec_py.anchors.git import Git, fields
from memspec_py.anchors.grain import Grain, grain_of, part_of
from memspec_py.anchors.locate import (
    Checkouts,
    NoBytes,
    expanded,
    is_inside,
    read_file,
    remote_head,
    repository_of,
)
from memspec_py.anchors.look import UNCHANGED, Looked, Sight
from memspec_py.anchors.verdict import WORKTREE, Drift, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from memspec_py.record.model import Anchor


def check(
    anchors: Iterable[tuple[str, Anchor]],
    *,
    project: Path,
    env: Mapping[str, str],
    search_paths: Sequence[str] = (),
    default_branch: bool = True,
    follow: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, list[Drift]]:
    """The verdict on every anchor of every record, by the record's id and in the given order.

    An anchor drifted only if what it watches is neither in the work tree nor on the default branch
    of its repository's remote, as of the last fetch; without ``default_branch``, the work tree
    alone counts. Without ``follow`` nobody looks where missing code went, which may take a walk
    through the whole history. ``progress`` is told how many files of how many are done.
    """
    found: dict[str, list[Drift]] = {}
    by_file: dict[tuple[str | None, str], list[_Asked]] = {}
    for record_id, anchor in anchors:
        if (verdicts := found.get(record_id)) is None:
            verdicts = found[record_id] = []
        if (asked := by_file.get((anchor.repo, anchor.file))) is None:
            asked = by_file[anchor.repo, anchor.file] = []
        asked.append((anchor, verdicts, len(verdicts)))
        verdicts.append(_NOT_YET)
    checkouts = Checkouts(project=project, search_paths=expanded(search_paths, project, env))
    bases: dict[str | None, str] = {None: os.path.join(project, "")}
    cases: list[_Case] = []
    for done, ((repo, file), asked) in enumerate(by_file.items(), 1):
        if repo is not None and repo not in bases:
            base = checkouts.find(repo)
            bases[repo] = "" if base is None else os.path.join(base, "")
        cases += _look(bases[repo], file, asked)
        if progress is not None:
            progress(done, len(by_file))
    for top, some in _by_repository(cases).items():
        _Repository(top, env, some).settle(against_branch=default_branch, follow=follow)
    for case in cases:
        if not case.is_closed:
            case.close(case.sight)
    return found


_Asked: TypeAlias = "tuple[Anchor, list[Drift], int]"

_NOT_YET = Drift("", "", "", Verdict.UNCHECKED, "")


class _Case:
    """An anchor that is not simply unchanged: what is known of it so far."""

    __slots__ = ("_asked", "compared_to", "is_closed", "looked", "path", "repo_path", "sight")

    def __init__(self, asked: _Asked, path: str, looked: Looked | None, sight: Sight) -> None:
        self._asked = asked
        self.path = path
        self.repo_path = ""  # in its repository, after following links
        self.looked = looked
        self.sight = sight
        self.compared_to = WORKTREE
        self.is_closed = False

    @property
    def anchor(self) -> Anchor:
        return self._asked[0]

    @property
    def sha(self) -> str:
        """The recorded blob id; empty where something else stands in its place."""
        return self.anchor.sha if is_blob_id(self.anchor.sha) else ""

    def close(self, sight: Sight, *, held_on: str | None = None, place: str = "") -> None:
        """Write down the verdict; ``place`` is a path as the anchor's repository has it."""
        self.is_closed = True
        if sight.part and not place:
            place = self.anchor.file
        if sight.verdict in {Verdict.UNCHANGED, Verdict.MOVED}:
            held_on = held_on or WORKTREE
        _write(self._asked, sight, self.compared_to, held_on, place + sight.part)


def _write(asked: _Asked, sight: Sight, compared_to: str, held_on: str | None, place: str) -> None:
    anchor, verdicts, at = asked
    verdicts[at] = _told(anchor, sight, compared_to, held_on, place)


def _told(anchor: Anchor, sight: Sight, compared_to: str, held_on: str | None, place: str) -> Drift:
    return Drift(
        f"{anchor.file}{part_of(anchor)}",
        anchor.file,
        grain_of(anchor).value,
        sight.verdict,
        compared_to,
        anchor.repo,
        held_on,
        place or None,
        sight.reason or None,
    )


def _look(base: str, file: str, asked: list[_Asked]) -> list[_Case]:
    """Look at one file of the work tree; what is left are the anchors it does not bear out.

    ``base`` is the folder it is in with a separator at its end, or empty when there is none here.
    """
    if not base:
        repo = asked[0][0].repo
        return _unseen(asked, f"there is no checkout of {repo} here")
    if not is_inside(file):
        return _unseen(asked, "the path leads out of its folder")
    path = base + file
    try:
        data = read_file(path)
    except NoBytes as problem:
        if not problem.is_gone:
            return _unseen(asked, f"the file {problem.reason}")
        gone = Sight(Verdict.MISSING, "the file is gone")
        return [_Case(one, path, None, gone) for one in asked]
    left = _unlike(data, asked)
    if not left:
        return []
    looked = Looked(file, data)
    cases = [_Case(one, path, looked, looked.at(one[0])) for one in left]
    for case in cases:
        if case.sight.verdict is Verdict.UNCHANGED or _moved_as_text(case):
            case.close(case.sight)
    return [case for case in cases if not case.is_closed]


def _unlike(data: bytes, asked: list[_Asked]) -> list[_Asked]:
    """Write down which anchors have these very bytes; what is left are the others."""
    left = []
    ids: dict[int, str] = {}
    told: dict[tuple[str | None, ...], Drift] = {}  # many claims may have the same anchor
    for one in asked:
        anchor, verdicts, at = one
        sha = anchor.sha
        if (own := ids.get(len(sha))) is None:
            own = ids[len(sha)] = blob_id(data, len(sha))
        if own != sha:
            left.append(one)
            continue
        part = (anchor.symbol, anchor.lines, anchor.name, anchor.value)
        if (drift := told.get(part)) is None:
            drift = told[part] = _told(anchor, UNCHANGED, WORKTREE, WORKTREE, "")
        verdicts[at] = drift
    return left


def _moved_as_text(case: _Case) -> bool:
    return case.sight.verdict is Verdict.MOVED and grain_of(case.anchor) is Grain.SPAN


def _unseen(asked: list[_Asked], reason: str) -> list[_Case]:
    for one in asked:
        _write(one, Sight(Verdict.UNCHECKED, reason), "", None, "")
    return []


def _by_repository(cases: list[_Case]) -> dict[Path, list[_Case]]:
    """The cases of each repository; those of files in none stay as the work tree has them."""
    found: dict[Path, list[_Case]] = {}
    known: dict[str, tuple[Path, str] | None] = {}
    for case in cases:
        if case.path not in known:
            real = Path(os.path.realpath(case.path))
            top = repository_of(real.parent)
            known[case.path] = None if top is None else (top, real.relative_to(top).as_posix())
        place = known[case.path]
        if place is not None:
            case.repo_path = place[1]
            found.setdefault(place[0], []).append(case)
    return found


class _Repository:
    """The cases of one repository, settled with as few questions to git as they need."""

    def __init__(self, top: Path, env: Mapping[str, str], cases: list[_Case]) -> None:
        self._top = top
        self._git = Git(str(top), env)
        self._cases = cases
        self._external: set[str] = set()  # files that a filter program stands before
        self._clean: dict[str, str] = {}  # the id git would store for a converted file
        self._branch: str | None = ""  # the default branch; None if git cannot tell
        self._ids: dict[str, str] = {}  # what it has in the places of the cases' files
        self._blobs: dict[str, bytes] = {}  # what was read of git's

    def settle(self, *, against_branch: bool, follow: bool) -> None:
        """Come to a verdict on each case, as far as this repository can tell."""
        self._leave_out_sparse()
        asked = self._paths(self._left) if against_branch else []
        if asked:
            self._ask_for_branch(asked)
        self._undo_conversions()
        self._confirm_moves()
        if asked:
            self._compare_with_branch()
        if follow:
            self._find_renamed()
            self._find_moved()

    @property
    def _left(self) -> list[_Case]:
        return [case for case in self._cases if not case.is_closed]

    def _paths(self, cases: Iterable[_Case]) -> list[str]:
        return list(dict.fromkeys(case.repo_path for case in cases))

    def _read(self, ids: Iterable[str]) -> None:
        """Read blobs that were not read before."""
        self._blobs |= self._git.contents(sha for sha in ids if sha not in self._blobs)

    def _leave_out_sparse(self) -> None:
        """A file that a sparse checkout leaves out is not gone: the index has its content."""
        gone = [case for case in self._left if case.looked is None]
        if not gone:
            return
        staged = self._git.staged(self._paths(gone))
        ids = {path: sha for path, (sha, is_left_out) in staged.items() if is_left_out}
        contents = self._git.contents(ids.values()) if ids else {}
        for case in gone:
            sha = ids.get(case.repo_path)
            if sha is None:
                continue
            if sha == case.anchor.sha:
                case.close(UNCHANGED)
            elif sha in contents:
                case.looked = Looked(case.repo_path, contents[sha])
                case.sight = case.looked.at(case.anchor)
                if case.sight.verdict in {Verdict.UNCHANGED, Verdict.MOVED}:
                    case.close(case.sight)
            else:
                case.sight = Sight(Verdict.UNCHECKED, "the checkout is sparse and has not got it")

    def _undo_conversions(self) -> None:
        """Compare with what git would store, where it stores other bytes than the file has."""
        paths = self._paths(case for case in self._left if self._may_be_converted(case))
        if not paths:
            return
        inner, drivers = [], {}
        for path, name, value in self._git.attributes(_CONVERTING, paths):
            if name == "filter":
                drivers[path] = value
            else:
                inner.append(path)
        self._external = set(drivers)
        self._clean = {
            **self._hashed([path for path in inner if path not in drivers]),
            **self._as_staged(drivers),
        }
        for case in self._left:
            if case.sha and self._clean.get(case.repo_path) == case.sha:
                case.close(UNCHANGED)

    def _may_be_converted(self, case: _Case) -> bool:
        """What stands on the branch byte for byte is what git stores, so it converts nothing."""
        if case.looked is None:
            return False
        stored = self._ids.get(case.repo_path)
        return stored is None or case.looked.ids(len(stored))[0] != stored

    def _hashed(self, paths: list[str]) -> dict[str, str]:
        """What git itself makes of files that no filter program stands before."""
        asked = [path for path in dict.fromkeys(paths) if "\n" not in path]
        given = os.fsencode("".join(f"{path}\n" for path in asked))
        told = self._git.ask("hash-object", "--stdin-paths", given=given) if asked else b""
        return dict(zip(asked, (told or b"").decode().split(), strict=False))

    def _as_staged(self, drivers: Mapping[str, str]) -> dict[str, str]:
        """The staged ids of filtered files that were not touched since; no filter is run."""
        if not drivers:
            return {}
        off = {f"filter.{name}.{key}": "" for name in drivers.values() for key in _PROGRAMS}
        off |= {f"filter.{name}.required": "false" for name in drivers.values()}
        paths = list(drivers)
        told = self._git.ask_about(("diff-files", "-z", "--name-only"), paths, settings=off)
        if told is None:
            return {}
        touched = set(fields(told))
        staged = self._git.staged(paths)
        return {path: sha for path, (sha, _) in staged.items() if path not in touched}

    def _confirm_moves(self) -> None:
        """Settle the symbols that the work tree has elsewhere."""
        moved = [case for case in self._left if case.sight.verdict is Verdict.MOVED]
        self._read(case.sha for case in moved if case.sha)
        for case in moved:
            case.sight = self._confirmed(case, case.sight)
            if case.sight.verdict is Verdict.MOVED:
                case.close(case.sight)

    def _confirmed(self, case: _Case, sight: Sight) -> Sight:
        """A symbol did not move to where the same code stood all along: then it is gone."""
        if sight.verdict is not Verdict.MOVED or case.anchor.symbol is None:
            return sight
        from memspec_py.anchors.symbols import Symbols, symbols_of

        anchor, place = case.anchor, sight.part.removeprefix("#")
        old = symbols_of(anchor.file, self._blobs.get(anchor.sha, b""))
        if isinstance(old, Symbols) and old.id_of(place) == anchor.symbol_id:
            return Sight(Verdict.MISSING, f"{anchor.symbol} is gone")
        return sight

    def _ask_for_branch(self, paths: list[str]) -> None:
        """Which branch that is, and what it has there."""
        self._branch = remote_head(self._top) or self._git.default_branch()
        if not self._branch:
            return
        ref = f"refs/remotes/{self._branch}"
        files = self._git.files_at(ref, paths)
        if files is not None:
            self._ids = {path: sha for path, (sha, _) in zip(paths, files, strict=True)}
            self._blobs = dict(files)
        elif (ids := self._git.blobs_at(ref, paths)) is not None:
            self._ids = ids
        else:
            self._branch = None

    def _compare_with_branch(self) -> None:
        branch, ids = self._branch, self._ids
        if branch is None:
            for case in self._left:
                case.close(Sight(Verdict.UNCHECKED, self._git.trouble))
        if not branch:
            return
        compared_to = f"{WORKTREE}+{branch}"
        elsewhere = self._paths(case for case in self._left if case.repo_path not in ids)
        ignored = self._git.ignored(elsewhere) if elsewhere else set()
        for case in self._left:
            if case.repo_path not in ignored:
                case.compared_to = compared_to
            if ids.get(case.repo_path) == case.anchor.sha:
                case.close(UNCHANGED, held_on=branch)
        there = [
            case
            for case in self._left
            if case.repo_path in ids and not self._is_here(case, ids[case.repo_path])
        ]
        self._read(ids[case.repo_path] for case in there)
        looks = {
            path: Looked(path, self._blobs[sha]) for path, sha in ids.items() if sha in self._blobs
        }
        self._read(
            case.sha
            for case in there
            if case.sha
            and (looked := looks.get(case.repo_path)) is not None
            and looked.at(case.anchor).verdict is Verdict.MOVED
        )
        for case in there:
            self._judge(case, branch, ids[case.repo_path], looks.get(case.repo_path))

    def _is_here(self, case: _Case, sha: str) -> bool:
        """Whether the branch has what the work tree has, so that it can tell nothing new."""
        if case.repo_path in self._clean:
            return self._clean[case.repo_path] == sha
        return case.looked is not None and not self._may_be_converted(case)

    def _judge(self, case: _Case, branch: str, sha: str, looked: Looked | None) -> None:
        """Look at the branch's content of a case's file."""
        path = case.repo_path
        if _is_pointer_to(looked, case.looked):
            return
        if looked is None:
            same_kind = len(sha) == len(case.anchor.sha)
            if grain_of(case.anchor) is not Grain.FILE or not same_kind:
                case.close(Sight(Verdict.UNCHECKED, f"{path} of {branch} was not fetched"))
            return
        sight = self._confirmed(case, looked.at(case.anchor))
        if sight.verdict in {Verdict.UNCHANGED, Verdict.MOVED}:
            case.close(sight, held_on=branch)
        elif path in self._external:
            case.close(Sight(Verdict.UNCHECKED, f"a filter stands before {path} of {branch}"))
        elif path in self._clean and grain_of(case.anchor) is Grain.FILE:
            case.close(Sight(Verdict.UNCHECKED, f"git converts {path} of {branch}"))
        elif sight.verdict is Verdict.UNCHECKED:
            case.close(sight._replace(reason=f"on {branch}: {sight.reason}"))

    def _find_renamed(self) -> None:
        """Follow files that are gone."""
        gone = [case for case in self._left if case.looked is None and _is_missing(case)]
        if not gone:
            return
        from memspec_py.anchors.moves import renamed, twins

        paths = self._paths(gone)
        places = renamed(self._git, paths)
        left = {case.repo_path: case.sha for case in gone if case.sha}
        left = {path: sha for path, sha in left.items() if path not in places}
        if left:
            places |= twins(self._git, left)
        looks: dict[str, Looked] = {}
        for case in gone:
            place = places.get(case.repo_path)
            if place is None:
                continue
            if place not in looks:
                try:
                    looks[place] = Looked(place, read_file(self._top / place))
                except NoBytes:
                    continue
            self._at_new_place(case, looks[place])

    def _at_new_place(self, case: _Case, looked: Looked) -> None:
        sight = looked.at(case.anchor)
        place = self._as_recorded(case, looked.file)
        reason = f"{case.anchor.file} is {place} now"
        if sight.verdict in {Verdict.UNCHANGED, Verdict.MOVED}:
            part = sight.part or part_of(case.anchor)
            case.close(Sight(Verdict.MOVED, reason, part), place=place)
        elif sight.verdict is Verdict.MISSING:
            case.looked = looked
            case.sight = sight._replace(reason=f"{reason}, and {sight.reason}")
        else:
            case.close(sight._replace(reason=f"{reason}; {sight.reason}"), place=place)

    def _find_moved(self) -> None:
        """Look for symbols that are gone from their file in the rest of the repository."""
        gone = [
            case
            for case in self._left
            if _is_missing(case) and case.anchor.symbol and case.anchor.symbol_id
        ]
        if not gone:
            return
        from memspec_py.anchors.moves import homes, newly_there

        keys = [(one.anchor.symbol or "", one.anchor.symbol_id or "") for one in gone]
        wanted = [(case.repo_path, *key) for case, key in zip(gone, keys, strict=True)]
        found = homes(self._git, wanted)
        for case, key in zip(gone, keys, strict=True):
            new = newly_there(self._git, case.repo_path, case.sha, key[1], found.get(key, []))
            places = [self._as_recorded(case, place) for place in new]
            if len(places) == 1:
                file, _, name = places[0].partition("#")
                reason = f"{case.anchor.symbol} is in {file} now"
                case.close(Sight(Verdict.MOVED, reason, f"#{name}"), place=file)
            elif places:
                told = ", ".join(places[:3])
                reason = f"{case.sight.reason}; the same code is in {told}"
                case.close(case.sight._replace(reason=reason))

    def _as_recorded(self, case: _Case, place: str) -> str:
        """A path in the repository, relative to what the anchor's own path is relative to."""
        prefix = case.repo_path.removesuffix(case.anchor.file)
        if case.repo_path.endswith(case.anchor.file) and place.startswith(prefix):
            return place[len(prefix) :]
        return place


_CONVERTING = ("filter", "ident", "working-tree-encoding")
_PROGRAMS = ("clean", "smudge", "process")


def _is_missing(case: _Case) -> bool:
    return case.sight.verdict is Verdict.MISSING


def _is_pointer_to(stored: Looked | None, looked: Looked | None) -> bool:
    """Whether Git LFS stores the one for the other."""
    if stored is None or looked is None or not is_lfs_pointer(stored.data):
        return False
    return stored.data == lfs_pointer(looked.data)
