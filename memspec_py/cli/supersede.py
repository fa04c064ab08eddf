"""``memspec supersede``."""

from __future__ import annotations

import click

from memspec_py.cli.common import cwd_option, json_option, opened, show
from memspec_py.cli.words import comma_list, text_from
from memspec_py.render.supersede import lines


@click.command()
@click.argument("record_id", metavar="ID")
@click.option("--reason", required=True, help="Why; it is kept in every record involved.")
@click.option("--body", help="What holds instead. `-` reads it from standard input.")
@click.option("--body-file", type=click.Path(), help="A file with the text. `-` is standard input.")
@click.option("--title", help="A new title. Default: the old one.")
@click.option(
    "--type",
    "type_",
    metavar="TYPE",
    help="fact, decision or procedure; makes a claim of an observation.",
)
@click.option("--merge-from", metavar="ID,ID", multiple=True, help="Also supersede these.")
@click.option("--source", default="agent", show_default=True, help="Who says so.")
@click.option("--tags", help="Other tags, separated by commas.")
@click.option("--anchor", "anchors", multiple=True, metavar="PATH", help="Other files. Repeatable.")
@click.option("--scope", help="Another scope.")
@click.option("--pin/--no-pin", "pinned", default=None, help="Pin it, or do not.")
@click.option("--check-by", metavar="TIME|never", help="When to look again. Default: by type.")
@click.option("--valid-from", metavar="TIME", help="True in the world from this time on.")
@click.option("--valid-to", metavar="TIME", help="True in the world up to this time.")
@click.option("--override-operator", is_flag=True, help="Even if a record is the operator's.")
@click.option("--force", is_flag=True, help="Even if another record says, or said, the new text.")
@cwd_option
@json_option
def command(
    record_id: str,
    reason: str,
    body: str | None,
    body_file: str | None,
    title: str | None,
    type_: str | None,
    merge_from: tuple[str, ...],
    source: str,
    tags: str | None,
    anchors: tuple[str, ...],
    scope: str | None,
    pinned: bool | None,
    check_by: str | None,
    valid_from: str | None,
    valid_to: str | None,
    override_operator: bool,
    force: bool,
    cwd: str | None,
    as_json_: bool,
) -> None:
    """Replace a record, merge records into one, or retract what does not hold.

    With a new text (--body, --title, --type) a new record takes its place and keeps what still
    describes it; with --merge-from alone the record stands for the others; with neither it is
    retracted. Superseded records go to archive/, with the reason.

    \b
    Example:
      memspec supersede ms_01M8MT --reason "Migrated to OAuth" --body "Now OAuth2 + PKCE"
      memspec supersede ms_01M8MT --reason "Same cause" --merge-from ms_01M8MV
      memspec supersede ms_01M8MT --reason "Never true"
    """
    done = opened(cwd).supersede(
        record_id,
        reason=reason,
        source=source,
        title=title,
        body=None if body is None and body_file is None else text_from(body, body_file),
        type=type_,
        merge_from=[id_ for some in merge_from for id_ in comma_list(some)],
        tags=None if tags is None else comma_list(tags),
        scope=scope,
        pinned=pinned,
        check_by=check_by,
        valid_from=valid_from,
        valid_to=valid_to,
        anchors=anchors or None,
        override_operator=override_operator,
        force=force,
    )
    show(done, as_json_, lambda: lines(done))
