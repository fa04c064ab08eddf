from __future__ import annotations

import base64
import errno
import json
import os
import shutil
import stat
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspec_py.errors import Conflict, StorageFailed, UsageError
from memspec_py.store import files, journal
from memspec_py.store.journal import Append, Create, Move, Replace
from tests.faults import crash_points, fault_points, needs_fork, quick_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from memspec_py.store.journal import Change

    Content = dict[str, bytes]

A, B, C = b"---\nid: a\n---\n# A\n", b"---\nid: b\n---\n# B\n", b"# C, which nobody touches\n"
A2, B2, D = A + b"superseded\n", B + b"archived\n", b"---\nid: d\n---\n# D\n" * 50

LOG, LINES = b'{"n": 1}\n' * 200, b'{"n": 2}\n{"n": 3}\n'

OLD: Content = {
    "memory/facts/a.md": A,
    "memory/facts/b.md": B,
    "memory/facts/c.md": C,
    "log.jsonl": LOG,
}
NEW: Content = {
    "memory/facts/a.md": A2,
    "archive/b.md": B2,
    "memory/facts/c.md": C,
    "memory/facts/d.md": D,
    "log.jsonl": LOG + LINES,
}
CHANGES: tuple[Change, ...] = (
    Create("memory/facts/d.md", D),
    Replace("memory/facts/a.md", A2, files.digest(A)),
    Move("memory/facts/b.md", "archive/b.md", B2, files.digest(B)),
    Append("log.jsonl", LINES),
)
WAITING = "local/journal/e.json"


class _Stop(BaseException):
    """Ends an act in this process as a kill would, but for what `finally` cleans up."""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store in the old state."""
    return _store(tmp_path / "store", OLD)


@pytest.fixture
def quick() -> Iterator[Path]:
    """A folder where syncing costs nothing."""
    with quick_folder() as folder:
        yield folder


@pytest.fixture
def fresh(quick: Path) -> Callable[[], Path]:
    """A maker of stores in the old state."""
    return _copies(_store(quick / "template", OLD), quick)


def test_all_changes_are_made_and_no_journal_is_left(store: Path) -> None:
    """Create, replace, move and append together; afterwards nothing waits."""
    journal.apply(store, CHANGES, "e")
    assert _content(store) == NEW
    assert not journal.pending(store)
    assert journal.recover(store) == []


@pytest.mark.parametrize("change", CHANGES[:2])
def test_one_atomic_step_needs_no_journal(store: Path, change: Change) -> None:
    """A change that is all or nothing by itself writes no second file."""
    journal.apply(store, [change], "e")
    assert _content(store) == _after(OLD, [change])
    assert not (store / "local").exists()


def test_nothing_to_change_changes_nothing(store: Path) -> None:
    """An empty list is no error and leaves no trace."""
    journal.apply(store, [], "e")
    assert _content(store) == OLD
    assert not (store / "local").exists()


def test_a_moved_file_is_as_private_as_before(store: Path) -> None:
    """The mode goes along, also when it is recovery that moves the file."""
    (store / "memory/facts/b.md").chmod(0o600)
    _interrupt(store, CHANGES, "replace")
    journal.recover(store)
    assert _content(store) == NEW
    assert stat.S_IMODE((store / "archive/b.md").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (Create("memory/facts/c.md", D), "already exists"),
        (Create("memory/facts", D), "already exists"),
        (Replace("memory/facts/c.md", D, files.digest(A)), "was changed by somebody else"),
        (Replace("memory/facts/x.md", D, files.digest(A)), "is gone"),
        (Move("memory/facts/c.md", "x.md", D, files.digest(A)), "was changed by somebody else"),
        (Move("memory/facts/x.md", "x.md", D, files.digest(A)), "is gone"),
        (Move("memory/facts/c.md", "taken.md", D, files.digest(C)), "already exists"),
    ],
)
def test_a_conflict_in_one_change_stops_all_before_a_byte_is_written(
    store: Path, monkeypatch: pytest.MonkeyPatch, change: Change, message: str
) -> None:
    """Everything is checked first, the last change as well."""
    (store / "taken.md").write_bytes(b"")
    monkeypatch.setattr(os, "write", _stop)
    with pytest.raises(Conflict, match=message):
        journal.apply(store, [*CHANGES, change], "e")
    assert _content(store) == OLD | {"taken.md": b""}


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/x.md",
        "../x.md",
        "a/../../x.md",
        "a//x.md",
        "./x.md",
        "a/",
        "a\\x.md",
        "C:/x",
        "\0",
    ],
)
def test_no_path_leads_out_of_the_store(store: Path, path: str) -> None:
    """Only a plain relative path is one; for creating, and on both ends of a move."""
    to, from_ = Create(path, D), Move("memory/facts/b.md", path, B2, files.digest(B))
    for change in (to, from_, Move(path, "archive/b.md", B2, files.digest(B))):
        with pytest.raises(UsageError) as caught:
            journal.apply(store, [change], "e")
        assert repr(path) in caught.value.message
    assert _content(store) == OLD


def test_no_symbolic_link_leads_out_of_the_store(store: Path, tmp_path: Path) -> None:
    """A linked folder of a cloned store is refused, and so is a link in a file's place."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (store / "archive").symlink_to(outside)
    with pytest.raises(UsageError, match="leads through a symbolic link"):
        journal.apply(store, CHANGES, "e")
    (store / "memory/facts/d.md").symlink_to(outside / "d.md")
    with pytest.raises(UsageError, match="leads through a symbolic link"):
        journal.apply(store, CHANGES[:1], "e")
    assert list(outside.iterdir()) == []
    assert _content(store) == OLD


