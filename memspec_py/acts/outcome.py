"""Note what came of acting on a record, without touching the record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memspec_py.acts.inputs import checked_text, invalid
from memspec_py.errors import UsageError
from memspec_py.report import Finding
from memspec_py.store.gitignore import keep_current
from memspec_py.store.outcomes import Outcome, OutcomeRow, append, tally
from memspec_py.trust.source import checked_source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memspec_py.workspace import Workspace

_LONGEST_NOTE = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """An outcome that was noted; ``counts`` has how often each was told of this record here."""

    store: str
    id: str
    outcome: str
    at: str
    source: str
    note: str | None
    counts: Mapping[str, int]


def outcome(
    ws: Workspace,
    typed: str,
    kind: str,
    *,
    note: str | None = None,
    source: str = "agent",
    session: str | None = None,
) -> Noted:
    """Append what came of acting on a record: ``helped``, ``dead_end`` or ``corrected``.

    The record may be in any state and in a store that is only read here: the log is of this
    machine. Raises ``NotFound``, ``UsageError``, ``Invalid``, and ``NotAllowed`` where this machine
    has no place for it.
    """
    try:
        what = Outcome(kind.replace("-", "_"))
    except ValueError:
        known = ", ".join(Outcome)
        raise UsageError(f"no outcome {kind!r}", hint=f"one of: {known}") from None
    name, told = checked_source(source), _checked_note(note)
    id_, _ = ws.read(lambda db: ws.find_id(db, typed))
    row = OutcomeRow(id_, what, ws.now(), name, told, session)
    with ws.noting():
        if ws.machine == ws.root:
            keep_current(ws.root)
        append(ws.machine, [row])
        counts = tally(ws.machine, id_)
    return Noted(
        store=str(ws.root),
        id=id_,
        outcome=what.value,
        at=row.at,
        source=name,
        note=told,
        counts=counts,
    )


def _checked_note(note: str | None) -> str | None:
    clean = None if note is None else checked_text("note", note).strip()
    if clean and len(clean) > _LONGEST_NOTE:
        message = f"the note has {len(clean)} characters; the limit is {_LONGEST_NOTE}"
        raise invalid([Finding(code="too-long", field="note", message=message)])
    return clean or None
