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
    """A scene with a store, a record and a record on a file."""
    with scene() as made:
        made.play("memspec init")
        made.play("memspec remember decision 'Auth uses JWT' --source ada --body 'Signed.'")
        made.play("printf 'x = 1' > a.py")
        made.play("memspec remember fact 'The value is one' --source ada --anchor a.py")
        yield made


def test_no_store_is_the_usual_error() -> None:
    """Exit 4; whoever wants silence makes it of that."""
    with scene() as here:
        said = here.play("memspec context")
        assert (said.code, said.out) == (4, "")
        said = here.play("memspec context --format json")
        assert said.code == 4
        assert json.loads(said.err)["error"]["code"] == "no-store"


def test_json_has_two_names(here: Scene) -> None:
    """`--format json` is `--json`."""
    first, second = (here.play(f"memspec context {flag}") for flag in ("--format json", "--json"))
    replies = [json.loads(said.out) for said in (first, second)]
    assert [reply["count"] for reply in replies] == [2, 2]
    assert all(item["record"]["last_referenced"] for item in replies[1]["results"])
    for reply in replies:
        for item in reply["results"]:
            item["record"].pop("last_referenced", None)
            item["record"].pop("sessions", None)
        del reply["index"]
    assert replies[0] == replies[1]


def test_several_paths_after_one_option(here: Scene) -> None:
    """`--paths a b` and `--paths a --paths b` are the same."""
    first = here.play("memspec context --paths a.py b.py").out
    assert first == here.play("memspec context --paths a.py --paths b.py").out
    assert "### Anchored to these paths" in first
    assert 'No record is anchored to "b.py".' in first


def test_a_word_without_an_option_is_asked_about(here: Scene) -> None:
    """It could be meant as either."""
    said = here.play("memspec context auth")
    assert said.code == 2
    assert "did you mean --query or --paths" in said.err


def test_what_was_shown_leaves_receipts(here: Scene) -> None:
    """With their own surface, and the session."""
    here.play("export CLAUDE_SESSION_ID=s1")
    here.play("memspec context --query jwt")
    lines = (here.place / ".memspec" / "usage.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert [(row["surface"], row["session"], row["query"]) for row in rows] == [
        ("context", "s1", "jwt")
    ]
