"""The listing of a store that stays open, kept current by the kernel's queue of file events.

Linux puts an event into the queue before the call that changed a file returns to its caller, so
whatever was done on this host before a look at the queue is in it: our own writes, other
processes', git's. A queue that is empty says that the last listing is still true.

Some changes make no event: through another name of a file outside the store, through a memory
mapping until it ends, by another host on a network file system, under a mount. So only file
systems of this host are watched, no store with a hard-linked record is, each folder must still be
the one that is watched, and every ``SECONDS`` the files are listed whatever the queue says.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from io import FileIO
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakSet

from memspec_py.store.layout import RECORD_FOLDERS
from memspec_py.store.listing import list_again, list_records

if TYPE_CHECKING:
    import ctypes
    from collections.abc import Iterator
    from typing import TypeAlias

    from memspec_py.store.listing import Listing

    Touched: TypeAlias = "dict[str, set[str]]"

# What makes no event is seen this late at most. A listing of 10,000 files takes some 30 ms, so a
# reader that is always busy spends 0.3 % of its time on this.
SECONDS = 10.0

_MODIFY, _ATTRIB, _CLOSE_WRITE = 0x2, 0x4, 0x8
_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF = 0x400, 0x800
_OVERFLOW, _IGNORED = 0x4000, 0x8000
_ONLY_FOLDER, _DONT_FOLLOW, _IS_FOLDER = 0x0100_0000, 0x0200_0000, 0x4000_0000
_CHANGES = (
    _MODIFY
    | _ATTRIB
    | _CLOSE_WRITE  # a memory mapping tells no more than its end
    | _MOVED_FROM
    | _MOVED_TO
    | _CREATE
    | _DELETE
    | _DELETE_SELF
    | _MOVE_SELF
    | _ONLY_FOLDER
)
_EVENT = Struct("iIII")
# A full queue is a megabyte; who writes faster than we read is not waited for.
_CHUNK, _MOST_CHUNKS = 65_536, 64

# File systems that change through this kernel alone, by the magic number of statfs(2). All others
# (networks, FUSE, 9p, overlays, whatever comes) are listed each time.
_OF_THIS_HOST = {
    0xEF53: "ext2, ext3, ext4",
    0x5846_5342: "xfs",
    0x9123_683E: "btrfs",
    0x0102_1994: "tmpfs",
    0xF2F5_2010: "f2fs",
    0x2FC1_2FC1: "zfs",
    0xCA45_1A4E: "bcachefs",
}
_STATFS_BYTES = 512  # the structure has at most 120 so far


class Unwatchable(Exception):
    """There is no queue of file events to be had."""


class _Event(NamedTuple):
    watch: int
    mask: int
    name: str


class Watch:
    """The queue of what happens in a store's record folders, as an observer of its listing.

    A folder is watched before it is listed, so nothing that happens in it afterwards is missed; one
    that appears later is told by the folder it lies in. Raises ``Unwatchable``. For one thread.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._libc = _libc()
        handle = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if handle < 0:
            raise Unwatchable(_last_error())
        self._queue = FileIO(handle)
        self._folders: dict[int, str] = {}
        self._former: set[int] = set()
        self._places: list[tuple[str, tuple[int, int]]] = []
        self._devices: set[int] = set()
        self.doubt: str | None = "nothing is watched yet"
        _watches.add(self)

    @property
    def closed(self) -> bool:
        """Whether this process has let go of the queue."""
        return self._queue.closed

    def close(self) -> None:
        """Let go of the queue."""
        self._queue.close()

    def begin(self) -> None:
        """Start over: a whole listing follows, of which this is told."""
        for _ in self._events():
            pass  # what came before the listing is in it
        self._former = set(self._folders)
        self._folders = {}
        self._places = []
        self._devices = set()
        self.doubt = None
        self.enters("")

    def end(self) -> None:
        """The listing is whole: folders that are not in it any more need no watch."""
        for gone in self._former.difference(self._folders):
            self._libc.inotify_rm_watch(self._queue.fileno(), gone)
        self._former = set()

    def enters(self, folder: str) -> None:
        """A folder is about to be listed."""
        place = f"{self._root}/{folder}" if folder else self._root
        try:
            found = os.lstat(place) if folder else os.stat(place)
        except OSError as problem:
            # Of a folder that is gone the one it was in has told; of the store nobody would.
            if folder == "" or not isinstance(problem, FileNotFoundError):
                self.doubt = f"{place}: {problem.strerror or problem}"
            return
        self._places.append((folder, (found.st_dev, found.st_ino)))
        if found.st_dev not in self._devices:
            self._devices.add(found.st_dev)
            if not self._is_of_this_host(place):
                self.doubt = f"{place}: its file system may change without an event"
        self._add(folder, place)

    def sees(self, found: os.stat_result) -> None:
        """A file is listed. Its other names, and what is mounted on it, are not watched."""
        if not stat.S_ISREG(found.st_mode):
            return
        if found.st_nlink > 1 or found.st_dev not in self._devices:
            self.doubt = "a record has another name, or is another file system's"

    def touched(self) -> Touched | None:
        """The names in which folders something happened to since the last call.

        None when the events do not tell, and everything must be listed.
        """
        if self.closed or self.doubt is not None:
            return None
        found: Touched = {}
        # After the events, so that a folder that was exchanged in between is noticed.
        if not (self._collect(found) and self._is_in_place()):
            return None
        return found

    def _collect(self, found: Touched) -> bool:
        """Add what the events name; whether that is all that happened."""
        known = True
        for event in self._events():
            folder = self._folders.get(event.watch)
            if folder is None:
                # Of a folder that was let go of; or the queue was full, which has no folder.
                known = known and event.mask & _IGNORED != 0
            elif folder == "":
                # Beside the record folders lie settings, telemetry, locks: no records.
                known = known and event.name != "" and event.name not in RECORD_FOLDERS
            elif event.name == "" or event.mask & _IS_FOLDER:
                known = False
            else:
                found.setdefault(folder, set()).add(event.name)
        return known

    def _events(self) -> Iterator[_Event]:
        """Take out what is in the queue; one that never ends is told as an overflow."""
        for _ in range(_MOST_CHUNKS):
            chunk = self._queue.read(_CHUNK)
            if not chunk:
                return
            position = 0
            while position < len(chunk):
                watch, mask, _, length = _EVENT.unpack_from(chunk, position)
                position += _EVENT.size
                name = chunk[position : position + length].rstrip(b"\0")
                position += length
                yield _Event(watch, mask, os.fsdecode(name))
        yield _Event(-1, _OVERFLOW, "")

    def _is_in_place(self) -> bool:
        """Whether each path still leads to the folder that is watched.

        A folder above the store may have been exchanged, or something mounted on one.
        """
        try:
            for folder, identity in self._places:
                place = f"{self._root}/{folder}"
                found = os.lstat(place) if folder else os.stat(self._root)
                if (found.st_dev, found.st_ino) != identity:
                    return False
        except OSError:
            return False
        return True

    def _add(self, folder: str, place: str) -> None:
        mask = _CHANGES | _DONT_FOLLOW if folder else _CHANGES
        added = self._libc.inotify_add_watch(self._queue.fileno(), os.fsencode(place), mask)
        if added < 0:
            self.doubt = f"{place}: {_last_error()}"
        elif added in self._folders:
            self.doubt = f"{place} and {self._folders[added]!r} are one folder"
        else:
            self._folders[added] = folder

    def _is_of_this_host(self, place: str) -> bool:
        import ctypes

        told = ctypes.create_string_buffer(_STATFS_BYTES)
        if self._libc.statfs(os.fsencode(place), told) != 0:
            return False
        # The first word of the structure is the kind, and nowhere else do the numbers come out.
        kind = int.from_bytes(told.raw[: ctypes.sizeof(ctypes.c_long)], sys.byteorder)
        return kind & 0xFFFF_FFFF in _OF_THIS_HOST


