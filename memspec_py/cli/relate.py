"""``memspec relate``."""

from __future__ import annotations

import click

from memspec_py.cli.common import cwd_option, json_option, opened, show
from memspec_py.render.relate import lines

EDGES = ("refines", "supports", "depends_on", "derived_from", "conflicts_with", "distinct_from")


@click.command()
@click.option("--from", "from_", required=True, metavar="ID", help="The record that gets the link.")
@click.option("--to", required=True, metavar="ID", help="The record it names.")
@click.option(
    "--type",
    "type_",
    required=True,
    metavar="EDGE",
    help=f"{', '.join(EDGES[:-1])} or {EDGES[-1]}.",
)
@click.option("--allow-missing", is_flag=True, help="Even if --to is on another branch.")
@click.option("--source", default="agent", show_default=True, help="Who links them.")
@click.option("--override-operator", is_flag=True, help="Even if --from is the operator's.")
@cwd_option
@json_option
def command(
    from_: str,
    to: str,
    type_: str,
    allow_missing: bool,
    source: str,
    override_operator: bool,
    cwd: str | None,
    as_json_: bool,
) -> None:
    """Link a record to another.

    Refused (exit 1) when an edge between the two, on either side, says the opposite: distinct_from
    beside any other, conflicts_with beside refines, supports, depends_on or derived_from.

    \b
    Example:
      memspec relate --from ms_01M8MT --to ms_01M8MV --type refines
    """
    done = opened(cwd).relate(
        from_,
        to,
        type_,
        source=source,
        allow_missing=allow_missing,
        override_operator=override_operator,
    )
    show(done, as_json_, lambda: lines(done))
