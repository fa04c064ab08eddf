"""``memspec where``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memspec_py.cli.common import cwd_option, json_option, opened, show
from memspec_py.render.text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspec_py.views.where import Where


@click.command()
@cwd_option
@json_option
def command(cwd: str | None, as_json_: bool) -> None:
    """Say which stores serve this place, which one is written to, and why.

    \b
    Example:
      memspec where
      memspec where --cwd ~/git/service --json
    """
    found = opened(cwd).whereabouts()
    show(found, as_json_, lambda: _lines(found))


def _lines(found: Where) -> Iterator[str]:
    yield f"Place: {harmless(found.place)}"
    yield f"Writes go to: {harmless(found.writes_to or 'none: ' + (found.writes_refused or ''))}"
    yield f"Scope: {harmless(found.scope or 'none')}"
    if found.claimed_by:
        yield f"Claimed by: {harmless(found.claimed_by)}"
    yield "Layers, highest first:"
    for layer in found.layers:
        kind = "" if layer.writable else ", read-only"
        scope = f", scope {layer.scope}" if layer.scope else ""
        yield f"  {harmless(layer.name)} (priority {layer.priority}{kind}{harmless(scope)}): " + (
            harmless(layer.store)
        )
    for one in found.left_out:
        yield f"  {harmless(one.message)}"
        yield f"    {harmless(one.fix)}"
    for late in found.layers_stale:
        yield f"  {harmless(late.name)} is {late.behind} behind {harmless(late.default_branch)}"
    yield "Steps:"
    for step in found.steps:
        yield f"  - {harmless(step)}"
    for warning in found.warnings:
        yield f"Warning: {harmless(warning)}"