def test_a_store_may_itself_be_reached_by_a_link(store: Path, tmp_path: Path) -> None:
    """What counts is what lies inside."""
    (tmp_path / "link").symlink_to(store)
    journal.apply(tmp_path / "link", CHANGES, "e")
    assert _content(store) == NEW


def test_one_path_cannot_be_changed_twice_at_once(store: Path) -> None:
    """Two changes of one file have no order that survives a kill."""
    with pytest.raises(UsageError, match="changed twice"):
        journal.apply(store, [*CHANGES, Create("archive/b.md", D)], "e")
    assert _content(store) == OLD


@pytest.mark.parametrize("entry", ["", "a/b", "..", ".e", "a.b", "e\n", "x" * 101])
def test_an_entry_is_a_plain_name(store: Path, entry: str) -> None:
    """It becomes a file name, so it cannot be anything else."""
    with pytest.raises(UsageError, match="cannot name a journal"):
        journal.apply(store, CHANGES, entry)


def test_what_waits_is_finished_before_anything_new(store: Path) -> None:
    """A second change on top of an unfinished one is refused, and works after recovery."""
    _interrupt(store, CHANGES, "replace")
    assert journal.pending(store)
    with pytest.raises(Conflict, match="an interrupted change waits") as caught:
        journal.apply(store, [Create("x.md", D)], "f")
    assert caught.value.hint is not None
    assert journal.recover(store) == []
    journal.apply(store, [Create("x.md", D)], "f")
    assert _content(store) == NEW | {"x.md": D}


def test_pending_is_about_journals_only(store: Path) -> None:
    """No folder, an empty one, torn temporary files and journals set aside: nothing waits."""
    assert not journal.pending(store)
    folder = store / "local" / "journal"
    folder.mkdir(parents=True)
    for name in [".tmp-1-2-3", "e.conflict.json", "e.damaged-2.json", "notes.txt"]:
        (folder / name).write_bytes(b"{")
    (folder / "folder.json").mkdir()
    assert not journal.pending(store)
    assert journal.recover(store) == []
    assert not (folder / ".tmp-1-2-3").exists()
    (folder / "e.json").write_bytes(b"{")
    assert journal.pending(store)


@needs_fork
def test_killed_anywhere_it_is_all_or_nothing_after_recovery(fresh: Callable[[], Path]) -> None:
    """A kill at any call of apply: until the journal stands nothing is changed, then everything."""
    outcomes = []
    for point, root in crash_points(fresh, _apply):
        between = _content(root)
        had_journal = journal.pending(root)
        assert {"memory/facts/b.md", "archive/b.md"} & between.keys(), point
        assert had_journal or _records(between) in (OLD, NEW), point
        assert journal.recover(root) == [], point
        outcomes.append(_records(_content(root)))
        assert outcomes[-1] in (OLD, NEW), point
        assert not had_journal or outcomes[-1] == NEW, point
        assert not journal.pending(root), point
        strays = {path: data for path, data in _content(root).items() if ".tmp-" in path}
        assert not had_journal or not strays, point
    assert outcomes[0] == OLD
    assert outcomes[-1] == NEW
    assert sorted(outcomes, key=len) == outcomes, "once it is made it stays made"


