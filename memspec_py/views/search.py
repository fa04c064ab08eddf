"""Search: one envelope that says what was found, how far it answers, and what is not in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.clock import parse_instant
from memspec_py.errors import Invalid, UsageError
from memspec_py.index.coverage import Verdict
from memspec_py.index.query import parse_query
from memspec_py.index.search import (
    IN_SCOPE,
    NOTHING_HIDDEN,
    Filters,
    Hidden,
    bindable,
    expand,
    find,
    hidden,
)
from memspec_py.record.words import Type
from memspec_py.store.usage import uses_of
from memspec_py.views.drift import anchored_hits, best_witness, with_drift
from memspec_py.views.envelope import Envelope, envelope
from memspec_py.views.hit import Hit, hit_of
from memspec_py.views.verdict import coverage_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from memspec_py.index.query import Query
    from memspec_py.index.search import Found, Reached
    from memspec_py.store.resolve import Surroundings
    from memspec_py.views.drift import Row
    from memspec_py.workspace import Workspace

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


def search(ws: Workspace, asked: Question, where: Surroundings) -> SearchReply:
    """Answer a question from a current index. Any text is a legal query.

    Raises ``UsageError`` for an unknown type or edge type and ``Invalid`` for a bad ``as_of``.
    """
    _check(asked)
    filters = Filters(
        types=(asked.type,) if asked.type else ws.settings.profile(asked.profile).types,
        scope=asked.scope and bindable(asked.scope),
        as_of=_instant(asked.as_of),
        now=ws.now(),
    )
    if asked.type == "question":
        return ws.read(lambda db: _list_questions(ws, db, asked, filters))
    reply, rows = ws.read(lambda db: _answer(ws, db, asked, filters))
    # Looking at code may take git a while, so the index is let go first.
    results = with_drift(ws, where, reply.results, rows)
    witness, note = best_witness(results)
    return replace(reply, results=results, coverage_witness=witness, coverage_witness_note=note)


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
    ws: Workspace, db: sqlite3.Connection, asked: Question, filters: Filters
) -> tuple[SearchReply, list[Row]]:
    """The reply without drift, and the anchors of its hits."""
    query = parse_query(asked.text, ws.settings.limits.query_terms)
    page = find(
        db,
        query,
        filters,
        asked.limit,
        recency=ws.settings.profile(asked.profile).recency,
        now=ws.clock.now(),
    )
    reached = _expanded(db, asked, filters, page)
    uses = uses_of(ws.root, [*(found.id for found in page), *(one.id for one in reached)])
    hits = [
        hit_of(
            db,
            found.key,
            filters.now,
            full=asked.full,
            score=found.score if asked.explain else None,
            use=uses.get(found.id),
        )
        for found in page
    ]
    hits += [
        hit_of(db, one.key, filters.now, full=asked.full, via=one, use=uses.get(one.id))
        for one in reached
    ]
    kept_back = _kept_back(db, query, page, filters)
    verdict = coverage_of(db, query, page, filters, kept_back, _filter_names(asked))
    reply = _reply(asked, filters, hits, verdict, kept_back, envelope(ws, db))
    return reply, anchored_hits(db, hits)


def _filter_names(asked: Question) -> dict[str, str]:
    """How the person who asked knows the filters."""
    which = f"--type {asked.type}" if asked.type else f"profile {asked.profile}"
    return {"type": which, "as_of": f"--as-of {asked.as_of}"}


def _expanded(
    db: sqlite3.Connection, asked: Question, filters: Filters, page: Sequence[Found]
) -> list[Reached]:
    if not asked.expand:
        return []
    return expand(
        db,
        [found.id for found in page],
        asked.edge_types or EXPANDABLE,
        asked.depth,
        filters,
        past=asked.include_superseded,
    )


def _kept_back(
    db: sqlite3.Connection, query: Query, page: Sequence[Found], filters: Filters
) -> Hidden:
    """What matches as well as the page does, but is not shown."""
    if not query.terms:
        return NOTHING_HIDDEN
    found = hidden(db, query.all_terms(), filters)
    if not page and not any(found):
        found = hidden(db, query.any_term(), filters)
    return found


def _list_questions(
    ws: Workspace, db: sqlite3.Connection, asked: Question, filters: Filters
) -> SearchReply:
    """Questions are listed, not ranked: open ones first, newest first, by a part of the title."""
    rows = db.execute(
        "select r.key, r.id, json_extract(r.head, '$.title') from shown r"
        f" where r.kind = 'question' and r.shadowed = 0 and {IN_SCOPE}"
        " order by r.state = 'resolved', r.created desc, r.id desc",
        {"scope": filters.scope},
    ).fetchall()
    wanted = asked.text.strip().casefold()
    matching = [(key, id_) for key, id_, title in rows if wanted in title.casefold()]
    page = matching[: asked.limit]
    uses = uses_of(ws.root, [id_ for _, id_ in page])
    hits = [hit_of(db, key, filters.now, full=asked.full, use=uses.get(id_)) for key, id_ in page]
    if hits:
        verdict = Verdict(
            "ok", f"{len(matching)} of {len(rows)} questions have this in their title"
        )
    else:
        verdict = Verdict("none", f"none of {len(rows)} questions has this in its title")
    if filters.scope is not None:
        verdict = Verdict(verdict.coverage, f"{verdict.note}; scope: {filters.scope}")
    return _reply(asked, filters, hits, verdict, NOTHING_HIDDEN, envelope(ws, db))


def _reply(
    asked: Question,
    filters: Filters,
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
        scope=asked.scope,
        as_of=filters.as_of,
        expanded=sum(hit.expanded_via is not None for hit in hits),
        hidden={name: count for name, count in kept_back._asdict().items() if count},
        circumstances=circumstances,
    )
