"""How each harness wants to be answered by a hook."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PLAIN = "plain"
# What each event is called where answers carry the name; the first where none was told.
_NAMES: dict[str, dict[str, tuple[str, ...]]] = {
    "claude-code": {
        "session-start": ("SessionStart",),
        "prompt": ("UserPromptSubmit",),
        "file-open": ("PostToolUse", "PreToolUse"),
        "post-commit": ("PostToolUse",),
    },
    "gemini": {
        "session-start": ("SessionStart",),
        "prompt": ("BeforeAgent",),
        "file-open": ("AfterTool",),
        "post-commit": ("AfterTool",),
    },
}
_NAMES["codex"] = _NAMES["claude-code"]


def answer(harness: str, event: str, moment: str, text: str) -> str | None:
    """What to print; empty for nothing to say, None where the harness takes no such answer.

    ``moment`` is what the harness called the event; it is repeated only where we know it.
    """
    if not text:
        return _NOTHING.get(harness, "")
    return _FORMS[harness](harness, event, moment, text)


def harnesses() -> tuple[str, ...]:
    """The names that an answer can be made for."""
    return tuple(_FORMS)


def _plain(_: str, __: str, ___: str, text: str) -> str:
    return text


def _specific(harness: str, event: str, moment: str, text: str) -> str | None:
    if harness == "claude-code" and event == "pre-compact":
        return text  # is added, as it is, to what the summary is asked for
    names = _NAMES[harness].get(event)
    if names is None:
        return None
    name = moment if moment in names else names[0]
    return _json({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}})


def _cursor(_: str, event: str, __: str, text: str) -> str | None:
    if event not in ("session-start", "file-open", "post-commit"):
        return None
    return _json({"additional_context": text})


def _copilot(_: str, event: str, __: str, text: str) -> str | None:
    if event != "session-start":
        return None
    inner = {"hookEventName": "SessionStart", "additionalContext": text}
    # The command line tool reads the one, VS Code the other.
    return _json({"additionalContext": text, "hookSpecificOutput": inner})


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


_FORMS: dict[str, Callable[[str, str, str, str], str | None]] = {
    "claude-code": _specific,
    "codex": _specific,
    "gemini": _specific,
    "cursor": _cursor,
    "copilot": _copilot,
    PLAIN: _plain,
}
# These read whatever is printed as JSON.
_NOTHING = {"gemini": "{}", "cursor": "{}", "copilot": "{}"}
