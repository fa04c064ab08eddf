"""The context: what somebody who starts to work should know, within a budget of tokens."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.clock import instant, moment_of
from memspec_py.errors import UsageError
from memspec_py.index.search import bindable
from memspec_py.views.budget import Allowance, tokens_of
from memspec_py.views.context import lines
from memspec_py.views.context.candidates import Candidate, Counts, Sought, context_filters, part_of
from memspec_py.views.context.packing import (
    ATTENTION,
    PATHS,
    PINNED,
    RELEVANT,
    SECTIONS,
    WORKING,
    ContextItem,
    Ranked,
    fewest,
    home_of,
    packed,
    relevant,
)
from memspec_py.views.context.worth import TYPES, worth_of
from memspec_py.views.drift import anchored_page, with_drift
from memspec_py.views.envelope import Envelope, envelope

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from memspec_py.index.coverage import Verdict
    from memspec_py.index.search import Filters
    from memspec_py.layered import Layered
    from memspec_py.views.drift import Row

DEFAULT_LIMIT, MOST_ITEMS = 20, 100
DEFAULT_BUDGET, LEAST_BUDGET = 2_000, 200
MOST_PATHS = 50


class Wanted(NamedTuple):
    """What the context is for: a query, files somebody is about to touch, or just a beginning.

    ``paths`` are as typed, relative to the working directory. ``budget`` is in tokens, estimated at
    four characters each.
    """

    query: str | None = None
    paths: Sequence[str] = ()
    type: str | None = None
    scope: str | None = None
    limit: int = DEFAULT_LIMIT
    budget: int = DEFAULT_BUDGET
    explain: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextReply:
    """Records to know before work starts, in the order they are read, and what was left out.

    ``active`` counts the records there are to show, ``attention`` those of them that are stale or,
    as far as was looked, drifted. ``left_out`` counts by section what is not shown, ``hidden`` by
    reason what could not be. ``unanchored`` are paths that lead to no record; ``unlooked`` counts
    anchored records whose code was not looked at. ``notes`` are the sentences that the text ends
    with; all of it costs ``tokens``. With a query, ``coverage`` says how far the store answers it.
    """

    at: str
    query: str | None
    paths: tuple[str, ...]
    type: str | None
    scope: str | None
    limit: int
    budget: int
    tokens: int
    active: int
    attention: int
    count: int
    results: tuple[ContextItem, ...]
    left_out: dict[str, int]
    hidden: dict[str, int]
    unanchored: tuple[str, ...]
    unlooked: int
    coverage: str | None
    coverage_note: str | None
    notes: tuple[str, ...]
    circumstances: Envelope

    @property
    def text(self) -> str:
        """The context as Markdown."""
        return "\n".join(self.lines()) + "\n"

    def lines(self) -> Iterator[str]:
        """The context as Markdown, line by line; none depends on another record's text."""
        if not self.results:
            yield lines.nothing_line(_why_nothing(self))
        else:
            yield lines.title_line(self.active, self.attention)
            yield lines.RULE
        section, now = "", moment_of(self.at)
        for item in self.results:
            if item.section != section:
                section = item.section
                yield lines.heading(section)
            yield lines.item_line(item, now)
        if self.results and self.left_out:
            yield lines.left_out_line(self.left_out)
        yield from self.notes


class _Draft(NamedTuple):
    """Everything the indexes know; ``rows`` are the anchors of the candidates, layer by layer.

    ``matching`` counts the records that a query finds beside those on the paths.
    """

    candidates: list[Candidate]
    rows: list[Sequence[Row]]
    counts: Counts
    reached: frozenset[str]
    matching: int
    hidden: Mapping[str, int]
    verdict: Verdict | None
    circumstances: Envelope


def context(stores: Layered, wanted: Wanted) -> ContextReply:
    """Choose what to show from current indexes, and look at the code behind it.

    Raises ``UsageError`` for a type, limit or budget that cannot be.
    """
    _check(wanted)
    draft = stores.read(lambda dbs: _draft(stores, dbs, wanted))
    # Looking at code may take git a while, so the indexes are let go first.
    hits = with_drift(stores, [one.hit for one in draft.candidates], draft.rows)
    looked = [one._replace(hit=hit) for one, hit in zip(draft.candidates, hits, strict=True)]
    return _reply(draft._replace(candidates=looked), wanted, stores.primary.clock.now())


