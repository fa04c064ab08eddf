from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memspec_py.index import search
from memspec_py.index.query import parse_query
from memspec_py.index.search import Filters, find
from memspec_py.record.model import Type
from memspec_py.testing import TempStore, a_record

if TYPE_CHECKING:
    from pathlib import Path

NOW = "2026-01-02T00:00:00.000Z"
EVERYTHING = Filters(types=("fact", "decision"), scope=None, as_of=None, now=NOW)


@pytest.fixture(name="store")
def _store(tmp_path: Path) -> TempStore:
    """Three hundred records that match alike, a few that match better, every third a decision."""
    store = TempStore(tmp_path)
    for number in range(1, 301):
        words = "gauge gauge relay" if number % 50 == 0 else "gauge relay"
        type_ = Type.DECISION if number % 3 == 0 else Type.FACT
        store.put(a_record(number, title=f"Reading {number}", body=words, type=type_))
    store.ms.search("gauge")
    return store


@pytest.mark.parametrize("types", [("fact", "decision"), ("decision",), ("procedure",)])
@pytest.mark.parametrize("limit", [1, 10, 120])
def test_trying_the_filters_on_a_few_first_changes_nothing(
    store: TempStore, types: tuple[str, ...], limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The shortcut gives the page that filtering every match gives, ties included."""
    db = store.ms._ws.index.db  # noqa: SLF001 - there is no public way to ask for one path only
    filters = EVERYTHING._replace(types=types)
    query = parse_query("gauge relay", 64)
    now = store.clock.now()
    quick = find(db, query, filters, limit, recency=0.1, now=now)
    monkeypatch.setattr(search, "best_matches", search._best_of_all)  # noqa: SLF001 - see above
    assert find(db, query, filters, limit, recency=0.1, now=now) == quick
    expected = {("fact", "decision"): 300, ("decision",): 100, ("procedure",): 0}[types]
    assert len(quick) == min(limit, expected)
