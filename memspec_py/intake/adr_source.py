"""What a decision record's file states, wherever it states it: front matter, metadata, sections."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from memspec_py.intake.adr_names import name_date, name_number
from memspec_py.intake.adr_page import Entry, Heading, Page, page_of
from memspec_py.intake.adr_words import (
    AdrLink,
    AdrLinkKind,
    AdrStatus,
    claims,
    dates_in,
    is_partly_superseded,
    mentions,
    plain_text,
    statements,
    status_of,
    value_links,
)
from memspec_py.record import frontmatter
from memspec_py.report import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from memspec_py.record.model import Plain

DateFrom: TypeAlias = Literal["front matter", "metadata", "body", "file name"]
# A status, its words, and the line of the page they stand on; None for front matter.
_Read: TypeAlias = tuple[AdrStatus, str, int | None]

_TITLE_PREFIX = re.compile(
    r"(?:adr:|(?:architectur(?:e|al) )?decision record\s*[:\u2013\u2014-])\s*", re.IGNORECASE
)
_TITLE_NUMBER = re.compile(
    r"\[?ADR[-_ #]{0,2}(?P<named>\d{1,5})\]?\s*[.:)\u2013\u2014-]?\s+"
    r"|(?P<counted>\d{1,5})(?:[.:)]\s+|\s+[\u2013\u2014-]\s+)"
    r"|(?P<padded>0\d{1,4})\s+",
    re.IGNORECASE,
)
_WHOLE_NUMBER = re.compile(r"(?:ADR[-_ #]{0,2})?(\d{1,5})\Z", re.IGNORECASE)
_COMMAS = re.compile(r",(?![^()]*\))")
_BRACKETED = re.compile(r"\([^()]{0,300}\)")
_HANDLES = re.compile(r"@\S+(?:\s+@\S+)+\Z")
_TEXT_CHARS = 300
_LIST_CHARS = 2000
# A status line may be longer than this only if it is the first of its section.
_STATUS_WORDS = 8
# A section of this level or above is the record's own, not a part of what it describes.
_OWN_LEVEL = 2

_STATUS_KEYS = ("status", "decision status")
_DATE_KEYS = ("date", "decision date", "created", "created at", "created on", "creation date")
_CHANGE_KEYS = ("last modified", "last updated", "modified", "updated", "updated on")
_DECIDER_KEYS = ("deciders", "decision makers", "decided by", "decision owners", "approvers")
_TAG_KEYS = ("tags", "tag", "labels", "categories")
_LINK_KEYS = {
    AdrLinkKind.SUPERSEDES: ("supersedes", "supercedes", "replaces", "obsoletes"),
    AdrLinkKind.SUPERSEDED_BY: ("superseded by", "superceded by", "replaced by", "obsoleted by"),
    AdrLinkKind.AMENDS: ("amends", "updates", "refines", "extends"),
    AdrLinkKind.AMENDED_BY: ("amended by", "updated by", "refined by", "extended by"),
    AdrLinkKind.RELATES: (
        *("related", "relates to", "related to", "related adrs", "related decisions"),
        *("depends on", "see also"),
    ),
}
_LINK_SECTIONS = frozenset(
    {"links", "related", "related decisions", "related adrs", "related records", "see also"}
)
# Headings that every template has; a page that starts with one has no title of its own.
_SECTIONS = frozenset(
    {
        *("status", "context", "context and problem statement", "problem statement", "problem"),
        *("decision", "decisions", "decision drivers", "decision outcome", "outcome"),
        *("considered options", "options considered", "considered alternatives", "alternatives"),
        *("consequences", "rationale", "approach", "motivation", "background", "design"),
        *("summary", "introduction"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file taken apart: front matter, page, and the metadata above its first section.

    ``text`` is what follows the front matter; ``heading`` is the title's, if the page has one.
    """

    path: str
    front: Mapping[str, Plain]
    text: str
    page: Page
    lines_before: int
    heading: Heading | None
    entries: tuple[Entry, ...]

    def finding(self, code: str, message: str, line: int | None = None) -> Finding:
        """A warning about this file; ``line`` counts from 0 in the page."""
        at = None if line is None else self.lines_before + line + 1
        return Finding(
            code=code, message=message, severity=Severity.WARNING, path=self.path, line=at
        )

    def stated(self, keys: Iterable[str]) -> Iterator[tuple[str, int | None]]:
        """What front matter, then metadata, say under any of some names, with the page's line."""
        wanted = tuple(keys)
        for key in wanted:
            value = self.front.get(key)
            for text in value if isinstance(value, list) else (value,):
                if isinstance(text, str) and text.strip():
                    yield text.strip(), None
        for entry in self.entries:
            if entry.name in wanted and entry.value:
                yield entry.value, entry.line

    def sections(self, name: str) -> Iterator[Heading]:
        """The sections of a name that belong to the record itself: high up, or first of all."""
        below = (heading for heading in self.page.headings if heading is not self.heading)
        for place, heading in enumerate(below):
            if heading_name(heading) == name and (heading.level <= _OWN_LEVEL or place == 0):
                yield heading


