"""Search: one envelope that says what was found, how far it answers, and what is not in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.clock import parse_instant
from memspec_py.errors import Invalid, UsageError
from memspec_py.index.across import expand, find_across, hidden_across, known_above
from memspec_py.index.coverage import Verdict
from memspec_py.index.query import parse_query
from memspec_py.index.search import IN_SCOPE, NOTHING_HIDDEN, Filters, Hidden, bindable
from memspec_py.record.words import Type
from memspec_py.store.usage import uses_of
from memspec_py.views.drift import anchored_page, best_witness, with_drift
from memspec_py.views.envelope import Envelope, envelope
from memspec_py.views.hit import Hit, hit_of
from memspec_py.views.verdict import coverage_of, scopes_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from memspec_py.index.across import Reached
    from memspec_py.index.query import Query
    from memspec_py.index.search import Found
    from memspec_py.layered import Layered
    from memspec_py.store.usage import Use
    from memspec_py.views.drift import Row

MOST_HITS = 200
EXPANDABLE = (
    *("refines", "supports", "depends_on", "derived_from", "conflicts_with"),
    *("supersedes", "superseded_by"),
)
_TYPES = (*(type_.value for type_ in Type), "observation", "question")


class Question(NamedTuple):
    """What is asked: the text, and what the answer may be taken from.

    ``type`` None means the profile's types; ``as_of`` is an ISO 8601 instant; ``expand`` follows
    edges of ``edge_types`` for ``depth`` steps (1 to 3).
    """

    text: str
    type: str | None = None
    profile: str = "default"
    limit: int = 10
    scope: str | None = None
    as_of: str | None = None
    full: bool = False
    explain: bool = False
    expand: bool = False
    edge_types: Sequence[str] = ()
    depth: int = 1
    include_superseded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchReply:
    """Hits, best first, and a verdict on them.

    ``count`` is the number of results, of which ``expanded`` were reached along edges and stand
    last. ``hidden`` counts records that match but are kept back, by reason. ``coverage`` is
    ``none``, ``weak`` or ``ok``. ``coverage_witness_note`` is ``drifted`` or ``unchecked`` when the
    best witness would be an anchor, were it sound.
    """

    query: str
    count: int
    results: tuple[Hit, ...]
    coverage: str
    coverage_note: str
    coverage_witness: str | None
    coverage_witness_note: str | None
    profile: str
    limit: int
    type: str | None
    scope: str | None
    as_of: str | None
    expanded: int
    hidden: dict[str, int]
    circumstances: Envelope


def search(stores: Layered, asked: Question) -> SearchReply:
    """Answer a question from current indexes of all layers. Any text is a legal query.

    Raises ``UsageError`` for an unknown type or edge type and ``Invalid`` for a bad ``as_of``.
    """
    _check(asked)
    filters = _filters(stores, asked)
    if asked.type == "question":
        return stores.read(lambda dbs: _list_questions(stores, dbs, asked, filters))
    reply, rows = stores.read(lambda dbs: _answer(stores, dbs, asked, filters))
    # Looking at code may take git a while, so the indexes are let go first.
    results = with_drift(stores, reply.results, rows)
    witness, note = best_witness(results)
    return replace(reply, results=results, coverage_witness=witness, coverage_witness_note=note)


def _filters(stores: Layered, asked: Question) -> list[Filters]:
    """The filters of each layer: in each the caller's directory may have another scope."""
    profile = stores.primary.settings.profile(asked.profile)
    every = Filters(
        types=(asked.type,) if asked.type else profile.types,
        scope=bindable(asked.scope) if asked.scope else None,
        as_of=_instant(asked.as_of),
        now=stores.primary.now(),
    )
    return [every._replace(scope=every.scope or store.active_scope) for store in stores.stores]


def _check(asked: Question) -> None:
    if asked.type is not None and asked.type not in _TYPES:
        raise UsageError(f"no type {asked.type!r}", hint=f"one of: {', '.join(_TYPES)}")
    for edge in asked.edge_types:
        if edge not in EXPANDABLE:
            raise UsageError(f"no edge type {edge!r}", hint=f"one of: {', '.join(EXPANDABLE)}")
    if not 1 <= asked.limit <= MOST_HITS:
        raise UsageError(f"limit {asked.limit} is not between 1 and {MOST_HITS}")
    if not 1 <= asked.depth <= 3:
        raise UsageError(f"depth {asked.depth} is not between 1 and 3")


def _instant(text: str | None) -> str | None:
    try:
        return None if text is None else parse_instant(text)
    except ValueError as problem:
        raise Invalid(f"as_of: {problem}") from None


def _answer(
    stores: Layered,
    dbs: Sequence[sqlite3.Connection],
    asked: Question,
    filters: Sequence[Filters],
) -> tuple[SearchReply, list[Sequence[Row]]]:
    """The reply without drift, and the anchors of its hits by layer."""
    ws = stores.primary
    query = parse_query(asked.text, ws.settings.limits.query_terms)
    recency = ws.settings.profile(asked.profile).recency
    page = find_across(dbs, query, filters, asked.limit, recency=recency, now=ws.clock.now())
    reached = _expanded(dbs, asked, filters, page)
    hits = _hits(stores, dbs, asked, page, reached)
    kept_back = _kept_back(dbs, query, page, filters)
    verdict = coverage_of(dbs, query, page, filters, kept_back, _filter_names(asked))
    reply = _reply(stores, asked, hits, verdict, kept_back, envelope(stores, dbs))
    return reply, anchored_page(stores, dbs, hits)


