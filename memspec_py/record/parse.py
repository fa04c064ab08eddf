"""From the text of a file to a ``Record`` and back.

Reading has two steps: text to a mapping that loses nothing (``frontmatter``), mapping to a record
that means something (here). Everything wrong with a file is told at once.
"""

from __future__ import annotations

import re
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from memspec_py.clock import NEVER, parse_instant
from memspec_py.ids import is_id
from memspec_py.record import frontmatter, legacy
from memspec_py.record.frontmatter import ABSENT, Unreadable
from memspec_py.record.model import (
    Anchor,
    Evidence,
    Kind,
    Record,
    SourceKind,
    State,
    Type,
    Witness,
)
from memspec_py.record.rules import EDGE_KEYS, broken_rules, inferred_source_kind
from memspec_py.report import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from enum import StrEnum

    from memspec_py.config import Limits
    from memspec_py.record.frontmatter import Absent
    from memspec_py.record.model import Plain

_E = TypeVar("_E", bound="StrEnum")
_T = TypeVar("_T")

# The order in which a new record is printed, and the home of every key we own.
KEYS = (
    *("id", "kind", "type", "state", "created", "source", "source_kind", "tags", "scope"),
    *("check_by", "last_verified", "verified_with", "pinned", "requires_human"),
    *("anchors", "evidence", "supersedes", "superseded_by", "supersede_reason", "conflicts_with"),
    *("refines", "supports", "depends_on", "derived_from", "distinct_from"),
    *("answers", "closed", "resolved_by", "expires", "valid_from", "valid_to", "ext"),
)
_VALUES = attrgetter(*KEYS)
FLAG_KEYS = frozenset({"pinned", "closed"})

_KNOWN = frozenset(KEYS)
_HEADING = re.compile(r"#[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*\r?$")
_ANY_HEADING = re.compile(r"^#[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*\r?$", re.MULTILINE)
# A run of # at the end belongs to the heading, not to its text, unless another one follows.
_CLOSES = re.compile(r"(?:\A|[ \t])#+\Z")
_KINDS = {kind.value: kind for kind in Kind}
_TYPES = {type_.value: type_ for type_ in Type}
_STATES = {state.value: state for state in State}
_WITNESSES = {witness.value: witness for witness in Witness}
_SOURCE_KINDS = {kind.value: kind for kind in SourceKind}


def parse_record(data: bytes, limits: Limits) -> Record:
    """The record a file holds.

    Raises ``Unreadable`` with every finding of the file; their ``path`` is left for the caller.
    """
    if len(data) > limits.record_bytes:
        message = f"the file has {len(data)} bytes; the limit is {limits.record_bytes}"
        raise Unreadable(Finding(code="too-large", message=message, line=1))
    parts = frontmatter.split(frontmatter.decode(data))
    raw = frontmatter.read(parts.head)
    fields = _Fields(legacy.modern(raw))
    record = fields.record(*split_body(parts.body))
    broken = [one for one in broken_rules(record, limits) if one.severity is Severity.ERROR]
    if fields.findings:
        broken = [*fields.findings, *_independent(broken, fields.findings)]
    if broken:
        raise Unreadable(*_placed(broken, parts.head))
    return record


def print_record(record: Record) -> str:
    """The canonical text of a new record's file."""
    text = join_body(record.title, record.body)
    return frontmatter.compose(to_mapping(record), text, FLAG_KEYS)


def edit_text(text: str, before: Record, after: Record) -> str:
    """The file's text with ``after`` in place of ``before``: only what differs is rewritten.

    Raises ``Unreadable`` when the front matter has a shape that cannot be edited in place.
    """
    raw = frontmatter.read(frontmatter.split(text).head)
    old, new = to_mapping(before), to_mapping(after)
    changes: dict[str, Plain | Absent] = {}
    for key in (*KEYS, *after.extra, *before.extra):
        if old.get(key, ABSENT) != new.get(key, ABSENT):
            changes[key] = new.get(key, ABSENT)
            changes.update(dict.fromkeys(legacy.old_names(key, raw), ABSENT))
    same_body = (before.title, before.body) == (after.title, after.body)
    body = None if same_body else join_body(after.title, after.body)
    return frontmatter.patch(text, changes, body, FLAG_KEYS)


def to_mapping(record: Record) -> dict[str, Plain]:
    """Front matter of a record in canonical order; what is empty is left out, but for ``tags``."""
    mapping: dict[str, Plain] = {}
    for key, value in zip(KEYS, _VALUES(record), strict=True):
        if value or key == "tags":
            mapping[key] = _plain(key, value)
    mapping.update(record.extra)
    return mapping


