"""Full-text search: candidates from SQLite, ordered by score, and what the filters kept back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memspec_py.index.db import get_meta
from memspec_py.index.rank import (
    BODY_WEIGHT,
    TAGS_WEIGHT,
    TITLE_WEIGHT,
    Score,
    Sizes,
    freshness,
    length_correction,
    sizes_of,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from datetime import datetime

    from memspec_py.index.query import Query

# Freshness reorders at most this many of the best records by text, or three pages if that is more.
_CANDIDATES = 50
# The filters are first tried on so many times the records that are wanted.
_FEW = 4

BM25 = f"bm25(words, {TITLE_WEIGHT}, {TAGS_WEIGHT}, {BODY_WEIGHT})"


class Filters(NamedTuple):
    """What a search may return; ``scope`` None means only records without one or ``universal``.

    ``now`` and ``as_of`` are canonical instants.
    """

    types: tuple[str, ...]
    scope: str | None
    as_of: str | None
    now: str

    def clause(self) -> tuple[str, dict[str, object]]:
        """The SQL condition on ``records r`` and its values."""
        names = {f"type{position}": name for position, name in enumerate(self.types)}
        parts = [
            f"r.label in ({', '.join(':' + name for name in names) or 'null'})",
            UNHIDDEN,
        ]
        return " and ".join(parts), {**names, **self.values()}

    def values(self) -> dict[str, object]:
        """The values of every condition but the types."""
        return {"scope": self.scope, "as_of": self.as_of, "now": self.now}


_UNEXPIRED = "(r.expires is null or r.expires > :now)"
# `is`, because comparing with a scope that was not given must be false, not unknown.
IN_SCOPE = "(r.scope is null or r.scope = 'universal' or r.scope is :scope)"
_VALID = (
    "(:as_of is null or ((r.valid_from is null or r.valid_from <= :as_of)"
    " and (r.valid_to is null or r.valid_to >= :as_of)))"
)
# Every filter but the one by type.
UNHIDDEN = f"{_UNEXPIRED} and {IN_SCOPE} and {_VALID}"


class Found(NamedTuple):
    """A record on the page: its row and its score."""

    key: int
    id: str
    score: Score


class Hidden(NamedTuple):
    """How many records match but are not shown, by what hides them."""

    type: int
    scope: int
    as_of: int
    expired: int
    superseded: int


NOTHING_HIDDEN = Hidden(0, 0, 0, 0, 0)


def find(
    db: sqlite3.Connection,
    query: Query,
    filters: Filters,
    limit: int,
    *,
    recency: float,
    now: datetime,
) -> list[Found]:
    """The page: records that carry every term by score, then, if there is room, the others."""
    if not query.terms:
        return []
    page = _tier(db, query.all_terms(), "all", filters, limit, recency, now)
    if len(page) < limit and query.has_loose_form():
        seen = {found.key for found in page}
        more = _tier(db, query.any_term(), "some", filters, limit + len(seen), recency, now)
        page += [found for found in more if found.key not in seen]
    return page[:limit]


def hidden(db: sqlite3.Connection, expression: str, filters: Filters) -> Hidden:
    """What matches the expression but is kept back; each record counts under its first reason."""
    clause = ", ".join(f":type{position}" for position in range(len(filters.types))) or "null"
    values = {f"type{position}": name for position, name in enumerate(filters.types)}
    row = db.execute(
        "select total(not unexpired), total(unexpired and not typed),"
        " total(unexpired and typed and not scoped),"
        " total(unexpired and typed and scoped and not valid) from ("
        f" select {_UNEXPIRED} as unexpired, {IN_SCOPE} as scoped, {_VALID} as valid,"
        f" r.label in ({clause}) as typed"
        " from words join records r on r.key = words.rowid where words match :match)",
        {"match": expression, **values, **filters.values()},
    ).fetchone()
    past = db.execute(
        "select count(*) from past_words join records r on r.key = past_words.rowid"
        f" where past_words match :match and r.state = 'superseded' and {IN_SCOPE}",
        {"match": expression, "scope": filters.scope},
    ).fetchone()
    expired, typed, scoped, valid = map(int, row)
    return Hidden(type=typed, scope=scoped, as_of=valid, expired=expired, superseded=past[0])


def unreadable_path(db: sqlite3.Connection, typed: str) -> str | None:
    """The one file that cannot be read as a record and whose name starts with what was typed."""
    from memspec_py.ids import prefix_range

    between = prefix_range(typed)
    paths = [path for (path,) in db.execute("select distinct path from findings")]
    found = [path for path in paths if between and between[0] <= _stem(path) <= between[1]]
    return found[0] if len(found) == 1 else None


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


def bindable(text: str) -> str:
    """A text as SQLite takes it; half a character, which no record can hold, becomes ``?``."""
    return text.encode("utf-8", "replace").decode()


def _tier(
    db: sqlite3.Connection,
    expression: str,
    tier: str,
    filters: Filters,
    limit: int,
    recency: float,
    now: datetime,
) -> list[Found]:
    rows = best_matches(db, expression, filters, most_candidates(limit))
    averages = sizes_of(get_meta(db, "sizes") or "")
    found = [scored(row, -row.score, tier, averages, recency, now) for row in rows]
    found.sort(key=lambda hit: (-hit.score.total, hit.id))
    return found


def most_candidates(limit: int) -> int:
    """How many records are scored for a page of so many."""
    return max(_CANDIDATES, 3 * limit)


class Match(NamedTuple):
    """A record that matches, with what its score depends on; ``score`` is FTS5's, lower better."""

    key: int
    id: str
    label: str
    fresh: str
    title: int
    tags: int
    body: int
    score: float


