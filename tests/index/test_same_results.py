"""Whatever happened to the files, every index gives the same answers."""

from __future__ import annotations

import os
import subprocess
import tempfile
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memspec_py.errors import MemspecError
from memspec_py.layered import Layered
from memspec_py.record.model import Kind, SourceKind, State, Type
from memspec_py.report import as_json
from memspec_py.store import layout
from memspec_py.store.layers import resolve
from memspec_py.store.resolve import Surroundings
from memspec_py.testing import TempStore, a_record, an_id
from memspec_py.trust.channel import Channel
from memspec_py.views.get import get
from memspec_py.views.listed import Selection, list_records
from memspec_py.views.search import Question, search
from memspec_py.views.status import status
from tests.faults import quick_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_NUMBERS = range(1, 6)
_QUESTIONS = (
    Question(text="marmot number", explain=True, limit=50),
    Question(text="number1 badger", explain=True, limit=2),
    Question(text="marmot", expand=True, depth=2, include_superseded=True, full=True),
    Question(text="marmot badger", type="observation"),
    Question(text="marmot", type="question"),
    Question(text="marmot", scope="burrow", as_of="2026-02-01"),
)
_CHANGES: tuple[dict[str, object], ...] = (
    {"title": "Marmot number1", "body": "sleeps in a burrow, number2"},
    {"title": "Badger", "type": Type.DECISION, "body": "a marmot it is not", "tags": ("marmot",)},
    {"title": "Marmot seen", "kind": Kind.OBSERVATION, "type": None, "source": "x"},
    {"title": "Marmot where?", "kind": Kind.QUESTION, "type": None, "state": State.OPEN},
    {"title": "Marmot once", "state": State.SUPERSEDED, "superseded_by": an_id(2)},
    {"title": "Marmot rule", "source_kind": SourceKind.OPERATOR, "supersedes": (an_id(4),)},
    {"title": "Marmot number3", "refines": (an_id(1), an_id(2)), "scope": "burrow"},
    {"title": "Marmot number4", "refines": (an_id(3),), "valid_to": "2026-01-15T00:00:00.000Z"},
)
_BROKEN = (
    b"",
    b"---\nid: [\n---\n",
    b"\xff\xfe\x00",
    b"<<<<<<< ours\n---\nid: a\n",
    b"---\nkind: claim\n---\n# No id\n",
)
_ELSEWHERE = ("archive", "memory/operator/facts", "memory/facts", "questions/2026", "observations")


class Step(NamedTuple):
    """One thing that happens to one record's files, and whether somebody looks afterwards."""

    act: str
    number: int
    how: int
    looks: bool


def _files(store: TempStore, number: int) -> list[Path]:
    name = f"{an_id(number)}.md"
    return sorted(Path(folder, name) for folder, _, names in os.walk(store.root) if name in names)


def _regular(store: TempStore, number: int) -> list[Path]:
    """The files that are no links, and that may be read again."""
    found = [path for path in _files(store, number) if not path.is_symlink()]
    for path in found:
        path.chmod(0o644)
    return found


def _put(store: TempStore, number: int, how: int) -> None:
    record = a_record(number, **_CHANGES[how % len(_CHANGES)])
    for old in _files(store, number):
        old.unlink()
    store.put(record)


def _edit(store: TempStore, number: int, how: int) -> None:
    """The same size, most often in the same tick, sometimes with the old mtime put back."""
    for path in _regular(store, number):
        before = path.stat()
        data = path.read_bytes()
        path.write_bytes(data.replace(b"number", b"Number") if how % 2 else data[::-1])
        if how % 3 == 0:
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _delete(store: TempStore, number: int, how: int) -> None:
    for path in _files(store, number)[: how + 1]:
        path.unlink()


def _move(store: TempStore, number: int, how: int) -> None:
    folder = store.root / _ELSEWHERE[how % len(_ELSEWHERE)]
    folder.mkdir(parents=True, exist_ok=True)
    for path in _files(store, number)[:1]:
        path.rename(folder / path.name)


