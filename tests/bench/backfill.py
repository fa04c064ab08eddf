"""What a scripted backfill costs beside reading and safely replacing the same files.

Part of ``bin/bench speed``.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

from memspec_py.api import Memspec
from memspec_py.store.layout import RECORD_FOLDERS, STORE_NAME
from tests.bench.speed import Measure, SizeReport, Timed, list_files, read_files
from tests.bench.stores import make_store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from memspec_py.record.model import Record

ROUNDS = 3
REPLACE_TIMES = 2.0


def replace_files(paths: Sequence[str]) -> None:
    """Write each file anew so that a power cut leaves old or new, as cheaply as that can be."""
    for path in paths:
        with open(path, "rb") as file:
            data = file.read()
        with open(f"{path}.new", "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(f"{path}.new", path)
    for folder in sorted({os.path.dirname(path) for path in paths}):
        handle = os.open(folder, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)


class BackfillBench(Timed):
    """A store whose every record gets another tag, and a copy that the floors work on."""

    def __init__(self, count: int, kept: Path, work: Path) -> None:
        super().__init__(work, ROUNDS)
        self._count = count
        self._project, self._copy = work / "backfilled", work / "copy"
        for project in (self._project, self._copy):
            shutil.copytree(make_store(kept, count), project)

    def report(self) -> SizeReport:
        """Measure everything."""
        paths = list_files(str(self._copy / STORE_NAME), RECORD_FOLDERS)
        with Memspec.open(self._project) as memspec:
            for number in range(self._rounds):
                self._time("reading all files", read_files, paths)
                self._time("replacing all files, each synced", replace_files, paths)
                for name, apply in (("dry run", False), ("apply", True)):
                    self._time(name, self._backfill, memspec, number, apply=apply)
        found = SizeReport(self._count, self._medians(), subject="records, backfilled")
        found.measures = _measures(found.floors)
        del found.floors["dry run"], found.floors["apply"]
        return found

    def _backfill(self, memspec: Memspec, number: int, *, apply: bool) -> None:
        done = memspec.backfill(
            _tagged(f"round-{number}"), name="bench", apply=apply, include_operator=True
        )
        if done.changed != self._count:
            raise AssertionError(f"{done.changed} of {self._count} records were changed")


def _tagged(tag: str) -> Callable[[Record], Record]:
    return lambda record: replace(record, tags=(*record.tags, tag))


def _measures(times: dict[str, float]) -> list[Measure]:
    dry, replacing = times["dry run"], times["replacing all files, each synced"]
    return [
        Measure(
            "backfill, dry run (not judged)",
            "ms",
            dry,
            times["reading all files"],
            "reading all files; includes planning and proving each new file",
            is_judged=False,
        ),
        Measure(
            "backfill, apply",
            "ms",
            times["apply"],
            dry + REPLACE_TIMES * replacing,
            f"dry run + {REPLACE_TIMES} x replacing all files",
        ),
    ]
