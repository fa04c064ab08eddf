"""How much a text costs its reader, and an allowance that is never exceeded.

What a text costs in tokens depends on who reads it. The estimate is the usual rule of thumb, four
characters to a token, counted in UTF-16 units and rounded up for each line with its line break. So
a text of several lines never costs more than its lines together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

UNITS_PER_TOKEN = 4


def tokens_of(lines: Iterable[str]) -> int:
    """The estimate for some lines of text, each with the line break behind it."""
    return sum(_line_tokens(line) for line in lines)


class Allowance:
    """A number of tokens to spend; what does not fit is refused whole."""

    def __init__(self, tokens: int) -> None:
        self.left = tokens

    def take(self, *lines: str) -> bool:
        """Spend what the lines cost together, if that is left; says whether it was."""
        cost = tokens_of(lines)
        if cost > self.left:
            return False
        self.left -= cost
        return True


def _line_tokens(line: str) -> int:
    units = len(line) + 1
    if not line.isascii():
        units += sum(char > "\uffff" for char in line)
    return -(-units // UNITS_PER_TOKEN)
