from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from memspec_py.errors import Conflict, Invalid, NotAllowed, UsageError
from memspec_py.record.model import Anchor, Evidence, Kind, Record, SourceKind, State, Type, Witness
from memspec_py.store import layout
from memspec_py.testing import TempStore, a_record, an_id
from memspec_py.trust.channel import Channel
from tests.acts.crashes import maker, run
from tests.faults import crash_points, needs_fork, quick_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memspec_py.acts.backfill import BackfilledRecord
    from tests.faults import Moment

HAND_WRITTEN = f"""\
---
# kept by hand
id: {an_id(1)}
type:   fact      # the type
state: active
created: 2026-01-01
source: 'ada'
tags: [ "auth", web ]
team:
    - a
check_by: never
---

#  Auth uses JWT  ##

Signed with RS256.\r
"""
DAY = "2026-01-02T00:00:00.000Z"


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """A store with two facts, a retired decision, a question and an operator's fact."""
    made = TempStore(tmp_path)
    made.put(a_record(1, title="Auth uses JWT", tags=("auth", "web")))
    made.put(a_record(2, title="Otters swim", tags=("otters",)))
    made.put(a_record(3, title="Use gRPC", type=Type.DECISION, state=State.RETIRED))
    made.put(a_record(4, title="Which queue?", kind=Kind.QUESTION))
    made.put(
        a_record(
            5,
            title="Deploys stop at noon",
            source="human:ada",
            source_kind=SourceKind.OPERATOR,
            verified_with=Witness.OPERATOR,
        )
    )
    return made


def tree(store: TempStore) -> dict[str, bytes]:
    """Every file of the store but the index."""
    return {
        str(path.relative_to(store.root)): path.read_bytes()
        for path in sorted(store.root.rglob("*"))
        if path.is_file() and not path.name.startswith(("index.", "settings"))
    }


def tagged(record: Record) -> Record:
    """A record with one more tag."""
    return replace(record, tags=(*record.tags, "new"))


def only(number: int, **changes: Any) -> Callable[[Record], Record | None]:  # noqa: ANN401
    """A function that changes some fields of one record."""
    return lambda record: replace(record, **changes) if record.id == an_id(number) else None


def the_one(store: TempStore, **changes: Any) -> BackfilledRecord:  # noqa: ANN401
    """What a dry run says of the first record, changed so."""
    (shown,) = store.ms.backfill(only(1, **changes), name="x").records
    return shown


def test_a_dry_run_tells_each_field_and_writes_nothing(store: TempStore) -> None:
    """Not even a folder is made in the store."""
    before = {path: path.stat().st_mtime_ns for path in store.root.rglob("*")}
    done = store.again().backfill(tagged, name="add-tag")
    assert {path: path.stat().st_mtime_ns for path in store.root.rglob("*")} == before
    assert (done.applied, done.journal, done.name) == (False, None, "add-tag")
    assert (done.seen, done.changed, done.unchanged, done.skipped_operator) == (5, 4, 0, 1)
    first = next(one for one in done.records if one.id == an_id(1))
    assert (first.path, first.title) == (f"memory/facts/{an_id(1)}.md", "Auth uses JWT")
    (field,) = first.fields
    assert (field.field, field.before, field.after) == (
        "tags",
        '["auth", "web"]',
        '["auth", "web", "new"]',
    )


def test_apply_writes_what_the_dry_run_said(store: TempStore) -> None:
    """The same report, and the records have the change, in every state."""
    said = store.ms.backfill(tagged, name="add-tag")
    done = store.ms.backfill(tagged, name="add-tag", apply=True)
    assert (done.records, done.changed) == (said.records, said.changed)
    assert done.applied
    assert done.journal is not None
    assert (store.root / "local/backfills" / done.journal).is_file()
    found = {hit.id for hit in store.again().list(state="any", tag="new").results}
    assert found == {an_id(number) for number in (1, 2, 3, 4)}
    assert store.again().doctor().healthy


