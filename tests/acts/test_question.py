from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memspec_py.errors import Invalid, MemspecError, NotActive, NotFound, Refused, UsageError
from memspec_py.record.model import Kind, State
from memspec_py.testing import TempStore, a_record, an_id
from tests.acts.crashes import killed_everywhere
from tests.faults import needs_fork

if TYPE_CHECKING:
    from pathlib import Path

    from memspec_py.acts.question import Asked
    from memspec_py.api import Memspec

MYSQL, POSTGRES, SQLITE, NOTE, GONE = (an_id(number) for number in range(1, 6))


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """A store with three candidates, a note and a superseded record."""
    made = TempStore(tmp_path)
    for number, name in ((1, "MySQL"), (2, "Postgres"), (3, "SQLite")):
        made.put(a_record(number, title=f"The ledger runs on {name}"))
    made.put(
        a_record(
            4, kind=Kind.OBSERVATION, title="Port 5432 is open", expires="2026-01-05T00:00:00.000Z"
        )
    )
    made.put(a_record(5, state=State.SUPERSEDED, superseded_by=(MYSQL,), supersede_reason="old"))
    return made


def ask(store: TempStore, *answers: str, closed: bool = True) -> Asked:
    """A question with these answers."""
    return store.ms.ask("Which database?", source="ada", answers=answers, closed=closed)


def unresolved(store: TempStore, question: Asked) -> str:
    """Why a question cannot be resolved, once it is sure that nothing was written."""
    before = (store.root / question.path).read_bytes()
    with pytest.raises(Refused) as raised:
        store.ms.question(question.id, resolve=True)
    assert (store.root / question.path).read_bytes() == before
    return raised.value.message.partition("resolved: ")[2]


def test_a_question_is_kept_and_listed(store: TempStore) -> None:
    """In its own folder; a plain search never shows it, `--type question` does."""
    done = store.ms.ask(
        " Which database backs the ledger? ",
        source="human:ann",
        answers=[MYSQL, POSTGRES.lower(), MYSQL],
        closed=True,
        body="For the new service.",
        tags=["db"],
        scope="web",
    )
    assert store.again().get(done.id).record == {
        "id": done.id,
        "kind": "question",
        "state": "open",
        "created": "2026-01-01T00:00:00.000Z",
        "source": "human:ann",
        "source_kind": "operator",
        "tags": ["db"],
        "scope": "web",
        "verified_with": "assertion",
        "answers": [MYSQL, POSTGRES],
        "closed": "true",
    }
    assert done.path == f"questions/{done.id}.md"
    assert (done.created, done.holding, done.survivor_id) == (True, (MYSQL, POSTGRES), None)
    assert done.answers[0].title == "The ledger runs on MySQL"
    assert store.ms.search("database ledger", scope="web").results[0].id != done.id
    (hit,) = store.ms.search("DATABASE", type="question", scope="web").results
    assert (hit.id, hit.closed, hit.answers) == (done.id, True, (MYSQL, POSTGRES))
    assert [one.id for one in store.ms.get(MYSQL).linked_from["answers"]] == [done.id]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"title": " "}, Invalid),
        ({"source": "unknown"}, Invalid),
        ({"answers": [an_id(99)]}, NotFound),
        ({"answers": [GONE]}, NotActive),
        ({"scope": " "}, Invalid),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(
    store: TempStore, given: dict[str, Any], error: type[MemspecError]
) -> None:
    """And nothing is written."""
    with pytest.raises(error):
        store.ms.ask(**{"title": "Which?", "source": "ada", **given})
    assert not list((store.root / "questions").iterdir())


def test_answers_are_added_once(store: TempStore) -> None:
    """In the order they came; a question is no answer, and a claim is no question."""
    asked = ask(store, MYSQL, closed=False)
    done = store.ms.question(asked.id, add=[POSTGRES, MYSQL, NOTE])
    assert [one.id for one in done.answers] == [MYSQL, POSTGRES, NOTE]
    assert store.ms.question(asked.id, add=[MYSQL]).changed is False
    with pytest.raises(UsageError):
        store.ms.question(asked.id, add=[asked.id])
    with pytest.raises(UsageError):
        store.ms.question(MYSQL, add=[POSTGRES])
    with pytest.raises(NotActive):
        store.ms.question(asked.id, add=[GONE])


def test_a_claim_can_be_written_as_an_answer(store: TempStore) -> None:
    """The claim and the question change together, or neither does."""
    asked = ask(store, MYSQL)
    done = store.ms.remember("fact", "Oracle it is", source="ada", answers_question=asked.id[:-1])
    assert done.answers_question == asked.id
    assert store.ms.get(asked.id).record["answers"] == [MYSQL, done.id]
    for wrong in (an_id(99), MYSQL):
        with pytest.raises((NotFound, UsageError)):
            store.ms.remember("fact", "Another claim", source="ada", answers_question=wrong)
    assert store.ms.search("another claim").coverage != "ok"