class KeptListing:
    """The listing of a store for a reader that asks again and again."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._watch: Watch | None = None
        self._can_watch = True
        self._listing: Listing | None = None  # what the events since are to be applied to
        self._listed = 0.0

    def now(self) -> Listing:
        """The listing as it is now: the last one, or that mended, or one made anew."""
        kept = self._kept()
        return self._anew() if kept is None else kept

    def close(self) -> None:
        """Let go of the queue of events."""
        self._listing = None
        if self._watch is not None:
            self._watch.close()
            self._watch = None

    def _kept(self) -> Listing | None:
        # Events that were taken out must not be lost to an interruption.
        before, self._listing = self._listing, None
        if before is None or self._watch is None or time.monotonic() - self._listed > SECONDS:
            return None
        touched = self._watch.touched()
        if touched is None:
            return None
        found = list_again(self._root, before, touched, self._watch) if touched else before
        if self._watch.doubt is not None:
            return None  # a second name changes the stat of a record without an event
        self._listing = found
        return found

    def _anew(self) -> Listing:
        watch = self._opened()
        if watch is None:
            return list_records(self._root)
        began = time.monotonic()
        watch.begin()
        listing = list_records(self._root, watch)
        watch.end()
        if watch.doubt is None:
            self._listing, self._listed = listing, began
        return listing

    def _opened(self) -> Watch | None:
        if self._watch is not None and self._watch.closed:  # by a fork
            self._watch = None
        if self._watch is None and self._can_watch:
            try:
                self._watch = Watch(self._root)
            except Unwatchable:
                self._can_watch = False
        return self._watch


_watches: WeakSet[Watch] = WeakSet()


def _let_go() -> None:
    """In a new child process: the queue is the parent's, and what is read from it is lost to it."""
    for watch in list(_watches):
        watch.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


def _libc() -> ctypes.CDLL:
    """The C library, if it has what is needed; raises ``Unwatchable``."""
    if not sys.platform.startswith("linux"):
        raise Unwatchable(f"not on {sys.platform}")
    try:
        import ctypes

        libc = ctypes.CDLL(None, use_errno=True)
        libc.inotify_init1.argtypes = [ctypes.c_int]
        libc.inotify_add_watch.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32]
        libc.inotify_rm_watch.argtypes = [ctypes.c_int, ctypes.c_int]
        libc.statfs.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    except (ImportError, OSError, AttributeError) as problem:
        raise Unwatchable(str(problem)) from None
    return libc


def _last_error() -> str:
    import ctypes

    return os.strerror(ctypes.get_errno())
