"""Instants as text: reading ISO 8601, and one canonical form in UTC that sorts as time does."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Protocol

NEVER = "never"

_CANONICAL = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z")
# ``fromisoformat`` takes any character between date and time, and digits of any alphabet.
_ISO_LETTERS = re.compile(r"[0-9TWZ:.,+\- ]+\Z")
_DURATION = re.compile(r"([0-9]{1,6})([dhm])\Z")
_UNITS = {"d": "days", "h": "hours", "m": "minutes"}


class Clock(Protocol):
    """Where the time comes from; below the API nobody asks the system."""

    def now(self) -> datetime:
        """The present instant, aware and in UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The present instant in UTC."""
        return datetime.now(UTC)


class FixedClock:
    """A clock that stands still until it is told to move; for tests, ours and our users'."""

    def __init__(self, start: str = "2026-01-01T00:00:00Z") -> None:
        self._now = _aware(start)

    def now(self) -> datetime:
        """The instant it was set to."""
        return self._now

    def advance(self, **delta: float) -> None:
        """Move on by a ``timedelta`` given as its keywords, such as ``days=3``."""
        self._now += timedelta(**delta)


def instant(moment: datetime) -> str:
    """The canonical text of an aware datetime: UTC, milliseconds, ``Z``."""
    moment = moment.astimezone(UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z".rjust(24, "0")


def parse_instant(text: str) -> str:
    """Any ISO 8601 date or time as canonical text.

    A date alone is midnight UTC and a time without an offset is UTC. Raises ``ValueError`` with a
    sentence for anything else, years outside 1 to 9999 included.
    """
    moment = _aware(text)
    # The canonical form is what we write ourselves, so it is by far the most common.
    return text if _CANONICAL.match(text) else instant(moment)


def parse_duration(text: str) -> timedelta:
    """A span such as ``90d``, ``12h`` or ``30m``; raises ``ValueError`` for all else and zero."""
    found = _DURATION.match(text.strip())
    if found is None or int(found[1]) == 0:
        msg = f"{text!r} is not a duration such as 90d, 12h or 30m"
        raise ValueError(msg)
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def moment_of(canonical: str) -> datetime:
    """The datetime of a canonical instant."""
    return datetime.fromisoformat(canonical)


def age_days(now: datetime, canonical: str) -> float:
    """Days from a canonical instant to ``now``; zero when it lies in the future."""
    return max(0.0, (now - datetime.fromisoformat(canonical)).total_seconds() / 86_400)


def _aware(text: str) -> datetime:
    try:
        clean = text.strip()
        moment = datetime.fromisoformat(clean if _ISO_LETTERS.match(clean) else "")
        if moment.tzinfo is None:
            return moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        msg = f"{text!r} is not an ISO 8601 date or time such as 2026-03-01 or 2026-03-01T09:30:00Z"
        raise ValueError(msg) from None
