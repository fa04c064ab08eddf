"""How fast memspec is, against floors measured in the same run on the same store.

A floor is what the work costs without memspec: starting Python, listing the files, reading them,
putting their text into SQLite, asking SQLite. Ratios to floors travel between machines; times do
not. What is compared is measured in turns, so that a busy moment hits both sides.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from collections import defaultdict
from contextlib import closing
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING, ParamSpec

import click

import memspec_py
from memspec_py.api import Memspec
from memspec_py.config import Limits
from memspec_py.index.db import INDEX_NAME
from memspec_py.index.index import Index
from memspec_py.index.query import parse_query
from memspec_py.store.layout import LOCAL, RECORD_FOLDERS, STORE_NAME
from tests.bench.stores import make_store, queries, record_number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_P = ParamSpec("_P")

SIZES = (100, 1_000, 10_000)
LARGE = 100_000
JUDGED = 10_000  # the size that the targets are set for

# Files younger than two seconds are read again before every answer, so stores are left alone first.
SETTLE_SECONDS = 2.2
COLD_ROUNDS = 5
CHANGED_FILES = 10
QUESTIONS = 200
OTHER_SEED = 2  # claims to remember come from another invented project, so none is a duplicate

WARM_TIMES, REMEMBER_TIMES, COLD_TIMES = 1.4, 2.0, 3.0
REFRESH_TIMES, REFRESH_MORE_MS, QUERY_TIMES, MEMORY_MB = 1.5, 20.0, 2.0, 60.0
NOT_IMPORTED = ("sqlite_utils", "jsonschema", "ruamel", "ulid", "frontmatter")

_FLOOR_TABLES = """
pragma journal_mode = off;
pragma synchronous = off;
create table texts (key integer primary key, title text, tags text, body text);
create virtual table words using fts5 (title, tags, body, content = 'texts',
    content_rowid = 'key', tokenize = 'porter unicode61 remove_diacritics 2');
