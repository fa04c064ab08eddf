"""What a backfill replaced, kept on this machine so that it can be put back byte for byte.

``local/backfills/<UTC stamp>-<name>.jsonl``: the first line is the head, every other line is one
file, as it was and as it became. It is on disk before the first file changes, so no change that was
made lacks one; the journal of a change that was not made has nothing to restore.
"""

from __future__ import annotations

import binascii
import json
import os
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from memspec_py import __version__
from memspec_py.clock import instant, moment_of
from memspec_py.errors import Invalid, NotFound, UsageError
from memspec_py.report import Finding
from memspec_py.store import files
from memspec_py.store.layout import LOCAL, RECORD_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FOLDER = f"{LOCAL}/backfills"
LAST = "last"
_SUFFIX = ".jsonl"
_FORMAT = 1
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}\Z")
_LONGEST_HEAD = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What a journal says of itself; ``undoes`` names the journal that was undone, if it was."""

    name: str
    made_at: str
    store: str
    files: int
    undoes: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One file: where it was and its bytes there, and where it went and their digest there."""

    id: str
    before: str
    data: bytes
    after: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoJournal:
    """A journal that was read."""

    path: Path
    head: Head
    kept: tuple[Kept, ...]


def checked_name(name: str) -> str:
    """A name that can be part of a file name; raises ``UsageError`` for any other."""
    if not _NAME.match(name):
        raise UsageError(
            f"{name!r} cannot name a backfill",
            hint="1 to 60 letters, digits, - and _, such as split-auth-tags",
        )
    return name


def write(root: Path, head: Head, kept: Sequence[Kept]) -> str:
    """Make the journal last on disk and return its file name; the caller holds the store lock."""
    body = "".join(f"{_line(_shown(one))}\n" for one in kept).encode()
    shown = {
        "format": _FORMAT,
        "name": head.name,
        "made_at": head.made_at,
        "version": __version__,
        "store": head.store,
        "files": len(kept),
        "moved": sum(one.before != one.after for one in kept),
        "sha256": files.digest(body),
        **({} if head.undoes is None else {"undoes": head.undoes}),
    }
    name = _free_name(root, head)
    folder = root / FOLDER
    with files.storage_errors(folder):
        files.make_folder(folder)
    files.remove_strays(folder)
    files.create(folder / name, f"{_line(shown)}\n".encode() + body)
    return name


def discard(root: Path, name: str) -> None:
    """Remove the journal of a change that was not made."""
    path = root / FOLDER / name
    with files.storage_errors(path):
        path.unlink(missing_ok=True)


def read(path: Path) -> UndoJournal:
    """The whole journal; raises ``NotFound``, ``Invalid`` for a damaged one, ``StorageFailed``."""
    try:
        written = files.read(path)
    except FileNotFoundError:
        raise NotFound(f"no undo journal at {path}", hint="`memspec undo --list` has all") from None
    except OSError:
        with files.storage_errors(path):
            raise
    try:
        head, kept = _decoded(written)
    except (ValueError, TypeError, KeyError, RecursionError) as damage:
        raise Invalid(
            f"{path} is no undo journal that can be used: {damage}",
            hint="what it has of each file can still be read with a text editor",
        ) from None
    return UndoJournal(path=path, head=head, kept=kept)


def heads(root: Path) -> tuple[list[tuple[str, Head]], list[Finding]]:
    """The store's journals by file name, oldest first, and what cannot be read of them."""
    found: list[tuple[str, Head]] = []
    findings = []
    for name in _names(root):
        path = root / FOLDER / name
        try:
            with path.open("rb") as file:
                found.append((name, _head(file.readline(_LONGEST_HEAD))[0]))
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as damage:
            message = f"cannot be read as an undo journal: {damage}"
            findings.append(Finding(code="bad-journal", path=f"{FOLDER}/{name}", message=message))
    return found, findings


