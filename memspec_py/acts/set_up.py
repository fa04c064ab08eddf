"""Tell the harnesses of a project about memspec, or take it back: the only act outside a store."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.acts.harness.plan import Edit, Wanted, edits, found_here
from memspec_py.acts.harness.table import BY_NAME, EVENTS, HARNESSES
from memspec_py.errors import UsageError
from memspec_py.store import files
from memspec_py.store.layout import STORE_NAME

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memspec_py.store.resolve import Surroundings

ALL_FOUND = "all-found"


class FileChange(NamedTuple):
    """A file and what became of it.

    ``outcome`` is ``created``, ``changed``, ``removed``, ``present`` (set up already), ``absent``
    (with nothing of ours), ``declined`` by whoever was asked, or ``unreadable``: it cannot be
    changed safely, ``note`` says why, and ``snippet`` what to paste into it. ``target`` is the file
    itself, where a link leads to it.
    """

    path: str
    outcome: str
    diff: str | None = None
    note: str | None = None
    snippet: str | None = None
    target: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUp:
    """The harnesses that were meant, by name, and what became of each of their files."""

    harnesses: tuple[str, ...]
    files: tuple[FileChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Detected:
    """The names of the harnesses that seem to be in use."""

    names: tuple[str, ...]


def detected(folder: Path, where: Surroundings) -> Detected:
    """Look for the folders and files of harnesses."""
    return Detected(names=found_here(_project(folder), where))


def set_up(
    folder: Path,
    wanted: Wanted,
    where: Surroundings,
    *,
    approve: Callable[[FileChange], bool] | None = None,
    dry_run: bool = False,
) -> SetUp:
    """Put the contract, the server and the hooks where the harnesses look for them.

    ``approve`` is asked for each file that would change, with the diff. Twice changes nothing the
    second time. With ``uninstall`` just what was put in is taken out, to the byte, and a file that
    holds nothing else is removed.

    Raises ``UsageError`` for an unknown harness or event and for a ``CLAUDE_CONFIG_DIR`` that is no
    absolute path, ``Conflict`` when somebody else writes a file meanwhile, ``StorageFailed``.
    """
    project = _project(folder)
    wanted = _checked(project, wanted, where)
    done = []
    for edit in edits(project, wanted, where):
        change = _change(edit, wanted)
        if edit.changes and approve is not None and not approve(change):
            change = change._replace(outcome="declined")
        elif edit.changes and not dry_run:
            _write(edit, project)
        done.append(change)
    return SetUp(harnesses=tuple(wanted.harnesses), files=tuple(done))


def _project(folder: Path) -> Path:
    return folder.parent if folder.name == STORE_NAME else folder


def _checked(project: Path, wanted: Wanted, where: Surroundings) -> Wanted:
    names: list[str] = []
    for name in wanted.harnesses:
        if name == ALL_FOUND:
            names += found_here(project, where)
        elif name in BY_NAME:
            names.append(name)
        else:
            known = ", ".join(one.name for one in HARNESSES)
            raise UsageError(f"no harness {name!r}", hint=f"one of: {known}, {ALL_FOUND}")
    for event in wanted.events:
        if event not in EVENTS:
            raise UsageError(f"no hook {event!r}", hint=f"one of: {', '.join(EVENTS)}")
    # In the order of the table, whatever the order they were named in.
    chosen = [one.name for one in HARNESSES if one.name in names]
    events = [event for event in EVENTS if event in wanted.events]
    return wanted._replace(harnesses=chosen, events=events)


def _change(edit: Edit, wanted: Wanted) -> FileChange:
    note = "; ".join([*edit.notes, *filter(None, [edit.problem])]) or None
    target = None if edit.real == edit.path else str(edit.real)
    plain = FileChange(str(edit.path), _outcome(edit, wanted), note=note, target=target)
    if edit.problem is not None:
        return plain._replace(snippet=None if wanted.uninstall else edit.snippet)
    return plain._replace(diff=edit.diff) if edit.changes else plain


def _outcome(edit: Edit, wanted: Wanted) -> str:
    if edit.problem is not None:
        return "unreadable"
    if edit.before == edit.after:
        return "absent" if wanted.uninstall else "present"
    if edit.before is None:
        return "created"
    return "removed" if edit.after is None else "changed"


def _write(edit: Edit, project: Path) -> None:
    if edit.before is None:
        assert edit.after is not None
        files.create(edit.real, edit.after)
        return
    expect = files.digest(edit.before)
    if edit.after is not None:
        files.replace(edit.real, edit.after, expect=expect)
        return
    files.remove(edit.real, expect=expect)
    _remove_empty(edit.real.parent, project)


def _remove_empty(folder: Path, project: Path) -> None:
    """Remove the folders of a project that are empty now, such as ``create`` makes."""
    base = os.path.realpath(project)
    while folder.is_relative_to(base) and str(folder) != base and not os.listdir(folder):
        with files.storage_errors(folder):
            folder.rmdir()
        folder = folder.parent