def test_only_the_bytes_of_the_changed_key_differ(store: TempStore) -> None:
    """Comments, quoting, line ends and unknown keys stay."""
    path = store.write(f"memory/facts/{an_id(1)}.md", HAND_WRITTEN)
    store.ms.backfill(only(1, scope="api"), name="x", apply=True)
    written = path.read_bytes().decode()
    assert "scope: api" in written
    assert written.replace("scope: api\n", "") == HAND_WRITTEN


def test_nothing_to_change_leaves_no_journal(store: TempStore) -> None:
    """None and an equal record both mean: leave it."""
    before = tree(store)
    leaves: tuple[Callable[[Record], Record | None], ...] = (
        lambda _: None,
        lambda same: same,
        replace,
    )
    for leave in leaves:
        done = store.ms.backfill(leave, name="x", apply=True)
        assert (done.changed, done.unchanged, done.journal) == (0, 4, None)
    assert tree(store) == before


def test_states_and_types_choose_what_the_function_sees(store: TempStore) -> None:
    """A word that nothing has is an error, as it would choose nothing by mistake."""
    seen: list[str] = []
    look: Callable[[Record], None] = lambda record: seen.append(record.id)  # noqa: E731
    assert store.ms.backfill(look, name="x", states=["retired"]).seen == 1
    assert store.ms.backfill(look, name="x", types=["fact", "question"]).seen == 4
    assert seen == [an_id(3), an_id(1), an_id(2), an_id(4)]
    for words in (["retried"], ["active", ""], "active"):
        with pytest.raises(UsageError, match="superseded"):
            store.ms.backfill(look, name="x", states=words)
    with pytest.raises(UsageError, match="procedure"):
        store.ms.backfill(look, name="x", types=["claim"])


def test_the_operators_records_are_skipped_unless_included(store: TempStore) -> None:
    """The function is not even asked about them; over MCP they are never included."""
    seen: list[str] = []
    look: Callable[[Record], None] = lambda record: seen.append(record.id)  # noqa: E731
    assert store.ms.backfill(look, name="x").skipped_operator == 1
    assert an_id(5) not in seen
    done = store.ms.backfill(tagged, name="x", include_operator=True, apply=True)
    assert (done.skipped_operator, done.changed) == (0, 5)
    assert store.again().get(an_id(5)).path == f"memory/operator/facts/{an_id(5)}.md"
    store.ms._ws.channel = Channel.MCP  # noqa: SLF001
    with pytest.raises(NotAllowed):
        store.ms.backfill(tagged, name="x", include_operator=True)


def test_an_error_of_the_function_ends_it_with_nothing_written(store: TempStore) -> None:
    """It is the caller's own error, as it was raised."""
    before = tree(store)

    def fails(record: Record) -> Record:
        if record.id == an_id(4):
            raise KeyError("my mistake")
        return tagged(record)

    with pytest.raises(KeyError, match="my mistake"):
        store.ms.backfill(fails, name="x", apply=True)
    with pytest.raises(UsageError, match="not a record or None"):
        store.ms.backfill(lambda _: True, name="x", apply=True)  # type: ignore[arg-type, return-value]
    assert tree(store) == before


def test_another_type_moves_the_file(store: TempStore) -> None:
    """It lies where its type belongs, once, with its bytes but for the key."""
    path = store.write(f"memory/facts/{an_id(1)}.md", HAND_WRITTEN)
    assert the_one(store, type="decision").moved_to == f"memory/decisions/{an_id(1)}.md"
    store.ms.backfill(only(1, type=Type.DECISION), name="x", apply=True)
    moved = store.root / f"memory/decisions/{an_id(1)}.md"
    assert moved.read_bytes().decode() == HAND_WRITTEN.replace("fact", "decision")
    assert not path.exists()
    assert store.again().doctor().healthy


def test_a_plain_text_for_a_word_moves_nothing(store: TempStore) -> None:
    """`"active"` is the state as well as `State.ACTIVE` is, and the folder is the same."""
    plain = {"state": "active", "kind": "claim", "type": "fact", "tags": ["a"]}
    done = store.ms.backfill(only(1, **plain), name="x", apply=True)
    assert (done.changed, done.records[0].moved_to) == (1, None)
    assert store.again().get(an_id(1)).record["tags"] == ["a"]


