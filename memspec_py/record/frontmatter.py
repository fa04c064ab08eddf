"""A record file as text: its head and its body, read without loss and edited byte by byte.

An edit changes the keys it owns. All else, from comments to the newline style, stays as it was.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, NoReturn

from memspec_py.record.canonical import canonical_entries, read_canonical
from memspec_py.record.yamltext import (
    Entry,
    Unreadable,
    entries,
    entry_lines,
    print_block,
    print_inline,
    print_key,
    print_mapping,
    read_mapping,
)
from memspec_py.report import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memspec_py.record.model import Plain

__all__ = [
    "ABSENT",
    "Absent",
    "Split",
    "Unreadable",
    "compose",
    "decode",
    "key_lines",
    "patch",
    "read",
    "split",
]

_HEAD_LINE = 2  # the head begins below its fence

_OPENING = re.compile(r"(\ufeff?)---[ \t]*(\r?\n|\Z)")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_LANGUAGE = re.compile(r"\ufeff?(---[ \t]*[^\s-][^\n]*|\+\+\+[^\n]*|;;;[^\n]*)")
_CODE_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_COLON = re.compile(r"[ \t]*:")


class Absent(Enum):
    """The type of ``ABSENT``, which in a change means that the key goes."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """A file's text taken apart.

    ``head`` stands between the fences, ``body`` is everything after the closing fence's line, and
    ``start`` is the offset of the head in the text. ``newline`` is that of the opening fence.
    """

    head: str
    body: str
    start: int
    bom: bool
    newline: str


def decode(data: bytes) -> str:
    """The text of a file's bytes, newlines and byte order mark kept; raises ``Unreadable``."""
    findings = []
    text = ""
    if (nul := data.find(b"\0")) >= 0:
        line = data.count(b"\n", 0, nul) + 1
        findings.append(Finding(code="nul-byte", line=line, message="the file holds a NUL byte"))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        told = f"the byte 0x{data[error.start]:02x} does not belong to UTF-8 text"
        findings.append(Finding(code="not-utf8", line=line, message=told))
    if findings:
        raise Unreadable(*findings)
    return text


def split(text: str) -> Split:
    """Head and body of a record file.

    Raises ``Unreadable`` where there is no front matter in YAML between two fences, or where a
    merge left its conflict markers.
    """
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening and opening[2] else None
    _refuse_conflicts(text, closing.end() if closing else 0)
    if opening is None:
        if language := _LANGUAGE.match(text):
            told = f"front matter opened by {language[1].strip()!r} is refused and never evaluated"
            _refuse("front-matter-language", 1, told)
        _refuse("no-front-matter", 1, "the first line is not the fence `---`")
    if closing is None:
        _refuse("unclosed-front-matter", 1, "no line `---` closes the front matter")
    return Split(
        head=text[opening.end() : closing.start()],
        body=text[closing.end() :],
        start=opening.end(),
        bom=bool(opening[1]),
        newline=opening[2],
    )


def _refuse(code: str, line: int, message: str, fix: str | None = None) -> NoReturn:
    raise Unreadable(Finding(code=code, line=line, message=message, fix=fix))


def _refuse_conflicts(text: str, body: int) -> None:
    if "<<<<<<<" not in text or ">>>>>>>" not in text:
        return
    begin = None
    for number, line in _lines_outside_code(text, body):
        if begin is None and _is_marker(line, "<<<<<<<"):
            begin = number
        elif begin is not None and _is_marker(line, ">>>>>>>"):
            _refuse("conflict-markers", begin, "a merge left its conflict markers in the file")


def _is_marker(line: str, marker: str) -> bool:
    return line == marker or line.startswith(marker + " ")


def _lines_outside_code(text: str, body: int) -> Iterator[tuple[int, str]]:
    """Numbered lines of the head and, without its fenced code blocks, of the body."""
    fence = ""
    offset = 0
    for number, line in enumerate(text.split("\n"), 1):
        found = _CODE_FENCE.match(line) if offset >= body else None
        offset += len(line) + 1
        if fence:
            if found and found[1].startswith(fence) and not found[2].strip():
                fence = ""
        elif found and not (found[1][0] == "`" and "`" in found[2]):
            fence = found[1]
        else:
            yield number, line.rstrip("\r")


def read(head: str) -> dict[str, Plain]:
    """The mapping of a head; raises ``Unreadable`` with every finding, by the file's lines."""
    mapping = read_canonical(head)
    return read_mapping(head, _HEAD_LINE) if mapping is None else mapping


def key_lines(head: str) -> dict[str, int]:
    """The file's line number of each top-level key of a readable head."""
    return {entry.key: entry.line + _HEAD_LINE - 1 for entry in _outline(head)[0]}


