from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from memspec_py.anchors.child import run

if TYPE_CHECKING:
    from pathlib import Path

ECHO = "import sys; sys.stdout.write(sys.stdin.read()[::-1]); sys.stderr.write('so'); sys.exit(3)"


def python(
    code: str, given: bytes = b"", seconds: float = 20
) -> subprocess.CompletedProcess[bytes]:
    """Run a small program."""
    return run([sys.executable, "-c", code], cwd="/", env=os.environ, given=given, seconds=seconds)


@pytest.fixture(params=["waits for the end", "looks for it again and again"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to wait: not every system can tell when a process ends."""
    if request.param == "waits for the end" and not hasattr(os, "pidfd_open"):
        pytest.skip("this system cannot")
    if request.param != "waits for the end":
        monkeypatch.setattr(sys, "platform", "another")


@pytest.mark.usefixtures("way")
def test_a_child_is_given_all_and_tells_all() -> None:
    """More than a pipe holds at once, and how it ended."""
    text = b"ab" * 100_000
    done = python(ECHO, text)
    assert (done.returncode, done.stdout, done.stderr) == (3, text[::-1], b"so")


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("before", ["", "import os; os.close(1); os.close(2);"])
def test_a_child_that_takes_too_long_is_killed(before: str, tmp_path: Path) -> None:
    """Even if it has nothing more to say."""
    note = tmp_path / "pid"
    written = f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid()));"
    began = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired):
        python(f"{written} {before} time.sleep(60)", seconds=2)
    assert time.monotonic() - began < 20
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text(encoding="utf-8")), 0)


def test_what_cannot_be_started_is_an_os_error() -> None:
    """As with any other way to start it."""
    with pytest.raises(FileNotFoundError):
        run(["/nowhere/git"], cwd="/", env={}, given=b"", seconds=1)
