"""Write a claim, unless the store already says it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from memspec_py.acts.anchoring import anchored
from memspec_py.acts.attach import Attachment, checked_evidence, keep_evidence
from memspec_py.acts.inputs import (
    checked_body,
    checked_scope,
    checked_tags,
    checked_time,
    checked_title,
    invalid,
)
from memspec_py.acts.near import likeness, wording
from memspec_py.acts.permission import refuse_pin, tier
from memspec_py.acts.question import answering
from memspec_py.acts.tombstones import Past, force_reason, with_reason, withdrawn_in
from memspec_py.acts.writing import checked, fresh_id, known_ids
from memspec_py.anchors.grain import shown
from memspec_py.clock import NEVER, instant, parse_duration, parse_instant
from memspec_py.errors import NearDuplicate, UsageError
from memspec_py.index.query import parse_query
from memspec_py.index.search import Filters, find
from memspec_py.record.model import Kind, Record, State, Type, Witness
from memspec_py.report import Finding
from memspec_py.store import journal, layout
from memspec_py.store.gitignore import keep_current
from memspec_py.trust.source import checked_source
from memspec_py.trust.tiers import Act
from memspec_py.trust.witness import first_witness

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memspec_py.anchors.locate import Unresolved
    from memspec_py.record.model import Anchor, Plain
    from memspec_py.store.resolve import Surroundings
    from memspec_py.workspace import Workspace

# Records with the most words of the new title in common; the rule itself looks at each of them.
_COMPARED = 20
_EDGES = (
    *("refines", "supports", "depends_on", "derived_from", "conflicts_with", "distinct_from"),
)
_OPPOSED = ("refines", "supports", "depends_on", "derived_from")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewClaim:
    """A claim as a caller states it: nothing checked, paths and ids as typed.

    ``check_by``, ``valid_from`` and ``valid_to`` are ISO 8601 (``check_by`` also ``never``);
    without ``check_by`` the type's review span counts from now. ``edges`` maps an edge type to ids.
    Relative ``anchors`` are looked up in ``anchor_root`` first; ``strict`` refuses one that leads
    nowhere.
    """

    type: str
    title: str
    source: str
    body: str = ""
    tags: Sequence[str] = ()
    scope: str | None = None
    pinned: bool = False
    check_by: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    anchors: Sequence[str] = ()
    anchor_root: str | None = None
    strict: bool = False
    evidence: Sequence[str] = ()
    requires_human: Sequence[str] = ()
    edges: Mapping[str, Sequence[str]] = field(default_factory=dict)
    ext: Mapping[str, Plain] = field(default_factory=dict)
    answers_question: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicate:
    """A record that already says it, and in which way; ``layer`` if it is not of this store."""

    id: str
    title: str
    why: str
    layer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What was written and where.

    ``unresolved`` are anchor paths that resolved nowhere, ``notes`` say what of the anchors is
    coarser or less portable than was asked for; ``duplicates`` and ``withdrawn`` are only
    filled when the write was forced past them.
    """

    store: str
    id: str
    path: str
    kind: str
    type: str
    title: str
    source: str
    source_kind: str
    verified_with: str
    check_by: str
    scope: str | None
    anchors: tuple[str, ...]
    unresolved: tuple[Unresolved, ...]
    notes: tuple[str, ...]
    evidence: tuple[str, ...]
    duplicates: tuple[Duplicate, ...]
    withdrawn: tuple[Past, ...]
    answers_question: str | None


def remember(
    ws: Workspace,
    claim: NewClaim,
    where: Surroundings,
    *,
    force: bool = False,
    reason: str | None = None,
) -> Remembered:
    """Write the claim; every input is checked before the first byte is.

    Raises ``Invalid`` for a bad value, ``NotFound`` for an edge to nowhere, ``NearDuplicate`` when
    the store already says it (unless forced), ``Withdrawn`` when a superseded record said it
    (unless forced with a reason), ``NotAllowed`` for evidence that must not be kept, for an agent's
    pin, and for an agent's answer to a question of the operator's.
    """
    why = force_reason(force=force, reason=reason)
    draft = _draft(ws, claim)
    attachments = checked_evidence(ws, claim.evidence, where)
    taken = anchored(ws, where, claim.anchors, root=claim.anchor_root, strict=claim.strict)
    with ws.writing():
        edges, duplicates, withdrawn = ws.read(
            lambda _: (
                _edges(ws, claim.edges),
                duplicates_of(ws, draft),
                withdrawn_in(ws, draft),
            )
        )
        if duplicates and not force:
            raise near_duplicate(duplicates)
        draft = with_reason(draft, withdrawn, force=force, reason=why)
        record = _complete(draft, taken.anchors, attachments, edges)
        path = layout.path_of(record)
        changes: list[journal.Change] = [journal.Create(path, checked(ws, record))]
        question = None
        if claim.answers_question is not None:
            asked = claim.answers_question
            question, change = ws.read(lambda _: answering(ws, asked, record))
            changes.append(change)
        keep_evidence(ws, attachments)
        keep_current(ws.root)
        journal.apply(ws.root, changes, record.id)
    return Remembered(
        store=str(ws.root),
        id=record.id,
        path=path,
        kind=record.kind.value,
        type=record.label,
        title=record.title,
        source=record.source,
        source_kind=record.source_kind.value,
        verified_with=record.verified_with.value,
        check_by=record.check_by or NEVER,
        scope=record.scope,
        anchors=tuple(shown(anchor) for anchor in taken.anchors),
        unresolved=taken.unresolved,
        notes=taken.notes,
        evidence=tuple(one.path or one.url or "" for one in record.evidence),
        duplicates=tuple(duplicates),
        withdrawn=withdrawn,
        answers_question=question,
    )


