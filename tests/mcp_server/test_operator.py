"""No tool creates an operator record, or changes, verifies, anchors, merges or retracts one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memspec_py.mcp_server.tools import TOOLS, Tool
from memspec_py.record.model import Kind, SourceKind
from memspec_py.testing import TempStore, a_record, an_id
from tests.mcp_server.raw import RawClient

if TYPE_CHECKING:
    from collections.abc import Iterator

OPERATORS, FREE, ASKED, ANSWERED = an_id(1), an_id(2), an_id(3), an_id(5)
NAMES = ("human:ann", "user", "ann", "human:ANN", "siim")
_THINGS = ("gulls at dawn", "ropes", "customs forms", "winter ice", "a lost anchor")
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("supersede", {"id": OPERATORS, "reason": "No", "body": "Changed"}),
    ("supersede", {"id": OPERATORS, "reason": "No", "title": "Changed"}),
    ("supersede", {"id": OPERATORS, "reason": "No"}),
    ("supersede", {"id": OPERATORS, "reason": "No", "merge_from": [FREE]}),
    ("supersede", {"id": FREE, "reason": "No", "merge_from": [OPERATORS]}),
    ("relate", {"from": OPERATORS, "to": FREE, "type": "refines"}),
    ("unrelate", {"from": OPERATORS, "to": an_id(4), "type": "supports"}),
    ("verify", {"id": OPERATORS, "evidence": "I looked"}),
    ("verify", {"id": OPERATORS, "reanchor": True}),
    ("anchor", {"id": OPERATORS, "files": ["pier.py"]}),
    ("anchor", {"id": OPERATORS, "files": ["pier.py"], "replace": True}),
    ("question", {"id": ASKED, "add": [FREE]}),
    ("question", {"id": ASKED, "close": True}),
    ("question", {"id": ANSWERED, "resolve": True}),
    (
        "remember",
        {"type": "fact", "title": "It answers the operator", "answers_question": ASKED},
    ),
]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RawClient, TempStore]]:
    """A store with a claim and a question of the operator's, whom config.yaml names as well."""
    store = TempStore(tmp_path_factory.mktemp("operator"))
    store.write("config.yaml", "operators: [ann]\n")
    (store.project / "pier.py").write_text("x = 1\n", encoding="utf-8")
    theirs = {"source": "human:ann", "source_kind": SourceKind.OPERATOR}
    store.put(a_record(1, title="The operator says so", supports=(an_id(4),), **theirs))
    store.put(a_record(2, title="An agent says otherwise"))
    store.put(
        a_record(3, kind=Kind.QUESTION, title="What does the operator ask?", **theirs),
    )
    store.put(a_record(4, title="A fourth thing altogether"))
    closed = {"kind": Kind.QUESTION, "closed": True, "answers": (an_id(4),)}
    store.put(a_record(5, title="What is the fourth thing?", **closed, **theirs))
    with RawClient(store.project) as client:
        yield client, store


def files_of(store: TempStore) -> dict[str, bytes]:
    """What lies in the operator's folder, and the question."""
    found = [*store.root.glob("memory/operator/**/*.md"), *store.root.glob("questions/**/*.md")]
    return {str(path): path.read_bytes() for path in found}


@pytest.mark.parametrize("source", [None, *NAMES])
@pytest.mark.parametrize(("tool", "arguments"), CALLS, ids=str)
def test_no_call_changes_what_is_the_operators(
    stage: tuple[RawClient, TempStore], tool: str, arguments: dict[str, Any], source: str | None
) -> None:
    """Whoever the caller says to be; the hint says that no argument helps."""
    client, store = stage
    before = files_of(store)
    named = {} if source is None else {"source": source}
    error = client.error(tool, **arguments, **named)
    assert error["code"] == "not-allowed"
    assert "no agent may" in error["hint"]
    assert files_of(store) == before


@pytest.mark.parametrize("argument", ["override_operator", "pin", "pinned", "source_kind"])
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_there_is_no_argument_for_it(
    stage: tuple[RawClient, TempStore],
    tool: Tool,
    argument: str,
) -> None:
    """An override is unknown to every tool."""
    client, _ = stage
    error = client.error(tool.verb, **{argument: True})
    assert error["code"] == "usage"
    assert argument in error["message"]


@pytest.mark.parametrize("source", NAMES)
def test_a_record_of_who_looks_like_an_operator_is_an_agents(
    stage: tuple[RawClient, TempStore], source: str
) -> None:
    """Written where agents' records lie, and never witnessed by the operator's word."""
    client, store = stage
    before = files_of(store)
    title = f"Claim {NAMES.index(source)} concerns {_THINGS[NAMES.index(source)]}"
    done = client.data("remember", type="decision", title=title, source=source)
    assert done["source_kind"] == "agent"
    assert done["verified_with"] == "assertion"
    assert "operator" not in done["path"]
    asked = client.data("question", title=f"Asked by {source} of whom?", source=source)
    assert client.data("get", id=asked["id"])["record"]["source_kind"] == "agent"
    seen = client.data("observe", text=f"Seen by {source} and nobody", source=source)
    assert client.data("get", id=seen["id"])["record"]["source_kind"] == "agent"
    after = files_of(store)
    assert before.items() <= after.items()
    assert not [path for path in after.keys() - before.keys() if "/operator/" in path]


def test_an_operators_record_may_be_linked_to_and_judged(
    stage: tuple[RawClient, TempStore],
) -> None:
    """That leaves it as it is."""
    client, store = stage
    before = files_of(store)
    client.data("relate", **{"from": FREE, "to": OPERATORS, "type": "supports"})
    client.data("outcome", id=OPERATORS, outcome="helped")
    assert files_of(store) == before
