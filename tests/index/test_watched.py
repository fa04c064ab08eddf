from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

import pytest

from memspec_py.api import Memspec
from memspec_py.index import index
from memspec_py.record.parse import print_record
from memspec_py.report import as_json
from memspec_py.store import layout, watch
from memspec_py.testing import TempStore, a_record, an_id
from tests.faults import Child, needs_fork, quick_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from memspec_py.store.listing import Listing

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux alone has it")

_ROUNDS = 60


@pytest.fixture
def store() -> Iterator[TempStore]:
    """A store of five records, on a file system of this host."""
    with quick_folder() as folder:
        made = TempStore(folder)
        for number in range(1, 6):
            made.put(a_record(number, title=f"Marmot number{number}"))
        with closing(made.ms):
            yield made


@pytest.fixture
def watched(store: TempStore) -> Iterator[Memspec]:
    """The store, opened to stay."""
    with _watched(store) as opened:
        assert opened.search("marmot").count == 5
        yield opened


@pytest.fixture
def listings(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The whole listings that a watched or an ordinary index makes from now on."""
    made: list[object] = []
    for module in (index, watch):
        whole = module.list_records

        def spy(*given: object, whole: Callable[..., Listing] = whole) -> Listing:
            made.append(given)
            return whole(*given)

        monkeypatch.setattr(module, "list_records", spy)
    return made


def _watched(store: TempStore) -> Memspec:
    return Memspec.open(store.project, where=store.where, clock=store.clock, watch=True)


def _titles(memspec: Memspec) -> list[str]:
    return sorted(hit.title for hit in memspec.search("marmot").results)


def _agrees(watched: Memspec, store: TempStore) -> None:
    """The whole replies are those of somebody who has just opened the store."""
    with closing(store.again()) as fresh:
        assert _replies(watched) == _replies(fresh)


def _replies(memspec: Memspec) -> list[object]:
    """What it says, but for the state of the index."""
    replies = (
        memspec.search("marmot number", explain=True),
        memspec.list(state="any"),
        memspec.status(),
    )
    told: list[object] = []
    for reply in replies:
        shown = as_json(reply)
        assert isinstance(shown, dict)
        del shown["index"]
        told.append(shown)
    return told


def _fact(store: TempStore, number: int) -> Path:
    return store.root / f"memory/facts/{an_id(number)}.md"


def _create(store: TempStore) -> None:
    store.put(a_record(9, title="Marmot number9"))


def _edit(store: TempStore) -> None:
    """In place, of the same size, and with the time of before."""
    path = _fact(store, 2)
    before = path.stat()
    path.write_text(path.read_text().replace("number2", "number7"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _rename_over(store: TempStore) -> None:
    new = store.root / "new"
    new.write_text(_fact(store, 2).read_text().replace("number2", "number8"))
    new.replace(_fact(store, 2))


def _delete(store: TempStore) -> None:
    _fact(store, 2).unlink()


def _move(store: TempStore) -> None:
    (store.root / "memory/mine").mkdir()
    _fact(store, 2).rename(store.root / "memory/mine/moved.md")


def _new_folder(store: TempStore) -> None:
    place = store.root / "observations" / "2026" / "02"
    place.mkdir(parents=True)
    (place / f"{an_id(9)}.md").write_text(print_record(a_record(9, title="Marmot number9")))


def _folder_away(store: TempStore) -> None:
    (store.root / "memory").rename(store.root / "aside")


def _folder_back(store: TempStore) -> None:
    if (store.root / "aside").exists():
        (store.root / "memory").rename(store.root / "empty")
        (store.root / "aside").rename(store.root / "memory")
    else:
        (store.root / "memory").rename(store.root / "aside")
        (store.root / "memory").mkdir()


def _break(store: TempStore) -> None:
    _fact(store, 2).write_text("---\nid: [\n---\n")


def _act(store: TempStore) -> None:
    with closing(store.again()) as other:
        other.remember("fact", "Marmot of another", source="ada", force=True)


_EFFECTS: dict[Callable[[TempStore], None], set[str]] = {
    _create: {"+Marmot number9"},
    _edit: {"-Marmot number2", "+Marmot number7"},
    _rename_over: {"-Marmot number2", "+Marmot number8"},
    _delete: {"-Marmot number2"},
    _move: set(),
    _new_folder: {"+Marmot number9"},
    _folder_away: {f"-Marmot number{number}" for number in range(1, 6)},
    _break: {"-Marmot number2"},
    _act: {"+Marmot of another"},
}


def _here(act: Callable[[], object]) -> None:
    act()


def _elsewhere(act: Callable[[], object]) -> None:
    Child(act).end().well()


@needs_fork
@pytest.mark.parametrize("somebody", [_here, _elsewhere])
@pytest.mark.parametrize("change", _EFFECTS)
def test_the_very_next_read_sees_a_change_by_anybody(
    store: TempStore,
    watched: Memspec,
    change: Callable[[TempStore], None],
    somebody: Callable[[Callable[[], object]], None],
) -> None:
    """By this process or another; and the replies stay those of a new reader."""
    before = set(_titles(watched))
    somebody(lambda: change(store))
    after = set(_titles(watched))
    assert {f"-{title}" for title in before - after} | {
        f"+{title}" for title in after - before
    } == _EFFECTS[change]
    _agrees(watched, store)


def test_a_folder_that_comes_back_brings_its_records(store: TempStore, watched: Memspec) -> None:
    """Whatever stood in its place meanwhile."""
    counts = []
    for _ in range(3):
        _folder_back(store)
        counts.append(watched.search("marmot").count)
    assert counts == [0, 5, 0]


def test_a_search_lists_no_files(
    store: TempStore, watched: Memspec, listings: list[object]
) -> None:
    """Neither when nothing happened nor when a record was edited; and it says how it answered."""
    states = [watched.search("marmot").circumstances.index["state"]]
    _edit(store)
    states.append(watched.search("marmot").circumstances.index["state"])
    states.append(watched.search("marmot").circumstances.index["state"])
    assert states == ["fresh", "synced", "fresh"]
    assert listings == []
    store.ms.search("marmot")
    assert len(listings) == 1


def test_its_own_writes_are_seen(store: TempStore, watched: Memspec) -> None:
    """An act of the same object, and what it withdrew."""
    kept = watched.remember("fact", "Marmots hibernate", source="ada", force=True)
    assert "Marmots hibernate" in _titles(watched)
    watched.supersede(kept.id, reason="seen", title="Marmots hibernate in groups")
    assert "Marmots hibernate" not in _titles(watched)
    assert "Marmots hibernate in groups" in _titles(watched)
    _agrees(watched, store)


def test_edits_within_one_tick_of_the_clock_are_seen(store: TempStore, watched: Memspec) -> None:
    """Of the same size, with the time put back, one right after the other."""
    path = _fact(store, 2)
    text, before = path.read_text(), path.stat()
    for number in range(_ROUNDS):
        path.write_text(text.replace("number2", f"marmot{number % 10}"))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert f"Marmot marmot{number % 10}" in _titles(watched)


@needs_fork
def test_whatever_another_process_says_it_wrote_is_in_the_next_answer(
    store: TempStore, watched: Memspec
) -> None:
    """It writes and tells in turns with our reading, and other readers sync the index as well."""
    told, tell = os.pipe()
    asked, ask = os.pipe()
    path = _fact(store, 3)
    text = path.read_text()

    def write() -> None:
        for number in range(_ROUNDS):
            os.read(asked, 1)
            if number % 2:
                path.write_text(text.replace("number3", f"written{number}"))
            else:
                new = path.with_suffix(".new")
                new.write_text(text.replace("number3", f"written{number}"))
                new.replace(path)
            if number % 5 == 0:
                with closing(store.again()) as reader:
                    reader.search("marmot")
            os.write(tell, b"x")

    child = Child(write)
    for number in range(_ROUNDS):
        os.write(ask, b"x")
        os.read(told, 1)
        assert f"Marmot written{number}" in _titles(watched)
    child.end().well()
    for end in (told, tell, asked, ask):
        os.close(end)


def test_checkouts_are_seen(store: TempStore, watched: Memspec) -> None:
    """Git changes, makes and removes many files and whole folders at once."""

    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=store.project, check=True, capture_output=True)

    git("init", "--quiet")
    git("checkout", "--quiet", "-b", "one")
    git("add", "--all")
    git("commit", "--quiet", "-m", "one")
    git("checkout", "--quiet", "-b", "two")
    _edit(store)
    _new_folder(store)
    for number in (1, 3):
        _fact(store, number).unlink()
    git("add", "--all")
    git("commit", "--quiet", "-m", "two")
    titles = {"two": _titles(watched)}
    git("checkout", "--quiet", "one")
    titles["one"] = _titles(watched)
    assert len(titles["one"]) == 5
    assert len(titles["two"]) == 4
    for _ in range(3):
        for branch in ("two", "one"):
            git("checkout", "--quiet", branch)
            assert _titles(watched) == titles[branch]
    _agrees(watched, store)


def test_two_who_watch_agree(store: TempStore, watched: Memspec) -> None:
    """What one syncs is fresh for the other, so neither syncs again and again."""
    with _watched(store) as other:
        other.search("marmot")
        for change in (_edit, _create, _move, _new_folder):
            change(store)
            assert _titles(watched) == _titles(other)
            for one in (watched, other, store.ms):
                assert one.search("marmot").circumstances.index["state"] == "fresh"


def test_another_index_file_is_noticed(store: TempStore, watched: Memspec) -> None:
    """Removed, or made anew by somebody who listed the files at another time."""
    index_file = store.root / layout.LOCAL / "index.db"
    index_file.unlink()
    assert len(_titles(watched)) == 5
    _create(store)
    index_file.unlink()
    store.ms.search("marmot")
    assert len(_titles(watched)) == 6


def test_settings_are_those_of_the_opening_as_ever(store: TempStore, watched: Memspec) -> None:
    """Who opens the store anew has the new ones, watched or not."""
    store.put(a_record(9, title="Marmot number9", body="word " * 300))
    assert len(_titles(watched)) == 6
    store.write("config.yaml", "limits:\n  record_bytes: 1200\n")
    assert len(_titles(watched)) == 6
    with _watched(store) as again:
        assert len(_titles(again)) == 5
    assert len(_titles(watched)) == 6


@pytest.mark.parametrize("failing", ["inotify_init1", "inotify_add_watch"])
def test_without_a_watch_the_answers_are_the_same(
    store: TempStore, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    """Every read lists the files, as for whoever asks once."""
    real = watch._libc()  # noqa: SLF001 - there is no public name for it

    class Library:
        def __getattr__(self, name: str) -> object:
            return (lambda *_: -1) if name == failing else getattr(real, name)

    monkeypatch.setattr(watch, "_libc", Library)
    with _watched(store) as opened:
        for change in (_edit, _create, _move, _new_folder, _folder_away):
            change(store)
            _agrees(opened, store)


def test_an_index_in_memory_is_kept_current(
    store: TempStore, watched: Memspec, listings: list[object]
) -> None:
    """Where there is no index file, the events spare the listing all the same."""
    local = store.root / layout.LOCAL
    for path in local.glob("index.*"):
        path.unlink()
    (local / "index.db").mkdir()
    (local / "index.db" / "full").write_text("no index can be here")
    assert len(_titles(watched)) == 5
    assert watched.search("marmot").circumstances.index["state"] == "bypassed"
    listings.clear()
    assert len(_titles(watched)) == 5
    assert listings == []
    _delete(store)
    assert len(_titles(watched)) == 4


def test_every_layer_is_watched(listings: list[object]) -> None:
    """A store of the home that is read beside the project's is no exception."""
    with quick_folder() as folder, ExitStack() as stack:
        store = TempStore(folder)
        stack.enter_context(closing(store.ms))
        store.put(a_record(1, title="Marmot of the project"))
        below = store.home / ".memspec" / "memory" / "facts" / f"{an_id(2)}.md"
        below.parent.mkdir(parents=True)
        below.write_text(print_record(a_record(2, title="Marmot of the home")))
        opened = stack.enter_context(_watched(store))
        assert _titles(opened) == ["Marmot of the home", "Marmot of the project"]
        listings.clear()
        below.write_text(print_record(a_record(2, title="Marmot of the house")))
        assert _titles(opened) == ["Marmot of the house", "Marmot of the project"]
        _fact(store, 1).unlink()
        assert _titles(opened) == ["Marmot of the house"]
        assert listings == []


def test_closing_leaves_no_descriptor(store: TempStore) -> None:
    """Of the index, or of the watch."""
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        with _watched(store) as opened:
            opened.search("marmot")
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_store_is_not_watched_unless_asked(store: TempStore) -> None:
    """One command gains nothing by it, and should not load what it takes."""
    program = (
        "import sys; from memspec_py import Memspec; Memspec.open(sys.argv[1]).search('x');"
        "sys.exit('ctypes' in sys.modules or 'memspec_py.store.watch' in sys.modules)"
    )
    with tempfile.TemporaryDirectory() as home:
        subprocess.run(
            [sys.executable, "-c", program, str(store.project)],
            check=True,
            env={**os.environ, "HOME": home},
        )
