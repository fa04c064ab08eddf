from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memspec_py.errors import UsageError
from memspec_py.record.model import Kind, State, Type, Witness
from memspec_py.testing import TempStore, a_record, an_id

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """Seven records that differ in one way each."""
    made = TempStore(tmp_path)
    made.put(a_record(1, tags=("Auth", "web")))
    made.put(a_record(2, type=Type.DECISION, source="human:ada", verified_with=Witness.OPERATOR))
    made.put(a_record(3, kind=Kind.OBSERVATION, created="2026-01-03T00:00:00.000Z"))
    made.put(a_record(4, kind=Kind.QUESTION, created="2026-01-02T00:00:00.000Z"))
    made.put(a_record(5, state=State.SUPERSEDED, supersede_reason="moved"))
    made.put(a_record(6, pinned=True, scope="web"))
    made.put(a_record(7, check_by="2025-12-31T00:00:00.000Z", tags=("authentication",)))
    return made


def listed(store: TempStore, **wanted: object) -> list[str]:
    """The ids of a page."""
    return [hit.id for hit in store.ms.list(**wanted).results]  # type: ignore[arg-type]


def numbered(*numbers: int) -> list[str]:
    """The ids of ``a_record``s."""
    return [an_id(number) for number in numbers]


def test_records_in_use_newest_first_then_by_id(store: TempStore) -> None:
    """Active records and open questions, in an order that never changes by itself."""
    assert listed(store) == numbered(3, 4, 7, 6, 2, 1)
    assert [hit.id for hit in store.again().list().results] == numbered(3, 4, 7, 6, 2, 1)


@pytest.mark.parametrize(
    ("wanted", "numbers"),
    [
        ({"type": "decision"}, (2,)),
        ({"type": "observation"}, (3,)),
        ({"type": "question"}, (4,)),
        ({"state": "superseded"}, (5,)),
        ({"state": "open"}, (4,)),
        ({"state": "any"}, (3, 4, 7, 6, 5, 2, 1)),
        ({"tag": "auth"}, (1,)),
        ({"tag": "AUTH"}, (1,)),
        ({"tag": "aut"}, ()),
        ({"source": "human:ada"}, (2,)),
        ({"source": "human"}, ()),
        ({"scope": "web"}, (6,)),
        ({"witness": "operator"}, (2,)),
        ({"stale": True}, (7,)),
        ({"pinned": True}, (6,)),
        ({"pinned": True, "type": "decision"}, ()),
        ({"tag": "\ud800"}, ()),
        ({"source": "'; drop table records"}, ()),
    ],
)
def test_filters_narrow(
    store: TempStore, wanted: dict[str, object], numbers: tuple[int, ...]
) -> None:
    """Each filter matches whole values; several must all fit."""
    assert listed(store, **wanted) == numbered(*numbers)


def test_pages_join_to_the_whole_list(store: TempStore) -> None:
    """No record is missing or shown twice, and the last page says that it is the last."""
    joined: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = store.ms.list(limit=4, offset=offset)
        assert page.total == 6
        joined += [hit.id for hit in page.results]
        offset = page.next_offset
    assert joined == listed(store)
    assert store.ms.list(offset=99).count == 0


@pytest.mark.parametrize(
    "wanted",
    [
        {"type": "rumour"},
        {"state": "gone"},
        {"witness": "hearsay"},
        {"limit": 0},
        {"limit": 1001},
        {"offset": -1},
    ],
)
def test_a_filter_no_record_can_meet_is_refused(
    store: TempStore, wanted: dict[str, object]
) -> None:
    """A misspelt filter is no empty list."""
    with pytest.raises(UsageError):
        listed(store, **wanted)


def test_expired_observations_are_not_listed(store: TempStore) -> None:
    """In no state, from the instant of their expiry on."""
    store.put(a_record(8, kind=Kind.OBSERVATION, expires="2026-01-01T00:00:00.001Z"))
    assert an_id(8) in listed(store)
    store.clock.advance(milliseconds=1)
    assert an_id(8) not in listed(store, state="any")


def test_records_of_every_scope_are_listed_and_shown(store: TempStore) -> None:
    """Scope keeps records from searches; `list` narrows by it only when asked, `get` never does."""
    store.put(a_record(31, scope="harbour"))
    assert an_id(31) in [hit.id for hit in store.ms.list().results]
    assert store.ms.get(an_id(31)).record["scope"] == "harbour"
