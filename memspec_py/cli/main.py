"""The ``memspec`` command: its sub-commands, and the one place where an error becomes an exit."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, NoReturn

import click

from memspec_py import __version__
from memspec_py.errors import MemspecError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

# What people do, in the order in which a newcomer meets it. Each command lives in a module of its
# name and is imported only when it runs.
GROUPS = {
    "Start": ("demo", "init", "where", "trust"),
    "Write": ("remember", "observe", "supersede", "edit"),
    "Link": ("anchor", "relate", "unrelate", "question"),
    "Read": ("search", "get", "list", "context", "export"),
    "Look after": ("reconcile", "verify", "outcome", "status", "sweep", "undo", "doctor"),
    "Connect": ("hook", "completion"),
}
_MODULES = {name: name for names in GROUPS.values() for name in names} | {"list": "list_"}
_BUG = 70
_GARBAGE = 500_000
_INTERRUPTED = 130


class _ReaderLeft(Exception):
    """The reader of our output has what it wanted and closed the pipe, which is no failure."""


class _Commands(click.Group):
    """Sub-commands that are imported on use."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # click would make a failure of it
            raise _ReaderLeft from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for names in GROUPS.values() for name in names]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _MODULES:
            return None
        module = import_module(f"memspec_py.cli.{_MODULES[cmd_name]}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as problem:
            from difflib import get_close_matches

            near = get_close_matches(args[0], self.list_commands(ctx), n=1)
            if near:
                raise click.UsageError(
                    f"{problem.message} Did you mean {near[0]!r}?", ctx
                ) from None
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, names in GROUPS.items():
            rows = []
            for name in names:
                command = self.get_command(ctx, name)
                assert command is not None
                rows.append((name, command.get_short_help_str(60)))
            with formatter.section(title):
                formatter.write_dl(rows)


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 the answer is no, 2 usage, 3 no such record, 4 no store, "
    "5 invalid, 6 conflict, 7 busy, 8 not allowed, 9 storage.",
)
@click.version_option(__version__, prog_name="memspec")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Project memory in git: claims that say where they come from and what they rest on.

    \b
    Example:
      memspec init
      memspec remember fact "Auth uses JWT" --source claude-code --tags auth
      memspec search "how does auth work"
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def entry() -> NoReturn:
    """What the ``memspec`` script runs.

    Leaves without taking the interpreter apart, which takes as long as a query: the output is
    flushed, the index is closed, and nothing else is open.
    """
    code = _run(sys.argv[1:])
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code)


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code."""
    sys.exit(_run(list(sys.argv[1:] if argv is None else argv)))


def _run(arguments: list[str]) -> int:
    # A command makes many small tuples and hardly a cycle; looking for garbage would only delay it.
    gc.set_threshold(_GARBAGE)
    make_output_safe()
    shell = os.environ.get("_MEMSPEC_COMPLETE")
    if shell is not None:
        from memspec_py.cli.completing import complete

        return complete(cli, shell, arguments)
    as_json = _asks_for_json(arguments)
    try:
        code = cli.main(args=arguments, prog_name="memspec", standalone_mode=False)
        sys.stdout.flush()
    except MemspecError as problem:
        _complain(problem, as_json=as_json)
        return problem.exit_code
    except click.ClickException as problem:
        _complain(_as_usage(problem), as_json=as_json)
        return UsageError.exit_code
    except (click.Abort, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        return _INTERRUPTED
    except (_ReaderLeft, BrokenPipeError):
        # Nothing may be flushed into the closed pipe at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception:  # noqa: BLE001 - a bug is told with everything needed to report it
        _tell_bug()
        return _BUG
    return code if isinstance(code, int) else 0


def _asks_for_json(arguments: Sequence[str]) -> bool:
    """Whether an error should be JSON, too."""
    has_format = ("--format", "json") in pairwise(arguments)
    return "--json" in arguments or "--format=json" in arguments or has_format


def _as_usage(problem: click.ClickException) -> UsageError:
    """What click found wrong with the command line, in our own form."""
    ctx = getattr(problem, "ctx", None)
    path = ctx.command_path if ctx is not None else "memspec"
    message = problem.format_message().rstrip(".")
    return UsageError(message[:1].lower() + message[1:], hint=f"see `{path} --help`")


def _complain(problem: MemspecError, *, as_json: bool) -> None:
    if as_json:
        import json

        print(json.dumps({"error": problem.as_dict()}, ensure_ascii=False), file=sys.stderr)
        return
    from memspec_py.render.text import problem_lines

    for line in problem_lines(problem):
        print(line, file=sys.stderr)


def _tell_bug() -> None:
    import platform
    import traceback

    traceback.print_exc()
    print(
        f"error: this is a bug in memspec {__version__}"
        f" (Python {platform.python_version()}, {platform.system()})",
        file=sys.stderr,
    )
    print(
        "hint: please report it with the lines above; your records are not affected",
        file=sys.stderr,
    )


def make_output_safe() -> None:
    """No character of a record may make printing it fail."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
