"""Damage, locks and missing rights change the speed of the next answer, not the answer."""

from __future__ import annotations

import os
import random
import sqlite3
import stat
import time
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memspec_py.config import Limits
from memspec_py.errors import StorageFailed
from memspec_py.index import db as file
from memspec_py.index import index as index_module
from memspec_py.index import sync
from memspec_py.index.index import Index
from memspec_py.record.model import Kind
from memspec_py.report import as_json
from memspec_py.store.lock import StoreLock
from memspec_py.testing import TempStore, a_record, an_id
from memspec_py.workspace import Workspace
from tests.faults import Child, needs_fork

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memspec_py.api import Memspec

    Answers = dict[str, object]

_RECORDS = 40


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TempStore]:
    """A store of some records, none of them young, with an index of several pages."""
    monkeypatch.setattr(sync, "RACY_NS", -1_000_000_000)
    made = TempStore(tmp_path)
    for number in range(1, _RECORDS + 1):
        words = " ".join(f"word{number * step % 97}" for step in range(1, 60))
        made.put(a_record(number, title=f"Marmot number{number}", body=words))
    made.put(a_record(90, title="Seen", kind=Kind.OBSERVATION, type=None))
    made.write(f"memory/facts/{an_id(91)}.md", "---\nbroken: [\n---\n")
    made.ms.status()
    yield made
    made.ms.close()


def _answers(ms: Memspec) -> Answers:
    """What the store says, and apart from it the states that the index was in."""
    replies = {
        "search": ms.search("marmot word7 word12", explain=True, limit=50),
        "one": ms.search("number23"),
        "list": ms.list(state="any", limit=100),
        "get": ms.get(an_id(3)),
        "status": ms.status(),
    }
    told: Answers = {}
    states = []
    for name, reply in replies.items():
        shown = as_json(reply)
        assert isinstance(shown, dict)
        states.append(shown.pop("index"))
        told[name] = shown
    return {**told, "states": states}


def _same(ms: Memspec, expected: Answers) -> list[dict[str, object]]:
    """The states of the index after the answers were found to be the expected ones."""
    found = _answers(ms)
    states = found.pop("states")
    assert isinstance(states, list)
    assert found == expected
    return states


@pytest.fixture
def expected(store: TempStore) -> Answers:
    """The right answers."""
    told = _answers(store.ms)
    del told["states"]
    return told


@pytest.fixture(params=["new", "open"])
def reader(request: pytest.FixtureRequest, store: TempStore) -> Iterator[Memspec]:
    """Who answers after the damage: a process that starts then, or one that has the file open."""
    with store.again() as ms:
        if request.param == "open":
            ms.search("marmot")
        yield ms


def _index(store: TempStore) -> Path:
    return store.root / "local" / "index.db"


def _stamp_again(store: TempStore) -> None:
    """As if the damage had left no trace in the file's stat."""
    file.stamp(str(store.root / "local"))


def _cut(store: TempStore, share: float) -> None:
    path = _index(store)
    os.truncate(path, int(path.stat().st_size * share))


def _flip(store: TempStore, share: float) -> None:
    data = bytearray(_index(store).read_bytes())
    at = min(int(len(data) * share), len(data) - 1)
    data[at] ^= 0x40
    _index(store).write_bytes(data)


