"""Whether the checkout that holds a folder lacks commits of its remote's default branch.

Only what the last fetch left on this machine counts; nothing is fetched. The refs are read from
git's own files, and git is asked only how two commits stand to each other. That never changes, so
the answer is kept.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.anchors.blob import is_blob_id
from memspec_py.anchors.git import Git
from memspec_py.anchors.locate import (
    NoBytes,
    git_folder,
    is_inside,
    own_git_folder,
    read_file,
    repository_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SECONDS = 2.0  # a read must not wait longer for what is only a remark on its answer

_TRIES = 3  # that git may take too long for the same question
_MOST_KEPT = 64
_MOST_BYTES = 100_000
_MOST_POINTERS = 5  # from one ref to the next, as in git

_BRANCHES = "refs/heads/"
_REMOTES = "refs/remotes/"
_REMOTE_HEAD = "refs/remotes/origin/HEAD"
_DEFAULTS = ("refs/remotes/origin/main", "refs/remotes/origin/master")


class Behind(NamedTuple):
    """A checkout that lacks commits of its remote's default branch.

    ``branch`` is ``None`` when HEAD is detached; ``default_branch`` is such as ``origin/main``;
    ``behind`` counts the commits that HEAD does not contain, in a shallow clone those that are
    here.
    """

    branch: str | None
    default_branch: str
    behind: int


class Standing(NamedTuple):
    """How a checkout stands to its remote's default branch.

    Without ``behind`` it lacks nothing, or there is nothing that it could be compared with;
    ``undecided`` says why that is not known.
    """

    behind: Behind | None = None
    undecided: str | None = None


def behind(folder: Path, *, env: Mapping[str, str], cache: Path | None) -> Standing:
    """Whether the checkout that holds a folder is behind.

    What git said is kept in the file ``cache``, which may be missing, damaged or read-only.
    """
    try:
        top = repository_of(Path(os.path.realpath(folder)))
    except OSError as problem:
        return Standing(undecided=f"whether {folder} is behind is not known: {problem.strerror}")
    if top is None:
        return Standing()
    try:
        return Standing(behind=_behind(top, Git(str(top), env, SECONDS), cache))
    except _Undecided as why:
        return Standing(undecided=f"whether {top} is behind is not known: {why}")


def _behind(top: Path, git: Git, cache: Path | None) -> Behind | None:
    common = git_folder(top)
    heads = _heads(top, common, git)
    if heads is None or heads.own == heads.remote:
        return None
    shallow = _shallow(common)
    key = f"{common} {heads.own} {heads.remote} {shallow}"
    ahead, lacking = _difference(heads, git, key, cache)
    if not lacking:
        return None
    if ahead and shallow:
        # What HEAD rests on is cut off somewhere, and the remote's commit may lie beyond.
        raise _Undecided("the clone is shallow, and each side has commits of its own")
    return Behind(heads.branch, heads.default_branch, lacking)


class _Undecided(Exception):
    """Why it cannot be told whether a checkout is behind."""


class _Odd(Exception):
    """Refs that are not kept, or not whole, in files as we read them; git may still know."""


class _Heads(NamedTuple):
    """The checked out branch and its commit (empty before the first one), and the remote's."""

    branch: str | None
    own: str
    default_branch: str
    remote: str


def _heads(top: Path, common: Path | None, git: Git) -> _Heads | None:
    """What is checked out and what the remote has; ``None`` without a default branch of a remote.

    Raises ``_Undecided``.
    """
    try:
        refs = _Refs(own_git_folder(top), common)
        head = refs.head()  # first: without it the rest is no repository
        default = refs.default()
        return None if default is None else _Heads(*head, *default)
    except _Odd:
        return _heads_by_git(git)


class _Refs:
    """The refs of a checkout, read from files. Everything raises ``_Odd``."""

    def __init__(self, own: Path | None, common: Path | None) -> None:
        if own is None or common is None:
            raise _Odd
        self._own = own
        self._common = common
        self._packed: bytes | None = None
        # Other ways of keeping refs leave files about that look as if there were none.
        if "refstorage" in (_text(f"{common}/config") or "").lower():
            raise _Odd

    def head(self) -> tuple[str | None, str]:
        """The branch that is checked out, if any, and the commit, if there is one yet."""
        told = _text(f"{self._own}/HEAD") or ""
        target = _target(told)
        if target is None:
            return None, _commit(told)
        if not target.startswith(_BRANCHES):
            raise _Odd
        return target.removeprefix(_BRANCHES), self._resolved(target)

    def default(self) -> tuple[str, str] | None:
        """The remote's default branch and its commit."""
        target = _target(self._stored(_REMOTE_HEAD))
        for name in (target, *_DEFAULTS, _REMOTE_HEAD):
            if name is not None and (commit := self._resolved(name)):
                return name.removeprefix(_REMOTES), commit
        return None

    def _resolved(self, ref: str) -> str:
        """The commit that a ref leads to; empty when it leads nowhere."""
        for _ in range(_MOST_POINTERS):
            told = self._stored(ref)
            target = _target(told)
            if target is None:
                return _commit(told) if told else ""
            ref = target
        raise _Odd

    def _stored(self, ref: str) -> str:
        """What a ref holds, in its own file or in the list of packed ones; empty without it."""
        told = _text(f"{self._common}/{ref}")
        if told == "":
            raise _Odd  # left behind by a power cut
        if told is not None:
            return told
        if self._packed is None:
            self._packed = b"\n" + (_bytes(f"{self._common}/packed-refs") or b"")
        end = self._packed.find(b" " + os.fsencode(ref) + b"\n")
        start = self._packed.rfind(b"\n", 0, max(end, 0)) + 1
        return os.fsdecode(self._packed[start:end]) if end > 0 else ""


