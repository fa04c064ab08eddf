"""Records by filter, newest first, in pages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memspec_py.errors import UsageError
from memspec_py.index.search import bindable
from memspec_py.record.words import State, Type, Witness
from memspec_py.views.drift import anchored_page, with_drift
from memspec_py.views.envelope import Envelope, envelope
from memspec_py.views.hit import Hit, hit_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from memspec_py.layered import Layered
    from memspec_py.views.drift import Row

MOST_LISTED = 1_000
_TYPES = (*(type_.value for type_ in Type), "observation", "question")
_ANY = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which records to list; None does not narrow.

    ``state`` None means active records and open questions, ``any`` all of them. ``source`` matches
    the whole source, ``tag`` one whole tag without regard to case.
    """

    type: str | None = None
    state: str | None = None
    tag: str | None = None
    source: str | None = None
    scope: str | None = None
    witness: str | None = None
    stale: bool = False
    pinned: bool = False
    limit: int = 50
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ListReply:
    """One page; ``total`` counts all that match, ``next_offset`` is None on the last page."""

    count: int
    total: int
    offset: int
    next_offset: int | None
    results: tuple[Hit, ...]
    circumstances: Envelope


def list_records(stores: Layered, wanted: Selection) -> ListReply:
    """The records that fit, newest first and by id within one instant.

    Raises ``UsageError`` for a filter value that no record can have.
    """
    _check(wanted)
    reply, rows = stores.read(lambda dbs: _page(stores, dbs, wanted))
    return replace(reply, results=with_drift(stores, reply.results, rows))


def _check(wanted: Selection) -> None:
    known = {
        "type": (wanted.type, _TYPES),
        "state": (wanted.state, (*State, _ANY)),
        "witness": (wanted.witness, tuple(Witness)),
    }
    for name, (value, choices) in known.items():
        if value is not None and value not in choices:
            raise UsageError(f"no {name} {value!r}", hint=f"one of: {', '.join(choices)}")
    if not 1 <= wanted.limit <= MOST_LISTED or wanted.offset < 0:
        raise UsageError(f"limit should be 1 to {MOST_LISTED} and offset not negative")


def _page(
    stores: Layered, dbs: Sequence[sqlite3.Connection], wanted: Selection
) -> tuple[ListReply, list[Sequence[Row]]]:
    """The page without drift, and the anchors of its records by layer."""
    now = stores.primary.now()
    total, page = _matching(dbs, wanted, now)
    end = wanted.offset + len(page)
    hits = tuple(
        hit_of(dbs[position], key, now, layer=stores.mark(stores.stores[position]))
        for position, key in page
    )
    reply = ListReply(
        count=len(page),
        total=total,
        offset=wanted.offset,
        next_offset=end if end < total else None,
        results=hits,
        circumstances=envelope(stores, dbs),
    )
    return reply, anchored_page(stores, dbs, hits)


def _matching(
    dbs: Sequence[sqlite3.Connection], wanted: Selection, now: str
) -> tuple[int, list[tuple[int, int]]]:
    """How many records fit, and the page of them: layer and key of each, newest first."""
    clause, values = _clause(wanted, now)
    if len(dbs) == 1:
        total: int = (
            dbs[0].execute(f"select count(*) from shown r where {clause}", values).fetchone()[0]
        )
        keys = dbs[0].execute(
            f"select r.key from shown r where {clause}"
            " order by r.created desc, r.id desc limit :limit offset :offset",
            {**values, "limit": wanted.limit, "offset": wanted.offset},
        )
        return total, [(0, key) for (key,) in keys]
    fitting: list[tuple[str, str, int, int]] = []
    higher: set[str] = set()
    for position, db in enumerate(dbs):
        fitting += [
            (created, id_, position, key)
            for created, id_, key in db.execute(
                f"select r.created, r.id, r.key from shown r where {clause}", values
            )
            if id_ not in higher
        ]
        # A record that a higher layer has counts as that layer's, whatever its state is there.
        if position + 1 < len(dbs):
            higher.update(id_ for (id_,) in db.execute("select id from records"))
    fitting.sort(reverse=True)
    page = fitting[wanted.offset : wanted.offset + wanted.limit]
    return len(fitting), [(position, key) for _, _, position, key in page]


def _clause(wanted: Selection, now: str) -> tuple[str, dict[str, object]]:
    parts = ["r.shadowed = 0", "(r.expires is null or r.expires > :now)"]
    if wanted.state is None:
        parts.append("r.state in ('active', 'open')")
    elif wanted.state != _ANY:
        parts.append("r.state = :state")
    if wanted.type is not None:
        parts.append("r.label = :type")
    if wanted.witness is not None:
        parts.append("r.witness = :witness")
    if wanted.scope is not None:
        parts.append("r.scope = :scope")
    if wanted.source is not None:
        parts.append("json_extract(r.head, '$.source') = :source")
    if wanted.pinned:
        parts.append("json_extract(r.head, '$.pinned') is not null")
    if wanted.stale:
        parts.append("r.kind = 'claim' and r.state = 'active' and r.check_by <= :now")
    if wanted.tag is not None:
        parts.append(
            "exists (select 1 from json_each(r.head, '$.tags') t"
            " where t.value = :tag collate nocase)"
        )
    values = {
        name: value and bindable(value)
        for name in ("state", "type", "witness", "scope", "source", "tag")
        for value in (getattr(wanted, name),)
    }
    return " and ".join(parts), {**values, "now": now}
