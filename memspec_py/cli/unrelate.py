"""``memspec unrelate``."""

from __future__ import annotations

import click

from memspec_py.cli.common import cwd_option, json_option, opened, show
from memspec_py.render.unrelate import lines


@click.command()
@click.option("--from", "from_", required=True, metavar="ID", help="The record that has the link.")
@click.option("--to", required=True, metavar="ID", help="The record it names.")
@click.option("--type", "type_", required=True, metavar="EDGE", help="As `memspec relate` takes.")
@click.option("--source", default="agent", show_default=True, help="Who takes it away.")
@click.option("--override-operator", is_flag=True, help="Even if --from is the operator's.")
@cwd_option
@json_option
def command(
    from_: str,
    to: str,
    type_: str,
    source: str,
    override_operator: bool,
    cwd: str | None,
    as_json_: bool,
) -> None:
    """Take a link away, also one to a record that is gone.

    \b
    Example:
      memspec unrelate --from ms_01M8MT --to ms_01M8MV --type conflicts_with
    """
    done = opened(cwd).unrelate(
        from_, to, type_, source=source, override_operator=override_operator
    )
    show(done, as_json_, lambda: lines(done))