"""

_IMPORTED = re.compile(r"import time:\s+\d+ \|\s+\d+ \|\s*(\S+)")


@dataclass(frozen=True, slots=True)
class Measure:
    """One promise: what was measured and what it may be at most, both in ``unit``."""

    name: str
    unit: str
    ours: float
    allowed: float
    target: str

    @property
    def is_met(self) -> bool:
        """Whether the promise is kept."""
        return self.ours <= self.allowed


@dataclass(slots=True)
class SizeReport:
    """Everything measured on a store of one size; times are medians in milliseconds."""

    records: int
    floors: dict[str, float] = field(default_factory=dict)
    measures: list[Measure] = field(default_factory=list)
    imported: list[str] = field(default_factory=list)

    @property
    def dear_imports(self) -> list[str]:
        """Modules that a warm search must not import, and did."""
        return [name for name in self.imported if name.partition(".")[0] in NOT_IMPORTED]

    def misses(self) -> list[str]:
        """The broken promises, as sentences; only one size is judged."""
        if self.records != JUDGED:
            return []
        missed = [
            f"{one.name}: {one.ours:.1f} {one.unit}, not {one.allowed:.1f} ({one.target})"
            for one in self.measures
            if not one.is_met
        ]
        if self.dear_imports:
            missed.append(f"a warm search imports {', '.join(self.dear_imports)}")
        return missed

    def as_dict(self) -> dict[str, object]:
        """The report as JSON shows it."""
        shown = [{**asdict(one), "met": one.is_met} for one in self.measures]
        return {
            **asdict(self),
            "measures": shown,
            "dear_imports": self.dear_imports,
            "judged": self.records == JUDGED,
        }


# The three functions below are floors. They run in this process and, by their source, in bare ones.


def list_files(root: str, folders: Sequence[str]) -> list[str]:
    """Every record file with its stat taken, by the cheapest calls there are."""
    waiting = [os.path.join(root, folder) for folder in folders]
    paths = []
    for folder in waiting:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif entry.name.endswith(".md"):
                    entry.stat(follow_symlinks=False)
                    paths.append(entry.path)
    return paths


def ask(database: str, expression: str) -> list[int]:
    """Open a full-text index and take the best ten records of one query."""
    with closing(sqlite3.connect(database)) as db:
        return raw_query(db, expression)


def raw_query(db: sqlite3.Connection, expression: str) -> list[int]:
    """The best ten records of one query."""
    rows = db.execute(
        "select rowid from words where words match ? order by bm25(words) limit 10", (expression,)
    )
    return [row for (row,) in rows]


def read_files(paths: Sequence[str]) -> int:
    """Read every file, and nothing more."""
    size = 0
    for path in paths:
        handle = os.open(path, os.O_RDONLY)
        size += len(os.read(handle, 1 << 20))
        os.close(handle)
    return size


def insert_rows(rows: Sequence[tuple[int, str, str, str]], database: Path) -> None:
    """Put ready rows into a new full-text index with external content."""
    database.unlink(missing_ok=True)
    with closing(sqlite3.connect(database, isolation_level=None)) as db:
        db.executescript(_FLOOR_TABLES)
        db.execute("begin")
        db.executemany("insert into texts values (?, ?, ?, ?)", rows)
        db.execute(
            "insert into words (rowid, title, tags, body) select key, title, tags, body from texts"
        )
        db.execute("commit")


class Bench:
    """The measurements on stores of one size, in a folder of their own."""

    def __init__(self, count: int, kept: Path, work: Path, rounds: int) -> None:
        made = make_store(kept, count)
        self._count = count
        self._rounds = rounds
        self._read_project = work / "read"
        self._write_project = work / "write"
        for project in (self._read_project, self._write_project):
            shutil.copytree(made, project)
        self._root = str(self._read_project / STORE_NAME)
        self._floor_database = work / "floor.db"
        self._questions = queries(QUESTIONS, count)
        self._environment = _environment(work)
        self._times: defaultdict[str, list[float]] = defaultdict(list)

    def report(self) -> SizeReport:
        """Measure everything."""
        self._build_rounds()
        time.sleep(SETTLE_SECONDS)
        for project in (self._read_project, self._write_project):
            self._run([*_memspec(), "search", self._questions[0]], project)
        self._process_rounds()
        self._inner_rounds()
        self._refresh_rounds()
        found = SizeReport(self._count, {name: median(all_) for name, all_ in self._times.items()})
        found.measures = self._measures(found.floors)
        found.imported = self._imports()
        for name in ("warm search", "remember", "cold build", "refresh", "search, open store"):
            del found.floors[name]
        return found

    def _build_rounds(self) -> None:
        """A cold build, against reading all files and inserting all rows."""
        records = [record_number(number) for number in range(self._count)]
        rows = [(key, r.title, " ".join(r.tags), r.body) for key, r in enumerate(records)]
        paths = list_files(self._root, RECORD_FOLDERS)
        index = self._write_project / STORE_NAME / LOCAL / INDEX_NAME
        for _ in range(COLD_ROUNDS):
            self._time("reading all files", read_files, paths)
            self._time("inserting all rows", insert_rows, rows, self._floor_database)
            index.unlink(missing_ok=True)
            search = [*_memspec(), "search", self._questions[0]]
            self._time("cold build", self._run, search, self._write_project)

    def _process_rounds(self) -> None:
        """Whole processes, from start to exit."""
        query, listing = "ask(sys.argv[1], sys.argv[2])", "list_files(sys.argv[3], sys.argv[4:])"
        asking, both = _script(query), _script(query, listing)
        for number in range(self._rounds + 1):
            question = self._questions[number % QUESTIONS]
            expression = parse_query(question, Limits().query_terms).any_term()
            given = [str(self._floor_database), expression, self._root, *RECORD_FOLDERS]
            claim = record_number(number, OTHER_SEED)
            written = ["remember", "fact", claim.title, "--source", "bench", "--body", claim.body]
            python = [sys.executable, "-c"]
            for name, command, project in (
                ("python", [*python, "pass"], self._read_project),
                ("python + click + FTS query", [*python, asking, *given], self._read_project),
                (
                    "python + click + FTS query + listing",
                    [*python, both, *given],
                    self._read_project,
                ),
                ("warm search", [*_memspec(), "search", question], self._read_project),
                ("remember", [*_memspec(), *written], self._write_project),
            ):
                if number == 0:
                    self._run(command, project)  # fills the caches of the system
                else:
                    self._time(name, self._run, command, project)

    def _inner_rounds(self) -> None:
        """Searches of a store that stays open, each beside its floors."""
        with (
            Memspec.open(self._read_project) as memspec,
            closing(sqlite3.connect(memspec.root / LOCAL / INDEX_NAME)) as db,
        ):
            memspec.search("open")
            for question in self._questions:
                expression = parse_query(question, Limits().query_terms).any_term()
                self._time("search, open store", memspec.search, question)
                self._time("listing", list_files, self._root, RECORD_FOLDERS)
                self._time("raw FTS query", raw_query, db, expression)

    def _refresh_rounds(self) -> None:
        """The index brought up to date after a few files were changed."""
        root = Path(self._root)
        index = Index(root, Limits())
        paths = sorted(root.glob("memory/facts/*.md"))
        changes = iter(paths * COLD_ROUNDS)
        for _ in range(COLD_ROUNDS):
            for path in islice(changes, CHANGED_FILES):
                changed = path.with_suffix(".new")
                changed.write_text(f"{path.read_text(encoding='utf-8')}\nMore.\n", encoding="utf-8")
                changed.replace(path)
            self._time("refresh", index.refresh)
            time.sleep(SETTLE_SECONDS)
            index.refresh()
        index.close()

    def _measures(self, times: dict[str, float]) -> list[Measure]:
        built = times["reading all files"] + times["inserting all rows"]
        refresh = REFRESH_TIMES * times["listing"] + REFRESH_MORE_MS
        open_store = times["listing"] + QUERY_TIMES * times["raw FTS query"]
        floor = times["python + click + FTS query + listing"]
        return [
            Measure(
                "warm search, whole process",
                "ms",
                times["warm search"],
                WARM_TIMES * floor,
                f"{WARM_TIMES} x (python + click + FTS query + listing)",
            ),
            Measure(
                "remember, whole process",
                "ms",
                times["remember"],
                REMEMBER_TIMES * times["warm search"],
                f"{REMEMBER_TIMES} x warm search",
            ),
            Measure(
                "cold index build",
                "ms",
                times["cold build"],
                COLD_TIMES * built,
                f"{COLD_TIMES} x (reading all files + inserting all rows)",
            ),
            Measure(
                f"refresh, {CHANGED_FILES} changed files",
                "ms",
                times["refresh"],
                refresh,
                f"{REFRESH_TIMES} x listing + {REFRESH_MORE_MS:.0f} ms",
            ),
            Measure(
                "search, open store, p50",
                "ms",
                times["search, open store"],
                open_store,
                f"listing + {QUERY_TIMES} x raw FTS query",
            ),
            Measure(
                "peak memory of a warm search",
                "MB",
                self._peak_memory(),
                MEMORY_MB,
                f"{MEMORY_MB:.0f} MB",
            ),
        ]

    def _imports(self) -> list[str]:
        """Every module that a warm search imports."""
        done = subprocess.run(
            [sys.executable, "-X", "importtime", *_memspec()[1:], "search", self._questions[0]],
            cwd=self._read_project,
            env=self._environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return sorted(set(_IMPORTED.findall(done.stderr)))

    def _peak_memory(self) -> float:
        """Peak resident memory of a warm search, in MB.

        A small process in between starts it, because a child inherits its parent's peak.
        """
        code = (
            "import resource, subprocess, sys\n"
            "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        )
        command = [sys.executable, "-S", "-c", code, *_memspec(), "search", self._questions[0]]
        unit = 1 if sys.platform == "darwin" else 1024
        peaks = [
            int(
                subprocess.run(
                    command,
                    cwd=self._read_project,
                    env=self._environment,
                    capture_output=True,
                    text=True,
                    check=True,
                ).stdout
            )
            for _ in range(3)
        ]
        return median(peaks) * unit / 1e6

    def _run(self, command: Sequence[str], cwd: Path) -> None:
        done = subprocess.run(
            command, cwd=cwd, env=self._environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            msg = f"exit {done.returncode} of {' '.join(command)[:200]}\n{done.stderr}"
            raise click.ClickException(msg)

    def _time(
        self, name: str, run: Callable[_P, object], *given: _P.args, **named: _P.kwargs
    ) -> None:
        started = time.perf_counter()
        run(*given, **named)
        self._times[name].append((time.perf_counter() - started) * 1000)


def _memspec() -> list[str]:
    """The command under test: the console script beside this Python, as bin/memspec starts it."""
    script = Path(sys.executable).with_name("memspec")
    return [sys.executable, *([str(script)] if script.exists() else ["-m", "memspec_py"])]


def _script(*calls: str) -> str:
    """A program that imports what memspec cannot do without, and makes some calls of floors."""
    imports = "import os, sqlite3, sys, click\nfrom contextlib import closing"
    floors = [inspect.getsource(floor) for floor in (list_files, raw_query, ask)]
    return "\n".join(["from __future__ import annotations", imports, *floors, *calls])


def _environment(work: Path) -> dict[str, str]:
    """A clean environment, so that neither our settings nor a person's reach what is timed."""
    home = work / "home"
    home.mkdir()
    found = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", "TZ": "UTC"}
    if "-m" in _memspec():  # not installed, so the floors get the longer path as well
        found["PYTHONPATH"] = str(Path(memspec_py.__file__).parents[1])
    return found


