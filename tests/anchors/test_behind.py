from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from memspec_py.anchors import behind as module
from memspec_py.anchors.behind import Behind, Standing, behind
from memspec_py.anchors.git import Git
from tests.anchors.repos import Repo

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

FINE = Standing()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository and its clone, to be copied: git takes its time to make them."""
    folder = tmp_path_factory.mktemp("made")
    origin = Repo.make(folder / "origin")
    origin.commit(a="1")
    fetch_more(origin, origin.clone(folder / "app"), 2)
    return folder


@pytest.fixture
def origin(made: Path, tmp_path: Path) -> Repo:
    """A repository with three commits, to be cloned."""
    shutil.copytree(made / "origin", tmp_path / "origin")
    return Repo(tmp_path / "origin")


@pytest.fixture
def app(made: Path, origin: Repo, tmp_path: Path) -> Repo:
    """A clone that has fetched two commits it has not merged."""
    shutil.copytree(made / "app", tmp_path / "app")
    config = tmp_path / "app" / ".git" / "config"
    told = config.read_text(encoding="utf-8")
    config.write_text(told.replace(str(made / "origin"), str(origin.path)), encoding="utf-8")
    return Repo(tmp_path / "app")


def fetch_more(origin: Repo, clone: Repo, commits: int) -> None:
    """New commits of the origin, fetched."""
    for _ in range(commits):
        origin.commit()
    clone.git("fetch", "--quiet")


def at(repo: Repo, cache: Path | None = None, env: Mapping[str, str] = os.environ) -> Standing:
    """How a checkout stands."""
    return behind(repo.path, env=env, cache=cache)


def lacks(count: int, *, branch: str | None = "main", default: str = "origin/main") -> Standing:
    """A checkout that is behind."""
    return Standing(Behind(branch=branch, default_branch=default, behind=count))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The git commands that are run from now on."""
    commands: list[str] = []
    ask: Callable[..., bytes | None] = Git.ask

    def noted(git: Git, *arguments: str, **more: object) -> bytes | None:
        commands.append(arguments[0])
        return ask(git, *arguments, **more)

    monkeypatch.setattr(Git, "ask", noted)
    return commands


def test_a_checkout_that_lacks_commits_is_behind(app: Repo) -> None:
    """Also when the folder lies deep in it, or is no longer there."""
    assert at(app) == lacks(2)
    assert behind(app.path / "no" / "such", env=os.environ, cache=None) == lacks(2)
    app.git("merge", "--quiet", "--ff-only", "origin/main")
    assert at(app) == FINE


def test_an_equal_checkout_takes_no_process(app: Repo, asked: list[str]) -> None:
    """Nor does one without a remote, or outside of any repository."""
    app.git("merge", "--quiet", "--ff-only", "origin/main")
    assert at(app) == FINE
    alone = Repo.make(app.path.parent / "alone")
    assert at(alone) == FINE
    alone.commit(a="1")
    assert at(alone) == FINE
    assert behind(app.path.parent, env=os.environ, cache=None) == FINE
    assert asked == []


def test_a_checkout_that_is_ahead_is_not_behind(app: Repo) -> None:
    """A branch that contains the default branch lacks nothing, whatever it is called."""
    app.git("switch", "--quiet", "--create", "topic/x", "origin/main")
    app.commit(b="1")
    assert at(app) == FINE


def test_a_diverged_checkout_is_behind(app: Repo) -> None:
    """By what it lacks; its own commits do not count."""
    app.git("switch", "--quiet", "--create", "topic/x")
    app.commit(b="1")
    app.commit(b="2")
    app.commit(b="3")
    assert at(app) == lacks(2, branch="topic/x")


def test_a_detached_head_counts_by_its_commit(app: Repo) -> None:
    """At the remote's commit it lacks nothing; elsewhere it is behind on no branch."""
    app.git("checkout", "--quiet", "--detach", "origin/main")
    assert at(app) == FINE
    app.git("checkout", "--quiet", "--detach", "origin/main~1")
    assert at(app) == lacks(1, branch=None)


