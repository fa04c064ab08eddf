"""The records of one store that the context may show: the best of each kind, by a few queries.

Nothing here grows with the store but the scan of its narrow table of records.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.clock import instant
from memspec_py.index.search import IN_SCOPE, Filters
from memspec_py.views.context.worth import TYPES, best_first
from memspec_py.views.hit import hit_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from memspec_py.store.usage import Demand
    from memspec_py.views.hit import Hit
    from memspec_py.workspace import Workspace

_USED_DAYS = timedelta(days=30)
_STALE = "(r.check_by is not null and r.check_by <= :now and r.kind = 'claim')"
_LIVE = "r.live and r.shadowed = 0"


class Counts(NamedTuple):
    """How many records there are to show: ``pinned`` leaves out the stale, ``anchored`` does not.

    The others are kept back, each counted under its first reason: another type, another scope, not
    valid now, expired.
    """

    active: int = 0
    stale: int = 0
    pinned: int = 0
    anchored: int = 0
    type: int = 0
    scope: int = 0
    as_of: int = 0
    expired: int = 0


class Candidate(NamedTuple):
    """A record that may be shown, before its anchors are looked at.

    ``sittings`` is how often it was asked for of late, ``on_path`` whether a path leads to it,
    ``found`` where it stands in the answer to the query.
    """

    hit: Hit
    sittings: int = 0
    on_path: bool = False
    found: int | None = None


class Part(NamedTuple):
    """What one store has to offer; ``reached`` are the paths that lead to a record of it."""

    counts: Counts
    candidates: tuple[Candidate, ...]
    reached: frozenset[str]


class Sought(NamedTuple):
    """What is looked for in a store, at most ``most`` of each kind; ``paths`` are as typed.

    So many as ``troubled`` at least should be stale, if there are.
    ``without`` are the ids that a higher store has. ``everything`` is false where only the paths
    count, because a query finds the rest.
    """

    filters: Filters
    most: int
    troubled: int
    layer: str | None
    paths: Sequence[str]
    cwd: Path
    without: Sequence[str] = ()
    everything: bool = True

    def clause(self) -> tuple[str, dict[str, object]]:
        """The SQL condition on ``records r`` and its values."""
        clause, values = self.filters.clause()
        return f"{_LIVE} and {self.uncovered()} and {clause}", {**values, **self.covered()}

    def uncovered(self) -> str:
        """The condition that no higher store has the record, too."""
        return f"r.id not in ({_names(self.covered())})" if self.without else "1"

    def covered(self) -> dict[str, object]:
        """The values of that condition."""
        return {f"without{number}": id_ for number, id_ in enumerate(self.without)}


def context_filters(type_: str | None, scope: str | None, now: str) -> Filters:
    """What a context may show: what is valid and unexpired now, never questions."""
    return Filters(types=(type_,) if type_ else tuple(TYPES), scope=scope, as_of=now, now=now)


def part_of(ws: Workspace, db: sqlite3.Connection, sought: Sought) -> Part:
    """The best records of one store, in no order, and the counts of all."""
    from memspec_py.store.usage import demand  # who only wants the filters has no use for it

    counts = _counts(db, sought)
    on_paths = _on_paths(ws, db, sought) if sought.paths else {}
    leading = {key for some in on_paths.values() for key in some}
    chosen = {key for key, _ in _best(db, sought, within=leading)} if leading else set()
    used = demand(ws.machine, instant(ws.clock.now() - _USED_DAYS))
    every = {*chosen}
    if sought.everything:
        every.update(_kinds(db, sought, counts), _used(db, sought, used))
    return Part(
        counts=counts,
        candidates=tuple(_candidate(db, key, sought, used, chosen) for key in sorted(every)),
        reached=frozenset(typed for typed, some in on_paths.items() if some),
    )


def _candidate(
    db: sqlite3.Connection,
    key: int,
    sought: Sought,
    used: Mapping[str, Demand],
    on_paths: AbstractSet[int],
) -> Candidate:
    hit = hit_of(db, key, sought.filters.now, layer=sought.layer)
    known = used.get(hit.id)
    if known is None:
        return Candidate(hit, 0, key in on_paths)
    return Candidate(hit._replace(**known.use._asdict()), known.sittings, key in on_paths)


def _on_paths(ws: Workspace, db: sqlite3.Connection, sought: Sought) -> dict[str, list[int]]:
    from memspec_py.views.context.by_path import anchored_to, places_of

    places = {typed: places_of(typed, sought.cwd, ws.project) for typed in sought.paths}
    return anchored_to(db, places, *sought.clause())


def _counts(db: sqlite3.Connection, sought: Sought) -> Counts:
    """What there is, and what is kept back by its first reason, in one scan.

    SQLite counts one number the fastest, so that is what the scan makes of a record. The limit
    keeps it from making the number twice.
    """
    clause, values = sought.filters.clause()
    types = _names(f"type{number}" for number in range(len(sought.filters.types)))
    reason = (
        f"case when {clause} then 0 when r.label not in ({types}) then 1"
        f" when not {IN_SCOPE} then 2 when r.expires <= :now then 4 else 3 end"
    )
    groups = db.execute(
        "select what, count(*) from ("
        f" select {reason} * 8 + {_STALE} * 4 + r.pinned * 2 + r.anchored as what from records r"
        f" where {_LIVE} and {sought.uncovered()} limit -1) group by what",
        {**values, **sought.covered()},
    )
    kept_back = dict.fromkeys(range(5), 0)
    stale = pinned = anchored = 0
    for what, count in groups:
        kept_back[what >> 3] += count
        if what < 8:
            stale += count * (what >> 2)
            pinned += count * (what & 6 == 2)
            anchored += count * (what & 1)
    active, *others = kept_back.values()
    return Counts(active, stale, pinned, anchored, *others)


def _kinds(db: sqlite3.Connection, sought: Sought, counts: Counts) -> list[int]:
    """The best of all, and the best of those that stand in a section of their own."""
    found = _best(db, sought)
    keys = [key for key, _ in found]
    if counts.pinned:
        keys += [key for key, _ in _best(db, sought, "r.pinned")]
    # The stale among the best of all are the best of the stale.
    if sum(stale for _, stale in found) < min(counts.stale, sought.troubled):
        keys += [key for key, _ in _best(db, sought, _STALE)]
    return keys


def _used(db: sqlite3.Connection, sought: Sought, used: Mapping[str, Demand]) -> list[int]:
    """The records most asked for of late, which may be older than the best of all."""
    asked = sorted((-one.sittings, id_) for id_, one in used.items() if one.sittings)
    ids = [id_ for _, id_ in asked[: sought.most]]
    clause, values = sought.clause()
    names = {f"id{number}": id_ for number, id_ in enumerate(ids)}
    rows = db.execute(
        f"select r.key from records r where r.id in ({_names(names)}) and {clause}",
        {**values, **names},
    )
    return [key for (key,) in rows]


def _best(
    db: sqlite3.Connection, sought: Sought, condition: str = "1", within: Iterable[int] = ()
) -> list[tuple[int, int]]:
    """The keys of the best records for which the condition holds, and whether each is stale."""
    clause, values = sought.clause()
    some = f" and r.key in ({', '.join(map(str, within))})" if within else ""
    return db.execute(
        f"select r.key, {_STALE} from records r where {clause} and {condition}{some}"
        f" order by {best_first()} limit :most",
        {**values, "most": sought.most},
    ).fetchall()


def _names(values: Iterable[str]) -> str:
    return ", ".join(f":{name}" for name in values)
