"""What `memspec verify` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspec_py.render.text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspec_py.acts.verify import Verified


def lines(done: Verified) -> Iterator[str]:
    """Whether it was verified, and what to do if not."""
    if done.status != "verified":
        yield f"Needs review: {done.id} {harmless(done.title)}"
        yield f"  {harmless(done.reason or '')}"
        yield f"Nothing was changed; {harmless(done.hint or '')}"
        return
    yield f"Verified {done.id} ({done.verified_with})"
    if done.check_by:
        yield f"  check by {done.check_by[:10]}"
    for one in done.reanchored:
        yield f"  taken again: {harmless(one)}"
    for one in done.evidence:
        yield f"  evidence {harmless(one)}"
    for note in done.notes:
        yield f"Note: {harmless(note)}"
