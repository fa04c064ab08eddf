"""Kill a real process, or make the disk refuse, at every file call of an act.

::

    def fresh() -> Path: ...                    # a new state for each point
    def act(root: Path) -> object: ...          # runs in a forked child

    for point, root in crash_points(fresh, act):
        look(root)                              # the child died at that point, by SIGKILL

    for point, root, raised in fault_points(fresh, act, errno.ENOSPC):
        look(root)                              # that call failed, and the act ended with `raised`

The points are the calls of ``os`` that change files, in the order in which the act makes them; what
C code does by itself (SQLite, ``open``) is not seen. An act may be a whole ``program``.
"""

from __future__ import annotations

import errno
import json
import os
import select
import signal
import sys
import tempfile
import time
import traceback
import warnings
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn, TypeAlias, TypeVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

State = TypeVar("State")
Moment: TypeAlias = Literal["before", "torn", "after"]

# An `open` that creates nothing is called a `look`: it can fail, but a kill there changes nothing.
CALLS = frozenset(
    {"open", "write", "fsync", "ftruncate", "link", "rename", "replace", "unlink", "mkdir"}
)
MOMENTS: tuple[Moment, ...] = ("before", "torn", "after")
# What cannot fail for want of space: a full disk must still let us read and delete.
_FREEING = frozenset({"look", "unlink", "ftruncate"})
_WANT_OF_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})
_SECONDS = 60

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


@dataclass(frozen=True, slots=True)
class Point:
    """One call of an act, and what was done to it."""

    number: int
    call: str
    target: str
    done: str

    def __str__(self) -> str:
        """As a failing assertion shows it."""
        return f"{self.done} at call {self.number}, os.{self.call}({self.target})"


@dataclass(frozen=True, slots=True)
class Raised:
    """The exception that ended an act, by the name of its class."""

    kind: str
    message: str
    trace: str


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended: by which signal (0 for none), by which exception, after which calls."""

    signal: int
    raised: Raised | None = None
    calls: tuple[tuple[str, str], ...] = ()

    def well(self) -> Ended:
        """Itself when the act returned; else its failure becomes the test's."""
        if self.signal or self.raised:
            raise AssertionError(self.raised.trace if self.raised else f"signal {self.signal}")
        return self


