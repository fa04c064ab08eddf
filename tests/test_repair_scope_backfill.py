"""bin/repair-scope-backfill: records without a scope get the one that their tags stand for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from memspec_py.record.model import SourceKind, State
from memspec_py.testing import TempStore, a_record, an_id

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """A store that declares two scopes, with a record for each case."""
    made = TempStore(tmp_path)
    made.write("config.yaml", "scopes:\n  api: [service/*]\n  web: [site/*]\n")
    made.put(a_record(1, title="Tokens expire", tags=("Auth",)))
    made.put(a_record(2, title="Buttons are blue", tags=("css",)))
    made.put(a_record(3, title="Login has a form", tags=("auth", "css")))
    made.put(a_record(4, title="Otters swim", tags=("otters",)))
    made.put(a_record(5, title="Tokens are opaque", tags=("auth",), scope="web"))
    operator = {"source": "human:ada", "source_kind": SourceKind.OPERATOR}
    made.put(a_record(6, title="Keys rotate", tags=("auth",), **operator))
    made.put(a_record(7, title="Old tokens", tags=("auth", "jwt"), state=State.RETIRED))
    return made


@pytest.fixture
def run(repository: Path, store: TempStore) -> Run:
    """The script, called in the store's project."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(repository / "bin" / "_repair_scope_backfill.py"), *arguments],
            cwd=store.project,
            env={**os.environ, "PYTHONPATH": str(repository), "HOME": str(store.home)},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


MAP = ("--map", "auth:api, jwt:api, css:web")


def _report(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _scopes(store: TempStore) -> dict[int, str | None]:
    with store.again() as ms:
        return {number: ms.get(an_id(number)).record.get("scope") for number in range(1, 8)}  # type: ignore[misc]


OLD = {1: None, 2: None, 3: None, 4: None, 5: "web", 6: None, 7: None}
NEW = OLD | {1: "api", 2: "web", 7: "api"}


def test_a_dry_run_tells_and_writes_nothing(store: TempStore, run: Run) -> None:
    """What each record would get, and why the others get nothing."""
    done = run("--store", ".memspec", *MAP)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert [line.split() for line in lines[1:8]] == [
        ["to", "scope", "3"],
        ["ambiguous", "1"],
        ["no", "such", "tag", "1"],
        ["had", "a", "scope", "1"],
        ["operator", "1"],
        ["refused", "0"],
        ["unreadable", "0"],
    ]
    assert f"changed: {an_id(1)} Tokens expire: api" in lines
    assert f"ambiguous: {an_id(3)} Login has a form: api, web" in lines
    assert lines[-1] == "nothing was written; --apply writes"
    assert _scopes(store) == OLD
    assert not (store.root / "local/backfills").exists()


def test_apply_writes_and_can_be_undone(store: TempStore, run: Run) -> None:
    """A second run finds nothing to do; the undo brings the old bytes back."""
    before = (store.root / f"memory/facts/{an_id(1)}.md").read_bytes()
    report = _report(run("--store", str(store.root), *MAP, "--apply", "--json"))
    assert _scopes(store) == NEW
    assert report["map"] == {"auth": "api", "jwt": "api", "css": "web"}
    assert (report["unmatched"], report["had_scope"]) == (1, 1)
    assert report["ambiguous"] == [
        {"id": an_id(3), "title": "Login has a form", "scopes": ["api", "web"]}
    ]
    backfilled = report["backfilled"]
    assert (backfilled["applied"], backfilled["changed"], backfilled["skipped_operator"]) == (
        True,
        3,
        1,
    )
    again = _report(run(*MAP, "--apply", "--json"))
    assert (again["backfilled"]["changed"], again["had_scope"]) == (0, 4)
    store.ms.undo(backfilled["journal"])
    assert _scopes(store) == OLD
    assert (store.root / f"memory/facts/{an_id(1)}.md").read_bytes() == before


def test_the_operators_records_are_included_when_asked(store: TempStore, run: Run) -> None:
    """Not before."""
    assert run(*MAP, "--apply", "--include-operator").returncode == 0
    assert _scopes(store) == NEW | {6: "api"}


@pytest.mark.parametrize(
    ("map_", "told"),
    [
        ("auth", "'auth' is not TAG:SCOPE"),
        ("auth:", "'auth:' is not TAG:SCOPE"),
        (":api", "':api' is not TAG:SCOPE"),
        ("auth:api,", "'' is not TAG:SCOPE"),
        ("", "'' is not TAG:SCOPE"),
        ("auth:api,Auth:web", "'Auth' stands for two scopes"),
        ("auth:apu", "no scope 'apu' in config.yaml"),
    ],
)
def test_a_map_that_makes_no_sense_is_a_usage_error(
    store: TempStore, run: Run, map_: str, told: str
) -> None:
    """Nothing is written, and the message quotes the part in question."""
    done = run("--map", map_, "--apply")
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert "hint" in done.stderr or "two scopes" in done.stderr
    assert _scopes(store) == OLD


def test_a_map_is_required(run: Run) -> None:
    """As is said."""
    done = run("--apply")
    assert done.returncode == 2
    assert "--map" in done.stderr


def test_universal_needs_no_declaration(store: TempStore, run: Run) -> None:
    """And a tag may hold a colon."""
    store.put(a_record(4, title="Otters swim", tags=("area:otters",)))
    assert run("--map", "area:otters:universal", "--apply").returncode == 0
    assert _scopes(store)[4] == "universal"


def test_a_store_without_scopes_takes_any(store: TempStore, run: Run) -> None:
    """There is nothing to compare with."""
    (store.root / "config.yaml").unlink()
    assert run("--map", "css:anything", "--apply").returncode == 0
    assert _scopes(store)[2] == "anything"


def test_only_the_named_store_is_changed(store: TempStore, run: Run) -> None:
    """One further up the tree is not taken for it."""
    inner = store.project / "inner"
    inner.mkdir()
    for place in (inner, store.project / "nowhere"):
        done = run("--store", str(place), *MAP, "--apply")
        assert done.returncode == 4, done
        assert done.stderr.startswith("error: no store at ")
    assert run("--store", str(store.project), *MAP).returncode == 0
    assert _scopes(store) == OLD


def test_refused_and_unreadable_records_are_told(store: TempStore, run: Run) -> None:
    """With the reason; refusals make the exit code 1, and stop no other record."""
    store.put(a_record(1, title="Tokens expire", tags=("auth",)))
    (store.root / f"memory/decisions/{an_id(1)}.md").write_bytes(
        (store.root / f"memory/facts/{an_id(1)}.md").read_bytes()
    )
    store.write("memory/facts/broken.md", "no record")
    done = run(*MAP, "--apply")
    assert done.returncode == 1
    assert f"refused: {an_id(1)} Tokens expire: {an_id(1)} is the id of several files" in (
        done.stdout
    )
    assert "unreadable: memory/facts/broken.md:1: " in done.stdout
    assert _scopes(store)[2] == "web"
