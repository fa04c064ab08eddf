"""A server that lives long notices what changes around it."""

from __future__ import annotations

import shutil
import threading
from typing import TYPE_CHECKING

import pytest

from memspec_py.api import Memspec
from memspec_py.errors import NoStore, UsageError
from memspec_py.mcp_server.guide import CONTRACT
from memspec_py.mcp_server.stores import Stores
from memspec_py.store.resolve import Surroundings
from memspec_py.testing import TempStore, a_record, an_id
from memspec_py.trust.channel import Channel
from tests.mcp_server.raw import RawClient

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """A store with one record."""
    made = TempStore(tmp_path)
    made.put(a_record(1, title="Harbour lamps"))
    return made


def test_an_opened_store_is_kept_while_nothing_changes(store: TempStore) -> None:
    """One for each thread, for an index keeps to the thread that opened it."""
    stores = Stores(None, None, store.where)
    first = stores.memspec()
    assert stores.memspec() is first
    others = []
    thread = threading.Thread(target=lambda: others.append(stores.memspec()))
    thread.start()
    thread.join()
    assert others[0] is not first
    assert others[0]._stores.primary.channel is Channel.MCP  # noqa: SLF001
    stores.close()


def test_changed_settings_are_followed(store: TempStore) -> None:
    """The next call has them, and the one after that keeps what it opened."""
    stores = Stores(None, None, store.where)
    first = stores.memspec()
    assert first.scopes == ()
    store.write("config.yaml", "scopes:\n  docks: [~/docks]\n")
    second = stores.memspec()
    assert second.scopes == ("docks",)
    assert stores.memspec() is second
    stores.close()


def test_a_nearer_store_is_found(store: TempStore) -> None:
    """As a command started at that moment would."""
    inner = store.project / "inner"
    inner.mkdir()
    where = store.where._replace(cwd=inner)
    stores = Stores(None, None, where)
    assert stores.memspec().root == store.root
    Memspec.init(inner, where=where, force=True)
    assert stores.memspec().root == inner / ".memspec"
    stores.close()


def test_a_store_by_name_is_one_of_those_that_serve_the_place(store: TempStore) -> None:
    """A path is refused: no caller reaches into another project."""
    Memspec.init(store.home, where=store.where)
    stores = Stores(None, None, store.where)
    assert stores.memspec("global").root == store.home / ".memspec"
    assert stores.memspec().root == store.root
    elsewhere = TempStore(store.project.parent / "elsewhere")
    for path in (str(elsewhere.root), ".memspec", ".", "../project", str(elsewhere.project)):
        with pytest.raises(UsageError):
            stores.memspec(path)
    with pytest.raises(UsageError, match="no store layer 'nope'"):
        stores.memspec("nope")
    stores.close()


def test_a_place_without_a_store_gets_one_later(tmp_path: Path) -> None:
    """Until then each call says so."""
    where = Surroundings(cwd=tmp_path, home=None, env={"MEMSPEC_NO_WALK": "1"})
    stores = Stores(None, None, where)
    with pytest.raises(NoStore):
        stores.memspec()
    Memspec.init(tmp_path, where=where)
    assert stores.memspec().search("anything").count == 0
    shutil.rmtree(tmp_path / ".memspec")
    with pytest.raises(NoStore):
        stores.memspec()
    Memspec.init(tmp_path, where=where)
    assert stores.memspec().search("anything").count == 0
    stores.close()


def test_a_server_without_a_store_serves_one_that_comes(tmp_path: Path) -> None:
    """It starts, says what is missing, and picks the store up."""
    project = tmp_path / "project"
    project.mkdir()
    with RawClient(project) as client:
        assert client.greeting["instructions"] == CONTRACT
        error = client.error("search", query="harbour")
        assert error["code"] == "no-store"
        assert "memspec init" in error["hint"]
        store = TempStore(tmp_path)
        read = client.request("resources/read", uri="memspec://context")["result"]["contents"]
        assert "o active" in read[0]["text"]
        store.put(a_record(1, title="Harbour lamps"))
        assert client.data("search", query="harbour")["count"] == 1


def test_what_others_write_is_seen_by_the_next_call(store: TempStore) -> None:
    """A new file, an edited one, a removed one, a store that was made anew."""
    with RawClient(store.project) as client:
        assert client.data("search", query="harbour")["count"] == 1
        store.put(a_record(2, title="Harbour pilots"))
        assert client.data("search", query="harbour")["count"] == 2
        path = store.put(a_record(2, title="Sea pilots"))
        assert client.data("search", query="harbour")["count"] == 1
        path.unlink()
        assert client.error("get", id=an_id(2))["code"] == "not-found"
        shutil.rmtree(store.root)
        assert client.error("status")["code"] == "no-store"
        Memspec.init(store.project, where=store.where)
        assert client.data("status")["records"] == 0


def test_the_place_is_the_one_that_is_asked_for(store: TempStore, tmp_path: Path) -> None:
    """`--cwd`, else MEMSPEC_ROOT, else the working directory."""
    away = tmp_path / "away"
    away.mkdir()
    root = str(store.root)
    for options, env in (
        (("--cwd", str(store.project)), {}),
        (("--cwd", root), {"MEMSPEC_ROOT": str(away)}),
        ((), {"MEMSPEC_ROOT": root}),
        (("--store", root), {}),
    ):
        with RawClient(away, *options, env=env) as client:
            assert client.data("status")["store"] == root


def test_with_several_writable_layers_a_write_names_one(tmp_path: Path) -> None:
    """By the name of the layer; without it nothing is written, and the error has the names."""
    project = tmp_path / "project"
    where = Surroundings(cwd=project, home=None, env={})
    for name in ("team", "mine"):
        (project / name).mkdir(parents=True)
        Memspec.init(project / name, where=where)
    (project / ".memspec.yaml").write_text(
        "stores:\n"
        "  - {name: team, path: team, priority: 2, writable: true}\n"
        "  - {name: mine, path: mine, priority: 1, writable: true}\n",
        encoding="utf-8",
    )
    claim = {"type": "fact", "title": "Pilots speak French"}
    with RawClient(project) as client:
        error = client.error("remember", **claim)
        assert error["code"] == "usage"
        assert "team, mine" in error["message"]
        done = client.data("remember", **claim, store="mine")
        assert done["store"] == str(project / "mine" / ".memspec")
        (hit,) = client.data("search", query="pilots")["results"]
        assert (hit["id"], hit["layer"]) == (done["id"], "mine")
        asked = client.data("question", title="Which language?", store="team")
        assert asked["store"] == str(project / "team" / ".memspec")
        assert client.error("observe", text="x y z", store=str(tmp_path))["code"] == "usage"
