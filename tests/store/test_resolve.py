from __future__ import annotations

from pathlib import Path

import pytest

from memspec_py.errors import NoStore
from memspec_py.store.resolve import Surroundings, enclosing_store, expanded, find


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder with a project three folders deep."""
    (tmp_path / "home" / "app" / "service" / "api").mkdir(parents=True)
    return tmp_path / "home"


def at(cwd: Path, home: Path | None, **env: str) -> Surroundings:
    """Being in a folder."""
    return Surroundings(cwd=cwd, home=home, env=env)


def store_in(folder: Path) -> Path:
    """A store in a folder."""
    (folder / ".memspec").mkdir(parents=True)
    return folder / ".memspec"


def test_the_nearest_store_upward_serves(home: Path) -> None:
    """From a folder deep in a repository, the first ancestor with a store."""
    store_in(home)
    near = store_in(home / "app")
    found = find(at(home / "app" / "service" / "api", home))
    assert found.path == near
    assert found.steps[-1] == f"{near} is a store"


def test_a_store_in_the_home_is_found_and_nothing_above_it(home: Path) -> None:
    """A store in /home can capture nobody's session."""
    store_in(home.parent)
    where = at(home / "app" / "service", home)
    with pytest.raises(NoStore):
        find(where)
    own = store_in(home)
    assert find(where).path == own
    assert find(at(home, home)).path == own


def test_the_fence_holds_for_a_home_reached_by_a_link(home: Path) -> None:
    """HOME may be a link while the working directory is the real path."""
    store_in(home.parent)
    link = home.parent / "link"
    link.symlink_to(home)
    with pytest.raises(NoStore):
        find(at(home / "app", link))


def test_outside_the_home_the_walk_goes_to_the_root(home: Path, tmp_path: Path) -> None:
    """A repository in /srv resolves from any of its folders, and without a home too."""
    (tmp_path / "srv" / "app" / "deep").mkdir(parents=True)
    found = store_in(tmp_path / "srv")
    assert find(at(tmp_path / "srv" / "app" / "deep", home)).path == found
    assert find(at(tmp_path / "srv" / "app" / "deep", None)).path == found


def test_no_walk_looks_only_here(home: Path) -> None:
    """`MEMSPEC_NO_WALK=1` switches the walk off; other values do not."""
    found = store_in(home)
    with pytest.raises(NoStore):
        find(at(home / "app", home, MEMSPEC_NO_WALK="1"))
    assert find(at(home, home, MEMSPEC_NO_WALK="1")).path == found
    assert find(at(home / "app", home, MEMSPEC_NO_WALK="0")).path == found


@pytest.mark.parametrize("named", ["other/.memspec", "other", "other/sub"])
def test_memspec_root_names_a_store_or_a_place_to_start(home: Path, named: str) -> None:
    """It stands before the working directory, and an explicit path stands before it."""
    own, other = store_in(home / "app"), store_in(home / "other")
    (home / "other" / "sub").mkdir()
    where = at(home / "app", home, MEMSPEC_ROOT=str(home / named))
    assert find(where).path == other
    assert "MEMSPEC_ROOT" in find(where).steps[0]
    assert find(where, Path()).path == own
    assert find(at(home / "app", home, MEMSPEC_ROOT="")).path == own


def test_an_explicit_store_is_used_as_it_is(home: Path) -> None:
    """A path that ends in `.memspec` is never walked from."""
    store_in(home)
    with pytest.raises(NoStore, match=r"app/\.memspec") as raised:
        find(at(home, home), Path("app/.memspec"))
    assert "memspec init" in str(raised.value.hint)


def test_no_store_says_where_it_looked_and_what_to_do(home: Path) -> None:
    """What was passed over is named: anybody's pointer, a file in a store's place."""
    (home / "app" / ".memspec.yaml").write_text("stores: []\n", encoding="utf-8")
    (home / "app" / ".memspec.yaml").chmod(0o666)
    (home / ".memspec").write_text("a file is no store", encoding="utf-8")
    with pytest.raises(NoStore) as raised:
        find(at(home / "app" / "service", home))
    assert str(home / "app" / "service") in raised.value.message
    assert "app/.memspec.yaml is ignored: everybody may write it" in raised.value.message
    assert "home/.memspec is ignored: it is no folder" in raised.value.message
    assert raised.value.exit_code == 4


def test_the_store_above_is_what_a_new_one_would_hide(home: Path) -> None:
    """The folder's own store does not count."""
    own = store_in(home / "app")
    assert enclosing_store(home / "app", at(home, home)) is None
    assert enclosing_store(home / "app" / "service", at(home, home)) == own


@pytest.mark.parametrize(
    ("typed", "place"),
    [
        ("~", "home"),
        ("~/x/../y", "home/y"),
        ("x", "home/app/x"),
        ("..", "home"),
        ("~other", "home/app/~other"),
    ],
)
def test_paths_are_made_absolute(home: Path, typed: str, place: str) -> None:
    """`~` is the home; links stay as they are."""
    assert expanded(Path(typed), at(home / "app", home)) == home.parent / place
