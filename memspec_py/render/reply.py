"""A reply as a whole, in JSON data or in lines: the same from a command and from a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspec_py.render.text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def data(reply: object, warnings: Sequence[str] = ()) -> object:
    """The reply as JSON data; ``warnings`` are those that ``own_warnings`` left."""
    from memspec_py.report import as_json

    shown = as_json(reply)
    if warnings and isinstance(shown, dict):
        shown["warnings"] = [*shown.get("warnings", ()), *warnings]
    return shown


def own_warnings(reply: object, warnings: Sequence[str]) -> Sequence[str]:
    """What is to be told of the stores beside a reply, unless it does so itself."""
    tells = hasattr(reply, "circumstances") or hasattr(reply, "warnings")
    return () if tells else warnings


def whole(reply: object, lines: Iterable[str]) -> list[str]:
    """The lines of a reply, one of which names the store that was written to."""
    told = list(lines)
    store = getattr(reply, "store", None)
    if not isinstance(store, str) or any(store in line for line in told):
        return told
    return [*told, f"Store: {harmless(store)}"]


def warning_lines(warnings: Iterable[str]) -> list[str]:
    """Warnings as they are shown."""
    return [f"Warning: {harmless(warning)}" for warning in warnings]
