"""Mend what an examination found, as far as that loses nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspec_py.errors import Conflict
from memspec_py.record.frontmatter import Unreadable
from memspec_py.record.parse import parse_record
from memspec_py.store import files, journal, layout
from memspec_py.store.gitignore import keep_current

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memspec_py.report import Finding
    from memspec_py.workspace import Workspace


def mend(ws: Workspace, findings: Iterable[Finding]) -> tuple[str, ...]:
    """Do what the findings ask for and say what was done. Record contents are never touched.

    Taking the lock finishes an interrupted change; leftovers are removed, misplaced files moved,
    ``.gitignore`` completed and a wrong index made anew.
    """
    done: list[str] = []
    codes = {finding.code for finding in findings}
    with ws.writing():
        if "unfinished-change" in codes:
            done.append("finished an interrupted change")
        for finding in findings:
            if finding.code == "stray-file":
                stray = ws.path_of(finding.path)
                with files.storage_errors(stray):
                    stray.unlink(missing_ok=True)
                done.append(f"removed {finding.path}")
            elif finding.code == "misplaced":
                done += _move_home(ws, finding.path)
        if "gitignore" in codes and keep_current(ws.root):
            done.append("completed .gitignore")
    if "index-differs" in codes:
        ws.index.rebuild()
        done.append("made the index anew")
    return tuple(done)


def _move_home(ws: Workspace, path: str) -> list[str]:
    """Move one file to where its record belongs; one that is in the way stays, and so does this."""
    try:
        data = files.read(ws.path_of(path))
        record = parse_record(data, ws.settings.limits)
    except (OSError, Unreadable):
        return []  # it changed since it was examined, and is told anew
    proper = layout.path_of(record)
    move = journal.Move(src=path, dst=proper, data=data, expect=files.digest(data))
    try:
        journal.apply(ws.root, [move], record.id)
    except Conflict:
        return []
    return [f"moved {path} to {proper}"]
