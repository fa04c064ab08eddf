"""The one place that writes files: create refuses, replace compares, and a kill leaves old or new.

Callers hold the store lock. Whatever the file system refuses arrives as ``StorageFailed``; what
somebody else changed first arrives as ``Conflict``. Only ``read`` lets ``OSError`` through, because
its callers make findings of it.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import threading
from contextlib import contextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING

from memspec_py.errors import Conflict, StorageFailed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_STRAY = re.compile(r"\.tmp-\d+-\d+-\d+\Z")
_SERIAL = count()
_CHUNK = 4096

# A pipe or a device in place of a record must not hang the reader, hence O_NONBLOCK.
_READ = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_WRITE_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | (_READ & ~getattr(os, "O_NONBLOCK", 0))
_ADD = os.O_RDWR | os.O_APPEND | _READ

# What link says where there are no hard links: FAT, many FUSE and SMB mounts, Android (EACCES).
_NO_LINKS = frozenset(
    {errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS}
)
# What fsync says of a folder on file systems that have no such thing.
_NO_FOLDER_SYNC = frozenset(
    {errno.EINVAL, errno.EBADF, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}
)

_HINTS = {
    errno.ENOSPC: "free some disk space and try again",
    errno.EDQUOT: "free some of your disk quota and try again",
    errno.EROFS: "the disk is mounted read-only",
    errno.EACCES: "check who may write there",
    errno.EPERM: "check who may write there",
    errno.ELOOP: "symbolic links inside a store are not followed",
}


class TooLarge(OSError):
    """The file is longer than the reader would take."""

    def __init__(self, path: str | os.PathLike[str], size: int, limit: int) -> None:
        super().__init__(errno.EFBIG, f"{size} bytes, the limit is {limit}", os.fspath(path))
        self.size = size
        self.limit = limit


def digest(data: bytes) -> str:
    """The sha256 of a record file's bytes, for compare-and-swap."""
    return hashlib.sha256(data).hexdigest()


def read(path: str | os.PathLike[str], limit: int | None = None) -> bytes:
    """The bytes of a regular file, never through a symbolic link.

    Raises: ``TooLarge`` beyond ``limit``; any other ``OSError`` as the system gave it.
    """
    descriptor = os.open(path, _READ)
    try:
        size = _regular_size(descriptor, path)
        if limit is not None and size > limit:
            raise TooLarge(path, size, limit)
        return _read_all(descriptor, size, path, limit)
    finally:
        os.close(descriptor)


def read_end(path: str | os.PathLike[str], start: int) -> tuple[int, bytes]:
    """Where ``start`` is in a regular file (counted from its end if negative), and what follows.

    Raises: ``OSError`` as the system gave it.
    """
    descriptor = os.open(path, _READ)
    try:
        size = _regular_size(descriptor, path)
        begin = start if start >= 0 else max(0, size + start)
        os.lseek(descriptor, begin, os.SEEK_SET)
        return begin, _read_all(descriptor, max(0, size - begin), path, None)
    finally:
        os.close(descriptor)


def create(
    path: Path, data: bytes, *, mode: int | None = None, later: set[Path] | None = None
) -> None:
    """Make a new file; its folder is made too when it is missing.

    With ``later`` the folder is put there, and the caller syncs it before it says that all is done.
    Raises: ``Conflict`` when something of that name exists, ``StorageFailed`` and nothing is left.
    """
    with storage_errors(path):
        make_folder(path.parent)
        with _staged(path.parent, data, mode) as staged:
            _publish(staged, path)
        try:
            _settle(path.parent, later)
        except BaseException:
            # Not known to last, so it must not be found after we said that it failed.
            path.unlink()
            raise


def replace(path: Path, data: bytes, *, expect: str, later: set[Path] | None = None) -> None:
    """Swap the whole content of a file whose digest is still ``expect``; its mode is kept.

    ``later`` as in ``create``. Raises: ``Conflict`` when it is not, ``StorageFailed``.
    """
    with storage_errors(path):
        _, mode = expected(path, expect)
        with _staged(path.parent, data, mode) as staged:
            staged.replace(path)
        _settle(path.parent, later)


def remove(path: Path, *, expect: str, later: set[Path] | None = None) -> None:
    """Delete a file whose digest is still ``expect``.

    ``later`` as in ``create``. Raises: ``Conflict`` when it is not, ``StorageFailed``.
    """
    with storage_errors(path):
        expected(path, expect)
        path.unlink()
        _settle(path.parent, later)


def append(path: Path, data: bytes) -> None:
    """Add to the end of a file. A kill may leave a part; after a failure it is as long as before.

    Raises: ``StorageFailed``, also when there is no such file.
    """
    with storage_errors(path):
        descriptor = open_end(path)
        try:
            size = os.fstat(descriptor).st_size
            try:
                _write_all(descriptor, data)
                os.fsync(descriptor)
            except BaseException:
                with suppress(OSError):  # it would hide what failed first
                    os.ftruncate(descriptor, size)
                raise
        finally:
            os.close(descriptor)


