from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspec_py.ids import is_id, new_id, prefix_range

_moments = st.datetimes(datetime(1970, 1, 2), datetime(2999, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
ID = "ms_01KDVDNA000000000000000001"


@given(_moments, st.binary(min_size=10, max_size=10))
def test_a_new_id_is_an_id(moment: datetime, entropy: bytes) -> None:
    """`ms_` and a ULID, found again by itself and by any beginning of it."""
    made = new_id(moment, entropy)
    assert is_id(made)
    for length in (4, 10, 29):
        between = prefix_range(made[:length])
        assert between is not None
        assert between[0] <= made <= between[1]


@given(_moments, st.binary(min_size=10, max_size=10), st.binary(min_size=10, max_size=10))
def test_ids_sort_by_time(moment: datetime, one: bytes, other: bytes) -> None:
    """A later millisecond is a greater id, whatever the entropy."""
    assert new_id(moment, one) < new_id(moment + timedelta(milliseconds=1), other)


@pytest.mark.parametrize(
    "text", ["", "ms_", ID[:-1], ID + "1", ID.lower(), ID + "\n", "MS" + ID[2:], ID[:-1] + "é"]
)
def test_what_is_no_id(text: str) -> None:
    """Only the canonical form is one."""
    assert not is_id(text)


@pytest.mark.parametrize("typed", ["01kd", "MS_01KD", " ms_01KD "])
def test_a_prefix_is_typed_as_one_likes(typed: str) -> None:
    """Case does not matter and `ms_` may be left out."""
    assert prefix_range(typed) == ("ms_01KD", "ms_01KD~")


@pytest.mark.parametrize("typed", ["", "ms_", "01-", "%", "é", "\ud800", "x" * 27, ID + "1"])
def test_what_no_id_starts_with(typed: str) -> None:
    """There is nothing to look for."""
    assert prefix_range(typed) is None
