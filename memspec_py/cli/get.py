"""``memspec get``."""

from __future__ import annotations

import click

from memspec_py.cli.common import cwd_option, json_option, opened, show
from memspec_py.render.get import lines


@click.command()
@click.argument("record_id", metavar="ID")
@cwd_option
@json_option
def command(record_id: str, cwd: str | None, as_json_: bool) -> None:
    """Show one record whole. A unique beginning of the id is enough.

    \b
    Example:
      memspec get ms_01M8MT
    """
    shown = opened(cwd).get(record_id)
    show(shown, as_json_, lambda: lines(shown))
