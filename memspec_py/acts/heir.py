"""The record that takes the place of others: what is new of it, and what it keeps of the first."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from memspec_py.acts.anchoring import Taken, anchored, each_once, taken_again
from memspec_py.acts.inputs import (
    checked_body,
    checked_scope,
    checked_tags,
    checked_time,
    checked_title,
    invalid,
)
from memspec_py.acts.observe import expiry
from memspec_py.acts.permission import tier
from memspec_py.acts.remember import review_date
from memspec_py.acts.writing import fresh_id
from memspec_py.anchors.grain import shown
from memspec_py.anchors.locate import Unresolved
from memspec_py.anchors.resolve import Resolved
from memspec_py.clock import parse_instant
from memspec_py.errors import UsageError
from memspec_py.record.model import EdgeType, Kind, Record, State, Type, Witness
from memspec_py.report import Finding
from memspec_py.trust.witness import first_witness

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memspec_py.store.resolve import Surroundings
    from memspec_py.workspace import Workspace

# The edges that still describe a claim when its text is corrected.
_KEPT_EDGES = tuple(
    edge for edge in EdgeType if edge not in (EdgeType.SUPERSEDES, EdgeType.SUPERSEDED_BY)
)
_TEXT = ("title", "body", "type")


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """What the heir says, nothing checked; None keeps what the superseded record has.

    ``type`` makes a claim of an observation. Without a title, a body or a type there is no heir.
    """

    title: str | None = None
    body: str | None = None
    type: str | None = None
    tags: Sequence[str] | None = None
    scope: str | None = None
    pinned: bool | None = None
    check_by: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    anchors: Sequence[str] | None = None

    @property
    def is_stated(self) -> bool:
        """Whether it says anything that makes a new record."""
        return any(getattr(self, name) is not None for name in _TEXT)

    def beside_text(self) -> list[str]:
        """The fields given that only describe a new record."""
        return [
            one.name
            for one in fields(self)
            if one.name not in _TEXT and getattr(self, one.name) is not None
        ]


def checked_replacement(new: Replacement) -> Replacement:
    """The replacement with a clean title and body.

    Raises ``Invalid`` for a title or body that says nothing, and ``UsageError`` when no new record
    is made and yet described.
    """
    if new.body is not None and not new.body.strip():
        finding = Finding(
            code="empty-body",
            field="body",
            message="the new body is empty",
            fix="leave the body out to retract the record, or to keep the old one with a new title",
        )
        raise invalid([finding])
    if not new.is_stated and (odd := new.beside_text()):
        raise UsageError(
            f"{', '.join(odd)} describes a new record, and none is made",
            hint="give a body, a title or a type, too; `memspec edit` changes a record in place",
        )
    return replace(
        new,
        title=None if new.title is None else checked_title(new.title),
        body=None if new.body is None else checked_body(new.body),
    )


def drafted(
    ws: Workspace, new: Replacement, olds: Sequence[Record], *, source: str, reason: str
) -> Record:
    """The heir but for its witness: what still describes it is that of the first record.

    Raises ``UsageError`` for one that says just what the first does.
    """
    target = olds[0]
    type_ = target.type if new.type is None else _type_of(new.type)
    gone = {one.id for one in olds}
    edges: dict[str, Any] = {
        edge.value: tuple(id_ for id_ in target.edges(edge) if id_ not in gone)
        for edge in _KEPT_EDGES
    }
    heir = Record(
        id=fresh_id(ws),
        kind=Kind.OBSERVATION if type_ is None else Kind.CLAIM,
        type=type_,
        state=State.ACTIVE,
        title=target.title if new.title is None else new.title,
        body=target.body if new.body is None else new.body,
        created=ws.now(),
        source=source,
        source_kind=tier(ws, source),
        tags=target.tags if new.tags is None else checked_tags(new.tags),
        scope=target.scope if new.scope is None else checked_scope(ws, new.scope),
        pinned=target.pinned if new.pinned is None else new.pinned,
        check_by=None if type_ is None else review_date(ws, type_, new.check_by),
        expires=_expiry(ws, target) if type_ is None else None,
        valid_from=_time("valid_from", new.valid_from, target.valid_from),
        valid_to=_time("valid_to", new.valid_to, target.valid_to),
        requires_human=target.requires_human if type_ is Type.PROCEDURE else (),
        supersedes=tuple(one.id for one in olds),
        supersede_reason=reason,
        **edges,
    )
    if (heir.title, heir.body, heir.type) == (target.title, target.body, target.type):
        raise UsageError(
            f"the replacement says what {target.id} says",
            hint="say what is different; `memspec edit` changes what only describes a record",
        )
    return heir


def witnessed(
    ws: Workspace, draft: Record, new: Replacement, target: Record, where: Surroundings
) -> tuple[Record, Taken]:
    """The heir with its anchors and its witness, and what became of the anchors.

    What it depends on is given, else the target's; either way as the code is now.
    """
    if new.anchors is None:
        taken = _taken_again(ws, where, target)
    else:
        taken = anchored(ws, where, new.anchors)
    witness = first_witness(taken.anchors, (), draft.source_kind)
    heir = replace(
        draft,
        anchors=taken.anchors,
        verified_with=witness,
        last_verified=None if witness is Witness.ASSERTION else draft.created,
    )
    return heir, taken


def _taken_again(ws: Workspace, where: Surroundings, target: Record) -> Taken:
    found = [(one, taken_again(ws, where, one, None)) for one in target.anchors]
    return Taken(
        anchors=each_once(one.anchor for _, one in found if isinstance(one, Resolved)),
        notes=tuple(
            f"{shown(one.anchor)}: {note}"
            for _, one in found
            if isinstance(one, Resolved)
            for note in one.notes
        ),
        unresolved=tuple(
            one._replace(path=shown(old)) for old, one in found if isinstance(one, Unresolved)
        ),
    )


def _type_of(name: str) -> Type:
    try:
        return Type(name)
    except ValueError:
        known = ", ".join(Type)
        raise UsageError(f"no type {name!r}", hint=f"a claim is one of: {known}") from None


def _time(name: str, given: str | None, kept: str | None) -> str | None:
    return kept if given is None else checked_time(name, given, parse_instant)


def _expiry(ws: Workspace, target: Record) -> str | None:
    """An observation that replaces another lives as long as a new one; one without end has none."""
    return None if target.expires is None else expiry(ws, ws.settings.decay["observation"])
