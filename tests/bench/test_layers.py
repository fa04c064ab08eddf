"""The rows of ``bin/bench speed`` on layers and backfills: that they measure what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.bench.backfill import BackfillBench, replace_files
from tests.bench.layers import LayerBench

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_layers_are_measured_beside_one_store(tmp_path: Path) -> None:
    """Three layers answer, one of them by a word of trust, and two rows only inform."""
    work = tmp_path / "work"
    work.mkdir()
    report = LayerBench(30, tmp_path, work, 1).report()
    assert [one.is_judged for one in report.measures] == [True, False, True, False]
    assert report.floors["search, one store"] > 0
    assert all(one.allowed > 0 for one in report.measures)


@pytest.mark.slow
def test_backfills_are_measured_beside_reading_and_replacing(tmp_path: Path) -> None:
    """Every record is changed in each round, by an apply that comes after a dry run."""
    report = BackfillBench(20, tmp_path, tmp_path).report()
    assert [one.is_judged for one in report.measures] == [False, True]
    assert all(one.ours > 0 and one.allowed > 0 for one in report.measures)
    assert set(report.floors) == {"reading all files", "replacing all files, each synced"}


def test_the_floor_of_a_backfill_replaces_every_file(tmp_path: Path) -> None:
    """Each has its bytes, in a new file, and nothing is left beside it."""
    paths = [tmp_path / name for name in ("a", "b")]
    for path in paths:
        path.write_bytes(path.name.encode())
    before = [path.stat().st_ino for path in paths]
    replace_files([str(path) for path in paths])
    assert [path.read_bytes() for path in paths] == [b"a", b"b"]
    assert all(path.stat().st_ino != inode for path, inode in zip(paths, before, strict=True))
    assert sorted(tmp_path.iterdir()) == paths
