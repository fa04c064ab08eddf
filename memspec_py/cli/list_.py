"""``memspec list``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memspec_py.cli.common import cwd_option, json_option, opened, show
from memspec_py.render.hits import circumstance_lines, drift_marks
from memspec_py.render.text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspec_py.views.listed import ListReply


@click.command("list")
@click.option(
    "--type",
    "type_",
    metavar="TYPE",
    help="Only fact, decision, procedure, observation or question.",
)
@click.option("--state", help="Only this state, or `any`. Default: active and open.")
@click.option("--tag", help="Only records with this tag.")
@click.option("--source", help="Only records of this source.")
@click.option("--scope", help="Only records of this scope.")
@click.option("--witness", help="Only anchor, operator, evidence or assertion.")
@click.option("--stale", is_flag=True, help="Only claims whose review date has passed.")
@click.option("--pinned", is_flag=True, help="Only pinned records.")
@click.option(
    "--limit",
    default=50,
    show_default=True,
    type=click.IntRange(1, 1000),
    help="Records on a page.",
)
@click.option("--offset", default=0, type=click.IntRange(0), help="Skip so many records.")
@cwd_option
@json_option
def command(
    type_: str | None,
    state: str | None,
    tag: str | None,
    source: str | None,
    scope: str | None,
    witness: str | None,
    stale: bool,
    pinned: bool,
    limit: int,
    offset: int,
    cwd: str | None,
    as_json_: bool,
) -> None:
    """List records, newest first, in pages.

    \b
    Example:
      memspec list --type decision --tag auth
      memspec list --stale
    """
    reply = opened(cwd).list(
        type=type_,
        state=state,
        tag=tag,
        source=source,
        scope=scope,
        witness=witness,
        stale=stale,
        pinned=pinned,
        limit=limit,
        offset=offset,
    )
    show(reply, as_json_, lambda: _lines(reply))


def _lines(reply: ListReply) -> Iterator[str]:
    for hit in reply.results:
        stale = " [STALE]" if hit.stale else ""
        state = "" if hit.state in ("active", "open") else f" [{hit.state.upper()}]"
        drift = drift_marks(hit.drift or (), drifted=hit.drifted, unchecked=hit.anchor_unchecked)
        head = f"{hit.id} {hit.created[:10]} [{hit.type}] {harmless(hit.title)}"
        yield f"{head}{state}{stale}{drift}"
    yield f"{reply.count} of {reply.total} records"
    if reply.next_offset is not None:
        yield f"More: --offset {reply.next_offset}"
    yield from circumstance_lines(reply.circumstances)
