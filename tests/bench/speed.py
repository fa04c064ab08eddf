"""How fast memspec is, against floors measured in the same run on the same store.

A floor is what the work costs without memspec: starting Python, listing the files, reading them,
putting their text into SQLite, asking SQLite. Ratios to floors travel between machines; times do
not. What is compared is measured in turns, so that a busy moment hits both sides.
"""

from __future__ import annotations

import hashlib
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
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING, ParamSpec

import click

import memspec_py
from memspec_py.anchors.drift import check as check_anchors
from memspec_py.api import Memspec
from memspec_py.config import Limits
from memspec_py.index.db import INDEX_NAME
from memspec_py.index.index import Index
from memspec_py.index.query import parse_query
from memspec_py.record.model import Anchor, Kind, Record, SourceKind, State, Type, Witness
from memspec_py.store.layout import LOCAL, RECORD_FOLDERS, STORE_NAME
from tests.bench.stores import make_store, queries, record_number, write_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from memspec_py.anchors.verdict import Drift

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
ANCHORS, ANCHORED_FILES, SEARCHES = 1_000, 200, 10  # searches in each round
CHECK_TIMES, DRIFT_MORE_MS = 1.5, 15.0
WATCHED_MORE_MS = 3.0  # what a search does beside its query: whether the index is current, drift
REFRESH_TIMES, REFRESH_MORE_MS, QUERY_TIMES, MEMORY_MB = 1.5, 20.0, 2.0, 60.0
NOT_IMPORTED = ("sqlite_utils", "jsonschema", "ruamel", "ulid", "frontmatter")

# What is measured beside the floors, and judged by them.
_NO_FLOORS = (
    "warm search",
    "remember",
    "cold build",
    "refresh",
    "search, open store",
    "search, watched store",
)

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
    is_judged: bool = True

    @property
    def is_met(self) -> bool:
        """Whether the promise is kept."""
        return self.ours <= self.allowed


@dataclass(slots=True)
class SizeReport:
    """Everything measured on a store of one size, or on ``anchors``; times are medians in ms."""

    records: int
    floors: dict[str, float] = field(default_factory=dict)
    measures: list[Measure] = field(default_factory=list)
    imported: list[str] = field(default_factory=list)
    subject: str = "records"

    @property
    def is_judged(self) -> bool:
        """Whether the targets are set for this; those of anchors have one size only."""
        return self.records == JUDGED or self.subject == "anchors"

    @property
    def dear_imports(self) -> list[str]:
        """Modules that a warm search must not import, and did."""
        return [name for name in self.imported if name.partition(".")[0] in NOT_IMPORTED]

    def misses(self) -> list[str]:
        """The broken promises, as sentences; only one size is judged."""
        if not self.is_judged:
            return []
        missed = [
            f"{one.name}: {one.ours:.1f} {one.unit}, not {one.allowed:.1f} ({one.target})"
            for one in self.measures
            if one.is_judged and not one.is_met
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
            "judged": self.is_judged,
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


class Timed:
    """Something that takes times, and runs commands in a clean environment."""

    def __init__(self, work: Path, rounds: int) -> None:
        self._rounds = rounds
        self._environment = _environment(work)
        self._times: defaultdict[str, list[float]] = defaultdict(list)

    def _medians(self) -> dict[str, float]:
        return {name: median(times) for name, times in self._times.items()}

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


class Bench(Timed):
    """The measurements on stores of one size, in a folder of their own."""

    def __init__(self, count: int, kept: Path, work: Path, rounds: int) -> None:
        super().__init__(work, rounds)
        made = make_store(kept, count)
        self._count = count
        self._read_project = work / "read"
        self._write_project = work / "write"
        for project in (self._read_project, self._write_project):
            shutil.copytree(made, project)
        self._root = str(self._read_project / STORE_NAME)
        self._floor_database = work / "floor.db"
        self._questions = queries(QUESTIONS, count)

    def report(self) -> SizeReport:
        """Measure everything."""
        self._build_rounds()
        time.sleep(SETTLE_SECONDS)
        for project in (self._read_project, self._write_project):
            self._run([*memspec_command(), "search", self._questions[0]], project)
        self._process_rounds()
        self._inner_rounds()
        self._refresh_rounds()
        found = SizeReport(self._count, self._medians())
        found.measures = self._measures(found.floors)
        found.imported = self._imports()
        for name in _NO_FLOORS:
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
            search = [*memspec_command(), "search", self._questions[0]]
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
                ("warm search", [*memspec_command(), "search", question], self._read_project),
                ("remember", [*memspec_command(), *written], self._write_project),
            ):
                if number == 0:
                    self._run(command, project)  # fills the caches of the system
                else:
                    self._time(name, self._run, command, project)

    def _inner_rounds(self) -> None:
        """Searches of a store that stays open, each beside its floors."""
        with (
            Memspec.open(self._read_project) as memspec,
            Memspec.open(self._read_project, watch=True) as watched,
            closing(sqlite3.connect(memspec.root / LOCAL / INDEX_NAME)) as db,
        ):
            memspec.search("open")
            watched.search("open")
            for question in self._questions:
                expression = parse_query(question, Limits().query_terms).any_term()
                self._time("search, open store", memspec.search, question)
                self._time("search, watched store", watched.search, question)
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
                "search, watched store, p50",
                "ms",
                times["search, watched store"],
                QUERY_TIMES * times["raw FTS query"] + WATCHED_MORE_MS,
                f"{QUERY_TIMES} x raw FTS query + {WATCHED_MORE_MS:.0f} ms",
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
            [
                sys.executable,
                "-X",
                "importtime",
                *memspec_command()[1:],
                "search",
                self._questions[0],
            ],
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
        command = [
            sys.executable,
            "-S",
            "-c",
            code,
            *memspec_command(),
            "search",
            self._questions[0],
        ]
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


