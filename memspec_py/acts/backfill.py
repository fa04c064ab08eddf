"""Change many records by a function: a dry run first, then one change that can be undone."""

from __future__ import annotations

import json
import os
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from memspec_py.acts.backfill_rules import changed_fields, checked_change
from memspec_py.acts.changing import OnDisk, change_to, path_of
from memspec_py.acts.inputs import invalid
from memspec_py.acts.tombstones import Tombstones, with_reason
from memspec_py.errors import Conflict, Invalid, NotAllowed, UsageError, Withdrawn
from memspec_py.record.frontmatter import Unreadable
from memspec_py.record.model import Kind, Record, SourceKind, State, Type
from memspec_py.record.parse import parse_record
from memspec_py.report import Finding, as_json
from memspec_py.store import files, journal, undo_journal
from memspec_py.store.gitignore import keep_current
from memspec_py.store.listing import list_records
from memspec_py.store.unfinished import unfinished
from memspec_py.trust.tiers import Act, permits, verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from memspec_py.index.index import Progress
    from memspec_py.workspace import Workspace

_T = TypeVar("_T")

_LABELS = frozenset({*Type, Kind.OBSERVATION, Kind.QUESTION})
_MOST_LOOKS = 5
_STEP = 100
_SHORT = 80
_LEAD = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """One field that differs, in short: a long value is shown from where it differs on.

    ``before`` and ``after`` are None where the field is empty.
    """

    field: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfilledRecord:
    """What became, or would become, of a record that the function changed.

    ``outcome`` is ``changed`` (``moved_to`` is its new path, if it has one) or ``refused`` with a
    ``code`` and a ``reason``; ``fields`` is what the function asked for.
    """

    id: str
    path: str
    title: str
    outcome: str
    fields: tuple[FieldChange, ...]
    moved_to: str | None = None
    code: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Backfilled:
    """The report of a backfill; without ``applied`` nothing was written.

    ``seen`` counts the records that were chosen, as ``changed``, ``unchanged``,
    ``skipped_operator`` or ``refused``. ``journal`` is what undoes it, and None when nothing was
    written.
    """

    store: str
    name: str
    applied: bool
    journal: str | None
    seen: int
    changed: int
    unchanged: int
    skipped_operator: int
    refused: int
    unreadable: int
    records: tuple[BackfilledRecord, ...]
    findings: tuple[Finding, ...]


def backfill(
    ws: Workspace,
    change: Callable[[Record], Record | None],
    *,
    name: str,
    apply: bool = False,
    include_operator: bool = False,
    strict: bool = False,
    states: Collection[str] | None = None,
    types: Collection[str] | None = None,
    progress: Progress | None = None,
) -> Backfilled:
    """Give each record to ``change`` and take what it returns; a dry run unless ``apply`` is set.

    ``change`` returns a changed record, or None or the same one to leave it; it may be told only of
    some ``states`` and ``types``. What it raises ends the backfill with nothing written. A record
    that breaks the rules, or needs an act of its own, is refused and stops no other (unless
    ``strict``, which raises ``Invalid`` with every reason). The operator's records are skipped
    unless included. What is written is one change, with a journal that undoes it.

    Raises ``UsageError``, ``NotAllowed``, and ``Conflict`` with nothing written when somebody
    changed one of the records meanwhile.
    """
    undo_journal.checked_name(name)
    if include_operator:
        _refuse_channel(ws)
    _check_words("states", states, frozenset(State))
    _check_words("types", types, _LABELS)
    look = _looked(ws, progress)
    chosen = [
        one
        for one in look.found
        if (states is None or one.record.state in states)
        and (types is None or one.record.label in types)
    ]
    judged = [
        _judged(ws, one, change, look.ids, include_operator=include_operator)
        for one in _told(chosen, progress)
    ]
    judged = _without_withdrawn(ws, judged)
    if strict:
        _refuse_any(judged, look.findings)
    written = _write(ws, judged, name, progress) if apply else None
    return _report(ws, name, look, judged, applied=apply, written=written)


@dataclass(slots=True)
class _Look:
    """Every record file of the store, as it was read, and what could not be read."""

    found: list[OnDisk] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    ids: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    """A record that was chosen, and what becomes of it."""

    one: OnDisk
    outcome: str
    after: Record | None = None
    plan: journal.Change | None = None
    problem: Finding | None = None


def _refuse_channel(ws: Workspace) -> None:
    """Raise ``NotAllowed`` where no argument lets a backfill change the operator's records."""
    if not permits(verdict(Act.BACKFILL, ws.channel, by_operator=False), override=True):
        raise NotAllowed(
            f"over {ws.channel} no backfill may change the operator's records",
            hint="the operator does it on the command line",
        )


