"""Helpers for tests, ours and our users': a store in a folder, a clock that stands still, a record.

``store = TempStore(tmp_path)``, then ``store.put(a_record(title="Auth uses JWT"))``, and
``store.ms.search("jwt")`` finds it.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

from memspec_py.api import Memspec
from memspec_py.clock import FixedClock, moment_of
from memspec_py.ids import new_id
from memspec_py.record.model import Kind, Record, State, Type
from memspec_py.record.parse import print_record
from memspec_py.store import layout
from memspec_py.store.resolve import Surroundings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["FixedClock", "TempStore", "a_record", "an_id", "counting_entropy"]

_START = "2026-01-01T00:00:00.000Z"


def an_id(number: int) -> str:
    """The same id for the same number, in the order of the numbers."""
    return new_id(moment_of(_START), number.to_bytes(10, "big"))


def counting_entropy(start: int = 1) -> Callable[[int], bytes]:
    """Random bytes that are not random: they count up from ``start``."""
    numbers = count(start)
    return lambda length: next(numbers).to_bytes(length, "big")


def a_record(number: int = 1, **changes: Any) -> Record:  # noqa: ANN401 - any field of a record
    """A valid fact, with some fields changed; ``kind`` and ``type`` bring a fitting state along."""
    kind = Kind(changes.get("kind", Kind.CLAIM))
    record = Record(
        id=an_id(number),
        kind=kind,
        type=Type.FACT if kind is Kind.CLAIM else None,
        state=State.OPEN if kind is Kind.QUESTION else State.ACTIVE,
        title=f"Record {number}",
        created=_START,
        source="tests",
    )
    return replace(record, **changes)


class TempStore:
    """A store in ``folder``, with a home beside it, a clock that stands still and counted ids."""

    def __init__(self, folder: Path, clock: FixedClock | None = None) -> None:
        self.project = folder / "project"
        self.home = folder / "home"
        for place in (self.project, self.home):
            place.mkdir(parents=True, exist_ok=True)
        self.clock = clock or FixedClock(_START)
        self.where = Surroundings(cwd=self.project, home=self.home, env={})
        self._entropy = counting_entropy(1_000_000)  # far from the ids of ``an_id``
        Memspec.init(self.project, where=self.where)
        self.ms = self.again()

    @property
    def root(self) -> Path:
        """The store's folder."""
        return self.project / layout.STORE_NAME

    def again(self) -> Memspec:
        """The same store, opened once more, as another process would."""
        return Memspec.open(self.project, where=self.where, clock=self.clock, entropy=self._entropy)

    def put(self, record: Record) -> Path:
        """Write a record's file where it belongs, past every act and check."""
        return self.write(layout.path_of(record), print_record(record))

    def write(self, path: str, text: str | bytes) -> Path:
        """Write any file below the store's folder."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode())
        return place
