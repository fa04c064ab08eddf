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
    from collections.abc import Mapping, Sequence

    from memspec_py.anchors.verdict import Drift
    from memspec_py.layered import Layered
    from memspec_py.record.model import Plain, Record
    from memspec_py.workspace import Workspace

_MOST_STEPS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """A record at the other end of an edge; ``title`` is None when it is not here, or expired.

    ``layer`` is the store layer it is in, where that is not the primary one.
    """

    id: str
    title: str | None
    state: str | None
    layer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A record, everything its file says, and what stands around it.

    ``record`` is the front matter under its own names. ``ancestors`` were superseded by this
    record, directly or not; ``descendants`` superseded it; ``linked_from`` maps an edge type (or
    ``answers``) to the records that name this one. ``drifted``, ``anchor_unchecked``, ``drift``
    and ``layer`` are as those of a hit.
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
    layer: str | None = None
    circumstances: Envelope


def get(stores: Layered, typed: str) -> Shown:
    """The record whose id is, or uniquely starts with, what was typed.

    Raises ``NotFound`` (also for an expired observation), ``AmbiguousId``, or ``Invalid`` with the
    findings when the file cannot be read.
    """
    store, id_ = stores.owner(typed)
    position = stores.stores.index(store)
    shown, row = stores.read(lambda dbs: _shown(stores, dbs, position, id_))
    found = watched(store, stores.where, [row] if row.anchors else ())
    return replace(shown, **marks(found[0].drift)._asdict()) if found else shown


def _shown(
    stores: Layered, dbs: Sequence[sqlite3.Connection], position: int, typed: str
) -> tuple[Shown, Row]:
    """The record without drift, and its anchors."""
    ws, db = stores.stores[position], dbs[position]
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
    use = uses_of(ws.machine, [id_]).get(id_)
    around = _Around(stores, dbs, now)
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
        ancestors=around.chain(id_, "supersedes"),
        descendants=around.chain(id_, "superseded_by"),
        linked_from=around.linked_from(id_),
        last_referenced=use.last_referenced if use else None,
        sessions=use.sessions if use else None,
        layer=stores.mark(ws),
        circumstances=envelope(stores, dbs),
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


class _Around:
    """What other records, of any layer, have to do with one."""

    def __init__(self, stores: Layered, dbs: Sequence[sqlite3.Connection], now: str) -> None:
        self._layers = [stores.mark(store) for store in stores.stores]
        self._dbs = dbs
        self._now = now

    def chain(self, id_: str, edge: str) -> tuple[Linked, ...]:
        """The records along one edge type, nearest first; a cycle ends the walk."""
        seen = {id_}
        level = [id_]
        found: list[Linked] = []
        while level and len(found) < _MOST_STEPS:
            following = []
            for target in (target for source in level for target in self._targets(source, edge)):
                if target not in seen:
                    seen.add(target)
                    found.append(self._linked(target))
                    following.append(target)
            level = following
        return tuple(found)

    def linked_from(self, id_: str) -> dict[str, tuple[Linked, ...]]:
        """The records that name this one, by the edge that does."""
        naming: dict[str, set[str]] = {}
        for db in self._dbs:
            for edge, source in db.execute(_NAMING, (id_, self._now)):
                naming.setdefault(edge, set()).add(source)
        asked = {question for db in self._dbs for (question,) in db.execute(_ASKED, (id_,))}
        return {
            edge: tuple(map(self._linked, sorted(sources)))
            for edge, sources in (*sorted(naming.items()), ("answers", asked))
            if sources
        }

    def _targets(self, source: str, edge: str) -> list[str]:
        """Where the edges of a record lead, as the highest layer that has it tells."""
        for db in self._dbs:
            rows = db.execute(_EDGES, (source, edge)).fetchall()
            if rows:
                return [target for (target,) in rows]
        return []

    def _linked(self, id_: str) -> Linked:
        for layer, db in zip(self._layers, self._dbs, strict=True):
            row = db.execute(_LINKED, (id_, self._now)).fetchone()
            if row is not None:
                return Linked(id=id_, title=row[0], state=row[1], layer=layer)
        return Linked(id=id_, title=None, state=None)


_EDGES = (
    "select e.target from edges e join records r on r.path = e.path and r.shadowed = 0"
    " where e.source = ? and e.type = ? order by e.position"
)
_NAMING = (
    "select distinct e.type, e.source from edges e join records r on r.path = e.path"
    " where e.target = ? and r.shadowed = 0 and (r.expires is null or r.expires > ?)"
)
_ASKED = (
    "select s.id from shown s where s.kind = 'question' and s.shadowed = 0 and exists"
    " (select 1 from json_each(s.head, '$.answers') a where a.value = ?)"
)
_LINKED = (
    "select json_extract(head, '$.title'), state from shown where id = ? and shadowed = 0"
    " and (expires is null or expires > ?)"
)