REFUSALS: list[tuple[dict[str, Any], str, str]] = [
    ({"id": an_id(9)}, "fixed-field", "id can never change"),
    ({"kind": Kind.OBSERVATION, "type": None}, "fixed-field", "kind can never change"),
    ({"created": DAY}, "fixed-field", "created can never change"),
    ({"state": State.RETIRED}, "needs-act", "sweep"),
    ({"superseded_by": (an_id(2),)}, "needs-act", "supersede"),
    ({"supersedes": (an_id(2),)}, "needs-act", "supersede"),
    ({"resolved_by": an_id(2)}, "needs-act", "question"),
    ({"anchors": (Anchor(file="a", sha="0" * 40),)}, "needs-act", "anchor"),
    ({"evidence": (Evidence(url="http://e"),)}, "needs-act", "verify"),
    ({"source_kind": SourceKind.OPERATOR}, "stronger-trust", "source_kind"),
    ({"source": "human:eve"}, "stronger-trust", "human:eve"),
    ({"verified_with": Witness.OPERATOR}, "stronger-trust", "verify"),
    ({"last_verified": DAY}, "stronger-trust", "verify"),
    ({"pinned": True}, "stronger-trust", "pin"),
    ({"source": "unknown"}, "bad-value", "names nobody"),
    ({"title": ""}, "missing-title", "no title"),
    ({"title": "Two\nlines"}, "not-faithful", "title"),
    ({"body": "half \ud800"}, "not-utf8", "Unicode"),
    ({"tags": ("x" * 65,)}, "bad-tag", "longer than"),
    ({"tags": "auth"}, "wrong-type", "tuple of texts"),
    ({"scope": 3}, "wrong-type", "scope"),
    ({"ext": {"n": 3}}, "wrong-type", "numbers are texts"),
    ({"type": "rumour"}, "bad-value", "rumour"),
    ({"check_by": "soon"}, "bad-time", "check_by"),
    ({"expires": DAY}, "misplaced-field", "expires"),
    ({"refines": (an_id(8),)}, "dangling-edge", an_id(8)),
    ({"refines": (an_id(2),), "conflicts_with": (an_id(2),)}, "contradictory-edges", an_id(2)),
    ({"extra": {"state": "retired"}}, "not-faithful", "state"),
]


@pytest.mark.parametrize(("changes", "code", "told"), REFUSALS, ids=lambda one: str(one)[:40])
def test_what_breaks_the_rules_or_needs_an_act_is_refused(
    store: TempStore, changes: dict[str, Any], code: str, told: str
) -> None:
    """With a code and a reason; the others are changed all the same."""
    before = (store.root / f"memory/facts/{an_id(1)}.md").read_bytes()

    def change(record: Record) -> Record:
        return replace(record, **changes) if record.id == an_id(1) else tagged(record)

    done = store.ms.backfill(change, name="x", apply=True)
    assert (done.refused, done.changed) == (1, 3)
    refused = next(one for one in done.records if one.outcome == "refused")
    assert (refused.id, refused.code) == (an_id(1), code)
    assert told in (refused.reason or "")
    assert {field.field for field in refused.fields} == changes.keys()
    assert (store.root / f"memory/facts/{an_id(1)}.md").read_bytes() == before
    assert store.again().doctor().healthy


def test_trust_may_be_taken_away(store: TempStore) -> None:
    """A weaker witness, an earlier check, no pin: none of it claims anything."""
    anchors = (Anchor(file="a.py", sha="0" * 40),)
    old = a_record(1, anchors=anchors, verified_with=Witness.ANCHOR, last_verified=DAY, pinned=True)
    store.put(old)
    weaker = {"verified_with": Witness.ASSERTION, "last_verified": None, "pinned": False}
    assert the_one(store, **weaker).outcome == "changed"


