"""``memspec undo``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from memspec_py.cli.common import cwd_option, json_option, opened, show
from memspec_py.cli.progress import Progress
from memspec_py.errors import UsageError
from memspec_py.render.text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspec_py.acts.undo import UndoList, Undone


@click.command()
@click.argument("journal", required=False)
@click.option("--list", "list_", is_flag=True, help="List the journals of this store instead.")
@click.option("--dry-run", is_flag=True, help="Only say what would be put back.")
@click.option("--force", is_flag=True, help="Even files that were edited since.")
@cwd_option
@json_option
def command(
    journal: str | None,
    list_: bool,
    dry_run: bool,
    force: bool,
    cwd: str | None,
    as_json_: bool,
) -> int:
    """Put back, byte for byte, what a scripted backfill replaced.

    JOURNAL is a file, the name of one in local/backfills, or `last` for the newest backfill. A file
    that was edited since stays as it is; the exit code is then 1. An undo has a journal, too.

    \b
    Example:
      memspec undo --list
      memspec undo last --dry-run
    """
    if list_ is (journal is not None):
        raise UsageError("say which journal to undo, or --list", hint="`last` is the newest one")
    store = opened(cwd)
    if journal is None:
        listed = store.undo_list()
        show(listed, as_json_, lambda: _list_lines(listed))
        return 0
    progress = Progress(sys.stderr, "putting back {} of {} files")
    done = store.undo(journal, dry_run=dry_run, force=force, progress=progress)
    show(done, as_json_, lambda: _lines(done))
    return 1 if done.conflicts else 0


def _lines(done: Undone) -> Iterator[str]:
    verb = "would restore" if done.dry_run else "restored"
    for one in done.files:
        if one.outcome == "restored":
            yield f"{verb}: {harmless(one.path)}"
        elif one.outcome == "conflict":
            yield f"conflict: {harmless(one.path)}: {harmless(one.why or '')}"
    if done.note:
        yield f"Nothing to undo: {harmless(done.note)}"
        return
    yield (
        f"{done.restored} of {len(done.files)} files of backfill {done.name} ({done.made_at})"
        f" {'would be ' if done.dry_run else ''}restored"
    )
    if done.undo_journal:
        yield f"To undo this: memspec undo {done.undo_journal}"


def _list_lines(listed: UndoList) -> Iterator[str]:
    for one in listed.journals:
        plural = "" if one.files == 1 else "s"
        what = f"undid {one.undoes}" if one.undoes else f"backfill {one.name}"
        yield f"{one.journal}  {one.files} file{plural}  {harmless(what)}"
    for finding in listed.findings:
        yield f"Warning: {harmless(str(finding))}"
    if not listed.journals:
        yield "No backfill was made in this store on this machine"
