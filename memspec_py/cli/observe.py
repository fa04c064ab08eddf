"""``memspec observe``."""

from __future__ import annotations

import click

from memspec_py.cli.common import cwd_option, json_option, opened, show
from memspec_py.cli.words import comma_list, text_from
from memspec_py.render.observe import lines


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
    show(noted, as_json_, lambda: lines(noted))
