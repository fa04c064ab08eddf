"""The claims of a store and their links as one graph, for programs that draw or walk it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.errors import UsageError
from memspec_py.record.words import Kind, State, Type, is_stale
from memspec_py.views.envelope import Envelope, envelope
from memspec_py.views.graph_text import FORMATS, Edge, File, Graph, Node

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

    from memspec_py.layered import Layered

_TYPES = tuple(type_.value for type_ in Type)
_FILE_EDGE, _PAST_EDGE = "anchors_to", "supersedes"
_EDGES = (
    *("refines", "supports", "depends_on", "derived_from", "conflicts_with", "distinct_from"),
    _PAST_EDGE,
)


class GraphWanted(NamedTuple):
    """What to export, and how: ``types`` empty means all types of claims."""

    format: str
    include_superseded: bool = False
    types: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """The graph as ``output``, a text in the format; of its parts ``nodes`` counts the claims.

    Observations and questions are not in it, and edges only where both ends are.
    """

    format: str
    include_superseded: bool
    types: tuple[str, ...]
    nodes: int
    files: int
    edges: int
    output: str
    circumstances: Envelope


def export(stores: Layered, asked: GraphWanted) -> Exported:
    """The active claims of the primary store, and with them superseded ones if asked for.

    Raises ``UsageError`` for a format or a type that there is not.
    """
    _check(asked)
    ws = stores.primary
    graph, circumstances = ws.read(
        lambda db: (_graph(db, asked, ws.now()), envelope(stores, [db], [ws]))
    )
    return Exported(
        format=asked.format,
        include_superseded=asked.include_superseded,
        types=tuple(asked.types),
        nodes=len(graph.nodes),
        files=len(graph.files),
        edges=len(graph.edges),
        output=FORMATS[asked.format](graph),
        circumstances=circumstances,
    )


def _check(asked: GraphWanted) -> None:
    if asked.format not in FORMATS:
        raise UsageError(f"no format {asked.format!r}", hint=f"one of: {', '.join(FORMATS)}")
    for name in asked.types:
        if name not in _TYPES:
            raise UsageError(f"no type {name!r} of claims", hint=f"one of: {', '.join(_TYPES)}")


def _graph(db: sqlite3.Connection, asked: GraphWanted, now: str) -> Graph:
    states = (State.ACTIVE.value, *((State.SUPERSEDED.value,) if asked.include_superseded else ()))
    types = asked.types or _TYPES
    rows = db.execute(
        "select id, label, state, witness, check_by, json_extract(head, '$.title'),"
        " json_extract(head, '$.source_kind'), json_extract(head, '$.anchors') from shown"
        f" where kind = 'claim' and shadowed = 0 and state in ({_marks(states)})"
        f" and label in ({_marks(types)}) order by id",
        (*states, *types),
    ).fetchall()
    nodes = tuple(
        Node(
            id=id_,
            type=label,
            title=title,
            state=state,
            source_kind=tier,
            verified_with=witness,
            stale=is_stale(Kind.CLAIM, State(state), check_by, now),
        )
        for id_, label, state, witness, check_by, title, tier, _ in rows
    )
    anchored = {id_: tuple(_files(anchors)) for id_, *_, anchors in rows if anchors}
    files = sorted({file for some in anchored.values() for file in some})
    return Graph(nodes, tuple(files), tuple(_edges(db, nodes, anchored, asked)))


def _edges(
    db: sqlite3.Connection,
    nodes: Iterable[Node],
    anchored: dict[str, tuple[File, ...]],
    asked: GraphWanted,
) -> Iterator[Edge]:
    """Edges in the order of the nodes they start from."""
    wanted = {*_EDGES} if asked.include_superseded else {*_EDGES} - {_PAST_EDGE}
    there = {node.id for node in nodes}
    linked: dict[str, list[tuple[str, str]]] = {}
    for source, edge, target in db.execute(
        "select e.source, e.type, e.target from edges e join records r on r.path = e.path"
        " where r.shadowed = 0 order by e.source, e.type, e.position"
    ):
        if edge in wanted and target in there:
            linked.setdefault(source, []).append((edge, target))
    for node in nodes:
        for edge, target in linked.get(node.id, ()):
            yield Edge(node.id, target, edge)
        for file in anchored.get(node.id, ()):
            yield Edge(node.id, file.id, _FILE_EDGE)


def _files(anchors: str) -> Iterator[File]:
    """The files of a record's anchors, each once."""
    found = {}
    for anchor in json.loads(anchors):
        path = anchor["file"] if "repo" not in anchor else f"{anchor['repo']}/{anchor['file']}"
        found[path] = File(path)
    yield from found.values()


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))
