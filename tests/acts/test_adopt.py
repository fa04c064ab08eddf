from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memspec_py.errors import UsageError
from memspec_py.record.model import Kind, SourceKind, State, Type
from memspec_py.testing import TempStore, a_record, an_id

if TYPE_CHECKING:
    from pathlib import Path

    from memspec_py.acts.adopt import Adopted

TOPICS = ("", "Ferries leave at noon", "Buoys are red", "Cranes lift ten tons", "Gulls are loud")


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """An empty store."""
    return TempStore(tmp_path)


def outcomes(adopted: Adopted) -> list[str]:
    """What became of each record."""
    return [one.outcome for one in adopted.records]


def test_a_dry_run_writes_nothing(store: TempStore) -> None:
    """It tells what would be done."""
    batch = [a_record(number, title=TOPICS[number]) for number in (1, 2)]
    adopted = store.ms.adopt(batch)
    assert (adopted.applied, adopted.created) == (False, 2)
    assert store.ms.status().files == 0


def test_a_batch_is_safe_to_run_twice(store: TempStore) -> None:
    """Records that are there are left alone, whatever the batch says of them now."""
    batch = [a_record(number, title=TOPICS[number]) for number in (1, 2)]
    assert outcomes(store.ms.adopt(batch, apply=True)) == ["created", "created"]
    again = [*batch, a_record(3, title=TOPICS[3])]
    assert outcomes(store.ms.adopt(again, apply=True)) == ["present", "present", "created"]
    assert store.ms.status().files == 3


def test_records_keep_their_kind_state_dates_and_links(store: TempStore) -> None:
    """Superseded ones lie in the archive, with their heir."""
    old = a_record(
        1, title=TOPICS[1], type=Type.DECISION, state=State.SUPERSEDED, superseded_by=(an_id(2),)
    )
    new = a_record(2, title=TOPICS[2], supersedes=(an_id(1),), created="2019-05-01T00:00:00.000Z")
    adopted = store.ms.adopt([old, new], apply=True)
    assert [one.path for one in adopted.records] == [
        f"archive/{an_id(1)}.md",
        f"memory/facts/{an_id(2)}.md",
    ]
    assert store.ms.get(an_id(2)).ancestors[0].id == an_id(1)
    assert store.ms.get(an_id(2)).record["created"] == "2019-05-01T00:00:00.000Z"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"source": "unknown"}, "invalid"),
        ({"source_kind": SourceKind.OPERATOR}, "invalid"),
        ({"title": ""}, "invalid"),
        ({"title": "two\nlines"}, "invalid"),
        ({"body": "odd\r\n\rends\r\n"}, "invalid"),
        ({"type": None}, "invalid"),
        ({"requires_human": ("press",)}, "invalid"),
        ({"scope": " "}, "invalid"),
        ({"refines": (an_id(2),), "conflicts_with": (an_id(2),)}, "invalid"),
        ({"conflicts_with": (an_id(2),), "distinct_from": (an_id(2),)}, "invalid"),
        ({"refines": (an_id(9),)}, "dangling-edge"),
        ({"kind": Kind.QUESTION, "answers": (an_id(9),)}, "dangling-edge"),
    ],
)
def test_what_remember_would_refuse_is_refused_alone(
    store: TempStore, changes: dict[str, object], code: str
) -> None:
    """The reason is told, and the other records of the batch are taken in."""
    bad = a_record(1, **{"title": TOPICS[1], **changes})
    adopted = store.ms.adopt([bad, a_record(2, title=TOPICS[2])], apply=True)
    assert outcomes(adopted) == ["refused", "created"]
    assert adopted.records[0].code == code
    assert adopted.records[0].reason
    assert store.ms.status().files == 1


def test_the_scopes_of_the_store_bind_a_batch_too(store: TempStore) -> None:
    """An unknown scope is refused, and so is none where the store wants one."""
    store.write("config.yaml", "scopes: {web: [~/web]}\nscopes_require: true\n")
    batch = [
        a_record(1, title=TOPICS[1], scope="wbe"),
        a_record(2, title=TOPICS[2]),
        a_record(3, title=TOPICS[3], scope="web"),
        a_record(4, title=TOPICS[4], scope="universal"),
    ]
    assert outcomes(store.again().adopt(batch)) == ["refused", "refused", "created", "created"]


def test_what_links_to_a_refused_record_is_refused_too(store: TempStore) -> None:
    """To the end of the chain, so that no edge leads to nowhere."""
    batch = [
        a_record(1, title=TOPICS[1], refines=(an_id(2),)),
        a_record(2, title=TOPICS[2], refines=(an_id(3),)),
        a_record(3, title=TOPICS[3], source="unknown"),
        a_record(4, title=TOPICS[4]),
    ]
    assert outcomes(store.ms.adopt(batch, apply=True)) == ["refused"] * 3 + ["created"]


def test_near_duplicates_are_refused_unless_forced(store: TempStore) -> None:
    """Of the store and of the batch itself."""
    store.put(a_record(1, title=TOPICS[1]))
    batch = [
        a_record(2, title=TOPICS[1]),
        a_record(3, title=TOPICS[3]),
        a_record(4, title=TOPICS[3]),
    ]
    adopted = store.ms.adopt(batch)
    assert outcomes(adopted) == ["refused", "created", "refused"]
    assert adopted.records[0].code == "near-duplicate"
    assert an_id(1) in str(adopted.records[0].reason)
    assert outcomes(store.ms.adopt(batch, force=True)) == ["created"] * 3


def test_an_id_stands_once_in_a_batch(store: TempStore) -> None:
    """Two records with one id cannot both be meant."""
    with pytest.raises(UsageError):
        store.ms.adopt([a_record(1), a_record(1)])