@needs_fork
def test_recovery_killed_anywhere_is_finished_by_the_next(
    fresh: Callable[[], Path], quick: Path
) -> None:
    """Recovery may die at any call, of a change that was itself killed at any of its steps."""
    seen: list[Content] = []
    calls = {"write", "link", "replace", "unlink"}
    for point, root in crash_points(fresh, _apply, ["before", "torn"], calls):
        state = _records(_content(root))
        if state in seen or not journal.pending(root):
            continue
        seen.append(state)
        for again, killed in crash_points(_copies(root, quick), journal.recover, ["before"]):
            assert journal.recover(killed) == [], (point, again)
            assert _content(killed) == NEW, (point, again)
    # Nothing made, one, two, the move by half, all but the lines, half of them, all.
    assert len(seen) == 7


@needs_fork
@pytest.mark.parametrize("lasting", [False, True])
def test_a_full_disk_at_any_call_takes_everything_back(
    fresh: Callable[[], Path], *, lasting: bool
) -> None:
    """The act fails, and nothing has changed, or it says that the next write will finish it."""
    for point, root, raised in fault_points(fresh, _apply, errno.ENOSPC, lasting=lasting):
        assert raised is not None, point
        assert raised.kind == "StorageFailed", (point, raised.trace)
        _is_whole_or_waits(point, root, raised.message)


@needs_fork
def test_a_failing_disk_at_any_call_takes_everything_back(fresh: Callable[[], Path]) -> None:
    """The same for an I/O error, where deleting and reading fail as well."""
    for point, root, raised in fault_points(fresh, _apply, errno.EIO):
        if raised is None:
            assert _records(_content(root)) == NEW, point
        else:
            assert raised.kind == "StorageFailed", (point, raised.trace)
            _is_whole_or_waits(point, root, raised.message)


@needs_fork
def test_recovery_on_a_failing_disk_waits_for_the_next(
    fresh: Callable[[], Path], quick: Path
) -> None:
    """A disk error during recovery loses neither the journal nor a record."""
    template = fresh()
    _interrupt(template, CHANGES, "replace")
    copies = _copies(template, quick)
    for error in (errno.EIO, errno.ENOSPC):
        for point, root, raised in fault_points(copies, journal.recover, error):
            assert raised is None or raised.kind == "StorageFailed", (point, raised)
            assert journal.recover(root) == [], point
            assert _content(root) == NEW, point


def test_an_interrupt_is_finished_by_the_next_writer(store: Path) -> None:
    """Ctrl-C in the middle leaves the journal, and the change is made when somebody next writes."""
    _interrupt(store, CHANGES, "replace")
    assert _content(store)["memory/facts/a.md"] == A
    assert _content(store)["memory/facts/d.md"] == D
    assert journal.recover(store) == []
    assert _content(store) == NEW


