"""What `memspec anchor` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspec_py.render.text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspec_py.acts.anchor import Anchored


def lines(done: Anchored) -> Iterator[str]:
    """What a record is anchored to now."""
    yield f"Anchored {done.id} ({done.verified_with})"
    for label, anchors in (
        ("anchored to", done.added),
        ("taken again:", done.renewed),
        ("dropped", done.dropped),
    ):
        yield from (f"  {label} {harmless(one)}" for one in anchors)
    for note in done.notes:
        yield f"Note: {harmless(note)}"
    for lost in done.unresolved:
        yield f"Warning: not anchored to {harmless(lost.path)}: {harmless(lost.reason)}"
