"""``memspec outcome``."""

from __future__ import annotations

import click

from memspec_py.cli.common import cwd_option, json_option, opened, session, show
from memspec_py.render.outcome import lines


@click.command()
@click.argument("record_id", metavar="ID")
@click.argument("outcome", type=click.Choice(["helped", "dead_end", "corrected"]))
@click.option("--note", help="What happened.")
@click.option("--source", default="agent", show_default=True, help="Who says so.")
@cwd_option
@json_option
def command(
    record_id: str,
    outcome: str,
    note: str | None,
    source: str,
    cwd: str | None,
    as_json_: bool,
) -> None:
    """Note what came of acting on a record. The record itself stays as it is.

    It goes to outcomes.jsonl, which is of this machine and never committed. `supersede` notes
    `corrected` by itself.

    \b
    Example:
      memspec outcome ms_01M8MT dead_end --note "the file it names is gone"
    """
    done = opened(cwd).outcome(record_id, outcome, note=note, source=source, session=session())
    show(done, as_json_, lambda: lines(done))
