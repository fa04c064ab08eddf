"""What the commands share: the usual options, opening the store, printing a result."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, TypeVar

import click

from memspec_py.api import Memspec
from memspec_py.cli.progress import Progress
from memspec_py.render.reply import data, own_warnings, warning_lines, whole
from memspec_py.trust.channel import Channel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Where the context of a command keeps what `--store` names, and what was opened.
_STORE, _OPENED = "memspec.store", "memspec.opened"
_F = TypeVar("_F", bound="Callable[..., Any]")


def json_option(function: _F) -> _F:
    """``--json``: the whole reply as one JSON object."""
    return click.option("--json", "as_json_", is_flag=True, help="Print the reply as JSON.")(
        function
    )


def cwd_option(function: _F) -> _F:
    """``--cwd`` and ``--store``: which place to serve, and which of its stores."""
    with_store = click.option(
        "--store",
        expose_value=False,
        callback=_keep_store,
        metavar="NAME|PATH",
        help="Only this store layer: its name (`memspec where` lists them), `global`, or a path to"
        " a store.",
    )(function)
    return click.option(
        "--cwd",
        type=click.Path(file_okay=False),
        help="Serve this folder, or this .memspec store. Default: MEMSPEC_ROOT, else the working"
        " directory and upward.",
    )(with_store)


def _keep_store(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    ctx.meta[_STORE] = value


def store_named(ctx: click.Context) -> str | None:
    """What ``--store`` named."""
    named: str | None = ctx.meta.get(_STORE)
    return named


def opened(cwd: str | None) -> Memspec:
    """The stores of the place, opened for this command."""
    ctx = click.get_current_context()
    store = Memspec.open(
        cwd,
        store=store_named(ctx),
        progress=Progress(sys.stderr),
        command=f"memspec {ctx.info_name}",
        channel=Channel.CLI,
    )
    ctx.meta[_OPENED] = store
    ctx.call_on_close(store.close)
    return store


def looking() -> Progress:
    """Progress of a look at the files of anchors."""
    return Progress(sys.stderr, "looking at {} of {} anchored files")


def show(reply: object, as_json_: bool, lines: Callable[[], Iterable[str]]) -> None:
    """Print a reply as JSON or as lines of text.

    A reply without circumstances of its own gets the warnings about the stores beside it.
    """
    warnings = own_warnings(reply, _warnings())
    if as_json_:
        import json

        click.echo(json.dumps(data(reply, warnings), ensure_ascii=False, indent=None))
        return
    click.echo("\n".join(whole(reply, lines())))  # one write, for each flushes
    for line in warning_lines(warnings):
        click.echo(line, err=True)


def _warnings() -> tuple[str, ...]:
    store = click.get_current_context().meta.get(_OPENED)
    return () if store is None else store.warnings


def session() -> str | None:
    """The session a receipt belongs to; a bare shell has none: an id per call means nothing."""
    return os.environ.get("MEMSPEC_SESSION_ID") or os.environ.get("CLAUDE_SESSION_ID") or None
