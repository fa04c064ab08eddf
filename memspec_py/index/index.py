"""One store's index: always current when asked, whatever state the file is in.

``refresh`` compares the listing with the rows before every read. When the file cannot be used or
written (damage, a lock held too long, a read-only disk), the same tables are made in memory: the
answer is the same, only slower, and ``state`` says so.
"""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.errors import MemspecError, StorageFailed
from memspec_py.index import db as file
from memspec_py.index.db import Unusable
from memspec_py.store.layout import LOCAL
from memspec_py.store.listing import list_records

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memspec_py.config import Limits
    from memspec_py.report import Finding
    from memspec_py.store.listing import Listing

    Progress = Callable[[int, int], None]

# Another process's sync takes tens of milliseconds, a cold build of a large store some seconds.
_LOCK_SECONDS = 10.0


class IndexState(NamedTuple):
    """How the last answer came about.

    ``how`` is ``fresh`` (nothing had changed), ``synced`` (``read`` files were read), ``built``
    (made anew, ``why`` if one was thrown away) or ``bypassed`` (in memory, because of ``why``).
    """

    how: str
    files: int
    read: int = 0
    why: str | None = None


class Index:
    """Search and look-ups over the records of one store."""

    def __init__(self, root: Path, limits: Limits, progress: Progress | None = None) -> None:
        self._root = os.fspath(root)
        self._path = root
        self._local = os.path.join(self._root, LOCAL)
        self._limits = limits
        self._progress = progress
        self._db: sqlite3.Connection | None = None
        self._in_memory = False
        self.listing: Listing = list_records(root)
        self.state = IndexState("unread", 0)

    @property
    def db(self) -> sqlite3.Connection:
        """The open index; only valid after ``refresh``."""
        if self._db is None:
            self.refresh()
        assert self._db is not None
        return self._db

    @property
    def unlisted(self) -> list[Finding]:
        """What the listing could not follow: symbolic links, folders without permission."""
        return self.listing.findings

    def refresh(self, *, listing: Listing | None = None) -> IndexState:
        """Bring the index up to date with the files and say what that took."""
        self.listing = listing or list_records(self._root)
        self.state = self._fresh() or self._synced() or self._bypassed(self.state.why or "")
        return self.state

    def refresh_in_memory(self) -> IndexState:
        """Make an index in memory from the files alone, without a look at the index file."""
        self.close()
        self.listing = list_records(self._root)
        self._db = file.in_memory()
        self.state = self._bypassed("it was asked for")
        return self.state

    def rebuild(self) -> IndexState:
        """Make the index anew from the files, whatever it holds now."""
        self.close()
        with self._lock():
            file.discard(self._local)
        return self.refresh()

    def close(self) -> None:
        """Let go of the file."""
        if self._db is not None:
            self._db.close()
            self._db = None
        self._in_memory = False

    def failed(self, problem: sqlite3.Error) -> None:
        """A statement failed: the file is damaged in a way its stat did not show. Start over."""
        self.close()
        self._in_memory = True
        self.state = self._bypassed(f"the index is damaged ({problem})")
        try:
            with self._lock():
                file.discard(self._local)
        except MemspecError:
            return  # nobody may write here, so the next reader will bypass it as well

    def _fresh(self) -> IndexState | None:
        """The index as it is, if it needs no work."""
        from memspec_py.index.sync import is_current

        try:
            if not self._in_memory:
                if self._db is None:
                    self._db = file.open_proven(self._local)
                else:
                    file.prove(self._local)
            if self._db is not None and is_current(
                self._db, self._root, self.listing, self._limits
            ):
                how = "bypassed" if self._in_memory else "fresh"
                return IndexState(how, len(self.listing.paths), why=self.state.why)
        except (Unusable, sqlite3.Error):
            self.close()
        return None

    def _synced(self) -> IndexState | None:
        """The index after the changed files were read, or a new one; None while in memory."""
        if self._in_memory:
            return None
        self.close()
        try:
            with self._lock():
                return self._sync_file()
        except (MemspecError, sqlite3.Error, OSError) as problem:
            self.close()
            return self._bypassed(str(problem))

    def _sync_file(self) -> IndexState:
        """Under the lock: look again, for another process may have done the work meanwhile."""
        from memspec_py.index.sync import is_current, sync

        now = self._now_ns()
        self.listing = list_records(self._root)
        size = len(self.listing.paths)
        why = None
        try:
            self._db = file.open_proven(self._local)
            if is_current(self._db, self._root, self.listing, self._limits):
                return IndexState("fresh", size)
            done = sync(self._db, self._root, self.listing, self._limits, now_ns=now)
            file.stamp(self._local)
            return IndexState("synced", size, read=done.read)
        except (Unusable, sqlite3.Error) as problem:
            existed = os.path.exists(os.path.join(self._local, file.INDEX_NAME))
            why = f"the old one was thrown away: {problem}" if existed else None
            self.close()
        return self._build(now, why)

    def _build(self, now: int, why: str | None) -> IndexState:
        from memspec_py.index.parallel import reader
        from memspec_py.index.sync import sync

        building = file.new_file(self._local)
        try:
            with reader(self._progress) as read_all:
                done = sync(
                    building, self._root, self.listing, self._limits, now_ns=now, read_all=read_all
                )
            building.close()
            file.install(self._local)
        except BaseException:
            building.close()
            file.abandon(self._local)
            raise
        self._db = file.open_proven(self._local)
        return IndexState("built", len(self.listing.paths), read=done.read, why=why)

    def _bypassed(self, why: str) -> IndexState:
        """An index in memory: from the file if that is readable, else from nothing."""
        from memspec_py.index.parallel import reader
        from memspec_py.index.sync import sync

        if self._db is None:
            self._db = self._start_in_memory()
        self._in_memory = True
        # No file of ours shows the file system's time here, so whatever is as young as the newest
        # file is read again each time.
        now = self.listing.newest()
        with reader(self._progress) as read_all:
            done = sync(
                self._db, self._root, self.listing, self._limits, now_ns=now, read_all=read_all
            )
        return IndexState("bypassed", len(self.listing.paths), read=done.read, why=why)

    def _start_in_memory(self) -> sqlite3.Connection:
        try:
            stored = file.open_read_only(self._local)
        except Unusable:
            return file.in_memory()
        try:
            return file.copy_of(stored)
        except sqlite3.Error:
            return file.in_memory()
        finally:
            stored.close()

    def _lock(self) -> _IndexLock:
        from memspec_py.store.lock import StoreLock

        if not os.path.isdir(self._root):
            raise StorageFailed(f"{self._root} is gone")
        return StoreLock(self._path, _LOCK_SECONDS, name=file.LOCK_NAME)

    def _now_ns(self) -> int:
        """The file system's own time, which is what the stats of records are measured by."""
        path = os.path.join(self._local, file.LOCK_NAME)
        os.utime(path)
        return os.stat(path).st_mtime_ns


if TYPE_CHECKING:
    from memspec_py.store.lock import StoreLock as _IndexLock
