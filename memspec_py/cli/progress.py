"""Progress on a terminal, for work that takes longer than a second."""

from __future__ import annotations

import time
from typing import TextIO

_PATIENCE = 1.0
_PAUSE = 0.2


class Progress:
    """Called with (done, total); silent at first, and always where nobody watches."""

    def __init__(self, stream: TextIO, what: str = "reading {} of {} records") -> None:
        self._stream = stream
        self._what = what
        self._watched = stream.isatty()
        self._begun: float | None = None
        self._told = 0.0

    def __call__(self, done: int, total: int) -> None:
        """Say how far the work is, at most five times a second."""
        if not self._watched:
            return
        now = time.monotonic()
        self._begun = self._begun or now
        finished = done >= total
        if now - self._begun < _PATIENCE or (now - self._told < _PAUSE and not finished):
            return
        self._told = now
        told = self._what.format(f"{done:,}", f"{total:,}")
        self._stream.write(f"\r{told}" + ("\n" if finished else ""))
        self._stream.flush()
