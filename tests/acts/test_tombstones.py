from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspec_py.acts.tombstones import statements
from memspec_py.errors import Invalid, UsageError, Withdrawn
from memspec_py.record.model import Kind, State
from memspec_py.testing import TempStore, a_record, an_id

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OLD, RETRACTED, NOTE = (an_id(number) for number in range(1, 4))
OLD_BODY = "BATCH is 32 in the writer."
RETRACTED_TITLE = "Poller retries a gauge five times"


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """A store where one record was replaced and one retracted."""
    made = TempStore(tmp_path)
    made.put(a_record(1, title="Writer flushes in batches", body=OLD_BODY))
    made.put(a_record(2, title=RETRACTED_TITLE, body="RETRIES is five."))
    made.put(a_record(3, kind=Kind.OBSERVATION, title="Nothing in particular"))
    made.ms.supersede(OLD, reason="Raised in March", body="BATCH is 64 in the writer.")
    made.ms.supersede(RETRACTED, reason="The note misread the table")
    return made


def _remember(store: TempStore, **force: Any) -> str:  # noqa: ANN401
    return store.ms.remember("fact", RETRACTED_TITLE, source="me", **force).id


def _observe(store: TempStore, **force: Any) -> str:  # noqa: ANN401
    return store.ms.observe(RETRACTED_TITLE, source="me", **force).id


def _adopt(store: TempStore, **force: Any) -> str:  # noqa: ANN401
    done = store.ms.adopt([a_record(8, title=RETRACTED_TITLE)], apply=True, **force)
    if done.records[0].code is not None:
        assert done.records[0].code == "withdrawn"
        raise Withdrawn(str(done.records[0].reason))
    return done.records[0].id


def _edit(store: TempStore, **force: Any) -> str:  # noqa: ANN401
    copy = store.ms.edit_copy(NOTE)
    text = copy.text.replace("Nothing in particular", RETRACTED_TITLE)
    return store.ms.replace_text(copy, text, **force).id


def _supersede(store: TempStore, **force: Any) -> str:  # noqa: ANN401
    if force:
        force["reason"] = force.pop("reason", "seen again")
    done = store.ms.supersede(NOTE, **{"reason": "x", "title": RETRACTED_TITLE, **force})
    return str(done.survivor_id)


PATHS = (_remember, _observe, _adopt, _edit, _supersede)


def tree(store: TempStore) -> dict[str, bytes]:
    """Every record file."""
    return {str(path): path.read_bytes() for path in sorted(store.root.rglob("*.md"))}


@pytest.mark.parametrize("write", PATHS)
def test_what_was_retracted_is_refused_on_every_path(
    store: TempStore, write: Callable[..., str]
) -> None:
    """The record and its reason are named, and nothing is written."""
    before = tree(store)
    with pytest.raises(Withdrawn) as raised:
        write(store)
    assert f'{RETRACTED} "{RETRACTED_TITLE}"' in raised.value.message
    assert "The note misread the table" in raised.value.message
    assert tree(store) == before


@pytest.mark.parametrize("write", PATHS)
def test_force_with_a_reason_writes_it_and_keeps_the_reason(
    store: TempStore, write: Callable[..., str]
) -> None:
    """In the record itself, with what it went past; the record reads as any other."""
    id_ = write(store, force=True, reason="The table was right")
    shown = store.ms.get(id_)
    assert shown.title == RETRACTED_TITLE
    assert shown.record["ext"] == {"forced": {"reason": "The table was right", "past": [RETRACTED]}}
    assert [one for one in store.ms.doctor().findings if one.severity == "error"] == []


@pytest.mark.parametrize("write", [_remember, _observe, _adopt, _edit])
def test_force_alone_is_not_enough(store: TempStore, write: Callable[..., str]) -> None:
    """And a reason alone, or a blank one, makes no sense."""
    with pytest.raises(Withdrawn):
        write(store, force=True)
    with pytest.raises(UsageError):
        write(store, reason="because")
    with pytest.raises(Invalid):
        write(store, force=True, reason=" \n ")


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("WRITER  batch size", OLD_BODY),
        ("batch is 32 in the writer", ""),
        ("\uff22ATCH is 32\u00a0in the writer.", ""),
        ("Batch\u200b is 32 in the writer", "More of it."),
        ("x", "batch is\n32   in the WRITER"),
        ("poller RETRIES a gauge five times", "Another body."),
    ],
)
def test_the_same_words_are_known_in_any_dress(store: TempStore, title: str, body: str) -> None:
    """As title or as body, whatever the case, the spaces and the Unicode form."""
    with pytest.raises(Withdrawn):
        store.ms.remember("fact", title, body=body, source="me")


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("Batch is 33 in the writer", ""),
        ("Batch is not 32 in the writer", ""),
        ("Once BATCH is 32 in the writer", ""),
        ("Writer flushes in batches", "By the clock, not by the count; see the long design page."),
    ],
)
def test_other_words_are_not(store: TempStore, title: str, body: str) -> None:
    """It is a guard against the same text only; a title that the heir kept is no value."""
    assert store.ms.remember("fact", title, body=body, source="me", force=True).withdrawn == ()


