"""Children make a cold build faster; nothing they do or fail to do changes what is built."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from memspec_py.config import Limits
from memspec_py.index import parallel
from memspec_py.index.index import Index
from memspec_py.index.parallel import reader
from memspec_py.index.sync import read_files
from memspec_py.store.listing import list_records
from memspec_py.testing import TempStore, a_record, an_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memspec_py.index.rows import Rows

_FILES = 230

_DIES_AT_ONCE = "raise SystemExit(3)"
_NEVER_ANSWERS = "import time; time.sleep(60)"
_NEVER_READS = "import os, time; os.close(0); time.sleep(60)"
_CHATS_FIRST = "print('hello from sitecustomize ' * 50, flush=True); " + parallel._START  # noqa: SLF001
_ANSWERS_NOISE = "import os, time; os.write(1, os.urandom(4096)); time.sleep(60)"
_PROMISES_MUCH = (
    "import os, struct, time; os.write(1, struct.pack('<8sQ', b'memspec1', 2**62)); time.sleep(60)"
)
_ANSWERS_NO_PICKLE = (
    "import os, struct, time;"
    " os.write(1, struct.pack('<8sQ', b'memspec1', 5) + b'\\xff' * 5); time.sleep(60)"
)
_TELLS_HALF = "import os, struct; os.write(1, struct.pack('<8sQ', b'memspec1', 500) + b'x' * 20)"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with more files than one process reads alone, some of them broken."""
    monkeypatch.setattr(parallel, "MANY_FILES", 100)
    monkeypatch.setattr(parallel, "_CHUNK", 10)
    monkeypatch.setattr(parallel, "_PATIENCE", 0.5)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    store = TempStore(tmp_path)
    for number in range(_FILES):
        store.put(a_record(number, title=f"Marmot {number}", refines=(an_id(number + 1),)))
    store.write(f"memory/facts/{an_id(7)}.md", "---\nbroken: [\n---\n")
    store.write(f"archive/{an_id(8)}.md", b"\xff\xfe")
    return store.root


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The processes that were started."""
    started: list[subprocess.Popen[bytes]] = []

    class Watched(subprocess.Popen[bytes]):
        def __init__(self, *args: object, **named: object) -> None:
            super().__init__(*args, **named)  # type: ignore[call-overload]
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Watched)
    return started


def _rows(rows: Iterator[Rows]) -> list[Rows]:
    return sorted(rows, key=lambda one: str(one.file[0]))


def _alone(root: Path) -> list[Rows]:
    return _rows(read_files(str(root), list_records(root).paths, Limits()))


def _together(root: Path) -> list[Rows]:
    with reader() as read_all:
        return _rows(read_all(str(root), list_records(root).paths, Limits()))


def test_children_read_what_one_process_reads(
    root: Path, children: list[subprocess.Popen[bytes]]
) -> None:
    """Every file is read once, broken ones too, and no process is left."""
    assert _together(root) == _alone(root)
    assert len(children) == 2
    assert all(child.returncode is not None for child in children)


def test_an_index_built_with_children_is_the_same(
    root: Path, children: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row by row, but for their keys."""
    tables = "files", "edges", "findings"

    def content() -> list[object]:
        index = Index(root, Limits())
        state = index.rebuild()
        found: list[object] = [(state.how, state.files, state.read)]
        found += [sorted(index.db.execute(f"select * from {name}"), key=repr) for name in tables]
        found.append(
            index.db.execute(
                "select r.id, r.path, r.state, r.indexed, t.head, t.body from records r"
                " join texts t on t.key = r.key order by r.path"
            ).fetchall()
        )
        found.append(
            index.db.execute(
                "select r.id, bm25(words) from words join records r on r.key = words.rowid"
                " where words match 'marmot' order by r.id"
            ).fetchall()
        )
        index.close()
        return found

    together = content()
    assert len(children) == 2
    monkeypatch.setattr(parallel, "MANY_FILES", 10_000)
    assert content() == together
    assert len(children) == 2


