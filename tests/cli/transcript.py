"""Conversations with the command line, kept as text: ``fixtures/cli/*.transcript``.

::

    # A remark, and then what is typed:
    $ memspec get ms_nope
    ! error: no record ms_nope
    ? 3

``$`` is what is typed, ``|`` standard output, ``!`` standard error, ``?`` the exit code when it is
not 0. JSON is shown indented. Each file is played in a home of its own, ``/home/me``, beginning in
the empty folder ``/home/me/app``, at the start of 2026; time only moves on by ``later 3d``. Ids
count up. Besides ``memspec`` a few commands of the shell are there, enough to set a scene:
``printf TEXT``, ``cat``, ``rm``, ``mkdir``, ``cd``, ``export``, with ``| memspec`` and ``> FILE``;
``git`` is the real one, and ``backfill OLD=NEW`` is a script that renames a tag.

``python -m tests.cli.transcript`` (or ``bin/golden``) plays all and rewrites what changed.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from memspec_py.api import Memspec
from memspec_py.cli.main import main
from memspec_py.clock import FixedClock, instant, parse_duration
from memspec_py.testing import counting_entropy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspec_py.record.model import Record

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "cli"
HOME = "/home/me"
_GIT_PERSON = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "me",
    "GIT_AUTHOR_EMAIL": "me@example.org",
    "GIT_COMMITTER_NAME": "me",
    "GIT_COMMITTER_EMAIL": "me@example.org",
}
# How often a young file is read again depends on how fast the machine is.
_UNSTEADY = (
    (re.compile(r"\d+ read just now"), "N read just now"),
    (re.compile(r'"read": \d+'), '"read": 0'),
)


@dataclass(frozen=True)
class Said:
    """What a command answered."""

    out: str
    err: str = ""
    code: int = 0


@dataclass
class Scene:
    """A home folder, the place one is in, the time, and the ids to come."""

    home: Path
    clock: FixedClock = field(default_factory=FixedClock)
    variables: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.place = self.home / "app"
        self.place.mkdir(parents=True)
        self._entropy = counting_entropy()

    def play(self, line: str) -> Said:
        """Do what a line says."""
        words = shlex.split(line)
        typed = b""
        if "|" in words:
            at = words.index("|")
            typed = self._shell(words[:at]).out.encode()
            words = words[at + 1 :]
        target = None
        if ">" in words:
            target = words[words.index(">") + 1]
            words = words[: words.index(">")]
        said = self.memspec(words[1:], typed) if words[0] == "memspec" else self._shell(words)
        if target is None:
            return said
        (self.place / target).parent.mkdir(parents=True, exist_ok=True)
        (self.place / target).write_bytes(said.out.encode())
        return Said("", said.err, said.code)

    def memspec(self, arguments: list[str], typed: bytes = b"") -> Said:
        """Run the command line in this process, with everything around it pinned."""
        with self._around(typed) as (out, err):
            try:
                main(arguments)
            except SystemExit as leaving:
                code = leaving.code
            sys.stdout.flush()
            sys.stderr.flush()
            assert isinstance(code, int)
            return Said(out.getvalue().decode(), err.getvalue().decode(), code)

    def told(self, text: str) -> str:
        """A text without what differs from one machine to the next."""
        text = text.replace(os.path.realpath(self.home), HOME).replace(str(self.home), HOME)
        for pattern, steady in _UNSTEADY:
            text = pattern.sub(steady, text)
        return text

    def _shell(self, words: list[str]) -> Said:
        """One of the few commands that set a scene."""
        if words[0] == "git":
            return self._git(words)
        name, given = words
        place = self.place / given
        match name:
            case "printf":
                return Said(given.replace("\\n", "\n").replace("\\t", "\t"))
            case "cat":
                return Said(place.read_text(encoding="utf-8"))
            case "rm":
                place.unlink()
            case "mkdir":
                place.mkdir(parents=True)
            case "cd":
                self.place = Path(os.path.normpath(place))
            case "export":
                variable, _, value = given.partition("=")
                self.variables[variable] = value
            case "backfill":
                return self._backfill(given)
            case "later":
                self.clock.advance(seconds=parse_duration(given).total_seconds())
            case _:
                raise ValueError(f"no command {name!r} in a transcript")
        return Said("")

    def _backfill(self, given: str) -> Said:
        """A script of somebody's: it renames a tag in all records."""
        old, _, new = given.partition("=")

        def renamed(record: Record) -> Record:
            tags = tuple(new if tag == old else tag for tag in record.tags)
            return replace(record, tags=tags)

        with self._around(b""), Memspec.open() as store:
            done = store.backfill(renamed, name=f"rename-{old}", apply=True)
        return Said(f"changed {done.changed}\n")

    def _git(self, words: list[str]) -> Said:
        """Git itself, knowing nothing of whoever runs the tests; its repository is a real one."""
        now = instant(self.clock.now())
        environment = {"HOME": str(self.home), "PATH": os.environ["PATH"], **_GIT_PERSON}
        environment |= {"GIT_AUTHOR_DATE": now, "GIT_COMMITTER_DATE": now}
        done = subprocess.run(
            words, cwd=self.place, env=environment, capture_output=True, text=True, check=False
        )
        return Said(done.stdout, done.stderr, done.returncode)

    @contextmanager
    def _around(self, typed: bytes) -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
        """The process as this scene has it."""
        out, err, before = io.BytesIO(), io.BytesIO(), Path.cwd()
        environment = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "PWD": str(self.place),
            "COLUMNS": "80",
            **self.variables,
        }
        os.chdir(self.place)
        try:
            with (
                patch.dict(os.environ, environment, clear=True),
                patch.object(Memspec, "open", classmethod(self._opened(Memspec.open))),
                patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(typed), "utf-8")),
                patch.object(sys, "stdout", io.TextIOWrapper(out, "utf-8")),
                patch.object(sys, "stderr", io.TextIOWrapper(err, "utf-8")),
            ):
                yield out, err
        finally:
            os.chdir(before)

    def _opened(self, real: Any) -> Any:  # noqa: ANN401 - a class method and its stand-in
        def opened(cls: type[Memspec], *args: Any, **kwargs: Any) -> Memspec:  # noqa: ANN401
            kwargs |= {"clock": self.clock, "entropy": self._entropy}
            made: Memspec = real.__func__(cls, *args, **kwargs)
            return made

        return opened


