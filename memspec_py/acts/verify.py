"""Renew a claim's witness: its code is as it was, or somebody says what they looked at."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memspec_py.acts.anchoring import each_once, taken_again, verdicts_on, with_anchors
from memspec_py.acts.attach import checked_evidence, keep_evidence
from memspec_py.acts.changing import change_to, on_disk, path_of, refuse_inactive
from memspec_py.acts.inputs import checked_text, invalid
from memspec_py.acts.permission import is_override, refuse_operator, tier
from memspec_py.acts.remember import review_date
from memspec_py.anchors.grain import shown
from memspec_py.anchors.locate import Unresolved
from memspec_py.clock import NEVER
from memspec_py.errors import Conflict, UsageError
from memspec_py.record.model import Kind, SourceKind, Witness
from memspec_py.report import Finding
from memspec_py.store import journal
from memspec_py.store.gitignore import keep_current
from memspec_py.trust.source import checked_source
from memspec_py.trust.tiers import Act

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memspec_py.acts.attach import Attachment
    from memspec_py.anchors.verdict import Drift
    from memspec_py.record.model import Anchor, Evidence, Plain, Record
    from memspec_py.store.resolve import Surroundings
    from memspec_py.workspace import Workspace

_LONGEST_EVIDENCE = 2_000
VERIFIED = "verified"
NEEDS_REVIEW = "needs_review"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What became of a verification.

    ``status`` is ``verified``, or ``needs_review`` when nothing was changed; ``reason`` then says
    why, and ``hint`` what can be done. ``reanchored`` are the anchors that were taken again,
    ``notes`` what else should be known.
    """

    store: str
    id: str
    path: str
    title: str
    status: str
    reason: str | None
    hint: str | None
    source: str
    verified_with: str
    last_verified: str | None
    check_by: str | None
    evidence: tuple[str, ...]
    drift: tuple[Drift, ...]
    reanchored: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """What was asked, checked as far as that needs no record."""

    source: str
    evidence: str | None
    attachments: Sequence[Attachment]
    check_by: str | None
    reanchor: bool

    @property
    def act(self) -> Act:
        """What the rules of the operator tier call it."""
        return Act.ANCHOR if self.reanchor else Act.VERIFY

    @property
    def says_something(self) -> bool:
        """Whether somebody looked at something: a pointer that nobody fetched attests nothing."""
        return self.evidence is not None or any(one.data is not None for one in self.attachments)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """How the anchors stand, what they become, and why the record cannot be verified by them."""

    drift: tuple[Drift, ...]
    anchors: tuple[Anchor, ...]
    reanchored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    trouble: tuple[str, str] | None = None  # and what can be done about it

    @property
    def is_witness(self) -> bool:
        """Whether every anchor was checked and holds, or was taken again just now."""
        return bool(self.drift) and all(one.verdict != "unchecked" for one in self.drift)


def verify(
    ws: Workspace,
    typed: str,
    where: Surroundings,
    *,
    source: str,
    evidence: str | None = None,
    evidence_files: Sequence[str] = (),
    check_by: str | None = None,
    reanchor: bool = False,
    override_operator: bool = False,
) -> Verified:
    """Renew the witness of a record in use, or say why it has to be looked at.

    Anchors that hold witness it, and so do those that ``reanchor`` takes again; what they were is
    kept. Where there are none, or one cannot be checked, ``evidence`` must say what was looked at.
    An anchor that drifted or is gone changes nothing: the answer is ``needs_review``.
    Raises ``NotActive``, ``NotAllowed`` for an operator's record that this caller may not touch,
    ``UsageError`` without a witness, ``Invalid``, and ``Conflict`` when the record was changed
    meanwhile.
    """
    order = _Order(
        source=checked_source(source),
        evidence=_checked_evidence(evidence),
        attachments=checked_evidence(ws, evidence_files, where),
        check_by=check_by,
        reanchor=reanchor,
    )
    one = ws.read(lambda _: on_disk(ws, typed))
    _refuse(ws, one.record, order, override=override_operator)
    look = _looked(ws, where, one.record, order)
    if look.trouble is not None:
        return _reply(ws, one.record, one.path, order, look, NEEDS_REVIEW)
    after = _verified(ws, one.record, order, look)
    change = change_to(ws, one, after)
    with ws.writing():
        # The code was looked at without the lock; what was read then must still be there.
        if ws.read(lambda _: on_disk(ws, one.record.id)).data != one.data:
            raise Conflict(f"{one.path} was changed meanwhile", hint="run the command again")
        keep_evidence(ws, order.attachments)
        keep_current(ws.root)
        journal.apply(ws.root, [change], after.id)
    return _reply(ws, after, path_of(change), order, look, VERIFIED)


def _refuse(ws: Workspace, record: Record, order: _Order, *, override: bool) -> None:
    if record.kind is Kind.QUESTION:
        raise UsageError(
            f"{record.id} is a question, which is not verified",
            hint=f"`memspec question {record.id}` shows how its answers stand",
        )
    if record.kind is Kind.OBSERVATION and order.check_by is not None:
        raise UsageError("an observation has no review date: it expires")
    ws.read(lambda db: refuse_inactive(db, record))
    refuse_operator(ws, order.act, [record], source=order.source, override=override)


