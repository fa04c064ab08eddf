"""``memspec context``."""

from __future__ import annotations

import sys

import click

from memspec_py.cli.common import cwd_option, json_option, opened, session, show


@click.command()
@click.argument("more_paths", nargs=-1, metavar="")
@click.option("--query", help="Records that answer this, best first.")
@click.option(
    "--paths",
    multiple=True,
    metavar="PATH ...",
    help="First what is anchored to these files, or to anything below these folders.",
)
@click.option(
    "--type", "type_", metavar="TYPE", help="Only fact, decision, procedure or observation."
)
@click.option("--scope", help="Also records of this scope.")
@click.option(
    "--limit", default=20, show_default=True, type=click.IntRange(1, 100), help="Records at most."
)
@click.option(
    "--budget",
    default=2000,
    show_default=True,
    type=click.IntRange(200),
    help="Tokens at most, estimated at four characters each.",
)
@click.option(
    "--format",
    "form",
    default="markdown",
    show_default=True,
    type=click.Choice(("markdown", "json")),
    help="How to print it; --json is --format json.",
)
@click.option("--explain", is_flag=True, help="Show the parts of each record's rank.")
@cwd_option
@json_option
def command(
    more_paths: tuple[str, ...],
    query: str | None,
    paths: tuple[str, ...],
    type_: str | None,
    scope: str | None,
    limit: int,
    budget: int,
    form: str,
    explain: bool,
    cwd: str | None,
    as_json_: bool,
) -> None:
    """Show what to know before work starts, within a budget: what session-start hooks inject.

    First what needs attention (drifted or stale), then what is pinned, then the best of the rest.
    What did not fit is counted. No record is an answer too, and exits 0.

    \b
    Example:
      memspec context
      memspec context --paths src/auth/jwt.py --budget 500
      memspec context --query "token lifetime" --explain
    """
    if more_paths and not paths:
        raise click.UsageError(f"{more_paths[0]!r} is no option; did you mean --query or --paths?")
    store = opened(cwd)
    reply = store.context(
        query=query,
        paths=(*paths, *more_paths),
        type=type_,
        scope=scope,
        limit=limit,
        budget=budget,
        explain=explain,
    )
    show(reply, as_json_ or form == "json", reply.lines)
    sys.stdout.flush()  # the answer is out before the receipt is written
    store.note_use(reply, surface="context", session=session())
