"""What `memspec remember` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspec_py.render.hits import past_lines
from memspec_py.render.text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspec_py.acts.remember import Remembered


def lines(done: Remembered) -> Iterator[str]:
    """What was written, and where."""
    yield f"Remembered {done.type} {done.id} ({done.verified_with})"
    yield f"  {done.store}/{done.path}"
    yield f"  check by {done.check_by[:10]}"
    for anchor in done.anchors:
        yield f"  anchored to {harmless(anchor)}"
    for one in done.evidence:
        yield f"  evidence {harmless(one)}"
    if done.answers_question:
        yield f"  answers {done.answers_question}"
    for note in done.notes:
        yield f"Note: {harmless(note)}"
    for lost in done.unresolved:
        yield f"Warning: not anchored to {harmless(lost.path)}: {lost.reason}"
    for double in done.duplicates:
        yield f'Warning: forced past {double.id} "{harmless(double.title)}": {double.why}'
    yield from past_lines(done.withdrawn)
