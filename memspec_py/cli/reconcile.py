"""``memspec reconcile``."""

from __future__ import annotations

import click

from memspec_py.cli.common import cwd_option, json_option, looking, opened, show
from memspec_py.render.reconcile import lines


@click.command()
@click.option("--since", metavar="REF", help="Only what changed since this commit.")
@cwd_option
@json_option
@click.pass_context
def command(ctx: click.Context, since: str | None, cwd: str | None, as_json_: bool) -> None:
    """Find the records whose code this checkout changed, uncommitted edits included.

    Nothing is written. The exit code is 1 when there are any: verify or supersede them.

    \b
    Example:
      memspec reconcile
      memspec reconcile --since main
    """
    found = opened(cwd).reconcile(since=since, progress=looking())
    show(found, as_json_, lambda: lines(found))
    if found.candidates:
        ctx.exit(1)
