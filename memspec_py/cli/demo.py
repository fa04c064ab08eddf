"""``memspec demo``."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING

import click

from memspec_py.cli.common import json_option, show
from memspec_py.cli.demo_script import FILE, ID, STEPS
from memspec_py.errors import StorageFailed, UsageError
from memspec_py.render.text import harmless

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from memspec_py.cli.demo_script import Step

_PAUSE = 0.7
_SECONDS = 60.0  # for one command; each takes a tenth of a second
_ID = re.compile(r"\bms_[0-9A-Z]{26}\b")
# Settings of the surroundings that would lead a command out of the demo's folder.
_FOREIGN = ("GIT_", "MEMSPEC_", "CLAUDE_", "XDG_")
_PERSON = ("demo", "demo@example.org")


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """One command of the demo, with what it answered."""

    said: str
    command: str
    exit_code: int
    output: str
    unexpected: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstrated:
    """How the demo went; it ends with the first step that goes otherwise than told."""

    as_told: bool
    steps: tuple[Played, ...]
    folder: str | None = None


@click.command()
@click.option("--keep", metavar="DIR", help="Play it in this new or empty folder, and leave it.")
@click.option("--fast", is_flag=True, help="Without pauses, on a terminal too.")
@json_option
@click.pass_context
def command(ctx: click.Context, keep: str | None, fast: bool, as_json_: bool) -> None:
    """Show what memspec is for: a short story, played with real commands.

    It needs git and no network. Everything happens in a temporary folder with a home of its own,
    which is removed at the end. When a step goes otherwise than told, the exit code is 1.

    \b
    Example:
      memspec demo
      memspec demo --keep /tmp/memspec-demo --fast
    """
    if shutil.which("git") is None:
        raise StorageFailed("git is not installed, and the demo's project is in git")
    pause = _PAUSE if sys.stdout.isatty() and not fast else 0.0
    with _folder(keep) as folder:
        before, after = _narrator(pause)
        played = demonstrate(STEPS, folder, *((_silent, _silent) if as_json_ else (before, after)))
    as_told = all(step.unexpected is None for step in played)
    kept = str(folder) if keep is not None else None
    done = Demonstrated(as_told=as_told, steps=played, folder=kept)
    show(done, as_json_, lambda: _closing(done))
    if not as_told:
        ctx.exit(1)


def demonstrate(
    steps: Sequence[Step],
    folder: Path,
    before: Callable[[Played], None],
    after: Callable[[Played], None],
) -> tuple[Played, ...]:
    """Play the steps in a folder, up to the first that goes otherwise than told.

    ``before`` is called with each step that is about to run, ``after`` with what came of it.
    """
    project = folder / "shop"
    environment = _environment(folder)
    played: list[Played] = []
    known = ID
    for step in steps:
        if step.file:
            (project / FILE).write_text(step.file, encoding="utf-8")
        typed = step.typed.replace(ID, known)
        before(Played(said=step.said, command=typed, exit_code=0, output=""))
        exit_code, output = _run(typed, project, environment)
        if known == ID and (found := _ID.search(output)):
            known = found[0]
        done = Played(
            said=step.said,
            command=typed,
            exit_code=exit_code,
            output=output,
            unexpected=_unexpected(step, known, exit_code, output),
        )
        after(done)
        played.append(done)
        if done.unexpected is not None:
            break
    return tuple(played)


def _unexpected(step: Step, known: str, exit_code: int, output: str) -> str | None:
    """What about an answer is not as the story has it."""
    if exit_code != step.exit_code:
        return f"the exit code is {exit_code} instead of {step.exit_code}"
    lacking = [text for each in step.shows if (text := each.replace(ID, known)) not in output]
    if lacking:
        return f"the answer lacks {', '.join(map(repr, lacking))}"
    excess = [text for text in step.hides if text in output]
    return f"the answer has {', '.join(map(repr, excess))}" if excess else None


def _run(typed: str, project: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """Run a command as a process of its own; its exit code, and all that it printed."""
    from subprocess import DEVNULL, PIPE, STDOUT, TimeoutExpired, run

    name, *arguments = shlex.split(typed.replace("\\\n", ""))
    # -P: no file of the working directory can come before our modules.
    ours = [sys.executable, "-P", "-m", "memspec_py"] if name == "memspec" else [name]
    try:
        done = run(
            [*ours, *arguments],
            cwd=project,
            env=environment,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except TimeoutExpired:
        return 124, f"no answer within {_SECONDS:g} seconds\n"
    except OSError as problem:
        return 127, f"{name} cannot be run: {problem.strerror}\n"
    # A shell shows an end by a signal as 128 and its number.
    return done.returncode if done.returncode >= 0 else 128 - done.returncode, done.stdout


def _environment(folder: Path) -> dict[str, str]:
    """The environment of each command: the modules of this process, a home and a git of its own."""
    kept = {key: os.environ[key] for key in os.environ if not key.startswith(_FOREIGN)}
    name, address = _PERSON
    return {
        **kept,
        "HOME": str(folder),  # no store above a home serves what is in it
        "PWD": str(folder / "shop"),
        "COLUMNS": "80",
        "LC_ALL": "C",
        "PYTHONPATH": os.pathsep.join(os.path.abspath(each) for each in sys.path if each),
        "PYTHONUTF8": "1",
        "PYTHONIOENCODING": "utf-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CEILING_DIRECTORIES": str(folder),
        "GIT_AUTHOR_NAME": name,
        "GIT_AUTHOR_EMAIL": address,
        "GIT_COMMITTER_NAME": name,
        "GIT_COMMITTER_EMAIL": address,
        "GIT_TERMINAL_PROMPT": "0",
    }


@contextmanager
def _folder(keep: str | None) -> Iterator[Path]:
    """Where it is played: a home with a project in it."""
    if keep is not None:
        yield _furnished(Path(keep))
        return
    try:
        made = tempfile.TemporaryDirectory(prefix="memspec-demo-")
    except OSError as problem:
        raise StorageFailed(
            f"no temporary folder can be made: {problem.strerror}",
            hint="name a folder with --keep",
        ) from None
    with made as name:
        yield _furnished(Path(name))


def _furnished(folder: Path) -> Path:
    """The folder, made and found empty, with a project in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder = folder.resolve()
        if any(folder.iterdir()):
            raise UsageError(f"{folder} is not empty", hint="name a folder that is new or empty")
        (folder / "shop" / FILE).parent.mkdir(parents=True)
    except OSError as problem:
        raise StorageFailed(f"{folder} cannot be used: {problem.strerror}") from None
    return folder


def _narrator(pause: float) -> tuple[Callable[[Played], None], Callable[[Played], None]]:
    """What tells the story as it goes: before a command, and after it."""

    def before(step: Played) -> None:
        if step.said:
            sleep(pause)
            click.echo("\n".join(["", *(f"# {line}" for line in step.said.splitlines())]))
        click.echo(f"$ {step.command}")

    def after(step: Played) -> None:
        if step.output:
            click.echo("\n".join(map(harmless, step.output.splitlines())))
        if step.exit_code:
            click.echo(f"[exit code {step.exit_code}]")

    return before, after


def _silent(_: Played) -> None:
    """Tell nothing."""


def _closing(done: Demonstrated) -> Iterator[str]:
    yield ""
    if not done.as_told:
        yield f"This did not go as told: {done.steps[-1].unexpected}"
    elif done.folder is None:
        yield "The folder is gone again. Yours begins with: memspec init"
    if done.folder is not None:
        yield f"The project is in {harmless(done.folder)}/shop"
