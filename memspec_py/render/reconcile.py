"""What `memspec reconcile` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspec_py.render.hits import circumstance_lines, drift_lines
from memspec_py.render.text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memspec_py.views.drift import Watched
    from memspec_py.views.reconcile import Reconciled


def lines(found: Reconciled) -> Iterator[str]:
    """The records whose code changed here."""
    since = f" since {harmless(found.since)}" if found.since else ""
    yield f"{found.count} of {found.anchored} anchored records want a look{since}"
    yield from _records("", found.candidates)
    if found.earlier:
        yield f"Drifted before that: {found.earlier} (left out)"
    yield from _records("Moved, and as it was:", found.moved)
    yield from _records("Not checked:", found.unchecked)
    if found.candidates:
        yield "If it still holds: memspec verify ID --reanchor; if not: memspec supersede ID"
    yield from circumstance_lines(found.circumstances)


def _records(title: str, records: Sequence[Watched]) -> Iterator[str]:
    if records and title:
        yield title
    for one in records:
        yield f"{one.id} [{one.type}] {harmless(one.title)}"
        yield from drift_lines(one.drift)