def _copy(store: TempStore, number: int, how: int) -> None:
    """One id in two files: of one name, or of a name of its own."""
    folder = store.root / _ELSEWHERE[how % len(_ELSEWHERE)]
    folder.mkdir(parents=True, exist_ok=True)
    for path in _regular(store, number)[:1]:
        target = folder / (f"copy{how}.md" if how % 2 else path.name)
        data = path.read_bytes()
        target.unlink(missing_ok=True)
        target.write_bytes(data)


def _uncopy(store: TempStore, number: int, how: int) -> None:
    del number
    for path in sorted(store.root.rglob("copy*.md"))[: how + 1]:
        path.unlink()


def _restore(store: TempStore, number: int, how: int) -> None:
    """A file from a backup, with the time it had then."""
    record = a_record(number, **_CHANGES[how % len(_CHANGES)])
    (store.root / layout.path_of(record)).unlink(missing_ok=True)
    os.utime(store.put(record), (1_500_000_000 + how, 1_500_000_000 + how))


def _break(store: TempStore, number: int, how: int) -> None:
    for path in _regular(store, number)[:1]:
        path.write_bytes(_BROKEN[how % len(_BROKEN)])


def _close(store: TempStore, number: int, how: int) -> None:
    """Take the right to read away, or give it back; the superuser reads anyway."""
    for path in _regular(store, number):
        path.chmod(0o000 if how % 4 else 0o644)


def _link(store: TempStore, number: int, how: int) -> None:
    """A symbolic link in a record's place, to another record or to nothing."""
    for path in _files(store, number)[:1]:
        path.unlink()
        path.symlink_to(f"{an_id(1 + how % 5)}.md")


def _swap(store: TempStore, number: int, how: int) -> None:
    """Two files trade names, so that every stat is known and none is where it was."""
    ours, theirs = _files(store, number)[:1], _files(store, 1 + how % 5)[:1]
    if ours and theirs and ours != theirs:
        aside = store.root / "aside"
        ours[0].rename(aside)
        theirs[0].rename(ours[0])
        aside.rename(theirs[0])


_ACTS: dict[str, Callable[[TempStore, int, int], None]] = {
    "put": _put,
    "edit": _edit,
    "delete": _delete,
    "move": _move,
    "copy": _copy,
    "uncopy": _uncopy,
    "restore": _restore,
    "break": _break,
    "close": _close,
    "link": _link,
    "swap": _swap,
}
_steps = st.lists(
    st.builds(
        Step,
        st.sampled_from(["put", "put", "edit", *_ACTS]),
        st.sampled_from(_NUMBERS),
        st.integers(0, 7),
        st.sampled_from([True, False, False]),
    ),
    min_size=4,
    max_size=14,
)


_WHERE = Surroundings(cwd=Path("/"), home=None, env={})


def _answers(stores: Layered) -> dict[str, object]:
    """What the store says, but for the state of the index."""
    views: dict[str, Callable[[], object]] = {
        **{f"{asked}": partial(search, stores, asked) for asked in _QUESTIONS},
        **{f"get {number}": partial(get, stores, an_id(number)) for number in _NUMBERS},
        "list": lambda: list_records(stores, Selection(state="any")),
        "list scope": lambda: list_records(
            stores, Selection(scope="burrow", tag="marmot", limit=2)
        ),
        "status": lambda: status(stores),
    }
    return {name: _told(view) for name, view in views.items()}


def _told(view: Callable[[], object]) -> object:
    try:
        told = as_json(view())
    except MemspecError as refused:
        return refused.as_dict()
    assert isinstance(told, dict)
    told.pop("index")
    return told


