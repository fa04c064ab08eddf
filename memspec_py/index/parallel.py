"""Reading many files at once: a cold build keeps every processor busy.

The work is shared with child processes that run ``python -c`` with this interpreter's path, so it
needs neither fork nor a guarded main module. A child that cannot start, dies, hangs or answers
nonsense costs time only: what it had not answered is read here.
"""

from __future__ import annotations

import gc
import os
import pickle
import struct
import subprocess
import sys
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from memspec_py.index.sync import read_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memspec_py.config import Limits
    from memspec_py.index.rows import Rows

    Progress = Callable[[int, int], None]

# Below this a child costs more to start than it saves.
MANY_FILES = 1_500
_CHUNK = 100
# While we write rows, a child should not run out of work. So many chunks of such a size fit into a
# pipe together, so that handing them over never waits for a child that waits for us to take its
# answer.
_WAITING = 4
_CHUNK_CHARS = 8_000
# Room for some answers, so that a child goes on reading while we are busy (Linux only; the most
# that an ordinary user may ask for).
_PIPE_BYTES = 1 << 20
_ANY_SIZE = -1
_MOST_CHILDREN = 3
# A chunk takes a tenth of a second, on a slow network disk some seconds.
_PATIENCE = 10.0
# Begins every message: whatever else a child's Python prints (a chatty sitecustomize) is no answer.
_MAGIC = b"memspec1"
_HEAD = struct.Struct("<8sQ")
_MOST_BYTES = 2**31
_START = "import sys; sys.path[:] = {path!r}; from memspec_py.index.parallel import serve; serve()"


@contextmanager
def reader(
    progress: Progress | None = None,
) -> Iterator[Callable[[str, list[str], Limits], Iterator[Rows]]]:
    """A function that reads files as ``sync.read_files`` does, with helpers when there are many."""

    def read_all(root: str, paths: list[str], limits: Limits) -> Iterator[Rows]:
        children = _start_children(root, limits) if len(paths) >= MANY_FILES else []
        done = 0
        try:
            for rows in _shared(root, paths, limits, children):
                done += 1
                if progress is not None and done % _CHUNK == 0:
                    progress(done, len(paths))
                yield rows
        finally:
            for child in children:
                child.stop()
        if progress is not None and done:
            progress(len(paths), len(paths))

    yield read_all


def serve() -> None:
    """The child's side: chunks of paths come in, their rows go out, until the input ends."""
    gc.disable()  # millions of short-lived values and no cycles, in a process that ends soon
    source, target = sys.stdin.buffer, sys.stdout.buffer
    root, limits = pickle.loads(_received(source))  # noqa: S301 - written by our parent process
    while True:
        try:
            paths = pickle.loads(_received(source))  # noqa: S301 - as above
        except EOFError:
            return
        _send(target, pickle.dumps(list(read_files(root, paths, limits))))


class _Failed(Exception):
    """A child cannot be relied on any more."""


