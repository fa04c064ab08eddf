"""Search over several stores, as if the records of all were in one.

Each store has its own index, and BM25 weighs a phrase by how rare it is there and a record by how
long others are there: scores of two stores cannot be compared. So each store only proposes its
best records. How often each phrase occurs in them is worked out from FTS5's own scores, and the
score is made anew with the numbers of all stores together.

Stores are given highest layer first and named by their position. Of several stores with a record
of one id the highest has it, whatever its state there; the others' copies are not shown. They do
count where records are only counted (how many have a phrase, how many a filter hides): equal ids
in two layers are a fault that ``doctor`` tells, and looking for them in every count would be dear.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.index.db import get_meta
from memspec_py.index.rank import Sizes, frequency_behind, idf, phrase_score, sizes_of
from memspec_py.index.search import (
    BM25,
    UNHIDDEN,
    Hidden,
    best_matches,
    find,
    hidden,
    most_candidates,
    scored,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from memspec_py.index.query import Query
    from memspec_py.index.search import Filters, Found, Match

    _Place = tuple[int, int]  # the position of a store, and the key of a record there

_MOST_EXPANDED = 50
_ROUNDING = 1e-9  # far more than the last digits of two sums of the same parts can differ by
_AVERAGES = 1  # the row of an FTS5 index that has its totals
_PHRASE = re.compile(r'"(?:[^"]|"")*"(?: \*)?')


class Reached(NamedTuple):
    """A record that was reached along an edge: its row, and the step that led to it."""

    key: int
    id: str
    from_id: str
    edge: str
    hops: int


class _Store(NamedTuple):
    """One of the stores, and the size of all that is searched there."""

    db: sqlite3.Connection
    filters: Filters
    records: int
    tokens: int


def find_across(
    dbs: Sequence[sqlite3.Connection],
    query: Query,
    filters: Sequence[Filters],
    limit: int,
    *,
    recency: float,
    now: datetime,
) -> list[tuple[int, Found]]:
    """The page as ``find`` makes it; each hit with the position of its store.

    ``filters`` are those of each store. Scored are the best of each store by its own measure.
    """
    if len(dbs) == 1:
        page = find(dbs[0], query, filters[0], limit, recency=recency, now=now)
        return [(0, hit) for hit in page]
    if not query.terms:
        return []
    stores = _Stores(dbs, filters)
    every = stores.candidates(query.all_terms(), most_candidates(limit))
    some: dict[_Place, Match] = {}
    if len(every) < limit and query.has_loose_form():
        some = stores.candidates(query.any_term(), most_candidates(limit + len(every)))
    rating = _Rating(stores, every | some, recency, now)
    hits = rating.tier(query.all_terms(), "all", every, most_candidates(limit))
    if some:
        more = rating.tier(query.any_term(), "some", some, most_candidates(limit + len(every)))
        hits += [(position, hit) for position, hit in more if (position, hit.key) not in every]
    return hits[:limit]


def hidden_across(
    dbs: Sequence[sqlite3.Connection], expression: str, filters: Sequence[Filters]
) -> Hidden:
    """What matches in all stores together but is kept back, by its first reason."""
    found = [hidden(db, expression, its) for db, its in zip(dbs, filters, strict=True)]
    return Hidden(*map(sum, zip(*found, strict=True)))


def scopes_like(dbs: Iterable[sqlite3.Connection]) -> list[str]:
    """The scope names that records of these stores carry."""
    query = "select distinct scope from records where scope is not null and scope <> 'universal'"
    return sorted({name for db in dbs for (name,) in db.execute(query)})


def known_above(higher: Sequence[sqlite3.Connection], ids: Sequence[str]) -> set[str]:
    """Those of some ids that higher stores have, in whatever state."""
    if not ids:
        return set()
    query = "select id from records where id in (select value from json_each(?))"
    listed = json.dumps(ids)
    return {id_ for db in higher for (id_,) in db.execute(query, (listed,))}


def expand(
    dbs: Sequence[sqlite3.Connection],
    seeds: Sequence[tuple[int, str]],
    edges: Sequence[str],
    depth: int,
    filters: Sequence[Filters],
    *,
    past: bool,
) -> list[tuple[int, Reached]]:
    """Records linked from the page, breadth first, each once, at most 50; each with its store.

    A link may lead from one store into another. ``past`` lets the walk reach superseded records.
    Type is no filter here; scope, expiry and ``as_of`` are.
    """
    seen = {id_ for _, id_ in seeds}
    level = list(seeds)
    reached: list[tuple[int, Reached]] = []
    for hops in range(1, depth + 1):
        following: list[tuple[int, str]] = []
        for from_id, edge, target in _links(dbs, level, edges):
            if target in seen or len(reached) == _MOST_EXPANDED:
                continue
            seen.add(target)
            place = _visible(dbs, target, filters, past=past)
            if place is not None:
                position, key = place
                reached.append((position, Reached(key, target, from_id, edge, hops)))
                following.append((position, target))
        level = following
    return reached


class _Stores:
    """All stores and their numbers together, as if they were one."""

    def __init__(self, dbs: Sequence[sqlite3.Connection], filters: Sequence[Filters]) -> None:
        self.each = [_store(db, its) for db, its in zip(dbs, filters, strict=True)]
        self.records = sum(store.records for store in self.each)
        self.average = sum(store.tokens for store in self.each) / max(self.records, 1)
        self._carrying: dict[str, list[int]] = {}

    def candidates(self, expression: str, most: int) -> dict[_Place, Match]:
        """Those of the best of each store that can be among as many best of all.

        Records that a higher store has, too, are none of a store's. Of those that cannot be among
        the best it does not matter, so it is asked of the others first.
        """
        found = {
            (position, row.key): row
            for position, store in enumerate(self.each)
            for row in best_matches(store.db, expression, store.filters, most)
        }
        promising = self._promising(found, expression, most)
        if not self._is_any_covered(promising):
            return promising
        own = {
            (position, row.key): row
            for position in range(len(self.each))
            for row in self._best_own(position, expression, most)
        }
        return self._promising(own, expression, most)

    def carrying(self, phrase: str) -> list[int]:
        """How many records have a phrase, store by store."""
        found = self._carrying.get(phrase)
        if found is None:
            found = [_carrying(store.db, phrase) for store in self.each]
            self._carrying[phrase] = found
        return found

    def weight(self, phrase: str) -> float:
        """How much a phrase tells."""
        return idf(self.records, sum(self.carrying(phrase)))

    def _promising(
        self, rows: Mapping[_Place, Match], expression: str, most: int
    ) -> dict[_Place, Match]:
        """Those whose score can be among the best so many, once it is made anew."""
        if len(rows) <= most:
            return dict(rows)
        phrases = set(_PHRASE.findall(expression))
        spans = [self._span(position, phrases) for position in range(len(self.each))]
        lows = sorted((-row.score * spans[at][0] for (at, _), row in rows.items()), reverse=True)
        least = lows[most - 1] * (1 - _ROUNDING)
        return {
            place: row for place, row in rows.items() if -row.score * spans[place[0]][1] >= least
        }

    def _span(self, position: int, phrases: Iterable[str]) -> tuple[float, float]:
        """What a store's score of a record may have to be multiplied by: at least, and at most.

        Each phrase weighs more or less than in the store alone, and a record is longer or shorter
        beside all others, which counts at most as much as the averages differ.
        """
        store = self.each[position]
        factors = [
            self.weight(phrase) / idf(store.records, self.carrying(phrase)[position])
            for phrase in phrases
            if self.carrying(phrase)[position]
        ]
        if not factors:
            return 1.0, 1.0  # nothing matches there
        longer = self.average * store.records / store.tokens
        return min(factors) * min(longer, 1.0), max(factors) * max(longer, 1.0)

    def _is_any_covered(self, rows: Mapping[_Place, Match]) -> bool:
        """Whether any of some records is in a higher store, too."""
        return any(
            known_above(
                [store.db for store in self.each[:position]],
                [row.id for (at, _), row in rows.items() if at == position],
            )
            for position in range(1, len(self.each))
        )

    def _best_own(self, position: int, expression: str, most: int) -> list[Match]:
        """The best of a store, without records that a higher store has, too."""
        db, filters, *_ = self.each[position]
        higher = [store.db for store in self.each[:position]]
        wanted = most
        while True:
            rows = best_matches(db, expression, filters, wanted)
            covered = known_above(higher, [row.id for row in rows])
            own = [row for row in rows if row.id not in covered]
            if len(own) >= most or len(rows) < wanted:
                return own[:most]
            wanted *= 2


class _Rating:
    """The scores of some candidates by the numbers of all stores together."""

    def __init__(
        self, stores: _Stores, rows: Mapping[_Place, Match], recency: float, now: datetime
    ) -> None:
        self._stores = stores
        self._recency = recency
        self._now = now
        self._sizes = _common_sizes(stores.each)
        self._keys = [
            [key for at, key in rows if at == position] for position in range(len(stores.each))
        ]
        self._lengths = {
            (position, key): length
            for position, keys in enumerate(self._keys)
            if keys
            for key, length in _lengths(stores.each[position].db, keys)
        }
        self._frequencies: dict[str, Mapping[_Place, float]] = {}

    def tier(
        self, expression: str, tier: str, rows: Mapping[_Place, Match], most: int
    ) -> list[tuple[int, Found]]:
        """The best of these by text, as many as one store would have scored, best first."""
        if not rows:
            return []
        texts = self._texts(_PHRASE.findall(expression), rows)
        best = sorted(rows, key=lambda place: (-texts[place], rows[place].id))[:most]
        page = [
            (
                place[0],
                scored(rows[place], texts[place], tier, self._sizes, self._recency, self._now),
            )
            for place in best
        ]
        page.sort(key=lambda hit: (-hit[1].score.total, hit[1].id))
        return page

    def _texts(self, phrases: Iterable[str], rows: Mapping[_Place, Match]) -> dict[_Place, float]:
        """BM25 of some records, its parts added up in the order FTS5 adds them.

        FTS5 leaves out a phrase where another is missing that AND joins it to; in the expressions
        of ``query`` no record that matches the whole lacks it.
        """
        texts = dict.fromkeys(rows, 0.0)
        average = self._stores.average
        for phrase in phrases:
            weight, frequency = self._stores.weight(phrase), self._frequency(phrase)
            for place in frequency.keys() & rows.keys():
                texts[place] += phrase_score(
                    weight, frequency[place], self._lengths[place], average
                )
        return texts

    def _frequency(self, phrase: str) -> Mapping[_Place, float]:
        """How often a phrase occurs in each candidate that has it."""
        found = self._frequencies.get(phrase)
        if found is None:
            found = self._frequencies[phrase] = self._look_up(phrase)
        return found

    def _look_up(self, phrase: str) -> dict[_Place, float]:
        carrying = self._stores.carrying(phrase)
        frequency: dict[_Place, float] = {}
        for position, store in enumerate(self._stores.each):
            if carrying[position] and self._keys[position]:
                weight = idf(store.records, carrying[position])
                average = store.tokens / store.records
                for key, score in _scores(store.db, phrase, self._keys[position]):
                    place = (position, key)
                    length = self._lengths[place]
                    frequency[place] = frequency_behind(score, weight, length, average)
        return frequency


def _store(db: sqlite3.Connection, filters: Filters) -> _Store:
    row = db.execute("select block from words_data where id = ?", (_AVERAGES,)).fetchone()
    # Without this row, as in a damaged index, FTS5 itself fails as soon as it has to score.
    records, *tokens = (_numbers(row[0]) if row else []) or [0]
    return _Store(db, filters, records, sum(tokens))


def _common_sizes(stores: Sequence[_Store]) -> Sizes:
    """The average sizes of all records, from those of each store."""
    records = sum(store.records for store in stores)
    # Rounded, the sums are the whole numbers of words that the averages were made from.
    sums = [
        [round(average * store.records) for average in sizes_of(get_meta(store.db, "sizes") or "")]
        for store in stores
    ]
    return Sizes(*(sum(parts) / max(records, 1) for parts in zip(*sums, strict=True)))


def _lengths(db: sqlite3.Connection, keys: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The number of tokens of some records."""
    listed = ", ".join(map(str, keys))
    for key, sizes in db.execute(f"select id, sz from words_docsize where id in ({listed})"):
        yield key, sum(_numbers(sizes))


