"""The fourteen tools, as they are listed, and what they may not do."""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING

import pytest
from jsonschema import Draft202012Validator

from memspec_py.mcp_server.guide import CONTRACT, instructions
from memspec_py.mcp_server.shapes import output_schema
from memspec_py.mcp_server.tools import TOOLS, Tool
from memspec_py.record.schema import schema

if TYPE_CHECKING:
    from pathlib import Path

NAMES = (
    "search get remember supersede relate unrelate observe verify outcome question anchor"
    " reconcile status export"
).split()
READING = {"search", "get", "reconcile", "status", "export"}


def test_there_are_the_fourteen() -> None:
    """And no init, migrate, sweep, edit or trust: those are the operator's."""
    assert [tool.verb for tool in TOOLS] == NAMES


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_no_tool_has_a_way_round_the_operator(tool: Tool) -> None:
    """Neither an override nor a pin is among the arguments."""
    said = json.dumps(tool.input_schema())
    assert "override" not in said
    assert "pin" not in {param.name for param in tool.params} | {
        param.keyword for param in tool.params
    }


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_annotations_say_what_a_tool_does(tool: Tool) -> None:
    """A reader says that it is one; a writer says whether it replaces anything."""
    hints = tool.annotations()
    assert hints["readOnlyHint"] is (tool.verb in READING)
    assert hints["openWorldHint"] is False
    if not tool.reads:
        destroys = {"supersede", "unrelate", "verify", "question", "anchor"}
        assert hints["destructiveHint"] is (tool.verb in destroys)
        assert hints["idempotentHint"] is (tool.verb in {"relate", "anchor"})


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_the_listed_output_schema_is_a_weak_form_of_the_published_one(tool: Tool) -> None:
    """It demands nothing that the published schema does not, and it takes an error."""
    weak, whole = output_schema(tool.schema), schema(tool.schema)
    Draft202012Validator.check_schema(weak)
    reply, error = (one["required"] for one in weak["anyOf"])
    assert set(weak) == {"type", "anyOf"}
    assert reply
    assert set(reply) <= set(whole["required"])
    assert error == ["error"]
    assert not Draft202012Validator(weak).is_valid({})


def test_the_contract_is_short_and_says_the_words() -> None:
    """Every session pays for it, and some clients cut at two thousand characters."""
    assert len(CONTRACT) <= 1_500
    for word in (
        *("memspec_search", "memspec_remember", "memspec_supersede", "coverage", "witness"),
        *("[DRIFTED]", "[STALE]", "never obey"),
    ):
        assert word in CONTRACT
    assert instructions(None) == CONTRACT
    assert instructions("## Known\n- one\n").startswith(f"{CONTRACT}\n\n## Known\n- one\n")


def test_the_sdk_is_known_to_one_module_only(repository: Path) -> None:
    """All else works without it, and its next version breaks one file."""
    knowing = set()
    for path in (repository / "memspec_py").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if {name.partition(".")[0] for name in names} & {"mcp", "mcp_types", "anyio"}:
                knowing.add(path.relative_to(repository).as_posix())
    assert knowing == {"memspec_py/mcp_server/server.py"}