def compose(head: Mapping[str, Plain], body: str, plain_words: frozenset[str] = frozenset()) -> str:
    """The text of a new file in canonical form; ``plain_words`` as in ``print_mapping``."""
    return f"---\n{print_mapping(head, plain_words)}---\n{body}"


def patch(
    text: str,
    changes: Mapping[str, Plain | Absent],
    body: str | None = None,
    plain_words: frozenset[str] = frozenset(),
) -> str:
    """The text with keys changed, added or (``ABSENT``) removed, and all other bytes as before.

    A comment behind a changed value stays; one inside a list or mapping goes with it.
    ``body`` replaces all that follows the closing fence. Raises ``Unreadable`` when the text cannot
    be read, or when the change cannot be made without touching something else.
    """
    parts = split(text)
    before = read(parts.head)
    due = {key: value for key, value in changes.items() if before.get(key, ABSENT) != value}
    head = _Splicer(parts, plain_words).apply(due) if due else parts.head
    fences = text[parts.start + len(parts.head) : len(text) - len(parts.body)]
    if body and not fences.endswith("\n"):
        fences += parts.newline
    after = text[: parts.start] + head + fences + (parts.body if body is None else body)
    _prove(after, before, due, parts.body if body is None else body)
    return after


def _prove(
    after: str, before: Mapping[str, Plain], due: Mapping[str, Plain | Absent], body: str
) -> None:
    """Read the edited text again: it must hold what was meant and nothing else."""
    meant = {key: value for key, value in {**before, **due}.items() if value is not ABSENT}
    again = split(after)
    try:
        same = again.body == body and read(again.head) == meant
    except Unreadable:
        same = False
    if not same:
        _cannot_edit(_HEAD_LINE, "this change does not fit into the front matter as it is written")


def _cannot_edit(line: int, message: str) -> NoReturn:
    fix = "write each key on a line of its own, as `key: value`, and try again"
    _refuse("cannot-edit", line, message, fix)


def _outline(head: str) -> tuple[list[Entry], bool]:
    """The top-level entries of a readable head, and whether its mapping is in flow style."""
    return entries(head) if read_canonical(head) is None else (canonical_entries(head), False)


class _Splicer:
    """One edit of one head."""

    def __init__(self, parts: Split, plain_words: frozenset[str]) -> None:
        self._head = parts.head
        self._newline = parts.newline
        self._plain_words = plain_words
        self._entries, flow = _outline(parts.head)
        if flow:
            line = parts.head.count("\n", 0, parts.head.index("{")) + _HEAD_LINE
            _cannot_edit(
                line, "the front matter is a mapping in braces, which is not edited in place"
            )
        first = self._entries[0].start if self._entries else 0
        self._indent = " " * (first - parts.head.rfind("\n", 0, first) - 1)

    def apply(self, changes: Mapping[str, Plain | Absent]) -> str:
        """The head with the changes in it."""
        head = self._head
        for entry in reversed(self._entries):
            if entry.key in changes:
                start, end, new = self._replaced(entry, changes[entry.key])
                head = head[:start] + new + head[end:]
        known = {entry.key for entry in self._entries}
        return head + "".join(
            self._joined(entry_lines(print_key(key), value, plain_word=key in self._plain_words))
            for key, value in changes.items()
            if key not in known and not isinstance(value, Absent)
        )

    def _replaced(self, entry: Entry, value: Plain | Absent) -> tuple[int, int, str]:
        """The span that an entry's new text takes the place of, and that text."""
        head = self._head
        colon = self._colon(entry)
        end = max(colon, entry.value_end)
        if isinstance(value, Absent):
            return entry.start - len(self._indent), head.index("\n", end) + 1, ""
        beside = entry.value_start < entry.value_end and "\n" not in head[colon : entry.value_start]
        after = self._rest(entry.value_end if beside else colon)
        end += len(self._rest(end))
        shown = print_inline(value, plain_word=entry.key in self._plain_words)
        if shown is None:
            below = self._joined(print_block(value)).removesuffix(self._newline)
            return colon, end, after + self._newline + below
        gap = head[colon : entry.value_start] if beside else " "
        return colon, end, gap + shown + after

    def _colon(self, entry: Entry) -> int:
        """Past the colon of a key; none stands behind one that was opened with ``?``."""
        found = _COLON.match(self._head, entry.key_end)
        if found is None:
            line = entry.line + _HEAD_LINE - 1
            _cannot_edit(line, f"the key {entry.key!r} is not written as `key: value`")
        return found.end()

    def _rest(self, offset: int) -> str:
        """What stands on the line from there on: spaces, a comment."""
        return self._head[offset : self._head.index("\n", offset)].removesuffix("\r")

    def _joined(self, lines: list[str]) -> str:
        return "".join([self._indent + line + self._newline for line in lines])