def _target(told: str) -> str | None:
    """The ref that a ref points at; ``None`` when it is no pointer."""
    if not told.startswith("ref:"):
        return None
    target = told.removeprefix("ref:").strip()
    if not target.startswith("refs/") or not is_inside(target):
        raise _Odd
    return target


def _commit(told: str) -> str:
    if not is_blob_id(told):
        raise _Odd
    return told


def _text(path: str) -> str | None:
    told = _bytes(path)
    return None if told is None else os.fsdecode(told).strip()


def _bytes(path: str) -> bytes | None:
    """The bytes of a file of git's; ``None`` when there is none."""
    try:
        return read_file(path)
    except NoBytes as problem:
        # The folder of a ref that was packed may be left over, empty.
        if problem.is_gone or os.path.isdir(path):
            return None
        raise _Odd from None


def _heads_by_git(git: Git) -> _Heads | None:
    default = git.default_branch()
    if default is None:
        raise _Undecided(git.trouble)
    if not default:
        return None
    remote = default if default.startswith("refs/") else _REMOTES + default
    branch = _told(git, "symbolic-ref", "--quiet", "HEAD", good=(0, 1)).removeprefix(_BRANCHES)
    own = _told(git, "rev-parse", "--verify", "HEAD^{commit}")
    commit = _told(git, "rev-parse", "--verify", f"{remote}^{{commit}}")
    return _Heads(branch or None, own, default, commit)


def _told(git: Git, *arguments: str, good: Sequence[int] = (0,)) -> str:
    told = git.ask(*arguments, good=good)
    if told is None:
        raise _Undecided(git.trouble)
    return os.fsdecode(told).strip()


def _difference(heads: _Heads, git: Git, key: str, cache: Path | None) -> tuple[int, int]:
    """How many commits HEAD has that the remote has not, and the other way round.

    Raises ``_Undecided``.
    """
    answers = _kept(cache)
    known = answers.pop(key, [])
    if len(known) == 2:
        return known[0], known[1]
    tries = known[0] if known else 0
    if tries >= _TRIES:
        raise _Undecided(f"git took longer than {SECONDS:g} s, {tries} times")
    found = _asked(heads, git)
    if found is not None or git.timed_out:
        _keep(cache, {**answers, key: [tries + 1] if found is None else list(found)})
    if found is None:
        raise _Undecided(git.trouble)
    return found


def _asked(heads: _Heads, git: Git) -> tuple[int, int] | None:
    between = f"{heads.own}...{heads.remote}" if heads.own else heads.remote
    told = git.ask("rev-list", "--count", "--left-right", between, "--")
    if told is None:
        return None
    ahead, _, lacking = told.decode().strip().partition("\t")
    return int(ahead), int(lacking)


def _shallow(common: Path | None) -> str:
    """What tells one state of a shallow clone from the next; empty when the history is whole."""
    try:
        about = os.stat(f"{common}/shallow")
    except OSError:
        return ""
    return f"{about.st_size}.{about.st_mtime_ns}" if about.st_size else ""


def _kept(cache: Path | None) -> dict[str, list[int]]:
    """The answers of earlier times: two counts each, or how often there was none in time."""
    if cache is None:
        return {}
    try:
        told = read_file(cache)
        answers = json.loads(told) if len(told) <= _MOST_BYTES else {}
    except (NoBytes, ValueError, RecursionError):
        return {}
    if not isinstance(answers, dict):
        return {}
    return {key: known for key, known in answers.items() if _is_answer(known)}


def _is_answer(known: object) -> bool:
    return (
        isinstance(known, list)
        and len(known) in {1, 2}
        and all(type(count) is int and count >= 0 for count in known)
    )


def _keep(cache: Path | None, answers: Mapping[str, list[int]]) -> None:
    """Write the newest answers down; where that cannot be done, git is asked again next time."""
    if cache is None:
        return
    import threading
    from contextlib import suppress

    temporary = f"{cache}.{os.getpid()}.{threading.get_ident()}"
    newest = dict(list(answers.items())[-_MOST_KEPT:])
    with suppress(OSError):
        try:
            with open(temporary, "w", encoding="utf-8") as file:
                json.dump(newest, file)
            os.replace(temporary, cache)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