@dataclass(frozen=True, slots=True)
class _Call:
    number: int
    name: str
    original: Callable[..., object]
    args: tuple[object, ...]
    named: Mapping[str, object]

    def go(self) -> object:
        return self.original(*self.args, **self.named)

    def half(self) -> object:
        descriptor, data = self.args
        assert isinstance(data, bytes | bytearray | memoryview)
        return self.original(descriptor, data[: len(data) // 2])


_Plan: TypeAlias = "Callable[[_Call], object]"


class Child:
    """An act running in a forked process."""

    def __init__(self, act: Callable[[], object], plan: _Plan = _Call.go) -> None:
        self._pipe, report = os.pipe()
        with warnings.catch_warnings():
            # Python 3.12 warns of forking beside threads; those of a test runner only wait.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if self.pid == 0:
            _live(act, plan, report)
        os.close(report)

    def kill(self) -> None:
        """End it at once, as the system would."""
        os.kill(self.pid, signal.SIGKILL)

    def end(self) -> Ended:
        """Wait for it; killed when it takes more than a minute."""
        told = self._listen()
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        if status < 0:
            return Ended(-status)
        if not told:
            raise AssertionError(f"the child left with status {status} and told nothing")
        report = json.loads(told)
        raised = Raised(**report["raised"]) if report["raised"] else None
        return Ended(0, raised, tuple((call, target) for call, target in report["calls"]))

    def _listen(self) -> bytes:
        told = b""
        deadline = time.monotonic() + _SECONDS
        while select.select([self._pipe], [], [], max(0.0, deadline - time.monotonic()))[0]:
            chunk = os.read(self._pipe, 65_536)
            told += chunk
            if not chunk:
                break
        else:
            self.kill()
        os.close(self._pipe)
        return told


def crash_points(
    fresh: Callable[[], State],
    act: Callable[[State], object],
    moments: Collection[Moment] = MOMENTS,
    calls: Collection[str] = CALLS,
) -> Iterator[tuple[Point, State]]:
    """Run the act once for each point, kill it there, and yield the point and the state it left.

    ``before`` and ``after`` a call; ``torn`` is half of a write. An act without a single call is an
    error, because a loop over nothing proves nothing.
    """
    for number, call, target in _made(fresh, act, calls):
        for moment in moments:
            if moment == "torn" and call != "write":
                continue
            point = Point(number, call, target, f"killed {moment}")
            state = fresh()
            ended = Child(lambda: act(state), _killer(number, moment)).end()  # noqa: B023
            if ended.signal != signal.SIGKILL:
                raise AssertionError(f"not {point}: the act is not the same each time")
            yield point, state


def fault_points(
    fresh: Callable[[], State],
    act: Callable[[State], object],
    error: int = errno.EIO,
    *,
    lasting: bool = False,
    calls: Collection[str] = CALLS | {"look"},
) -> Iterator[tuple[Point, State, Raised | None]]:
    """Run the act once for each point, let that call fail with ``error``, and yield how it ended.

    ``lasting`` lets every later call fail too, as on a full disk. Reading and deleting never fail
    for want of space.
    """
    if error in _WANT_OF_SPACE:
        calls = frozenset(calls) - _FREEING
    for number, call, target in _made(fresh, act, calls):
        state = fresh()
        plan = _failer(number, error, calls if lasting else ())
        ended = Child(lambda: act(state), plan).end()  # noqa: B023
        if ended.signal:
            raise AssertionError(f"the child died by signal {ended.signal}")
        yield Point(number, call, target, errno.errorcode[error]), state, ended.raised


@contextmanager
def quick_folder() -> Iterator[Path]:
    """A folder for many short-lived states, in memory where the system has such a place.

    An act syncs a dozen times, a disk takes milliseconds for each, and a test has a hundred points.
    """
    memory = Path("/dev/shm")  # noqa: S108  # TemporaryDirectory makes a private folder in it
    usable = memory.is_dir() and os.access(memory, os.W_OK)
    with tempfile.TemporaryDirectory(dir=memory if usable else None) as name:
        yield Path(name).resolve()


def program(source: str, *argv: str) -> Callable[[object], object]:
    """An act that runs a Python program; the state is the last argument of its command line."""

    def act(state: object) -> None:
        sys.argv = ["program", *argv, str(state)]
        exec(compile(source, "program", "exec"), {"__name__": "__main__"})  # noqa: S102

    return act


def _made(
    fresh: Callable[[], State], act: Callable[[State], object], calls: Collection[str]
) -> Sequence[tuple[int, str, str]]:
    state = fresh()
    ended = Child(lambda: act(state)).end().well()
    made = [
        (number, call, target)
        for number, (call, target) in enumerate(ended.calls, 1)
        if call in calls
    ]
    if not made:
        raise AssertionError("the act makes none of these file calls")
    return made


def _killer(number: int, moment: Moment) -> _Plan:
    def plan(call: _Call) -> object:
        if call.number != number:
            return call.go()
        try:
            if moment != "before":
                call.half() if moment == "torn" else call.go()
        finally:  # a call that failed, such as unlink of nothing, is over too
            os.kill(os.getpid(), signal.SIGKILL)
        return None

    return plan


def _failer(number: int, error: int, later: Collection[str]) -> _Plan:
    def plan(call: _Call) -> object:
        if call.number == number or (call.number > number and call.name in later):
            raise OSError(error, os.strerror(error), str(call.args[0]))
        return call.go()

    return plan


def _live(act: Callable[[], object], plan: _Plan, report: int) -> NoReturn:
    """The child's whole life: nothing of the parent's may run after it."""
    write = os.write
    made: list[tuple[str, str]] = []
    raised: Raised | None = None
    try:
        _watch(plan, made)
        act()
    except BaseException as error:  # noqa: BLE001  # everything is reported to the parent
        raised = Raised(type(error).__name__, str(error), traceback.format_exc())
    told = json.dumps({"raised": raised and asdict(raised), "calls": made}).encode()
    while told:
        told = told[write(report, told) :]
    os._exit(0)


def _watch(plan: _Plan, made: list[tuple[str, str]]) -> None:
    for name in CALLS:
        setattr(os, name, _watched(name, getattr(os, name), plan, made))
    # Another name for the same call.
    os.remove = os.unlink


def _watched(
    name: str, original: Callable[..., object], plan: _Plan, made: list[tuple[str, str]]
) -> Callable[..., object]:
    def watched(*args: object, **named: object) -> object:
        looks = name == "open" and not _creates(*args, **named)
        made.append(("look" if looks else name, str(args[0])))
        return plan(_Call(len(made), made[-1][0], original, args, named))

    return watched


def _creates(_path: object, flags: object = 0, *_rest: object, **_named: object) -> bool:
    return isinstance(flags, int) and bool(flags & os.O_CREAT)
