"""A record in one line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """A record in one line."""

    id: str
    type: str
    title: str
    check_by: str | None = None
    created: str | None = None
    last_referenced: str | None = None
    sessions: int | None = None
