"""The two pipes to the client, which nobody else in this process may touch."""

from __future__ import annotations

import os
import select
import sys
import threading
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

# Files, locks and the interpreter itself use low numbers; a message must never land in one.
_ABOVE_STANDARD = 3
# How long what the client sent before it left may take to be read.
_LAST_SECONDS = 5.0


class Wire(NamedTuple):
    """The file numbers of what the client sends and of what it gets."""

    incoming: int
    outgoing: int


def claim() -> Wire:
    """Take standard input and output for the protocol.

    From then on whoever prints, in Python or below it, prints on stderr, and whoever reads, such as
    a child process, reads nothing.
    """
    import fcntl

    wire = Wire(*(fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _ABOVE_STANDARD) for number in (0, 1)))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # started without stderr
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
    os.close(nothing)
    sys.stdout = sys.stderr
    return wire


def watch(wire: Wire, leave: Callable[[], None]) -> None:
    """Call ``leave`` when the client can no longer be served.

    The protocol ends with the client's messages. This is for when that end is not seen: when
    answers are not read and so block, or when another process has kept the sending end open.
    """
    threading.Thread(target=_watch, args=(wire, leave), daemon=True, name="client").start()


def _watch(wire: Wire, leave: Callable[[], None]) -> None:
    poll = select.poll()
    poll.register(wire.outgoing, 0)
    poll.register(wire.incoming, 0)
    ends = {number for number, _ in poll.poll()}
    if wire.outgoing not in ends:
        poll.unregister(wire.incoming)
        poll.poll(_LAST_SECONDS * 1000)
    leave()
