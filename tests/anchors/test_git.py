from __future__ import annotations

from typing import TYPE_CHECKING

from memspec_py.anchors.git import Git, clean_environment
from tests.anchors.repos import Repo

if TYPE_CHECKING:
    from pathlib import Path


def test_the_environment_of_git_is_clean() -> None:
    """What a hook exports is gone, what a person set stays, and nothing asks or fetches."""
    given = {
        "PATH": "/bin",
        "HOME": "/home/me",
        "GIT_DIR": "/x",
        "GIT_INDEX_FILE": "/x",
        "GIT_CONFIG_PARAMETERS": "'a.b'='c'",
        "GIT_CONFIG_GLOBAL": "/home/me/.gitconfig",
        "GIT_ALLOW_PROTOCOL": "https",
        "GIT_OPTIONAL_LOCKS": "1",
    }
    assert clean_environment(given, "/srv/app") == {
        "PATH": "/bin",
        "HOME": "/home/me",
        "GIT_CONFIG_GLOBAL": "/home/me/.gitconfig",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_CEILING_DIRECTORIES": "/srv",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }


def test_a_refusal_is_told(git_repo: Path) -> None:
    """In git's own words, on one line."""
    git = Git(str(git_repo), {"PATH": "/usr/bin:/bin:/usr/local/bin"})
    assert git.ask("ls-tree", "nowhere") is None
    assert git.trouble == "git ls-tree: fatal: Not a valid object name nowhere"
    assert git.default_branch() == ""


def test_many_paths_are_asked_about_in_parts(tmp_path: Path) -> None:
    """No command line grows too long."""
    repo = Repo.make(tmp_path / "app")
    names = [f"{'long' * 20}-{number}.txt" for number in range(1_500)]
    for name in names:
        repo.write(name, name)
    repo.commit()
    git = Git(str(repo.path), {"PATH": "/usr/bin:/bin:/usr/local/bin"})
    ids = git.blobs_at("HEAD", names)
    assert ids is not None
    assert sorted(ids) == sorted(names)
    contents = git.contents(ids.values())
    assert {contents[ids[name]] for name in names} == {name.encode() for name in names}
    assert len(git.staged(names)) == len(names)


def test_files_of_a_commit_are_told_by_one_process_where_that_can_tell(tmp_path: Path) -> None:
    """Not for a link, a name of two lines, or what is not there: git has longer ways for those."""
    repo = Repo.make(tmp_path / "app")
    contents = {"a.py": "one\n", "dir/b c blob 3": "two\n", " lead": "one\n", "ä\udcff": "\n"}
    for name, content in {**contents, "line\nend": "x\n", "line\r": "y\n"}.items():
        repo.write(name, content)
    (repo.path / "link").symlink_to("a.py")
    repo.commit()
    git = Git(str(repo.path), {"PATH": "/usr/bin:/bin:/usr/local/bin"})
    names = list(contents)
    ids = git.blobs_at("HEAD", names)
    assert ids is not None
    expected = [(ids[name], contents[name].encode()) for name in names]
    assert git.files_at("HEAD", names) == expected
    for odd in ("link", "line\nend", "line\r", "nowhere", "no where", "no blob", "dir"):
        assert git.files_at("HEAD", [*names, odd]) is None
    assert git.files_at("refs/heads/nowhere", names) is None


def test_git_that_took_too_long_once_is_asked_nothing_more(tmp_path: Path) -> None:
    """Or a page of hits would wait for each of its questions."""
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text('#!/bin/sh\necho "$@" >> asked\nexec sleep 20\n', encoding="utf-8")
    slow.chmod(0o755)
    path = f"{slow.parent}:/usr/bin:/bin"
    git = Git(str(tmp_path), {"PATH": path}, seconds=1)
    assert git.ask("log") is None
    assert git.files_at("HEAD", ["a.py"]) is None
    assert git.trouble == "git log took longer than 1 s"
    assert len((tmp_path / "asked").read_text(encoding="utf-8").splitlines()) == 1
