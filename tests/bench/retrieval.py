"""How well search ranks, and how far its coverage verdict can be trusted, on public sets.

Three systems answer the same questions over the same text: plain FTS5 with OR, bm25s, and ours
through the public API. A question's relevant documents are known, so a ranking has a recall.
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol

import click

from memspec_py.api import Memspec
from memspec_py.clock import instant
from memspec_py.record.model import Kind, Record, State, Type
from tests.bench.datasets import FAMILIES, RETRIEVAL_DATA, load
from tests.bench.stores import START, id_number, seeded, write_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.bench.datasets import Dataset, Query

PAGE = 10
OURS = "memspec"
VERDICTS = ("ok", "weak", "none")
# Files younger than two seconds are read again before every search, so stores are left alone first.
SETTLE_SECONDS = 2.2


class System(Protocol):
    """Something that ranks the documents of one set."""

    def rank(self, text: str) -> list[str]:
        """The ids of at most ten documents, the best first."""
        ...


class FtsOr:
    """SQLite's full-text search as it comes: every word of the question, any of them, bm25."""

    name = "FTS5 OR"

    def __init__(self, dataset: Dataset) -> None:
        self._ids = [doc.id for doc in dataset.docs]
        self._db = sqlite3.connect(":memory:")
        self._db.execute(
            "create virtual table texts using fts5 (text, tokenize='porter unicode61')"
        )
        self._db.executemany(
            "insert into texts (rowid, text) values (?, ?)",
            [(row, doc.text) for row, doc in enumerate(dataset.docs)],
        )

    def rank(self, text: str) -> list[str]:
        """The best by SQLite's own order."""
        expression = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", text))
        if not expression:
            return []
        rows = self._db.execute(
            "select rowid from texts where texts match ? order by bm25(texts), rowid limit ?",
            (expression, PAGE),
        )
        return [self._ids[row] for (row,) in rows]


class Bm25s:
    """bm25s with its defaults (Lucene's formula, k1 1.5, b 0.75) and its English stop words."""

    name = "bm25s"

    def __init__(self, dataset: Dataset) -> None:
        bm25s: Any = import_module("bm25s")  # it has no types
        self._tokenize: Callable[[list[str]], Any] = lambda texts: bm25s.tokenize(
            texts, stopwords="en", show_progress=False
        )
        self._ids = [doc.id for doc in dataset.docs]
        self._index = bm25s.BM25()
        self._index.index(self._tokenize([doc.text for doc in dataset.docs]), show_progress=False)

    def rank(self, text: str) -> list[str]:
        """The best of those that share a word with the question."""
        count = min(PAGE, len(self._ids))
        found, scores = self._index.retrieve(self._tokenize([text]), k=count, show_progress=False)
        return [self._ids[row] for row, score in zip(found[0], scores[0], strict=True) if score > 0]


class Ours:
    """A store with a claim for each document, searched through the public API."""

    name = OURS

    def __init__(self, dataset: Dataset, folder: Path) -> None:
        ids = [id_number(number) for number in range(len(dataset.docs))]
        records = (
            Record(
                id=id_,
                kind=Kind.CLAIM,
                type=Type.FACT,
                state=State.ACTIVE,
                title=doc.title,
                body=doc.body,
                created=instant(START),
                source="bench",
            )
            for id_, doc in zip(ids, dataset.docs, strict=True)
        )
        files = write_store(folder, records)
        self._docs = dict(zip(ids, (doc.id for doc in dataset.docs), strict=True))
        self._files = {self._docs[id_]: path for id_, path in files.items()}
        self._memspec = Memspec.open(folder)
        self.verdicts: dict[str, str] = {}

    def rank(self, text: str) -> list[str]:
        """The first page of a search; its verdict is kept in ``verdicts``."""
        reply = self._memspec.search(text, limit=PAGE)
        self.verdicts[text] = str(reply.coverage)
        return [self._docs[hit.id] for hit in reply.results]

    def coverage(self, text: str) -> str:
        """The verdict on a question, asked now."""
        return str(self._memspec.search(text, limit=PAGE).coverage)

    @contextmanager
    def without(self, docs: frozenset[str]) -> Iterator[None]:
        """The store while the files of some documents are gone from it."""
        moved = {self._files[doc]: self._files[doc].with_suffix(".away") for doc in docs}
        for file, aside in moved.items():
            file.rename(aside)
        try:
            yield
        finally:
            for file, aside in moved.items():
                aside.rename(file)


