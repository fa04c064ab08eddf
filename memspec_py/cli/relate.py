"""``memspec relate``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memspec_py.cli.common import cwd_option, harmless, json_option, opened, show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspec_py.acts.relate import Related

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
@click.option("--override-operator", is_flag=True, help="Even if --from is the operator's.")
@cwd_option
@json_option
def command(
    from_: str,
    to: str,
    type_: str,
    allow_missing: bool,
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
        from_, to, type_, allow_missing=allow_missing, override_operator=override_operator
    )
    show(done, as_json_, lambda: _lines(done))


def _lines(done: Related) -> Iterator[str]:
    if done.changed:
        yield f"Linked {done.from_id} {done.edge_type} {done.to_id}"
    else:
        yield f"{done.from_id} {done.edge_type} {done.to_id} is there already"
    if done.to_title is None:
        yield f"Warning: {done.to_id} is not in this store"
    else:
        yield f"  {harmless(done.to_title)}"
    if done.to_state not in (None, "active", "open"):
        yield f"Warning: {done.to_id} is {done.to_state}"
