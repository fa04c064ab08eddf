"""``where`` says which stores serve a place, and why: the same that every read and write uses."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from memspec_py.index.index import Index
from memspec_py.report import as_json
from tests.store.situations import Situation

if TYPE_CHECKING:
    from pathlib import Path

    from memspec_py.views.where import Where


@pytest.fixture
def scene(tmp_path: Path) -> Situation:
    """A pointer to a store to write to, one to read, and one that is not here."""
    return Situation(tmp_path).make("""
        store ~/p/mine : scopes: {api: ~/p/api} | claims: [~/p/**]
        store ~/team : scopes: {all: ~/p/**}
        pointer ~/p : mine mine rw, team ../team ro 10, gone ../gone ro
        dir ~/p/api
    """)


def where(scene: Situation, at: str, store: str | None = None) -> Where:
    """The decision for a folder."""
    with closing(scene.open(at, store=store)) as memspec:
        return memspec.whereabouts()


def test_the_whole_decision_is_told(scene: Situation) -> None:
    """Layers highest first with the scope that the place has in each, what is left out and why."""
    found = where(scene, "~/p/api")
    mine = str(scene.path("~/p/mine/.memspec"))
    assert (found.place, found.store, found.writes_to) == (
        str(scene.path("~/p/api")),
        mine,
        mine,
    )
    assert (found.scope, found.claimed_by, found.writes_refused) == ("api", "mine", None)
    assert found.declared_in == str(scene.path("~/p/.memspec.yaml"))
    layers = [
        (one.name, one.priority, one.writable, one.primary, one.scope) for one in found.layers
    ]
    assert layers == [("team", 10, False, False, "all"), ("mine", 0, True, True, "api")]
    (gone,) = found.left_out
    assert (gone.name, gone.why, gone.path) == (
        "gone",
        "missing",
        str(scene.path("~/gone/.memspec")),
    )
    assert gone.fix == f"clone it there, or mend the path in {found.declared_in}"
    assert found.warnings == (f"{gone.message} ({gone.fix})",)
    assert found.steps[-1] == gone.message
    assert isinstance(as_json(found), dict)


def test_a_refusal_to_write_is_told_with_its_way_out(scene: Situation) -> None:
    """`where` never fails for what only a write would refuse."""
    found = where(scene, "~/p", store="team")
    assert found.writes_to is None
    assert "'team'" in str(found.writes_refused)
    assert "is read-only; work in the checkout" in str(found.writes_refused)
    assert [one.primary for one in found.layers] == [True]
    scene.make("store ~/p/b\npointer ~/p : mine mine rw, b b rw")
    assert "say which one: --store mine" in str(where(scene, "~/p").writes_refused)


def test_a_plain_store_is_told_as_plainly(scene: Situation) -> None:
    """One layer, nothing declared, and the home's store below it if there is one."""
    scene.make("store ~/app")
    found = where(scene, "~/app")
    assert (found.declared_in, found.scope, found.claimed_by) == (None, None, None)
    assert [one.name for one in found.layers] == ["project"]
    scene.make("store ~")
    assert [one.name for one in where(scene, "~/app").layers] == ["project", "global"]


def test_a_store_behind_its_remote_is_told(scene: Situation) -> None:
    """With the branches and the number of commits, as of the last fetch."""
    scene.make("""
        git ~/up
        store ~/up
        commit ~/up
        clone ~/copy of ~/up
        commit ~/up
        fetch ~/copy
        pointer ~/p : mine mine rw, copy ../copy ro
    """)
    (late,) = where(scene, "~/p").layers_stale
    assert (late.name, late.branch, late.default_branch, late.behind) == (
        "copy",
        "main",
        "origin/main",
        1,
    )


def test_no_index_is_opened_for_it(scene: Situation, monkeypatch: pytest.MonkeyPatch) -> None:
    """It answers at once, and also where no index can be made."""
    monkeypatch.setattr(Index, "refresh", lambda _: pytest.fail("an index was opened"))
    assert where(scene, "~/p").writes_to == str(scene.path("~/p/mine/.memspec"))
