"""Every read says whether the code that a record depends on is as it was."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from memspec_py.anchors.blob import blob_id
from memspec_py.anchors.resolve import Resolved, resolve_anchor
from memspec_py.record.model import Anchor, Kind, State, Type, Witness
from memspec_py.render.hits import hit_lines
from memspec_py.report import as_json
from memspec_py.store.resolve import Surroundings
from memspec_py.testing import TempStore, a_record, an_id

if TYPE_CHECKING:
    from pathlib import Path

    from memspec_py.record.model import Record
    from memspec_py.views.search import SearchReply

CODE = "def login():\n    return 1\n\n\ndef logout():\n    return 2\n"


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """A store in a git repository with one committed file of code."""
    made = TempStore(tmp_path)
    (made.project / "auth.py").write_text(CODE)
    git(made, "init", "--quiet")
    git(made, "add", "auth.py")
    git(made, "commit", "--quiet", "-m", "one")
    return made


def git(store: TempStore, *arguments: str) -> str:
    """What git prints in the project."""
    done = subprocess.run(
        ["git", *arguments], cwd=store.project, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def anchored(store: TempStore, number: int, *typed: str, **changes: object) -> Record:
    """A record of this number that is anchored to the code as it is now."""
    anchors = []
    for one in typed:
        found = resolve_anchor(one, cwd=store.project, project=store.project, env={})
        assert isinstance(found, Resolved)
        anchors.append(found.anchor)
    record = a_record(
        number,
        title=f"Harbour {number}",
        **{"anchors": tuple(anchors), "verified_with": Witness.ANCHOR, **changes},
    )
    store.put(record)
    return record


def shown(reply: SearchReply) -> str:
    """A page as the command line prints its hits."""
    return "\n".join(line for hit in reply.results for line in hit_lines(hit))


def test_an_edit_of_the_file_shows_on_every_read(store: TempStore) -> None:
    """Search, get, list and status say so without any act, and say what was compared."""
    anchored(store, 1, "auth.py")
    assert store.ms.search("harbour").results[0].drifted is False
    (store.project / "auth.py").write_text(CODE + "x = 1\n")
    hit = store.ms.search("harbour").results[0]
    listed = store.ms.list().results[0]
    got = store.ms.get(an_id(1))
    for one in (hit, listed, got):
        assert (one.drifted, one.anchor_unchecked) == (True, False)
        assert one.drift is not None
        assert [(each.anchor, each.verdict, each.compared_to) for each in one.drift] == [
            ("auth.py", "drifted", "worktree")
        ]
    status = store.ms.status()
    assert (status.anchored, status.drifted_count) == (1, 1)
    assert [one.id for one in status.drifted] == [an_id(1)]
    assert "[DRIFTED]" in shown(store.ms.search("harbour"))


def test_json_has_the_verdict_on_each_anchor_and_nothing_for_none(store: TempStore) -> None:
    """`drift` names anchor, verdict and what was compared; a record without anchors has no list."""
    anchored(store, 1, "auth.py#login", "auth.py")
    store.put(a_record(2, title="Harbour bare"))
    reply = as_json(store.ms.search("harbour"))
    assert isinstance(reply, dict)
    first, second = sorted(reply["results"], key=lambda hit: hit["id"])
    assert [(one["anchor"], one["grain"], one["verdict"]) for one in first["drift"]] == [
        ("auth.py#login", "symbol", "unchanged"),
        ("auth.py", "file", "unchanged"),
    ]
    assert {one["compared_to"] for one in first["drift"]} == {"worktree"}
    assert (second["drifted"], second["anchor_unchecked"]) == (False, False)
    assert "drift" not in second


def test_a_symbol_drifts_only_with_its_own_code(store: TempStore) -> None:
    """An edit elsewhere in the file is no alarm at symbol grain."""
    anchored(store, 1, "auth.py#login")
    anchored(store, 2, "auth.py#logout")
    (store.project / "auth.py").write_text(CODE.replace("return 2", "return 3"))
    hits = {hit.id: hit.drifted for hit in store.ms.search("harbour").results}
    assert hits == {an_id(1): False, an_id(2): True}


def test_the_default_branch_counts_on_reads(store: TempStore) -> None:
    """A feature branch does not drift what holds on the remote's main; the reply says where."""
    anchored(store, 1, "auth.py")
    git(store, "update-ref", "refs/remotes/origin/main", "HEAD")
    (store.project / "auth.py").write_text("other = 1\n")
    reply = store.ms.search("harbour")
    (one,) = reply.results[0].drift or ()
    assert (one.verdict, one.compared_to) == ("unchanged", "worktree+origin/main")
    assert "auth.py holds on origin/main only" in shown(reply)


