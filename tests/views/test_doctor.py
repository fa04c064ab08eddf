from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from memspec_py.errors import NotAllowed
from memspec_py.index import db as file
from memspec_py.record.model import Evidence, State
from memspec_py.record.parse import print_record
from memspec_py.store import journal, layout
from memspec_py.store.files import digest
from memspec_py.store.gitignore import keep_current
from memspec_py.store.lock import StoreLock
from memspec_py.testing import TempStore, a_record, an_id
from tests.faults import needs_fork
from tests.store.situations import Situation

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memspec_py.record.model import Record
    from memspec_py.views.doctor import Examined


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """A store with one sound record."""
    made = TempStore(tmp_path)
    made.put(a_record(1, body="harbour"))
    return made


def codes(examined: Examined) -> set[str]:
    """The codes of all findings."""
    return {finding.code for finding in examined.findings}


def test_a_sound_store_is_healthy_and_says_what_was_compared(store: TempStore) -> None:
    """Each check is named with what it compared and how many; the index row by row."""
    examined = store.ms.doctor()
    assert (examined.healthy, examined.findings) == (True, ())
    names = [check.name for check in examined.checks]
    assert {"settings", "records", "places", "ids", "edges", "evidence", "index"} <= set(names)
    assert all(check.compared for check in examined.checks)
    assert next(check for check in examined.checks if check.name == "records").count == 1


def _misplaced(store: TempStore) -> None:
    store.write(f"archive/{an_id(2)}.md", print_record(a_record(2)))


def _misnamed(store: TempStore) -> None:
    store.write("memory/facts/note.md", print_record(a_record(2)))


def _doubled(store: TempStore) -> None:
    store.write(f"memory/decisions/{an_id(1)}.md", print_record(a_record(1)))


def _dangling(store: TempStore) -> None:
    store.put(a_record(2, refines=(an_id(9),)))


def _unapplied(store: TempStore) -> None:
    store.put(a_record(2, supersedes=(an_id(1),)))


def _heirless(store: TempStore) -> None:
    store.put(a_record(2, state=State.SUPERSEDED))


def _unreadable(store: TempStore) -> None:
    store.write(f"memory/facts/{an_id(2)}.md", "---\nid: x\n---\n# T\n")


def _no_evidence(store: TempStore) -> None:
    store.put(a_record(2, evidence=(Evidence(path="evidence/ab/x.txt", sha256="0" * 64),)))


def _other_evidence(store: TempStore) -> None:
    store.write("evidence/ab/x.txt", "changed")
    store.put(a_record(2, evidence=(Evidence(path="evidence/ab/x.txt", sha256=digest(b"x")),)))


def _stolen_evidence(store: TempStore) -> None:
    store.put(a_record(2, evidence=(Evidence(path="evidence/../../secret"),)))


def _loose_evidence(store: TempStore) -> None:
    store.write("evidence/ab/x.txt", "x")


def _stray(store: TempStore) -> None:
    store.write("memory/facts/.tmp-1-2-3", "half")


def _foreign(store: TempStore) -> None:
    store.write("memory/facts/notes.txt", "x")


def _linked(store: TempStore) -> None:
    (store.root / "memory/facts/link.md").symlink_to(store.root / f"memory/facts/{an_id(1)}.md")


def _unignored(store: TempStore) -> None:
    (store.root / ".gitignore").write_text("local/\n", encoding="utf-8")


def _bad_setting(store: TempStore) -> None:
    store.write("config.yaml", "decay:\n  fact: soon\n")


def _bad_config(store: TempStore) -> None:
    store.write("config.yaml", "a: [")


