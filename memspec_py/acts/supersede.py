"""Replace a record by a corrected one, merge records into one, or retract what does not hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memspec_py.acts.changing import (
    change_to,
    on_disk,
    path_of,
    refuse_inactive,
)
from memspec_py.acts.heir import Replacement, checked_replacement, drafted, witnessed
from memspec_py.acts.permission import (
    refuse_operator,
    refuse_pin,
    ruling,
    with_override,
)
from memspec_py.acts.remember import Duplicate, duplicates_of, near_duplicate
from memspec_py.acts.tombstones import Past, checked_reason, with_reason, withdrawn_in
from memspec_py.acts.writing import checked
from memspec_py.anchors.grain import shown
from memspec_py.errors import Conflict, UsageError
from memspec_py.record.model import Kind, SourceKind, State
from memspec_py.store import journal, layout
from memspec_py.store.gitignore import keep_current
from memspec_py.store.outcomes import Outcome, OutcomeRow, appending
from memspec_py.trust.source import checked_source
from memspec_py.trust.tiers import Act, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memspec_py.acts.changing import OnDisk
    from memspec_py.anchors.locate import Unresolved
    from memspec_py.record.model import Plain, Record
    from memspec_py.store.resolve import Surroundings
    from memspec_py.workspace import Workspace

__all__ = ["Replacement", "Superseded", "Survivor", "supersede"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Survivor:
    """The record that stands for the superseded ones.

    ``check_by`` is None for an observation; ``expires`` for a claim, and for one that never does.
    """

    id: str
    path: str
    type: str
    title: str
    source: str
    verified_with: str
    check_by: str | None
    expires: str | None
    anchors: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Superseded:
    """What became of the records.

    ``act`` is ``replaced`` (a new record took their place), ``merged`` (an existing one did) or
    ``retracted`` (none did, so there is no survivor). ``notes`` say what of the anchors is coarser
    or less portable than was asked for, and why the outcomes could not be recorded; ``unresolved``
    are those anchors that the survivor could not keep; ``duplicates`` and ``withdrawn`` are what
    the write was forced past.
    """

    store: str
    act: str
    survivor_id: str | None
    superseded_ids: tuple[str, ...]
    reason: str
    source: str
    survivor: Survivor | None
    notes: tuple[str, ...]
    unresolved: tuple[Unresolved, ...]
    duplicates: tuple[Duplicate, ...]
    withdrawn: tuple[Past, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """What was asked, checked as far as that needs no record."""

    target: str
    merge_from: tuple[str, ...]
    new: Replacement
    reason: str
    source: str
    override_operator: bool
    force: bool

    @property
    def acts(self) -> tuple[Act, Act]:
        """What the rules of the operator tier call it, for the target and for what is merged."""
        if self.new.is_stated:
            return Act.REPLACE, Act.MERGE_FROM
        return Act.MERGE_INTO if self.merge_from else Act.RETRACT, Act.MERGE_FROM


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """The changes of files, and the survivor as it will be."""

    act: str
    survivor: Record | None
    path: str | None
    olds: tuple[Record, ...]
    changes: tuple[journal.Change, ...]
    notes: tuple[str, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()
    duplicates: tuple[Duplicate, ...] = ()
    withdrawn: tuple[Past, ...] = ()


def supersede(
    ws: Workspace,
    typed: str,
    where: Surroundings,
    *,
    reason: str,
    source: str,
    new: Replacement,
    merge_from: Sequence[str] = (),
    override_operator: bool = False,
    force: bool = False,
) -> Superseded:
    """Take records out of use, all at once or not at all, with the reason on every one involved.

    With a text in ``new`` a new record takes the place of the target and of ``merge_from``; with
    ``merge_from`` alone the target takes theirs; with neither the target is retracted. What is
    superseded goes to ``archive/``.
    Raises ``NotActive`` for a record that is not in use, ``NotAllowed`` for an operator's record or
    a new pin when this caller may not do that, ``NearDuplicate`` and ``Withdrawn`` for a text that
    must not be written (unless forced, for the reason given), ``Invalid`` and ``UsageError`` for
    what makes no sense.
    """
    order = _Order(
        target=typed,
        merge_from=tuple(merge_from),
        new=checked_replacement(new),
        reason=checked_reason(reason),
        source=checked_source(source),
        override_operator=override_operator,
        force=force,
    )
    with ws.writing():
        plan = ws.read(lambda _: _planned(ws, order, where))
        keep_current(ws.root)
        journal.apply(ws.root, plan.changes, plan.olds[0].id)
    return _reply(ws, order, plan)


def _planned(ws: Workspace, order: _Order, where: Surroundings) -> _Plan:
    involved = _involved(ws, order)
    if order.new.is_stated:
        return _replaced(ws, order, involved, where)
    if len(involved) > 1:
        return _merged(ws, order, involved)
    return _plan(ws, order, "retracted", None, involved)


def _involved(ws: Workspace, order: _Order) -> list[OnDisk]:
    """The target and what is merged with it, each once, all of them free to be superseded."""
    target = on_disk(ws, order.target)
    found = {target.record.id: target}
    for typed in order.merge_from:
        one = on_disk(ws, typed)
        if one.record.id == target.record.id:
            raise UsageError(f"{one.record.id} cannot be merged into itself")
        found[one.record.id] = one
    for one in found.values():
        if one.record.kind is Kind.QUESTION:
            raise UsageError(
                f"{one.record.id} is a question, which is not superseded",
                hint=f"`memspec question {one.record.id} --resolve`",
            )
        refuse_inactive(ws.index.db, one.record)
    target_act, other_act = order.acts
    _refuse_operator(ws, order, target_act, target)
    for one in list(found.values())[1:]:
        _refuse_operator(ws, order, other_act, one)
    return list(found.values())


def _refuse_operator(ws: Workspace, order: _Order, act: Act, one: OnDisk) -> None:
    refuse_operator(ws, act, [one.record], source=order.source, override=order.override_operator)


def _replaced(
    ws: Workspace, order: _Order, involved: Sequence[OnDisk], where: Surroundings
) -> _Plan:
    olds = [one.record for one in involved]
    target = olds[0]
    draft = drafted(ws, order.new, olds, source=order.source, reason=order.reason)
    draft = _pinned(ws, order, target, draft)
    duplicates = _duplicates(ws, draft, {one.id for one in olds})
    if duplicates and not order.force:
        raise near_duplicate(duplicates)
    # A note becomes a claim as a whole, so all of it is news.
    before = target if target.kind is draft.kind else None
    withdrawn = withdrawn_in(ws, draft, before)
    draft = with_reason(draft, withdrawn, force=order.force, reason=order.reason)
    heir, taken = witnessed(ws, draft, order.new, target, where)
    create = journal.Create(layout.path_of(heir), checked(ws, heir))
    plan = _plan(ws, order, "replaced", heir, involved, create)
    return replace(
        plan,
        notes=(*taken.notes, *plan.notes),
        unresolved=taken.unresolved,
        duplicates=tuple(duplicates),
        withdrawn=withdrawn,
    )


def _pinned(ws: Workspace, order: _Order, target: Record, heir: Record) -> Record:
    """The heir, if it may be pinned; to keep the pin of the target is no new one."""
    if not heir.pinned or target.pinned:
        return heir
    refuse_pin(ws, Act.PIN, source=order.source, override=order.override_operator)
    if ruling(ws, Act.PIN, order.source) is not Verdict.OVERRIDE:
        return heir
    return replace(heir, ext=with_override(ws, Act.PIN, heir.ext, order.source))


def _duplicates(ws: Workspace, draft: Record, gone: set[str]) -> list[Duplicate]:
    """Claims that say it already and stay; notes may repeat each other."""
    found = duplicates_of(ws, draft) if draft.kind is Kind.CLAIM else []
    return [one for one in found if one.id not in gone]


def _merged(ws: Workspace, order: _Order, involved: Sequence[OnDisk]) -> _Plan:
    """The target stands for the others, too."""
    target, *others = involved
    survivor = target.record
    for one in others:
        _refuse_cycle(ws, survivor, one.record)
        if survivor.kind is Kind.OBSERVATION and one.record.kind is Kind.CLAIM:
            raise UsageError(
                f"{survivor.id} is an observation, which a claim cannot be merged into",
                hint="make a claim of it with --type",
            )
    ids = (one.record.id for one in others)
    after = replace(
        survivor,
        supersedes=tuple(dict.fromkeys((*survivor.supersedes, *ids))),
        supersede_reason=_both(survivor.supersede_reason, order.reason),
    )
    if survivor.source_kind is SourceKind.OPERATOR:
        after = replace(after, ext=_traced(survivor, order, "merged", ws.now()))
    return _plan(ws, order, "merged", after, others, change_to(ws, target, after))


def _both(earlier: str | None, reason: str) -> str:
    """The reason of a record that supersedes others for the second time."""
    return reason if earlier in (None, reason) else f"{earlier}; {reason}"


def _plan(
    ws: Workspace,
    order: _Order,
    act: str,
    survivor: Record | None,
    olds: Sequence[OnDisk],
    change: journal.Change | None = None,
) -> _Plan:
    """The change of the survivor's file, then the old ones into the archive, then the outcomes."""
    now = ws.now()
    changes = [] if change is None else [change]
    for one in olds:
        after = replace(
            one.record,
            state=State.SUPERSEDED,
            superseded_by=() if survivor is None else (survivor.id,),
            supersede_reason=order.reason,
            ext=_traced(one.record, order, "superseded", now),
        )
        changes.append(change_to(ws, one, after))
    rows = [
        OutcomeRow(one.record.id, Outcome.CORRECTED, now, order.source, order.reason)
        for one in olds
    ]
    log = appending(ws.root, rows)
    return _Plan(
        act=act,
        survivor=survivor,
        path=None if change is None else path_of(change),
        olds=tuple(one.record for one in olds),
        changes=(*changes, *log.changes),
        notes=(f"the outcome could not be recorded: {log.problem}",) if log.problem else (),
    )


