from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspec_py.acts.harness import jsontext
from memspec_py.acts.harness.jsontext import Entry, NotUnderstood

if TYPE_CHECKING:
    from collections.abc import Callable

    Draw = Callable[[st.SearchStrategy[Any]], Any]

OURS = {"command": "memspec-mcp", "args": []}
SERVER = Entry(("mcpServers", "memspec"), OURS)
HOOK = Entry(("hooks", "SessionStart"), {"hooks": [OURS]}, in_list=True)
OTHER_HOOK = Entry(("hooks", "PostToolUse"), {"matcher": "Bash"}, in_list=True)
ENTRIES = (SERVER, HOOK, OTHER_HOOK)

_space = st.sampled_from(["", " ", "\n", "\r\n", "\n  ", "\t"])
_remark = st.sampled_from(["// a remark, [with] {marks}\n", "/* one, more */", "// \r\n"])
_names = st.sampled_from(["a", "mcpServers", "hooks", "SessionStart", "PostToolUse", "é\\", "x y"])
_plain = st.sampled_from(["1", "-2.5e3", '"t,]}"', "true", "null", '"\\u00e9"', '"//"'])


@st.composite
def _gap(draw: Draw) -> str:
    return "".join(draw(st.lists(st.one_of(_space, _space, _space, _remark), max_size=2)))


@st.composite
def _containers(draw: Draw, inner: st.SearchStrategy[str], opening: str = "") -> str:
    opening = opening or draw(st.sampled_from("{["))
    if opening == "{":
        names = draw(st.lists(_names, max_size=3, unique=True))
        parts = [f"{json.dumps(name)}{draw(_gap())}:{draw(_gap())}{draw(inner)}" for name in names]
    else:
        parts = draw(st.lists(inner, max_size=3))
    gaps = [(draw(_gap()), draw(_gap())) for _ in parts]
    body = ",".join(f"{a}{one}{b}" for (a, b), one in zip(gaps, parts, strict=True))
    trailing = "," + draw(_gap()) if parts and draw(st.booleans()) else ""
    return f"{opening}{body or draw(_gap())}{trailing}{'}' if opening == '{' else ']'}"


_values = st.recursive(_plain, _containers, max_leaves=8)


@st.composite
def documents(draw: Draw) -> str:
    """Objects as people write them: any spacing, remarks, trailing commas, a byte order mark."""
    mark = draw(st.sampled_from(["", "\ufeff"]))
    return f"{mark}{draw(_gap())}{draw(_containers(_values, '{'))}{draw(_gap())}"


@given(documents())
def test_what_is_put_in_comes_out_again_to_the_byte(text: str) -> None:
    """Whatever the spacing, remarks and commas around it, and one entry after the other."""
    done, steps = text, []
    for entry in ENTRIES:
        try:
            after = jsontext.add(done, entry)
        except NotUnderstood:
            continue
        assert jsontext.holds(jsontext.parse(after), entry)
        steps.append((entry, done))
        done = after
    for entry, before in reversed(steps):
        done = jsontext.cut(done, entry)
        assert done == before


@given(documents())
def test_nothing_else_is_changed_by_an_addition(text: str) -> None:
    """The values are those of before with the entry among them."""
    before: Any = jsontext.parse(text).value
    try:
        after: Any = jsontext.parse(jsontext.add(text, SERVER)).value
    except NotUnderstood:
        assert not isinstance(before.get("mcpServers", {}), dict)
        return
    assert after.pop("mcpServers").pop("memspec") == OURS
    before.pop("mcpServers", None)
    assert after == before


@given(documents(), st.permutations(ENTRIES))
def test_entries_come_out_in_any_order(text: str, order: list[Entry]) -> None:
    """Of what was made for them nothing is left, though not always to the byte."""
    before = jsontext.parse(text).value
    done, added = text, []
    for entry in ENTRIES:
        try:
            done = jsontext.add(done, entry)
        except NotUnderstood:
            continue
        added.append(entry)
    for entry in order:
        if entry in added:
            done = jsontext.cut(done, entry)
    assert jsontext.parse(done).value == before


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.text()
        | st.floats(allow_nan=False, allow_infinity=False),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    )
)
def test_json_is_read_as_the_library_reads_it(value: object) -> None:
    """Numbers, escapes and nesting included."""
    for indent in (None, 2):
        assert jsontext.parse(json.dumps(value, indent=indent)).value == value


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "line 1"),
        ("{", "line 1"),
        ('{"a": 1', "line 1"),
        ('{\n"a" 1}', "line 2: no colon"),
        ("{a: 1}", "a name without quotes"),
        ('{"a": 1 "b": 2}', "a comma is missing"),
        ('{"a": 1, "a": 2}', "there twice"),
        ('{"a": NaN}', "unexpected 'N'"),
        ("{} {}", "more text"),
        ("{/* open", "line 1"),
        ('{"a": "\n"}', "control character"),
        ("[" * 5_000, "too deep"),
    ],
)
def test_what_cannot_be_read_is_refused(text: str, why: str) -> None:
    """With the line."""
    with pytest.raises(NotUnderstood, match=why.replace("(", r"\(")):
        jsontext.parse(text)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{ "mcpServers": {OURS} }'),
        ('{\n  "theme": 1\n}\n', '{\n  "theme": 1,\n  "mcpServers": {OURS}\n}\n'),
        (
            '{\r\n\t"mcpServers": {\r\n\t\t"a": {} // mine\r\n\t}\r\n}',
            '{\r\n\t"mcpServers": {\r\n\t\t"a": {}, // mine\r\n\t\tOURS\r\n\t}\r\n}',
        ),
        ('{"mcpServers": {"a": 1,},}', '{"mcpServers": {"a": 1, OURS,},}'),
    ],
)
def test_an_entry_stands_as_its_neighbours_do(before: str, after: str) -> None:
    """On a line of its own where they have one, with their indent, line ends and commas."""
    after = after.replace("OURS", '"memspec": {"command": "memspec-mcp", "args": []}')
    assert jsontext.add(before, SERVER) == after
    assert jsontext.cut(after, SERVER) == before


def test_an_entry_in_the_middle_comes_out_without_its_neighbours() -> None:
    """When somebody added more behind it."""
    ours = '"mcpServers": {"memspec": {"command": "memspec-mcp", "args": []}}'
    text = f'{{\n  "a": 1,\n  {ours},\n  "b": 2\n}}'
    assert jsontext.cut(text, SERVER) == '{\n  "a": 1,\n  "b": 2\n}'


def test_something_else_in_the_way_is_refused() -> None:
    """A list where an object should be is somebody's own."""
    with pytest.raises(NotUnderstood, match="mcpServers is not an object"):
        jsontext.add('{"mcpServers": []}', SERVER)
    with pytest.raises(NotUnderstood, match=r"hooks\.SessionStart is not a list"):
        jsontext.add('{"hooks": {"SessionStart": {}}}', HOOK)
    with pytest.raises(NotUnderstood, match="the whole is not an object"):
        jsontext.add("[]", SERVER)
