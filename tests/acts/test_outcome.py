from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspec_py.errors import Invalid, MemspecError, NotFound, StorageFailed, UsageError
from memspec_py.record.model import State
from memspec_py.store.outcomes import Outcome, OutcomeRow, append, appending, tally, told_of
from memspec_py.testing import TempStore, a_record, an_id
from tests.faults import crash_points, needs_fork, quick_folder

if TYPE_CHECKING:
    from pathlib import Path

ONE, GONE = an_id(1), an_id(2)


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """A store with a record in use and a superseded one."""
    made = TempStore(tmp_path)
    made.put(a_record(1))
    made.put(a_record(2, state=State.SUPERSEDED, supersede_reason="old"))
    return made


def rows(store: TempStore) -> list[dict[str, str]]:
    """The lines of the log."""
    lines = (store.root / "outcomes.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_an_outcome_is_appended_and_the_record_stays(store: TempStore) -> None:
    """With who, when, why and the session; counts are of this record."""
    before = (store.root / f"memory/facts/{ONE}.md").read_bytes()
    store.ms.outcome(ONE, "helped")
    store.clock.advance(days=1)
    done = store.ms.outcome(ONE.lower(), "dead-end", note=" gone \n", source="ada", session="s1")
    store.ms.outcome(GONE, "corrected")
    assert rows(store) == [
        {"id": ONE, "outcome": "helped", "at": "2026-01-01T00:00:00.000Z", "source": "agent"},
        {
            "id": ONE,
            "outcome": "dead_end",
            "at": "2026-01-02T00:00:00.000Z",
            "source": "ada",
            "note": "gone",
            "session": "s1",
        },
        {"id": GONE, "outcome": "corrected", "at": "2026-01-02T00:00:00.000Z", "source": "agent"},
    ]
    assert done.counts == {"helped": 1, "dead_end": 1, "corrected": 0}
    assert (store.root / f"memory/facts/{ONE}.md").read_bytes() == before
    assert "outcomes.jsonl" in (store.root / ".gitignore").read_text(encoding="utf-8").split()


@pytest.mark.parametrize(
    ("given_", "error"),
    [
        ({"record_id": an_id(99)}, NotFound),
        ({"outcome": "great"}, UsageError),
        ({"source": "unknown"}, Invalid),
        ({"note": "x\0"}, Invalid),
        ({"note": "x" * 2001}, Invalid),
    ],
)
def test_what_makes_no_sense_is_refused(
    store: TempStore, given_: dict[str, Any], error: type[MemspecError]
) -> None:
    """And no line is written."""
    with pytest.raises(error):
        store.ms.outcome(**{"record_id": ONE, "outcome": "helped", **given_})
    assert not (store.root / "outcomes.jsonl").exists()


def test_a_torn_line_costs_only_itself(store: TempStore) -> None:
    """The next line begins on its own, and neither it nor foreign lines are counted."""
    store.write("outcomes.jsonl", '[1]\nnonsense\n{"id": "x"}\n{"id": "torn')
    assert store.ms.outcome(ONE, "helped").counts["helped"] == 1
    assert (store.root / "outcomes.jsonl").read_text(encoding="utf-8").count("\n") == 5


def test_foreign_lines_are_told_of_nobody(store: TempStore) -> None:
    """However much they look like ours; one that another program laid out otherwise counts."""
    lines = [
        '{"id": ["x"], "outcome": "dead_end"}',
        '{"outcome": "dead_end"}',
        '{"id": "x", "outcome": "helped", "note": "no dead_end"}',
        f"{'[' * 100_000} dead_end {ONE}",
        f'{{ "outcome":"dead_end","id":"{ONE}" }}\r',
        f'{{"id": "{GONE}", "outcome": "dead_end"',
    ]
    store.write("outcomes.jsonl", "\n".join(lines))
    assert told_of(store.root, Outcome.DEAD_END) == {ONE}
    assert tally(store.root, ONE) == {"helped": 0, "dead_end": 1, "corrected": 0}
    store.write("outcomes.jsonl", b"\xff dead_end\n")
    assert told_of(store.root, Outcome.DEAD_END) == set()


def test_a_link_in_place_of_the_log_is_not_followed(store: TempStore) -> None:
    """What stands at its end is somebody else's."""
    victim = store.home / "victim"
    victim.write_text("mine\n", encoding="utf-8")
    (store.root / "outcomes.jsonl").symlink_to(victim)
    with pytest.raises(StorageFailed):
        store.ms.outcome(ONE, "helped")
    assert appending(store.root, []).problem.startswith("outcomes.jsonl: ")
    (store.root / "outcomes.jsonl").unlink()
    os.symlink("nowhere", store.root / "outcomes.jsonl")
    assert appending(store.root, []).problem.startswith("outcomes.jsonl: ")
    assert victim.read_text(encoding="utf-8") == "mine\n"


@given(
    st.lists(
        st.builds(
            OutcomeRow,
            id=st.sampled_from([ONE, GONE]),
            outcome=st.sampled_from(Outcome),
            at=st.just("2026-01-01T00:00:00.000Z"),
            source=st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
            note=st.none() | st.text(st.characters(exclude_categories=["Cs"])),
        )
    )
)
def test_every_line_is_counted_once(written: list[OutcomeRow]) -> None:
    """Whatever the texts hold, one row is one line."""
    with quick_folder() as folder:
        for row in written:
            append(folder, [row])
        for id_ in (ONE, GONE):
            counts = tally(folder, id_)
            for outcome in Outcome:
                assert (id_ in told_of(folder, outcome)) == (counts[outcome] > 0)
                found = [row for row in written if (row.id, row.outcome) == (id_, outcome)]
                assert counts[outcome] == len(found)


@needs_fork
def test_a_kill_loses_at_most_the_line_being_written() -> None:
    """The lines before it stay, and the log can be written on."""
    with quick_folder() as folder:
        numbers = iter(range(10_000))

        def fresh() -> TempStore:
            made = TempStore(folder / str(next(numbers)))
            made.put(a_record(1))
            made.ms.outcome(ONE, "helped")
            return made

        seen = set()
        for point, store in crash_points(fresh, lambda store: store.again().outcome(ONE, "helped")):
            counts = store.again().outcome(ONE, "dead_end").counts
            assert counts["dead_end"] == 1, point
            seen.add(counts["helped"])
        assert seen == {1, 2}
