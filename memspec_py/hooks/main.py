"""``memspec hook EVENT [--harness NAME]``, as harnesses run it: read, answer, exit 0."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Sequence


def asked(arguments: Sequence[str]) -> tuple[str, str] | None:
    """The event and the harness of a plain call; None for anything else, such as ``--help``."""
    from memspec_py.render.hook import CLAUDE_CODE

    match list(arguments):
        case ["hook", event] if not event.startswith("-"):
            return event, CLAUDE_CODE
        case ["hook", event, "--harness", harness] | ["hook", "--harness", harness, event]:
            return event, harness
    return None


def entry(event: str, harness: str) -> NoReturn:
    """Answer, and leave at once, as ``memspec`` does."""
    gc.disable()  # the process is over before there is any garbage worth looking for
    from memspec_py.render.hook import answered, nothing, problem_line
    from memspec_py.views.hook_payload import MOST_BYTES

    if sys.stdin is None or sys.stdin.isatty():
        answer = nothing(harness, "a hook reads JSON on standard input")
    else:
        answer = answered(event, harness, sys.stdin.buffer.read(MOST_BYTES + 1))
    # A harness that has gone away is no reason to complain.
    with suppress(OSError, ValueError):
        sys.stdout.buffer.write(answer.said.encode("utf-8", "backslashreplace"))
        sys.stdout.flush()
    with suppress(OSError, ValueError):
        if answer.problem:
            sys.stderr.write(f"{problem_line(answer.problem)}\n")
        sys.stderr.flush()
    os._exit(0)
