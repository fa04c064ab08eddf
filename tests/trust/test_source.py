from __future__ import annotations

import pytest

from memspec_py.errors import Invalid
from memspec_py.trust.source import checked_source


@pytest.mark.parametrize("source", ["claude-code", "human:ada", "a script, v2", "Zoë", "x" * 200])
def test_a_name_is_taken(source: str) -> None:
    """With the spaces around it gone."""
    assert checked_source(f"  {source} ") == source


@pytest.mark.parametrize(
    "source",
    [
        "",
        "  ",
        "unknown",
        "UNKNOWN",
        "none",
        "null",
        "n/a",
        "a\nb",
        "\x1b[0m",
        "\ud800",
        "x" * 201,
    ],
)
def test_what_names_nobody_is_refused(source: str) -> None:
    """With the field's name, and a hint how to say who claims this."""
    with pytest.raises(Invalid) as raised:
        checked_source(source)
    assert raised.value.findings[0].field == "source"
    assert "--source" in str(raised.value.hint)