def test_a_file_changed_behind_the_lock_undoes_the_rest(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editor that saves between the check and the step keeps its bytes; the others go back."""
    link = os.link

    def edit_first(source: Path, target: Path) -> None:
        if target.name == "d.md":
            (store / "memory/facts/a.md").write_bytes(b"edited")
        link(source, target)

    monkeypatch.setattr(os, "link", edit_first)
    with pytest.raises(Conflict, match=r"a\.md was changed by somebody else"):
        journal.apply(store, CHANGES, "e")
    assert _content(store) == OLD | {"memory/facts/a.md": b"edited"}


@pytest.mark.parametrize(
    ("edited", "kept"),
    [
        ("memory/facts/a.md", NEW | {"memory/facts/a.md": b"mine"}),
        ("memory/facts/d.md", NEW | {"memory/facts/d.md": b"mine"}),
        (
            "memory/facts/b.md",
            {**NEW, "memory/facts/b.md": b"mine"},
        ),
    ],
)
def test_what_somebody_edited_meanwhile_keeps_its_bytes(
    store: Path, edited: str, kept: Content
) -> None:
    """Recovery leaves that change out, makes the others, and keeps the journal for a person."""
    _interrupt(store, CHANGES, "replace")
    (store / edited).write_bytes(b"mine")
    (said,) = journal.recover(store)
    if edited == "memory/facts/b.md":  # a move is one change: neither of its halves is made
        del kept["archive/b.md"]
    assert said.startswith(f"{edited} was changed by somebody else")
    assert said.endswith("what was meant is in local/journal/e.conflict.json")
    aside = store / "local/journal/e.conflict.json"
    assert _content(store) == kept | {"local/journal/e.conflict.json": aside.read_bytes()}
    meant = json.loads(aside.read_bytes())["changes"]
    assert A2 in [base64.b64decode(step["new"] or "") for change in meant for step in change]
    assert not journal.pending(store)
    assert journal.recover(store) == []


def test_lines_cost_no_more_in_a_long_file(store: Path) -> None:
    """The journal holds what is added and a little of what was there, and nobody reads the rest."""
    (store / "log.jsonl").write_bytes(LOG * 1_000)
    _interrupt(store, CHANGES[-1:], "write", skip=1)
    assert (store / WAITING).stat().st_size < 5_000
    assert journal.recover(store) == []
    assert (store / "log.jsonl").read_bytes() == LOG * 1_000 + LINES


@pytest.mark.parametrize("before", [None, b"", b"\n", b"x\n", b"torn", b"x\ntorn"])
def test_lines_begin_on_a_line_of_their_own(store: Path, before: bytes | None) -> None:
    """A file that is missing is made, and a torn last line is ended first."""
    (store / "log.jsonl").unlink()
    if before is not None:
        (store / "log.jsonl").write_bytes(before)
    journal.apply(store, CHANGES, "e")
    gap = b"\n" if before in (b"torn", b"x\ntorn") else b""
    assert (store / "log.jsonl").read_bytes() == (before or b"") + gap + LINES


@pytest.mark.parametrize("torn_before", [b"", b"torn"])
@pytest.mark.parametrize("ends_torn_lines", [True, False])
def test_lines_stand_once_whoever_added_some_meanwhile(
    store: Path, torn_before: bytes, *, ends_torn_lines: bool
) -> None:
    """However much of them a kill had left when others went on writing to the same file."""
    (store / "log.jsonl").write_bytes(LOG + torn_before)
    _interrupt(store, CHANGES, "replace")
    waiting = (store / WAITING).read_bytes()
    added = (b"\n" if torn_before else b"") + LINES
    for cut in range(len(added) + 1):
        left = LOG + torn_before + added[:cut]
        gap = b"" if left.endswith(b"\n") or not ends_torn_lines else b"\n"
        (store / "log.jsonl").write_bytes(left + gap + b"theirs\n")
        (store / WAITING).write_bytes(waiting)
        assert journal.recover(store) == []
        lines = (store / "log.jsonl").read_bytes().split(b"\n")
        for line in (b'{"n": 2}', b'{"n": 3}'):
            assert lines.count(line) == 1, (cut, lines[199:])
        assert lines.count(b"theirs") == 1 or not ends_torn_lines
        assert lines[:200] == LOG.split(b"\n")[:200]
        assert lines[-1] == b""


@pytest.mark.parametrize("became", [None, b"", LOG[:-1] + b"x", b"other\n", LOG[:-9]])
def test_lines_are_not_added_to_another_file(store: Path, became: bytes | None) -> None:
    """Where the file was cut, rewritten or removed after a kill, they are kept in the journal."""
    _interrupt(store, CHANGES, "replace")
    (store / "log.jsonl").unlink()
    if became is not None:
        (store / "log.jsonl").write_bytes(became)
    (said,) = journal.recover(store)
    assert said.startswith("log.jsonl was changed by somebody else")
    left = _records(_content(store))
    assert left.pop("log.jsonl", None) == became
    assert left == {path: data for path, data in NEW.items() if path != "log.jsonl"}
    meant = json.loads((store / "local/journal/e.conflict.json").read_bytes())["changes"]
    assert base64.b64decode(meant[-1][0]["new"]).endswith(LINES)


def test_lines_are_taken_back_with_the_rest(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when what fails comes after them, and not when somebody else wrote behind them."""
    for theirs in (b"", b"theirs\n"):

        def fail(path: Path, data: bytes, *, theirs: bytes = theirs, **_: object) -> None:
            (store / "log.jsonl").write_bytes((store / "log.jsonl").read_bytes() + theirs)
            raise StorageFailed(f"no place for {len(data)} bytes: {path}")

        monkeypatch.setattr(files, "replace", fail)
        with pytest.raises(StorageFailed, match="no place"):
            journal.apply(store, [CHANGES[3], *CHANGES[:3]], "e")
        kept = LOG + LINES + theirs if theirs else LOG
        assert _content(store) == OLD | {"log.jsonl": kept}


def test_a_journal_of_an_earlier_version_is_finished(store: Path) -> None:
    """One that knew of no lines to add, and so of no place where they start."""
    _interrupt(store, CHANGES[:3], "replace")
    found = json.loads((store / WAITING).read_bytes())
    changes = [
        [{key: value for key, value in step.items() if key != "start"} for step in steps]
        for steps in found["changes"]
    ]
    digest = files.digest(json.dumps(changes).encode())
    (store / WAITING).write_text(json.dumps({**found, "changes": changes, "sha256": digest}))
    assert journal.recover(store) == []
    assert _content(store) == NEW | {"log.jsonl": LOG}


@pytest.mark.parametrize("there", ["link", "folder", "linked folder"])
def test_what_became_something_else_meanwhile_is_a_conflict(
    store: Path, tmp_path: Path, there: str
) -> None:
    """Recovery neither follows a link nor stumbles over a folder where a record should be."""
    _interrupt(store, CHANGES, "replace")
    outside = tmp_path / "outside"
    outside.mkdir()
    place = store / "memory/facts/a.md"
    place.unlink()
    if there == "link":
        place.symlink_to(outside / "a.md")
    elif there == "folder":
        place.mkdir()
    else:
        (store / "archive").symlink_to(outside)
        place.write_bytes(A)
    (said,) = journal.recover(store)
    assert said.startswith("archive/b.md" if there == "linked folder" else "memory/facts/a.md")
    assert list(outside.iterdir()) == []
    assert not journal.pending(store)
    assert (store / "memory/facts/d.md").read_bytes() == D


def test_a_second_conflict_does_not_overwrite_the_first(store: Path) -> None:
    """Everything set aside is kept."""
    for number in range(3):
        _interrupt(store, [Create(f"{number}x.md", D), Create(f"{number}.md", D)], "link", skip=2)
        (store / f"{number}.md").write_bytes(b"mine")
        assert len(journal.recover(store)) == 1
    names = sorted(path.name for path in (store / "local/journal").iterdir())
    assert names == ["e.conflict-2.json", "e.conflict-3.json", "e.conflict.json"]


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"\0" * 100,
        b"{",
        b"[]",
        b"{}",
        b"[" * 100_000,
        b'{"format": 2, "sha256": "", "changes": []}',
        b'{"format": 1, "sha256": "", "changes": []}',
        b"\xff\xfe",
    ],
)
def test_a_journal_that_cannot_be_read_is_set_aside_and_told(store: Path, damage: bytes) -> None:
    """Damage changes no record and stops no writer, and even it is not deleted."""
    path = store / WAITING
    path.parent.mkdir(parents=True)
    path.write_bytes(damage)
    (said,) = journal.recover(store)
    assert said.endswith("local/journal/e.damaged.json")
    assert _content(store) == OLD | {"local/journal/e.damaged.json": damage}


