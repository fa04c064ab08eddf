"""What a tool answers: the reply as data and as text, or the error in the same two forms."""

from __future__ import annotations

import sys
import traceback
from importlib import import_module
from typing import TYPE_CHECKING, Any

from memspec_py.errors import MemspecError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memspec_py.mcp_server.tools import Tool


def answer(tool: Tool, reply: object, warnings: Sequence[str]) -> dict[str, Any]:
    """The result of a call that went well: the JSON and the lines of the command line."""
    from memspec_py.render.reply import data, own_warnings, warning_lines, whole

    told = own_warnings(reply, warnings)
    lines = import_module(f"memspec_py.render.{tool.verb}").lines
    text = [*whole(reply, lines(reply)), *warning_lines(told)]
    return _result("\n".join(text), data(reply, told), is_error=False)


def failure(problem: Exception) -> dict[str, Any]:
    """The result of a call that failed; a bug is told on stderr with everything there is."""
    if not isinstance(problem, MemspecError):
        traceback.print_exception(problem, file=sys.stderr)
        problem = _as_bug(problem)
    from memspec_py.render.text import problem_lines

    text = "\n".join(problem_lines(problem))
    return _result(text, {"error": problem.as_dict()}, is_error=True)


def _result(text: str, structured: object, *, is_error: bool) -> dict[str, Any]:
    return {
        "content": [{"type": "text", "text": text}],
        "structuredContent": structured,
        "isError": is_error,
    }


def _as_bug(problem: Exception) -> MemspecError:
    from memspec_py import __version__

    told = MemspecError(
        f"this is a bug in memspec {__version__}: {type(problem).__name__}",
        hint="please report it with the traceback on the server's stderr; your records are not"
        " affected",
    )
    told.code = "bug"
    return told