@pytest.mark.parametrize(
    "program",
    [
        _DIES_AT_ONCE,
        _NEVER_ANSWERS,
        _NEVER_READS,
        _CHATS_FIRST,
        _ANSWERS_NOISE,
        _PROMISES_MUCH,
        _ANSWERS_NO_PICKLE,
        _TELLS_HALF,
    ],
)
def test_useless_children_cost_time_only(
    root: Path,
    children: list[subprocess.Popen[bytes]],
    program: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever they did not answer is read here, and they are ended."""
    monkeypatch.setattr(parallel, "_START", program)
    start = time.monotonic()
    assert _together(root) == _alone(root)
    assert time.monotonic() - start < 10
    assert children
    assert all(child.returncode is not None for child in children)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("answers", [0, 1, 3])
def test_a_child_that_ends_half_way_loses_nothing(
    root: Path,
    children: list[subprocess.Popen[bytes]],
    answers: int,
    how: signal.Signals,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Killed or stopped after some answers: the rest is read by the others."""
    take = parallel._Child.take  # noqa: SLF001
    taken: list[int] = []

    def watched(child: parallel._Child) -> list[Rows]:
        rows = take(child)
        taken.append(len(rows))
        if len(taken) == answers:
            children[0].send_signal(how)
        return rows

    monkeypatch.setattr(parallel._Child, "take", watched)  # noqa: SLF001
    with reader() as read_all:
        coming = read_all(str(root), list_records(root).paths, Limits())
        first = next(coming)
        if not answers:
            children[0].send_signal(how)
        assert _rows(iter([first, *coming])) == _alone(root)
    assert all(child.returncode is not None for child in children)


def test_without_a_python_to_start_it_is_read_here(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An embedded interpreter may not know its program, or know one that is not there."""
    expected = _alone(root)
    for executable in ("", "/nowhere/python", None):
        monkeypatch.setattr(sys, "executable", executable)
        assert _together(root) == expected


def test_a_build_that_is_given_up_leaves_no_process(
    root: Path, children: list[subprocess.Popen[bytes]]
) -> None:
    """An exception in the middle (a full disk, an interrupt) ends the children too."""
    with reader() as read_all:
        coming = read_all(str(root), list_records(root).paths, Limits())
        next(coming)
        coming.close()  # type: ignore[attr-defined]  # it is a generator
    assert len(children) == 2
    assert all(child.returncode is not None for child in children)


def test_long_paths_do_not_fill_a_pipe(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Handing over a chunk never waits for a child that waits for its answer to be taken."""
    monkeypatch.setattr(parallel, "_CHUNK", 1_000)
    folder = "memory/facts/" + "/".join(["d" * 200] * 8)
    (root / folder).mkdir(parents=True)
    record = (root / f"memory/facts/{an_id(0)}.md").read_bytes()
    for number in range(1_000, 1_100):
        text = record.replace(an_id(0).encode(), an_id(number).encode())
        (root / folder / f"{an_id(number)}.md").write_bytes(text + b"word " * 2_000)
    assert _together(root) == _alone(root)


def test_progress_is_told_up_to_the_end(root: Path) -> None:
    """Whoever waits for a cold build sees it move and finish."""
    told: list[tuple[int, int]] = []
    with reader(lambda done, total: told.append((done, total))) as read_all:
        count = len(list(read_all(str(root), list_records(root).paths, Limits())))
    assert count == _FILES + 1
    assert told[-1] == (count, count)
    assert told == sorted(told)
    assert len(told) == count // 10 + 1


def test_a_message_has_a_head_that_noise_does_not_have() -> None:
    """Eight letters and a length: random bytes pass with a chance of one in 2^64."""
    assert struct.calcsize("<8sQ") == parallel._HEAD.size  # noqa: SLF001
    assert parallel._HEAD.pack(parallel._MAGIC, 5) == b"memspec1\x05\0\0\0\0\0\0\0"  # noqa: SLF001
