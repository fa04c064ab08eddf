"""The manual, and that it and the list of commands have a place for each."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib

import click
import pytest

from memspec_py.cli.main import GROUPS, cli
from tests.cli import pages
from tests.cli.manual import manual

PAGE = pages.MANUAL.read_text(encoding="utf-8")
COMMANDS = [name for names in GROUPS.values() for name in names]
_FORMATTERS = {
    "groff": ["groff", "-man", "-ww", "-z", "-Tutf8"],
    "mandoc": ["mandoc", "-Tlint", "-Wunsupp"],
    "man": ["man", "--warnings=w", "-l"],
}


def test_the_manual_is_made_from_the_help() -> None:
    """`docs/memspec.1` is what the commands are now; `bin/pages` writes it."""
    assert manual() == PAGE


@pytest.mark.parametrize("program", _FORMATTERS)
def test_the_manual_is_shown_without_a_warning(program: str) -> None:
    """By whatever formats manuals here."""
    if shutil.which(program) is None:
        pytest.skip(f"no {program} here")
    command = [*_FORMATTERS[program], str(pages.MANUAL)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    warnings = [line for line in (done.stderr + done.stdout).splitlines() if "memspec.1:" in line]
    assert (done.returncode, warnings) == (0, [])
    if program == "man":
        assert "COMMON OPTIONS" in done.stdout


def test_the_manual_has_only_macros_that_every_reader_knows() -> None:
    """No line begins with a request by accident, and each escape is one."""
    requests = {line.split()[0] for line in PAGE.splitlines() if line[:1] in (".", "'")}
    assert requests == {
        *(".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".I", ".nf", ".fi", ".nh", ".ad"),
    }
    assert set(re.findall(r"\\(\W|\w)", PAGE)) <= {"-", "(", "f", "&", "e"}
    assert PAGE.isascii()


def test_the_manual_has_every_command_option_and_exit_code() -> None:
    """None is lost between the help and the page."""
    headings = re.findall(r"(?m)^\.SS (.+)$", PAGE)
    assert headings == COMMANDS
    context = click.Context(cli, info_name="memspec")
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        for option in command.params:
            for shown in option.opts if isinstance(option, click.Option) else ():
                assert shown.replace("-", "\\-") in PAGE
    for code in re.findall(r"(\d) [a-z]", cli.epilog or ""):
        assert f"\n\\fB{code}\\fR\n" in PAGE


def test_examples_stand_in_the_manual_as_they_are_typed() -> None:
    """Not filled into paragraphs, and with plain quotes, dashes and backslashes."""
    wanted = 'memspec remember fact "Auth uses JWT" \\-\\-source claude\\-code \\e\n'
    assert f"\n  {wanted}" in PAGE


def test_the_wheel_has_the_manual() -> None:
    """Where `man memspec` finds it once it is installed."""
    project = tomllib.loads((pages.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    shared = project["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    assert shared == {"docs/memspec.1": "share/man/man1/memspec.1"}


def test_commands_are_grouped_by_what_people_do() -> None:
    """Each stands in one group, no group is large, and each has one line that tells it."""
    context = click.Context(cli, info_name="memspec", **cli.context_settings)
    shown = cli.get_help(context)
    assert len(COMMANDS) == len(set(COMMANDS))
    places = [shown.index(f"\n{title}:\n") for title in GROUPS]
    assert places == sorted(places)
    for title, names in GROUPS.items():
        assert 0 < len(names) <= 8, title
        section = shown.partition(f"\n{title}:\n")[2].partition("\n\n")[0]
        assert re.findall(r"(?m)^  (\S+)", section) == list(names)
        assert all(re.match(r"  \S+ +[A-Z]", line) for line in section.splitlines())
