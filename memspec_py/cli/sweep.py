"""``memspec sweep``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from memspec_py.cli.common import cwd_option, json_option, opened, show
from memspec_py.cli.words import text_from
from memspec_py.errors import UsageError
from memspec_py.render.text import harmless

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from memspec_py.acts.sweep import Candidate, Swept


@click.command()
@click.option("--dry-run", is_flag=True, help="Only list what could be retired.")
@click.option(
    "--answers", metavar="FILE", help="Lines `ID<tab>y`, `n` or `q` instead of questions."
)
@click.option("--force", is_flag=True, help="Even what git has not committed.")
@click.option("--override-operator", is_flag=True, help="Even the operator's records.")
@click.option("--source", default="user", show_default=True, help="Who decides.")
@cwd_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    dry_run: bool,
    answers: str | None,
    force: bool,
    override_operator: bool,
    source: str,
    cwd: str | None,
    as_json_: bool,
) -> None:
    """Retire stale claims and expired observations, one by one. Nothing else removes records.

    They move into archive/, out of search. What git has not committed is refused, so that all can
    be got back; the exit code is then 1.

    \b
    Example:
      memspec sweep --dry-run
      memspec sweep --answers decided.tsv
    """
    if dry_run and answers is not None:
        raise UsageError("a dry run asks nothing", hint="leave out --dry-run or --answers")
    done = opened(cwd).sweep(
        None if dry_run else _asker(answers),
        source=source,
        override_operator=override_operator,
        force=force,
    )
    show(done, as_json_, lambda: _lines(done))
    if done.refused:
        ctx.exit(1)


def _asker(answers: str | None) -> Callable[[Candidate], str] | Mapping[str, str]:
    if answers is not None:
        return _read(text_from(None, answers))
    if not _is_terminal():
        raise UsageError(
            "nobody is here to ask", hint="--answers FILE has the answers, --dry-run lists all"
        )
    return _ask


def _is_terminal() -> bool:
    return sys.stdin.isatty()


def _ask(one: Candidate) -> str:
    """One question on the terminal; standard output is left to the reply."""
    click.echo(f"{one.id} [{one.type}] {harmless(one.title)} ({one.reason})", err=True)
    answer: str = click.prompt(
        "Retire this record? y, N or q",
        default="n",
        show_default=False,
        type=click.Choice(["y", "n", "q"], case_sensitive=False),
        show_choices=False,
        err=True,
    )
    return answer


def _read(text: str) -> Mapping[str, str]:
    """The answers of a file; one that makes no sense refuses all of them."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        id_, tab, answer = line.partition("\t")
        word = answer.strip().lower()
        if not tab or word not in ("y", "n", "q"):
            raise UsageError(
                f"line {number} of the answers is not an id, a tab, and y, n or q",
                hint="`memspec sweep --dry-run` lists the ids",
            )
        found[id_.strip()] = word
    return found


def _lines(done: Swept) -> Iterator[str]:
    for id_ in done.unknown:
        yield f"Warning: {harmless(id_)} is neither stale nor expired"
    for one in done.records:
        why = f": {harmless(one.why)}" if one.why else ""
        outcome = "due" if done.dry_run else one.outcome
        yield f"{outcome}: {one.id} [{one.type}] {harmless(one.title)} ({one.reason}){why}"
    if not done.records:
        yield "Nothing is stale or expired"
        return
    yield f"{done.retired} of {done.count} retired" + (" (dry run)" if done.dry_run else "")
