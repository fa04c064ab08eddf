"""Whether the index needs any work: the one question that every read asks, kept free of imports."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from memspec_py.store.listing import Stat, stat_from

if TYPE_CHECKING:
    import sqlite3

    from memspec_py.config import Limits
    from memspec_py.store.listing import Listing

# So many racy files are simply read again each time; more are worth a write that clears them.
_FEW = 16
# A pipe that took a file's place after it was listed must not hang the reader, hence O_NONBLOCK.
_READ = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)


def is_current(db: sqlite3.Connection, root: str, listing: Listing, limits: Limits) -> bool:
    """Whether the index needs no work at all for this listing."""
    values = dict(db.execute("select key, value from meta"))
    if values.get("fingerprint") != listing.fingerprint() or values.get("limits") != repr(limits):
        return False
    racy = json.loads(values.get("racy") or "[]")
    return len(racy) <= _FEW and not any(_differs(db, root, path) for path in racy)


def bytes_of(place: str, limit: int) -> tuple[Stat, bytes]:
    """A file's bytes, one more than the limit at most, and its stat before they were read."""
    handle = os.open(place, _READ)
    try:
        found = os.fstat(handle)
        data = os.read(handle, limit + 1)
        while len(data) <= limit and (more := os.read(handle, limit + 1 - len(data))):
            data += more
    finally:
        os.close(handle)
    return stat_from(found), data


def _differs(db: sqlite3.Connection, root: str, path: str) -> bool:
    """Whether a racy file has other bytes than those that were indexed.

    One that could not be opened then, and cannot now, is as it was.
    """
    from memspec_py.store.files import digest  # rarely needed, and it loads OpenSSL

    row = db.execute("select digest, size from files where path = ?", (path,)).fetchone()
    try:
        _, data = bytes_of(f"{root}/{path}", (row[1] if row else 0) + 1)
    except OSError:
        return row is None or row[0] != ""
    return row is None or row[0] != digest(data)
