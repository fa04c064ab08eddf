from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from memspec_py.errors import (
    Conflict,
    Invalid,
    MemspecError,
    NearDuplicate,
    NotActive,
    NotAllowed,
    NotFound,
    UsageError,
)
from memspec_py.record.model import Anchor, Kind, SourceKind, State, Type, Witness
from memspec_py.testing import TempStore, a_record, an_id
from tests.acts.crashes import killed_everywhere
from tests.faults import needs_fork

if TYPE_CHECKING:
    from pathlib import Path

    from memspec_py.acts.supersede import Superseded

OLD, OTHER, THIRD, NOTE, THEIRS, QUESTION = (an_id(number) for number in range(1, 7))

HAND_WRITTEN = f"""\
---
# kept by hand
id: {an_id(9)}
type:   fact      # the type
state: active     # for now
created: 2026-01-01
source: 'ada'
tags: [ "auth", web ]
team:
    - a
    - {{ name: b }}
check_by: never
---

#  Auth uses JWT  ##

Signed with RS256.\r
"""


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """A store with claims, a note, an operator's claim and a question."""
    made = TempStore(tmp_path)
    made.put(
        a_record(
            1,
            title="Tokens live an hour",
            body="TTL is 3600.",
            tags=("auth",),
            scope="api",
            pinned=True,
            valid_from="2025-01-01T00:00:00.000Z",
            valid_to="2030-01-01T00:00:00.000Z",
            refines=(THIRD,),
            conflicts_with=(OTHER,),
            ext={"ticket": "A-1"},
        )
    )
    made.put(a_record(2, title="Tokens never end"))
    made.put(a_record(3, title="Auth uses tokens", supports=(OLD,)))
    made.put(
        a_record(
            4,
            kind=Kind.OBSERVATION,
            title="The pool is slow at noon",
            body="Seen twice.",
            expires="2026-01-05T00:00:00.000Z",
        )
    )
    made.put(
        a_record(5, title="Keys rotate weekly", source="human:ann", source_kind=SourceKind.OPERATOR)
    )
    made.put(a_record(6, kind=Kind.QUESTION, title="How long do tokens live?", answers=(OLD,)))
    return made


def supersede(store: TempStore, id_: str = OLD, **given: Any) -> Superseded:  # noqa: ANN401
    """Supersede a record with whatever is given."""
    return store.ms.supersede(id_, **{"reason": "It was changed", "source": "codex", **given})


def tree(store: TempStore) -> dict[str, bytes]:
    """Every file of the store but those of this machine."""
    return {
        str(path.relative_to(store.root)): path.read_bytes()
        for path in sorted(store.root.rglob("*"))
        if path.is_file() and "local" not in path.relative_to(store.root).parts
    }


def refused(store: TempStore, error: type[MemspecError], id_: str, **given: Any) -> MemspecError:  # noqa: ANN401
    """The refusal, once it is sure that nothing was written."""
    before = tree(store)
    with pytest.raises(error) as raised:
        supersede(store, id_, **given)
    assert tree(store) == before
    return raised.value


def outcomes(store: TempStore) -> list[tuple[str, str]]:
    """Id and outcome of each line of the log."""
    lines = (store.root / "outcomes.jsonl").read_text(encoding="utf-8").splitlines()
    return [(row["id"], row["outcome"]) for row in map(json.loads, lines)]


# A replacement


def test_a_replacement_keeps_what_still_describes_it(store: TempStore) -> None:
    """Type, title, tags, scope, pin, validity and edges; the review date is fresh."""
    store.clock.advance(days=10)
    done = supersede(store, body="TTL is 900.")
    assert (done.act, done.superseded_ids) == ("replaced", (OLD,))
    assert done.survivor_id is not None
    heir = store.again().get(done.survivor_id)
    assert (heir.title, heir.body) == ("Tokens live an hour", "TTL is 900.")
    assert heir.record == {
        "id": done.survivor_id,
        "kind": "claim",
        "type": "fact",
        "state": "active",
        "created": "2026-01-11T00:00:00.000Z",
        "source": "codex",
        "source_kind": "agent",
        "tags": ["auth"],
        "scope": "api",
        "check_by": "2026-04-11T00:00:00.000Z",
        "verified_with": "assertion",
        "pinned": "true",
        "supersedes": [OLD],
        "supersede_reason": "It was changed",
        "refines": [THIRD],
        "conflicts_with": [OTHER],
        "valid_from": "2025-01-01T00:00:00.000Z",
        "valid_to": "2030-01-01T00:00:00.000Z",
    }


