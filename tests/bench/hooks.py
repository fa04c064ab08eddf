"""How long a hook keeps an agent waiting: whole processes, as a harness starts them.

Each event is measured in turns with `memspec --version`, the floor of any command, and with
`memspec search`, on a store with a fresh index in a git repository. Each run is another session, so
that nothing was told yet, and each commit is a new one.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import click

import memspec_py
from memspec_py.anchors.blob import blob_id
from memspec_py.record.model import Anchor
from tests.bench.stores import record_number, write_store

if TYPE_CHECKING:
    from memspec_py.record.model import Record

JUDGED = 10_000
MOST_MS = 150.0
_SETTLE_SECONDS = 2.2  # younger files are read again before every answer
_RUN = "from memspec_py.__main__ import entry; entry()"
_FLOORS = ("--version", "search")


class Taken(NamedTuple):
    """What one command took, in ms: on the clock, and of the processor; and how much it printed."""

    wall: float
    cpu: float
    bytes: int


class Row(NamedTuple):
    """The median of some runs."""

    name: str
    wall_ms: float
    cpu_ms: float
    bytes: int


class Scene:
    """A repository with a store of so many records, whose anchored files are as they were."""

    def __init__(self, folder: Path, records: int) -> None:
        self.project = folder / "project"
        every = [_anchored_to_files(record_number(number)) for number in range(records)]
        write_store(self.project, every)
        for name in {one.file for record in every for one in record.anchors}:
            place = self.project / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(_content(name))
        told = next(
            one for one in every if one.anchors and one.state == "active" and one.title.isascii()
        )
        self.file, self.title = told.anchors[0].file, told.title
        self._env = _environment(folder)
        self._git("init", "--quiet")
        self._git("add", "src")
        self._git("commit", "--quiet", "-m", "first")
        self.memspec("search", "warm")
        time.sleep(_SETTLE_SECONDS)
        self.memspec("search", "warm")

    def hook(self, event: str, session: str) -> Taken:
        """One run of a hook."""
        if event == "post-commit":
            place = self.project / self.file
            place.write_text(f"x = {session!r}\n", encoding="utf-8")
            self._git("commit", "--quiet", "-am", session)
        payload = {
            "session_id": session,
            "cwd": str(self.project),
            "source": "startup",
            "prompt": self.title,
            "tool_input": {"file_path": str(self.project / self.file), "command": "git commit"},
        }
        return self.memspec("hook", event, given=json.dumps(payload).encode())

    def memspec(self, *words: str, given: bytes = b"") -> Taken:
        """One run of a command."""
        command = [sys.executable, "-c", _RUN, *words]
        before, start = _cpu(), time.perf_counter()
        done = subprocess.run(
            command, cwd=self.project, env=self._env, input=given, capture_output=True, check=True
        )
        wall = time.perf_counter() - start
        return Taken(1_000 * wall, 1_000 * (_cpu() - before), len(done.stdout))

    def _git(self, *words: str) -> None:
        subprocess.run(["git", *words], cwd=self.project, env=self._env, check=True)


def measure(records: int, rounds: int) -> list[Row]:
    """Each hook and each floor, in turns."""
    from memspec_py.acts.harness.table import EVENTS

    runs: dict[str, list[Taken]] = {}
    with TemporaryDirectory() as folder:
        scene = Scene(Path(folder), records)
        for number in range(rounds):
            runs.setdefault("--version", []).append(scene.memspec("--version"))
            runs.setdefault("search", []).append(scene.memspec("search", scene.title))
            for event in EVENTS:
                runs.setdefault(event, []).append(scene.hook(event, f"{event}-{number}"))
    return [_row(name, some) for name, some in runs.items()]


def _content(name: str) -> bytes:
    return f"# {name}\n".encode()


def _anchored_to_files(record: Record) -> Record:
    """The record with anchors that are those of real files."""
    files = dict.fromkeys(one.file for one in record.anchors)
    anchors = tuple(Anchor(file=name, sha=blob_id(_content(name))) for name in files)
    return replace(record, anchors=anchors)


def _row(name: str, runs: list[Taken]) -> Row:
    return Row(
        name,
        round(median(one.wall for one in runs), 1),
        round(median(one.cpu for one in runs), 1),
        max(one.bytes for one in runs),
    )


def _environment(home: Path) -> dict[str, str]:
    person = {"GIT_AUTHOR_NAME": "me", "GIT_AUTHOR_EMAIL": "me@example.org"}
    person |= {"GIT_COMMITTER_NAME": "me", "GIT_COMMITTER_EMAIL": "me@example.org"}
    package = Path(memspec_py.__file__).parent.parent
    path = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(package)}
    return {**path, **person, "GIT_CONFIG_NOSYSTEM": "1"}


def _cpu() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


@click.command(help=__doc__)
@click.option("--records", default=JUDGED, show_default=True, type=click.IntRange(min=1_000))
@click.option("--rounds", default=15, show_default=True, type=click.IntRange(min=1))
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@click.option("--check", is_flag=True, help=f"Exit 1 when a hook takes more than {MOST_MS:g} ms.")
def command(records: int, rounds: int, *, as_json: bool, check: bool) -> None:
    """Measure the hooks."""
    rows = measure(records, rounds)
    if as_json:
        click.echo(json.dumps({"records": records, "rows": [row._asdict() for row in rows]}))
    else:
        click.echo(f"{records:,} records, medians of {rounds} runs, target {MOST_MS:g} ms")
        for row in rows:
            click.echo(
                f"  {row.name:14} {row.wall_ms:7.1f} ms {row.cpu_ms:7.1f} ms CPU {row.bytes:7,} B"
            )
    missed = [row.name for row in rows if row.name not in _FLOORS and row.wall_ms > MOST_MS]
    if check and missed:
        click.echo(f"missed: {', '.join(missed)}", err=True)
        raise SystemExit(1)
