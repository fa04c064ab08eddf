"""The command that harnesses run: whatever it is given, it exits 0 and says little."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from memspec_py.api import Memspec
from memspec_py.cli.main import cli
from memspec_py.testing import TempStore, a_record, an_id
from tests.test_imports import DEAR

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TempStore:
    """A store that the command finds from where it is."""
    made = TempStore(tmp_path)
    made.put(a_record(1, title="Harbour fees are paid in euros", body="The harbour office bills."))
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.chdir(made.project)
    monkeypatch.setenv("PWD", str(made.project))
    return made


def hook(*arguments: str, told: object = None, data: bytes | None = None) -> Result:
    """Run it with a payload."""
    given = json.dumps(told or {}).encode() if data is None else data
    return CliRunner().invoke(cli, ["hook", *arguments], input=given)


def test_the_answer_is_in_the_harnesss_form(store: TempStore) -> None:
    """The context of the start, from the folder that the payload names."""
    with patch("pathlib.Path.cwd", return_value=store.home):
        said = hook("session-start", told={"cwd": str(store.project), "session_id": "s"})
    assert (said.exit_code, said.stderr) == (0, "")
    inner = json.loads(said.stdout)["hookSpecificOutput"]
    assert inner["hookEventName"] == "SessionStart"
    assert inner["additionalContext"].startswith("## Project memory: 1 active record\n")
    said = hook("session-start", "--harness", "cursor", told={"conversation_id": "t"})
    assert an_id(1) in json.loads(said.stdout)["additional_context"]


def test_a_claim_is_told_once_a_session(store: TempStore) -> None:
    """By the command as a whole."""
    told = {"session_id": "s", "prompt": "harbour fees?"}
    assert an_id(1) in hook("prompt", "--harness", "plain", told=told).stdout
    assert hook("prompt", "--harness", "plain", told=told).stdout == ""
    assert (store.root / "local" / "told" / "s.txt").read_text("utf-8") == f"{an_id(1)}\n"


def test_what_a_harness_would_not_take_does_not_count_as_told(store: TempStore) -> None:
    """It is said to whoever looks, and the claim is still there to be told."""
    told = {"session_id": "s", "prompt": "harbour fees?"}
    said = hook("prompt", "--harness", "cursor", told=told)
    assert (said.exit_code, said.stdout) == (0, "{}\n")
    assert "takes no answer" in said.stderr
    assert not (store.root / "local" / "told").exists()


@pytest.mark.parametrize(
    ("arguments", "data", "why"),
    [
        (["session-start"], b"no json", "no JSON"),
        (["session-start"], b'{"cwd": "relative"}', "no absolute path"),
        (["prompt"], b'{"session_id": "../../evil", "prompt": "harbour fees"}', "session id"),
        (["prompt"], b'{"prompt": "harbour fees"}', "names no session"),
        (["prompt"], b" " * 1_048_577, "more than"),
        (["stop"], b"{}", "no hook 'stop'"),
        ([], b"{}", "Missing argument"),
        (["prompt", "--nonsense", "x"], b"{}", "No such option"),
        (["prompt", "more"], b"{}", "unexpected extra argument"),
        (["prompt", "--harness"], b"{}", "requires an argument"),
        (["prompt", "--harness", "emacs"], b"{}", "no harness 'emacs'"),
    ],
)
def test_whatever_is_wrong_the_agent_goes_on(
    store: TempStore, arguments: list[str], data: bytes, why: str
) -> None:
    """Exit 0, an empty answer, and the reason in one line on standard error."""
    said = hook(*arguments, data=data)
    assert (said.exit_code, said.stdout) == (0, "")
    assert why in said.stderr
    assert said.stderr.startswith("memspec hook: ")
    assert said.stderr.count("\n") == 1
    assert not (store.root / "local" / "told").exists()


def test_a_bug_of_ours_does_not_stop_the_agent(
    store: TempStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does a store that cannot be read."""

    def broken(*_: object) -> None:
        raise RuntimeError("broken\nin two lines")

    monkeypatch.setattr(Memspec, "nudge", broken)
    said = hook("session-start", "--harness", "gemini")
    assert (said.exit_code, said.stdout) == (0, "{}\n")
    assert said.stderr == "memspec hook: RuntimeError: broken in two lines\n"
    (store.root / "config.yaml").write_text("stores: [", encoding="utf-8")
    assert hook("session-start").exit_code == 0


def test_where_no_store_is_nothing_is_said(store: TempStore) -> None:
    """Hooks are registered for every project of a user."""
    said = hook("session-start", told={"cwd": str(store.home)})
    assert (said.exit_code, said.stdout, said.stderr) == (0, "", "")


@settings(max_examples=40)
@given(
    st.sampled_from(["session-start", "post-commit", "prompt", "file-open", "pre-compact"]),
    st.dictionaries(
        st.sampled_from(["cwd", "session_id", "prompt", "tool_input", "tool_response", "source"]),
        st.one_of(
            st.text(),
            st.none(),
            st.dictionaries(st.sampled_from(["command", "file_path", "exit_code"]), st.text()),
        ),
    ),
)
def test_no_payload_makes_it_fail(
    tmp_path_factory: pytest.TempPathFactory, event: str, told: dict[str, object]
) -> None:
    """Whatever the harness, or somebody in its place, puts into it."""
    home = tmp_path_factory.getbasetemp()
    with (
        patch.dict("os.environ", {"HOME": str(home)}),
        patch("pathlib.Path.cwd", return_value=home),
    ):
        said = hook(event, told=told)
    assert said.exit_code == 0
    assert not said.exception


@pytest.mark.parametrize("event", ["session-start", "prompt", "file-open", "pre-compact"])
def test_a_hook_imports_nothing_dear(store: TempStore, event: str) -> None:
    """It keeps an agent waiting; on a fresh index it loads no more than a search does."""
    os.utime(store.root / "memory")
    hook("session-start")
    code = (
        "import atexit, sys\n"
        "atexit.register(lambda: sys.stderr.write(' '.join(sys.modules)))\n"
        f"from memspec_py.cli.main import main; main(['hook', {event!r}, '--harness', 'plain'])"
    )
    environment = {"HOME": str(store.home), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    told = json.dumps({"session_id": "t", "prompt": "harbour fees", "file_path": "x.py"})
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=store.project,
        env=environment,
        input=told,
        capture_output=True,
        text=True,
        check=True,
    )
    assert bool(done.stdout) == (event != "file-open")
    modules = done.stderr.split()
    assert "memspec_py.views.nudges" in modules
    assert {name.partition(".")[0] for name in modules} & DEAR == set()
