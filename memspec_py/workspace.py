"""An opened store: settings, index and clock. Reads refresh first, writes lock first."""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

from memspec_py.errors import (
    AmbiguousId,
    Invalid,
    MemspecError,
    NotAllowed,
    NotFound,
    StorageFailed,
)
from memspec_py.index.index import Index
from memspec_py.store.layout import FOLDERS
from memspec_py.store.settings import settings_of
from memspec_py.store.unfinished import unfinished
from memspec_py.trust.channel import Channel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from memspec_py.clock import Clock
    from memspec_py.index.index import Progress
    from memspec_py.store.layers import Layer
    from memspec_py.store.resolve import Surroundings

    _T = TypeVar("_T")

_FOLDERS = ("memory", "memory/operator", *FOLDERS)
_MOST_CANDIDATES = 10
_READER_SECONDS = 2.0
_MOST_TRIES = 3
_MOST_MOVES = 9
_LISTED = "`memspec list` shows every id"


class Moved(NotFound):
    """A record's file was moved or removed between the look into the index and the reading."""


class Workspace:
    """One store, opened for one caller.

    ``project`` is the folder the store belongs to, which anchors are relative to; ``machine`` is
    the folder for index and receipts, the store itself if it may be written to; without
    ``has_machine`` nothing is kept. ``channel`` is the front the caller comes through,
    ``active_scope`` the scope its directory has in this store. ``beside`` are the other stores that
    serve the caller: records there can be linked to, and count as known. ``watched`` is for who
    stays and reads again and again: see ``store.watch``.
    """

    def __init__(
        self,
        root: Path,
        *,
        clock: Clock,
        entropy: Callable[[int], bytes],
        progress: Progress | None = None,
        command: str = "",
        channel: Channel = Channel.API,
        layer: Layer | None = None,
        active_scope: str | None = None,
        watched: bool = False,
    ) -> None:
        self.root = root
        self.clock = clock
        self.entropy = entropy
        self.channel = channel
        self.layer = layer
        self.active_scope = active_scope
        self.beside: tuple[Workspace, ...] = ()
        self._elsewhere: tuple[sqlite3.Connection, ...] | None = None
        self.has_machine = layer is None or layer.machine is not None
        self.machine = (layer.machine if layer else root) or root
        self.project = layer.project if layer else root.parent
        self.settings = layer.settings if layer else settings_of(root)
        self.index = Index(
            root,
            self.settings.limits,
            progress,
            machine=self.machine,
            in_memory=not self.has_machine,
            watched=watched,
        )
        self._command = command

    @property
    def name(self) -> str:
        """What the layer is called."""
        return self.layer.name if self.layer else "project"

    @property
    def is_writable(self) -> bool:
        """Whether anything may be written here; of layers some are only read."""
        return self.layer is None or self.layer.writable

    def now(self) -> str:
        """The present instant as canonical text."""
        from memspec_py.clock import instant

        return instant(self.clock.now())

    def search_paths(self, where: Surroundings) -> tuple[str, ...]:
        """The folders that may hold checkouts of other repositories, with the home filled in."""
        paths = self.settings.anchors.repo_search_paths
        if where.home is None:
            return paths
        home = str(where.home)
        return tuple(
            home + path[1:] if path == "~" or path.startswith("~/") else path for path in paths
        )

    def close(self) -> None:
        """Let go of the index file, and of the watch if there is one."""
        self.index.close()

    def read(self, answer: Callable[[sqlite3.Connection], _T]) -> _T:
        """An answer from a current index, all of it from one state of the index.

        An index that turns out to be damaged while it answers, or was touched by somebody else
        meanwhile, is replaced and asked again; so is one that names a file that moved (``Moved``).
        """
        for _ in range(_MOST_MOVES):
            with suppress(Moved):
                return self._read(answer)
        return self._read(answer)

    @contextmanager
    def writing(self, patience: float = 10.0) -> Iterator[None]:
        """The store's lock, with whatever a killed writer left behind finished first.

        Raises ``Busy`` after ``patience`` seconds, ``StorageFailed``, ``NotAllowed`` for a layer
        that is only read here, and ``Invalid`` while config.yaml is broken.
        """
        from memspec_py.store import journal
        from memspec_py.store.lock import StoreLock

        if self.layer is not None and not self.is_writable:
            from memspec_py.store.layers import read_only

            raise read_only(self.layer)
        for finding in self.settings.findings:
            if finding.severity == "error":
                raise Invalid(str(finding), findings=[finding], hint="mend config.yaml first")
        _refuse_links(self.root)
        with StoreLock(self.root, patience, command=self._command):
            journal.recover(self.root)
            yield

    @contextmanager
    def noting(self) -> Iterator[None]:
        """The lock of the telemetry in ``machine``, which a layer that is only read has, too.

        Raises ``NotAllowed`` where this machine keeps nothing of the store; else as ``writing``.
        """
        from memspec_py.store.lock import StoreLock

        if not self.has_machine:
            raise NotAllowed(
                f"of the read-only store layer {self.name!r} ({self.root}) nothing can be noted:"
                " this machine has no folder for it",
                hint="set HOME, or XDG_CACHE_HOME to the full path of a folder",
                details={"layer": self.name, "store": str(self.root)},
            )
        if self.machine == self.root:
            with self.writing():
                yield
        else:
            with StoreLock(self.machine, command=self._command):
                yield

    def find_id(self, db: sqlite3.Connection, typed: str) -> tuple[str, str]:
        """Id and path of the record that ``typed`` names: a whole id or a unique start of one.

        Raises ``NotFound`` or ``AmbiguousId``.
        """
        found = self.look_up(db, typed)
        if found is None:
            raise self._not_found(typed)
        return found

    def find_file(self, db: sqlite3.Connection, typed: str) -> tuple[str, str, bool]:
        """Id and path as ``find_id``, or those of a broken file that is named after its id.

        The last says whether the file can be read as a record.
        """
        found = self.look_up_file(db, typed)
        if found is None:
            raise self._not_found(typed)
        return found

    def look_up(self, db: sqlite3.Connection, typed: str) -> tuple[str, str] | None:
        """As ``find_id``, of this store alone; None when it has no such record."""
        from memspec_py.ids import prefix_range

        between = prefix_range(typed)
        rows = [] if between is None else _between(db, *between)
        ids = {id_ for id_, *_ in rows}
        if typed.strip().upper() in {id_.upper() for id_ in ids}:
            ids = {id_ for id_ in ids if id_.upper() == typed.strip().upper()}
        if len(ids) > 1:
            raise _ambiguous(typed, rows)
        return next(((id_, path) for id_, path, _, _ in rows if id_ in ids), None)

    def look_up_file(self, db: sqlite3.Connection, typed: str) -> tuple[str, str, bool] | None:
        """As ``find_file``, of this store alone; None when it has no such file."""
        found = self.look_up(db, typed)
        if found is not None:
            return *found, True
        from memspec_py.index.search import unreadable_path

        path = unreadable_path(db, typed)
        return None if path is None else (path.rpartition("/")[2].removesuffix(".md"), path, False)

    def indexes(self) -> tuple[sqlite3.Connection, ...]:
        """This store's index, which is current within a ``read``, and those of the others.

        The others are brought up to date once in each ``read``.
        """
        if self._elsewhere is None:
            self._elsewhere = tuple(one.read(lambda db: db) for one in self.beside)
        return (self.index.db, *self._elsewhere)

    def known_id(self, typed: str) -> str:
        """The id of a record of this store or, if it has none, of another that serves the caller.

        Raises as ``find_id``.
        """
        for store, db in zip((self, *self.beside), self.indexes(), strict=True):
            found = store.look_up(db, typed)
            if found is not None:
                return found[0]
        raise NotFound(f"no record {typed}", hint=_LISTED)

    def path_of(self, relative: str) -> Path:
        """A path of the store as the file system knows it."""
        return self.root / relative

    def _read(self, answer: Callable[[sqlite3.Connection], _T]) -> _T:
        self._finish_journals()
        for _ in range(_MOST_TRIES):
            self.index.refresh()
            self._elsewhere = None
            try:
                found = _at_once(self.index.db, answer)
            except sqlite3.DatabaseError as problem:
                self.index.failed(problem)
                return _at_once(self.index.db, answer)
            except Exception:
                if self.index.is_proven():
                    raise
            else:
                if self.index.is_proven():
                    return found
        self.index.failed("somebody else writes the file all the time")
        return _at_once(self.index.db, answer)

    def _not_found(self, typed: str) -> NotFound:
        """What to say of a record that this store has not, and another layer may have."""
        for other, db in zip(self.beside, self.indexes()[1:], strict=True):
            with suppress(AmbiguousId):
                found = other.look_up_file(db, typed)
                if found is not None:
                    hint = f"{found[0]} is in the store layer {other.name!r} ({other.root})"
                    return NotFound(f"no record {typed} in {self.root}", hint=hint)
        return NotFound(f"no record {typed}", hint=_LISTED)

    def _finish_journals(self) -> None:
        """Finish what a killed writer left, or wait for one that is still at it.

        Where that cannot be done (a read-only store, a writer that takes long) reading goes on: the
        files are whole, and of two copies of a record one is shown.
        """
        if unfinished(self.root):
            with suppress(MemspecError), self.writing(_READER_SECONDS):
                return


