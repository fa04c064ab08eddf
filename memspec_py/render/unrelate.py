"""What `memspec unrelate` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspec_py.acts.relate import Related


def lines(done: Related) -> Iterator[str]:
    """The link that was taken away."""
    yield f"Unlinked {done.from_id} {done.edge_type} {done.to_id}"
