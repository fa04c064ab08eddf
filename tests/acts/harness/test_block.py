from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspec_py.acts.harness import block
from memspec_py.acts.harness.block import Block, Torn

OURS = Block(block.MARKDOWN, "## Memory\n\nSearch first.\n")
_pieces = st.sampled_from(
    [b"a", b"# x", b"\n", b"\r\n", b"\r", b" ", b"\xff\xfe", "é".encode(), b""]
)
files = st.one_of(st.binary(max_size=40), st.lists(_pieces, max_size=12).map(b"".join))


@given(files)
def test_what_is_put_in_comes_out_again_to_the_byte(data: bytes) -> None:
    """Any line ends, no last line end, bytes that are no text, an empty file."""
    done = block.put(data, OURS)
    assert data == done[: len(data)]
    assert block.take(done, OURS) == data
    assert block.put(done, OURS) == done


def test_a_file_of_our_own_is_none_afterwards() -> None:
    """An empty one that was there before stays."""
    assert block.take(block.created(OURS), OURS) is None
    assert block.take(block.put(b"", OURS), OURS) == b""


def test_the_block_has_the_line_ends_of_the_file() -> None:
    """And a blank line before it."""
    done = block.put(b"one\r\ntwo\r\n", OURS)
    assert done.startswith(b"one\r\ntwo\r\n\r\n<!-- memspec:init:start -->\r\n## Memory\r\n\r\n")
    assert done.endswith(b"Search first.\r\n<!-- memspec:init:end -->\r\n")
    assert b"\n" not in done.replace(b"\r\n", b"")


def test_an_older_block_is_replaced_where_it_stands() -> None:
    """Whatever it says; the lines around it stay."""
    older = "# Rules\n\n<!-- memspec:init:start -->\nold\n<!-- memspec:init:end -->\n\nmore\n"
    done = block.put(older.encode(), OURS).decode()
    assert "old" not in done
    assert done.startswith("# Rules\n\n<!-- memspec:init:start -->\n## Memory\n")
    assert done.endswith("<!-- memspec:init:end -->\n\nmore\n")
    assert block.take(done.encode(), OURS) == b"# Rules\n\nmore\n"


def test_lines_around_the_block_never_run_together() -> None:
    """Also where somebody took the blank line away."""
    done = b"one\n" + OURS.text("\n") + b"\ntwo\n"
    assert block.take(done, OURS) == b"one\ntwo\n"


@pytest.mark.parametrize(
    "text",
    [
        "<!-- memspec:init:start -->\nhalf",
        "half\n<!-- memspec:init:end -->",
        "<!-- memspec:init:end -->\n<!-- memspec:init:start -->",
        2 * "<!-- memspec:init:start -->\n<!-- memspec:init:end -->\n",
    ],
)
def test_torn_markers_are_refused(text: str) -> None:
    """Nobody can tell what is ours."""
    with pytest.raises(Torn):
        block.put(text.encode(), OURS)
    with pytest.raises(Torn):
        block.take(text.encode(), OURS)
