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
