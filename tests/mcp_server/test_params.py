"""Arguments are what the tool says they are, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from memspec_py.errors import UsageError
from memspec_py.mcp_server.params import Param, Shape, checked, input_schema
from memspec_py.mcp_server.tools import TOOLS, Tool

PARAMS = (
    Param("text", required=True),
    Param("word", words=("one", "two")),
    Param("some", shape=Shape.TEXTS, to="several"),
    Param("flag", shape=Shape.FLAG),
    Param("count", shape=Shape.NUMBER, most=5),
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def test_values_come_under_the_names_of_the_api() -> None:
    """And what is null was not sent."""
    sent = {"text": "a", "word": "two", "some": ["b"], "flag": False, "count": 3.0}
    assert checked("tool", PARAMS, sent) == {
        "text": "a",
        "word": "two",
        "several": ["b"],
        "flag": False,
        "count": 3,
    }
    assert checked("tool", PARAMS, {"text": "a", "word": None}) == {"text": "a"}


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({}, "tool needs text"),
        ({"text": None}, "tool needs text"),
        ({"text": "a", "txt": 1}, "tool has no argument 'txt'"),
        ({"text": 3}, "text should be a text, not 3"),
        ({"text": ["a"]}, 'text should be a text, not ["a"]'),
        ({"text": "a", "word": "six"}, 'word cannot be "six"'),
        ({"text": "a", "some": "b"}, 'some should be a list of texts, such as ["one"], not "b"'),
        ({"text": "a", "some": [1]}, "some should be a list of texts"),
        ({"text": "a", "flag": "true"}, 'flag should be true or false, not "true"'),
        ({"text": "a", "flag": 1}, "flag should be true or false, not 1"),
        ({"text": "a", "count": True}, "count should be a whole number, not true"),
        ({"text": "a", "count": 1.5}, "count should be a whole number, not 1.5"),
        ({"text": "a", "count": 6}, "count 6 is not between 1 and 5"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(sent: dict[str, Any], said: str) -> None:
    """The message names the argument, what it should be, and what was sent."""
    with pytest.raises(UsageError) as raised:
        checked("tool", PARAMS, sent)
    assert said in raised.value.message


def test_an_unknown_argument_is_told_the_known_ones() -> None:
    """In the hint, with those that are needed."""
    with pytest.raises(UsageError) as raised:
        checked("tool", PARAMS, {"text": "a", "nope": 1})
    assert raised.value.hint == "its arguments: text (needed), word, some, flag, count"


@given(sent=st.dictionaries(st.sampled_from(["text", "word", "some", "flag", "count", "x"]), _JSON))
def test_the_schema_says_what_the_check_does(sent: dict[str, Any]) -> None:
    """Whatever the published schema allows is taken, and else only what is null."""
    schema = Draft202012Validator(input_schema(PARAMS))
    present = {name: value for name, value in sent.items() if value is not None}
    try:
        checked("tool", PARAMS, sent)
    except UsageError:
        assert not schema.is_valid(sent)
    else:
        assert schema.is_valid(present)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_an_input_schema_keeps_to_what_every_client_knows(tool: Tool) -> None:
    """No references, alternatives or lists of types: some models' programs refuse those."""
    schema = tool.input_schema()
    Draft202012Validator.check_schema(schema)
    for word in ("$ref", "anyOf", "oneOf", "allOf", '"type": ['):
        assert word not in json.dumps(schema)
