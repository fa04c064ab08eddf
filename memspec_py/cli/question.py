"""``memspec question``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memspec_py.cli.common import cwd_option, harmless, json_option, opened, show
from memspec_py.cli.words import comma_list
from memspec_py.ids import PREFIX, prefix_range

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memspec_py.acts.question import Asked


@click.command()
@click.argument("question", metavar="TITLE|ID")
@click.argument("more", nargs=-1, metavar="")
@click.option("--answers", multiple=True, metavar="ID...", help="Records that answer it.")
@click.option("--closed", is_flag=True, help="Those are the only candidates.")
@click.option("--source", default="agent", show_default=True, help="Who asks, or resolves it.")
@click.option("--body", default="", help="What the question is about.")
@click.option("--tags", help="Tags, separated by commas.")
@click.option("--scope", help="Visible only in this scope; `universal` is everywhere.")
@click.option("--add", multiple=True, metavar="ID...", help="More answers.")
@click.option("--close", "close", is_flag=True, help="Its answers are the only candidates.")
@click.option("--open", "open_", is_flag=True, help="Others may come; takes a resolution back.")
@click.option("--resolve", is_flag=True, help="Confirm the one answer that is left.")
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
            question, add=ids, close=close, open=open_, resolve=resolve, source=source
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
    show(done, as_json_, lambda: _lines(done))


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


def _lines(done: Asked) -> Iterator[str]:
    verb = "Asked" if done.created else "Changed" if done.changed else "Unchanged:"
    closed = ", closed" if done.closed else ""
    yield f"{verb} {done.id} ({done.state}{closed})"
    yield f"  {harmless(done.title)}"
    yield f"  {done.store}/{done.path}"
    for answer in done.answers:
        title = "(not in this store)" if answer.title is None else harmless(answer.title)
        mark = "" if answer.state in (None, "active") else f" [{str(answer.state).upper()}]"
        yield f"  answer {answer.id} {title}{mark}"
    listed = {answer.id for answer in done.answers}
    for id_ in done.holding:
        if id_ not in listed:
            yield f"  in the place of one: {id_}"
    if done.resolved_by:
        yield f"  resolved by {done.resolved_by}"
    if done.survivor_id:
        yield f"One answer is left: {done.survivor_id}; --resolve confirms it"