def _carrying(db: sqlite3.Connection, phrase: str) -> int:
    row = db.execute("select count(*) from words where words match ?", (phrase,)).fetchone()
    return int(row[0])


def _scores(
    db: sqlite3.Connection, phrase: str, keys: Sequence[int]
) -> Iterator[tuple[int, float]]:
    """What BM25 makes of one phrase in those of some records that have it."""
    listed = ", ".join(map(str, keys))
    # The plus keeps SQLite from asking FTS5 for row by row, which would count the phrase each time.
    rows = db.execute(
        f"select rowid, -{BM25} from words where words match ? and +rowid in ({listed})", (phrase,)
    )
    yield from rows


def _numbers(data: bytes) -> list[int]:
    """SQLite's numbers of seven bits a byte, of which the last has its high bit clear."""
    found = []
    number = 0
    for byte in data:
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            found.append(number)
            number = 0
    return found


def _links(
    dbs: Sequence[sqlite3.Connection], level: Sequence[tuple[int, str]], edges: Sequence[str]
) -> list[tuple[str, str, str]]:
    """The outgoing links of some records: by record, then by edge type in the order asked for."""
    found = []
    for position, source in level:
        for edge in edges:
            rows = dbs[position].execute(
                "select e.target from edges e join records r on r.path = e.path and r.shadowed = 0"
                " where e.source = ? and e.type = ? order by e.position",
                (source, edge),
            )
            found += [(source, edge, target) for (target,) in rows]
    return found


def _visible(
    dbs: Sequence[sqlite3.Connection], id_: str, filters: Sequence[Filters], *, past: bool
) -> tuple[int, int] | None:
    """Where a record is that the filters of its store let through: the highest that has it."""
    for position, db in enumerate(dbs):
        row = db.execute(
            f"select r.key, (r.live or (:past and r.state = 'superseded')) and {UNHIDDEN}"
            " from records r where r.id = :id and r.shadowed = 0",
            {"id": id_, "past": past, **filters[position].values()},
        ).fetchone()
        if row is not None:
            key, shows = row
            return (position, key) if shows else None
    return None
