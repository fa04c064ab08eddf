"""What a backfill may change of a record; what needs an act is refused, with the act's name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memspec_py.acts.inputs import checked_scope, invalid
from memspec_py.acts.remember import refuse_contradictions
from memspec_py.record.model import EdgeType, Kind, SourceKind, State, Type, Witness
from memspec_py.record.rules import inferred_source_kind
from memspec_py.report import Finding
from memspec_py.trust.source import checked_source

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from enum import StrEnum

    from memspec_py.record.model import Record
    from memspec_py.workspace import Workspace

_FIXED = ("id", "kind", "created")
_ACTS = {
    "state": "supersede, sweep and question change it, with a trace",
    "supersedes": "supersede changes it, with a reason",
    "superseded_by": "supersede changes it, with a reason",
    "supersede_reason": "supersede changes it",
    "resolved_by": "question resolves, with a trace",
    "anchors": "anchor and verify --reanchor change them, and look at the code",
    "evidence": "verify attaches it, and keeps its digest",
}
_LINKS = (*(edge.value for edge in EdgeType), "answers")


def changed_fields(before: Record, after: Record) -> tuple[str, ...]:
    """The fields that differ, in the order of the model."""
    return tuple(
        name
        for name in before.__dataclass_fields__
        if getattr(before, name) != getattr(after, name)
    )


def checked_change(ws: Workspace, before: Record, after: Record, ids: Collection[str]) -> Record:
    """The changed record as it is stored; ``ids`` are those of the store.

    Raises ``Invalid`` with everything that a backfill may not do, or that is of a wrong type.
    """
    if wrong := list(_ill_typed(after)):
        raise invalid(wrong)
    sound = _typed(after)
    changed = changed_fields(before, sound)
    findings = [
        *_needing_an_act(changed),
        *_claimed(before, sound),
        *_dangling(ws, before, sound, ids),
    ]
    if findings:
        raise invalid(findings)
    if "source" in changed:
        checked_source(sound.source)
    if "scope" in changed:
        checked_scope(ws, sound.scope)
    if any(edge in changed for edge in EdgeType):
        refuse_contradictions({edge: sound.edges(edge) for edge in EdgeType})
    return sound


def _needing_an_act(changed: Iterable[str]) -> Iterator[Finding]:
    for name in changed:
        if name in _FIXED:
            yield _finding("fixed-field", name, f"{name} can never change")
        elif name in _ACTS:
            yield _finding("needs-act", name, f"{name} is no matter of a backfill: {_ACTS[name]}")


def _claimed(before: Record, after: Record) -> Iterator[Finding]:
    """What would make a record look better attested, or more its operator's, than it is."""
    tiers, strength = tuple(SourceKind).index, tuple(Witness).index
    if tiers(after.source_kind) < tiers(before.source_kind):
        message = f"source_kind {before.source_kind} cannot become {after.source_kind}"
        yield _finding("stronger-trust", "source_kind", f"{message}: write it anew")
    elif after.source != before.source and _is_theirs(after) and not _is_theirs(before):
        message = f"source {after.source!r} is the operator's: write the record anew"
        yield _finding("stronger-trust", "source", message)
    if after.pinned and not before.pinned:
        yield _finding("stronger-trust", "pinned", "only an operator pins a record: edit does it")
    if strength(after.verified_with) < strength(before.verified_with):
        message = f"verified_with {before.verified_with} cannot become {after.verified_with}"
        yield _finding("stronger-trust", "verified_with", f"{message}: verify renews a witness")
    if (after.last_verified or "") > (before.last_verified or ""):
        message = "last_verified cannot become later: verify says that a record still holds"
        yield _finding("stronger-trust", "last_verified", message)


def _is_theirs(record: Record) -> bool:
    return SourceKind.OPERATOR in (record.source_kind, inferred_source_kind(record.source))


def _dangling(
    ws: Workspace, before: Record, after: Record, ids: Collection[str]
) -> Iterator[Finding]:
    for name in _LINKS:
        for target in getattr(after, name):
            if target in getattr(before, name) or target in ids or _is_beside(ws, target):
                continue
            message = f"{name} names {target}, which is not in the store"
            yield _finding("dangling-edge", name, message)


def _is_beside(ws: Workspace, id_: str) -> bool:
    """Whether another store that serves the same place has the record."""
    query = "select 1 from records where id = ?"
    return bool(ws.beside) and ws.read(
        lambda _: any(db.execute(query, (id_,)).fetchone() for db in ws.indexes())
    )


def _ill_typed(record: Record) -> Iterator[Finding]:
    """What the annotations of ``Record`` forbid and Python lets through."""
    for names, is_right, told in _SHAPES:
        for name in names:
            if not is_right(getattr(record, name)):
                yield _finding("wrong-type", name, f"{name} should be {told}")
    for name, words in _WORDS.items():
        value = getattr(record, name)
        if value not in tuple(words) and not (name == "type" and value is None):
            yield _finding("bad-value", name, f"{name} {value!r} is not one of {', '.join(words)}")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_text_or_none(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)


def _is_mapping(value: object) -> bool:
    return isinstance(value, dict) and _is_plain(value)


def _is_plain(value: object) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(part) for key, part in value.items())
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return _is_text_or_none(value)


_LISTS = ("tags", "requires_human", *(edge.value for edge in EdgeType), "answers")
_SHAPES: tuple[tuple[tuple[str, ...], Callable[[object], bool], str], ...] = (
    (("id", "title", "body", "created", "source"), _is_text, "a text"),
    (("scope", "check_by", "last_verified", "expires"), _is_text_or_none, "a text or None"),
    (("valid_from", "valid_to", "supersede_reason"), _is_text_or_none, "a text or None"),
    (("resolved_by",), _is_text_or_none, "a text or None"),
    (("pinned", "closed"), _is_flag, "true or false"),
    (_LISTS, _is_texts, "a tuple of texts"),
    (("ext", "extra"), _is_mapping, "a mapping of texts, lists and mappings; numbers are texts"),
)
_WORDS: Mapping[str, type[StrEnum]] = {
    "kind": Kind,
    "type": Type,
    "state": State,
    "source_kind": SourceKind,
    "verified_with": Witness,
}


def _typed(record: Record) -> Record:
    """The record with words for plain texts that equal them, and tuples for lists."""
    lists: dict[str, Any] = {name: tuple(getattr(record, name)) for name in _LISTS}
    return replace(
        record,
        kind=Kind(record.kind),
        type=None if record.type is None else Type(record.type),
        state=State(record.state),
        source_kind=SourceKind(record.source_kind),
        verified_with=Witness(record.verified_with),
        **lists,
    )


def _finding(code: str, field: str, message: str) -> Finding:
    return Finding(code=code, field=field, message=message)
