"""The protocol: the SDK's server, with our tools and resources. Nothing else imports the SDK."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
)

from memspec_py import __version__
from memspec_py.errors import MemspecError
from memspec_py.mcp_server.guide import CONTRACT, instructions
from memspec_py.mcp_server.tools import BY_NAME, TOOLS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from io import TextIOWrapper

    from mcp.server.context import CallNext, ServerRequestContext
    from mcp.server.models import InitializationOptions
    from pydantic import BaseModel

    from memspec_py.mcp_server.desk import Desk
    from memspec_py.mcp_server.wire import Wire

    _Context = ServerRequestContext[Any, Any]

_CONTEXT = "memspec://context"
_RECORD = re.compile(r"memspec://record/([^/]+)\Z")
_HANDSHAKES = frozenset({"initialize", "server/discover"})


def run(wire: Wire, desk: Desk, leave: Callable[[], None]) -> None:
    """Serve the client until it has sent its last message."""
    anyio.run(_serve, wire, desk, leave)


async def _serve(wire: Wire, desk: Desk, leave: Callable[[], None]) -> None:
    for stop in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(stop, leave)
    server, options = _server(desk)
    incoming = anyio.wrap_file(_opened(wire.incoming, "r"))
    outgoing = anyio.wrap_file(_opened(wire.outgoing, "w"))
    async with stdio_server(incoming, outgoing) as (messages, answers):
        await server.run(messages, answers, options)


def _opened(number: int, mode: str) -> TextIOWrapper:
    opened: Any = os.fdopen(
        number, mode, encoding="utf-8", errors="replace", newline="\n", closefd=False
    )
    file: TextIOWrapper = opened
    return file


def _server(desk: Desk) -> tuple[Server[Any], InitializationOptions]:
    server: Server[Any] = Server("memspec", version=__version__, instructions=CONTRACT)
    for method, params, handler in (
        ("tools/list", PaginatedRequestParams, _listing(ListToolsResult, _tools)),
        ("tools/call", CallToolRequestParams, _calls(desk)),
        ("resources/list", PaginatedRequestParams, _listing(ListResourcesResult, _resources)),
        (
            "resources/templates/list",
            PaginatedRequestParams,
            _listing(ListResourceTemplatesResult, _templates),
        ),
        ("resources/read", ReadResourceRequestParams, _reads(desk)),
    ):
        server.add_request_handler(method, params, handler)
    options = server.create_initialization_options()

    async def greet(ctx: _Context, call_next: CallNext) -> Any:  # noqa: ANN401 - the SDK's result
        if ctx.method in _HANDSHAKES and options.instructions == CONTRACT:
            server.instructions = options.instructions = instructions(await desk.boot())
        return await call_next(ctx)

    server.middleware.append(greet)
    return server, options


def _listing(
    result: type[BaseModel], made: Callable[[], dict[str, Any]]
) -> Callable[..., Awaitable[BaseModel]]:
    async def listed(_: _Context, __: PaginatedRequestParams) -> BaseModel:
        return result.model_validate(made())

    return listed


def _calls(desk: Desk) -> Callable[..., Awaitable[dict[str, Any]]]:
    async def call(ctx: _Context, params: CallToolRequestParams) -> dict[str, Any]:
        tool = BY_NAME.get(params.name)
        if tool is None:
            known = ", ".join(BY_NAME)
            raise MCPError(INVALID_PARAMS, f"no tool {params.name!r}; there are: {known}")
        result = await desk.call(tool, params.arguments or {}, _client(ctx))
        # Versions since 2026 want to be told that nothing follows; to others it is not sent.
        return {**result, "resultType": "complete"}

    return call


def _reads(desk: Desk) -> Callable[..., Awaitable[BaseModel]]:
    async def read(_: _Context, params: ReadResourceRequestParams) -> BaseModel:
        uri = str(params.uri)
        record = _RECORD.match(uri)
        if record is None and uri != _CONTEXT:
            raise MCPError(
                INVALID_PARAMS, f"no resource {uri}; there are {_CONTEXT} and memspec://record/ID"
            )
        try:
            text = await (desk.context() if record is None else desk.record(record[1]))
        except MemspecError as problem:
            raise MCPError(INVALID_PARAMS, problem.message, problem.as_dict()) from None
        kind = "text/markdown" if record is None else "text/plain"
        shown = {"uri": uri, "mimeType": kind, "text": text}
        return ReadResourceResult.model_validate({"contents": [shown]})

    return read


def _client(ctx: _Context) -> str | None:
    """What the client calls itself."""
    params = ctx.session.client_params
    return None if params is None else params.client_info.name


def _tools() -> dict[str, Any]:
    from memspec_py.mcp_server.shapes import output_schema

    return {
        "tools": [
            {
                "name": tool.name,
                "description": tool.about,
                "inputSchema": tool.input_schema(),
                "outputSchema": output_schema(tool.schema),
                "annotations": tool.annotations(),
            }
            for tool in TOOLS
        ]
    }


def _resources() -> dict[str, Any]:
    return {
        "resources": [
            {
                "uri": _CONTEXT,
                "name": "context",
                "description": "What to know of the project before work starts.",
                "mimeType": "text/markdown",
            }
        ]
    }


def _templates() -> dict[str, Any]:
    return {
        "resourceTemplates": [
            {
                "uriTemplate": "memspec://record/{id}",
                "name": "record",
                "description": "One record whole, by its id.",
                "mimeType": "text/plain",
            }
        ]
    }