def split_body(text: str) -> tuple[str, str]:
    """Title and body of what follows the front matter.

    A first-level heading on the first line that is not blank is the title and no part of the body.
    Elsewhere (older versions allowed it) it is the title and stays in the body; without any, the
    first line is. The body keeps its own text but not the blank lines around it.
    """
    stripped = text.strip("\r\n")
    first, _, rest = stripped.partition("\n")
    heading = _HEADING.match(first)
    if heading is not None:
        return heading[1].strip(), rest.strip("\r\n")
    anywhere = _ANY_HEADING.search(stripped)
    return (anywhere[1] if anywhere is not None else first).strip(), stripped


def join_body(title: str, body: str) -> str:
    """What follows the front matter: the heading, a blank line, the body, one final newline."""
    stripped = body.strip("\r\n")
    heading = f"# {title} #" if _CLOSES.search(title) else f"# {title}"
    return f"{heading}\n\n{stripped}\n" if stripped else f"{heading}\n"


def _plain(key: str, value: object) -> Plain:
    """One field as front matter has it."""
    if value is None or isinstance(value, str):
        return None if value is None else str(value)
    if isinstance(value, bool):
        return "true" if value else None
    if isinstance(value, tuple):
        if key == "superseded_by" and len(value) == 1:
            return str(value[0])
        return [item if isinstance(item, str) else _plain_item(item) for item in value]
    return dict(value)  # type: ignore[call-overload, no-any-return]


def _plain_item(item: Anchor | Evidence) -> Plain:
    names = _ANCHOR_KEYS if isinstance(item, Anchor) else _EVIDENCE_KEYS
    shown: dict[str, Plain] = {
        name: value for name in names if (value := getattr(item, name)) is not None
    }
    shown.update(item.extra)
    return shown


_ANCHOR_KEYS = (
    *("repo", "file", "sha", "symbol", "symbol_id", "lines", "span_id", "name", "value"),
)
_EVIDENCE_KEYS = ("path", "sha256", "url", "name", "source", "added")