def test_before_the_first_commit_everything_is_lacking(origin: Repo, tmp_path: Path) -> None:
    """The branch is there in name only."""
    new = Repo.make(tmp_path / "new")
    new.git("remote", "add", "origin", f"file://{origin.path}")
    new.git("fetch", "--quiet")
    assert at(new) == lacks(3)


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize(
    ("branches", "head", "default"),
    [
        (("trunk", "main"), "trunk", "origin/trunk"),
        (("main", "master"), None, "origin/main"),
        (("master",), None, "origin/master"),
        (("team/main", "main"), "team/main", "origin/team/main"),
        (("main",), "gone", "origin/main"),
        (("master",), "gone", "origin/master"),
        (("other",), None, None),
        (("other",), "gone", None),
    ],
)
def test_the_default_branch(
    app: Repo, branches: tuple[str, ...], head: str | None, default: str | None, *, is_packed: bool
) -> None:
    """What ``origin/HEAD`` resolves to, else ``origin/main``, else ``origin/master``."""
    told = app.git("rev-parse", "origin/main")
    app.git("remote", "set-head", "origin", "--delete")
    app.git("update-ref", "-d", "refs/remotes/origin/main")
    for branch in branches:
        app.git("update-ref", f"refs/remotes/origin/{branch}", told)
    if head is not None:
        app.git("symbolic-ref", "refs/remotes/origin/HEAD", f"refs/remotes/origin/{head}")
    if is_packed:
        app.git("pack-refs", "--all")
    assert at(app) == (FINE if default is None else lacks(2, default=default))
    assert Git(str(app.path), os.environ).default_branch() == (default or "")


def test_a_remote_head_that_is_no_pointer(app: Repo) -> None:
    """A branch of a usual name is preferred to it."""
    told = app.git("rev-parse", "origin/main")
    app.git("remote", "set-head", "origin", "--delete")
    app.git("update-ref", "--no-deref", "refs/remotes/origin/HEAD", told)
    assert at(app) == lacks(2)
    app.git("update-ref", "-d", "refs/remotes/origin/main")
    assert at(app) == lacks(2, default="origin/HEAD")


def test_refs_are_found_wherever_git_keeps_them(app: Repo, asked: list[str]) -> None:
    """Packed, packed and then moved on, and with folders of packed branches left over."""
    app.git("switch", "--quiet", "--create", "a/b/c")
    app.git("pack-refs", "--all", "--prune")
    (app.path / ".git" / "refs" / "heads" / "a" / "b" / "c").mkdir(parents=True)
    assert at(app) == lacks(2, branch="a/b/c")
    app.git("update-ref", "refs/remotes/origin/main", "origin/main~1")
    assert at(app) == lacks(1, branch="a/b/c")
    assert asked == ["rev-list", "rev-list"]


def test_one_branch_is_not_taken_for_another(app: Repo) -> None:
    """Packed names that end or begin alike are different names."""
    told = app.git("rev-parse", "origin/main")
    app.git("update-ref", "refs/remotes/origin/main-old", told)
    app.git("update-ref", "refs/heads/refs/remotes/origin/master", told)
    app.git("update-ref", "-d", "refs/remotes/origin/main")
    app.git("pack-refs", "--all")
    assert at(app) == FINE


def test_a_linked_worktree_stands_for_itself(app: Repo, tmp_path: Path) -> None:
    """It has its own HEAD, and the refs of the main checkout."""
    tree = Repo(tmp_path / "tree")
    app.git("worktree", "add", "--quiet", "-b", "fresh", str(tree.path), "origin/main")
    assert at(tree) == FINE
    assert at(app) == lacks(2)
    tree.git("reset", "--quiet", "--hard", "HEAD~1")
    assert at(tree) == lacks(1, branch="fresh")


