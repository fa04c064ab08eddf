"""``memspec export``."""

from __future__ import annotations

import click

from memspec_py.cli.common import cwd_option, json_option, opened, show
from memspec_py.cli.words import comma_list
from memspec_py.render.export import beside, lines


@click.command()
@click.option(
    "--format",
    "format_",
    required=True,
    type=click.Choice(["jsonl", "graphml", "dot"]),
    help="JSON lines, GraphML, or DOT for Graphviz.",
)
@click.option("--include-superseded", is_flag=True, help="Also superseded claims.")
@click.option("--types", metavar="A,B", help="Only fact, decision or procedure.")
@cwd_option
@json_option
def command(
    format_: str, include_superseded: bool, types: str | None, cwd: str | None, as_json_: bool
) -> None:
    """Print claims, the files they are anchored to, and their links as one graph.

    Observations and questions are not in it.

    \b
    Example:
      memspec export --format dot | dot -Tsvg > memory.svg
      memspec export --format jsonl --include-superseded
    """
    done = opened(cwd).export(
        format_, include_superseded=include_superseded, types=comma_list(types)
    )
    if as_json_:
        show(done, as_json_, lambda: lines(done))
        return
    click.echo(done.output, nl=False)
    for line in beside(done):
        click.echo(line, err=True)
