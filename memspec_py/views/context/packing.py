"""Which records go into a context, in which section, within a limit and a budget. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memspec_py.views.context.lines import heading, item_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from memspec_py.views.budget import Allowance
    from memspec_py.views.hit import Hit

PATHS, ATTENTION, PINNED, WORKING, RELEVANT = "paths", "attention", "pinned", "working", "relevant"
SECTIONS = (PATHS, ATTENTION, PINNED, WORKING, RELEVANT)
# What is pinned is there for the asking, so it has the first call on the budget.
_FILLED = (PATHS, PINNED, ATTENTION, WORKING, RELEVANT)


class ContextItem(NamedTuple):
    """A record of a context and the section it stands in.

    ``brief`` says that its preview was left out to fit the budget. ``score`` has the parts of its
    rank, only with ``--explain``.
    """

    section: str
    record: Hit
    brief: bool = False
    score: Mapping[str, object] | None = None

    @property
    def id(self) -> str:
        """The record's id."""
        return self.record.id

    @property
    def layer(self) -> str | None:
        """The store layer the record is in, where that is not the primary one."""
        return self.record.layer


class Ranked(NamedTuple):
    """A record that may be shown; the lower ``rank``, the earlier."""

    hit: Hit
    rank: tuple[float, ...]
    score: Mapping[str, object] | None
    on_path: bool = False

    @property
    def is_troubled(self) -> bool:
        """Whether it wants to be looked at before anybody relies on it."""
        return self.hit.drifted or self.hit.stale


def fewest(limit: int) -> int:
    """How many places what needs attention has of its own."""
    return max(1, limit // 4)


def home_of(one: Ranked) -> str:
    """The section a record belongs in; what has no room there may still stand in the last."""
    if one.on_path:
        return PATHS
    if one.is_troubled:
        return ATTENTION
    return PINNED if one.hit.pinned else WORKING


def packed(
    candidates: Iterable[Ranked], limit: int, allowance: Allowance, now: datetime
) -> list[ContextItem]:
    """The items that fit, in the order they are read.

    Each section takes its best until one does not fit, so that nothing small displaces something
    better. At most a quarter of the items want attention, and at least as many places are left
    for them by what is pinned. What has no room in its section competes in the last.
    """
    by_home: dict[str, list[Ranked]] = {}
    for one in sorted(candidates, key=lambda one: (one.rank, one.hit.id)):
        by_home.setdefault(home_of(one), []).append(one)
    by_home.get(ATTENTION, []).sort(key=lambda one: (not one.hit.pinned, not one.hit.drifted))
    few = fewest(limit)
    most = {PATHS: limit, PINNED: max(1, limit - few), ATTENTION: few, WORKING: limit}
    shown: dict[str, list[ContextItem]] = {}
    left = limit
    for section in (PATHS, PINNED, ATTENTION, WORKING):
        some = by_home.get(section, [])
        if section == WORKING:
            some = _working(by_home, shown)
        shown[section] = _fitting(section, some[: min(left, most[section])], allowance, now)
        left -= len(shown[section])
    return [item for section in SECTIONS for item in shown.get(section, ())]


def relevant(
    found: Sequence[Ranked], limit: int, allowance: Allowance, now: datetime
) -> list[ContextItem]:
    """The items that fit of an answer to a query, those on the paths first."""
    ranked = sorted(found, key=lambda one: (one.rank, one.hit.id))
    on_paths = [one for one in ranked if one.on_path][:limit]
    first = _fitting(PATHS, on_paths, allowance, now)
    others = [one for one in ranked if not one.on_path][: limit - len(first)]
    return first + _fitting(RELEVANT, others, allowance, now)


def _working(
    by_home: Mapping[str, list[Ranked]], shown: Mapping[str, list[ContextItem]]
) -> list[Ranked]:
    """Everything that stands nowhere yet, best first."""
    ids = {item.id for items in shown.values() for item in items}
    rest = [one for some in by_home.values() for one in some if one.hit.id not in ids]
    return sorted(rest, key=lambda one: (one.rank, one.hit.id))


def _fitting(
    section: str, some: Sequence[Ranked], allowance: Allowance, now: datetime
) -> list[ContextItem]:
    items: list[ContextItem] = []
    for one in some:
        head = () if items else (heading(section),)
        for brief in (False, True):
            item = ContextItem(section, one.hit, brief, one.score)
            if allowance.take(*head, item_line(item, now)):
                items.append(item)
                break
        else:
            break
    return items