class _Child:
    """A process that reads chunks of files; some more chunks wait for it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.waiting: list[list[str]] = []

    def give(self, chunk: list[str]) -> None:
        """Hand over a chunk; raises ``_Failed``."""
        self.waiting.append(chunk)
        self.tell(chunk)

    def tell(self, what: object) -> None:
        """Send something; raises ``_Failed``."""
        assert self._process.stdin is not None
        try:
            _send(self._process.stdin, pickle.dumps(what))
        except OSError as problem:
            raise _Failed from problem

    def take(self) -> list[Rows]:
        """The rows of the oldest chunk; raises ``_Failed``."""
        assert self._process.stdout is not None
        try:
            answer = _received(self._process.stdout)
            rows: list[Rows] = pickle.loads(answer)  # noqa: S301 - written by our child process
        except (OSError, EOFError, pickle.UnpicklingError) as problem:
            raise _Failed from problem
        self.waiting.pop(0)
        return rows

    def fileno(self) -> int:
        """For ``selectors``: the child's output."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def stop(self) -> None:
        """End the child whatever it does."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                _close(stream)
        self._process.kill()
        self._process.wait()


class _Crew:
    """The children, and the chunks that nobody works on yet."""

    def __init__(self, children: list[_Child], chunks: list[list[str]]) -> None:
        import selectors

        self._chunks = chunks
        self._children = children
        self._selector = selectors.DefaultSelector()
        for child in list(children):
            self._selector.register(child, selectors.EVENT_READ)
            self._feed(child)

    @property
    def is_done(self) -> bool:
        """Whether every chunk was read."""
        return not self._chunks and not any(child.waiting for child in self._children)

    def chunk(self) -> list[str] | None:
        """One to read here, if there is any left."""
        return self._chunks.pop() if self._chunks else None

    def answers(self) -> list[list[Rows]]:
        """What children have read by now; waits for them when there is nothing else to do."""
        if not self._children:
            return []
        ready = self._selector.select(0 if self._chunks else _PATIENCE)
        if not ready and not self._chunks:  # nobody answered for a long time
            for child in list(self._children):
                self._give_up(child)
        return [rows for key, _ in ready if (rows := self._take(key.fileobj)) is not None]

    def close(self) -> None:
        """Let go of the selector."""
        self._selector.close()

    def _take(self, child: object) -> list[Rows] | None:
        assert isinstance(child, _Child)
        try:
            rows = child.take()
        except _Failed:
            self._give_up(child)
            return None
        self._feed(child)
        return rows

    def _feed(self, child: _Child) -> None:
        """Keep some chunks at a child, so that it never waits for us."""
        try:
            while self._chunks and len(child.waiting) < _WAITING:
                child.give(self._chunks.pop())
        except _Failed:
            self._give_up(child)

    def _give_up(self, child: _Child) -> None:
        self._selector.unregister(child)
        self._children.remove(child)
        self._chunks += child.waiting
        child.stop()


def _shared(root: str, paths: list[str], limits: Limits, children: list[_Child]) -> Iterator[Rows]:
    """The rows of all paths: finished chunks of children first, else one chunk read here."""
    crew = _Crew(children, _chunks(paths))
    try:
        while not crew.is_done:
            answers = crew.answers()
            for rows in answers:
                yield from rows
            if not answers and (chunk := crew.chunk()) is not None:
                yield from read_files(root, chunk, limits)
    finally:
        crew.close()


def _chunks(paths: list[str]) -> list[list[str]]:
    """The paths in portions, the first ones last."""
    chunks: list[list[str]] = [[]]
    chars = 0
    for path in paths:
        if len(chunks[-1]) == _CHUNK or chars > _CHUNK_CHARS:
            chunks.append([])
            chars = 0
        chunks[-1].append(path)
        chars += len(path)
    return chunks[::-1]


def _start_children(root: str, limits: Limits) -> list[_Child]:
    children: list[_Child] = []
    if not sys.executable:  # inside some programs that embed Python
        return children
    for _ in range(min((os.cpu_count() or 1) - 1, _MOST_CHILDREN)):
        process = _started(_PIPE_BYTES) or _started(_ANY_SIZE)
        if process is None:
            break
        child = _Child(process)
        try:
            child.tell((root, limits))
        except _Failed:
            child.stop()
            break
        children.append(child)
    return children


def _started(pipe_bytes: int) -> subprocess.Popen[bytes] | None:
    """A child, or None where the system allows no process, or no pipe of this size."""
    try:
        return subprocess.Popen(
            [sys.executable, "-c", _START.format(path=sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pipesize=pipe_bytes,
        )
    except (OSError, ValueError):
        return None


def _send(stream: IO[bytes], data: bytes) -> None:
    stream.write(_HEAD.pack(_MAGIC, len(data)) + data)
    stream.flush()


def _received(stream: IO[bytes]) -> bytes:
    """One message; raises ``EOFError`` when there is none, or something else in its place."""
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        raise EOFError
    magic, size = _HEAD.unpack(head)
    if magic != _MAGIC or size > _MOST_BYTES:
        raise EOFError
    return stream.read(size)


def _close(stream: IO[bytes]) -> None:
    try:
        stream.close()
    except OSError:
        return  # a broken pipe has nothing left to flush
