"""An act killed at each of its file calls, and what a fresh process sees then."""

from __future__ import annotations

import shutil
from itertools import count
from typing import TYPE_CHECKING

from memspec_py.api import Memspec
from memspec_py.record.parse import parse_record
from memspec_py.store import layout
from memspec_py.testing import TempStore, counting_entropy
from tests.faults import crash_points, quick_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from memspec_py.record.model import Record

# Writing the index is killed elsewhere; here it is the files that matter.
_CALLS = frozenset({"write", "link", "rename", "replace", "unlink", "mkdir"})


def killed_everywhere(records: Iterable[Record], act: Callable[[Memspec], object]) -> set[str]:
    """Kill the act at each step; the store reads as before it or as after it, and as nothing else.

    The state is all that a reader can see: each record's whole text and place. Returns which of the
    two were seen.
    """
    with quick_folder() as folder:
        fresh = maker(folder, records)
        untouched, done = fresh(), fresh()
        before = seen_in(untouched)
        run(done, act)
        after = seen_in(done)
        assert before != after
        found = set()
        for point, store in crash_points(
            fresh, lambda store: run(store, act), ("before", "torn"), _CALLS
        ):
            now = seen_in(store)
            assert now in (before, after), point
            found.add("after" if now == after else "before")
            shutil.rmtree(store.project.parent)
        return found


def seen_in(store: TempStore) -> dict[str, str]:
    """Every record file and the outcomes, once a reader has finished what a killed writer left."""
    with store.again() as ms:
        listed = [hit.id for hit in ms.list(state="any", limit=100).results]
        assert len(set(listed)) == len(listed)
        findings = [one for one in ms.doctor().findings if one.severity == "error"]
        assert findings == []
    seen = {}
    for name in layout.RECORD_FOLDERS:
        for path in sorted((store.root / name).rglob("*.md")):
            data = path.read_bytes()
            assert parse_record(data, store.again()._ws.settings.limits).id == path.stem  # noqa: SLF001
            seen[str(path.relative_to(store.root))] = data.decode()
    assert sorted(path.rpartition("/")[2] for path in seen) == sorted(f"{id_}.md" for id_ in listed)
    log = store.root / "outcomes.jsonl"
    if log.exists():
        seen["outcomes.jsonl"] = log.read_text(encoding="utf-8")
    return seen


def maker(
    place: Path, records: Iterable[Record], prepare: Callable[[Memspec], object] = Memspec.list
) -> Callable[[], TempStore]:
    """A maker of stores that all look the same: with these records, prepared in this way."""
    numbers = count()
    template = TempStore(place / "template")
    for record in records:
        template.put(record)
    prepare(template.again())

    def fresh() -> TempStore:
        here = place / f"store{next(numbers)}"
        shutil.copytree(place / "template", here)
        return TempStore(here)

    return fresh


def run(store: TempStore, act: Callable[[Memspec], object]) -> None:
    """The act, on the store as another process would open it."""
    with Memspec.open(
        store.project, where=store.where, clock=store.clock, entropy=counting_entropy(9_000_000)
    ) as ms:
        act(ms)
