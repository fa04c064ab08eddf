"""Note what was seen just now; an observation expires by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memspec_py.acts.inputs import (
    checked_scope,
    checked_tags,
    checked_text,
    checked_time,
    invalid,
    one_newline,
)
from memspec_py.acts.permission import tier
from memspec_py.acts.tombstones import Past, force_reason, with_reason, withdrawn_in
from memspec_py.acts.writing import checked, fresh_id, put
from memspec_py.clock import NEVER, instant, parse_duration
from memspec_py.record.model import Kind, Record, State
from memspec_py.report import Finding
from memspec_py.trust.source import checked_source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memspec_py.workspace import Workspace

_TITLE_CHARS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What was noted and when it expires; ``expires`` is None for never.

    ``withdrawn`` is only filled when the write was forced past what a supersede withdrew.
    """

    store: str
    id: str
    path: str
    title: str
    source: str
    expires: str | None
    withdrawn: tuple[Past, ...]


def observe(
    ws: Workspace,
    text: str,
    *,
    source: str,
    ttl: str | None = None,
    tags: Sequence[str] = (),
    scope: str | None = None,
    force: bool = False,
    reason: str | None = None,
) -> Observed:
    """Write an observation that lives for ``ttl`` (such as ``7d``, ``12h``, ``30m`` or ``never``).

    Raises ``Invalid`` for an empty text, a bad span or a source that names nobody, ``Withdrawn``
    when a superseded record said it (unless forced with a reason).
    """
    why = force_reason(force=force, reason=reason)
    title, body = _title_and_body(text)
    name = checked_source(source)
    expires = expiry(ws, ttl or ws.settings.decay["observation"])
    with ws.writing():
        record = Record(
            id=fresh_id(ws),
            kind=Kind.OBSERVATION,
            state=State.ACTIVE,
            title=title,
            body=body,
            created=ws.now(),
            source=name,
            source_kind=tier(ws, name),
            tags=checked_tags(tags),
            scope=checked_scope(ws, scope),
            expires=expires,
        )
        withdrawn = ws.read(lambda _: withdrawn_in(ws, record))
        record = with_reason(record, withdrawn, force=force, reason=why)
        path = put(ws, record, checked(ws, record))
    return Observed(
        store=str(ws.root),
        id=record.id,
        path=path,
        title=title,
        source=name,
        expires=expires,
        withdrawn=withdrawn,
    )


def _title_and_body(text: str) -> tuple[str, str]:
    """The first line is the title; one that is too long is cut and kept whole in the body."""
    clean = one_newline(checked_text("text", text)).strip()
    first, _, rest = clean.partition("\n")
    first = first.strip().removeprefix("# ").strip()
    if not first:
        message = "the observation is empty"
        raise invalid([Finding(code="missing-text", field="text", message=message)])
    if len(first) <= _TITLE_CHARS:
        return first, rest.strip("\n")
    return first[: _TITLE_CHARS - 1].rstrip() + "…", clean


def expiry(ws: Workspace, ttl: str) -> str | None:
    """When an observation made now ends; None for never."""
    if ttl == NEVER:
        return None
    return checked_time("ttl", ttl, lambda span: instant(ws.clock.now() + parse_duration(span)))
