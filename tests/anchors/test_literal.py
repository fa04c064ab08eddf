from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspec_py.anchors.literal import says, spelt, values_of
from memspec_py.anchors.symbols import Unreadable


@pytest.mark.parametrize(
    ("file", "text", "name", "values"),
    [
        ("a.py", "X = 60\nY = X", "X", ["60"]),
        ("a.py", "X: int = 6_0  # c", "X", ["60"]),
        ("a.py", "X = 'a' 'b'", "X", ['"ab"']),
        ("a.py", "X = 6 *  10", "X", ["6 * 10"]),
        ("a.py", "X = [1,\n     2]", "X", ["[1, 2]"]),
        ("a.py", "class K:\n    X = -1.50", "K.X", ["-1.50"]),
        ("a.py", "A, X = 1, 2", "X", ["2"]),
        ("a.py", "X = Y = 0x10", "X", ["16"]),
        ("a.py", "X: int", "X", []),
        ("a.py", "def X(): pass", "X", []),
        ("a.py", "# X = 1\n'X = 1'", "X", []),
        ("a.py", "if A:\n    X = 1\nelse:\n    X = 2", "X", ["1", "2"]),
        ("a.py", "if A:\n    X = 1\nelse:\n    X = 1", "X", ["1"]),
        ("a.py", "X = 1\nX += 2", "X", ["1", "X += 2"]),
        ("a.json", '{"a": {"ttl": 30, "s": "30", "n": null, "t": true}}', "a.ttl", ["30"]),
        ("a.json", '{"a": {"ttl": 30, "s": "30", "n": null, "t": true}}', "a.s", ['"30"']),
        ("a.json", '{"a": {"ttl": 30, "s": "30", "n": null, "t": true}}', "a.n", ["null"]),
        ("a.json", '{"a": {"ttl": 30, "s": "30", "n": null, "t": true}}', "a.t", ["true"]),
        ("a.yaml", "a:\n  ttl: 30\n  on: yes", "a.on", ["yes"]),
        ("a.toml", "[a]\nd = 2020-01-02\nx = 1_000", "a.d", ["2020-01-02"]),
        ("a.toml", "[a]\nd = 2020-01-02\nx = 1_000", "a.x", ["1000"]),
        ("a.ts", "export const X: number = 30;", "X", ["30"]),
        ("a.ts", "const X = 'a;b', Y = 1", "X", ['"a;b"']),
        ("a.ts", "if (X == 1) y(X => 1)", "X", ["1)"]),
        ("a.ts", "// X = 1\n * X = 2\nX.Y = 3; Z.X = 4; XX = 5", "X", []),
        ("a.go", "const X = 30 * time.Second // c", "X", ["30 * time.Second"]),
        ("a.go", "\tX int = 30\n", "X", ["30"]),
        ("a.go", "\tX := 30\n", "X", ["30"]),
        ("a.rs", "pub const X: u32 = 1_000;", "X", ["1000"]),
        ("A.java", "static final int X = 30;", "X", ["30"]),
        ("a.c", "#define X 30\n", "X", ["30"]),
        (".env", "# X=1\nexport X=\nY=2", "X", ['""']),
        (".env", "X=a b c", "X", ["a b c"]),
        ("a.ini", "; X = 1\nX = two # c", "X", ["two"]),
        ("Dockerfile", "ENV X=1 \\\n", "X", ["1 \\"]),
        ("a.properties", "a.b.c: 5\nx.a.b.c: 6", "a.b.c", ["5"]),
    ],
)
def test_a_value_is_what_its_file_says(file: str, text: str, name: str, values: list[str]) -> None:
    """In one spelling, each different value once."""
    assert values_of(file, text.encode(), name) == values


@pytest.mark.parametrize(
    ("file", "text"), [("a.py", "def ("), ("a.json", "{"), ("a.json", '{"X": [1]}')]
)
def test_a_file_that_cannot_be_read_has_no_values(file: str, text: str) -> None:
    """Nor has what is no single value."""
    found = values_of(file, text.encode(), "X")
    assert isinstance(found, Unreadable)
    assert found.reason


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("30", "30"),
        ("3_0", "30"),
        ("0x1e", "30"),
        (" 30 ", "30"),
        ("abc", '"abc"'),
        ("'abc'", '"abc"'),
        ('"abc"', '"abc"'),
        ("a b", '"a b"'),
        ("True", "True"),
        ("6  * 10", "6 * 10"),
    ],
)
def test_what_a_person_types_is_understood(said: str, value: str) -> None:
    """Quotes may be left out."""
    assert says(said, value)


@pytest.mark.parametrize(
    ("said", "value"), [("30", "31"), ("30", "30.0"), ("'30'", "30"), ("abc", '"abd"'), ("", "0")]
)
def test_another_value_is_another(said: str, value: str) -> None:
    """A number in quotes is a text."""
    assert not says(said, value)


@given(st.text())
def test_one_spelling_is_enough(text: str) -> None:
    """Spelling a value twice changes nothing, and every value says itself."""
    once = spelt(text)
    assert spelt(once) == once
    assert says(once, once)
    assert says(text, spelt(json.dumps(text, ensure_ascii=False)))


@given(st.sampled_from(["a.py", "a.ts", ".env", "a.json"]), st.text(), st.text("X=: '\"#\n1a;"))
def test_any_name_in_any_text_is_looked_up(file: str, name: str, text: str) -> None:
    """Without an exception, and never without a spelling."""
    found = values_of(file, text.encode(), name)
    assert isinstance(found, Unreadable) or all(found)