@dataclass(frozen=True, slots=True)
class Quality:
    """Means over the questions of a set."""

    questions: int
    recall_5: float
    recall_10: float
    mrr: float
    empty: float
    milliseconds: float

    MEASURES = ("recall_5", "recall_10", "mrr")

    def is_below(self, other: Quality) -> list[str]:
        """The measures in which this is worse, by more than rounding."""
        return [name for name in self.MEASURES if getattr(self, name) < getattr(other, name) - 5e-5]


@dataclass(frozen=True, slots=True)
class Verdicts:
    """How often each coverage verdict was given to one kind of question."""

    asked: str
    questions: int
    shares: dict[str, float]


@dataclass(slots=True)
class FamilyReport:
    """Everything measured on one set."""

    name: str
    stores: int
    documents: int
    quality: dict[str, Quality] = field(default_factory=dict)
    verdicts: list[Verdicts] = field(default_factory=list)

    def misses(self) -> list[str]:
        """Where ours is below another system, as sentences."""
        ours = self.quality[OURS]
        return [
            f"{self.name}: {measure} is below {name}"
            for name, other in self.quality.items()
            for measure in ours.is_below(other)
        ]


def recall(ranking: Sequence[str], relevant: frozenset[str], cut: int) -> float:
    """The share of the relevant documents among the first ``cut``."""
    return len(relevant.intersection(ranking[:cut])) / len(relevant)


def reciprocal_rank(ranking: Sequence[str], relevant: frozenset[str]) -> float:
    """One over the rank of the first relevant document of the page; 0 when there is none."""
    ranks = (rank for rank, doc in enumerate(ranking[:PAGE], start=1) if doc in relevant)
    return 1 / next(ranks, float("inf"))


def quality(asked: Sequence[tuple[System, Query]]) -> Quality:
    """Ask every question and score the rankings."""
    started = time.perf_counter()
    answers = [(system.rank(query.text), query.relevant) for system, query in asked]
    seconds = time.perf_counter() - started
    count = len(answers)
    return Quality(
        questions=count,
        recall_5=sum(recall(ranking, relevant, 5) for ranking, relevant in answers) / count,
        recall_10=sum(recall(ranking, relevant, PAGE) for ranking, relevant in answers) / count,
        mrr=sum(reciprocal_rank(ranking, relevant) for ranking, relevant in answers) / count,
        empty=sum(not ranking for ranking, _ in answers) / count,
        milliseconds=seconds * 1000 / count,
    )


def measure(names: Sequence[str], data: Path, work: Path, removals: int) -> list[FamilyReport]:
    """Run every system on every named set."""
    sets = {name: load(name, data) for name in names}
    stores = {
        name: [(Ours(one, work / one.name), one) for one in datasets]
        for name, datasets in sets.items()
    }
    time.sleep(SETTLE_SECONDS)
    return [_measure_family(name, stores, removals) for name in names]


_Stores = dict[str, list[tuple[Ours, "Dataset"]]]


def _measure_family(name: str, stores: _Stores, removals: int) -> FamilyReport:
    pairs = stores[name]
    report = FamilyReport(name, len(pairs), sum(len(one.docs) for _, one in pairs))
    for ours, _ in pairs:
        ours.rank("settle")
    makers: tuple[Callable[[Ours, Dataset], System], ...] = (
        lambda _, dataset: FtsOr(dataset),
        lambda _, dataset: Bm25s(dataset),
        lambda ours, _: ours,
    )
    for system_name, make in zip((FtsOr.name, Bm25s.name, OURS), makers, strict=True):
        systems = [(make(ours, dataset), dataset) for ours, dataset in pairs]
        report.quality[system_name] = quality(
            [(system, query) for system, dataset in systems for query in dataset.answerable]
        )
    report.verdicts = list(_all_verdicts(name, stores, removals))
    return report


