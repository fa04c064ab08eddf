"""The front that harnesses call: the same answers as the command, without loading click."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from memspec_py.hooks.main import asked
from memspec_py.testing import TempStore, a_record, an_id
from tests.test_imports import DEAR

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """A store with a claim, whose index is fresh."""
    made = TempStore(tmp_path)
    made.put(a_record(1, title="Harbour fees are paid in euros", body="The harbour office bills."))
    os.utime(made.root / "memory")
    made.ms.search("harbour")
    return made


def run(
    store: TempStore, *words: str, told: object = None, data: bytes | None = None, code: str = ""
) -> subprocess.CompletedProcess[bytes]:
    """The `memspec` script in a process of its own."""
    given = json.dumps(told or {}).encode() if data is None else data
    program = f"{code}\nfrom memspec_py.__main__ import entry; entry()"
    environment = {"HOME": str(store.home), "PATH": os.environ["PATH"]}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    return subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=store.project,
        env=environment,
        input=given,
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["hook", "prompt"], ("prompt", "claude-code")),
        (["hook", "prompt", "--harness", "gemini"], ("prompt", "gemini")),
        (["hook", "--harness", "gemini", "prompt"], ("prompt", "gemini")),
        (["hook", "--help"], None),
        (["hook"], None),
        (["hook", "prompt", "--help"], None),
        (["hook", "prompt", "--harness=gemini"], None),
        (["hook", "prompt", "more"], None),
        (["search", "prompt"], None),
    ],
)
def test_only_plain_calls_are_taken(words: list[str], found: tuple[str, str] | None) -> None:
    """Everything else is the command line's."""
    assert asked(words) == found


def test_both_fronts_answer_alike(store: TempStore) -> None:
    """In what they print, in what is wrong, and in the exit code."""
    for told in ({"session_id": "a"}, {"cwd": "nowhere"}, {"session_id": "a/b"}):
        lean = run(store, "hook", "session-start", "--harness", "gemini", told=told)
        full = run(store, "hook", "session-start", "--harness=gemini", told=told)
        assert (lean.stdout, lean.stderr, lean.returncode) == (full.stdout, full.stderr, 0)
    assert an_id(1).encode() in run(store, "hook", "session-start").stdout


def test_nothing_is_loaded_that_only_a_shell_needs(store: TempStore) -> None:
    """An agent waits for it at every prompt."""
    code = (
        "import os, sys; leave = os._exit\n"
        "def tell(code): sys.stderr.write(' '.join(sys.modules)); sys.stderr.flush(); leave(code)\n"
        "os._exit = tell\n"
    )
    for event in ("session-start", "prompt", "file-open", "pre-compact", "post-commit"):
        done = run(store, "hook", event, told={"session_id": "t", "prompt": "harbour"}, code=code)
        modules = {name.partition(".")[0] for name in done.stderr.decode().split()}
        assert "memspec_py" in modules
        assert modules & {*DEAR, "click"} == set()


def test_the_help_is_the_command_lines(store: TempStore) -> None:
    """With the events."""
    done = run(store, "hook", "--help")
    assert b"Usage: memspec hook" in done.stdout
    assert b"session-start" in done.stdout


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"{", b" " * 1_100_000])
def test_a_bad_payload_is_exit_0(store: TempStore, data: bytes) -> None:
    """With the reason in one line."""
    done = run(store, "hook", "prompt", data=data)
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.startswith(b"memspec hook: ")
    assert done.stderr.count(b"\n") == 1


def test_a_harness_that_has_gone_is_no_failure(store: TempStore) -> None:
    """Its end of the pipe is closed before the answer is written."""
    code = "import os, sys; reader, writer = os.pipe(); os.dup2(writer, 1); os.close(reader)"
    done = run(store, "hook", "session-start", code=code)
    assert (done.returncode, done.stderr) == (0, b"")
