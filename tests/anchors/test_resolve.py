from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from memspec_py.anchors.blob import blob_id
from memspec_py.anchors.resolve import Resolved, resolve_anchor, retaken
from memspec_py.record.model import Anchor
from tests.anchors.repos import Repo

if TYPE_CHECKING:
    from pathlib import Path

    from memspec_py.anchors.locate import Unresolved

CODE = (
    "LIMIT = 60\n\n\ndef one():\n    return 1\n\n\nclass K:\n    def go(self):\n        return 2\n"
)
SHA = blob_id(CODE.encode())


@pytest.fixture
def app(tmp_path: Path) -> Repo:
    """A repository with one file."""
    made = Repo.make(tmp_path / "app")
    made.commit(**{"src/a": CODE})
    return made


def resolved(
    repo: Repo, typed: str, *paths: str, root: Path | None = None
) -> Resolved | Unresolved:
    """What a person gets for what they type in the project's folder."""
    return resolve_anchor(
        typed, cwd=repo.path, project=repo.path, env=os.environ, search_paths=paths, root=root
    )


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("src/a.py", {}),
        ("src/a.py#one", {"symbol": "one"}),
        ("src/a.py#K.go", {"symbol": "K.go"}),
        ("src/a.py:4-5", {"lines": "4-5"}),
        ("src/a.py:4", {"lines": "4-4"}),
        ("src/a.py::LIMIT=60", {"name": "LIMIT", "value": "60"}),
        ("src/a.py::LIMIT = 6_0", {"name": "LIMIT", "value": "60"}),
        ("src/a.py::LIMIT", {"name": "LIMIT", "value": "60"}),
    ],
)
def test_each_grain_is_recorded_with_what_finds_it_again(
    app: Repo, typed: str, expected: dict[str, str]
) -> None:
    """Absolute or not, and at file grain exactly as ever."""
    for way in (typed, f"{app.path}/{typed}"):
        found = resolved(app, way)
        assert isinstance(found, Resolved)
        assert found.notes == ()
        anchor = found.anchor
        keys = ("symbol", "lines", "name", "value")
        assert {key: getattr(anchor, key) for key in keys if getattr(anchor, key)} == expected
        assert (anchor.file, anchor.sha, anchor.repo) == ("src/a.py", SHA, None)
        assert (anchor.symbol_id or "").startswith("py1:") == ("symbol" in expected)
        assert (anchor.span_id or "").startswith("ln1:") == ("lines" in expected)


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("src/b.py", "no such file"),
        ("src/b.py#one", "no such file"),
        ("src", "folder"),
        ("src#one", "folder"),
        ("", "no such file"),
        ("src/a.py#two", "no two in src/a.py"),
        ("src/a.py#go", "did you mean K.go?"),
        ("src/a.py#ones", "did you mean one?"),
        ("src/a.py:4-40", "only 10 lines"),
        ("src/a.py:2-3", "empty"),
        ("src/a.py:5-4", "comes after"),
        ("src/a.py::LIMIT=61", "is 60 in src/a.py, not 61"),
        ("src/a.py::OTHER=1", "nothing in src/a.py gives OTHER"),
        ("nowhere/src/a.py", "no such file"),
        ("../app/../../x", "no such file"),
    ],
)
def test_what_cannot_be_anchored_is_told(app: Repo, typed: str, reason: str) -> None:
    """With what was typed, and the next step where there is one."""
    found = resolved(app, typed)
    assert not isinstance(found, Resolved)
    assert found.path == typed
    assert reason in found.reason


def test_a_name_with_two_values_cannot_keep_one(app: Repo) -> None:
    """Both are told."""
    app.write("b.py", "if x:\n    A = 1\nelse:\n    A = 2\n")
    found = resolved(app, "b.py::A=1")
    assert not isinstance(found, Resolved)
    assert "1, 2" in found.reason


def test_a_file_may_be_called_like_a_symbol_of_another(app: Repo) -> None:
    """The file that is there is the one that was meant."""
    app.write("src/a.py#one", "x")
    found = resolved(app, "src/a.py#one")
    assert isinstance(found, Resolved)
    assert (found.anchor.file, found.anchor.symbol) == ("src/a.py#one", None)


@pytest.mark.parametrize("file", ["a.kt", "Makefile", "broken.py"])
def test_where_symbols_cannot_be_told_the_file_is_anchored(app: Repo, file: str) -> None:
    """And the reply says so."""
    app.write(file, "def (")
    found = resolved(app, f"{file}#one")
    assert isinstance(found, Resolved)
    assert found.anchor == Anchor(file=file, sha=blob_id(b"def ("))
    assert "whole file" in found.notes[0]


