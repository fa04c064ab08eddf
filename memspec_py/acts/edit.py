"""Replace a record's text by an edited one, if it is still a record and nobody else changed it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memspec_py.acts.inputs import checked_text, invalid
from memspec_py.acts.tombstones import Past, force_reason, with_reason, withdrawn_in
from memspec_py.errors import Invalid, NotFound, StorageFailed
from memspec_py.record.frontmatter import Unreadable
from memspec_py.record.model import Kind, State, Witness
from memspec_py.record.parse import edit_text, parse_record, to_mapping
from memspec_py.report import Finding
from memspec_py.store import files, layout
from memspec_py.store.gitignore import keep_current
from memspec_py.trust.source import checked_source

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
    """What became of an edit; ``changed`` names the fields that differ.

    ``withdrawn`` is only filled when the edit was forced past what a supersede withdrew.
    """

    store: str
    id: str
    path: str
    changed: tuple[str, ...]
    withdrawn: tuple[Past, ...]


def edit_copy(ws: Workspace, typed: str) -> EditCopy:
    """The text to edit; works for a file that cannot be read as a record, too.

    Raises ``NotFound``, ``AmbiguousId``, ``StorageFailed``, or ``Invalid`` for a file that is no
    text at all.
    """
    id_, path, _ = ws.read(lambda db: ws.find_file(db, typed))
    try:
        data = files.read(ws.path_of(path))
        text = data.decode()
    except FileNotFoundError:
        raise NotFound(f"{path} is gone", hint="run the command again") from None
    except OSError as problem:
        raise StorageFailed(f"{path} cannot be read: {problem.strerror or problem}") from None
    except UnicodeDecodeError as problem:
        message = f"{path} is not UTF-8 (byte {problem.start}), so it cannot be edited as text"
        raise Invalid(message, hint="save the file as UTF-8 with another tool") from None
    return EditCopy(id=id_, path=path, text=text, digest=files.digest(data))


def replace_text(
    ws: Workspace, copy: EditCopy, text: str, *, force: bool = False, reason: str | None = None
) -> Edited:
    """Put an edited text in the record's place.

    Raises ``Invalid`` with every finding when it is no valid record or changes what only an act may
    change, ``Withdrawn`` when it says again what a supersede withdrew (unless forced with a reason,
    which the record then carries), and ``Conflict`` when the file is no longer the one the copy was
    made from.
    """
    why = force_reason(force=force, reason=reason)
    data = checked_text("text", text).encode()
    after = _read(ws, data)
    changed = _changed(ws, copy, after)
    with ws.writing():
        keep_current(ws.root)
        withdrawn = _withdrawn(ws, copy, after)
        forced = with_reason(after, withdrawn, force=force, reason=why)
        if forced is not after:
            data = edit_text(text, after, forced).encode()
            after = _read(ws, data)
        if data != copy.text.encode():
            _write(ws, copy, after, data)
    return Edited(
        store=str(ws.root),
        id=copy.id,
        path=_home(copy, after),
        changed=changed,
        withdrawn=withdrawn,
    )


def _withdrawn(ws: Workspace, copy: EditCopy, after: Record) -> tuple[Past, ...]:
    """The superseded records whose text the edit brings back."""
    if after.kind is Kind.QUESTION or after.state is not State.ACTIVE:
        return ()
    try:
        before = parse_record(copy.text.encode(), ws.settings.limits)
    except Unreadable:
        before = None  # nothing is known to have been said before
    if before is not None and (before.title, before.body) == (after.title, after.body):
        return ()
    return ws.read(lambda db: withdrawn_in(db, after, before))


def _changed(ws: Workspace, copy: EditCopy, after: Record) -> tuple[str, ...]:
    """The fields that differ, once it is sure that an edit may change them."""
    try:
        before = parse_record(copy.text.encode(), ws.settings.limits)
    except Unreadable:
        if after.id != copy.id:
            message = f"id {after.id} is not the one the file is named after, {copy.id}"
            raise invalid([Finding(code="not-by-edit", field="id", message=message)]) from None
        return (*to_mapping(after), "title")
    changed = tuple(
        name
        for name in before.__dataclass_fields__
        if getattr(before, name) != getattr(after, name)
    )
    _refuse_acts(before, after, changed)
    return changed


def _read(ws: Workspace, data: bytes) -> Record:
    try:
        return parse_record(data, ws.settings.limits)
    except Unreadable as problem:
        found = "; ".join(f"line {one.line or 1}: {one.message}" for one in problem.findings)
        raise Invalid(f"this is no valid record: {found}", findings=problem.findings) from None


def _refuse_acts(before: Record, after: Record, changed: tuple[str, ...]) -> None:
    findings = [
        Finding(
            code="not-by-edit",
            field=name,
            message=f"{name} cannot be changed by an edit"
            f" ({getattr(before, name)} to {getattr(after, name)})",
            fix="put it back; what an edit may not do is an act of its own, with a trace",
        )
        for name in (*_FIXED, *_claimed(before, after))
        if name in changed
    ]
    if "source" in changed:
        checked_source(after.source)
    if findings:
        raise invalid(findings)


def _claimed(before: Record, after: Record) -> tuple[str, ...]:
    """What would make the record look better attested than it is; to take away is allowed."""
    strength = tuple(Witness).index
    claimed = []
    if strength(after.verified_with) < strength(before.verified_with):
        claimed.append("verified_with")
    if (after.last_verified or "") > (before.last_verified or ""):
        claimed.append("last_verified")
    return tuple(claimed)


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
