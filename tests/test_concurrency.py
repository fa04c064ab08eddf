"""Eight processes write and read one store at the same time: nothing lost, nothing doubled."""

from __future__ import annotations

import json
import os
import random
import time
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import pytest

from memspec_py.api import Memspec
from memspec_py.clock import SystemClock
from memspec_py.index.db import LOCK_NAME
from memspec_py.record.model import Type
from memspec_py.store import files
from memspec_py.store.layout import RECORD_FOLDERS
from memspec_py.store.lock import StoreLock
from memspec_py.testing import TempStore, a_record, an_id
from tests.faults import Child, needs_fork, quick_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

pytestmark = needs_fork

_PROCESSES = 8
_ACTS = 200


class _Written(NamedTuple):
    """A record that its writer was told is kept."""

    id: str
    word: str


class _Board:
    """Where writers note what was acknowledged: one short line each, seen at once by the others."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.touch()

    def note(self, written: _Written) -> None:
        handle = os.open(self._path, os.O_WRONLY | os.O_APPEND)
        os.write(handle, (json.dumps(written) + "\n").encode())
        os.close(handle)

    def all(self) -> list[_Written]:
        return [_Written(*json.loads(line)) for line in self._path.read_text().splitlines()]


@pytest.fixture
def quick() -> Iterator[Path]:
    """A folder where syncing costs nothing, so that the processes meet more often."""
    with quick_folder() as folder:
        yield folder


def _open(store: TempStore) -> Memspec:
    """The store as a process of its own opens it: real time, real ids."""
    return Memspec.open(store.project, where=store.where, clock=SystemClock())


@contextmanager
def _beside(acts: Iterable[Callable[[], None]]) -> Iterator[None]:
    """Acts in processes of their own while the block runs; all have to end well, and none stays."""
    running = [Child(act) for act in acts]
    try:
        yield
        while running:
            child = running.pop()
            child.end().well()
    finally:
        for child in running:
            child.kill()
            child.end()


def _word(name: int, number: int) -> str:
    """A word that stands in one record only."""
    return f"w{name}x{number}q"


def _write(ms: Memspec, board: _Board, name: int, number: int) -> None:
    word = _word(name, number)
    if number % 2:
        done = ms.observe(f"Saw {word} in the log", source="test")
        board.note(_Written(done.id, word))
    else:
        kept = ms.remember("fact", f"The part {word} is here", source="test", tags=[word])
        board.note(_Written(kept.id, word))


def _read(ms: Memspec, board: _Board, chance: random.Random) -> None:
    """Whatever was acknowledged before this began is found, by id, by word and in the list."""
    acknowledged = board.all()
    if not acknowledged:
        return
    newest = acknowledged[-1]
    any_ = chance.choice(acknowledged)
    match chance.randrange(4):
        case 0:
            assert ms.get(newest.id).id == newest.id
        case 1:
            assert ms.get(any_.id).id == any_.id
        case 2:
            assert newest.id in {
                hit.id for hit in ms.search(newest.word, profile="default").results
            }
        case _:
            reply = ms.list(limit=1_000)
            listed = [hit.id for hit in reply.results]
            assert len(set(listed)) == len(listed)
            assert reply.total >= len(acknowledged)


def _mixed(store: TempStore, board: _Board, name: int, acts: int) -> Callable[[], None]:
    def live() -> None:
        chance = random.Random(name)  # noqa: S311 - the same mix each time
        with _open(store) as ms:
            for number in range(acts):
                if chance.random() < 0.5:
                    _write(ms, board, name, number)
                else:
                    _read(ms, board, chance)

    return live


def _files(store: TempStore) -> list[str]:
    return sorted(
        path.stem for folder in RECORD_FOLDERS for path in (store.root / folder).rglob("*.md")
    )


def _sound(store: TempStore, board: _Board) -> None:
    """Every acknowledged record is there once, nothing else is, and doctor has nothing to say."""
    written = board.all()
    assert Counter(_files(store)) == Counter(one.id for one in written)
    with _open(store) as ms:
        found = ms.doctor().findings
        assert [str(one) for one in found if one.severity != "note"] == []
        assert ms.list(limit=1).total == len(written)
        assert ms.status().circumstances.unreadable_count == 0


def test_many_processes_lose_nothing_and_see_everything(quick: Path) -> None:
    """8 processes with 200 mixed acts each; every one of them sees what any other was told."""
    store = TempStore(quick)
    board = _Board(quick / "board")
    with _beside([_mixed(store, board, name, _ACTS) for name in range(_PROCESSES)]):
        pass
    assert len(board.all()) > _PROCESSES * _ACTS * 0.4
    _sound(store, board)


def _until(path: Path, act: Callable[[], None], at_least: int) -> Callable[[], None]:
    """Repeat the act while the file is there."""

    def live() -> None:
        done = 0
        while path.exists() or done < at_least:
            act()
            done += 1

    return live


def test_a_record_on_the_move_is_always_found(quick: Path) -> None:
    """Between two folders there is no instant at which a reader finds the record in neither."""
    store = TempStore(quick)
    for number in range(30):
        store.put(a_record(number, title=f"Marmot number{number}"))
    moving = quick / "moving"
    moving.touch()
    id_ = an_id(7)

    def look() -> None:
        with _open(store) as ms:
            for _ in range(5):
                assert ms.get(id_).title == "Marmot number7"
                assert [hit.id for hit in ms.search("number7").results] == [id_]
                assert ms.list(limit=100).total == 30

    with _beside([_until(moving, look, 3)] * 2), _open(store) as ms:
        for turn in range(60):
            copy = ms.edit_copy(id_)
            old, new = ("fact", "decision") if turn % 2 == 0 else ("decision", "fact")
            ms.replace_text(copy, copy.text.replace(f"type: {old}", f"type: {new}"))
        moving.unlink()
    with _open(store) as ms:
        assert [str(one) for one in ms.doctor().findings] == []


def test_a_file_that_moves_before_it_is_read_is_looked_for_again(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look into the index and the reading of the file, at the worst moment."""
    store = TempStore(quick)
    path = store.put(a_record(7, title="Marmot"))
    read = files.read

    def late(place: Path, limit: int | None = None) -> bytes:
        if path.exists():
            path.unlink()
            store.put(a_record(7, title="Marmot", type=Type.DECISION))
        return read(place, limit)

    monkeypatch.setattr(files, "read", late)
    assert store.ms.get(an_id(7)).path == f"memory/decisions/{an_id(7)}.md"


