"""The health of a store at a glance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memspec_py.views.envelope import Envelope, envelope

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from memspec_py.workspace import Workspace

_MOST_SHOWN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """A record in one line."""

    id: str
    type: str
    title: str
    check_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Counts over the whole store; expired observations count only as such.

    ``by_type`` and ``by_witness`` count active records (open questions under ``question``),
    ``by_state`` all. ``stale`` lists the most overdue first, at most ten; ``doubled`` counts files
    whose id another file carries too.
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
    circumstances: Envelope


def status(ws: Workspace) -> Status:
    """Count everything, from a current index."""
    return ws.read(lambda db: _status(ws, db))


_ALIVE = "shadowed = 0 and (expires is null or expires > :now)"
_IN_USE = f"{_ALIVE} and state in ('active', 'open')"
_STALE = f"{_ALIVE} and kind = 'claim' and state = 'active' and check_by <= :now"


def _status(ws: Workspace, db: sqlite3.Connection) -> Status:
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
        circumstances=envelope(ws, db),
    )
