"""``memspec verify``."""

from __future__ import annotations

import click

from memspec_py.cli.common import cwd_option, json_option, opened, show
from memspec_py.render.verify import lines


@click.command()
@click.argument("record_id", metavar="ID")
@click.option("--evidence", metavar="TEXT", help="What you looked at, in a sentence.")
@click.option(
    "--evidence-file",
    "evidence_files",
    multiple=True,
    metavar="FILE|URL",
    help="Proof to keep, or a link. Repeatable.",
)
@click.option("--check-by", metavar="TIME|never", help="When to look again. Default: by type.")
@click.option("--reanchor", is_flag=True, help="It still holds: take the code as it is now.")
@click.option("--source", default="agent", show_default=True, help="Who verifies it.")
@click.option("--override-operator", is_flag=True, help="Even if the record is the operator's.")
@cwd_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    record_id: str,
    evidence: str | None,
    evidence_files: tuple[str, ...],
    check_by: str | None,
    reanchor: bool,
    source: str,
    override_operator: bool,
    cwd: str | None,
    as_json_: bool,
) -> None:
    """Say that a record still holds; its anchors are checked.

    When one has drifted nothing is changed, and the exit code is 1: look at the code, then
    --reanchor or supersede. A record without anchors needs --evidence.

    \b
    Example:
      memspec verify ms_01M8MT
      memspec verify ms_01M8MT --evidence "read the deployed config"
    """
    done = opened(cwd).verify(
        record_id,
        source=source,
        evidence=evidence,
        evidence_files=evidence_files,
        check_by=check_by,
        reanchor=reanchor,
        override_operator=override_operator,
    )
    show(done, as_json_, lambda: lines(done))
    if done.status != "verified":
        ctx.exit(1)
