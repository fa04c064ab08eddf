"""What wants somebody's attention: contradictions, what nobody reads, what proved its worth.

Nothing is decided here; the lists are for a person or an agent to look through.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.clock import instant
from memspec_py.store.outcomes import Outcome, told_of
from memspec_py.store.usage import whole_log
from memspec_py.views.brief import Brief

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from memspec_py.store.usage import Log
    from memspec_py.workspace import Workspace

_COLD_AGE = timedelta(days=30)
_COLD_SHOWN = timedelta(days=60)
_PROMOTED_AGE = timedelta(days=14)
_PROMOTED_SESSIONS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Two active records that cannot both hold, by the word of the first or of both."""

    id: str
    title: str
    other_id: str
    other_title: str


class Attention(NamedTuple):
    """What wants attention; ``receipts_since`` is how far back this machine knows of uses."""

    conflicts: tuple[Contradiction, ...]
    cold: tuple[Brief, ...]
    promotion: tuple[Brief, ...]
    receipts_since: str | None


class _Row(NamedTuple):
    id: str
    type: str
    title: str
    created: str
    witness: str


def attention_of(ws: Workspace, db: sqlite3.Connection) -> Attention:
    """Look through all active records, and through the usage receipts of this machine."""
    log = whole_log(ws.machine)
    rows = [_Row(*row) for row in db.execute(_LIVE, {"now": ws.now()})]
    return Attention(
        conflicts=tuple(_conflicts(db, ws.now())),
        cold=tuple(_cold(ws, rows, log)),
        promotion=tuple(_promoted(ws, rows, log)),
        receipts_since=log.since,
    )


_LIVE = (
    "select id, label, json_extract(head, '$.title'), created, witness from shown"
    " where live and shadowed = 0 and (expires is null or expires > :now) order by created, id"
)
# From the few edges to the records, never the other way round: hence `cross join`.
_PAIRS = (
    "select a.id, json_extract(x.head, '$.title'), b.id, json_extract(y.head, '$.title')"
    " from edges e cross join records a on a.path = e.path cross join records b on b.id = e.target"
    " cross join texts x on x.key = a.key cross join texts y on y.key = b.key"
    " where e.type = 'conflicts_with' and e.source <> e.target"
    " and a.live and a.shadowed = 0 and b.live and b.shadowed = 0"
    " and (a.expires is null or a.expires > :now) and (b.expires is null or b.expires > :now)"
    " order by a.id, b.id"
)


def _conflicts(db: sqlite3.Connection, now: str) -> Iterator[Contradiction]:
    seen = set()
    for id_, title, other, other_title in db.execute(_PAIRS, {"now": now}):
        if frozenset((id_, other)) not in seen:
            seen.add(frozenset((id_, other)))
            yield Contradiction(id=id_, title=title, other_id=other, other_title=other_title)


def _cold(ws: Workspace, rows: Iterable[_Row], log: Log) -> list[Brief]:
    """Records older than a month that were never shown, or not for two; longest ago first."""
    now = ws.clock.now()
    old, recent = instant(now - _COLD_AGE), instant(now - _COLD_SHOWN)
    found = [
        _brief(row, log)
        for row in rows
        if row.created < old
        and (row.id not in log.uses or log.uses[row.id].last_referenced < recent)
    ]
    return sorted(found, key=lambda one: (one.last_referenced or "", one.created or "", one.id))


def _promoted(ws: Workspace, rows: Iterable[_Row], log: Log) -> list[Brief]:
    """Notes, and young facts on somebody's word alone, that several sessions saw; no dead ends."""
    young = instant(ws.clock.now() - _PROMOTED_AGE)
    found = []
    for row in rows:
        is_young_fact = row.type == "fact" and row.witness == "assertion" and row.created >= young
        used = log.uses.get(row.id)
        if (
            (row.type == "observation" or is_young_fact)
            and used is not None
            and used.sessions >= _PROMOTED_SESSIONS
        ):
            found.append(_brief(row, log))
    dead_ends = told_of(ws.machine, Outcome.DEAD_END) if found else set()
    kept = [one for one in found if one.id not in dead_ends]
    return sorted(kept, key=lambda one: (-(one.sessions or 0), one.id))


def _brief(row: _Row, log: Log) -> Brief:
    used = log.uses.get(row.id)
    return Brief(
        id=row.id,
        type=row.type,
        title=row.title,
        created=row.created,
        last_referenced=used and used.last_referenced,
        sessions=used and used.sessions,
    )
