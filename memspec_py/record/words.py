"""The words a record is described with: kinds, types, states, witnesses, tiers and edges.

Apart from the record itself, because a search of a fresh index needs these and never builds one.
"""

from __future__ import annotations

from enum import StrEnum


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
