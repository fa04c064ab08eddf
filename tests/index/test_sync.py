from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspec_py.config import Limits
from memspec_py.index import freshness, sync
from memspec_py.index.db import in_memory
from memspec_py.index.index import Index
from memspec_py.index.sync import delta
from memspec_py.store.listing import Stat, list_records
from memspec_py.testing import TempStore, a_record, an_id
from tests.faults import Child, needs_fork

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from memspec_py.record.model import Record

_LONG_AGO = 1_600_000_000


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """A store of five old records that has been read once, long enough ago."""
    made = TempStore(tmp_path)
    for number in range(1, 6):
        made.put(a_record(number, title=f"Marmot number{number}"))
    made.ms.status()
    return made


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The record files that were opened since."""
    seen: list[str] = []
    open_ = os.open

    def watched(path: str, *args: int, **named: int) -> int:
        if str(path).endswith(".md"):
            seen.append(Path(path).name)
        return open_(path, *args, **named)

    monkeypatch.setattr(os, "open", watched)
    return seen


def _titles(store: TempStore, query: str = "marmot") -> list[str]:
    return sorted(hit.title for hit in store.ms.search(query).results)


def _matches(index: Index, word: str) -> int:
    found = index.db.execute("select count(*) from words where words match ?", (word,))
    return int(found.fetchone()[0])


def _racy(db: sqlite3.Connection) -> list[str]:
    (row,) = db.execute("select value from meta where key = 'racy'").fetchall()
    paths: list[str] = json.loads(row[0])
    return paths


def _settled(store: TempStore, monkeypatch: pytest.MonkeyPatch) -> Index:
    """An index of a store whose files nobody touched for a while."""
    monkeypatch.setattr(sync, "RACY_NS", -1_000_000_000)
    index = Index(store.root, Limits())
    index.rebuild()
    return index


def test_an_unchanged_store_costs_no_read(
    store: TempStore, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the files are older than two seconds, nothing but their stats is looked at."""
    index = _settled(store, monkeypatch)
    opened.clear()
    assert index.refresh().how == "fresh"
    assert opened == []
    index.close()


