"""The stores that serve the server's place, opened for one thread and kept as long as they fit."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.api import Memspec
from memspec_py.errors import MemspecError, UsageError
from memspec_py.store.layers import resolve
from memspec_py.store.layout import STORE_NAME
from memspec_py.trust.channel import Channel

if TYPE_CHECKING:
    from memspec_py.store.layers import Resolution
    from memspec_py.store.resolve import Surroundings


class _Opened(NamedTuple):
    memspec: Memspec
    resolution: Resolution


class Stores:
    """Opens what serves a place, and opens it anew when a store, a pointer or settings changed.

    An opened store keeps to the thread that opened it, so each thread has its own.
    """

    def __init__(self, place: str | None, store: str | None, where: Surroundings) -> None:
        self._place = None if place is None else Path(place)
        self._store = store
        self._where = where
        self._mine = threading.local()

    def memspec(self, store: str | None = None) -> Memspec:
        """The stores as they are now; ``store`` is the name of one layer.

        Raises as ``Memspec.open``; a path is no name here, so no caller reaches a store that does
        not serve the place.
        """
        if store is not None and (os.sep in store or store.endswith((STORE_NAME, "."))):
            raise UsageError(f"store {store!r} is no name of a store layer")
        wanted = store or self._store
        try:
            resolution = resolve(self._where, self._place, wanted)
        except MemspecError:
            self._drop(wanted)
            raise
        opened = self._opened.get(wanted)
        if opened is None or opened.resolution != resolution:
            self._drop(wanted)
            memspec = Memspec.open(
                self._place,
                store=wanted,
                where=self._where,
                command="memspec-mcp",
                channel=Channel.MCP,
                watch=True,
            )
            opened = self._opened[wanted] = _Opened(memspec, resolution)
        return opened.memspec

    def close(self) -> None:
        """Let go of what this thread has opened."""
        for wanted in tuple(self._opened):
            self._drop(wanted)

    def _drop(self, wanted: str | None) -> None:
        opened = self._opened.pop(wanted, None)
        if opened is not None:
            opened.memspec.close()

    @property
    def _opened(self) -> dict[str | None, _Opened]:
        found: dict[str | None, _Opened] = self._mine.__dict__.setdefault("opened", {})
        return found
