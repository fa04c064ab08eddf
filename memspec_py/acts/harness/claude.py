"""Claude Code's own folder, and the hooks that an older memspec registered in it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from memspec_py.errors import UsageError

if TYPE_CHECKING:
    from memspec_py.store.resolve import Surroundings

VARIABLE = "CLAUDE_CONFIG_DIR"
# The scripts of the older memspec, by what they are for.
OLD_SCRIPTS = {
    "session-start": "memspec-session-start.js",
    "post-commit": "memspec-consolidate.js",
}


def folder(where: Surroundings) -> Path | None:
    """Where Claude Code keeps its settings; None without a home.

    Raises ``UsageError`` for a ``CLAUDE_CONFIG_DIR`` that Claude Code would not take either.
    """
    named = where.env.get(VARIABLE)
    if not named:
        return None if where.home is None else where.home / ".claude"
    if not os.path.isabs(named):
        raise UsageError(
            f"{VARIABLE} is {named!r}, which is no absolute path",
            hint="set it to the path that your sessions use, written out from the root",
        )
    return Path(named)


def is_old(command: str, event: str, where: Surroundings) -> bool:
    """Whether a command does no more than run the older memspec's script for this event.

    It has to lie in Claude Code's folder, this one's or the home's. A wrapper, a chain of commands
    or any other path is somebody's own.
    """
    script = OLD_SCRIPTS.get(event)
    found = re.fullmatch(r"node (?:\"([^\"]+)\"|'([^']+)'|([^\s\"';&|<>]+))", command.strip())
    if script is None or found is None:
        return False
    path = next(part for part in found.groups() if part)
    homes = ["~/.claude", "$HOME/.claude", "${HOME}/.claude"]
    if where.home is not None:
        homes.append(os.fspath(where.home / ".claude"))
    own = folder(where)
    if own is not None:
        homes.append(os.fspath(own))
    return path in {f"{home}/hooks/{script}" for home in homes}
