"""Take whole records that were made outside into the store: imports and scripted backfills."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memspec_py.acts.inputs import checked_scope, invalid
from memspec_py.acts.remember import duplicates_of, refuse_contradictions
from memspec_py.acts.tombstones import Tombstones, force_reason, with_reason
from memspec_py.acts.writing import checked
from memspec_py.errors import Invalid, UsageError, Withdrawn
from memspec_py.record.model import EdgeType, Kind, SourceKind, State
from memspec_py.report import Finding
from memspec_py.store import journal, layout
from memspec_py.store.gitignore import keep_current
from memspec_py.trust.source import checked_source

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from memspec_py.record.model import Record
    from memspec_py.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """What became, or would become, of one record.

    ``outcome`` is ``created``, ``present`` (a record with this id exists, so nothing is done) or
    ``refused`` with a ``code`` and a ``reason``.
    """

    id: str
    title: str
    outcome: str
    path: str | None = None
    code: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopted:
    """The report of a batch; without ``applied`` nothing was written."""

    store: str
    applied: bool
    created: int
    present: int
    refused: int
    records: tuple[Adoption, ...]


def adopt(
    ws: Workspace,
    records: Iterable[Record],
    *,
    apply: bool = False,
    force: bool = False,
    reason: str | None = None,
) -> Adopted:
    """Take in a batch under the rules of ``remember``: a dry run unless ``apply`` is set.

    Ids are the caller's, so that a batch with stable ids is safe to run twice. Each record stands
    for itself: one that is refused does not stop the others, but a record whose edge leads to
    nowhere, or to a refused record, is refused. Operator records and pins are never adopted. What
    is taken in is written as one change: all of it or, when the disk refuses, nothing. What a
    supersede withdrew is only taken in when forced with a ``reason``, which the record then
    carries.
    Raises ``UsageError`` when two records of the batch have the same id.
    """
    why = force_reason(force=force, reason=reason)
    batch = list(records)
    ids = {record.id for record in batch}
    if len(ids) < len(batch):
        raise UsageError("two records of the batch have the same id")
    with ws.writing():
        if why is not None:
            batch = ws.read(lambda _: _forced(ws, batch, why))
        outcomes = ws.read(lambda db: _judged(ws, db, batch, force=force, traced=why is not None))
        if apply:
            _write(ws, _writable(ws, batch, outcomes))
    shown = tuple(outcomes[record.id] for record in batch)
    count = [one.outcome for one in shown].count
    return Adopted(
        store=str(ws.root),
        applied=apply,
        created=count("created"),
        present=count("present"),
        refused=count("refused"),
        records=shown,
    )


def _forced(ws: Workspace, batch: Sequence[Record], reason: str) -> list[Record]:
    """The batch, with the reason on every record that says again what was withdrawn."""
    past = Tombstones(ws.indexes())
    return [
        with_reason(record, past.repeated_in(record), force=True, reason=reason)
        if _is_in_use(record)
        else record
        for record in batch
    ]


def _is_in_use(record: Record) -> bool:
    return record.kind is not Kind.QUESTION and record.state is State.ACTIVE


def _judged(
    ws: Workspace, db: sqlite3.Connection, batch: Sequence[Record], *, force: bool, traced: bool
) -> dict[str, Adoption]:
    """What becomes of each; ``traced`` means that the reason for forcing it is on each record."""
    known = {id_ for (id_,) in db.execute("select id from records")}
    past = None if traced else Tombstones(ws.indexes())
    outcomes = {}
    seen: list[Record] = []
    for record in batch:
        try:
            outcomes[record.id] = _judge(ws, record, known, seen, force=force)
            if past is not None and outcomes[record.id].outcome == "created" and _is_in_use(record):
                with_reason(record, past.repeated_in(record), force=False, reason=None)
        except (Invalid, Withdrawn) as problem:
            outcomes[record.id] = _refused(record, problem.code, problem.message)
        if outcomes[record.id].outcome == "created":
            seen.append(record)
    anywhere = {id_ for one in ws.indexes() for (id_,) in one.execute("select id from records")}
    _refuse_dangling(batch, outcomes, anywhere)
    return outcomes


def _judge(
    ws: Workspace, record: Record, known: set[str], seen: Sequence[Record], *, force: bool
) -> Adoption:
    path = layout.path_of(record)
    if record.id in known:
        return Adoption(id=record.id, title=record.title, outcome="present", path=path)
    checked_source(record.source)
    if record.source_kind is SourceKind.OPERATOR:
        message = "a batch cannot make operator records"
        raise invalid([Finding(code="operator-record", field="source_kind", message=message)])
    if record.pinned:
        message = "a batch cannot pin records"
        raise invalid([Finding(code="pinned-record", field="pinned", message=message)])
    checked_scope(ws, record.scope)
    refuse_contradictions({edge: record.edges(edge) for edge in EdgeType})
    checked(ws, record)
    if record.kind is Kind.CLAIM and record.state is State.ACTIVE and not force:
        doubles = duplicates_of(ws, record, beside=seen)
        if doubles:
            first = doubles[0]
            reason = f'{first.id} "{first.title}" already says this ({first.why})'
            return _refused(record, "near-duplicate", reason)
    return Adoption(id=record.id, title=record.title, outcome="created", path=path)


def _refuse_dangling(
    batch: Sequence[Record], outcomes: dict[str, Adoption], known: set[str]
) -> None:
    """Refuse what links to nowhere, and then what links to that, until nothing changes."""
    changed = True
    while changed:
        changed = False
        for record in batch:
            if outcomes[record.id].outcome != "created":
                continue
            missing = [id_ for id_ in _targets(record) if not _stands(id_, outcomes, known)]
            if missing:
                reason = f"it links to {missing[0]}, which is not in the store"
                outcomes[record.id] = _refused(record, "dangling-edge", reason)
                changed = True


def _stands(id_: str, outcomes: dict[str, Adoption], known: set[str]) -> bool:
    return id_ in known or (id_ in outcomes and outcomes[id_].outcome == "created")


def _targets(record: Record) -> list[str]:
    return [*(id_ for edge in EdgeType for id_ in record.edges(edge)), *record.answers]


def _writable(
    ws: Workspace, batch: Sequence[Record], outcomes: dict[str, Adoption]
) -> list[tuple[Record, bytes]]:
    return [
        (record, checked(ws, record))
        for record in batch
        if outcomes[record.id].outcome == "created"
    ]


def _write(ws: Workspace, records: Sequence[tuple[Record, bytes]]) -> None:
    if not records:
        return
    keep_current(ws.root)
    changes = [journal.Create(layout.path_of(record), data) for record, data in records]
    journal.apply(ws.root, changes, f"adopt-{records[0][0].id}")


def _refused(record: Record, code: str, reason: str) -> Adoption:
    return Adoption(id=record.id, title=record.title, outcome="refused", code=code, reason=reason)
