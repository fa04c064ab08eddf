"""A child process under a time limit, waited for no longer than it takes.

Apart from the module that runs git, because most checks need no process and ``subprocess`` is dear
to load.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def run(
    command: Sequence[str], *, cwd: str, env: Mapping[str, str], given: bytes, seconds: float
) -> subprocess.CompletedProcess[bytes]:
    """What a command printed, and how it ended.

    Raises ``subprocess.TimeoutExpired`` after killing one that took too long, ``OSError`` and
    ``ValueError`` when it cannot be started.
    """
    pipe = subprocess.PIPE
    with _Child(command, cwd=cwd, env=env, stdin=pipe, stdout=pipe, stderr=pipe) as child:
        try:
            printed, complaint = child.communicate(given, seconds)
        except BaseException:
            child.kill()
            raise
    return subprocess.CompletedProcess(command, child.returncode, printed, complaint)


class _Child(subprocess.Popen[bytes]):
    """A process whose end is noticed at once.

    ``Popen`` itself looks for it every millisecond or later, which for a question to git doubles
    what it takes.
    """

    def wait(self, timeout: float | None = None) -> int:
        if timeout is not None and self.returncode is None and not _has_ended(self.pid, timeout):
            raise subprocess.TimeoutExpired(self.args, timeout)
        return super().wait(timeout)


def _has_ended(pid: int, seconds: float) -> bool:
    """Wait for a child to end; where the system cannot tell, leave the waiting to ``Popen``."""
    if sys.platform != "linux":
        return True
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return True
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return bool(poll.poll(max(0.0, seconds) * 1000))
    finally:
        os.close(handle)
