"""``memspec observe``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memspec_py.cli.common import cwd_option, json_option, opened, show
from memspec_py.cli.hits import past_lines
from memspec_py.cli.words import comma_list, text_from

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspec_py.acts.observe import Observed


@click.command()
@click.argument("text")
@click.option(
    "--ttl", metavar="SPAN", help="How long it lives: 7d, 12h, 30m or never. Default: 7d."
)
@click.option("--source", default="agent", show_default=True, help="Who saw it.")
@click.option("--tags", help="Tags, separated by commas.")
@click.option("--scope", help="Visible only in this scope; `universal` is everywhere.")
@click.option("--force", is_flag=True, help="Write even if a superseded record said this.")
@click.option("--reason", help="Why, with --force; it is kept.")
@cwd_option
@json_option
def command(
    text: str,
    ttl: str | None,
    source: str,
    tags: str | None,
    scope: str | None,
    force: bool,
    reason: str | None,
    cwd: str | None,
    as_json_: bool,
) -> None:
    """Note what was seen just now; it expires by itself. `-` reads TEXT from standard input.

    \b
    Example:
      memspec observe "CI was red on main at noon, flaky network" --ttl 2d
    """
    noted = opened(cwd).observe(
        text_from(text, None),
        source=source,
        ttl=ttl,
        tags=comma_list(tags),
        scope=scope,
        force=force,
        reason=reason,
    )
    show(noted, as_json_, lambda: _lines(noted))


def _lines(noted: Observed) -> Iterator[str]:
    yield f"Observed {noted.id}"
    yield f"  {noted.store}/{noted.path}"
    yield f"  expires {noted.expires or 'never'}"
    yield from past_lines(noted.withdrawn)
