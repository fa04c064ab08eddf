from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from memspec_py.anchors.blob import blob_id
from memspec_py.anchors.git import Git
from memspec_py.anchors.locate import (
    Unresolved,
    anchor_file,
    is_bare_name,
    remote_head,
    repository_of,
)
from memspec_py.record.model import Anchor

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a file two folders deep, and another repository beside it."""
    for name in ("app", "lib"):
        (tmp_path / name / "src" / "auth").mkdir(parents=True)
        (tmp_path / name / "src" / "auth" / "jwt.ts").write_bytes(b"ttl\r\n")
        subprocess.run(["git", "init", "--quiet"], cwd=tmp_path / name, check=True)
    return tmp_path / "app"


OWN = Anchor(file="src/auth/jwt.ts", sha=blob_id(b"ttl\r\n"))


@pytest.mark.parametrize(
    "typed", ["src/auth/jwt.ts", "./src//auth/../auth/jwt.ts", "{app}/src/auth/jwt.ts"]
)
def test_a_file_of_the_project_is_relative_to_it(project: Path, typed: str) -> None:
    """However it was typed, with the id of its raw bytes."""
    assert anchor_file(typed.format(app=project), cwd=project, project=project) == OWN


@pytest.mark.parametrize("typed", ["jwt.ts", "auth/jwt.ts", "src/auth/jwt.ts"])
def test_a_relative_path_is_looked_up_here_then_in_the_project(project: Path, typed: str) -> None:
    """So both ways of naming a file work from a folder inside."""
    folders = {"jwt.ts": "src/auth", "auth/jwt.ts": "src", "src/auth/jwt.ts": "src/auth"}
    assert anchor_file(typed, cwd=project / folders[typed], project=project) == OWN


def test_a_file_of_another_repository_names_it(project: Path) -> None:
    """By its folder's name, which is what other machines have in common."""
    found = anchor_file("../lib/src/auth/jwt.ts", cwd=project, project=project)
    assert found == Anchor(repo="lib", file="src/auth/jwt.ts", sha=OWN.sha)


def test_a_repository_inside_the_project_is_another_one(project: Path) -> None:
    """A personal store in the home lies around many repositories."""
    home = project.parent
    found = anchor_file("app/src/auth/jwt.ts", cwd=home, project=home)
    assert found == Anchor(repo="app", file="src/auth/jwt.ts", sha=OWN.sha)


def test_without_any_repository_the_project_is_enough(tmp_path: Path) -> None:
    """A file outside of it means nothing elsewhere and is told."""
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "a.txt").write_bytes(b"a")
    (tmp_path / "b.txt").write_bytes(b"b")
    project = tmp_path / "p"
    assert anchor_file("a.txt", cwd=project, project=project) == Anchor(
        file="a.txt", sha=blob_id(b"a")
    )
    outside = anchor_file("../b.txt", cwd=project, project=project)
    assert isinstance(outside, Unresolved)
    assert "outside" in outside.reason


def test_a_project_reached_by_a_link_is_the_same_project(project: Path) -> None:
    """The working directory may be the real path, or the other way round."""
    link = project.parent / "link"
    link.symlink_to(project)
    plain = project.parent / "plain"
    plain.mkdir()
    (plain / "a.txt").write_bytes(b"a")
    way = project.parent / "way"
    way.symlink_to(plain)
    found = anchor_file(str(plain / "a.txt"), cwd=way, project=way)
    assert found == Anchor(file="a.txt", sha=blob_id(b"a"))


@pytest.mark.parametrize(
    "typed", ["", ".", "src", "gone.ts", "\0", "\ud800", "x" * 5000, "src/auth/jwt.ts/x"]
)
def test_what_is_no_file_is_told_with_a_reason(project: Path, typed: str) -> None:
    """Never an exception, and never an anchor to nothing."""
    found = anchor_file(typed, cwd=project, project=project)
    assert isinstance(found, Unresolved)
    assert (found.path, bool(found.reason)) == (typed, True)


