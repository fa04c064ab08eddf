from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from memspec_py.anchors import git as git_module
from memspec_py.anchors.blob import blob_id, lfs_pointer
from memspec_py.anchors.drift import check
from memspec_py.record.model import Anchor
from tests.anchors.repos import Repo, look

if TYPE_CHECKING:
    from pathlib import Path

    from memspec_py.anchors.verdict import Drift

ONE = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
ONE_CHANGED = ONE.replace("return 1", "return 11")
TWO_CHANGED = ONE.replace("return 2", "return 22")


@pytest.fixture
def app(tmp_path: Path) -> Repo:
    """A repository with one committed file and no remote."""
    made = Repo.make(tmp_path / "app")
    made.commit(a=ONE)
    return made


@pytest.fixture
def clone(app: Repo) -> Repo:
    """A clone of it, whose remote's default branch is main."""
    return app.clone(app.path.parent / "clone")


def told(drift: Drift) -> tuple[str, str]:
    """Verdict, and what was looked at."""
    return drift.verdict.value, drift.compared_to


# --- the work tree and the default branch -------------------------------------------------------


def test_what_is_as_it_was_needs_no_git(app: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten hits of a search cost ten small reads and nothing else."""
    anchors = [app.anchor(typed) for typed in ("a.py", "a.py#one", "a.py:1-2")]
    monkeypatch.setattr(git_module.Git, "ask", None)
    assert [told(one) for one in app.check(*anchors)] == [("unchanged", "worktree")] * 3


def test_a_change_is_drift_only_of_what_changed(app: Repo) -> None:
    """File, symbol, span and literal of one file each get their own verdict."""
    app.commit(a=ONE + "\n\nLIMIT = 60\n")
    typed = ("a.py", "a.py#one", "a.py#two", "a.py:1-2", "a.py:5-6", "a.py::LIMIT=60")
    anchors = [app.anchor(one) for one in typed]
    app.write("a.py", TWO_CHANGED + "\n\nLIMIT = 6 * 10\n")
    found = app.check(*anchors)
    drifted = [one.anchor for one in found if one.verdict == "drifted"]
    assert drifted == ["a.py", "a.py#two", "a.py:5-6", "a.py::LIMIT=60"]
    assert {told(one) for one in found} == {("drifted", "worktree"), ("unchanged", "worktree")}
    assert [one.grain for one in found] == [
        *("file", "symbol", "symbol", "span", "span", "literal"),
    ]
    assert found[5].reason == "LIMIT is 6 * 10 now"


def test_a_feature_branch_does_not_drift_what_main_still_has(clone: Repo) -> None:
    """And what was anchored on the branch a moment ago has not drifted either."""
    on_main = [clone.anchor(typed) for typed in ("a.py", "a.py#one", "a.py:1-2")]
    clone.git("checkout", "--quiet", "-b", "feature")
    clone.commit(a=ONE_CHANGED)
    found = clone.check(*on_main)
    assert [told(one) for one in found] == [("unchanged", "worktree+origin/main")] * 3
    assert {one.held_on for one in found} == {"origin/main"}
    assert told(clone.check(clone.anchor("a.py"))[0]) == ("unchanged", "worktree")
    assert [told(one) for one in clone.check(*on_main, default_branch=False)] == [
        ("drifted", "worktree")
    ] * 3


def test_what_neither_has_is_drift(app: Repo, clone: Repo) -> None:
    """The remote's branch counts as of the last fetch, and no fetch is made."""
    anchors = [clone.anchor(typed) for typed in ("a.py", "a.py#one", "a.py#two")]
    app.commit(a=ONE_CHANGED)
    clone.write("a.py", ONE_CHANGED + "# more\n")
    held = clone.check(*anchors)
    assert {told(one) for one in held} == {
        ("unchanged", "worktree+origin/main"),
        ("unchanged", "worktree"),
    }
    clone.git("fetch", "--quiet")
    after = clone.check(*anchors)
    assert [told(one) for one in after] == [
        ("drifted", "worktree+origin/main"),
        ("drifted", "worktree+origin/main"),
        ("unchanged", "worktree"),
    ]


def test_a_symbol_may_hold_on_the_branch_though_its_file_does_not(clone: Repo) -> None:
    """The branch's file is read as finely as the work tree's."""
    anchor = clone.anchor("a.py#one")
    clone.commit(a=TWO_CHANGED)
    clone.git("push", "--quiet", "origin", "HEAD:refs/heads/other")
    clone.git("update-ref", "refs/remotes/origin/main", "HEAD")
    clone.write("a.py", ONE_CHANGED)
    (found,) = clone.check(anchor)
    assert (told(found), found.held_on) == (("unchanged", "worktree+origin/main"), "origin/main")


@pytest.mark.parametrize(
    ("refs", "head", "expected"),
    [
        (("trunk", "main"), "trunk", "worktree+origin/trunk"),
        (("main", "master"), None, "worktree+origin/main"),
        (("master",), None, "worktree+origin/master"),
        (("other",), None, "worktree"),
        (("main",), "gone", "worktree+origin/main"),
    ],
)
def test_the_default_branch_is_the_remotes_head_else_main_else_master(
    app: Repo, refs: tuple[str, ...], head: str | None, expected: str
) -> None:
    """From local refs only."""
    anchor = app.anchor("a.py")
    app.commit(a=ONE_CHANGED)
    for name in refs:
        app.git("update-ref", f"refs/remotes/origin/{name}", "HEAD")
    if head is not None:
        app.git("symbolic-ref", "refs/remotes/origin/HEAD", f"refs/remotes/origin/{head}")
    assert told(app.check(anchor)[0]) == ("drifted", expected)


def test_a_file_that_the_branch_has_not_got_is_compared_with_both(clone: Repo) -> None:
    """Unless it is ignored: then no branch could have it."""
    clone.write(".gitignore", "local.py\n")
    for name in ("new.py", "local.py"):
        clone.write(name, ONE)
    anchors = [clone.anchor("new.py"), clone.anchor("local.py#one")]
    for name in ("new.py", "local.py"):
        clone.write(name, ONE_CHANGED)
    assert [told(one) for one in clone.check(*anchors)] == [
        ("drifted", "worktree+origin/main"),
        ("drifted", "worktree"),
    ]


def test_a_project_may_begin_below_its_repository(clone: Repo) -> None:
    """Paths are looked up on the branch from the top of the repository."""
    clone.commit(**{"packages/web/b": ONE})
    clone.git("update-ref", "refs/remotes/origin/main", "HEAD")
    web = Repo(clone.path / "packages" / "web")
    anchor = web.anchor("b.py")
    assert anchor.file == "b.py"
    web.write("b.py", ONE_CHANGED)
    assert told(web.check(anchor)[0]) == ("unchanged", "worktree+origin/main")
    web.git("mv", "b.py", "c.py")
    clone.git("update-ref", "-d", "refs/remotes/origin/main")
    web.write("c.py", ONE)
    (found,) = web.check(anchor)
    assert (found.verdict, found.place) == ("moved", "c.py")


# --- moves --------------------------------------------------------------------------------------


@pytest.mark.parametrize("typed", ["a.py", "a.py#one", "a.py:1-2"])
@pytest.mark.parametrize("way", ["plain", "staged", "committed", "twice"])
def test_a_renamed_file_is_followed(app: Repo, typed: str, way: str) -> None:
    """Whether git has seen the rename or not."""
    anchor = app.anchor(typed)
    if way == "plain":
        (app.path / "a.py").rename(app.path / "b.py")
    else:
        app.git("mv", "a.py", "b.py")
    if way in {"committed", "twice"}:
        app.commit()
    if way == "twice":
        app.git("mv", "b.py", "c.py")
        app.commit()
    new = "c.py" if way == "twice" else "b.py"
    (found,) = app.check(anchor)
    assert (found.verdict, found.place) == ("moved", typed.replace("a.py", new))
    assert new in (found.reason or "")


@pytest.mark.parametrize("way", ["staged", "committed"])
def test_a_file_that_was_renamed_and_edited_is_followed_too(app: Repo, way: str) -> None:
    """What changed has drifted, what did not has moved."""
    long = ONE + "\n\n" + "".join(f"x{n} = {n}\n" for n in range(30))
    app.commit(a=long)
    anchors = [app.anchor(typed) for typed in ("a.py", "a.py#one", "a.py#two")]
    app.git("mv", "a.py", "b.py")
    app.write("b.py", long.replace("return 2", "return 22"))
    app.git("add", "b.py")
    if way == "committed":
        app.commit()
    found = app.check(*anchors)
    assert [(one.verdict.value, one.place) for one in found] == [
        ("drifted", "b.py"),
        ("moved", "b.py#one"),
        ("drifted", "b.py"),
    ]


def test_a_file_that_is_gone_is_missing(app: Repo) -> None:
    """An empty file elsewhere is not it, nor is one of two others with its bytes."""
    app.commit(a=ONE, empty="", other="")
    for name in ("b.py", "c.py"):
        app.write(name, ONE)
    anchors = [app.anchor("a.py"), app.anchor("a.py#one"), app.anchor("empty.py")]
    for name in ("a.py", "empty.py"):
        (app.path / name).unlink()
    app.git("commit", "--quiet", "--all", "--message", "x")
    found = app.check(anchors[0], anchors[2])
    assert [one.verdict.value for one in found] == ["missing"] * 2
    assert found[0].reason == "the file is gone"


def test_nobody_follows_unless_asked_to(app: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """The walk through a long history is not for every read."""
    anchors = [app.anchor("a.py"), app.anchor("a.py#one")]
    app.git("mv", "a.py", "b.py")
    monkeypatch.setattr("memspec_py.anchors.moves.renamed", None)
    monkeypatch.setattr("memspec_py.anchors.moves.homes", None)
    found = app.check(*anchors, follow=False)
    assert [(one.verdict.value, one.place) for one in found] == [("missing", None)] * 2


def test_a_symbol_is_found_in_another_file_and_only_told(app: Repo) -> None:
    """By its own code, whichever of the files are tracked."""
    anchor = app.anchor("a.py#one")
    one, two = ONE.split("\n\n\n")
    app.write("a.py", two)
    app.write("lib/b.py", "import os\n\n" + one.replace("return 1", "return  1  # same"))
    (found,) = app.check(anchor)
    assert (found.verdict, found.place) == ("moved", "lib/b.py#one")
    assert told(found) == ("moved", "worktree")
    assert app.check(anchor) == [found]


def test_a_symbol_whose_code_is_in_two_other_places_is_missing(app: Repo) -> None:
    """With the places named: which of them is meant is for a person to say."""
    anchor = app.anchor("a.py#one")
    one, two = ONE.split("\n\n\n")
    app.commit(a=two, b=one, c=one)
    (found,) = app.check(anchor)
    assert found.verdict == "missing"
    assert "b.py#one" in (found.reason or "")
    assert "c.py#one" in (found.reason or "")


@pytest.mark.parametrize("is_ahead", [True, False])
def test_nor_has_it_moved_there_on_the_default_branch(clone: Repo, *, is_ahead: bool) -> None:
    """Whether the work tree has what the branch has, or something else again."""
    method = "def go(self):\n        return 1\n"
    first, second = f"class A:\n    {method}", f"class B:\n    {method}"
    clone.commit(a=f"{first}\n\n{second}")
    anchor = clone.anchor("a.py#A.go")
    clone.commit(a=second)
    clone.git("update-ref", "refs/remotes/origin/main", "HEAD")
    if is_ahead:
        clone.write("a.py", "x = 1\n")
    (found,) = clone.check(anchor)
    assert (told(found), found.place) == (("missing", "worktree+origin/main"), None)


@pytest.mark.parametrize("is_committed", [True, False])
@pytest.mark.parametrize("twin", ["b.py", "a.py"])
def test_code_that_stood_elsewhere_all_along_has_not_moved_there(
    app: Repo, twin: str, *, is_committed: bool
) -> None:
    """It had a double, and one of the two is gone."""
    method = "def go(self):\n        return 1\n"
    first, second = f"class A:\n    {method}", f"class B:\n    {method}"
    if twin == "a.py":
        app.commit(a=f"{first}\n\n{second}")
    else:
        app.commit(a=first, b=second)
    anchor = app.anchor("a.py#A.go")
    app.write("a.py", second if twin == "a.py" else "x = 1\n")
    if is_committed:
        app.commit()
        app.commit(**{twin[0]: second + "# more\n"})
    assert [(one.verdict.value, one.place) for one in app.check(anchor)] == [("missing", None)]
    app.write("c.py", first)
    (found,) = app.check(anchor)
    assert (found.verdict, found.place) == ("moved", "c.py#A.go")


def test_a_method_that_moved_to_another_class_is_found(app: Repo) -> None:
    """Indentation is no part of its code."""
    app.commit(a="class A:\n    def go(self):\n        return 1\n")
    anchor = app.anchor("a.py#A.go")
    app.write("a.py", "class B:\n    class C:\n        def go(self):\n            return 1\n")
    (found,) = app.check(anchor)
    assert (found.verdict, found.place) == ("moved", "a.py#B.C.go")


def test_lines_are_found_where_they_went(app: Repo) -> None:
    """The nearest place with the same text."""
    anchor = app.anchor("a.py:5-6")
    app.write("a.py", "import os\n\n\n" + ONE)
    (found,) = app.check(anchor)
    assert (found.verdict, found.place) == ("moved", "a.py:8-9")


def test_a_symbol_that_changed_on_its_way_is_missing(app: Repo) -> None:
    """Another function of the same name is not it."""
    anchor = app.anchor("a.py#one")
    app.commit(a="x = 1\n", b=ONE_CHANGED)
    assert [one.verdict.value for one in app.check(anchor)] == ["missing"]


# --- what cannot be decided ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("anchor", "reason"),
    [
        (Anchor(repo="other", file="a.py", sha="0" * 40), "no checkout of other"),
        (Anchor(repo="../app", file="a.py", sha="0" * 40), "no checkout"),
        (Anchor(repo="/etc", file="passwd", sha="0" * 40), "no checkout"),
        (Anchor(repo="..", file="a.py", sha="0" * 40), "no checkout"),
        (Anchor(file="../x.py", sha="0" * 40), "leads out"),
        (Anchor(file="/etc/passwd", sha="0" * 40), "leads out"),
        (Anchor(file="a\0.py", sha="0" * 40), "leads out"),
        (Anchor(file="a.py", sha="12345678"), "no blob id"),
        (Anchor(file="a.py", sha="0" * 40, symbol="one", symbol_id="py9:00"), "no id"),
        (Anchor(file="a.py", sha="0" * 40, symbol="one"), "no id"),
        (Anchor(file="a.py", sha="0" * 40, lines="10-2", span_id="ln1:1:00"), "no id"),
        (Anchor(file="a.py", sha="0" * 40, lines="1-2", span_id="ln2:1:00"), "no id"),
        (Anchor(file="a.py", sha="0" * 40, name="X"), "no value"),
        (Anchor(file="folder", sha="0" * 40), "no regular file"),
        (Anchor(file="pipe", sha="0" * 40), "no regular file"),
    ],
)
def test_what_cannot_be_decided_is_unchecked(app: Repo, anchor: Anchor, reason: str) -> None:
    """Whatever a record says, nothing outside is looked at and nothing waits."""
    (app.path / "folder").mkdir()
    os.mkfifo(app.path / "pipe")
    (found,) = app.check(anchor)
    assert found.verdict == "unchecked"
    assert reason in (found.reason or "")


def test_code_that_does_not_parse_is_unchecked(app: Repo) -> None:
    """In the middle of an edit nobody knows."""
    anchor = app.anchor("a.py#one")
    app.write("a.py", ONE + "def (\n")
    (found,) = app.check(anchor)
    assert (found.verdict, found.compared_to) == ("unchecked", "worktree")
    assert "line 7" in (found.reason or "")


def test_without_git_a_repository_is_unchecked(clone: Repo) -> None:
    """Its default branch might have what the work tree has not."""
    anchors = [clone.anchor("a.py"), clone.anchor("a.py#two")]
    clone.write("a.py", ONE_CHANGED)
    found = look(clone.path, *anchors, env={"PATH": "/nowhere"})
    assert [told(one) for one in found] == [("unchecked", "worktree"), ("unchanged", "worktree")]
    assert "git cannot be run" in (found[0].reason or "")


def test_without_a_repository_the_work_tree_decides(tmp_path: Path) -> None:
    """There is no branch that could have it."""
    project = Repo(tmp_path)
    project.write("a.py", ONE)
    anchors = [project.anchor(typed) for typed in ("a.py", "a.py#one", "a.py#two")]
    project.write("a.py", ONE_CHANGED)
    assert [told(one) for one in look(tmp_path, *anchors, env={})] == [
        ("drifted", "worktree"),
        ("drifted", "worktree"),
        ("unchanged", "worktree"),
    ]
    (tmp_path / "a.py").unlink()
    assert {one.verdict.value for one in look(tmp_path, *anchors)} == {"missing"}


def test_a_damaged_repository_is_unchecked_and_never_its_surroundings(app: Repo) -> None:
    """Git must not climb to the repository that lies around it."""
    inner = Repo(app.path / "inner")
    (inner.path / ".git").mkdir(parents=True)
    inner.write("a.py", ONE)
    anchor = Anchor(file="a.py", sha=blob_id(b"x"))
    (found,) = inner.check(anchor)
    assert found.verdict == "unchecked"
    assert "not a git repository" in (found.reason or "")


def test_git_that_takes_too_long_is_given_up(clone: Repo, tmp_path: Path) -> None:
    """A read never waits for a repository that is in trouble."""
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 20\n", encoding="utf-8")
    slow.chmod(0o755)
    path = f"{slow.parent}{os.pathsep}{os.environ['PATH']}"
    asked = git_module.Git(str(clone.path), {"PATH": path}, seconds=0.1)
    began = time.monotonic()
    assert asked.default_branch() is None
    assert "took longer" in asked.trouble
    assert time.monotonic() - began < 5


def test_a_file_that_may_not_be_read_is_unchecked(app: Repo) -> None:
    """It is there, so it is not missing."""
    (app.path / "loop.py").symlink_to("loop.py")
    (found,) = app.check(Anchor(file="loop.py", sha="0" * 40))
    assert found.verdict == "unchecked"
    assert "cannot be read" in (found.reason or "")


# --- kinds of checkouts -------------------------------------------------------------------------


def test_a_linked_worktree_has_its_own_files_and_shared_refs(clone: Repo) -> None:
    """Anchors from either mean the same file."""
    tree = Repo(clone.path.parent / "tree")
    clone.git("worktree", "add", "--quiet", str(tree.path), "-b", "feature")
    anchor = tree.anchor("a.py#one")
    assert anchor == clone.anchor("a.py#one")
    tree.write("a.py", ONE_CHANGED)
    assert told(tree.check(anchor)[0]) == ("unchanged", "worktree+origin/main")
    tree.git("update-ref", "-d", "refs/remotes/origin/main")
    assert told(tree.check(anchor)[0]) == ("drifted", "worktree")
    assert told(clone.check(anchor)[0]) == ("unchanged", "worktree")


def test_a_submodule_is_a_repository_of_its_own(app: Repo) -> None:
    """It is named after its folder and found below the project."""
    lib = Repo.make(app.path.parent / "upstream" / "lib")
    lib.commit(b=ONE)
    app.git("submodule", "--quiet", "add", f"file://{lib.path}", "vendor/lib")
    app.commit()
    anchor = app.anchor("vendor/lib/b.py#one")
    assert (anchor.repo, anchor.file) == ("lib", "b.py")
    assert told(app.check(anchor)[0]) == ("unchanged", "worktree")
    inside = Repo(app.path / "vendor" / "lib")
    inside.write("b.py", ONE_CHANGED)
    assert told(app.check(anchor)[0]) == ("unchanged", "worktree+origin/main")
    inside.git("update-ref", "refs/remotes/origin/main", "HEAD")
    inside.commit()
    inside.git("update-ref", "refs/remotes/origin/main", "HEAD")
    assert told(app.check(anchor)[0]) == ("drifted", "worktree+origin/main")
    app.git("submodule", "--quiet", "deinit", "--force", "vendor/lib")
    assert app.check(anchor)[0].verdict == "unchecked"


def test_a_shallow_clone_is_as_good_as_a_whole_one(app: Repo) -> None:
    """What is compared is there; only what happened before the cut is not."""
    anchor = app.anchor("a.py")
    app.commit(a=ONE_CHANGED)
    shallow = app.clone(app.path.parent / "shallow", "--depth", "1")
    assert told(shallow.check(anchor)[0]) == ("drifted", "worktree+origin/main")
    (shallow.path / "a.py").unlink()
    assert told(shallow.check(anchor)[0]) == ("missing", "worktree+origin/main")


def test_a_partial_clone_fetches_nothing(app: Repo) -> None:
    """A file is decided by its id, and so is one that is here already; the rest is unchecked."""
    app.git("config", "uploadpack.allowFilter", "true")
    app.commit(a=ONE, b=ONE, c=ONE, d=ONE)
    partial = app.clone(app.path.parent / "partial", "--filter=blob:none")
    anchors = [partial.anchor(typed) for typed in ("a.py", "a.py#one", "b.py#one", "c.py#one")]
    partial.write("d.py", ONE + "# its own bytes\n")
    anchors.append(partial.anchor("d.py#one"))
    app.commit(a=ONE_CHANGED, b=ONE + "#\n")
    partial.git("fetch", "--quiet")
    known = len(list((partial.path / ".git/objects").rglob("*")))
    for name in ("a.py", "b.py", "c.py", "d.py"):
        partial.write(name, ONE_CHANGED)
    found = partial.check(*anchors)
    assert [told(one) for one in found] == [
        ("drifted", "worktree+origin/main"),
        ("drifted", "worktree+origin/main"),
        ("unchecked", "worktree+origin/main"),
        ("unchanged", "worktree+origin/main"),
        ("unchanged", "worktree+origin/main"),
    ]
    assert "was not fetched" in (found[2].reason or "")
    assert len(list((partial.path / ".git/objects").rglob("*"))) == known


def test_a_file_left_out_by_a_sparse_checkout_is_not_missing(app: Repo) -> None:
    """The index has what the work tree would have."""
    app.commit(**{"lib/a": ONE, "web/b": ONE})
    anchors = [app.anchor("web/b.py"), app.anchor("web/b.py#two")]
    app.commit(**{"web/b": ONE_CHANGED})
    app.git("sparse-checkout", "set", "lib")
    assert not (app.path / "web").exists()
    assert [one.verdict.value for one in app.check(*anchors)] == ["drifted", "unchanged"]


def test_a_link_is_looked_up_by_its_target(clone: Repo) -> None:
    """As it was hashed: by the bytes it leads to."""
    (clone.path / "link.py").symlink_to("a.py")
    (clone.path / "folder").symlink_to(".")
    anchors = [clone.anchor("link.py"), clone.anchor("folder/a.py#one")]
    assert [one.file for one in anchors] == ["link.py", "folder/a.py"]
    clone.write("a.py", ONE_CHANGED)
    assert [told(one) for one in clone.check(*anchors)] == [
        ("unchanged", "worktree+origin/main")
    ] * 2
    clone.commit()
    clone.git("update-ref", "refs/remotes/origin/main", "HEAD")
    assert {told(one) for one in clone.check(*anchors)} == {("drifted", "worktree+origin/main")}
    (clone.path / "link.py").unlink()
    (clone.path / "link.py").symlink_to("nowhere")
    assert clone.check(anchors[0])[0].verdict == "missing"


def test_a_link_on_the_branch_is_not_the_file(clone: Repo) -> None:
    """What it says is the name of another file, and no text that could be compared."""
    clone.write("a.json", '{"port": 1}\n')
    anchor = clone.anchor("a.json#port")
    (clone.path / "a.json").unlink()
    (clone.path / "a.json").symlink_to("b.json")
    clone.commit()
    clone.git("update-ref", "refs/remotes/origin/main", "HEAD")
    (clone.path / "a.json").unlink()
    clone.write("a.json", '{"port": 2}\n')
    assert told(clone.check(anchor)[0]) == ("drifted", "worktree+origin/main")


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_line_ends_are_no_drift(app: Repo, ending: str) -> None:
    """Whichever a checkout has, with and without autocrlf, and on the branch."""
    content = ONE.replace("\n", ending).encode()
    anchors = [
        Anchor(file="a.py", sha=blob_id(content)),
        Anchor(file="a.py", sha=blob_id(content[:-1])),
    ]
    for autocrlf in ("true", "false"):
        clone = app.clone(app.path.parent / autocrlf, "--config", f"core.autocrlf={autocrlf}")
        assert [one.verdict.value for one in clone.check(*anchors)] == ["unchanged", "drifted"]
        clone.write("a.py", b"x")
        found = clone.check(*anchors)
        assert [told(one) for one in found] == [
            ("unchanged", "worktree+origin/main"),
            ("drifted", "worktree+origin/main"),
        ]


def test_what_git_converts_is_compared_as_git_stores_it(app: Repo) -> None:
    """A file in another encoding, and one with keywords."""
    app.write(".gitattributes", "wide.txt working-tree-encoding=UTF-16LE\nid.txt ident\n")
    app.write("wide.txt", "text\n".encode("utf-16-le"))
    app.write("id.txt", "$Id$\n")
    app.commit()
    (app.path / "id.txt").unlink()
    app.git("checkout", "--", "id.txt")
    assert (app.path / "id.txt").read_bytes() != b"$Id$\n"
    stored = {name: app.git("rev-parse", f"HEAD:{name}") for name in ("wide.txt", "id.txt")}
    anchors = [Anchor(file=name, sha=sha) for name, sha in stored.items()]
    assert [told(one) for one in app.check(*anchors)] == [("unchanged", "worktree")] * 2
    app.write("wide.txt", "other\n".encode("utf-16-le"))
    assert app.check(anchors[0])[0].verdict == "drifted"


@pytest.fixture
def filtered(app: Repo) -> Repo:
    """A clone in which a program stands between the files and git, and leaves a trace."""
    app.write(".gitattributes", "*.bin filter=turn\n")
    app.commit()
    clone = app.clone(app.path.parent / "filtered")
    trace = clone.path / ".git" / "trace"
    turn = f"sh -c 'echo >> {trace}; tr a-z A-Z'"
    clone.git("config", "filter.turn.clean", turn)
    clone.git("config", "filter.turn.smudge", f"sh -c 'echo >> {trace}; tr A-Z a-z'")
    clone.git("config", "filter.turn.required", "true")
    clone.write("a.bin", "words\n")
    clone.commit()
    clone.git("update-ref", "refs/remotes/origin/main", "HEAD")
    os.utime(clone.path / "a.bin", (1, 1))
    clone.git("update-index", "--refresh")
    trace.unlink()
    return clone


def test_no_filter_program_is_run(filtered: Repo) -> None:
    """An untouched file is what the index says; of others only what can be known is told."""
    stored = filtered.git("rev-parse", "HEAD:a.bin")
    raw = Anchor(file="a.bin", sha=blob_id(b"words\n"))
    kept = Anchor(file="a.bin", sha=stored)
    stale = Anchor(file="a.bin", sha=blob_id(b"older\n"))
    assert stored != raw.sha
    assert [told(one) for one in filtered.check(raw, kept, stale)] == [
        ("unchanged", "worktree"),
        ("unchanged", "worktree"),
        ("drifted", "worktree+origin/main"),
    ]
    filtered.write("a.bin", "other\n")
    found = filtered.check(raw, kept)
    assert [one.verdict.value for one in found] == ["unchecked", "unchanged"]
    assert "a filter stands before" in (found[0].reason or "")
    assert found[1].held_on == "origin/main"
    assert not (filtered.path / ".git" / "trace").exists()


def test_no_filter_program_is_run_for_a_file_that_was_just_touched(filtered: Repo) -> None:
    """Git itself would run it to be sure, as the times of the file do not tell."""
    stored = filtered.git("rev-parse", "HEAD:a.bin")
    os.utime(filtered.path / "a.bin", (4_000_000_000, 4_000_000_000))
    filtered.git("update-index", "--refresh")
    trace = filtered.path / ".git" / "trace"
    trace.unlink()
    (found,) = filtered.check(Anchor(file="a.bin", sha=stored), default_branch=False)
    assert found.verdict == "drifted"
    assert not trace.exists()


def test_files_of_git_lfs_are_known_by_their_pointers(clone: Repo) -> None:
    """Both ways round, where that can be decided."""
    old, new = b"\x00old", b"\x00new"
    clone.write("x.dat", lfs_pointer(old))
    clone.commit()
    clone.git("update-ref", "refs/remotes/origin/main", "HEAD")
    by_bytes = Anchor(file="x.dat", sha=blob_id(old))
    by_pointer = Anchor(file="x.dat", sha=blob_id(lfs_pointer(old)))
    found = clone.check(by_bytes, by_pointer)
    assert [one.verdict.value for one in found] == ["unchecked", "unchanged"]
    assert "not fetched" in (found[0].reason or "")
    clone.write("x.dat", old)
    assert [told(one) for one in clone.check(by_bytes, by_pointer)] == [
        ("unchanged", "worktree")
    ] * 2
    clone.write("x.dat", lfs_pointer(new))
    clone.commit()
    clone.git("update-ref", "refs/remotes/origin/main", "HEAD")
    clone.write("x.dat", new)
    assert clone.check(by_bytes)[0].verdict == "drifted"


def test_a_repository_of_the_other_object_format(tmp_path: Path) -> None:
    """Ids of 64 digits are recorded there, and ids of 40 are still understood."""
    app = Repo.make(tmp_path / "app", "--object-format=sha256")
    app.commit(a=ONE)
    app.git("update-ref", "refs/remotes/origin/main", "HEAD")
    anchor = app.anchor("a.py")
    assert anchor.sha == app.git("rev-parse", "HEAD:a.py")
    short = Anchor(file="a.py", sha=blob_id(ONE.encode()))
    assert [told(one) for one in app.check(anchor, short)] == [("unchanged", "worktree")] * 2
    app.write("a.py", ONE_CHANGED)
    assert [told(one) for one in app.check(anchor, short)] == [
        ("unchanged", "worktree+origin/main")
    ] * 2
    app.commit()
    app.git("update-ref", "refs/remotes/origin/main", "HEAD")
    assert {one.verdict.value for one in app.check(anchor, short)} == {"drifted"}


# --- other repositories -------------------------------------------------------------------------


def test_a_repository_is_looked_for_beside_the_project_then_on_the_search_paths(
    app: Repo, tmp_path: Path
) -> None:
    """The home is what the environment says."""
    far = Repo.make(tmp_path / "home" / "git" / "lib")
    far.commit(b=ONE)
    anchor = Anchor(repo="lib", file="b.py", sha=blob_id(ONE.encode()))
    env = {**os.environ, "HOME": str(tmp_path / "home")}
    assert look(app.path, anchor, env=env)[0].verdict == "unchecked"
    for paths in (["~/git"], [str(tmp_path / "home" / "git")], ["../home/git"]):
        (found,) = look(app.path, anchor, env=env, search_paths=paths)
        assert (found.verdict, found.repo) == ("unchanged", "lib")
    near = Repo.make(app.path.parent / "lib")
    near.write("b.py", ONE_CHANGED)
    (found,) = look(app.path, anchor, env=env, search_paths=["~/git"])
    assert found.verdict == "drifted"


# --- nothing else happens -----------------------------------------------------------------------


def test_nothing_of_a_repository_is_run(clone: Repo, tmp_path: Path) -> None:
    """No hook, no monitor, no pager, no signature program; and git is not led elsewhere."""
    trace = tmp_path / "trace"
    script = tmp_path / "spy"
    script.write_text(f"#!/bin/sh\necho run >> {trace}\n", encoding="utf-8")
    script.chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "gpg.program", "diff.external", "core.sshCommand"):
        clone.git("config", key, str(script))
    clone.git("config", "log.showSignature", "true")
    hooks = clone.path / ".git" / "hooks"
    for name in ("post-index-change", "reference-transaction", "post-checkout"):
        (hooks / name).write_bytes(script.read_bytes())
        (hooks / name).chmod(0o755)
    anchors = [clone.anchor(typed) for typed in ("a.py", "a.py#one")]
    clone.write("b.py", ONE.replace("return 2", "return 3"))
    (clone.path / "a.py").unlink()
    trace.unlink(missing_ok=True)
    index = (clone.path / ".git" / "index").read_bytes()
    other = Repo.make(tmp_path / "other")
    hostile = {
        **os.environ,
        "GIT_DIR": str(other.path / ".git"),
        "GIT_WORK_TREE": str(other.path),
        "GIT_INDEX_FILE": str(tmp_path / "no-index"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": str(script),
        "GIT_TRACE": str(trace),
        "GIT_EXTERNAL_DIFF": str(script),
    }
    found = look(clone.path, *anchors, env=hostile)
    assert {told(one) for one in found} == {("unchanged", "worktree+origin/main")}
    clone.git("update-ref", "-d", "refs/remotes/origin/main")
    clone.git("symbolic-ref", "-d", "refs/remotes/origin/HEAD")
    trace.unlink(missing_ok=True)
    found = look(clone.path, *anchors, env=hostile)
    assert [(one.verdict.value, one.place) for one in found] == [
        ("missing", None),
        ("moved", "b.py#one"),
    ]
    assert not trace.exists()
    assert (clone.path / ".git" / "index").read_bytes() == index


def test_replaced_objects_do_not_count(clone: Repo) -> None:
    """What a commit has is what its tree says."""
    anchor = clone.anchor("a.py#one")
    clone.write("a.py", TWO_CHANGED)
    clone.commit()
    clone.git("update-ref", "refs/remotes/origin/main", "HEAD")
    other = clone.git("hash-object", "-w", str(clone.write("other.py", "x = 1\n")))
    clone.git("replace", clone.git("rev-parse", "HEAD:a.py"), other)
    clone.write("a.py", ONE_CHANGED)
    assert told(clone.check(anchor)[0]) == ("unchanged", "worktree+origin/main")


def test_a_repository_is_asked_once_for_all_of_its_files(
    clone: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the verdicts come back in the order they were asked for."""
    names = [f"f{number}" for number in range(40)]
    clone.commit(**dict.fromkeys(names, ONE))
    clone.git("update-ref", "refs/remotes/origin/main", "HEAD")
    anchors = [clone.anchor(f"{name}.py{part}") for name in names for part in ("", "#one")]
    for name in names[:30]:
        clone.write(f"{name}.py", ONE_CHANGED if name < "f2" else TWO_CHANGED)
    calls: list[str] = []
    ask = git_module.Git.ask

    def counted(self: git_module.Git, *arguments: str, **how: object) -> bytes | None:
        calls.append(arguments[0])
        return ask(self, *arguments, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(git_module.Git, "ask", counted)
    steps: list[tuple[int, int]] = []
    pairs = [(anchor.file, anchor) for anchor in reversed(anchors)]
    found = check(
        pairs,
        project=clone.path,
        env=os.environ,
        progress=lambda done, total: steps.append((done, total)),
    )
    assert [one.anchor for each in found.values() for one in each] == [
        f"{anchor.file}{'#one' if anchor.symbol else ''}" for anchor in reversed(anchors)
    ]
    assert {one.verdict.value for each in found.values() for one in each} == {"unchanged"}
    assert len(calls) == len(set(calls)) <= 5
    assert (steps[0], steps[-1]) == ((1, 40), (40, 40))


@pytest.mark.parametrize(
    ("is_pushed", "questions"),
    [(True, ["cat-file"]), (False, ["cat-file", "check-attr"])],
)
def test_a_changed_file_takes_few_questions(
    clone: Repo, monkeypatch: pytest.MonkeyPatch, questions: list[str], *, is_pushed: bool
) -> None:
    """Every page of hits with one of them asks these."""
    anchors = [clone.anchor(typed) for typed in ("a.py", "a.py#one")]
    clone.commit(a=ONE_CHANGED)
    clone.git("update-ref", "refs/remotes/origin/main", "HEAD")
    if not is_pushed:
        clone.write("a.py", f"{ONE_CHANGED}# more\n")
    calls: list[str] = []
    ask = git_module.Git.ask

    def counted(self: git_module.Git, *arguments: str, **how: object) -> bytes | None:
        calls.append(arguments[0])
        return ask(self, *arguments, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(git_module.Git, "ask", counted)
    found = clone.check(*anchors)
    assert [told(one) for one in found] == [("drifted", "worktree+origin/main")] * 2
    assert calls == questions


def test_odd_file_names_are_no_trouble(clone: Repo) -> None:
    """Blanks, quotes, marks of globs and of pathspecs, a line end, other letters."""
    names = ["a b.txt", "q\"'.txt", "[x]*.txt", ":(top)x.txt", "line\nend.txt", "ä\udcff.txt", "-n"]
    for name in names:
        clone.write(name, "one\n")
    clone.commit()
    clone.git("update-ref", "refs/remotes/origin/main", "HEAD")
    anchors = [clone.anchor(name) for name in names]
    for name in names:
        clone.write(name, "two\n")
    assert [told(one) for one in clone.check(*anchors)] == [
        ("unchanged", "worktree+origin/main")
    ] * len(names)
    for name in names:
        (clone.path / name).rename(clone.path / f"{name}.new")
    clone.git("update-ref", "-d", "refs/remotes/origin/main")
    changed = [Anchor(file=name, sha=blob_id(b"two\n")) for name in names]
    assert {one.verdict.value for one in clone.check(*changed)} == {"missing"}


def test_a_file_grain_check_imports_nothing_dear() -> None:
    """Every search does one."""
    code = "import sys, memspec_py.anchors.drift; print('\\n'.join(sys.modules))"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert "memspec_py.anchors.look" in loaded
    assert not loaded & {"subprocess", "tree_sitter", "yaml", "tomllib", "json", "difflib"}
