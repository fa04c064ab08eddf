"""Sources: who a record comes from, and what tier that is, before anything is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspec_py.errors import Invalid
from memspec_py.record.model import SourceKind
from memspec_py.record.rules import inferred_source_kind
from memspec_py.report import Finding
from memspec_py.trust.channel import Channel

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST = 200
_NOBODY = frozenset({"", "unknown", "none", "null", "n/a"})


def checked_source(source: str) -> str:
    """The source as it is stored; raises ``Invalid`` for one that names nobody."""
    name = source.strip()
    if name.lower() in _NOBODY:
        raise _refused(f"source {source!r} names nobody")
    if len(name) > _LONGEST or not name.isprintable():
        raise _refused(f"source should be one line of at most {_LONGEST} characters")
    return name


def tier_of(source: str, channel: Channel, operators: Iterable[str] = ()) -> SourceKind:
    """The tier of who acts, by name and channel; ``operators`` are the names in config.yaml.

    Over mcp nobody is an operator, whatever the name: whoever calls there is a program. (A record
    that is read and does not say its tier has the one its source's name gives, as ever.)
    """
    if channel is not Channel.MCP and _folded(source) in {_folded(name) for name in operators}:
        return SourceKind.OPERATOR
    named = inferred_source_kind(source)
    if named is SourceKind.OPERATOR and channel is Channel.MCP:
        return SourceKind.AGENT
    return named


def _folded(name: str) -> str:
    return name.strip().casefold()


def _refused(message: str) -> Invalid:
    return Invalid(
        message,
        findings=[Finding(code="bad-value", field="source", message=message)],
        hint="say who claims this, such as --source claude-code or --source human:NAME",
    )
