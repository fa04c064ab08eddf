"""One writer at a time: the store's lock, between processes and threads."""

from __future__ import annotations

import errno
import os
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memspec_py.errors import Busy, StorageFailed
from memspec_py.store import files

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from filelock import BaseFileLock

_POLL_SECONDS = 0.005
_READ_ONLY = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
_CANNOT_LOCK = frozenset({errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})
_SIGNATURE_BYTES = 256


@dataclass(slots=True)
class _Hold:
    lock: BaseFileLock
    depth: int = 1


class _Held(threading.local):
    """What this thread holds, by process and path: after a fork the child holds nothing."""

    def __init__(self) -> None:
        self.locks: dict[tuple[int, Path], _Hold] = {}


_held = _Held()


class StoreLock:
    """The right to write in one store, as a context manager.

    Entering again in the same thread, through this object or another one for the same store, does
    not wait. The system frees the lock of a process that dies. ``command`` is what a waiter is told
    about the holder; ``name`` is the lock file in ``local/``.

    Raises on entry: ``Busy`` after ``timeout`` seconds (negative: never), ``StorageFailed``.
    """

    def __init__(
        self, folder: Path, timeout: float = 10.0, *, command: str = "", name: str = "store.lock"
    ) -> None:
        self.path = Path(os.path.realpath(folder), "local", name)
        self._folder = folder
        self._timeout = timeout
        self._command = " ".join(command.split())

    def __enter__(self) -> Self:
        hold = _held.locks.get(self._key())
        if hold is None:
            _held.locks[self._key()] = _Hold(self._acquire())
        else:
            hold.depth += 1
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        hold = _held.locks[self._key()]
        hold.depth -= 1
        if hold.depth == 0:
            del _held.locks[self._key()]
            hold.lock.release()

    @property
    def held(self) -> bool:
        """Whether this thread holds the lock."""
        return self._key() in _held.locks

    def _key(self) -> tuple[int, Path]:
        return os.getpid(), self.path

    def _acquire(self) -> BaseFileLock:
        from filelock import FileLock, Timeout  # 35 ms of imports, and only a write needs it

        self._make_local()
        # A lock that is a mere file would outlive a killed holder, so there is no soft fallback.
        lock = FileLock(
            self.path,
            poll_interval=_POLL_SECONDS,
            fallback_to_soft=False,
            on_acquired=self._sign,
        )
        try:
            lock.acquire(timeout=self._timeout)
        except Timeout:
            raise self._busy() from None
        except OSError as failed:
            raise self._failed(failed) from failed
        return lock

    def _make_local(self) -> None:
        local = self.path.parent
        if local.is_symlink():
            raise StorageFailed(
                f"{local} is a symbolic link",
                hint="symbolic links inside a store are not followed; make it a folder",
                details={"path": str(local)},
            )
        try:
            files.make_folder(local)
        except OSError as failed:
            raise self._failed(failed) from failed

    def _sign(self, descriptor: int) -> None:
        # One fixed length covers what the last holder wrote; truncating first would flush the disk.
        line = f"{os.getpid()} {self._command}".encode()[: _SIGNATURE_BYTES - 1]
        # It is only for the message a waiter reads, and a full disk must not stop a deletion.
        with suppress(OSError):
            os.write(descriptor, line.ljust(_SIGNATURE_BYTES - 1) + b"\n")

    def _holder(self) -> tuple[int, str] | None:
        try:
            text = files.read(self.path, limit=4096).decode("utf-8", "replace").strip()
        except OSError:  # Windows does not let others read a locked file
            return None
        pid, _, command = text.partition(" ")
        return (int(pid), command) if pid.isascii() and pid.isdecimal() else None

    def _busy(self) -> Busy:
        holder = self._holder()
        who = "another process"
        details: dict[str, object] = {"path": str(self.path)}
        if holder is not None:
            pid, command = holder
            who = f"process {pid} ({command})" if command else f"process {pid}"
            details |= {"pid": pid, "command": command}
        return Busy(
            f"the store is locked by {who}: {self.path}",
            hint="wait for it to finish and try again; the lock ends with the process",
            details=details,
        )

    def _failed(self, failed: OSError) -> StorageFailed:
        reason = (failed.strerror or str(failed)).lower()
        message, hint = f"cannot lock {self.path}: {reason}", "check the disk and try again"
        if failed.errno in _READ_ONLY:
            message = f"the store is read-only: {self._folder} ({reason})"
            hint = "reading works; to write, check who may write in the store's folder"
        elif failed.errno in _CANNOT_LOCK:
            message = f"this disk cannot lock files: {self.path} ({reason})"
            hint = "network and shared disks often cannot; keep the store on a local disk"
        return StorageFailed(
            message,
            hint=hint,
            details={"path": str(self.path), "errno": errno.errorcode.get(failed.errno or 0, "")},
        )
