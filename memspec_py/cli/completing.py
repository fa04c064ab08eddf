"""Answering a shell that asks what may come next: ``_MEMSPEC_COMPLETE=bash memspec get ms_0``.

The last word is the one being typed. Each line of the answer is a kind (``plain``, ``file``,
``dir``), a tab, a word, and for zsh and fish a tab and what it is. Bash has no place for that, so
it stands behind the word while there is more than one.
"""

from __future__ import annotations

import copy
import os
import shlex
import sys
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem, ShellComplete
from click.types import StringParamType

from memspec_py.cli import candidates
from memspec_py.cli.candidates import WORD, Candidate, Place
from memspec_py.cli.common import store_named

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

VARIABLE = "_MEMSPEC_COMPLETE"
SHELLS = ("bash", "zsh", "fish")
# What bash says in COMP_TYPE when it will put words in as they are, not only list them.
_BASH_INSERTS = ("37", "42")


def complete(root: click.Group, shell: str, words: Sequence[str]) -> int:
    """Print what may stand for the last word; whatever goes wrong, nothing else is printed."""
    try:
        sys.stdout.write("".join(_lines(shell, possible(root, words))))
        sys.stdout.flush()
    except Exception:  # noqa: BLE001 - a prompt is no place to tell of it; the command itself will
        return 1
    return 0


def _lines(shell: str, found: Sequence[Candidate]) -> Iterator[str]:
    several = sum(one.kind == WORD for one in found) > 1
    only_listed = several and os.environ.get("COMP_TYPE") not in _BASH_INSERTS
    for one in found:
        if shell != "bash":
            yield f"{one.kind}\t{one.value}\t{one.about}\n"
        elif only_listed and one.about:
            yield f"{one.kind}\t{one.value}  {one.about}\n"
        else:
            yield f"{one.kind}\t{one.value}\n"


def possible(root: click.Group, words: Sequence[str]) -> list[Candidate]:
    """What may stand for the last of the words behind ``memspec``, which are as typed."""
    *before, typed = words or ("",)
    # Bash makes words of their own of `=` and what follows it, other shells do not.
    head, equals, value = typed.partition("=")
    joined = f"{head}=" if equals and head.startswith("--") else ""
    before = [_unquoted(word) for word in before if word != "="]
    before, typed = ([*before, head], value) if joined else (before, typed)
    known = _Knowing(root)
    items = ShellComplete(known, {}, "memspec", VARIABLE).get_completions(
        before, "" if typed == "=" else _unquoted(typed)
    )
    return [Candidate(f"{joined}{one.value}", one.help or "", one.type) for one in items]


def _unquoted(word: str) -> str:
    """A word without its quotes; one that is still being typed may lack the last of them."""
    for closed in (word, word + word[:1]):
        try:
            return "".join(shlex.split(closed)) if closed[:1] in ("'", '"') else word
        except ValueError:
            continue
    return word


class _Knowing(click.Group):
    """The commands, with what we know of their parameters beyond what they accept."""

    def __init__(self, root: click.Group) -> None:
        super().__init__(root.name, params=root.params, context_settings=root.context_settings)
        self._root = root

    def list_commands(self, ctx: click.Context) -> list[str]:
        return self._root.list_commands(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        found = self._root.get_command(ctx, cmd_name)
        if found is None:
            return None
        command = copy.copy(found)
        command.params = [_knowing(cmd_name, parameter) for parameter in found.params]
        return command


def _knowing(command: str, parameter: click.Parameter) -> click.Parameter:
    offer = candidates.offered(command, parameter)
    if offer is None or isinstance(parameter.type, click.Choice):
        return parameter
    knowing = copy.copy(parameter)
    knowing.type = _Offered(command, offer)
    return knowing


class _Offered(StringParamType):
    """Any text, of which some words are offered."""

    def __init__(self, command: str, offer: candidates.Offer) -> None:
        self._command = command
        self._offer = offer

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        place = Place(self._command, ctx.params.get("cwd"), store_named(ctx))
        return [
            CompletionItem(one.value, type=one.kind, help=one.about)
            for one in self._offer(place, incomplete)
        ]
