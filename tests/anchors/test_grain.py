from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspec_py.anchors.grain import Grain, Typed, grain_of, readings, shown
from memspec_py.record.model import Anchor


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("a.py", [Typed("a.py")]),
        ("a.py#A.b", [Typed("a.py#A.b"), Typed("a.py", Grain.SYMBOL, symbol="A.b")]),
        ("a.py:7", [Typed("a.py:7"), Typed("a.py", Grain.SPAN, lines=(7, 7))]),
        ("a.py:7-9", [Typed("a.py:7-9"), Typed("a.py", Grain.SPAN, lines=(7, 9))]),
        ("a::X= 1=2", [Typed("a::X= 1=2"), Typed("a", Grain.LITERAL, name="X", value="1=2")]),
        ("a::X", [Typed("a::X"), Typed("a", Grain.LITERAL, name="X")]),
        ("a::X=", [Typed("a::X="), Typed("a", Grain.LITERAL, name="X", value="")]),
        (
            "a#b#c",
            [
                Typed("a#b#c"),
                Typed("a#b", Grain.SYMBOL, symbol="c"),
                Typed("a", Grain.SYMBOL, symbol="b#c"),
            ],
        ),
        ("a#S::f", None),
        ("#x", [Typed("#x")]),
        ("a#", [Typed("a#")]),
        ("a:0", [Typed("a:0")]),
        ("a:1-", [Typed("a:1-")]),
        ("::X", [Typed("::X")]),
        ("a::", [Typed("a::")]),
        ("a::=1", [Typed("a::=1")]),
    ],
)
def test_each_reading_of_what_was_typed(typed: str, expected: list[Typed] | None) -> None:
    """The longest path first, because a file may be called anything."""
    found = list(readings(typed))
    assert expected is None or found == expected
    assert found[0] == Typed(typed)
    if typed == "a#S::f":
        assert Typed("a", Grain.SYMBOL, symbol="S::f") in found


@given(st.text("ab#:-=1"))
def test_a_reading_never_has_an_empty_path_or_part(typed: str) -> None:
    """However odd the text."""
    for one in list(readings(typed))[1:]:
        assert one.path
        assert one.symbol or one.name or one.lines != (0, 0)


@pytest.mark.parametrize(
    ("anchor", "grain", "text"),
    [
        (Anchor(file="a.py", sha="x"), "file", "a.py"),
        (Anchor(file="a.py", sha="x", repo="lib", symbol="A.b"), "symbol", "lib/a.py#A.b"),
        (Anchor(file="a.py", sha="x", lines="1-2"), "span", "a.py:1-2"),
        (Anchor(file="a.py", sha="x", name="X", value="1"), "literal", "a.py::X=1"),
    ],
)
def test_an_anchor_is_shown_as_it_is_typed(anchor: Anchor, grain: str, text: str) -> None:
    """So that it can be typed again."""
    assert (grain_of(anchor).value, shown(anchor)) == (grain, text)
