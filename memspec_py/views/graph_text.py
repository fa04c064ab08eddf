"""A graph of claims as text: JSON lines, GraphML, or DOT for Graphviz."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


class Node(NamedTuple):
    """A claim."""

    id: str
    type: str
    title: str
    state: str
    source_kind: str
    verified_with: str
    stale: bool


class File(NamedTuple):
    """A file that claims are anchored to, under its path or ``repo/path``."""

    path: str

    @property
    def id(self) -> str:
        """Its id in the graph."""
        return f"file:{self.path}"


class Edge(NamedTuple):
    """A link, from a claim to a claim or a file."""

    from_id: str
    to_id: str
    type: str


class Graph(NamedTuple):
    """Claims, files and links, each in a stable order."""

    nodes: tuple[Node, ...]
    files: tuple[File, ...]
    edges: tuple[Edge, ...]


def jsonl(graph: Graph) -> str:
    """One object a line: claims, then files, then edges."""
    return "".join(
        json.dumps(part, ensure_ascii=False, sort_keys=True) + "\n" for part in _objects(graph)
    )


def graphml(graph: Graph) -> str:
    """An XML document with one graph, ``memspec``."""
    return "\n".join(_graphml_lines(graph)) + "\n"


def dot(graph: Graph) -> str:
    """A digraph from left to right; a dashed claim is stale, a filled one superseded."""
    return "\n".join(_dot_lines(graph)) + "\n"


FORMATS: Mapping[str, Callable[[Graph], str]] = {"jsonl": jsonl, "graphml": graphml, "dot": dot}


def _objects(graph: Graph) -> Iterator[Mapping[str, object]]:
    for node in graph.nodes:
        yield {"kind": "node", "node_type": "memory", **node._asdict()}
    for file in graph.files:
        yield {"kind": "node", "node_type": "file", "id": file.id, "path": file.path}
    for edge in graph.edges:
        yield {"kind": "edge", "from": edge.from_id, "to": edge.to_id, "type": edge.type}


_KEYS = {
    **dict.fromkeys(("title", "node_type", "memory_type", "source_kind"), "string"),
    "verified_with": "string",
    "stale": "boolean",
    "state": "string",
    "path": "string",
}


def _graphml_lines(graph: Graph) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for key, kind in _KEYS.items():
        yield f'  <key id="{key}" for="node" attr.name="{key}" attr.type="{kind}"/>'
    yield '  <key id="edge_type" for="edge" attr.name="edge_type" attr.type="string"/>'
    yield '  <graph id="memspec" edgedefault="directed">'
    for node in graph.nodes:
        told = node._asdict() | {"node_type": "memory", "memory_type": node.type}
        told["stale"] = "true" if node.stale else "false"
        yield from _graphml_node(node.id, told)
    for file in graph.files:
        yield from _graphml_node(file.id, {"node_type": "file", "path": file.path})
    for number, edge in enumerate(graph.edges):
        ends = f"source={_quoted(edge.from_id)} target={_quoted(edge.to_id)}"
        yield f'    <edge id="e{number}" {ends}>'
        yield f'      <data key="edge_type">{edge.type}</data>'
        yield "    </edge>"
    yield "  </graph>"
    yield "</graphml>"


def _graphml_node(id_: str, told: Mapping[str, object]) -> Iterator[str]:
    yield f"    <node id={_quoted(id_)}>"
    for key in _KEYS:
        if key in told:
            yield f'      <data key="{key}">{_escaped(str(told[key]))}</data>'
    yield "    </node>"


# What XML 1.0 has no way to write, and the control characters that it discourages.
_NOT_XML = re.compile("[^\t\n\r\u0020-\u007e\u00a0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _escaped(text: str) -> str:
    clean = _NOT_XML.sub("\ufffd", text)
    return clean.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _quoted(text: str) -> str:
    return f'"{_escaped(text).replace(chr(34), "&quot;")}"'


_SHAPES = {
    "fact": "shape=box, color=blue",
    "decision": "shape=diamond, color=orange",
    "procedure": "shape=ellipse, color=green",
}
_EDGE_STYLES = {
    "supersedes": "color=red, style=dashed",
    "conflicts_with": "color=orange, style=dotted",
    "refines": "color=blue",
    "supports": "color=green",
    "depends_on": "color=purple",
    "anchors_to": 'color=gray, penwidth="0.5"',
}


def _dot_lines(graph: Graph) -> Iterator[str]:
    yield "digraph memspec {"
    yield "  rankdir=LR;"
    for node in graph.nodes:
        yield f"  {_name(node.id)} [label={_name(node.title)}, {_look(node)}];"
    for file in graph.files:
        yield f"  {_name(file.id)} [label={_name(file.path)}, shape=octagon, color=gray];"
    for edge in graph.edges:
        style = _EDGE_STYLES.get(edge.type, "color=black")
        ends = f"{_name(edge.from_id)} -> {_name(edge.to_id)}"
        yield f"  {ends} [label={_name(edge.type)}, {style}];"
    yield "}"


def _look(node: Node) -> str:
    styles = ["dashed"] if node.stale else []
    superseded = node.state == "superseded"
    if superseded:
        styles.append("filled")
    look = _SHAPES[node.type]
    if styles:
        look += f', style="{",".join(styles)}"'
    return f"{look}, fillcolor=lightgray" if superseded else look


def _name(text: str) -> str:
    """A DOT string that shows the text itself."""
    one_line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return '"{}"'.format(one_line.replace("\\", "\\\\").replace('"', '\\"'))
