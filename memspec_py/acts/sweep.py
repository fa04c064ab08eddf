"""Take out of use what is stale or expired: the one way in which records go, one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memspec_py.acts.changing import OnDisk, change_to, path_of
from memspec_py.acts.permission import ruling
from memspec_py.anchors.blob import is_same
from memspec_py.errors import Conflict, Invalid, UsageError
from memspec_py.record.frontmatter import Unreadable
from memspec_py.record.model import SourceKind, State, is_expired, is_stale
from memspec_py.record.parse import parse_record
from memspec_py.store import files, journal
from memspec_py.store.gitignore import keep_current
from memspec_py.trust.channel import Channel
from memspec_py.trust.source import checked_source
from memspec_py.trust.tiers import Act, permits

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable

    from memspec_py.record.model import Plain, Record
    from memspec_py.store.resolve import Surroundings
    from memspec_py.workspace import Workspace

_ANSWERS = ("y", "n", "q")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A record that could be retired, and why; ``obstacle`` says what keeps it from that."""

    id: str
    type: str
    title: str
    source: str
    path: str
    reason: str
    obstacle: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What became of a candidate.

    ``outcome`` is ``retired`` (``path`` is where it is now), ``kept``, ``refused`` when it should
    have been retired, ``skipped`` when nobody was asked (``why`` says what keeps it), or ``left``
    when the asking had ended.
    """

    id: str
    type: str
    title: str
    reason: str
    path: str
    outcome: str
    why: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """Every candidate, longest overdue first, and what became of it; a dry run asks nothing.

    ``unknown`` are ids that were answered for and are no candidates.
    """

    store: str
    dry_run: bool
    count: int
    retired: int
    refused: int
    records: tuple[Decided, ...]
    unknown: tuple[str, ...]


def sweep(
    ws: Workspace,
    where: Surroundings,
    decide: Callable[[Candidate], str] | Mapping[str, str] | None,
    *,
    source: str,
    override_operator: bool = False,
    force: bool = False,
) -> Swept:
    """Retire stale claims and expired observations into the archive, each by an answer of its own.

    ``decide`` is asked, or has the answers by id: ``y``, ``n`` (as when there is none), or ``q``,
    which ends it. Each answer is carried out before the next is asked for; without ``decide`` it is
    a dry run. A record whose file git has not committed as it is, so that it could not be got back,
    stays (unless ``force``); so does an operator's (unless ``override_operator``).
    Raises ``UsageError`` for any other answer, of those by id before anything is done.
    """
    name = checked_source(source)
    given = (
        {id_: _checked(one) for id_, one in decide.items()} if isinstance(decide, Mapping) else {}
    )
    committed = _Committed(ws, where)
    theirs = _operators(ws, name, override=override_operator)
    candidates = ws.read(lambda db: _candidates(ws, db, committed, theirs=theirs, force=force))
    records: list[Decided] = []
    ended = decide is None
    for one in candidates:
        if callable(decide) and not ended and one.obstacle is not None:
            records.append(_decided(one, "skipped", one.obstacle))
            continue
        answer = "q"
        if not ended:
            answer = _checked(decide(one)) if callable(decide) else given.get(one.id, "n")
            ended = answer == "q"
        if answer != "y":
            why = one.obstacle if decide is None else None
            records.append(_decided(one, "left" if ended else "kept", why))
        elif one.obstacle is not None:
            records.append(_decided(one, "refused", one.obstacle))
        else:
            records.append(_retired(ws, one, name, None if force else committed))
    ids = {one.id for one in candidates}
    return Swept(
        store=str(ws.root),
        dry_run=decide is None,
        count=len(records),
        retired=sum(one.outcome == "retired" for one in records),
        refused=sum(one.outcome == "refused" for one in records),
        records=tuple(records),
        unknown=tuple(id_ for id_ in given if id_ not in ids),
    )


class _Committed:
    """What git would give back of the store's files."""

    def __init__(self, ws: Workspace, where: Surroundings) -> None:
        from memspec_py.anchors.git import Git
        from memspec_py.anchors.locate import repository_of

        real = ws.root.resolve()
        self._top = repository_of(real.parent)
        self._git = None if self._top is None else Git(str(self._top), where.env)
        self._prefix = "" if self._top is None else f"{real.relative_to(self._top).as_posix()}/"
        self._ids: dict[str, str] = {}

    def look(self, paths: Iterable[str]) -> None:
        """Ask about some files of the store at once, as the last commit has them."""
        asked = [self._prefix + path for path in paths]
        if self._git is not None and asked:
            self._ids |= self._git.blobs_at("HEAD", asked) or {}

    def lacks(self, path: str, data: bytes) -> str | None:
        """Why a file could not be got back; None when the last commit has just these bytes."""
        if self._git is None:
            return "the store is in no git repository, so it could not be got back"
        sha = self._ids.get(self._prefix + path)
        if sha is None:
            return "git has not committed it, so it could not be got back"
        return None if is_same(sha, data) else "git has committed another version of it"


