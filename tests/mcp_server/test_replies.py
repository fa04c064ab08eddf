"""Each tool says what the command line says: the same JSON and the same lines."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from jsonschema import Draft202012Validator

from memspec_py.mcp_server.shapes import output_schema
from memspec_py.mcp_server.tools import BY_NAME, TOOLS
from memspec_py.record.model import Kind
from memspec_py.record.schema import schema
from memspec_py.testing import TempStore, a_record, an_id
from tests.mcp_server.raw import RawClient, environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NEW_ID = re.compile(r"ms_[0-9A-HJKMNP-TV-Z]{26}")
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
LAST_SHOWN = re.compile(r'(, )?"(last_referenced|sessions)": ("[^"]*"|\d+)|last shown: .*\n')
# How often a young file is read again depends on how fast the machine is.
HOW_INDEXED = re.compile(
    r'"index": {[^}]*}|Index: .*|Note: the index was made anew.*\n', re.MULTILINE
)


class Case(NamedTuple):
    """A call of a tool, and the same on the command line."""

    tool: str
    arguments: dict[str, Any]
    command: list[str]


SOURCE = {"source": "twin"}
BY = ["--source", "twin"]
READS = [
    Case("search", {"query": "harbour lamps"}, ["search", "harbour lamps"]),
    Case(
        "search",
        {"query": "harbour", "type": "fact", "limit": 2, "full": True, "expand_edges": True},
        ["search", "harbour", "--type", "fact", "--limit", "2", "--full", "--expand-edges"],
    ),
    Case("search", {"query": "", "type": "question"}, ["search", "", "--type", "question"]),
    Case("search", {"query": "no such thing"}, ["search", "no such thing"]),
    Case(
        "search",
        {
            "query": "harbour",
            "expand_edges": True,
            "edge_types": ["refines"],
            "expand_depth": 2,
            "include_superseded": True,
            "as_of": "2026-02-01",
        },
        [
            *["search", "harbour", "--expand-edges", "--edge-types", "refines"],
            *["--expand-depth", "2", "--include-superseded", "--as-of", "2026-02-01"],
        ],
    ),
    Case("get", {"id": an_id(1)}, ["get", an_id(1)]),
    Case("get", {"id": an_id(2)}, ["get", an_id(2)]),
    Case("status", {}, ["status"]),
    Case("reconcile", {}, ["reconcile"]),
    *(
        Case("export", {"format": form}, ["export", "--format", form])
        for form in ("jsonl", "graphml", "dot")
    ),
    Case(
        "export",
        {"format": "jsonl", "include_superseded": True, "types": ["fact"]},
        ["export", "--format", "jsonl", "--include-superseded", "--types", "fact"],
    ),
]
WRITES = [
    Case(
        "remember",
        {
            "type": "decision",
            "title": "Ships dock at noon",
            "body": "Tide.",
            **SOURCE,
            "tags": ["tide", "dock"],
            "anchors": ["pier.py#berth"],
            "refines": [an_id(1)],
            "evidence": ["https://example.org/tide"],
            "check_by": "2027-01-01",
        },
        [
            *["remember", "decision", "Ships dock at noon", "--body", "Tide.", *BY],
            *["--tags", "tide,dock", "--anchor", "pier.py#berth", "--refines", an_id(1)],
            *["--evidence", "https://example.org/tide", "--check-by", "2027-01-01"],
        ],
    ),
    Case(
        "observe",
        {"text": "The pilot boat is red", "ttl": "2d", "tags": ["boat"], **SOURCE},
        ["observe", "The pilot boat is red", "--ttl", "2d", "--tags", "boat", *BY],
    ),
    Case(
        "question",
        {"title": "When do ships dock?", "answers": [an_id(1), an_id(2)], **SOURCE},
        ["question", "When do ships dock?", "--answers", an_id(1), an_id(2), *BY],
    ),
    Case(
        "question",
        {"id": an_id(5), "add": [an_id(3)], "close": True, **SOURCE},
        ["question", an_id(5), "--add", an_id(3), "--close", *BY],
    ),
    Case(
        "relate",
        {"from": an_id(1), "to": an_id(2), "type": "supports", **SOURCE},
        ["relate", "--from", an_id(1), "--to", an_id(2), "--type", "supports", *BY],
    ),
    Case(
        "unrelate",
        {"from": an_id(1), "to": an_id(2), "type": "supports", **SOURCE},
        ["unrelate", "--from", an_id(1), "--to", an_id(2), "--type", "supports", *BY],
    ),
    Case(
        "anchor",
        {"id": an_id(3), "files": ["pier.py", "none.py"], **SOURCE},
        ["anchor", an_id(3), "pier.py", "none.py", *BY],
    ),
    Case(
        "verify",
        {"id": an_id(2), "evidence": "Read the tables", **SOURCE},
        ["verify", an_id(2), "--evidence", "Read the tables", *BY],
    ),
    Case("verify", {"id": an_id(4), **SOURCE}, ["verify", an_id(4), *BY]),
    Case(
        "verify",
        {"id": an_id(4), "reanchor": True, **SOURCE},
        ["verify", an_id(4), "--reanchor", *BY],
    ),
    Case(
        "outcome",
        {"id": an_id(1), "outcome": "helped", "note": "Docked", **SOURCE},
        ["outcome", an_id(1), "helped", "--note", "Docked", *BY],
    ),
    Case(
        "supersede",
        {"id": an_id(1), "reason": "New lamps", "body": "Lamps are blue.", **SOURCE},
        ["supersede", an_id(1), "--reason", "New lamps", "--body", "Lamps are blue.", *BY],
    ),
    Case(
        "supersede",
        {"id": an_id(2), "reason": "Same", "merge_from": [an_id(3)], **SOURCE},
        ["supersede", an_id(2), "--reason", "Same", "--merge-from", an_id(3), *BY],
    ),
    Case(
        "supersede",
        {"id": an_id(6), "reason": "Never true", **SOURCE},
        ["supersede", an_id(6), "--reason", "Never true", *BY],
    ),
]
REFUSALS = [
    Case(
        "remember",
        {"type": "fact", "title": "Harbour rule number 7", **SOURCE},
        ["remember", "fact", "Harbour rule number 7", *BY],
    ),
    Case("get", {"id": an_id(99)}, ["get", an_id(99)]),
    Case("verify", {"id": an_id(7), **SOURCE}, ["verify", an_id(7), *BY]),
    Case(
        "relate",
        {"from": an_id(7), "to": an_id(7), "type": "refines", **SOURCE},
        ["relate", "--from", an_id(7), "--to", an_id(7), "--type", "refines", *BY],
    ),
    Case(
        "search",
        {"query": "x", "as_of": "yesterday"},
        ["search", "x", "--as-of", "yesterday"],
    ),
    Case("reconcile", {"since_ref": "no-such"}, ["reconcile", "--since", "no-such"]),
    Case("observe", {"text": " ", **SOURCE}, ["observe", " ", *BY]),
]


def a_project(folder: Path) -> TempStore:
    """A store whose ids are the same each time, beside a file that one record is anchored to."""
    store = TempStore(folder)
    (store.project / "pier.py").write_text("def berth():\n    return 1\n", encoding="utf-8")
    for number in (1, 2, 3, 4, 6, 7):
        store.put(a_record(number, title=f"Harbour rule number {number}", body="Lamps are lit."))
    store.put(a_record(5, kind=Kind.QUESTION, title="Which harbour rule?", answers=(an_id(7),)))
    store.ms.relate(an_id(2), an_id(1), "refines")
    store.ms.anchor(an_id(4), ["pier.py"])
    (store.project / "pier.py").write_text("def berth():\n    return 2\n", encoding="utf-8")
    return store


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RawClient, TempStore]]:
    """A server for one of two equal projects, and the other one."""
    served, other = (a_project(tmp_path_factory.mktemp(name)) for name in ("served", "other"))
    with RawClient(served.project) as client:
        yield client, other


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RawClient, TempStore]]:
    """A server, and the project that it serves, which is only read."""
    store = a_project(tmp_path_factory.mktemp("read"))
    with RawClient(store.project) as client:
        client.call("search", query="harbour")
        yield client, store


def typed(store: TempStore, command: list[str]) -> subprocess.CompletedProcess[str]:
    """What the command line says in a project."""
    return subprocess.run(
        [sys.executable, "-m", "memspec_py", *command],
        cwd=store.project,
        env=environment(store.project),
        capture_output=True,
        text=True,
        check=False,
    )


def steady(text: str) -> str:
    """A text without what no two runs have in common: new ids, the time, the place, the index."""
    text = HOW_INDEXED.sub("INDEX", LAST_SHOWN.sub("", text))
    text = re.sub(r"/[^ \"\n]*/project\b", "PROJECT", INSTANT.sub("TIME", text))
    ids = dict.fromkeys(found for found in NEW_ID.findall(text) if found > an_id(1000))
    for number, id_ in enumerate(ids):
        text = text.replace(id_, f"NEW{number}")
    return text


def as_text(value: object) -> str:
    """JSON in one form."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def test_every_tool_is_compared() -> None:
    """None is forgotten below."""
    compared = {case.tool for case in (*READS, *WRITES)}
    assert compared == {tool.verb for tool in TOOLS}


