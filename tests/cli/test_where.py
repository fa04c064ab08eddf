"""``where``, ``trust`` and ``--store`` at a terminal; ``fixtures/cli`` has their conversations."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.transcript import scene

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.transcript import Scene


@pytest.fixture
def here() -> Iterator[Scene]:
    """A folder whose pointer names a store of its own, and one that is not here."""
    with scene() as made:
        made.play("memspec init ~/app/mine")
        layers = r"  - {name: mine, path: mine}\n  - {name: late, path: ../late, writable: false}\n"
        made.play(rf"printf 'stores:\n{layers}' > .memspec.yaml")
        yield made


def test_a_warning_is_told_once(here: Scene) -> None:
    """Beside a view in its circumstances, beside an act on stderr; `where` has its own."""
    for command in ("where", "search x", "list", "status", "doctor", "observe seen"):
        said = here.play(f"memspec {command}")
        assert (said.out + said.err).count("Warning: layer 'late' is left out") == 1, command
    said = here.play("memspec where --json")
    assert len(json.loads(said.out)["warnings"]) == 1


def test_where_answers_as_every_other_command_decides(here: Scene) -> None:
    """The store it names is the one that a record lands in."""
    told = json.loads(here.play("memspec where --json").out)
    written = json.loads(here.play("memspec observe seen --json").out)
    assert told["writes_to"] == told["store"] == written["store"]


def test_what_is_in_a_path_or_a_name_cannot_reach_the_terminal(here: Scene) -> None:
    """A pointer, and a folder, are named by whoever made the repository."""
    place = here.place / "a\x1b[31mb"
    place.mkdir()
    text = 'stores:\n  - {name: mine, path: "../mine"}\n  - {name: x, path: "\\x1b[2J"}\n'
    (place / ".memspec.yaml").write_text(text, encoding="utf-8")
    here.place = place
    for command in ("where", "search x", "list", "observe seen", "trust"):
        said = here.play(f"memspec {command}")
        assert "\x1b" not in said.out + said.err, command
        assert "\\x1b" in said.out + said.err, command


def test_a_narrowed_write_leaves_the_others_alone(here: Scene) -> None:
    """`--store` goes with every command, and wins over what serves the place."""
    here.play("memspec init ~/.memspec")
    said = json.loads(here.play("memspec observe seen --store global --json").out)
    assert said["store"] == str(here.home / ".memspec")
    assert json.loads(here.play("memspec list --json").out)["count"] == 0
    assert json.loads(here.play("memspec list --store global --json").out)["count"] == 1
    assert here.play("memspec list --store ../nothing").code == 4