def source_of(path: str, data: bytes) -> Source:
    """The parts of a file; raises ``Unreadable`` with what is wrong with its front matter."""
    text = frontmatter.decode(data).removeprefix("\ufeff")
    front: Mapping[str, Plain] = {}
    before = 0
    if text.split("\n", 1)[0].rstrip() == "---":
        parts = frontmatter.split(text)
        front = {_key(name): value for name, value in frontmatter.read(parts.head).items()}
        before = text.count("\n") - parts.body.count("\n")
        text = parts.body
    page = page_of(text)
    first = page.headings[0] if page.headings else None
    is_title = first and first.level == 1 and heading_name(first) not in _SECTIONS
    heading = first if is_title else None
    return Source(
        path=path,
        front=front,
        text=text,
        page=page,
        lines_before=before,
        heading=heading,
        entries=tuple(_metadata(page, heading)),
    )


def heading_name(heading: Heading) -> str:
    """A heading as it is compared: its words alone, in lower case."""
    return plain_text(heading.text).rstrip(":").strip().lower()


def has_decision_sections(source: Source) -> bool:
    """Whether the page has a section that decision records have."""
    return any(heading_name(heading) in _SECTIONS for heading in source.page.headings)


def written_title(source: Source) -> str:
    """The title as written, on the page or else in the front matter; empty where there is none."""
    if source.heading:
        return source.heading.text
    title = source.front.get("title")
    return title if isinstance(title, str) else ""


def title_and_number(written: str) -> tuple[str, str | None]:
    """A heading without the number it may start with, and that number."""
    text = _TITLE_PREFIX.sub("", " ".join(plain_text(written).split()), count=1)
    found = _TITLE_NUMBER.match(text)
    if found is None:
        return text, None
    return text[found.end() :].strip(), found["named"] or found["counted"] or found["padded"]


def body_of(source: Source) -> str:
    """The text below the title, untouched but for the blank lines around it."""
    if source.heading is None:
        return source.text.strip("\r\n")
    lines = source.text.split("\n")
    return "\n".join(lines[: source.heading.line] + lines[source.heading.end :]).strip("\r\n")


def number_of(source: Source, in_title: str | None, findings: list[Finding]) -> str | None:
    """The record's number: what the front matter says, else its name, else its title."""
    in_name = name_number(source.path)
    if in_name and in_title and int(in_name) != int(in_title):
        message = f"the title says {in_title}, the name {in_name}; the name counts"
        line = source.heading.line if source.heading else None
        findings.append(source.finding("number-conflict", message, line))
    stated = (_WHOLE_NUMBER.match(text) for text, _ in source.stated(("adr", "number")))
    in_front = next((found[1] for found in stated if found), None)
    return in_front or in_name or in_title


def stated_status(source: Source, findings: list[Finding]) -> tuple[AdrStatus, str | None]:
    """The status and its words: of the front matter, else the metadata, else its own section."""
    read: list[_Read] = [
        # A choice of statuses is what a template leaves behind.
        (status_of(text), text, line)
        for text, line in source.stated(_STATUS_KEYS)
        if "|" not in text
    ]
    for heading in [*source.sections("status")][:1]:
        read += _status_lines(source.page, heading.below)
    if not read:
        return AdrStatus.UNKNOWN, None
    status, text, line = _deciding(read)
    words = plain_text(text)[:_TEXT_CHARS]
    # That an accepted decision was superseded later is no contradiction.
    known = {each for each, _, _ in read} - {AdrStatus.UNKNOWN, AdrStatus.SUPERSEDED}
    if len(known) > 1:
        message = f"{', '.join(sorted(known))}; {status} counts"
        findings.append(source.finding("several-statuses", message, line))
    if status is AdrStatus.UNKNOWN:
        findings.append(source.finding("unknown-status", f"no status we know: {words}", line))
    elif is_partly_superseded(words):
        message = "superseded in part: what was not replaced still holds"
        findings.append(source.finding("partly-superseded", message, line))
    return status, words


def stated_date(source: Source, findings: list[Finding]) -> tuple[str | None, DateFrom | None]:
    """The day of the decision; a day of the last change only where nothing else is known."""
    named = name_date(source.path)
    return (
        _one_date(source, _DATE_KEYS, findings)
        or _section_date(source)
        or ((named, "file name") if named else None)
        or _one_date(source, _CHANGE_KEYS, findings)
        or (None, None)
    )


def deciders_of(source: Source) -> tuple[str, ...]:
    """Who decided, as written."""
    return _items(source, _DECIDER_KEYS)


