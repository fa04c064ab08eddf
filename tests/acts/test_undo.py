from __future__ import annotations

import errno
import json
import random
import shutil
import tempfile
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memspec_py.errors import Conflict, Invalid, MemspecError, NotFound, UsageError
from memspec_py.record.model import Record, Type
from memspec_py.record.parse import print_record
from memspec_py.store import layout
from memspec_py.testing import TempStore, a_record, an_id
from tests.acts.crashes import maker, run, seen_in
from tests.faults import crash_points, fault_points, needs_fork, quick_folder
from tests.strategies import hand_written

if TYPE_CHECKING:
    from collections.abc import Callable

    from memspec_py.api import Memspec


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """A store with three facts."""
    made = TempStore(tmp_path)
    for number in (1, 2, 3):
        made.put(a_record(number, title=f"Marmot {number} sleeps", tags=("a",)))
    return made


def files_of(store: TempStore) -> dict[str, bytes]:
    """Every record file by its path."""
    return {
        str(path.relative_to(store.root)): path.read_bytes()
        for folder in layout.RECORD_FOLDERS
        for path in sorted((store.root / folder).rglob("*"))
        if path.is_file()
    }


def moved(record: Record) -> Record:
    """A record with another type, tag and title."""
    return replace(record, type=Type.DECISION, tags=("b",), title=f"{record.title} well")


def backfilled(store: TempStore) -> str:
    """The journal of a backfill of all records."""
    done = store.ms.backfill(moved, name="move", apply=True)
    assert done.journal is not None
    return done.journal


def test_an_undo_restores_every_byte(store: TempStore) -> None:
    """Content and place, and the index follows."""
    before = files_of(store)
    journal = backfilled(store)
    assert files_of(store).keys().isdisjoint(before)
    done = store.ms.undo("last")
    assert files_of(store) == before
    assert (done.restored, done.conflicts, done.unchanged, done.name) == (3, 0, 0, "move")
    assert done.journal.endswith(journal)
    assert store.ms.search("marmot").results[0].type == "fact"
    assert store.again().doctor().healthy


def test_a_second_undo_changes_nothing_and_says_so(store: TempStore) -> None:
    """It names the undo; `last` is still the backfill."""
    journal = backfilled(store)
    first = store.ms.undo(journal)
    before = files_of(store)
    again = store.ms.undo("last")
    assert (again.restored, again.unchanged, again.undo_journal) == (0, 3, None)
    assert "already undone" in (again.note or "")
    assert (first.undo_journal or "") in (again.note or "")
    assert files_of(store) == before
    assert store.ms.undo_list().count == 2


def test_an_undo_can_be_undone(store: TempStore) -> None:
    """That is redo; and that can be undone again."""
    before = files_of(store)
    journal = backfilled(store)
    after = files_of(store)
    for expected in (before, after, before, after):
        done = store.ms.undo(journal)
        assert files_of(store) == expected
        assert done.undo_journal is not None
        journal = done.undo_journal
    assert [one.undoes is None for one in store.ms.undo_list().journals] == [True] + [False] * 4


def test_a_dry_run_writes_nothing(store: TempStore) -> None:
    """It says what would be restored."""
    backfilled(store)
    before = {path: path.stat().st_mtime_ns for path in store.root.rglob("*")}
    done = store.ms.undo("last", dry_run=True)
    assert (done.dry_run, done.restored, done.undo_journal) == (True, 3, None)
    assert {path: path.stat().st_mtime_ns for path in store.root.rglob("*")} == before


def test_what_was_edited_since_stays(store: TempStore) -> None:
    """It is named as a conflict, and the others are restored."""
    before = files_of(store)
    backfilled(store)
    edited = store.root / f"memory/decisions/{an_id(2)}.md"
    edited.write_bytes(edited.read_bytes() + b"An edit.\n")
    done = store.ms.undo("last")
    assert (done.restored, done.conflicts) == (2, 1)
    conflict = next(one for one in done.files if one.outcome == "conflict")
    assert (conflict.id, conflict.path) == (an_id(2), f"memory/decisions/{an_id(2)}.md")
    assert "edited since" in (conflict.why or "")
    kept = files_of(store)
    assert kept.pop(conflict.path).endswith(b"An edit.\n")
    assert kept == {path: data for path, data in before.items() if an_id(2) not in path}


