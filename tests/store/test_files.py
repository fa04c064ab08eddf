from __future__ import annotations

import errno
import os
import stat
import threading
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspec_py.errors import Conflict, StorageFailed
from memspec_py.store import files
from tests.faults import crash_points, fault_points, needs_fork, program, quick_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OLD = b"---\nid: a\n---\n# Old\n" * 20
NEW = b"---\nid: a\n---\n# New and longer\n" * 30


def _create(root: Path) -> None:
    files.create(root / "memory" / "facts" / "a.md", NEW)


def _replace(root: Path) -> None:
    files.replace(root / "a.md", NEW, expect=files.digest(OLD))


def _remove(root: Path) -> None:
    files.remove(root / "a.md", expect=files.digest(OLD))


def _move(root: Path) -> None:
    files.move(root / "a.md", root / "archive" / "a.md", NEW, expect=files.digest(OLD))


def _append(root: Path) -> None:
    files.append(root / "a.md", NEW)


# What a reader may find: the states before and after, and the one between the two steps of a move.
ALLOWED: dict[Callable[[Path], None], list[dict[str, bytes]]] = {
    _create: [{"a.md": OLD}, {"a.md": OLD, "memory/facts/a.md": NEW}],
    _replace: [{"a.md": OLD}, {"a.md": NEW}],
    _remove: [{"a.md": OLD}, {}],
    _move: [{"a.md": OLD}, {"archive/a.md": NEW}, {"a.md": OLD, "archive/a.md": NEW}],
}
every_act = pytest.mark.parametrize("act", ALLOWED)


@pytest.fixture
def fresh() -> Iterator[Callable[[], Path]]:
    """A maker of new folders that hold one old record."""
    number = count()

    def make() -> Path:
        root = folder / f"store{next(number)}"
        root.mkdir()
        (root / "a.md").write_bytes(OLD)
        return root

    with quick_folder() as folder:
        yield make


def test_create_writes_the_bytes_into_a_folder_that_it_makes(tmp_path: Path) -> None:
    """A new file appears whole, with its missing folders, and nothing beside it."""
    path = tmp_path / "memory" / "facts" / "a.md"
    files.create(path, NEW)
    assert files.read(path) == NEW
    assert _content(tmp_path) == {"memory/facts/a.md": NEW}
    assert path.stat().st_nlink == 1


@pytest.mark.parametrize("there", ["file", "folder", "dangling link"])
def test_create_refuses_whatever_has_the_name(tmp_path: Path, there: str) -> None:
    """A new file never replaces anything, and the refusal leaves no trace."""
    path = tmp_path / "a.md"
    if there == "file":
        path.write_bytes(OLD)
    elif there == "folder":
        path.mkdir()
    else:
        path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(Conflict, match=r"a\.md already exists") as caught:
        files.create(path, NEW)
    assert caught.value.details == {"path": str(path)}
    assert [found.name for found in tmp_path.iterdir()] == ["a.md"]
    assert not path.is_file() or path.read_bytes() == OLD


@pytest.mark.parametrize("code", ["EPERM", "EACCES", "ENOTSUP", "EOPNOTSUPP", "EMLINK", "ENOSYS"])
def test_a_disk_without_hard_links_is_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    """Where link fails for good, create renames, and still refuses to overwrite."""
    monkeypatch.setattr(os, "link", _failing(getattr(errno, code)))
    files.create(tmp_path / "a.md", OLD)
    with pytest.raises(Conflict):
        files.create(tmp_path / "a.md", NEW)
    assert _content(tmp_path) == {"a.md": OLD}


