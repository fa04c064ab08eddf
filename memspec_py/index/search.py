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
_MOST_EXPANDED = 50

_BM25 = f"bm25(words, {TITLE_WEIGHT}, {TAGS_WEIGHT}, {BODY_WEIGHT})"


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
            *self._unhidden(),
        ]
        return " and ".join(parts), {**names, **self.values()}

    def values(self) -> dict[str, object]:
        """The values of every condition but the types."""
        return {"scope": self.scope, "as_of": self.as_of, "now": self.now}

    def _unhidden(self) -> tuple[str, ...]:
        return (_UNEXPIRED, IN_SCOPE, _VALID)


_UNEXPIRED = "(r.expires is null or r.expires > :now)"
# `is`, because comparing with a scope that was not given must be false, not unknown.
IN_SCOPE = "(r.scope is null or r.scope = 'universal' or r.scope is :scope)"
_VALID = (
    "(:as_of is null or ((r.valid_from is null or r.valid_from <= :as_of)"
    " and (r.valid_to is null or r.valid_to >= :as_of)))"
)


class Found(NamedTuple):
    """A record on the page: its row and its score."""

    key: int
    id: str
    score: Score


class Reached(NamedTuple):
    """A record that was reached along an edge: its row, and the step that led to it."""

    key: int
    id: str
    from_id: str
    edge: str
    hops: int


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


def expand(
    db: sqlite3.Connection,
    seeds: Sequence[str],
    edges: Sequence[str],
    depth: int,
    filters: Filters,
    *,
    past: bool,
) -> list[Reached]:
    """Records linked from the page, breadth first, each once, at most 50.

    ``past`` lets the walk reach superseded records. Type is no filter here; scope, expiry and
    ``as_of`` are.
    """
    seen = set(seeds)
    level = list(seeds)
    reached: list[Reached] = []
    for hops in range(1, depth + 1):
        following: list[str] = []
        for from_id, edge, target in _links(db, level, edges):
            if target in seen or len(reached) == _MOST_EXPANDED:
                continue
            seen.add(target)
            key = _visible(db, target, filters, past=past)
            if key is not None:
                reached.append(Reached(key, target, from_id, edge, hops))
                following.append(target)
        level = following
    return reached


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


def scopes_like(db: sqlite3.Connection) -> list[str]:
    """The scope names that records of this store carry."""
    rows = db.execute(
        "select distinct scope from records where scope is not null and scope <> 'universal'"
    )
    return sorted(name for (name,) in rows)


def _tier(
    db: sqlite3.Connection,
    expression: str,
    tier: str,
    filters: Filters,
    limit: int,
    recency: float,
    now: datetime,
) -> list[Found]:
    most = max(_CANDIDATES, 3 * limit)
    rows = _best(db, expression, filters, most)
    averages = sizes_of(get_meta(db, "sizes") or "")
    found = [
        Found(
            row.key,
            row.id,
            Score(
                tier=tier,
                text=-row.score,
                length=length_correction(Sizes(row.title, row.tags, row.body), averages),
                recency=recency,
                freshness=freshness(row.label, row.fresh, now),
            ),
        )
        for row in rows
    ]
    found.sort(key=lambda hit: (-hit.score.total, hit.id))
    return found


class _Match(NamedTuple):
    key: int
    id: str
    label: str
    fresh: str
    title: int
    tags: int
    body: int
    score: float


_MATCH = "r.key, r.id, r.label, r.fresh, r.title_size, r.tags_size, r.body_size"


def _best(db: sqlite3.Connection, expression: str, filters: Filters, most: int) -> list[_Match]:
    """The best records by text that pass the filters, ties by id.

    The filters are tried on the best few first, which is nearly always enough and spares a look at
    each of thousands of matches. Where it is not, or where a tie could have been cut, all are.
    """
    clause, values = filters.clause()
    few = _FEW * most
    best = db.execute(
        f"select rowid, {_BM25} as score from words where words match ? order by score limit ?",
        (expression, few),
    ).fetchall()
    keys = ", ".join(str(key) for key, _ in best)
    scores = dict(best)
    found = db.execute(
        f"select {_MATCH} from records r where r.key in ({keys}) and {clause}", values
    )
    rows = [_Match._make((*row, scores[row[0]])) for row in found]
    rows.sort(key=lambda row: (row.score, row.id))
    is_cut = len(best) == few
    if is_cut and (len(rows) < most or rows[most - 1].score >= best[-1][1]):
        return _best_of_all(db, expression, filters, most)
    return rows[:most]


def _best_of_all(
    db: sqlite3.Connection, expression: str, filters: Filters, most: int
) -> list[_Match]:
    clause, values = filters.clause()
    rows = db.execute(
        f"select {_MATCH}, {_BM25} as score from words join records r on r.key = words.rowid"
        f" where words match :match and {clause} order by score, r.id limit :most",
        {"match": expression, "most": most, **values},
    )
    return [_Match._make(row) for row in rows]


def _links(
    db: sqlite3.Connection, level: Sequence[str], edges: Sequence[str]
) -> list[tuple[str, str, str]]:
    """The outgoing links of some records: by record, then by edge type in the order asked for."""
    found = []
    for source in level:
        for edge in edges:
            rows = db.execute(
                "select e.target from edges e join records r on r.path = e.path and r.shadowed = 0"
                " where e.source = ? and e.type = ? order by e.position",
                (source, edge),
            )
            found += [(source, edge, target) for (target,) in rows]
    return found


def _visible(db: sqlite3.Connection, id_: str, filters: Filters, *, past: bool) -> int | None:
    row = db.execute(
        "select r.key from records r where r.id = :id and r.shadowed = 0"
        f" and (r.live or (:past and r.state = 'superseded')) and {_UNEXPIRED} and {IN_SCOPE}"
        f" and {_VALID}",
        {"id": id_, "past": past, **filters.values()},
    ).fetchone()
    return None if row is None else row[0]