def test_code_that_moved_is_told_and_is_no_alarm(store: TempStore) -> None:
    """A renamed file is followed, and the place is in the reply."""
    anchored(store, 1, "auth.py")
    git(store, "mv", "auth.py", "session.py")
    reply = store.ms.search("harbour")
    (one,) = reply.results[0].drift or ()
    assert (one.verdict, one.place) == ("moved", "session.py")
    assert reply.results[0].drifted is False
    assert "[MOVED]" in shown(reply)
    assert store.ms.status().moved_count == 1


def test_what_cannot_be_checked_is_never_fine(store: TempStore) -> None:
    """A repository that is not here is `anchor_unchecked`, with the reason."""
    elsewhere = Anchor(repo="elsewhere", file="a.py", sha="0" * 40)
    store.put(a_record(1, title="Harbour", anchors=(elsewhere,), verified_with=Witness.ANCHOR))
    reply = store.ms.search("harbour")
    hit = reply.results[0]
    assert (hit.drifted, hit.anchor_unchecked) == (False, True)
    assert "no checkout of elsewhere" in ((hit.drift or ())[0].reason or "")
    assert "[ANCHOR UNCHECKED]" in shown(reply)
    assert store.ms.status().unchecked_count == 1


def test_search_paths_default_to_git_in_the_home(store: TempStore) -> None:
    """The home is that of the caller; config.yaml can name other folders instead."""
    code = b"a = 1\n"
    there = store.home / "git" / "elsewhere"
    (there / ".git").mkdir(parents=True)
    (there / "a.py").write_bytes(code)
    anchor = Anchor(repo="elsewhere", file="a.py", sha=blob_id(code))
    store.put(a_record(1, title="Harbour", anchors=(anchor,), verified_with=Witness.ANCHOR))
    assert store.ms.search("harbour").results[0].anchor_unchecked is False
    there.parent.rename(store.home / "code")
    assert store.ms.search("harbour").results[0].anchor_unchecked is True
    store.write("config.yaml", 'anchors:\n  repo_search_paths: ["~/code"]\n')
    assert store.again().search("harbour").results[0].anchor_unchecked is False
    homeless = Surroundings(cwd=store.project, home=None, env={})
    store.where = homeless
    assert store.again().search("harbour").results[0].anchor_unchecked is True


@pytest.mark.parametrize(
    ("changes", "breaks", "witness", "note"),
    [
        ({}, "nothing", "anchor", None),
        ({}, "code", "evidence", "drifted"),
        ({}, "repository", "evidence", "unchecked"),
        ({"derived_from": (an_id(9),)}, "nothing", "operator", None),
        ({"derived_from": (an_id(9),)}, "code", "assertion", "drifted"),
        ({"verified_with": Witness.ASSERTION}, "code", "assertion", None),
        ({"verified_with": Witness.OPERATOR}, "code", "operator", None),
    ],
)
def test_the_best_witness_weakens_with_its_anchor(
    store: TempStore, changes: dict[str, object], breaks: str, witness: str, note: str | None
) -> None:
    """A drifted or unchecked anchor is evidence, and a derived record counts a step less."""
    record = anchored(store, 1, "auth.py", **changes)
    if breaks == "code":
        (store.project / "auth.py").write_text("other = 1\n")
    elif breaks == "repository":
        away = Anchor(repo="away", file="a.py", sha=record.anchors[0].sha)
        anchored(store, 1, **{**changes, "anchors": (away,)})
    reply = store.ms.search("harbour")
    assert (reply.coverage_witness, reply.coverage_witness_note) == (witness, note)


def test_a_sound_hit_of_the_same_strength_needs_no_note(store: TempStore) -> None:
    """The note is there only when nothing sound is as strong."""
    anchored(store, 1, "auth.py")
    (store.project / "auth.py").write_text("other = 1\n")
    store.put(a_record(2, title="Harbour two", verified_with=Witness.EVIDENCE))
    reply = store.ms.search("harbour")
    assert (reply.coverage_witness, reply.coverage_witness_note) == ("evidence", None)


