"""Put a typed link from one record to another, or take it away."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from memspec_py.acts.changing import change_to, on_disk, refuse_inactive
from memspec_py.acts.permission import is_override, refuse_operator, with_override
from memspec_py.errors import AmbiguousId, NotFound, Refused, UsageError
from memspec_py.ids import is_id
from memspec_py.record.model import EdgeType, Kind
from memspec_py.store import journal
from memspec_py.store.gitignore import keep_current
from memspec_py.trust.source import checked_source
from memspec_py.trust.tiers import Act

if TYPE_CHECKING:
    import sqlite3

    from memspec_py.record.model import Record
    from memspec_py.workspace import Workspace

LINKS = tuple(
    edge for edge in EdgeType if edge not in (EdgeType.SUPERSEDES, EdgeType.SUPERSEDED_BY)
)
_POSITIVE = frozenset(
    {EdgeType.REFINES, EdgeType.SUPPORTS, EdgeType.DEPENDS_ON, EdgeType.DERIVED_FROM}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """What became of an edge.

    ``changed`` is false when the edge was there already; ``edges`` counts those of this type that
    the record has now. ``to_title`` and ``to_state`` are None when the target is not in this store.
    """

    store: str
    from_id: str
    to_id: str
    edge_type: str
    changed: bool
    edges: int
    path: str
    to_title: str | None
    to_state: str | None


class _Caller(NamedTuple):
    """Who asks, and whether over the operator's head."""

    source: str
    override: bool


def relate(
    ws: Workspace,
    from_: str,
    to: str,
    edge_type: str,
    *,
    source: str = "agent",
    allow_missing: bool = False,
    override_operator: bool = False,
) -> Related:
    """Add an edge to the record ``from_``; one that is there already is left as it is.

    ``source`` is who links them; ``allow_missing`` takes a whole id of a record on another branch.
    Raises ``NotFound``, ``NotActive`` for a record that is not in use, ``NotAllowed`` for an
    operator's record that this caller may not touch, ``UsageError`` for a record linked to itself,
    and ``Refused`` for an edge that contradicts one between the two.
    """
    edge = _edge_type(edge_type)
    by = _Caller(checked_source(source), override_operator)
    with ws.writing():
        done, change = ws.read(lambda db: _related(ws, db, from_, to, edge, allow_missing, by))
        _apply(ws, change, done.from_id)
    return done


def unrelate(
    ws: Workspace,
    from_: str,
    to: str,
    edge_type: str,
    *,
    source: str = "agent",
    override_operator: bool = False,
) -> Related:
    """Take an edge away; its target need not exist any more.

    Raises ``NotFound`` when the record has no such edge, and ``NotAllowed`` as ``relate`` does.
    """
    edge = _edge_type(edge_type)
    by = _Caller(checked_source(source), override_operator)
    with ws.writing():
        done, change = ws.read(lambda db: _unrelated(ws, db, from_, to, edge, by))
        _apply(ws, change, done.from_id)
    return done


def refuse_contradiction(ws: Workspace, record: Record, to: str, edge: EdgeType) -> None:
    """Raise ``Refused`` when an edge between the two, carried by either, excludes this one."""
    between = [(record.id, one, to) for one in EdgeType if to in record.edges(one)]
    between += [
        (to, EdgeType(name), record.id)
        for db in ws.indexes()
        for (name,) in db.execute(_BETWEEN, (to, record.id)).fetchall()
    ]
    for source, other, target in between:
        if _exclude(edge, other):
            raise Refused(
                f"{record.id} {edge} {to} contradicts {source} {other} {target}",
                hint=_how_to_clear(source, other, target),
            )


_BETWEEN = (
    "select e.type from edges e join records r on r.path = e.path and r.shadowed = 0"
    " where e.source = ? and e.target = ? order by e.type"
)


def _exclude(one: EdgeType, other: EdgeType) -> bool:
    """Whether two edges between the same records cannot both be meant."""
    if one is other:
        return False
    pair = {one, other}
    return EdgeType.DISTINCT_FROM in pair or (
        EdgeType.CONFLICTS_WITH in pair and bool(pair & _POSITIVE)
    )


def _how_to_clear(source: str, edge: EdgeType, target: str) -> str:
    if edge in LINKS:
        return (
            f"if that one is wrong: `memspec unrelate --from {source} --to {target} --type {edge}`"
        )
    return "one of the two has superseded the other"


def _edge_type(name: str) -> EdgeType:
    wanted = name.replace("-", "_")
    if wanted not in LINKS:
        raise UsageError(f"no edge type {name!r}", hint=f"one of: {', '.join(LINKS)}")
    return EdgeType(wanted)


