"""A hook from its standard input to its answer: the same for every front, and never an error."""

from __future__ import annotations

from typing import NamedTuple

from memspec_py.errors import MemspecError, NoStore
from memspec_py.views.hook_answers import answer, harnesses
from memspec_py.views.hook_payload import Payload, Unusable, read

EVENTS = ("session-start", "post-commit", "prompt", "file-open", "pre-compact")
CLAUDE_CODE = "claude-code"


class Answer(NamedTuple):
    """What to print on standard output, with its line end, and what was wrong, on one line."""

    said: str
    problem: str = ""


def answered(event: str, harness: str, data: bytes) -> Answer:
    """The answer to a payload.

    Whatever is wrong is told as the problem, with an answer that says nothing.
    """
    try:
        return _answered(event, harness, data)
    except Unusable as problem:
        return nothing(harness, str(problem))
    except MemspecError as problem:
        hint = f"; {problem.hint}" if problem.hint else ""
        return nothing(harness, f"{problem.message}{hint}")
    except Exception as problem:  # noqa: BLE001 - a harness may take a failing hook for a refusal
        return nothing(harness, f"{type(problem).__name__}: {problem}")


def nothing(harness: str, problem: str) -> Answer:
    """An answer that says nothing, and why."""
    return Answer(_line(answer(harness, "", "", "") or ""), " ".join(problem.split()))


def problem_line(problem: str) -> str:
    """How a problem is shown to whoever looks."""
    return f"memspec hook: {problem}"


def _answered(event: str, harness: str, data: bytes) -> Answer:
    if event not in EVENTS:
        raise Unusable(f"no hook {event!r}; one of: {', '.join(EVENTS)}")
    if harness not in harnesses():
        raise Unusable(f"no harness {harness!r}; one of: {', '.join(harnesses())}")
    payload = read(data)
    told = _told(event, harness, payload)
    said = answer(harness, event, payload.moment, told.said)
    if said is None:
        raise Unusable(f"{harness} takes no answer to {event}")
    return Answer(_line(said), told.problem)


def _told(event: str, harness: str, payload: Payload) -> Answer:
    """The text for the agent; none where no store serves the folder."""
    from memspec_py.api import Memspec, surroundings
    from memspec_py.trust.channel import Channel

    here = surroundings()
    if payload.cwd is not None:
        here = here._replace(cwd=payload.cwd)
    try:
        store = Memspec.open(where=here, command=f"memspec hook {event}", channel=Channel.CLI)
    except NoStore:
        return Answer("")
    with store:
        nudge = store.nudge(event, payload)
        # What the harness would not take must not count as told.
        if not nudge.text or answer(harness, event, payload.moment, nudge.text) is None:
            return Answer(nudge.text, nudge.why or "")
        if not store.note_nudge(event, payload, nudge):
            return Answer("", "what was told cannot be kept, so it is not told")
    return Answer(nudge.text)


def _line(text: str) -> str:
    return f"{text}\n" if text else ""
