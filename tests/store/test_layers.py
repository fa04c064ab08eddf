"""What a cloned repository declares is input, not authority; the rest is in ``test_situations``."""

from __future__ import annotations

import os
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memspec_py.errors import MemspecError, NoStore, StorageFailed, UsageError
from memspec_py.store.layers import resolve
from memspec_py.testing import an_id
from tests.faults import Child, needs_fork
from tests.store.situations import Situation

if TYPE_CHECKING:
    from collections.abc import Callable

    from memspec_py import Memspec

NOBODY = 65_534


@pytest.fixture
def scene(tmp_path: Path) -> Situation:
    """A clone with a store, beside a store that it has no business with."""
    return Situation(tmp_path).make("""
        git ~/clone
        store ~/clone
        store ~/secret
        dir ~/victim
    """)


# What a clone brings along


def test_records_are_not_read_through_links(scene: Situation) -> None:
    """A record, or a whole folder, that is a link out of the store is told and not shown."""
    secret = f"~/secret/.memspec/memory/facts/{an_id(2)}.md"
    scene.make(f"""
        link ~/clone/.memspec/memory/facts/{an_id(2)}.md -> {secret}
        link ~/clone/.memspec/questions -> ~/secret/.memspec/memory
    """)
    with closing(scene.open("~/clone")) as memspec:
        reply = memspec.list()
        assert [hit.title for hit in reply.results] == [scene.marker("~/clone")]
        assert {one["code"] for one in reply.circumstances.unreadable} == {"symlink"}
        assert reply.circumstances.unreadable_count == 2
        with pytest.raises(MemspecError):
            memspec.get(an_id(2))


ACTS: dict[str, Callable[[Memspec], object]] = {
    "observations": lambda ms: ms.observe("seen"),
    "questions": lambda ms: ms.ask("Which?", source="tests"),
    "memory": lambda ms: ms.remember("fact", "New", source="tests"),
    "memory/facts": lambda ms: ms.remember("fact", "New", source="tests"),
    "memory/operator": lambda ms: ms.remember("fact", "New", source="human:ann"),
    "memory/operator/facts": lambda ms: ms.remember("fact", "New", source="human:ann"),
    "archive": lambda ms: ms.supersede(an_id(1), reason="wrong"),
    "evidence": lambda ms: ms.remember("fact", "New", source="tests", evidence=["proof.txt"]),
    "local": lambda ms: ms.remember("fact", "New", source="tests"),
}


@pytest.mark.parametrize("folder", ACTS)
def test_nothing_is_written_through_links(scene: Situation, folder: str) -> None:
    """A folder of the store that is a link to another store, or anywhere, is refused."""
    own = scene.path("~/clone/.memspec") / folder
    if folder == "memory":
        (own / "facts" / f"{an_id(1)}.md").unlink()
        (own / "facts").rmdir()
    if own.is_dir():
        for inside in own.iterdir():
            inside.unlink()
        own.rmdir()
    own.parent.mkdir(exist_ok=True)
    own.symlink_to(scene.path("~/victim"))
    scene.make("file ~/clone/proof.txt : seen")
    with closing(scene.open("~/clone")) as memspec:
        with pytest.raises(StorageFailed, match="is a symbolic link"):
            ACTS[folder](memspec)
        memspec.search("anything")
    assert list(scene.path("~/victim").iterdir()) == []


def test_the_settings_of_another_program_are_not_overwritten(scene: Situation) -> None:
    """Even reading would keep the parsed settings in `local/`, were that no link."""
    scene.make("""
        file ~/victim/settings.json : theirs
        file ~/clone/.memspec/config.yaml : decay: {fact: 3d}
        link ~/clone/.memspec/local -> ~/victim
    """)
    with closing(scene.open("~/clone")) as memspec:
        assert memspec.search("planted").count == 1
    assert [path.name for path in scene.path("~/victim").iterdir()] == ["settings.json"]
    assert scene.path("~/victim/settings.json").read_text(encoding="utf-8") == "theirs\n"


@pytest.mark.parametrize(
    "path", ["../../secret", "~/secret", "docs", "docs/.memspec", "svc/../docs"]
)
def test_a_store_outside_is_not_written_by_any_spelling(scene: Situation, path: str) -> None:
    """`..`, `~`, a link, a link to a store, and a way round: all lead out of the repository."""
    scene.make(f"""
        link ~/clone/sub/docs/.memspec -> ~/secret/.memspec
        dir ~/clone/sub/svc
        pointer ~/clone/sub : docs {path} rw
    """)
    with pytest.raises(NoStore, match="lies outside the repository"):
        scene.open("~/clone/sub")


def test_no_store_of_another_user_is_read(scene: Situation) -> None:
    """Whatever variable is set; only the user's word lifts it."""
    scene.make("""
        owner ~/secret/.memspec : 54321
        pointer ~/clone/sub : theirs ../../secret ro, own .. ro
        env MEMSPEC_TRUST_POINTERS=1
    """)
    with closing(scene.open("~/clone/sub")) as memspec:
        assert [hit.title for hit in memspec.list().results] == [scene.marker("~/clone")]
        assert memspec.search("planted").count == 1


def test_a_layer_declares_no_further_layers(scene: Situation) -> None:
    """Else a harmless layer could bring in any other, a commit later."""
    scene.make("""
        layers ~/clone/docs : own . ro, secret ~/secret ro
        pointer ~/clone/sub : docs ../docs rw
    """)
    with closing(scene.open("~/clone/sub")) as memspec:
        assert [layer.name for layer in memspec.whereabouts().layers] == ["docs"]