def test_a_submodule_stands_for_itself(origin: Repo, app: Repo) -> None:
    """And not for the repository around it."""
    app.git("submodule", "--quiet", "add", f"file://{origin.path}", "lib")
    lib = Repo(app.path / "lib")
    assert (lib.path / ".git").is_file()
    assert at(lib) == FINE
    fetch_more(origin, lib, 3)
    assert at(lib) == lacks(3)
    assert at(app) == lacks(2)


def test_a_linked_folder_belongs_to_the_checkout_it_lies_in(app: Repo, tmp_path: Path) -> None:
    """Not to the one that holds the link."""
    here = Repo.make(tmp_path / "here")
    link = here.path / "team"
    link.symlink_to(app.path)
    assert behind(link, env=os.environ, cache=None) == lacks(2)
    assert at(here) == FINE


def test_a_repository_with_longer_ids(tmp_path: Path) -> None:
    """Ids of SHA-256 are compared as well."""
    made = Repo.make(tmp_path / "long", "--object-format=sha256")
    made.commit(a="1")
    made.commit(a="2")
    told = made.git("rev-parse", "HEAD")
    assert len(told) == 64
    made.git("update-ref", "refs/remotes/origin/main", told)
    assert at(made) == FINE
    made.git("reset", "--quiet", "--hard", "HEAD~1")
    assert at(made) == lacks(1)


def test_a_shallow_clone_tells_what_it_can(origin: Repo, tmp_path: Path) -> None:
    """Behind when HEAD leads to the remote's commit, and fine when it contains that."""
    clone = origin.clone(tmp_path / "clone", "--depth", "1")
    assert at(clone) == FINE
    clone.commit(b="1")
    assert at(clone) == FINE
    clone.git("reset", "--quiet", "--hard", "HEAD~1")
    fetch_more(origin, clone, 2)
    assert (clone.path / ".git" / "shallow").exists()
    assert at(clone) == lacks(2)


def test_a_shallow_clone_does_not_tell_what_it_cannot_know(
    origin: Repo, tmp_path: Path, asked: list[str]
) -> None:
    """Two commits without a common history here may have one; with all of it, that is seen."""
    origin.git("switch", "--quiet", "--create", "topic")
    origin.commit(b="1")
    clone = origin.clone(tmp_path / "clone", "--depth", "1", "--no-single-branch")
    clone.git("remote", "set-head", "origin", "main")
    cache = tmp_path / "cache.json"
    for _ in range(2):
        told = at(clone, cache)
        assert told.behind is None
        assert told.undecided == (
            f"whether {clone.path} is behind is not known: the clone is shallow, and each side has"
            " commits of its own"
        )
    assert asked == ["rev-list"]
    clone.git("fetch", "--quiet", "--unshallow")
    assert at(clone, cache) == FINE
    assert asked == ["rev-list", "rev-list"]


def test_an_answer_is_kept(app: Repo, tmp_path: Path, asked: list[str]) -> None:
    """Until one of the two commits is another; each repository has its own answers."""
    cache = tmp_path / "cache.json"
    assert [at(app, cache) for _ in range(3)] == [lacks(2)] * 3
    assert asked == ["rev-list"]
    app.git("switch", "--quiet", "--create", "topic")
    assert at(app, cache) == lacks(2, branch="topic")
    assert asked == ["rev-list"]
    app.commit(b="1")
    assert at(app, cache) == lacks(2, branch="topic")
    assert at(app, cache) == lacks(2, branch="topic")
    app.git("merge", "--quiet", "--no-edit", "origin/main")
    assert [at(app, cache) for _ in range(2)] == [FINE, FINE]
    assert asked == ["rev-list"] * 3
    other = app.clone(tmp_path / "other")
    other.git("reset", "--quiet", "--hard", "HEAD~1")
    behind_topic = lacks(3, branch="topic", default="origin/topic")
    assert [at(other, cache) for _ in range(2)] == [behind_topic] * 2
    assert asked == ["rev-list"] * 4
    assert {path.name for path in tmp_path.glob("cache*")} == {"cache.json"}


