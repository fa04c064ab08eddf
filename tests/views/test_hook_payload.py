from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspec_py.views.hook_payload import MOST_BYTES, Payload, Unusable, read

if TYPE_CHECKING:
    from pathlib import Path

_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
_keys = st.sampled_from(
    [
        *("cwd", "workspace_roots", "session_id", "sessionId", "prompt", "source", "command"),
        *("hook_event_name", "tool_input", "toolArgs", "tool_response", "file_path", "exit_code"),
    ]
)


def said(**told: object) -> Payload:
    """The payload of an object."""
    return read(json.dumps(told).encode())


@given(
    st.one_of(
        st.binary(), st.dictionaries(_keys, _values).map(lambda one: json.dumps(one).encode())
    )
)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """Nothing else comes out, and what comes out can be printed and used."""
    try:
        found = read(data)
    except Unusable:
        return
    every = (found.prompt, found.command, found.moment, *found.files)
    assert "".join(every).encode().decode() == "".join(every)
    assert found.cwd is None or found.cwd.is_dir()
    assert not any("\0" in one for one in found.files)


def test_each_harness_is_understood(tmp_path: Path) -> None:
    """Their names for the folder, the session, the file and the command."""
    here = str(tmp_path)
    claude = said(
        session_id="a-1",
        cwd=here,
        hook_event_name="PostToolUse",
        tool_input={"file_path": "/x/a.py", "command": "git commit"},
        tool_response={"interrupted": False},
    )
    assert (claude.cwd, claude.session, claude.moment) == (tmp_path, "a-1", "PostToolUse")
    assert (claude.files, claude.command, claude.failed) == (("/x/a.py",), "git commit", False)
    gemini = said(tool_input={"absolute_path": "/x/a.py"}, prompt="why", source="clear")
    assert (gemini.files, gemini.prompt, gemini.source) == (("/x/a.py",), "why", "clear")
    cursor = said(conversation_id="c", workspace_roots=[here], tool_input='{"file_path": "/b"}')
    assert (cursor.session, cursor.cwd, cursor.files) == ("c", tmp_path, ("/b",))
    copilot = said(sessionId="d", cwd=here, toolArgs='{"command": "git status"}')
    assert (copilot.session, copilot.command) == ("d", "git status")
    codex = said(tool_input={"command": ["bash", "-lc", "git commit -m x"]})
    assert codex.command == "bash -lc git commit -m x"


@pytest.mark.parametrize(
    "told",
    [{"exit_code": 1}, {"exitCode": 128}, {"interrupted": True}, {"error": "no"}],
)
def test_a_tool_that_failed_says_so(told: dict[str, object]) -> None:
    """In one of several ways."""
    assert said(tool_response=told).failed
    assert not said(tool_response={"exit_code": 0, "stdout": "x"}).failed


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"cwd": "relative"}, "no absolute path"),
        ({"cwd": "/no/such/folder"}, "no folder that is there"),
        ({"cwd": "/etc/passwd"}, "no folder that is there"),
        ({"cwd": "/a\0b"}, "no absolute path"),
        ({"workspace_roots": ["x"]}, "no absolute path"),
        ({"session_id": "../../evil"}, "session id"),
        ({"session_id": "a\nb"}, "session id"),
        ({"session_id": "a" * 129}, "session id"),
    ],
)
def test_what_could_lead_elsewhere_is_refused(told: dict[str, object], why: str) -> None:
    """Folders have to be there and absolute, sessions have to be able to name a file."""
    with pytest.raises(Unusable, match=why):
        said(**told)


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"null", b"{", b"\xff", b"[" * 100_000, b'{"prompt": "\\ud800"}']
)
def test_what_is_no_object_is_refused(data: bytes) -> None:
    """Without a traceback."""
    with pytest.raises(Unusable):
        read(data)


def test_what_is_too_long_is_refused_or_cut() -> None:
    """A hook is run at every prompt."""
    with pytest.raises(Unusable, match="more than"):
        read(b" " * (MOST_BYTES + 1))
    assert len(said(prompt="x" * 50_000).prompt) == 8_000
    assert len(said(tool_input={"command": "x" * 50_000}).command) == 20_000