def test_a_path_may_begin_with_a_repositorys_name(app: Repo, tmp_path: Path) -> None:
    """Beside the project, or below a search path; or be relative to a root that is given."""
    lib = Repo.make(tmp_path / "lib")
    lib.commit(b=CODE)
    far = Repo.make(tmp_path / "far" / "deep" / "other")
    far.commit(b=CODE)
    near = resolved(app, "lib/b.py#one")
    assert isinstance(near, Resolved)
    assert (near.anchor.repo, near.anchor.file, near.notes) == ("lib", "b.py", ())
    assert not isinstance(resolved(app, "other/b.py"), Resolved)
    found = resolved(app, "other/b.py", str(tmp_path / "far" / "deep"))
    assert isinstance(found, Resolved)
    assert (found.anchor.repo, found.notes) == ("other", ())
    rooted = resolved(app, "b.py:1", root=far.path)
    assert isinstance(rooted, Resolved)
    assert rooted.anchor.repo == "other"
    assert str(tmp_path / "far" / "deep") in rooted.notes[0]
    assert "repo_search_paths" in rooted.notes[0]


def test_another_checkout_of_the_same_name_is_told(app: Repo, tmp_path: Path) -> None:
    """Reads would look at that one."""
    for place in ("lib", "far/lib"):
        Repo.make(tmp_path / place).commit(b=CODE)
    found = resolved(app, str(tmp_path / "far" / "lib" / "b.py"))
    assert isinstance(found, Resolved)
    assert "another checkout" in found.notes[0]


@pytest.mark.parametrize(
    "typed", ["src/a.py", "src/a.py#one", "src/a.py:4-5", "src/a.py::LIMIT=60"]
)
def test_an_anchor_is_taken_anew_at_the_same_place(app: Repo, typed: str) -> None:
    """As the file is now; the value of a literal too."""
    old = app.anchor(typed)
    app.write("src/a.py", CODE.replace("return 1", "return 11").replace("60", "61"))
    assert app.check(old)[0].verdict == "drifted"
    found = retaken(old, project=app.path, env=os.environ)
    assert isinstance(found, Resolved)
    assert app.check(found.anchor)[0].verdict == "unchanged"
    assert (found.anchor.symbol, found.anchor.lines) == (old.symbol, old.lines)
    assert found.anchor.value == ("61" if old.value else None)


@pytest.mark.parametrize("typed", ["src/a.py", "src/a.py#one", "src/a.py:4-5"])
def test_an_anchor_is_taken_anew_where_it_moved_to(app: Repo, typed: str) -> None:
    """Only when told to, by the place that the verdict names."""
    old = app.anchor(typed)
    app.git("mv", "src/a.py", "b.py")
    (drift,) = app.check(old)
    assert drift.place == typed.replace("src/a.py", "b.py")
    assert not isinstance(retaken(old, project=app.path, env=os.environ), Resolved)
    found = retaken(old, project=app.path, env=os.environ, place=drift.place)
    assert isinstance(found, Resolved)
    assert found.anchor.file == "b.py"
    assert app.check(found.anchor)[0].verdict == "unchanged"


@pytest.mark.parametrize(
    "anchor",
    [
        Anchor(repo="gone", file="a.py", sha=SHA),
        Anchor(file="../a.py", sha=SHA),
        Anchor(file="gone.py", sha=SHA),
        Anchor(file="src/a.py", sha=SHA, symbol="gone", symbol_id="py1:0"),
        Anchor(file="src/a.py", sha=SHA, lines="x", span_id="ln1:1:0"),
    ],
)
def test_what_is_nowhere_is_not_taken_anew(app: Repo, anchor: Anchor) -> None:
    """With a reason."""
    found = retaken(anchor, project=app.path, env=os.environ)
    assert not isinstance(found, Resolved)
    assert found.reason


def test_what_is_anchored_is_unchanged(app: Repo) -> None:
    """For every symbol, line and heading of this project's own files."""
    app.write("README.md", "# Top\n\ntext\n\n## Sub\n\nmore\n")
    app.write("p.toml", '[tool.x]\n"a.b" = [1]\n')
    for typed in ("README.md#Top", "README.md#sub", 'p.toml#tool.x."a.b"', "p.toml::tool.x.y"):
        found = resolved(app, typed)
        if isinstance(found, Resolved):
            app.write(found.anchor.file, (app.path / found.anchor.file).read_bytes() + b"\n")
            assert app.check(found.anchor)[0].verdict == "unchanged", typed
        else:
            assert "tool.x.y" in found.reason