def _operators(ws: Workspace, source: str, *, override: bool) -> str | None:
    """What keeps this caller from retiring the operator's records; None when nothing does."""
    if permits(ruling(ws, Act.SWEEP, source), override=override):
        return None
    if ws.channel is Channel.MCP:
        return "it is the operator's, who retires it on the command line"
    return "it is the operator's (--override-operator)"


def _candidates(
    ws: Workspace,
    db: sqlite3.Connection,
    committed: _Committed,
    *,
    theirs: str | None,
    force: bool,
) -> list[Candidate]:
    rows = db.execute(_DUE, {"now": ws.now()}).fetchall()
    if not force:
        committed.look(path for path, *_ in rows)
    found = []
    for path, id_, label, title, source, tier, check_by, expires in rows:
        obstacle = None
        if tier == SourceKind.OPERATOR and theirs is not None:
            obstacle = theirs
        elif not force:
            obstacle = _lacking(ws, committed, path)
        found.append(
            Candidate(
                id=id_,
                type=label,
                title=title,
                source=source,
                path=path,
                reason=f"expired {expires}" if expires else f"to be checked by {check_by}",
                obstacle=obstacle,
            )
        )
    return found


_DUE = (
    "select path, id, label, json_extract(head, '$.title'), json_extract(head, '$.source'),"
    " json_extract(head, '$.source_kind'), check_by, expires from shown"
    " where shadowed = 0 and state = 'active' and"
    " ((kind = 'claim' and check_by <= :now) or (kind = 'observation' and expires <= :now))"
    " order by coalesce(expires, check_by), id"
)


def _lacking(ws: Workspace, committed: _Committed, path: str) -> str | None:
    try:
        return committed.lacks(path, files.read(ws.path_of(path)))
    except OSError as problem:
        return f"it cannot be read: {problem.strerror or problem}"


def _checked(answer: str) -> str:
    word = answer.strip().lower()
    if word not in _ANSWERS:
        raise UsageError(f"no answer {answer!r}", hint="answer y, n or q")
    return word


def _retired(ws: Workspace, one: Candidate, source: str, committed: _Committed | None) -> Decided:
    """Move one record into the archive, if it is still what was asked about."""
    with ws.writing():
        found = _still_due(ws, one)
        why = "it was changed meanwhile" if found is None else None
        if found is not None and committed is not None:
            why = committed.lacks(one.path, found.data)
        if found is None or why is not None:
            return _decided(one, "refused", why)
        after = replace(
            found.record, state=State.RETIRED, ext=_traced(ws, found.record, one, source)
        )
        try:
            change = change_to(ws, found, after)
            keep_current(ws.root)
            journal.apply(ws.root, [change], one.id)
        except (Conflict, Invalid) as problem:
            return _decided(one, "refused", problem.message)
    return replace(_decided(one, "retired", None), path=path_of(change))


def _still_due(ws: Workspace, one: Candidate) -> OnDisk | None:
    """The record as its file has it now; None when it is not there, or not due, any more."""
    try:
        data = files.read(ws.path_of(one.path))
        record = parse_record(data, ws.settings.limits)
    except (OSError, Unreadable):
        return None
    now = ws.now()
    due = is_stale(record.kind, record.state, record.check_by, now) or (
        record.state is State.ACTIVE and is_expired(record.kind, record.expires, now)
    )
    return OnDisk(record=record, path=one.path, data=data) if due and record.id == one.id else None


def _traced(ws: Workspace, record: Record, one: Candidate, source: str) -> Mapping[str, Plain]:
    trace: dict[str, Plain] = {"by": source, "at": ws.now(), "reason": one.reason}
    if record.source_kind is SourceKind.OPERATOR:
        trace["override_operator"] = "true"
    return {**record.ext, "retired": trace}


def _decided(one: Candidate, outcome: str, why: str | None) -> Decided:
    return Decided(
        id=one.id,
        type=one.type,
        title=one.title,
        reason=one.reason,
        path=one.path,
        outcome=outcome,
        why=why,
    )
