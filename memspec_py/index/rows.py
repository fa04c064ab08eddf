"""From the bytes of a file to the rows that stand for it in the index."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.index.tokens import extra_words
from memspec_py.record.frontmatter import Unreadable
from memspec_py.record.model import EdgeType, Kind, State
from memspec_py.record.parse import parse_record, to_mapping
from memspec_py.store.files import digest

if TYPE_CHECKING:
    from memspec_py.config import Limits
    from memspec_py.record.model import Record
    from memspec_py.store.listing import Stat

RECORD_COLUMNS = (
    *("key", "path", "id", "kind", "label", "state", "live", "title_size", "tags_size"),
    *("body_size", "scope", "created", "fresh", "check_by", "expires", "valid_from"),
    *("valid_to", "witness", "derived", "pinned", "anchored"),
)
TEXT_COLUMNS = ("key", "title", "tags", "body", "body_words", "head")
_EDGES = tuple(edge.value for edge in EdgeType)


class Rows(NamedTuple):
    """What the index keeps of one file; plain values only, so that it travels between processes."""

    file: tuple[object, ...]
    record: tuple[object, ...] | None
    text: tuple[str, ...]
    edges: list[tuple[str, str, str, int, str]]
    findings: list[tuple[object, ...]]


def rows_of(path: str, stat: Stat, data: bytes, limits: Limits) -> Rows:
    """Read one file; an unreadable one has findings in place of a record."""
    file = (path, *stat, digest(data))
    try:
        record = parse_record(data, limits)
    except Unreadable as problem:
        findings: list[tuple[object, ...]] = [
            (
                path,
                position,
                found.code,
                str(found.severity),
                found.line,
                found.field,
                found.message,
            )
            for position, found in enumerate(problem.findings)
        ]
        return Rows(file, None, (), [], findings)
    text = _text_row(record)
    return Rows(file, _record_row(path, record, text), text, _edge_rows(path, record), [])


def unread(path: str, stat: Stat, code: str, message: str) -> Rows:
    """The rows of a file that could not even be opened."""
    return Rows((path, *stat, ""), None, (), [], [(path, 0, code, "error", None, None, message)])


def _text_row(record: Record) -> tuple[str, ...]:
    """What is searched and shown: title, tags, body and its further words, front matter."""
    tags = " ".join(record.tags)
    if not tags.isascii() or not tags.islower():
        tags = _with(tags, extra_words(tags))
    head = to_mapping(record)
    head["title"] = record.title
    return (
        _with(record.title, extra_words(record.title)),
        tags,
        record.body,
        extra_words(record.body),
        json.dumps(head, ensure_ascii=False, separators=(",", ":")),
    )


def _record_row(path: str, record: Record, text: tuple[str, ...]) -> tuple[object, ...]:
    """What is filtered and counted by."""
    title, tags, body, body_words = (len(part.split()) for part in text[:4])
    live = record.state is State.ACTIVE and record.kind is not Kind.QUESTION
    return (
        path,
        record.id,
        record.kind.value,
        record.label,
        record.state.value,
        int(live),
        title,
        tags,
        body + body_words,
        record.scope,
        record.created,
        record.last_verified or record.created,
        record.check_by,
        record.expires,
        record.valid_from,
        record.valid_to,
        record.verified_with.value,
        int(bool(record.derived_from)),
        int(record.pinned),
        int(bool(record.anchors)),
    )


def _with(text: str, more: str) -> str:
    return f"{text} {more}" if more else text


def _edge_rows(path: str, record: Record) -> list[tuple[str, str, str, int, str]]:
    return [
        (record.id, edge, target, position, path)
        for edge in _EDGES
        for position, target in enumerate(getattr(record, edge))
    ]
