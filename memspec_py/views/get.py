"""One record, whole."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memspec_py.errors import Invalid, NotFound, StorageFailed
from memspec_py.record.frontmatter import Unreadable
from memspec_py.record.model import is_expired, is_stale
from memspec_py.record.parse import parse_record, to_mapping
from memspec_py.report import Finding
from memspec_py.store import files
from memspec_py.store.usage import uses_of
from memspec_py.views.drift import Row, marks, watched
from memspec_py.views.envelope import Envelope, envelope
from memspec_py.workspace import Moved

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from memspec_py.anchors.verdict import Drift
    from memspec_py.record.model import Plain, Record
    from memspec_py.store.resolve import Surroundings
    from memspec_py.workspace import Workspace

_MOST_STEPS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """A record at the other end of an edge; ``title`` is None when it is not here, or expired."""

    id: str
    title: str | None
    state: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A record, everything its file says, and what stands around it.

    ``record`` is the front matter under its own names. ``ancestors`` were superseded by this
    record, directly or not; ``descendants`` superseded it; ``linked_from`` maps an edge type (or
    ``answers``) to the records that name this one. ``drifted``, ``anchor_unchecked`` and ``drift``
    are as those of a hit.
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
    drifted: bool = False
    anchor_unchecked: bool = False
    drift: tuple[Drift, ...] | None = None
    circumstances: Envelope


def get(ws: Workspace, typed: str, where: Surroundings) -> Shown:
    """The record whose id is, or uniquely starts with, what was typed.

    Raises ``NotFound`` (also for an expired observation), ``AmbiguousId``, or ``Invalid`` with the
    findings when the file cannot be read.
    """
    shown, row = ws.read(lambda db: _shown(ws, db, typed))
    found = watched(ws, where, [row] if row.anchors else ())
    return replace(shown, **marks(found[0].drift)._asdict()) if found else shown


def _shown(ws: Workspace, db: sqlite3.Connection, typed: str) -> tuple[Shown, Row]:
    """The record without drift, and its anchors."""
    id_, path, is_readable = ws.find_file(db, typed)
    if not is_readable:
        raise _broken(db, path)
    record = record_at(ws, path)
    now = ws.now()
    if is_expired(record.kind, record.expires, now):
        raise NotFound(
            f"observation {id_} expired on {record.expires}",
            hint=f"its file stays at {path} in the store",
        )
    use = uses_of(ws.root, [id_]).get(id_)
    shown = Shown(
        id=id_,
        kind=record.kind.value,
        type=record.label,
        title=record.title,
        body=record.body,
        path=path,
        stale=is_stale(record.kind, record.state, record.check_by, now),
        derived=bool(record.derived_from),
        record=to_mapping(record),
        ancestors=_chain(db, id_, "supersedes", now),
        descendants=_chain(db, id_, "superseded_by", now),
        linked_from=_linked_from(db, id_, now),
        last_referenced=use.last_referenced if use else None,
        sessions=use.sessions if use else None,
        circumstances=envelope(ws, db),
    )
    return shown, Row(id_, record.label, record.title, record.anchors)


def record_at(ws: Workspace, path: str) -> Record:
    """The record in one file; raises ``Invalid`` with its findings, or ``Moved``."""
    try:
        return parse_record(files.read(ws.path_of(path)), ws.settings.limits)
    except FileNotFoundError:
        raise Moved(f"{path} is gone", hint="run the command again") from None
    except OSError as problem:
        raise StorageFailed(f"{path} cannot be read: {problem.strerror or problem}") from None
    except Unreadable as problem:
        raise Invalid(f"{path} cannot be read", findings=problem.findings) from None


def _broken(db: sqlite3.Connection, path: str) -> Invalid:
    """Everything that is wrong with a file that is no record."""
    findings = [
        Finding(code=code, path=path, line=line, field=field, message=message)
        for code, line, field, message in db.execute(
            "select code, line, field, message from findings where path = ? order by position",
            (path,),
        )
    ]
    told = "; ".join(f"line {one.line or 1}: {one.message}" for one in findings)
    return Invalid(
        f"{path} cannot be read: {told}",
        findings=findings,
        hint="mend it with `memspec edit`; `memspec doctor` shows every file like it",
    )


def _chain(db: sqlite3.Connection, id_: str, edge: str, now: str) -> tuple[Linked, ...]:
    """The records along one edge type, nearest first; a cycle ends the walk."""
    seen = {id_}
    level = [id_]
    found: list[Linked] = []
    while level and len(found) < _MOST_STEPS:
        following = []
        for source in level:
            for (target,) in db.execute(
                "select e.target from edges e join records r on r.path = e.path and r.shadowed = 0"
                " where e.source = ? and e.type = ? order by e.position",
                (source, edge),
            ):
                if target not in seen:
                    seen.add(target)
                    found.append(_linked(db, target, now))
                    following.append(target)
        level = following
    return tuple(found)


def _linked_from(db: sqlite3.Connection, id_: str, now: str) -> dict[str, tuple[Linked, ...]]:
    found: dict[str, list[Linked]] = {}
    for edge, source in db.execute(
        "select distinct e.type, e.source from edges e join records r on r.path = e.path"
        " where e.target = ? and r.shadowed = 0 and (r.expires is null or r.expires > ?)"
        " order by e.type, e.source",
        (id_, now),
    ).fetchall():
        found.setdefault(edge, []).append(_linked(db, source, now))
    for (question,) in db.execute(_ASKED, (id_,)).fetchall():
        found.setdefault("answers", []).append(_linked(db, question, now))
    return {edge: tuple(records) for edge, records in found.items()}


_ASKED = (
    "select s.id from shown s where s.kind = 'question' and s.shadowed = 0 and exists"
    " (select 1 from json_each(s.head, '$.answers') a where a.value = ?) order by s.id"
)


def _linked(db: sqlite3.Connection, id_: str, now: str) -> Linked:
    row = db.execute(
        "select json_extract(head, '$.title'), state from shown where id = ? and shadowed = 0"
        " and (expires is null or expires > ?)",
        (id_, now),
    ).fetchone()
    return Linked(id=id_, title=row and row[0], state=row and row[1])
