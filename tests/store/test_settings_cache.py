from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspec_py.record.yamltext import Unreadable, read_mapping
from memspec_py.store.settings_cache import known, parsed, simple
from tests.faults import Child, needs_fork
from tests.strategies import canonical_texts, damaged, hand_written

if TYPE_CHECKING:
    from pathlib import Path

    from memspec_py.record.model import Plain

POINTER = """\
# Where our memory lies.
stores: # highest first

  - name: team # read by all
    path: ../platform   # beside this one
    writable: false
  - name: mine
    path: ~/.memspec
    priority: 5
"""


def _full(text: str) -> dict[str, Plain] | None:
    try:
        return read_mapping(text.removeprefix("\ufeff"))
    except Unreadable:
        return None


def test_a_pointer_as_people_write_it_is_simple() -> None:
    """With remarks on lines of their own and behind values, and a path that starts at the home."""
    assert simple(POINTER) == _full(POINTER)
    assert simple(POINTER) is not None


@needs_fork
def test_what_is_simple_needs_no_parser() -> None:
    """Neither the YAML library nor our own reader around it is loaded."""

    def act() -> None:
        dear = ("yaml", "memspec_py.record.yamltext", "memspec_py.store.settings_cache")
        for name in [*sys.modules]:
            if name.startswith(dear) or name == "memspec_py.record.canonical":
                del sys.modules[name]
        from memspec_py.store import settings_cache

        assert settings_cache.simple(POINTER)
        assert not [name for name in dear[:2] if name in sys.modules]

    Child(act).end().well()


@pytest.mark.parametrize(
    "text",
    [
        "a: 'b # c'\n",
        'a: "b # c"\n',
        'a: "b # c" # d\n',
        "a: b\t# c\n",
        "\t# c\n",
        "# c\x85a: b\n",
        "a: |\n  b # c\n",
        'a: "b\n  c # d"\n',
        "a: [b, # c\n  d]\n",
        "a:\n- b # c\n",
        "a: b#c\n",
        "a: b\n  c # d\n",
        "a: 'it''s' # c\n",
    ],
)
def test_a_sign_that_may_be_no_remark_is_left_to_the_parser(text: str) -> None:
    """In quotes, in a block and behind a tab it is text to some."""
    assert simple(text) is None


_remarks = st.sampled_from(
    ["", " # x", " # \u2028", " # ü", "  #", " #y: 'z", "\t# x", " \\n# x", "#", ' "#"']
)


@st.composite
def _with_remarks(draw: st.DrawFn) -> str:
    lines = draw(st.one_of(canonical_texts, hand_written)).split("\n")
    return "\n".join(line + draw(_remarks) for line in lines)


@given(st.one_of(_with_remarks(), damaged(_with_remarks())))
def test_what_is_simple_means_what_the_parser_says(text: str) -> None:
    """Wherever the quick way has an answer, with whatever remarks."""
    found = simple(text)
    if found is not None:
        assert found == _full(text)


def test_what_was_parsed_is_known_while_the_text_is_the_same(tmp_path: Path) -> None:
    """Another text, a damaged file and none at all are parsed again."""
    text = "a: [b, c]\n"
    assert known(text, str(tmp_path)) is None
    assert parsed(text, str(tmp_path)) == known(text, str(tmp_path)) == {"a": ["b", "c"]}
    assert known(text + "\n", str(tmp_path)) is None
    for damage in (b"", b"[" * 100_000, b"{}", b"7", b'{"text": "a: [b, c]\\n"}'):
        (tmp_path / "settings.json").write_bytes(damage)
        assert known(text, str(tmp_path)) is None
