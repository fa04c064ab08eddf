"""What a record is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memspec_py.record.anchor import Anchor, Plain
from memspec_py.record.words import (
    EdgeType,
    Kind,
    SourceKind,
    State,
    Type,
    Witness,
    is_expired,
    is_stale,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "Anchor",
    "EdgeType",
    "Evidence",
    "Kind",
    "Plain",
    "Record",
    "SourceKind",
    "State",
    "Type",
    "Witness",
    "is_expired",
    "is_stale",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Committed proof (``path`` below ``evidence/``, with its ``sha256``) or a pointer (``url``).

    ``source`` says where a file came from, never as an absolute path.
    """

    path: str | None = None
    sha256: str | None = None
    url: str | None = None
    name: str | None = None
    source: str | None = None
    added: str | None = None
    extra: Mapping[str, Plain] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One Markdown file with front matter, as values.

    Instants are canonical text (UTC, milliseconds, ``Z``), so that they sort as time does.
    ``check_by`` may also be ``"never"``. ``extra`` holds front matter keys we do not know.
    """

    id: str
    kind: Kind
    type: Type | None = None
    state: State
    title: str
    body: str = ""
    created: str
    source: str
    source_kind: SourceKind = SourceKind.AGENT
    verified_with: Witness = Witness.ASSERTION
    tags: tuple[str, ...] = ()
    scope: str | None = None
    pinned: bool = False
    check_by: str | None = None
    last_verified: str | None = None
    expires: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    requires_human: tuple[str, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    supersede_reason: str | None = None
    refines: tuple[str, ...] = ()
    supports: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()
    conflicts_with: tuple[str, ...] = ()
    distinct_from: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    closed: bool = False
    resolved_by: str | None = None
    ext: Mapping[str, Plain] = field(default_factory=dict)
    extra: Mapping[str, Plain] = field(default_factory=dict)

    def edges(self, edge: EdgeType) -> tuple[str, ...]:
        """The ids this record names under one edge type, in file order."""
        targets: tuple[str, ...] = getattr(self, edge.value)
        return targets

    @property
    def label(self) -> str:
        """The type of a claim, else the kind: the one word a reader sorts by."""
        return (self.type or self.kind).value
