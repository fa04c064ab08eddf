"""Architecture decision records of other projects, read as drafts: text in, values out.

Many styles are understood: Nygard's and adr-tools', MADR 2 to 4, Log4brains, tables of metadata,
folders of ``README.md`` files. What a file does not say is None; nothing is made up.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from memspec_py.intake import adr_source
from memspec_py.intake.adr_names import is_index, is_template
from memspec_py.intake.adr_source import DateFrom, Source, source_of
from memspec_py.intake.adr_words import AdrLink, AdrLinkKind, AdrStatus, plain_text
from memspec_py.record.frontmatter import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspec_py.report import Finding

__all__ = [
    "MAX_BYTES",
    "AdrDraft",
    "AdrFolder",
    "AdrLink",
    "AdrLinkKind",
    "AdrSkip",
    "AdrSkipped",
    "AdrStatus",
    "drafts",
    "read_adr",
]

MAX_BYTES = 1_048_576

_SUFFIXES = frozenset({".md", ".mdx", ".markdown"})
_PLACEHOLDER = re.compile(
    r"[\[{<][^\]}>]*[\]}>]\Z|\$\{?\w+|(?:number|nnn+|xxx+)\b|(?:adr[-_ ]?)?(?:nnn+|xxx+)\b"
    r"|(?:your |short |adr |the )?title(?: of\b.*)?\Z|(?:adr|decision record)? ?template\Z",
    re.IGNORECASE,
)


class AdrSkip(StrEnum):
    """Why a file is no draft."""

    NOT_MARKDOWN = "not-markdown"
    LINK = "symlink"
    UNREADABLE = "unreadable"
    TOO_LARGE = "too-large"
    EMPTY = "empty"
    INDEX = "index"
    TEMPLATE = "template"
    NO_TITLE = "no-title"
    NO_DECISION = "no-decision"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdrDraft:
    """A decision record as its file tells it; ``path`` is relative to the folder read, with ``/``.

    ``status_text`` is the status as written. ``body`` is the Markdown without front matter and
    title, and otherwise untouched.
    """

    path: str
    number: str | None = None
    title: str
    status: AdrStatus = AdrStatus.UNKNOWN
    status_text: str | None = None
    date: str | None = None
    date_from: DateFrom | None = None
    body: str
    links: tuple[AdrLink, ...] = ()
    tags: tuple[str, ...] = ()
    deciders: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AdrSkipped:
    """A file that is no draft, and why, as a code and as a sentence."""

    path: str
    reason: AdrSkip
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AdrFolder:
    """Every file of a folder, read or skipped, each in the order of its path."""

    drafts: tuple[AdrDraft, ...]
    skipped: tuple[AdrSkipped, ...]


def drafts(folder: Path) -> AdrFolder:
    """Every file below a folder, read; links are not followed, and hidden folders are left out."""
    read = [_read_file(folder, path) for path in _files(folder)]
    return AdrFolder(
        drafts=tuple(each for each in read if isinstance(each, AdrDraft)),
        skipped=tuple(each for each in read if isinstance(each, AdrSkipped)),
    )


def read_adr(path: str, data: bytes) -> AdrDraft | AdrSkipped:
    """The decision a file holds, or why it holds none.

    ``path`` is relative and has ``/`` between its parts; names tell numbers, dates and templates.
    """
    no_page = _no_page(path, data)
    if no_page:
        return no_page
    try:
        source = source_of(path, data)
    except Unreadable as refused:
        told = "; ".join(map(_told, refused.findings))
        return AdrSkipped(path=path, reason=AdrSkip.UNREADABLE, sentence=told)
    return _draft(source)


def _files(folder: Path) -> Iterator[str]:
    """The files below a folder as sorted relative paths."""
    found: list[str] = []
    for place, folders, names in os.walk(folder, followlinks=False):
        here = Path(place)
        links = [name for name in folders if (here / name).is_symlink()]
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [(here / name).relative_to(folder).as_posix() for name in (*names, *links)]
    return iter(sorted(found))


def _read_file(folder: Path, path: str) -> AdrDraft | AdrSkipped:
    file = folder / path
    try:
        if file.is_symlink():
            return AdrSkipped(path=path, reason=AdrSkip.LINK, sentence="links are not followed")
        if not file.is_file():
            return AdrSkipped(path=path, reason=AdrSkip.UNREADABLE, sentence="it is no plain file")
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as refused:
        told = f"it cannot be read: {refused.strerror}"
        return AdrSkipped(path=path, reason=AdrSkip.UNREADABLE, sentence=told)
    return read_adr(path, data)


def _no_page(path: str, data: bytes) -> AdrSkipped | None:
    """Why a file need not be read at all, or None."""
    if PurePosixPath(path).suffix.lower() not in _SUFFIXES:
        reason, told = AdrSkip.NOT_MARKDOWN, "the file is not Markdown"
    elif len(data) > MAX_BYTES:
        reason, told = AdrSkip.TOO_LARGE, f"the file has more than {MAX_BYTES} bytes"
    elif not data.strip():
        reason, told = AdrSkip.EMPTY, "the file is empty"
    elif is_index(path):
        reason, told = AdrSkip.INDEX, "the name is that of a page about a folder"
    elif is_template(path):
        reason, told = AdrSkip.TEMPLATE, "the name is that of a template"
    else:
        return None
    return AdrSkipped(path=path, reason=reason, sentence=told)


def _told(finding: Finding) -> str:
    return finding.message if finding.line is None else f"line {finding.line}: {finding.message}"


def _draft(source: Source) -> AdrDraft | AdrSkipped:
    findings: list[Finding] = []
    title, title_number = adr_source.title_and_number(adr_source.written_title(source))
    body = adr_source.body_of(source)
    number = adr_source.number_of(source, title_number, findings)
    status, status_text = adr_source.stated_status(source, findings)
    day, day_from = adr_source.stated_date(source, findings)
    marked = number or status_text or day or adr_source.has_decision_sections(source)
    no_draft = _no_draft(source, title, body, is_marked=bool(marked))
    return no_draft or AdrDraft(
        path=source.path,
        number=number,
        title=title,
        status=status,
        status_text=status_text,
        date=day,
        date_from=day_from,
        body=body,
        links=tuple(adr_source.links_of(source)),
        tags=adr_source.tags_of(source),
        deciders=adr_source.deciders_of(source),
        findings=tuple(findings),
    )


def _no_draft(source: Source, title: str, body: str, *, is_marked: bool) -> AdrSkipped | None:
    """Why a page is no decision, or None."""
    written = plain_text(adr_source.written_title(source))
    if (source.heading and not written) or _PLACEHOLDER.match(written):
        reason, told = AdrSkip.TEMPLATE, "the title is a placeholder"
    elif not title:
        reason, told = AdrSkip.NO_TITLE, "no first heading names the decision"
    elif not body.strip():
        reason, told = AdrSkip.EMPTY, "there is a title and nothing below it"
    elif not is_marked:
        told = "neither a number, a date, a status nor a section says that it is a decision"
        reason = AdrSkip.NO_DECISION
    else:
        return None
    return AdrSkipped(path=source.path, reason=reason, sentence=told)