def _related(
    ws: Workspace,
    db: sqlite3.Connection,
    from_: str,
    to: str,
    edge: EdgeType,
    allow_missing: bool,  # noqa: FBT001 - as asked
    by: _Caller,
) -> tuple[Related, journal.Change | None]:
    one = on_disk(ws, from_)
    record = one.record
    if record.kind is Kind.QUESTION:
        raise UsageError(
            f"{record.id} is a question, whose only links are its answers",
            hint=f"`memspec question {record.id} --add ID`",
        )
    target = _target(ws, to, allow_missing=allow_missing)
    if target == record.id:
        raise UsageError(f"{record.id} cannot be linked to itself")
    if target in record.edges(edge):
        return _reply(ws, db, record, target, edge, one.path, changed=False), None
    refuse_inactive(db, record)
    refuse_contradiction(ws, record, target, edge)
    after = _with(ws, record, edge, (*record.edges(edge), target), by)
    done = _reply(ws, db, after, target, edge, one.path, changed=True)
    return done, change_to(ws, one, after)


def _with(
    ws: Workspace, record: Record, edge: EdgeType, ids: tuple[str, ...], by: _Caller
) -> Record:
    """The record with these edges, if the caller may change it."""
    refuse_operator(ws, Act.RELATE, [record], source=by.source, override=by.override)
    changed: dict[str, Any] = {edge.value: ids}
    if is_override(ws, Act.RELATE, record, by.source):
        changed["ext"] = with_override(ws, Act.RELATE, record.ext, by.source)
    return replace(record, **changed)


def _target(ws: Workspace, typed: str, *, allow_missing: bool) -> str:
    try:
        return ws.known_id(typed)
    except AmbiguousId:
        raise
    except NotFound as problem:
        whole = typed.strip()
        if allow_missing and is_id(whole):
            return whole
        hint = (
            "a record that is not here has to be named by its whole id"
            if allow_missing
            else "if it is on another branch, give its whole id and --allow-missing"
        )
        raise NotFound(problem.message, hint=hint) from None


def _unrelated(
    ws: Workspace,
    db: sqlite3.Connection,
    from_: str,
    to: str,
    edge: EdgeType,
    by: _Caller,
) -> tuple[Related, journal.Change]:
    one = on_disk(ws, from_)
    record = one.record
    target = _named(db, record, to, edge)
    ids = tuple(id_ for id_ in record.edges(edge) if id_ != target)
    after = _with(ws, record, edge, ids, by)
    done = _reply(ws, db, after, target, edge, one.path, changed=True)
    return done, change_to(ws, one, after)


def _named(db: sqlite3.Connection, record: Record, typed: str, edge: EdgeType) -> str:
    """Which of the record's edges is meant: a whole id or the beginning of just one."""
    wanted = typed.strip().upper().removeprefix("MS_")
    found = {
        id_ for id_ in record.edges(edge) if id_.upper().removeprefix("MS_").startswith(wanted)
    }
    if len(found) == 1 and wanted:
        return found.pop()
    if found and wanted:
        raise AmbiguousId(
            f"{len(found)} ids in {edge} of {record.id} start with {typed}",
            hint=f"give more of the id: {', '.join(sorted(found))}",
        )
    raise NotFound(
        f"{record.id} has no {edge} to {typed}", hint=_where_else(db, record, typed, edge)
    )


def _where_else(db: sqlite3.Connection, record: Record, typed: str, edge: EdgeType) -> str:
    """What there is in place of an edge that is not."""
    for (source,) in db.execute(_NAMED_BY, (record.id, edge.value)).fetchall():
        if source.upper().removeprefix("MS_").startswith(typed.strip().upper().removeprefix("MS_")):
            return f"the edge is on the other record: --from {source} --to {record.id}"
    ids = record.edges(edge)
    return f"it has {edge} to {', '.join(ids)}" if ids else f"it has no {edge} at all"


_NAMED_BY = (
    "select e.source from edges e join records r on r.path = e.path and r.shadowed = 0"
    " where e.target = ? and e.type = ? order by e.source"
)


def _reply(
    ws: Workspace,
    db: sqlite3.Connection,
    record: Record,
    target: str,
    edge: EdgeType,
    path: str,
    *,
    changed: bool,
) -> Related:
    row = db.execute(_SHOWN, (target,)).fetchone()
    return Related(
        store=str(ws.root),
        from_id=record.id,
        to_id=target,
        edge_type=edge.value,
        changed=changed,
        edges=len(record.edges(edge)),
        path=path,
        to_title=row and row[0],
        to_state=row and row[1],
    )


_SHOWN = "select json_extract(head, '$.title'), state from shown where id = ? and shadowed = 0"


def _apply(ws: Workspace, change: journal.Change | None, entry: str) -> None:
    if change is not None:
        keep_current(ws.root)
        journal.apply(ws.root, [change], entry)
