"""How far the store answers a question at all: a verdict that does not depend on rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memspec_py.record.words import Witness

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from memspec_py.index.query import Query, Term
    from memspec_py.index.search import Found

# The best record must carry at least this share of the terms to say anything (seed: half).
_LEAST_SHARE = 0.5
# A record that lacks terms must still carry this share to be an answer (seed: three quarters).
_PARTIAL_SHARE = 0.75
# Below this score per term every word of the match is in nearly every record, so it tells nothing.
# Only judged where there are enough records for "nearly every" to mean something.
_FLOOR = 0.02
_FLOOR_RECORDS = 20

_STRENGTH = tuple(Witness)


class Carried(NamedTuple):
    """Which terms of the query occur in the best-covered hit, and which match nothing shown.

    ``best`` is that hit: the position of its store, and its row there.
    """

    best: tuple[int, int]
    terms: frozenset[str]
    unmatched: tuple[str, ...]


class Verdict(NamedTuple):
    """``none``, ``weak`` or ``ok``, and a sentence that says why."""

    coverage: str
    note: str


def carried(
    dbs: Sequence[sqlite3.Connection], query: Query, page: Sequence[tuple[int, Found]]
) -> Carried:
    """Which terms each hit carries, by the index's own tokenizer; returns the best-covered hit.

    ``dbs`` are the stores that answer, and each hit says by position which of them it is from.
    """
    places = [(position, found.key) for position, found in page]
    terms: dict[tuple[int, int], set[str]] = {place: set() for place in places}
    unmatched = []
    for term in query.terms:
        matching = [
            place
            for position, db in enumerate(dbs)
            for place in _matching(db, position, term, places)
        ]
        for place in matching:
            terms[place].add(term.shown)
        if not matching:
            unmatched.append(term.shown)
    best = max(page, key=lambda hit: (len(terms[hit[0], hit[1].key]), hit[1].score.total))
    place = (best[0], best[1].key)
    return Carried(place, frozenset(terms[place]), tuple(unmatched))


def judge(
    dbs: Sequence[sqlite3.Connection],
    query: Query,
    page: Sequence[tuple[int, Found]],
    facts: Carried,
) -> Verdict:
    """The verdict on a page that is not empty."""
    share = len(facts.terms) / len(query.terms)
    missing = _listed(facts.unmatched)
    lacking = f"; nothing shown matches {missing}" if missing else ""
    if share < _LEAST_SHARE:
        return Verdict("weak", f"the best hit carries {_of(facts, query)} query terms{lacking}")
    if share < _PARTIAL_SHARE:
        return Verdict("weak", f"no hit carries more than {_of(facts, query)} query terms{lacking}")
    position, key = facts.best
    if not _says_it_in_text(dbs[position], query, key):
        return Verdict("weak", "the terms occur only in the best hit's title or tags")
    best = next(found for store, found in page if (store, found.key) == facts.best)
    if _is_common(dbs, best.score.text / len(query.terms)):
        return Verdict("weak", "the terms occur in nearly every record, so the match tells little")
    if share < 1:
        return Verdict("ok", f"the best hit carries {_of(facts, query)} query terms{lacking}")
    return Verdict("ok", "the best hit carries every query term")


def strongest(witnesses: Iterable[tuple[str, bool]]) -> str | None:
    """The best witness behind some hits, given as (witness, derived).

    A derived record counts one step weaker, since its witness attests to the inference and not to
    what it rests on.
    """
    ranks = [
        min(_STRENGTH.index(Witness(witness)) + derived, len(_STRENGTH) - 1)
        for witness, derived in witnesses
    ]
    return _STRENGTH[min(ranks)].value if ranks else None


def _matching(
    db: sqlite3.Connection, position: int, term: Term, places: Iterable[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Those of some hits that are from this store and carry the term."""
    listed = ", ".join(str(key) for store, key in places if store == position)
    rows = db.execute(
        f"select rowid from words where words match ? and rowid in ({listed})", (term.whole,)
    )
    return [(position, key) for (key,) in rows]


def _says_it_in_text(db: sqlite3.Connection, query: Query, key: int) -> bool:
    """Whether the body takes part in the match; a record without a body says it in its title."""
    if not db.execute("select body <> '' from texts where key = ?", (key,)).fetchone()[0]:
        return True
    expression = "{body} : (" + query.any_term() + ")"
    row = db.execute("select 1 from words where words match ? and rowid = ?", (expression, key))
    return row.fetchone() is not None


def _is_common(dbs: Iterable[sqlite3.Connection], score_per_term: float) -> bool:
    if score_per_term >= _FLOOR:
        return False
    count = "select count(*) from records where live"
    size: int = sum(db.execute(count).fetchone()[0] for db in dbs)
    return size >= _FLOOR_RECORDS


def _of(facts: Carried, query: Query) -> str:
    return f"{len(facts.terms)} of {len(query.terms)}"


def _listed(terms: Sequence[str]) -> str:
    shown = ", ".join(terms[:5])
    return f"{shown} and {len(terms) - 5} more" if len(terms) > 5 else shown
