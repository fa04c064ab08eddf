from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from memspec_py import Memspec

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(git_repo: Path, repository: Path) -> Path:
    """A project with a store and, committed in 2021, the invented decision records."""
    shutil.copytree(repository / "fixtures" / "adr", git_repo / "docs" / "adr")
    undated = "# 9. Lights \N{LATIN SMALL LETTER E WITH ACUTE}\n\n## Decision\n\nOn by day.\n"
    (git_repo / "docs/adr/nygard/0009-lights \u00e9.md").write_text(undated, encoding="utf-8")
    dated = {**os.environ, "GIT_AUTHOR_DATE": "2021-02-03T00:00:00Z"}
    subprocess.run(["git", "add", "-A"], cwd=git_repo, check=True)
    subprocess.run(["git", "commit", "-qm", "Decisions"], cwd=git_repo, check=True, env=dated)
    Memspec.init(git_repo)
    return git_repo


def _run(repository: Path, project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = repository / "bin" / "_backfill_adrs.py"
    return subprocess.run(
        [sys.executable, str(script), *arguments],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(repository)},
        capture_output=True,
        text=True,
        check=False,
    )


def _report(repository: Path, project: Path, *arguments: str) -> dict[str, Any]:
    done = _run(repository, project, "--json", *arguments)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _files(project: Path) -> list[str]:
    below = (project / ".memspec").rglob("ms_*.md")
    return sorted(path.relative_to(project).as_posix() for path in below)


def test_a_dry_run_writes_no_record(project: Path, repository: Path) -> None:
    """Without ``--apply`` the report tells what would be created, and no record is there."""
    done = _run(repository, project, "docs/adr")
    assert done.returncode == 0
    assert (
        "18 decisions and 7 other files in docs/adr\n  created    18  (a dry run)\n" in done.stdout
    )
    assert "misc/broken-head.md: unreadable: line 3: " in done.stdout
    assert done.stdout.endswith("nothing was written; --apply writes\n")
    assert _files(project) == []


def test_a_second_run_changes_nothing(project: Path, repository: Path) -> None:
    """What was imported is found again by its id, wherever the script is called."""
    first = _report(repository, project, "docs/adr", "--apply")
    assert (first["adopted"]["created"], first["adopted"]["present"]) == (18, 0)
    files = _files(project)
    assert len(files) == 18
    second = _report(repository, project / "docs", "adr", "--apply")
    assert (second["adopted"]["created"], second["adopted"]["present"]) == (0, 18)
    assert (second["place"], _files(project)) == ("docs/adr", files)


def test_what_was_imported_can_be_read(project: Path, repository: Path) -> None:
    """Superseded records are archived with their heir, and an undated one has its commit's day."""
    paths = _report(repository, project, "docs/adr", "--apply")["paths"]
    ids = {place: record_id for record_id, place in paths.items()}
    with Memspec.open(project) as memspec:
        old = memspec.get(ids["docs/adr/madr/0005-use-grpc.md"]).record
        lights = memspec.get(ids["docs/adr/nygard/0009-lights \u00e9.md"]).record
        hits = memspec.search("ADR-0006").results
    assert old["state"] == "superseded"
    assert old["superseded_by"] == ids["docs/adr/madr/0007-use-mqtt.md"]
    assert lights["created"] == "2021-02-03T00:00:00.000Z"
    assert hits[0].id == ids["docs/adr/madr/0006-limit-crane-speed.md"]


def test_refusals_are_told_and_exit_1(project: Path, repository: Path) -> None:
    """A copy of a decision is refused, and so is what links to it; each with its reason."""
    folder = project / "docs" / "adr"
    shutil.copy(folder / "table" / "ADR-7.md", folder / "misc" / "0099-berths.md")
    done = _run(repository, project, "docs/adr")
    assert done.returncode == 1
    assert "refused     2\n" in done.stdout
    assert "docs/adr/table/ADR-7.md: near-duplicate: " in done.stdout
    assert "docs/adr/table/ADR-12.md: dangling-edge: " in done.stdout


def test_errors_are_text_and_an_exit_code(tmp_path: Path, repository: Path) -> None:
    """No store, and a folder that is not there, are told in one line each."""
    (tmp_path / "adr").mkdir()
    no_store = _run(repository, tmp_path, "adr")
    assert (no_store.returncode, no_store.stdout) == (4, "")
    assert no_store.stderr.startswith("error: ")
    no_folder = _run(repository, tmp_path, "nowhere")
    assert no_folder.returncode == 2
    assert "nowhere" in no_folder.stderr
