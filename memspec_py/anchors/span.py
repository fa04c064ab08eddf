"""Lines of a file, found again by what they say when they move.

An id is made of the lines' words: white space at both ends of a line and within it is folded, and
lines that say nothing are left out, so a block may be indented anew or spread out and is still the
same. The id carries how many lines say something, which is how far a search has to look.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

RULE = "ln1"

_DIGITS = 40


class Span(NamedTuple):
    """The first and the last line, counted from 1."""

    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.first}-{self.last}"


class Lines:
    """The lines of a file that say something, with their numbers."""

    def __init__(self, data: bytes) -> None:
        self.count = 0
        self._numbers: list[int] = []
        self._digests: list[bytes] = []
        for number, line in enumerate(data.splitlines(), 1):
            self.count = number
            if words := line.split():
                self._numbers.append(number)
                self._digests.append(_digest(b" ".join(words)))

    def id_of(self, span: Span) -> str | None:
        """The id of some lines; None when the file has not got them, or they say nothing."""
        inside = [place for place, at in enumerate(self._numbers) if span.first <= at <= span.last]
        if not inside or span.last > self.count:
            return None
        return _id(self._digests[inside[0] : inside[-1] + 1])

    def find(self, span_id: str, near: Span) -> Span | None:
        """Where the lines with this id are now; of several places, the one nearest to ``near``."""
        length = _length(span_id)
        places = range(len(self._digests) - length + 1) if length else ()
        found = [
            Span(self._numbers[at], self._numbers[at + length - 1])
            for at in places
            if _id(self._digests[at : at + length]) == span_id
        ]
        return min(found, key=lambda one: abs(one.first - near.first), default=None)


def parse_span(text: str) -> Span | None:
    """The span that a recorded ``10-40`` or ``10`` names."""
    first, dash, last = text.partition("-")
    if not first.isdecimal() or (dash and not last.isdecimal()) or len(text) > 20:
        return None
    span = Span(int(first), int(last or first))
    return span if 1 <= span.first <= span.last else None


def is_span_id(span_id: str) -> bool:
    """Whether an id was made by the rule of this module."""
    return _length(span_id) > 0


def _length(span_id: str) -> int:
    rule, _, rest = span_id.partition(":")
    count = rest.partition(":")[0]
    return int(count) if rule == RULE and count.isdecimal() and len(count) < 8 else 0


def _digest(line: bytes) -> bytes:
    return hashlib.sha256(line, usedforsecurity=False).digest()


def _id(digests: Sequence[bytes]) -> str:
    whole = hashlib.sha256(b"".join(digests), usedforsecurity=False).hexdigest()
    return f"{RULE}:{len(digests)}:{whole[:_DIGITS]}"