def test_the_old_record_says_what_became_of_it(store: TempStore) -> None:
    """It lies in the archive with its heir, the reason, who and when; search has the heir alone."""
    done = supersede(store, body="TTL is 900.")
    old = store.again().get(OLD)
    assert old.path == f"archive/{OLD}.md"
    assert not (store.root / f"memory/facts/{OLD}.md").exists()
    assert old.record["state"] == "superseded"
    assert old.record["superseded_by"] == done.survivor_id
    assert old.record["supersede_reason"] == "It was changed"
    assert old.record["ext"] == {
        "ticket": "A-1",
        "superseded": {"by": "codex", "at": "2026-01-01T00:00:00.000Z"},
    }
    assert [one.id for one in old.descendants] == [done.survivor_id]
    hits = store.ms.search("tokens hour TTL", scope="api").results
    assert [hit.id for hit in hits if hit.title == "Tokens live an hour"] == [done.survivor_id]
    assert outcomes(store) == [(OLD, "corrected")]
    assert store.ms.doctor().findings == ()


def test_what_is_given_takes_the_place_of_what_was_kept(store: TempStore) -> None:
    """Every field that only describes the record can be told otherwise."""
    done = supersede(
        store,
        title="Tokens live a quarter of an hour",
        type="decision",
        tags=["ttl"],
        scope="universal",
        pinned=False,
        check_by="never",
        valid_from="2026-01-01",
        valid_to="2027-01-01",
    )
    assert done.survivor_id is not None
    heir = store.ms.get(done.survivor_id)
    assert heir.body == "TTL is 3600."
    assert heir.path == f"memory/decisions/{heir.id}.md"
    assert {key: heir.record.get(key) for key in ("tags", "scope", "pinned", "check_by")} == {
        "tags": ["ttl"],
        "scope": "universal",
        "pinned": None,
        "check_by": "never",
    }
    assert heir.record["valid_to"] == "2027-01-01T00:00:00.000Z"


def test_anchors_are_taken_anew_and_a_missing_file_is_told(store: TempStore) -> None:
    """The heir rests on the files as they are now; what is gone is no anchor any more."""
    (store.project / "auth.py").write_text("ttl = 900\n", encoding="utf-8")
    anchors = (Anchor(file="auth.py", sha="0" * 40), Anchor(file="gone.py", sha="1" * 40))
    outside = (Anchor(file="x", repo="../home", sha="2" * 40), Anchor(file="../y", sha="3" * 40))
    store.put(a_record(7, title="Anchored claim", anchors=(*anchors, *outside)))
    done = supersede(store, an_id(7), body="Other.")
    assert done.survivor is not None
    assert (done.survivor.anchors, done.survivor.verified_with) == (("auth.py",), "anchor")
    assert [one.path for one in done.unresolved] == ["gone.py", "../home/x", "../y"]
    assert store.ms.get(done.survivor.id).record["anchors"] == [
        {"file": "auth.py", "sha": "82c76d9d9d82c0b95af741f2c3dd63b0f379605f"}
    ]
    again = supersede(store, done.survivor.id, body="Third.", anchors=["nowhere.py"])
    assert again.survivor is not None
    assert (again.survivor.anchors, again.survivor.verified_with) == ((), "assertion")
    assert [one.path for one in again.unresolved] == ["nowhere.py"]


def test_every_byte_that_is_not_changed_stays(store: TempStore) -> None:
    """Comments, spacing, quoting, line ends and unknown keys of the old record."""
    store.write(f"memory/facts/{an_id(9)}.md", HAND_WRITTEN)
    done = supersede(store, an_id(9), body="Signed with ES256.")
    kept = (store.root / f"archive/{an_id(9)}.md").read_bytes().decode()
    added = (
        f"superseded_by: {done.survivor_id}\nsupersede_reason: It was changed\n"
        'ext:\n  superseded:\n    by: codex\n    at: "2026-01-01T00:00:00.000Z"\n---\n\n#'
    )
    changed = HAND_WRITTEN.replace("state: active     #", "state: superseded     #")
    assert kept == changed.replace("---\n\n#", added)


