"""``memspec init``."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from memspec_py.acts.harness.plan import Wanted
from memspec_py.acts.harness.table import BY_NAME, DEFAULT_EVENTS, EVENTS
from memspec_py.acts.init import Initialized
from memspec_py.acts.set_up import ALL_FOUND
from memspec_py.api import Memspec
from memspec_py.cli.common import json_option, show
from memspec_py.errors import NestedStore, UsageError
from memspec_py.render.text import harmless
from memspec_py.store.layout import POINTER_NAME, STORE_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memspec_py.acts.set_up import FileChange

_DEFAULT, _ALL = "default", "all"
_EVENTS = {_DEFAULT: DEFAULT_EVENTS, _ALL: EVENTS}
# Whose files are meant when only the kind of file was named.
_SHARED = "claude-code"
_OUTCOMES = {
    "created": ("Made", "Would make"),
    "changed": ("Changed", "Would change"),
    "removed": ("Removed", "Would remove"),
    "present": ("Is there already:", "Is there already:"),
    "declined": ("Left as it is:", "Left as it is:"),
    "unreadable": ("Not changed:", "Not changed:"),
}


@click.command()
@click.argument("path", default=None, required=False, type=click.Path())
@click.option("--cwd", type=click.Path(), help="The same as PATH.")
@click.option(
    "--harness",
    "harnesses",
    multiple=True,
    metavar="NAME",
    help=f"Tell this agents' harness about the store; may be repeated. {ALL_FOUND!r} looks which"
    f" are in use. {', '.join(BY_NAME)}.",
)
@click.option("--agents-md/--no-agents-md", default=None, help="Contract in AGENTS.md, CLAUDE.md.")
@click.option("--mcp/--no-mcp", default=None, help="The MCP server in the harness's settings.")
@click.option(
    "--hooks",
    is_flag=False,
    flag_value=_DEFAULT,
    type=click.Choice(list(_EVENTS)),
    help=f"Register hooks: {', '.join(DEFAULT_EVENTS)}; with `all` also"
    f" {', '.join(EVENTS[len(DEFAULT_EVENTS) :])}.",
)
@click.option("--no-hooks", "--no-install-hooks", is_flag=True, help="Register no hooks.")
@click.option("--yes", "-y", is_flag=True, help="Ask nothing.")
@click.option("--dry-run", is_flag=True, help="Show what would change outside the store.")
@click.option("--uninstall", is_flag=True, help="Take out what was put in outside the store.")
@click.option(
    "--force",
    is_flag=True,
    help="Make a store inside another store's folder; write through links out of the project.",
)
@json_option
def command(
    path: str | None,
    cwd: str | None,
    harnesses: tuple[str, ...],
    agents_md: bool | None,
    mcp: bool | None,
    hooks: str | None,
    no_hooks: bool,
    yes: bool,
    dry_run: bool,
    uninstall: bool,
    force: bool,
    as_json_: bool,
) -> int:
    """Make a store in PATH, and tell agents about it.

    A PATH that ends in .memspec is the store itself. Safe to run twice: what is there stays, what
    is missing is added. On a terminal it asks what
    else to set up; elsewhere nothing outside the store is touched unless options say so. Each
    change outside the store is shown first. Exit 1 when a file has to be changed by hand.

    \b
    Example:
      memspec init
      memspec init --harness claude-code --harness codex --dry-run
      memspec init ~/.memspec
      memspec init --uninstall
    """
    folder = _folder(path, cwd)
    asks = _is_terminal() and not (yes or dry_run or as_json_)
    events = "" if no_hooks else hooks
    wanted = _wanted(harnesses, agents_md, mcp, events, uninstall=uninstall, force=force)
    made = (
        Initialized(store=_store_of(folder), created=())
        if uninstall or dry_run
        else _made(folder, force=force, is_served_enough=wanted is not None)
    )
    if wanted is None and asks and agents_md is not False and not no_hooks:
        click.echo("\n".join(_store_lines(made)), err=True)
        wanted = _chosen(folder)
    if wanted is None:
        show(made, as_json_, lambda: _store_lines(made))
        return 0
    told = Memspec.set_up(
        folder,
        wanted,
        approve=lambda change: _approved(change, asks=asks, quiet=as_json_),
        dry_run=dry_run,
    )
    done = replace(made, harnesses=told.harnesses, files=told.files)
    show(done, as_json_, lambda: _lines(done, wanted, dry_run=dry_run))
    return int(any(change.outcome == "unreadable" for change in told.files))


def _folder(path: str | None, cwd: str | None) -> str:
    if path is not None and cwd is not None:
        raise UsageError("PATH and --cwd are the same thing", hint="give one of them")
    return path or cwd or "."


def _made(folder: str, *, force: bool, is_served_enough: bool) -> Initialized:
    """The store; where a pointer in the folder says which ones serve it, that may be enough."""
    try:
        return Memspec.init(folder, force=force)
    except NestedStore as problem:
        serving = str(problem.details.get("store", ""))
        pointer = os.path.join(os.path.dirname(_store_of(folder)), POINTER_NAME)
        if not is_served_enough or serving != pointer:
            raise
        return Initialized(store=serving, created=())


def _store_of(folder: str) -> str:
    path = os.path.abspath(os.path.expanduser(folder))
    return path if os.path.basename(path) == STORE_NAME else os.path.join(path, STORE_NAME)


def _wanted(
    harnesses: Sequence[str],
    agents_md: bool | None,
    mcp: bool | None,
    hooks: str | None,
    *,
    uninstall: bool,
    force: bool,
) -> Wanted | None:
    """What the options say is to be done outside the store; None for nothing.

    ``hooks`` is empty for none. A harness that is named gets everything that no option takes away.
    """
    if not (harnesses or agents_md or mcp or hooks or uninstall):
        return None
    everything = bool(harnesses) or uninstall
    named = harnesses or (BY_NAME if uninstall else (_SHARED,) if mcp or hooks else ())
    usual = (_ALL if uninstall else _DEFAULT) if everything else ""
    return Wanted(
        harnesses=tuple(named),
        contract=everything if agents_md is None else agents_md,
        servers=everything if mcp is None else mcp,
        events=_EVENTS.get(usual if hooks is None else hooks, ()),
        uninstall=uninstall,
        force=force,
    )


def _chosen(folder: str) -> Wanted | None:
    """What somebody at the terminal wants to have set up."""
    found = Memspec.harnesses(folder).names
    known = ", ".join(BY_NAME)
    click.echo(f"Agents' harnesses: {known}", err=True)
    told = click.prompt(
        "Which of them should know of it? (names, or none)",
        default=" ".join(found) or "none",
        err=True,
    )
    names = [name for name in re.split(r"[\s,]+", told.strip()) if name not in ("", "none")]
    contract = _says_yes("Put the agent's contract into AGENTS.md or CLAUDE.md?", default=True)
    if not names:
        return Wanted((), contract) if contract else None
    servers = _says_yes("Register the MCP server?", default=True)
    hooks = _says_yes(f"Register hooks ({', '.join(DEFAULT_EVENTS)})?", default=True)
    return Wanted(tuple(names), contract, servers, DEFAULT_EVENTS if hooks else ())


def _approved(change: FileChange, *, asks: bool, quiet: bool) -> bool:
    """Show a change, and ask for it at a terminal."""
    if not quiet:
        click.echo(_note(change) + _shown(change.diff or ""), err=asks)
    return not asks or _says_yes(f"Write {change.target or change.path}?", default=False)


def _says_yes(question: str, *, default: bool) -> bool:
    return click.confirm(question, default=default, err=True)


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _lines(done: Initialized, wanted: Wanted, *, dry_run: bool) -> Iterator[str]:
    if not (dry_run or wanted.uninstall):
        yield from _store_lines(done)
    told = [one for one in done.files if one.outcome != "absent"]
    for change in told:
        yield f"{_OUTCOMES[change.outcome][dry_run]} {harmless(change.path)}"
        if change.note and change.outcome in ("present", "unreadable"):
            yield f"  {harmless(change.note)}"
        if change.snippet:
            yield "  put this there yourself:"
            yield from (f"    {line}" for line in change.snippet.splitlines())
    if not told:
        yield "Nothing of memspec was found" if wanted.uninstall else "No harness was found"


def _store_lines(done: Initialized) -> Iterator[str]:
    if not done.created:
        is_pointer = os.path.basename(done.store) == POINTER_NAME
        says = "says which stores serve this" if is_pointer else "is complete already"
        yield f"{done.store} {says}"
        return
    yield f"Made {done.store}" if STORE_NAME in done.created else f"Completed {done.store}"
    yield from (f"  {name}" for name in done.created if name != STORE_NAME)


def _note(change: FileChange) -> str:
    return f"{harmless(change.note)}\n" if change.note else ""


def _shown(diff: str) -> str:
    """A diff for a terminal, on which no byte of the file may act."""
    return "".join(f"{harmless(line)}\n" for line in diff.splitlines())
