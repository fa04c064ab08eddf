"""An opened store: settings, index and clock. Reads refresh first, writes lock first."""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

from memspec_py.config import DEFAULT_CONFIG, Settings, settings_from
from memspec_py.errors import AmbiguousId, Invalid, MemspecError, NotFound
from memspec_py.index.index import Index
from memspec_py.store import layout
from memspec_py.store.unfinished import unfinished

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from memspec_py.clock import Clock
    from memspec_py.index.index import Progress
    from memspec_py.report import Finding
    from memspec_py.store.resolve import Surroundings

    _T = TypeVar("_T")

_MOST_CANDIDATES = 10
_READER_SECONDS = 2.0
_MOST_TRIES = 3
_MOST_MOVES = 9


class Moved(NotFound):
    """A record's file was moved or removed between the look into the index and the reading."""


class Workspace:
    """One store, opened for one caller."""

    def __init__(
        self,
        root: Path,
        *,
        clock: Clock,
        entropy: Callable[[int], bytes],
        progress: Progress | None = None,
        command: str = "",
    ) -> None:
        self.root = root
        self.clock = clock
        self.entropy = entropy
        self.settings = _settings(root)
        self.index = Index(root, self.settings.limits, progress)
        self._command = command

    @property
    def project(self) -> Path:
        """The folder the store belongs to; anchors are relative to it."""
        return self.root.parent

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
        """Let go of the index file."""
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

        Raises ``Busy`` after ``patience`` seconds, ``StorageFailed``, and ``Invalid`` while
        config.yaml is broken.
        """
        from memspec_py.store import journal
        from memspec_py.store.lock import StoreLock

        for finding in self.settings.findings:
            if finding.severity == "error":
                raise Invalid(str(finding), findings=[finding], hint="mend config.yaml first")
        with StoreLock(self.root, patience, command=self._command):
            journal.recover(self.root)
            yield

    def find_id(self, db: sqlite3.Connection, typed: str) -> tuple[str, str]:
        """Id and path of the record that ``typed`` names: a whole id or a unique start of one.

        Raises ``NotFound`` or ``AmbiguousId``.
        """
        from memspec_py.ids import prefix_range

        between = prefix_range(typed)
        rows = [] if between is None else _between(db, *between)
        ids = {id_ for id_, *_ in rows}
        if typed.strip().upper() in {id_.upper() for id_ in ids}:
            ids = {id_ for id_ in ids if id_.upper() == typed.strip().upper()}
        if not ids:
            raise NotFound(f"no record {typed}", hint="`memspec list` shows every id")
        if len(ids) > 1:
            raise _ambiguous(typed, rows)
        (found,) = ids
        return found, next(path for id_, path, _, _ in rows if id_ == found)

    def find_file(self, db: sqlite3.Connection, typed: str) -> tuple[str, str, bool]:
        """Id and path as ``find_id``, or those of a broken file that is named after its id.

        The last says whether the file can be read as a record.
        """
        try:
            return *self.find_id(db, typed), True
        except AmbiguousId:
            raise
        except NotFound:
            from memspec_py.index.search import unreadable_path

            path = unreadable_path(db, typed)
            if path is None:
                raise
            return path.rpartition("/")[2].removesuffix(".md"), path, False

    def path_of(self, relative: str) -> Path:
        """A path of the store as the file system knows it."""
        return self.root / relative

    def _read(self, answer: Callable[[sqlite3.Connection], _T]) -> _T:
        self._finish_journals()
        for _ in range(_MOST_TRIES):
            self.index.refresh()
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

    def _finish_journals(self) -> None:
        """Finish what a killed writer left, or wait for one that is still at it.

        Where that cannot be done (a read-only store, a writer that takes long) reading goes on: the
        files are whole, and of two copies of a record one is shown.
        """
        if unfinished(self.root):
            with suppress(MemspecError), self.writing(_READER_SECONDS):
                return


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


def _settings(root: Path) -> Settings:
    try:
        with open(root / layout.CONFIG, "rb") as file:
            text = file.read().decode()
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeDecodeError) as problem:
        return Settings(findings=(_unreadable(str(problem), 1),))
    if text == DEFAULT_CONFIG:
        return Settings()
    from memspec_py.record.yamltext import Unreadable
    from memspec_py.store import settings_cache

    try:
        return settings_from(settings_cache.mapping_of(text, os.path.join(root, layout.LOCAL)))
    except Unreadable as problem:
        first = problem.findings[0]
        return Settings(findings=(_unreadable(first.message, first.line),))


def _unreadable(message: str, line: int | None) -> Finding:
    from memspec_py.report import Finding

    return Finding(
        code="bad-config",
        path=layout.CONFIG,
        line=line,
        message=f"the settings cannot be read, so the defaults are used: {message}",
        fix="mend config.yaml; until then nothing is written",
    )
