"""Usage receipts: which records were shown to whom. Machine-local telemetry, never memory."""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.store.layout import USAGE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

_ROTATED = "usage.1.jsonl"
# Two files of this size at most; half a megabyte is some three thousand receipts.
_MOST_BYTES = 524_288
_QUERY_CHARS = 200
# The surface of what was shown unasked, at the start of a session.
BOOT = "context"


class Use(NamedTuple):
    """When a record was last shown, and how many different sessions it was shown to on request."""

    last_referenced: str
    sessions: int


class Receipt(NamedTuple):
    """One showing of some records, in rank order.

    ``ranks`` are their places on the page, where records of other stores stand between them.
    """

    ids: tuple[str, ...]
    at: str
    query: str
    surface: str
    session: str | None
    ranks: tuple[int, ...] = ()


def write_receipt(root: Path, receipt: Receipt) -> None:
    """Append a line for each record shown.

    A receipt that cannot be written is dropped: a read has been answered already, and no reader of
    a read-only store wants to hear of telemetry.
    """
    lines = [
        json.dumps(
            {
                "id": id_,
                "at": receipt.at,
                "query": receipt.query[:_QUERY_CHARS],
                "rank": rank,
                "surface": receipt.surface,
                **({"session": receipt.session} if receipt.session else {}),
            },
            ensure_ascii=False,
        )
        for rank, id_ in zip(receipt.ranks or count(1), receipt.ids, strict=False)
    ]
    if not lines:
        return
    path = os.path.join(root, USAGE)
    with suppress(OSError, UnicodeEncodeError):
        # One write to a file opened for appending: lines of parallel processes do not mix.
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _NO_FOLLOW, 0o644)
        try:
            os.write(handle, ("\n".join(lines) + "\n").encode())
            size = os.fstat(handle).st_size
        finally:
            os.close(handle)
        if size > _MOST_BYTES:
            os.replace(path, os.path.join(root, _ROTATED))


def uses_of(root: Path, ids: Iterable[str]) -> dict[str, Use]:
    """What the receipts say of some records; records never shown are left out."""
    data = b"".join(_bytes_of(os.path.join(root, name)) for name in (_ROTATED, USAGE))
    found = {}
    for id_ in ids:
        rows = list(_rows_of(data, id_))
        if rows:
            sessions = {row["session"] for row in rows if _has_session(row)}
            found[id_] = Use(max(str(row.get("at", "")) for row in rows), len(sessions))
    return found


class Log(NamedTuple):
    """Every receipt, summed up: the use of each record, and how far back the receipts go."""

    uses: Mapping[str, Use]
    since: str | None


def whole_log(root: Path) -> Log:
    """What the receipts say of all records, in one pass; lines that are none are passed over."""
    last: dict[str, str] = {}
    sessions: dict[str, set[str]] = {}
    since = None
    for row in _receipts(root):
        id_, at = str(row["id"]), str(row["at"])
        since = at if since is None else min(since, at)
        last[id_] = max(at, last.get(id_, ""))
        if _has_session(row):
            sessions.setdefault(id_, set()).add(str(row["session"]))
    uses = {id_: Use(at, len(sessions.get(id_, ()))) for id_, at in last.items()}
    return Log(uses, since)


class Demand(NamedTuple):
    """The use of a record, and in how many sittings since some time somebody asked for it.

    A sitting is a session, or a day where the session is not known: who asks the same ten times in
    a row asked once. What was shown unasked is no sign that anybody wanted it.
    """

    use: Use
    sittings: int


# A line as ``write_receipt`` has it: id, time, surface and, in quotes, session. To read a full log
# so takes a third of the time that parsing it does.
_LINE = (
    rb'(?m)^{"id": "([^"\\]+)", "at": "([^"\\]+)", .*, "surface": "([^"\\]*)"'
    rb'(?:, "session": ("[^\n]*"))?}$'
)


def demand(root: Path, since: str) -> dict[str, Demand]:
    """What the receipts of this version say of every record, in one pass."""
    last: dict[bytes, bytes] = {}
    sessions: defaultdict[bytes, set[bytes]] = defaultdict(set)
    sittings: defaultdict[bytes, set[bytes]] = defaultdict(set)
    first, boot = since.encode(), BOOT.encode()
    data = b"".join(_bytes_of(os.path.join(root, name)) for name in (_ROTATED, USAGE))
    for id_, at, surface, session in re.findall(_LINE, data):
        last[id_] = max(at, last.get(id_, b""))
        if surface == boot:
            continue
        if session:
            sessions[id_].add(session)
        if at >= first:
            sittings[id_].add(session or at[:10])
    return {
        id_.decode(errors="replace"): Demand(
            Use(at.decode(errors="replace"), len(sessions[id_])), len(sittings[id_])
        )
        for id_, at in last.items()
    }


def _receipts(root: Path) -> Iterator[dict[str, object]]:
    for name in (_ROTATED, USAGE):
        for line in _bytes_of(os.path.join(root, name)).splitlines():
            row = _receipt(line)
            if row is not None:
                yield row


def _has_session(row: Mapping[str, object]) -> bool:
    """Whether a receipt tells of a session that got what it asked for."""
    return isinstance(row.get("session"), str) and row.get("surface") != BOOT


def _receipt(line: bytes) -> dict[str, object] | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    known = isinstance(row, dict) and isinstance(row.get("id"), str)
    return row if known and isinstance(row.get("at"), str) else None


_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)


def _bytes_of(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(2 * _MOST_BYTES)
    except OSError:
        return b""


def _rows_of(data: bytes, id_: str) -> Iterable[dict[str, object]]:
    """The receipts of one record, found without parsing those of others; torn lines are skipped."""
    wanted = f'"id": "{id_}"'.encode()
    at = data.find(wanted)
    while at >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        with suppress(ValueError):
            row = json.loads(data[start:end])
            if isinstance(row, dict):
                yield row
        at = data.find(wanted, end)
