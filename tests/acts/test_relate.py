from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from memspec_py.acts.relate import LINKS
from memspec_py.errors import (
    AmbiguousId,
    Invalid,
    MemspecError,
    NotActive,
    NotAllowed,
    NotFound,
    Refused,
    UsageError,
)
from memspec_py.record.model import EdgeType, Kind, SourceKind, State
from memspec_py.testing import TempStore, a_record, an_id
from tests.acts.crashes import killed_everywhere
from tests.faults import needs_fork

if TYPE_CHECKING:
    from pathlib import Path

ONE, TWO, THEIRS, QUESTION, GONE = (an_id(number) for number in range(1, 6))
POSITIVE = ("refines", "supports", "depends_on", "derived_from")


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """A store with two claims, an operator's, a question and a superseded record."""
    made = TempStore(tmp_path)
    made.put(a_record(1, title="Tokens live an hour"))
    made.put(a_record(2, title="Auth uses tokens"))
    made.put(a_record(3, source="human:ann", source_kind=SourceKind.OPERATOR))
    made.put(a_record(4, kind=Kind.QUESTION, title="How long?"))
    made.put(a_record(5, state=State.SUPERSEDED, superseded_by=(ONE,), supersede_reason="old"))
    return made


def edges(store: TempStore, id_: str) -> dict[str, object]:
    """What a record's own file says about links."""
    record = store.again().get(id_).record
    return {edge.value: record[edge.value] for edge in EdgeType if edge.value in record}


def refused(store: TempStore, error: type[MemspecError], *ids: str, **given: Any) -> MemspecError:  # noqa: ANN401
    """The refusal of an edge, once it is sure that no file changed."""
    before = {path: path.read_bytes() for path in store.root.rglob("*.md")}
    with pytest.raises(error) as raised:
        store.ms.relate(*ids, **given)
    assert {path: path.read_bytes() for path in store.root.rglob("*.md")} == before
    return raised.value


@pytest.mark.parametrize("edge", LINKS)
def test_an_edge_is_read_from_both_ends(store: TempStore, edge: str) -> None:
    """The record carries it, the other is told who names it; it is there once."""
    done = store.ms.relate(ONE, TWO, edge)
    assert (done.changed, done.edges, done.to_title) == (True, 1, "Auth uses tokens")
    assert edges(store, ONE) == {edge: [TWO]}
    assert [one.id for one in store.ms.get(TWO).linked_from[edge]] == [ONE]
    again = store.ms.relate(ONE, TWO, edge.replace("_", "-"))
    assert (again.changed, again.edges) == (False, 1)
    assert edges(store, ONE) == {edge: [TWO]}


@pytest.mark.parametrize("edge", LINKS)
def test_an_edge_is_taken_away(store: TempStore, edge: str) -> None:
    """The others stay, also when a beginning of the id is enough to tell which."""
    store.ms.relate(ONE, TWO, edge)
    store.ms.relate(ONE, THEIRS, edge)
    done = store.ms.unrelate(ONE, TWO, edge)
    assert (done.changed, done.edges) == (True, 1)
    assert edges(store, ONE) == {edge: [THEIRS]}
    store.ms.unrelate(ONE, THEIRS.lower(), edge)
    assert edges(store, ONE) == {}


@pytest.mark.parametrize("turned", [False, True], ids=["same", "turned"])
@pytest.mark.parametrize(("first", "second"), list(product(LINKS, LINKS)))
def test_edges_that_contradict_are_refused_from_either_side(
    store: TempStore,
    first: str,
    second: str,
    turned: bool,  # noqa: FBT001 - a parameter
) -> None:
    """distinct_from beside anything else, and conflicts_with beside what speaks for the other."""
    store.ms.relate(ONE, TWO, first)
    pair = (TWO, ONE) if turned else (ONE, TWO)
    excluded = first != second and (
        "distinct_from" in (first, second)
        or ("conflicts_with" in (first, second) and {first, second} & set(POSITIVE))
    )
    if not excluded:
        assert store.ms.relate(*pair, second).changed is (turned or first != second)
        return
    problem = refused(store, Refused, *pair, second)
    assert f"{ONE} {first} {TWO}" in problem.message
    assert f"unrelate --from {ONE} --to {TWO} --type {first}" in (problem.hint or "")
    store.ms.unrelate(ONE, TWO, first)
    assert store.ms.relate(*pair, second).changed


def test_an_heir_is_not_distinct_from_what_it_replaced(store: TempStore) -> None:
    """Supersede is an edge between the two as well."""
    problem = refused(store, Refused, ONE, GONE, "distinct_from")
    assert "superseded the other" in (problem.hint or "")


def test_a_target_that_is_not_here_wants_to_be_allowed(store: TempStore) -> None:
    """By its whole id; and it can be taken away again."""
    elsewhere = an_id(77)
    assert "--allow-missing" in (refused(store, NotFound, ONE, elsewhere, "refines").hint or "")
    refused(store, NotFound, ONE, elsewhere[:-1], "refines", allow_missing=True)
    refused(store, AmbiguousId, ONE, "ms_01", "refines", allow_missing=True)
    done = store.ms.relate(ONE, elsewhere, "refines", allow_missing=True)
    assert (done.to_id, done.to_title, done.to_state) == (elsewhere, None, None)
    assert edges(store, ONE) == {"refines": [elsewhere]}
    store.ms.unrelate(ONE, elsewhere, "refines")
    assert edges(store, ONE) == {}