def test_an_observation_becomes_a_claim(store: TempStore) -> None:
    """With its words, a type and a review date; it does not expire any more."""
    done = supersede(store, NOTE, type="fact", reason="Seen every day")
    assert done.survivor is not None
    heir = store.ms.get(done.survivor.id)
    assert (heir.title, heir.body) == ("The pool is slow at noon", "Seen twice.")
    assert (heir.type, heir.record.get("expires")) == ("fact", None)
    assert heir.record["check_by"] == "2026-04-01T00:00:00.000Z"
    assert store.ms.get(NOTE).record["state"] == "superseded"


def test_an_observation_that_is_corrected_stays_one(store: TempStore) -> None:
    """It lives as long as a new one; one without an end stays without."""
    store.clock.advance(days=1)
    done = supersede(store, NOTE, body="Seen once.")
    assert done.survivor is not None
    assert (done.survivor.type, done.survivor.check_by) == ("observation", None)
    assert done.survivor.expires == "2026-01-09T00:00:00.000Z"
    store.put(a_record(7, kind=Kind.OBSERVATION, title="For ever"))
    endless = supersede(store, an_id(7), body="And ever.").survivor
    assert endless is not None
    assert endless.expires is None


def test_steps_for_people_stay_with_a_procedure(store: TempStore) -> None:
    """And leave a claim that is no procedure any more."""
    store.put(a_record(7, title="Rotate keys", type=Type.PROCEDURE, requires_human=("press",)))
    kept = supersede(store, an_id(7), body="Twice.").survivor_id
    assert kept is not None
    assert store.ms.get(kept).record["requires_human"] == ["press"]
    gone = supersede(store, kept, type="fact").survivor_id
    assert gone is not None
    assert "requires_human" not in store.ms.get(gone).record


def test_a_replacement_that_another_record_says_already_is_refused(store: TempStore) -> None:
    """Others count, what it replaces does not; force writes it and tells."""
    problem = refused(store, NearDuplicate, THIRD, title="Tokens never end")
    assert OTHER in str(problem)
    assert supersede(store, THIRD, title="Tokens never end", merge_from=[OTHER]).duplicates == ()
    store.put(a_record(8, title="Pools are shared"))
    store.put(a_record(9, title="Pools are small"))
    done = supersede(store, an_id(8), title="Pools are small", force=True)
    assert [one.id for one in done.duplicates] == [an_id(9)]


# Retracting and merging


def test_a_retraction_has_a_reason_and_no_heir(store: TempStore) -> None:
    """As 0.7.2 wrote it: superseded, in the archive, by nothing."""
    done = supersede(store, reason="  Never \n true ")
    assert (done.act, done.survivor_id, done.survivor) == ("retracted", None, None)
    record = store.ms.get(OLD).record
    assert (record["state"], record["supersede_reason"]) == ("superseded", "Never true")
    assert "superseded_by" not in record
    assert store.ms.search("tokens hour", scope="api").results[0].id != OLD
    assert outcomes(store) == [(OLD, "corrected")]


def test_records_are_merged_into_one_that_stays(store: TempStore) -> None:
    """The survivor keeps its text and names them all, also the second time; each reason stands."""
    done = supersede(store, OTHER, merge_from=[THIRD, THIRD.lower(), NOTE], reason="One is enough")
    assert (done.act, done.survivor_id) == ("merged", OTHER)
    assert done.superseded_ids == (THIRD, NOTE)
    survivor = store.ms.get(OTHER)
    assert survivor.record["supersedes"] == [THIRD, NOTE]
    assert survivor.record["supersede_reason"] == "One is enough"
    for id_ in (THIRD, NOTE):
        record = store.ms.get(id_).record
        assert (record["superseded_by"], record["supersede_reason"]) == (OTHER, "One is enough")
    supersede(store, OTHER, merge_from=[OLD], reason="So is this")
    again = store.ms.get(OTHER).record
    assert again["supersedes"] == [THIRD, NOTE, OLD]
    assert again["supersede_reason"] == "One is enough; So is this"
    assert {id_ for id_, _ in outcomes(store)} == {THIRD, NOTE, OLD}


def test_records_are_merged_into_a_new_one(store: TempStore) -> None:
    """It stands for all of them and drops the edges between them."""
    done = supersede(store, OLD, body="TTL is 900.", merge_from=[OTHER, THIRD])
    assert done.superseded_ids == (OLD, OTHER, THIRD)
    assert done.survivor_id is not None
    heir = store.ms.get(done.survivor_id).record
    assert heir["supersedes"] == [OLD, OTHER, THIRD]
    assert "refines" not in heir
    assert "conflicts_with" not in heir
    for id_ in done.superseded_ids:
        assert store.ms.get(id_).record["superseded_by"] == done.survivor_id


