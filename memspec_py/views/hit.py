"""A record as search and list show it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.record.words import is_stale

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from memspec_py.anchors.verdict import Drift
    from memspec_py.index.across import Reached
    from memspec_py.index.rank import Score
    from memspec_py.store.usage import Use

_PREVIEW_CHARS = 160
LINKS = (
    *("supersedes", "superseded_by", "refines", "supports", "depends_on", "derived_from"),
    *("conflicts_with", "distinct_from"),
)


class Hit(NamedTuple):
    """One record: what it says, where it comes from, and how far to trust it.

    ``stale`` is computed from ``check_by`` now. ``drifted`` says that an anchor has drifted or is
    gone, ``anchor_unchecked`` that one could not be checked; ``drift`` has the verdict on each
    anchor, and is None without any. ``links`` has the non-empty edge lists.
    ``layer`` is the store layer the record is in, where that is not the primary one. ``score`` is
    only filled by ``--explain``, ``expanded_via`` only for records reached along an edge.
    """

    id: str
    kind: str
    type: str
    state: str
    title: str
    preview: str
    source: str
    source_kind: str
    verified_with: str
    created: str
    stale: bool
    path: str
    tags: tuple[str, ...] = ()
    pinned: bool = False
    derived: bool = False
    scope: str | None = None
    check_by: str | None = None
    last_verified: str | None = None
    expires: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    requires_human: tuple[str, ...] = ()
    links: Mapping[str, Sequence[str]] | None = None
    closed: bool | None = None
    answers: tuple[str, ...] | None = None
    resolved_by: str | None = None
    body: str | None = None
    last_referenced: str | None = None
    sessions: int | None = None
    expanded_via: Mapping[str, object] | None = None
    score: Mapping[str, object] | None = None
    drifted: bool = False
    anchor_unchecked: bool = False
    drift: tuple[Drift, ...] | None = None
    layer: str | None = None


def hit_of(
    db: sqlite3.Connection,
    key: int,
    now: str,
    *,
    full: bool = False,
    score: Score | None = None,
    via: Reached | None = None,
    use: Use | None = None,
    layer: str | None = None,
) -> Hit:
    """The hit for one row of the index."""
    path, kind, label, state, check_by, text, body = db.execute(
        "select path, kind, label, state, check_by, head, body from shown where key = ?", (key,)
    ).fetchone()
    head = json.loads(text)
    return Hit(
        id=head["id"],
        kind=kind,
        type=label,
        state=state,
        title=head["title"],
        preview=preview(body),
        source=head["source"],
        source_kind=head["source_kind"],
        verified_with=head["verified_with"],
        created=head["created"],
        stale=is_stale(kind, state, check_by, now),
        path=path,
        tags=tuple(head["tags"]),
        pinned="pinned" in head,
        derived="derived_from" in head,
        scope=head.get("scope"),
        check_by=check_by,
        last_verified=head.get("last_verified"),
        expires=head.get("expires"),
        valid_from=head.get("valid_from"),
        valid_to=head.get("valid_to"),
        requires_human=tuple(head.get("requires_human", ())),
        links=_links(head),
        closed="closed" in head if kind == "question" else None,
        answers=tuple(head.get("answers", ())) if kind == "question" else None,
        resolved_by=head.get("resolved_by"),
        body=body if full else None,
        last_referenced=use.last_referenced if use else None,
        sessions=use.sessions if use else None,
        expanded_via=_via(via),
        score=_parts(score),
        layer=layer,
    )


def preview(body: str) -> str:
    """The beginning of a body on one line: data, never mistaken for our own words."""
    line = " ".join(body.split())
    return line if len(line) <= _PREVIEW_CHARS else line[: _PREVIEW_CHARS - 1].rstrip() + "…"


def _links(head: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name in LINKS:
        value = head.get(name)
        if isinstance(value, str):
            found[name] = (value,)
        elif isinstance(value, list):
            found[name] = tuple(value)
    return found


def _via(via: Reached | None) -> dict[str, object] | None:
    if via is None:
        return None
    return {"from_id": via.from_id, "edge_type": via.edge, "hops": via.hops}


def _parts(score: Score | None) -> dict[str, object] | None:
    if score is None:
        return None
    return {
        "tier": score.tier,
        "total": _short(score.total),
        "text": _short(score.text),
        "length": _short(score.length),
        "recency": score.recency,
        "freshness": _short(score.freshness),
    }


def _short(number: float) -> float:
    """Four significant digits; in a very small store every score is tiny."""
    return float(f"{number:.4g}")