def test_force_restores_what_was_edited_and_keeps_the_edit(store: TempStore) -> None:
    """The journal of the undo has the edited bytes, whatever they are."""
    before = files_of(store)
    backfilled(store)
    edited = store.root / f"memory/decisions/{an_id(2)}.md"
    edited.write_bytes(edited.read_bytes() + b"\xff\xfe")
    after = files_of(store)
    done = store.ms.undo("last", force=True)
    assert (done.restored, done.conflicts) == (3, 0)
    assert files_of(store) == before
    store.ms.undo(done.undo_journal or "")
    assert files_of(store) == after


def test_what_went_elsewhere_since_stays(store: TempStore) -> None:
    """Superseded, removed, or with another file at its old place: never two copies of one."""
    backfilled(store)
    store.again().supersede(an_id(1), reason="no longer")
    (store.root / f"memory/decisions/{an_id(2)}.md").unlink()
    store.put(a_record(3, title="Somebody put it here"))
    before = files_of(store)
    for force in (False, True):
        done = store.ms.undo("last", force=force)
        assert (done.restored, done.conflicts) == (0, 3)
        assert all(one.why for one in done.files)
        assert files_of(store) == before


def test_a_journal_is_found_by_path_name_and_last(store: TempStore, tmp_path: Path) -> None:
    """With or without its ending, relative to where one stands."""
    name = backfilled(store)
    kept = store.root / "local/backfills" / name
    shutil.copy(kept, store.project / "copy.jsonl")
    for named in (name, name.removesuffix(".jsonl"), "last", kept, str(kept), "copy.jsonl"):
        assert store.ms.undo(named, dry_run=True).restored == 3, named
    for missing in ("nope", tmp_path / "nope.jsonl"):
        with pytest.raises(NotFound):
            store.ms.undo(missing)


def test_last_of_no_backfill_is_not_found(store: TempStore) -> None:
    """The message says where a journal would be."""
    with pytest.raises(NotFound, match="no backfill was made"):
        store.ms.undo("last")
    assert store.ms.undo_list().journals == ()


def test_a_journal_of_another_store_is_refused(store: TempStore, tmp_path: Path) -> None:
    """Even though both hold the same records."""
    name = backfilled(store)
    other = TempStore(tmp_path / "other")
    shutil.copytree(store.root / "memory", other.root / "memory", dirs_exist_ok=True)
    before = files_of(other)
    with pytest.raises(UsageError, match="of another store"):
        other.ms.undo(store.root / "local/backfills" / name)
    assert files_of(other) == before


def test_a_store_that_was_moved_keeps_its_journals(store: TempStore, tmp_path: Path) -> None:
    """A project may be renamed, or be mounted elsewhere."""
    before = files_of(store)
    backfilled(store)
    shutil.move(store.project.parent / "project", tmp_path / "renamed")
    store.project = tmp_path / "renamed"
    store.where = store.where._replace(cwd=store.project)
    store.again().undo("last")
    assert files_of(store) == before


def test_a_journal_of_what_never_happened_says_so(store: TempStore) -> None:
    """As after a kill between the journal and the change."""
    before = files_of(store)
    name = backfilled(store)
    data = (store.root / "local/backfills" / name).read_bytes()
    store.ms.undo("last")
    for path in (store.root / "local/backfills").iterdir():
        path.unlink()
    (store.root / "local/backfills" / name).write_bytes(data)
    done = store.ms.undo("last")
    assert (done.restored, done.unchanged, done.undo_journal) == (0, 3, None)
    assert "never made" in (done.note or "")
    assert files_of(store) == before