def test_one_changed_file_costs_one_read(
    store: TempStore, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What did not change is not opened."""
    index = _settled(store, monkeypatch)
    store.put(a_record(3, title="Badger"))
    opened.clear()
    state = index.refresh()
    assert (state.how, state.read, opened) == ("synced", 1, [f"{an_id(3)}.md"])
    index.close()


def test_a_deleted_file_costs_no_read(
    store: TempStore, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is gone takes only its own rows along."""
    index = _settled(store, monkeypatch)
    (store.root / f"memory/facts/{an_id(3)}.md").unlink()
    opened.clear()
    state = index.refresh()
    assert (state.how, state.read, state.files, opened) == ("synced", 0, 4, [])
    index.close()


def test_a_touched_file_is_read_once(
    store: TempStore, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new stat with the old bytes changes no row but the stat, and is not read again."""
    index = _settled(store, monkeypatch)
    before = index.db.execute("select key, path from records order by key").fetchall()
    os.utime(store.root / f"memory/facts/{an_id(3)}.md")
    opened.clear()
    assert [index.refresh().how, index.refresh().how] == ["synced", "fresh"]
    assert opened == [f"{an_id(3)}.md"]
    assert index.db.execute("select key, path from records order by key").fetchall() == before
    index.close()


def _delete(store: TempStore, path: Path) -> None:
    del store
    path.unlink()


def _move(store: TempStore, path: Path) -> None:
    target = store.root / "memory" / "decisions" / path.name
    path.rename(target)
    target.write_text(target.read_text().replace("type: fact", "type: decision"))


def _same_size(store: TempStore, path: Path) -> None:
    del store
    path.write_text(path.read_text().replace("number2", "number9"))


def _same_stat(store: TempStore, path: Path) -> None:
    """As after restoring a backup: other bytes, the same size and mtime."""
    old = path.stat()
    _same_size(store, path)
    os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))


def _older(store: TempStore, path: Path) -> None:
    _same_size(store, path)
    os.utime(path, (_LONG_AGO, _LONG_AGO))


def _other_inode(store: TempStore, path: Path) -> None:
    """A rename over the file, with size and mtime of the old one."""
    del store
    old = path.stat()
    new = path.with_suffix(".new")
    new.write_text(path.read_text().replace("number2", "number9"))
    os.utime(new, ns=(old.st_atime_ns, old.st_mtime_ns))
    new.replace(path)


def _future(store: TempStore, path: Path) -> None:
    """A time that no 64 bits of nanoseconds hold."""
    _same_size(store, path)
    os.utime(path, (13_569_465_600, 13_569_465_600))


_KEPT = [f"Marmot number{number}" for number in (1, 3, 4, 5)]


@pytest.mark.parametrize(
    ("change", "after"),
    [
        (_delete, _KEPT),
        (_move, sorted([*_KEPT, "Marmot number2"])),
        *(
            (change, sorted([*_KEPT, "Marmot number9"]))
            for change in (_same_size, _same_stat, _older, _other_inode, _future)
        ),
    ],
)
def test_the_very_next_read_of_anybody_sees_a_change(
    store: TempStore, change: Callable[[TempStore, Path], None], after: list[str]
) -> None:
    """An instance that has read before, and a new one, see what happened to a file."""
    path = store.root / f"memory/facts/{an_id(2)}.md"
    other = store.again()
    assert other.search("marmot").count == 5
    change(store, path)
    assert sorted(hit.title for hit in other.search("marmot").results) == after
    assert _titles(store) == after
    assert sorted(hit.title for hit in store.again().search("marmot").results) == after
    other.close()


@pytest.mark.parametrize("keeper", ["file", "memory"])
def test_edits_within_one_tick_of_the_clock_are_seen(
    store: TempStore, keeper: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stat may be the very same: what is this young is read again whatever its stat says."""
    path = store.root / f"memory/facts/{an_id(2)}.md"
    index = Index(store.root, Limits())
    listed = list_records(store.root)
    monkeypatch.setattr("memspec_py.index.index.list_records", lambda _: listed)
    monkeypatch.setattr("memspec_py.index.sync.list_records", lambda _: listed)
    if keeper == "memory":
        index.refresh_in_memory()
    else:
        index.rebuild()
    path.write_text(path.read_text().replace("number2", "number7"))
    # Even a listing that shows the old stat must not hide the new bytes.
    index.refresh()
    assert [_matches(index, word) for word in ("number7", "number2")] == [1, 0]
    index.close()


def test_a_file_from_the_future_hides_no_edit_from_an_index_in_memory(store: TempStore) -> None:
    """Which files are young is told by the file system's clock, not by times that anybody sets."""
    os.utime(store.root / f"memory/facts/{an_id(1)}.md", (4_000_000_000, 4_000_000_000))
    index = Index(store.root, Limits())
    index.refresh_in_memory()
    assert len(_racy(index.db)) == 5
    index.close()


_stats = st.builds(Stat, *(st.integers(0, 3) for _ in Stat._fields))
_files = st.dictionaries(st.sampled_from("abcdef"), _stats, max_size=6)


@given(_files, _files, st.lists(st.sampled_from("abcdefg")))
def test_delta_names_every_difference_and_nothing_else(
    known: dict[str, Stat], now: dict[str, Stat], racy: list[str]
) -> None:
    """Read what is new, has another stat or is racy; gone is what is no longer listed."""
    todo = delta(known, now, racy)
    for path in known.keys() | now.keys():
        different = path in now and (known.get(path) != now[path] or path in racy)
        assert (path in todo.read) == different
        assert (path in todo.gone) == (path in known and path not in now)
    assert todo.read == sorted(set(todo.read))
    assert todo.gone == sorted(set(todo.gone))


@pytest.mark.parametrize("seconds", [-3, -2.001, -1.999, 0, 3])
@pytest.mark.parametrize("by", ["ctime", "mtime"])
def test_young_files_are_racy(store: TempStore, seconds: float, by: str) -> None:
    """A file touched within two seconds before the look, or after it, is looked at again."""
    path = store.root / f"memory/facts/{an_id(1)}.md"
    far = 4_000_000_000_000_000_000
    if by == "mtime":
        os.utime(path, ns=(far, far))
    touched = far if by == "mtime" else path.stat().st_ctime_ns
    now = touched - int(seconds * 1_000_000_000)
    db = in_memory()
    sync.sync(db, str(store.root), list_records(store.root), Limits(), now_ns=now)
    assert (str(path.relative_to(store.root)) in _racy(db)) == (seconds > -2)
    db.close()


def test_a_file_that_changes_between_listing_and_reading_is_young(
    store: TempStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its time is the one it was read at, not the old one in the listing."""
    monkeypatch.setattr(sync, "RACY_NS", 1_000_000)
    path = store.root / f"memory/facts/{an_id(1)}.md"
    listing = list_records(store.root)
    time.sleep(0.05)
    os.utime(path)
    db = in_memory()
    now = path.stat().st_ctime_ns
    sync.sync(db, str(store.root), listing, Limits(), now_ns=now)
    assert _racy(db) == [str(path.relative_to(store.root))]
    db.close()


def test_many_young_files_are_cleared_by_a_write(
    store: TempStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few are read again each time; more cost one sync, after which they are old."""
    for number in range(10, 40):
        store.put(a_record(number, title=f"Vole {number}"))
    index = Index(store.root, Limits())
    index.rebuild()
    assert index.refresh().read == 35
    monkeypatch.setattr(sync, "RACY_NS", -1_000_000_000)
    assert [index.refresh().how, index.refresh().how] == ["synced", "fresh"]
    index.close()


def test_a_file_moved_while_the_folders_are_listed_is_not_lost(
    store: TempStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gone from the folder that is listed late, not yet in the one that was listed early."""
    index = _settled(store, monkeypatch)
    path = store.root / f"memory/facts/{an_id(2)}.md"
    _delete(store, path)
    without = list_records(store.root)
    store.put(a_record(2, title="Marmot number2", type="decision"))
    looks = iter([without])
    monkeypatch.setattr(
        "memspec_py.index.index.list_records", lambda root: next(looks, None) or list_records(root)
    )
    index.refresh(listing=without)
    assert index.db.execute("select path from records where id = ?", (an_id(2),)).fetchall() == [
        (f"memory/decisions/{an_id(2)}.md",)
    ]
    index.close()


def test_a_change_during_a_cold_build_is_in_it(
    store: TempStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was written while the first files were read is found before the build ends."""
    read_files = sync.read_files
    written: list[Record] = []

    def slow(root: str, paths: list[str], limits: Limits) -> object:
        for rows in read_files(root, paths, limits):
            if not written:
                written.append(a_record(77, title="Marmot late"))
                store.put(written[0])
            yield rows

    monkeypatch.setattr("memspec_py.index.parallel.read_files", slow)
    (store.root / "local" / "index.db").unlink()
    assert "Marmot late" in _titles(store)


def test_other_limits_read_every_file_anew(store: TempStore) -> None:
    """A file that was too long is a record once config.yaml allows it, and the other way round."""
    store.put(a_record(9, title="Marmot number9", body="word " * 300))
    assert len(_titles(store)) == 6
    store.write("config.yaml", "limits:\n  record_bytes: 1200\n")
    small = store.again()
    reply = small.search("marmot")
    assert reply.count == 5
    assert [one["code"] for one in reply.circumstances.unreadable] == ["too-large"]
    store.write("config.yaml", "")
    assert store.again().search("marmot").count == 6
    small.close()


def test_a_file_that_could_not_be_opened_is_tried_again(
    store: TempStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever kept it closed (too many open files, a network disk) may end without a new stat."""
    name = f"{an_id(2)}.md"
    with monkeypatch.context() as patch:
        patch.setattr(sync, "RACY_NS", -1_000_000_000)
        patch.setattr(sync, "bytes_of", _refusing(name))
        patch.setattr(freshness, "bytes_of", _refusing(name))
        path = store.root / "memory" / "facts" / name
        os.utime(path)
        first = store.ms.search("marmot")
        second = store.ms.search("marmot")
    assert (first.count, second.count) == (4, 4)
    assert [one["code"] for one in second.circumstances.unreadable] == ["unopened"]
    assert second.circumstances.index["state"] == "fresh"
    assert store.ms.search("marmot").count == 5


def test_the_reason_why_a_file_stays_closed_is_the_last_one(
    store: TempStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another reason replaces the one that was told before."""
    name = f"{an_id(2)}.md"
    for reason in ("Too many open files", "Input/output error"):
        monkeypatch.setattr(sync, "bytes_of", _refusing(name, reason))
        os.utime(store.root / "memory" / "facts" / name)
        (told,) = store.ms.search("marmot").circumstances.unreadable
        assert reason in str(told["message"])


def _refusing(
    name: str, reason: str = "Too many open files"
) -> Callable[[str, int], tuple[Stat, bytes]]:
    def bytes_of(place: str, limit: int) -> tuple[Stat, bytes]:
        if place.endswith(name):
            raise OSError(24, reason)
        return freshness_bytes_of(place, limit)

    freshness_bytes_of = freshness.bytes_of
    return bytes_of


def _as_somebody(act: Callable[[], object]) -> None:
    """Run the act in a child process as a user who owns nothing, so that permissions count."""

    def live() -> None:
        if os.geteuid() == 0:
            os.setgid(65_534)
            os.setuid(65_534)
        act()

    Child(live).end().well()


@needs_fork
@pytest.mark.parametrize("mode", [0o000, 0o444, 0o111])
def test_a_closed_folder_is_told_and_its_records_come_back(store: TempStore, mode: int) -> None:
    """A folder without permission hides its records, says so, and deletes nothing for good."""
    facts = store.root / "memory" / "facts"
    store.put(a_record(50, title="Marmot decided", type="decision"))
    for folder, _, names in os.walk(store.project.parent):
        Path(folder).chmod(0o777)
        for name in names:
            Path(folder, name).chmod(0o666)
    store.project.chmod(0o755)  # another user's store is passed over where everybody may write
    for above in store.project.parents:
        if os.geteuid() == 0 and not above.stat().st_mode & 0o001:
            above.chmod(0o755)
    facts.chmod(mode)

    def look() -> None:
        reply = store.again().search("marmot")
        assert [hit.title for hit in reply.results] == ["Marmot decided"]
        assert {str(one["path"]).removesuffix(".md") for one in reply.circumstances.unreadable} <= {
            "memory/facts",
            *(f"memory/facts/{an_id(number)}" for number in range(1, 6)),
        }
        assert reply.circumstances.unreadable_count > 0

    try:
        _as_somebody(look)
    finally:
        facts.chmod(0o755)
    assert store.again().search("marmot").count == 6


def test_a_name_that_is_no_text_is_told_and_the_rest_works(store: TempStore) -> None:
    """A file, a folder and a link with bytes in their names that are no UTF-8."""
    facts = os.fsencode(store.root / "memory" / "facts")
    try:
        with open(facts + b"/ms_\xff.md", "wb") as file:
            file.write(b"---\n")
    except OSError:
        pytest.skip("this file system takes names in UTF-8 only")
    os.mkdir(facts + b"/\xfe")
    os.symlink(facts, facts + b"/\xfd.md")
    reply = store.ms.search("marmot")
    assert reply.count == 5
    told = [(one["path"], one["code"]) for one in reply.circumstances.unreadable]
    assert sorted(told) == [
        (f"memory/facts/{name}", "bad-name") for name in (r"\xfd.md", r"\xfe", r"ms_\xff.md")
    ]
    json.dumps(told).encode()


def test_folders_nested_without_end_do_not_stop_a_reader(store: TempStore) -> None:
    """Deeper than Python's stack, as a checkout of a hostile repository may be."""
    depth = 1_050
    here = Path.cwd()
    os.chdir(store.root / "memory")
    try:
        for _ in range(depth):
            Path("d").mkdir()
            os.chdir("d")
        reply = store.ms.search("marmot")
        for _ in range(depth):  # rmtree has a stack, too
            os.chdir("..")
            Path("d").rmdir()
    finally:
        os.chdir(here)
    assert (reply.count, reply.circumstances.unreadable_count) == (5, 0)
