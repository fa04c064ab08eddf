"""Bringing the index up to date: the listing against the rows, then only what differs is read.

Stat is a hint and content is the truth. A file whose stat is as recorded is taken as unchanged,
unless it was touched so shortly before the last look that a later change could carry the same
stat ("racy", as git calls it): such files are read again.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.index.db import get_meta, set_meta
from memspec_py.index.freshness import bytes_of
from memspec_py.index.rows import RECORD_COLUMNS, TEXT_COLUMNS, Rows, rows_of, unread
from memspec_py.store.listing import list_records, stat_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from memspec_py.config import Limits
    from memspec_py.store.listing import Listing

    Stats = Mapping[str, tuple[int, int, int, int]]

# Coarse clocks of file systems tick every two seconds at worst (FAT).
RACY_NS = 2_000_000_000
_BATCH = 200
# Up to so many files are looked up one by one, which beats a look at all ids.
_FEW_READ = 200
# How often files may move away between the listing and the reading before one answer does without.
_MOST_TURNS = 5


def _insertion(table: str, columns: tuple[str, ...]) -> str:
    marks = ", ".join("?" * len(columns))
    return f"insert into {table} ({', '.join(columns)}) values ({marks})"


_INSERT_RECORD = _insertion("records", RECORD_COLUMNS)
_INSERT_TEXT = _insertion("texts", TEXT_COLUMNS)


class Delta(NamedTuple):
    """What must be looked at: files to read and files that are gone."""

    read: list[str]
    gone: list[str]


class Synced(NamedTuple):
    """What a sync did, in files, and the listing that the rows now agree with.

    ``missed`` counts files that were listed and could not be found any more.
    """

    read: int
    changed: int
    removed: int
    missed: int
    listing: Listing

    def after(self, first: Synced) -> Synced:
        """The sum of two, of which this is the later."""
        return Synced(
            first.read + self.read,
            first.changed + self.changed,
            first.removed + self.removed,
            self.missed,
            self.listing,
        )


def delta(known: Stats, stats: Stats, racy: Iterable[str]) -> Delta:
    """What differs between the rows and the listing; a pure function of both."""
    different = {path for path, _ in stats.items() - known.items()}
    suspect = stats.keys() & set(racy)
    return Delta(sorted(different | suspect), sorted(known.keys() - stats.keys()))


def sync(
    db: sqlite3.Connection,
    root: str,
    listing: Listing,
    limits: Limits,
    *,
    now_ns: int,
    before: Listing | None = None,
    read_all: Callable[[str, list[str], Limits], Iterator[Rows]] | None = None,
) -> Synced:
    """Make the rows agree with the files, in one transaction.

    ``now_ns`` is the file system's time just before the listing was made. ``before`` is an earlier
    listing: if the rows are exactly as of then, comparing with it spares reading them all.
    ``read_all`` reads many files at once. Raises ``sqlite3.Error``; the index is then as it was.
    """
    db.execute("begin immediate")
    try:
        if get_meta(db, "limits") != repr(limits):
            _empty(db)
        racy = json.loads(get_meta(db, "racy") or "[]")
        if before is not None and before.fingerprint() != get_meta(db, "fingerprint"):
            before = None
        done = _apply(db, root, listing, limits, racy, now_ns, read_all or read_files, before)
        for _ in range(_MOST_TURNS):
            if not done.missed:
                break
            # What was listed and then was not there may have moved: look where it is now.
            more = _apply(db, root, list_records(root), limits, [], now_ns, read_files)
            done = more.after(done)
        db.execute("commit")
    except BaseException:
        if db.in_transaction:
            db.execute("rollback")
        raise
    return done


def read_files(root: str, paths: list[str], limits: Limits) -> Iterator[Rows]:
    """The rows of each file, in order; a file that is gone meanwhile has none."""
    for path in paths:
        rows = read_file(root, path, limits)
        if rows is not None:
            yield rows


def read_file(root: str, path: str, limits: Limits) -> Rows | None:
    """The rows of one file as it is now, or None when it does not exist (any more)."""
    place = f"{root}/{path}"
    try:
        stat, data = bytes_of(place, limits.record_bytes)
    except FileNotFoundError:
        return None
    except OSError as problem:
        reason = problem.strerror or str(problem)
        try:
            return unread(path, stat_of(place), "unopened", f"the file cannot be read: {reason}")
        except OSError:
            return None
    return rows_of(path, stat, data, limits)


def _apply(
    db: sqlite3.Connection,
    root: str,
    listing: Listing,
    limits: Limits,
    racy: list[str],
    now_ns: int,
    read_all: Callable[[str, list[str], Limits], Iterator[Rows]],
    before: Listing | None = None,
) -> Synced:
    todo = _todo(db, listing, before, racy)
    if todo.gone:
        # A file that moved from folder to folder while these were listed, one after the other, may
        # have been in none of them; and rows that another process wrote meanwhile may be newer than
        # the listing. The old name is gone now and nobody else writes rows: look once more.
        listing = list_records(root)
        todo = _todo(db, listing, before, racy)
    doubtful = _shadowed_ids(db)
    is_new = db.execute("select 1 from files limit 1").fetchone() is None
    changed = 0
    found: dict[str, int] = {}
    for batch in _batches(read_all(root, todo.read, limits)):
        fresh = batch if is_new else [rows for rows in batch if _is_news(db, rows)]
        found.update(map(_last_touched, batch))
        if not is_new:
            _remove(db, [str(rows.file[0]) for rows in fresh])
        _insert(db, batch, fresh)
        _index_words(db)  # as we go, while others read on
        changed += len(fresh)
    missed = [path for path in todo.read if path not in found]
    gone = todo.gone + [path for path in missed if _is_known(db, path)]
    _remove(db, gone)
    db.executemany("delete from files where path = ?", [(path,) for path in gone])
    _shadow_doubles(db, doubtful | _ids_seen_twice(db, list(found)))
    _index_words(db)
    set_meta(db, "sizes", _average_sizes(db))
    set_meta(db, "limits", repr(limits))
    set_meta(db, "fingerprint", listing.fingerprint())
    set_meta(db, "racy", json.dumps(_young(db, listing, found, now_ns - RACY_NS)))
    return Synced(len(todo.read), changed, len(gone), len(missed), listing)


def _todo(
    db: sqlite3.Connection, listing: Listing, before: Listing | None, racy: Iterable[str]
) -> Delta:
    """What differs from an earlier listing that the rows are as of, else from the rows."""
    if before is None:
        return delta(_known(db), listing.stats(), racy)
    changed, gone = listing.difference(before)
    return Delta(sorted({*changed, *racy}.difference(gone)), sorted(gone))


def _last_touched(rows: Rows) -> tuple[str, int]:
    """A file that was read and its time then, which may be later than what the listing says."""
    path, _, mtime, ctime, *_ = rows.file
    return str(path), max(int(str(mtime)), int(str(ctime)))


def _is_news(db: sqlite3.Connection, rows: Rows) -> bool:
    """Whether a file's content differs from what its rows say; unopened files have no digest."""
    path, *_, digest = rows.file
    known = db.execute("select digest from files where path = ?", (path,)).fetchone()
    return digest == "" or known is None or known[0] != digest