def damaged(data: bytes, how: str) -> bytes:
    """A journal that does not say any more what was written."""
    first, _, rest = data.partition(b"\n")
    head = json.loads(first)
    match how:
        case "torn":
            return data[: len(data) // 2]
        case "edited":
            return data.replace(b"Marmot 1", b"Marmot 9")
        case "empty":
            return b""
        case "text":
            return b"\xff not json\n"
        case "list":
            return b"[]\n" + rest
        case "format":
            return json.dumps({**head, "format": 2}).encode() + b"\n" + rest
    raise AssertionError(how)


@pytest.mark.parametrize("how", ["torn", "edited", "empty", "text", "list", "format"])
def test_a_damaged_journal_restores_nothing(store: TempStore, how: str) -> None:
    """All of it, or nothing: half an undo would be worse than none."""
    name = backfilled(store)
    place = store.root / "local/backfills" / name
    place.write_bytes(damaged(place.read_bytes(), how))
    before = files_of(store)
    with pytest.raises(Invalid, match="no undo journal"):
        store.ms.undo(name)
    assert files_of(store) == before


def test_a_head_that_cannot_be_read_is_told_in_the_list(store: TempStore) -> None:
    """The other journals are listed all the same."""
    backfilled(store)
    store.write("local/backfills/00-broken.jsonl", "{}\n")
    listed = store.ms.undo_list()
    assert [one.name for one in listed.journals] == ["move"]
    assert [one.path for one in listed.findings] == ["local/backfills/00-broken.jsonl"]


@pytest.mark.parametrize("path", ["config.yaml", "../x.md", "memory/../config.md", "local/x.md"])
def test_a_journal_reaches_nothing_but_records(store: TempStore, path: str) -> None:
    """It is a file like any other, and may come from anywhere."""
    name = backfilled(store)
    victim = store.root / path
    victim.parent.mkdir(parents=True, exist_ok=True)
    if not victim.exists():
        victim.write_text("mine", encoding="utf-8")
    before = victim.read_bytes()
    place = store.root / "local/backfills" / name
    first, *lines = place.read_bytes().splitlines()
    entry = json.loads(lines[0])
    entry["before"]["path"] = path
    entry["after"] = {"path": path, "sha256": sha256(before).hexdigest()}
    body = json.dumps(entry).encode() + b"\n"
    head = {**json.loads(first), "sha256": sha256(body).hexdigest()}
    place.write_bytes(json.dumps(head).encode() + b"\n" + body)
    for force in (False, True):
        with pytest.raises(Invalid, match="no place of a record"):
            store.ms.undo(name, force=force)
    assert victim.read_bytes() == before


def test_journals_of_one_instant_stand_in_their_order(store: TempStore) -> None:
    """The clock of a test stands still; `last` is the last all the same."""
    for tag in ("b", "c", "d"):
        store.ms.backfill(lambda r, tag=tag: replace(r, tags=(tag,)), name=f"to-{tag}", apply=True)  # type: ignore[misc]
    assert [one.name for one in store.ms.undo_list().journals] == ["to-b", "to-c", "to-d"]
    assert store.ms.undo("last").name == "to-d"
    assert "tags:\n  - c\n" in files_of(store)[f"memory/facts/{an_id(1)}.md"].decode()


_TITLES = st.text(st.sampled_from("abc é#:"), min_size=1, max_size=12).map(
    lambda text: f"T {text}".strip(" #")
)


@st.composite
def _stores(draw: st.DrawFn) -> list[tuple[str, bytes]]:
    """Record files of several kinds and hands, and some that are no records."""
    files = []
    for number in range(draw(st.integers(1, 6))):
        type_ = draw(st.sampled_from(list(Type)))
        tags = tuple(draw(st.lists(st.sampled_from(["a", "b", "é"]), max_size=2)))
        record = a_record(number, title=draw(_TITLES), type=type_, tags=tags)
        text = print_record(record)
        match draw(st.sampled_from(["ours", "crlf", "by-hand", "broken"])):
            case "crlf":
                text = text.replace("\n", "\r\n")
            case "by-hand":
                text = text.replace("---\n", f"---\n# by hand\n{draw(hand_written)}", 1)
            case "broken":
                text = text.replace("created:", "create:")
        files.append((layout.path_of(record), text.encode()))
    return files


def _random_change(seed: int) -> dict[str, object]:
    chance = random.Random(seed)  # noqa: S311 - the same change each time
    fields: dict[str, object] = {
        "type": chance.choice(list(Type)),
        "tags": tuple(chance.sample(["a", "b", "new", "no", "1.10"], chance.randint(0, 3))),
        "scope": chance.choice([None, "api", "universal"]),
        "title": chance.choice(["New title", "Ends with #", "", "é: x"]),
        "body": chance.choice(["", "one", "one\n\ntwo", "# heading"]),
        "ext": {"k": chance.choice(["no", ["a"], {"b": "c"}])},
        "check_by": chance.choice(["never", "2027-01-01T00:00:00.000Z", None]),
    }
    return {name: fields[name] for name in chance.sample(sorted(fields), chance.randint(0, 4))}


@settings(max_examples=40, deadline=None)
@given(files=_stores(), seed=st.integers(0, 10**6))
def test_an_undo_is_the_inverse_of_a_backfill(files: list[tuple[str, bytes]], seed: int) -> None:
    """For any store and any change: every byte of every file, and no file more or less."""

    def change(record: Record) -> Record:
        return replace(record, **_random_change(seed + int(record.id[-4:], 32)))  # type: ignore[arg-type]

    with tempfile.TemporaryDirectory() as folder:
        store = TempStore(Path(folder))
        for path, data in files:
            store.write(path, data)
        before = files_of(store)
        said = store.ms.backfill(change, name="any")
        assert files_of(store) == before
        done = store.ms.backfill(change, name="any", apply=True)
        assert said.records == done.records
        assert done.seen == done.changed + done.unchanged + done.refused + done.skipped_operator
        assert done.seen + done.unreadable == len(files)
        assert len(files_of(store)) == len(files)
        assert (files_of(store) == before) is (done.changed == 0)
        if done.journal is not None:
            undone = store.ms.undo("last")
            assert (undone.restored, undone.conflicts) == (done.changed, 0)
        assert files_of(store) == before


@needs_fork
def test_a_kill_at_any_call_of_a_backfill_leaves_old_or_new_and_its_undo_leaves_old() -> None:
    """The journal fits both: what was made is undone, what was not made needs no undo."""
    records = [a_record(number, title=f"Marmot {number} sleeps") for number in (1, 2)]

    def act(ms: Memspec) -> object:
        return ms.backfill(moved, name="move", apply=True)

    _killed_everywhere(records, act, lambda _: None)


@needs_fork
def test_a_kill_at_any_call_of_an_undo_leaves_old_or_new() -> None:
    """And the undo can be repeated."""
    records = [a_record(number, title=f"Marmot {number} sleeps") for number in (1, 2)]

    def prepare(ms: Memspec) -> None:
        ms.backfill(moved, name="move", apply=True)

    _killed_everywhere(records, lambda ms: ms.undo("last"), prepare)


_CALLS = frozenset({"write", "fsync", "link", "rename", "replace", "unlink", "mkdir"})


def _killed_everywhere(
    records: list[Record], act: Callable[[Memspec], object], prepare: Callable[[Memspec], object]
) -> None:
    """Kill the act at each call; the store is as before or after it, and its undo goes on."""
    with quick_folder() as folder:
        fresh = maker(folder, records, prepare)
        done = fresh()
        old = seen_in(fresh())
        run(done, act)
        new = seen_in(done)
        plain = min((old, new), key=_is_moved)
        found = set()
        for point, store in crash_points(
            fresh, lambda store: run(store, act), ("before", "torn"), _CALLS
        ):
            now = seen_in(store)
            assert now in (old, new), point
            found.add("new" if now == new else "old")
            if store.again().undo_list().count:
                undone = store.again().undo("last")
                assert undone.conflicts == 0, point
                assert undone.restored == (0 if now == plain else len(records)), point
            assert seen_in(store) == plain, point
            shutil.rmtree(store.project.parent)
        assert found == {"old", "new"}


def _is_moved(seen: dict[str, str]) -> bool:
    return any(path.startswith("memory/decisions") for path in seen)


@needs_fork
def test_a_disk_that_fails_leaves_a_journal_that_fits() -> None:
    """Whatever the failure left, an undo leaves the old records."""
    ours = {kind.__name__ for kind in MemspecError.__subclasses__()}
    records = [a_record(number, title=f"Marmot {number} sleeps") for number in (1, 2)]
    with quick_folder() as folder:
        fresh = maker(folder, records, lambda _: None)
        old = seen_in(fresh())

        def act(store: TempStore) -> None:
            run(store, lambda ms: ms.backfill(moved, name="move", apply=True))

        failed = 0
        for point, store, raised in fault_points(fresh, act, errno.EIO, calls=_CALLS):
            assert raised is None or raised.kind in ours, (point, raised)
            failed += raised is not None
            now = seen_in(store)
            if now != old:
                assert store.again().undo("last").restored == 2, point
            assert seen_in(store) == old, point
        assert failed > 5


def test_somebody_who_edits_during_the_undo_is_a_conflict(store: TempStore) -> None:
    """The digests are compared again when it is written, and nothing is changed."""
    backfilled(store)
    edited = store.root / f"memory/decisions/{an_id(3)}.md"

    def edit(done: int, total: int) -> None:
        if done == total == 3 and b"late" not in edited.read_bytes():
            edited.write_bytes(edited.read_bytes() + b"late\n")

    with pytest.raises(Conflict):
        store.ms.undo("last", progress=edit)
    assert edited.read_bytes().endswith(b"late\n")
    assert store.ms.undo_list().count == 1
    assert store.ms.undo("last").restored == 2
