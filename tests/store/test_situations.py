"""Which store is read and which is written to, in every sort of directory that people have.

``fixtures/stores/situations.txt`` is the table. Each row is made and tried: the decision is asked
for, the records of exactly the expected layers must be found, and a record that is written must lie
in the expected store and nowhere else.
"""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memspec_py.errors import MemspecError
from tests.store.situations import Situation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspec_py import Memspec

TABLE = Path(__file__).resolve().parents[2] / "fixtures" / "stores" / "situations.txt"
_TITLE = "Written from where the caller stands"
_EXPECTED = ("reads", "writes", "refuses", "scope", "without", "tells")


@dataclass
class Row:
    """A scene, where the caller stands (and ``--cwd``, ``--store``), and what must come of it."""

    what: str
    scene: list[str] = field(default_factory=list)
    at: str = ""
    options: dict[str, str] = field(default_factory=dict)
    expected: dict[str, str] = field(default_factory=dict)

    def open(self, scene: Situation) -> Memspec:
        """What serves the place, opened."""
        return scene.open(self.at, self.options.get("cwd"), self.options.get("store"))

    def layers(self) -> Iterator[tuple[str, str, bool]]:
        """Name, place and whether it may be written to, of each expected layer."""
        for one in self.expected["reads"].split(", "):
            name, _, at = one.partition("=")
            yield name, at.removesuffix("(ro)"), not at.endswith("(ro)")


def rows() -> list[Row]:
    """The rows of the table."""
    found: list[Row] = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        word = line[:4].strip()
        if not line or line[0] in "#=":
            continue
        if not line.startswith("  "):
            found.append(Row(line))
        elif word == "?":
            found[-1].at, *options = line[4:].split(" --")
            found[-1].options = {
                name: at for name, _, at in (one.partition(" ") for one in options)
            }
        elif word == ">":
            name, _, value = line[4:].partition(" ")
            assert name in _EXPECTED, line
            found[-1].expected[name] = value
        else:
            found[-1].scene.append(line.strip())
    return found


ROWS = rows()


def test_the_table_is_large_and_says_everything_once() -> None:
    """Nobody can shorten it unnoticed, and each row says where one stands and what comes of it."""
    assert len(ROWS) >= 140
    whats = [row.what for row in ROWS]
    assert sorted({what for what in whats if whats.count(what) > 1}) == []
    for row in ROWS:
        assert row.at, row.what
        assert ("writes" in row.expected) is not ("refuses" in row.expected), row.what


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.what.rstrip("."))
def test_the_right_store_every_time(row: Row, tmp_path: Path) -> None:
    """What is decided, what is read and what is written agree with the row."""
    scene = Situation(tmp_path).make("\n".join(row.scene))
    if "reads" not in row.expected:
        _is_refused(scene, row)
        return
    with closing(row.open(scene)) as memspec:
        _is_decided(scene, row, memspec)
        _is_read(scene, row, memspec)
        _is_written(scene, row, memspec)


def _is_refused(scene: Situation, row: Row) -> None:
    """Opening says no, for a read and for a write, and makes nothing."""
    before = scene.everything()
    with pytest.raises(MemspecError) as refused:
        row.open(scene)
    assert refused.value.code == row.expected["refuses"]
    assert refused.value.hint
    assert scene.everything() == before


def _is_decided(scene: Situation, row: Row, memspec: Memspec) -> None:
    found = memspec.whereabouts()
    told = [(one.name, os.path.realpath(one.store), one.writable) for one in found.layers]
    assert told == [(name, scene.root(at), writable) for name, at, writable in row.layers()]
    assert found.scope == row.expected.get("scope")
    left_out = ", ".join(f"{one.name} {one.why}" for one in found.left_out)
    assert left_out == row.expected.get("without", "")
    assert found.steps[0].startswith(("start at", str(scene.base)))
    assert [one.primary for one in found.layers].count(True) == 1


def _is_read(scene: Situation, row: Row, memspec: Memspec) -> None:
    """Every expected layer's record, with its layer's name unless that is the primary one."""
    primary = next(one.name for one in memspec.whereabouts().layers if one.primary)
    expected = {
        (scene.marker(at), None if name == primary else name) for name, at, _ in row.layers()
    }
    listed, searched = memspec.list(), memspec.search("planted number")
    assert {(hit.title, hit.layer) for hit in listed.results} == expected
    assert {(hit.title, hit.layer) for hit in searched.results} == expected
    for circumstances in (listed.circumstances, searched.circumstances):
        told = "\n".join(circumstances.warnings)
        assert row.expected.get("tells", "") in told
        # Nothing is told where nothing is the matter.
        assert bool(told) is any(word in row.expected for word in ("tells", "without")), told
        left_out = ", ".join(f"{one.name} {one.why}" for one in circumstances.layers_left_out or ())
        assert left_out == row.expected.get("without", "")


def _is_written(scene: Situation, row: Row, memspec: Memspec) -> None:
    """The record lies in the expected store and nowhere else, and is read from there."""
    before = scene.records()
    if "refuses" in row.expected:
        with pytest.raises(MemspecError) as refused:
            memspec.remember("fact", _TITLE, source="tests")
        assert refused.value.code == row.expected["refuses"]
        assert refused.value.hint
        assert scene.records() == before
        return
    written = memspec.remember("fact", _TITLE, source="tests")
    after = scene.records()
    (new,) = set(after) - set(before)
    assert {path: after[path] for path in before} == before
    assert os.path.realpath(new) == f"{scene.root(row.expected['writes'])}/{written.path}"
    assert written.store == memspec.whereabouts().writes_to
    assert written.scope == row.expected.get("scope")
    assert memspec.get(written.id).title == _TITLE
