"""Several stores as one: who owns a record, what may be changed, and what is told of the rest."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from memspec_py.errors import (
    AmbiguousId,
    Invalid,
    NearDuplicate,
    NotAllowed,
    NotFound,
    Refused,
    UsageError,
    Withdrawn,
)
from memspec_py.record.model import Kind, Record, State
from memspec_py.record.parse import print_record
from memspec_py.store import layout
from memspec_py.testing import a_record, an_id
from memspec_py.workspace import Workspace
from tests.faults import Child, needs_fork
from tests.store.situations import Situation

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from memspec_py import Memspec

# The records that the situation below is made with, by their stores.
MINE, TEAMS = an_id(1), an_id(2)
QUESTION = an_id(60)


@pytest.fixture
def scene(tmp_path: Path) -> Situation:
    """A project whose pointer names a store to write to and a team's, which is only read."""
    return Situation(tmp_path).make("""
        store ~/p/mine
        store ~/team
        pointer ~/p : mine mine rw, team ../team ro 10
    """)


@pytest.fixture
def memspec(scene: Situation) -> Iterator[Memspec]:
    """The two layers, opened."""
    with closing(scene.open("~/p")) as opened:
        yield opened


def put(scene: Situation, at: str, *records: Record) -> None:
    """Write records' files into the store of a folder."""
    for record in records:
        path = scene.path(at) / ".memspec" / layout.path_of(record)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(print_record(record), encoding="utf-8")


def of_layer(scene: Situation, at: str) -> dict[Path, bytes]:
    """Every file of one store, machine-local ones included."""
    root = scene.path(at) / ".memspec"
    return {path: data for path, data in scene.everything().items() if path.is_relative_to(root)}


# What is only read


EDITS: dict[str, Callable[[Any], object]] = {
    "supersede": lambda ms: ms.supersede(TEAMS, reason="wrong", title="Other"),
    "retract": lambda ms: ms.supersede(TEAMS, reason="wrong", source="human:ann"),
    "merge into": lambda ms: ms.supersede(TEAMS, reason="same", merge_from=[MINE]),
    "merge from": lambda ms: ms.supersede(MINE, reason="same", merge_from=[TEAMS]),
    "relate": lambda ms: ms.relate(TEAMS, MINE, "supports"),
    "unrelate": lambda ms: ms.unrelate(TEAMS, MINE, "supports"),
    "verify": lambda ms: ms.verify(TEAMS, evidence="looked"),
    "anchor": lambda ms: ms.anchor(TEAMS, ["a.py"]),
    "edit": lambda ms: ms.edit_copy(TEAMS),
    "question": lambda ms: ms.question(QUESTION, close=True),
}


@pytest.mark.parametrize("act", EDITS)
def test_a_read_only_layer_is_not_changed(scene: Situation, memspec: Memspec, act: str) -> None:
    """Each act on a record of it refuses, naming the layer, and touches no file of it."""
    put(scene, "~/team", a_record(60, kind=Kind.QUESTION, title="Which?", answers=(TEAMS,)))
    before = of_layer(scene, "~/team")
    with pytest.raises(NotAllowed) as refused:
        EDITS[act](memspec)
    assert "lives in read-only store layer 'team'" in refused.value.message
    assert "it cannot be modified here" in refused.value.message
    assert refused.value.details["layer"] == "team"
    assert of_layer(scene, "~/team") == before


def test_a_beginning_of_an_id_is_refused_the_same(memspec: Memspec) -> None:
    """What is typed need not be the whole id."""
    with pytest.raises(NotAllowed, match=f'"{TEAMS}" lives in read-only'):
        memspec.verify(TEAMS[3:].lower(), evidence="looked")


NOWHERE = an_id(99)
LOOKS: dict[str, Callable[[Any], object]] = {
    "get": lambda ms: ms.get(NOWHERE),
    "beginning": lambda ms: ms.get("ms_99"),
    "no id": lambda ms: ms.get("?"),
    "edge": lambda ms: ms.relate(MINE, NOWHERE, "supports"),
    "new edge": lambda ms: ms.remember("fact", "Other", source="ann", edges={"refines": [NOWHERE]}),
    "answer": lambda ms: ms.ask("Which?", source="ann", answers=[NOWHERE]),
    "merge": lambda ms: ms.supersede(MINE, reason="same", merge_from=[NOWHERE]),
    "outcome": lambda ms: ms.outcome(NOWHERE, "helped"),
    "edit": lambda ms: ms.edit_copy(NOWHERE),
}


