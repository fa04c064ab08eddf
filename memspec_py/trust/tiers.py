"""Who may change what: the one table of the operator tier.

Who acts is an operator or not (``trust.source.tier_of``); over mcp nobody is one.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from memspec_py.trust.channel import Channel


class Act(StrEnum):
    """What can be done with a record of the operator's, as far as the rules tell it apart."""

    CREATE = "create"
    PIN_NEW = "pin-new"
    PIN = "pin"
    REPLACE = "replace"
    RETRACT = "retract"
    MERGE_FROM = "merge-from"
    MERGE_INTO = "merge-into"
    RELATE = "relate"
    RELATE_TO = "relate-to"
    VERIFY = "verify"
    ANCHOR = "anchor"
    QUESTION = "question"
    ANSWER_NEW = "answer-new"
    EDIT = "edit"
    SWEEP = "sweep"
    BACKFILL = "backfill"
    ADOPT = "adopt"
    OUTCOME = "outcome"


class Verdict(StrEnum):
    """What the table says: done, done with ``--override-operator``, not done, or done as less."""

    ALLOWED = "allowed"
    OVERRIDE = "override"
    REFUSED = "refused"
    AGENT_TIER = "agent tier"


class Row(NamedTuple):
    """One act: what becomes of it by who acts; ``operator`` and ``agent`` are for cli and api."""

    act: Act
    what: str
    operator: Verdict
    agent: Verdict
    mcp: Verdict


_YES, _OVER = Verdict.ALLOWED, Verdict.OVERRIDE
_NO, _LESS = Verdict.REFUSED, Verdict.AGENT_TIER

TABLE = (
    # act, what it is, an operator's verdict, an agent's verdict, anybody's over mcp
    Row(Act.CREATE, "write a record: `remember`, `observe`, `question`", _YES, _LESS, _LESS),
    Row(Act.PIN_NEW, "write a record pinned: `remember --pin`", _YES, _NO, _NO),
    Row(Act.PIN, "pin a record of anybody's: `supersede --pin`, `edit`", _YES, _OVER, _NO),
    Row(Act.REPLACE, "`supersede` it by a new text", _OVER, _OVER, _NO),
    Row(Act.RETRACT, "`supersede` it by nothing", _OVER, _OVER, _NO),
    Row(Act.MERGE_FROM, "`supersede --merge-from` it", _OVER, _OVER, _NO),
    Row(Act.MERGE_INTO, "`supersede --merge-from` others into it", _OVER, _OVER, _NO),
    Row(Act.RELATE, "`relate`, `unrelate`: it gets or loses the link", _YES, _OVER, _NO),
    Row(Act.RELATE_TO, "`relate`, `unrelate`: it is named by the link", _YES, _YES, _YES),
    Row(Act.VERIFY, "`verify`", _YES, _OVER, _NO),
    Row(Act.ANCHOR, "`anchor`, `verify --reanchor`", _YES, _OVER, _NO),
    Row(Act.QUESTION, "`question --add`, `--close`, `--open`, `--resolve`", _YES, _OVER, _NO),
    Row(Act.ANSWER_NEW, "`remember --answers-question` it", _YES, _NO, _NO),
    Row(Act.EDIT, "`edit`", _YES, _OVER, _NO),
    Row(Act.SWEEP, "`sweep`", _OVER, _OVER, _NO),
    Row(Act.BACKFILL, "a scripted backfill that changes it", _OVER, _OVER, _NO),
    Row(Act.ADOPT, "take it, or a pinned record, in with a batch: `adopt`, imports", _NO, _NO, _NO),
    Row(Act.OUTCOME, "`outcome`, which leaves the record as it is", _YES, _YES, _YES),
)
_ROWS = {row.act: row for row in TABLE}


def verdict(act: Act, channel: Channel, *, by_operator: bool) -> Verdict:
    """What the table says of an act, by the channel and by who acts."""
    row = _ROWS[act]
    if channel is Channel.MCP:
        return row.mcp
    return row.operator if by_operator else row.agent


def permits(found: Verdict, *, override: bool) -> bool:
    """Whether an act goes through: it is allowed, or the override that it needs is given."""
    return found is Verdict.ALLOWED or (found is Verdict.OVERRIDE and override)


def markdown() -> tuple[str, ...]:
    """The table as lines of Markdown, as SPEC.md has it."""
    head = ("| act | an operator, on cli or api | an agent, on cli or api | anybody, over mcp |",)
    rows = (f"| {row.what} | {row.operator} | {row.agent} | {row.mcp} |" for row in TABLE)
    return (*head, "|---|---|---|---|", *rows)
