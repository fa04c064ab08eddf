"""What a reader must know of the anchors of the records shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.index.coverage import strongest
from memspec_py.record.words import Witness

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Sequence

    from memspec_py.anchors.verdict import Drift
    from memspec_py.layered import Layered
    from memspec_py.record.anchor import Anchor
    from memspec_py.store.resolve import Surroundings
    from memspec_py.views.hit import Hit
    from memspec_py.workspace import Workspace

_KEYS = {"file", "sha", "repo", "symbol", "symbol_id", "lines", "span_id", "name", "value"}


class Watched(NamedTuple):
    """A record in one line, with the verdicts on its anchors."""

    id: str
    type: str
    title: str
    drift: tuple[Drift, ...]


class Row(NamedTuple):
    """A record of the index that has anchors."""

    id: str
    type: str
    title: str
    anchors: tuple[Anchor, ...]


_ANCHORED = (
    "select r.id, r.label, json_extract(r.head, '$.title'), json_extract(r.head, '$.anchors')"
    " from shown r where json_type(r.head, '$.anchors') = 'array'"
)
_ON_PAGE = f"{_ANCHORED} and r.path in (select value from json_each(?))"
_IN_USE = (
    f"{_ANCHORED} and r.shadowed = 0 and r.state = 'active'"
    " and (r.expires is null or r.expires > ?) order by r.id"
)


def anchored_hits(db: sqlite3.Connection, hits: Iterable[Hit]) -> list[Row]:
    """Those of some hits of one store that have anchors."""
    return _rows(db, _ON_PAGE, json.dumps([hit.path for hit in hits]))


def anchored_page(
    stores: Layered, dbs: Sequence[sqlite3.Connection], hits: Sequence[Hit]
) -> list[Sequence[Row]]:
    """Those of a page's hits that have anchors, layer by layer."""
    return [
        anchored_hits(db, [hit for hit in hits if hit.layer == stores.mark(store)])
        for store, db in zip(stores.stores, dbs, strict=True)
    ]


def anchored_records(db: sqlite3.Connection, now: str) -> list[Row]:
    """All records in use that have anchors."""
    return _rows(db, _IN_USE, now)


def _rows(db: sqlite3.Connection, query: str, value: str) -> list[Row]:
    found = db.execute(query, (value,)).fetchall()
    if not found:
        return []
    from memspec_py.record.anchor import Anchor

    # Many records may have the same anchors, and one JSON text is read faster than many.
    texts = list(dict.fromkeys([text for _, _, _, text in found]))
    lists = json.loads(f"[{','.join(texts)}]")
    anchors = {
        text: tuple(Anchor(**{key: item[key] for key in _KEYS & item.keys()}) for item in items)
        for text, items in zip(texts, lists, strict=True)
    }
    return [Row(id_, label, title, anchors[text]) for id_, label, title, text in found]


def watched(
    ws: Workspace,
    where: Surroundings,
    rows: Sequence[Row],
    *,
    default_branch: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> list[Watched]:
    """The verdicts on all anchors of some records, in one pass; nothing is loaded for none."""
    if not rows:
        return []
    from memspec_py.anchors.drift import check

    verdicts = check(
        ((row.id, anchor) for row in rows for anchor in row.anchors),
        project=ws.project,
        env=where.env,
        search_paths=ws.search_paths(where),
        default_branch=default_branch,
        progress=progress,
    )
    return [Watched(row.id, row.type, row.title, tuple(verdicts[row.id])) for row in rows]


class Sorted(NamedTuple):
    """Records of which an anchor is not as it was, without those of their anchors that are.

    Each is in the first list that fits: ``drifted`` when an anchor drifted or is gone.
    """

    drifted: tuple[Watched, ...]
    unchecked: tuple[Watched, ...]
    moved: tuple[Watched, ...]


def sorted_by_verdict(every: Iterable[Watched]) -> Sorted:
    """The records that want to be told, by what matters most about each."""
    drifted, unchecked, moved = [], [], []
    for one in every:
        told = tuple(each for each in one.drift if each.verdict != "unchanged")
        if not told:
            continue
        found = one._replace(drift=told)
        if any(each.is_alarm for each in told):
            drifted.append(found)
        elif any(each.verdict == "unchecked" for each in told):
            unchecked.append(found)
        else:
            moved.append(found)
    return Sorted(tuple(drifted), tuple(unchecked), tuple(moved))


class Marks(NamedTuple):
    """What the verdicts on its anchors say of a whole record; ``drift`` is None without any."""

    drifted: bool = False
    anchor_unchecked: bool = False
    drift: tuple[Drift, ...] | None = None


def marks(drift: Sequence[Drift]) -> Marks:
    """Whether any anchor is an alarm, and whether any could not be checked."""
    return Marks(
        drifted=any(one.is_alarm for one in drift),
        anchor_unchecked=any(one.verdict == "unchecked" for one in drift),
        drift=tuple(drift) or None,
    )


def with_drift(
    stores: Layered, hits: Sequence[Hit], rows: Sequence[Sequence[Row]]
) -> tuple[Hit, ...]:
    """The hits of a page, each with the verdicts on its anchors; ``rows`` are those by layer."""
    found = {
        one.id: marks(one.drift)._asdict()
        for store, some in zip(stores.stores, rows, strict=True)
        for one in watched(store, stores.where, some)
    }
    return tuple(hit._replace(**found[hit.id]) if hit.id in found else hit for hit in hits)


def best_witness(hits: Iterable[Hit]) -> tuple[str | None, str | None]:
    """The strongest witness behind some hits, and what weakened it: ``drifted`` or ``unchecked``.

    An anchor that drifted, or that nobody could check, is no more than evidence. It weakened the
    witness only where no sound hit is as strong.
    """
    ranked = [(_weakness(hit), hit) for hit in hits]
    best = strongest((_attested(hit), hit.derived) for _, hit in ranked)
    for weakness in ("", "unchecked", "drifted"):
        some = ((_attested(hit), hit.derived) for why, hit in ranked if why == weakness)
        if best is not None and strongest(some) == best:
            return best, weakness or None
    return best, None


def _weakness(hit: Hit) -> str:
    if hit.verified_with != Witness.ANCHOR:
        return ""
    if hit.drifted:
        return "drifted"
    return "unchecked" if hit.anchor_unchecked else ""


def _attested(hit: Hit) -> str:
    return Witness.EVIDENCE.value if _weakness(hit) else hit.verified_with
