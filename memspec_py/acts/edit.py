"""Replace a record's text by an edited one, if it is still a record and nobody else changed it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from memspec_py.acts.inputs import checked_text, invalid
from memspec_py.acts.permission import (
    is_override,
    refuse_operator,
    refuse_pin,
    ruling,
    with_override,
)
from memspec_py.acts.tombstones import Past, force_reason, with_reason, withdrawn_in
from memspec_py.anchors.grain import shown
from memspec_py.errors import Invalid, NotFound, StorageFailed
from memspec_py.record.frontmatter import Unreadable
from memspec_py.record.model import Kind, SourceKind, State, Witness
from memspec_py.record.parse import edit_text, parse_record, to_mapping
from memspec_py.report import Finding
from memspec_py.store import files, layout
from memspec_py.store.gitignore import keep_current
from memspec_py.trust.source import checked_source
from memspec_py.trust.tiers import Act, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memspec_py.record.model import Anchor, Evidence, Record
    from memspec_py.workspace import Workspace

_OPERATORS = "memory/operator/"
_A = TypeVar("_A", "Anchor", "Evidence")
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
    ws: Workspace,
    copy: EditCopy,
    text: str,
    *,
    source: str,
    override_operator: bool = False,
    force: bool = False,
    reason: str | None = None,
) -> Edited:
    """Put an edited text in the record's place; ``source`` is who edited it.

    What attests to the record may be taken away, and never be added or altered.
    Raises ``Invalid`` with every finding when it is no valid record or changes what only an act may
    change, ``Withdrawn`` when it says again what a supersede withdrew (unless forced with a reason,
    which the record then carries), ``NotAllowed`` for an operator's record or a new pin when this
    caller may not do that, and ``Conflict`` when the file is no longer the one the copy was made
    from.
    """
    why = force_reason(force=force, reason=reason)
    data = checked_text("text", text).encode()
    after = _read(ws, data)
    before = _before(ws, copy)
    changed = _changed(copy, before, after)
    by = _Editor(checked_source(source), override_operator)
    traced = _permitted(ws, copy, before, after, by) if data != copy.text.encode() else after
    with ws.writing():
        keep_current(ws.root)
        withdrawn = _withdrawn(ws, before, after)
        forced = with_reason(traced, withdrawn, force=force, reason=why)
        if forced is not after:
            data = _retold(text, after, forced)
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


def _retold(text: str, after: Record, traced: Record) -> bytes:
    """The edited text with a trace put into it; the rest stays as it was typed."""
    try:
        return edit_text(text, after, traced).encode()
    except Unreadable as problem:
        told = "; ".join(one.message for one in problem.findings)
        message = f"no trace can be put into this text: {told}"
        raise Invalid(message, findings=problem.findings) from None


class _Editor(NamedTuple):
    """Who edits, and whether over the operator's head."""

    source: str
    override: bool


def _permitted(
    ws: Workspace, copy: EditCopy, before: Record | None, after: Record, by: _Editor
) -> Record:
    """The edited record, with the trace of an override; raises ``NotAllowed``."""
    record = _whose(copy, after) if before is None else before
    refuse_operator(ws, Act.EDIT, [record], source=by.source, override=by.override)
    overridden = Act.EDIT if is_override(ws, Act.EDIT, record, by.source) else None
    if after.pinned and not (before is not None and before.pinned):
        refuse_pin(ws, Act.PIN, source=by.source, override=by.override)
        if ruling(ws, Act.PIN, by.source) is Verdict.OVERRIDE:
            overridden = overridden or Act.PIN
    if overridden is None:
        return after
    return replace(after, ext=with_override(ws, overridden, after.ext, by.source))


def _whose(copy: EditCopy, after: Record) -> Record:
    """A record that could not be read before the edit: the operator's by its folder, too."""
    if copy.path.startswith(_OPERATORS):
        return replace(after, source_kind=SourceKind.OPERATOR)
    return after


def _withdrawn(ws: Workspace, before: Record | None, after: Record) -> tuple[Past, ...]:
    """The superseded records whose text the edit brings back."""
    if after.kind is Kind.QUESTION or after.state is not State.ACTIVE:
        return ()
    if before is not None and (before.title, before.body) == (after.title, after.body):
        return ()
    return ws.read(lambda _: withdrawn_in(ws, after, before))


def _before(ws: Workspace, copy: EditCopy) -> Record | None:
    """The record that was edited; None for a file that could not be read as one."""
    try:
        return parse_record(copy.text.encode(), ws.settings.limits)
    except Unreadable:
        return None


def _changed(copy: EditCopy, before: Record | None, after: Record) -> tuple[str, ...]:
    """The fields that differ, once it is sure that an edit may change them."""
    if before is None:
        if after.id != copy.id:
            message = f"id {after.id} is not the one the file is named after, {copy.id}"
            raise invalid([Finding(code="not-by-edit", field="id", message=message)])
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
        for name in _FIXED
        if name in changed
    ]
    findings += _claimed(before, after)
    if "source" in changed:
        checked_source(after.source)
    if findings:
        raise invalid(findings)


def _claimed(before: Record, after: Record) -> Iterator[Finding]:
    """What would make the record look better attested than it is; to take away is allowed."""
    strength = tuple(Witness).index
    if strength(after.verified_with) < strength(before.verified_with):
        yield _claim("verified_with", f"{before.verified_with} to {after.verified_with}", _VERIFY)
    if (after.last_verified or "") > (before.last_verified or ""):
        yield _claim("last_verified", f"{before.last_verified} to {after.last_verified}", _VERIFY)
    altered = _beyond(after.anchors, before.anchors)
    for anchor in altered:
        yield _claim("anchors", f"{shown(anchor)} is new or altered", _ANCHOR)
    for one in _beyond(after.evidence, before.evidence):
        yield _claim("evidence", f"{one.path or one.url} is new or altered", _ATTACH)
    gone = _beyond(before.anchors, after.anchors)
    if gone and not altered and after.verified_with is Witness.ANCHOR:
        yield _claim("verified_with", "an anchor that witnessed the record is gone", _WEAKEN)


_VERIFY = "put it back; `memspec verify` renews a witness"
_ANCHOR = (
    "put it back; `memspec anchor ID PATH` adds an anchor, `memspec verify ID --reanchor` takes the"
    " code as it is now"
)
_ATTACH = "put it back; `memspec verify ID --evidence-file FILE` adds evidence"
_WEAKEN = (
    "write `verified_with: assertion` and verify it again; or `memspec anchor ID PATH --replace`"
)


def _claim(name: str, told: str, fix: str) -> Finding:
    message = f"{name} cannot be changed so by an edit ({told})"
    return Finding(code="not-by-edit", field=name, message=message, fix=fix)


def _beyond(some: Sequence[_A], others: Sequence[_A]) -> list[_A]:
    """Those of ``some`` that are not just so among ``others``; keys we do not know are ignored."""
    known = [replace(one, extra={}) for one in others]
    return [one for one in some if replace(one, extra={}) not in known]


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
