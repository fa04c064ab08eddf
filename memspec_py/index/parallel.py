"""Reading many files at once: a cold build keeps every processor busy.

The work is shared with child processes that run ``python -c`` with this interpreter's path, so it
needs neither fork nor a guarded main module. A child that cannot start or dies costs time only:
what it had not answered is read here.
"""

from __future__ import annotations

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
_MOST_CHILDREN = 3
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
    source, target = sys.stdin.buffer, sys.stdout.buffer
    root, limits = pickle.loads(_received(source))  # noqa: S301 - written by our parent process
    while chunk := _received(source):
        paths = pickle.loads(chunk)  # noqa: S301 - as above
        _send(target, pickle.dumps(list(read_files(root, paths, limits))))


class _Child:
    """A process that reads chunks of files; it holds one chunk at a time and one waiting."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.waiting: list[list[str]] = []

    def give(self, chunk: list[str]) -> None:
        """Hand over a chunk."""
        self.waiting.append(chunk)
        assert self._process.stdin is not None
        _send(self._process.stdin, pickle.dumps(chunk))

    def take(self) -> list[Rows]:
        """The rows of the oldest chunk; raises ``OSError`` or ``EOFError`` when the child died."""
        assert self._process.stdout is not None
        answer = _received(self._process.stdout)
        if not answer:
            raise EOFError
        self.waiting.pop(0)
        rows: list[Rows] = pickle.loads(answer)  # noqa: S301 - written by our child process
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


def _shared(root: str, paths: list[str], limits: Limits, children: list[_Child]) -> Iterator[Rows]:
    """The rows of all paths: finished chunks of children first, else one chunk read here."""
    import selectors

    chunks = [paths[at : at + _CHUNK] for at in range(0, len(paths), _CHUNK)]
    chunks.reverse()
    with selectors.DefaultSelector() as selector:
        for child in children:
            selector.register(child, selectors.EVENT_READ)
            _feed(child, chunks)
        while chunks or any(child.waiting for child in children):
            ready = selector.select(0 if chunks else None) if children else []
            for key, _ in ready:
                finished = key.fileobj
                assert isinstance(finished, _Child)
                try:
                    answer = finished.take()
                    _feed(finished, chunks)
                except (OSError, EOFError, pickle.UnpicklingError):
                    selector.unregister(finished)
                    children.remove(finished)
                    chunks += finished.waiting
                    finished.stop()
                    continue
                yield from answer
            if chunks and not ready:
                yield from read_files(root, chunks.pop(), limits)


def _feed(child: _Child, chunks: list[list[str]]) -> None:
    """Keep two chunks at a child, so that it never waits for us."""
    while chunks and len(child.waiting) < 2:
        child.give(chunks.pop())


def _start_children(root: str, limits: Limits) -> list[_Child]:
    children: list[_Child] = []
    for _ in range(min((os.cpu_count() or 1) - 1, _MOST_CHILDREN)):
        try:
            process = subprocess.Popen(
                [sys.executable, "-c", _START.format(path=sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            child = _Child(process)
            assert process.stdin is not None
            _send(process.stdin, pickle.dumps((root, limits)))
        except (OSError, ValueError):
            break
        children.append(child)
    return children


def _send(stream: IO[bytes], data: bytes) -> None:
    stream.write(struct.pack("<Q", len(data)) + data)
    stream.flush()


def _received(stream: IO[bytes]) -> bytes:
    head = stream.read(8)
    if len(head) < 8:
        return b""
    return stream.read(struct.unpack("<Q", head)[0])


def _close(stream: IO[bytes]) -> None:
    try:
        stream.close()
    except OSError:
        return  # a broken pipe has nothing left to flush