def test_of_many_who_create_one_name_exactly_one_succeeds(tmp_path: Path) -> None:
    """Link decides between racers even without the lock, and what is read is the winner's."""
    won: list[bytes] = []
    start = threading.Barrier(8)

    def race(number: int) -> None:
        data = b"%d" % number * 10_000
        start.wait()
        with suppress(Conflict):
            files.create(tmp_path / "a.md", data)
            won.append(data)

    racers = [threading.Thread(target=race, args=(number,)) for number in range(8)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert len(won) == 1
    assert _content(tmp_path) == {"a.md": won[0]}


def test_replace_keeps_the_mode_and_leaves_nothing_beside(tmp_path: Path) -> None:
    """Whoever made a record private finds it private after an edit."""
    path = tmp_path / "a.md"
    path.write_bytes(OLD)
    path.chmod(0o600)
    files.replace(path, NEW, expect=files.digest(OLD))
    assert _content(tmp_path) == {"a.md": NEW}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("act", [_replace, _remove, _move])
def test_a_file_that_somebody_else_changed_is_left_alone(
    fresh: Callable[[], Path], act: Callable[[Path], None]
) -> None:
    """Every change compares the digest first, and the refusal names file and both digests."""
    root = fresh()
    (root / "a.md").write_bytes(b"theirs")
    with pytest.raises(Conflict, match=r"a\.md was changed by somebody else") as caught:
        act(root)
    assert caught.value.details == {
        "path": str(root / "a.md"),
        "expected": files.digest(OLD),
        "found": files.digest(b"theirs"),
    }
    assert caught.value.hint == "read the record again and repeat the change"
    assert _content(root) == {"a.md": b"theirs"}


@pytest.mark.parametrize("act", [_replace, _remove, _move])
def test_a_file_that_is_gone_is_a_conflict(
    fresh: Callable[[], Path], act: Callable[[Path], None]
) -> None:
    """What was deleted meanwhile does not come back."""
    root = fresh()
    (root / "a.md").unlink()
    with pytest.raises(Conflict, match=r"a\.md is gone"):
        act(root)
    assert _content(root) == {}


@pytest.mark.parametrize("act", [_replace, _remove, _move])
def test_a_link_in_place_of_a_record_is_not_followed(
    fresh: Callable[[], Path], act: Callable[[Path], None]
) -> None:
    """A change never reaches through a symbolic link."""
    root = fresh()
    target = root / "outside"
    (root / "a.md").rename(target)
    (root / "a.md").symlink_to(target)
    with pytest.raises(StorageFailed) as caught:
        act(root)
    assert caught.value.hint == "symbolic links inside a store are not followed"
    assert target.read_bytes() == OLD
    assert (root / "a.md").is_symlink()


def test_move_takes_the_mode_along_and_refuses_a_taken_name(fresh: Callable[[], Path]) -> None:
    """A record in another folder is as private as before; whatever has its new name stays."""
    root = fresh()
    (root / "a.md").chmod(0o640)
    _move(root)
    assert _content(root) == {"archive/a.md": NEW}
    assert stat.S_IMODE((root / "archive" / "a.md").stat().st_mode) == 0o640
    (root / "a.md").write_bytes(OLD)
    with pytest.raises(Conflict, match="already exists"):
        _move(root)
    assert _content(root) == {"a.md": OLD, "archive/a.md": NEW}


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that takes a few bytes at a time still gets them all."""
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:7]))
    files.create(tmp_path / "a.md", NEW)
    assert _content(tmp_path) == {"a.md": NEW}


def test_a_system_that_takes_nothing_does_not_hang_the_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write of zero bytes is a failure, not a reason to try for ever."""
    monkeypatch.setattr(os, "write", lambda _descriptor, _data: 0)
    with pytest.raises(StorageFailed):
        files.create(tmp_path / "a.md", NEW)
    assert _content(tmp_path) == {}


@pytest.mark.parametrize("call", ["write", "fsync", "link", "replace"])
def test_an_interrupt_leaves_no_temporary_file(
    fresh: Callable[[], Path], monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """Ctrl-C anywhere leaves old bytes and nothing else."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    root = fresh()
    monkeypatch.setattr(os, call, interrupt)
    with pytest.raises(KeyboardInterrupt):
        (_replace if call == "replace" else _create)(root)
    monkeypatch.undo()
    assert _content(root) == {"a.md": OLD}


def test_a_disk_that_cannot_sync_folders_is_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """EINVAL for the fsync of a folder means that there is no such thing, and only of a folder."""
    fsync = os.fsync

    def refuse(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", refuse)
    files.create(tmp_path / "new" / "a.md", NEW)
    assert _content(tmp_path) == {"new/a.md": NEW}
    monkeypatch.setattr(os, "fsync", _failing(errno.EINVAL))
    with pytest.raises(StorageFailed, match="invalid argument"):
        files.create(tmp_path / "new" / "b.md", NEW)


def test_a_failure_names_the_file_the_reason_and_the_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk is told as one, with its path."""
    monkeypatch.setattr(os, "write", _failing(errno.ENOSPC))
    path = tmp_path / "a.md"
    with pytest.raises(StorageFailed) as caught:
        files.create(path, NEW)
    assert caught.value.message == f"cannot write {path}: no space left on device"
    assert caught.value.hint == "free some disk space and try again"
    assert caught.value.details == {"path": str(path), "errno": "ENOSPC"}


def test_a_file_in_place_of_a_folder_is_a_storage_failure(tmp_path: Path) -> None:
    """A foreign exception never leaves a write."""
    (tmp_path / "memory").write_bytes(b"")
    with pytest.raises(StorageFailed):
        files.create(tmp_path / "memory" / "facts" / "a.md", NEW)


@needs_fork
@every_act
def test_a_kill_leaves_old_or_new_and_at_most_strays(
    fresh: Callable[[], Path], act: Callable[[Path], None]
) -> None:
    """Killed at any call, a change is made or not made; what lies about is known and removable."""
    seen = []
    for point, root in crash_points(fresh, act):
        left = _without_strays(_content(root))
        assert left in ALLOWED[act], point
        seen.append(left)
        for folder in (root, root / "archive", root / "memory" / "facts", root / "nowhere"):
            files.remove_strays(folder)
        assert _content(root) == left, point
        if left == ALLOWED[act][0]:
            act(root)  # nothing in the way of doing it again
            assert _content(root) == ALLOWED[act][1], point
    assert seen[0] == ALLOWED[act][0]
    assert seen[-1] == ALLOWED[act][1]


@needs_fork
@every_act
@pytest.mark.parametrize("lasting", [False, True])
def test_a_full_disk_leaves_everything_as_it_was(
    fresh: Callable[[], Path], act: Callable[[Path], None], *, lasting: bool
) -> None:
    """Without space at any call, the act says so, nothing is half made, and no stray is left."""
    for point, root, raised in fault_points(fresh, act, errno.ENOSPC, lasting=lasting):
        assert raised is not None, point
        assert raised.kind == "StorageFailed", (point, raised.trace)
        assert "no space left on device" in raised.message, point
        # After the last step only the flush of the folder can fail, which takes nothing back
        # where the old bytes are gone.
        flush = act is not _create and point.call == "fsync" and _content(root) != {"a.md": OLD}
        assert _content(root) == ALLOWED[act][flush], point


@needs_fork
@every_act
def test_a_failing_disk_leaves_old_or_new(
    fresh: Callable[[], Path], act: Callable[[Path], None]
) -> None:
    """An I/O error at any call leaves whole files only; an act that did not raise is made."""
    for point, root, raised in fault_points(fresh, act, errno.EIO):
        left = _content(root)
        if point.call == "unlink" and ".tmp-" in point.target:
            left = _without_strays(left)
        assert left in ALLOWED[act][:2], point
        if raised is None:
            assert left == ALLOWED[act][1], point
        else:
            assert raised.kind == "StorageFailed", (point, raised.trace)
        if act is _create and raised is not None:
            assert left == ALLOWED[act][0], point


@needs_fork
def test_a_whole_program_can_be_killed_at_its_calls(fresh: Callable[[], Path]) -> None:
    """The harness runs source text as a program of its own, with the state as its argument."""
    source = (
        "import sys; from pathlib import Path; from memspec_py.store import files\n"
        "assert __name__ == '__main__' and sys.argv[1] == '--twice'\n"
        "for name in '12': files.create(Path(sys.argv[-1]) / name, b'x')\n"
    )
    left = [
        len(_without_strays(_content(root)))
        for _point, root in crash_points(fresh, program(source, "--twice"), ["after"])
    ]
    # Each file is opened, written, flushed, linked (and then it is there), and its folder flushed.
    assert left == [1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3]


@needs_fork
def test_a_kill_leaves_a_part_of_what_was_added(fresh: Callable[[], Path]) -> None:
    """And everything before it."""
    seen = set()
    for point, root in crash_points(fresh, _append):
        (name, data), *others = _content(root).items()
        assert (name, others) == ("a.md", []), point
        assert data.startswith(OLD), point
        assert (OLD + NEW).startswith(data), point
        seen.add(len(data) - len(OLD))
    assert seen == {0, len(NEW) // 2, len(NEW)}


@needs_fork
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("lasting", [False, True])
def test_what_could_not_be_added_is_taken_back(
    fresh: Callable[[], Path], error: int, *, lasting: bool
) -> None:
    """Unless the disk refuses that, too."""
    failed = 0
    for point, root, raised in fault_points(fresh, _append, error, lasting=lasting):
        assert raised is not None, point
        assert raised.kind == "StorageFailed", (point, raised.trace)
        may_stay = lasting and error == errno.EIO and point.call == "fsync"
        assert _content(root) == {"a.md": OLD + NEW if may_stay else OLD}, point
        failed += 1
    assert failed >= 2


def test_a_part_that_was_written_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is full after some bytes leaves the file as long as it was."""
    (tmp_path / "a.md").write_bytes(OLD)
    write = os.write

    def half(descriptor: int, data: bytes) -> int:
        if len(data) < len(NEW):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, data[: len(data) // 2])

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(StorageFailed, match="no space left"):
        files.append(tmp_path / "a.md", NEW)
    assert files.read(tmp_path / "a.md") == OLD


@pytest.mark.parametrize("there", ["link", "folder", "pipe", "nothing"])
def test_nothing_is_added_to_what_is_not_a_plain_file(tmp_path: Path, there: str) -> None:
    """A link is not followed, a pipe does not hang the writer, and no file is made."""
    path, victim = tmp_path / "a.md", tmp_path / "victim"
    victim.write_bytes(OLD)
    if there == "link":
        path.symlink_to(victim)
    elif there == "folder":
        path.mkdir()
    elif there == "pipe":
        os.mkfifo(path)
    with pytest.raises(StorageFailed):
        files.append(path, NEW)
    with pytest.raises(StorageFailed):
        files.shorten(path, 3)
    assert victim.read_bytes() == OLD
    assert os.path.lexists(path) == (there != "nothing")


@given(old=st.binary(max_size=50), new=st.binary(max_size=50), most=st.integers(1, 60))
def test_the_end_of_a_file_is_read_added_to_and_cut_off(old: bytes, new: bytes, most: int) -> None:
    """Any bytes, from any place on, counted from either end."""
    with quick_folder() as folder:
        path = folder / "a"
        path.write_bytes(old)
        start, ending = files.read_end(path, -most)
        assert (start, ending) == (max(0, len(old) - most), old[-most:])
        files.append(path, new)
        assert files.read_end(path, start) == (start, ending + new)
        assert files.read_end(path, len(old + new) + 1)[1] == b""
        files.shorten(path, len(old))
        assert files.read(path) == old


def test_strays_are_only_what_we_left(tmp_path: Path) -> None:
    """A file that merely looks temporary is not ours to delete."""
    ours = tmp_path / ".tmp-12-345-6"
    theirs = [".tmp-notes.md", ".tmp-1-2-3.md", "a.md", "tmp-1-2-3"]
    for name in [ours.name, *theirs]:
        (tmp_path / name).write_bytes(b"x")
    assert files.strays(tmp_path) == [ours]
    assert files.remove_strays(tmp_path) == 1
    assert sorted(_content(tmp_path)) == sorted(theirs)
    assert files.strays(tmp_path / "nowhere") == []


def test_a_taken_temporary_name_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another machine with our process number on the same disk loses nothing to us."""
    name = f".tmp-{os.getpid()}-{threading.get_ident()}-"
    monkeypatch.setattr(files, "_SERIAL", count(1))
    (tmp_path / f"{name}1").write_bytes(b"theirs")
    files.create(tmp_path / "a.md", NEW)
    assert _content(tmp_path) == {f"{name}1": b"theirs", "a.md": NEW}


def test_read_takes_as_much_as_the_limit_and_no_more(tmp_path: Path) -> None:
    """The limit is the largest size that is read; the refusal says both sizes."""
    path = tmp_path / "a.md"
    path.write_bytes(b"x" * 100)
    assert files.read(path, limit=100) == b"x" * 100
    with pytest.raises(files.TooLarge, match="100 bytes, the limit is 99") as caught:
        files.read(str(path), limit=99)
    assert (caught.value.size, caught.value.limit) == (100, 99)
    assert caught.value.filename == str(path)


def test_read_holds_the_limit_for_a_file_that_lies_about_its_size() -> None:
    """The size is a guess; what counts is what comes."""
    path = Path("/proc/self/status")
    if not path.exists():
        pytest.skip("needs a file of size zero that has content")
    assert path.stat().st_size == 0
    assert files.read(path).startswith(b"Name:")
    with pytest.raises(files.TooLarge):
        files.read(path, limit=10)


@pytest.mark.parametrize("there", ["link", "folder", "pipe", "nothing"])
def test_read_refuses_what_is_not_a_plain_file(tmp_path: Path, there: str) -> None:
    """A link is not followed and a pipe does not hang; the system's own error comes through."""
    path = tmp_path / "a.md"
    if there == "link":
        (tmp_path / "b.md").write_bytes(OLD)
        path.symlink_to(tmp_path / "b.md")
    elif there == "folder":
        path.mkdir()
    elif there == "pipe":
        os.mkfifo(path)
    with pytest.raises(OSError) as caught:  # noqa: PT011  # which one is asserted below
        files.read(path)
    assert isinstance(caught.value, FileNotFoundError) == (there == "nothing")


@given(old=st.binary(max_size=300), new=st.binary(max_size=300))
def test_any_bytes_come_back(
    tmp_path_factory: pytest.TempPathFactory, old: bytes, new: bytes
) -> None:
    """What is written is read, byte for byte, empty files included."""
    path = tmp_path_factory.mktemp("store") / "a.md"
    files.create(path, old)
    assert files.read(path) == old
    files.replace(path, new, expect=files.digest(old))
    assert files.read(path, limit=len(new)) == new


def _content(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file()
    }


def _without_strays(content: dict[str, bytes]) -> dict[str, bytes]:
    return {path: data for path, data in content.items() if ".tmp-" not in path}


def _failing(code: int) -> Callable[..., None]:
    def fail(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    return fail
