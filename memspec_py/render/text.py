"""Record text and errors as lines that cannot be mistaken for our own words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspec_py.errors import MemspecError


def harmless(text: str) -> str:
    """Record text on one line: no control character of it may reach the terminal."""
    return "".join(char if char.isprintable() else _visible(char) for char in text)


def fenced(text: str) -> list[str]:
    """Record text of several lines, each marked as data."""
    return [f"  | {harmless(line)}".rstrip() for line in text.splitlines()]


def problem_lines(problem: MemspecError) -> Iterator[str]:
    """An error and its hint; a message quotes what was typed and the titles of records."""
    yield f"error: {harmless(problem.message)}"
    for position, line in enumerate((problem.hint or "").splitlines()):
        yield harmless(line if position else f"hint: {line}")


def _visible(char: str) -> str:
    if char in "\t\u00a0\u3000":
        return " "
    return f"\\u{ord(char):04x}" if ord(char) > 0xFF else f"\\x{ord(char):02x}"
