"""What the commands share: the usual options, opening the store, printing a result."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, TypeVar

import click

from memspec_py.api import Memspec
from memspec_py.cli.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_F = TypeVar("_F", bound="Callable[..., Any]")


def json_option(function: _F) -> _F:
    """``--json``: the whole reply as one JSON object."""
    return click.option("--json", "as_json_", is_flag=True, help="Print the reply as JSON.")(
        function
    )


def cwd_option(function: _F) -> _F:
    """``--cwd``: which folder to serve."""
    return click.option(
        "--cwd",
        type=click.Path(file_okay=False),
        help="Serve this folder, or this .memspec store. Default: MEMSPEC_ROOT, else the working"
        " directory and upward.",
    )(function)


def opened(cwd: str | None) -> Memspec:
    """The store, opened for this command."""
    command = f"memspec {click.get_current_context().info_name}"
    store = Memspec.open(cwd, progress=Progress(sys.stderr), command=command)
    click.get_current_context().call_on_close(store.close)
    return store


def looking() -> Progress:
    """Progress of a look at the files of anchors."""
    return Progress(sys.stderr, "looking at {} of {} anchored files")


def show(reply: object, as_json_: bool, lines: Callable[[], Iterable[str]]) -> None:
    """Print a reply as JSON or as lines of text."""
    if as_json_:
        import json

        from memspec_py.report import as_json

        click.echo(json.dumps(as_json(reply), ensure_ascii=False, indent=None))
        return
    click.echo("\n".join(lines()))  # one write, for each flushes


def harmless(text: str) -> str:
    """Record text on one line: no control character of it may reach the terminal."""
    return "".join(char if char.isprintable() else _visible(char) for char in text)


def fenced(text: str) -> list[str]:
    """Record text of several lines, each marked as data."""
    return [f"  | {harmless(line)}".rstrip() for line in text.splitlines()]


def session() -> str | None:
    """The session a receipt belongs to; a bare shell has none: an id per call means nothing."""
    return os.environ.get("MEMSPEC_SESSION_ID") or os.environ.get("CLAUDE_SESSION_ID") or None


def _visible(char: str) -> str:
    if char in "\t\u00a0\u3000":
        return " "
    return f"\\u{ord(char):04x}" if ord(char) > 0xFF else f"\\x{ord(char):02x}"
