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
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | _NO_FOLLOW, 0o644)
        try:
            end = os.lseek(handle, 0, os.SEEK_END)
            torn = end > 0 and os.pread(handle, 1, end - 1) != b"\n"
            data = (b"\n" if torn else b"") + _lines(rows)
            while data:
                data = data[os.write(handle, data) :]
            os.fsync(handle)
        finally:
            os.close(handle)


def appending(root: Path, rows: Iterable[OutcomeRow]) -> list[journal.Change]:
    """The same as part of a change of several files; nothing where the log cannot be read.

    The log is telemetry: what stands in its place must not keep a record from being changed.
    """
    path = root / OUTCOMES
    try:
        old = files.read(path)
    except FileNotFoundError:
        return [] if os.path.lexists(path) else [journal.Create(OUTCOMES, _lines(rows))]
    except OSError:
        return []
    gap = b"\n" if old and not old.endswith(b"\n") else b""
    return [journal.Replace(OUTCOMES, old + gap + _lines(rows), files.digest(old))]


def tally(root: Path, id_: str) -> Mapping[str, int]:
    """How often each outcome was told of one record; a torn or foreign line counts as nothing."""
    counts = Counter(row["outcome"] for row in _rows(root) if row.get("id") == id_)
    return {str(one): counts[one] for one in Outcome}


_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)


def _lines(rows: Iterable[OutcomeRow]) -> bytes:
    shown = (
        {key: value for key, value in row._asdict().items() if value is not None} for row in rows
    )
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in shown).encode()


def _rows(root: Path) -> Iterator[dict[str, str]]:
    try:
        lines = files.read(root / OUTCOMES).splitlines()
    except OSError:
        return
    for line in lines:
        with suppress(ValueError):
            row = json.loads(line)
            if isinstance(row, dict) and isinstance(row.get("outcome"), str):
                yield row