def _check_words(what: str, given: Collection[str] | None, known: Collection[str]) -> None:
    """Raise ``UsageError`` for a word that chooses nothing."""
    unknown = [] if given is None else [word for word in given if word not in known]
    if isinstance(given, str) or unknown:
        listed = ", ".join(sorted(map(str, known)))
        raise UsageError(f"{what} should be a list of some of: {listed}")


def _looked(ws: Workspace, progress: Progress | None) -> _Look:
    """Read every record file; once more when one was moved away meanwhile."""
    for _ in range(_MOST_LOOKS):
        if unfinished(ws.root):
            ws.read(lambda _: None)  # every read finishes what a killed writer left
        look = _Look()
        if _read_into(look, ws, progress):
            return look
    raise Conflict("the store is being changed all the time", hint="try again later")


def _read_into(look: _Look, ws: Workspace, progress: Progress | None) -> bool:
    """Whether each file that was listed could be looked at."""
    listing = list_records(ws.root)
    look.findings += listing.findings
    for path in _told(sorted(listing.paths), progress):
        try:
            data = files.read(ws.path_of(path), ws.settings.limits.record_bytes)
            record = parse_record(data, ws.settings.limits)
        except FileNotFoundError:
            return False
        except OSError as problem:
            message = f"the file cannot be read: {problem.strerror or problem}"
            look.findings.append(Finding(code="unopened", path=path, message=message))
        except Unreadable as problem:
            look.findings += [replace(finding, path=path) for finding in problem.findings]
        else:
            look.found.append(OnDisk(record=record, path=path, data=data))
            look.ids[record.id] += 1
    return True


def _told(items: Sequence[_T], progress: Progress | None) -> Iterator[_T]:
    """The items, with the progress told now and then."""
    for done, item in enumerate(items, 1):
        yield item
        if progress is not None and (done % _STEP == 0 or done == len(items)):
            progress(done, len(items))


def _judged(
    ws: Workspace,
    one: OnDisk,
    change: Callable[[Record], Record | None],
    ids: Counter[str],
    *,
    include_operator: bool,
) -> _Judged:
    before = one.record
    if before.source_kind is SourceKind.OPERATOR and not include_operator:
        return _Judged(one=one, outcome="skipped")
    # The function gets mappings of its own: what it does to them in place is seen as a change.
    given = replace(before, ext=deepcopy(before.ext), extra=deepcopy(before.extra))
    after = change(given)
    if after is None or after == before:
        return _Judged(one=one, outcome="unchanged")
    if not isinstance(after, Record):
        raise UsageError(f"for {before.id} the function returned {after!r}, not a record or None")
    try:
        plan = _planned(ws, one, after, ids)
    except Invalid as problem:
        finding = problem.findings[0] if problem.findings else Finding(code="invalid", message="")
        refusal = replace(finding, message=problem.message, path=one.path)
        return _Judged(one=one, outcome="refused", after=after, problem=refusal)
    return _Judged(one=one, outcome="changed", after=after, plan=plan)


def _planned(ws: Workspace, one: OnDisk, after: Record, ids: Counter[str]) -> journal.Change:
    """The new file; raises ``Invalid`` when the record may not be changed, or not like this."""
    if ids[one.record.id] > 1:
        raise _invalid("duplicate-id", "id", f"{one.record.id} is the id of several files")
    if any(sign in one.path for sign in ":\\"):
        raise _invalid("bad-name", None, "its file has a name that no change can be made under")
    sound = checked_change(ws, one.record, after, ids)
    try:
        plan = change_to(ws, one, sound)
    except UnicodeEncodeError as problem:
        raise _invalid("not-utf8", None, f"the text is not valid Unicode: {problem}") from None
    if isinstance(plan, journal.Move) and os.path.lexists(ws.path_of(plan.dst)):
        raise _invalid("in-the-way", None, f"it would move to {plan.dst}, where a file is already")
    return plan


def _invalid(code: str, field: str | None, message: str) -> Invalid:
    return invalid([Finding(code=code, field=field, message=message)])


def _without_withdrawn(ws: Workspace, judged: Sequence[_Judged]) -> list[_Judged]:
    """Refuse what would say again what a supersede withdrew; it takes the index to know."""
    if any(_says_news(each) for each in judged):
        return ws.read(lambda _: _held_to_the_past(ws, judged))
    return list(judged)


def _says_news(each: _Judged) -> bool:
    before, after = each.one.record, each.after
    return (
        after is not None
        and each.outcome == "changed"
        and (before.title, before.body) != (after.title, after.body)
        and before.kind is not Kind.QUESTION
        and before.state is State.ACTIVE
    )