def test_an_operators_record_can_become_an_agents(store: TempStore) -> None:
    """That is weaker, and moves it out of the operator's folder."""
    change = only(5, source_kind=SourceKind.AGENT, source="ada", verified_with=Witness.ASSERTION)
    done = store.ms.backfill(change, name="x", include_operator=True, apply=True)
    assert done.records[0].moved_to == f"memory/facts/{an_id(5)}.md"
    assert store.again().doctor().healthy


def test_what_a_supersede_withdrew_cannot_come_back(store: TempStore) -> None:
    """A backfill is no way round the refusal of every other act."""
    store.ms.supersede(an_id(2), reason="they do not")
    back = store.ms.backfill(only(1, title="Otters swim"), name="x")
    assert (back.refused, back.records[0].code) == (1, "withdrawn")
    assert "they do not" in (back.records[0].reason or "")
    assert store.ms.backfill(only(1, title="Beavers swim too"), name="x").changed == 1


def test_scopes_are_held_to_the_settings(store: TempStore) -> None:
    """A scope the store does not know is refused, and so is taking away one it wants."""
    store.write(layout.CONFIG, "scopes:\n  api: [service/*]\nscopes_require: true\n")
    store.put(a_record(1, scope="api"))
    store.ms = store.again()
    assert the_one(store, scope="web").code == "unknown-scope"
    assert the_one(store, scope=None).code == "scope-required"
    assert the_one(store, scope="universal").outcome == "changed"


def test_a_record_of_another_layer_can_be_linked_to(store: TempStore, tmp_path: Path) -> None:
    """It is known, though its store is not changed; an id that no layer has is refused."""
    team = TempStore(tmp_path / "team")
    team.put(a_record(7, title="Teams share this"))
    declared = f"  - name: team\n    path: {team.root}\n    writable: false\n"
    store.write(layout.CONFIG, f"stores:\n  - name: project\n    path: .\n{declared}")
    store.ms = store.again()
    assert the_one(store, refines=(an_id(7),)).outcome == "changed"
    assert the_one(store, refines=(an_id(8),)).code == "dangling-edge"
    assert store.ms.backfill(tagged, name="x").seen == 5


def test_strict_is_all_or_nothing(store: TempStore) -> None:
    """One refusal, or one file that cannot be read, and nothing is written."""
    before = tree(store)
    wrong = only(1, title="")
    for apply in (True, False):
        with pytest.raises(Invalid, match="no title") as raised:
            store.ms.backfill(wrong, name="x", strict=True, apply=apply)
        assert [one.code for one in raised.value.findings] == ["missing-title"]
    assert tree(store) == before
    store.write("memory/facts/broken.md", "no record")
    with pytest.raises(Invalid, match=r"broken\.md"):
        store.ms.backfill(tagged, name="x", strict=True)


def test_what_cannot_be_read_is_told(store: TempStore) -> None:
    """Broken files, and links, which a store does not follow; the others are changed."""
    store.write("memory/facts/broken.md", "no record")
    store.write("memory/decisions/odd.md", b"\xff\xfe")
    os.symlink("broken.md", store.root / "memory/facts/link.md")
    done = store.ms.backfill(tagged, name="x", apply=True)
    assert (done.unreadable, done.changed) == (3, 4)
    assert {finding.path for finding in done.findings} == {
        "memory/facts/broken.md",
        "memory/decisions/odd.md",
        "memory/facts/link.md",
    }


def test_two_files_with_one_id_are_both_refused(store: TempStore) -> None:
    """Which of them is meant, nobody knows."""
    store.put(a_record(1, type=Type.DECISION))
    done = store.ms.backfill(only(1, tags=("x",)), name="x", apply=True)
    assert (done.changed, done.refused) == (0, 2)
    assert {one.code for one in done.records} == {"duplicate-id"}


def test_a_file_in_the_way_of_a_move_stays(store: TempStore) -> None:
    """The record is refused, and the file that nobody can read is not overwritten."""
    store.write(f"memory/decisions/{an_id(1)}.md", "somebody's notes")
    assert the_one(store, type=Type.DECISION).code == "in-the-way"


