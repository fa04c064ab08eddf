"""``memspec doctor``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memspec_py.cli.common import cwd_option, json_option, opened, show
from memspec_py.render.text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspec_py.views.doctor import Examined


@click.command()
@click.option("--fix", is_flag=True, help="Mend what can be mended without loss, then look again.")
@cwd_option
@json_option
def command(fix: bool, cwd: str | None, as_json_: bool) -> int:
    """Examine the whole store: every file, every link, and the index row by row.

    Exits 1 when something is wrong.

    \b
    Example:
      memspec doctor --fix
    """
    examined = opened(cwd).doctor(fix=fix)
    show(examined, as_json_, lambda: _lines(examined))
    return 0 if examined.healthy else 1


def _lines(examined: Examined) -> Iterator[str]:
    for check in examined.checks:
        plural = "" if check.findings == 1 else "s"
        verdict = f"{check.findings} finding{plural}" if check.findings else "ok"
        yield f"{check.name}: compared {check.compared} ({check.count}): {verdict}"
    for done in examined.fixed:
        yield f"Fixed: {harmless(done)}"
    for finding in examined.findings:
        yield f"{finding.severity}: {harmless(str(finding))}"
        if finding.fix:
            yield f"  fix: {finding.fix}"
    yield "The store is healthy" if examined.healthy else "The store needs attention"
    yield f"Store: {examined.store}"
