"""A block of our own lines in somebody's text file, between two markers; bytes in, bytes out.

What ``put`` adds, ``take`` removes again to the byte: whether the file ended with a line end can be
seen from whether one follows the block.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MARKDOWN = ("<!-- memspec:init:start -->", "<!-- memspec:init:end -->")
HASH = ("# memspec:init:start", "# memspec:init:end")


class Torn(ValueError):
    """Only one of the markers is there, or several, or in the wrong order."""


class Block(NamedTuple):
    """The lines between two markers, which are such as the file takes for a remark."""

    marks: tuple[str, str]
    body: str

    def text(self, newline: str, indent: str = "") -> bytes:
        """The block with its markers and no line end behind it."""
        lines = [self.marks[0], *self.body.strip("\n").split("\n"), self.marks[1]]
        return newline.join(indent + line if line else line for line in lines).encode()


class Found(NamedTuple):
    """Where a block is, from its first marker to the end of its last, and what indents it."""

    start: int
    end: int
    indent: str


def find(data: bytes, block: Block) -> Found | None:
    """Where a block with these markers is, whatever is in it. Raises ``Torn``."""
    first, last = (mark.encode() for mark in block.marks)
    counts = data.count(first), data.count(last)
    if counts == (0, 0):
        return None
    start, end = data.find(first), data.find(last)
    if counts != (1, 1) or end < start:
        raise Torn("its memspec markers are not one pair")
    line = data.rfind(b"\n", 0, start) + 1
    before = data[line:start]
    indent = before.decode() if before.strip(b" \t") == b"" else ""
    return Found(start, end + len(last), indent)


def put(data: bytes, block: Block) -> bytes:
    """The file with the block at its end, or in the place of an older one. Raises ``Torn``."""
    found = find(data, block)
    newline = newline_of(data if found is None else data[found.start : found.end])
    if found is not None:
        new = block.text(newline, found.indent)[len(found.indent) :]
        return data[: found.start] + new + data[found.end :]
    line = newline.encode()
    if not data:
        return block.text(newline)
    if data.endswith(b"\n"):
        return data + line + block.text(newline) + line
    return data + line + line + block.text(newline)


def put_behind(data: bytes, block: Block, place: int, indent: str) -> bytes:
    """The file with the block as whole lines from a place on, which is the beginning of a line."""
    newline = newline_of(data)
    return data[:place] + block.text(newline, indent) + newline.encode() + data[place:]


def take(data: bytes, block: Block) -> bytes | None:
    """The file without the block; None when it is what ``created`` makes. Raises ``Torn``."""
    found = find(data, block)
    if found is None:
        return data
    if data == created(block):
        return None
    line = b"\r\n" if b"\r\n" in data[found.start : found.end] else b"\n"
    before, behind = data[: found.start - len(found.indent)], data[found.end :]
    if behind.startswith(line):
        gap = before.removesuffix(line)
        has_gap = not found.indent and gap.endswith(b"\n")
        return (gap if has_gap else before) + behind[len(line) :]
    return before.removesuffix(line).removesuffix(line) + behind


def created(block: Block) -> bytes:
    """A new file that holds nothing else."""
    return block.text("\n") + b"\n"


def newline_of(data: bytes) -> str:
    """How the first line of a file ends."""
    found = re.search(rb"\r?\n", data)
    return "\r\n" if found and found[0] == b"\r\n" else "\n"
