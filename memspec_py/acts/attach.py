"""Evidence: proof that is kept with the store, or a pointer to it."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memspec_py.anchors.locate import repository_of
from memspec_py.errors import Conflict, Invalid, NotAllowed, StorageFailed
from memspec_py.record.model import Evidence
from memspec_py.report import Finding
from memspec_py.store import files
from memspec_py.store.layout import EVIDENCE, LOCAL
from memspec_py.store.resolve import expanded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memspec_py.store.resolve import Surroundings
    from memspec_py.workspace import Workspace

_URL = re.compile(r"https?://\S+\Z", re.IGNORECASE)
_UNSAFE = re.compile(r"[^\w.+@=, -]+")
_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A piece of evidence that may be kept: the entry for the record, and the bytes of a file."""

    entry: Evidence
    data: bytes | None


def checked_evidence(ws: Workspace, given: Sequence[str], where: Surroundings) -> list[Attachment]:
    """Look at every piece before any is copied.

    A URL is recorded and never fetched. Raises ``Invalid`` for a file that is not there and
    ``NotAllowed`` for one that must not be kept: a symbolic link, one from the machine-local
    ``local/`` folder, one over the size limit, or no regular file.
    """
    found = [_checked(ws, one, where) for one in given]
    unique = {(one.entry.path or one.entry.url): one for one in found}
    return list(unique.values())


def keep_evidence(ws: Workspace, attachments: Sequence[Attachment]) -> None:
    """Copy the files into the store, each once by its content; the caller holds the lock."""
    for one in attachments:
        if one.data is None or one.entry.path is None:
            continue
        place = ws.path_of(one.entry.path)
        try:
            files.create(place, one.data)
        except Conflict:
            with files.storage_errors(place):
                kept = files.read(place)
            if kept != one.data:
                raise  # somebody changed kept evidence; nothing may be recorded on top of that


def _checked(ws: Workspace, given: str, where: Surroundings) -> Attachment:
    if _URL.match(given):
        return Attachment(entry=Evidence(url=given, added=ws.now()), data=None)
    place = expanded(Path(given), where)
    try:
        found = os.lstat(place)
    except (OSError, ValueError):  # ValueError: a name that no file can have
        message = f"no evidence file {given}"
        raise Invalid(
            message,
            findings=[Finding(code="no-file", field="evidence", message=message)],
            hint="give a file or an http(s) URL",
        ) from None
    _refuse_what_must_not_be_kept(ws, given, place, found)
    try:
        data = files.read(place, ws.settings.limits.evidence_bytes)
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise StorageFailed(
            f"evidence {given} cannot be read: {reason}", hint="check who may read it"
        ) from None
    name = _safe_name(place.name)
    digest = files.digest(data)
    entry = Evidence(
        path=f"{EVIDENCE}/{digest[:16]}/{name}",
        sha256=digest,
        name=name,
        source=_portable(place, where),
        added=ws.now(),
    )
    return Attachment(entry=entry, data=data)


def _refuse_what_must_not_be_kept(
    ws: Workspace, given: str, place: Path, found: os.stat_result
) -> None:
    limit = ws.settings.limits.evidence_bytes
    reason = None
    if stat.S_ISLNK(found.st_mode):
        reason = "is a symbolic link; pass the real file"
    elif not stat.S_ISREG(found.st_mode):
        reason = "is no regular file"
    elif found.st_size > limit:
        reason = f"has {found.st_size} bytes; the limit is {limit}"
    elif _is_local(ws, place):
        reason = f"lies in the machine-local {LOCAL}/ folder, whose content must not be committed"
    if reason is not None:
        raise NotAllowed(f"evidence {given} {reason}", hint="attach another file, or a URL")


def _is_local(ws: Workspace, place: Path) -> bool:
    """By real paths, so that a link further up does not slip past."""
    local = os.path.realpath(ws.root / LOCAL)
    return os.path.commonpath([local, os.path.realpath(place)]) == local


def _portable(place: Path, where: Surroundings) -> str | None:
    """Where a file came from in words that mean something elsewhere; never an absolute path."""
    real = Path(os.path.realpath(place))
    home = None if where.home is None else os.path.realpath(where.home)
    if home is not None and real.is_relative_to(home):
        return f"~/{real.relative_to(home).as_posix()}"
    checkout = repository_of(real)
    if checkout is not None:
        return f"{checkout.name}:{real.relative_to(checkout).as_posix()}"
    return None


def _safe_name(name: str) -> str:
    """A file name that is harmless on every system."""
    clean = _UNSAFE.sub("_", name).strip(" .") or "evidence"
    stem, dot, ending = clean.rpartition(".")
    room = _LONGEST_NAME - len(ending) - 1
    return clean if len(clean) <= _LONGEST_NAME else f"{stem[:room]}{dot}{ending[-20:]}"
