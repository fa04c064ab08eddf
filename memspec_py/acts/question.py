"""Questions: a name for what several records answer, and how it was resolved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memspec_py.acts.changing import change_to, on_disk, refuse_inactive
from memspec_py.acts.inputs import checked_body, checked_scope, checked_tags, checked_title
from memspec_py.acts.permission import is_override, refuse_operator, tier, with_override
from memspec_py.acts.writing import checked, fresh_id, put
from memspec_py.errors import Refused, UsageError
from memspec_py.index.answers import standing
from memspec_py.record.model import Kind, Record, State
from memspec_py.store import journal
from memspec_py.store.gitignore import keep_current
from memspec_py.trust.source import checked_source
from memspec_py.trust.tiers import Act

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from memspec_py.acts.changing import OnDisk
    from memspec_py.index.answers import Standing
    from memspec_py.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A record that answers a question; ``title`` and ``state`` are None when it is not here."""

    id: str
    title: str | None
    state: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question as it stands.

    ``answers`` are the records listed, ``holding`` what of them holds today: the active ones, and
    the heirs of superseded ones. ``survivor_id`` is the one that is left of a closed question.
    """

    store: str
    id: str
    path: str
    title: str
    source: str
    state: str
    closed: bool
    created: bool
    changed: bool
    answers: tuple[Answer, ...]
    holding: tuple[str, ...]
    unknown: tuple[str, ...]
    survivor_id: str | None
    resolved_by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionEdit:
    """What to change of a question: answers to add; then ``close``, ``open`` or ``resolve`` it."""

    add: Sequence[str] = ()
    close: bool = False
    open: bool = False
    resolve: bool = False


def ask(
    ws: Workspace,
    title: str,
    *,
    source: str,
    answers: Sequence[str] = (),
    closed: bool = False,
    body: str = "",
    tags: Sequence[str] = (),
    scope: str | None = None,
) -> Asked:
    """Write a question. ``closed`` says that its answers are the only candidates.

    Raises ``Invalid`` for a bad value, ``NotFound`` or ``NotActive`` for an answer that is not here
    or not in use, ``UsageError`` for one that is a question itself.
    """
    name = checked_source(source)
    record = Record(
        id=fresh_id(ws),
        kind=Kind.QUESTION,
        state=State.OPEN,
        title=checked_title(title),
        body=checked_body(body),
        created=ws.now(),
        source=name,
        source_kind=tier(ws, name),
        tags=checked_tags(tags),
        scope=checked_scope(ws, scope),
        closed=closed,
    )
    with ws.writing():
        record = replace(record, answers=ws.read(lambda db: _answer_ids(ws, db, answers)))
        path = put(ws, record, checked(ws, record))
        return ws.read(lambda db: _reply(ws, db, record, path, created=True, changed=True))


def change_question(
    ws: Workspace,
    typed: str,
    wanted: QuestionEdit,
    *,
    source: str = "agent",
    override_operator: bool = False,
) -> Asked:
    """Add answers to a question, close or open it, or resolve it; with nothing wanted, look at it.

    Resolving confirms what elimination left: it is refused (``Refused``) unless the question is
    closed and just one answer holds. ``source`` is who changes it. Opening a resolved question
    takes its resolution back. Raises ``NotAllowed`` for an operator's question that this caller may
    not change.
    """
    if wanted.open and (wanted.close or wanted.resolve):
        raise UsageError("a question is either opened, or closed and resolved")
    name = checked_source(source)
    with ws.writing():
        one, after = ws.read(lambda db: _changed(ws, db, typed, wanted, name))
        changed = after != one.record
        if changed:
            after = _permitted(ws, one.record, after, name, override=override_operator)
            keep_current(ws.root)
            journal.apply(ws.root, [change_to(ws, one, after)], after.id)
        return ws.read(lambda db: _reply(ws, db, after, one.path, created=False, changed=changed))


def answering(ws: Workspace, typed: str, answer: Record) -> tuple[str, journal.Change]:
    """The question's id, and its file with one more answer; for an act that writes both at once.

    The caller holds the lock. Raises ``Refused`` for a question that is resolved, and
    ``NotAllowed`` for the operator's when an agent answers.
    """
    one = _question(ws, typed)
    _refuse_resolved(one.record)
    refuse_operator(ws, Act.ANSWER_NEW, [one.record], source=answer.source)
    after = replace(one.record, answers=(*one.record.answers, answer.id))
    return after.id, change_to(ws, one, after)


def _permitted(
    ws: Workspace, before: Record, after: Record, source: str, *, override: bool
) -> Record:
    """The changed question, with the trace of an override; raises ``NotAllowed``."""
    refuse_operator(ws, Act.QUESTION, [before], source=source, override=override)
    if not is_override(ws, Act.QUESTION, before, source):
        return after
    return replace(after, ext=with_override(ws, Act.QUESTION, after.ext, source))


def _changed(
    ws: Workspace, db: sqlite3.Connection, typed: str, wanted: QuestionEdit, source: str
) -> tuple[OnDisk, Record]:
    one = _question(ws, typed)
    after = one.record
    if wanted.open:
        ext = {key: value for key, value in after.ext.items() if key != "resolved"}
        after = replace(after, state=State.OPEN, closed=False, resolved_by=None, ext=ext)
    elif wanted.close or wanted.add:
        _refuse_resolved(after)
    if wanted.close:
        after = replace(after, closed=True)
    if wanted.add:
        ids = (*after.answers, *_answer_ids(ws, db, wanted.add))
        after = replace(after, answers=tuple(dict.fromkeys(ids)))
    if wanted.resolve and after.state is not State.RESOLVED:
        after = _resolved(ws, db, after, source)
    return one, after


def _resolved(ws: Workspace, db: sqlite3.Connection, question: Record, source: str) -> Record:
    now = ws.now()
    found = standing(db, question.answers, now)
    missing, hint = _missing(question, found)
    if missing:
        raise Refused(
            f"{question.id} cannot be resolved: {missing}",
            hint=hint,
            details={"holding": list(found.holding), "unknown": list(found.unknown)},
        )
    return replace(
        question,
        state=State.RESOLVED,
        resolved_by=found.survivor,
        ext={**question.ext, "resolved": {"by": source, "at": now}},
    )


def _missing(question: Record, found: Standing) -> tuple[str, str]:
    """What a resolution by elimination still lacks, and what can be done; empty when nothing."""
    if not question.closed:
        return "it is not closed, so other answers may come", "--close says that none will"
    if found.unknown:
        return (
            f"{' and '.join(found.unknown)} cannot be looked at here",
            "it is on another branch, or an observation that expired",
        )
    if len(found.holding) > 1:
        return (
            f"{len(found.holding)} answers hold: {', '.join(found.holding)}",
            "supersede what does not hold",
        )
    return ("", "") if found.holding else ("none of its answers holds", "--add the one that does")


def _question(ws: Workspace, typed: str) -> OnDisk:
    one = on_disk(ws, typed)
    if one.record.kind is not Kind.QUESTION:
        raise UsageError(
            f"{one.record.id} is no question but a {one.record.label}",
            hint='`memspec search --type question ""` lists the questions',
        )
    return one


def _refuse_resolved(question: Record) -> None:
    if question.state is State.RESOLVED:
        raise Refused(
            f"{question.id} was resolved by {question.resolved_by}",
            hint=f"`memspec question {question.id} --open` takes that back",
        )


def _answer_ids(ws: Workspace, db: sqlite3.Connection, typed: Iterable[str]) -> tuple[str, ...]:
    """The records that may answer a question: in use, and no questions."""
    found = []
    for one in typed:
        record = on_disk(ws, one).record
        if record.kind is Kind.QUESTION:
            raise UsageError(f"{record.id} is a question itself, which answers nothing")
        refuse_inactive(db, record)
        found.append(record.id)
    return tuple(dict.fromkeys(found))


def _reply(
    ws: Workspace,
    db: sqlite3.Connection,
    question: Record,
    path: str,
    *,
    created: bool,
    changed: bool,
) -> Asked:
    found = standing(db, question.answers, ws.now())
    left = question.closed and question.state is State.OPEN
    return Asked(
        store=str(ws.root),
        id=question.id,
        path=path,
        title=question.title,
        source=question.source,
        state=question.state.value,
        closed=question.closed,
        created=created,
        changed=changed,
        answers=tuple(_answer(db, id_) for id_ in question.answers),
        holding=found.holding,
        unknown=found.unknown,
        survivor_id=found.survivor if left else None,
        resolved_by=question.resolved_by,
    )


def _answer(db: sqlite3.Connection, id_: str) -> Answer:
    row = db.execute(_SHOWN, (id_,)).fetchone()
    return Answer(id=id_, title=row and row[0], state=row and row[1])


_SHOWN = "select json_extract(head, '$.title'), state from shown where id = ? and shadowed = 0"
