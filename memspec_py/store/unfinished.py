"""Whether a change of several files was interrupted; asked by every reader, so free of imports."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

JOURNAL = ("local", "journal")


def unfinished(root: Path) -> bool:
    """Whether a journal waits to be finished. Needs no lock.

    Names with a second dot (``x.conflict.json``) were set aside for a person and do not count.
    """
    try:
        with os.scandir(os.path.join(root, *JOURNAL)) as entries:
            return any(_waits(entry.name) for entry in entries)
    except OSError:  # who may not look into local/ cannot write either, and reading must go on
        return False


def set_aside(root: Path) -> list[str]:
    """The journals that were set aside for a person, such as ``x.conflict.json``."""
    try:
        names = os.listdir(os.path.join(root, *JOURNAL))
    except OSError:
        return []
    return sorted(name for name in names if name.endswith(".json") and not _waits(name))


def _waits(name: str) -> bool:
    return name.endswith(".json") and name.count(".") == 1
