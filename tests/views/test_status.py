from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memspec_py.record.model import Kind, State, Type, Witness
from memspec_py.testing import TempStore, a_record, an_id

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """An empty store."""
    return TempStore(tmp_path)


def test_everything_is_counted_once(store: TempStore) -> None:
    """By type and witness what is in use, by state all, expired observations only as such."""
    store.put(a_record(1, verified_with=Witness.EVIDENCE, scope="web"))
    store.put(a_record(2, type=Type.DECISION))
    store.put(a_record(3, kind=Kind.OBSERVATION))
    store.put(a_record(4, kind=Kind.OBSERVATION, expires="2025-01-01T00:00:00.000Z"))
    store.put(a_record(5, kind=Kind.QUESTION))
    store.put(a_record(6, state=State.SUPERSEDED, supersede_reason="x"))
    store.put(a_record(7, state=State.RETIRED))
    store.write(f"memory/facts/{an_id(8)}.md", "broken")
    status = store.ms.status()
    assert (status.files, status.records, status.expired) == (8, 7, 1)
    assert status.by_type == {"decision": 1, "fact": 1, "observation": 1, "question": 1}
    assert status.by_state == {"active": 3, "open": 1, "retired": 1, "superseded": 1}
    assert status.by_witness == {"assertion": 1, "evidence": 1}
    assert status.by_scope == {"web": 1}
    assert status.circumstances.unreadable_count == 1


def test_the_most_overdue_come_first_and_at_most_ten(store: TempStore) -> None:
    """The count is of all, the list is what wants attention first."""
    for number in range(1, 13):
        store.put(a_record(number, check_by=f"2025-{13 - number:02}-01T00:00:00.000Z"))
    status = store.ms.status()
    assert (status.stale_count, len(status.stale)) == (12, 10)
    assert [one.id for one in status.stale[:2]] == [an_id(12), an_id(11)]


def test_the_state_of_the_index_is_told(store: TempStore) -> None:
    """Built at first, synced after a change; what cannot be used is bypassed and says why."""
    store.put(a_record(1))
    assert store.ms.status().circumstances.index["state"] == "built"
    store.put(a_record(2))
    assert store.ms.status().circumstances.index["state"] == "synced"
    assert store.ms.status().circumstances.index["files"] == 2


def test_an_empty_store_has_zeros_and_no_store_is_an_error(store: TempStore) -> None:
    """Nothing there is an answer."""
    status = store.ms.status()
    assert (status.files, status.records, status.stale_count) == (0, 0, 0)
    assert status.by_type == {}
