from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspec_py.clock import instant
from memspec_py.index.rank import (
    BODY_WEIGHT,
    HALF_LIFE_DAYS,
    TAGS_WEIGHT,
    TITLE_WEIGHT,
    Score,
    Sizes,
    frequency_behind,
    freshness,
    idf,
    length_correction,
    phrase_score,
    sizes_of,
)

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.mark.parametrize("label", HALF_LIFE_DAYS)
def test_freshness_halves_with_each_half_life(label: str) -> None:
    """A record verified now counts 1; after one half-life of its type, a half."""
    span = timedelta(days=HALF_LIFE_DAYS[label])
    assert freshness(label, instant(NOW), NOW) == pytest.approx(1.0)
    assert freshness(label, instant(NOW - span), NOW) == pytest.approx(0.5)
    assert freshness(label, instant(NOW - 2 * span), NOW) == pytest.approx(0.25)


def test_a_date_in_the_future_is_no_fresher_than_now() -> None:
    """A clock that runs ahead elsewhere does not lift its records above all others."""
    assert freshness("fact", instant(NOW + timedelta(days=400)), NOW) == pytest.approx(1.0)


@given(st.floats(0.001, 1e6), st.floats(0.1, 10), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_recency_never_more_than_doubles_a_score(
    text: float, length: float, recency: float, old: float, young: float
) -> None:
    """The total is the product of its parts, and a fresher record never scores less."""
    low, high = sorted((old, young))
    older = Score("all", text, length, recency, low)
    younger = Score("all", text, length, recency, high)
    assert older.total == pytest.approx(text * length * (1 + recency * low))
    assert text * length <= older.total <= younger.total <= 2.0001 * text * length


def test_length_is_neutral_for_the_average_record_and_helps_the_long_one() -> None:
    """BM25 prefers short records too much; the correction takes some of that back."""
    average = Sizes(6, 2, 60)
    assert length_correction(average, average) == pytest.approx(1.0)
    assert length_correction(Sizes(6, 2, 600), average) > 1.5
    assert length_correction(Sizes(6, 0, 0), average) < 1.0


def test_sizes_of_an_empty_index_are_ones() -> None:
    """Nothing is divided by zero where there are no records."""
    assert sizes_of("") == Sizes(1.0, 1.0, 1.0)
    assert sizes_of("5.5 1.0 40.25") == Sizes(5.5, 1.0, 40.25)
    assert length_correction(Sizes(0, 0, 0), Sizes(0, 0, 0)) == pytest.approx(1.0)


@given(
    st.tuples(st.integers(0, 500), st.integers(0, 500), st.integers(0, 20_000)),
    st.integers(1, 100_000),
    st.integers(0, 100_000),
    st.integers(1, 50_000),
    st.floats(1, 5_000),
)
def test_the_frequency_behind_a_score_is_found_exactly(
    places: tuple[int, int, int], records: int, carrying: int, length: int, average: float
) -> None:
    """However often a phrase occurs in title, tags and body, its score gives that away."""
    in_title, in_tags, in_body = places
    frequency = in_title * TITLE_WEIGHT + in_tags * TAGS_WEIGHT + in_body * BODY_WEIGHT
    weight = idf(records, min(carrying, records))
    score = phrase_score(weight, frequency, length, average)
    assert frequency_behind(score, weight, length, average) == frequency


def test_a_phrase_tells_less_the_more_records_have_it() -> None:
    """Down to almost nothing where half of them do; never less than nothing."""
    told = [idf(100, carrying) for carrying in (0, 1, 10, 49, 50, 100)]
    assert told == sorted(told, reverse=True)
    assert told[-1] == told[-2] == pytest.approx(1e-6)