def test_what_was_only_a_topic_may_be_said_again(store: TempStore) -> None:
    """One or two words name many things; with the same body they are the same."""
    store.put(a_record(6, title="Auth", body="Off", state=State.SUPERSEDED, supersede_reason="no"))
    store.ms.remember("fact", "Auth", body="On", source="me")
    with pytest.raises(Withdrawn):
        store.ms.remember("fact", "auth", body="OFF", source="me")


def test_what_was_retired_or_is_of_another_scope_may_be_said(store: TempStore) -> None:
    """Growing stale does not make a claim wrong, and each scope has its own truth."""
    gone = {"supersede_reason": "no", "state": State.SUPERSEDED}
    store.put(a_record(6, title="Storks nest on chimneys", state=State.RETIRED))
    store.put(a_record(7, title="Herons nest in trees", scope="web", **gone))
    store.put(a_record(8, title="Cranes nest in reeds", scope="universal", **gone))
    store.ms.remember("fact", "Storks nest on chimneys", source="me")
    store.ms.remember("fact", "Herons nest in trees", source="me", scope="api")
    for title, scope in (("Herons nest in trees", "web"), ("Cranes nest in reeds", "api")):
        with pytest.raises(Withdrawn):
            store.ms.remember("fact", title, source="me", scope=scope)


def test_an_edit_of_something_else_is_free(store: TempStore) -> None:
    """A record that was forced past it is not asked again, nor are its heirs."""
    id_ = _remember(store, force=True, reason="right after all")
    copy = store.ms.edit_copy(id_)
    store.ms.replace_text(copy, copy.text.replace("tags: []", "tags: [x]"))
    copy = store.ms.edit_copy(id_)
    store.ms.replace_text(copy, f"{copy.text}\nA body.\n")
    heir = store.ms.supersede(id_, reason="more", body="Another body of it.")
    assert heir.withdrawn == ()


def test_an_observation_is_no_way_round(store: TempStore) -> None:
    """What it says is looked at once more when it becomes a claim."""
    store.put(a_record(6, kind=Kind.OBSERVATION, title=RETRACTED_TITLE))
    with pytest.raises(Withdrawn):
        store.ms.supersede(an_id(6), reason="promoted", type="fact")


def test_going_back_is_forced_with_the_reason_of_the_supersede(store: TempStore) -> None:
    """An heir that says what its forerunner said needs --force; the chain keeps both reasons."""
    heir = store.ms.get(OLD).descendants[0].id
    with pytest.raises(Withdrawn):
        store.ms.supersede(heir, reason="Rolled back", body=OLD_BODY)
    done = store.ms.supersede(heir, reason="Rolled back", body=OLD_BODY, force=True)
    assert [one.id for one in done.withdrawn] == [OLD]
    assert done.withdrawn[0].heirs == (heir,)


def test_a_batch_is_judged_record_by_record(store: TempStore) -> None:
    """One that is refused does not stop the others; superseded records come in as they are."""
    batch = [
        a_record(8, title=RETRACTED_TITLE),
        a_record(9, title="Otters eat fish"),
        a_record(10, title=RETRACTED_TITLE, state=State.SUPERSEDED, supersede_reason="x"),
    ]
    done = store.ms.adopt(batch)
    assert [one.outcome for one in done.records] == ["refused", "created", "created"]
    forced = store.ms.adopt(batch, apply=True, force=True, reason="history")
    assert forced.created == 3
    assert "ext" not in store.ms.get(an_id(9)).record


_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]))


@given(_TEXT, _TEXT)
def test_folding_knows_case_and_space(title: str, body: str) -> None:
    """Spaces around and doubled, and letters in upper case, are the same statement."""
    said = statements(title, body)
    assert said
    spaced = statements(f"  {title.replace(' ', '  ')}\t", f"\n{body}\n")
    assert spaced == said
    if (title + body).isascii():
        assert statements(title.upper(), body.upper()) == said
