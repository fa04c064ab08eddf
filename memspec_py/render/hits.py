"""Hits and the circumstances of a reply, as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspec_py.render.text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from memspec_py.acts.tombstones import Past
    from memspec_py.anchors.verdict import Drift
    from memspec_py.views.envelope import Envelope
    from memspec_py.views.hit import Hit


def hit_lines(hit: Hit) -> Iterator[str]:
    """A record in a few lines; everything that comes from the record is on a line of its own."""
    layer = layer_mark(hit.layer)
    yield f"[{hit.type}] {harmless(hit.title)} ({hit.verified_with}){_marks(hit)}{layer}"
    yield f"  {hit.id} | {hit.created[:10]} | {harmless(hit.source)}"
    if hit.tags:
        yield f"  tags: {harmless(', '.join(hit.tags))}"
    if hit.preview and hit.body is None:
        yield f"  | {harmless(hit.preview)}"
    for step in hit.requires_human:
        yield f"  requires human: {harmless(step)}"
    yield from drift_lines(hit.drift or ())
    if hit.score is not None:
        yield "  score: " + ", ".join(f"{name} {value}" for name, value in hit.score.items())


def layer_mark(layer: str | None) -> str:
    """The mark of what is not of the primary store."""
    return f" (layer: {harmless(layer)})" if layer else ""


def past_lines(withdrawn: Iterable[Past]) -> Iterator[str]:
    """What a write was forced past, a superseded record on each line."""
    for past in withdrawn:
        reason = harmless(past.reason)
        yield f'Warning: forced past {past.id} "{harmless(past.title)}", superseded: {reason}'


def drift_lines(drift: Iterable[Drift]) -> Iterator[str]:
    """What is to be said of anchors that are not simply as they were."""
    for one in drift:
        place = f" to {one.place}" if one.verdict == "moved" and one.place else ""
        why = f": {one.reason}" if one.reason else ""
        if one.verdict != "unchanged":
            yield "  " + harmless(f"{shown_anchor(one)} {one.verdict}{place}{why}")
        elif one.held_on not in (None, "worktree"):
            yield "  " + harmless(f"{shown_anchor(one)} holds on {one.held_on} only")


def drift_marks(drift: Iterable[Drift], *, drifted: bool, unchecked: bool) -> str:
    """The marks behind a title."""
    marks = " [DRIFTED]" if drifted else ""
    if unchecked:
        marks += " [ANCHOR UNCHECKED]"
    if any(one.verdict == "moved" for one in drift):
        marks += " [MOVED]"
    return marks


def shown_anchor(one: Drift) -> str:
    """An anchor as it could be typed."""
    return one.anchor if one.repo is None else f"{one.repo}/{one.anchor}"


def circumstance_lines(about: Envelope) -> Iterator[str]:
    """What a reader must know beside the answer; nothing when all is as usual."""
    for warning in about.warnings:
        yield f"Warning: {harmless(warning)}"
    if about.unreadable_count:
        files = "1 file" if about.unreadable_count == 1 else f"{about.unreadable_count} files"
        yield f"Warning: {files} could not be read (`memspec doctor`):"
        for finding in about.unreadable:
            line = finding.get("line")
            place = finding["path"] if line is None else f"{finding['path']}:{line}"
            layer = finding.get("layer")
            yield (
                "  "
                + harmless(f"{place}: {finding['message']}")
                + layer_mark(None if layer is None else str(layer))
            )
    yield from _index_lines(about.index, "the index")
    for one in about.layers or ():
        if not one.primary:
            yield from _index_lines(one.index, f"the index of layer {harmless(one.name)}")
    yield f"Store: {about.store}{_other_layers(about)}"


def _index_lines(index: Mapping[str, object], what: str) -> Iterator[str]:
    if index["state"] == "bypassed":
        yield f"Note: answered without {what} file: {index.get('why')}"
    elif index.get("why"):
        yield f"Note: {what} was made anew: {index['why']}"


def _other_layers(about: Envelope) -> str:
    others = [
        f"{harmless(one.name)}{'' if one.writable else ', read-only'}: {one.store}"
        for one in about.layers or ()
        if not one.primary
    ]
    return f" (with {'; '.join(others)})" if others else ""


def _marks(hit: Hit) -> str:
    marks = []
    if hit.derived:
        marks.append(" (derived)")
    if hit.pinned:
        marks.append(" [PINNED]")
    if hit.stale:
        marks.append(" [STALE: verify or supersede before relying on it]")
    if hit.state not in ("active", "open"):
        marks.append(f" [{hit.state.upper()}]")
    marks.append(drift_marks(hit.drift or (), drifted=hit.drifted, unchecked=hit.anchor_unchecked))
    conflicts = (hit.links or {}).get("conflicts_with")
    if conflicts:
        marks.append(f" [CONFLICTS WITH {', '.join(conflicts)}]")
    if hit.expanded_via:
        via = hit.expanded_via
        marks.append(f" [via {via['edge_type']} from {via['from_id']}, hop {via['hops']}]")
    return "".join(marks)
