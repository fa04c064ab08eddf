"""Sweeping at a terminal: a question for each record, on standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from memspec_py.cli import sweep
from memspec_py.testing import TempStore, a_record, an_id

if TYPE_CHECKING:
    from pathlib import Path

PAST = "2020-01-01T00:00:00.000Z"


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """A store with three stale claims."""
    made = TempStore(tmp_path)
    for number in (1, 2, 3):
        made.put(a_record(number, title=f"Harbour {number}", check_by=PAST))
    return made


@pytest.mark.parametrize(
    ("typed", "retired"),
    [("y\n\nY\n", [1, 3]), ("n\ny\nq\n", [2]), ("q\n", []), ("maybe\ny\nq\n", [1]), ("y\n", [1])],
)
def test_yes_no_and_quit(
    store: TempStore, monkeypatch: pytest.MonkeyPatch, typed: str, retired: list[int]
) -> None:
    """Enter is no, an odd answer is asked again, and the end of the input ends the sweep."""
    monkeypatch.setattr(sweep, "_is_terminal", lambda: True)
    said = CliRunner().invoke(
        sweep.command, ["--force", "--cwd", str(store.project)], input=typed, prog_name="memspec"
    )
    found = sorted(path.stem for path in (store.root / "archive").glob("*.md"))
    assert found == [an_id(number) for number in retired]
    assert "Retire this record?" in said.stderr
    assert "Retire this record?" not in said.stdout