def test_a_file_that_cannot_be_read_is_told(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what the system says."""

    def refuse(*_: object) -> int:
        raise PermissionError(13, os.strerror(13))

    monkeypatch.setattr("os.open", refuse)
    found = anchor_file("src/auth/jwt.ts", cwd=project, project=project)
    assert isinstance(found, Unresolved)
    assert "Permission denied" in found.reason


def test_a_linked_worktree_is_its_own_repository(project: Path) -> None:
    """Its `.git` is a file."""
    tree = project.parent / "tree"
    tree.mkdir()
    (tree / ".git").write_text("gitdir: ../app/.git/worktrees/tree\n", encoding="utf-8")
    assert repository_of(tree / "src") == tree
    assert repository_of(project / "src" / "auth") == project


def test_a_linked_worktree_is_named_after_the_main_checkout(project: Path) -> None:
    """Other machines have the repository, not the worktree."""
    tree = project.parent / "tree"
    for command in (
        ["commit", "--quiet", "--allow-empty", "--message", "x"],
        ["worktree", "add", "--quiet", str(tree)],
    ):
        subprocess.run(["git", *command], cwd=project, check=True)
    (tree / "a.py").write_bytes(b"a")
    lib = project.parent / "lib"
    found = anchor_file(str(tree / "a.py"), cwd=lib, project=lib)
    assert found == Anchor(repo="app", file="a.py", sha=blob_id(b"a"))
    within = anchor_file(str(tree / "a.py"), cwd=project, project=project)
    assert within == Anchor(file="a.py", sha=blob_id(b"a"))


def test_a_file_beside_the_project_in_its_repository_names_the_repository(project: Path) -> None:
    """So it is found again from any checkout."""
    found = anchor_file("src/auth/jwt.ts", cwd=project, project=project / "packages")
    assert found == Anchor(repo="app", file="src/auth/jwt.ts", sha=OWN.sha)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/a", "a\\b", "a\0"])
def test_a_repository_has_a_bare_name(name: str) -> None:
    """Anything else could lead anywhere."""
    assert not is_bare_name(name)
    assert is_bare_name("lib.js")


def git(project: Path, *arguments: str) -> None:
    """Run git in a project."""
    subprocess.run(["git", *arguments], cwd=project, check=True)


MAIN, HEAD = "refs/remotes/origin/main", "refs/remotes/origin/HEAD"


@pytest.mark.parametrize(
    ("steps", "is_read"),
    [
        ([], False),
        ([["update-ref", MAIN, "HEAD"]], False),
        ([["update-ref", MAIN, "HEAD"], ["symbolic-ref", HEAD, MAIN]], True),
        (
            [["update-ref", MAIN, "HEAD"], ["symbolic-ref", HEAD, MAIN], ["pack-refs", "--all"]],
            True,
        ),
        ([["symbolic-ref", HEAD, MAIN]], False),
        ([["update-ref", MAIN, "HEAD"], ["symbolic-ref", HEAD, f"{MAIN}/not"]], False),
        ([["update-ref", HEAD, "HEAD"], ["update-ref", MAIN, "HEAD"]], False),
        ([["symbolic-ref", HEAD, "refs/heads/main"]], False),
        (
            [
                ["update-ref", MAIN, "HEAD"],
                ["symbolic-ref", "refs/remotes/origin/a", MAIN],
                ["symbolic-ref", HEAD, "refs/remotes/origin/a"],
            ],
            False,
        ),
    ],
)
def test_the_head_of_the_remote_is_as_git_tells_it(
    project: Path, steps: list[list[str]], *, is_read: bool
) -> None:
    """Or is left to git; in a linked worktree as in the main one."""
    git(project, "commit", "--quiet", "--allow-empty", "--message", "x")
    git(project, "worktree", "add", "--quiet", "--detach", str(project.parent / "tree"))
    for step in steps:
        git(project, *step)
    for top in (project, project.parent / "tree"):
        asked = Git(str(top), os.environ).default_branch()
        assert remote_head(top) == (asked if is_read else None)


def test_refs_that_are_kept_otherwise_are_left_to_git(project: Path) -> None:
    """Whatever old files lie about, and however many there are."""
    git(project, "commit", "--quiet", "--allow-empty", "--message", "x")
    git(project, "update-ref", MAIN, "HEAD")
    git(project, "symbolic-ref", HEAD, MAIN)
    git(project, "pack-refs", "--all")
    packed = project / ".git" / "packed-refs"
    lines = packed.read_text(encoding="utf-8")
    packed.write_text(f"{lines}{'#' * 1_000_000}\n", encoding="utf-8")
    assert remote_head(project) is None
    packed.write_text(lines, encoding="utf-8")
    assert remote_head(project) == "origin/main"
    with (project / ".git" / "config").open("a", encoding="utf-8") as config:
        config.write("[extensions] refStorage = reftable\n")
    assert remote_head(project) is None
