"""What `memspec question` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspec_py.render.text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspec_py.acts.question import Asked


def lines(done: Asked) -> Iterator[str]:
    """A question and its answers."""
    verb = "Asked" if done.created else "Changed" if done.changed else "Unchanged:"
    closed = ", closed" if done.closed else ""
    yield f"{verb} {done.id} ({done.state}{closed})"
    yield f"  {harmless(done.title)}"
    yield f"  {done.store}/{done.path}"
    for answer in done.answers:
        title = "(not in this store)" if answer.title is None else harmless(answer.title)
        mark = "" if answer.state in (None, "active") else f" [{str(answer.state).upper()}]"
        yield f"  answer {answer.id} {title}{mark}"
    listed = {answer.id for answer in done.answers}
    for id_ in done.holding:
        if id_ not in listed:
            yield f"  in the place of one: {id_}"
    if done.resolved_by:
        yield f"  resolved by {done.resolved_by}"
    if done.survivor_id:
        yield f"One answer is left: {done.survivor_id}; --resolve confirms it"