def test_only_the_hits_of_the_page_are_looked_at(
    store: TempStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page of one hit checks the anchors of one record, and one without anchors checks none."""
    from memspec_py.anchors import drift

    asked: list[str] = []
    real = drift.check

    def check(anchors: object, **how: object) -> object:
        every = list(anchors)  # type: ignore[call-overload]
        asked.extend(id_ for id_, _ in every)
        return real(every, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(drift, "check", check)
    for number in range(1, 6):
        anchored(store, number, "auth.py")
    store.put(a_record(9, title="Pier"))
    assert len(store.ms.search("harbour", limit=1).results) == 1
    assert asked == [an_id(1)]
    store.ms.search("pier")
    assert asked == [an_id(1)]
    store.ms.status()
    assert sorted(asked[1:]) == [an_id(number) for number in range(1, 6)]


def test_status_lists_ten_and_counts_all(store: TempStore) -> None:
    """Drift is counted over active records of every age, stale ones too; others have no say."""
    for number in range(1, 13):
        anchored(store, number, "auth.py", check_by="2020-01-01T00:00:00.000Z")
    anchored(store, 20, "auth.py", state=State.RETIRED)
    gone = "2020-01-01T00:00:00.000Z"
    anchored(store, 21, "auth.py", kind=Kind.OBSERVATION, type=None, expires=gone)
    (store.project / "auth.py").write_text("other = 1\n")
    status = store.ms.status()
    assert (status.anchored, status.drifted_count, len(status.drifted)) == (12, 12, 10)
    assert all(len(one.drift) == 1 for one in status.drifted)


def test_status_tells_its_progress(store: TempStore) -> None:
    """Once for each anchored file."""
    told: list[tuple[int, int]] = []
    anchored(store, 1, "auth.py")
    anchored(store, 2, "auth.py#login")
    store.ms.status(progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 1)]


def test_conflicts_are_pairs_of_active_records(store: TempStore) -> None:
    """Each pair once, whoever carries the edge; a superseded record is in conflict with nobody."""
    store.put(a_record(1, conflicts_with=(an_id(2),)))
    store.put(a_record(2, conflicts_with=(an_id(1), an_id(3), an_id(99))))
    store.put(a_record(3, state=State.SUPERSEDED, supersede_reason="x"))
    status = store.ms.status()
    assert [(one.id, one.other_id) for one in status.conflicts] == [(an_id(1), an_id(2))]
    assert status.conflicts_count == 1


def test_cold_is_old_and_not_shown_of_late(store: TempStore) -> None:
    """Older than 30 days, and never shown or not for 60; what was never shown comes first."""
    for number in (1, 2, 3):
        store.put(a_record(number, title=f"Harbour{number}"))
    store.ms.note_use(store.ms.search("harbour2"), surface="cli")
    store.clock.advance(days=30)
    assert store.ms.status().cold == ()
    store.clock.advance(days=25)
    store.ms.note_use(store.ms.search("harbour3"), surface="cli")
    store.clock.advance(days=6)
    store.put(a_record(4, title="New", created="2026-03-01T00:00:00.000Z"))
    status = store.ms.status()
    assert [one.id for one in status.cold] == [an_id(1), an_id(2)]
    assert [one.last_referenced for one in status.cold] == [None, "2026-01-01T00:00:00.000Z"]
    assert status.receipts_since == "2026-01-01T00:00:00.000Z"


def test_promotion_candidates_were_shown_in_two_sessions(store: TempStore) -> None:
    """Notes, and young facts on somebody's word; a dead end or a single session rules them out."""
    young = "2026-01-01T00:00:00.000Z"
    variants: tuple[dict[str, object], ...] = (
        {"kind": Kind.OBSERVATION, "type": None, "created": "2025-01-01T00:00:00.000Z"},
        {"created": young},
        {"created": young, "verified_with": Witness.EVIDENCE},
        {"created": young, "type": Type.DECISION},
        {"created": "2025-12-01T00:00:00.000Z"},
        {"created": young},
    )
    for number, changes in enumerate(variants, 1):
        store.put(a_record(number, title="Harbour", **changes))
    assert store.ms.status().promotion_candidates == ()
    for session in ("a", "a", None):
        store.ms.note_use(store.ms.search("harbour"), surface="cli", session=session)
    assert store.ms.status().promotion_candidates == ()
    store.ms.note_use(store.ms.search("harbour"), surface="cli", session="b")
    store.ms.outcome(an_id(6), "dead_end")
    status = store.ms.status()
    assert [one.id for one in status.promotion_candidates] == [an_id(1), an_id(2)]
    assert [one.sessions for one in status.promotion_candidates] == [2, 2]
    assert status.promotion_count == 2