def _all_verdicts(name: str, stores: _Stores, removals: int) -> Iterator[Verdicts]:
    rng = seeded(name)
    pairs = [(ours, query) for ours, dataset in stores[name] for query in dataset.queries]
    answerable = [(ours, query) for ours, query in pairs if query.answerable]
    yield _verdicts("answerable, all", [ours.verdicts[query.text] for ours, query in answerable])
    sample = rng.sample(answerable, min(removals, len(answerable)))
    yield _verdicts("answerable, sample", [ours.verdicts[query.text] for ours, query in sample])
    yield _verdicts("sample, evidence removed", [_deprived(ours, query) for ours, query in sample])
    adversarial = [(ours, query) for ours, query in pairs if not query.answerable]
    if adversarial:
        yield _verdicts("adversarial", [ours.coverage(query.text) for ours, query in adversarial])
    foreign = [
        query.text
        for other, others in stores.items()
        if other != name
        for _, dataset in others
        for query in dataset.answerable
    ]
    texts = rng.sample(foreign, min(removals, len(foreign)))
    if texts:
        homes = rng.choices([ours for ours, _ in stores[name]], k=len(texts))
        yield _verdicts(
            "off-topic", [ours.coverage(text) for ours, text in zip(homes, texts, strict=True)]
        )


def _deprived(ours: Ours, query: Query) -> str:
    with ours.without(query.relevant):
        return ours.coverage(query.text)


def _verdicts(asked: str, found: Sequence[str]) -> Verdicts:
    counts = Counter(found)
    return Verdicts(asked, len(found), {name: counts[name] / len(found) for name in VERDICTS})


def as_text(reports: Sequence[FamilyReport]) -> str:
    """Both tables, for a person."""
    missed = [f"missed: {sentence}" for report in reports for sentence in report.misses()]
    return "\n".join([*_ranking_lines(reports), *missed, "", *_coverage_lines(reports)])


def _ranking_lines(reports: Sequence[FamilyReport]) -> Iterator[str]:
    yield "Ranking: one claim a document, title and body; every system reads the same text."
    yield _row("set", "system", "questions", "recall@5", "recall@10", "MRR@10", "empty", "ms")
    for report in reports:
        for name, found in report.quality.items():
            yield _row(
                report.name,
                name,
                str(found.questions),
                *(f"{getattr(found, measure):.4f}" for measure in Quality.MEASURES),
                f"{found.empty:.2%}",
                f"{found.milliseconds:.2f}",
                "" if name != OURS else "MISSED" if report.misses() else "ok",
            )
    yield "Target: ours is not below FTS5 OR nor bm25s in recall@5, recall@10 or MRR on any set."


def _coverage_lines(reports: Sequence[FamilyReport]) -> Iterator[str]:
    yield "Coverage verdicts. For the removal, the files of a question's evidence are moved out of"
    yield "the store, the question is asked, and they are moved back. Off-topic: questions of the"
    yield "other sets."
    yield _row("set", "asked", "questions", *VERDICTS)
    for report in reports:
        for row in report.verdicts:
            shares = (f"{row.shares[name]:.1%}" for name in VERDICTS)
            yield _row(report.name, row.asked, str(row.questions), *shares)


def _row(name: str, what: str, *numbers: str) -> str:
    return (f"{name:<10} {what:<24}" + "".join(f"{number:>11}" for number in numbers)).rstrip()


@click.command()
@click.option(
    "--set", "names", multiple=True, type=click.Choice(list(FAMILIES)), help="Only these."
)
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=RETRIEVAL_DATA,
    help="The folder that holds the sets.",
)
@click.option(
    "--removals", default=150, show_default=True, help="Questions to ask without evidence."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of tables.")
@click.option("--check", is_flag=True, help="Exit 1 when ours is below another system.")
def command(
    names: tuple[str, ...], data: Path, removals: int, *, as_json: bool, check: bool
) -> None:
    """Recall, MRR and coverage verdicts on public sets, against FTS5 OR and bm25s."""
    with TemporaryDirectory(prefix="memspec-bench-") as work:
        reports = measure(names or tuple(FAMILIES), data, Path(work), removals)
    shown = json.dumps([asdict(report) for report in reports], indent=2)
    click.echo(shown if as_json else as_text(reports))
    if check and any(report.misses() for report in reports):
        sys.exit(1)
