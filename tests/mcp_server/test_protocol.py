"""The server over real pipes, spoken to line by line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from memspec_py import __version__
from memspec_py.mcp_server.tools import TOOLS
from memspec_py.store.lock import StoreLock
from memspec_py.testing import TempStore, a_record, an_id
from tests.mcp_server.raw import COMMAND, SECONDS, RawClient, environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MOST_BYTES = 12 * 1024
_PROMPT = 3.0


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> TempStore:
    """A store with three records, for tests that only add to it."""
    made = TempStore(tmp_path_factory.mktemp("mcp"))
    for number in (1, 2, 3):
        made.put(a_record(number, title=f"Harbour rule number {number}", body="Lamps are lit."))
    return made


@pytest.fixture(scope="module")
def client(store: TempStore) -> Iterator[RawClient]:
    """A server for that store, past the handshake."""
    with RawClient(store.project) as client:
        yield client


def test_it_says_who_it_is_and_what_it_offers(client: RawClient) -> None:
    """Name, version, tools, resources, and how to use them."""
    told = client.greeting
    assert told["serverInfo"]["name"] == "memspec"
    assert told["serverInfo"]["version"] == __version__
    assert {"tools", "resources"} <= told["capabilities"].keys()
    assert "memspec_search" in told["instructions"]
    assert "Harbour rule number 1" in told["instructions"]


def test_the_list_of_tools_is_short(client: RawClient) -> None:
    """Its whole JSON is at most 12 KB, schemas included."""
    told = client.request("tools/list")["result"]
    assert [tool["name"] for tool in told["tools"]] == [tool.name for tool in TOOLS]
    for tool in told["tools"]:
        assert tool.keys() >= {"description", "inputSchema", "outputSchema", "annotations"}
    assert len(json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()) <= MOST_BYTES


@pytest.mark.parametrize("version", HANDSHAKE_PROTOCOL_VERSIONS)
def test_it_speaks_every_version_of_the_sdk(store: TempStore, version: str) -> None:
    """A client of any age finds records, at least as text."""
    with RawClient(store.project, version=version) as client:
        assert client.greeting["protocolVersion"] == version
        assert len(client.request("tools/list")["result"]["tools"]) == len(TOOLS)
        result = client.call("search", query="harbour lamps")
        assert "Harbour rule number 1" in result["content"][0]["text"]


def test_it_speaks_the_version_without_a_handshake(store: TempStore) -> None:
    """There each request says who sends it."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "newer", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    client = RawClient(store.project)
    told = client.request("server/discover", _meta=meta)["result"]
    assert "memspec_search" in told["instructions"]
    sent = {"name": "memspec_observe", "arguments": {"text": "The tide is low"}, "_meta": meta}
    done = client.request("tools/call", **sent)["result"]
    assert done["structuredContent"]["source"] == "newer"
    for method in ("tools/list", "resources/list", "resources/templates/list"):
        assert "error" not in client.request(method, _meta=meta)
    read = client.request("resources/read", uri="memspec://context", _meta=meta)["result"]
    assert "The tide is low" in read["contents"][0]["text"]
    client.leave()


def test_an_unknown_version_is_answered_with_a_known_one(store: TempStore) -> None:
    """The client may take it or leave."""
    with RawClient(store.project, version="1999-01-01") as client:
        assert client.greeting["protocolVersion"] in HANDSHAKE_PROTOCOL_VERSIONS


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "nonsense",
        "[]",
        '"text"',
        "{}",
        '{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
        '{"jsonrpc": "2.0", "method": "no/such/notification", "params": {"x": 1}}',
        '{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}',
        '{"jsonrpc": "2.0", "id": 77, "result": {}}',
        "",
        "\\x00\\xff",
        "[" * 10_000,
    ],
)
def test_a_line_that_means_nothing_does_no_harm(client: RawClient, line: str) -> None:
    """The next request is served."""
    client.say(line)
    assert client.request("ping")["result"] == {}


def test_what_there_is_not_is_a_protocol_error(client: RawClient) -> None:
    """A method, a tool, a resource; with the names there are."""
    assert client.request("no/such")["error"]["code"] == METHOD_NOT_FOUND
    tool = client.request("tools/call", name="memspec_nope", arguments={})["error"]
    assert tool["code"] == INVALID_PARAMS
    assert "memspec_search" in tool["message"]
    read = client.request("resources/read", uri="memspec://nope")["error"]
    assert read["code"] == INVALID_PARAMS
    assert "memspec://context" in read["message"]
    missing = client.request("resources/read", uri=f"memspec://record/{an_id(99)}")["error"]
    assert missing["data"]["code"] == "not-found"


