"""What `memspec get` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspec_py.render.hits import circumstance_lines, drift_lines, drift_marks
from memspec_py.render.text import fenced, harmless

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memspec_py.views.get import Linked, Shown


def lines(shown: Shown) -> Iterator[str]:
    """A record whole, and what stands around it."""
    stale = " [STALE: verify or supersede before relying on it]" if shown.stale else ""
    derived = " (derived)" if shown.derived else ""
    marks = drift_marks(shown.drift or (), drifted=shown.drifted, unchecked=shown.anchor_unchecked)
    yield f"[{shown.type}] {harmless(shown.title)}{derived}{stale}{marks}"
    yield from fenced(shown.body)
    yield ""
    for key, value in shown.record.items():
        yield f"{harmless(key)}: {_inline(value)}"
    if shown.drift:
        verdicts = dict.fromkeys(one.verdict.value for one in shown.drift)
        yield f"anchors now: {', '.join(verdicts)}"
        yield from drift_lines(shown.drift)
    yield from _chain("superseded by", shown.descendants)
    yield from _chain("supersedes", shown.ancestors)
    for edge, records in shown.linked_from.items():
        yield from _chain(f"named in {edge} of", records)
    if shown.last_referenced:
        yield f"last shown: {shown.last_referenced}"
    yield f"file: {shown.path}"
    yield from circumstance_lines(shown.circumstances)


def _chain(label: str, records: Sequence[Linked]) -> Iterator[str]:
    for record in records:
        known = record.title is not None
        title = harmless(record.title or "") if known else "(not in this store, or expired)"
        yield f"{label}: {record.id} {title}"


def _inline(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_inline, value))
    if isinstance(value, dict):
        return (
            "{" + ", ".join(f"{harmless(key)}: {_inline(one)}" for key, one in value.items()) + "}"
        )
    return harmless(str(value))
