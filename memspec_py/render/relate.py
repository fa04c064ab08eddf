"""What `memspec relate` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspec_py.render.text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspec_py.acts.relate import Related


def lines(done: Related) -> Iterator[str]:
    """The link that was made."""
    if done.changed:
        yield f"Linked {done.from_id} {done.edge_type} {done.to_id}"
    else:
        yield f"{done.from_id} {done.edge_type} {done.to_id} is there already"
    if done.to_title is None:
        yield f"Warning: {done.to_id} is not in this store"
    else:
        yield f"  {harmless(done.to_title)}"
    if done.to_state not in (None, "active", "open"):
        yield f"Warning: {done.to_id} is {done.to_state}"
