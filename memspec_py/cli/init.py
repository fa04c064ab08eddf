"""``memspec init``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memspec_py.api import Memspec
from memspec_py.cli.common import json_option, show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspec_py.acts.init import Initialized


@click.command()
@click.argument("path", default=".", type=click.Path())
@click.option("--force", is_flag=True, help="Make a store inside another store's folder.")
@json_option
def command(path: str, force: bool, as_json_: bool) -> None:
    """Make a store in PATH (or at it, when it ends in .memspec).

    Safe to run twice: what is there stays, what is missing is added.

    \b
    Example:
      memspec init
      memspec init ~/.memspec
    """
    done = Memspec.init(path, force=force)
    show(done, as_json_, lambda: _lines(done))


def _lines(done: Initialized) -> Iterator[str]:
    if not done.created:
        yield f"{done.store} is complete already"
        return
    yield f"Made {done.store}" if ".memspec" in done.created else f"Completed {done.store}"
    yield from (f"  {name}" for name in done.created if name != ".memspec")
