from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import filelock
import pytest

from memspec_py.errors import Busy, StorageFailed
from memspec_py.store.lock import StoreLock
from tests.faults import Child, crash_points, fault_points, needs_fork

if TYPE_CHECKING:
    from collections.abc import Callable

HOLD = """
import sys
from pathlib import Path
from memspec_py.store.lock import StoreLock
with StoreLock(Path(sys.argv[1]), command="memspec sweep"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_the_lock_makes_its_folder_and_is_free_again_afterwards(tmp_path: Path) -> None:
    """The first lock of a store needs nothing to be there, and leaving ends it."""
    lock = StoreLock(tmp_path / "new")
    with lock as entered:
        assert entered is lock
        assert lock.held
    assert not lock.held
    assert lock.path == tmp_path / "new" / "local" / "store.lock"
    with StoreLock(tmp_path / "new", timeout=0):
        assert lock.held


def test_an_exception_frees_the_lock(tmp_path: Path) -> None:
    """A failed write does not lock the store, and its exception comes through."""
    with pytest.raises(ZeroDivisionError), StoreLock(tmp_path):
        raise ZeroDivisionError
    assert not _is_taken(tmp_path)


def test_one_thread_may_enter_again(tmp_path: Path) -> None:
    """Entering again does not wait, through any object and by any path to the store."""
    (tmp_path / "store").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "store")
    lock = StoreLock(tmp_path / "store", timeout=0)
    with lock, lock, StoreLock(tmp_path / "link", timeout=0):
        assert _is_taken(tmp_path / "store")
    assert not lock.held
    with lock:
        with lock:
            pass
        assert _is_taken(tmp_path / "store"), "leaving the inner one kept the outer one"
    assert not _is_taken(tmp_path / "store")


def test_stores_are_locked_one_by_one(tmp_path: Path) -> None:
    """Holding one store does not hold another."""
    with StoreLock(tmp_path / "one"), StoreLock(tmp_path / "two", timeout=0):
        assert _is_taken(tmp_path / "one")
        assert not StoreLock(tmp_path / "three").held


def test_threads_exclude_each_other(tmp_path: Path) -> None:
    """One lock object used by several threads still lets in one at a time."""
    lock = StoreLock(tmp_path)
    counter = tmp_path / "counter"
    counter.write_text("0", encoding="utf-8")
    threads = [threading.Thread(target=_count_up, args=(lock, counter, 20)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.read_text(encoding="utf-8") == "120"


@needs_fork
def test_eight_processes_lose_no_increment(tmp_path: Path) -> None:
    """8 processes with 50 read-add-write turns each on one file end at 400."""
    counter = tmp_path / "counter"
    counter.write_text("0", encoding="utf-8")

    def count_up() -> None:
        _count_up(StoreLock(tmp_path, timeout=30), counter, 50)

    for child in [Child(count_up) for _ in range(8)]:
        child.end().well()
    assert counter.read_text(encoding="utf-8") == "400"


def test_busy_names_the_holder_and_a_killed_holder_frees_the_lock(tmp_path: Path) -> None:
    """A waiter learns who holds the lock, by what command; SIGKILL ends the hold, not the store."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline().strip() == b"held"
        started = time.monotonic()
        with pytest.raises(Busy) as caught, StoreLock(tmp_path, timeout=0.2):
            pass
        assert 0.2 <= time.monotonic() - started < 5
        path = str(tmp_path / "local" / "store.lock")
        assert caught.value.message == (
            f"the store is locked by process {holder.pid} (memspec sweep): {path}"
        )
        assert caught.value.details == {
            "path": path,
            "pid": holder.pid,
            "command": "memspec sweep",
        }
        assert caught.value.hint is not None
        holder.kill()
        with StoreLock(tmp_path, timeout=5) as lock:
            assert lock.held


@needs_fork
def test_a_forked_child_does_not_hold_what_its_parent_holds(tmp_path: Path) -> None:
    """After a fork only the parent may write, and the child's end does not free the lock."""

    def try_to_enter() -> None:
        with StoreLock(tmp_path, timeout=0.05):
            pass

    with StoreLock(tmp_path):
        raised = Child(try_to_enter).end().raised
        assert raised is not None
        assert raised.kind == "Busy"
        assert _is_taken(tmp_path)


@needs_fork
def test_a_waiter_gets_in_when_the_holder_leaves(tmp_path: Path) -> None:
    """Waiting ends with the hold, long before the time is up."""
    lock = StoreLock(tmp_path)

    def wait() -> None:
        with StoreLock(tmp_path, timeout=20):
            pass

    started = time.monotonic()
    with lock:
        child = Child(wait)
        time.sleep(0.05)
    child.end().well()
    assert time.monotonic() - started < 10


@needs_fork
def test_a_kill_while_taking_the_lock_never_leaves_it_taken(tmp_path: Path) -> None:
    """A process may die at any call of taking the lock; the next one gets in at once."""
    fresh = _folders(tmp_path)
    died = 0
    for point, root in crash_points(fresh, _enter):
        assert not _is_taken(root), point
        died += 1
    assert died >= 4