@contextmanager
def scene() -> Iterator[Scene]:
    """A fresh scene, gone afterwards."""
    folder = tempfile.mkdtemp(prefix="memspec-")
    try:
        yield Scene(Path(folder, "me"))
    finally:
        shutil.rmtree(folder)


def played(text: str) -> str:
    """A transcript with the answers as they are now; remarks and what is typed stay."""
    lines = []
    with scene() as here:
        for line in text.splitlines():
            if line.startswith("$ "):
                lines += [line, *_answer(here, here.play(line[2:]))]
            elif line[:1] not in ("|", "!", "?"):
                lines.append(line)
    return "\n".join(lines) + "\n"


def _answer(here: Scene, said: Said) -> list[str]:
    lines = [f"| {line}".rstrip() for line in _readable(here.told(said.out))]
    lines += [f"! {line}".rstrip() for line in _readable(here.told(said.err))]
    return lines if said.code == 0 else [*lines, f"? {said.code}"]


def _readable(text: str) -> list[str]:
    lines = text.splitlines()
    if len(lines) == 1 and text.startswith("{"):  # of several lines each is an object of its own
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False).splitlines()
    return lines


def rewrite() -> int:
    """Play every transcript and write it anew; says which changed."""
    for path in sorted(FOLDER.glob("*.transcript")):
        before = path.read_text(encoding="utf-8")
        after = played(before)
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(f"rewritten: {path.relative_to(FOLDER.parents[1])}")  # noqa: T201 - a script
    return 0


if __name__ == "__main__":
    sys.exit(rewrite())
