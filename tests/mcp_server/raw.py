"""A client that is no more than lines of JSON, to say to the server what no SDK would."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import TracebackType
    from typing import Self

SECONDS = 60.0
COMMAND = (sys.executable, "-m", "memspec_py.mcp_server")


class RawClient:
    """A server process of its own, spoken to by hand; as a context manager, past the handshake."""

    def __init__(
        self,
        project: Path,
        *options: str,
        env: Mapping[str, str] | None = None,
        command: tuple[str, ...] = COMMAND,
        version: str = "2025-06-18",
        name: str = "raw",
    ) -> None:
        self.process = subprocess.Popen(
            [*command, *options],
            cwd=project,
            env=environment(project, env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.stderr = b""
        self._version, self._name = version, name
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._early: dict[object, dict[str, Any]] = {}
        self._last = 0
        self._threads = [
            threading.Thread(target=one, daemon=True) for one in (self._out, self._err)
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        self.greeting = self.greet()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.leave()

    def greet(self) -> dict[str, Any]:
        """The handshake, and what the server says of itself."""
        told = self.request(
            "initialize",
            protocolVersion=self._version,
            capabilities={},
            clientInfo={"name": self._name, "version": "1"},
        )
        self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        found: dict[str, Any] = told["result"]
        return found

    def say(self, message: object) -> None:
        """Send one message, or a text as it is."""
        line = message if isinstance(message, str) else json.dumps(message)
        assert self.process.stdin is not None
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, **params: object) -> int:
        """Send a request; its number."""
        self._last += 1
        self.say({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params})
        return self._last

    def answer(self, number: object) -> dict[str, Any]:
        """The answer to a request, whatever else comes before it."""
        while number not in self._early:
            found = self.next_message()
            self._early[found.get("id")] = found
        return self._early.pop(number)

    def request(self, method: str, **params: object) -> dict[str, Any]:
        """Send a request and wait for its answer."""
        return self.answer(self.ask(method, **params))

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """The result of a tool."""
        told = self.request("tools/call", name=f"memspec_{tool}", arguments=arguments)
        result: dict[str, Any] = told["result"]
        return result

    def data(self, tool: str, **arguments: object) -> dict[str, Any]:
        """The structured content of a call that has to go well."""
        result = self.call(tool, **arguments)
        assert not result["isError"], result
        found: dict[str, Any] = result["structuredContent"]
        return found

    def error(self, tool: str, **arguments: object) -> dict[str, Any]:
        """The error of a call that has to fail."""
        result = self.call(tool, **arguments)
        assert result["isError"], result
        found: dict[str, Any] = result["structuredContent"]["error"]
        return found

    def next_message(self) -> dict[str, Any]:
        """The next line of the server, which has to be a message."""
        line = self._lines.get(timeout=SECONDS)
        assert line is not None, f"the server ended: {self.stderr.decode(errors='replace')}"
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def leave(self) -> int:
        """Close the server's input, and wait for its end; its exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        code = self.process.wait(SECONDS)
        for thread in self._threads:
            thread.join(SECONDS)
        for pipe in (self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()
        return code

    def _out(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _err(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.stderr += line


def environment(project: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """What the server gets of the environment: our modules, and an empty home."""
    return {
        "HOME": str(project.parent / "home"),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        **(more or {}),
    }