@needs_fork
def test_a_failing_disk_is_a_storage_failure_or_no_matter(tmp_path: Path) -> None:
    """Only our own error leaves, and the lock is not left taken."""
    for point, root, raised in fault_points(_folders(tmp_path), _enter, errno.EIO):
        assert raised is None or raised.kind == "StorageFailed", (point, raised)
        assert not _is_taken(root), point


@pytest.mark.parametrize(
    ("left_behind", "who"),
    [
        (b"", "another process"),
        (b"not a pid\n", "another process"),
        (b"\xff\xfe\x00", "another process"),
        (b"123\n", "process 123"),
        (b"123 x\n", "process 123 (x)"),
        (b"1" * 5000, "another process"),
    ],
)
def test_any_lock_file_is_read_without_harm(tmp_path: Path, left_behind: bytes, who: str) -> None:
    """What stands in the lock file is only a courtesy, whoever wrote it."""
    with StoreLock(tmp_path) as lock:
        lock.path.write_bytes(left_behind)
        raised = _busy_in_another_thread(tmp_path)
    assert raised.message == f"the store is locked by {who}: {lock.path}"


def test_the_signature_is_one_short_line_that_covers_the_last(tmp_path: Path) -> None:
    """A command of any length or shape is told on one line, without remains of a longer one."""
    for command, told in [
        ("remember " + "é" * 500, None),
        ("a\nb\t c", "a b c"),
        ("", ""),
    ]:
        with StoreLock(tmp_path, command=command) as lock:
            assert lock.path.stat().st_size == 256
            found = _busy_in_another_thread(tmp_path).details["command"]
            assert found == told or (told is None and str(found).startswith("remember éé"))


@pytest.mark.parametrize("code", ["EROFS", "EACCES", "EPERM"])
def test_a_read_only_store_is_told_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    """Where the system lets us write nothing, the message is about the store and not the lock."""
    (tmp_path / "local").mkdir()
    monkeypatch.setattr(os, "open", _failing(getattr(errno, code)))
    with (
        pytest.raises(StorageFailed, match="the store is read-only") as caught,
        StoreLock(tmp_path),
    ):
        pass
    assert caught.value.details["errno"] == code


@needs_fork
def test_a_store_of_somebody_else_is_read_only() -> None:
    """The real thing: a folder in which this user may make nothing."""
    with tempfile.TemporaryDirectory() as name:
        store = Path(name) / "store"
        store.mkdir()
        Path(name).chmod(0o755)
        store.chmod(0o555)

        def enter() -> None:
            if os.geteuid() == 0:
                os.setuid(65_534)
            _enter(store)

        raised = Child(enter).end().raised
        store.chmod(0o755)
    assert raised is not None
    assert raised.kind == "StorageFailed", raised.trace
    assert raised.message.startswith(f"the store is read-only: {store}")


@pytest.mark.parametrize("code", ["ENOLCK", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"])
def test_a_disk_that_cannot_lock_is_told_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    """Where there are no locks we do not pretend to have one."""
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(fcntl, "flock", _failing(getattr(errno, code)))
    with pytest.raises(StorageFailed, match="this disk cannot lock files") as caught:
        StoreLock(tmp_path).__enter__()
    assert caught.value.hint is not None
    assert "local disk" in caught.value.hint
    monkeypatch.undo()
    assert not _is_taken(tmp_path)


@pytest.mark.parametrize("linked", ["local", "local/store.lock"])
def test_the_lock_does_not_follow_links_out_of_the_store(tmp_path: Path, linked: str) -> None:
    """A cloned store with a link in the lock's place makes nothing elsewhere."""
    outside = tmp_path / "outside"
    outside.mkdir()
    link = tmp_path / "store" / linked
    link.parent.mkdir(parents=True)
    link.symlink_to(outside if linked == "local" else outside / "store.lock")
    with pytest.raises(StorageFailed):
        StoreLock(tmp_path / "store").__enter__()
    assert list(outside.iterdir()) == []


def _enter(root: Path) -> None:
    with StoreLock(root):
        pass


def _folders(parent: Path) -> Callable[[], Path]:
    def make() -> Path:
        return Path(tempfile.mkdtemp(dir=parent))

    return make


def _count_up(lock: StoreLock, counter: Path, times: int) -> None:
    for _ in range(times):
        with lock:
            counter.write_text(str(int(counter.read_text(encoding="utf-8")) + 1), encoding="utf-8")


def _is_taken(store: Path) -> bool:
    """Asked of the system, past everything that this process remembers."""
    probe = filelock.FileLock(store / "local" / "store.lock", thread_local=False)
    try:
        probe.acquire(timeout=0)
    except filelock.Timeout:
        return True
    except FileNotFoundError:
        return False
    probe.release()
    return False


def _busy_in_another_thread(store: Path) -> Busy:
    found: list[Busy] = []

    def enter() -> None:
        try:
            with StoreLock(store, timeout=0):
                pass
        except Busy as busy:
            found.append(busy)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    return found[0]


def _failing(code: int) -> Callable[..., int]:
    def fail(*_: object, **__: object) -> int:
        raise OSError(code, os.strerror(code))

    return fail
