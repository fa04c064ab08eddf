from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tests.anchors.repos import Repo
from tests.bench.drift import command, judge, misses, walk

if TYPE_CHECKING:
    from pathlib import Path

FIRST = {
    "a": "LIMIT = 1\n\n\ndef one():\n    return 1\n\n\ndef two():\n    return 2\n",
    "b": "class K:\n    def go(self):\n        return 1\n",
}


@pytest.fixture
def history(tmp_path: Path) -> Repo:
    """Five commits: a comment, a change, a move, a removal, nothing of Python."""
    repo = Repo.make(tmp_path / "history")
    repo.commit(**FIRST)
    repo.commit(a="# why\n" + FIRST["a"])
    changed = FIRST["a"].replace("return 1", "return 11")
    repo.commit(a=changed)
    repo.commit(a=changed.partition("\n\n\ndef two")[0], c="def two():\n    return 2\n")
    repo.commit(b="class K:\n    pass\n")
    repo.write("notes.txt", "x")
    repo.commit()
    return repo


def test_each_alarm_is_counted_once_and_judged(history: Repo) -> None:
    """After an alarm the claim is anchored anew, so the next one is another."""
    before = history.git("status", "--porcelain", "--branch")
    report = walk(history.path, 5)
    assert report.commits == 5
    coarse, fine = report.counts["Python", "file"], report.counts["Python", "symbol"]
    assert (coarse.claims, fine.claims) == (5, 5)
    # Three names of a.py in each of three commits, and the two of b.py in one.
    assert (coarse.alarms, coarse.true_alarms, coarse.changes) == (11, 3, 3)
    assert (fine.alarms, fine.true_alarms, fine.changes, fine.moved) == (3, 3, 3, 1)
    assert (fine.precision, fine.recall, fine.alarms_per_change) == (1.0, 1.0, 1.0)
    assert coarse.precision == pytest.approx(3 / 11)
    assert report.odd == []
    assert misses([report])
    assert history.git("status", "--porcelain", "--branch") == before


def test_the_command_tells_and_judges(history: Repo) -> None:
    """A missed target is an exit of 1 only with --check."""
    arguments = ["--repo", str(history.path), "--commits", "2"]
    plain = CliRunner().invoke(command, arguments)
    assert (plain.exit_code, "times fewer alarms" in plain.output) == (0, True)
    shown = CliRunner().invoke(command, [*arguments, "--json", "--check"])
    told = json.loads(shown.stdout)
    assert shown.exit_code == 1
    assert told["misses"]
    assert told["reports"][0]["languages"]["Python, symbol"]["alarms"] == 2


@pytest.mark.parametrize(
    ("file", "text", "public"),
    [
        ("a.py", "X: int = 1\n_y = 2\nclass K:\n    def m(self): ...\n", {"X", "K", "K.m"}),
        ("a.go", "package a\nfunc (t *T) M() {}\nfunc f() {}\nconst X = 1\n", {"T.M", "X"}),
        ("a.rs", "impl<T> S<T> { pub fn a() {} fn b() {} }\npub struct S<T>(T);", {"S.a", "S"}),
        ("a.ts", "export class A { m() {} }\nconst x = 1;\nexport const y = 2;", {"A", "A.m", "y"}),
        ("a.java", "public class A { public void m() {} void n() {} }", {"A", "A.m"}),
    ],
)
def test_the_judge_sees_what_others_may_use(file: str, text: str, public: set[str]) -> None:
    """And its code, without comments and docstrings."""
    if not file.endswith(".py"):
        pytest.importorskip("tree_sitter")
    code = judge(file, text.encode())
    assert code is not None
    assert code.public == public
    mark = "#" if file.endswith(".py") else "//"
    again = judge(file, f"{mark} c\n{text}\n{mark} d\n".encode())
    assert again is not None
    assert again.of == code.of


@pytest.mark.parametrize(("file", "text"), [("a.py", "def ("), ("a.go", "func (")])
def test_the_judge_says_when_it_cannot_read(file: str, text: str) -> None:
    """Then nothing is counted."""
    if not file.endswith(".py"):
        pytest.importorskip("tree_sitter")
    assert judge(file, text.encode()) is None