@pytest.mark.parametrize(
    "damage",
    ["", "{", "[]", "null", "\0", "[" * 90_000, '{"x": 1}', " " * 200_000, "\ud800"],
    ids=["empty", "cut", "list", "null", "nul", "deep", "shape", "long", "encoding"],
)
def test_a_damaged_cache_does_no_harm(app: Repo, tmp_path: Path, damage: str) -> None:
    """It is made anew."""
    cache = tmp_path / "cache.json"
    cache.write_bytes(damage.encode("utf-8", "surrogatepass"))
    assert at(app, cache) == lacks(2)
    assert list(json.loads(cache.read_text(encoding="utf-8")).values()) == [[0, 2]]


@pytest.mark.parametrize(
    "known", [[0, -1], ["0", "2"], [0, 1, 2], [True, True], {}, None, [0.0, 2]]
)
def test_an_odd_answer_is_asked_for_again(app: Repo, tmp_path: Path, known: object) -> None:
    """And replaced."""
    cache = tmp_path / "cache.json"
    at(app, cache)
    answers = json.loads(cache.read_text(encoding="utf-8"))
    cache.write_text(json.dumps(dict.fromkeys(answers, known)), encoding="utf-8")
    assert at(app, cache) == lacks(2)
    assert json.loads(cache.read_text(encoding="utf-8")) == answers


def test_a_cache_that_cannot_be_written_does_no_harm(app: Repo, tmp_path: Path) -> None:
    """Its folder may be missing, or a folder may be in its place."""
    assert at(app, tmp_path / "no" / "cache.json") == lacks(2)
    place = tmp_path / "cache.json"
    (place / "x").mkdir(parents=True)
    assert at(app, place) == lacks(2)
    assert not list(tmp_path.glob("cache.json.*"))


