"""The manual page, made from the same commands that ``--help`` shows.

Whatever stands in a help text reaches ``docs/memspec.1``; options that most commands have, in the
same words, are told once.
"""

from __future__ import annotations

import re
from collections import Counter
from inspect import cleandoc
from textwrap import wrap
from typing import TYPE_CHECKING

import click

from memspec_py import __version__
from memspec_py.cli.main import GROUPS, cli

if TYPE_CHECKING:
    from collections.abc import Iterator

# An option as it is shown: its names with what it takes, and its help.
_Option = tuple[str, str]


def manual() -> str:
    """The page, in the man macros that every reader of manuals knows."""
    context = click.Context(cli, info_name="memspec", **cli.context_settings)
    commands = {name: _command(context, name) for name in cli.list_commands(context)}
    options = {name: _options(context, name, command) for name, command in commands.items()}
    counted = Counter(option for listed in options.values() for option in listed)
    common = [option for option, count in counted.items() if count > len(commands) / 2]
    lines = [
        f'.TH MEMSPEC 1 "" "memspec {__version__}" "User Commands"',
        # Neither hyphens nor blanks of its own: an option or a path stays as it is typed.
        ".nh",
        ".ad l",
        ".SH NAME",
        f"memspec \\- {_text(_first_sentence(cli.help or ''))}",
        ".SH SYNOPSIS",
        ".B memspec",
        ".I COMMAND",
        "[\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]",
        ".SH DESCRIPTION",
        *_prose(cli.help or ""),
    ]
    for title, names in GROUPS.items():
        lines.append(f".SH {_text(title.upper())}")
        for name in names:
            lines += _about(context, name, commands[name])
            lines += _listed(option for option in options[name] if option not in common)
    lines += [".SH COMMON OPTIONS", "Most commands take these.", *_listed(common)]
    own = _options(context, "", cli)
    lines += [".SH OTHER OPTIONS", *_listed(option for option in own if option not in common)]
    lines += [".SH EXIT STATUS", *_statuses(cli.epilog or "")]
    return "\n".join(lines) + "\n"


def _command(context: click.Context, name: str) -> click.Command:
    found = cli.get_command(context, name)
    assert found is not None
    return found


def _options(context: click.Context, name: str, command: click.Command) -> list[_Option]:
    own = context if not name else click.Context(command, info_name=name, parent=context)
    records = [one.get_help_record(own) for one in command.get_params(own)]
    return [(names, help_) for names, help_ in filter(None, records) if help_]


def _about(context: click.Context, name: str, command: click.Command) -> Iterator[str]:
    """The heading of a command, how it is called, and what its help says."""
    own = click.Context(command, info_name=name, parent=context)
    yield f".SS {_text(name)}"
    yield f".B memspec {_text(name)}"
    yield _text(" ".join(command.collect_usage_pieces(own)).strip())
    yield ".PP"
    yield from _prose(command.help or "")


def _prose(text: str) -> Iterator[str]:
    """Paragraphs; one that begins with click's mark against wrapping keeps its lines."""
    for number, paragraph in enumerate(_paragraphs(text)):
        if number:
            yield ".PP"
        mark, _, kept = paragraph.partition("\n")
        if mark != "\b":
            yield from _wrapped(paragraph)
            continue
        yield ".nf"
        yield from map(_text, kept.splitlines())
        yield ".fi"


def _paragraphs(text: str) -> list[str]:
    return [each.strip("\n") for each in re.split(r"\n[ \t]*\n", cleandoc(text))]


def _first_sentence(text: str) -> str:
    first = " ".join(_paragraphs(text)[0].split())
    return first.partition(". ")[0].rstrip(".")


def _listed(options: Iterator[_Option] | list[_Option]) -> Iterator[str]:
    for names, help_ in options:
        yield ".TP"
        yield f"\\fB{_text(names)}\\fR"
        yield from _wrapped(help_)


def _statuses(epilog: str) -> Iterator[str]:
    """``Exit codes: 0 done, 1 …`` as a list."""
    for code, meaning in re.findall(r"(\d+) ([^,.]+)", epilog):
        yield ".TP"
        yield f"\\fB{code}\\fR"
        yield _text(meaning)


def _wrapped(text: str) -> list[str]:
    """Flowing text in lines of a handy length, which the reader of the page fills anew."""
    lines = wrap(text, 78, break_long_words=False, break_on_hyphens=False)
    return [_text(line) for line in lines]


def _text(text: str) -> str:
    """Text as the reader shows it: no character of it is a request, an escape or a typeset dash."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    escaped = escaped.replace("`", "\\(ga").replace("^", "\\(ha").replace("~", "\\(ti")
    return f"\\&{escaped}" if escaped.startswith(".") else escaped
