"""The ``memspec-mcp`` command."""

from __future__ import annotations

import gc
import os
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from memspec_py import __version__
from memspec_py.mcp_server.wire import claim, watch

if TYPE_CHECKING:
    from argparse import Namespace

    from memspec_py.mcp_server.desk import Desk
    from memspec_py.mcp_server.wire import Wire

# How long a call that has begun may take to end when the client is gone.
_LAST_SECONDS = 5.0
_NO_SDK = 9


def entry() -> NoReturn:
    """What the ``memspec-mcp`` script runs: serve the client on standard input and output."""
    asked = _asked()
    if os.isatty(0):
        sys.stderr.write(
            "memspec-mcp speaks MCP with the program that starts it (Ctrl-D ends it)\n"
        )
    wire = claim()  # before anything is imported that might print
    _serve(wire, asked)
    _exit(0)


def _asked() -> Namespace:
    from argparse import ArgumentParser

    parser = ArgumentParser(
        prog="memspec-mcp",
        description="Serve the memory of a project to an agent: MCP on standard input and output.",
    )
    parser.add_argument(
        "--cwd",
        metavar="DIR",
        help="serve this folder, or this .memspec store; else MEMSPEC_ROOT, else the working"
        " directory and upward",
    )
    parser.add_argument("--store", metavar="NAME", help="only this store layer")
    parser.add_argument("--version", action="version", version=f"memspec-mcp {__version__}")
    return parser.parse_args()


def _serve(wire: Wire, asked: Namespace) -> None:
    from memspec_py.api import surroundings
    from memspec_py.mcp_server.desk import Desk, session_of
    from memspec_py.mcp_server.stores import Stores

    where = surroundings()
    desk = Desk(Stores(asked.cwd, asked.store, where), session_of(where.env))
    desk.prepare()
    gc.disable()  # what is loaded now stays; looking for garbage in it takes a tenth of the time
    try:
        from memspec_py.mcp_server.server import run  # takes longest, by far
    except ModuleNotFoundError as problem:
        if (problem.name or "").partition(".")[0] not in ("mcp", "mcp_types", "anyio"):
            raise
        sys.stderr.write(
            "error: the MCP SDK is not installed\nhint: pip install 'memspec-py[mcp]'\n"
        )
        _exit(_NO_SDK)

    gc.freeze()
    gc.enable()

    def leave() -> None:
        _finish(desk)
        _exit(0)

    watch(wire, leave)
    run(wire, desk, leave)
    _finish(desk)


def _finish(desk: Desk) -> None:
    """Let calls that have begun end, if they do so in a while: a store survives a kill."""
    last = threading.Timer(_LAST_SECONDS, _exit, (0,))
    last.daemon = True
    last.start()
    desk.close()


def _exit(code: int) -> NoReturn:
    """End at once: a thread may wait for the client's next line for ever."""
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code)
