"""Threads that do the work, so that the protocol is served whatever a call takes."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    _T = TypeVar("_T")

# A slow look at code, or a wait for the store's lock, must not hold up a search; more threads than
# this would only take turns at the interpreter.
MOST = 4


class Workers:
    """A few threads, started as calls overlap."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(MOST, thread_name_prefix="memspec")

    def begin(self, work: Callable[[], _T]) -> Future[_T]:
        """Do something that nobody waits for yet."""
        return self._threads.submit(work)

    async def answer(self, work: Callable[[], _T], after: Callable[[_T], None] | None = None) -> _T:
        """The result of ``work``; ``after`` gets it when it is on its way to who waits for it.

        If the caller gives up, work that has not begun is dropped, and other work is finished.
        """
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[_T] = loop.create_future()

        def run() -> None:
            if waiting.cancelled():
                return
            try:
                done = work()
            except BaseException as problem:  # noqa: BLE001 - it is raised where it is waited for
                loop.call_soon_threadsafe(_fail, waiting, problem)
                return
            loop.call_soon_threadsafe(_settle, waiting, done)
            if after is not None and not waiting.cancelled():
                after(done)

        self._threads.submit(run)
        return await waiting

    def close(self) -> None:
        """Wait for what has begun, and drop the rest."""
        self._threads.shutdown(wait=True, cancel_futures=True)


def _settle(waiting: asyncio.Future[_T], done: _T) -> None:
    if not waiting.done():
        waiting.set_result(done)


def _fail(waiting: asyncio.Future[_T], problem: BaseException) -> None:
    if not waiting.done():
        waiting.set_exception(problem)
