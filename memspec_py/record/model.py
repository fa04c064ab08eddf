"""What a record is."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

# Front matter is read without guessing types: a free value is text, nothing at all (an empty value,
# `~` or `null`), or a list or mapping of such values.
Plain: TypeAlias = "str | list[Plain] | dict[str, Plain] | None"


class Kind(StrEnum):
    """The three kinds of record."""

    CLAIM = "claim"
    OBSERVATION = "observation"
    QUESTION = "question"


class Type(StrEnum):
    """The types of a claim."""

    FACT = "fact"
    DECISION = "decision"
    PROCEDURE = "procedure"


class State(StrEnum):
    """Where a record stands; ``open`` and ``resolved`` belong to questions, the others do not."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    RETIRED = "retired"
    OPEN = "open"
    RESOLVED = "resolved"


class Witness(StrEnum):
    """How a claim was last attested, strongest first."""

    ANCHOR = "anchor"
    OPERATOR = "operator"
    EVIDENCE = "evidence"
    ASSERTION = "assertion"


class SourceKind(StrEnum):
    """The tier of whoever wrote the record."""

    OPERATOR = "operator"
    AGENT = "agent"
    IMPORT = "import"


class EdgeType(StrEnum):
    """Typed links from one record to others, named as in the front matter."""

    SUPERSEDES = "supersedes"
    SUPERSEDED_BY = "superseded_by"
    REFINES = "refines"
    SUPPORTS = "supports"
    DEPENDS_ON = "depends_on"
    DERIVED_FROM = "derived_from"
    CONFLICTS_WITH = "conflicts_with"
    DISTINCT_FROM = "distinct_from"


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """A file a claim depends on, and git's blob id of its bytes when it was anchored.

    ``file`` is relative to the project root, or to the root of ``repo`` (a bare directory name)
    when the file belongs to another repository.
    """

    file: str
    sha: str
    repo: str | None = None
    extra: Mapping[str, Plain] = field(default_factory=dict)


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


def is_stale(kind: str, state: str, check_by: str | None, now: str) -> bool:
    """Whether an active claim's review date has passed; computed at read time, never stored."""
    return (
        kind == Kind.CLAIM
        and state == State.ACTIVE
        and check_by is not None
        and check_by <= now  # "never" sorts after every instant, as letters follow digits
    )


def is_expired(kind: str, expires: str | None, now: str) -> bool:
    """Whether an observation's hard expiry has passed."""
    return kind == Kind.OBSERVATION and expires is not None and expires <= now
