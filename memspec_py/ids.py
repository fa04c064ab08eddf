"""Record ids: ``ms_`` and a ULID in its canonical upper-case form."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

PREFIX = "ms_"

# We write Crockford's base 32 (no I, L, O or U); ids made by hand or by other tools use any
# capital, and a record must not be lost for that.
_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ID = re.compile(rf"ms_[{_ALPHABET}]{{26}}\Z")
_LENGTH = len(PREFIX) + 26


def is_id(text: str) -> bool:
    """Whether the text is a whole record id in canonical form."""
    return _ID.match(text) is not None


def new_id(moment: datetime, entropy: bytes) -> str:
    """A fresh id: 48 bits of milliseconds, then 80 bits of ``entropy`` (ten bytes)."""
    from ulid import ULID  # 35 ms of imports, and only a write needs it

    # Not by way of a float, which would be a millisecond off now and then.
    milliseconds = (moment - datetime.fromtimestamp(0, UTC)) // timedelta(milliseconds=1)
    return f"{PREFIX}{ULID.from_bytes(milliseconds.to_bytes(6, 'big') + entropy)}"


def prefix_range(typed: str) -> tuple[str, str] | None:
    """The lowest and the highest id that start with what was typed, or None when none can.

    Case does not matter and ``ms_`` may be left out.
    """
    wanted = typed.strip().upper()
    wanted = wanted.removeprefix(PREFIX.upper())
    if (
        not wanted
        or len(PREFIX + wanted) > _LENGTH
        or any(letter not in _ALPHABET for letter in wanted)
    ):
        return None
    return PREFIX + wanted, PREFIX + wanted + "~"