def test_a_torn_journal_is_never_taken_for_a_whole_one(store: Path) -> None:
    """Cut anywhere or with any one byte changed, it is set aside, and no record is touched."""
    _interrupt(store, CHANGES, "link", skip=1)
    path = store / WAITING
    whole = path.read_bytes()
    for cut in range(0, len(whole), 97):
        changed = whole[:cut] + bytes([whole[cut] ^ 1]) + whole[cut + 1 :]
        for torn in (whole[:cut], changed):
            path.write_bytes(torn)
            journal.recover(store)
            assert _records(_content(store)) == OLD, (cut, torn)
    path.write_bytes(whole)
    journal.recover(store)
    assert _records(_content(store)) == NEW


@pytest.mark.parametrize("path", ["../x.md", "/x.md", "a/../../x.md", 7, None])
def test_a_forged_journal_writes_nothing_outside_the_store(store: Path, path: object) -> None:
    """A journal that came with a cloned repository gets no further than our own paths."""
    changes = [[{"path": path, "old": None, "new": base64.b64encode(D).decode(), "mode": None}]]
    forged = {
        "format": 1,
        "sha256": files.digest(json.dumps(changes).encode()),
        "changes": changes,
    }
    (store / WAITING).parent.mkdir(parents=True)
    (store / WAITING).write_text(json.dumps(forged), encoding="utf-8")
    before = sorted(store.parent.iterdir())
    assert len(journal.recover(store)) == 1
    assert _records(_content(store)) == OLD
    assert sorted(store.parent.iterdir()) == before


_names = st.sampled_from(["a.md", "b.md", "c.md", "x/a.md", "x/b.md", "y/z/a.md", "y/z/b.md"])
_bytes = st.binary(max_size=40)
_lines = st.lists(st.binary(min_size=1, max_size=9).filter(lambda line: b"\n" not in line)).map(
    lambda lines: b"".join(line + b"\n" for line in lines)
)