def shorten(path: Path, size: int) -> None:
    """Cut a file off after ``size`` bytes.

    Raises: ``StorageFailed``.
    """
    with storage_errors(path):
        descriptor = open_end(path)
        try:
            os.ftruncate(descriptor, size)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def open_end(path: Path) -> int:
    """A descriptor that adds to the end of a regular file, never through a symbolic link.

    Raises: ``OSError`` as the system gave it.
    """
    descriptor = os.open(path, _ADD)
    try:
        _regular_size(descriptor, path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def move(src: Path, dst: Path, data: bytes, *, expect: str) -> None:
    """Put ``data`` at ``dst`` in place of the file at ``src``, whose digest is still ``expect``.

    These are two steps: a kill between them leaves the old bytes at ``src`` and the new ones at
    ``dst``, so a caller that cannot live with both goes through the journal, which finishes it.

    Raises: ``Conflict`` when ``src`` changed or ``dst`` exists, ``StorageFailed``.
    """
    with storage_errors(src):
        _, mode = expected(src, expect)
    create(dst, data, mode=mode)
    try:
        remove(src, expect=expect)
    except BaseException:
        if os.path.lexists(src):
            with storage_errors(dst):
                dst.unlink()
        raise


def expected(path: Path, expect: str) -> tuple[bytes, int]:
    """The bytes and the mode of a file whose digest is still ``expect``.

    Raises: ``Conflict`` when it is not; any ``OSError`` but a missing file as the system gave it.
    """
    try:
        data = read(path)
        mode = stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        raise _changed(path, "is gone", expect, None) from None
    if (found := digest(data)) != expect:
        raise _changed(path, "was changed by somebody else", expect, found)
    return data, mode


def absent(path: Path) -> None:
    """Make sure that nothing has this name, not even a dangling link.

    Raises: ``Conflict`` when something has.
    """
    if os.path.lexists(path):
        raise Conflict(
            f"{path} already exists",
            hint="read it first; a new file never replaces another",
            details={"path": str(path)},
        )


def is_stray(name: str) -> bool:
    """Whether a file of this name is what a killed writer leaves behind."""
    return _STRAY.match(name) is not None


def strays(folder: Path) -> list[Path]:
    """The temporary files that killed writers left in a folder, sorted; none when it is missing."""
    try:
        return sorted(path for path in folder.iterdir() if _STRAY.match(path.name))
    except FileNotFoundError:
        return []


def remove_strays(folder: Path) -> int:
    """Delete them and say how many; only under the store lock, where nobody is writing one."""
    found = strays(folder)
    for stray in found:
        with storage_errors(stray):
            stray.unlink()
    return len(found)


def make_folder(folder: Path) -> None:
    """Make a folder and its missing parents so that they outlast a power cut.

    Raises: ``OSError`` as the system gave it.
    """
    if folder.is_dir():
        return
    parent = folder.absolute().parent
    make_folder(parent)
    # Somebody else may make it at the same instant.
    folder.mkdir(exist_ok=True)
    sync_folder(parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder outlast a power cut, where the system can.

    Raises: ``OSError`` as the system gave it.
    """
    if os.name == "nt":  # Windows opens no folder as a file and has nothing to flush
        return
    descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        os.fsync(descriptor)
    except OSError as failed:
        if failed.errno not in _NO_FOLDER_SYNC:
            raise
    finally:
        os.close(descriptor)


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Turn what the system refuses in the block into ``StorageFailed``, naming path and reason."""
    try:
        yield
    except OSError as failed:
        reason = (failed.strerror or str(failed)).lower()
        raise StorageFailed(
            f"cannot write {path}: {reason}",
            hint=_HINTS.get(failed.errno or 0, "check the disk and try again"),
            details={"path": str(path), "errno": errno.errorcode.get(failed.errno or 0, "")},
        ) from failed


def _regular_size(descriptor: int, path: str | os.PathLike[str]) -> int:
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
    return found.st_size


def _settle(folder: Path, later: set[Path] | None) -> None:
    """Make what happened in a folder last, now or when the caller comes to it."""
    if later is None:
        sync_folder(folder)
    else:
        later.add(folder)


def _read_all(descriptor: int, size: int, path: str | os.PathLike[str], limit: int | None) -> bytes:
    chunks: list[bytes] = []
    taken = 0
    # The file may grow or shrink under us, so its size is a guess that only saves a second read.
    while chunk := os.read(descriptor, size + 1 if not chunks else _CHUNK):
        taken += len(chunk)
        if limit is not None and taken > limit:
            raise TooLarge(path, taken, limit)
        chunks.append(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _changed(path: Path, how: str, expect: str, found: str | None) -> Conflict:
    return Conflict(
        f"{path} {how}",
        hint="read the record again and repeat the change",
        details={"path": str(path), "expected": expect, "found": found},
    )


def _publish(staged: Path, path: Path) -> None:
    absent(path)
    try:
        os.link(staged, path)  # unlike rename, link refuses to overwrite
    except FileExistsError:
        absent(path)
        raise
    except OSError as failed:
        if failed.errno not in _NO_LINKS:
            raise
        # Nobody came between the look and the rename: the caller holds the store lock.
        staged.rename(path)


@contextmanager
def _staged(folder: Path, data: bytes, mode: int | None) -> Iterator[Path]:
    descriptor, temporary = _open_new(folder)
    try:
        try:
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(descriptor, mode)
            _write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        yield temporary
    finally:
        # It is gone after a rename, and where it cannot be deleted it is a stray like any other:
        # neither may hide how the write itself went.
        with suppress(OSError):
            temporary.unlink()


def _open_new(folder: Path) -> tuple[int, Path]:
    # The name has to be unique, not secret; another machine on the same disk may have our pid.
    while True:
        temporary = folder / f".tmp-{os.getpid()}-{threading.get_ident()}-{next(_SERIAL)}"
        try:
            return os.open(temporary, _WRITE_NEW, 0o666), temporary
        except FileExistsError:
            continue


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        written = os.write(descriptor, rest)
        if written == 0:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        rest = rest[written:]
