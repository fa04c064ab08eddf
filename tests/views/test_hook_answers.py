from __future__ import annotations

import json

import pytest

from memspec_py.acts.harness.table import EVENTS, HARNESSES
from memspec_py.views.hook_answers import answer, harnesses


@pytest.mark.parametrize("one", HARNESSES, ids=lambda one: one.name)
def test_each_registered_hook_has_an_answer(one: object) -> None:
    """In JSON that the harness reads, but for what Claude Code adds to a summary as it is."""
    hooks = getattr(one, "hooks", None)
    for event in hooks.triggers if hooks else ():
        said = answer(getattr(one, "name", ""), event, "", 'a "text"\nwith lines')
        assert said is not None
        if event == "pre-compact":
            assert said == 'a "text"\nwith lines'
        else:
            assert 'a \\"text\\"\\nwith lines' in said
            json.loads(said)


def test_a_name_is_repeated_only_where_it_is_known() -> None:
    """What a payload calls the event is no more than a hint."""
    for moment, name in (
        ("PreToolUse", "PreToolUse"),
        ("Stop", "PostToolUse"),
        ("", "PostToolUse"),
    ):
        said = json.loads(answer("claude-code", "file-open", moment, "x") or "")
        assert said == {"hookSpecificOutput": {"hookEventName": name, "additionalContext": "x"}}


def test_nothing_to_say_is_an_empty_answer() -> None:
    """Or an empty object, for those who read whatever is printed as JSON."""
    found = {
        harness: {answer(harness, event, "", "") for event in EVENTS} for harness in harnesses()
    }
    assert found == {
        "claude-code": {""},
        "codex": {""},
        "plain": {""},
        "gemini": {"{}"},
        "cursor": {"{}"},
        "copilot": {"{}"},
    }


def test_an_event_that_a_harness_does_not_take_has_no_answer() -> None:
    """Rather than one that would be thrown away."""
    assert answer("cursor", "prompt", "", "x") is None
    assert answer("codex", "pre-compact", "", "x") is None
    assert answer("copilot", "file-open", "", "x") is None
    assert answer("plain", "prompt", "", "x") == "x"
