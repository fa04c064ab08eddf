"""What the MCP server costs: round trips, start, memory over many calls, and the list of tools.

A round trip is measured beside the same call of the Python API on the same store, in turns; the
start beside that of an empty server of the same SDK.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections import defaultdict
from itertools import cycle
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING, ParamSpec

import click

from memspec_py.api import Memspec
from tests.bench.speed import QUESTIONS, SETTLE_SECONDS, SIZES, Measure, SizeReport, as_text
from tests.bench.stores import make_store, queries, record_number
from tests.mcp_server.raw import COMMAND, RawClient

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memspec_py.record.model import Record

_P = ParamSpec("_P")

TRIP_TIMES, START_TIMES = 2.0, 1.3
# Receipts grow to their bound and caches fill in the first half; from then on nothing may be added.
HALF, CALLS, MEMORY_STORE, GROWTH_MB = 5_000, 10_000, 1_000, 3.0
MOST_KB = 12.0
REMEMBERED = 30
OTHER_SEEDS = (3, 4)  # claims of two more invented projects, one for each side

# An empty server of the SDK, on the same transport.
EMPTY = """\
import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

async def main():
    server = Server("empty", version="1")
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())

anyio.run(main)
"""


class _Clock:
    """Takes times by name, in ms."""

    def __init__(self) -> None:
        self._times: defaultdict[str, list[float]] = defaultdict(list)

    def time(
        self, name: str, run: Callable[_P, object], *given: _P.args, **named: _P.kwargs
    ) -> None:
        """Do something once."""
        started = time.perf_counter()
        run(*given, **named)
        self._times[name].append((time.perf_counter() - started) * 1000)

    def median(self, name: str) -> float:
        """The median of what was timed under a name."""
        return median(self._times[name])


def measured(count: int, kept: Path, work: Path, rounds: int) -> SizeReport:
    """Round trips and starts on a store of so many records."""
    project = work / "project"
    shutil.copytree(make_store(kept, count), project)
    clock = _Clock()
    with Memspec.open(project, watch=True) as memspec:
        memspec.search("open")
        time.sleep(SETTLE_SECONDS)
        _starts(clock, project, queries(1, count)[0], rounds)
        with RawClient(project) as client:
            client.data("search", query="open")
            ids = cycle(hit.id for hit in memspec.list().results)
            for question, id_ in zip(queries(QUESTIONS, count), ids, strict=False):
                clock.time("search, in process", memspec.search, question)
                clock.time("search", client.data, "search", query=question)
                clock.time("get, in process", memspec.get, id_)
                clock.time("get", client.data, "get", id=id_)
            for number in range(REMEMBERED):
                ours, theirs = (record_number(number, seed) for seed in OTHER_SEEDS)
                clock.time("remember, in process", _remember, memspec, ours)
                clock.time("remember", client.data, "remember", **_claim(theirs))
    return _report(clock, count)


def _starts(clock: _Clock, project: Path, question: str, rounds: int) -> None:
    """From the start of the process to the handshake, and to the first answer."""
    empty = (sys.executable, "-c", EMPTY)
    _started(project, empty)
    _started(project, COMMAND, question)
    for _ in range(rounds):
        clock.time("start, empty server", _started, project, empty)
        clock.time("start", _started, project, COMMAND)
        clock.time("start and first search", _started, project, COMMAND, question)


def _started(project: Path, command: tuple[str, ...], question: str | None = None) -> None:
    client = RawClient(project, command=command)
    client.greet()
    if question is not None:
        client.data("search", query=question)
    client.process.kill()
    client.leave()


def _claim(record: Record) -> dict[str, object]:
    return {"type": "fact", "title": record.title, "body": record.body, "source": "bench"}


def _remember(memspec: Memspec, record: Record) -> None:
    memspec.remember("fact", record.title, body=record.body, source="bench")


def _report(clock: _Clock, count: int) -> SizeReport:
    report = SizeReport(count)
    for name in ("search", "get", "remember"):
        inner = clock.median(f"{name}, in process")
        report.floors[f"{name}, in process"] = inner
        report.measures.append(
            Measure(
                f"{name} round trip, p50",
                "ms",
                clock.median(name),
                TRIP_TIMES * inner,
                f"{TRIP_TIMES} x in process",
                is_judged=name == "search",
            )
        )
    empty = clock.median("start, empty server")
    report.floors["start, empty server"] = empty
    for name, is_judged in (("start", True), ("start and first search", False)):
        report.measures.append(
            Measure(
                name,
                "ms",
                clock.median(name),
                START_TIMES * empty,
                f"{START_TIMES} x empty server to its handshake",
                is_judged=is_judged,
            )
        )
    return report


def long_run(kept: Path, work: Path) -> SizeReport:
    """Memory over many calls, and the size of the list of tools."""
    project = work / "project"
    shutil.copytree(make_store(kept, MEMORY_STORE), project)
    asked = queries(QUESTIONS, MEMORY_STORE)
    report = SizeReport(CALLS, subject="calls")
    with RawClient(project) as client:
        listed = client.request("tools/list")["result"]
        with Memspec.open(project) as memspec:
            boot = memspec.context()
        ids = [hit["id"] for hit in client.data("search", query=asked[0])["results"]]
        first = before = _resident_mb(client)
        for number in range(CALLS):
            if number == HALF:
                before = _resident_mb(client)
            if number % 4:
                client.data("search", query=asked[number % QUESTIONS])
            else:
                client.data("get", id=ids[number % len(ids)])
        after = _resident_mb(client)
    report.floors["resident at first, MB"] = first
    report.floors["resident after half of the calls, MB"] = before
    report.floors["resident after all, MB"] = after
    size = len(json.dumps(listed, ensure_ascii=False, separators=(",", ":")).encode()) / 1024
    report.measures = [
        Measure(
            "memory added by the second half",
            "MB",
            after - before,
            GROWTH_MB,
            f"{GROWTH_MB:.0f} MB",
        ),
        Measure("tools/list", "KB", size, MOST_KB, f"{MOST_KB:.0f} KB of JSON"),
        Measure("boot context", "tokens", boot.tokens, boot.budget, "its budget"),
    ]
    return report


def _resident_mb(client: RawClient) -> float:
    with open(f"/proc/{client.process.pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


@click.command()
@click.option("--size", "sizes", multiple=True, type=click.IntRange(20), help="Only these sizes.")
@click.option("--rounds", default=15, show_default=True, help="How often each server is started.")
@click.option("--short", is_flag=True, help=f"Without the {CALLS:,} calls.")
@click.option(
    "--work",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(gettempdir()) / "memspec-bench",
    show_default=True,
    help="Where made stores are kept for the next run.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of tables.")
@click.option("--check", is_flag=True, help="Exit 1 when a target is missed.")
def command(
    sizes: tuple[int, ...], rounds: int, work: Path, *, short: bool, as_json: bool, check: bool
) -> None:
    """Round trips, start, memory and sizes of the MCP server; judged at 10,000 records."""
    work.mkdir(parents=True, exist_ok=True)
    reports = [_one(f"{size:,} records", work, size, rounds) for size in sizes or SIZES]
    if not short:
        reports.append(_one(f"{CALLS:,} calls", work, None, rounds))
    shown = json.dumps([report.as_dict() for report in reports], indent=2)
    click.echo(shown if as_json else as_text(reports))
    if check and _missed(reports):
        sys.exit(1)


def _one(what: str, work: Path, size: int | None, rounds: int) -> SizeReport:
    click.echo(f"measuring {what}", err=True)
    with TemporaryDirectory(prefix="run-", dir=work) as folder:
        place = Path(folder)
        return long_run(work, place) if size is None else measured(size, work, place, rounds)


def _missed(reports: Sequence[SizeReport]) -> list[str]:
    return [sentence for report in reports for sentence in report.misses()]
