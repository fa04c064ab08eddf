"""Rules that involve more than one field, and the bounds of each; pure, one finding per breach.

Errors make a record unreadable and are refused on write; warnings are for ``doctor``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspec_py.record.model import Kind, SourceKind, State, Type
from memspec_py.report import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspec_py.config import Limits
    from memspec_py.record.model import Record

EDGE_KEYS = (
    *("supersedes", "superseded_by", "conflicts_with", "refines", "supports"),
    *("depends_on", "derived_from", "distinct_from", "answers"),
)
QUESTION_STATES = frozenset({State.OPEN, State.RESOLVED})
_IMPORTERS = frozenset({"openclaw-import", "brownfield-import", "claude-fable"})


def inferred_source_kind(source: str) -> SourceKind:
    """The tier a source has by its name alone, for files and writers that do not say.

    ``human:NAME`` and ``user`` are the operator; importers and migrations are imports; everybody
    else is an agent (source: 0.7.2 reference, section 2; its author's own name is left out).
    """
    name = source.strip().lower()
    if name.startswith("human:") or name == "user":
        return SourceKind.OPERATOR
    if name in _IMPORTERS or name.startswith("migration-") or name.endswith("-import"):
        return SourceKind.IMPORT
    return SourceKind.AGENT


def broken_rules(record: Record, limits: Limits) -> list[Finding]:
    """Every rule the record breaks, in the order of ``RULES``."""
    return [finding for rule in RULES for finding in rule(record, limits)]


def _title_is_one_bounded_line(record: Record, limits: Limits) -> Iterator[Finding]:
    title = record.title
    if not title.strip():
        yield _error("title", "missing-title", "the record has no title: the first line is blank")
    elif len(title) > limits.title_chars and record.kind is not Kind.OBSERVATION:
        message = f"the title has {len(title)} characters; the limit is {limits.title_chars}"
        yield _error("title", "too-long", message)


def _claims_have_a_type(record: Record, limits: Limits) -> Iterator[Finding]:
    if record.kind is Kind.CLAIM and record.type is None:
        yield _error("type", "missing-field", "a claim needs a type: fact, decision or procedure")
    elif record.kind is not Kind.CLAIM and record.type is not None:
        yield _error("type", "misplaced-field", f"type belongs to claims, not to a {record.kind}")


def _states_fit_the_kind(record: Record, limits: Limits) -> Iterator[Finding]:
    if (record.state in QUESTION_STATES) is not (record.kind is Kind.QUESTION):
        message = f"state {record.state} does not fit a {record.kind}"
        yield _error("state", "bad-value", message)


def _fields_fit_the_kind(record: Record, limits: Limits) -> Iterator[Finding]:
    if record.requires_human and record.type is not Type.PROCEDURE:
        yield _error("requires_human", "misplaced-field", "requires_human belongs to procedures")
    if record.kind is not Kind.QUESTION:
        for key in ("answers", "closed", "resolved_by"):
            if getattr(record, key):
                yield _error(key, "misplaced-field", f"{key} belongs to questions")
    if record.expires is not None and record.kind is not Kind.OBSERVATION:
        yield _error("expires", "misplaced-field", "expires belongs to observations")


def _validity_runs_forward(record: Record, limits: Limits) -> Iterator[Finding]:
    if record.valid_from and record.valid_to and record.valid_from > record.valid_to:
        message = f"valid_from {record.valid_from} is later than valid_to {record.valid_to}"
        yield _error("valid_from", "bad-validity", message)


def _counts_are_bounded(record: Record, limits: Limits) -> Iterator[Finding]:
    if len(record.tags) > limits.tags:
        yield _error("tags", "too-many", f"{len(record.tags)} tags; the limit is {limits.tags}")
    for tag in record.tags:
        if not tag.strip() or len(tag) > limits.tag_chars:
            message = f"tag {tag[:80]!r} is blank or longer than {limits.tag_chars} characters"
            yield _error("tags", "bad-tag", message)
    if len(record.anchors) > limits.anchors:
        message = f"{len(record.anchors)} anchors; the limit is {limits.anchors}"
        yield _error("anchors", "too-many", message)
    if len(record.evidence) > limits.evidence:
        message = f"{len(record.evidence)} attachments; the limit is {limits.evidence}"
        yield _error("evidence", "too-many", message)


def _edges_are_bounded(record: Record, limits: Limits) -> Iterator[Finding]:
    for key in EDGE_KEYS:
        targets = getattr(record, key)
        if not targets:
            continue
        if len(targets) > limits.edges:
            message = f"{len(targets)} ids in {key}; the limit is {limits.edges}"
            yield _error(key, "too-many", message)
        if record.id in targets:
            yield _warning(key, "self-edge", f"{key} names the record itself")
        if len(set(targets)) < len(targets):
            yield _warning(key, "repeated-edge", f"{key} names a record twice")


def _superseded_records_say_why(record: Record, limits: Limits) -> Iterator[Finding]:
    if record.state is State.SUPERSEDED and not (record.superseded_by or record.supersede_reason):
        message = "a superseded record names neither its heir nor a reason"
        yield _warning("state", "no-heir", message)


RULES = (
    _title_is_one_bounded_line,
    _claims_have_a_type,
    _states_fit_the_kind,
    _fields_fit_the_kind,
    _validity_runs_forward,
    _counts_are_bounded,
    _edges_are_bounded,
    _superseded_records_say_why,
)


def _error(key: str, code: str, message: str) -> Finding:
    return Finding(code=code, message=message, field=key)


def _warning(key: str, code: str, message: str) -> Finding:
    return Finding(code=code, message=message, field=key, severity=Severity.WARNING)
