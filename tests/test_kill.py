"""A crash loses nothing: every act, killed or refused by the disk at each of its file calls."""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import time
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

import pytest

from memspec_py.api import Memspec
from memspec_py.errors import MemspecError, NearDuplicate
from memspec_py.record.frontmatter import Unreadable
from memspec_py.record.parse import parse_record
from memspec_py.store import layout
from memspec_py.store.resolve import Surroundings
from memspec_py.testing import TempStore, a_record, an_id, counting_entropy
from tests.faults import CALLS, Child, crash_points, fault_points, needs_fork, quick_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.faults import Moment, Point

    Content = dict[str, bytes]

pytestmark = needs_fork

_OLD = (1, 2, 3)
_EDITED = an_id(2)


@dataclass(frozen=True, slots=True)
class _Act:
    """An act, how many records it adds, and the one whose file it may change or move.

    ``again`` is how many there are when it is repeated after it was done.
    """

    name: str
    run: Callable[[Memspec, TempStore], object]
    adds: int = 0
    changes: str | None = None
    again: int = 0

    def __str__(self) -> str:
        """For the name of the test."""
        return self.name


def _remember(ms: Memspec, store: TempStore) -> object:
    return ms.remember(
        "decision",
        "Capybaras swim in the long pool",
        source="me",
        body="They were seen there.",
        tags=["pool"],
        anchors=[str(store.project / "pool.py")],
        evidence=[str(store.home / "photo.bin"), str(store.home / "log.txt")],
        edges={"refines": [an_id(1)]},
    )


def _observe(ms: Memspec, store: TempStore) -> object:
    del store
    return ms.observe("A capybara was seen at the long pool", source="me")


def _adopt(ms: Memspec, store: TempStore) -> object:
    del store
    batch = [
        a_record(21, title="Otters eat fish", refines=(an_id(22),)),
        a_record(22, title="Voles dig tunnels", type="decision"),
        a_record(23, title="Hares run fast", supports=(an_id(1),)),
    ]
    return ms.adopt(batch, apply=True)


def _edit(ms: Memspec, store: TempStore) -> object:
    del store
    copy = ms.edit_copy(_EDITED)
    return ms.replace_text(copy, copy.text.replace("tags: []", "tags: [new]"))


def _edit_and_move(ms: Memspec, store: TempStore) -> object:
    del store
    copy = ms.edit_copy(_EDITED)
    return ms.replace_text(copy, copy.text.replace("type: fact", "type: decision"))


def _mend(ms: Memspec, store: TempStore) -> object:
    del store
    return ms.doctor(fix=True)


_ACTS = (
    _Act("remember", _remember, adds=1, again=1),
    _Act("observe", _observe, adds=1, again=2),
    _Act("adopt", _adopt, adds=3, again=3),
    _Act("edit", _edit, changes=_EDITED),
    _Act("edit-and-move", _edit_and_move, changes=_EDITED),
    _Act("doctor", _mend, changes=_EDITED),
)


@pytest.fixture
def quick() -> Iterator[Path]:
    """A folder where syncing costs nothing."""
    with quick_folder() as folder:
        yield folder


@pytest.fixture
def moments(request: pytest.FixtureRequest) -> tuple[Moment, ...]:
    """After one call is before the next one, so the last moment is left to the long run."""
    return ("before", "torn", "after") if request.config.getoption("--slow") else ("before", "torn")


def _maker(quick: Path, act: _Act) -> Callable[[], TempStore]:
    """A maker of stores that all look the same; the index is behind, so that acts write it."""
    numbers = count()
    template = TempStore(quick / "template")
    for number in _OLD:
        template.put(a_record(number, title=f"Marmot number{number} sleeps"))
    (template.project / "pool.py").write_text("depth = 3\n")
    (template.home / "photo.bin").write_bytes(os.urandom(5_000))
    (template.home / "log.txt").write_text("seen\n" * 100)
    if act.name == "doctor":
        _disorder(template)
    shutil.rmtree(template.root / "local")

    def fresh() -> TempStore:
        folder = quick / f"store{next(numbers)}"
        shutil.copytree(quick / "template", folder)
        return TempStore(folder)

    return fresh


