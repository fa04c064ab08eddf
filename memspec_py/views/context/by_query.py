"""The part of a context that answers a query: the best hits of a search, and how far they go."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memspec_py.index.across import find_across, hidden_across
from memspec_py.index.query import parse_query
from memspec_py.index.search import NOTHING_HIDDEN
from memspec_py.store.usage import uses_of
from memspec_py.views.hit import Hit, hit_of
from memspec_py.views.verdict import coverage_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from memspec_py.index.coverage import Verdict
    from memspec_py.index.query import Query
    from memspec_py.index.search import Filters, Found, Hidden
    from memspec_py.layered import Layered


class Answered(NamedTuple):
    """The best hits, best first; ``matching`` counts all records that match as well as these do."""

    hits: tuple[Hit, ...]
    matching: int
    hidden: Hidden
    verdict: Verdict


def answered(
    stores: Layered,
    dbs: Sequence[sqlite3.Connection],
    text: str,
    filters: Sequence[Filters],
    limit: int,
) -> Answered:
    """Search as ``search`` does; any text is a legal query."""
    settings = stores.primary.settings
    query = parse_query(text, settings.limits.query_terms)
    recency = settings.profile("default").recency
    now = stores.primary.clock.now()
    page = find_across(dbs, query, filters, limit, recency=recency, now=now)
    expression = _expression(query, page)
    hidden = hidden_across(dbs, expression, filters) if expression else NOTHING_HIDDEN
    names = {"type": "--type", "as_of": "not being valid now"}
    return Answered(
        hits=_hits(stores, dbs, page, filters),
        matching=_matching(dbs, expression, filters),
        hidden=hidden,
        verdict=coverage_of(dbs, query, page, filters, hidden, names),
    )


def _expression(query: Query, page: Sequence[tuple[int, Found]]) -> str:
    """What every hit of the page matches; of an empty page, what it could have matched at all."""
    if not query.terms:
        return ""
    has_all = bool(page) and all(found.score.tier == "all" for _, found in page)
    return query.all_terms() if has_all else query.any_term()


def _matching(
    dbs: Sequence[sqlite3.Connection], expression: str, filters: Sequence[Filters]
) -> int:
    if not expression:
        return 0
    count = 0
    for db, its in zip(dbs, filters, strict=True):
        clause, values = its.clause()
        row = db.execute(
            "select count(*) from words join records r on r.key = words.rowid"
            f" where words match :match and {clause}",
            {"match": expression, **values},
        ).fetchone()
        count += row[0]
    return count


def _hits(
    stores: Layered,
    dbs: Sequence[sqlite3.Connection],
    page: Sequence[tuple[int, Found]],
    filters: Sequence[Filters],
) -> tuple[Hit, ...]:
    uses = {
        position: uses_of(ws.machine, [found.id for at, found in page if at == position])
        for position, ws in enumerate(stores.stores)
    }
    return tuple(
        hit_of(
            dbs[position],
            found.key,
            filters[position].now,
            score=found.score,
            use=uses[position].get(found.id),
            layer=stores.mark(stores.stores[position]),
        )
        for position, found in page
    )