def _spoil(path: Path, chance: random.Random) -> None:
    """What a bad disk, an impatient hand or a killed writer does to the index file.

    Under the index lock: damage in the very milliseconds in which we write the file ourselves
    cannot be told from our writing.
    """
    try:
        with StoreLock(path.parent.parent, name=LOCK_NAME):
            _spoil_file(path, chance)
    except (FileNotFoundError, ValueError):  # it was not there yet
        return


def _spoil_file(path: Path, chance: random.Random) -> None:
    match chance.randrange(4):
        case 0:
            path.unlink()
        case 1:
            os.truncate(path, chance.randrange(path.stat().st_size))
        case 2:
            with path.open("r+b") as file:
                file.seek(chance.randrange(path.stat().st_size))
                file.write(b"\xa5" * 5_000)
        case _:
            path.with_name("index.stamp").unlink()


def test_an_index_that_is_spoilt_all_the_time_changes_no_answer(quick: Path) -> None:
    """Readers and a writer go on while somebody cuts, deletes and overwrites the index file."""
    store = TempStore(quick)
    for number in range(30):
        store.put(a_record(number, title=f"Marmot number{number}"))
    spoiling = quick / "spoiling"
    spoiling.touch()
    board = _Board(quick / "board")
    chance = random.Random(1)  # noqa: S311 - the same damage each time

    def look() -> None:
        with _open(store) as ms:
            for number in (3, 17, 29):
                assert [hit.id for hit in ms.search(f"number{number}").results] == [an_id(number)]
                assert ms.get(an_id(number)).title == f"Marmot number{number}"
            assert ms.list(limit=1).total >= 30

    def write() -> None:
        with _open(store) as ms:
            _write(ms, board, os.getpid(), len(board.all()) * 2)
            newest = board.all()[-1]
            assert [hit.id for hit in ms.search(newest.word).results] == [newest.id]

    with _beside([_until(spoiling, act, 3) for act in (look, look, write)]):
        for _ in range(150):
            _spoil(store.root / "local" / "index.db", chance)
            time.sleep(0.02)
        spoiling.unlink()
    with _open(store) as ms:
        assert ms.list(limit=1).total == 30 + len(board.all())
        assert [str(one) for one in ms.doctor().findings] == []


def test_a_cold_start_of_many_is_one_answer(quick: Path) -> None:
    """Processes that all find no index wait for one another or help themselves; all are right."""
    store = TempStore(quick)
    for number in range(200):
        store.put(a_record(number, title=f"Marmot number{number}"))

    def look() -> None:
        with _open(store) as ms:
            assert ms.list(limit=1).total == 200
            assert ms.search("number111").results[0].id == an_id(111)

    with _beside([look] * 6):
        pass
    with _open(store) as ms:
        assert [str(one) for one in ms.doctor().findings] == []