def test_a_wrong_argument_is_a_tool_error(client: RawClient) -> None:
    """An agent reads those, and can do better the next time."""
    unknown = client.error("search", query="x", limt=3)
    assert unknown["code"] == "usage"
    assert "'limt'" in unknown["message"]
    assert "limit" in unknown["hint"]
    assert client.error("get")["message"] == "memspec_get needs id"
    assert client.error("search", query=["x"])["message"].startswith("query should be a text")
    told = client.request("tools/call", name="memspec_get", arguments="text")
    assert told["error"]["code"] == INVALID_PARAMS


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "memspec_question needs title or id"),
        ({"title": "Which?", "resolve": True}, "resolve is for a question that is there (id)"),
        ({"title": "Which?", "id": an_id(1)}, "title is for a new question"),
        ({"id": an_id(1), "answers": [an_id(2)]}, "answers is for a new question"),
    ],
)
def test_a_question_is_new_or_old(client: RawClient, arguments: dict[str, Any], said: str) -> None:
    """What belongs to the other one is refused by name."""
    error = client.error("question", **arguments)
    assert error["code"] == "usage"
    assert error["message"] == said


def test_an_error_has_the_same_code_and_hint_as_on_the_command_line(
    client: RawClient, store: TempStore
) -> None:
    """And reads the same."""
    result = client.call("get", id=an_id(99))
    done = subprocess.run(
        [sys.executable, "-m", "memspec_py", "get", an_id(99), "--json"],
        cwd=store.project,
        env=environment(store.project),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result["isError"]
    assert result["structuredContent"] == json.loads(done.stderr)
    assert result["content"][0]["text"].startswith("error: no record")


def test_a_huge_text_is_refused_and_the_server_lives(client: RawClient) -> None:
    """Ten megabytes are no title."""
    assert client.error("remember", type="fact", title="x" * 10_000_000)["code"] == "invalid"
    assert client.data("search", query="y" * 2_000_000)["count"] == 0


@pytest.mark.parametrize("text", ["Größe 日本語 🚢", "line\u2028end", 'tab\tand \\ and "quote"'])
def test_text_of_any_script_comes_back_as_it_went(client: RawClient, text: str) -> None:
    """Also beyond the basic plane, and what JavaScript takes for the end of a line."""
    done = client.data("observe", text=f"Seen: {text}")
    shown = client.data("get", id=done["id"])
    assert " ".join(shown["title"].split()) == " ".join(f"Seen: {text}".split())


def test_the_source_is_the_client_unless_it_says_another(client: RawClient) -> None:
    """The session of a receipt is the process."""
    assert client.data("observe", text="One gull on the pier")["source"] == "raw"
    assert client.data("observe", text="Two gulls on a mast", source="gulls")["source"] == "gulls"


@pytest.mark.parametrize("name", ["", "unknown", "line\nbreak", "x" * 500])
def test_a_client_whose_name_is_no_source_is_called_mcp(store: TempStore, name: str) -> None:
    """A name comes from outside, so it is checked as any source is."""
    with RawClient(store.project, name=name) as client:
        assert client.data("observe", text=f"Seen by {len(name)} letters")["source"] == "mcp"


def test_a_search_leaves_receipts(store: TempStore) -> None:
    """With the surface, and a session: the one that is named, else the process."""
    usage = store.root / "usage.jsonl"
    for env, session in (
        ({"CLAUDE_SESSION_ID": "abc"}, "abc"),
        ({"CLAUDE_SESSION_ID": "abc", "MEMSPEC_SESSION_ID": "def"}, "def"),
        ({}, None),
    ):
        with RawClient(store.project, env=env) as client:
            before = len(_receipts(usage))
            found = client.data("search", query="harbour rule")["results"]
            deadline = time.monotonic() + SECONDS
            while len(_receipts(usage)) < before + len(found) and time.monotonic() < deadline:
                time.sleep(0.01)
            rows = _receipts(usage)[before:]
            assert [row["id"] for row in rows] == [hit["id"] for hit in found]
            assert {row["surface"] for row in rows} == {"mcp"}
            assert {row["session"] for row in rows} == {session or f"mcp:{client.process.pid}"}


def _receipts(path: Path) -> list[dict[str, Any]]:
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    rows = [json.loads(line) for line in text.splitlines()]
    return [row for row in rows if row["surface"] == "mcp"]


def test_parallel_calls_are_all_answered(client: RawClient, store: TempStore) -> None:
    """Reads and writes at once: each gets its own answer, and no write is lost."""
    writes = [
        client.ask(
            "tools/call",
            name="memspec_observe",
            arguments={"text": f"Ship {number} of the parallel fleet came in"},
        )
        for number in range(12)
    ]
    reads = [
        client.ask("tools/call", name="memspec_get", arguments={"id": an_id(1 + number % 3)})
        for number in range(12)
    ]
    for place, number in enumerate(reads):
        shown = client.answer(number)["result"]["structuredContent"]
        assert shown["id"] == an_id(1 + place % 3)
    made = {client.answer(number)["result"]["structuredContent"]["id"] for number in writes}
    assert len(made) == 12
    on_disk = {path.stem for path in (store.root / "observations").rglob("*.md")}
    assert made <= on_disk


def test_a_write_that_waits_holds_up_no_read(client: RawClient, store: TempStore) -> None:
    """Another process has the store's lock; searching goes on."""
    with StoreLock(store.root):
        write = client.ask(
            "tools/call", name="memspec_observe", arguments={"text": "Fog came in from the west"}
        )
        assert client.data("search", query="harbour")["count"] == 3
    assert not client.answer(write)["result"]["isError"]


def test_a_cancelled_call_is_not_answered(client: RawClient, store: TempStore) -> None:
    """And what it would have written, if it had not begun, is not written."""
    with StoreLock(store.root):
        waiting = [
            client.ask(
                "tools/call",
                name="memspec_observe",
                arguments={"text": f"Cancelled sighting {number}"},
            )
            for number in range(8)
        ]
        for number in waiting:
            client.say(
                {
                    "jsonrpc": "2.0",
                    "method": "notifications/cancelled",
                    "params": {"requestId": number},
                }
            )
        assert client.request("ping")["result"] == {}
    assert client.data("status")["records"] >= 3
    # Four threads may have begun; the other four calls are gone.
    written = [
        path
        for path in (store.root / "observations").rglob("*.md")
        if "Cancelled sighting" in path.read_text(encoding="utf-8")
    ]
    assert len(written) <= 4
    assert not set(waiting) & client._early.keys()  # noqa: SLF001 - nothing else tells


NOISY = """\
import os, sys
sys.path[:0] = {path!r}
from memspec_py.mcp_server import main
real = main._serve
def noisy(wire, asked):
    import memspec_py.api
    open_ = memspec_py.api.Memspec.open.__func__
    def loud(cls, *args, **kwargs):
        print("a banner of a library")
        os.write(1, b"and of one in C\\n")
        os.system("echo and of a child; cat")
        return open_(cls, *args, **kwargs)
    memspec_py.api.Memspec.open = classmethod(loud)
    real(wire, asked)
main._serve = noisy
main.entry()
"""


def test_nothing_but_messages_is_on_standard_output(store: TempStore) -> None:
    """Whatever a library or a child process prints goes to stderr, and none reads the client."""
    code = NOISY.format(path=[one for one in sys.path if one])
    with RawClient(store.project, command=(sys.executable, "-c", code)) as client:
        # `next_message` refuses any line that is no message.
        assert client.data("search", query="harbour")["count"] == 3
        assert client.request("ping")["result"] == {}
    for noise in (b"a banner of a library", b"and of one in C", b"and of a child"):
        assert noise in client.stderr


def test_a_bug_is_told_and_the_server_lives_on(store: TempStore) -> None:
    """The client gets the code `bug`; the traceback is on stderr."""
    code = (
        f"import sys; sys.path[:0] = {[one for one in sys.path if one]!r}\n"
        "from memspec_py.api import Memspec\n"
        "def broken(self): raise ZeroDivisionError('of a test')\n"
        "Memspec.status = lambda self, **_: broken(self)\n"
        "from memspec_py.mcp_server.main import entry; entry()\n"
    )
    with RawClient(store.project, command=(sys.executable, "-c", code)) as client:
        error = client.error("status")
        assert error["code"] == "bug"
        assert "of a test" not in error["message"]
        assert client.data("search", query="harbour")["count"] == 3
    assert b"ZeroDivisionError: of a test" in client.stderr


def test_it_ends_with_its_input(store: TempStore) -> None:
    """At once, with exit code 0 and nothing on stderr."""
    client = RawClient(store.project)
    client.greet()
    began = time.monotonic()
    assert client.leave() == 0
    assert time.monotonic() - began < _PROMPT
    assert client.stderr == b""


def test_it_ends_before_the_first_message_too(store: TempStore) -> None:
    """A client may change its mind."""
    assert RawClient(store.project).leave() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_when_told_to(store: TempStore, number: signal.Signals) -> None:
    """Although its input is still open."""
    client = RawClient(store.project)
    client.greet()
    began = time.monotonic()
    client.process.send_signal(number)
    assert client.process.wait(SECONDS) == 0
    assert time.monotonic() - began < _PROMPT
    client.leave()


def test_it_ends_when_its_client_is_killed(store: TempStore) -> None:
    """No orphan is left, also when somebody else keeps the sending end open."""
    keep_in, keep_out = os.pipe()
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, *COMMAND],
        cwd=store.project,
        env=environment(store.project),
        stdin=keep_in,
        stdout=subprocess.PIPE,
    )
    os.close(keep_in)
    assert parent.stdout is not None
    with closing(parent.stdout) as told:
        child = int(told.readline())
        parent.kill()
        parent.wait(SECONDS)
        assert _is_gone(child)
    os.close(keep_out)


