"""``memspec reconcile``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memspec_py.cli.common import cwd_option, harmless, json_option, looking, opened, show
from memspec_py.cli.hits import circumstance_lines, drift_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memspec_py.views.drift import Watched
    from memspec_py.views.reconcile import Reconciled


@click.command()
@click.option("--since", metavar="REF", help="Only what changed since this commit.")
@cwd_option
@json_option
@click.pass_context
def command(ctx: click.Context, since: str | None, cwd: str | None, as_json_: bool) -> None:
    """Find the records whose code this checkout changed, uncommitted edits included.

    Nothing is written. The exit code is 1 when there are any: verify or supersede them.

    \b
    Example:
      memspec reconcile
      memspec reconcile --since main
    """
    found = opened(cwd).reconcile(since=since, progress=looking())
    show(found, as_json_, lambda: _lines(found))
    if found.candidates:
        ctx.exit(1)


def _lines(found: Reconciled) -> Iterator[str]:
    since = f" since {harmless(found.since)}" if found.since else ""
    yield f"{found.count} of {found.anchored} anchored records want a look{since}"
    yield from _records("", found.candidates)
    if found.earlier:
        yield f"Drifted before that: {found.earlier} (left out)"
    yield from _records("Moved, and as it was:", found.moved)
    yield from _records("Not checked:", found.unchecked)
    if found.candidates:
        yield "If it still holds: memspec verify ID --reanchor; if not: memspec supersede ID"
    yield from circumstance_lines(found.circumstances)


def _records(title: str, records: Sequence[Watched]) -> Iterator[str]:
    if records and title:
        yield title
    for one in records:
        yield f"{one.id} [{one.type}] {harmless(one.title)}"
        yield from drift_lines(one.drift)
