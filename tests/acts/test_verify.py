"""A record is verified by its code, or by what somebody looked at, and by nothing else."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from memspec_py.acts import changing
from memspec_py.acts.anchoring import MOST_HISTORY
from memspec_py.errors import Conflict, Invalid, NotActive, NotAllowed, UsageError
from memspec_py.record.model import Anchor, Kind, SourceKind, State, Witness
from memspec_py.record.parse import parse_record
from memspec_py.testing import TempStore, a_record, an_id
from tests.acts.crashes import killed_everywhere
from tests.faults import needs_fork

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memspec_py.api import Memspec
    from memspec_py.record.model import Record
    from memspec_py.workspace import Workspace

CODE = "def login():\n    return 1\n\n\nTTL = 900\n"
ID = an_id(1)


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """A store in a git repository, with a bare claim and one committed file of code."""
    made = TempStore(tmp_path)
    (made.project / "auth.py").write_text(CODE)
    git(made, "init", "--quiet")
    git(made, "add", "auth.py")
    git(made, "commit", "--quiet", "-m", "one")
    made.put(a_record(1, check_by="2026-01-02T00:00:00.000Z"))
    return made


def git(store: TempStore, *arguments: str) -> None:
    """Run git in the project."""
    subprocess.run(["git", *arguments], cwd=store.project, check=True, capture_output=True)


def record(store: TempStore, number: int = 1) -> Record:
    """The record as its file has it."""
    (path,) = store.root.rglob(f"{an_id(number)}.md")
    return parse_record(path.read_bytes(), store.again()._ws.settings.limits)  # noqa: SLF001


def anchored(store: TempStore, *paths: str) -> None:
    """Anchor the claim, and let a month go by."""
    store.ms.anchor(ID, paths)
    store.clock.advance(days=30)


def test_unchanged_code_witnesses_the_claim(store: TempStore) -> None:
    """The witness is the anchor, as of now, and the review date is that of its type from now."""
    anchored(store, "auth.py", "auth.py#login")
    done = store.ms.verify(ID, source="me")
    assert (done.status, done.verified_with) == ("verified", "anchor")
    after = record(store)
    assert after.last_verified == "2026-01-31T00:00:00.000Z"
    assert after.check_by == "2026-05-01T00:00:00.000Z"
    assert after.ext["last_verification"] == {"at": after.last_verified, "source": "me"}


@pytest.mark.parametrize("how", ["edit", "delete"])
def test_drift_needs_review_and_changes_nothing(store: TempStore, how: str) -> None:
    """Not a byte of the store, evidence or not, and the verdicts are in the reply."""
    anchored(store, "auth.py")
    if how == "edit":
        (store.project / "auth.py").write_text(CODE + "x = 1\n")
    else:
        (store.project / "auth.py").unlink()
    proof = store.project / "proof.txt"
    proof.write_text("seen")
    before = files(store)
    done = store.ms.verify(ID, evidence="looks fine", evidence_files=[str(proof)])
    assert done.status == "needs_review"
    assert [one.verdict for one in done.drift] == ["drifted" if how == "edit" else "missing"]
    assert done.reason
    assert files(store) == before


def files(store: TempStore) -> dict[str, bytes]:
    """Everything in the store but what is local to the machine."""
    return {
        str(path.relative_to(store.root)): path.read_bytes()
        for path in store.root.rglob("*")
        if path.is_file() and "local" not in path.parts
    }


def test_reading_never_makes_a_record_look_fresher(store: TempStore) -> None:
    """No view writes a byte of a record."""
    anchored(store, "auth.py")
    before = files(store)
    store.ms.search("record")
    store.ms.get(ID)
    store.ms.list()
    store.ms.status()
    store.ms.reconcile()
    assert files(store) == before


def test_without_anchors_somebody_must_say_what_they_saw(store: TempStore) -> None:
    """A text is kept with the time and the name; without one the call is refused."""
    with pytest.raises(UsageError, match="no anchors"):
        store.ms.verify(ID)
    done = store.ms.verify(ID, evidence=" read the\ndeployed config ", source="me")
    assert (done.status, done.verified_with) == ("verified", "evidence")
    assert record(store).ext["last_verification"] == {
        "at": "2026-01-01T00:00:00.000Z",
        "source": "me",
        "evidence": "read the deployed config",
    }


def test_a_file_is_evidence_and_a_pointer_is_none(store: TempStore) -> None:
    """A file is kept in the store; a URL that nobody fetched attests nothing by itself."""
    with pytest.raises(UsageError):
        store.ms.verify(ID, evidence_files=["https://example.invalid/x"])
    proof = store.project / "proof.txt"
    proof.write_text("seen")
    done = store.ms.verify(ID, evidence_files=[str(proof), "https://example.invalid/x"])
    assert done.verified_with == "evidence"
    first, second = record(store).evidence
    assert (store.root / (first.path or "")).read_text() == "seen"
    assert second.url == "https://example.invalid/x"
    store.ms.verify(ID, evidence_files=[str(proof)])
    assert len(record(store).evidence) == 2


def test_the_operators_word_stays_the_operators(store: TempStore) -> None:
    """What a person verifies is witnessed by that person."""
    assert store.ms.verify(ID, evidence="seen", source="human:ann").verified_with == "operator"


@pytest.mark.parametrize("text", ["", "  \n", "x" * 2_001])
def test_evidence_says_something(store: TempStore, text: str) -> None:
    """A blank text is no evidence, and a book is none either."""
    with pytest.raises(Invalid, match="evidence"):
        store.ms.verify(ID, evidence=text)


def test_an_unchecked_anchor_never_witnesses(store: TempStore) -> None:
    """Without evidence nothing is verified; with it the witness is the evidence."""
    away = Anchor(repo="away", file="a.py", sha="0" * 40)
    store.put(a_record(1, anchors=(away,), verified_with=Witness.ANCHOR))
    before = files(store)
    done = store.ms.verify(ID)
    assert done.status == "needs_review"
    assert "no checkout of away" in (done.reason or "")
    assert files(store) == before
    done = store.ms.verify(ID, evidence="asked the team")
    assert (done.status, done.verified_with) == ("verified", "evidence")
    assert any("away/a.py unchecked" in note for note in done.notes)


def test_one_unchecked_anchor_among_sound_ones_is_enough(store: TempStore) -> None:
    """The anchor witness is for all anchors or for none."""
    anchored(store, "auth.py")
    away = Anchor(repo="away", file="a.py", sha="0" * 40)
    one = record(store)
    store.put(a_record(1, anchors=(*one.anchors, away), verified_with=Witness.ANCHOR))
    assert store.ms.verify(ID).status == "needs_review"
    assert store.ms.verify(ID, evidence="asked").verified_with == "evidence"


def test_a_moved_anchor_holds_and_is_not_recorded_by_itself(store: TempStore) -> None:
    """The code is as it was; where it is now is told, and recorded only with `--reanchor`."""
    anchored(store, "auth.py#login")
    git(store, "mv", "auth.py", "session.py")
    done = store.ms.verify(ID)
    assert (done.status, done.verified_with) == ("verified", "anchor")
    assert any("session.py" in note for note in done.notes)
    assert record(store).anchors[0].file == "auth.py"
    done = store.ms.verify(ID, reanchor=True)
    assert done.reanchored == ("auth.py#login",)
    assert [(one.file, one.symbol) for one in record(store).anchors] == [("session.py", "login")]


def test_reanchor_takes_the_code_as_it_is_and_keeps_what_it_was(store: TempStore) -> None:
    """The old ids stand in the record with the time and the name."""
    anchored(store, "auth.py", "auth.py#login")
    (old, symbol) = record(store).anchors
    (store.project / "auth.py").write_text(CODE + "x = 1\n")
    done = store.ms.verify(ID, source="me", reanchor=True)
    assert (done.status, done.verified_with) == ("verified", "anchor")
    assert done.reanchored == ("auth.py",)
    after = record(store)
    assert after.anchors[0].sha != old.sha
    assert after.anchors[1] == symbol
    assert after.ext["anchor_history"] == [
        {"file": "auth.py", "sha": old.sha, "until": after.last_verified, "by": "me"}
    ]
    assert store.ms.get(ID).drifted is False


def test_the_history_of_anchors_is_bounded(store: TempStore) -> None:
    """The newest stay."""
    anchored(store, "auth.py")
    for number in range(MOST_HISTORY + 5):
        (store.project / "auth.py").write_text(f"x = {number}\n")
        store.ms.verify(ID, source=f"me{number}", reanchor=True)
    history = record(store).ext["anchor_history"]
    assert isinstance(history, list)
    assert len(history) == MOST_HISTORY
    assert isinstance(history[-1], dict)
    assert history[-1]["by"] == f"me{MOST_HISTORY + 4}"


def test_what_is_gone_cannot_be_anchored_again(store: TempStore) -> None:
    """The answer names it, and the other anchors stay as they were, too."""
    (store.project / "other.py").write_text("y = 1\n")
    anchored(store, "auth.py", "other.py")
    (store.project / "auth.py").write_text("changed = 1\n")
    (store.project / "other.py").unlink()
    before = files(store)
    done = store.ms.verify(ID, reanchor=True)
    assert done.status == "needs_review"
    assert "other.py" in (done.reason or "")
    assert done.reanchored == ()
    assert files(store) == before


def test_a_new_value_is_told(store: TempStore) -> None:
    """Taking a literal again changes what the record watches for, so the reply says so."""
    anchored(store, "auth.py::TTL=900")
    (store.project / "auth.py").write_text(CODE.replace("900", "600"))
    done = store.ms.verify(ID, reanchor=True)
    assert "auth.py::TTL=900 is recorded as auth.py::TTL=600 now" in done.notes


def test_what_holds_only_on_the_default_branch_is_told(store: TempStore) -> None:
    """It is verified, as every read would say, and the note names the branch."""
    anchored(store, "auth.py")
    git(store, "update-ref", "refs/remotes/origin/main", "HEAD")
    (store.project / "auth.py").write_text("feature = 1\n")
    done = store.ms.verify(ID)
    assert done.status == "verified"
    assert any("holds on origin/main" in note for note in done.notes)


@pytest.mark.parametrize(
    ("check_by", "given", "expected"),
    [
        ("never", None, "never"),
        ("never", "2027-01-01", "2027-01-01T00:00:00.000Z"),
        ("2026-01-02T00:00:00.000Z", "never", "never"),
        ("2026-01-02T00:00:00.000Z", None, "2026-04-01T00:00:00.000Z"),
    ],
)
def test_the_review_date(store: TempStore, check_by: str, given: str | None, expected: str) -> None:
    """As given; else `never` stays, and any other starts anew."""
    store.put(a_record(1, check_by=check_by))
    done = store.ms.verify(ID, evidence="seen", check_by=given)
    assert done.check_by == expected


def test_an_operators_record_needs_the_override(store: TempStore) -> None:
    """And the override leaves a trace."""
    theirs = a_record(2, source="human:ann", source_kind=SourceKind.OPERATOR)
    store.put(theirs)
    with pytest.raises(NotAllowed):
        store.ms.verify(an_id(2), evidence="seen")
    store.ms.verify(an_id(2), evidence="seen", override_operator=True)
    trace = record(store, 2).ext["last_verification"]
    assert isinstance(trace, dict)
    assert trace["override_operator"] == "true"


@pytest.mark.parametrize("state", [State.SUPERSEDED, State.RETIRED])
def test_what_is_not_in_use_is_not_verified(store: TempStore, state: State) -> None:
    """The answer is no."""
    store.put(a_record(2, state=state, supersede_reason="x"))
    with pytest.raises(NotActive):
        store.ms.verify(an_id(2), evidence="seen")


def test_questions_are_not_verified_and_observations_have_no_review_date(store: TempStore) -> None:
    """An observation keeps its expiry."""
    store.put(a_record(2, kind=Kind.QUESTION))
    with pytest.raises(UsageError, match="question"):
        store.ms.verify(an_id(2), evidence="seen")
    far = "2027-01-01T00:00:00.000Z"
    store.put(a_record(3, kind=Kind.OBSERVATION, expires=far))
    with pytest.raises(UsageError, match="expires"):
        store.ms.verify(an_id(3), evidence="seen", check_by="never")
    store.ms.verify(an_id(3), evidence="seen")
    assert (record(store, 3).expires, record(store, 3).check_by) == (far, None)


def test_a_record_changed_meanwhile_is_left_alone(
    store: TempStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code is looked at without the lock, so what was read must still be there."""
    from memspec_py.acts import verify

    real = changing.change_to

    def change_to(ws: Workspace, *rest: object) -> object:
        planned = real(ws, *rest)  # type: ignore[arg-type]
        path = store.root / f"memory/facts/{ID}.md"
        path.write_text(path.read_text() + "\nSomebody adds a line.\n")
        return planned

    monkeypatch.setattr(verify, "change_to", change_to)
    with pytest.raises(Conflict):
        store.ms.verify(ID, evidence="seen")
    assert record(store).last_verified is None


@needs_fork
@pytest.mark.parametrize("act", ["evidence", "anchor"])
def test_a_kill_leaves_old_or_new(act: str) -> None:
    """Wherever the process is killed."""

    def evidence(ms: Memspec) -> object:
        return ms.verify(ID, evidence="seen")

    def code(ms: Memspec) -> object:
        (ms.root.parent / "auth.py").write_text(CODE)
        return ms.anchor(ID, ["auth.py#login"])

    acts: dict[str, Callable[[Memspec], object]] = {"evidence": evidence, "anchor": code}
    assert killed_everywhere([a_record(1)], acts[act]) == {"before", "after"}


def test_a_file_that_was_renamed_and_edited_is_taken_at_its_new_place(store: TempStore) -> None:
    """Plainly it needs review; once somebody says that it holds, it is recorded where it is."""
    anchored(store, "auth.py", "auth.py#login")
    git(store, "mv", "auth.py", "session.py")
    (store.project / "session.py").write_text(CODE + "x = 1\n")
    assert store.ms.verify(ID).status == "needs_review"
    done = store.ms.verify(ID, reanchor=True)
    assert done.status == "verified"
    assert {one.file for one in record(store).anchors} == {"session.py"}
    assert store.ms.get(ID).drifted is False