def _is_known(db: sqlite3.Connection, path: str) -> bool:
    row = db.execute("select 1 from files where path = ?", (path,)).fetchone()
    return row is not None


def _young(
    db: sqlite3.Connection, listing: Listing, found: dict[str, int], since: int
) -> list[str]:
    """The files that are looked at again: touched since then, or not to be opened.

    Why a file could not be opened may end without a trace in its stat.
    """
    young = set(listing.touched_since(since))
    young |= {path for path, moment in found.items() if moment > since}
    young |= {path for (path,) in db.execute("select path from files where digest = ''")}
    return sorted(young)


def _known(db: sqlite3.Connection) -> Stats:
    """Path to stat as recorded, as plain tuples: there may be very many."""
    rows = db.execute("select path, size, mtime, ctime, inode from files")
    return {path: (size, mtime, ctime, inode) for path, size, mtime, ctime, inode in rows}


def _batches(rows: Iterator[Rows]) -> Iterator[list[Rows]]:
    batch: list[Rows] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _remove(db: sqlite3.Connection, paths: list[str]) -> None:
    """Take the records of some files out of the index; ``files`` itself is left."""
    for path in paths:
        for key, live, indexed in db.execute(
            "select key, live, indexed from records where path = ?", (path,)
        ).fetchall():
            if indexed:
                _take_out(db, key, live)
            db.execute("delete from records where key = ?", (key,))
            db.execute("delete from texts where key = ?", (key,))
        db.execute("delete from edges where path = ?", (path,))
        db.execute("delete from findings where path = ?", (path,))


