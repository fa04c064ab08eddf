"""Sweeping: one answer for each record, and nothing goes that git could not give back."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from memspec_py.errors import UsageError
from memspec_py.record.model import Kind, SourceKind, State, Type
from memspec_py.record.parse import parse_record
from memspec_py.testing import TempStore, a_record, an_id
from tests.acts.crashes import killed_everywhere
from tests.faults import needs_fork

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memspec_py.acts.sweep import Candidate, Swept
    from memspec_py.api import Memspec
    from memspec_py.record.model import Record

PAST = "2025-0{}-01T00:00:00.000Z"
FAR = "2999-01-01T00:00:00.000Z"


def records() -> list[Record]:
    """Two stale claims, an expired note, and three that are not due."""
    return [
        a_record(1, title="Otters swim", check_by=PAST.format(3)),
        a_record(2, title="Voles dig", check_by=PAST.format(1), type=Type.DECISION),
        a_record(3, title="Seen", kind=Kind.OBSERVATION, type=None, expires=PAST.format(2)),
        a_record(4, title="Hares run", check_by=FAR),
        a_record(5, title="Owls hunt", check_by=PAST.format(1), state=State.RETIRED),
        a_record(6, title="Seen too", kind=Kind.OBSERVATION, type=None, expires=FAR),
    ]


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """A store whose records git has committed."""
    made = TempStore(tmp_path)
    for record in records():
        made.put(record)
    git(made, "init", "--quiet")
    commit(made)
    return made


def git(store: TempStore, *arguments: str) -> None:
    """Run git in the project."""
    subprocess.run(["git", *arguments], cwd=store.project, check=True, capture_output=True)


def commit(store: TempStore) -> None:
    """Commit all there is."""
    git(store, "add", ".")
    git(store, "commit", "--quiet", "-m", "all")


def outcomes(swept: Swept) -> dict[str, str]:
    """What became of each record."""
    return {one.id: one.outcome for one in swept.records}


def everything(store: TempStore) -> dict[str, bytes]:
    """All record files."""
    found = store.root.rglob("*.md")
    return {str(path.relative_to(store.root)): path.read_bytes() for path in found}


def test_a_dry_run_lists_what_is_due_and_touches_nothing(store: TempStore) -> None:
    """Stale claims and expired notes, longest overdue first."""
    before = everything(store)
    swept = store.ms.sweep()
    assert [one.id for one in swept.records] == [an_id(2), an_id(3), an_id(1)]
    assert [one.reason for one in swept.records] == [
        f"to be checked by {PAST.format(1)}",
        f"expired {PAST.format(2)}",
        f"to be checked by {PAST.format(3)}",
    ]
    assert (swept.dry_run, swept.count, swept.retired) == (True, 3, 0)
    assert set(outcomes(swept).values()) == {"left"}
    assert everything(store) == before


def test_each_is_asked_about_and_only_yes_retires(store: TempStore) -> None:
    """It moves to the archive with the reason and who decided, and is out of search."""
    asked: list[str] = []

    def decide(one: Candidate) -> str:
        asked.append(one.id)
        return "y" if one.id != an_id(3) else "N"

    swept = store.ms.sweep(decide, source="human:ann")
    assert asked == [an_id(2), an_id(3), an_id(1)]
    assert outcomes(swept) == {an_id(2): "retired", an_id(3): "kept", an_id(1): "retired"}
    path = store.root / "archive" / f"{an_id(1)}.md"
    assert swept.records[2].path == f"archive/{an_id(1)}.md"
    record = parse_record(path.read_bytes(), store.ms._ws.settings.limits)  # noqa: SLF001
    assert record.state is State.RETIRED
    assert record.ext["retired"] == {
        "by": "human:ann",
        "at": "2026-01-01T00:00:00.000Z",
        "reason": f"to be checked by {PAST.format(3)}",
    }
    assert not (store.root / "memory/facts" / path.name).exists()
    assert store.ms.search("otters").count == 0
    assert [one.id for one in store.ms.sweep().records] == [an_id(3)]


def test_an_expired_note_is_retired(store: TempStore) -> None:
    """Though no read shows it any more."""
    assert store.ms.sweep({an_id(3): "y"}).retired == 1
    assert (store.root / "archive" / f"{an_id(3)}.md").exists()


def test_quit_leaves_the_rest(store: TempStore) -> None:
    """What was answered before is done."""
    answers = {an_id(2): "y", an_id(3): "q", an_id(1): "y"}
    swept = store.ms.sweep(answers)
    assert outcomes(swept) == {an_id(2): "retired", an_id(3): "left", an_id(1): "left"}


def test_an_answer_is_carried_out_before_the_next_is_asked_for(store: TempStore) -> None:
    """So whoever walks away in the middle loses nothing."""

    def decide(one: Candidate) -> str:
        if one.id == an_id(3):
            raise KeyboardInterrupt
        return "y"

    with pytest.raises(KeyboardInterrupt):
        store.ms.sweep(decide)
    assert (store.root / "archive" / f"{an_id(2)}.md").exists()


def test_answers_by_id_are_checked_before_anything_is_done(store: TempStore) -> None:
    """An odd one refuses all; an id that is not due is told."""
    before = everything(store)
    with pytest.raises(UsageError, match="maybe"):
        store.ms.sweep({an_id(2): "y", an_id(1): "maybe"})
    assert everything(store) == before
    swept = store.ms.sweep({an_id(4): "y", "ms_nope": "y"})
    assert swept.unknown == (an_id(4), "ms_nope")
    assert (swept.retired, set(outcomes(swept).values())) == (0, {"kept"})


@pytest.mark.parametrize("how", ["new", "edited", "ignored", "no repository"])
def test_what_git_cannot_give_back_stays(store: TempStore, how: str) -> None:
    """A file that is not committed as it is, is refused, unless that is forced."""
    number = 1
    if how == "new":
        number = 7
        store.put(a_record(7, check_by=PAST.format(1)))
    elif how == "edited":
        path = store.root / f"memory/facts/{an_id(1)}.md"
        path.write_text(path.read_text() + "\nMore.\n")
    elif how == "ignored":
        (store.project / ".gitignore").write_text(".memspec/\n")
        git(store, "rm", "-r", "--quiet", "--cached", ".memspec")
        commit(store)
    else:
        (store.project / ".git").rename(store.home / "away")
    before = everything(store)
    swept = store.ms.sweep({an_id(number): "y"})
    (one,) = (one for one in swept.records if one.id == an_id(number))
    assert (one.outcome, swept.refused) == ("refused", 1)
    assert "git" in (one.why or "")
    assert everything(store) == before
    assert store.ms.sweep({an_id(number): "y"}, force=True).retired == 1


def test_a_committed_record_below_a_subfolder_is_found(tmp_path: Path) -> None:
    """The store need not lie at the top of its repository."""
    store = TempStore(tmp_path / "top" / "sub")
    store.put(records()[0])
    top = tmp_path / "top"
    subprocess.run(["git", "init", "--quiet"], cwd=top, check=True)
    commit(store)
    assert store.ms.sweep({an_id(1): "y"}).retired == 1


def test_nobody_is_asked_about_what_must_stay(store: TempStore) -> None:
    """The operator's records are skipped, unless that is overridden."""
    theirs = a_record(
        8, source="human:ann", source_kind=SourceKind.OPERATOR, check_by=PAST.format(1)
    )
    store.put(theirs)
    commit(store)
    asked: list[str] = []

    def decide(one: Candidate) -> str:
        asked.append(one.id)
        return "y" if one.id == an_id(8) else "n"

    swept = store.ms.sweep(decide)
    assert an_id(8) not in asked
    assert outcomes(swept)[an_id(8)] == "skipped"
    assert store.ms.sweep({an_id(8): "y"}).refused == 1
    swept = store.ms.sweep(decide, override_operator=True)
    assert outcomes(swept)[an_id(8)] == "retired"
    text = (store.root / "archive" / f"{an_id(8)}.md").read_text()
    assert "override_operator" in text


@pytest.mark.parametrize("how", ["verified", "gone", "broken"])
def test_a_record_that_changed_while_it_was_asked_about_stays(store: TempStore, how: str) -> None:
    """What was asked about must still be so."""
    path = store.root / f"memory/facts/{an_id(1)}.md"

    def decide(one: Candidate) -> str:
        if one.id != an_id(1):
            return "n"
        if how == "verified":
            store.again().verify(an_id(1), evidence="seen")
        elif how == "gone":
            path.unlink()
        else:
            path.write_text("broken")
        return "y"

    swept = store.ms.sweep(decide, force=True)
    assert outcomes(swept)[an_id(1)] == "refused"
    assert not (store.root / "archive" / path.name).exists()


@needs_fork
def test_a_kill_leaves_old_or_new() -> None:
    """Wherever the process is killed."""

    def act(ms: Memspec) -> object:
        return ms.sweep({an_id(1): "y"}, force=True)

    acts: list[Callable[[Memspec], object]] = [act]
    assert killed_everywhere(records()[:1], acts[0]) == {"before", "after"}