@pytest.mark.parametrize("act", LOOKS)
def test_what_no_layer_has_is_told_at_once(
    memspec: Memspec, act: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each layer is asked once, and none asks the others what they ask it."""
    looks = 0

    def counted(self: Workspace, db: sqlite3.Connection, typed: str) -> tuple[str, str] | None:
        nonlocal looks
        looks += 1
        return look_up(self, db, typed)

    look_up = Workspace.look_up
    monkeypatch.setattr(Workspace, "look_up", counted)
    with pytest.raises(NotFound):
        LOOKS[act](memspec)
    assert 0 < looks <= 10


@pytest.mark.parametrize("settings", ["", ': decay: {fact: "3d"}'])
@pytest.mark.parametrize("has", ["an index of its own", "none"])
def test_reading_leaves_a_read_only_layer_as_it_is(
    scene: Situation, settings: str, has: str
) -> None:
    """Byte for byte, whether it has an index of its own or none; ours lies in the cache."""
    scene.make(f"store ~/other {settings}\npointer ~/p : mine mine rw, team ../other ro 10")
    if has != "none":
        with closing(scene.open("~/other")) as own:
            assert own.list().count == 1
        (scene.path("~/other/.memspec/local") / "settings.json").unlink(missing_ok=True)
    before = of_layer(scene, "~/other")
    for _ in range(3):
        with closing(scene.open("~/p")) as memspec:
            reply = memspec.search("planted")
            assert reply.count == 2
            memspec.note_use(reply, surface="test", session="s")
            memspec.get(an_id(3))
            memspec.list()
            memspec.status()
            memspec.doctor(fix=True)
            memspec.whereabouts()
    assert of_layer(scene, "~/other") == before
    (cache,) = scene.path("~/.cache/memspec").iterdir()
    assert (cache / "local" / "index.db").is_file()
    assert cache.stat().st_mode & 0o077 == 0
    assert "other" in cache.name


def test_a_read_only_store_that_serves_a_place_by_itself_stays_as_it_is(scene: Situation) -> None:
    """Also when its own config.yaml is what says so."""
    scene.make("layers ~/solo : solo . ro | decay: {fact: 3d}\ndir ~/solo/.memspec/local")
    before = of_layer(scene, "~/solo")
    with closing(scene.open("~/solo")) as memspec:
        memspec.note_use(memspec.search("planted"), surface="test")
        assert memspec.doctor().store == str(scene.path("~/solo/.memspec"))
        for act in (lambda: memspec.observe("seen"), lambda: memspec.doctor(fix=True)):
            with pytest.raises(NotAllowed, match="read-only"):
                act()
    assert of_layer(scene, "~/solo") == before


def test_without_a_home_nothing_is_kept_of_a_read_only_layer(scene: Situation) -> None:
    """The answer is the same, from memory; no receipt and no cache are written anywhere."""
    scene.make("dir ~/team/.memspec/local\nfile ~/team/.memspec/config.yaml : decay: {fact: 3d}")
    scene.home_name = None
    before = of_layer(scene, "~/team")
    with closing(scene.open("~/p")) as memspec:
        reply = memspec.search("planted")
        assert {hit.layer for hit in reply.results} == {None, "team"}
        memspec.note_use(reply, surface="test", session="s")
        team = next(one for one in reply.circumstances.layers or () if one.name == "team")
        assert team.index["state"] == "bypassed"
    assert of_layer(scene, "~/team") == before


def test_the_cache_follows_the_environment(scene: Situation) -> None:
    """XDG_CACHE_HOME, when it is absolute; two stores never share a folder."""
    deep = "/".join(["deep" * 10] * 6)
    scene.make(f"""
        store ~/a/{deep}
        store ~/b/{deep}
        pointer ~/q : a ../a/{deep} ro, b ../b/{deep} ro, team ../team ro
        env XDG_CACHE_HOME=@/cache
    """)
    with closing(scene.open("~/q")) as memspec:
        assert memspec.list().count == 3
    names = [folder.name for folder in scene.path("@/cache/memspec").iterdir()]
    assert len(names) == 3
    assert max(map(len, names)) < 255
    assert not scene.path("~/.cache").exists()


def test_receipts_lie_with_the_store_that_owns_the_record(
    scene: Situation, memspec: Memspec
) -> None:
    """Those of a read-only layer in the cache, so that both are counted the next time."""
    memspec.note_use(memspec.search("planted"), surface="test", session="s")
    own = scene.path("~/p/mine/.memspec/usage.jsonl").read_text(encoding="utf-8")
    (cached,) = scene.path("~/.cache/memspec").glob("*/usage.jsonl")
    assert [json.loads(line)["id"] for line in own.splitlines()] == [MINE]
    kept = cached.read_text(encoding="utf-8")
    assert [json.loads(line)["id"] for line in kept.splitlines()] == [TEAMS]
    assert {hit.sessions for hit in memspec.search("planted").results} == {1}
    assert memspec.get(TEAMS).sessions == 1


def test_an_outcome_of_a_read_only_layer_is_noted_beside_it(
    scene: Situation, memspec: Memspec
) -> None:
    """The log is of this machine: it lies with the receipts, is counted there, and is private."""
    before = of_layer(scene, "~/team")
    assert memspec.outcome(TEAMS, "helped").counts["helped"] == 1
    done = memspec.outcome(TEAMS[3:].lower(), "helped", note="again")
    assert (done.id, done.counts["helped"]) == (TEAMS, 2)
    assert done.store == str(scene.path("~/team/.memspec"))
    memspec.outcome(MINE, "dead_end")
    (kept,) = scene.path("~/.cache/memspec").glob("*/outcomes.jsonl")
    assert kept.parent.stat().st_mode & 0o077 == 0
    lines = kept.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["id"] for line in lines] == [TEAMS, TEAMS]
    assert of_layer(scene, "~/team") == before


def test_a_dead_end_of_a_read_only_layer_counts_where_it_is_looked_at(scene: Situation) -> None:
    """What was noted of its record keeps it from being proposed to become more than a note."""
    scene.make("pointer ~/q : team ../team ro")
    with closing(scene.open("~/q")) as memspec:
        for session in ("one", "two"):
            memspec.note_use(memspec.search("planted"), surface="test", session=session)
        assert [one.id for one in memspec.status().promotion_candidates] == [TEAMS]
        memspec.outcome(TEAMS, "dead_end")
        assert memspec.status().promotion_candidates == ()


@needs_fork
def test_many_may_note_outcomes_of_a_read_only_layer_at_once(scene: Situation) -> None:
    """They take turns at the log, and each line stands."""

    def note() -> None:
        with closing(scene.open("~/p")) as memspec:
            for _ in range(5):
                memspec.outcome(TEAMS, "helped")

    for child in [Child(note) for _ in range(4)]:
        child.end().well()
    with closing(scene.open("~/p")) as memspec:
        assert memspec.outcome(TEAMS, "helped").counts["helped"] == 21


def test_without_a_place_on_this_machine_no_outcome_can_be_noted(scene: Situation) -> None:
    """Which is said; one of a writable layer is noted all the same."""
    scene.home_name = None
    before = of_layer(scene, "~/team")
    with closing(scene.open("~/p")) as memspec:
        with pytest.raises(NotAllowed, match="nothing can be noted") as refused:
            memspec.outcome(TEAMS, "helped")
        assert refused.value.details["layer"] == "team"
        assert memspec.outcome(MINE, "helped").counts["helped"] == 1
    assert of_layer(scene, "~/team") == before


# Who owns a record


def test_a_record_is_changed_in_the_store_that_has_it(scene: Situation) -> None:
    """Of two writable layers, and of the global store that nothing new goes to."""
    scene.make("store ~\nstore ~/app")
    with closing(scene.open("~/app")) as memspec:
        shared = an_id(3)
        assert memspec.get(shared).layer == "global"
        done = memspec.supersede(shared, reason="wrong", title="Another claim altogether")
        assert done.store == str(scene.path("~/.memspec"))
        assert memspec.get(str(done.survivor_id)).layer == "global"
        assert memspec.verify(an_id(4), evidence="looked").store == str(
            scene.path("~/app/.memspec")
        )


def test_the_higher_layer_has_the_record_of_an_id_that_both_have(
    scene: Situation, memspec: Memspec
) -> None:
    """In get, list, search and edges; doctor tells."""
    put(scene, "~/p/mine", a_record(7, title="Mine of seven"))
    put(scene, "~/team", a_record(7, title="The team's seven"))
    shown = memspec.get(an_id(7))
    assert (shown.title, shown.layer) == ("The team's seven", "team")
    listed = [(hit.title, hit.layer) for hit in memspec.list().results if hit.id == an_id(7)]
    assert listed == [("The team's seven", "team")]
    found = [(hit.title, hit.layer) for hit in memspec.search("seven").results]
    assert found == [("The team's seven", "team")]
    (told,) = [one for one in memspec.doctor().findings if one.code == "id-in-two-layers"]
    assert an_id(7) in told.message
    with pytest.raises(NotAllowed):
        memspec.relate(an_id(7), MINE, "supports")


def test_a_superseded_copy_in_a_higher_layer_hides_the_lower_one(
    scene: Situation, memspec: Memspec
) -> None:
    """What a higher layer says of a record counts, whatever its state is there."""
    put(scene, "~/p/mine", a_record(7, title="Seven still holds"))
    put(
        scene,
        "~/team",
        a_record(7, title="Seven", state=State.SUPERSEDED, supersede_reason="no"),
    )
    assert [hit.id for hit in memspec.list().results] == [TEAMS, MINE]
    assert [hit.id for hit in memspec.search("seven").results] == []


def test_a_beginning_that_several_layers_know_is_ambiguous(memspec: Memspec) -> None:
    """The candidates are named with their layers, and nothing is done."""
    start = an_id(1)[:-2]
    for act in (memspec.get, lambda typed: memspec.verify(typed, evidence="x")):
        with pytest.raises(AmbiguousId) as refused:
            act(start)
        assert f"{MINE} [fact] Planted number 1 (layer: mine)" in str(refused.value.hint)
        assert f"{TEAMS} [fact] Planted number 2 (layer: team)" in str(refused.value.hint)
        assert refused.value.details["candidates"] == [
            {"id": TEAMS, "type": "fact", "title": "Planted number 2", "layer": "team"},
            {"id": MINE, "type": "fact", "title": "Planted number 1"},
        ]


def test_a_merge_keeps_to_one_store(scene: Situation) -> None:
    """Records of two writable layers are not merged."""
    scene.make("store ~\nstore ~/app")
    with closing(scene.open("~/app")) as memspec:
        before = scene.records()
        with pytest.raises(Invalid, match="a merge keeps to one store"):
            memspec.supersede(an_id(4), reason="same", merge_from=[an_id(3)])
        assert scene.records() == before


def test_what_narrows_the_stores_says_where_else_a_record_is(scene: Situation) -> None:
    """`--store` reads one layer; a record of another is told, and not shown."""
    with closing(scene.open("~/p", store="mine")) as memspec:
        assert [hit.id for hit in memspec.list().results] == [MINE]
        with pytest.raises(NotFound) as refused:
            memspec.get(TEAMS)
        assert str(refused.value.hint) == f"{TEAMS} is in layer 'team': --store team"


def test_a_record_that_is_nowhere_tells_of_the_layers_left_out(scene: Situation) -> None:
    """It may be in the one that is not here."""
    scene.make("pointer ~/p : mine mine rw, gone ../gone ro")
    with closing(scene.open("~/p")) as memspec:
        for act in (memspec.get, lambda id_: memspec.supersede(id_, reason="x")):
            with pytest.raises(NotFound) as refused:
                act(an_id(99))
            assert "layer 'gone' is left out: no store at" in str(refused.value.hint)


# Links and look-ups across layers


def test_an_edge_may_name_a_record_of_another_layer(memspec: Memspec) -> None:
    """By a beginning of its id, too; each end shows the other, and doctor finds nothing wrong."""
    related = memspec.relate(MINE, TEAMS, "refines")
    assert related.to_id == TEAMS
    written = memspec.remember(
        "fact", "Deploys take an hour", source="tests", edges={"supports": [TEAMS]}
    )
    shown = memspec.get(TEAMS)
    assert [one.id for one in shown.linked_from["refines"]] == [MINE]
    assert [one.id for one in shown.linked_from["supports"]] == [written.id]
    assert "dangling-edge" not in {one.code for one in memspec.doctor().findings}
    assert memspec.unrelate(MINE, TEAMS, "refines").changed


def test_an_edge_to_a_layer_says_which(memspec: Memspec) -> None:
    """The record shows which layer the other end is in."""
    memspec.relate(MINE, TEAMS, "conflicts_with")
    (other,) = memspec.get(TEAMS).linked_from["conflicts_with"]
    assert (other.id, other.layer) == (MINE, None)
    expanded = memspec.search("number 1", expand=True)
    assert TEAMS in {hit.id for hit in expanded.results if hit.layer == "team"}


def test_an_edge_that_contradicts_one_in_another_layer_is_refused(
    scene: Situation, memspec: Memspec
) -> None:
    """The other end may say the opposite from its own store."""
    put(scene, "~/team", a_record(8, title="Eight", conflicts_with=(MINE,)))
    with pytest.raises(Refused, match="contradicts"):
        memspec.relate(MINE, an_id(8), "supports")


def test_what_another_layer_says_is_not_said_again(scene: Situation, memspec: Memspec) -> None:
    """The refusal names the layer; --force lets both stand."""
    put(scene, "~/team", a_record(8, title="Invoices are archived after ten years"))
    said = ("fact", "Invoices are archived after ten years")
    with pytest.raises(NearDuplicate, match="the store layer 'team' already says this") as refused:
        memspec.remember(*said, source="tests")
    assert an_id(8) in refused.value.message
    forced = memspec.remember(*said, source="tests", force=True)
    assert [(one.id, one.layer) for one in forced.duplicates] == [(an_id(8), "team")]


def test_what_another_layer_withdrew_is_not_said_again(scene: Situation, memspec: Memspec) -> None:
    """A superseded text of a team's store counts, though nobody can change it from here."""
    gone = a_record(
        8,
        title="Invoices are archived after ten years",
        state=State.SUPERSEDED,
        supersede_reason="the law changed",
    )
    put(scene, "~/team", gone)
    with pytest.raises(Withdrawn, match="the law changed"):
        memspec.remember("fact", "Invoices are archived after ten years", source="tests")


def test_several_writable_layers_are_never_guessed_between(scene: Situation) -> None:
    """Every act that makes a record refuses, and names the stores to choose from."""
    scene.make("store ~/p/b\npointer ~/p : mine mine rw, b b rw, team ../team ro")
    acts: list[Callable[[Memspec], object]] = [
        lambda ms: ms.remember("fact", "New", source="tests"),
        lambda ms: ms.observe("seen"),
        lambda ms: ms.ask("Which?", source="tests"),
        lambda ms: ms.adopt([a_record(50)], apply=True),
    ]
    before = scene.records()
    for act in acts:
        with closing(scene.open("~/p")) as memspec, pytest.raises(UsageError) as refused:
            act(memspec)
        assert "mine, b" in refused.value.message
        assert "--store mine" in str(refused.value.hint)
    assert scene.records() == before
    with closing(scene.open("~/p", store="b")) as memspec:
        assert memspec.ask("Which?", source="tests").store == str(scene.path("~/p/b/.memspec"))


# What every reply tells


def test_every_answer_tells_what_it_lacks(scene: Situation) -> None:
    """Layers left out are in the circumstances of each view, and in `warnings` for the acts."""
    scene.make("git ~/p\nstore ~/w\npointer ~/p : mine mine rw, gone ../gone ro, w ../w rw")
    with closing(scene.open("~/p", store="mine")) as memspec:
        views = [
            memspec.search("planted").circumstances,
            memspec.list().circumstances,
            memspec.get(MINE).circumstances,
            memspec.status().circumstances,
            memspec.reconcile().circumstances,
        ]
        for about in views:
            assert about.layers_unavailable == ("gone",)
            whys = [(one.name, one.why) for one in about.layers_left_out or ()]
            assert whys == [("gone", "missing"), ("w", "untrusted")]
            told = "\n".join(about.warnings)
            assert str(scene.path("~/gone/.memspec")) in told
            assert "memspec trust" in told
        assert memspec.warnings == views[0].warnings


def test_a_plain_store_tells_nothing_of_layers(scene: Situation) -> None:
    """One undeclared store answers as it always did."""
    scene.make("store ~/app")
    with closing(scene.open("~/app")) as memspec:
        about = memspec.search("planted").circumstances
        assert (about.layers, about.layers_left_out, about.warnings) == (None, None, ())
        assert {hit.layer for hit in memspec.list().results} == {None}


def test_an_unreadable_file_of_a_layer_is_told_with_its_layer(
    scene: Situation, memspec: Memspec
) -> None:
    """A broken record of the team's is no silent gap."""
    scene.make("file ~/team/.memspec/memory/facts/x.md : no front matter")
    about = memspec.search("planted").circumstances
    assert about.unreadable_count == 1
    assert about.unreadable[0]["layer"] == "team"


def test_settings_of_a_layer_that_were_not_understood_are_told(scene: Situation) -> None:
    """With the layer's name; a broken config.yaml keeps nobody from reading."""
    scene.make("file ~/team/.memspec/config.yaml : decay: {fact: soon}")
    with closing(scene.open("~/p")) as memspec:
        about = memspec.list().circumstances
        assert any("decay.fact" in told and "(layer: team)" in told for told in about.warnings)
