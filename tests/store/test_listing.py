from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from memspec_py.store.listing import list_records, stat_of
from memspec_py.testing import TempStore, a_record, an_id

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """A store with one record."""
    made = TempStore(tmp_path)
    made.put(a_record(1))
    return made


def codes(store: TempStore) -> list[tuple[str, str]]:
    """Code and path of what the listing tells."""
    return sorted((one.code, one.path) for one in list_records(store.root).findings)


def test_every_record_file_below_the_record_folders_is_listed(store: TempStore) -> None:
    """Subfolders too; nothing outside, nothing hidden, nothing that is no `.md`."""
    for path in (
        f"observations/2025/05/{an_id(2)}.md",
        f"archive/{an_id(3)}.md",
        "memory/facts/.hidden.md",
        "memory/facts/notes.txt",
        "evidence/ab/readme.md",
        "local/x.md",
        "other/x.md",
        "loose.md",
    ):
        store.write(path, "x")
    listing = list_records(store.root)
    assert sorted(listing.paths) == [
        f"archive/{an_id(3)}.md",
        f"memory/facts/{an_id(1)}.md",
        f"observations/2025/05/{an_id(2)}.md",
    ]
    assert sorted(listing.strays) == ["memory/facts/.hidden.md", "memory/facts/notes.txt"]
    assert codes(store) == []


def test_stats_are_those_of_the_files(store: TempStore) -> None:
    """Size, times and inode, by path."""
    (found,) = list_records(store.root).stats().items()
    assert found == (f"memory/facts/{an_id(1)}.md", stat_of(store.root / found[0]))


def test_links_are_told_and_never_followed(store: TempStore, tmp_path: Path) -> None:
    """A file, a folder or a whole record folder that is a link could lead anywhere."""
    secret = tmp_path / "secret"
    secret.mkdir()
    own = store.root / f"memory/facts/{an_id(1)}.md"
    (secret / f"{an_id(2)}.md").write_bytes(own.read_bytes())
    (store.root / "memory/facts/link.md").symlink_to(secret / f"{an_id(2)}.md")
    (store.root / "memory/decisions/sub").symlink_to(secret)
    (store.root / "questions").rmdir()
    (store.root / "questions").symlink_to(secret)
    (store.root / "archive" / "loop").symlink_to(store.root)
    (store.root / "archive" / "gone.md").symlink_to("nowhere")
    assert codes(store) == [
        ("symlink", "archive/gone.md"),
        ("symlink", "archive/loop"),
        ("symlink", "memory/decisions/sub"),
        ("symlink", "memory/facts/link.md"),
        ("symlink", "questions"),
    ]
    status = store.ms.status()
    assert (status.files, status.circumstances.unreadable_count) == (1, 5)


def test_a_pipe_in_place_of_a_record_hangs_nobody(store: TempStore) -> None:
    """It is no regular file, so it is a stray."""
    os.mkfifo(store.root / f"memory/facts/{an_id(2)}.md")
    assert list_records(store.root).strays == [f"memory/facts/{an_id(2)}.md"]
    assert store.ms.search("record").count == 1


def test_a_folder_named_like_a_record_is_walked(store: TempStore) -> None:
    """It may hold records as any other folder."""
    store.write(f"memory/facts/odd.md/{an_id(2)}.md", "x")
    assert f"memory/facts/odd.md/{an_id(2)}.md" in list_records(store.root).paths


def test_a_name_that_is_no_text_is_told(store: TempStore) -> None:
    """It could not be shown or kept in the index."""
    place = os.fsencode(store.root / "memory/facts") + b"/\xff.md"
    try:
        with open(place, "wb"):
            pass
    except OSError:
        pytest.skip("this file system wants names in Unicode")
    ((code, path),) = codes(store)
    assert "\\xff" in path
    assert code
    assert store.ms.search("record").count == 1


@pytest.mark.parametrize("missing", ["memory", "questions", "archive"])
def test_a_missing_folder_is_an_empty_one(store: TempStore, missing: str) -> None:
    """Git keeps no empty folders, so a fresh clone lacks some."""
    (store.root / f"memory/facts/{an_id(1)}.md").unlink()
    for folder, _, _ in os.walk(store.root / missing, topdown=False):
        os.rmdir(folder)
    assert len(list_records(store.root)) == 0
    assert store.ms.remember("fact", "Works", source="ada").id


def test_the_fingerprint_changes_with_any_name_or_stat(store: TempStore) -> None:
    """A new file, a rename, a new size or time; nothing else."""
    seen = {list_records(store.root).fingerprint()}
    assert list_records(store.root).fingerprint() in seen
    place = store.put(a_record(2))
    seen.add(list_records(store.root).fingerprint())
    os.utime(place, ns=(1, 1))
    seen.add(list_records(store.root).fingerprint())
    place.rename(place.with_name("other.md"))
    seen.add(list_records(store.root).fingerprint())
    assert len(seen) == 4


def test_a_folder_that_cannot_be_listed_is_told(store: TempStore) -> None:
    """What may not be looked at is not taken for gone."""
    (store.root / "archive").rmdir()
    (store.root / "archive").write_text("no folder", encoding="utf-8")
    ((code, path),) = codes(store)
    assert (code, path) == ("unlisted", "archive")
    assert store.ms.search("record").count == 1
    assert store.ms.search("record").circumstances.unreadable_count == 1
