"""Checking what a caller states, before anything is written; each complaint names its field."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memspec_py.errors import Invalid
from memspec_py.report import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from memspec_py.workspace import Workspace

_LONGEST_SCOPE = 100
_LONE = re.compile("[\ud800-\udfff]")


def checked_title(title: str) -> str:
    """A title as it is stored: one line without spaces around it; raises ``Invalid``."""
    clean = checked_text("title", title).strip()
    if not clean or len(clean.splitlines()) > 1:
        message = "the title is blank" if not clean else "the title has more than one line"
        raise invalid([Finding(code="bad-title", field="title", message=message)])
    return clean


def checked_text(field: str, text: str) -> str:
    """A text that a file can hold; raises ``Invalid`` with the field's name for any other."""
    lone = _LONE.search(text)
    if lone is not None:
        message = f"{field} holds U+{ord(lone[0]):04X}, half a character that no file can hold"
        raise invalid([Finding(code="lone-surrogate", field=field, message=message)])
    if "\0" in text:
        message = f"{field} holds a NUL character"
        raise invalid([Finding(code="nul-byte", field=field, message=message)])
    return text


def checked_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Tags as they are stored: trimmed, each once, in the order given."""
    clean = (checked_text("tags", tag).strip() for tag in tags)
    return tuple(dict.fromkeys(tag for tag in clean if tag))


def checked_body(body: str) -> str:
    """A body as it is stored: newlines as ``\\n``, no blank lines around it."""
    return one_newline(checked_text("body", body)).strip("\n")


def one_newline(text: str) -> str:
    """The text with every line ended by ``\\n``."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def checked_scope(ws: Workspace, scope: str | None) -> str | None:
    """A scope the store knows; without one, that of the caller's directory.

    Raises ``Invalid`` for another, or for none where one is wanted.
    """
    known = ws.settings.scopes
    if scope is None:
        return _wanted(ws, ws.active_scope)
    name = _scope_name(scope)
    if known and name != "universal" and name not in known:
        from memspec_py.store.scopes import near

        message = f"no scope {name!r} in config.yaml"
        meant = near(name, known)
        listed = ", ".join(sorted(known))
        raise Invalid(
            message,
            findings=[Finding(code="unknown-scope", field="scope", message=message)],
            hint=(f"did you mean {meant}? " if meant else "")
            + f"known scopes: {listed}, universal",
        )
    return name


def _wanted(ws: Workspace, scope: str | None) -> str | None:
    """The scope of a record that was given none."""
    if scope is None and ws.settings.scopes_require:
        raise invalid(
            [
                Finding(
                    code="scope-required",
                    field="scope",
                    message="this store wants a scope on every record (scopes_require)",
                    fix="pass --scope NAME, or --scope universal for what belongs everywhere; no"
                    " pattern of `scopes:` covers this directory",
                )
            ]
        )
    return scope


def _scope_name(scope: str) -> str:
    """A name that can be typed again after ``--scope``."""
    name = scope.strip()
    if not name or not name.isprintable() or len(name) > _LONGEST_SCOPE:
        message = f"scope should be one line of 1 to {_LONGEST_SCOPE} characters"
        raise invalid([Finding(code="bad-value", field="scope", message=message)])
    return name


def checked_time(field: str, value: str | None, read: Callable[[str], str]) -> str | None:
    """A time as canonical text; raises ``Invalid`` with the field's name."""
    if value is None:
        return None
    try:
        return read(value)
    except ValueError as problem:
        raise invalid(
            [Finding(code="bad-time", field=field, message=f"{field}: {problem}")]
        ) from None


def invalid(findings: Iterable[Finding]) -> Invalid:
    """All findings as one error."""
    every = tuple(findings)
    message = "; ".join(finding.message for finding in every)
    hint = next((finding.fix for finding in every if finding.fix), None)
    return Invalid(message, findings=every, hint=hint)