def test_a_read_only_cache_does_no_harm(
    app: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer is there all the same, and nothing is left behind."""

    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    cache = tmp_path / "cache.json"
    monkeypatch.setattr(os, "replace", refused)
    assert at(app, cache) == lacks(2)
    assert not list(tmp_path.glob("cache.json*"))


def test_the_cache_stays_small(app: Repo, tmp_path: Path) -> None:
    """The newest answers are kept."""
    cache = tmp_path / "cache.json"
    many = {f"{number:0900}": [0, number] for number in range(90)}
    cache.write_text(json.dumps(many), encoding="utf-8")
    assert at(app, cache) == lacks(2)
    kept = json.loads(cache.read_text(encoding="utf-8"))
    assert list(kept)[:-1] == list(many)[-63:]
    assert list(kept.values())[-1] == [0, 2]
    assert cache.stat().st_size < 100_000


def without_git(tmp_path: Path) -> dict[str, str]:
    """An environment in which there is no git."""
    (tmp_path / "bin").mkdir(exist_ok=True)
    return {"PATH": str(tmp_path / "bin")}


def test_without_git_it_is_told_that_nothing_is_known(app: Repo, tmp_path: Path) -> None:
    """Unless the commits are equal, or the answer was kept."""
    cache = tmp_path / "cache.json"
    told = at(app, cache, without_git(tmp_path))
    assert told.behind is None
    assert str(told.undecided).startswith(
        f"whether {app.path} is behind is not known: git cannot be run: "
    )
    assert not cache.exists()
    assert at(app, cache) == lacks(2)
    assert at(app, cache, without_git(tmp_path)) == lacks(2)
    app.git("merge", "--quiet", "--ff-only", "origin/main")
    assert at(app, None, without_git(tmp_path)) == FINE


def test_a_git_that_takes_too_long_is_not_waited_for_again_and_again(
    app: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: list[str]
) -> None:
    """After three times it is left at that, until one of the commits is another."""
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 60\n", encoding="utf-8")
    slow.chmod(0o755)
    monkeypatch.setattr(module, "SECONDS", 0.02)
    cache = tmp_path / "cache.json"
    env = {"PATH": f"{slow.parent}:{os.environ['PATH']}"}
    for tries in (1, 2, 3, 3, 3):
        told = at(app, cache, env)
        assert told.behind is None
        assert "took longer than 0.02 s" in str(told.undecided)
        assert len(asked) == tries
    monkeypatch.setattr(module, "SECONDS", 10)
    assert at(app, cache).undecided is not None
    app.commit(b="1")
    assert at(app, cache) == lacks(2)


def test_refs_that_are_kept_otherwise_are_asked_for(app: Repo, asked: list[str]) -> None:
    """A repository whose settings speak of its ref storage is left to git."""
    with (app.path / ".git" / "config").open("a", encoding="utf-8") as file:
        file.write("# extensions.refStorage is not set\n")
    assert at(app) == lacks(2)
    assert asked == ["for-each-ref", "symbolic-ref", "rev-parse", "rev-parse", "rev-list"]
    app.git("checkout", "--quiet", "--detach", "origin/main~1")
    assert at(app) == lacks(1, branch=None)
    app.git("checkout", "--quiet", "--detach", "origin/main")
    assert at(app) == FINE
    app.git("remote", "remove", "origin")
    assert at(app) == FINE


def test_a_repository_with_reftables(app: Repo, tmp_path: Path) -> None:
    """Where git can make one."""
    new = tmp_path / "new"
    made = subprocess.run(
        ["git", "clone", "--quiet", "--ref-format=reftable", str(app.path), str(new)],
        capture_output=True,
        check=False,
    )
    if made.returncode:
        pytest.skip("this git knows no reftables")
    repo = Repo(new)
    assert at(repo) == FINE
    repo.git("commit", "--quiet", "--amend", "--message", "y")
    assert at(repo) == lacks(1)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("HEAD", ""),
        ("HEAD", "nonsense\n"),
        ("HEAD", "ref: ../../../etc/passwd\n"),
        ("HEAD", "f" * 40 + "\n"),
        ("refs/heads/main", ""),
        ("refs/heads/main", "nonsense\n"),
        ("refs/heads/main", "ref: refs/heads/main\n"),
        ("refs/heads/main", "f" * 40 + "\n"),
        ("refs/remotes/origin/main", "f" * 40 + "\n"),
    ],
)
def test_damaged_refs_are_never_fine(app: Repo, file: str, content: str) -> None:
    """Nor is a checkout told to be behind because its own commit cannot be found."""
    (app.path / ".git" / file).write_text(content, encoding="utf-8")
    told = at(app)
    assert told.behind is None
    assert str(told.undecided).startswith(f"whether {app.path} is behind is not known: git ")


def test_a_damaged_remote_ref_counts_as_none(app: Repo) -> None:
    """As it does for git, which passes over it."""
    told = app.git("rev-parse", "origin/main")
    app.git("update-ref", "refs/remotes/origin/master", told)
    for damage in ("", "nonsense\n"):
        (app.path / ".git" / "refs" / "remotes" / "origin" / "main").write_text(damage)
        assert at(app) == lacks(2, default="origin/master")


@pytest.mark.parametrize("content", ["", "nonsense", "gitdir: ", "gitdir: /no/such"])
def test_a_damaged_git_file_is_told(app: Repo, content: str) -> None:
    """The repository around it is not taken instead."""
    inner = app.path / "inner"
    inner.mkdir()
    (inner / ".git").write_text(content, encoding="utf-8")
    told = behind(inner, env=os.environ, cache=None)
    assert told.behind is None
    assert str(told.undecided).startswith(f"whether {inner} is behind is not known: git ")


def test_a_folder_that_may_not_be_looked_into_is_told(
    app: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is no failure of the read it belongs to."""

    def refused(_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(module, "repository_of", refused)
    told = at(app)
    assert told == Standing(
        undecided=f"whether {app.path} is behind is not known: Permission denied"
    )