@st.composite
def _histories(draw: st.DrawFn) -> tuple[Content, tuple[Change, ...]]:
    before = draw(st.dictionaries(_names, _bytes))
    changes: list[Change] = []
    used: set[str] = set()
    paths: list[str] = draw(st.lists(_names, unique=True))
    for path in paths:
        free = sorted({"m/1.md", "m/2.md", "x/m.md"} - used - before.keys())
        if path not in before:
            changes.append(Create(path, draw(_bytes)))
        elif draw(st.booleans()) and free:
            target = draw(st.sampled_from(free))
            changes.append(Move(path, target, draw(_bytes), files.digest(before[path])))
            used.add(target)
        else:
            changes.append(Replace(path, draw(_bytes), files.digest(before[path])))
    if draw(st.booleans()):
        changes.insert(draw(st.integers(0, len(changes))), Append("log", draw(_lines)))
        before |= draw(st.dictionaries(st.just("log"), _bytes))
    return before, tuple(changes)


@given(history=_histories(), stop=st.integers(0, 60), again=st.integers(0, 30))
def test_any_changes_stopped_anywhere_are_all_or_nothing(
    history: tuple[Content, tuple[Change, ...]],
    stop: int,
    again: int,
) -> None:
    """Any set of changes, stopped at any call, its recovery stopped at any call: all or nothing."""
    before, changes = history
    with quick_folder() as folder:
        store = _store(folder / "store", before)
        finished = _stopped(stop, lambda: journal.apply(store, changes, "e"))
        _stopped(again, lambda: journal.recover(store))
        assert journal.recover(store) == []
        left = _records(_content(store))
    assert left in (before, _after(before, changes))
    assert not finished or left == _after(before, changes)


def _apply(root: Path) -> None:
    journal.apply(root, CHANGES, "e")


def _is_whole_or_waits(point: object, root: Path, message: str) -> None:
    waits = journal.pending(root)
    if not waits:
        # When only the end of the journal was not made durable, everything is made, and told so.
        made = message.startswith("the change is made")
        assert _records(_content(root)) == (NEW if made else OLD), (point, message)
    assert not waits or "taking the rest back failed" in message or "journal" in message, point
    assert journal.recover(root) == [], point
    assert _records(_content(root)) == NEW if waits else True, point


def _stopped(after: int, act: Callable[[], object]) -> bool:
    """Run the act until it makes its ``after``-th file call; whether it came to its end."""
    left = count(after, -1)

    def watched(original: Callable[..., object]) -> Callable[..., object]:
        def call(*args: object, **named: object) -> object:
            if next(left) <= 0:
                raise _Stop
            return original(*args, **named)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in ("write", "fsync", "link", "replace", "unlink", "mkdir"):
            patch.setattr(os, name, watched(getattr(os, name)))
        try:
            act()
        except _Stop:
            return False
    return True


def _interrupt(store: Path, changes: Iterable[Change], call: str, skip: int = 0) -> None:
    """Begin the changes, and stop at the call after ``skip`` of its kind."""
    left = count(skip, -1)
    original: Callable[..., object] = getattr(os, call)

    def stop(*args: object, **named: object) -> object:
        if next(left) <= 0:
            raise _Stop
        return original(*args, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, call, stop)
        with pytest.raises(_Stop):
            journal.apply(store, tuple(changes), "e")
    assert journal.pending(store)


def _stop(*_: object) -> None:
    raise _Stop


def _store(root: Path, content: Mapping[str, bytes]) -> Path:
    root.mkdir()
    for path, data in content.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    return root


def _copies(template: Path, parent: Path) -> Callable[[], Path]:
    def names() -> Iterator[Path]:
        for number in count():
            yield parent / f"{template.name}-{number}"

    free = names()

    def copy() -> Path:
        return Path(shutil.copytree(template, next(free), symlinks=True))

    return copy


def _after(before: Content, changes: Iterable[Change]) -> Content:
    content = dict(before)
    for change in changes:
        if isinstance(change, Append):
            present = content.get(change.path, b"")
            gap = b"" if not present or present.endswith(b"\n") else b"\n"
            content[change.path] = present + gap + change.data
            continue
        if isinstance(change, Move):
            del content[change.src]
        content[change.dst if isinstance(change, Move) else change.path] = change.data
    return content


def _content(root: Path) -> Content:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


def _records(content: Content) -> Content:
    return {
        path: data
        for path, data in content.items()
        if not path.startswith("local/") and ".tmp-" not in path
    }
