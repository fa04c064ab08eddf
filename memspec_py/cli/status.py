"""``memspec status``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memspec_py.cli.common import cwd_option, harmless, json_option, opened, show
from memspec_py.cli.hits import circumstance_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memspec_py.views.status import Status


@click.command()
@cwd_option
@json_option
def command(cwd: str | None, as_json_: bool) -> None:
    """Count what is in the store, and say what wants attention.

    \b
    Example:
      memspec status
    """
    status = opened(cwd).status()
    show(status, as_json_, lambda: _lines(status))


def _lines(status: Status) -> Iterator[str]:
    yield f"{status.records} records in {status.files} files"
    yield from _counts("In use, by type", status.by_type)
    yield from _counts("All, by state", status.by_state)
    yield from _counts("Claims in use, by witness", status.by_witness)
    yield from _counts("In use, by scope", status.by_scope)
    if status.expired:
        yield f"Expired observations (files kept): {status.expired}"
    if status.doubled:
        yield f"Files with an id that another file has too: {status.doubled} (`memspec doctor`)"
    yield f"Stale claims: {status.stale_count}"
    for one in status.stale:
        due = (one.check_by or "")[:10]
        yield f"  {one.id} [{one.type}] {harmless(one.title)} (check by {due})"
    index = status.circumstances.index
    yield f"Index: {index['state']}, {index['files']} files, {index['read']} read just now"
    yield from circumstance_lines(status.circumstances)


def _counts(title: str, counts: Mapping[str, int]) -> Iterator[str]:
    if counts:
        yield f"{title}: " + ", ".join(
            f"{harmless(name)} {count}" for name, count in counts.items()
        )
