"""What every reply says beside its answer: which store it is from, and what it could not read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from memspec_py.workspace import Workspace

_MOST_UNREADABLE = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """The circumstances of an answer.

    ``unreadable`` lists findings of files that no answer can include, at most 20;
    ``unreadable_count`` counts the files. ``index`` says how the index was used: ``fresh``,
    ``synced``, ``built`` or ``bypassed``.
    """

    store: str
    index: Mapping[str, object]
    unreadable: tuple[Mapping[str, object], ...] = ()
    unreadable_count: int = 0
    warnings: tuple[str, ...] = ()


def envelope(ws: Workspace, db: sqlite3.Connection) -> Envelope:
    """The circumstances of the answer that is being made from ``db``."""
    rows = db.execute(
        "select path, code, line, message from findings order by path, position limit ?",
        (_MOST_UNREADABLE,),
    ).fetchall()
    count = 0
    if rows:
        count = db.execute("select count(distinct path) from findings").fetchone()[0]
    found = [
        {"path": path, "code": code, **({"line": line} if line else {}), "message": message}
        for path, code, line, message in rows
    ]
    found += [finding.as_dict() for finding in ws.index.unlisted]
    return Envelope(
        store=str(ws.root),
        index=_index_state(ws),
        unreadable=tuple(found[:_MOST_UNREADABLE]),
        unreadable_count=count + len(ws.index.unlisted),
        warnings=tuple(str(finding) for finding in ws.settings.findings),
    )


def _index_state(ws: Workspace) -> dict[str, object]:
    state = ws.index.state
    shown: dict[str, object] = {"state": state.how, "files": state.files, "read": state.read}
    if state.why:
        shown["why"] = state.why
    return shown