def as_text(reports: Sequence[SizeReport]) -> str:
    """The tables, for a person."""
    return "\n\n".join(_size_as_text(report) for report in reports)


def _size_as_text(report: SizeReport) -> str:
    judged = report.records == JUDGED
    lines = [f"{report.records:,} records", "  floors (median ms)"]
    lines += [f"    {name:<40} {value:>10.2f}" for name, value in report.floors.items()]
    lines.append(f"  {'measured':<34} {'ours':>10} {'at most':>10} {'share':>6}  target")
    lines += [
        f"  {one.name:<34} {one.ours:>7.1f} {one.unit} {one.allowed:>7.1f} {one.unit}"
        f" {one.ours / one.allowed:>6.2f}  {one.target}{_mark(one.is_met, judged=judged)}"
        for one in report.measures
    ]
    dear = ", ".join(report.dear_imports) or "none"
    lines.append(
        f"  a warm search imports {len(report.imported)} modules; of {', '.join(NOT_IMPORTED)}:"
        f" {dear}{_mark(not report.dear_imports, judged=judged)}"
    )
    return "\n".join(lines)


def _mark(is_met: bool, *, judged: bool) -> str:  # noqa: FBT001  the one thing it is about
    if not judged:
        return ""
    return "  ok" if is_met else "  MISSED"


@click.command()
@click.option("--size", "sizes", multiple=True, type=click.IntRange(20), help="Only these sizes.")
@click.option("--large", is_flag=True, help=f"Also {LARGE:,} records (several minutes).")
@click.option("--rounds", default=15, show_default=True, help="How often each process is started.")
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
    sizes: tuple[int, ...], rounds: int, work: Path, *, large: bool, as_json: bool, check: bool
) -> None:
    """Times and memory against floors; the targets are judged at 10,000 records."""
    work.mkdir(parents=True, exist_ok=True)
    reports = []
    for size in (*(sizes or SIZES), *([LARGE] if large else [])):
        click.echo(f"measuring {size:,} records", err=True)
        with TemporaryDirectory(prefix="run-", dir=work) as folder:
            reports.append(Bench(size, work, Path(folder), rounds).report())
    shown = json.dumps([report.as_dict() for report in reports], indent=2)
    click.echo(shown if as_json else as_text(reports))
    missed = [sentence for report in reports for sentence in report.misses()]
    if check and missed:
        sys.exit(1)
