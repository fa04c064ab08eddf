"""The main checkout that a linked worktree of git belongs to, read from git's own files."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_MOST_BYTES = 4_096


def main_checkout(top: Path) -> Path | None:
    """The folder of the main checkout, if ``top`` is a linked worktree of one.

    Both sides have to name each other, as they do when git made them: a ``.git`` file that came
    with an unpacked archive leads nowhere. A submodule and a worktree of a bare repository have no
    main checkout.
    """
    link = top / ".git"
    own = _named(link, "gitdir:")
    if own is None or own.parent.name != "worktrees":
        return None
    common = own.parent.parent
    back = _named(own / "gitdir", "")
    if common.name != ".git" or back is None or not _same(back, link):
        return None
    return common.parent


def _named(path: Path, prefix: str) -> Path | None:
    """The path a small text file of git names, relative ones from where the file lies."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(_MOST_BYTES)
    except (OSError, ValueError):
        return None
    if not text.startswith(prefix):
        return None
    named = text.removeprefix(prefix).strip()
    return Path(os.path.normpath(path.parent / named)) if named else None


def _same(one: Path, other: Path) -> bool:
    with suppress(OSError):
        return os.path.samefile(one, other)
    return False
