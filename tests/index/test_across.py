"""Several stores answer as one store with all their records would."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memspec_py.clock import instant
from memspec_py.config import Limits
from memspec_py.index.across import (
    expand,
    find_across,
    hidden_across,
    known_above,
    scopes_like,
)
from memspec_py.index.coverage import carried, judge
from memspec_py.index.db import in_memory
from memspec_py.index.query import parse_query
from memspec_py.index.rows import rows_of
from memspec_py.index.search import Filters, find
from memspec_py.index.sync import sync
from memspec_py.record.model import Kind, Record, State, Type
from memspec_py.record.parse import print_record
from memspec_py.store.layout import path_of
from memspec_py.store.listing import Listing, Stat
from memspec_py.testing import a_record, an_id
from tests.bench.stores import queries, record_number

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

    from memspec_py.index.across import Reached
    from memspec_py.index.query import Query
    from memspec_py.index.rank import Score
    from memspec_py.index.rows import Rows
    from memspec_py.index.search import Found

NOW = datetime(2026, 6, 1, tzinfo=UTC)
TYPES = ("fact", "decision", "observation")
EVERYTHING = Filters(types=TYPES, scope=None, as_of=None, now=instant(NOW))
NARROW = EVERYTHING._replace(types=("fact",), scope="burrow", as_of=instant(NOW))
_STORES = 4

# Words whose expressions have every form there is: phrases, alternatives, parts, prefixes, pairs.
_WORDS = (
    *("relay", "relays", "gauge", "the", "role", "based", "role-based", "get", "user", "by", "id"),
    *("getUserById", "getUserById_v2", "src/auth/jwt.ts", "jwt", "auth", "straße", "strasse"),
    *("索引在读取之前", "索引", "読", "C++", "README-fileName.md", "file", "name"),
)
_texts = st.lists(st.sampled_from(_WORDS), max_size=8).map(" ".join)


class Placed(NamedTuple):
    """A record, and the store it is put into."""

    record: Record
    store: int


@st.composite
def _placed(draw: st.DrawFn) -> list[Placed]:
    """Records with different ids, each in some store."""
    count = draw(st.integers(1, 14))
    return [
        Placed(draw(_records(number)), draw(st.integers(0, _STORES - 1)))
        for number in range(1, count + 1)
    ]


@st.composite
def _records(draw: st.DrawFn, number: int) -> Record:
    kind = draw(st.sampled_from([Kind.CLAIM, Kind.CLAIM, Kind.CLAIM, Kind.OBSERVATION]))
    is_claim = kind is Kind.CLAIM
    age = timedelta(days=draw(st.integers(0, 300)))
    return a_record(
        number,
        kind=kind,
        type=draw(st.sampled_from([Type.FACT, Type.DECISION])) if is_claim else None,
        title=draw(_texts) or "untitled",
        tags=tuple(draw(st.lists(st.sampled_from(["relay", "gauge", "auth"]), unique=True))),
        body=draw(_texts),
        created=instant(NOW - age),
        state=draw(st.sampled_from([State.ACTIVE] * 4 + [State.SUPERSEDED]))
        if is_claim
        else State.ACTIVE,
        scope=draw(st.sampled_from([None, None, "universal", "burrow", "meadow"])),
        expires=draw(st.sampled_from([None, None, instant(NOW - timedelta(days=1))])),
        valid_to=draw(st.sampled_from([None, None, instant(NOW - timedelta(days=1))])),
        refines=tuple(draw(st.lists(st.integers(1, 14).map(an_id), max_size=2, unique=True)))
        if is_claim
        else (),
    )


_queries = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=4).map(" ".join)
_filters = st.sampled_from([EVERYTHING, NARROW])


def index_of(
    records: Iterable[Record], earlier: sqlite3.Connection | None = None
) -> sqlite3.Connection:
    """An index of these records; one made earlier is brought up to date."""
    files = {path_of(record): print_record(record).encode() for record in records}
    listing = Listing()
    for number, (path, data) in enumerate(files.items()):
        folder, _, name = path.rpartition("/")
        time = 2 if earlier else 1
        listing.add(folder, [name], [(0o100644, len(data), time, time, number)])

    def read_all(_root: str, paths: list[str], limits: Limits) -> Iterator[Rows]:
        for path in paths:
            stat = Stat(*listing.stats()[path])
            yield rows_of(path, stat, files[path], limits)

    db = earlier or in_memory()
    sync(db, "/nowhere", listing, Limits(), now_ns=10**18, read_all=read_all)
    return db


def split(placed: Sequence[Placed]) -> list[sqlite3.Connection]:
    """The indexes of all stores, also of those that got no record."""
    return [
        index_of([one.record for one in placed if one.store == store]) for store in range(_STORES)
    ]


def whole(placed: Sequence[Placed]) -> sqlite3.Connection:
    """The index of one store with every record."""
    return index_of([one.record for one in placed])


def page_across(
    dbs: Sequence[sqlite3.Connection],
    text: str,
    filters: Filters = EVERYTHING,
    limit: int = 10,
    recency: float = 0.1,
) -> list[tuple[int, Found]]:
    """The page of several stores with the same filters."""
    its = [filters] * len(dbs)
    return find_across(dbs, parse_query(text, 64), its, limit, recency=recency, now=NOW)


def page_of_one(
    db: sqlite3.Connection,
    text: str,
    filters: Filters = EVERYTHING,
    limit: int = 10,
    recency: float = 0.1,
) -> list[Found]:
    """The page of one store."""
    return find(db, parse_query(text, 64), filters, limit, recency=recency, now=NOW)


def rounded(score: Score) -> tuple[object, ...]:
    """A score to nine digits."""
    return (score.tier, *(float(f"{part:.9g}") for part in (*score[1:], score.total)))


def ids(page: Iterable[tuple[int, Found]]) -> list[str]:
    """The ids of a page, in order."""
    return [found.id for _, found in page]


@given(_placed(), _queries, _filters, st.integers(1, 12), st.sampled_from([0.0, 0.1, 1.0]))
@example(
    [
        Placed(a_record(1, title="getUserById", body="get user"), 0),
        Placed(a_record(2, title="user", body="get id by"), 1),
    ],
    "getUserById_v2 user",
    EVERYTHING,
    10,
    0.1,
)
@settings(max_examples=80, deadline=None)
def test_the_page_is_that_of_one_store_with_all_records(
    placed: list[Placed], text: str, filters: Filters, limit: int, recency: float
) -> None:
    """However records are spread over stores, the same ones show, in one order, scored the same."""
    expected = page_of_one(whole(placed), text, filters, limit, recency)
    found = page_across(split(placed), text, filters, limit, recency)
    assert ids(found) == [hit.id for hit in expected]
    assert [rounded(hit.score) for _, hit in found] == [rounded(hit.score) for hit in expected]
    stores = {one.record.id: one.store for one in placed}
    assert [position for position, _ in found] == [stores[id_] for id_ in ids(found)]


@given(_placed(), _queries, _filters)
@settings(max_examples=50, deadline=None)
def test_the_verdict_and_the_counts_are_those_of_one_store(
    placed: list[Placed], text: str, filters: Filters
) -> None:
    """What is kept back, how far the page answers and why do not depend on the split."""
    one, several = whole(placed), split(placed)
    query = parse_query(text, 64)
    for expression in (query.all_terms(), query.any_term()):
        assert hidden_across(several, expression, [filters] * _STORES) == hidden_across(
            [one], expression, [filters]
        )
    assert scopes_like(several) == scopes_like([one])
    page = page_across(several, text, filters)
    if page:
        expected = _verdict([one], query, [(0, hit) for hit in page_of_one(one, text, filters)])
        assert _verdict(several, query, page) == expected


def _verdict(
    dbs: Sequence[sqlite3.Connection], query: Query, page: Sequence[tuple[int, Found]]
) -> tuple[object, ...]:
    """The verdict with the facts behind it; the best hit by its id."""
    facts = carried(dbs, query, page)
    (best,) = [found.id for position, found in page if (position, found.key) == facts.best]
    return judge(dbs, query, page, facts), best, facts.terms, facts.unmatched


@given(_placed(), _filters, st.booleans(), st.integers(1, 3))
@settings(max_examples=50, deadline=None)
def test_edges_lead_from_store_to_store(
    placed: list[Placed],
    filters: Filters,
    past: bool,  # noqa: FBT001 - drawn
    depth: int,
) -> None:
    """Expansion reaches the same records, in one order and by the same steps."""
    one, several = whole(placed), split(placed)
    page = page_across(several, "relay gauge", filters, limit=3)
    seeds = [(position, hit.id) for position, hit in page]
    seed_ids = [(0, id_) for _, id_ in seeds]
    edges = ["refines", "supports"]
    expected = expand([one], seed_ids, edges, depth, [filters], past=past)
    found = expand(several, seeds, edges, depth, [filters] * _STORES, past=past)
    assert _steps(found) == _steps(expected)
    stores = {one.record.id: one.store for one in placed}
    assert all(position == stores[reached.id] for position, reached in found)


def _steps(reached: Iterable[tuple[int, Reached]]) -> list[tuple[str, str, str, int]]:
    return [(one.id, one.from_id, one.edge, one.hops) for _, one in reached]


@given(_placed(), _queries, _filters)
@settings(max_examples=30, deadline=None)
def test_one_store_is_asked_as_ever(placed: list[Placed], text: str, filters: Filters) -> None:
    """Where there is one store, nothing at all changes."""
    db = whole(placed)
    assert page_across([db], text, filters) == [(0, hit) for hit in page_of_one(db, text, filters)]


@given(_placed(), _queries)
@settings(max_examples=30, deadline=None)
def test_scores_stay_right_when_records_change(placed: list[Placed], text: str) -> None:
    """The totals that scores depend on are kept up to date along with the records."""
    changed = [
        one._replace(record=replace(one.record, title="gauge", body="relay of another kind"))
        if number % 2
        else one
        for number, one in enumerate(placed)
    ]
    several = split(placed)
    for store, db in enumerate(several):
        index_of([one.record for one in changed if one.store == store], earlier=db)
    expected = page_of_one(whole(changed), text)
    assert [rounded(hit.score) for _, hit in page_across(several, text)] == [
        rounded(hit.score) for hit in expected
    ]


_ASKED = queries(48, 450)
_LONG_QUESTIONS = [" ".join(_ASKED[start : start + 4]) for start in range(0, 48, 4)]


@cache
def _hundreds() -> tuple[sqlite3.Connection, list[sqlite3.Connection]]:
    """One store of 450 realistic records, and three of unlike sizes with the same ones."""
    records = [record_number(number) for number in range(450)]
    bounds = (0, 300, 420, 450)
    parts = [index_of(records[start:end]) for start, end in pairwise(bounds)]
    return index_of(records), parts


@pytest.mark.parametrize("text", _LONG_QUESTIONS)
def test_the_page_of_hundreds_of_records_is_the_same(text: str) -> None:
    """Where each store proposes only its best, the best of all are still among them."""
    one, several = _hundreds()
    assert len(page_of_one(one, text, limit=200)) > 60
    expected = page_of_one(one, text)
    found = page_across(several, text)
    assert ids(found) == [hit.id for hit in expected]
    assert [rounded(hit.score) for _, hit in found] == [rounded(hit.score) for hit in expected]


def test_weak_hits_of_one_store_do_not_push_out_strong_ones_of_another() -> None:
    """A word that is rare in a small store is not worth more there than where it is at home."""
    elsewhere = [a_record(number, body="something else entirely") for number in range(1, 30)]
    mention = a_record(50, title="Notes", body="a relay, and " + "many other words " * 20)
    small = index_of([*elsewhere, mention])
    strong = [a_record(number, title="Relay", body="relay relay") for number in range(100, 112)]
    home = index_of([*strong, *(a_record(number, body="gauges") for number in range(120, 130))])
    # By their own scores, the mention would come first.
    assert page_of_one(small, "relay")[0].score.total > page_of_one(home, "relay")[0].score.total
    found = page_across([small, home], "relay")
    assert ids(found) == [record.id for record in strong[:10]]
    last = page_across([small, home], "relay", limit=20)[-1]
    assert (last[0], last[1].id) == (0, mention.id)


_MANY = 60  # more than are scored for a page
_LONG = " ".join(f"word{number}" for number in range(60))


@pytest.mark.parametrize(
    ("few", "others", "weak", "strong"),
    [
        pytest.param(5, 300, f"relay {_LONG}", "relay relay", id="common where it is at home"),
        pytest.param(90, 90, f"relay relay {_LONG}", "relay", id="short where all are short"),
    ],
)
def test_no_record_is_passed_over_for_its_score_in_its_own_store(
    few: int, others: int, weak: str, strong: str
) -> None:
    """Where more match than are scored anew, those left out could not have come to the page."""
    small = [a_record(number, body=strong) for number in range(1000, 1000 + _MANY)]
    small += [a_record(number, body="gauge") for number in range(2000, 2000 + few)]
    large = [a_record(number, body=weak) for number in range(1, 1 + _MANY)]
    large += [a_record(number, body=f"gauge {_LONG}") for number in range(3000, 3000 + others)]
    first = [page_of_one(index_of(records), "relay")[0].score.text for records in (small, large)]
    assert first[0] < first[1]  # each in its own store
    expected = page_of_one(index_of(small + large), "relay")
    found = page_across([index_of(small), index_of(large)], "relay")
    assert ids(found) == [hit.id for hit in expected]
    assert {position for position, _ in found} == {0}


@pytest.mark.parametrize(
    ("higher", "shown"),
    [
        ({"body": "relay"}, [0]),
        ({"body": "relay", "state": State.SUPERSEDED}, []),
        ({"body": "relay", "state": State.RETIRED}, []),
        ({"body": "relay", "scope": "meadow"}, []),
        ({"body": "gauge"}, []),
    ],
    ids=["active", "superseded", "retired", "scoped", "without the word"],
)
def test_of_equal_ids_the_highest_store_has_the_record(
    higher: dict[str, object], shown: list[int]
) -> None:
    """A lower copy never shows, neither on the page nor along an edge."""
    link = a_record(2, body="gate", refines=(an_id(1),))
    dbs = [index_of([a_record(1, **higher)]), index_of([a_record(1, body="relay"), link])]
    assert [position for position, _ in page_across(dbs, "relay")] == shown
    reached = expand(dbs, [(1, link.id)], ["refines"], 1, [EVERYTHING] * 2, past=False)
    is_live = higher.get("state") is None and higher.get("scope") is None
    assert [(position, one.id) for position, one in reached] == [(0, an_id(1))] * is_live


def test_copies_do_not_take_the_place_of_other_records() -> None:
    """A lower store whose best records are all copies still shows the rest."""
    numbers = range(1, 121)
    copies = [a_record(number, title="Relay", body="relay relay") for number in numbers]
    superseded = [a_record(number, state=State.SUPERSEDED) for number in numbers]
    own = [a_record(number, body="relay and much else besides") for number in range(500, 505)]
    dbs = [index_of(superseded), index_of([*copies, *own])]
    assert sorted(ids(page_across(dbs, "relay"))) == [record.id for record in own]


def test_ids_that_higher_stores_know() -> None:
    """Any state counts, and a store does not hide its own records."""
    dbs = [index_of([a_record(1, state=State.RETIRED)]), index_of([a_record(2)])]
    asked = [an_id(1), an_id(2), an_id(3)]
    assert known_above(dbs, asked) == {an_id(1), an_id(2)}
    assert known_above(dbs[:1], asked) == {an_id(1)}
    assert known_above([], asked) == set()


def test_each_store_has_filters_of_its_own() -> None:
    """The scope that is active in one store is not active in another."""
    linked = (an_id(1), an_id(2))
    records = [
        a_record(1, body="relay", scope="burrow", refines=linked),
        a_record(2, body="relay", scope="burrow"),
    ]
    dbs = [index_of([record]) for record in records]
    filters = [EVERYTHING._replace(scope="burrow"), EVERYTHING]
    query = parse_query("relay", 64)
    found = find_across(dbs, query, filters, 10, recency=0.1, now=NOW)
    assert [position for position, _ in found] == [0]
    assert hidden_across(dbs, query.all_terms(), filters).scope == 1
    seeds = [(0, an_id(1))]
    assert expand(dbs, seeds, ["refines"], 1, filters, past=False) == []
    filters.reverse()
    (reached,) = expand(dbs, seeds, ["refines"], 1, filters, past=False)
    assert (reached[0], reached[1].id) == (1, an_id(2))


def test_a_query_without_words_has_no_page() -> None:
    """Nor have stores without records."""
    dbs = [index_of([a_record(1, body="relay")]), index_of([])]
    assert page_across(dbs, "!?") == []
    assert page_across([index_of([]), index_of([])], "relay") == []
    assert ids(page_across(dbs, "relay")) == [an_id(1)]
