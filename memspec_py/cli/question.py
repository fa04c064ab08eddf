"""``memspec question``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memspec_py.cli.common import cwd_option, json_option, opened, show
from memspec_py.cli.words import comma_list
from memspec_py.ids import PREFIX, prefix_range
from memspec_py.render.question import lines

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command()
@click.argument("question", metavar="TITLE|ID")
@click.argument("more", nargs=-1, metavar="")
@click.option("--answers", multiple=True, metavar="ID...", help="Records that answer it.")
@click.option("--closed", is_flag=True, help="Those are the only candidates.")
@click.option("--source", default="agent", show_default=True, help="Who asks, or changes it.")
@click.option("--body", default="", help="What the question is about.")
@click.option("--tags", help="Tags, separated by commas.")
@click.option("--scope", help="Visible only in this scope; `universal` is everywhere.")
@click.option("--add", multiple=True, metavar="ID...", help="More answers.")
@click.option("--close", "close", is_flag=True, help="Its answers are the only candidates.")
@click.option("--open", "open_", is_flag=True, help="Others may come; takes a resolution back.")
@click.option("--resolve", is_flag=True, help="Confirm the one answer that is left.")
@click.option("--override-operator", is_flag=True, help="Even if the question is the operator's.")
@cwd_option
@json_option
def command(
    question: str,
    more: tuple[str, ...],
    answers: tuple[str, ...],
    closed: bool,
    source: str,
    body: str,
    tags: str | None,
    scope: str | None,
    add: tuple[str, ...],
    close: bool,
    open_: bool,
    resolve: bool,
    override_operator: bool,
    cwd: str | None,
    as_json_: bool,
) -> None:
    """Ask what several records answer, or go on with a question by its ID.

    A closed question is answered when all answers but one are superseded or retired. That is never
    done by itself: `status` tells, and --resolve confirms it.

    \b
    Example:
      memspec question "Which database?" --answers ms_01M8MT ms_01M8MV --closed
      memspec question ms_01M8MX --add ms_01M8MW
      memspec question ms_01M8MX --resolve
    """
    changes = bool(add or close or open_ or resolve)
    if question.startswith(PREFIX) and prefix_range(question):
        new = {"--answers": answers, "--closed": closed, "--body": body, "--tags": tags}
        _refuse({**new, "--scope": scope}, "is for a new question, and an id was given")
        ids = _ids("--add", add, more)
        done = opened(cwd).question(
            question,
            add=ids,
            close=close,
            open=open_,
            resolve=resolve,
            source=source,
            override_operator=override_operator,
        )
    elif changes:
        raise click.UsageError("--add, --close, --open and --resolve want the id of a question")
    else:
        done = opened(cwd).ask(
            question,
            source=source,
            answers=_ids("--answers", answers, more),
            closed=closed,
            body=body,
            tags=comma_list(tags),
            scope=scope,
        )
    show(done, as_json_, lambda: lines(done))


def _ids(option: str, given: Sequence[str], more: Sequence[str]) -> list[str]:
    """Ids behind an option, however many: a shell word each, or with commas in one."""
    if more and not given:
        raise click.UsageError(
            f"unexpected {more[0]!r}: quote the title, and put ids behind {option}"
        )
    return [id_ for some in (*given, *more) for id_ in comma_list(some)]


def _refuse(options: dict[str, object], why: str) -> None:
    for name, value in options.items():
        if value:
            raise click.UsageError(f"{name} {why}")
