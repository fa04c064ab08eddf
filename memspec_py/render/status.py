"""What `memspec status` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspec_py.render.hits import circumstance_lines, drift_lines
from memspec_py.render.text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memspec_py.views.brief import Brief
    from memspec_py.views.drift import Watched
    from memspec_py.views.status import Status


def lines(status: Status) -> Iterator[str]:
    """How the store is."""
    yield f"{status.records} records in {status.files} files"
    yield from _counts("In use, by type", status.by_type)
    yield from _counts("All, by state", status.by_state)
    yield from _counts("Claims in use, by witness", status.by_witness)
    yield from _counts("In use, by scope", status.by_scope)
    if status.expired:
        yield f"Expired observations (files kept): {status.expired}"
    if status.doubled:
        yield f"Files with an id that another file has too: {status.doubled} (`memspec doctor`)"
    yield f"Stale claims: {status.stale_count}"
    for one in status.stale:
        due = (one.check_by or "")[:10]
        yield f"  {one.id} [{one.type}] {harmless(one.title)} (check by {due})"
    yield from _drift("Drifted", status.drifted_count, status.drifted)
    yield from _drift("Anchors unchecked", status.unchecked_count, status.unchecked)
    yield from _drift("Moved", status.moved_count, status.moved)
    for pair in status.conflicts:
        yield f"In conflict: {pair.id} {harmless(pair.title)}"
        yield f"  {pair.other_id} {harmless(pair.other_title)}"
    yield from _used("Cold (old, and not shown of late)", status.cold_count, status.cold)
    yield from _used("Promotion candidates", status.promotion_count, status.promotion_candidates)
    if status.receipts_since and (status.cold or status.promotion_candidates):
        yield f"  (receipts of this machine go back to {status.receipts_since[:10]})"
    for question in status.resolvable:
        yield f"One answer is left: {question.id} {harmless(question.title)}"
        yield f"  {question.survivor_id} {harmless(question.survivor_title)}"
        yield f"  confirm it: memspec question {question.id} --resolve"
    index = status.circumstances.index
    yield f"Index: {index['state']}, {index['files']} files, {index['read']} read just now"
    yield from circumstance_lines(status.circumstances)


def _counts(title: str, counts: Mapping[str, int]) -> Iterator[str]:
    if counts:
        yield f"{title}: " + ", ".join(
            f"{harmless(name)} {count}" for name, count in counts.items()
        )


def _drift(title: str, count: int, records: Sequence[Watched]) -> Iterator[str]:
    if count:
        yield f"{title}: {count}"
    for one in records:
        yield f"  {one.id} [{one.type}] {harmless(one.title)}"
        yield from (f"  {line}" for line in drift_lines(one.drift))


def _used(title: str, count: int, records: Sequence[Brief]) -> Iterator[str]:
    if count:
        yield f"{title}: {count}"
    for one in records:
        last = f"last shown {one.last_referenced[:10]}" if one.last_referenced else "never shown"
        sessions = f", {one.sessions} sessions" if one.sessions else ""
        yield f"  {one.id} [{one.type}] {harmless(one.title)} ({last}{sessions})"
