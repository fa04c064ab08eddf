"""The health of a store at a glance."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memspec_py.index.answers import standing
from memspec_py.views.attention import Contradiction, attention_of
from memspec_py.views.brief import Brief
from memspec_py.views.drift import Watched, anchored_records, sorted_by_verdict, watched
from memspec_py.views.envelope import Envelope, envelope

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Mapping

    from memspec_py.layered import Layered

_MOST_SHOWN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolvable:
    """A closed question of whose answers one is left; it waits for somebody to confirm that."""

    id: str
    title: str
    survivor_id: str
    survivor_title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Counts over the whole store; expired observations count only as such.

    ``by_type`` and ``by_witness`` count active records (open questions under ``question``),
    ``by_state`` all. ``stale`` lists the most overdue first, at most ten; ``doubled`` counts files
    whose id another file carries too. ``resolvable`` are questions that elimination has answered.

    The anchors of every record in use were checked: ``drifted`` records have one that drifted or is
    gone, else ``unchecked`` ones have one that could not be checked, else ``moved`` ones have one
    whose code is elsewhere now. ``conflicts`` are active records of which one names the other in
    ``conflicts_with``. ``cold`` records are old and not shown of late, ``promotion_candidates`` are
    notes and bare assertions shown in several sessions, as far as the receipts of this machine go
    back (``receipts_since``). Each list has at most ten, and its count says how many there are.
    """

    files: int
    records: int
    by_type: Mapping[str, int]
    by_state: Mapping[str, int]
    by_witness: Mapping[str, int]
    by_scope: Mapping[str, int]
    stale_count: int
    stale: tuple[Brief, ...]
    expired: int
    doubled: int
    anchored: int = 0
    drifted_count: int = 0
    drifted: tuple[Watched, ...] = ()
    unchecked_count: int = 0
    unchecked: tuple[Watched, ...] = ()
    moved_count: int = 0
    moved: tuple[Watched, ...] = ()
    resolvable: tuple[Resolvable, ...]
    conflicts_count: int
    conflicts: tuple[Contradiction, ...]
    cold_count: int
    cold: tuple[Brief, ...]
    promotion_count: int
    promotion_candidates: tuple[Brief, ...]
    receipts_since: str | None
    circumstances: Envelope


def status(stores: Layered, progress: Callable[[int, int], None] | None = None) -> Status:
    """Count everything in the primary store, and check every anchor of it in one pass.

    ``progress`` is told how many anchored files of how many were looked at.
    """
    ws = stores.primary
    found, rows = ws.read(lambda db: (_status(stores, db), anchored_records(db, ws.now())))
    return _with_drift(found, watched(ws, stores.where, rows, progress=progress))


def _with_drift(found: Status, every: list[Watched]) -> Status:
    by = sorted_by_verdict(every)
    return replace(
        found,
        anchored=len(every),
        drifted_count=len(by.drifted),
        drifted=by.drifted[:_MOST_SHOWN],
        unchecked_count=len(by.unchecked),
        unchecked=by.unchecked[:_MOST_SHOWN],
        moved_count=len(by.moved),
        moved=by.moved[:_MOST_SHOWN],
    )


_ALIVE = "shadowed = 0 and (expires is null or expires > :now)"
_IN_USE = f"{_ALIVE} and state in ('active', 'open')"
_STALE = f"{_ALIVE} and kind = 'claim' and state = 'active' and check_by <= :now"


def _status(stores: Layered, db: sqlite3.Connection) -> Status:
    ws = stores.primary
    now = {"now": ws.now()}

    def number(condition: str) -> int:
        row = db.execute(f"select count(*) from records where {condition}", now).fetchone()
        return int(row[0])

    def counts(column: str, condition: str) -> dict[str, int]:
        rows = db.execute(
            f"select {column}, count(*) from records where {condition}"
            f" group by {column} order by {column}",
            now,
        )
        return dict(rows.fetchall())

    stale = db.execute(
        "select id, label, json_extract(head, '$.title'), check_by from shown"
        f" where {_STALE} order by check_by, id limit {_MOST_SHOWN}",
        now,
    )
    attention = attention_of(ws, db)
    return Status(
        files=len(ws.index.listing),
        records=number("shadowed = 0"),
        by_type=counts("label", _IN_USE),
        by_state=counts("state", _ALIVE),
        by_witness=counts("witness", f"{_IN_USE} and kind = 'claim'"),
        by_scope=counts("scope", f"{_IN_USE} and scope is not null"),
        stale_count=number(_STALE),
        stale=tuple(
            Brief(id=id_, type=label, title=title, check_by=check_by)
            for id_, label, title, check_by in stale
        ),
        expired=number("expires <= :now"),
        doubled=number("shadowed = 1"),
        resolvable=tuple(_resolvable(db, now["now"])),
        conflicts_count=len(attention.conflicts),
        conflicts=attention.conflicts[:_MOST_SHOWN],
        cold_count=len(attention.cold),
        cold=attention.cold[:_MOST_SHOWN],
        promotion_count=len(attention.promotion),
        promotion_candidates=attention.promotion[:_MOST_SHOWN],
        receipts_since=attention.receipts_since,
        circumstances=envelope(stores, [db], [ws]),
    )


def _resolvable(db: sqlite3.Connection, now: str) -> Iterator[Resolvable]:
    questions = db.execute(
        "select id, json_extract(head, '$.title'), json_extract(head, '$.answers') from shown"
        " where kind = 'question' and state = 'open' and shadowed = 0"
        " and json_extract(head, '$.closed') is not null order by created desc, id desc"
    ).fetchall()
    for id_, title, answers in questions:
        survivor = standing(db, json.loads(answers or "[]"), now).survivor
        if survivor is not None:
            (left,) = db.execute(
                "select json_extract(head, '$.title') from shown where id = ? and shadowed = 0",
                (survivor,),
            ).fetchone()
            yield Resolvable(id=id_, title=title, survivor_id=survivor, survivor_title=left)
