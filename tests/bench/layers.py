"""What several stores cost beside one store that holds the same records, and what a context costs.

Part of ``bin/bench speed``.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

from memspec_py.store.layers import resolve
from memspec_py.store.layout import POINTER_NAME
from memspec_py.store.resolve import Surroundings
from tests.bench.speed import (
    QUESTIONS,
    SETTLE_SECONDS,
    Measure,
    SizeReport,
    Timed,
    memspec_command,
)
from tests.bench.stores import make_store, queries, record_number, write_store

if TYPE_CHECKING:
    from collections.abc import Sequence

LAYERS_MORE_MS, CONTEXT_TIMES = 10.0, 2.0
_SEARCHES, _RESOLVED = 3, 20  # in each round
# The one to write to lies outside the project, so that it is followed by the user's word alone.
_POINTER = """\
stores: # highest first
  - name: mine
    path: ../mine
    writable: true
  - name: team
    path: ../team
    writable: false
  - name: shared
    path: ../shared
    writable: false
"""
_NAMES = ("mine", "team", "shared")


class LayerBench(Timed):
    """One store, and three layers of a pointer that share out the same records."""

    def __init__(self, count: int, kept: Path, work: Path, rounds: int) -> None:
        super().__init__(work, rounds)
        self._count = count
        self._one = work / "one"
        shutil.copytree(make_store(kept, count), self._one)
        self._project = work / "project"
        self._project.mkdir()
        (self._project / POINTER_NAME).write_text(_POINTER, encoding="utf-8")
        for position, name in enumerate(_NAMES):
            records = range(position, count, len(_NAMES))
            write_store(work / "made" / name, (record_number(number) for number in records))
            # A folder is listed faster when its files were made in the order of the listing, as
            # those of the one store were.
            shutil.copytree(work / "made" / name, work / name)
        self._where = Surroundings(self._project, Path(self._environment["HOME"]), {})

    def report(self) -> SizeReport:
        """Measure everything."""
        self._run([*memspec_command(), "trust"], self._project)
        questions = queries(QUESTIONS, self._count)
        for wait in (SETTLE_SECONDS, 0.0):  # files that are as young as the index are read twice
            for project in (self._one, self._project):
                self._run([*memspec_command(), "search", questions[0]], project)
            time.sleep(wait)
        if len(resolve(self._where).layers) != len(_NAMES):
            raise AssertionError("a layer was left out")
        for number in range(self._rounds):
            for question in questions[number * _SEARCHES : (number + 1) * _SEARCHES]:
                self._both(["search", question])
            self._both(["context"])
            for _ in range(_RESOLVED):
                self._time("resolving", resolve, self._where)
        found = SizeReport(self._count, self._medians(), subject="records, in one store and three")
        found.measures = _measures(found.floors)
        found.floors = {"search, one store": found.floors["search, one store"]}
        return found

    def _both(self, arguments: Sequence[str]) -> None:
        """The same question of both, one after the other, and how much longer the layers took."""
        command, times = [*memspec_command(), *arguments], self._times
        alone, layered = (f"{arguments[0]}, {stores}" for stores in ("one store", "three layers"))
        self._time(alone, self._run, command, self._one)
        self._time(layered, self._run, command, self._project)
        times[f"{layered} more"].append(times[layered][-1] - times[alone][-1])


def _measures(times: dict[str, float]) -> list[Measure]:
    search = times["search, one store"]
    return [
        Measure(
            "three layers, warm search",
            "ms",
            times["search, three layers more"],
            LAYERS_MORE_MS,
            "more than one store with all their records, whole processes",
        ),
        Measure(
            "resolving them (not judged)",
            "ms",
            times["resolving"],
            LAYERS_MORE_MS,
            "the part of it that reads a pointer and asks whether it is trusted",
            is_judged=False,
        ),
        Measure(
            "context, whole process",
            "ms",
            times["context, one store"],
            CONTEXT_TIMES * search,
            f"{CONTEXT_TIMES} x warm search",
        ),
        Measure(
            "three layers, context (not judged)",
            "ms",
            times["context, three layers more"],
            LAYERS_MORE_MS,
            "more than that of one store",
            is_judged=False,
        ),
    ]
