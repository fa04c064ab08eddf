"""What a harness says to a hook on its standard input: read, and trusted in nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.store.told import is_session

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST_BYTES = 1_048_576
_MOST_FILES = 20
_PROMPT_CHARS = 8_000
_COMMAND_CHARS = 20_000
_PATH_CHARS = 4_096
_FILE_KEYS = ("file_path", "absolute_path", "filePath", "target_file", "path")
_EXIT_KEYS = ("exit_code", "exitCode", "exit", "returncode")


class Unusable(ValueError):
    """The payload cannot be used; the message says why."""


class Payload(NamedTuple):
    """What of it is of use.

    ``moment`` is what the harness calls the event, ``source`` why the session starts, ``failed``
    whether the tool says that it did not do what it was asked to.
    """

    cwd: Path | None = None
    session: str | None = None
    moment: str = ""
    source: str = ""
    prompt: str = ""
    files: tuple[str, ...] = ()
    command: str = ""
    failed: bool = False


def read(data: bytes) -> Payload:
    """The payload of a hook of any harness.

    Raises ``Unusable`` for what is no JSON object, a folder that is not there or not absolute, and
    a session that could not name a file.
    """
    if len(data) > MOST_BYTES:
        raise Unusable(f"the payload has more than {MOST_BYTES} bytes")
    try:
        told = json.loads(data)
    except (ValueError, RecursionError):
        raise Unusable("the payload is no JSON") from None
    if not isinstance(told, dict):
        raise Unusable("the payload is no JSON object")
    if not _is_text(told):
        raise Unusable("the payload has characters that are none")
    tool = _mapping(told, "tool_input", "toolArgs", "tool_args")
    return Payload(
        cwd=_folder(told),
        session=_session(told),
        moment=_text(told, "hook_event_name", "hookEventName"),
        source=_text(told, "source", "trigger"),
        prompt=_text(told, "prompt", "user_prompt")[:_PROMPT_CHARS],
        files=tuple(_files(told, tool))[:_MOST_FILES],
        command=_command(told, tool)[:_COMMAND_CHARS],
        failed=_failed(_mapping(told, "tool_response", "tool_output", "toolResult")),
    )


def _is_text(told: Mapping[str, object]) -> bool:
    """Whether everything in it can be printed; JSON can spell halves of characters."""
    try:
        json.dumps(told, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _folder(told: Mapping[str, object]) -> Path | None:
    named = _text(told, "cwd")
    roots = told.get("workspace_roots")
    if not named and isinstance(roots, list) and roots:
        named = roots[0] if isinstance(roots[0], str) else ""
    if not named:
        return None
    if "\0" in named or len(named) > _PATH_CHARS or not os.path.isabs(named):
        raise Unusable("cwd is no absolute path")
    if not os.path.isdir(named):
        raise Unusable("cwd is no folder that is there")
    return Path(os.path.normpath(named))


def _session(told: Mapping[str, object]) -> str | None:
    named = _text(told, "session_id", "sessionId", "conversation_id")
    if named and not is_session(named):
        raise Unusable("the session id has characters that no session id has")
    return named or None


def _files(told: Mapping[str, object], tool: Mapping[str, object]) -> Iterator[str]:
    """The files a tool is about; only ever looked up in the index."""
    for within in (tool, told):
        for key in _FILE_KEYS:
            value = within.get(key)
            if isinstance(value, str) and 0 < len(value) <= _PATH_CHARS and "\0" not in value:
                yield value


def _command(told: Mapping[str, object], tool: Mapping[str, object]) -> str:
    value = tool.get("command", told.get("command"))
    if isinstance(value, list):
        return " ".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _failed(response: Mapping[str, object]) -> bool:
    codes = [response.get(key) for key in _EXIT_KEYS]
    has_code = any(isinstance(code, int) and code != 0 for code in codes)
    return has_code or response.get("interrupted") is True or bool(response.get("error"))


def _text(told: Mapping[str, object], *names: str) -> str:
    """The first of some members that is a text."""
    for name in names:
        value = told.get(name)
        if isinstance(value, str):
            return value
    return ""


def _mapping(told: Mapping[str, object], *names: str) -> Mapping[str, object]:
    """The first of some members that is an object, or a text of one."""
    for name in names:
        value = told.get(name)
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                continue
        if isinstance(value, dict):
            return value
    return {}