@pytest.mark.parametrize(
    ("spoil", "code", "healthy"),
    [
        (_misplaced, "misplaced", False),
        (_misnamed, "misplaced", False),
        (_doubled, "duplicate-id", False),
        (_dangling, "dangling-edge", False),
        (_unapplied, "unapplied-supersede", False),
        (_heirless, "no-heir", False),
        (_unreadable, "bad-id", False),
        (_no_evidence, "evidence-missing", False),
        (_other_evidence, "evidence-changed", False),
        (_stolen_evidence, "evidence-path", False),
        (_loose_evidence, "unused-evidence", True),
        (_stray, "stray-file", False),
        (_foreign, "foreign-file", True),
        (_linked, "symlink", False),
        (_unignored, "gitignore", False),
        (_bad_setting, "bad-setting", False),
        (_bad_config, "bad-config", False),
    ],
)
def test_each_kind_of_damage_is_found_with_its_place(
    store: TempStore,
    spoil: Callable[[TempStore], None],
    code: str,
    healthy: bool,  # noqa: FBT001
) -> None:
    """A finding has a code, a path, a sentence and a fix; a mere note leaves a store healthy."""
    spoil(store)
    examined = store.again().doctor()
    found = [finding for finding in examined.findings if finding.code == code]
    assert found
    assert all(finding.path and finding.message and finding.fix for finding in found)
    assert examined.healthy is healthy


def test_a_subfolder_of_the_right_folder_is_right(store: TempStore) -> None:
    """Older versions sorted observations by date; such records are read and nothing is wrong."""
    store.write(f"memory/facts/2026/01/{an_id(2)}.md", print_record(a_record(2, body="harbour")))
    assert store.again().doctor().findings == ()
    assert store.again().search("harbour").count == 2


def test_a_record_in_the_wrong_folder_is_told_where_it_belongs(store: TempStore) -> None:
    """In a sentence."""
    _misplaced(store)
    store.write(f"memory/facts/{an_id(3)}.md", print_record(a_record(3, state=State.RETIRED)))
    said = [one.message for one in store.again().doctor().findings if one.code == "misplaced"]
    assert sorted(said) == [
        "a retired fact belongs in archive/",
        "an active fact belongs in memory/facts/",
    ]


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (_misplaced, "misplaced"),
        (_misnamed, "misplaced"),
        (_stray, "stray-file"),
        (_unignored, "gitignore"),
    ],
)
def test_fix_mends_what_can_be_mended_without_loss(
    store: TempStore, spoil: Callable[[TempStore], None], code: str
) -> None:
    """What was done is told, and the second look finds it gone."""
    spoil(store)
    before = sum(1 for hit in store.again().list(state="any").results if hit.id)
    examined = store.again().doctor(fix=True)
    assert examined.fixed
    assert code not in codes(examined)
    assert store.again().list(state="any").total == before


@pytest.mark.parametrize("spoil", [_doubled, _dangling, _unreadable, _other_evidence, _linked])
def test_fix_leaves_alone_what_a_person_must_decide(
    store: TempStore, spoil: Callable[[TempStore], None]
) -> None:
    """Record files stay byte for byte as they are."""
    spoil(store)
    before = _bytes(store)
    found = codes(store.again().doctor())
    assert codes(store.again().doctor(fix=True)) == found
    assert _bytes(store) == before


def test_fix_never_overwrites_a_file_that_is_in_the_way(store: TempStore) -> None:
    """Where the proper place is taken, both files stay."""
    store.write(f"archive/{an_id(1)}.md", print_record(a_record(1, title="another")))
    before = _bytes(store)
    store.ms.doctor(fix=True)
    assert _bytes(store) == before


@pytest.mark.parametrize(
    "spoil",
    [
        "update records set scope = 'elsewhere'",
        "update edges set position = 9",
        "insert into words (words) values ('delete-all')",
        "delete from records",
    ],
)
def test_an_index_with_other_content_is_found_and_made_anew(store: TempStore, spoil: str) -> None:
    """Equal counts do not make an index healthy: its rows and words are compared."""
    store.put(a_record(2, refines=(an_id(1),)))
    store.ms.search("harbour")
    store.ms.database().conn.execute(spoil)
    file.stamp(str(store.root / "local"))  # as if it were what we wrote
    assert "index-differs" in codes(store.again().doctor())
    examined = store.again().doctor(fix=True)
    assert examined.healthy
    assert "made the index anew" in examined.fixed
    assert store.again().search("harbour").count == 1


