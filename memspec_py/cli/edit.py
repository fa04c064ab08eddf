"""``memspec edit``."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memspec_py.cli.common import cwd_option, json_option, opened, show
from memspec_py.errors import Conflict, Invalid, MemspecError, UsageError
from memspec_py.render.hits import past_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspec_py.acts.edit import EditCopy, Edited
    from memspec_py.api import Memspec


@click.command()
@click.argument("record_id", metavar="ID")
@click.option(
    "--from", "from_", type=click.Path(), help="Take this file as the edited text; no editor."
)
@click.option("--source", help="Who edits. Default: user in the editor, agent with --from.")
@click.option("--override-operator", is_flag=True, help="Even if the record is the operator's.")
@click.option("--force", is_flag=True, help="Even if a superseded record said what it says now.")
@click.option("--reason", help="Why, with --force; it is kept in the record.")
@cwd_option
@json_option
def command(
    record_id: str,
    from_: str | None,
    source: str | None,
    override_operator: bool,
    force: bool,
    reason: str | None,
    cwd: str | None,
    as_json_: bool,
) -> None:
    """Edit a record in $VISUAL or $EDITOR; it is replaced only if the result is valid.

    A rejected edit is kept in a file, to go on from with --from.

    \b
    Example:
      EDITOR=vim memspec edit ms_01M8MT
    """
    store = opened(cwd)
    copy = store.edit_copy(record_id)
    # An editor is a person's tool; a file may come from anybody.
    by = source or ("agent" if from_ else "user")
    place = Path(from_) if from_ else _edited_copy(store, copy, by)
    done = _replaced(
        store,
        copy,
        place,
        source=by,
        override_operator=override_operator,
        force=force,
        reason=reason,
    )
    if not from_:
        place.unlink(missing_ok=True)
    show(done, as_json_, lambda: _lines(done))


def _edited_copy(store: Memspec, copy: EditCopy, source: str) -> Path:
    """The file the editor worked on, in the store's machine-local folder."""
    folder = store.root / "local" / "edits"
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / f"{copy.id}.md"
    if place.exists():
        raise Conflict(
            f"an earlier edit of {copy.id} was kept and is not finished: {place}",
            hint=f"go on with `{_going_on(copy, place, source)}`, or remove the file",
        )
    place.write_bytes(copy.text.encode())
    try:
        _run_editor(place)
    except BaseException as problem:
        if place.read_bytes() == copy.text.encode():
            place.unlink()
        elif isinstance(problem, MemspecError):
            problem.hint = f"the edited text is kept: `{_going_on(copy, place, source)}`"
        raise
    return place


def _going_on(copy: EditCopy, place: Path, source: str) -> str:
    """The command that takes a kept text, as the same person."""
    by = "" if source == "agent" else f" --source {shlex.quote(source)}"
    return f"memspec edit {copy.id} --from {place}{by}"


def _run_editor(place: Path) -> None:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        code = subprocess.run([*shlex.split(editor), str(place)], check=False).returncode
    except (OSError, ValueError) as problem:
        raise UsageError(
            f"the editor {editor!r} cannot run: {problem}", hint="set EDITOR"
        ) from None
    if code != 0:
        raise UsageError(f"the editor {editor!r} exited with {code}; nothing was changed")


def _replaced(
    store: Memspec,
    copy: EditCopy,
    place: Path,
    *,
    source: str,
    override_operator: bool,
    force: bool,
    reason: str | None,
) -> Edited:
    try:
        text = place.read_bytes().decode()
    except UnicodeDecodeError:
        raise Invalid(f"{place} is not UTF-8", hint="save it as UTF-8") from None
    except OSError as problem:
        raise UsageError(f"{place} cannot be read: {problem.strerror}") from None
    try:
        return store.replace_text(
            copy,
            text,
            source=source,
            override_operator=override_operator,
            force=force,
            reason=reason,
        )
    except MemspecError as problem:
        kept = f"the edited text is kept; mend it, then `{_going_on(copy, place, source)}`"
        problem.hint = kept if problem.hint is None else f"{problem.hint}; {kept}"
        problem.details = {**problem.details, "kept": str(place)}
        raise


def _lines(done: Edited) -> Iterator[str]:
    if not done.changed:
        yield f"{done.id} is unchanged"
        return
    yield f"Edited {done.id}: {', '.join(done.changed)}"
    yield f"  {done.store}/{done.path}"
    yield from past_lines(done.withdrawn)
