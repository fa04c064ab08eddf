"""Reconciling: what this checkout changed of the code that records depend on."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from memspec_py.errors import UsageError
from memspec_py.record.model import Anchor, State
from memspec_py.testing import TempStore, a_record, an_id

if TYPE_CHECKING:
    from pathlib import Path

    from memspec_py.views.reconcile import Reconciled

CODE = "def login():\n    return 1\n\n\ndef logout():\n    return 2\n"


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """Three records on three files, committed; the project is below the top of the repository."""
    made = TempStore(tmp_path)
    for name in ("auth.py", "pier.py", "quay.py"):
        (made.project / name).write_text(f"# {name}\n{CODE}")
    git(made, "init", "--quiet", "..")
    commit(made)
    for number, name in enumerate(("auth.py", "pier.py", "quay.py"), 1):
        made.put(a_record(number, title=f"Harbour {number}"))
        made.ms.anchor(an_id(number), [name])
    return made


def git(store: TempStore, *arguments: str) -> None:
    """Run git in the project."""
    subprocess.run(["git", *arguments], cwd=store.project, check=True, capture_output=True)


def commit(store: TempStore) -> None:
    """Commit the code."""
    git(store, "add", "-A", "*.py")
    git(store, "commit", "--quiet", "-m", "more")


def edit(store: TempStore, name: str) -> None:
    """Change a file."""
    path = store.project / name
    path.write_text(path.read_text() + "x = 1\n")


def candidates(found: Reconciled) -> list[str]:
    """The records that want a look."""
    return [one.id for one in found.candidates]


def test_nothing_changed(store: TempStore) -> None:
    """An empty answer, of so many records."""
    found = store.ms.reconcile()
    assert (found.anchored, found.count, found.earlier) == (3, 0, 0)
    assert (found.candidates, found.moved, found.unchecked) == ((), (), ())


def test_edits_count_committed_or_not(store: TempStore) -> None:
    """Each candidate has its anchors that changed, and what was compared."""
    edit(store, "auth.py")
    edit(store, "pier.py")
    git(store, "commit", "--quiet", "-m", "pier", "pier.py")
    (store.project / "quay.py").unlink()
    found = store.ms.reconcile()
    assert candidates(found) == [an_id(1), an_id(2), an_id(3)]
    assert [one.drift[0].verdict for one in found.candidates] == ["drifted", "drifted", "missing"]
    assert {one.drift[0].compared_to for one in found.candidates} == {"worktree"}


def test_the_default_branch_does_not_count(store: TempStore) -> None:
    """What reads take as unchanged because main has it is a change of this checkout."""
    git(store, "update-ref", "refs/remotes/origin/main", "HEAD")
    edit(store, "auth.py")
    assert store.ms.get(an_id(1)).drifted is False
    assert candidates(store.ms.reconcile()) == [an_id(1)]


def test_a_rename_is_followed_however_often_one_asks(store: TempStore) -> None:
    """It is told with its place and is no candidate; renamed and edited it is one."""
    git(store, "mv", "auth.py", "session.py")
    git(store, "mv", "pier.py", "mole.py")
    commit(store)
    edit(store, "mole.py")
    commit(store)
    for _ in range(3):
        found = store.ms.reconcile()
        assert [(one.id, one.drift[0].place) for one in found.moved] == [(an_id(1), "session.py")]
        assert candidates(found) == [an_id(2)]
        edit(store, "quay.py")
        commit(store)
        git(store, "revert", "--no-edit", "HEAD")


def test_what_could_not_be_looked_at_is_listed(store: TempStore) -> None:
    """Neither a candidate nor fine."""
    store.put(a_record(9, anchors=(Anchor(repo="away", file="a.py", sha="0" * 40),)))
    found = store.ms.reconcile()
    assert [one.id for one in found.unchecked] == [an_id(9)]
    assert found.count == 0


def test_records_that_are_not_in_use_have_no_say(store: TempStore) -> None:
    """Superseded and retired ones are left out."""
    gone = (Anchor(file="gone.py", sha="0" * 40),)
    store.put(a_record(9, state=State.RETIRED, anchors=gone))
    store.put(a_record(8, state=State.SUPERSEDED, supersede_reason="x", anchors=gone))
    assert store.ms.reconcile().anchored == 3


def test_since_leaves_out_what_was_so_before(store: TempStore) -> None:
    """And says how many that are."""
    edit(store, "auth.py")
    commit(store)
    edit(store, "pier.py")
    commit(store)
    edit(store, "quay.py")
    found = store.ms.reconcile(since="HEAD")
    assert (candidates(found), found.earlier) == ([an_id(3)], 2)
    found = store.ms.reconcile(since="HEAD~1")
    assert (candidates(found), found.earlier) == ([an_id(2), an_id(3)], 1)
    found = store.ms.reconcile(since="HEAD~2")
    assert (found.count, found.earlier) == (3, 0)


@pytest.mark.parametrize("ref", ["nonsense", "-x", "--all", "", "HEAD:auth.py"])
def test_a_ref_that_is_no_commit_is_refused(store: TempStore, ref: str) -> None:
    """Whatever it looks like."""
    with pytest.raises(UsageError, match="since"):
        store.ms.reconcile(since=ref)


def test_since_needs_a_repository(tmp_path: Path) -> None:
    """And says that there is none."""
    with pytest.raises(UsageError, match="no git repository"):
        TempStore(tmp_path).ms.reconcile(since="HEAD")


def test_progress_is_told(store: TempStore) -> None:
    """File by file."""
    told: list[tuple[int, int]] = []
    store.ms.reconcile(progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]
