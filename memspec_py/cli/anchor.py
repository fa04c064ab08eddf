"""``memspec anchor``."""

from __future__ import annotations

import click

from memspec_py.cli.common import cwd_option, json_option, opened, show
from memspec_py.render.anchor import lines


@click.command()
@click.argument("record_id", metavar="ID")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option("--replace", is_flag=True, help="Drop every other anchor.")
@click.option("--strict", is_flag=True, help="Refuse when a path resolves nowhere.")
@click.option(
    "--anchor-root", metavar="DIR", help="Look up relative paths here first: another checkout."
)
@click.option("--source", default="agent", show_default=True, help="Who says so.")
@click.option("--override-operator", is_flag=True, help="Even if the record is the operator's.")
@cwd_option
@json_option
def command(
    record_id: str,
    paths: tuple[str, ...],
    replace: bool,
    strict: bool,
    anchor_root: str | None,
    source: str,
    override_operator: bool,
    cwd: str | None,
    as_json_: bool,
) -> None:
    """Say which code a record depends on.

    PATH is a whole file; PATH#Symbol a function, class, method, constant, heading or key;
    PATH:10-40 the text of some lines; PATH::NAME=value a value that must stay.

    \b
    Example:
      memspec anchor ms_01M8MT src/auth/jwt.py#issue_token
      memspec anchor ms_01M8MT src/auth/jwt.py::TOKEN_TTL=900 README.md:10-40
    """
    done = opened(cwd).anchor(
        record_id,
        paths,
        source=source,
        replace=replace,
        strict=strict,
        anchor_root=anchor_root,
        override_operator=override_operator,
    )
    show(done, as_json_, lambda: lines(done))