def last(root: Path) -> Path:
    """The journal of the newest backfill, those of undoing left out; raises ``NotFound``."""
    names = [name for name, head in heads(root)[0] if head.undoes is None]
    if not names:
        raise NotFound(
            f"no backfill was made in {root} on this machine",
            hint="a journal lies in the store where its backfill was applied",
        )
    return root / FOLDER / names[-1]


def named(root: Path, typed: str) -> Path | None:
    """The store's journal of this file name, with or without its ending."""
    if "/" in typed or os.sep in typed:
        return None
    name = typed if typed.endswith(_SUFFIX) else f"{typed}{_SUFFIX}"
    path = root / FOLDER / name
    return path if path.is_file() else None


def undone_by(root: Path, name: str) -> tuple[str, Head] | None:
    """The newest journal of an undo of the journal with this file name."""
    return next((one for one in reversed(heads(root)[0]) if one[1].undoes == name), None)


def _names(root: Path) -> list[str]:
    folder = root / FOLDER
    try:
        with os.scandir(folder) as entries:
            return sorted(
                entry.name
                for entry in entries
                if entry.name.endswith(_SUFFIX) and entry.is_file(follow_symlinks=False)
            )
    except FileNotFoundError:
        return []
    except OSError:
        with files.storage_errors(folder):
            raise


def _free_name(root: Path, head: Head) -> str:
    """A name that sorts after those of earlier journals, even of the same instant."""
    taken = {name.partition("-")[0] for name in _names(root)}
    moment = moment_of(head.made_at)
    while (stamp := re.sub(r"[-:.]", "", instant(moment))) in taken:
        moment += timedelta(milliseconds=1)
    return f"{stamp}-{'undo-' if head.undoes else ''}{head.name}{_SUFFIX}"


def _line(shown: object) -> str:
    # In ASCII, as some readers end a line at other characters than \n.
    return json.dumps(shown)


def _shown(one: Kept) -> dict[str, object]:
    before: dict[str, object] = {"path": one.before, "sha256": files.digest(one.data)}
    try:
        before["text"] = one.data.decode()
    except UnicodeDecodeError:
        before["base64"] = binascii.b2a_base64(one.data, newline=False).decode("ascii")
    return {"id": one.id, "before": before, "after": {"path": one.after, "sha256": one.digest}}


def _decoded(written: bytes) -> tuple[Head, tuple[Kept, ...]]:
    first, _, body = written.partition(b"\n")
    head, digest = _head(first)
    if files.digest(body) != digest:
        raise ValueError("its lines are not those that were written")
    return head, tuple(_kept(json.loads(line)) for line in body.splitlines())


def _head(line: bytes) -> tuple[Head, str]:
    """The head and the digest of the lines below it; ``ValueError`` and the like for all else."""
    found = json.loads(line)
    if found["format"] != _FORMAT:
        raise ValueError(f"format {found['format']!r} is not known")
    undoes = found.get("undoes")
    head = Head(
        name=checked_name(_text(found["name"])),
        made_at=_text(found["made_at"]),
        store=_text(found["store"]),
        files=int(found["files"]),
        undoes=None if undoes is None else _text(undoes),
    )
    return head, _text(found["sha256"])


def _kept(found: dict[str, dict[str, str]]) -> Kept:
    before, after = found["before"], found["after"]
    text = before.get("text")
    data = (
        binascii.a2b_base64(before["base64"], strict_mode=True)
        if text is None
        else _text(text).encode()
    )
    if files.digest(data) != before["sha256"]:
        raise ValueError(f"the content of {before['path']} does not match its digest")
    return Kept(
        id=_text(found["id"]),
        before=_place(before["path"]),
        data=data,
        after=_place(after["path"]),
        digest=_text(after["sha256"]),
    )


def _place(path: object) -> str:
    """A path of a record file; a journal is only input, and must not reach anything else."""
    parts = _text(path).split("/")
    inside = parts[0] in RECORD_FOLDERS and not {"", ".", ".."} & set(parts)
    if not inside or not parts[-1].endswith(".md"):
        raise ValueError(f"{path!r} is no place of a record")
    return "/".join(parts)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value