def _hits(
    stores: Layered,
    dbs: Sequence[sqlite3.Connection],
    asked: Question,
    page: Sequence[tuple[int, Found]],
    reached: Sequence[tuple[int, Reached]],
) -> list[Hit]:
    """What is shown: the page, and behind it what was reached from it."""
    now = stores.primary.now()
    marks = [stores.mark(store) for store in stores.stores]
    shown = [(at, found.id) for at, found in page] + [(at, one.id) for at, one in reached]
    uses = _uses(stores, shown)
    hits = [
        hit_of(
            dbs[at],
            found.key,
            now,
            full=asked.full,
            score=found.score if asked.explain else None,
            use=uses.get(found.id),
            layer=marks[at],
        )
        for at, found in page
    ]
    hits += [
        hit_of(
            dbs[at], one.key, now, full=asked.full, via=one, use=uses.get(one.id), layer=marks[at]
        )
        for at, one in reached
    ]
    return hits


def _uses(stores: Layered, shown: Sequence[tuple[int, str]]) -> dict[str, Use]:
    """The receipts of some records, each given with the position of its layer."""
    uses: dict[str, Use] = {}
    for position, store in enumerate(stores.stores):
        ids = [id_ for at, id_ in shown if at == position]
        if ids:
            uses |= uses_of(store.machine, ids)
    return uses


def _filter_names(asked: Question) -> dict[str, str]:
    """How the person who asked knows the filters."""
    which = f"--type {asked.type}" if asked.type else f"profile {asked.profile}"
    return {"type": which, "as_of": f"--as-of {asked.as_of}"}


def _expanded(
    dbs: Sequence[sqlite3.Connection],
    asked: Question,
    filters: Sequence[Filters],
    page: Sequence[tuple[int, Found]],
) -> list[tuple[int, Reached]]:
    if not asked.expand:
        return []
    return expand(
        dbs,
        [(at, found.id) for at, found in page],
        asked.edge_types or EXPANDABLE,
        asked.depth,
        filters,
        past=asked.include_superseded,
    )


def _kept_back(
    dbs: Sequence[sqlite3.Connection],
    query: Query,
    page: Sequence[tuple[int, Found]],
    filters: Sequence[Filters],
) -> Hidden:
    """What matches as well as the page does, but is not shown."""
    if not query.terms:
        return NOTHING_HIDDEN
    found = hidden_across(dbs, query.all_terms(), filters)
    if not page and not any(found):
        found = hidden_across(dbs, query.any_term(), filters)
    return found


def _list_questions(
    stores: Layered,
    dbs: Sequence[sqlite3.Connection],
    asked: Question,
    filters: Sequence[Filters],
) -> SearchReply:
    """Questions are listed, not ranked: open ones first, newest first, by a part of the title."""
    rows = _questions(dbs, filters)
    wanted = asked.text.strip().casefold()
    matching = [row for row in rows if wanted in row.title.casefold()]
    page = matching[: asked.limit]
    uses = _uses(stores, [(row.layer, row.id) for row in page])
    now = stores.primary.now()
    hits = [
        hit_of(
            dbs[row.layer],
            row.key,
            now,
            full=asked.full,
            use=uses.get(row.id),
            layer=stores.mark(stores.stores[row.layer]),
        )
        for row in page
    ]
    if hits:
        verdict = Verdict(
            "ok", f"{len(matching)} of {len(rows)} questions have this in their title"
        )
    else:
        verdict = Verdict("none", f"none of {len(rows)} questions has this in its title")
    scopes = scopes_of(filters)
    if scopes:
        verdict = Verdict(verdict.coverage, f"{verdict.note}; scope: {', '.join(scopes)}")
    return _reply(stores, asked, hits, verdict, NOTHING_HIDDEN, envelope(stores, dbs))


class _Asked(NamedTuple):
    """A question of a layer, by position, and what it is ordered by."""

    layer: int
    key: int
    id: str
    title: str
    created: str
    is_open: bool


def _questions(dbs: Sequence[sqlite3.Connection], filters: Sequence[Filters]) -> list[_Asked]:
    """The questions in scope, each from the highest layer that has its id."""
    every: list[_Asked] = []
    for position, (db, its) in enumerate(zip(dbs, filters, strict=True)):
        found = db.execute(
            "select r.key, r.id, json_extract(r.head, '$.title'), r.created, r.state <> 'resolved'"
            f" from shown r where r.kind = 'question' and r.shadowed = 0 and {IN_SCOPE}",
            {"scope": its.scope},
        )
        rows = [_Asked(position, *row) for row in found]
        covered = known_above(dbs[:position], [row.id for row in rows])
        every += [row for row in rows if row.id not in covered]
    return sorted(every, key=lambda row: (row.is_open, row.created, row.id), reverse=True)


def _reply(
    stores: Layered,
    asked: Question,
    hits: Sequence[Hit],
    verdict: Verdict,
    kept_back: Hidden,
    circumstances: Envelope,
) -> SearchReply:
    witness, note = best_witness(hits)
    return SearchReply(
        query=asked.text,
        count=len(hits),
        results=tuple(hits),
        coverage=verdict.coverage,
        coverage_note=verdict.note,
        coverage_witness=witness,
        coverage_witness_note=note,
        profile=asked.profile,
        limit=asked.limit,
        type=asked.type,
        scope=asked.scope or stores.primary.active_scope,
        as_of=_instant(asked.as_of),
        expanded=sum(hit.expanded_via is not None for hit in hits),
        hidden={name: count for name, count in kept_back._asdict().items() if count},
        circumstances=circumstances,
    )
