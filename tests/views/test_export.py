"""The graph of a store: what is in it, in which order, and that every format says the same."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspec_py.errors import UsageError
from memspec_py.record.model import Anchor, Kind, SourceKind, State, Type
from memspec_py.testing import TempStore, a_record, an_id
from memspec_py.views.graph_text import FORMATS, Edge, File, Graph, Node

if TYPE_CHECKING:
    from pathlib import Path

SPACE = "{http://graphml.graphdrawing.org/xmlns}"


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """Claims of each type and state, an observation, a question, anchors and edges."""
    made = TempStore(tmp_path)
    made.put(
        a_record(
            2,
            type=Type.DECISION,
            title='Say "yes" & <no>',
            source_kind=SourceKind.OPERATOR,
            supersedes=(an_id(3),),
            refines=(an_id(1), an_id(4), an_id(99)),
            check_by="2025-01-01T00:00:00.000Z",
        )
    )
    made.put(
        a_record(
            1,
            anchors=(
                Anchor(file="b.py", sha="0" * 40),
                Anchor(file="a.py", sha="0" * 40, repo="other"),
                Anchor(file="b.py", sha="0" * 40, symbol="f"),
            ),
            conflicts_with=(an_id(5),),
        )
    )
    made.put(a_record(3, state=State.SUPERSEDED, superseded_by=(an_id(2),)))
    made.put(a_record(4, kind=Kind.OBSERVATION, expires="2027-01-01T00:00:00.000Z"))
    made.put(a_record(5, type=Type.PROCEDURE, depends_on=(an_id(1),)))
    made.put(a_record(6, kind=Kind.QUESTION, answers=(an_id(1),)))
    made.put(a_record(7, state=State.RETIRED))
    return made


def parts(store: TempStore, **asked: object) -> list[dict[str, object]]:
    """The objects of a JSON lines export."""
    done = store.ms.export("jsonl", **asked)  # type: ignore[arg-type]
    return [json.loads(line) for line in done.output.splitlines()]


def test_claims_come_first_then_files_then_edges(store: TempStore) -> None:
    """Each by id or path; the edges in the order of the claims that have them."""
    assert parts(store) == [
        {
            "id": an_id(1),
            "kind": "node",
            "node_type": "memory",
            "type": "fact",
            "title": "Record 1",
            "state": "active",
            "source_kind": "agent",
            "verified_with": "assertion",
            "stale": False,
        },
        {
            "id": an_id(2),
            "kind": "node",
            "node_type": "memory",
            "type": "decision",
            "title": 'Say "yes" & <no>',
            "state": "active",
            "source_kind": "operator",
            "verified_with": "assertion",
            "stale": True,
        },
        {
            "id": an_id(5),
            "kind": "node",
            "node_type": "memory",
            "type": "procedure",
            "title": "Record 5",
            "state": "active",
            "source_kind": "agent",
            "verified_with": "assertion",
            "stale": False,
        },
        {"id": "file:b.py", "kind": "node", "node_type": "file", "path": "b.py"},
        {"id": "file:other/a.py", "kind": "node", "node_type": "file", "path": "other/a.py"},
        {"from": an_id(1), "kind": "edge", "to": an_id(5), "type": "conflicts_with"},
        {"from": an_id(1), "kind": "edge", "to": "file:b.py", "type": "anchors_to"},
        {"from": an_id(1), "kind": "edge", "to": "file:other/a.py", "type": "anchors_to"},
        {"from": an_id(2), "kind": "edge", "to": an_id(1), "type": "refines"},
        {"from": an_id(5), "kind": "edge", "to": an_id(1), "type": "depends_on"},
    ]


def test_superseded_claims_come_with_the_edges_to_them_when_asked_for(store: TempStore) -> None:
    """Retired ones never do."""
    found = parts(store, include_superseded=True)
    assert [part["id"] for part in found if part.get("node_type") == "memory"] == [
        an_id(number) for number in (1, 2, 3, 5)
    ]
    assert {"from": an_id(2), "kind": "edge", "to": an_id(3), "type": "supersedes"} in found


def test_types_narrow_it_and_edges_that_lead_out_go(store: TempStore) -> None:
    """Both ends of an edge are in the graph, always."""
    found = parts(store, types=("decision", "procedure"))
    assert [part["id"] for part in found] == [an_id(2), an_id(5)]


def test_the_reply_counts_what_is_in_it(store: TempStore) -> None:
    """And tells of files that cannot be read."""
    store.write("memory/facts/broken.md", "no front matter")
    done = store.ms.export("dot")
    assert (done.nodes, done.files, done.edges) == (3, 2, 5)
    assert done.circumstances.unreadable_count == 1


@pytest.mark.parametrize(
    ("form", "types"), [("svg", ()), ("jsonl", ("observation",)), ("jsonl", ("nope",))]
)
def test_what_there_is_not_is_refused(store: TempStore, form: str, types: tuple[str, ...]) -> None:
    """With what there is."""
    with pytest.raises(UsageError) as raised:
        store.ms.export(form, types=types)
    assert raised.value.hint is not None
    assert raised.value.hint.startswith("one of: ")


def test_dot_shows_type_state_and_link(store: TempStore) -> None:
    """By shape, style and colour, as Graphviz has them."""
    lines = store.ms.export("dot", include_superseded=True).output.splitlines()
    assert lines[0] == "digraph memspec {"
    assert lines[1] == "  rankdir=LR;"
    assert lines[-1] == "}"
    look = 'shape=diamond, color=orange, style="dashed"'
    assert f'  "{an_id(2)}" [label="Say \\"yes\\" & <no>", {look}];' in lines
    look = 'shape=box, color=blue, style="filled", fillcolor=lightgray'
    assert f'  "{an_id(3)}" [label="Record 3", {look}];' in lines
    assert '  "file:b.py" [label="b.py", shape=octagon, color=gray];' in lines
    look = 'label="supersedes", color=red, style=dashed'
    assert f'  "{an_id(2)}" -> "{an_id(3)}" [{look}];' in lines


def test_graphml_has_keys_nodes_and_edges(store: TempStore) -> None:
    """As an XML parser reads them."""
    (graph,) = ET.fromstring(  # noqa: S314 - our own text
        store.ms.export("graphml").output
    ).iter(f"{SPACE}graph")
    assert graph.get("id") == "memspec"
    nodes = {node.get("id"): node for node in graph.iter(f"{SPACE}node")}
    assert list(nodes) == [an_id(1), an_id(2), an_id(5), "file:b.py", "file:other/a.py"]
    told = {data.get("key"): data.text for data in nodes[an_id(2)]}
    assert told == {
        "title": 'Say "yes" & <no>',
        "node_type": "memory",
        "memory_type": "decision",
        "source_kind": "operator",
        "verified_with": "assertion",
        "stale": "true",
        "state": "active",
    }
    edges = [(edge.get("id"), edge.get("source")) for edge in graph.iter(f"{SPACE}edge")]
    assert edges[0] == ("e0", an_id(1))
    assert len(edges) == 5


@given(title=st.text(st.characters(exclude_categories=["Cs"])), path=st.text(min_size=1))
def test_no_text_breaks_a_format(title: str, path: str) -> None:
    """Whatever a title or a path holds, each format stays what it is."""
    node = Node("ms_1", "fact", title, "active", "agent", "anchor", stale=False)
    file = File(path.encode(errors="replace").decode())
    graph = Graph((node,), (file,), (Edge(node.id, file.id, "anchors_to"),))
    texts = {name: made(graph) for name, made in FORMATS.items()}
    assert [json.loads(line)["kind"] for line in texts["jsonl"].split("\n")[:-1]] == [
        *("node", "node", "edge"),
    ]
    root = ET.fromstring(texts["graphml"])  # noqa: S314 - our own text
    assert len(list(root.iter(f"{SPACE}node"))) == 2
    lines = texts["dot"].splitlines()
    assert len(lines) == 6
    assert [len(re.findall(r'(?<!\\)(?:\\\\)*"', line)) for line in lines[2:5]] == [4, 4, 8]


def test_the_same_store_gives_the_same_text(store: TempStore) -> None:
    """For whoever keeps an export in git."""
    for form in FORMATS:
        assert store.ms.export(form).output == store.again().export(form).output
