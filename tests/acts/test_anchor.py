"""Anchoring a record to code, when it is written and later."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from memspec_py.errors import Invalid, NotActive, NotAllowed, UsageError
from memspec_py.record.model import Anchor, Kind, SourceKind, State, Witness
from memspec_py.record.parse import parse_record
from memspec_py.testing import TempStore, a_record, an_id

if TYPE_CHECKING:
    from pathlib import Path

    from memspec_py.record.model import Record

CODE = "def login():\n    return 1\n\n\nTTL = 900\n"
ID = an_id(1)


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """A store with a bare claim beside one file of code."""
    made = TempStore(tmp_path)
    (made.project / "auth.py").write_text(CODE)
    made.put(a_record(1, check_by="2026-03-01T00:00:00.000Z"))
    return made


def record(store: TempStore, number: int = 1) -> Record:
    """The record as its file has it."""
    (path,) = store.root.rglob(f"{an_id(number)}.md")
    return parse_record(path.read_bytes(), store.again()._ws.settings.limits)  # noqa: SLF001


def test_every_grain_can_be_anchored(store: TempStore) -> None:
    """A file, a symbol, lines, and a literal; the anchor is the witness, the review date stays."""
    store.clock.advance(days=3)
    done = store.ms.anchor(
        ID, ["auth.py", "auth.py#login", "auth.py:1-2", "auth.py::TTL"], source="me"
    )
    shown = ("auth.py", "auth.py#login", "auth.py:1-2", "auth.py::TTL=900")
    assert (done.anchors, done.added, done.renewed, done.dropped) == (shown, shown, (), ())
    after = record(store)
    assert after.verified_with is Witness.ANCHOR
    assert after.last_verified == "2026-01-04T00:00:00.000Z"
    assert after.check_by == "2026-03-01T00:00:00.000Z"
    assert (after.anchors[1].symbol, after.anchors[2].lines) == ("login", "1-2")
    assert (after.anchors[3].name, after.anchors[3].value) == ("TTL", "900")
    assert "anchor_history" not in after.ext


def test_the_same_part_of_a_file_is_taken_again(store: TempStore) -> None:
    """It is never there twice, and what it was is kept."""
    store.ms.anchor(ID, ["auth.py", "auth.py::TTL=900"])
    old = record(store).anchors
    (store.project / "auth.py").write_text(CODE.replace("900", "600"))
    done = store.ms.anchor(ID, ["auth.py", "auth.py::TTL"], source="me")
    assert done.renewed == ("auth.py", "auth.py::TTL=600")
    assert (done.added, done.dropped) == ((), ())
    after = record(store)
    assert len(after.anchors) == 2
    history = after.ext["anchor_history"]
    assert isinstance(history, list)
    assert [isinstance(one, dict) and one["sha"] for one in history] == [one.sha for one in old]


def test_replace_drops_the_others(store: TempStore) -> None:
    """With what they were kept."""
    (store.project / "other.py").write_text("x = 1\n")
    store.ms.anchor(ID, ["auth.py", "other.py"])
    done = store.ms.anchor(ID, ["auth.py#login"], replace=True)
    assert (done.anchors, done.dropped) == (("auth.py#login",), ("auth.py", "other.py"))
    history = record(store).ext["anchor_history"]
    assert isinstance(history, list)
    assert len(history) == 2


def test_another_anchor_that_does_not_hold_keeps_the_witness_as_it_was(store: TempStore) -> None:
    """Adding a good anchor does not make a claim look verified whose code has changed."""
    store.ms.anchor(ID, ["auth.py"])
    (store.project / "auth.py").write_text("changed = 1\n")
    (store.project / "other.py").write_text("x = 1\n")
    store.clock.advance(days=3)
    done = store.ms.anchor(ID, ["other.py"])
    assert done.last_verified == "2026-01-01T00:00:00.000Z"
    assert any("auth.py drifted" in note for note in done.notes)
    assert store.ms.get(ID).drifted


def test_what_resolves_nowhere_is_told_and_strict_refuses(store: TempStore) -> None:
    """The rest is anchored; with `strict`, or when nothing is left, nothing is."""
    done = store.ms.anchor(ID, ["auth.py", "nowhere.py", "auth.py#nothing"])
    assert done.anchors == ("auth.py",)
    assert [one.path for one in done.unresolved] == ["nowhere.py", "auth.py#nothing"]
    before = record(store)
    with pytest.raises(Invalid, match=r"nowhere\.py"):
        store.ms.anchor(ID, ["auth.py#login", "nowhere.py"], strict=True)
    with pytest.raises(Invalid, match=r"nowhere\.py"):
        store.ms.anchor(ID, ["nowhere.py"])
    assert record(store) == before


def test_the_anchor_root_comes_first(store: TempStore, tmp_path: Path) -> None:
    """A relative path is looked up there before the working directory; a bad repository is told."""
    other = tmp_path / "elsewhere" / "lib"
    (other / ".git").mkdir(parents=True)
    (other / "auth.py").write_text("theirs = 1\n")
    done = store.ms.anchor(ID, ["auth.py"], anchor_root=str(other))
    assert done.anchors == ("lib/auth.py",)
    assert any("repo_search_paths" in note for note in done.notes)


def test_unknown_keys_of_an_anchor_survive(store: TempStore) -> None:
    """Whoever put them there."""
    store.ms.anchor(ID, ["auth.py"])
    one = record(store)
    marked = Anchor(file="auth.py", sha=one.anchors[0].sha, extra={"note": "mine"})
    store.put(a_record(1, anchors=(marked,), verified_with=Witness.ANCHOR))
    (store.project / "auth.py").write_text("changed = 1\n")
    store.ms.verify(ID, reanchor=True)
    assert record(store).anchors[0].extra == {"note": "mine"}
    assert record(store).anchors[0].sha != marked.sha


def test_who_may_anchor_what(store: TempStore) -> None:
    """As for every change: the operator's needs the override, and only what is in use."""
    store.put(a_record(2, source="human:ann", source_kind=SourceKind.OPERATOR))
    store.put(a_record(3, state=State.RETIRED))
    store.put(a_record(4, kind=Kind.QUESTION))
    with pytest.raises(NotAllowed):
        store.ms.anchor(an_id(2), ["auth.py"])
    assert store.ms.anchor(an_id(2), ["auth.py"], override_operator=True).anchors == ("auth.py",)
    with pytest.raises(NotActive):
        store.ms.anchor(an_id(3), ["auth.py"])
    with pytest.raises(UsageError, match="question"):
        store.ms.anchor(an_id(4), ["auth.py"])
    with pytest.raises(UsageError, match="no path"):
        store.ms.anchor(ID, [])


def test_remember_takes_every_grain(store: TempStore) -> None:
    """Each part of a file once; what is missing is told, or refused when strict."""
    done = store.ms.remember(
        "fact",
        "Logins return one",
        source="me",
        anchors=["auth.py#login", "auth.py#login", "auth.py", "nowhere.py"],
    )
    assert done.anchors == ("auth.py#login", "auth.py")
    assert done.verified_with == "anchor"
    assert [one.path for one in done.unresolved] == ["nowhere.py"]
    with pytest.raises(Invalid, match=r"nowhere\.py"):
        store.ms.remember(
            "fact", "Otters swim", source="me", anchors=["auth.py", "nowhere.py"], strict=True
        )
    assert store.ms.search("otters").count == 0


def test_remember_looks_in_the_anchor_root(store: TempStore, tmp_path: Path) -> None:
    """And its notes are in the reply."""
    other = tmp_path / "elsewhere" / "lib"
    other.mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet"], cwd=other, check=True)
    (other / "tide.py").write_text("x = 1\n")
    done = store.ms.remember(
        "fact", "Tides turn", source="me", anchors=["tide.py"], anchor_root=str(other)
    )
    assert done.anchors == ("lib/tide.py",)
    assert len(done.notes) == 1
