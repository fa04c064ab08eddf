"""What the quick start promises, apart from how it is worded: ``quick-start.transcript``.

The transcript itself is compared by ``test_transcripts.py`` and rewritten by ``bin/golden``; what
is said here must hold however it was rewritten.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.transcript import FOLDER, scene

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.transcript import Said, Scene

_TYPED = [
    line.removeprefix("$ ")
    for line in (FOLDER / "quick-start.transcript").read_text(encoding="utf-8").splitlines()
    if line.startswith("$ ")
]
_OLD = "ms_01KDVDNA000000000000000001"


@pytest.fixture
def here() -> Iterator[Scene]:
    """A fresh scene."""
    with scene() as made:
        yield made


def _play_until(here: Scene, start: str) -> Said:
    """Play the quick start up to the first line that begins so; the answer to that one."""
    for line in _TYPED:
        said = here.play(line)
        if line.startswith(start):
            return said
    raise AssertionError(f"the quick start never says {start!r}")


def test_it_is_played_in_a_real_repository(here: Scene) -> None:
    """Each step is a commit, and at the end everything of the store is committed."""
    for line in _TYPED:
        here.play(line)
    subjects = here.play("git log --format=%s").out.splitlines()
    assert len(subjects) == sum(line.startswith("git commit") for line in _TYPED) >= 4
    assert here.play("git status --short").out == ""
    assert here.play("git fsck --strict").code == 0
    assert here.play("memspec doctor").code == 0


def test_changed_code_is_told_with_the_claim_and_words_do_not_renew_it(here: Scene) -> None:
    """`reconcile` exits 1 and names the claim; `verify --evidence` asks for a look, as often."""
    _play_until(here, "git commit -q -a")
    told = here.play("memspec reconcile")
    assert (told.code, _OLD in told.out, "src/auth/jwt.py" in told.out) == (1, True, True)
    refused = here.play(f'memspec verify {_OLD} --evidence "still JWT" --json')
    assert (refused.code, json.loads(refused.out)["status"]) == (1, "needs_review")
    assert here.play("git status --short").out == ""
    assert here.play("memspec reconcile") == told


def test_taking_the_code_as_it_is_settles_it_and_keeps_the_old_id(here: Scene) -> None:
    """After `verify --reanchor` nothing wants a look, and what the anchor was is on record."""
    _play_until(here, "memspec remember")
    before = _record(here)["anchors"][0]["sha"]
    for line in _TYPED[_at("memspec remember") + 1 : _at("git commit -q -a") + 1]:
        here.play(line)
    said = here.play(f'memspec verify {_OLD} --evidence "still JWT" --reanchor')
    assert said.code == 0
    assert here.play("memspec reconcile").code == 0
    after = _record(here)
    assert after["anchors"][0]["sha"] == here.play("git hash-object src/auth/jwt.py").out.strip()
    assert after["anchors"][0]["sha"] != before
    assert [one["sha"] for one in after["ext"]["anchor_history"]] == [before]


def test_the_search_shows_the_heir_and_the_old_claim_names_it(here: Scene) -> None:
    """After `supersede` only the replacement is found, with its text and the reason on the old."""
    assert _play_until(here, "memspec supersede").code == 0
    found = json.loads(here.play("memspec search auth --json").out)["results"]
    (heir,) = [one["id"] for one in found]
    assert heir != _OLD
    assert "Now OAuth2 + PKCE" in here.play(f"memspec get {heir}").out
    old = _record(here)
    assert (old["state"], old["superseded_by"]) == ("superseded", heir)
    assert old["supersede_reason"] == "Migrated to OAuth"
    assert here.play("memspec reconcile").code == 0


def _at(start: str) -> int:
    return next(at for at, line in enumerate(_TYPED) if line.startswith(start))


def _record(here: Scene) -> dict[str, Any]:
    shown = json.loads(here.play(f"memspec get {_OLD} --json").out)
    record: dict[str, Any] = shown["record"]
    return record
