from __future__ import annotations

import mmap
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memspec_py.store import watch
from memspec_py.store.listing import list_records
from memspec_py.store.watch import KeptListing, Unwatchable, Watch
from tests.faults import Child, needs_fork, quick_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memspec_py.store.listing import Listing

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux alone has it")

_FACTS, _ARCHIVE = "memory/facts", "archive"
_QUEUE = Path("/proc/sys/fs/inotify/max_queued_events")


@pytest.fixture(scope="module")
def quick() -> Iterator[Path]:
    """A folder on a file system of this host."""
    with quick_folder() as folder:
        if _doubt(_made(folder / "tried")) is not None:
            pytest.skip(f"{folder} is not on a file system that is watched")
        yield folder


@pytest.fixture
def root(quick: Path) -> Iterator[Path]:
    """A store's folder with a few files that look like records."""
    with tempfile.TemporaryDirectory(dir=quick) as folder:
        yield _made(Path(folder) / "store")


@pytest.fixture
def kept(root: Path) -> Iterator[KeptListing]:
    """A listing that was asked for once."""
    with closing(KeptListing(str(root))) as made:
        made.now()
        yield made


@pytest.fixture
def listings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The whole listings that are made from now on."""
    made: list[str] = []

    def spy(root: str, observer: Watch | None = None) -> Listing:
        made.append(root)
        return list_records(root, observer)

    monkeypatch.setattr(watch, "list_records", spy)
    return made


def _made(root: Path) -> Path:
    for folder in (_FACTS, "memory/decisions", "observations/2026", _ARCHIVE, "local"):
        (root / folder).mkdir(parents=True)
    for number in range(4):
        (root / _FACTS / f"{number}.md").write_text(f"fact {number}")
    (root / _ARCHIVE / "old.md").write_text("old")
    return root


def _doubt(root: Path) -> str | None:
    with closing(Watch(str(root))) as one:
        one.begin()
        list_records(root, one)
        return one.doubt


def _content(listing: Listing) -> tuple[object, ...]:
    """All that a listing tells, with the order of the names, which is part of the fingerprint."""
    return (
        listing.fingerprint(),
        listing.stats(),
        sorted(listing.strays),
        sorted((one.code, one.path) for one in listing.findings),
    )


def _is_right(kept: KeptListing, root: Path) -> bool:
    return _content(kept.now()) == _content(list_records(root))


def _edit(root: Path) -> None:
    """The same size and mtime, as after a restored backup."""
    path = root / _FACTS / "1.md"
    before = path.stat()
    path.write_text("fact X")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _append(root: Path) -> None:
    with (root / _FACTS / "1.md").open("a") as file:
        file.write("more")


def _truncate(root: Path) -> None:
    os.truncate(root / _FACTS / "1.md", 2)


def _create(root: Path) -> None:
    (root / _FACTS / "new.md").write_text("new")


def _create_by_link(root: Path) -> None:
    """As our own writer does it."""
    temporary = root / _FACTS / ".tmp-1-1-1"
    temporary.write_text("new")
    (root / _FACTS / "new.md").hardlink_to(temporary)
    temporary.unlink()


def _rename_over(root: Path) -> None:
    (root / _FACTS / ".new").write_text("newer")
    (root / _FACTS / ".new").replace(root / _FACTS / "1.md")


def _rename_over_from_outside(root: Path) -> None:
    (root / "new").write_text("newer")
    (root / "new").replace(root / _FACTS / "1.md")


def _delete(root: Path) -> None:
    (root / _FACTS / "1.md").unlink()


def _delete_all(root: Path) -> None:
    for path in (root / _FACTS).iterdir():
        path.unlink()


def _swap(root: Path) -> None:
    facts = root / _FACTS
    (facts / "1.md").rename(facts / "aside")
    (facts / "2.md").rename(facts / "1.md")
    (facts / "aside").rename(facts / "2.md")


def _move_to_another_folder(root: Path) -> None:
    (root / _FACTS / "1.md").rename(root / _ARCHIVE / "1.md")


def _touch(root: Path) -> None:
    os.utime(root / _FACTS / "1.md", (1_500_000_000, 1_500_000_000))


def _close(root: Path) -> None:
    (root / _FACTS / "1.md").chmod(0o000)


def _close_folder(root: Path) -> None:
    (root / _FACTS).chmod(0o000)


def _make_folder(root: Path) -> None:
    """A folder that appears full, one with files in its folders, and one that is made by a move."""
    deep = root / "observations" / "2027" / "01"
    deep.mkdir(parents=True)
    (deep / "deep.md").write_text("deep")
    shutil.copytree(root / _FACTS, root / "questions" / "copied")


def _move_folder_away(root: Path) -> None:
    (root / _FACTS).rename(root / "local" / "aside")


def _move_folder_in(root: Path) -> None:
    (root / "local" / "made").mkdir()
    (root / "local" / "made" / "in.md").write_text("in")
    (root / "local" / "made").rename(root / "memory" / "made")


def _remove_folder(root: Path) -> None:
    shutil.rmtree(root / "memory")


def _replace_store(root: Path) -> None:
    """Another folder takes the place of the store's, which nothing inside it tells."""
    root.rename(root.with_name("before"))
    shutil.copytree(root.with_name("before"), root)
    (root / _FACTS / "1.md").write_text("another store's")


