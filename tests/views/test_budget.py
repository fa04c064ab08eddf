from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspec_py.views.budget import Allowance, tokens_of

if TYPE_CHECKING:
    from collections.abc import Sequence

lines = st.lists(st.text(max_size=60), max_size=8)


@pytest.mark.parametrize(
    ("line", "tokens"),
    [("", 1), ("abc", 1), ("abcd", 2), ("éé", 1), ("\U0001f4a9", 1), ("\U0001f4a9\U0001f4a9", 2)],
)
def test_four_units_make_a_token_and_the_line_break_is_one(line: str, tokens: int) -> None:
    """A character beyond the first 65,536 is two units, as it is in UTF-16."""
    assert tokens_of([line]) == tokens


@given(lines)
def test_lines_never_cost_less_than_their_text(some: Sequence[str]) -> None:
    """So whoever counts the whole text at once finds the budget kept, too."""
    text = "".join(f"{line}\n" for line in some)
    assert ceil(len(text.encode("utf-16-le", "surrogatepass")) / 2 / 4) <= tokens_of(some)


@given(st.integers(0, 60), st.lists(lines, max_size=8))
def test_an_allowance_is_never_exceeded(most: int, offers: list[list[str]]) -> None:
    """What fits is taken whole, what does not is refused whole."""
    allowance = Allowance(most)
    spent = 0
    for offer in offers:
        fits = spent + tokens_of(offer) <= most
        assert allowance.take(*offer) is fits
        spent += tokens_of(offer) if fits else 0
        assert allowance.left == most - spent >= 0