def _looked(ws: Workspace, where: Surroundings, record: Record, order: _Order) -> _Look:
    """Check the anchors, take those again that changed if that was asked, and judge."""
    drift = verdicts_on(ws, where, record.anchors)
    notes = list(_notes(drift, reanchor=order.reanchor))
    anchors, reanchored, lost = list(record.anchors), [], []
    if order.reanchor:
        for position, (anchor, verdict) in enumerate(zip(record.anchors, drift, strict=True)):
            if verdict.verdict in ("unchanged", "unchecked"):
                continue
            found = taken_again(ws, where, anchor, verdict.place)
            if isinstance(found, Unresolved):
                lost.append(f"{_word(verdict)}: {found.reason}")
            else:
                anchors[position] = found.anchor
                reanchored.append(_word(verdict))
                notes += found.notes
                if (now := shown(found.anchor)) != _word(verdict):
                    notes.append(f"{_word(verdict)} is recorded as {now} now")
    look = _Look(
        drift=drift,
        anchors=each_once(anchors),
        reanchored=tuple(reanchored),
        notes=tuple(notes),
    )
    return replace(look, trouble=_trouble(record, order, look, lost))


def _trouble(
    record: Record, order: _Order, look: _Look, lost: Sequence[str]
) -> tuple[str, str] | None:
    """Why the record cannot be verified as it is, and what can be done."""
    if lost:
        again = f"`memspec anchor {record.id} PATH --replace` names other code; or supersede it"
        return f"cannot be anchored again to {'; '.join(lost)}", again
    alarms = [] if order.reanchor else [one for one in look.drift if one.is_alarm]
    if alarms:
        told = "; ".join(_told(one) for one in alarms)
        return told, "if it still holds, --reanchor takes the code as it is; if not, supersede it"
    unchecked = [one for one in look.drift if one.verdict == "unchecked"]
    if unchecked and not order.says_something:
        told = "; ".join(_told(one) for one in unchecked)
        return told, "say what was looked at instead: --evidence"
    if not record.anchors and not order.says_something:
        raise UsageError(
            f"{record.id} has no anchors, so say what you looked at",
            hint='--evidence "what I saw" or --evidence-file FILE; `memspec anchor` adds anchors',
        )
    return None


def _notes(drift: Iterable[Drift], *, reanchor: bool) -> Iterable[str]:
    for one in drift:
        if one.verdict == "moved" and not reanchor:
            yield f"{_word(one)} is now {one.place or 'elsewhere'}; --reanchor records that"
        elif one.verdict == "unchecked":
            yield _told(one)
        elif one.verdict == "unchanged" and one.held_on not in (None, "worktree"):
            yield f"{_word(one)} holds on {one.held_on}; this checkout's copy differs"


def _verified(ws: Workspace, record: Record, order: _Order, look: _Look) -> Record:
    now = ws.now()
    trace: dict[str, Plain] = {"at": now, "source": order.source}
    if order.evidence is not None:
        trace["evidence"] = order.evidence
    if is_override(ws, order.act, record, order.source):
        trace["override_operator"] = "true"
    ext = with_anchors(record, look.anchors, at=now, source=order.source)
    return replace(
        record,
        anchors=look.anchors,
        evidence=_with_new(record.evidence, order.attachments),
        verified_with=_witness(ws, order, look),
        last_verified=now,
        check_by=_check_by(ws, record, order),
        ext={**ext, "last_verification": trace},
    )


def _witness(ws: Workspace, order: _Order, look: _Look) -> Witness:
    if look.is_witness:
        return Witness.ANCHOR
    theirs = tier(ws, order.source) is SourceKind.OPERATOR
    return Witness.OPERATOR if theirs else Witness.EVIDENCE


def _check_by(ws: Workspace, record: Record, order: _Order) -> str | None:
    if record.kind is not Kind.CLAIM:
        return record.check_by
    if order.check_by is None and record.check_by == NEVER:
        return NEVER
    return review_date(ws, record.label, order.check_by)


def _with_new(kept: tuple[Evidence, ...], new: Sequence[Attachment]) -> tuple[Evidence, ...]:
    known = {one.path or one.url for one in kept}
    return (*kept, *(one.entry for one in new if (one.entry.path or one.entry.url) not in known))


def _checked_evidence(text: str | None) -> str | None:
    """What was looked at, as it is kept; raises ``Invalid`` for a blank or a very long text."""
    if text is None:
        return None
    clean = " ".join(checked_text("evidence", text).split())
    if not clean or len(clean) > _LONGEST_EVIDENCE:
        message = f"evidence should say something, in at most {_LONGEST_EVIDENCE} characters"
        raise invalid([Finding(code="bad-value", field="evidence", message=message)])
    return clean


def _word(one: Drift) -> str:
    return one.anchor if one.repo is None else f"{one.repo}/{one.anchor}"


def _told(one: Drift) -> str:
    return f"{_word(one)} {one.verdict}" + (f" ({one.reason})" if one.reason else "")


def _reply(
    ws: Workspace, record: Record, path: str, order: _Order, look: _Look, status: str
) -> Verified:
    done = status == VERIFIED
    return Verified(
        store=str(ws.root),
        id=record.id,
        path=path,
        title=record.title,
        status=status,
        reason=None if look.trouble is None else look.trouble[0],
        hint=None if look.trouble is None else look.trouble[1],
        source=order.source,
        verified_with=record.verified_with.value,
        last_verified=record.last_verified,
        check_by=record.check_by,
        evidence=tuple(one.entry.path or one.entry.url or "" for one in order.attachments)
        if done
        else (),
        drift=look.drift,
        reanchored=look.reanchored if done else (),
        notes=look.notes,
    )