class _Readers:
    """The ways to answer: a kept index, a second process's, one in memory, a watched, a new one."""

    def __init__(self, store: TempStore, stack: ExitStack) -> None:
        self._store = store
        self.kept, self.second, self.in_memory = (stack.enter_context(self._open()) for _ in "123")
        self.watched = stack.enter_context(self._open(watched=True))
        self.in_memory.primary.index.refresh_in_memory()
        self.second.primary.index.refresh()

    def _open(self, *, watched: bool = False) -> closing[Layered]:
        return closing(
            Layered(
                resolve(_WHERE, self._store.root),
                _WHERE,
                clock=self._store.clock,
                entropy=os.urandom,
                channel=Channel.API,
                watched=watched,
            )
        )

    def agree(self) -> None:
        """All answer as one that has just read every file into memory."""
        with self._open() as truth:
            truth.primary.index.refresh_in_memory()
            expected = _answers(truth)
        assert _answers(self.kept) == expected
        assert _answers(self.in_memory) == expected
        assert _answers(self.second) == expected
        assert _answers(self.watched) == expected
        states = {one.primary.index.state.how for one in (self.kept, self.second, self.watched)}
        assert states == {"fresh"}

    def agree_after_all(self) -> None:
        """So do a new process, a rebuilt index and one made after the file was deleted."""
        self.agree()
        expected = _answers(self.kept)
        with self._open() as new:
            assert _answers(new) == expected
        self.kept.primary.index.rebuild()
        assert _answers(self.kept) == expected
        (self._store.root / layout.LOCAL / "index.db").unlink()
        with self._open() as fresh:
            assert _answers(fresh) == expected
        assert _answers(self.second) == expected
        assert _answers(self.watched) == expected


def _live(store: TempStore, steps: list[Step]) -> None:
    with ExitStack() as stack:
        readers = _Readers(store, stack)
        for step in steps:
            _ACTS[step.act](store, step.number, step.how)
            if step.looks:
                readers.agree()
        readers.agree_after_all()


@pytest.fixture(scope="module")
def quick() -> Iterator[Path]:
    """A folder where syncing costs nothing."""
    with quick_folder() as folder:
        yield folder


@example([Step("put", 1, 7, looks=True), Step("copy", 1, 1, looks=True)] * 2)
@example([Step("put", 1, 0, looks=True), Step("link", 1, 0, looks=True)])
@given(_steps)
@settings(max_examples=40)
def test_any_history_gives_the_same_answers(quick: Path, steps: list[Step]) -> None:
    """Kept, fresh, rebuilt, in memory or another process's: one history, one set of answers."""
    with tempfile.TemporaryDirectory(dir=quick) as folder, closing(TempStore(Path(folder)).ms):
        _live(TempStore(Path(folder)), steps)


def _git(store: TempStore, *words: str) -> None:
    subprocess.run(["git", *words], cwd=store.project, check=True, capture_output=True)


@given(st.lists(st.tuples(st.sampled_from("abc"), _steps), min_size=2, max_size=4), st.data())
@settings(max_examples=6)
def test_branches_of_a_repository_give_the_same_answers(
    quick: Path, histories: list[tuple[str, list[Step]]], data: st.DataObject
) -> None:
    """Checkouts change many files at once, most of them with stats that were never seen."""
    with tempfile.TemporaryDirectory(dir=quick) as folder, ExitStack() as stack:
        store = TempStore(Path(folder))
        stack.enter_context(store.ms)
        _git(store, "init", "--quiet")
        _git(store, "checkout", "--quiet", "-b", "trunk")
        _git(store, "commit", "--quiet", "--allow-empty", "-m", "start")
        readers = _Readers(store, stack)
        for branch, steps in histories:
            _git(store, "checkout", "--quiet", "-B", branch)
            for step in steps:
                _ACTS[step.act](store, step.number, step.how)
            for number in _NUMBERS:
                _close(store, number, 0)  # git reads every file
            _git(store, "add", "--all")
            _git(store, "commit", "--quiet", "--allow-empty", "-m", branch)
            readers.agree()
        branches = sorted({branch for branch, _ in histories} | {"trunk"})
        for branch in data.draw(st.lists(st.sampled_from(branches), min_size=1, max_size=3)):
            _git(store, "checkout", "--quiet", branch)
            readers.agree()
        readers.agree_after_all()
