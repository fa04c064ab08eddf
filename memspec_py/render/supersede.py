"""What `memspec supersede` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspec_py.render.hits import past_lines
from memspec_py.render.text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspec_py.acts.supersede import Superseded, Survivor


def lines(done: Superseded) -> Iterator[str]:
    """What was superseded, and by what."""
    olds = ", ".join(done.superseded_ids)
    if done.survivor is None:
        yield f"Retracted {olds}"
    elif done.act == "merged":
        yield f"Merged {olds} into {done.survivor.id}"
    else:
        yield f"Superseded {olds} by {done.survivor.id}"
    yield f"  reason: {harmless(done.reason)}"
    if done.survivor is not None:
        yield from _survivor_lines(done.store, done.survivor)
    for note in done.notes:
        yield f"Note: {harmless(note)}"
    for lost in done.unresolved:
        yield f"Warning: no longer anchored to {harmless(lost.path)}: {lost.reason}"
    for double in done.duplicates:
        yield f'Warning: forced past {double.id} "{harmless(double.title)}": {double.why}'
    yield from past_lines(done.withdrawn)


def _survivor_lines(store: str, survivor: Survivor) -> Iterator[str]:
    yield f"[{survivor.type}] {harmless(survivor.title)} ({survivor.verified_with})"
    yield f"  {store}/{survivor.path}"
    if survivor.check_by:
        yield f"  check by {survivor.check_by[:10]}"
    if survivor.expires:
        yield f"  expires {survivor.expires}"
    for anchor in survivor.anchors:
        yield f"  anchored to {harmless(anchor)}"