def tags_of(source: Source) -> tuple[str, ...]:
    """The tags, as written."""
    return _items(source, _TAG_KEYS)


def links_of(source: Source) -> Iterator[AdrLink]:
    """What the record says of others, each statement once; then what it only links to."""
    stated = dict.fromkeys(_stated_links(source))
    yield from stated
    named = {link.target.partition("#")[0] for link in stated}
    linked = [*mentions("\n".join(source.page.visible))]
    for target in source.page.definitions.values():
        linked += mentions(f"[]({target})")
    for target in dict.fromkeys(linked):
        if target.partition("#")[0] not in named:
            yield AdrLink(kind=AdrLinkKind.MENTIONS, target=target)


def _metadata(page: Page, title: Heading | None) -> Iterator[Entry]:
    """The metadata above the first section; a heading that only repeats the title is none."""
    wanted = title.text if title else None
    ends = (heading.line for heading in page.headings if heading.text != wanted)
    for entry in page.entries(range(next(ends, len(page.lines)))):
        yield Entry(name=_key(entry.name), value=entry.value, line=entry.line)


def _status_lines(page: Page, lines: range) -> list[_Read]:
    """What a status section says: its first line, and further lines that are a status and short."""
    written = [(page.visible[line].strip(), line) for line in lines if page.visible[line].strip()]
    read: list[_Read] = []
    for place, (text, line) in enumerate(written):
        status = status_of(text)
        short = place == 0 or len(text.split()) <= _STATUS_WORDS
        if status is AdrStatus.SUPERSEDED or (status is not AdrStatus.UNKNOWN and short):
            read.append((status, text, line))
    # A log of statuses is written downwards, so the last one is what holds.
    return read[::-1] or [(AdrStatus.UNKNOWN, text, line) for text, line in written[:1]]


def _deciding(read: list[_Read]) -> _Read:
    """The reading that counts: that it was superseded, else the first we know."""
    superseded = (each for each in read if each[0] is AdrStatus.SUPERSEDED)
    known = (each for each in read if each[0] is not AdrStatus.UNKNOWN)
    return next(superseded, None) or next(known, None) or read[0]


def _one_date(
    source: Source, keys: tuple[str, ...], findings: list[Finding]
) -> tuple[str, DateFrom] | None:
    for text, line in source.stated(keys):
        days = set(dates_in(text))
        if len(days) > 1:  # 2022-10-05 (updated 2023-07-12)
            days = set(dates_in(_BRACKETED.sub("", text)))
        if len(days) == 1:
            return days.pop(), "front matter" if line is None else "metadata"
        message = f"{plain_text(text)[:_TEXT_CHARS]!r} cannot be read as one date in one way only"
        findings.append(source.finding("unclear-date", message, line))
    return None


def _section_date(source: Source) -> tuple[str, DateFrom] | None:
    for heading in source.sections("date"):
        days = set(dates_in("\n".join(source.page.visible[line] for line in heading.below)))
        if len(days) == 1:
            return days.pop(), "body"
    return None


def _items(source: Source, keys: tuple[str, ...]) -> tuple[str, ...]:
    """A list of words from front matter or metadata, split at commas, each once."""
    pieces = (
        plain_text(piece)[:_TEXT_CHARS]
        for text, _ in source.stated(keys)
        for piece in _COMMAS.split(text[:_LIST_CHARS])
    )
    items: list[str] = []
    for piece in pieces:
        items += piece.split() if _HANDLES.match(piece) else [piece]
    return tuple(dict.fromkeys(item for item in items if item))


def _stated_links(source: Source) -> Iterator[AdrLink]:
    page = source.page
    for kind, keys in _LINK_KEYS.items():
        for text, _ in source.stated(keys):
            yield from value_links(kind, text, page.definitions)
    for text, _ in source.stated(_STATUS_KEYS):
        yield from statements(text, page.definitions)
    spoken_for: set[int] = set()
    for heading in source.sections("status"):
        spoken_for.update(heading.below)
        for line in heading.below:
            yield from statements(page.visible[line], page.definitions)
    for heading in page.headings:
        if heading_name(heading) in _LINK_SECTIONS:
            spoken_for.update(heading.below)
            yield from _listed_links(page, heading.below)
    for line, text in enumerate(page.visible):
        if line not in spoken_for:
            yield from claims(text, page.definitions)


def _listed_links(page: Page, lines: range) -> Iterator[AdrLink]:
    """The links of a list of links: with their verbs, or simply related."""
    for line in lines:
        stated = statements(page.visible[line], page.definitions)
        yield from stated
        if not stated:
            for target in mentions(page.visible[line]):
                yield AdrLink(kind=AdrLinkKind.RELATES, target=target)


def _key(name: str) -> str:
    return " ".join(name.lower().replace("-", " ").replace("_", " ").split())
