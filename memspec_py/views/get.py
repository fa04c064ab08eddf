"""One record, whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memspec_py.errors import Invalid, NotFound
from memspec_py.record.frontmatter import Unreadable
from memspec_py.record.model import is_expired, is_stale
from memspec_py.record.parse import parse_record, to_mapping
from memspec_py.report import SPREAD
from memspec_py.store import files
from memspec_py.store.usage import uses_of
from memspec_py.views.envelope import Envelope, envelope

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from memspec_py.record.model import Plain, Record
    from memspec_py.workspace import Workspace

_MOST_STEPS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """A record at the other end of an edge; ``title`` is None when it is not in this store."""

    id: str
    title: str | None
    state: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A record, everything its file says, and what stands around it.

    ``record`` is the front matter under its own names. ``ancestors`` were superseded by this
    record, directly or not; ``descendants`` superseded it; ``linked_from`` maps an edge type to the
    records that name this one.
    """

    id: str
    kind: str
    type: str
    title: str
    body: str
    path: str
    stale: bool
    derived: bool
    record: Mapping[str, Plain]
    ancestors: tuple[Linked, ...]
    descendants: tuple[Linked, ...]
    linked_from: Mapping[str, tuple[Linked, ...]]
    last_referenced: str | None
    sessions: int | None
    circumstances: Envelope = field(metadata=SPREAD)


def get(ws: Workspace, typed: str) -> Shown:
    """The record whose id is, or uniquely starts with, what was typed.

    Raises ``NotFound`` (also for an expired observation), ``AmbiguousId``, or ``Invalid`` with the
    findings when the file cannot be read.
    """
    return ws.read(lambda db: _shown(ws, db, typed))


def _shown(ws: Workspace, db: sqlite3.Connection, typed: str) -> Shown:
    id_, path = _located(ws, db, typed)
    record = record_at(ws, path)
    now = ws.now()
    if is_expired(record.kind, record.expires, now):
        raise NotFound(
            f"observation {id_} expired on {record.expires}",
            hint=f"its file stays at {path} in the store",
        )
    use = uses_of(ws.root, [id_]).get(id_)
    return Shown(
        id=id_,
        kind=record.kind.value,
        type=record.label,
        title=record.title,
        body=record.body,
        path=path,
        stale=is_stale(record.kind, record.state, record.check_by, now),
        derived=bool(record.derived_from),
        record=to_mapping(record),
        ancestors=_chain(db, id_, "supersedes"),
        descendants=_chain(db, id_, "superseded_by"),
        linked_from=_linked_from(db, id_),
        last_referenced=use.last_referenced if use else None,
        sessions=use.sessions if use else None,
        circumstances=envelope(ws, db),
    )


def record_at(ws: Workspace, path: str) -> Record:
    """The record in one file; raises ``Invalid`` with its findings, or ``NotFound``."""
    try:
        return parse_record(files.read(ws.path_of(path)), ws.settings.limits)
    except FileNotFoundError:
        raise NotFound(f"{path} is gone", hint="run the command again") from None
    except Unreadable as problem:
        raise Invalid(f"{path} cannot be read", findings=problem.findings) from None


def _located(ws: Workspace, db: sqlite3.Connection, typed: str) -> tuple[str, str]:
    try:
        return ws.find_id(db, typed)
    except NotFound as problem:
        row = db.execute(
            "select path, line, message from findings where path like '%/' || ? || '%.md'"
            " order by path, position",
            (typed.strip().upper().replace("MS_", "ms_"),),
        ).fetchone()
        if row is None or len(typed.strip()) < 8:
            raise
        path, line, message = row
        place = path if line is None else f"{path}:{line}"
        raise Invalid(
            f"{place}: {message}", hint="mend the file, or see `memspec doctor`"
        ) from problem


def _chain(db: sqlite3.Connection, id_: str, edge: str) -> tuple[Linked, ...]:
    """The records along one edge type, nearest first; a cycle ends the walk."""
    seen = {id_}
    level = [id_]
    found: list[Linked] = []
    while level and len(found) < _MOST_STEPS:
        following = []
        for source in level:
            for (target,) in db.execute(
                "select target from edges where source = ? and type = ? order by position",
                (source, edge),
            ):
                if target not in seen:
                    seen.add(target)
                    found.append(_linked(db, target))
                    following.append(target)
        level = following
    return tuple(found)


def _linked_from(db: sqlite3.Connection, id_: str) -> dict[str, tuple[Linked, ...]]:
    found: dict[str, list[Linked]] = {}
    for edge, source in db.execute(
        "select distinct type, source from edges where target = ? order by type, source", (id_,)
    ).fetchall():
        found.setdefault(edge, []).append(_linked(db, source))
    return {edge: tuple(records) for edge, records in found.items()}


def _linked(db: sqlite3.Connection, id_: str) -> Linked:
    row = db.execute(
        "select json_extract(head, '$.title'), state from records where id = ? and shadowed = 0",
        (id_,),
    ).fetchone()
    return Linked(id=id_, title=row and row[0], state=row and row[1])
