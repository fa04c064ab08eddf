"""What an architecture decision record says about itself in words: its status, and its links."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class AdrStatus(StrEnum):
    """Where a decision stands; many words of many projects, brought down to these."""

    DRAFT = "draft"
    PROPOSED = "proposed"
    DEFERRED = "deferred"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    DEPRECATED = "deprecated"
    SUPERSEDED = "superseded"
    UNKNOWN = "unknown"


class AdrLinkKind(StrEnum):
    """What a decision says of another; ``mentions`` is a link in the text that says nothing."""

    SUPERSEDES = "supersedes"
    SUPERSEDED_BY = "superseded_by"
    AMENDS = "amends"
    AMENDED_BY = "amended_by"
    RELATES = "relates"
    MENTIONS = "mentions"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdrLink:
    """A link to another decision; ``target`` is a path, a number or a title, as written."""

    kind: AdrLinkKind
    target: str


_STATUSES = {
    AdrStatus.DRAFT: "draft, wip, work in progress, idea",
    AdrStatus.PROPOSED: (
        "proposed, proposal, pending, submitted, in review, under review, in discussion,"
        " under discussion, rfc, request for comments"
    ),
    AdrStatus.DEFERRED: "on hold, deferred, postponed, paused",
    AdrStatus.ACCEPTED: (
        "accepted, approved, active, adopted, agreed, decided, final, in effect,"
        " implemented, partially implemented, partly implemented"
    ),
    AdrStatus.REJECTED: "rejected, declined, withdrawn, abandoned, cancelled, canceled",
    AdrStatus.DEPRECATED: "deprecated, obsolete, retired",
    AdrStatus.SUPERSEDED: "superseded, superceded, superseeded",
}
_BY_PHRASE = {
    phrase.strip(): status for status, words in _STATUSES.items() for phrase in words.split(",")
}
# Longest first, so that "partially implemented" is not cut short by a shorter phrase.
_STATUS = re.compile(
    r"\W*(" + "|".join(sorted(map(re.escape, _BY_PHRASE), key=len, reverse=True)) + r")\b",
    re.IGNORECASE,
)

_SUPERSEDE = r"super[sc]ee?d"
_IN_PART = (
    r"(?:in part|part(?:ly|ially)|(?:some|parts?|portions?|aspects|sections?)\b[\w ]{0,20}?\bof)"
)
_PARTLY_SUPERSEDED = re.compile(
    rf"\W*(?:{_IN_PART} {_SUPERSEDE}ed|{_SUPERSEDE}ed,? (?:in part|part(?:ly|ially)))\b",
    re.IGNORECASE,
)
_LINK_VERBS = (
    (AdrLinkKind.SUPERSEDED_BY, rf"{_SUPERSEDE}ed by"),
    (AdrLinkKind.SUPERSEDES, rf"{_SUPERSEDE}es"),
    (AdrLinkKind.AMENDED_BY, r"amended by"),
    (AdrLinkKind.AMENDS, r"amends"),
)
# Words that projects use of many things: they count only where a record speaks of itself.
_LOOSE_VERBS = (
    (AdrLinkKind.SUPERSEDED_BY, r"replaced by|obsoleted by"),
    (AdrLinkKind.SUPERSEDES, r"replaces|obsoletes"),
    (AdrLinkKind.AMENDED_BY, r"updated by|refined by|clarified by|extended by"),
    (AdrLinkKind.AMENDS, r"updates|refines|clarifies|extends"),
    (AdrLinkKind.RELATES, r"relate[sd] to|related|relates|see also|depends on|links"),
)
_PARTIAL = {
    AdrLinkKind.SUPERSEDED_BY: AdrLinkKind.AMENDED_BY,
    AdrLinkKind.SUPERSEDES: AdrLinkKind.AMENDS,
}


def _verb(verbs: tuple[tuple[AdrLinkKind, str], ...]) -> re.Pattern[str]:
    """One pattern with a group for each verb, and the words that make a statement partial."""
    groups = "|".join(f"(?P<v{n}>{words})" for n, (_, words) in enumerate(verbs))
    return re.compile(
        rf"(?P<before>{_IN_PART} )?(?:{groups})\b:?(?P<after> *{_IN_PART})?", re.IGNORECASE
    )


_EVERY_VERB = (*_LINK_VERBS, *_LOOSE_VERBS)
_STRICT = _verb(_LINK_VERBS)
_LOOSE = _verb(_EVERY_VERB)
# In running text a statement must have the record itself as its subject.
_SUBJECT = re.compile(
    r"\bthis (?:adr|decision|decision record|record)\b"
    r"(?: (?:is|was|has|been|have|also|now|hereby|thereby|fully|completely))*[ ]",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"\[\[(?P<wiki>[^\]\[|]{1,300})(?:\|[^\]\[]{0,300})?\]\]"
    r"|\[(?P<text>[^\]\[]{1,300})\]\((?P<path>[^()\s]{1,500})(?:\s[^()]{0,200})?\)"
    r"|\[(?P<label>[^\]\[]{1,300})\](?:\[(?P<definition>[^\]\[]{0,300})\])?"
    r"|(?P<number>(?:\bADR[-_ ]{0,2}#?|#)\d{1,5}\b)",
    re.IGNORECASE,
)
_BARE_NUMBER = re.compile(r"\d{1,5}\b")
_BETWEEN = re.compile(r"\s*(?:,|;|&|\band\b|\bthe\b|:)?\s*(?:and\b\s*)?", re.IGNORECASE)
_EMPHASIS = re.compile(r"\*{1,3}|(?<!\w)__|__(?!\w)")
_STRUCK = re.compile(r"~~[^~]{0,500}~~")
_IMAGE = re.compile(r"!\[([^\]\[]{0,300})\]\([^()]{0,500}\)")
_BULLET = re.compile(r"\s{0,8}(?:[-*+]|\d{1,3}[.)])\s+")
_MENTION = re.compile(r"(?<!\!)\[[^\]\[]{0,300}\]\(([^()\s]{1,500})(?:\s[^()]{0,200})?\)")
_TITLE_CHARS = 300

_DATE = re.compile(r"(?<!\d)(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)")
_MONTHS = {
    name: number
    for number, name in enumerate(
        "jan feb mar apr may jun jul aug sep oct nov dec".split(),
        start=1,
    )
}
_MONTH = r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_WORDED_DATES = (
    re.compile(rf"\b{_DAY}(?: of)? {_MONTH},? (?P<year>\d{{4}})\b", re.IGNORECASE),
    re.compile(rf"\b{_MONTH} {_DAY},? (?P<year>\d{{4}})\b", re.IGNORECASE),
)


def plain_text(marked: str) -> str:
    """The words of a short Markdown text: no emphasis, no entities, no struck-out parts."""
    text = _IMAGE.sub(r"\1", _STRUCK.sub("", html.unescape(marked)))
    return _EMPHASIS.sub("", text).replace("\u00a0", " ").strip().rstrip("\\").strip()


def status_of(text: str) -> AdrStatus:
    """The status a value names; ``unknown`` for words that are none we know."""
    words = _DATE.sub("", plain_text(text))
    if is_partly_superseded(words):
        return AdrStatus.ACCEPTED
    found = _STATUS.match(words)
    status = _BY_PHRASE[found[1].lower()] if found else AdrStatus.UNKNOWN
    stated = {link.kind for link in statements(text, {})}
    return AdrStatus.SUPERSEDED if AdrLinkKind.SUPERSEDED_BY in stated else status


def is_partly_superseded(text: str) -> bool:
    """Whether a status says that only a part was replaced, so that the rest still holds."""
    return _PARTLY_SUPERSEDED.match(text) is not None


def statements(line: str, definitions: Mapping[str, str]) -> list[AdrLink]:
    """The links a line states where a record speaks of itself: its status, metadata, list of links.

    ``definitions`` are the page's link reference definitions.
    """
    text = plain_text(line)
    links: list[AdrLink] = []
    for found in _LOOSE.finditer(text):
        kind = _kind(found, _EVERY_VERB)
        targets = _targets(text, found.end(), definitions)
        if not targets and kind is not AdrLinkKind.RELATES:
            targets = _named(text, found)
        links += [AdrLink(kind=kind, target=target) for target in targets]
    return links


def value_links(kind: AdrLinkKind, value: str, definitions: Mapping[str, str]) -> list[AdrLink]:
    """The links of a metadata value whose key already says what they mean."""
    text = plain_text(value)
    if text.lower() in {"", "-", "none", "n/a", "na", "tbd"}:
        return []
    targets = _targets(text, 0, definitions) or [text[:_TITLE_CHARS]]
    return [AdrLink(kind=kind, target=target) for target in targets]


def claims(line: str, definitions: Mapping[str, str]) -> list[AdrLink]:
    """The links a line of running text states: ``this decision supersedes [4](0004-x.md)``."""
    text = _BULLET.sub("", plain_text(line), count=1)
    starts = [0, *(subject.end() for subject in _SUBJECT.finditer(text))]
    links: list[AdrLink] = []
    for found in filter(None, (_STRICT.match(text, start) for start in starts)):
        kind = _kind(found, _LINK_VERBS)
        targets = _targets(text, found.end(), definitions, bare=False)
        links += [AdrLink(kind=kind, target=target) for target in targets]
    return links


def mentions(text: str) -> Iterator[str]:
    """The targets of the inline links of a text that lead to other Markdown files."""
    for found in _MENTION.finditer(text):
        path = found[1].strip("<>")
        bare = path.partition("#")[0]
        if "://" not in path and bare.lower().endswith((".md", ".mdx", ".markdown")):
            yield path


def dates_in(text: str) -> list[str]:
    """Every date of a text that can be read in one way only, as ISO dates in order."""
    found = [(m.start(), m[1], m[3], m[4]) for m in _DATE.finditer(text)]
    for pattern in _WORDED_DATES:
        found += [
            (m.start(), m["year"], str(_MONTHS[m["month"].lower()]), m["day"])
            for m in pattern.finditer(text)
        ]
    dates = [iso_date(year, month, day) for _, year, month, day in sorted(found)]
    return [day for day in dates if day]


def iso_date(year: str, month: str, day: str) -> str | None:
    """The ISO form of a date given as digits, or None when there is no such day."""
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None


def _kind(found: re.Match[str], verbs: tuple[tuple[AdrLinkKind, str], ...]) -> AdrLinkKind:
    kind = next(kind for n, (kind, _) in enumerate(verbs) if found[f"v{n}"])
    return _PARTIAL.get(kind, kind) if found["before"] or found["after"] else kind


def _targets(
    text: str, start: int, definitions: Mapping[str, str], *, bare: bool = True
) -> list[str]:
    """The references that follow one another from ``start`` on, ``bare`` numbers included."""
    targets: list[str] = []
    at = start
    while True:
        at = _skip(_BETWEEN, text, at)
        found = _REFERENCE.match(text, at) or (_BARE_NUMBER.match(text, at) if bare else None)
        if found is None:
            return targets
        at = found.end()
        if found.re is _BARE_NUMBER:
            targets.append(found[0])
        else:
            targets.append(_target(found, definitions))


def _target(found: re.Match[str], definitions: Mapping[str, str]) -> str:
    if found["number"]:
        return found["number"]
    if found["label"]:
        name = (found["definition"] or found["label"]).lower()
        return definitions.get(name, found["label"])
    path: str = found["wiki"] or found["path"]
    return found["text"] if path.startswith("#") else path.strip("<>")


def _named(text: str, verb: re.Match[str]) -> list[str]:
    """The title that a status line names when it is nothing but the verb and that title."""
    if text[: verb.start()].strip(" ,;:.-"):
        return []
    title = text[verb.end() :].strip(" :.\"'`")
    return [title[:_TITLE_CHARS]] if title else []


def _skip(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