# Starts the server with its own input, which our test keeps open, and reads one answer.
PARENT = """\
import json, subprocess, sys
server = subprocess.Popen(sys.argv[1:], stdin=0, stdout=subprocess.PIPE)
print(server.pid, flush=True)
server.stdout.readline()
"""


def _is_gone(pid: int) -> bool:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except FileNotFoundError:
            return True
        time.sleep(0.02)
    return False


def test_it_ends_although_nobody_reads_its_answers(store: TempStore) -> None:
    """A full pipe is no reason to stay when the client has closed the other one."""
    client = subprocess.Popen(
        COMMAND,
        cwd=store.project,
        env=environment(store.project),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert client.stdin is not None
    assert client.stdout is not None
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "deaf", "version": "1"},
    }
    lines = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *({"jsonrpc": "2.0", "id": n, "method": "tools/list"} for n in range(1, 60)),
    ]
    client.stdin.write("".join(json.dumps(line) + "\n" for line in lines).encode())
    client.stdin.close()
    assert client.wait(SECONDS) == 0
    client.stdout.close()


def test_the_resources_are_the_context_and_each_record(client: RawClient) -> None:
    """As text, with records marked as data."""
    listed = client.request("resources/list")["result"]["resources"]
    assert [one["uri"] for one in listed] == ["memspec://context"]
    (template,) = client.request("resources/templates/list")["result"]["resourceTemplates"]
    assert template["uriTemplate"] == "memspec://record/{id}"
    (context,) = client.request("resources/read", uri="memspec://context")["result"]["contents"]
    assert context["text"].startswith("## Project memory: ")
    uri = f"memspec://record/{an_id(2)}"
    (record,) = client.request("resources/read", uri=uri)["result"]["contents"]
    assert record["uri"] == uri
    assert "\n  | Lamps are lit.\n" in record["text"]


def test_the_command_line_has_help_and_a_version(store: TempStore) -> None:
    """On standard output, before that belongs to the protocol."""
    for option, said in (("--help", "usage: memspec-mcp"), ("--version", __version__)):
        done = subprocess.run(
            [*COMMAND, option],
            env=environment(store.project),
            capture_output=True,
            text=True,
            check=True,
        )
        assert said in done.stdout
        assert done.stderr == ""


def test_without_the_sdk_it_says_what_to_install(store: TempStore) -> None:
    """It is an extra, so it may not be there."""
    code = (
        f"import sys; sys.path[:0] = {[one for one in sys.path if one]!r}\n"
        "sys.modules['mcp'] = None\n"
        "from memspec_py.mcp_server.main import entry; entry()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=store.project,
        env=environment(store.project),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 9
    assert "pip install 'memspec-py[mcp]'" in done.stderr
    assert done.stdout == ""
