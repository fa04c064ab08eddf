"""What hooks have told each session already, so that none hears of a record twice.

One small file for each session, below ``local/``; machine-local and worth nothing afterwards.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from memspec_py.store.layout import LOCAL

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

# A session's id comes from outside and names a file.
_SESSION = re.compile(r"[A-Za-z0-9._-]{1,128}\Z")
_FOLDER = "told"
_ENDING = ".txt"
_COMMITS = "commits.list"  # has another ending than any session's file
_MOST_BYTES = 32_768
_MOST_SESSIONS = 64


class Told:
    """What one session was told in a store whose machine-local folder is ``machine``.

    Without a session nothing is known and nothing can be kept.
    """

    def __init__(self, machine: Path, session: str | None) -> None:
        self._folder = machine / LOCAL / _FOLDER
        self._file = None if session is None else self._folder / f"{session}{_ENDING}"

    def ids(self) -> frozenset[str]:
        """The records told."""
        return _words(self._file)

    def add(self, ids: Iterable[str]) -> bool:
        """Keep that these were told; whether that could be kept."""
        return _append(self._folder, self._file, ids)

    def forget(self) -> None:
        """The session begins anew and knows nothing."""
        if self._file is not None:
            with suppress(OSError):
                self._file.unlink()

    def commits(self) -> frozenset[str]:
        """The commits that were spoken of, to whichever session."""
        return _words(self._folder / _COMMITS)

    def add_commit(self, commit: str) -> bool:
        """Keep that a commit was spoken of; whether that could be kept."""
        return _append(self._folder, self._folder / _COMMITS, [commit])


def is_session(text: str) -> bool:
    """Whether a text may be the id of a session: it can only name a file of its own."""
    return _SESSION.match(text) is not None


def _words(file: Path | None) -> frozenset[str]:
    if file is None:
        return frozenset()
    try:
        handle = os.open(file, os.O_RDONLY | _NO_FOLLOW | _NO_WAIT)
        try:
            data = os.read(handle, 2 * _MOST_BYTES)
        finally:
            os.close(handle)
    except OSError:
        return frozenset()
    return frozenset(data.decode("ascii", "replace").split())


def _append(folder: Path, file: Path | None, words: Iterable[str]) -> bool:
    """Add lines; False where that is not possible: no session, no place, or too much already."""
    if file is None:
        return False
    data = "".join(f"{word}\n" for word in words).encode("ascii", "replace")
    try:
        if not file.exists():
            _make_room(folder)
        handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _NO_FOLLOW, 0o600)
        try:
            if os.fstat(handle).st_size > _MOST_BYTES:
                return _begin_anew(file) if file.name == _COMMITS else False
            os.write(handle, data)
        finally:
            os.close(handle)
    except OSError:
        return False
    return True


def _begin_anew(file: Path) -> bool:
    """Let go of a list whose old lines nobody will ask for."""
    file.unlink()
    return True


def _make_room(folder: Path) -> None:
    """Make the folder, and remove the files that were not touched for longest.

    Raises ``OSError``, also where a link of a cloned repository stands in the place of a folder.
    """
    for place in (folder.parent, folder):
        with suppress(FileExistsError):
            place.mkdir()
        if not stat.S_ISDIR(os.lstat(place).st_mode):
            raise NotADirectoryError(place)
    with os.scandir(folder) as entries:
        known = [one for one in entries if one.name.endswith(_ENDING)]
    if len(known) >= _MOST_SESSIONS:
        known.sort(key=lambda one: one.stat(follow_symlinks=False).st_mtime_ns)
        for one in known[: len(known) - _MOST_SESSIONS + 1]:
            os.unlink(one.path)


_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # a pipe in the place of the file must not hang us
