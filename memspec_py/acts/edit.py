"""Replace a record's text by an edited one, if it is still a record and nobody else changed it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memspec_py.acts.inputs import invalid
from memspec_py.errors import Invalid, NotFound
from memspec_py.record.frontmatter import Unreadable
from memspec_py.record.parse import parse_record
from memspec_py.report import Finding
from memspec_py.store import files, layout
from memspec_py.store.gitignore import keep_current

if TYPE_CHECKING:
    from memspec_py.record.model import Record
    from memspec_py.workspace import Workspace

# Changing one of these is an act of its own, with a reason and a trace.
_FIXED = ("id", "kind", "state", "created", "source_kind", "superseded_by", "supersedes")


@dataclass(frozen=True, slots=True, kw_only=True)
class EditCopy:
    """A record's file as it is now: what an editor gets, and the digest an edit is based on."""

    id: str
    path: str
    text: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """What became of an edit; ``changed`` names the fields that differ."""

    store: str
    id: str
    path: str
    changed: tuple[str, ...]


def edit_copy(ws: Workspace, typed: str) -> EditCopy:
    """The text to edit; works for a file that cannot be read as a record, too."""
    id_, path = ws.read(lambda db: ws.find_id(db, typed))
    try:
        data = files.read(ws.path_of(path))
    except FileNotFoundError:
        raise NotFound(f"{path} is gone", hint="run the command again") from None
    return EditCopy(id=id_, path=path, text=data.decode(), digest=files.digest(data))


def replace_text(ws: Workspace, copy: EditCopy, text: str) -> Edited:
    """Put an edited text in the record's place.

    Raises ``Invalid`` with every finding when it is no valid record or changes what only an act may
    change, and ``Conflict`` when the file is no longer the one the copy was made from.
    """
    data = text.encode()
    before = _read(ws, copy.text.encode())
    after = _read(ws, data)
    changed = tuple(
        name
        for name in before.__dataclass_fields__
        if getattr(before, name) != getattr(after, name)
    )
    _refuse_acts(before, after, changed)
    with ws.writing():
        if data != copy.text.encode():
            _write(ws, copy, after, data)
        keep_current(ws.root)
    return Edited(store=str(ws.root), id=copy.id, path=_home(copy, after), changed=changed)


def _read(ws: Workspace, data: bytes) -> Record:
    try:
        return parse_record(data, ws.settings.limits)
    except Unreadable as problem:
        found = "; ".join(map(str, problem.findings))
        raise Invalid(f"this is no valid record: {found}", findings=problem.findings) from None


def _refuse_acts(before: Record, after: Record, changed: tuple[str, ...]) -> None:
    findings = [
        Finding(
            code="not-by-edit",
            field=name,
            message=f"{name} cannot be changed by an edit"
            f" ({getattr(before, name)} to {getattr(after, name)})",
            fix="put it back; a correction is a supersede",
        )
        for name in _FIXED
        if name in changed
    ]
    if findings:
        raise invalid(findings)


def _home(copy: EditCopy, after: Record) -> str:
    """Where the record lies after the edit: another type means another folder."""
    proper = layout.path_of(after)
    same_place = copy.path.rpartition("/")[0] == proper.rpartition("/")[0]
    return copy.path if same_place else proper


def _write(ws: Workspace, copy: EditCopy, after: Record, data: bytes) -> None:
    from memspec_py.store import journal

    path = _home(copy, after)
    if path == copy.path:
        files.replace(ws.path_of(path), data, expect=copy.digest)
        return
    move = journal.Move(src=copy.path, dst=path, data=data, expect=copy.digest)
    journal.apply(ws.root, [move], copy.id)
