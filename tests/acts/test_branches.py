"""Two branches are worked on apart and merged by git: nothing is lost, and what clashes is told.

A record that is superseded moves to ``archive/`` and changes. Where records are of a few words and
alike, git's guess at renames can take one for another and merge the change of the one into the file
of the other, so those are merged by a strategy that guesses none; records with a text of their own
are merged as git does by itself.
"""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from memspec_py.errors import NotAllowed, NotFound, Refused, UsageError
from memspec_py.record.model import EdgeType, State
from memspec_py.record.parse import parse_record
from memspec_py.report import Severity
from memspec_py.store import layout
from memspec_py.testing import TempStore
from tests.anchors.repos import Repo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memspec_py.record.model import Record

_WORDS = ("otters", "voles", "herons", "storks", "adders", "newts", "larks", "wrens")
_MARKED = "conflict-markers"
_EXPECTED = {"duplicate-id", "unapplied-supersede"}


class _Act(NamedTuple):
    """One thing done on a branch: to the record at ``at``, perhaps with the one at ``other``."""

    name: str
    at: int
    other: int
    text: str


_ACT = st.builds(
    _Act,
    name=st.sampled_from(
        ["remember", "replace", "retract", "merge", "relate", "add", "verify", "observe"]
    ),
    at=st.integers(0, 7),
    other=st.integers(0, 7),
    text=st.permutations(_WORDS).map(lambda words: " ".join(words[:4])),
)
_ACTS = st.lists(_ACT, min_size=2, max_size=7)


class _Branches:
    """A store in a repository, with ``main`` and ``other`` that begin alike."""

    def __init__(self, folder: Path, lines: int) -> None:
        self.lines = lines
        self.store = TempStore(folder)
        self.repo = Repo.make(self.store.project, "--initial-branch=main")
        ids = [
            self.store.ms.remember("fact", text, source="ada", body=self._body(text)).id
            for text in _WORDS[:5]
        ]
        self.question = self.store.ms.ask("which of them", source="ada", answers=ids[:2]).id
        self.repo.commit()
        self.repo.git("branch", "other")
        self.fork = self.records()

    def work(self, branch: str, acts: Sequence[_Act]) -> dict[str, bytes]:
        """Do some things on a branch and commit them; the records it has then."""
        self.repo.git("checkout", "--quiet", branch)
        for act in acts:
            self.store.clock.advance(minutes=1)
            with suppress(Refused, UsageError, NotAllowed, NotFound):
                self._do(act)
        self.repo.commit()
        return self.records()

    def merge(self, side: str, *strategy: str) -> list[str]:
        """Merge ``other`` into ``main``; where git asks, take one side. What it asked about."""
        self.repo.git("checkout", "--quiet", "main")
        command = ["git", "merge", "--quiet", "--no-edit", *strategy, "other"]
        done = subprocess.run(command, cwd=self.repo.path, capture_output=True, check=False)
        stages: dict[str, set[str]] = {}
        for line in self.repo.git("ls-files", "--unmerged").splitlines():
            about, _, path = line.partition("\t")
            stages.setdefault(path, set()).add(about.split()[2])
        assert (done.returncode == 0) == (not stages), done.stderr
        self._check_told()
        for path, here in stages.items():
            # A file that only one side has left in this place is that side's.
            sides = {"ours"} if "3" not in here else {"theirs"} if "2" not in here else {side}
            self.repo.git("checkout", f"--{sides.pop()}", "--", path)
        self.repo.commit()
        return sorted(stages)

    def records(self) -> dict[str, bytes]:
        """What every record file holds, by its path in the store."""
        return {
            path.relative_to(self.store.root).as_posix(): path.read_bytes()
            for folder in layout.RECORD_FOLDERS
            for path in (self.store.root / folder).rglob("*.md")
        }

    def parsed(self) -> dict[str, Record]:
        """Every record, by the path of its file; all must be readable."""
        limits = self.store.ms._ws.settings.limits  # noqa: SLF001 - the files, past the API
        return {path: parse_record(data, limits) for path, data in self.records().items()}

    def _check_told(self) -> None:
        """While a file holds both sides, the doctor says so, and in which file."""
        named = {one.path for one in self.store.ms.doctor().findings if one.code == _MARKED}
        assert named == {path for path, data in self.records().items() if b"\n<<<<<<< " in data}

    def _do(self, act: _Act) -> None:
        ms, id_, other = self.store.ms, self._id(act.at), self._id(act.other)
        match act.name:
            case "remember":
                ms.remember("fact", act.text, source="ada", body=self._body(act.text))
            case "observe":
                ms.observe(act.text, ttl="never")
            case "replace":
                body = self._body(act.text)
                ms.supersede(id_, reason="better", title=act.text, body=body or None)
            case "retract":
                ms.supersede(id_, reason="wrong")
            case "merge":
                ms.supersede(id_, reason="the same", merge_from=[other])
            case "relate":
                edges = [edge.value for edge in EdgeType if not edge.value.startswith("supersede")]
                ms.relate(id_, other, edges[(act.at + act.other) % len(edges)])
            case "add":
                ms.question(self.question, add=[id_])
            case "verify":
                ms.verify(id_, evidence=f"saw {act.text}")

    def _body(self, text: str) -> str:
        """Some lines that no other record has."""
        about = f"{text} {self.store.clock.now()}"
        every = (hashlib.sha256(f"{about} {at}".encode()).hexdigest() for at in range(self.lines))
        return "\n".join(every)

    def _id(self, at: int) -> str:
        live = sorted({one.id for one in self.parsed().values() if one.state is State.ACTIVE})
        return live[at % len(live)] if live else self.question


