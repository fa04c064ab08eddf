"""What is said of an anchor."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

WORKTREE = "worktree"


class Verdict(StrEnum):
    """Whether what an anchor watches is as it was; what cannot be decided is ``unchecked``."""

    UNCHANGED = "unchanged"
    MOVED = "moved"
    DRIFTED = "drifted"
    MISSING = "missing"
    UNCHECKED = "unchecked"


class Drift(NamedTuple):
    """The verdict on one anchor.

    ``anchor`` is it as it could be typed. ``compared_to`` names what was looked at (``worktree`` or
    ``worktree+origin/main``; empty when nothing could be); ``held_on`` which of them still has it.
    ``place`` is where it is now, when that is elsewhere, as it could be typed.
    """

    anchor: str
    file: str
    grain: str
    verdict: Verdict
    compared_to: str
    repo: str | None = None
    held_on: str | None = None
    place: str | None = None
    reason: str | None = None

    @property
    def is_alarm(self) -> bool:
        """Whether the claim should be looked at again."""
        return self.verdict in {Verdict.DRIFTED, Verdict.MISSING}