def _insert(db: sqlite3.Connection, batch: list[Rows], fresh: list[Rows]) -> None:
    insert = "insert or replace into files values (?, ?, ?, ?, ?, ?)"
    try:
        db.executemany(insert, [rows.file for rows in batch])
    except OverflowError:
        db.executemany(insert, [_storable(rows.file) for rows in batch])
    last: int = db.execute("select coalesce(max(key), 0) from records").fetchone()[0]
    readable = list(enumerate((rows for rows in fresh if rows.record is not None), last + 1))
    db.executemany(_INSERT_RECORD, [(key, *(rows.record or ())) for key, rows in readable])
    db.executemany(_INSERT_TEXT, [(key, *rows.text) for key, rows in readable])
    db.executemany(
        "insert into edges values (?, ?, ?, ?, ?)", [edge for rows in fresh for edge in rows.edges]
    )
    db.executemany(
        "insert into findings values (?, ?, ?, ?, ?, ?, ?)",
        [finding for rows in fresh for finding in rows.findings],
    )


def _storable(file: tuple[object, ...]) -> tuple[object, ...]:
    """A file's row without numbers beyond 64 bits, such as a time after 2262.

    The row is then never as listed, so each sync reads the file again.
    """
    return tuple(
        0 if isinstance(value, int) and not -(2**63) <= value < 2**63 else value for value in file
    )


def _shadowed_ids(db: sqlite3.Connection) -> set[str]:
    return {id_ for (id_,) in db.execute("select id from records where shadowed = 1")}


def _ids_seen_twice(db: sqlite3.Connection, paths: Sequence[str]) -> set[str]:
    """The ids that several files carry, of those in some files that were just read."""
    if len(paths) > _FEW_READ:
        rows = db.execute("select id from records group by id having count(*) > 1")
        return {id_ for (id_,) in rows}
    counted = "select r.id from records r where r.path = ? and exists"
    other = "(select 1 from records o where o.id = r.id and o.path <> r.path)"
    return {id_ for path in paths for (id_,) in db.execute(f"{counted} {other}", (path,))}


def _shadow_doubles(db: sqlite3.Connection, doubtful: set[str]) -> None:
    """Of several files with one id let one stand: the operator's, else the first by path."""
    for id_ in doubtful:
        rows = db.execute(
            "select key, live, indexed, shadowed from records where id = ?"
            " order by path not like 'memory/operator/%', path",
            (id_,),
        ).fetchall()
        for position, (key, live, indexed, shadowed) in enumerate(rows):
            hide = int(position > 0)
            if hide and indexed:
                _take_out(db, key, live)
                db.execute("update records set indexed = 0 where key = ?", (key,))
            if hide != shadowed:
                db.execute("update records set shadowed = ? where key = ?", (hide, key))


def _index_words(db: sqlite3.Connection) -> None:
    """Put into the full-text tables whatever should stand there and does not."""
    for table, live in (("words", 1), ("past_words", 0)):
        db.execute(
            f"insert into {table} (rowid, title, tags, body)"
            " select t.rowid, t.title, t.tags, t.body from indexed_text t join records r"
            " on r.key = t.rowid where r.indexed = 0 and r.shadowed = 0 and r.live = ?"
            " and r.kind <> 'question'",
            (live,),
        )
    db.execute(
        "update records set indexed = 1 where indexed = 0 and shadowed = 0 and kind <> 'question'"
    )


def _average_sizes(db: sqlite3.Connection) -> str:
    """Words per title, tags and body of what is searched, as ``rank.sizes_of`` reads them."""
    row = db.execute(
        "select avg(title_size), avg(tags_size), avg(body_size) from records where live and indexed"
    ).fetchone()
    return "" if row[0] is None else " ".join(map(repr, row))


def _take_out(db: sqlite3.Connection, key: int, live: int) -> None:
    table = "words" if live else "past_words"
    db.execute(
        f"insert into {table} ({table}, rowid, title, tags, body)"
        " select 'delete', rowid, title, tags, body from indexed_text where rowid = ?",
        (key,),
    )


def _empty(db: sqlite3.Connection) -> None:
    """Forget every row: the limits changed, so files may read differently now."""
    for table in ("words", "past_words"):
        db.execute(f"drop table {table}")
        db.execute(
            f"create virtual table {table} using fts5 (title, tags, body,"
            " content = 'indexed_text', content_rowid = 'rowid',"
            " tokenize = 'porter unicode61 remove_diacritics 2')"
        )
    for table in ("files", "records", "texts", "edges", "findings", "meta"):
        db.execute(f"delete from {table}")