def test_changes_in_place_are_changes(store: TempStore) -> None:
    """A mapping that the function writes into is not the record's own."""
    store.put(a_record(1, ext={"team": {"lead": "ada"}}))

    def in_place(record: Record) -> Record:
        assert isinstance(record.ext, dict)
        record.ext["team"] = {**record.ext.get("team", {}), "room": "4"}
        return record

    done = store.ms.backfill(in_place, name="x", states=["active"], apply=True)
    assert done.changed == 2
    assert store.again().get(an_id(1)).record["ext"] == {"team": {"lead": "ada", "room": "4"}}

    def in_place_and_none(record: Record) -> None:
        in_place(record)

    assert store.ms.backfill(in_place_and_none, name="x").changed == 0


def test_a_long_value_is_shown_where_it_differs(store: TempStore) -> None:
    """In short, with what comes before and after the difference."""
    body = "word " * 100 + "old " + "tail " * 100
    store.put(a_record(1, body=body))
    (field,) = the_one(store, body=body.replace("old", "new")).fields
    assert field.before is not None
    assert field.after is not None
    assert " old tail" in field.before
    assert " new tail" in field.after
    assert len(field.after) < 90
    assert (field.after[0], field.after[-1]) == ("\N{HORIZONTAL ELLIPSIS}",) * 2
    (longer,) = the_one(store, body=f"{body.strip()} end").fields
    assert (longer.after or "").endswith("tail end")


def test_an_edit_in_the_meantime_is_a_conflict(store: TempStore) -> None:
    """Nothing is written, and no journal is left of what was not done."""
    other = HAND_WRITTEN.replace("RS256", "PS512").encode()

    def edits(record: Record) -> Record:
        store.write(f"memory/facts/{an_id(1)}.md", other)
        return tagged(record)

    with pytest.raises(Conflict):
        store.ms.backfill(edits, name="x", apply=True)
    after = tree(store)
    assert after[f"memory/facts/{an_id(1)}.md"] == other
    assert not any(b"new" in data for path, data in after.items() if path.endswith(".md"))
    assert store.ms.undo_list().count == 0


@needs_fork
def test_what_a_killed_writer_left_is_finished_first() -> None:
    """No record is seen twice, or in the middle of a move."""
    move = only(1, type=Type.DECISION)
    halfway = 0
    with quick_folder() as folder:
        fresh = maker(folder, [a_record(1), a_record(2)])

        def act(store: TempStore) -> None:
            run(store, lambda ms: ms.backfill(move, name="x", apply=True))

        before: tuple[Moment, ...] = ("before",)
        for point, left in crash_points(fresh, act, before, {"unlink"}):
            copies = list((left.root / "memory").rglob(f"{an_id(1)}.md"))
            halfway += len(copies) == 2
            done = left.again().backfill(tagged, name="y")
            assert (done.seen, done.refused) == (2, 0), point
    assert halfway


@pytest.mark.parametrize("name", ["", "a b", "../x", "a/b", "-x", "x" * 61, "ü"])
def test_a_name_is_part_of_a_file_name(store: TempStore, name: str) -> None:
    """Letters, digits, - and _; the error says so."""
    with pytest.raises(UsageError, match="cannot name"):
        store.ms.backfill(tagged, name=name)


def test_progress_is_told_of_each_pass(store: TempStore) -> None:
    """Reading, changing and writing each come to their end."""
    told: list[tuple[int, int]] = []
    store.ms.backfill(tagged, name="x", apply=True, progress=lambda *one: told.append(one))
    assert [one for one in told if one[0] == one[1]] == [(5, 5), (5, 5), (4, 4)]


def test_the_journal_is_never_committed(store: TempStore) -> None:
    """A store whose .gitignore lacks the line gets it before the journal is written."""
    store.write(layout.GITIGNORE, "")
    store.ms.backfill(tagged, name="x", apply=True)
    assert "local/" in (store.root / layout.GITIGNORE).read_text(encoding="utf-8").split()
