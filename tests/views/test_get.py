from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memspec_py.errors import AmbiguousId, Invalid, NotFound
from memspec_py.record.model import Kind, State
from memspec_py.testing import TempStore, a_record, an_id

if TYPE_CHECKING:
    from pathlib import Path

LATER = "ms_02000000000000000000000000"


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """An empty store."""
    return TempStore(tmp_path)


def test_a_record_is_shown_whole(store: TempStore) -> None:
    """Title, body and everything the front matter says, unknown keys included."""
    store.put(a_record(1, title="Auth", body="Signed.\n\nTwice.", extra={"team": ["a", "b"]}))
    shown = store.ms.get(an_id(1))
    assert (shown.title, shown.body) == ("Auth", "Signed.\n\nTwice.")
    assert shown.record["team"] == ["a", "b"]
    assert shown.record["created"] == "2026-01-01T00:00:00.000Z"
    assert shown.path == f"memory/facts/{an_id(1)}.md"


@pytest.mark.parametrize(
    "typed", [LATER, LATER.lower(), "ms_02", "MS_02", "02", " ms_02 ", LATER[3:]]
)
def test_a_unique_beginning_is_enough(store: TempStore, typed: str) -> None:
    """In any case, with or without `ms_`."""
    store.put(a_record(1))
    store.put(a_record(2, id=LATER))
    assert store.ms.get(typed).id == LATER


def test_an_ambiguous_beginning_lists_the_candidates(store: TempStore) -> None:
    """The error carries what it could mean, at most ten, and says how many more."""
    for number in range(1, 13):
        store.put(a_record(number, title=f"Title {number}"))
    with pytest.raises(AmbiguousId) as raised:
        store.ms.get("ms_01")
    assert raised.value.message == "12 records start with ms_01"
    candidates = raised.value.details["candidates"]
    assert isinstance(candidates, list)
    assert len(candidates) == 10
    assert candidates[0] == {"id": an_id(1), "type": "fact", "title": "Title 1"}
    assert "and 2 more" in str(raised.value.hint)


def test_a_whole_id_is_never_ambiguous(store: TempStore) -> None:
    """An id that is also the start of nothing else is the record itself."""
    store.put(a_record(1))
    store.put(a_record(2))
    assert store.ms.get(an_id(1)).id == an_id(1)


@pytest.mark.parametrize(
    "typed", ["", "ms_", "nope", "ms_09", "%", "ms_%", "\ud800", "a\0", "../x", "x" * 10_000]
)
def test_what_names_no_record_is_not_found(store: TempStore, typed: str) -> None:
    """Whatever is typed, the answer is a plain no."""
    store.put(a_record(1))
    store.write(f"memory/facts/{an_id(5)}.md", "broken")
    with pytest.raises(NotFound):
        store.ms.get(typed)


def test_a_broken_file_is_not_a_missing_record(store: TempStore) -> None:
    """Asked by the name of its file, it tells everything that is wrong, with lines."""
    store.write(f"memory/facts/{an_id(5)}.md", "---\nid: x\nstate: gone\n---\n# T\n")
    with pytest.raises(Invalid) as raised:
        store.ms.get(an_id(5))
    assert {finding.field for finding in raised.value.findings} >= {"id", "state", "source"}
    assert "line 2" in raised.value.message
    assert "line 3" in raised.value.message
    assert f"memory/facts/{an_id(5)}.md" in raised.value.message


def test_superseded_records_are_shown_with_their_chain(store: TempStore) -> None:
    """Ancestors and descendants are walked to the end, nearest first, cycles included."""
    superseded = State.SUPERSEDED
    store.put(a_record(1, title="one", state=superseded, superseded_by=(an_id(2),)))
    store.put(
        a_record(2, state=superseded, superseded_by=(an_id(3),), supersedes=(an_id(1), an_id(9)))
    )
    store.put(a_record(3, supersedes=(an_id(2), an_id(3))))
    shown = store.ms.get(an_id(3))
    assert [one.id for one in shown.ancestors] == [an_id(2), an_id(1), an_id(9)]
    assert (shown.ancestors[1].title, shown.ancestors[1].state) == ("one", "superseded")
    assert (shown.ancestors[2].title, shown.ancestors[2].state) == (None, None)
    assert [one.id for one in store.ms.get(an_id(1)).descendants] == [an_id(2), an_id(3)]


def test_records_that_name_this_one_are_listed_by_edge(store: TempStore) -> None:
    """An edge can be seen from its other end."""
    store.put(a_record(1))
    store.put(a_record(2, title="two", refines=(an_id(1),)))
    store.put(a_record(3, depends_on=(an_id(1),)))
    links = store.ms.get(an_id(1)).linked_from
    assert list(links) == ["depends_on", "refines"]
    assert [(one.id, one.title) for one in links["refines"]] == [(an_id(2), "two")]


def test_expired_observations_are_gone_even_as_neighbours(store: TempStore) -> None:
    """`get` says since when and where the file is; no other record shows its text any more."""
    gone = "2026-01-02T00:00:00.000Z"
    seen = a_record(1, kind=Kind.OBSERVATION, expires=gone, refines=(an_id(2),))
    path = store.put(seen)
    store.put(a_record(2, supersedes=(an_id(1),)))
    assert store.ms.get(an_id(1)).type == "observation"
    assert "refines" in store.ms.get(an_id(2)).linked_from
    store.clock.advance(days=1)
    with pytest.raises(NotFound, match=f"expired on {gone}") as raised:
        store.ms.get(an_id(1))
    assert "observations/" in str(raised.value.hint)
    assert store.ms.get(an_id(2)).linked_from == {}
    assert store.ms.get(an_id(2)).ancestors[0].title is None
    assert path.exists()


def test_use_is_shown(store: TempStore) -> None:
    """When it was last among the hits, and in how many sessions."""
    store.put(a_record(1, body="harbour"))
    assert store.ms.get(an_id(1)).last_referenced is None
    store.ms.note_use(store.ms.search("harbour"), surface="cli", session="a")
    shown = store.ms.get(an_id(1))
    assert (shown.last_referenced, shown.sessions) == ("2026-01-01T00:00:00.000Z", 1)


def test_of_two_files_with_one_id_one_is_shown(store: TempStore) -> None:
    """The operator's copy stands; `status` counts the other and `doctor` names it."""
    store.put(a_record(1, title="agent's"))
    text = store.root / f"memory/facts/{an_id(1)}.md"
    operators = text.read_text(encoding="utf-8").replace("agent's", "operator's")
    store.write(f"memory/operator/facts/{an_id(1)}.md", operators)
    assert store.ms.get(an_id(1)).title == "operator's"
    assert store.ms.status().doubled == 1
    assert "duplicate-id" in {finding.code for finding in store.ms.doctor().findings}