def test_elimination_resolves_only_when_confirmed(store: TempStore) -> None:
    """Status tells the one that is left; the question stays open until then."""
    asked = ask(store, MYSQL, POSTGRES, SQLITE)
    assert unresolved(store, asked) == f"3 answers hold: {MYSQL}, {POSTGRES}, {SQLITE}"
    store.ms.supersede(MYSQL, reason="no")
    assert store.ms.status().resolvable == ()
    store.ms.supersede(SQLITE, reason="no")
    (left,) = store.ms.status().resolvable
    assert (left.id, left.survivor_id) == (asked.id, POSTGRES)
    assert left.survivor_title == "The ledger runs on Postgres"
    assert store.ms.question(asked.id).survivor_id == POSTGRES
    assert store.ms.get(asked.id).record["state"] == "open"
    done = store.ms.question(asked.id, resolve=True, source="human:ann")
    assert (done.state, done.resolved_by, done.survivor_id) == ("resolved", POSTGRES, None)
    assert store.ms.get(asked.id).record["ext"] == {
        "resolved": {"by": "human:ann", "at": "2026-01-01T00:00:00.000Z"}
    }
    assert store.ms.status().resolvable == ()
    assert store.ms.question(asked.id, resolve=True).changed is False


def test_a_resolved_question_is_opened_before_it_changes(store: TempStore) -> None:
    """Opening takes the resolution back, whole."""
    asked = ask(store, MYSQL)
    before = store.ms.get(asked.id).record
    store.ms.question(asked.id, resolve=True)
    changes: list[dict[str, Any]] = [{"add": [POSTGRES]}, {"close": True}]
    for change in changes:
        with pytest.raises(Refused, match="resolved"):
            store.ms.question(asked.id, **change)
    with pytest.raises(Refused, match="resolved"):
        store.ms.remember("fact", "Oracle it is", source="ada", answers_question=asked.id)
    done = store.ms.question(asked.id, open=True, add=[POSTGRES])
    assert (done.state, done.closed, done.resolved_by) == ("open", False, None)
    opened = dict(store.ms.get(asked.id).record)
    assert opened.pop("answers") == [MYSQL, POSTGRES]
    assert opened == {key: one for key, one in before.items() if key not in ("closed", "answers")}


def test_what_is_missing_for_a_resolution_is_told(store: TempStore) -> None:
    """Not closed, several answers, none, or one that nobody here can look at."""
    asked = ask(store, MYSQL, POSTGRES, closed=False)
    store.ms.supersede(MYSQL, reason="no")
    assert unresolved(store, asked) == "it is not closed, so other answers may come"
    store.ms.question(asked.id, close=True)
    assert store.ms.question(asked.id).survivor_id == POSTGRES
    store.ms.supersede(POSTGRES, reason="no")
    assert unresolved(store, asked) == "none of its answers holds"
    expiring = ask(store, SQLITE, NOTE)
    store.clock.advance(days=30)
    assert unresolved(store, expiring) == f"{NOTE} cannot be looked at here"
    store.put(
        a_record(7, kind=Kind.QUESTION, answers=(SQLITE, an_id(99)), closed=True, title="Which?")
    )
    assert unresolved(store, store.ms.question(an_id(7))) == f"{an_id(99)} cannot be looked at here"
    assert store.ms.status().resolvable == ()


def test_an_answer_that_was_corrected_stands_through_its_heir(store: TempStore) -> None:
    """Wording it better is no elimination; losing to another answer is."""
    asked = ask(store, MYSQL, POSTGRES)
    heir = store.ms.supersede(MYSQL, reason="typo", title="The ledger runs on MySQL 8").survivor_id
    assert store.ms.question(asked.id).holding == (heir, POSTGRES)
    assert store.ms.status().resolvable == ()
    store.ms.supersede(POSTGRES, reason="lost", merge_from=[])
    assert store.ms.status().resolvable[0].survivor_id == heir
    assert store.ms.question(asked.id, resolve=True).resolved_by == heir


def test_an_answer_that_another_took_the_place_of_is_gone(store: TempStore) -> None:
    """Merged into the other answer, one is left."""
    asked = ask(store, MYSQL, POSTGRES)
    store.ms.supersede(POSTGRES, reason="the same", merge_from=[MYSQL])
    assert store.ms.status().resolvable[0].survivor_id == POSTGRES
    assert store.ms.question(asked.id, resolve=True).resolved_by == POSTGRES


def test_contradictory_wishes_are_refused(store: TempStore) -> None:
    """Open is the opposite of close and of resolve."""
    asked = ask(store, MYSQL)
    for wish in ({"close": True}, {"resolve": True}):
        with pytest.raises(UsageError):
            store.ms.question(asked.id, open=True, **wish)  # type: ignore[arg-type]


@needs_fork
@pytest.mark.parametrize("how", ["ask", "resolve", "answer"])
def test_a_kill_at_any_step_leaves_all_or_nothing(how: str) -> None:
    """A question, its resolution, and a claim that answers it."""
    question = a_record(2, kind=Kind.QUESTION, title="Which marmot?", answers=(MYSQL,), closed=True)

    def act(ms: Memspec) -> object:
        if how == "ask":
            return ms.ask("Which other?", source="ada", answers=[MYSQL])
        if how == "resolve":
            return ms.question(an_id(2), resolve=True)
        return ms.remember("fact", "Voles dig", source="ada", answers_question=an_id(2))

    assert killed_everywhere([a_record(1), question], act) == {"before", "after"}
