"""One store's index: always current when asked, whatever state the file is in.

``refresh`` compares the listing with the rows before every read. When the file cannot be used or
written (damage, a lock held too long, a read-only disk), the same tables are made in memory: the
answer is the same, only slower, and ``state`` says so. The file is used again as soon as it serves.
"""

from __future__ import annotations

import gc
import os
import sqlite3
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.errors import MemspecError, StorageFailed
from memspec_py.index import db as file
from memspec_py.index.db import Unusable
from memspec_py.index.freshness import is_current
from memspec_py.store.layout import LOCAL
from memspec_py.store.listing import Listing, list_records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from memspec_py.config import Limits
    from memspec_py.report import Finding

    Progress = Callable[[int, int], None]

# Another process's sync takes tens of milliseconds, a cold build of a large store some seconds;
# beyond that an index of our own in memory comes sooner than theirs.
_LOCK_SECONDS = 3.0
# A listing older than this was made before a wait; a large store takes a tenth of it.
_OLD_NS = 1_000_000_000
# Who asked for a new file wants nothing else.
_REBUILD_SECONDS = 10.0


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

    def __init__(
        self,
        root: Path,
        limits: Limits,
        progress: Progress | None = None,
        *,
        machine: Path | None = None,
        in_memory: bool = False,
        watched: bool = False,
    ) -> None:
        """``machine`` is the folder whose ``local/`` has the index, if it is not the store.

        ``watched`` is for who reads again and again: see ``store.watch``.
        """
        self._root = os.fspath(root)
        self._machine = machine or root
        self._local = os.path.join(self._machine, LOCAL)
        self._limits = limits
        self._progress = progress
        self._db: sqlite3.Connection | None = None
        self._in_memory = False
        self._only_memory = in_memory
        self.listing = Listing()
        self._kept: KeptListing | None = None
        if watched:
            from memspec_py.store.watch import KeptListing

            self._kept = KeptListing(self._root)
        self._looked = 0
        self._before: Listing | None = None  # what the rows were last found to agree with
        self.state = IndexState(
            "unread", 0, why="there is no place for a file" if in_memory else None
        )

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
        with _no_collection():
            self._look(listing)
            self.state = self._fresh() or self._synced()
        return self.state

    def refresh_in_memory(self) -> IndexState:
        """Make an index in memory from the files alone, and never look at the index file."""
        self._let_go()
        self._only_memory = True
        self.listing = list_records(self._root)
        self._db = file.in_memory()
        self.state = self._bypassed("it was asked for")
        return self.state

    def rebuild(self) -> IndexState:
        """Make the index anew from the files, whatever it holds now."""
        self._let_go()
        with self._lock(_REBUILD_SECONDS):
            file.discard(self._local)
        return self.refresh()

    def close(self) -> None:
        """Let go of the file, and of the watch if there is one."""
        self._let_go()
        if self._kept is not None:
            self._kept.close()

    def is_proven(self) -> bool:
        """Whether the answer just given can be relied on: nobody touched the file meanwhile."""
        if self._in_memory:
            return True
        try:
            file.prove(self._local)
        except Unusable:
            return False
        return True

    def failed(self, problem: object) -> None:
        """A statement failed: the file is damaged in a way its stat did not show. Start over."""
        self._let_go()
        self._db = file.in_memory()
        self.state = self._bypassed(f"the index failed: {problem}")
        # Where nobody may write, the next reader bypasses it as well.
        with suppress(MemspecError, OSError), self._lock(_LOCK_SECONDS):
            file.discard(self._local)

    def _let_go(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None
        self._in_memory = False

    def _fresh(self) -> IndexState | None:
        """The index as it is, if it needs no work."""
        if self._in_memory or self._only_memory:
            return self._fresh_in_memory()
        try:
            if self._db is None:
                self._db = file.open_proven(self._local)
            else:
                file.prove(self._local)
            if self._is_current(self._db):
                return self._is_fresh()
        except (Unusable, sqlite3.Error):
            self._let_go()
        return None

    def _fresh_in_memory(self) -> IndexState | None:
        """The file, if it serves again; else what is in memory, if that needs no work."""
        if not self._only_memory:
            with suppress(Unusable, sqlite3.Error):
                found = file.open_proven(self._local, patience=0)
                if self._is_current(found):
                    self._let_go()
                    self._db = found
                    return IndexState("fresh", len(self.listing))
                found.close()
        if self._db is not None and self._is_current(self._db):
            return IndexState("bypassed", len(self.listing), why=self.state.why)
        return None

    def _look(self, listing: Listing | None = None) -> None:
        """List the files, and remember since when the listing is true."""
        self._looked = time.monotonic_ns()
        self.listing = listing if listing is not None else self._listed()

    def _listed(self) -> Listing:
        return list_records(self._root) if self._kept is None else self._kept.now()

    def _is_fresh(self) -> IndexState:
        self._before = self.listing
        return IndexState("fresh", len(self.listing))

    def _is_current(self, db: sqlite3.Connection) -> bool:
        return is_current(db, self._root, self.listing, self._limits)

    def _synced(self) -> IndexState:
        """The index after the changed files were read, or a new one, or one in memory."""
        if self._only_memory:
            return self._bypassed(self.state.why or "")
        memory = self._db if self._in_memory else None
        if memory is None:
            self._let_go()
        try:
            # Who has an index in memory need not wait for the file.
            with self._lock(0 if memory else _LOCK_SECONDS):
                state = self._sync_file()
        except (MemspecError, sqlite3.Error, OSError) as problem:
            if self._db is not memory:
                self._let_go()
            self._db = memory
            return self._bypassed(str(problem))
        if memory is not None:
            memory.close()
        self._in_memory = False
        return state

    def _sync_file(self) -> IndexState:
        """Under the lock: bring the file up to date with the listing.

        Whoever had to wait for the lock looks again, for another process may have done the work.
        """
        from memspec_py.index.sync import sync

        if time.monotonic_ns() - self._looked > _OLD_NS:
            self._look()
        now = self._now_ns() - (time.monotonic_ns() - self._looked)
        why = None
        found = None
        try:
            self._db = found = file.open_proven(self._local)
            if self._is_current(found):
                return self._is_fresh()
            done = sync(
                found, self._root, self.listing, self._limits, now_ns=now, before=self._before
            )
            self._before = self.listing = done.listing
            file.stamp(self._local)
            return IndexState("synced", len(self.listing), read=done.read)
        except (Unusable, sqlite3.Error) as problem:
            existed = os.path.lexists(os.path.join(self._local, file.INDEX_NAME))
            why = f"the old one was thrown away: {problem}" if existed else None
            if found is not None:
                found.close()
        return self._build(now, why)

    def _build(self, now: int, why: str | None) -> IndexState:
        building = file.new_file(self._local)
        try:
            read = self._read_all_into(building, now)
            building.close()
            file.install(self._local)
        except BaseException:
            building.close()
            file.abandon(self._local)
            raise
        self._db = file.open_proven(self._local)
        return IndexState("built", len(self.listing), read=read, why=why)

    def _read_all_into(self, db: sqlite3.Connection, now: int) -> int:
        """Bring an index up to date that may be far behind; the number of files that were read.

        Reading thousands of files takes a while, and the folders are listed one after the other:
        what was changed or moved meanwhile is looked for once more.
        """
        from memspec_py.index.parallel import reader
        from memspec_py.index.sync import sync

        with reader(self._progress) as read_all:
            done = sync(db, self._root, self.listing, self._limits, now_ns=now, read_all=read_all)
        read = done.read
        self.listing = list_records(self._root)
        if done.changed and self.listing.fingerprint() != done.listing.fingerprint():
            done = sync(db, self._root, self.listing, self._limits, now_ns=now)
            self.listing = done.listing
            read += done.read
        return read

    def _bypassed(self, why: str) -> IndexState:
        """An index in memory: from the file if that is readable, else from nothing."""
        if self._db is None:
            self._db = self._start_in_memory()
        self._in_memory = True
        # No file of ours shows the file system's time here, so whatever is as young as the newest
        # file is read again each time.
        now = self.listing.newest()
        try:
            read = self._read_all_into(self._db, now)
        except sqlite3.Error:  # the copy of a damaged file
            self._db.close()
            self._db = file.in_memory()
            read = self._read_all_into(self._db, now)
        return IndexState("bypassed", len(self.listing), read=read, why=why)

    def _start_in_memory(self) -> sqlite3.Connection:
        try:
            return file.copy_in_memory(self._local)
        except Unusable:
            return file.in_memory()

    def _lock(self, seconds: float) -> _IndexLock:
        from memspec_py.store.lock import StoreLock

        if not os.path.isdir(self._root):
            raise StorageFailed(f"{self._root} is gone")
        if os.fspath(self._machine) != self._root:
            # It has the words of records that others may not be allowed to read where they lie.
            os.makedirs(self._machine, mode=0o700, exist_ok=True)
        return StoreLock(self._machine, seconds, name=file.LOCK_NAME)

    def _now_ns(self) -> int:
        """The file system's own time, which is what the stats of records are measured by."""
        path = os.path.join(self._local, file.LOCK_NAME)
        os.utime(path)
        return os.stat(path).st_mtime_ns


@contextmanager
def _no_collection() -> Iterator[None]:
    """No look for garbage meanwhile.

    A refresh makes thousands of small values at once and none of them in a cycle; looking at each
    of them again and again would cost a tenth of it.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


if TYPE_CHECKING:
    from memspec_py.store.lock import StoreLock as _IndexLock
    from memspec_py.store.watch import KeptListing