def _held_to_the_past(ws: Workspace, judged: Sequence[_Judged]) -> list[_Judged]:
    past = Tombstones(ws.indexes())
    held = []
    for each in judged:
        if each.after is None or not _says_news(each):
            held.append(each)
            continue
        repeated = past.repeated_in(each.after, each.one.record)
        try:
            with_reason(each.after, repeated, force=False, reason=None)
        except Withdrawn as problem:
            why = Finding(code=problem.code, path=each.one.path, message=problem.message)
            held.append(replace(each, outcome="refused", plan=None, problem=why))
        else:
            held.append(each)
    return held


def _refuse_any(judged: Sequence[_Judged], findings: Sequence[Finding]) -> None:
    """Raise ``Invalid`` when anything was refused or could not be read."""
    problems = [*findings, *(each.problem for each in judged if each.problem is not None)]
    if problems:
        first = problems[0]
        more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
        raise Invalid(
            f"nothing is changed, as it is to be all or nothing: {first}{more}", findings=problems
        )


def _write(
    ws: Workspace, judged: Sequence[_Judged], name: str, progress: Progress | None
) -> str | None:
    """Make the whole change; the file name of the journal that undoes it."""
    planned = [(each.one, each.plan) for each in judged if each.plan is not None]
    if not planned:
        return None
    changes = [plan for _, plan in planned]
    head = undo_journal.Head(
        name=name, made_at=ws.now(), store=str(ws.root.resolve()), files=len(changes)
    )
    kept = [
        undo_journal.Kept(
            id=one.record.id,
            before=one.path,
            data=one.data,
            after=path_of(plan),
            digest=files.digest(plan.data),
        )
        for one, plan in planned
    ]
    with ws.writing():
        keep_current(ws.root)
        return write_undoably(ws, changes, head, kept, progress)


def write_undoably(
    ws: Workspace,
    changes: Sequence[journal.Change],
    head: undo_journal.Head,
    kept: Sequence[undo_journal.Kept],
    progress: Progress | None,
) -> str:
    """Make the changes, after a journal that undoes them; its file name. The caller has the lock.

    Raises ``Conflict`` with nothing changed when a file is not as expected, and ``StorageFailed``.
    """
    written = undo_journal.write(ws.root, head, kept)
    try:
        journal.apply(ws.root, changes, written.removesuffix(".jsonl"), progress)
    except Conflict:
        undo_journal.discard(ws.root, written)
        raise
    # After any other failure it stays: the change may have been made, or be made by the next write.
    return written


def _report(
    ws: Workspace,
    name: str,
    look: _Look,
    judged: Sequence[_Judged],
    *,
    applied: bool,
    written: str | None,
) -> Backfilled:
    count = Counter(each.outcome for each in judged)
    return Backfilled(
        store=str(ws.root),
        name=name,
        applied=applied,
        journal=written,
        seen=len(judged),
        changed=count["changed"],
        unchanged=count["unchanged"],
        skipped_operator=count["skipped"],
        refused=count["refused"],
        unreadable=len({finding.path for finding in look.findings}),
        records=tuple(_shown(each, each.after) for each in judged if each.after is not None),
        findings=tuple(look.findings),
    )


def _shown(each: _Judged, after: Record) -> BackfilledRecord:
    before = each.one.record
    return BackfilledRecord(
        id=before.id,
        path=each.one.path,
        title=before.title,
        outcome=each.outcome,
        fields=tuple(
            _field_change(name, getattr(before, name), getattr(after, name))
            for name in changed_fields(before, after)
        ),
        moved_to=each.plan.dst if isinstance(each.plan, journal.Move) else None,
        code=each.problem.code if each.problem else None,
        reason=each.problem.message if each.problem else None,
    )


def _field_change(name: str, before: object, after: object) -> FieldChange:
    old, new = _as_text(before), _as_text(after)
    both = zip(old, new, strict=False)
    shorter = min(len(old), len(new))
    same = next((at for at, (one, other) in enumerate(both) if one != other), shorter)
    start = max(0, same - _LEAD) if max(len(old), len(new)) > _SHORT else 0
    return FieldChange(field=name, before=_part(old, start), after=_part(new, start))


def _as_text(value: object) -> str:
    if not value:  # None, False, and what has nothing in it
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(as_json(value), ensure_ascii=False, default=str)


def _part(text: str, start: int) -> str | None:
    if not text:
        return None
    shown = text[start : start + _SHORT]
    return f"{'…' if start else ''}{shown}{'…' if start + _SHORT < len(text) else ''}"
