"""Running a script of ``bin/`` that is no sub-command: errors become text and an exit code."""

from __future__ import annotations

import sys
from typing import NoReturn

import click

from memspec_py.cli.main import make_output_safe
from memspec_py.errors import MemspecError, UsageError
from memspec_py.render.text import problem_lines


def run(command: click.Command, name: str) -> NoReturn:
    """Run the click command of ``bin/NAME`` and leave with its exit code."""
    make_output_safe()
    try:
        sys.exit(command.main(prog_name=name, standalone_mode=False))
    except click.ClickException as problem:
        _leave(UsageError(problem.format_message(), hint=f"see `bin/{name} --help`"))
    except MemspecError as problem:
        _leave(problem)


def _leave(problem: MemspecError) -> NoReturn:
    for line in problem_lines(problem):
        print(line, file=sys.stderr)
    sys.exit(problem.exit_code)
