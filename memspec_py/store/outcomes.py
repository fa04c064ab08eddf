"""Outcomes: what became of acting on a record. An append-only log of this machine, never memory."""

from __future__ import annotations

import json
import os
from collections import Counter
from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.store import files, journal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

OUTCOMES = "outcomes.jsonl"


class Outcome(StrEnum):
    """What came of it: it helped, it led nowhere, or it was wrong and has been corrected."""

    HELPED = "helped"
    DEAD_END = "dead_end"
    CORRECTED = "corrected"


class OutcomeRow(NamedTuple):
    """One line of the log."""

    id: str
    outcome: Outcome
    at: str
    source: str
    note: str | None = None
    session: str | None = None


def append(root: Path, rows: Iterable[OutcomeRow]) -> None:
    """Add lines that outlast a power cut; the caller holds the store lock.

    Raises: ``StorageFailed``.
    """
    path = root / OUTCOMES
    with files.storage_errors(path):
        try:
            _, last = files.read_end(path, -1)
        except FileNotFoundError:
            files.create(path, _lines(rows))
            return
    gap = b"" if last in (b"", b"\n") else b"\n"
    files.append(path, gap + _lines(rows))


class Appending(NamedTuple):
    """Adding to the log as part of a larger change; ``problem`` says why there is none of it."""

    changes: tuple[journal.Change, ...] = ()
    problem: str = ""


def appending(root: Path, rows: Iterable[OutcomeRow]) -> Appending:
    """What ``append`` does, to be made with other changes or not at all.

    The log is telemetry: what stands in its place must not keep a record from being changed.
    """
    path = root / OUTCOMES
    try:
        with suppress(FileNotFoundError):
            os.close(files.open_end(path))
    except OSError as problem:
        return Appending(problem=f"{OUTCOMES}: {problem.strerror or problem}")
    return Appending((journal.Append(OUTCOMES, _lines(rows)),))


def tally(root: Path, id_: str) -> Mapping[str, int]:
    """How often each outcome was told of one record; a torn or foreign line counts as nothing."""
    counts = Counter(row["outcome"] for row in _rows(root, id_) if row.get("id") == id_)
    return {str(one): counts[one] for one in Outcome}


def told_of(root: Path, outcome: Outcome) -> set[str]:
    """The ids of the records that an outcome was told of, from one look at the log."""
    rows = (row for row in _rows(root, outcome.value) if row["outcome"] == outcome)
    return {row["id"] for row in rows if isinstance(row.get("id"), str)}


def _lines(rows: Iterable[OutcomeRow]) -> bytes:
    shown = (
        {key: value for key, value in row._asdict().items() if value is not None} for row in rows
    )
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in shown).encode()


def _rows(root: Path, word: str) -> Iterator[dict[str, str]]:
    """The rows that contain a word; the log grows for years, so no other line is looked at."""
    try:
        data = files.read(root / OUTCOMES)
    except OSError:
        return
    sought, end = word.encode(), 0
    while (at := data.find(sought, end)) >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        with suppress(ValueError, RecursionError):
            row = json.loads(data[start:end].decode())
            if isinstance(row, dict) and isinstance(row.get("outcome"), str):
                yield row
