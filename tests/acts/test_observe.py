from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memspec_py.errors import Invalid
from memspec_py.testing import TempStore

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """An empty store."""
    return TempStore(tmp_path)


def test_an_observation_is_found_and_expires_by_itself(store: TempStore) -> None:
    """After seven days by default, to the instant."""
    noted = store.ms.observe("CI was red at noon")
    assert noted.expires == "2026-01-08T00:00:00.000Z"
    assert noted.path == f"observations/{noted.id}.md"
    store.clock.advance(days=6, hours=23)
    assert store.ms.search("red noon").count == 1
    store.clock.advance(hours=1)
    assert store.ms.search("red noon").count == 0
    assert (store.root / noted.path).exists()


@pytest.mark.parametrize(
    ("ttl", "expires"),
    [
        ("30m", "2026-01-01T00:30:00.000Z"),
        ("12h", "2026-01-01T12:00:00.000Z"),
        ("2d", "2026-01-03T00:00:00.000Z"),
        ("never", None),
    ],
)
def test_it_lives_as_long_as_asked(store: TempStore, ttl: str, expires: str | None) -> None:
    """Minutes, hours, days or for ever."""
    assert store.ms.observe("x", ttl=ttl).expires == expires


def test_the_default_span_is_a_setting(store: TempStore) -> None:
    """`decay.observation` in config.yaml."""
    store.write("config.yaml", "decay:\n  observation: 1h\n")
    assert store.again().observe("x").expires == "2026-01-01T01:00:00.000Z"


@pytest.mark.parametrize(
    ("text", "title", "body"),
    [
        ("one line", "one line", ""),
        ("  first  \n\nsecond\n\n", "first", "second"),
        ("# heading\r\nrest", "heading", "rest"),
        ("ends with ##", "ends with ##", ""),
        ("#", "#", ""),
        ("x" * 130, "x" * 119 + "…", "x" * 130),
    ],
)
def test_the_first_line_is_the_title(store: TempStore, text: str, title: str, body: str) -> None:
    """A line that is too long is cut there and kept whole in the body."""
    shown = store.ms.get(store.ms.observe(text).id)
    assert (shown.title, shown.body) == (title, body)


def test_the_same_may_be_observed_twice(store: TempStore) -> None:
    """An observation is a point in time, so there are no duplicates."""
    assert store.ms.observe("disk full").id != store.ms.observe("disk full").id


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"text": ""}, "text"),
        ({"text": " \n"}, "text"),
        ({"text": "a\0"}, "text"),
        ({"text": "\ud800"}, "text"),
        ({"ttl": "soon"}, "ttl"),
        ({"ttl": "0d"}, "ttl"),
        ({"ttl": "-1d"}, "ttl"),
        ({"ttl": "7"}, "ttl"),
        ({"source": "unknown"}, "source"),
        ({"scope": ""}, "scope"),
        ({"tags": ["x" * 65]}, "tags"),
    ],
)
def test_a_bad_value_is_refused_by_the_name_of_its_field(
    store: TempStore, given: dict[str, Any], field: str
) -> None:
    """And nothing is written."""
    with pytest.raises(Invalid) as raised:
        store.ms.observe(**{"text": "disk full", **given})
    assert [finding.field for finding in raised.value.findings] == [field]
    assert not list((store.root / "observations").iterdir())


def test_a_store_may_require_a_scope(store: TempStore) -> None:
    """As for claims."""
    store.write("config.yaml", "scopes_require: true\n")
    with pytest.raises(Invalid, match="scope"):
        store.again().observe("x")
    assert store.again().observe("x", scope="universal").id
