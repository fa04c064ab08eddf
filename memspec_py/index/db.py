"""The index file: its tables, opening it, and knowing whether it is the one we wrote.

It lies in the store's ``local/index.db`` and is never migrated: another version, damage, or a file
that somebody else touched is thrown away and made again. A rollback journal rather than a
write-ahead log, because stores lie on network disks too, where a log's shared memory corrupts.

Without FTS5 there is no search at all, in a file or in memory, and so no answer that could be
trusted: a Python whose SQLite was built without it gets ``StorageFailed`` with the way out.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

from memspec_py.errors import StorageFailed
from memspec_py.store.listing import stat_of

if TYPE_CHECKING:
    from collections.abc import Iterator

# Raise this when the same file gives other rows than before.
_ROWS = 1
INDEX_NAME = "index.db"
STAMP_NAME = "index.stamp"
LOCK_NAME = "index.lock"
# How long to wait for another process's commit, in seconds; a commit takes milliseconds.
_PATIENCE = 2.0

# `files` is narrow because it is compared with the listing, `records` because queries filter by it;
# `texts` has what a hit shows. `shown` is both.
# `indexed` says which rows stand in `words`: the text given to FTS5's external content table must
# be the same when a row is taken out as when it was put in, so the view is the only source of it.
_TABLES = """
create table meta (key text primary key, value) without rowid;
create table files (
    path text primary key, size int, mtime int, ctime int, inode int, digest text
) without rowid;
create index files_closed on files (path) where digest = '';
create table records (
    key integer primary key, path text not null, id text not null, kind text not null,
    label text not null, state text not null, live int not null, shadowed int not null default 0,
    indexed int not null default 0, title_size int not null, tags_size int not null,
    body_size int not null, scope text, created text not null, fresh text not null,
    check_by text, expires text, valid_from text, valid_to text, witness text not null,
    derived int not null, pinned int not null, anchored int not null
);
create index records_by_id on records (id, path);
create index records_by_path on records (path);
create index records_shadowed on records (id) where shadowed = 1;
create index records_to_index on records (live) where indexed = 0 and shadowed = 0;
create table texts (
    key integer primary key, title text not null, tags text not null, body text not null,
    body_words text not null, head text not null
);
create view shown as select r.*, t.body, t.head from records r join texts t on t.key = r.key;
create table edges (source text not null, type text not null, target text not null,
    position int not null, path text not null);
create index edges_by_source on edges (source, type, position);
create index edges_by_target on edges (target, type);
create index edges_by_path on edges (path);
create table findings (path text not null, position int not null, code text not null,
    severity text not null, line int, field text, message text not null,
    primary key (path, position)) without rowid;
create view indexed_text as
    select key as rowid, title, tags, body || char(10) || body_words as body from texts;