def read_and_hash(paths: Sequence[str]) -> list[str]:
    """The blob id of every file: a floor of checking anchors."""
    ids = []
    for path in paths:
        handle = os.open(path, os.O_RDONLY)
        data = os.read(handle, 1 << 20)
        os.close(handle)
        ids.append(hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest())
    return ids


class AnchorBench(Timed):
    """What anchors cost: one repository, and claims that each depend on one whole file of it.

    ``plain`` has the same claims without anchors; in ``drifted`` one file was changed and pushed,
    in ``edited`` it was then changed again, so that git has to show what the branch has.
    """

    def __init__(self, work: Path, rounds: int) -> None:
        super().__init__(work, rounds)
        self._plain, self._anchored, self._drifted, self._edited = (
            work / name for name in ("plain", "anchored", "drifted", "edited")
        )
        files = [f"src/module_{number}.py" for number in range(ANCHORED_FILES)]
        for number, file in enumerate(files):
            path = self._anchored / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_source(number), encoding="utf-8")
        self._run(["git", "init", "--quiet"], self._anchored)
        self._push(self._anchored)
        self._paths = [str(self._anchored / file) for file in files]
        ids = read_and_hash(self._paths)
        anchors = [Anchor(file=file, sha=sha) for file, sha in zip(files, ids, strict=True)]
        claims = [_claim(number, anchors[number % ANCHORED_FILES]) for number in range(ANCHORS)]
        self._anchors = [(claim.id, anchor) for claim in claims for anchor in claim.anchors]
        write_store(self._anchored, claims)
        write_store(
            self._plain,
            (replace(one, anchors=(), verified_with=Witness.ASSERTION) for one in claims),
        )
        for copy in (self._drifted, self._edited):
            shutil.copytree(self._anchored, copy)

    def report(self) -> SizeReport:
        """Measure everything."""
        time.sleep(SETTLE_SECONDS)
        with (
            Memspec.open(self._plain) as plain,
            Memspec.open(self._anchored) as anchored,
            Memspec.open(self._drifted) as drifted,
            Memspec.open(self._edited) as edited,
        ):
            question = self._question(anchored, drifted, edited)
            plain.search(question)
            listed = str(anchored.root)
            if any(one.verdict != "unchanged" for drift in self._check().values() for one in drift):
                raise click.ClickException("an anchor of unchanged files is not unchanged")
            for _ in range(self._rounds):
                self._time("listing the store", list_files, listed, RECORD_FOLDERS)
                self._time("reading and hashing", read_and_hash, self._paths)
                self._time("checking", self._check)
                self._time("reconcile", anchored.reconcile)
                self._time("git rev-parse HEAD", self._run, _HEAD, self._anchored)
                for _ in range(SEARCHES):
                    self._time("search without anchors", plain.search, question)
                    self._time("search, ten anchored hits", anchored.search, question)
                    self._time("search, one of them drifted", drifted.search, question)
                    self._time("search, one of them edited", edited.search, question)
        found = SizeReport(ANCHORS, self._medians(), subject="anchors")
        found.measures = self._measures(found.floors)
        del found.floors["checking"], found.floors["reconcile"]
        return found

    def _check(self) -> dict[str, list[Drift]]:
        return check_anchors(
            self._anchors, project=self._anchored, env=self._environment, default_branch=False
        )

    def _question(self, anchored: Memspec, drifted: Memspec, edited: Memspec) -> str:
        """A question with ten anchored hits; the file of the first is changed in the copies."""
        for question in queries(QUESTIONS, ANCHORS):
            hits = anchored.search(question).results
            if len(hits) == 10 and all(hit.drift and not hit.drifted for hit in hits):
                break
        else:
            raise click.ClickException("no question has ten anchored hits")
        changed = (hits[0].drift or ())[0].file
        for project in (self._drifted, self._edited):
            (project / changed).write_text("# Nothing is left.\n", encoding="utf-8")
            self._push(project)
        (self._edited / changed).write_text("# Not even that.\n", encoding="utf-8")
        for copy in (drifted, edited):
            if not any(hit.drifted for hit in copy.search(question).results):
                raise click.ClickException("the changed file is no drift")
        return question

    def _push(self, project: Path) -> None:
        """Commit the sources, and let the remote's default branch be that commit."""
        named = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
        for arguments in (
            ("add", "src"),
            (*named, "commit", "--quiet", "--message", "x"),
            ("update-ref", "refs/remotes/origin/main", "HEAD"),
            ("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"),
        ):
            self._run(["git", *arguments], project)

    def _measures(self, times: dict[str, float]) -> list[Measure]:
        allowed = CHECK_TIMES * times["reading and hashing"] + times["git rev-parse HEAD"]
        target = f"{CHECK_TIMES} x reading and hashing {ANCHORED_FILES} files + one git call"
        without = times["search without anchors"]
        unchanged = times["search, ten anchored hits"] - without
        one_drifted = times["search, one of them drifted"] - without
        one_edited = times["search, one of them edited"] - without
        more = "more than the search without anchors"
        return [
            Measure("reconcile, checking alone", "ms", times["checking"], allowed, target),
            Measure(
                "reconcile, whole call (not judged)",
                "ms",
                times["reconcile"],
                allowed,
                "the same; includes listing the store and reading"
                f" {ANCHORS:,} records with anchors from its index",
                is_judged=False,
            ),
            Measure("drift of ten hits, unchanged", "ms", unchanged, DRIFT_MORE_MS, more),
            Measure("drift of ten hits, one drifted", "ms", one_drifted, DRIFT_MORE_MS, more),
            Measure("drift of ten hits, one edited", "ms", one_edited, DRIFT_MORE_MS, more),
        ]


