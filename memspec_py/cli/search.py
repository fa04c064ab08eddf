"""``memspec search``."""

from __future__ import annotations

import sys

import click

from memspec_py.cli.common import cwd_option, json_option, opened, session, show
from memspec_py.cli.words import comma_list
from memspec_py.render.search import lines


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--type",
    "type_",
    metavar="TYPE",
    help="Only fact, decision, procedure, observation or question.",
)
@click.option(
    "--limit", default=10, show_default=True, type=click.IntRange(1, 200), help="Hits on the page."
)
@click.option("--scope", help="Also records of this scope.")
@click.option("--profile", default="default", show_default=True, help="A profile of config.yaml.")
@click.option("--as-of", metavar="TIME", help="Only what is valid in the world at this time.")
@click.option("--full", is_flag=True, help="Whole bodies instead of previews.")
@click.option("--expand-edges", is_flag=True, help="Add the records that hits link to.")
@click.option("--edge-types", metavar="A,B", help="Follow only these edges.")
@click.option(
    "--expand-depth",
    default=1,
    show_default=True,
    type=click.IntRange(1, 3),
    help="Steps to follow.",
)
@click.option(
    "--include-superseded", is_flag=True, help="Let --expand-edges reach superseded records."
)
@click.option("--explain", is_flag=True, help="Show the parts of each score.")
@cwd_option
@json_option
def command(
    query: tuple[str, ...],
    type_: str | None,
    limit: int,
    scope: str | None,
    profile: str,
    as_of: str | None,
    full: bool,
    expand_edges: bool,
    edge_types: str | None,
    expand_depth: int,
    include_superseded: bool,
    explain: bool,
    cwd: str | None,
    as_json_: bool,
) -> None:
    """Find records, best first, with a verdict on how far they answer. Any text is a legal query.

    Words that begin with a dash go after `--`. No hit is an answer too, and exits 0.

    \b
    Example:
      memspec search "how does auth work"
      memspec search src/auth/jwt.ts --expand-edges
      memspec search -- -rf
    """
    store = opened(cwd)
    reply = store.search(
        " ".join(query),
        type=type_,
        limit=limit,
        scope=scope,
        profile=profile,
        as_of=as_of,
        full=full,
        expand=expand_edges,
        edge_types=comma_list(edge_types),
        depth=expand_depth,
        include_superseded=include_superseded,
        explain=explain,
    )
    show(reply, as_json_, lambda: lines(reply))
    sys.stdout.flush()  # the answer is out before the receipt is written
    store.note_use(reply, surface="cli", session=session())
