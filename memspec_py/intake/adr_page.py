"""The parts of a Markdown page that matter in a decision record: headings, sections, metadata."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from memspec_py.intake.adr_words import plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n]*)")
_HASHES = re.compile(r" {0,3}(#{1,6})(?=[ \t]|\Z)")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*\Z")
_NO_PARAGRAPH = re.compile(r" {0,3}(?:[-*+>|#]|\d{1,3}[.)]\s)")
_DEFINITION = re.compile(r" {0,3}\[([^\]\[]{1,300})\]:\s*<?([^\s>]{1,500})>?")
_ENTRY = re.compile(
    r"\s{0,3}(?:[-*+]\s+)?(?:\*\*|__)?(?P<name>[A-Za-z][A-Za-z /_-]{1,30}?)\s*(?:\*\*|__)?\s*"
    r":\s*(?:\*\*|__)?(?=\s|\[|\*|_|\Z)\s*(?P<value>.*)\Z"
)
_DEEPER = re.compile(r"(?: {2,}|\t)\s*(?:[-*+]\s+)?(?P<value>\S.*)\Z")
_ENTRY_CHARS = 2000  # a longer line is cut, so that no pattern runs long
_CELLS = 2  # of a row of metadata: a name and a value


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A heading on the lines from ``line``, counted from 0, to before ``end``.

    ``below`` are the lines of its section, up to the next heading of any level.
    """

    level: int
    text: str
    line: int
    end: int
    below: range = range(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A line of metadata: ``- Status: accepted``, ``Date: …``, ``| Status | Accepted |``."""

    name: str
    value: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A Markdown text by lines; in ``visible`` code blocks and comments are blank."""

    lines: Sequence[str]
    visible: Sequence[str]
    headings: Sequence[Heading]
    definitions: Mapping[str, str] = field(default_factory=dict)

    def entries(self, lines: range) -> list[Entry]:
        """The metadata in a stretch of lines, whichever way it is written."""
        found: list[Entry] = []
        following = -1  # the line that would go on with the last entry
        for number in lines:
            line = self.visible[number][:_ENTRY_CHARS]
            entry = _entry(line, number)
            more = _DEEPER.match(line)
            if entry is not None:
                found.append(entry)
            elif more and number == following and len(found[-1].value) < _ENTRY_CHARS:
                found[-1] = _continued(found[-1], more["value"].strip(), line)
            else:
                continue
            following = number + 1
        return found


def page_of(text: str) -> Page:
    """The page a text makes."""
    lines = [line.rstrip("\r") for line in text.split("\n")]
    visible = list(_visible(lines))
    return Page(
        lines=lines,
        visible=visible,
        headings=_sectioned([*_headings(visible)], len(lines)),
        definitions={
            found[1].lower(): found[2] for line in visible if (found := _DEFINITION.match(line))
        },
    )


def _visible(lines: Sequence[str]) -> Iterator[str]:
    """Each line without fenced code and HTML comments; blank where nothing else is on it."""
    last_close = max((n for n, line in enumerate(lines) if "-->" in line), default=-1)
    fence = ""
    in_comment = False
    for number, line in enumerate(lines):
        if fence:
            closing = _FENCE.match(line)
            if closing and closing[1].startswith(fence) and not closing[2].strip():
                fence = ""
            yield ""
            continue
        shown, in_comment = _uncommented(line, in_comment=in_comment, closes=number < last_close)
        opening = None if in_comment else _FENCE.match(shown)
        # A fence of backticks has none in its info string; otherwise it is inline code.
        if opening and not (opening[1][0] == "`" and "`" in opening[2]):
            fence, shown = opening[1], ""
        yield shown


def _uncommented(line: str, *, in_comment: bool, closes: bool) -> tuple[str, bool]:
    """What a line shows outside comments, and whether a comment is still open after it."""
    shown: list[str] = []
    rest = line
    while True:
        if in_comment:
            _, closed, rest = rest.partition("-->")
            if not closed:
                return "".join(shown), True
            in_comment = False
        before, opened, after = rest.partition("<!--")
        shown.append(before)
        # What is never closed is no comment: the page would end there, unseen.
        if not opened or not (closes or "-->" in after):
            return "".join([*shown, opened, after]), False
        rest, in_comment = after, True


def _headings(visible: Sequence[str]) -> Iterator[Heading]:
    for number, line in enumerate(visible):
        if hashes := _HASHES.match(line):
            text = line[hashes.end() :].strip()
            bare = text.rstrip("#")
            text = bare.strip() if not bare or bare[-1:] in {" ", "\t"} else text
            yield Heading(level=len(hashes[1]), text=text, line=number, end=number + 1)
        elif number and (rule := _UNDERLINE.match(line)) and _is_paragraph(visible, number - 1):
            level = 1 if rule[1][0] == "=" else 2
            text = visible[number - 1].strip()
            yield Heading(level=level, text=text, line=number - 1, end=number + 1)


def _sectioned(headings: Sequence[Heading], length: int) -> tuple[Heading, ...]:
    """The headings of a page of a length, each with the lines below it."""
    stops = [*(heading.line for heading in headings[1:]), length]
    return tuple(
        replace(heading, below=range(heading.end, stop))
        for heading, stop in zip(headings, stops, strict=False)
    )


def _is_paragraph(visible: Sequence[str], number: int) -> bool:
    """Whether a line is a paragraph of its own, so that a rule below makes it a heading."""
    line = visible[number]
    alone = number == 0 or not visible[number - 1].strip()
    return alone and bool(line.strip()) and not _NO_PARAGRAPH.match(line)


def _entry(line: str, number: int) -> Entry | None:
    stripped = line.strip()
    if stripped.startswith("|"):
        cells = stripped.strip("|").split("|")
        name, value = cells if len(cells) == _CELLS else ("", "")
    else:
        found = _ENTRY.match(line)
        name, value = (found["name"], found["value"]) if found else ("", "")
    name = " ".join(plain_text(name).rstrip(": ").lower().replace("_", " ").split())
    return Entry(name=name, value=value.strip(), line=number) if name else None


def _continued(entry: Entry, more: str, line: str) -> Entry:
    """The entry and a line below it: the next item of a nested list, or more of the sentence."""
    joint = ", " if re.match(r"\s*[-*+]\s", line) and entry.value else " "
    return Entry(name=entry.name, value=(entry.value + joint + more).strip(), line=entry.line)
