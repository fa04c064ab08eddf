"""What `memspec search` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspec_py.render.hits import circumstance_lines, hit_lines
from memspec_py.render.text import fenced, harmless

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspec_py.views.search import SearchReply


def lines(reply: SearchReply) -> Iterator[str]:
    """Hits, and the verdict on them."""
    plural = "" if reply.count == 1 else "s"
    yield f"{reply.count} result{plural} for {harmless(reply.query)!r}"
    for hit in reply.results:
        yield ""
        yield from hit_lines(hit)
        if hit.body is not None:
            yield from fenced(hit.body)
    yield ""
    weak = f" ({reply.coverage_witness_note})" if reply.coverage_witness_note else ""
    witness = f" (best witness: {reply.coverage_witness}{weak})" if reply.coverage_witness else ""
    yield f"Coverage: {reply.coverage}{witness}: {harmless(reply.coverage_note)}"
    yield from circumstance_lines(reply.circumstances)
