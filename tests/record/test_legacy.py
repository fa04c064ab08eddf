from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from memspec_py.api import Memspec
from memspec_py.clock import FixedClock
from memspec_py.config import Limits
from memspec_py.record.legacy import modern
from memspec_py.record.model import Anchor, State
from memspec_py.record.parse import edit_text, parse_record
from memspec_py.store.resolve import Surroundings
from memspec_py.testing import an_id

if TYPE_CHECKING:
    from pathlib import Path

    from memspec_py.record.model import Plain

OLD = f"""\
---
id: {an_id(1)}
type: fact
state: corrected
created: 2025-01-01T00:00:00.000Z
source: claude
confidence: 0.8
decay_after: '2025-04-01T00:00:00.000Z'
stale: true
corrects: [{an_id(2)}]
corrected_by: {an_id(3)}
correction_reason: moved
ext:
  code_anchors:
    - file: a.ts
      sha: abc
  team: web
---
# Old
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("captured", "active"),
        ("corrected", "superseded"),
        ("decayed", "retired"),
        ("archived", "retired"),
        ("active", "active"),
        ("nonsense", "nonsense"),
    ],
)
def test_old_states_have_new_names(old: str, new: str) -> None:
    """The lifecycle of 0.2 and 0.3; what nobody knows stays to be complained about."""
    assert modern({"state": old})["state"] == new


def test_old_keys_have_new_names() -> None:
    """Nothing an old file says is lost; what meant staleness is computed now."""
    record = parse_record(OLD.encode(), Limits())
    assert record.state is State.SUPERSEDED
    assert record.check_by == "2025-04-01T00:00:00.000Z"
    assert (record.supersedes, record.superseded_by) == ((an_id(2),), (an_id(3),))
    assert record.supersede_reason == "moved"
    assert record.anchors == (Anchor(file="a.ts", sha="abc"),)
    assert record.ext == {"team": "web", "legacy_confidence": "0.8"}
    assert record.extra == {}


def test_todays_name_wins_over_an_old_one() -> None:
    """A file with both was edited by a newer version last."""
    assert modern({"check_by": "new", "decay_after": "old"}) == {"check_by": "new"}


def test_a_new_file_is_not_touched() -> None:
    """No copy is made where nothing is old."""
    mapping: dict[str, Plain] = {
        "id": an_id(1),
        "state": "active",
        "ext": {"a": "b"},
        "unknown": "kept",
    }
    assert modern(mapping) is mapping


def test_an_edit_replaces_the_old_name_by_the_new() -> None:
    """So that a file never says the same thing twice, and everything else stays as it was."""
    before = parse_record(OLD.encode(), Limits())
    after = replace(before, check_by="never", supersede_reason="moved again")
    text = edit_text(OLD, before, after)
    assert "decay_after" not in text
    assert "correction_reason" not in text
    assert "check_by: never" in text
    assert "corrected_by: " in text
    assert parse_record(text.encode(), Limits()) == after


@pytest.fixture
def old_store(data_dir: Path, tmp_path: Path) -> Memspec:
    """A copy of the store that memspec 0.7.2 wrote."""
    shutil.copytree(data_dir / "memspec-0.7.2-store", tmp_path / "project")
    where = Surroundings(cwd=tmp_path / "project", home=tmp_path, env={})
    return Memspec.open(where=where, clock=FixedClock("2026-12-01T00:00:00Z"))


def test_the_store_of_0_7_2_is_read_whole(old_store: Memspec) -> None:
    """Every file is a record in its place; nothing is unreadable and doctor finds no error."""
    files = sorted(
        path.relative_to(old_store.root)
        for folder in ("memory", "observations", "archive")
        for path in (old_store.root / folder).rglob("*.md")
    )
    status = old_store.status()
    assert status.files == len(files) > 15
    assert status.circumstances.unreadable_count == 0
    assert status.circumstances.warnings == ()
    listed = old_store.list(state="any", limit=1000)
    assert listed.total == status.records - status.expired
    worst = {finding.severity for finding in old_store.doctor().findings}
    assert "error" not in worst


def test_the_store_of_0_7_2_is_searched_shown_and_written_to(old_store: Memspec) -> None:
    """Each active record is found by its title and shown; a new claim lands beside them."""
    page = old_store.list(limit=1000).results
    assert len(page) > 8
    for hit in page:
        shown = old_store.get(hit.id)
        assert shown.title == hit.title
        assert shown.path == hit.path
        found = old_store.search(hit.title, type=hit.type).results
        assert hit.id in [one.id for one in found]
    done = old_store.remember("fact", "Something nobody said before", source="ada")
    assert old_store.search("nobody said before").results[0].id == done.id


def test_supersede_chains_of_0_7_2_are_followed(old_store: Memspec) -> None:
    """From an archived record to its heir and back."""
    archived = [old_store.get(hit.id) for hit in old_store.list(state="superseded").results]
    replaced = [shown for shown in archived if "superseded_by" in shown.record]
    assert len(replaced) == 2
    for shown in replaced:
        (heir, *_) = shown.descendants
        assert shown.id in [one.id for one in old_store.get(heir.id).ancestors]


def test_an_edit_of_a_0_7_2_file_keeps_every_other_byte(old_store: Memspec) -> None:
    """Quotes, order and unknown keys of the other program stay."""
    for hit in old_store.list(limit=1000).results:
        copy = old_store.edit_copy(hit.id)
        record = parse_record(copy.text.encode(), Limits())
        text = edit_text(copy.text, record, replace(record, tags=(*record.tags, "seen")))
        gone = [line for line in copy.text.splitlines() if line not in text.splitlines()]
        assert all(line.startswith(("tags:", "  - ")) for line in gone)
        assert old_store.replace_text(copy, text, source="user").changed == ("tags",)
