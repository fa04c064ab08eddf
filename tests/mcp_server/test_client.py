"""The server as the SDK's own client sees it, over real pipes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import TextContent, TextResourceContents

from memspec_py.mcp_server.tools import TOOLS
from memspec_py.testing import TempStore, a_record, an_id
from tests.mcp_server.raw import COMMAND, environment

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

MODES = ("legacy", "auto")


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """A store with one record."""
    made = TempStore(tmp_path)
    made.put(a_record(1, title="Harbour lamps are green"))
    return made


def served(store: TempStore, mode: Any, talk: Callable[[Client], Awaitable[None]]) -> None:  # noqa: ANN401
    """Talk to a server of its own, as the SDK does."""
    server = StdioServerParameters(
        command=COMMAND[0],
        args=list(COMMAND[1:]),
        env=environment(store.project),
        cwd=store.project,
    )

    async def run() -> None:
        with anyio.fail_after(60):
            async with Client(server, mode=mode) as client:
                await talk(client)

    anyio.run(run)


@pytest.mark.parametrize("mode", MODES)
def test_the_sdk_takes_every_reply(store: TempStore, mode: str) -> None:
    """It checks structured content against the schemas of the list, and raises if one does not fit.

    `legacy` shakes hands, `auto` finds out that it need not.
    """

    async def talk(client: Client) -> None:
        listed = await client.list_tools()
        assert [tool.name for tool in listed.tools] == [tool.name for tool in TOOLS]
        found = await client.call_tool("memspec_search", {"query": "harbour lamps"})
        assert found.structured_content is not None
        assert found.structured_content["results"][0]["id"] == an_id(1)
        assert isinstance(found.content[0], TextContent)
        assert "Harbour lamps are green" in found.content[0].text
        failed = await client.call_tool("memspec_get", {"id": an_id(9)})
        assert failed.is_error
        assert failed.structured_content is not None
        assert failed.structured_content["error"]["code"] == "not-found"
        for name, arguments in (
            ("status", {}),
            ("reconcile", {}),
            ("export", {"format": "dot"}),
            ("observe", {"text": "A ferry left"}),
            ("get", {"id": an_id(1)}),
        ):
            done = await client.call_tool(f"memspec_{name}", arguments)
            assert not done.is_error, name

    served(store, mode, talk)


@pytest.mark.parametrize("mode", MODES)
def test_the_sdk_reads_the_resources(store: TempStore, mode: str) -> None:
    """The context and a record."""

    async def talk(client: Client) -> None:
        assert client.instructions is not None
        assert "Harbour lamps are green" in client.instructions
        for uri in ("memspec://context", f"memspec://record/{an_id(1)}"):
            read = await client.read_resource(uri)
            (content,) = read.contents
            assert isinstance(content, TextResourceContents)
            assert "Harbour lamps are green" in content.text

    served(store, mode, talk)


def test_the_sdks_client_calls_in_parallel(store: TempStore) -> None:
    """All calls of a task group are answered."""
    answers: list[int] = []

    async def talk(client: Client) -> None:
        async def one() -> None:
            found = await client.call_tool("memspec_search", {"query": "harbour"})
            assert found.structured_content is not None
            answers.append(found.structured_content["count"])

        async with anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(one)

    served(store, "legacy", talk)
    assert answers == [1] * 10


@pytest.mark.slow
def test_memory_is_steady(store: TempStore) -> None:
    """After the first thousand calls, two thousand more add next to nothing."""
    from tests.mcp_server.raw import RawClient

    with RawClient(store.project) as client:

        def resident() -> int:
            with open(f"/proc/{client.process.pid}/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        def calls(count: int) -> None:
            for number in range(count):
                client.data("search", query=f"harbour lamps {number}")
                client.data("get", id=an_id(1))

        calls(500)
        before = resident()
        calls(1000)
        assert resident() - before < 3_000_000
