"""Put back what a backfill replaced, byte for byte, but for what was edited since."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memspec_py.acts.backfill import write_undoably
from memspec_py.errors import UsageError
from memspec_py.store import files, journal, undo_journal
from memspec_py.store.gitignore import keep_current
from memspec_py.store.resolve import expanded
from memspec_py.store.unfinished import unfinished

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspec_py.index.index import Progress
    from memspec_py.report import Finding
    from memspec_py.store.resolve import Surroundings
    from memspec_py.store.undo_journal import Kept, UndoJournal
    from memspec_py.workspace import Workspace

_STEP = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoneFile:
    """What became, or would become, of one file.

    ``outcome`` is ``restored`` (it is at ``path`` again), ``unchanged`` (it is as it was before) or
    ``conflict``: it was left at ``path`` for the reason in ``why``.
    """

    id: str
    path: str
    outcome: str
    why: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """What became of each file of a journal; a dry run writes nothing.

    ``undo_journal`` undoes the undoing, and is None when nothing was written; ``note`` says why
    there was nothing to do.
    """

    store: str
    journal: str
    name: str
    made_at: str
    dry_run: bool
    restored: int
    unchanged: int
    conflicts: int
    undo_journal: str | None
    note: str | None
    files: tuple[UndoneFile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Undoable:
    """A journal of the store; ``undoes`` names the one whose change it took back, if it did."""

    journal: str
    name: str
    made_at: str
    files: int
    undoes: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoList:
    """The undo journals of this store on this machine, oldest first."""

    store: str
    count: int
    journals: tuple[Undoable, ...]
    findings: tuple[Finding, ...]


def undo(
    ws: Workspace,
    named: str | os.PathLike[str],
    where: Surroundings,
    *,
    dry_run: bool = False,
    force: bool = False,
    progress: Progress | None = None,
) -> Undone:
    """Put back what a backfill replaced; ``named`` is a path, a file name, or ``last``.

    A file that was edited since is a conflict and stays (unless ``force``), and the others are put
    back, as one change. That is journaled as the backfill was, so that it can be undone, too.
    Raises ``NotFound``, ``Invalid`` for a damaged journal, and ``UsageError`` for one of another
    store.
    """
    read = undo_journal.read(_find(ws, named, where))
    _refuse_foreign(ws, read)
    if dry_run:
        if unfinished(ws.root):
            ws.read(lambda _: None)  # every read finishes what a killed writer left
        steps = list(_steps(ws, read, progress, force=force))
        return _reply(ws, read, steps, dry_run=True, written=None)
    with ws.writing():
        steps = list(_steps(ws, read, progress, force=force))
        written = _write(ws, read, steps, progress)
    return _reply(ws, read, steps, dry_run=False, written=written)


def undo_list(ws: Workspace) -> UndoList:
    """What can be undone, and what of it cannot be read."""
    found, findings = undo_journal.heads(ws.root)
    journals = tuple(
        Undoable(
            journal=name,
            name=head.name,
            made_at=head.made_at,
            files=head.files,
            undoes=head.undoes,
        )
        for name, head in found
    )
    return UndoList(
        store=str(ws.root), count=len(journals), journals=journals, findings=tuple(findings)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """One file of the journal: what becomes of it, and its bytes now when it changes."""

    kept: Kept
    outcome: str
    why: str | None = None
    change: journal.Change | None = None
    now: bytes = b""


def _find(ws: Workspace, named: str | os.PathLike[str], where: Surroundings) -> Path:
    typed = os.fspath(named)
    if typed == undo_journal.LAST:
        return undo_journal.last(ws.root)
    return undo_journal.named(ws.root, typed) or expanded(Path(typed), where)


def _refuse_foreign(ws: Workspace, read: UndoJournal) -> None:
    """Raise for a journal that neither lies in this store nor says that it was made here.

    A project may be renamed, or be seen at another place from a container, so that what lies in
    the store is its own whatever it says.
    """
    root = ws.root.resolve()
    lies_here = read.path.resolve().parent == root / undo_journal.FOLDER
    if not lies_here and read.head.store != str(root):
        raise UsageError(
            f"{read.path} is the journal of another store, {read.head.store}",
            hint=f"to undo it there: memspec undo --cwd {read.head.store} {read.path}",
        )


def _steps(
    ws: Workspace, read: UndoJournal, progress: Progress | None, *, force: bool
) -> Iterator[_Step]:
    for done, kept in enumerate(read.kept, 1):
        yield _step(ws, kept, force=force)
        if progress is not None and (done % _STEP == 0 or done == len(read.kept)):
            progress(done, len(read.kept))


def _step(ws: Workspace, kept: Kept, *, force: bool) -> _Step:
    moved = kept.before != kept.after
    try:
        now = _present(ws.path_of(kept.after))
        was = _present(ws.path_of(kept.before)) if moved else now
    except OSError as problem:
        return _conflict(kept, f"it cannot be read: {problem.strerror or problem}")
    if was == kept.data and (now is None or not moved):
        return _Step(kept=kept, outcome="unchanged")
    if now is None:
        return _conflict(kept, "it is not there any more: moved, replaced or removed since")
    if was is not None and moved:
        return _conflict(kept, f"at {kept.before}, where it was, is another file now")
    if files.digest(now) != kept.digest and not force:
        return _conflict(kept, "it was edited since")
    expect = files.digest(now)
    change: journal.Change = (
        journal.Move(kept.after, kept.before, kept.data, expect)
        if moved
        else journal.Replace(kept.after, kept.data, expect)
    )
    return _Step(kept=kept, outcome="restored", change=change, now=now)


def _conflict(kept: Kept, why: str) -> _Step:
    return _Step(kept=kept, outcome="conflict", why=why)


def _present(path: Path) -> bytes | None:
    try:
        return files.read(path)
    except FileNotFoundError:
        return None


def _write(
    ws: Workspace, read: UndoJournal, steps: list[_Step], progress: Progress | None
) -> str | None:
    changing = [(step, step.change) for step in steps if step.change is not None]
    if not changing:
        return None
    head = undo_journal.Head(
        name=read.head.name,
        made_at=ws.now(),
        store=str(ws.root.resolve()),
        files=len(changing),
        undoes=read.path.name,
    )
    kept = [
        undo_journal.Kept(
            id=step.kept.id,
            before=step.kept.after,
            data=step.now,
            after=step.kept.before,
            digest=files.digest(step.kept.data),
        )
        for step, _ in changing
    ]
    keep_current(ws.root)
    return write_undoably(ws, [change for _, change in changing], head, kept, progress)


def _reply(
    ws: Workspace, read: UndoJournal, steps: list[_Step], *, dry_run: bool, written: str | None
) -> Undone:
    count = [step.outcome for step in steps].count
    return Undone(
        store=str(ws.root),
        journal=str(read.path),
        name=read.head.name,
        made_at=read.head.made_at,
        dry_run=dry_run,
        restored=count("restored"),
        unchanged=count("unchanged"),
        conflicts=count("conflict"),
        undo_journal=written,
        note=_nothing_to_do(ws, read) if count("unchanged") == len(steps) else None,
        files=tuple(_shown(step) for step in steps),
    )


def _nothing_to_do(ws: Workspace, read: UndoJournal) -> str:
    """Why every file is as it was before."""
    undone = undo_journal.undone_by(ws.root, read.path.name)
    if undone is not None:
        name, head = undone
        return f"it is already undone: by {name} at {head.made_at}"
    return "every file is as it was before: it was never made, or was taken back by other means"


def _shown(step: _Step) -> UndoneFile:
    kept = step.kept
    path = kept.after if step.outcome == "conflict" else kept.before
    return UndoneFile(id=kept.id, path=path, outcome=step.outcome, why=step.why)