def _link(root: Path) -> None:
    (root / _FACTS / "1.md").unlink()
    (root / _FACTS / "1.md").symlink_to("2.md")


def _link_folder(root: Path) -> None:
    (root / "questions").symlink_to(root / _FACTS)


def _pipe(root: Path) -> None:
    os.mkfifo(root / _FACTS / "pipe.md")


def _stray(root: Path) -> None:
    (root / _FACTS / "notes.txt").write_text("stray")


def _odd_name(root: Path) -> None:
    Path(os.fsdecode(os.fsencode(root / _FACTS) + b"/\xff.md")).write_text("odd")


def _map_memory(root: Path) -> None:
    with (root / _FACTS / "1.md").open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[0:4] = b"FACT"


_CHANGES: tuple[Callable[[Path], None], ...] = (
    _edit,
    _append,
    _truncate,
    _create,
    _create_by_link,
    _rename_over,
    _rename_over_from_outside,
    _delete,
    _delete_all,
    _swap,
    _move_to_another_folder,
    _touch,
    _close,
    _close_folder,
    _make_folder,
    _move_folder_away,
    _move_folder_in,
    _remove_folder,
    _replace_store,
    _link,
    _link_folder,
    _pipe,
    _stray,
    _odd_name,
    _map_memory,
)


# In one tick of the clock a stat may stay what it was; and the superuser lists any folder.
_WITHOUT_TRACE = (_edit, _map_memory, _close, _close_folder)


def _in_this_process(act: Callable[[], object]) -> None:
    act()


def _in_another(act: Callable[[], object]) -> None:
    Child(act).end().well()


@needs_fork
@pytest.mark.parametrize("somebody", [_in_this_process, _in_another])
@pytest.mark.parametrize("change", _CHANGES)
def test_the_next_listing_has_whatever_anybody_did(
    kept: KeptListing,
    root: Path,
    change: Callable[[Path], None],
    somebody: Callable[[Callable[[], object]], None],
) -> None:
    """It is what a whole listing gives, and so is the one after a second change."""
    before = _content(kept.now())
    somebody(partial(change, root))
    assert _is_right(kept, root)
    if change not in _WITHOUT_TRACE:
        assert _content(kept.now()) != before
    (root / _ARCHIVE / "old.md").write_text("and then")
    assert _is_right(kept, root)


def test_nothing_is_listed_when_nothing_happened(
    kept: KeptListing, root: Path, listings: list[str]
) -> None:
    """Nor when files are read, or something happens beside the record folders."""
    first = kept.now()
    (root / _FACTS / "1.md").read_text()
    (root / "config.yaml").write_text("limits: {}\n")
    (root / "local" / "index.db").write_text("index")
    (root / "usage.jsonl").write_text("{}\n")
    assert kept.now() is first
    assert listings == []