def _disorder(store: TempStore) -> None:
    """All that ``doctor --fix`` mends at once."""
    path = store.root / f"memory/facts/{_EDITED}.md"
    path.rename(store.root / "memory/decisions" / path.name)
    store.write("memory/facts/.tmp-1-2-3", "half a rec")
    (store.root / layout.GITIGNORE).write_text("local/\n")


def _run(store: TempStore, act: _Act, entropy: int = 1) -> None:
    """The act, in a process of its own."""
    with Memspec.open(
        store.project,
        where=store.where,
        clock=store.clock,
        entropy=counting_entropy(entropy * 10_000_000),
    ) as ms:
        act.run(ms, store)


def _records(store: TempStore) -> dict[str, list[bytes]]:
    """The bytes of every record file by the id in its name; a file that is torn fails here."""
    found: dict[str, list[bytes]] = {}
    for folder in layout.RECORD_FOLDERS:
        for path in sorted((store.root / folder).rglob("*.md")):
            data = path.read_bytes()
            try:
                assert parse_record(data, store.again()._ws.settings.limits).id == path.stem  # noqa: SLF001
            except Unreadable as torn:
                raise AssertionError(f"{path} is torn: {torn.findings}") from torn
            found.setdefault(path.stem, []).append(data)
    return found


def _look(
    store: TempStore, act: _Act, before: dict[str, list[bytes]], point: Point, most: int
) -> int:
    """What a fresh process sees: old or new, nothing lost or doubled; how many were added."""
    with store.again() as ms:
        listed = [hit.id for hit in ms.list(state="any", limit=100).results]
        assert len(set(listed)) == len(listed), point
        # The read has finished what a killed writer left in a journal.
        after = _records(store)
        assert sorted(after) == sorted(listed), point
        for id_, copies in after.items():
            assert len(copies) == 1, point
            if id_ in before and id_ != act.changes:
                assert copies == before[id_], point
        assert set(before) <= set(after), point
        added = len(after) - len(before)
        assert 0 <= added <= most, point
        for id_ in after:
            assert ms.get(id_).id == id_, point
        findings = ms.doctor().findings
        assert [str(one) for one in findings if one.severity == "error"] == [], point
        assert {one.code for one in findings} <= {
            *("stray-file", "unused-evidence", "gitignore", "misplaced", "foreign-file"),
        }, point
        return added


def _finish(
    store: TempStore, act: _Act, before: dict[str, list[bytes]], point: Point, added: int
) -> None:
    """The act can be repeated, and then all is as if nothing had happened."""
    ended = Child(lambda: _run(store, act, entropy=2)).end()
    assert ended.signal == 0, point
    if ended.raised is not None:
        assert ended.raised.kind == NearDuplicate.__name__, (point, ended.raised.trace)
    expected = act.again if added == act.adds else act.adds
    assert _look(store, act, before, point, expected) == expected, point
    with store.again() as ms:
        assert ms.doctor(fix=True).healthy, point


@pytest.mark.parametrize("act", _ACTS, ids=str)
def test_a_kill_at_any_call_leaves_old_or_new(
    quick: Path, act: _Act, moments: tuple[Moment, ...]
) -> None:
    """Each record is the old one or the new one, once, and the act can be repeated."""
    fresh = _maker(quick, act)
    before = _records(fresh())
    seen = set()
    for point, store in crash_points(fresh, partial(_run, act=act), moments):
        added = _look(store, act, before, point, act.adds)
        seen.add(added)
        _finish(store, act, before, point, added)
        shutil.rmtree(store.project.parent)
    assert {0, act.adds} <= seen