def _acts(name: str, *pairs: tuple[int, int]) -> list[_Act]:
    return [_Act(name, at, other, "brand new") for at, other in pairs]


def _ids(files: dict[str, bytes]) -> set[str]:
    return {Path(path).stem for path in files}


def _by_id(files: dict[str, bytes]) -> dict[str, bytes]:
    return {Path(path).stem: data for path, data in files.items()}


@pytest.mark.parametrize(("lines", "strategy"), [(0, ("-s", "resolve")), (12, ())])
@settings(max_examples=4, deadline=None)
# Each is the heir of the other; a folder that one side empties and the other writes to; one record
# linked on both.
@example(mine=_acts("merge", (0, 1)), theirs=_acts("merge", (1, 0)), side="ours")
@example(mine=_acts("retract", *[(0, 0)] * 5), theirs=_acts("remember", (0, 0)), side="theirs")
@example(mine=_acts("relate", (0, 1)), theirs=_acts("relate", (0, 2)), side="theirs")
@given(mine=_ACTS, theirs=_ACTS, side=st.sampled_from(["ours", "theirs"]))
def test_branches_merged_by_git_keep_every_record(
    lines: int, strategy: tuple[str, ...], mine: list[_Act], theirs: list[_Act], side: str
) -> None:
    """Every record of either branch is there, readable and linked; the doctor names each clash."""
    with tempfile.TemporaryDirectory(prefix="memspec-") as folder:
        made = _Branches(Path(folder), lines)
        ours, others = made.work("main", mine), made.work("other", theirs)
        clashes = made.merge(side, *strategy)
        event(f"conflicts: {len(clashes)}")
        try:
            assert _ids(made.records()) == _ids(ours) | _ids(others)
            _check_untouched(made, ours, others)
            _check_doctor(made)
            _check_heirs(made)
            _check_edges(made)
        finally:
            made.store.ms.close()


def _check_untouched(made: _Branches, ours: dict[str, bytes], others: dict[str, bytes]) -> None:
    """What one branch alone has written is as that branch left it."""
    before, after = _by_id(made.fork), made.records()
    one, two = _by_id(ours), _by_id(others)
    for id_ in one.keys() | two.keys():
        old = before.get(id_)
        if one.get(id_) == old or two.get(id_) == old:
            left = two.get(id_) if one.get(id_) == old else one.get(id_)
            assert [data for path, data in after.items() if Path(path).stem == id_] == [left]


def _check_doctor(made: _Branches) -> None:
    """No error but those a merge can make; each says in which file, and no double goes unsaid."""
    records = made.parsed()
    found = made.store.ms.doctor().findings
    errors = [one for one in found if one.severity is Severity.ERROR]
    for one in errors:
        event(f"doctor: {one.code}")
    assert {one.code for one in errors} <= _EXPECTED, [str(one) for one in errors]
    assert all(one.path in records for one in errors)
    copies = Counter(record.id for record in records.values())
    doubled = {records[one.path].id for one in errors if one.code == "duplicate-id"}
    assert doubled == {id_ for id_, number in copies.items() if number > 1}


def _check_heirs(made: _Branches) -> None:
    """A superseded record says by what or why, and following heirs comes to an end."""
    for record in made.parsed().values():
        if record.state is State.SUPERSEDED:
            assert record.superseded_by or record.supersede_reason
        shown = made.store.ms.get(record.id)
        assert shown.id == record.id
        for line in (shown.ancestors, shown.descendants):
            ids = [one.id for one in line]
            assert len(set(ids)) == len(ids)
            assert record.id not in ids


def _check_edges(made: _Branches) -> None:
    """Each edge of the copy that is shown is told by `get` of the record it names."""
    every: dict[str, Any] = {id_: made.store.ms.get(id_) for id_ in _ids(made.records())}
    for path, record in made.parsed().items():
        if every[record.id].path != path:
            continue
        for edge in (*EdgeType, "answers"):
            for target in getattr(record, edge):
                linked = every[target].linked_from[str(edge)]
                assert record.id in [one.id for one in linked], (record.id, edge, target)