class _Fields:
    """Typed reading of a mapping: each getter returns a value or notes a finding."""

    def __init__(self, mapping: dict[str, Plain]) -> None:
        self._mapping = mapping
        self.findings: list[Finding] = []

    def record(self, title: str, body: str) -> Record:
        """The record; where ``findings`` tell of a field, it has a stand-in."""
        get = self._mapping.get
        kind = self._choice("kind", _KINDS) or Kind.CLAIM
        source = self._text("source", required=True)
        anchors = self._items("anchors", self._anchor) if "anchors" in self._mapping else ()
        evidence = self._items("evidence", self._evidence) if "evidence" in self._mapping else ()
        witness = Witness.ANCHOR if anchors else Witness.ASSERTION
        # Only what the file has: most records carry few of the many optional fields.
        optional: dict[str, Any] = {
            key: read(key)
            for keys, read in (
                (_LIST_KEYS, self._texts),
                (EDGE_KEYS, self._ids),
                (_TIME_KEYS, self._instant),
            )
            for key in keys
            if get(key) is not None
        }
        created = self._instant("created")
        if created is None and get("created") is None:
            self._complain("created", "missing-field", "created is missing")
        ext = get("ext") or {}
        if not isinstance(ext, dict):
            self._complain("ext", "wrong-type", "ext should be a mapping")
            ext = {}
        return Record(
            id=self._id(),
            kind=kind,
            type=self._choice("type", _TYPES),
            state=self._choice("state", _STATES) or _FIRST_STATE[kind],
            title=title,
            body=body,
            created=created or "",
            source=source,
            source_kind=self._choice("source_kind", _SOURCE_KINDS) or inferred_source_kind(source),
            verified_with=self._choice("verified_with", _WITNESSES) or witness,
            pinned=self._flag("pinned"),
            closed=self._flag("closed"),
            check_by=self._check_by(),
            scope=self._text("scope") or None,
            supersede_reason=self._text("supersede_reason") or None,
            resolved_by=self._text("resolved_by") or None,
            anchors=anchors,
            evidence=evidence,
            ext=ext,
            extra={key: value for key, value in self._mapping.items() if key not in _KNOWN},
            **optional,
        )

    def _complain(self, key: str, code: str, message: str) -> None:
        self.findings.append(Finding(code=code, message=message, field=key))

    def _id(self) -> str:
        value = self._mapping.get("id")
        if isinstance(value, str) and is_id(value):
            return value
        if value is None:
            self._complain("id", "missing-field", "id is missing")
        else:
            self._complain("id", "bad-id", f"id {value!r} is not ms_ and 26 capitals or digits")
        return ""

    def _text(self, key: str, *, required: bool = False) -> str:
        value = self._mapping.get(key)
        if value is None and not required:
            return ""
        if isinstance(value, str):
            if value.strip() or not required:
                return value
            self._complain(key, "missing-field", f"{key} is blank")
        elif value is None:
            self._complain(key, "missing-field", f"{key} is missing")
        else:
            self._complain(key, "wrong-type", f"{key} should be a text")
        return ""

    def _texts(self, key: str) -> tuple[str, ...]:
        value = self._mapping[key]
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)  # type: ignore[arg-type]
        if isinstance(value, str):
            return tuple(part for item in value.split(",") if (part := item.strip()))
        self._complain(key, "wrong-type", f"{key} should be a list of texts")
        return ()

    def _ids(self, key: str) -> tuple[str, ...]:
        values = self._texts(key)
        for position, value in enumerate(values):
            if not is_id(value):
                message = f"{key}[{position}]: {value!r} is not a record id"
                self._complain(key, "bad-id", message)
        return values

    def _choice(self, key: str, choices: Mapping[str, _E]) -> _E | None:
        value = self._mapping.get(key)
        if value is None:
            return None
        found = choices.get(value) if isinstance(value, str) else None
        if found is None:
            self._complain(key, "bad-value", f"{key} {value!r} is not one of {', '.join(choices)}")
        return found

    def _flag(self, key: str) -> bool:
        value = self._mapping.get(key)
        if value is None or value == "false":
            return False
        if value != "true":
            self._complain(key, "bad-value", f"{key} {value!r} is neither true nor false")
        return True

    def _instant(self, key: str) -> str | None:
        value = self._mapping.get(key)
        if value is None:
            return None
        try:
            return parse_instant(value if isinstance(value, str) else repr(value))
        except ValueError as problem:
            self._complain(key, "bad-time", f"{key}: {problem}")
            return None

    def _check_by(self) -> str | None:
        return NEVER if self._mapping.get("check_by") == NEVER else self._instant("check_by")

    def _items(
        self, key: str, read: Callable[[dict[str, Plain], str], _T | None]
    ) -> tuple[_T, ...]:
        value = self._mapping[key]
        if value is None:
            return ()
        if not isinstance(value, list):
            self._complain(key, "wrong-type", f"{key} should be a list")
            return ()
        found = []
        for position, item in enumerate(value):
            where = f"{key}[{position}]"
            if isinstance(item, dict):
                found.append(read(item, where))
            else:
                self._complain(key, "wrong-type", f"{where} should be a mapping")
        return tuple(item for item in found if item is not None)

    def _anchor(self, item: dict[str, Plain], where: str) -> Anchor | None:
        known = self._known_texts(item, where, _ANCHOR_KEYS, required=("file", "sha"))
        return None if known is None else Anchor(**known, extra=_others(item, _ANCHOR_KEYS))

    def _evidence(self, item: dict[str, Plain], where: str) -> Evidence | None:
        known = self._known_texts(item, where, _EVIDENCE_KEYS, required=())
        if known is not None and not ("path" in known or "url" in known):
            self._complain("evidence", "missing-field", f"{where} has neither path nor url")
        return None if known is None else Evidence(**known, extra=_others(item, _EVIDENCE_KEYS))

    def _known_texts(
        self, item: dict[str, Plain], where: str, names: tuple[str, ...], required: tuple[str, ...]
    ) -> dict[str, Any] | None:
        known: dict[str, Any] = {}
        before = len(self.findings)
        for name in names:
            value = item.get(name)
            if isinstance(value, str) and value:
                known[name] = value
            elif value is None and name in required:
                self._complain(where, "missing-field", f"{where}.{name} is missing")
            elif value is not None:
                self._complain(where, "wrong-type", f"{where}.{name} should be a text")
        return known if len(self.findings) == before else None


_LIST_KEYS = ("tags", "requires_human")
_TIME_KEYS = ("last_verified", "expires", "valid_from", "valid_to")
_FIRST_STATE = {Kind.CLAIM: State.ACTIVE, Kind.OBSERVATION: State.ACTIVE, Kind.QUESTION: State.OPEN}


def _independent(broken: list[Finding], known: list[Finding]) -> list[Finding]:
    """The broken rules that do not merely follow from fields which could not be read."""
    fields = {(finding.field or "").partition("[")[0] for finding in known}
    unsure = {"kind", "type", "state"} if fields & {"kind", "type"} else set()
    return [
        finding
        for finding in broken
        if finding.field not in fields | unsure
        and not (unsure and finding.code == "misplaced-field")
    ]


def _others(item: Mapping[str, Plain], known: tuple[str, ...]) -> dict[str, Plain]:
    return {key: value for key, value in item.items() if key not in known}


def _placed(findings: list[Finding], head: str) -> list[Finding]:
    """The findings with the line of the key each speaks of."""
    lines = frontmatter.key_lines(head)
    return [
        finding
        if finding.line is not None
        else replace(finding, line=lines.get((finding.field or "").partition("[")[0], 1))
        for finding in findings
    ]
