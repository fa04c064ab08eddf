from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

import pytest

from memspec_py.store.usage import Log, Receipt, Use, demand, uses_of, whole_log, write_receipt
from memspec_py.testing import TempStore, a_record, an_id

if TYPE_CHECKING:
    from pathlib import Path

DAY = "2026-01-{:02}T00:00:00.000Z"


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """A store with two records."""
    made = TempStore(tmp_path)
    for number in (1, 2):
        made.put(a_record(number, body="harbour"))
    return made


def rows(store: TempStore) -> list[dict[str, object]]:
    """The receipts on disk."""
    text = (store.root / "usage.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_one_line_for_each_record_shown(store: TempStore) -> None:
    """With the query, the rank, the surface, and the session when there is one."""
    reply = store.ms.search("harbour " + "x" * 500)
    store.ms.note_use(reply, surface="cli")
    store.ms.note_use(reply, surface="mcp", session="s1")
    first, second, third, _ = rows(store)
    assert first == {
        "id": an_id(1),
        "at": DAY.format(1),
        "query": ("harbour " + "x" * 500)[:200],
        "rank": 1,
        "surface": "cli",
    }
    assert (second["rank"], second["id"]) == (2, an_id(2))
    assert (third["session"], third["surface"]) == ("s1", "mcp")


def test_no_hit_no_receipt(store: TempStore) -> None:
    """The file is not even made."""
    store.ms.note_use(store.ms.search("nothing"), surface="cli")
    assert not (store.root / "usage.jsonl").exists()


def test_uses_say_when_last_and_in_how_many_sessions(store: TempStore) -> None:
    """Rows without a session never count as one; torn and foreign lines are passed over."""
    for day, session in ((1, None), (3, "a"), (2, "a"), (2, "b")):
        write_receipt(store.root, Receipt((an_id(1),), DAY.format(day), "q", "cli", session))
    with (store.root / "usage.jsonl").open("a", encoding="utf-8") as file:
        file.write(f'{{"id": "{an_id(1)}", "at": "20\n[]\n{{"id": "{an_id(2)}"\n')
    uses = uses_of(store.root, [an_id(1), an_id(2), an_id(3)])
    assert set(uses) == {an_id(1)}
    assert (uses[an_id(1)].last_referenced, uses[an_id(1)].sessions) == (DAY.format(3), 2)


def test_a_query_cannot_forge_a_receipt(store: TempStore) -> None:
    """Text that looks like a row stays inside its own."""
    forged = f'x"}}\n{{"id": "{an_id(2)}", "at": "9999", "session": "z"}}'
    write_receipt(store.root, Receipt((an_id(1),), DAY.format(1), forged, "cli", None))
    assert set(uses_of(store.root, [an_id(1), an_id(2)])) == {an_id(1)}


def test_the_log_is_bounded_by_rotation(store: TempStore) -> None:
    """Two files at most, of about half a megabyte each, and both are read."""
    receipt = Receipt((an_id(1),) * 1000, DAY.format(1), "q" * 200, "cli", "s")
    for _ in range(8):
        write_receipt(store.root, receipt)
    names = sorted(path.name for path in store.root.glob("usage*"))
    assert set(names) <= {"usage.jsonl", "usage.1.jsonl"}
    assert "usage.1.jsonl" in names
    assert sum(path.stat().st_size for path in store.root.glob("usage*")) < 2_000_000
    assert an_id(1) in uses_of(store.root, [an_id(1)])


def test_a_receipt_that_cannot_be_written_is_no_failure(store: TempStore, tmp_path: Path) -> None:
    """The answer is out already; a link is not followed to be written to."""
    reply = store.ms.search("harbour")
    target = tmp_path / "target"
    target.write_text("", encoding="utf-8")
    (store.root / "usage.jsonl").symlink_to(target)
    store.ms.note_use(reply, surface="cli")
    assert target.read_text(encoding="utf-8") == ""
    (store.root / "usage.jsonl").unlink()
    (store.root / "usage.jsonl").mkdir()
    store.ms.note_use(reply, surface="cli")
    write_receipt(store.root / "gone", Receipt((an_id(1),), DAY.format(1), "q", "cli", None))


def test_the_whole_log_says_what_each_lookup_says(store: TempStore) -> None:
    """In one pass, with how far back it goes; what is no receipt counts for nothing."""
    assert whole_log(store.root) == Log({}, None)
    for day, number, session in ((3, 1, "a"), (2, 1, "b"), (2, 2, None), (4, 1, "a")):
        write_receipt(store.root, Receipt((an_id(number),), DAY.format(day), "q", "cli", session))
    with (store.root / "usage.jsonl").open("ab") as file:
        file.write(b'{"id": "x"}\n[1]\n\xff\n{"id": 3, "at": "2020"}\n{"id": "y", "at"')
    found = whole_log(store.root)
    ids = [an_id(1), an_id(2)]
    assert found == Log(uses_of(store.root, ids), DAY.format(2))
    assert [found.uses[id_].sessions for id_ in ids] == [2, 0]
    (store.root / "usage.jsonl").rename(store.root / "usage.1.jsonl")
    assert whole_log(store.root) == found


def test_lines_of_parallel_writers_do_not_mix(store: TempStore) -> None:
    """Each receipt is one write at the end of the file."""
    receipt = Receipt((an_id(1), an_id(2)), DAY.format(1), "q" * 150, "cli", "s")

    def write() -> None:
        for _ in range(50):
            write_receipt(store.root, receipt)

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(rows(store)) == 4 * 50 * 2


def test_demand_counts_sittings_of_late(store: TempStore) -> None:
    """A session once, a day once where no session is known; what was booted never."""
    shown = (
        *(("s1", DAY.format(9), "cli"), ("s1", DAY.format(9), "mcp"), ("s2", DAY.format(8), "cli")),
        *((None, DAY.format(7), "cli"), (None, DAY.format(7), "cli"), (None, DAY.format(6), "cli")),
        *(("s3", DAY.format(1), "cli"), ("s4", DAY.format(10), "context")),
    )
    for session, at, surface in shown:
        write_receipt(store.root, Receipt((an_id(1),), at, '"id": "x", "at": "', surface, session))
    assert demand(store.root, DAY.format(5)) == {an_id(1): (Use(DAY.format(10), 3), 4)}
    assert uses_of(store.root, [an_id(1)]) == {an_id(1): Use(DAY.format(10), 3)}
    assert whole_log(store.root) == Log({an_id(1): Use(DAY.format(10), 3)}, DAY.format(1))


def test_demand_passes_over_what_is_no_receipt(store: TempStore) -> None:
    """Torn lines, other versions' lines and a log that is not there."""
    assert demand(store.root, DAY.format(1)) == {}
    write_receipt(store.root, Receipt((an_id(2),), DAY.format(2), "q", "cli", 'a "b" \U0001f4a9'))
    with (store.root / "usage.jsonl").open("ab") as log:
        log.write(b'{"id": "x", "retrieved_at": "y"}\nnonsense\n\xff\n{"id": "torn", "at": "2026')
    assert demand(store.root, DAY.format(1)) == {an_id(2): (Use(DAY.format(2), 1), 1)}