def review_date(ws: Workspace, label: str, given: str | None) -> str:
    """When a claim should be looked at again: as given, else after its type's span."""
    if given == NEVER:
        return NEVER
    asked = checked_time("check_by", given, parse_instant)
    if asked is not None:
        return asked
    span = ws.settings.decay[label]
    return NEVER if span == NEVER else instant(ws.clock.now() + parse_duration(span))


def _draft(ws: Workspace, claim: NewClaim) -> Record:
    """The record as far as the claim alone determines it."""
    try:
        type_ = Type(claim.type)
    except ValueError:
        known = ", ".join(Type)
        raise UsageError(f"no type {claim.type!r}", hint=f"a claim is one of: {known}") from None
    source = checked_source(claim.source)
    if claim.pinned:
        refuse_pin(ws, Act.PIN_NEW, source=source)
    return Record(
        id=fresh_id(ws),
        kind=Kind.CLAIM,
        type=type_,
        state=State.ACTIVE,
        title=checked_title(claim.title),
        body=checked_body(claim.body),
        created=ws.now(),
        source=source,
        source_kind=tier(ws, source),
        tags=checked_tags(claim.tags),
        scope=checked_scope(ws, claim.scope),
        pinned=claim.pinned,
        check_by=review_date(ws, type_, claim.check_by),
        valid_from=checked_time("valid_from", claim.valid_from, parse_instant),
        valid_to=checked_time("valid_to", claim.valid_to, parse_instant),
        requires_human=tuple(step.strip() for step in claim.requires_human if step.strip()),
        ext=dict(claim.ext),
    )


def _complete(
    draft: Record,
    anchors: tuple[Anchor, ...],
    attachments: Sequence[Attachment],
    edges: dict[str, Any],
) -> Record:
    evidence = tuple(one.entry for one in attachments)
    witness = first_witness(anchors, evidence, draft.source_kind)
    return replace(
        draft,
        anchors=anchors,
        evidence=evidence,
        verified_with=witness,
        # An assertion was not verified by anybody, so it carries no such date.
        last_verified=None if witness is Witness.ASSERTION else draft.created,
        **edges,
    )


def _edges(ws: Workspace, edges: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """The edges with whole ids; contradictions between them are refused."""
    for name in edges:
        if name not in _EDGES:
            raise UsageError(f"no edge type {name!r}", hint=f"one of: {', '.join(_EDGES)}")
    found = {name: known_ids(ws, name, edges[name]) for name in _EDGES if edges.get(name)}
    refuse_contradictions(found)
    return found


def refuse_contradictions(edges: Mapping[str, Sequence[str]]) -> None:
    """Raise ``Invalid`` when one record is named under two edge types that exclude each other."""
    findings = []
    for first, second in _EXCLUSIVE:
        for target in sorted(set(edges.get(first, ())) & set(edges.get(second, ()))):
            message = f"{first} and {second} both name {target}, which contradict each other"
            findings.append(Finding(code="contradictory-edges", field=first, message=message))
    if findings:
        raise invalid(findings)


_EXCLUSIVE = (
    *((name, "conflicts_with") for name in _OPPOSED),
    *((name, "distinct_from") for name in (*_OPPOSED, "conflicts_with")),
)


def duplicates_of(ws: Workspace, draft: Record, beside: Sequence[Record] = ()) -> list[Duplicate]:
    """Active claims that already say what the draft says: of all layers, then of ``beside``.

    The index must be current.
    """
    query = parse_query(draft.title, ws.settings.limits.query_terms)
    filters = Filters(types=tuple(Type), scope=draft.scope, as_of=None, now=draft.created)
    candidates: list[tuple[str, str, str, str | None]] = []
    for store, db in zip((ws, *ws.beside), ws.indexes(), strict=True):
        layer = None if store is ws else store.name
        page = find(db, query, filters, _COMPARED, recency=0.0, now=ws.clock.now())
        candidates += [(hit.id, *db.execute(_SAID, (hit.key,)).fetchone(), layer) for hit in page]
    candidates += [
        (other.id, other.title, other.body, None) for other in beside if other.scope == draft.scope
    ]
    new = wording(draft.title, draft.body)
    found = []
    for id_, title, body, layer in candidates:
        like = likeness(new, wording(title, body))
        if like.is_duplicate:
            found.append(Duplicate(id=id_, title=title, why=like.why, layer=layer))
    return found


_SAID = "select json_extract(head, '$.title'), body from shown where key = ?"


def near_duplicate(duplicates: Sequence[Duplicate]) -> NearDuplicate:
    """The refusal of a claim that some records already make."""
    first = duplicates[0]
    who = f"the store layer {first.layer!r}" if first.layer else "the store"
    return NearDuplicate(
        f'{who} already says this: {first.id} "{first.title}" ({first.why})',
        hint=f"read it with `memspec get {first.id}`; to correct it, supersede it;"
        " if both should stand, repeat the command with --force",
        details={
            "duplicates": [
                {
                    "id": one.id,
                    "title": one.title,
                    "why": one.why,
                    **({"layer": one.layer} if one.layer else {}),
                }
                for one in duplicates
            ]
        },
    )