@pytest.mark.parametrize("case", READS, ids=lambda case: " ".join(case.command))
def test_a_reading_tool_says_what_the_command_line_says(
    one: tuple[RawClient, TempStore], case: Case
) -> None:
    """On one store, in JSON and in text."""
    client, store = one
    result = client.call(case.tool, **case.arguments)
    assert result["isError"] is False
    said = typed(store, [*case.command, "--json"])
    assert steady(as_text(result["structuredContent"])) == steady(as_text(json.loads(said.stdout)))
    assert steady(result["content"][0]["text"] + "\n") == steady(typed(store, case.command).stdout)


@pytest.mark.parametrize("case", WRITES, ids=lambda case: " ".join(case.command[:3]))
def test_a_writing_tool_says_what_the_command_line_says(
    twins: tuple[RawClient, TempStore], case: Case
) -> None:
    """On two equal stores, one call after the other."""
    client, other = twins
    result = client.call(case.tool, **case.arguments)
    assert result["isError"] is False
    said = typed(other, [*case.command, "--json"])
    assert steady(as_text(result["structuredContent"])) == steady(as_text(json.loads(said.stdout)))


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: " ".join(case.command[:2]))
def test_an_error_is_that_of_the_command_line(one: tuple[RawClient, TempStore], case: Case) -> None:
    """Code, message, hint and details; and as text the same two lines."""
    client, store = one
    result = client.call(case.tool, **case.arguments)
    assert result["isError"] is True
    said = typed(store, [*case.command, "--json"])
    assert result["structuredContent"] == json.loads(said.stderr.splitlines()[-1])
    assert result["content"][0]["text"] + "\n" == typed(store, case.command).stderr
    Draft202012Validator(schema("error")).validate(result["structuredContent"])


@pytest.mark.parametrize("case", [*READS, *REFUSALS], ids=lambda case: " ".join(case.command))
def test_every_reply_fits_the_listed_and_the_published_schema(
    one: tuple[RawClient, TempStore], case: Case
) -> None:
    """Also an error fits the listed one, for some clients hold it to that."""
    client, _ = one
    result = client.call(case.tool, **case.arguments)
    tool = BY_NAME[f"memspec_{case.tool}"]
    Draft202012Validator(output_schema(tool.schema)).validate(result["structuredContent"])
    if not result["isError"]:
        Draft202012Validator(schema(tool.schema)).validate(result["structuredContent"])


def test_every_reply_of_a_write_fits_both_schemas(tmp_path: Path) -> None:
    """In the order above, on a store of their own."""
    store = a_project(tmp_path)
    with RawClient(store.project) as client:
        for case in WRITES:
            tool = BY_NAME[f"memspec_{case.tool}"]
            reply = client.data(case.tool, **case.arguments)
            for each in (output_schema(tool.schema), schema(tool.schema)):
                Draft202012Validator(each).validate(reply)