def _check(wanted: Wanted) -> None:
    if wanted.type is not None and wanted.type not in TYPES:
        raise UsageError(f"no type {wanted.type!r}", hint=f"one of: {', '.join(TYPES)}")
    if not 1 <= wanted.limit <= MOST_ITEMS:
        raise UsageError(f"limit {wanted.limit} is not between 1 and {MOST_ITEMS}")
    if wanted.budget < LEAST_BUDGET:
        raise UsageError(f"budget {wanted.budget} is less than {LEAST_BUDGET} tokens")
    if len(wanted.paths) > MOST_PATHS:
        raise UsageError(f"{len(wanted.paths)} paths are more than {MOST_PATHS}")


def _draft(stores: Layered, dbs: Sequence[sqlite3.Connection], wanted: Wanted) -> _Draft:
    """What each store offers, put together; of equal ids the highest store's counts."""
    now = stores.primary.now()
    scope = bindable(wanted.scope) if wanted.scope else None
    filters = [context_filters(wanted.type, scope or ws.active_scope, now) for ws in stores.stores]
    above = _known_above(dbs)
    parts = [
        part_of(
            ws,
            dbs[position],
            Sought(
                filters=filters[position],
                most=2 * wanted.limit,
                troubled=fewest(wanted.limit),
                layer=stores.mark(ws),
                paths=wanted.paths,
                cwd=stores.where.cwd,
                without=above[position],
                everything=wanted.query is None,
            ),
        )
        for position, ws in enumerate(stores.stores)
    ]
    counts = _sum(part.counts for part in parts)
    draft = _Draft(
        candidates=[one for part in parts for one in part.candidates],
        rows=[],
        counts=counts,
        reached=frozenset[str]().union(*(part.reached for part in parts)),
        matching=0,
        hidden={name: getattr(counts, name) for name in _REASONS},
        verdict=None,
        circumstances=envelope(stores, dbs),
    )
    if wanted.query is not None:
        draft = _with_found(stores, dbs, filters, wanted, draft)
    rows = anchored_page(stores, dbs, [one.hit for one in draft.candidates])
    return draft._replace(rows=rows)


def _known_above(dbs: Sequence[sqlite3.Connection]) -> list[tuple[str, ...]]:
    """The ids of each store that a higher one has, too; nearly always none."""
    if len(dbs) == 1:
        return [()]
    seen: set[str] = set()
    found = []
    for db in dbs:
        ids = {id_ for (id_,) in db.execute("select id from records")}
        found.append(tuple(sorted(ids & seen)))
        seen |= ids
    return found


def _sum(every: Iterable[Counts]) -> Counts:
    return Counts(*map(sum, zip(*every, strict=True)))


def _with_found(
    stores: Layered,
    dbs: Sequence[sqlite3.Connection],
    filters: Sequence[Filters],
    wanted: Wanted,
    draft: _Draft,
) -> _Draft:
    """The draft with the answer to the query; what is on the paths stands there already."""
    from memspec_py.views.context.by_query import answered

    assert wanted.query is not None
    found = answered(stores, dbs, wanted.query, filters, wanted.limit + len(draft.candidates))
    placed = {hit.id: place for place, hit in enumerate(found.hits)}
    on_paths = [one._replace(found=placed.get(one.hit.id)) for one in draft.candidates]
    known = {one.hit.id for one in on_paths}
    others = [
        Candidate(hit, found=place) for place, hit in enumerate(found.hits) if hit.id not in known
    ]
    return draft._replace(
        candidates=on_paths + others,
        matching=max(found.matching - len(known & placed.keys()), len(others)),
        hidden=found.hidden._asdict(),
        verdict=found.verdict,
    )


def _reply(draft: _Draft, wanted: Wanted, now: datetime) -> ContextReply:
    """Pack what there is; of what does not fit, only the number is kept."""
    ranked = [_ranked(one, wanted, now) for one in draft.candidates]
    totals = _totals(draft, ranked)
    drifted = sum(one.hit.drifted and not one.hit.stale for one in ranked)
    attention = draft.counts.stale + drifted
    allowance = Allowance(wanted.budget)
    # Nothing is longer than this with more left out, so that the last line always has its place.
    last = lines.left_out_line(totals)
    allowance.take(lines.title_line(draft.counts.active, attention), lines.RULE, last)
    pack = packed if wanted.query is None else relevant
    items = pack(ranked, wanted.limit, allowance, now)
    left_out = _left_out(totals, ranked, items)
    if not items:
        allowance = Allowance(wanted.budget)
    elif any(left_out.values()):
        allowance.left += tokens_of([last]) - tokens_of([lines.left_out_line(left_out)])
    reply = _unwritten(draft, wanted, now, items)
    reply = replace(reply, attention=attention, left_out=left_out)
    if not items:
        allowance.take(*reply.lines())
    notes = tuple(note for note in _notes(reply) if allowance.take(note))
    reply = replace(reply, notes=notes)
    return replace(reply, tokens=tokens_of(reply.lines()))


