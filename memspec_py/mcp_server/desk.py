"""Where calls come in: each is checked, done by a worker on opened stores, and answered."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable  # noqa: TC003 - a named tuple's fields are looked at
from typing import TYPE_CHECKING, Any, NamedTuple

from memspec_py.errors import Invalid, MemspecError
from memspec_py.mcp_server.answers import answer, failure
from memspec_py.mcp_server.workers import Workers
from memspec_py.trust.source import checked_source

if TYPE_CHECKING:
    from collections.abc import Mapping
    from concurrent.futures import Future

    from memspec_py.mcp_server.stores import Stores
    from memspec_py.mcp_server.tools import Tool

_NOBODY = "mcp"
# Every session pays for it, and a session-start hook may tell more.
_BOOT_TOKENS, _CONTEXT_TOKENS = 400, 2_000
# How long a handshake waits for it; a store that is indexed takes a part of that.
_BOOT_SECONDS = 0.5


class _Shown(NamedTuple):
    """A context, whether it has any record, and how to note that it was shown."""

    text: str
    has_records: bool
    note: Callable[[], None]


def _note(shown: _Shown) -> None:
    shown.note()


class Desk:
    """Takes calls from the protocol; whatever goes wrong with one, the next is served.

    ``session`` is what receipts are written under: one client, one process, one session.
    """

    def __init__(self, stores: Stores, session: str) -> None:
        self._stores = stores
        self._session = session
        self._workers = Workers()
        self._boot: Future[_Shown | None] | None = None

    async def call(
        self, tool: Tool, sent: Mapping[str, object], client: str | None
    ) -> dict[str, Any]:
        """The result of a tool, in the form of the protocol."""
        receipts: list[Callable[[], None]] = []

        def work() -> dict[str, Any]:
            try:
                return self._done(tool, sent, client, receipts)
            except Exception as problem:  # noqa: BLE001 - one call must not end the server
                return failure(problem)

        def after(_: dict[str, Any]) -> None:
            for write in receipts:
                write()

        return await self._workers.answer(work, after)

    async def record(self, typed: str) -> str:
        """A record as text. Raises ``MemspecError``."""
        from memspec_py.render.get import lines

        return await self._workers.answer(
            lambda: "\n".join(lines(self._stores.memspec().get(typed)))
        )

    async def context(self) -> str:
        """What to know before work starts. Raises ``MemspecError``."""
        shown = await self._workers.answer(lambda: self._context(_CONTEXT_TOKENS), _note)
        return shown.text

    def prepare(self) -> None:
        """Begin with what a handshake tells; it may be called before there is a loop."""
        self._boot = self._workers.begin(self._boot_context)

    async def boot(self) -> str | None:
        """The short context of a handshake; None when there is nothing, or not soon enough."""
        if self._boot is None:
            return None
        waiting = asyncio.wrap_future(self._boot)
        done, _ = await asyncio.wait([waiting], timeout=_BOOT_SECONDS)
        shown = waiting.result() if done else None
        if shown is None or not shown.has_records:
            return None
        self._workers.begin(shown.note)
        return shown.text

    def close(self) -> None:
        """Finish what has begun."""
        self._workers.close()

    def _context(self, budget: int) -> _Shown:
        memspec = self._stores.memspec()
        reply = memspec.context(budget=budget)
        return _Shown(
            reply.text,
            bool(reply.results),
            lambda: memspec.note_use(reply, surface="context", session=self._session),
        )

    def _boot_context(self) -> _Shown | None:
        try:
            return self._context(_BOOT_TOKENS)
        except MemspecError:
            return None  # the first call tells it
        except Exception as problem:  # noqa: BLE001 - a handshake does not depend on memory
            failure(problem)
            return None

    def _done(
        self,
        tool: Tool,
        sent: Mapping[str, object],
        client: str | None,
        receipts: list[Callable[[], None]],
    ) -> dict[str, Any]:
        given = tool.checked(sent)
        memspec = self._stores.memspec(given.pop("store", None))
        if tool.takes_source:
            given.setdefault("source", source_of(client))
        if tool.verb == "outcome":
            given["session"] = self._session
        reply: Any = tool.call(memspec, given)
        if tool.verb == "search":
            receipts.append(lambda: memspec.note_use(reply, surface="mcp", session=self._session))
        return answer(tool, reply, memspec.warnings)


def source_of(client: str | None) -> str:
    """Who acts when a call does not say: the client by its name, if that can be a source."""
    try:
        return checked_source(client or "")
    except Invalid:
        return _NOBODY


def session_of(env: Mapping[str, str]) -> str:
    """The session that a process serves."""
    named = env.get("MEMSPEC_SESSION_ID") or env.get("CLAUDE_SESSION_ID")
    return named or f"mcp:{os.getpid()}"
