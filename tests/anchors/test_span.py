from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspec_py.anchors.span import Lines, Span, is_span_id, parse_span

_LINE = st.text("ab \t", max_size=4)
_TEXT = st.lists(_LINE, max_size=12)


def lines(text: list[str]) -> Lines:
    """The lines of a file."""
    return Lines("\n".join(text).encode())


@given(_TEXT, _TEXT, _TEXT)
def test_a_block_is_found_wherever_it_goes(
    block: list[str], above: list[str], below: list[str]
) -> None:
    """And what is found has the same id."""
    whole = Span(1, len(block))
    span_id = lines([*block, ""]).id_of(whole) if block else None
    if span_id is None:
        assert not any(line.strip() for line in block)
        return
    moved = lines([*above, *block, *below])
    found = moved.find(span_id, whole)
    assert found is not None
    assert moved.id_of(found) == span_id


def test_white_space_is_folded_and_words_are_not() -> None:
    """A block may be indented anew, spread out, and have other line ends."""
    span_id = Lines(b"a\n  b  c\nd\n").id_of(Span(1, 3))
    assert Lines(b"\tif x:\r\n\t\ta\r\n\r\n\t\t\tb c\r\n\t\td\r\n").id_of(Span(2, 5)) == span_id
    assert Lines(b"a\nbc\nd\n").id_of(Span(1, 3)) != span_id
    assert Lines(b"a\nb\nc d\n").id_of(Span(1, 3)) != span_id


def test_of_several_places_the_nearest_counts() -> None:
    """Counted from where it was."""
    many = Lines(b"x\ny\nx\ny\nx\n")
    span_id = many.id_of(Span(1, 1))
    assert span_id is not None
    assert [many.find(span_id, Span(n, n)) for n in (1, 3, 9)] == [
        Span(1, 1),
        Span(3, 3),
        Span(5, 5),
    ]


@pytest.mark.parametrize("span", [Span(1, 4), Span(4, 4), Span(2, 2)])
def test_lines_that_are_not_there_or_say_nothing_have_no_id(span: Span) -> None:
    """There is nothing to find again."""
    assert Lines(b"a\n\nb\n").id_of(span) is None


@pytest.mark.parametrize("text", ["", "0", "0-3", "5-2", "a", "1-", "-1", "1-2-3", "9" * 30, "²"])
def test_what_is_no_span_is_none(text: str) -> None:
    """A record may say anything."""
    assert parse_span(text) is None
    assert parse_span("7") == Span(7, 7)
    assert parse_span(str(Span(7, 9))) == Span(7, 9)


@pytest.mark.parametrize(
    "text", ["", "ln1", "ln1:", "ln1:x:0", "ln2:1:0", "ln1:0:0", f"ln1:{'9' * 9}:0"]
)
def test_an_id_of_another_rule_is_no_id(text: str) -> None:
    """So that it is never compared."""
    assert not is_span_id(text)
    assert Lines(b"a\n").find(text, Span(1, 1)) is None
    assert is_span_id(Lines(b"a\n").id_of(Span(1, 1)) or "")
