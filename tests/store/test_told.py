from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspec_py.store.told import Told, is_session

if TYPE_CHECKING:
    from pathlib import Path


def test_each_session_knows_its_own(tmp_path: Path) -> None:
    """What one was told is news to another, and none without a session is ever kept."""
    first, second, none = (Told(tmp_path, name) for name in ("a", "b", None))
    assert first.add(["ms_1", "ms_2"])
    assert first.add(["ms_3"])
    assert second.add(["ms_1"])
    assert Told(tmp_path, "a").ids() == {"ms_1", "ms_2", "ms_3"}
    assert second.ids() == {"ms_1"}
    assert not none.add(["ms_1"])
    assert none.ids() == frozenset()


def test_a_session_that_begins_anew_knows_nothing(tmp_path: Path) -> None:
    """Others are not touched, and twice does no harm."""
    first, second = Told(tmp_path, "a"), Told(tmp_path, "b")
    first.add(["ms_1"])
    second.add(["ms_1"])
    first.forget()
    first.forget()
    assert not first.ids()
    assert second.ids() == {"ms_1"}


def test_commits_are_known_to_every_session(tmp_path: Path) -> None:
    """Also to one that is called as their list is."""
    assert Told(tmp_path, "a").add_commit("c0ffee")
    assert Told(tmp_path, "b").commits() == {"c0ffee"}
    Told(tmp_path, "commits").add(["ms_1"])
    assert Told(tmp_path, "a").commits() == {"c0ffee"}


def test_the_files_are_few_and_small(tmp_path: Path) -> None:
    """The oldest sessions are let go; one that was told too much is told no more."""
    for number in range(70):
        Told(tmp_path, f"s{number}").add(["ms_1"])
        os.utime(tmp_path / "local" / "told" / f"s{number}.txt", (number, number))
    kept = {one.name for one in (tmp_path / "local" / "told").iterdir()}
    assert kept == {f"s{number}.txt" for number in range(6, 70)}
    talkative = Told(tmp_path, "s69")
    assert talkative.add(["x" * 40_000])
    assert not talkative.add(["ms_2"])
    assert "ms_2" not in talkative.ids()


def test_the_list_of_commits_begins_anew_when_it_is_long(tmp_path: Path) -> None:
    """Nobody will ask for the old ones."""
    told = Told(tmp_path, None)
    for number in range(1_000):
        assert told.add_commit(f"{number:040}")
    assert (tmp_path / "local" / "told" / "commits.list").stat().st_size < 40_000


@pytest.mark.parametrize("name", ["local", "local/told"])
def test_a_link_in_the_way_is_not_followed(tmp_path: Path, name: str) -> None:
    """A cloned repository may bring one."""
    outside, machine = tmp_path / "outside", tmp_path / "store"
    (outside / "told").mkdir(parents=True)
    (machine / name).parent.mkdir(parents=True)
    (machine / name).symlink_to(outside)
    assert not Told(machine, "a").add(["ms_1"])
    assert [one.name for one in outside.rglob("*")] == ["told"]


def test_a_link_in_the_place_of_a_file_is_not_followed(tmp_path: Path) -> None:
    """As above."""
    Told(tmp_path, "b").add(["ms_1"])
    outside = tmp_path / "outside"
    outside.write_bytes(b"mine\n")
    (tmp_path / "local" / "told" / "a.txt").symlink_to(outside)
    told = Told(tmp_path, "a")
    assert told.ids() == frozenset()
    assert not told.add(["ms_1"])
    assert outside.read_bytes() == b"mine\n"


@given(st.text(max_size=140))
def test_a_session_can_only_name_a_file_of_its_own(text: str) -> None:
    """No separator, no NUL, no empty name, and never so long that no file could have it."""
    assert is_session(text) == (
        0 < len(text) <= 128
        and all(char.isascii() and (char.isalnum() or char in "._-") for char in text)
    )


@pytest.mark.parametrize("name", ["..", ".", "a" * 128])
def test_dots_stay_in_the_folder(tmp_path: Path, name: str) -> None:
    """An id that is a path elsewhere is a file name here."""
    assert is_session(name)
    assert Told(tmp_path, name).add(["ms_1"])
    found = [one for one in tmp_path.rglob("*") if one.is_file()]
    assert [one.parent for one in found] == [tmp_path / "local" / "told"]