def test_nothing_of_a_declaration_is_run_or_filled_in(scene: Situation) -> None:
    """No variable, no command, no other user's home: a path is a path."""
    scene.make("env HOME_OF=~/secret")
    for path in ("$HOME_OF", "${HOME_OF}", "$(touch x)", "`touch x`", "~root", "~me/secret"):
        scene.make(f"file ~/clone/sub/.memspec.yaml : stores: |  - name: a |    path: '{path}'")
        before = scene.everything()
        with pytest.raises(NoStore) as refused:
            scene.open("~/clone/sub")
        assert f"{scene.path('~/clone/sub')}/{path}/.memspec" in refused.value.message
        assert scene.everything() == before


@settings(max_examples=100)
@given(
    name=st.text(max_size=8) | st.just("a"),
    path=st.text(max_size=12) | st.sampled_from(["a", "..", "/", "~", "\0", "a\0b", "\x1b[2J"]),
)
def test_any_name_and_path_is_answered(
    tmp_path_factory: pytest.TempPathFactory, name: str, path: str
) -> None:
    """With layers or with one of our own errors, whatever a declaration says."""
    scene = Situation(tmp_path_factory.mktemp("any")).make("store ~/p/a\ndir ~/p")
    layer = f"{{name: {_quoted(name)}, path: {_quoted(path)}}}"
    text = f"stores:\n  - {{name: a, path: a}}\n  - {layer}\n"
    scene.path("~/p/.memspec.yaml").write_text(text, encoding="utf-8")
    with suppress(MemspecError):
        found = resolve(scene.where("~/p"))
        assert "a" in {layer.name for layer in found.layers}


def _quoted(text: str) -> str:
    """A YAML text in double quotes, every character escaped."""
    return '"' + "".join(f"\\U{ord(char):08x}" for char in text) + '"'


# Permissions


@needs_fork
def test_a_layer_that_may_not_be_read_is_told(scene: Situation) -> None:
    """Its folder, or one above it; the others answer."""
    scene.make("""
        store ~/closed
        pointer ~/p : a a ro, b ~/secret ro, c ~/closed ro
        store ~/p/a
        mode ~/secret/.memspec : 000
        mode ~/closed : 000
    """)
    owner = NOBODY if os.geteuid() == 0 else os.geteuid()
    if os.geteuid() == 0:
        for folder, folders, names in os.walk(scene.base):
            for name in (*folders, *names, "."):
                os.chown(Path(folder, name), NOBODY, NOBODY, follow_symlinks=False)
        for above in scene.base.parents:
            if not above.stat().st_mode & 0o001:
                above.chmod(0o755)

    def look() -> None:
        if os.geteuid() == 0:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        found = resolve(scene.where("~/p")._replace(uid=owner))
        assert [layer.name for layer in found.layers] == ["a"]
        assert [(one.name, one.why) for one in found.left_out] == [
            ("b", "unreadable"),
            ("c", "unreadable"),
        ]
        with closing(scene.open("~/p")) as memspec:
            assert memspec.list().circumstances.layers_unavailable == ("b", "c")

    try:
        Child(look).end().well()
    finally:
        scene.path("~/closed").chmod(0o700)
        scene.path("~/secret/.memspec").chmod(0o700)


# Details that no row of the table shows


def test_a_name_is_no_path(scene: Situation) -> None:
    """`--store` takes a path by its slash, or as `.`, `..`, `~` and `.memspec`."""
    scene.make("pointer ~/p : team.memspec a rw\nstore ~/p/a")
    assert resolve(scene.where("~/p"), store="team.memspec").primary.name == "team.memspec"
    where = scene.where("~/clone/.memspec")
    for store in (".", "..", ".memspec", "./", "../.memspec"):
        start = where if store != ".memspec" else scene.where("~/clone")
        assert resolve(start, store=store).primary.root == scene.path("~/clone/.memspec")
    with pytest.raises(NoStore, match="no store at"):
        resolve(where, store="~")
    with pytest.raises(UsageError) as refused:
        resolve(scene.where("~/p"), store="a")
    assert "one of: team.memspec" in str(refused.value.hint)


def test_without_a_home_there_is_no_global_store(scene: Situation) -> None:
    """`--store global` says so."""
    where = scene.where("~/clone")._replace(home=None)
    assert [layer.name for layer in resolve(where).layers] == ["project"]
    with pytest.raises(NoStore, match="no home folder"):
        resolve(where, store="global")


def test_each_step_of_the_decision_is_told(scene: Situation) -> None:
    """Where it began, what was passed over, what declares the layers, and what became of each."""
    scene.make("""
        store ~/p/a
        pointer ~/p : a a rw 2, again ./a ro 1, gone ../gone ro
        pointer ~/p/open : a ../a rw
        mode ~/p/open : 777
    """)
    found = resolve(scene.where("~/p/open"), store="a")
    root, opened = scene.path("~/p/a/.memspec"), scene.path("~/p/open")
    assert found.steps == (
        f"start at {opened}, the working directory",
        f"{opened}/.memspec.yaml is ignored: everybody may write in {opened}",
        f"{scene.path('~/p/.memspec.yaml')} points to the stores",
        f"{scene.path('~/p/.memspec.yaml')} declares the layers",
        f"layer a is {root}",
        "layer again is a once more",
        f"layer 'gone' is left out: no store at {scene.path('~/gone/.memspec')}",
        "--store narrows it to a",
    )