_MATCH = "r.key, r.id, r.label, r.fresh, r.title_size, r.tags_size, r.body_size"


def scored(
    row: Match, text: float, tier: str, averages: Sizes, recency: float, now: datetime
) -> Found:
    """A match with its score; ``text`` is that of its words, ``averages`` are of all records."""
    return Found(
        row.key,
        row.id,
        Score(
            tier=tier,
            text=text,
            length=length_correction(Sizes(row.title, row.tags, row.body), averages),
            recency=recency,
            freshness=freshness(row.label, row.fresh, now),
        ),
    )


def best_matches(
    db: sqlite3.Connection, expression: str, filters: Filters, most: int
) -> list[Match]:
    """The best records by text that pass the filters, ties by id.

    The filters are tried on the best few first, which is nearly always enough and spares a look at
    each of thousands of matches. Where it is not, or where a tie could have been cut, all are.
    """
    best = db.execute(
        f"select rowid, {BM25} as score from words where words match ? order by score limit ?",
        (expression, _FEW * most),
    ).fetchall()
    for count in (most + most // 2, _FEW * most):
        tried = best[:count]
        rows = _passing(db, tried, filters)
        is_cut = len(tried) == count
        if not is_cut or (len(rows) >= most and rows[most - 1].score < tried[-1][1]):
            return rows[:most]
    return _best_of_all(db, expression, filters, most)


def _passing(
    db: sqlite3.Connection, tried: Sequence[tuple[int, float]], filters: Filters
) -> list[Match]:
    """Those of some rows that pass the filters, best first."""
    clause, values = filters.clause()
    scores = dict(tried)
    keys = ", ".join(map(str, scores))
    found = db.execute(
        f"select {_MATCH} from records r where r.key in ({keys}) and {clause}", values
    )
    rows = [Match._make((*row, scores[row[0]])) for row in found]
    rows.sort(key=lambda row: (row.score, row.id))
    return rows


def _best_of_all(
    db: sqlite3.Connection, expression: str, filters: Filters, most: int
) -> list[Match]:
    clause, values = filters.clause()
    rows = db.execute(
        f"select {_MATCH}, {BM25} as score from words join records r on r.key = words.rowid"
        f" where words match :match and {clause} order by score, r.id limit :most",
        {"match": expression, "most": most, **values},
    )
    return [Match._make(row) for row in rows]
