from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from memspec_py import Memspec
from memspec_py.config import DEFAULT_CONFIG, Settings, settings_from
from memspec_py.errors import NestedStore, StorageFailed
from memspec_py.record.yamltext import read_mapping
from memspec_py.store.layout import FOLDERS, IGNORED
from memspec_py.store.resolve import Surroundings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def where(tmp_path: Path) -> Surroundings:
    """A home with a project in it, which is where one is."""
    (tmp_path / "home" / "app").mkdir(parents=True)
    return Surroundings(cwd=tmp_path / "home" / "app", home=tmp_path / "home", env={})


def test_a_store_is_made_and_nothing_else_is_touched(where: Surroundings) -> None:
    """Every folder, the settings and the list of what is never committed."""
    done = Memspec.init(".", where=where)
    root = where.cwd / ".memspec"
    assert done.store == str(root)
    assert [path.name for path in where.cwd.iterdir()] == [".memspec"]
    assert all((root / name).is_dir() for name in FOLDERS)
    assert (root / "config.yaml").read_text(encoding="utf-8") == DEFAULT_CONFIG
    assert set(IGNORED) <= set((root / ".gitignore").read_text(encoding="utf-8").splitlines())


def test_twice_does_no_harm(where: Surroundings) -> None:
    """What is there stays, what is missing is added and named."""
    Memspec.init(".", where=where)
    config = where.cwd / ".memspec" / "config.yaml"
    config.write_text("scopes_require: true\n", encoding="utf-8")
    assert Memspec.init(".", where=where).created == ()
    (where.cwd / ".memspec" / "archive").rmdir()
    assert Memspec.init(".", where=where).created == ("archive/",)
    assert config.read_text(encoding="utf-8") == "scopes_require: true\n"


def test_the_printed_settings_are_the_defaults(where: Surroundings) -> None:
    """Reading them gives what a store without settings has."""
    assert settings_from(read_mapping(DEFAULT_CONFIG)) == Settings()
    Memspec.init(".", where=where)
    (where.cwd / ".memspec" / "config.yaml").unlink()
    assert Memspec.open(where=where).search("x").coverage == "none"


@pytest.mark.parametrize("above", ["app", "."])
def test_a_nested_store_is_refused_unless_it_is_meant(where: Surroundings, above: str) -> None:
    """The error names the store above, the one in the home folder included."""
    parent = where.cwd if above == "app" else where.cwd.parent
    Memspec.init(parent, where=where)
    inner = where.cwd / "service" / "api"
    with pytest.raises(NestedStore) as raised:
        Memspec.init(inner, where=where)
    assert str(parent / ".memspec") in raised.value.message
    assert raised.value.exit_code == 1
    assert not inner.exists()
    assert Memspec.init(inner, where=where, force=True).store == str(inner / ".memspec")


def test_a_store_above_the_home_does_not_count(where: Surroundings, tmp_path: Path) -> None:
    """Nothing above the home folder can capture what is in it."""
    Memspec.init(tmp_path, where=where)
    assert Memspec.init(".", where=where).created


def test_a_path_named_memspec_is_the_store_itself(where: Surroundings) -> None:
    """`~/.memspec` is the same place as the home folder."""
    assert Memspec.init("~/.memspec", where=where).store == str(where.cwd.parent / ".memspec")
    assert Memspec.init("~", where=where).created == ()


def test_a_file_in_the_way_is_told(where: Surroundings) -> None:
    """Nothing is removed to make room."""
    (where.cwd / ".memspec").write_text("x", encoding="utf-8")
    with pytest.raises(StorageFailed, match="not a folder"):
        Memspec.init(".", where=where)


def test_git_sees_records_and_nothing_of_this_machine(git_repo: Path) -> None:
    """After a write and a search only records, settings and the ignore list are to be committed."""
    where = Surroundings(cwd=git_repo, home=git_repo.parent, env={})
    Memspec.init(".", where=where)
    ms = Memspec.open(where=where)
    done = ms.remember("fact", "Auth uses JWT", source="ada")
    ms.note_use(ms.search("auth"), surface="cli")
    command = ["git", "status", "--porcelain", "-uall"]
    shown = subprocess.run(command, cwd=git_repo, capture_output=True, text=True, check=True)
    assert sorted(line[3:] for line in shown.stdout.splitlines()) == [
        ".memspec/.gitignore",
        ".memspec/config.yaml",
        f".memspec/{done.path}",
    ]
    assert (git_repo / ".memspec" / "usage.jsonl").exists()