# Refusals


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"reason": " \n"}, Invalid),
        ({"reason": "x\0"}, Invalid),
        ({"source": "unknown"}, Invalid),
        ({"body": ""}, Invalid),
        ({"body": " \n "}, Invalid),
        ({"title": " "}, Invalid),
        ({"title": "two\nlines"}, Invalid),
        ({"body": "x", "scope": " "}, Invalid),
        ({"body": "x", "check_by": "soon"}, Invalid),
        ({"body": "x", "valid_to": "2020-01-01"}, Invalid),
        ({"body": "x", "tags": ["x" * 65]}, Invalid),
        ({"type": "rumour"}, UsageError),
        ({"type": "observation"}, UsageError),
        ({"tags": ["x"]}, UsageError),
        ({"body": "TTL is 3600."}, UsageError),
        ({"title": "Tokens live an hour", "type": "fact"}, UsageError),
        ({"merge_from": [OLD]}, UsageError),
        ({"merge_from": [OLD], "body": "x"}, UsageError),
        ({"merge_from": [QUESTION]}, UsageError),
        ({"merge_from": [an_id(99)]}, NotFound),
        ({"merge_from": [THEIRS]}, NotAllowed),
    ],
)
def test_what_makes_no_sense_is_refused(
    store: TempStore, given: dict[str, Any], error: type[MemspecError]
) -> None:
    """Before anything is written."""
    refused(store, error, OLD, **given)


def test_a_record_that_is_gone_names_its_heir(store: TempStore) -> None:
    """The one that holds at the end of the chain, and the reason."""
    first = supersede(store, body="TTL is 900.", reason="Shorter").survivor_id
    assert first is not None
    second = supersede(store, first, body="TTL is 600.").survivor_id
    problem = refused(store, NotActive, OLD, reason="again")
    assert f"superseded by {first}: Shorter" in problem.message
    assert problem.hint == f'what holds now is {second} "Tokens live an hour"'
    assert problem.details == {"heirs": [second]}
    refused(store, NotActive, OTHER, merge_from=[OLD])
    store.put(a_record(7, state=State.RETIRED))
    assert refused(store, NotActive, an_id(7)).details == {"heirs": []}


def test_an_operators_record_wants_the_override(store: TempStore) -> None:
    """For each way to supersede it, and the override leaves its trace."""
    ways: list[dict[str, Any]] = [{}, {"body": "Daily."}, {"merge_from": [OTHER]}]
    for given in ways:
        problem = refused(store, NotAllowed, THEIRS, **given)
        assert "--override-operator" in (problem.hint or "")
    supersede(store, THEIRS, merge_from=[OTHER], override_operator=True)
    kept = store.ms.get(THEIRS)
    assert kept.path == f"memory/operator/facts/{THEIRS}.md"
    assert kept.record["ext"]["merged"]["override_operator"] == "true"  # type: ignore[index,call-overload]
    done = supersede(store, THEIRS, body="Daily.", override_operator=True)
    assert done.survivor is not None
    assert done.survivor.path == f"memory/facts/{done.survivor_id}.md"
    trace = store.ms.get(THEIRS).record["ext"]["superseded"]  # type: ignore[index,call-overload]
    assert trace["override_operator"] == "true"  # type: ignore[index,call-overload]


def test_the_operators_replacement_is_the_operators(store: TempStore) -> None:
    """The tier comes from the source of the new record."""
    done = supersede(store, body="TTL is 900.", source="human:ann").survivor
    assert done is not None
    assert done.path.startswith("memory/operator/facts/")
    assert done.verified_with == Witness.OPERATOR


def test_a_question_and_an_expired_note_are_not_superseded(store: TempStore) -> None:
    """Each with the way to go on."""
    assert "--resolve" in (refused(store, UsageError, QUESTION).hint or "")
    store.clock.advance(days=30)
    assert "expired" in refused(store, NotFound, NOTE, type="fact").message