_HEAD = ("git", "rev-parse", "HEAD")


def _source(number: int) -> str:
    """A module of about 6 KB, unlike any other."""
    return "\n".join(
        f"def step_{step}(value: int) -> int:\n    return value * {number} + {step}\n"
        for step in range(90)
    )


def _claim(number: int, anchor: Anchor) -> Record:
    """A fact in the words of the invented project."""
    made = record_number(number)
    return Record(
        id=made.id,
        kind=Kind.CLAIM,
        type=Type.FACT,
        state=State.ACTIVE,
        title=made.title,
        body=made.body,
        created=made.created,
        source="bench",
        source_kind=SourceKind.AGENT,
        verified_with=Witness.ANCHOR,
        tags=made.tags,
        last_verified=made.created,
        anchors=(anchor,),
    )


def memspec_command() -> list[str]:
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
    if "-m" in memspec_command():  # not installed, so the floors get the longer path as well
        found["PYTHONPATH"] = str(Path(memspec_py.__file__).parents[1])
    return found


def _beside(size: int, work: Path, rounds: int) -> Iterator[SizeReport]:
    """Several layers, and a backfill, on records of the same number; up to the judged one."""
    from tests.bench.backfill import BackfillBench
    from tests.bench.layers import LayerBench

    if size > JUDGED:
        return
    with TemporaryDirectory(prefix="run-", dir=work) as folder:
        yield LayerBench(size, work, Path(folder), rounds).report()
    with TemporaryDirectory(prefix="run-", dir=work) as folder:
        yield BackfillBench(size, work, Path(folder)).report()


def as_text(reports: Sequence[SizeReport]) -> str:
    """The tables, for a person."""
    return "\n\n".join(_size_as_text(report) for report in reports)


def _size_as_text(report: SizeReport) -> str:
    judged = report.is_judged
    marks = [_mark(one.is_met, judged=judged and one.is_judged) for one in report.measures]
    lines = [f"{report.records:,} {report.subject}", "  floors (median ms)"]
    lines += [f"    {name:<40} {value:>10.2f}" for name, value in report.floors.items()]
    lines.append(f"  {'measured':<34} {'ours':>10} {'at most':>10} {'share':>6}  target")
    lines += [
        f"  {one.name:<34} {one.ours:>7.1f} {one.unit} {one.allowed:>7.1f} {one.unit}"
        f" {one.ours / one.allowed:>6.2f}  {one.target}{mark}"
        for one, mark in zip(report.measures, marks, strict=True)
    ]
    if report.imported:
        dear = ", ".join(report.dear_imports) or "none"
        lines.append(
            f"  a warm search imports {len(report.imported)} modules; of"
            f" {', '.join(NOT_IMPORTED)}: {dear}{_mark(not report.dear_imports, judged=judged)}"
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
    """Times and memory against floors; the targets are judged at 10,000 records.

    What anchors cost comes last, and is measured and judged once, at 1,000 anchors in 200 files.
    """
    work.mkdir(parents=True, exist_ok=True)
    reports = []
    for size in (*(sizes or SIZES), *([LARGE] if large else [])):
        click.echo(f"measuring {size:,} records", err=True)
        with TemporaryDirectory(prefix="run-", dir=work) as folder:
            reports.append(Bench(size, work, Path(folder), rounds).report())
        reports += _beside(size, work, rounds)
    click.echo(f"measuring {ANCHORS:,} anchors", err=True)
    with TemporaryDirectory(prefix="run-", dir=work) as folder:
        reports.append(AnchorBench(Path(folder), rounds).report())
    shown = json.dumps([report.as_dict() for report in reports], indent=2)
    click.echo(shown if as_json else as_text(reports))
    missed = [sentence for report in reports for sentence in report.misses()]
    if check and missed:
        sys.exit(1)
