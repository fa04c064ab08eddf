"""The one place that runs git: reading only, without network, hooks, filters or surprises."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

SECONDS = 10.0

# Where a person keeps settings is theirs to say. Every other GIT_ variable may come from a hook
# that we run inside of, and would point us at another repository, index or work tree.
_KEPT = {"GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_EXEC_PATH"}
_FIXED = {
    "GIT_ALLOW_PROTOCOL": "none",  # stops the lazy fetch of a partial clone in every git version
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_SETTINGS = (
    *("core.fsmonitor=false", "core.untrackedCache=false", "core.hooksPath=/dev/null"),
    *("log.showSignature=false", "submodule.recurse=false", "maintenance.auto=false"),
    *("core.pager=cat", "gc.auto=0"),
)
_PATHS_BYTES = 60_000  # of one command line; longer lists are asked in parts


class Git:
    """Questions to the repository whose work tree begins at ``top``.

    Every answer is ``None`` when git is not there, refuses, or takes too long; ``trouble`` then
    says which. Once it took too long it is asked nothing more.
    """

    def __init__(self, top: str, env: Mapping[str, str], seconds: float = SECONDS) -> None:
        self.top = top
        self.trouble = ""
        self.timed_out = False
        self._seconds = seconds
        self._is_given_up = False
        self._env = clean_environment(env, top)

    def ask(
        self,
        *arguments: str,
        given: bytes = b"",
        settings: Mapping[str, str] | None = None,
        literal: bool = True,
        good: Sequence[int] = (0,),
    ) -> bytes | None:
        """What one git command prints."""
        if self._is_given_up:
            return None
        from subprocess import TimeoutExpired

        from memspec_py.anchors.child import run

        command = ["git", "--no-pager", "--no-replace-objects"]
        if literal:
            command.append("--literal-pathspecs")
        for setting in _SETTINGS:
            command += ["-c", setting]
        try:
            done = run(
                [*command, *arguments],
                cwd=self.top,
                env={**self._env, **_as_variables(settings or {})},
                given=given,
                seconds=self._seconds,
            )
        except TimeoutExpired:
            self.timed_out = True
            self._is_given_up = True
            self.trouble = f"git {arguments[0]} took longer than {self._seconds:g} s"
            return None
        except (OSError, ValueError) as problem:
            self.trouble = f"git cannot be run: {problem}"
            return None
        if done.returncode not in good:
            told = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
            self.trouble = f"git {arguments[0]}: {told or f'exit {done.returncode}'}"
            return None
        return done.stdout

    def ask_about(
        self,
        arguments: Sequence[str],
        paths: Sequence[str],
        settings: Mapping[str, str] | None = None,
    ) -> bytes | None:
        """What a command prints about some paths, however many they are."""
        answers = []
        for part in _parts(paths):
            answer = self.ask(*arguments, "--", *part, settings=settings)
            if answer is None:
                return None
            answers.append(answer)
        return b"".join(answers)

    def default_branch(self) -> str | None:
        """The remote's default branch as of the last fetch, such as ``origin/main``.

        It is what ``origin/HEAD`` points at, else ``origin/main``, else ``origin/master``; an empty
        text when there is none of them.
        """
        told = self.ask(
            "for-each-ref", "--format=%(refname)%00%(symref)", *(_REMOTE + name for name in _HEADS)
        )
        if told is None:
            return None
        known = dict(line.split("\0") for line in told.decode("utf-8", "replace").splitlines())
        found = known.get(_REMOTE + "HEAD", "")
        if not found:  # HEAD may be missing, or be no pointer at a branch
            found = next(
                (name for name in known if name != _REMOTE + "HEAD"), next(iter(known), "")
            )
        return found.removeprefix("refs/remotes/")

    def blobs_at(self, ref: str, paths: Sequence[str]) -> dict[str, str] | None:
        """The blob id of each of these files in the tree of a commit; links are left out."""
        told = self.ask_about(("ls-tree", "-r", "-z", "--full-tree", ref), paths)
        if told is None:
            return None
        found = {}
        for entry in fields(told):
            about, _, path = entry.partition("\t")
            mode, _, sha = about.split(" ")
            if mode.startswith("100"):
                found[path] = sha
        return found

    def files_at(self, ref: str, paths: Sequence[str]) -> list[tuple[str, bytes]] | None:
        """The blob id and the bytes of each of these files in the tree of a commit.

        One process tells both, but only of files that are there and can be told from links, under
        names that fit on a line; None when that is not so of all.
        """
        if any("\n" in path or "\r" in path for path in paths):
            return None
        told = self.ask("cat-file", "--batch", given=_lines(f"{ref}:{path}" for path in paths))
        found = None if told is None else list(_blobs(told))
        # Only blobs are told, and a link's text has no line end.
        if found is None or len(found) != len(paths) or not all(b"\n" in data for _, data in found):
            return None
        return found

    def attributes(self, names: Sequence[str], paths: Sequence[str]) -> list[tuple[str, ...]]:
        """Path, attribute and value of each attribute that is set; none when git cannot tell."""
        given = os.fsencode("".join(f"{path}\0" for path in paths))
        told = fields(self.ask("check-attr", "-z", "--stdin", *names, given=given) or b"")
        triples = zip(told[::3], told[1::3], told[2::3], strict=False)
        return [one for one in triples if one[2] not in {"unspecified", "unset"}]

    def ignored(self, paths: Sequence[str]) -> set[str]:
        """Those of some paths that are ignored and not tracked."""
        given = os.fsencode("".join(f"{path}\0" for path in paths))
        told = self.ask("check-ignore", "-z", "--stdin", given=given, good=(0, 1), literal=False)
        return set(fields(told or b""))

    def staged(self, paths: Sequence[str]) -> dict[str, tuple[str, bool]]:
        """The blob id of each tracked file, and whether a sparse checkout leaves the file out."""
        told = self.ask_about(("ls-files", "-s", "-t", "-z"), paths)
        found = {}
        for entry in fields(told or b""):
            about, _, path = entry.partition("\t")
            tag, _, sha, _ = about.split(" ")
            found[path] = (sha, tag == "S")
        return found

    def contents(self, ids: Iterable[str]) -> dict[str, bytes]:
        """The bytes of those blobs that are here; a partial clone has not got all."""
        asked = list(dict.fromkeys(ids))
        told = self._batch(asked)
        if told is None:
            # At the first blob that a partial clone lacks, git gives up on all the rest.
            told = self._batch(self._present(asked))
        return dict(_blobs(told or b""))

    def _batch(self, ids: Sequence[str]) -> bytes | None:
        return self.ask("cat-file", "--batch", given=_lines(ids)) if ids else b""

    def _present(self, ids: Sequence[str]) -> list[str]:
        told = self.ask(
            *("rev-list", "--objects", "--no-object-names", "--no-walk"),
            *("--ignore-missing", "--missing=allow-any", "--stdin"),
            given=_lines(ids),
        )
        return (told or b"").decode().split()


_REMOTE = "refs/remotes/origin/"
_HEADS = ("HEAD", "main", "master")


def clean_environment(env: Mapping[str, str], top: str) -> dict[str, str]:
    """An environment in which git looks at ``top`` and at nothing else, and asks nobody."""
    kept = {name: env[name] for name in env if not name.startswith("GIT_") or name in _KEPT}
    # A damaged .git must not send git up into the repository that lies around this one.
    return {**kept, **_FIXED, "GIT_CEILING_DIRECTORIES": os.path.dirname(top)}


def _as_variables(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings for one command; unlike with ``-c``, a name may contain any mark."""
    made = {"GIT_CONFIG_COUNT": str(len(settings))} if settings else {}
    for number, (key, value) in enumerate(settings.items()):
        made |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return made


def _parts(paths: Sequence[str]) -> Iterator[list[str]]:
    part: list[str] = []
    size = 0
    for path in paths:
        if part and size + len(path) > _PATHS_BYTES:
            yield part
            part, size = [], 0
        part.append(path)
        size += len(path.encode("utf-8", "surrogateescape")) + 1
    if part:
        yield part


def _lines(words: Iterable[str]) -> bytes:
    return os.fsencode("".join(f"{word}\n" for word in words))


def fields(told: bytes) -> list[str]:
    """The parts of an answer that was asked for with ``-z``, as file names are in Python."""
    return os.fsdecode(told).split("\0")[:-1]


def _blobs(told: bytes) -> Iterator[tuple[str, bytes]]:
    """Ids and bytes, from what ``cat-file --batch`` prints."""
    at = 0
    while at < len(told):
        end = told.index(b"\n", at)
        head = told[at:end].decode("utf-8", "replace").split(" ")
        at = end + 1
        if len(head) == 3 and head[1] == "blob" and head[2].isdigit():
            size = int(head[2])
            yield head[0], told[at : at + size]
            at += size + 1
        elif len(head) == 3 and head[2].isdigit():
            at += int(head[2]) + 1