@needs_fork
def test_an_interrupted_change_is_found_and_finished(store: TempStore) -> None:
    """A journal left by a killed writer is told by `doctor`, and finished by the next reader."""
    path, target = f"memory/facts/{an_id(1)}.md", f"archive/{an_id(1)}.md"
    text = print_record(a_record(1, state=State.RETIRED)).encode()
    old = digest((store.root / path).read_bytes())
    child = os.fork()
    if child == 0:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "unlink", lambda *_, **__: os._exit(9))
            with StoreLock(store.root):
                journal.apply(store.root, [journal.Move(path, target, text, old)], an_id(1))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert journal.pending(store.root)
    assert store.again().get(an_id(1)).record["state"] == "retired"
    assert not (store.root / path).exists()
    assert store.again().doctor().healthy


def _bytes(store: TempStore) -> dict[str, bytes]:
    """Every record file of a store."""
    return {
        str(path.relative_to(store.root)): path.read_bytes()
        for folder in ("memory", "archive", "observations", "questions", "evidence")
        for path in sorted((store.root / folder).rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("place", ["evidence/0123456789abcdef", "evidence", "."])
def test_what_a_killed_writer_left_elsewhere_is_told_and_removed(
    store: TempStore, place: str
) -> None:
    """Not only beside records: attachments and the store's own files are staged too."""
    stray = store.write(f"{place}/.tmp-1-2-3", b"half")
    assert "stray-file" in codes(store.ms.doctor())
    assert "stray-file" not in codes(store.ms.doctor(fix=True))
    assert not stray.exists()


def test_a_change_that_was_set_aside_is_told_until_somebody_looked(store: TempStore) -> None:
    """Its bytes may be all that is left of some work, so doctor neither hides nor removes it."""
    kept = store.write("local/journal/x.conflict.json", b"{}")
    examined = store.ms.doctor(fix=True)
    assert "set-aside-change" in codes(examined)
    assert kept.exists()
    assert not examined.healthy


# Several layers


@pytest.fixture
def scene(tmp_path: Path) -> Situation:
    """A project with a sound store to write to, between a team's store and a shared one."""
    made = Situation(tmp_path).make("""
        store ~/p/mine
        store ~/team
        store ~/shared
        pointer ~/p : mine mine rw 5, team ../team ro 10, shared ../shared ro
    """)
    assert keep_current(made.path("~/p/mine/.memspec"))
    return made


def _put(scene: Situation, at: str, record: Record) -> Path:
    path = scene.path(at) / ".memspec" / layout.path_of(record)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(print_record(record), encoding="utf-8")
    return path


def _bytes_below(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _examined(scene: Situation, store: str | None = None) -> Examined:
    with closing(scene.open("~/p", store=store)) as memspec:
        return memspec.doctor()


@pytest.mark.parametrize(
    ("places", "counts"),
    [
        (("~/team", "~/p/mine"), "team"),
        (("~/p/mine", "~/shared"), "mine"),
        (("~/team", "~/shared"), "team"),
        (("~/team", "~/p/mine", "~/shared"), "team"),
    ],
)
def test_an_id_of_several_layers_is_told_with_each_file_and_which_counts(
    scene: Situation, places: tuple[str, ...], counts: str
) -> None:
    """Higher layers first, whichever of them is the one to write to, or if none is."""
    files = [_put(scene, at, a_record(7, title=f"Seven of {at}")) for at in places]
    examined = _examined(scene)
    (found,) = [one for one in examined.findings if one.code == "id-in-two-layers"]
    listed = " and ".join(
        f"{file} (layer: {at.rpartition('/')[2]})" for file, at in zip(files, places, strict=True)
    )
    assert found.message == (
        f"{an_id(7)} is the id of {listed}; that of {counts!r}, the higher layer, counts"
    )
    assert (found.severity, found.field, examined.healthy) == ("warning", "id", False)
    assert bool(found.path) is ("~/p/mine" in places)
    with closing(scene.open("~/p")) as memspec:
        assert memspec.get(an_id(7)).title == f"Seven of {places[0]}"


def test_a_store_by_name_is_told_of_its_own_ids_only(scene: Situation) -> None:
    """What two other layers share is no matter of the one that was asked for."""
    _put(scene, "~/team", a_record(7))
    _put(scene, "~/shared", a_record(7))
    assert "id-in-two-layers" not in codes(_examined(scene, "mine"))
    assert "id-in-two-layers" in codes(_examined(scene, "shared"))


def test_layers_that_are_left_out_are_told(scene: Situation) -> None:
    """Each with what is to be done about it; a store that lacks one needs attention."""
    scene.make("pointer ~/p : mine mine rw, gone ../gone ro, theirs ../shared rw")
    examined = _examined(scene)
    told = [one for one in examined.findings if one.code == "layer-left-out"]
    assert [one.message.partition(":")[0] for one in told] == [
        "layer 'gone' is left out",
        "layer 'theirs' is left out",
    ]
    assert [str(one.fix).split()[0] for one in told] == ["clone", "to"]
    assert not examined.healthy
    check = next(one for one in examined.checks if one.name == "layers")
    assert (check.count, check.findings) == (3, 2)
    scene.make("pointer ~/p : mine mine rw")
    assert _examined(scene).healthy


def test_a_layer_that_is_behind_is_told_as_a_note(scene: Situation) -> None:
    """Nothing is wrong with the store for that."""
    scene.make("""
        git ~/team
        commit ~/team
        clone ~/copy of ~/team
        pointer ~/p : mine mine rw, team ../copy ro
    """)
    assert "layer-behind" not in codes(_examined(scene))
    scene.make("commit ~/team\nfetch ~/copy")
    examined = _examined(scene)
    (found,) = [one for one in examined.findings if one.code == "layer-behind"]
    assert found.message.startswith("layer 'team' is 1 commit behind")
    assert (found.severity, examined.healthy) == ("note", True)


def test_a_layer_that_is_only_read_is_examined_and_not_written_to(scene: Situation) -> None:
    """By its name; what is wrong in it is found, and mending is for its own checkout."""
    broken = scene.path("~/team/.memspec/memory/facts") / f"{an_id(8)}.md"
    broken.write_text("---\nid: x\n---\n# T\n", encoding="utf-8")
    scene.path("~/team/.memspec/memory/facts/.tmp-1-2-3").write_bytes(b"half")
    before = _bytes_below(scene.path("~/team"))
    examined = _examined(scene, "team")
    assert examined.store == str(scene.path("~/team/.memspec"))
    assert {"bad-id", "stray-file"} <= codes(examined)
    with (
        closing(scene.open("~/p", store="team")) as memspec,
        pytest.raises(NotAllowed, match="is read-only"),
    ):
        memspec.doctor(fix=True)
    assert _bytes_below(scene.path("~/team")) == before


def test_an_edge_into_another_layer_does_not_dangle(scene: Situation) -> None:
    """Whichever layer is asked; one that no layer has does."""
    theirs = an_id(2)
    _put(scene, "~/p/mine", a_record(7, refines=(theirs,)))
    _put(scene, "~/shared", a_record(8, refines=(an_id(1),), supports=(an_id(99),)))
    assert "dangling-edge" not in codes(_examined(scene))
    (found,) = [one for one in _examined(scene, "shared").findings if one.code == "dangling-edge"]
    assert an_id(99) in found.message
