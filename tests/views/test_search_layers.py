"""Search where several stores serve the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memspec_py.api import Memspec
from memspec_py.record.model import Kind, State
from memspec_py.record.parse import print_record
from memspec_py.store import layout
from memspec_py.testing import TempStore, a_record, an_id

if TYPE_CHECKING:
    from pathlib import Path

    from memspec_py.record.model import Record
    from memspec_py.views.search import SearchReply


class Home:
    """The store of the home, a lower layer of every other."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / layout.STORE_NAME

    def put(self, record: Record) -> None:
        """Write a record's file where it belongs."""
        path = self.root / layout.path_of(record)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(print_record(record), encoding="utf-8")


@pytest.fixture
def project(tmp_path: Path) -> TempStore:
    """A project's store with the store of the home below it."""
    made = TempStore(tmp_path)
    Memspec.init(made.home, where=made.where)
    made.ms = made.again()
    return made


@pytest.fixture
def home(project: TempStore) -> Home:
    """The lower of the two."""
    return Home(project.home)


def shown(reply: SearchReply) -> list[tuple[str, str | None]]:
    """Each hit's id and layer, in order."""
    return [(hit.id, hit.layer) for hit in reply.results]


def test_hits_come_from_all_layers_by_relevance(project: TempStore, home: Home) -> None:
    """The better record comes first wherever it lies; only the lower layer's is marked."""
    project.put(a_record(1, title="Notes", body="a relay and " + "many other words " * 20))
    home.put(a_record(2, title="Relay", body="relay relay"))
    reply = project.ms.search("relay")
    assert shown(reply) == [(an_id(2), "global"), (an_id(1), None)]
    assert reply.circumstances.store == str(project.root)
    assert [layer.name for layer in reply.circumstances.layers or ()] == ["project", "global"]


def test_the_higher_layer_has_an_id_that_both_have(project: TempStore, home: Home) -> None:
    """Superseded in the project is superseded, whatever the lower copy says."""
    home.put(a_record(1, body="relay"))
    home.put(a_record(2, body="relay"))
    project.put(a_record(2, body="relay", state=State.SUPERSEDED))
    reply = project.ms.search("relay")
    assert shown(reply) == [(an_id(1), "global")]
    assert reply.hidden == {"superseded": 1}


def test_a_store_named_alone_answers_alone(project: TempStore, home: Home) -> None:
    """What was narrowed to one layer has hits of that layer only, and none is marked."""
    project.put(a_record(1, body="relay"))
    home.put(a_record(2, body="relay"))
    only = Memspec.open(project.project, store="global", where=project.where, clock=project.clock)
    assert shown(only.search("relay")) == [(an_id(2), None)]


def test_edges_cross_layers(project: TempStore, home: Home) -> None:
    """A record of the project may rest on one of the home, and that on one of the project."""
    project.put(a_record(1, body="relay", depends_on=(an_id(2),)))
    home.put(a_record(2, body="gate", depends_on=(an_id(3),)))
    project.put(a_record(3, body="fence"))
    reply = project.ms.search("relay", expand=True, depth=2)
    assert shown(reply) == [(an_id(1), None), (an_id(2), "global"), (an_id(3), None)]
    assert reply.expanded == 2


def test_questions_of_all_layers_are_listed_newest_first(project: TempStore, home: Home) -> None:
    """Open ones before resolved ones; a question that both layers have is the higher one's."""
    day = "2026-01-0{}T00:00:00.000Z"
    for number, put in enumerate((project.put, home.put, project.put, home.put), 1):
        put(a_record(number, kind=Kind.QUESTION, title="Relay?", created=day.format(number)))
    home.put(a_record(1, kind=Kind.QUESTION, title="Relay, once more?"))
    resolved = a_record(9, kind=Kind.QUESTION, title="Relay!", state=State.RESOLVED)
    project.put(resolved)
    reply = project.ms.search("relay", type="question")
    newest = [(an_id(4), "global"), (an_id(3), None), (an_id(2), "global"), (an_id(1), None)]
    assert shown(reply) == [*newest, (resolved.id, None)]
    assert reply.coverage_note == "5 of 5 questions have this in their title"


def test_receipts_lie_with_the_layer_of_the_record(project: TempStore, home: Home) -> None:
    """Each store knows how often its own records were shown."""
    project.put(a_record(1, body="relay relay"))
    home.put(a_record(2, body="relay"))
    project.ms.note_use(project.ms.search("relay"), surface="cli", session="s1")
    found = {hit.id: hit.sessions for hit in project.ms.search("relay").results}
    assert found == {an_id(1): 1, an_id(2): 1}
    assert an_id(2) in (home.root / layout.USAGE).read_text(encoding="utf-8")
    assert an_id(2) not in (project.root / layout.USAGE).read_text(encoding="utf-8")


def test_each_layer_has_the_scope_of_the_callers_directory(project: TempStore, home: Home) -> None:
    """A scope that the project's map gives does not open the home's records of that name."""
    project.write("config.yaml", "schema_version: 3\nscopes:\n  burrow: ['.']\n")
    project.ms = project.again()
    project.put(a_record(1, body="relay", scope="burrow"))
    home.put(a_record(2, body="relay", scope="burrow"))
    home.put(a_record(3, body="relay", scope="meadow"))
    reply = project.ms.search("relay")
    assert shown(reply) == [(an_id(1), None)]
    assert reply.hidden == {"scope": 2}
    assert reply.scope == "burrow"
    assert {id_ for id_, _ in shown(project.ms.search("relay", scope="meadow"))} == {an_id(3)}
    near = project.ms.search("relay", scope="meadwo")
    assert "did you mean --scope meadow" in near.coverage_note