create virtual table words using fts5 (
    title, tags, body, content = 'indexed_text', content_rowid = 'rowid',
    tokenize = 'porter unicode61 remove_diacritics 2'
);
create virtual table past_words using fts5 (
    title, tags, body, content = 'indexed_text', content_rowid = 'rowid',
    tokenize = 'porter unicode61 remove_diacritics 2'
);
"""


# Other tables or other rows make another version, so that nobody can forget to count it up.
VERSION = crc32(f"{_ROWS} {_TABLES}".encode()) & 0x7FFF_FFFF


class Unusable(Exception):
    """The index file cannot serve: absent, of another version, damaged, or changed by somebody."""


def create_tables(db: sqlite3.Connection) -> None:
    """Make the tables of an empty index; raises ``StorageFailed`` where SQLite has no FTS5."""
    try:
        db.executescript(_TABLES)
    except sqlite3.OperationalError as problem:
        if "fts5" not in str(problem):
            raise
        raise StorageFailed(
            f"this Python's SQLite {sqlite3.sqlite_version} has no FTS5 full-text search",
            hint="use a Python with FTS5, such as those of python.org, uv, conda and Linux systems",
        ) from None
    db.execute(f"pragma user_version = {VERSION}")


def in_memory() -> sqlite3.Connection:
    """An empty index that lives as long as the connection."""
    db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    try:
        create_tables(db)
    except BaseException:
        db.close()
        raise
    return db


def open_proven(local: str, patience: float = _PATIENCE) -> sqlite3.Connection:
    """The index file of a store's ``local/`` folder, if it is exactly the one we last wrote.

    Raises ``Unusable`` with the reason, also when somebody locks the file for longer than
    ``patience`` seconds.
    """
    prove(local)
    return _opened(os.path.join(local, INDEX_NAME), patience)


def open_read_only(local: str) -> sqlite3.Connection:
    """The same for a folder that cannot be written; raises ``Unusable``."""
    prove(local)
    return _opened(Path(local, INDEX_NAME).as_uri() + "?mode=ro&immutable=1", 0, uri=True)


def prove(local: str) -> None:
    """Check that the index file is the one we wrote; raises ``Unusable`` if not.

    Whoever commits writes the file's stat into the stamp beside it, under the index lock. A file
    with another stat was damaged, restored, copied, or its writer died: its content proves nothing.
    """
    try:
        with open(os.path.join(local, STAMP_NAME), encoding="ascii") as file:
            stamp = file.read()
        found = _stamp_of(local)
    except (OSError, ValueError):
        raise Unusable("there is none yet") from None
    if stamp != found:
        raise Unusable("it is not as it was left")


def stamp(local: str) -> None:
    """Say that the index file, as it is now, is ours; the caller holds the index lock."""
    temporary = os.path.join(local, f".tmp-{os.getpid()}-{STAMP_NAME}")
    with open(temporary, "w", encoding="ascii") as file:
        file.write(_stamp_of(local))
    os.replace(temporary, os.path.join(local, STAMP_NAME))


def discard(local: str) -> None:
    """Remove the index and everything that belongs to it; the caller holds the index lock."""
    for name in (STAMP_NAME, INDEX_NAME, f"{INDEX_NAME}-journal"):
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(local, name))


def new_file(local: str) -> sqlite3.Connection:
    """An empty index in a temporary file, to be put in place by ``install`` when it is full.

    The caller holds the index lock, so temporary files that are there belong to dead builders.
    """
    _remove_leftovers(local)
    db = sqlite3.connect(_building(local), isolation_level=None, check_same_thread=False)
    try:
        # Nobody sees this file before it is whole, so it needs no journal.
        db.execute("pragma journal_mode = off")
        db.execute("pragma synchronous = off")
        create_tables(db)
    except BaseException:
        db.close()
        abandon(local)
        raise
    return db


def install(local: str) -> None:
    """Put the finished temporary file in place and stamp it; the caller holds the index lock."""
    path = _building(local)
    with open(path, "rb") as file:
        os.fsync(file.fileno())
    discard(local)
    os.replace(path, os.path.join(local, INDEX_NAME))
    stamp(local)


def abandon(local: str) -> None:
    """Remove the temporary file of a build that failed."""
    with suppress(FileNotFoundError):
        os.unlink(_building(local))


def get_meta(db: sqlite3.Connection, key: str) -> str | None:
    """One value about the index as a whole."""
    row = db.execute("select value from meta where key = ?", (key,)).fetchone()
    return None if row is None else row[0]


def set_meta(db: sqlite3.Connection, key: str, value: str) -> None:
    """Keep one value about the index as a whole."""
    db.execute("insert or replace into meta values (?, ?)", (key, value))


def copy_in_memory(local: str) -> sqlite3.Connection:
    """The index file's content in memory, to bring up to date where the file cannot be written.

    Raises ``Unusable``, also when the file was written while it was copied.
    """
    stored = open_read_only(local)
    copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    try:
        stored.backup(copy)
        prove(local)
    except (sqlite3.Error, Unusable) as problem:
        copy.close()
        raise Unusable(str(problem)) from None
    finally:
        stored.close()
    return copy


def query(db: sqlite3.Connection, sql: str, values: tuple[object, ...] = ()) -> Iterator[tuple]:  # type: ignore[type-arg]
    """Rows of a statement, with the cursor closed whatever happens."""
    with closing(db.execute(sql, values)) as cursor:
        yield from cursor


def _opened(address: str, patience: float, *, uri: bool = False) -> sqlite3.Connection:
    try:
        db = sqlite3.connect(
            address, timeout=patience, isolation_level=None, check_same_thread=False, uri=uri
        )
    except sqlite3.Error as problem:
        raise Unusable(str(problem)) from None
    try:
        version = db.execute("pragma user_version").fetchone()[0]
    except sqlite3.Error as problem:
        db.close()
        raise Unusable(str(problem)) from None
    if version != VERSION:
        db.close()
        raise Unusable(f"it has version {version}, not {VERSION}")
    return db


def _remove_leftovers(local: str) -> None:
    for name in os.listdir(local):
        if name.startswith(".tmp-") and (INDEX_NAME in name or STAMP_NAME in name):
            os.unlink(os.path.join(local, name))


def _building(local: str) -> str:
    return os.path.join(local, f".tmp-{os.getpid()}-{INDEX_NAME}")


def _stamp_of(local: str) -> str:
    return " ".join(map(str, stat_of(os.path.join(local, INDEX_NAME))))