@pytest.fixture
def calls(act: _Act, request: pytest.FixtureRequest) -> frozenset[str]:
    """The calls that fail: with the many that only read where it is worth the time."""
    with_looks = request.config.getoption("--slow") or act.name in {"remember", "edit-and-move"}
    return CALLS | {"look"} if with_looks else CALLS


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO], ids=["full", "failing"])
@pytest.mark.parametrize("act", _ACTS, ids=str)
def test_a_disk_that_refuses_leaves_nothing_half_written(
    quick: Path, act: _Act, error: int, calls: frozenset[str]
) -> None:
    """The act says so with an error of ours, or did its work without what was refused."""
    fresh = _maker(quick, act)
    before = _records(fresh())
    ours = {kind.__name__ for kind in _kinds(MemspecError)}
    run = partial(_run, act=act)
    for point, store, raised in fault_points(fresh, run, error, calls=calls):
        assert raised is None or raised.kind in ours, (point, raised)
        added = _look(store, act, before, point, act.adds)
        # Where a folder could not be listed, a batch may refuse what links to the records in it.
        if raised is None:
            assert added == act.adds or point.call == "look", point
        elif act.adds == 1:
            assert added == 0, (point, raised)
        if point.call != "look":
            _finish(store, act, before, point, added)
        shutil.rmtree(store.project.parent)


def _init(project: Path) -> None:
    Memspec.init(project, where=Surroundings(cwd=project, home=None, env={}))


def _complete(project: Path) -> bool:
    root = project / layout.STORE_NAME
    return all((root / name).exists() for name in (*layout.FOLDERS, "config.yaml", ".gitignore"))


@pytest.mark.parametrize("error", [None, errno.ENOSPC, errno.EIO], ids=["kill", "full", "failing"])
def test_init_can_be_repeated_wherever_it_ended(quick: Path, error: int | None) -> None:
    """Half a store is no broken store: it can be read, and the next ``init`` completes it."""
    numbers = count()

    def fresh() -> Path:
        project = quick / f"project{next(numbers)}"
        project.mkdir()
        return project

    ends: Iterator[tuple[Point, Path]] = (
        crash_points(fresh, _init, ("before", "torn"))
        if error is None
        else ((point, project) for point, project, _ in fault_points(fresh, _init, error))
    )
    unfinished = 0
    for point, project in ends:
        where = Surroundings(cwd=project, home=None, env={})
        unfinished += not _complete(project)
        if (project / layout.STORE_NAME).is_dir():
            with Memspec.open(project, where=where) as half:
                assert half.list().total == 0, point
        _init(project)
        assert _complete(project), point
        with Memspec.open(project, where=where) as ms:
            done = ms.remember("fact", "Marmots sleep", source="me")
            assert ms.get(done.id).title == "Marmots sleep", point
            assert [str(one) for one in ms.doctor(fix=True).findings] == [], point
    assert unfinished > 5


def test_a_kill_at_any_time_never_spoils_the_index(quick: Path) -> None:
    """SQLite writes where no test can look, so the process is killed at odd moments instead."""
    store = TempStore(quick)
    for number in range(40):
        store.put(a_record(number, title=f"Marmot number{number}", body="word " * 200))
    chance = random.Random(7)  # noqa: S311 - the same moments each time

    def live() -> None:
        for turn in count():
            store.put(a_record(turn % 40, title=f"Marmot turn{turn} sleeps", body="word " * 200))
            with store.again() as ms:
                ms.search("marmot")
            if turn % 5 == 4:
                (store.root / "local" / "index.db").unlink()

    for _ in range(60):
        child = Child(live)
        time.sleep(0.02 + chance.random() * 0.08)
        child.kill()
        assert child.end().signal == signal.SIGKILL
        with store.again() as ms:
            differences = [one for one in ms.doctor().findings if one.code == "index-differs"]
            assert differences == []
            assert ms.list(limit=100).total + ms.status().circumstances.unreadable_count == 40
    left = [path.name for path in (store.root / "local").iterdir() if "index" in path.name]
    assert set(left) <= {"index.db", "index.lock", "index.stamp", *_building(left)}
    assert len(_building(left)) <= 1


def _building(names: list[str]) -> list[str]:
    return [name for name in names if name.startswith(".tmp-")]


def _kinds(base: type[MemspecError]) -> Iterator[type[MemspecError]]:
    yield base
    for kind in base.__subclasses__():
        yield from _kinds(kind)