def _traced(record: Record, order: _Order, act: str, now: str) -> Mapping[str, Plain]:
    """The record's ``ext`` with who did this, when, and whether over the operator's head."""
    trace: dict[str, Plain] = {"by": order.source, "at": now}
    if record.source_kind is SourceKind.OPERATOR:
        trace["override_operator"] = "true"
    return {**record.ext, act: trace}


def _refuse_cycle(ws: Workspace, survivor: Record, old: Record) -> None:
    """A file made by hand may say that the old record supersedes the survivor, which is in use."""
    seen: set[str] = set()
    level = {old.id}
    while level:
        seen |= level
        rows = [row for id_ in sorted(level) for row in ws.index.db.execute(_SUPERSEDES, (id_,))]
        level = {id_ for (id_,) in rows} - seen
    if survivor.id in seen:
        raise Conflict(
            f"{old.id} says that it supersedes {survivor.id}, which it would be merged into",
            hint="one of the two has to be put right; see `memspec doctor`",
        )


_SUPERSEDES = "select target from edges where source = ? and type = 'supersedes'"


def _reply(ws: Workspace, order: _Order, plan: _Plan) -> Superseded:
    survivor = None
    if plan.survivor is not None and plan.path is not None:
        survivor = Survivor(
            id=plan.survivor.id,
            path=plan.path,
            type=plan.survivor.label,
            title=plan.survivor.title,
            source=plan.survivor.source,
            verified_with=plan.survivor.verified_with.value,
            check_by=plan.survivor.check_by,
            expires=plan.survivor.expires,
            anchors=tuple(shown(anchor) for anchor in plan.survivor.anchors),
        )
    return Superseded(
        store=str(ws.root),
        act=plan.act,
        survivor_id=None if survivor is None else survivor.id,
        superseded_ids=tuple(one.id for one in plan.olds),
        reason=order.reason,
        source=order.source,
        survivor=survivor,
        notes=plan.notes,
        unresolved=plan.unresolved,
        duplicates=plan.duplicates,
        withdrawn=plan.withdrawn,
    )