def _refuse_links(root: Path) -> None:
    """Raise ``StorageFailed`` for a link in place of a store's folder: it may lead to another."""
    for name in _FOLDERS:
        path = os.path.join(root, name)
        if os.path.islink(path):
            raise StorageFailed(
                f"{path} is a symbolic link",
                hint="symbolic links inside a store are not followed; make it a folder",
                details={"path": path},
            )


def _at_once(db: sqlite3.Connection, answer: Callable[[sqlite3.Connection], _T]) -> _T:
    """The answer from one snapshot: another process may sync between two of its questions."""
    db.execute("begin")
    try:
        return answer(db)
    finally:
        if db.in_transaction:
            db.execute("rollback")


def _between(db: sqlite3.Connection, low: str, high: str) -> list[tuple[str, str, str, str]]:
    return db.execute(
        "select id, path, label, json_extract(head, '$.title') from shown"
        " where id >= ? and id <= ? and shadowed = 0 order by id limit 200",
        (low, high),
    ).fetchall()


def _ambiguous(typed: str, rows: list[tuple[str, str, str, str]]) -> AmbiguousId:
    candidates = [{"id": id_, "type": label, "title": title} for id_, _, label, title in rows]
    shown = [f"{one['id']} [{one['type']}] {one['title']}" for one in candidates]
    more = len(shown) - _MOST_CANDIDATES
    listed = "\n  ".join([*shown[:_MOST_CANDIDATES], *([f"and {more} more"] if more > 0 else [])])
    return AmbiguousId(
        f"{len(rows)} records start with {typed}",
        hint=f"give more of the id:\n  {listed}",
        details={"candidates": candidates[:_MOST_CANDIDATES]},
    )
