"""The headings of a Markdown file, each with its section.

A section goes on to the next heading of the same or a higher level, so it includes its own
sub-sections. An id is made of the section's words, heading included: white space, line breaks and
HTML comments are folded, also inside of code blocks. ``#`` in a fenced block is no heading.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.anchors.symbols import Symbols

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

RULE = "md1"

_LONGEST_TITLE = 300

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+|\Z)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*\Z")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_NO_PARAGRAPH = re.compile(r"\s*\Z| {0,3}(?:[#>|]|[-+*][ \t]|\d+[.)][ \t]|<)| {4}")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")


class _Heading(NamedTuple):
    line: int
    level: int
    title: str


class _Headings(Symbols):
    def find(self, asked: str) -> str | None:
        """A heading by its text, or by the name that its link on a web page has."""
        plain = " ".join(asked.lstrip("#").split())
        if plain in self:
            return plain
        slug = _slug(plain)
        return next((name for name in self.names if _slug(name) == slug), None)


def read(data: bytes) -> Symbols:
    """The headings of a file."""
    lines = data.decode("utf-8-sig", "replace").split("\n")
    headings = list(_headings(lines))
    pieces: dict[str, list[str]] = {}
    for place, heading in enumerate(headings):
        later = (one.line for one in headings[place + 1 :] if one.level <= heading.level)
        section = "\n".join(lines[heading.line : next(later, len(lines))])
        pieces.setdefault(heading.title, []).append(section)
    return _Headings(RULE, pieces, _folded)


def _folded(section: str) -> Iterable[str]:
    return _COMMENT.sub(" ", section).split()


def _headings(lines: list[str]) -> Iterator[_Heading]:
    fence = ""
    start = _after_front_matter(lines)
    for number in range(start, len(lines)):
        line = lines[number]
        mark = _FENCE.match(line)
        if fence:
            closes = (
                mark is not None and mark[1].startswith(fence) and not line[mark.end() :].strip()
            )
            fence = "" if closes else fence
        elif mark is not None:
            fence = mark[1]
        elif (atx := _ATX.match(line)) is not None:
            yield _Heading(number, len(atx[1]), _title(_unclosed(line[atx.end() :])))
        elif (under := _UNDERLINE.match(line)) is not None and number > start:
            above = lines[number - 1]
            if not _NO_PARAGRAPH.match(above) and not _UNDERLINE.match(above):
                yield _Heading(number - 1, 1 if under[1][0] == "=" else 2, _title(above))


def _after_front_matter(lines: list[str]) -> int:
    if lines[0].rstrip() != "---":
        return 0
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() in {"---", "..."}), -1)
    return end + 1


def _unclosed(text: str) -> str:
    """The text of a heading without the marks that may end it."""
    plain = text.rstrip(" \t")
    bare = plain.rstrip("#")
    return bare if not bare or bare[-1] in " \t" else plain


def _title(text: str) -> str:
    return " ".join(text.split())


def _slug(title: str) -> str:
    """The anchor that a heading gets on a web page: words joined by hyphens, marks left out."""
    plain = _LINK.sub(r"\1", title[:_LONGEST_TITLE]).lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", plain))