def _garble(store: TempStore, share: float) -> None:
    with _index(store).open("r+b") as opened:
        opened.seek(int(_index(store).stat().st_size * share) // 4096 * 4096)
        opened.write(random.Random(share).randbytes(4096))  # noqa: S311 - the same garbage each time


def _empty(store: TempStore) -> None:
    _index(store).write_bytes(b"")


def _garbage(store: TempStore) -> None:
    _index(store).write_bytes(b"not a database at all\n" * 1000)


def _other_database(store: TempStore) -> None:
    """A sound database with tables of the same names and with nothing in them that is ours."""
    other = _index(store).with_name("other.db")
    with closing(sqlite3.connect(other)) as db:
        db.execute("create table records (id text)")
        db.execute("create table files (path text)")
        db.execute("create table meta (key text, value text)")
        db.execute(f"pragma user_version = {file.VERSION}")
        db.commit()
    other.replace(_index(store))


def _older(store: TempStore) -> None:
    with closing(sqlite3.connect(_index(store))) as db:
        db.execute("pragma user_version = 0")
        db.commit()


def _newer(store: TempStore) -> None:
    with closing(sqlite3.connect(_index(store))) as db:
        db.execute("delete from records")
        db.execute("pragma user_version = 4711")
        db.commit()


def _delete(store: TempStore) -> None:
    _index(store).unlink()


def _delete_stamp(store: TempStore) -> None:
    _index(store).with_name("index.stamp").unlink()


def _wrong_stamp(store: TempStore) -> None:
    _index(store).with_name("index.stamp").write_bytes(b"\xff\x00")


def _delete_local(store: TempStore) -> None:
    for path in _index(store).parent.iterdir():
        path.unlink()
    _index(store).parent.rmdir()


def _foreign_rows(store: TempStore) -> None:
    """Somebody else's writes: sound, committed, and wrong."""
    with closing(sqlite3.connect(_index(store))) as db:
        db.execute("update texts set head = json_set(head, '$.title', 'Forged')")
        db.commit()


def _hot_journal(store: TempStore) -> None:
    """What a writer leaves that is killed while it commits."""

    def die() -> None:
        db = sqlite3.connect(_index(store), isolation_level=None)
        db.execute("pragma cache_spill = 1")
        db.execute("pragma cache_size = 1")
        db.execute("begin immediate")
        db.execute("update texts set head = json_set(head, '$.title', 'Torn')")
        os.kill(os.getpid(), 9)

    assert Child(die).end().signal == 9
    assert _index(store).with_name("index.db-journal").stat().st_size > 0


_DAMAGES: list[Callable[[TempStore], None]] = [
    _empty,
    _garbage,
    _other_database,
    _older,
    _newer,
    _delete,
    _delete_stamp,
    _wrong_stamp,
    _delete_local,
    _foreign_rows,
    pytest.param(_hot_journal, marks=needs_fork),  # type: ignore[list-item]  # a parameter set
]


@pytest.mark.parametrize("damage", _DAMAGES)
def test_a_damaged_index_is_made_anew_and_that_is_said(
    store: TempStore, expected: Answers, reader: Memspec, damage: Callable[[TempStore], None]
) -> None:
    """The first answer comes from a new index and tells why; the next ones from that index."""
    damage(store)
    first, *others = _same(reader, expected)
    assert first["state"] == "built"
    if damage not in {_delete, _delete_local}:
        assert "thrown away" in str(first["why"])
    assert {one["state"] for one in others} == {"fresh"}
    assert all("why" not in one for one in others)


@pytest.mark.parametrize("share", [0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.9999])
@pytest.mark.parametrize("damage", [_cut, _flip, _garble])
def test_any_cut_or_wrong_byte_is_noticed(
    store: TempStore,
    expected: Answers,
    reader: Memspec,
    damage: Callable[[TempStore, float], None],
    share: float,
) -> None:
    """A byte that SQLite would not notice shows in the stat of the file."""
    damage(store, share)
    first, *_ = _same(reader, expected)
    assert first["state"] == "built"


def _cut_off(share: float) -> Callable[[TempStore], None]:
    return lambda store: _cut(store, share)


@pytest.mark.parametrize(
    "damage",
    [
        *(_empty, _garbage, _other_database),
        *map(_cut_off, [0.02, 0.05, 0.1, 0.25, 0.5]),
    ],
)
def test_damage_without_a_trace_is_noticed_by_the_answer(
    store: TempStore, expected: Answers, reader: Memspec, damage: Callable[[TempStore], None]
) -> None:
    """A file that looks untouched and fails while it answers is bypassed, then made anew."""
    opened = reader.search("marmot") if damage is _other_database else None
    damage(store)
    _stamp_again(store)
    first, *_ = _same(reader, expected)
    # Who has the right file open when another takes its name does not even notice.
    assert opened or (first["state"] in {"bypassed", "built"} and first["why"])
    with store.again() as later:
        states = _same(later, expected)
        assert states[-1]["state"] == "fresh"


@pytest.mark.parametrize("share", [number / 20 for number in range(1, 20)])
def test_a_page_of_noise_without_a_trace_changes_no_answer(
    store: TempStore, expected: Answers, reader: Memspec, share: float
) -> None:
    """Whoever asks for the page meets the damage; who does not need it answers rightly."""
    _garble(store, share)
    _stamp_again(store)
    _same(reader, expected)
    with store.again() as later:
        _same(later, expected)


def test_a_writer_heals_the_index_it_stumbles_over(store: TempStore) -> None:
    """An act reads the index, too, and does its work whatever state the file is in."""
    _cut(store, 0.3)
    _stamp_again(store)
    done = store.again().remember("fact", "Capybaras swim", source="t", body="well")
    assert store.ms.search("capybaras").results[0].id == done.id
    again = store.again().doctor()
    assert [one.code for one in again.findings if one.code == "index-differs"] == []


@pytest.mark.parametrize("name", ["index.db", "index.stamp", "index.lock"])
def test_a_folder_in_the_place_of_a_file_is_bypassed(
    store: TempStore, expected: Answers, reader: Memspec, name: str
) -> None:
    """What cannot be replaced is left alone, and the answers come from memory."""
    path = _index(store).with_name(name)
    path.unlink(missing_ok=True)
    (path / "occupied").mkdir(parents=True)
    if name == "index.lock":
        store.put(a_record(3, title="Marmot number3"))
    states = _same(reader, expected) if name != "index.lock" else _answers(reader)["states"]
    assert isinstance(states, list)
    assert {one["state"] for one in states} == {"bypassed"}
    assert all(one["why"] for one in states)


@contextmanager
def _held(store: TempStore) -> Iterator[None]:
    """The database locked by somebody who does not let go."""
    with closing(sqlite3.connect(_index(store), isolation_level=None)) as holder:
        holder.execute("begin exclusive")
        yield
        holder.execute("rollback")


@pytest.mark.parametrize("changed", [False, True])
def test_a_locked_database_is_not_waited_for_long(
    store: TempStore, expected: Answers, reader: Memspec, *, changed: bool
) -> None:
    """Within a few seconds somebody else's lock is given up on, and the answers are right."""
    if changed:
        os.utime(store.root / f"memory/facts/{an_id(3)}.md")
    start = time.monotonic()
    with _held(store):
        states = _same(reader, expected)
        assert time.monotonic() - start < 6
        assert states[0]["state"] in {"built", "bypassed"}
        assert "locked" in str(states[0]["why"])
    assert _same(reader, expected)[-1]["state"] == "fresh"


@needs_fork
def test_a_held_index_lock_is_not_waited_for_long(
    store: TempStore, expected: Answers, reader: Memspec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who cannot write the index answers from memory, and returns to the file later."""
    monkeypatch.setattr(index_module, "_LOCK_SECONDS", 0.3)
    ready, tell = os.pipe()

    def hold() -> None:
        with StoreLock(store.root, name=file.LOCK_NAME):
            os.write(tell, b"x")
            time.sleep(60)

    holder = Child(hold)
    assert os.read(ready, 1) == b"x"
    path = store.root / f"memory/facts/{an_id(3)}.md"
    os.utime(path)
    _delete_stamp(store)
    try:
        start = time.monotonic()
        states = _same(reader, expected)
        assert {one["state"] for one in states} == {"bypassed"}
        assert "locked by process" in str(states[0]["why"])
        # Only the first answer waits, even if there are changes to be read.
        monkeypatch.setattr(index_module, "_LOCK_SECONDS", 30)
        os.utime(path)
        states = _same(reader, expected)
        assert (states[0]["state"], states[0]["read"]) == ("bypassed", 1)
        assert time.monotonic() - start < 3
    finally:
        holder.kill()
        holder.end()
        os.close(ready)
        os.close(tell)
    # Nothing changed, so what is in memory serves on; another reader makes the file ...
    assert _same(reader, expected)[0]["state"] == "bypassed"
    with store.again() as other:
        assert _same(other, expected)[0]["state"] == "built"
    # ... and then it is used again.
    assert _same(reader, expected)[-1]["state"] == "fresh"


@needs_fork
def test_an_index_in_memory_returns_to_the_file_with_the_next_change(
    store: TempStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long-lived process is not slow for ever because of one bad moment."""
    monkeypatch.setattr(index_module, "_LOCK_SECONDS", 0.1)
    index = Index(store.root, Limits())
    with StoreLock(store.root, name="other.lock"):
        pass
    _delete_stamp(store)
    moved = store.root / "local" / "index.lock"
    moved.unlink()
    moved.mkdir()
    assert index.refresh().how == "bypassed"
    moved.rmdir()
    store.put(a_record(70, title="Marmot late"))
    assert index.refresh().how == "built"
    assert index.refresh().how == "fresh"
    index.close()


def _open_to_all(store: TempStore) -> None:
    for folder, _, names in os.walk(store.project.parent):
        Path(folder).chmod(0o777)
        for name in names:
            Path(folder, name).chmod(0o666)
    store.project.chmod(0o755)  # another user's store is passed over where everybody may write
    if os.geteuid() == 0:
        for above in store.project.parents:
            if not above.stat().st_mode & 0o001:
                above.chmod(0o755)


def _as_somebody(act: Callable[[], object]) -> None:
    """Run the act in a child process as a user who owns nothing, so that permissions count."""

    def live() -> None:
        if os.geteuid() == 0:
            os.setgid(65_534)
            os.setuid(65_534)
        act()

    Child(live).end().well()


@needs_fork
@pytest.mark.parametrize("what", ["local", "files", "store"])
@pytest.mark.parametrize("index", ["current", "behind", "absent"])
def test_a_read_only_store_is_read_all_the_same(
    store: TempStore, expected: Answers, what: str, index: str
) -> None:
    """From the file if it is there, then with what changed since, else from nothing."""
    _open_to_all(store)
    store.ms.status()
    local = store.root / "local"
    if index == "behind":
        os.utime(store.root / f"memory/facts/{an_id(3)}.md")
    elif index == "absent":
        _delete_local(store)
        local.mkdir()
    folders = [Path(folder) for folder, *_ in os.walk(store.root)] if what == "store" else [local]
    for folder in folders:
        folder.chmod(0o555)
    if what == "files":
        for path in local.iterdir():
            path.chmod(0o444)

    def look() -> None:
        with store.again() as ms:
            states = _same(ms, expected)
            if what == "files" or index == "absent":  # even a chmod makes the file somebody else's
                assert (states[0]["state"], states[0]["read"]) == ("bypassed", _RECORDS + 2)
            elif index == "behind":
                assert (states[0]["state"], states[0]["read"]) == ("bypassed", 1)
            else:
                assert states[0]["state"] == "fresh"
            assert len({one["state"] for one in states}) == 1

    try:
        _as_somebody(look)
        left = sorted(path.name for path in (store.root / "local").iterdir())
        assert [name for name in left if name.startswith(".tmp")] == []
    finally:
        for folder in folders:
            folder.chmod(stat.S_IRWXU)


@needs_fork
def test_an_unfinished_change_does_not_stop_a_reader_who_cannot_finish_it(
    store: TempStore, expected: Answers
) -> None:
    """A journal in a read-only store waits for a writer; the records are whole meanwhile."""
    store.write("local/journal/x.json", "{}")
    _open_to_all(store)
    for folder in ("local", "local/journal"):
        (store.root / folder).chmod(0o555)

    def look() -> None:
        with store.again() as ms:
            _same(ms, expected)

    try:
        _as_somebody(look)
    finally:
        for folder in ("local", "local/journal"):
            (store.root / folder).chmod(0o755)
    assert (store.root / "local/journal/x.json").exists()


def test_a_file_swapped_under_an_open_index_is_noticed(store: TempStore, expected: Answers) -> None:
    """Another index, sound and of another store, is not taken for ours."""
    other = TempStore(store.project.parent / "other")
    other.put(a_record(1, title="Marmot of elsewhere"))
    assert other.ms.search("marmot").count == 1
    other.ms.close()
    with store.again() as ms:
        _same(ms, expected)
        _index(other).replace(_index(store))
        assert _same(ms, expected)[0]["state"] == "built"


def test_leftovers_of_dead_builders_are_removed(store: TempStore) -> None:
    """A builder that was killed leaves a temporary file; the next one does not keep it."""
    for name in (".tmp-4711-index.db", ".tmp-4711-index.db-journal", ".tmp-4711-index.stamp"):
        _index(store).with_name(name).write_bytes(b"x" * 1000)
    _delete(store)
    store.again().status()
    left = sorted(path.name for path in _index(store).parent.iterdir())
    assert [name for name in left if name.startswith(".tmp")] == []


def test_without_fts5_the_error_says_what_to_do(
    store: TempStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No FTS5 means no search, in a file or in memory: no answer is better than a wrong one."""

    class Poor(sqlite3.Connection):
        def executescript(self, script: str, /) -> sqlite3.Cursor:
            if "fts5" in script:
                raise sqlite3.OperationalError("no such module: fts5")
            return super().executescript(script)

    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda *args, **named: connect(*args, **named, factory=Poor)
    )
    _delete(store)
    with pytest.raises(StorageFailed, match="FTS5") as failed, store.again() as ms:
        ms.search("marmot")
    assert failed.value.hint
    assert [p.name for p in _index(store).parent.iterdir() if p.name.startswith(".tmp")] == []


def test_an_answer_is_proven_afterwards_too(store: TempStore) -> None:
    """A file that was damaged while it answered is asked again, and not for ever."""
    ws = Workspace(store.root, clock=store.clock, entropy=os.urandom)
    asked: list[str] = []

    def ask(db: sqlite3.Connection, *, spoilt: int, refuses: bool) -> int:
        asked.append(ws.index.state.how)
        if len(asked) <= spoilt and ws.index.state.how != "bypassed":
            _flip(store, 0.5)
            if refuses:
                raise KeyError("what no sound row lacks")
        return int(db.execute("select count(*) from records").fetchone()[0])

    for refuses in (False, True):
        asked.clear()
        assert ws.read(partial(ask, spoilt=1, refuses=refuses)) == _RECORDS + 1
        assert asked == ["fresh", "built"]
    asked.clear()
    assert ws.read(partial(ask, spoilt=9, refuses=False)) == _RECORDS + 1
    assert asked[-1] == "bypassed"
    assert len(asked) == 4
    ws.close()


def test_an_error_of_the_answer_itself_is_no_damage(store: TempStore) -> None:
    """What went wrong on a sound index is told at once."""
    ws = Workspace(store.root, clock=store.clock, entropy=os.urandom)
    asked: list[int] = []

    def ask(db: sqlite3.Connection) -> None:
        del db
        asked.append(1)
        raise KeyError("a mistake of ours")

    with pytest.raises(KeyError, match="mistake"):
        ws.read(ask)
    assert asked == [1]
    ws.close()


def test_a_copy_of_a_file_that_is_written_meanwhile_is_not_used(
    store: TempStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Copying takes no lock, so the file has to be the same before and after it."""
    local = str(store.root / "local")
    with closing(file.copy_in_memory(local)) as copy:
        assert copy.execute("select count(*) from records").fetchone() == (_RECORDS + 1,)
    open_read_only = file.open_read_only

    def opened(where: str) -> sqlite3.Connection:
        found = open_read_only(where)
        os.utime(_index(store))
        return found

    monkeypatch.setattr(file, "open_read_only", opened)
    with pytest.raises(file.Unusable, match="not as it was left"):
        file.copy_in_memory(local)


def test_all_questions_of_an_answer_see_one_state(store: TempStore) -> None:
    """Another process that syncs between two questions does not mix two states in one answer."""
    ws = Workspace(store.root, clock=store.clock, entropy=os.urandom)

    def ask(db: sqlite3.Connection) -> tuple[int, int]:
        before = db.execute("select count(*) from records").fetchone()[0]
        store.put(a_record(80, title="Marmot between"))
        with store.again() as other:
            assert other.search("between").count == 1
        return before, db.execute("select count(*) from records").fetchone()[0]

    assert ws.read(ask) == (_RECORDS + 1, _RECORDS + 1)
    assert ws.read(lambda db: db.execute("select count(*) from records").fetchone()[0]) == 42
    ws.close()


def test_the_index_has_no_write_ahead_log(store: TempStore) -> None:
    """Its shared memory would corrupt on network disks; a rollback journal does not."""
    with closing(sqlite3.connect(_index(store))) as db:
        assert db.execute("pragma journal_mode").fetchone() == ("delete",)
