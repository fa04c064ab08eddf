"""The user's word for a declaration: bound to its file and to the stores it names today."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from memspec_py import Memspec
from memspec_py.errors import Invalid, NoStore, NotAllowed, StorageFailed
from memspec_py.store.trusted import READ, WRITE, may_name, trust_file, trusted
from tests.store.situations import Situation

if TYPE_CHECKING:
    from pathlib import Path

    from memspec_py.store.resolve import Surroundings

SCENE = """
    git ~/svc
    store ~/team
    store ~/other
    pointer ~/svc : team ../team rw
"""


@pytest.fixture
def scene(tmp_path: Path) -> Situation:
    """A repository whose pointer names a store beside it."""
    return Situation(tmp_path).make(SCENE)


@pytest.fixture
def where(scene: Situation) -> Surroundings:
    """Standing in the repository."""
    return scene.where("~/svc")


def pointer(scene: Situation) -> Path:
    """The declaration."""
    return scene.path("~/svc/.memspec.yaml")


def kept(where: Surroundings) -> Path:
    """The file that the words are kept in."""
    path = trust_file(where)
    assert path is not None
    return path


def test_a_word_is_said_listed_and_taken_back(scene: Situation, where: Surroundings) -> None:
    """For the folder one is in, for one that is named, or for the file itself."""
    team = str(scene.path("~/team/.memspec"))
    for path in (None, scene.path("~/svc"), pointer(scene), "../svc/.memspec.yaml"):
        said = Memspec.trust(path, where=where)
        assert (said.declaration, said.stores, said.missing) == (str(pointer(scene)), (team,), ())
        (listed,) = Memspec.trust_list(where=where).trusted
        assert (listed.declaration, listed.stores) == (said.declaration, said.stores)
        assert scene.open("~/svc").root == scene.path("~/team/.memspec")
        gone = Memspec.distrust(path, where=where)
        assert (gone.declaration, gone.changed) == (str(pointer(scene)), True)
        assert not Memspec.distrust(path, where=where).changed
        with pytest.raises(NoStore, match="lies outside the repository"):
            scene.open("~/svc")


def test_the_file_is_only_the_users(scene: Situation, where: Surroundings) -> None:
    """In the configuration folder, readable for nobody else."""
    Memspec.trust(where=where)
    path = scene.path("~/.config/memspec/trust.json")
    assert path == kept(where)
    assert path.stat().st_mode & 0o777 == 0o600
    named = where._replace(env={"XDG_CONFIG_HOME": str(scene.path("@/conf"))})
    assert kept(named) == scene.path("@/conf/memspec/trust.json")
    assert kept(where._replace(env={"XDG_CONFIG_HOME": "relative"})) == path


def test_without_a_home_there_is_no_word(where: Surroundings) -> None:
    """Nothing is trusted then, and nothing can be."""
    homeless = where._replace(home=None)
    assert trusted(homeless) == {}
    assert Memspec.trust_list(where=homeless).file is None
    with pytest.raises(StorageFailed, match="no home folder"):
        Memspec.trust(where=homeless)


def test_one_word_says_nothing_of_another_declaration(
    scene: Situation, where: Surroundings
) -> None:
    """Each has its own, and taking one back leaves the other."""
    scene.make("git ~/two\npointer ~/two : other ../other rw")
    Memspec.trust(where=where)
    Memspec.trust(scene.path("~/two"), where=where)
    assert len(Memspec.trust_list(where=where).trusted) == 2
    Memspec.distrust(where=where)
    assert scene.open("~/two").root == scene.path("~/other/.memspec")
    with pytest.raises(NoStore):
        scene.open("~/svc")


def test_the_word_is_for_the_stores_named_at_that_time(
    scene: Situation, where: Surroundings
) -> None:
    """Another path, or the same path through a link that leads elsewhere, has to be asked for."""
    scene.make("link ~/svc/mem -> ~/team\npointer ~/svc : team mem rw\ntrust ~/svc")
    assert scene.open("~/svc").root.samefile(scene.path("~/team/.memspec"))
    scene.path("~/svc/mem").unlink()
    scene.make("link ~/svc/mem -> ~/other")
    with pytest.raises(NoStore, match="lies outside") as refused:
        scene.open("~/svc")
    assert refused.value.hint == f"to use it: memspec trust {pointer(scene)}"
    Memspec.trust(where=where)
    assert scene.open("~/svc").root.samefile(scene.path("~/other/.memspec"))


def test_a_missing_store_is_told_and_not_trusted(scene: Situation, where: Surroundings) -> None:
    """Nobody can say now what will lie there; where nothing is to be said, nothing is kept."""
    scene.make("pointer ~/svc : gone ../gone rw")
    said = Memspec.trust(where=where)
    assert (said.stores, said.missing) == ((), (str(scene.path("~/gone/.memspec")),))
    assert not kept(where).exists()
    scene.make("store ~/gone")
    with pytest.raises(NoStore):
        scene.open("~/svc")


def test_what_needs_no_word_gets_none(scene: Situation, where: Surroundings) -> None:
    """Read-only layers, and stores of the declaration's own repository."""
    scene.make("store ~/svc/docs\npointer ~/svc : docs docs rw, team ../team ro")
    assert Memspec.trust(where=where).stores == ()
    assert trusted(where) == {}


def test_to_read_is_less_than_to_write(scene: Situation, where: Surroundings) -> None:
    """A word to read the store of another user does not let a later commit write to it."""
    another = where._replace(uid=scene.path("~/team/.memspec").stat().st_uid)
    declaration, team = pointer(scene), scene.path("~/team/.memspec")
    kept(where).parent.mkdir(parents=True)
    kept(where).write_text(json.dumps({str(declaration): {str(team): READ}}), encoding="utf-8")
    assert may_name(another, declaration, team, writable=False)
    assert not may_name(another, declaration, team, writable=True)
    Memspec.trust(where=where)
    assert trusted(where) == {str(declaration): {str(team): WRITE}}


