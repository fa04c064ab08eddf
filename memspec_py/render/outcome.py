"""What `memspec outcome` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspec_py.acts.outcome import Noted


def lines(done: Noted) -> Iterator[str]:
    """What was noted, and how often so far."""
    counts = ", ".join(f"{name} {count}" for name, count in done.counts.items() if count)
    yield f"Noted {done.outcome} for {done.id} (here so far: {counts})"
