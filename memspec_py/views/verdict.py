"""Coverage in a sentence: how far the page answers, and what kept matching records from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspec_py.index.across import scopes_like
from memspec_py.index.coverage import Verdict, carried, judge

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence

    from memspec_py.index.query import Query
    from memspec_py.index.search import Filters, Found, Hidden


def coverage_of(
    dbs: Sequence[sqlite3.Connection],
    query: Query,
    page: Sequence[tuple[int, Found]],
    filters: Sequence[Filters],
    kept_back: Hidden,
    filter_names: Mapping[str, str],
) -> Verdict:
    """The verdict on all layers, with whatever could explain an empty or thin page.

    ``filter_names`` has what the filters by ``type`` and ``as_of`` are called where one asks.
    """
    if not query.terms:
        note = "the query has no word to search for; `memspec list` shows every record"
        return Verdict("none", note)
    if page:
        verdict, note = judge(dbs, query, page, carried(dbs, query, page))
    else:
        verdict, note = "none", "no active record matches"
    notes = [note]
    if verdict != "ok":
        notes += _reasons(filter_names, kept_back)
        notes += _scope_notes(dbs, filters, kept_back)
    elif scopes_of(filters):
        notes.append(f"scope: {', '.join(scopes_of(filters))}")
    if query.left_out:
        notes.append(f"only the first {len(query.terms)} distinct terms were used")
    return Verdict(verdict, "; ".join(notes))


def scopes_of(filters: Iterable[Filters]) -> list[str]:
    """The scopes that are searched, each once; in each layer it may be another."""
    return list(dict.fromkeys(its.scope for its in filters if its.scope is not None))


def _reasons(filter_names: Mapping[str, str], kept_back: Hidden) -> list[str]:
    reasons = (
        (kept_back.type, f"of another type, hidden by {filter_names['type']}"),
        (kept_back.as_of, f"hidden by {filter_names['as_of']}"),
        (kept_back.expired, "expired"),
        (kept_back.superseded, "superseded (`memspec list --state superseded`)"),
    )
    return [f"{_matching(count)} {reason}" for count, reason in reasons if count]


def _matching(count: int) -> str:
    return "1 matching record is" if count == 1 else f"{count} matching records are"


def _scope_notes(
    dbs: Sequence[sqlite3.Connection], filters: Sequence[Filters], kept_back: Hidden
) -> list[str]:
    """What the scope hides, and a scope with nearly the name that was asked for."""
    notes = []
    wanted = scopes_of(filters)
    if kept_back.scope:
        notes.append(f"{_matching(kept_back.scope)} of another scope")
    if not wanted and not kept_back.scope:
        return notes
    if wanted:
        notes.append(f"scope: {', '.join(wanted)}")
    from memspec_py.store.scopes import near  # only who asks for a scope, or misses one, needs it

    names = [name for name in scopes_like(dbs) if name not in wanted]
    meant = next(filter(None, (near(scope, names) for scope in wanted)), None)
    if meant:
        notes.append(f"did you mean --scope {meant}")
    elif names and kept_back.scope:
        notes.append(f"scopes in use: {', '.join(names[:5])}")
    return notes