def _ranked(one: Candidate, wanted: Wanted, now: datetime) -> Ranked:
    """A candidate with its rank: its place in the answer to a query, else what it is worth."""
    hit = one.hit._replace(score=None)
    if one.found is not None and not one.on_path:
        score = one.hit.score
        return Ranked(hit, (one.found,), score if wanted.explain else None)
    worth = worth_of(one.hit, one.sittings, now)
    made = moment_of(one.hit.created).timestamp()
    score = worth.told() if wanted.explain else None
    return Ranked(hit, (-worth.total, -made), score, one.on_path)


def _totals(draft: _Draft, ranked: Sequence[Ranked]) -> dict[str, int]:
    """How many records belong in each section, shown or not."""
    on_paths = [one for one in ranked if one.on_path]
    if draft.verdict is not None:
        return {PATHS: len(on_paths), RELEVANT: draft.matching}
    counts = draft.counts
    found = Counter(home_of(one) for one in ranked)
    by_index = Counter(_home_by_index(one) for one in ranked)
    # The index knows how many are stale or pinned, but not which of them drifted.
    moved = {name: found[name] - by_index[name] for name in SECTIONS}
    whole = {
        PATHS: 0,
        ATTENTION: counts.stale,
        PINNED: counts.pinned,
        WORKING: counts.active - counts.stale - counts.pinned,
    }
    totals = {name: count + moved[name] for name, count in whole.items()}
    return {name: count for name, count in totals.items() if count}


def _home_by_index(one: Ranked) -> str:
    return home_of(one._replace(on_path=False, hit=one.hit._replace(drifted=False)))


def _left_out(
    totals: Mapping[str, int], ranked: Sequence[Ranked], items: Sequence[ContextItem]
) -> dict[str, int]:
    """What is not shown, by the section it belongs in; it may have been shown in another."""
    homes = {one.hit.id: home_of(one) for one in ranked}
    if RELEVANT in totals:
        shown = Counter(item.section for item in items)
    else:
        shown = Counter(homes[item.id] for item in items)
    left = {name: count - shown[name] for name, count in totals.items()}
    return {name: count for name, count in left.items() if count > 0}


def _unwritten(
    draft: _Draft, wanted: Wanted, now: datetime, items: Sequence[ContextItem]
) -> ContextReply:
    """The reply before its last lines are written."""
    anchored = sum(one.hit.drift is not None for one in draft.candidates)
    verdict = draft.verdict
    return ContextReply(
        at=instant(now),
        query=wanted.query,
        paths=tuple(wanted.paths),
        type=wanted.type,
        scope=wanted.scope,
        limit=wanted.limit,
        budget=wanted.budget,
        tokens=0,
        active=draft.counts.active,
        attention=0,
        count=len(items),
        results=tuple(items),
        left_out={},
        hidden={name: count for name, count in draft.hidden.items() if count},
        unanchored=tuple(path for path in wanted.paths if path not in draft.reached),
        unlooked=0 if verdict else max(0, draft.counts.anchored - anchored),
        coverage=verdict and verdict.coverage,
        coverage_note=verdict and verdict.note,
        notes=(),
        circumstances=draft.circumstances,
    )


def _notes(reply: ContextReply) -> Iterator[str]:
    """The last lines, what matters most first."""
    if reply.coverage is not None and reply.results:
        yield lines.coverage_line(reply.coverage, reply.coverage_note or "")
    if reply.unanchored:
        yield lines.unanchored_line(reply.unanchored)
    about = reply.circumstances
    if about.unreadable_count:
        yield lines.unreadable_line(about.unreadable_count)
    if about.warnings:
        yield lines.warnings_line(len(about.warnings))
    if about.index["state"] == "bypassed":
        yield lines.bypassed_line()
    if reply.unlooked and reply.results:
        yield lines.unlooked_line(reply.unlooked)


def _why_nothing(reply: ContextReply) -> str:
    """Why there is no record in a context."""
    if reply.left_out:
        records = sum(reply.left_out.values())
        return f"{reply.budget} tokens are too few for the first of {records} records"
    if reply.coverage_note is not None:
        return reply.coverage_note
    hidden = [f"{count} {_REASONS[name]}" for name, count in reply.hidden.items()]
    return "; ".join(["no active record", *hidden])


_REASONS = {
    "type": "of another type",
    "scope": "of another scope",
    "as_of": "not valid now",
    "expired": "expired",
}
