"""``memspec hook``: what an agent's harness runs. It never stands in the harness's way.

Called by its own name it is answered by ``memspec_py.hooks``, which need not load click; this is
its place in the help, and for whoever calls the command line from Python.
"""

from __future__ import annotations

import sys

import click

from memspec_py.render.hook import CLAUDE_CODE, EVENTS, answered, nothing, problem_line
from memspec_py.views.hook_payload import MOST_BYTES


class _NeverRefuses(click.Command):
    """A command whose every exit is 0: to some harnesses 2 means that the agent must not go on."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as problem:
            click.echo(problem_line(problem.format_message()), err=True)
            ctx.exit(0)


@click.command(cls=_NeverRefuses)
@click.argument("event", metavar=f"[{'|'.join(EVENTS)}]")
@click.option(
    "--harness",
    default=CLAUDE_CODE,
    metavar="NAME",
    help="Whose payload and answer: claude-code (the default), codex, cursor, gemini, copilot, or"
    " plain for the bare text.",
)
def command(event: str, harness: str) -> None:
    """Answer an agent's harness: it gives JSON on standard input and gets what to tell the agent.

    Exits 0 whatever happens, with nothing to tell, and says on standard error what was wrong.

    \b
    Example:
      cat payload.json | memspec hook session-start
      cat payload.json | memspec hook prompt --harness gemini
    """
    if sys.stdin.isatty():
        answer = nothing(harness, "a hook reads JSON on standard input")
    else:
        answer = answered(event, harness, sys.stdin.buffer.read(MOST_BYTES + 1))
    click.echo(answer.said, nl=False)
    if answer.problem:
        click.echo(problem_line(answer.problem), err=True)
