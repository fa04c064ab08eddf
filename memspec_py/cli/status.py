"""``memspec status``."""

from __future__ import annotations

import click

from memspec_py.cli.common import cwd_option, json_option, looking, opened, show
from memspec_py.render.status import lines


@click.command()
@cwd_option
@json_option
def command(cwd: str | None, as_json_: bool) -> None:
    """Count what is in the store, and say what wants attention.

    \b
    Example:
      memspec status
    """
    status = opened(cwd).status(progress=looking())
    show(status, as_json_, lambda: lines(status))