def test_a_changed_file_costs_no_whole_listing(
    kept: KeptListing, root: Path, listings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what was touched is looked at."""
    looked: list[str] = []
    stat = os.stat

    def spy(path: str | int, **named: object) -> os.stat_result:
        looked.append(str(path))
        return stat(path, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "stat", spy)
    _edit(root)
    _create_by_link(root)
    looked.clear()
    kept.now()
    assert sorted(name for name in looked if name.endswith(".md")) == ["1.md", "new.md"]
    assert listings == []
    monkeypatch.undo()
    assert _is_right(kept, root)


class _Step(NamedTuple):
    act: str
    first: int
    second: int
    looks: bool


_PLACES = (
    _FACTS,
    "memory",
    "memory/decisions",
    _ARCHIVE,
    "observations/2026",
    "questions",
    "local",
)
_NAMES = ("1.md", "2.md", "folder", "folder.md", ".hidden.md", "x.txt")


def _step(root: Path, step: _Step) -> None:
    place = root / _PLACES[step.first % len(_PLACES)]
    path = place / _NAMES[step.first % len(_NAMES)]
    other = root / _PLACES[step.second % len(_PLACES)] / _NAMES[step.second % len(_NAMES)]
    match step.act:
        case "write":
            path.write_text(f"{step.second}")
        case "mkdir":
            path.mkdir(parents=True)
            (path / "in.md").write_text("in")
        case "move":
            path.rename(other)
        case "move folder":
            place.rename(other)
        case "remove":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        case "remove folder":
            shutil.rmtree(place)
        case "link":
            path.symlink_to(other)
        case "second name" if place.name != "local":  # where it would make no event
            path.hardlink_to(other)
        case "touch":
            os.utime(path, (step.second, step.second))


_ACTS = [
    "write",
    "write",
    "mkdir",
    "move",
    "move folder",
    "remove",
    "remove folder",
    "link",
    "second name",
    "touch",
]
_steps = st.lists(
    st.builds(_Step, st.sampled_from(_ACTS), st.integers(0, 41), st.integers(0, 41), st.booleans()),
    max_size=20,
)


@example([_Step("move folder", 0, 2, looks=True), _Step("write", 0, 1, looks=True)])
@example([_Step("second name", 1, 0, looks=True), _Step("write", 0, 7, looks=True)])
@given(_steps)
@settings(max_examples=100)
def test_any_history_gives_the_listing_of_a_first_look(quick: Path, steps: list[_Step]) -> None:
    """Whatever files and folders come, go, move and change their kind."""
    with tempfile.TemporaryDirectory(dir=quick) as folder:
        root = _made(Path(folder) / "store")
        with closing(KeptListing(str(root))) as kept:
            for step in steps:
                try:
                    _step(root, step)
                except (OSError, shutil.Error):
                    continue  # what cannot be done did nothing, or a part
                if step.looks:
                    assert _is_right(kept, root)
            assert _is_right(kept, root)


def test_a_file_made_while_its_folder_is_listed_is_in_the_next_listing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder is watched before its names are asked for, not afterwards."""
    listdir = os.listdir

    def late(place: int) -> list[str]:
        names = listdir(place)
        folder = Path(os.readlink(f"/proc/self/fd/{place}"))
        (folder / "late.md").write_text("late")
        (folder / "later").mkdir(exist_ok=True)
        return names

    with closing(KeptListing(str(root))) as kept:
        with monkeypatch.context() as patch:
            patch.setattr(os, "listdir", late)
            assert not [path for path in kept.now().paths if path.endswith("late.md")]
        assert _is_right(kept, root)
        (root / _FACTS / "later" / "last.md").write_text("last")
        assert _is_right(kept, root)


def test_a_full_queue_means_a_whole_listing(
    kept: KeptListing, root: Path, listings: list[str]
) -> None:
    """What came after the kernel's queue was full is in no event."""
    ours, theirs = root / _FACTS / "1.md", root / _FACTS / "2.md"
    for _ in range(int(_QUEUE.read_text()) // 2 + 10):
        os.utime(ours, (1, 1))
        os.utime(theirs, (1, 1))
    _create(root)
    assert _is_right(kept, root)
    assert len(listings) == 1
    assert _is_right(kept, root)
    assert len(listings) == 1


def test_a_queue_without_end_means_a_whole_listing(
    kept: KeptListing, root: Path, listings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who writes faster than we read is not waited for."""
    monkeypatch.setattr(watch, "_MOST_CHUNKS", 1)
    monkeypatch.setattr(watch, "_CHUNK", 300)
    for number in range(30):
        (root / _FACTS / f"many{number}.md").write_text("many")
    for _ in range(30):
        assert _is_right(kept, root)
    assert 1 <= len(listings) < 30


def test_now_and_then_everything_is_listed(
    kept: KeptListing, root: Path, listings: list[str], monkeypatch: pytest.MonkeyPatch, quick: Path
) -> None:
    """A change through a name outside the store makes no event, and is found after a while."""
    outside = quick / "outside.md"
    outside.hardlink_to(root / _FACTS / "1.md")
    outside.write_text("changed by its other name")
    outside.unlink()
    clock = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: clock() + watch.SECONDS)
    assert _is_right(kept, root)
    assert len(listings) == 1


def test_a_record_with_a_second_name_is_looked_at_each_time(root: Path, quick: Path) -> None:
    """As long as it has one; it is watched again when that is gone."""
    outside = quick / "second.md"
    outside.hardlink_to(root / _FACTS / "1.md")
    with closing(KeptListing(str(root))) as kept:
        kept.now()
        for text in ("one", "two, longer"):
            outside.write_text(text)
            assert _is_right(kept, root)
        assert kept.now() is not kept.now()
        outside.unlink()
        assert _is_right(kept, root)
        assert kept.now() is kept.now()


def test_a_second_name_that_comes_later_is_noticed(kept: KeptListing, root: Path) -> None:
    """The name in the store tells."""
    (root / _ARCHIVE / "twice.md").hardlink_to(root / _FACTS / "1.md")
    assert _is_right(kept, root)
    assert kept.now() is not kept.now()


def test_other_file_systems_are_listed_each_time(
    root: Path, listings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another host may write to makes no event here."""
    monkeypatch.setattr(watch, "_OF_THIS_HOST", {})
    assert "file system" in str(_doubt(root))
    with closing(KeptListing(str(root))) as kept:
        for _ in range(3):
            assert _is_right(kept, root)
    assert len(listings) == 3


def test_the_kind_of_a_file_system_is_told_by_the_kernel() -> None:
    """/proc is none of those that are watched."""
    with closing(Watch("/proc/self")) as one:
        one.begin()
        assert "file system" in str(one.doubt)


_libc = watch._libc  # noqa: SLF001 - there is no public name for it


class _Library:
    """The C library, with one call that fails."""

    def __init__(self, name: str, after: int) -> None:
        self._library = _libc()
        self._name = name
        self.left = after

    def __getattr__(self, name: str) -> object:
        call = getattr(self._library, name)
        return call if name != self._name else lambda *given: self._failing(call, *given)

    def _failing(self, call: Callable[..., int], *given: object) -> int:
        self.left -= 1
        return -1 if self.left < 0 else call(*given)


@pytest.mark.parametrize("after", [0, 1, 4])
def test_more_folders_than_may_be_watched_are_listed_each_time(
    root: Path, listings: list[str], monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    """Until there is room for them."""
    library = _Library("inotify_add_watch", after)
    monkeypatch.setattr(watch, "_libc", lambda: library)
    with closing(KeptListing(str(root))) as kept:
        for change in (_edit, _delete, _make_folder):
            change(root)
            assert _is_right(kept, root)
        assert len(listings) == 3
        library.left = 1_000
        assert kept.now() is kept.now()
        _create(root)
        assert _is_right(kept, root)


@pytest.mark.parametrize("missing", ["queue", "system", "library"])
def test_without_a_queue_everything_is_listed_each_time(
    root: Path, listings: list[str], monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    """Another system, a C library without the calls, or too many queues already."""
    if missing == "queue":
        monkeypatch.setattr(watch, "_libc", lambda: _Library("inotify_init1", 0))
    elif missing == "system":
        monkeypatch.setattr(sys, "platform", "darwin")
    else:
        monkeypatch.setattr("ctypes.CDLL", lambda *_, **__: object())
    with pytest.raises(Unwatchable):
        Watch(str(root))
    with closing(KeptListing(str(root))) as kept:
        for change in (_edit, _delete, _make_folder):
            change(root)
            assert _is_right(kept, root)
    assert len(listings) == 3


def test_other_systems_can_import_it() -> None:
    """Nothing of Linux is touched before it is asked for."""
    program = "import os, sys; sys.platform = 'darwin'; del os.register_at_fork; import {}"
    command = [sys.executable, "-c", program.format("memspec_py.store.watch")]
    subprocess.run(command, check=True)


@needs_fork
def test_a_child_takes_no_event_from_its_parent(
    kept: KeptListing, root: Path, listings: list[str]
) -> None:
    """It has a queue of its own, and both see everything."""
    _edit(root)

    def look() -> None:
        assert _is_right(kept, root)
        _create(root)
        assert _is_right(kept, root)
        assert kept.now() is kept.now()

    Child(look).end().well()
    assert listings == []
    assert _is_right(kept, root)
    assert listings == []


def test_two_readers_both_see_everything(kept: KeptListing, root: Path) -> None:
    """What one has read from its queue is still in the other's."""
    with closing(KeptListing(str(root))) as other:
        other.now()
        for change in (_edit, _create, _make_folder, _move_folder_away):
            change(root)
            assert _is_right(kept, root)
            assert _is_right(other, root)


def test_an_interruption_loses_nothing(
    kept: KeptListing, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events that were read and not yet followed are forgotten together with the listing."""
    _delete(root)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(watch, "list_again", interrupted)
        with pytest.raises(KeyboardInterrupt):
            kept.now()
    assert _is_right(kept, root)


def test_a_store_reached_by_a_link_is_followed_when_the_link_moves(
    root: Path, listings: list[str]
) -> None:
    """The path decides which store it is, not the folder that was found there first."""
    link = root.with_name("link")
    link.symlink_to(root)
    with closing(KeptListing(str(link))) as kept:
        kept.now()
        assert kept.now() is kept.now()
        assert len(listings) == 1
        _made(root.with_name("other"))
        link.unlink()
        link.symlink_to(root.with_name("other"))
        assert _is_right(kept, link)


def test_a_store_may_go_and_come_back(kept: KeptListing, root: Path) -> None:
    """There is nothing to list in between."""
    root.rename(root.with_name("away"))
    assert _is_right(kept, root)
    root.with_name("away").rename(root)
    assert _is_right(kept, root)
    _create(root)
    assert _is_right(kept, root)


def test_no_descriptor_is_left(root: Path) -> None:
    """Closed, closed twice, or used once more after it."""
    before = os.listdir("/proc/self/fd")
    kept = KeptListing(str(root))
    for _ in range(20):
        assert _is_right(kept, root)
        assert len(os.listdir("/proc/self/fd")) == len(before) + 1
        kept.close()
        kept.close()
    assert os.listdir("/proc/self/fd") == before


def test_the_queue_is_closed_when_another_program_starts(kept: KeptListing) -> None:
    """No child process holds it open."""
    queues = [fd for fd in os.listdir("/proc/self/fd") if _is_queue(Path("/proc/self/fd", fd))]
    assert kept.now() is kept.now()
    assert queues
    assert not any(os.get_inheritable(int(fd)) for fd in queues)


def _is_queue(descriptor: Path) -> bool:
    try:
        return "inotify" in os.readlink(descriptor)
    except OSError:
        return False


def test_folders_that_are_gone_are_not_watched_for_ever(kept: KeptListing, root: Path) -> None:
    """Moved out of the store they live on, and the kernel would go on to tell of them."""
    for number in range(3):
        (root / _FACTS).rename(root.with_name(f"out{number}"))
        kept.now()
        (root / _FACTS).mkdir()
        kept.now()
    (queue,) = [fd for fd in os.listdir("/proc/self/fd") if _is_queue(Path("/proc/self/fd", fd))]
    watched = Path("/proc/self/fdinfo", queue).read_text().count("inotify wd:")
    folders = [place for place, _, _ in os.walk(root) if "local" not in place]
    assert watched == len(folders)
