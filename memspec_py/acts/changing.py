"""What every act that changes records does: read one as its file has it, and plan the new file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memspec_py.acts.inputs import invalid
from memspec_py.acts.writing import broken, unfaithful
from memspec_py.errors import Conflict, Invalid, NotActive, NotFound
from memspec_py.record.frontmatter import Unreadable
from memspec_py.record.model import State, is_expired
from memspec_py.record.parse import edit_text, parse_record
from memspec_py.store import files, journal, layout
from memspec_py.workspace import Moved

if TYPE_CHECKING:
    import sqlite3

    from memspec_py.record.model import Record
    from memspec_py.workspace import Workspace

_MOST_STEPS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class OnDisk:
    """A record, and the file it was read from."""

    record: Record
    path: str
    data: bytes


def on_disk(ws: Workspace, typed: str) -> OnDisk:
    """The record whose id is, or uniquely starts with, what was typed, as its file has it now.

    The caller holds the lock and the index is current. Raises ``NotFound`` (also for an expired
    observation), ``AmbiguousId``, ``Invalid`` for a file that is no record, and ``Conflict`` when
    two files carry the id.
    """
    db = ws.index.db
    id_, path, is_readable = ws.find_file(db, typed)
    if not is_readable:
        raise Invalid(f"{path} cannot be read as a record", hint="mend it with `memspec edit`")
    _refuse_doubled(db, id_)
    try:
        data = files.read(ws.path_of(path))
        record = parse_record(data, ws.settings.limits)
    except FileNotFoundError:
        raise Moved(f"{path} is gone", hint="run the command again") from None
    except Unreadable as problem:
        raise Invalid(f"{path} cannot be read", findings=problem.findings) from None
    except OSError:
        with files.storage_errors(ws.path_of(path)):
            raise
    if is_expired(record.kind, record.expires, ws.now()):
        raise NotFound(
            f"observation {id_} expired on {record.expires}",
            hint=f"its file stays at {path} in the store",
        )
    return OnDisk(record=record, path=path, data=data)


def change_to(ws: Workspace, one: OnDisk, after: Record) -> journal.Change:
    """The new file in place of the one on disk; every byte that no changed field owns stays.

    A record whose folder changes moves. Raises ``Invalid`` for a record that breaks the rules, or a
    file whose front matter cannot be edited in place.
    """
    if errors := broken(ws, after):
        raise invalid(errors)
    try:
        data = edit_text(one.data.decode(), one.record, after).encode()
        again = parse_record(data, ws.settings.limits)
    except Unreadable as problem:
        told = "; ".join(f"line {found.line or 1}: {found.message}" for found in problem.findings)
        fix = next((found.fix for found in problem.findings if found.fix), None)
        raise Invalid(
            f"{one.path} cannot be changed: {told}", findings=problem.findings, hint=fix
        ) from None
    if again != after:
        raise invalid([unfaithful(after, again)])
    expect = files.digest(one.data)
    home = layout.path_of(after)
    if layout.folder_of(one.record) == layout.folder_of(after) or home == one.path:
        return journal.Replace(one.path, data, expect)
    return journal.Move(one.path, home, data, expect)


def path_of(change: journal.Change) -> str:
    """Where the file is after a change."""
    return change.dst if isinstance(change, journal.Move) else change.path


def refuse_inactive(db: sqlite3.Connection, record: Record) -> None:
    """Raise ``NotActive`` for a record that is superseded or retired, naming what replaced it."""
    if record.state not in (State.SUPERSEDED, State.RETIRED):
        return
    heirs = heirs_of(db, record.id)
    by = f" by {' and '.join(record.superseded_by)}" if record.superseded_by else ""
    why = f": {record.supersede_reason}" if record.supersede_reason else ""
    named = " or ".join(f'{id_} "{title}"' for id_, title in heirs)
    raise NotActive(
        f"{record.id} is {record.state}{by}{why}",
        hint=f"what holds now is {named}" if heirs else f"read it with `memspec get {record.id}`",
        details={"heirs": [id_ for id_, _ in heirs]},
    )


def heirs_of(db: sqlite3.Connection, id_: str) -> list[tuple[str, str]]:
    """Id and title of the active records at the end of a record's chain, nearest first."""
    seen, level, found = {id_}, [id_], []
    while level and len(seen) < _MOST_STEPS:
        following = []
        for heir, state, title in (
            row for source in level for row in db.execute(_HEIRS, (source,))
        ):
            if heir not in seen:
                seen.add(heir)
                following.append(heir)
                if state == State.ACTIVE:
                    found.append((heir, title))
        level = following
    return found


_HEIRS = (
    "select s.id, s.state, json_extract(s.head, '$.title') from edges e join records r"
    " on r.path = e.path and r.shadowed = 0 join shown s on s.id = e.target and s.shadowed = 0"
    " where e.source = ? and e.type = 'superseded_by' order by e.position"
)


def _refuse_doubled(db: sqlite3.Connection, id_: str) -> None:
    paths = [path for (path,) in db.execute("select path from records where id = ?", (id_,))]
    if len(paths) > 1:
        raise Conflict(
            f"{id_} is the id of several files: {', '.join(sorted(paths))}",
            hint="keep one of them; `memspec doctor` shows each",
        )