def test_a_claim_is_not_merged_into_a_note(store: TempStore) -> None:
    """It would be gone when the note expires."""
    assert "--type" in (refused(store, UsageError, NOTE, merge_from=[OLD]).hint or "")
    assert supersede(store, NOTE, merge_from=[OLD], type="fact").act == "replaced"


def test_an_id_in_two_files_is_refused(store: TempStore) -> None:
    """Else one of the copies would stay in use."""
    shutil.copy(store.root / f"memory/facts/{OLD}.md", store.root / f"memory/decisions/{OLD}.md")
    problem = refused(store, Conflict, OLD)
    assert f"memory/decisions/{OLD}.md, memory/facts/{OLD}.md" in problem.message


def test_a_merge_that_would_close_a_circle_is_refused(store: TempStore) -> None:
    """A file made by hand may claim to supersede the survivor."""
    store.put(a_record(7, supersedes=(an_id(8),)))
    store.put(a_record(8, title="In the middle", supersedes=(OTHER,)))
    refused(store, Conflict, OTHER, merge_from=[an_id(7)])


def test_front_matter_that_cannot_be_edited_in_place_is_refused(store: TempStore) -> None:
    """Rather than written anew without its comments."""
    head = f"{{id: {an_id(7)}, type: fact, created: 2026-01-01, source: ada, state: active}}"
    store.write(f"memory/facts/{an_id(7)}.md", f"---\n{head}\n---\n# In braces\n")
    problem = refused(store, Invalid, an_id(7))
    assert "cannot be changed" in problem.message
    store.write("memory/facts/broken.md", "---\nid: nope\n---\n")
    store.write(f"memory/facts/{an_id(8)}.md", "no front matter\n")
    assert "memspec edit" in (refused(store, Invalid, an_id(8)).hint or "")


def test_what_lies_in_the_wrong_folder_is_superseded_all_the_same(store: TempStore) -> None:
    """An active record that somebody put into the archive stays there, superseded."""
    store.write(f"archive/{OLD}.md", (store.root / f"memory/facts/{OLD}.md").read_bytes())
    (store.root / f"memory/facts/{OLD}.md").unlink()
    supersede(store)
    assert store.ms.get(OLD).record["state"] == "superseded"
    assert store.ms.doctor().findings == ()


@pytest.mark.parametrize("way", [{}, {"body": "Marmots whistle."}, {"merge_from": [OTHER]}])
@pytest.mark.parametrize("what", ["folder", "link", "link to nowhere"])
def test_an_odd_log_of_outcomes_is_no_obstacle(
    store: TempStore, what: str, way: dict[str, Any]
) -> None:
    """What stands in its place costs the receipt and not the act, and the reply says so."""
    log = store.root / "outcomes.jsonl"
    if what == "folder":
        log.mkdir()
    else:
        log.symlink_to(store.home if what == "link" else "nowhere")
    done = supersede(store, **way)
    assert store.ms.get(done.superseded_ids[0]).record["state"] == "superseded"
    (note,) = done.notes
    assert note.startswith("the outcome could not be recorded: outcomes.jsonl: ")
    log.rmdir() if what == "folder" else log.unlink()
    assert supersede(store, THIRD).notes == ()
    assert outcomes(store) == [(THIRD, "corrected")]


def test_a_torn_line_of_the_log_is_closed_first(store: TempStore) -> None:
    """So that the outcome stands on a line of its own."""
    (store.root / "outcomes.jsonl").write_text('{"id": "torn', encoding="utf-8")
    supersede(store, OTHER)
    lines = (store.root / "outcomes.jsonl").read_text(encoding="utf-8").splitlines()
    assert [lines[0], json.loads(lines[1])["id"]] == ['{"id": "torn', OTHER]


# Crashes


@needs_fork
@pytest.mark.parametrize("how", ["replace", "merge", "merge-into-new", "retract"])
def test_a_kill_at_any_step_leaves_all_or_nothing(how: str) -> None:
    """The survivor, every old record and the outcomes change together."""
    ways: dict[str, dict[str, Any]] = {
        "replace": {"body": "New."},
        "merge": {"merge_from": [OTHER, THIRD]},
        "merge-into-new": {"body": "New.", "merge_from": [OTHER, THIRD]},
        "retract": {},
    }
    records = [a_record(number, title=f"Marmot number{number}") for number in (1, 2, 3)]
    seen = killed_everywhere(records, lambda ms: ms.supersede(OLD, reason="wrong", **ways[how]))
    assert seen == {"before", "after"}