@pytest.mark.parametrize(
    "damage",
    [
        *(b"", b"[]", b"{", b"\xff", b'{"a": 1}', b'{"a": ["/x"]}', b'{"a": {"/x": "all"}}'),
        b"[" * 100_000,
    ],
)
def test_a_damaged_file_trusts_nothing_and_is_not_overwritten(
    scene: Situation, where: Surroundings, damage: bytes
) -> None:
    """Reading goes on without it; who wants to say something is told to mend it."""
    Memspec.trust(where=where)
    kept(where).write_bytes(damage)
    assert trusted(where) == {}
    with pytest.raises(NoStore):
        scene.open("~/svc")
    with pytest.raises(Invalid, match="is not what memspec wrote"):
        Memspec.trust(where=where)
    assert kept(where).read_bytes() == damage


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_file_that_others_could_have_written_trusts_nothing(
    scene: Situation, where: Surroundings, what: str
) -> None:
    """It says what may be followed, so it has to be the user's alone."""
    Memspec.trust(where=where)
    path = kept(where) if what == "file" else kept(where).parent
    path.chmod(0o777)
    assert trusted(where) == {}
    with pytest.raises(NoStore):
        scene.open("~/svc")
    with pytest.raises(NotAllowed, match="everybody may write"):
        Memspec.trust(where=where)
    path.chmod(0o700)
    assert scene.open("~/svc").root == scene.path("~/team/.memspec")


def test_another_users_file_trusts_nothing(where: Surroundings) -> None:
    """Also where HOME is that of another user, as under sudo."""
    Memspec.trust(where=where)
    assert trusted(where)
    assert trusted(where._replace(uid=54_321)) == {}


@pytest.mark.parametrize("place", ["~/.config", "~/.config/memspec/trust.json"])
def test_where_it_cannot_be_written_that_is_said(
    scene: Situation, where: Surroundings, place: str
) -> None:
    """A file in the folder's place, a folder in the file's; no foreign exception comes out."""
    if place == "~/.config":
        scene.make("file ~/.config : x")
    else:
        scene.make(f"dir {place}")
    with pytest.raises(StorageFailed, match=r"trust\.json"):
        Memspec.trust(where=where)
    assert trusted(where) == {}


@pytest.mark.parametrize("spoil", ["mode ~/svc : 777", "mode ~/svc/.memspec.yaml : 666", "uid 7"])
def test_what_others_could_have_written_cannot_be_trusted(scene: Situation, spoil: str) -> None:
    """A pointer of another user, or in a place where everybody may write."""
    scene.make(spoil)
    for path in (None, pointer(scene)):
        with pytest.raises(NotAllowed, match="is ignored: ") as refused:
            Memspec.trust(path, where=scene.where("~/svc"))
        assert refused.value.hint == "what can be trusted is a file that only you can change"
    assert not scene.path("~/.config").exists()


def test_a_word_holds_for_one_file_and_no_link_to_it(scene: Situation, where: Surroundings) -> None:
    """By any path to the same folder; a link to the file from another repository is another one."""
    scene.make("link ~/l -> ~/svc\ngit ~/evil\nlink ~/evil/.memspec.yaml -> ~/svc/.memspec.yaml")
    Memspec.trust(scene.path("~/l"), where=where)
    assert scene.open("~/l").root == scene.open("~/svc").root
    with pytest.raises(NoStore):
        scene.open("~/evil")


def test_a_config_and_a_link_can_be_trusted_as_well(scene: Situation, where: Surroundings) -> None:
    """Whatever names a store elsewhere; the link may be gone when the word is taken back."""
    scene.make("""
        git ~/c
        layers ~/c : team ../../team rw
        git ~/k
        link ~/k/.memspec -> ~/other/.memspec
    """)
    said = Memspec.trust(scene.path("~/c"), where=where)
    assert said.declaration == str(scene.path("~/c/.memspec/config.yaml"))
    assert scene.open("~/c").root == scene.path("~/team/.memspec")
    said = Memspec.trust(scene.path("~/k"), where=where)
    assert said.declaration == str(scene.path("~/k/.memspec"))
    assert scene.open("~/k").root.samefile(scene.path("~/other/.memspec"))
    scene.path("~/k/.memspec").unlink()
    assert Memspec.distrust(scene.path("~/k/.memspec"), where=where).changed


def test_where_nothing_is_declared_there_is_nothing_to_trust(scene: Situation) -> None:
    """A plain store, no store at all, and a file that is not there."""
    scene.make("store ~/app\ndir @/x")
    for at, path, match in (
        ("~/app", None, "declares no other stores"),
        ("@/x", None, "no store in"),
        ("~/app", "../gone/.memspec.yaml", "no file"),
    ):
        with pytest.raises(NoStore, match=match):
            Memspec.trust(path, where=scene.where(at))


def test_the_place_is_the_one_that_commands_serve(scene: Situation) -> None:
    """MEMSPEC_ROOT counts here as everywhere."""
    scene.make("env MEMSPEC_ROOT=~/svc")
    assert Memspec.trust(where=scene.where("~")).declaration == str(pointer(scene))


def test_names_of_any_bytes_are_kept(tmp_path: Path) -> None:
    """A folder's name need not be valid Unicode."""
    scene = Situation(tmp_path).make(SCENE.replace("svc", "s\udcff"))
    Memspec.trust(where=scene.where("~/s\udcff"))
    assert scene.open("~/s\udcff").root == scene.path("~/team/.memspec")