def test_a_superseded_target_is_told(store: TempStore) -> None:
    """Linking to the past is allowed, from the past it is not."""
    assert store.ms.relate(TWO, GONE, "derived_from").to_state == "superseded"
    assert ONE in (refused(store, NotActive, GONE, TWO, "refines").hint or "")


@pytest.mark.parametrize("edge", ["supersedes", "superseded_by", "answers", "likes", ""])
def test_only_links_can_be_related(store: TempStore, edge: str) -> None:
    """What supersede and question write has its own rules."""
    refused(store, UsageError, ONE, TWO, edge)
    with pytest.raises(UsageError):
        store.ms.unrelate(ONE, TWO, edge)


def test_a_record_is_not_linked_to_itself(store: TempStore) -> None:
    """Under no edge type, however its id is typed."""
    for edge in LINKS:
        refused(store, UsageError, ONE, ONE.lower(), edge)


def test_a_question_links_only_to_its_answers(store: TempStore) -> None:
    """With the way to do that."""
    assert "--add" in (refused(store, UsageError, QUESTION, ONE, "refines").hint or "")


def test_the_operators_record_wants_the_override(store: TempStore) -> None:
    """To get a link and to lose one; being named costs nothing."""
    store.ms.relate(ONE, THEIRS, "supports")
    refused(store, NotAllowed, THEIRS, TWO, "supports")
    store.ms.relate(THEIRS, TWO, "supports", override_operator=True)
    with pytest.raises(NotAllowed):
        store.ms.unrelate(THEIRS, TWO, "supports")
    store.ms.unrelate(THEIRS, TWO, "supports", override_operator=True)
    assert edges(store, THEIRS) == {}


def test_the_operator_links_without_an_override(store: TempStore) -> None:
    """Their own record is theirs to link, and the source has to name somebody."""
    store.ms.relate(THEIRS, TWO, "supports", source="human:ann")
    store.ms.unrelate(THEIRS, TWO, "supports", source="human:ann")
    assert edges(store, THEIRS) == {}
    with pytest.raises(Invalid, match="nobody"):
        store.ms.relate(ONE, TWO, "supports", source="unknown")
    with pytest.raises(Invalid, match="nobody"):
        store.ms.unrelate(ONE, TWO, "supports", source=" ")


def test_an_edge_that_is_not_there_cannot_be_taken_away(store: TempStore) -> None:
    """What is there instead is told: other edges, or the edge on the other record."""
    store.ms.relate(TWO, ONE, "conflicts_with")
    with pytest.raises(NotFound) as raised:
        store.ms.unrelate(ONE, TWO, "conflicts_with")
    assert f"--from {TWO} --to {ONE}" in (raised.value.hint or "")
    store.ms.relate(ONE, THEIRS, "supports")
    with pytest.raises(NotFound) as raised:
        store.ms.unrelate(ONE, TWO, "supports")
    assert raised.value.hint == f"it has supports to {THEIRS}"
    with pytest.raises(NotFound) as raised:
        store.ms.unrelate(ONE, TWO, "refines")
    assert raised.value.hint == "it has no refines at all"
    store.ms.unrelate(TWO, ONE, "conflicts_with")
    store.ms.relate(ONE, TWO, "supports")
    with pytest.raises(AmbiguousId):
        store.ms.unrelate(ONE, "ms_01", "supports")
    with pytest.raises(NotFound):
        store.ms.unrelate(ONE, " ", "supports")


def test_a_comment_beside_the_edges_stays(store: TempStore) -> None:
    """Only the one key is written anew."""
    text = (store.root / f"memory/facts/{ONE}.md").read_text(encoding="utf-8")
    text = text.replace("tags: []", "tags: []   # none yet\nowner: ada")
    store.write(f"memory/facts/{ONE}.md", text)
    store.ms.relate(ONE, TWO, "refines")
    after = (store.root / f"memory/facts/{ONE}.md").read_text(encoding="utf-8")
    assert after == text.replace("\n---\n#", f"\nrefines:\n  - {TWO}\n---\n#")


def test_there_is_a_limit(store: TempStore) -> None:
    """A record that would be unreadable is never written."""
    store.write("config.yaml", "limits:\n  edges: 1\n")
    store.ms = store.again()
    store.ms.relate(ONE, TWO, "refines")
    refused(store, MemspecError, ONE, THEIRS, "refines")


@needs_fork
def test_a_kill_at_any_step_leaves_all_or_nothing() -> None:
    """The record has the edge or has it not."""
    records = [a_record(number, title=f"Marmot number{number}") for number in (1, 2)]
    seen = killed_everywhere(records, lambda ms: ms.relate(ONE, TWO, "refines"))
    assert seen == {"before", "after"}
