"""``memspec trust``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memspec_py.api import Memspec
from memspec_py.cli.common import json_option, show
from memspec_py.errors import UsageError
from memspec_py.render.text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspec_py.acts.trusting import Distrusted, Trusted, TrustList


@click.command()
@click.argument("path", required=False, type=click.Path())
@click.option("--remove", is_flag=True, help="Take the word back.")
@click.option("--list", "list_", is_flag=True, help="Show what is trusted on this machine.")
@json_option
def command(path: str | None, remove: bool, list_: bool, as_json_: bool) -> None:
    """Let a pointer or config.yaml use the stores that it names outside its own repository.

    PATH is the file, or a folder it serves; the working directory without one. The word holds on
    this machine, for the stores the file names now. `memspec where` shows what they are.

    \b
    Example:
      memspec trust
      memspec trust ~/git/service/.memspec.yaml
      memspec trust --list
    """
    if list_:
        if path is not None or remove:
            raise UsageError("--list stands alone", hint="see `memspec trust --help`")
        every = Memspec.trust_list()
        show(every, as_json_, lambda: _list_lines(every))
    elif remove:
        gone = Memspec.distrust(path)
        show(gone, as_json_, lambda: _gone_lines(gone))
    else:
        done = Memspec.trust(path)
        show(done, as_json_, lambda: _lines(done))


def _lines(done: Trusted) -> Iterator[str]:
    if not done.stores:
        yield f"{harmless(done.declaration)} names nothing that needs your word"
    else:
        yield f"Trusted {harmless(done.declaration)} with:"
        yield from (f"  {harmless(store)}" for store in done.stores)
    for store in done.missing:
        yield f"Not here, so not trusted yet: {harmless(store)}"


def _gone_lines(gone: Distrusted) -> Iterator[str]:
    what = "Not trusted any more" if gone.changed else "Was not trusted"
    yield f"{what}: {harmless(gone.declaration)}"


def _list_lines(every: TrustList) -> Iterator[str]:
    if not every.trusted:
        yield "Nothing is trusted on this machine"
    for one in every.trusted:
        yield harmless(one.declaration)
        yield from (f"  {harmless(store)}" for store in one.stores)
