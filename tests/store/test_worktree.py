"""The main checkout of a linked worktree, from git's own files and nobody else's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memspec_py import Memspec
from memspec_py.errors import NestedStore
from memspec_py.store.worktree import main_checkout
from tests.store.situations import Situation

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def scene(tmp_path: Path) -> Situation:
    """A repository and a linked worktree of it."""
    return Situation(tmp_path).make("git ~/app\nworktree ~/wt of ~/app")


def test_a_linked_worktree_has_a_main_checkout(scene: Situation) -> None:
    """Only its top folder says so."""
    assert main_checkout(scene.path("~/wt")) == scene.path("~/app")
    scene.make("dir ~/wt/src")
    assert main_checkout(scene.path("~/wt/src")) is None


def test_a_new_store_in_a_worktree_would_hide_that_of_the_main_checkout(scene: Situation) -> None:
    """`init` refuses it, as it does below any store, and makes one when forced."""
    scene.make("store ~/app")
    with pytest.raises(NestedStore, match=r"is served by the store .*app/\.memspec"):
        Memspec.init(scene.path("~/wt"), where=scene.where("~/wt"))
    Memspec.init(scene.path("~/wt"), where=scene.where("~/wt"), force=True)
    assert scene.open("~/wt").root == scene.path("~/wt/.memspec")


def test_paths_that_git_wrote_relative_are_followed(scene: Situation) -> None:
    """`worktree.useRelativePaths`, or `git worktree repair --relative-paths`."""
    scene.path("~/wt/.git").write_text("gitdir: ../app/.git/worktrees/wt\n", encoding="utf-8")
    back = scene.path("~/app/.git/worktrees/wt/gitdir")
    back.write_text("../../../../wt/.git\n", encoding="utf-8")
    assert main_checkout(scene.path("~/wt")) == scene.path("~/app")


def test_what_is_no_linked_worktree_has_none(scene: Situation) -> None:
    """A main checkout, a plain folder, a submodule, a worktree of a bare repository."""
    scene.make("""
        git ~/lib
        submodule ~/app/lib of ~/lib
        bare ~/b.git
        worktree ~/bw of ~/b.git
        dir ~/plain
    """)
    for at in ("~/app", "~/plain", "~/app/lib", "~/bw", "~/gone"):
        assert main_checkout(scene.path(at)) is None


@pytest.mark.parametrize(
    "text",
    [
        *("", "gitdir:", "gitdir: ", "gitdir: /nowhere/.git/worktrees/wt", "something else"),
        *("gitdir: .", "gitdir: \0", "gitdir: " + "x" * 10_000),
    ],
)
def test_a_git_file_that_means_nothing_leads_nowhere(scene: Situation, text: str) -> None:
    """Whatever an unpacked archive brings along."""
    scene.path("~/wt/.git").write_text(text, encoding="utf-8")
    assert main_checkout(scene.path("~/wt")) is None
    scene.path("~/wt/.git").write_bytes(b"gitdir: \xff\xfe")
    assert main_checkout(scene.path("~/wt")) is None


def test_both_sides_have_to_name_each_other(scene: Situation) -> None:
    """A folder that claims to be a worktree of somebody's repository is none."""
    scene.make("dir ~/evil")
    link = scene.path("~/wt/.git").read_bytes()
    scene.path("~/evil/.git").write_bytes(link)
    assert main_checkout(scene.path("~/evil")) is None
    scene.path("~/app/.git/worktrees/wt/gitdir").unlink()
    assert main_checkout(scene.path("~/wt")) is None


def test_a_worktree_that_moved_has_none_until_git_knows(scene: Situation) -> None:
    """As git itself sees it; `git worktree repair` mends it."""
    scene.path("~/wt").rename(scene.path("~/moved"))
    assert main_checkout(scene.path("~/moved")) is None
    scene.run("~/app", "worktree", "repair", str(scene.path("~/moved")))
    assert main_checkout(scene.path("~/moved")) == scene.path("~/app")
