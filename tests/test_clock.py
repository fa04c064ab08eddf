from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspec_py.clock import (
    NEVER,
    FixedClock,
    SystemClock,
    age_days,
    instant,
    moment_of,
    parse_duration,
    parse_instant,
)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("2026-03-01", "2026-03-01T00:00:00.000Z"),
        (" 2026-03-01", "2026-03-01T00:00:00.000Z"),
        ("2026-03-01T09:30:00Z", "2026-03-01T09:30:00.000Z"),
        ("2026-03-01 09:30", "2026-03-01T09:30:00.000Z"),
        ("2026-03-01T09:30:00.1239Z", "2026-03-01T09:30:00.123Z"),
        ("2026-03-01T00:30:00+02:00", "2026-02-28T22:30:00.000Z"),
        ("2026-03-01T00:30:00-0530", "2026-03-01T06:00:00.000Z"),
        ("20260301T093000Z", "2026-03-01T09:30:00.000Z"),
        ("2024-02-29", "2024-02-29T00:00:00.000Z"),
        ("0001-01-01", "0001-01-01T00:00:00.000Z"),
        ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
    ],
)
def test_any_iso_8601_time_is_converted(text: str, canonical: str) -> None:
    """Offsets become UTC, a date alone its midnight, a time without offset is UTC."""
    assert parse_instant(text) == canonical


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "soon", "tomorrow", "never", "now", "0", "1", "1767225600", "2026", "2026-03"),
        *("2026-13-01", "2026-02-30", "2025-02-29", "12:30", "01/02/2026", "2026-03-01T25:00"),
        *("2026-03-01T09:30:00+25:00", "0001-01-01T00:00+05:00", "9999-12-31T23:00-05:00"),
        *("10000-01-01", "-001-01-01", "2026-03-01T", "2026-03-01Z", "2026-03-01\n09:30", "\ud800"),
        *("2026-03-01x09:30", "２０２６-03-01", "2026-03-01T09:30:00 UTC"),
    ],
)
def test_nonsense_is_refused_with_a_sentence(text: str) -> None:
    """Never silently replaced; years outside 1 to 9999 after conversion included."""
    with pytest.raises(ValueError, match="is not an ISO 8601 date or time"):
        parse_instant(text)


@given(st.datetimes(timezones=st.timezones() | st.just(UTC), allow_imaginary=False))
def test_canonical_text_is_read_back_and_sorts_as_time_does(moment: datetime) -> None:
    """One form, of one length, that the parser leaves alone."""
    try:
        utc = moment.astimezone(UTC)
    except OverflowError:
        return
    text = instant(utc)
    assert parse_instant(text) == text
    assert len(text) == 24
    assert abs(moment_of(text) - utc) < timedelta(milliseconds=1)
    assert text <= "9999-12-31T23:59:59.999Z"
    assert text < NEVER


@given(st.text(max_size=30))
def test_any_text_is_a_time_or_refused(text: str) -> None:
    """Nothing else comes out of the parser."""
    try:
        canonical = parse_instant(text)
    except ValueError:
        return
    assert parse_instant(canonical) == canonical


@pytest.mark.parametrize(
    ("text", "span"),
    [("90d", timedelta(days=90)), ("12h", timedelta(hours=12)), (" 30m ", timedelta(minutes=30))],
)
def test_spans_are_days_hours_or_minutes(text: str, span: timedelta) -> None:
    """As `decay` and `--ttl` have them."""
    assert parse_duration(text) == span


@pytest.mark.parametrize(
    "text", ["", "d", "7", "0d", "00h", "-1d", "1.5d", "7D", "7w", "7 d", "1000000d", "٧d", "never"]
)
def test_other_spans_are_refused(text: str) -> None:
    """Zero too, as nothing lives that long."""
    with pytest.raises(ValueError, match="not a duration"):
        parse_duration(text)


def test_clocks() -> None:
    """The machine's clock is in UTC; a fixed one stands still until it is told to move."""
    assert SystemClock().now().utcoffset() == timedelta(0)
    clock = FixedClock("2026-01-01T02:00+02:00")
    assert instant(clock.now()) == "2026-01-01T00:00:00.000Z"
    clock.advance(days=1, hours=12)
    assert age_days(clock.now(), "2026-01-01T00:00:00.000Z") == pytest.approx(1.5)
    assert age_days(clock.now(), "2027-01-01T00:00:00.000Z") == 0.0
