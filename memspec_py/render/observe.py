"""What `memspec observe` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspec_py.render.hits import past_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspec_py.acts.observe import Observed


def lines(noted: Observed) -> Iterator[str]:
    """What was noted, and until when."""
    yield f"Observed {noted.id}"
    yield f"  {noted.store}/{noted.path}"
    yield f"  expires {noted.expires or 'never'}"
    yield from past_lines(noted.withdrawn)
