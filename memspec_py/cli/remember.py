"""``memspec remember``."""

from __future__ import annotations

import click

from memspec_py.cli.common import cwd_option, json_option, opened, show
from memspec_py.cli.words import comma_list, text_from
from memspec_py.render.remember import lines

_EDGES = {
    "refines": "It says more precisely what ID says.",
    "supports": "It speaks for ID.",
    "depends-on": "It holds only while ID does.",
    "derived-from": "It was inferred from ID, not observed.",
    "conflicts-with": "It contradicts ID.",
    "distinct-from": "It was compared with ID and is independent of it.",
}


def _edge_options(function: click.decorators.FC) -> click.decorators.FC:
    for name, meaning in reversed(_EDGES.items()):
        option = click.option(
            f"--{name}", multiple=True, metavar="ID", help=f"{meaning} Repeatable."
        )
        function = option(function)
    return function


@click.command()
@click.argument("type_", metavar="TYPE", type=click.Choice(["fact", "decision", "procedure"]))
@click.argument("title")
@click.option("--source", required=True, help="Who claims this: claude-code, human:NAME, a script.")
@click.option("--body", help="The text. `-` reads it from standard input.")
@click.option("--body-file", type=click.Path(), help="A file with the text. `-` is standard input.")
@click.option("--tags", help="Tags, separated by commas.")
@click.option(
    "--anchor",
    "anchors",
    multiple=True,
    metavar="PATH",
    help="Code it depends on: PATH, PATH#Symbol, PATH:10-40 or PATH::NAME=value. Repeatable.",
)
@click.option(
    "--anchor-root", metavar="DIR", help="Look up relative anchors here first: another checkout."
)
@click.option("--strict", is_flag=True, help="Refuse when an anchor resolves nowhere.")
@click.option(
    "--evidence", multiple=True, metavar="FILE|URL", help="Proof to keep, or a link. Repeatable."
)
@click.option(
    "--check-by", metavar="TIME|never", help="When to look at it again. Default: by type."
)
@click.option("--valid-from", metavar="TIME", help="True in the world from this time on.")
@click.option("--valid-to", metavar="TIME", help="True in the world up to this time.")
@_edge_options
@click.option("--scope", help="Visible only in this scope; `universal` is everywhere.")
@click.option("--pin", is_flag=True, help="Always part of the boot context.")
@click.option(
    "--requires-human",
    multiple=True,
    metavar="STEP",
    help="A step only a person may do (procedures).",
)
@click.option("--answers-question", metavar="ID", help="List it as an answer of this question.")
@click.option("--force", is_flag=True, help="Write even if a record says, or said, this.")
@click.option(
    "--reason", help="Why, with --force; needed where a superseded record said it, and kept."
)
@cwd_option
@json_option
def command(
    type_: str,
    title: str,
    source: str,
    body: str | None,
    body_file: str | None,
    tags: str | None,
    anchors: tuple[str, ...],
    anchor_root: str | None,
    strict: bool,
    evidence: tuple[str, ...],
    check_by: str | None,
    valid_from: str | None,
    valid_to: str | None,
    scope: str | None,
    pin: bool,
    requires_human: tuple[str, ...],
    answers_question: str | None,
    force: bool,
    reason: str | None,
    cwd: str | None,
    as_json_: bool,
    **edges: tuple[str, ...],
) -> None:
    """Write a claim: a fact, a decision or a procedure.

    It is refused (exit 1) when the store already says it, or said it and took it back. Times are
    ISO 8601; a date alone is midnight UTC.

    \b
    Example:
      memspec remember fact "Auth uses JWT" --source claude-code \\
          --tags auth --anchor src/auth/jwt.ts --body "Signed with RS256."
    """
    done = opened(cwd).remember(
        type_,
        title,
        source=source,
        body=text_from(body, body_file),
        tags=comma_list(tags),
        anchors=anchors,
        anchor_root=anchor_root,
        strict=strict,
        evidence=evidence,
        check_by=check_by,
        valid_from=valid_from,
        valid_to=valid_to,
        edges={name: ids for name, ids in edges.items() if ids},
        scope=scope,
        pinned=pin,
        requires_human=requires_human,
        answers_question=answers_question,
        force=force,
        reason=reason,
    )
    show(done, as_json_, lambda: lines(done))
