"""Who acts, and whether that may be: the table of ``trust.tiers``, asked for one store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspec_py.errors import NotAllowed
from memspec_py.record.model import SourceKind
from memspec_py.trust.channel import Channel
from memspec_py.trust.source import tier_of
from memspec_py.trust.tiers import Verdict, permits, verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memspec_py.record.model import Plain, Record
    from memspec_py.trust.tiers import Act
    from memspec_py.workspace import Workspace


def tier(ws: Workspace, source: str) -> SourceKind:
    """The tier of who acts, by the name and by the channel the call came through."""
    return tier_of(source, ws.channel, ws.settings.operators)


def ruling(ws: Workspace, act: Act, source: str) -> Verdict:
    """What the table says of an act of this source."""
    by_operator = tier(ws, source) is SourceKind.OPERATOR
    return verdict(act, ws.channel, by_operator=by_operator)


def refuse_operator(
    ws: Workspace, act: Act, records: Iterable[Record], *, source: str, override: bool = False
) -> None:
    """Raise ``NotAllowed`` when a record is the operator's and this caller may not do that."""
    theirs = [record for record in records if record.source_kind is SourceKind.OPERATOR]
    found = ruling(ws, act, source)
    if theirs and not permits(found, override=override):
        first = theirs[0]
        raise NotAllowed(
            f'{first.id} "{first.title}" is the operator\'s ({first.source})',
            hint=what_helps(ws, found),
        )


def refuse_pin(ws: Workspace, act: Act, *, source: str, override: bool = False) -> None:
    """Raise ``NotAllowed`` when this caller may not pin a record."""
    found = ruling(ws, act, source)
    if not permits(found, override=override):
        raise NotAllowed(
            f"only an operator pins a record, and {source} is none here",
            hint=what_helps(
                ws, found, "leave it unpinned, or say who decides: --source human:NAME"
            ),
        )


def what_helps(ws: Workspace, found: Verdict, instead: str | None = None) -> str:
    """The next step of a caller who may not do something; ``instead`` where no override helps."""
    if ws.channel is Channel.MCP:
        return "no agent may, by any argument; the operator does it on the command line"
    if found is Verdict.OVERRIDE:
        return "only the operator may decide to change it: --override-operator"
    return instead or "only the operator does that: --source human:NAME"


def is_override(ws: Workspace, act: Act, record: Record, source: str) -> bool:
    """Whether the act needs the override for this record, so that its trace has to say so."""
    return record.source_kind is SourceKind.OPERATOR and ruling(ws, act, source) is Verdict.OVERRIDE


def with_override(
    ws: Workspace, act: Act, ext: Mapping[str, Plain], source: str
) -> Mapping[str, Plain]:
    """``ext`` with the trace of an override, for an act that leaves no trace of its own."""
    trace: dict[str, Plain] = {"act": act.value, "by": source, "at": ws.now()}
    return {**ext, "overridden": {**trace, "override_operator": "true"}}
