"""Texts that a supersede replaced or retracted, and the refusal to write them again.

Compared are whole titles and whole bodies, after folding Unicode form, case, accents and white
space. It is a guard against the same words coming back, not against the same thought.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memspec_py.acts.inputs import checked_text, invalid
from memspec_py.errors import UsageError, Withdrawn
from memspec_py.index.query import parse_query
from memspec_py.report import Finding
from memspec_py.text import fold, unspaced_runs, words

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from memspec_py.record.model import Plain, Record
    from memspec_py.workspace import Workspace

# A text of fewer words ("Decision", "Auth") is a topic; it is only compared together with the rest.
_FEWEST_WORDS = 3
_FEWEST_UNSPACED = 6
_ALL = "universal"
# So many words of a text are enough to look up who may have said it.
_LOOKED_UP = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """A superseded record that said it; ``reason`` says why it does not hold any more."""

    id: str
    title: str
    reason: str
    heirs: tuple[str, ...]


def statements(title: str, body: str) -> frozenset[str]:
    """What a record says, ready to be compared: its title, its body, and both as one."""
    parts = _folded(title), _folded(body)
    return frozenset({"\n".join(parts), *filter(_says_something, parts)})


class Tombstones:
    """What the superseded records of some stores said; the indexes must be current and stay so.

    For one record, those are enough that have all its first words; for a batch, it is cheaper to
    look at every one of them once.
    """

    def __init__(self, dbs: Sequence[sqlite3.Connection], record: Record | None = None) -> None:
        self._dbs = dbs
        self._said: dict[str, list[tuple[str, str, str | None]]] = {}
        for id_, scope, title, body in (row for db in dbs for row in _superseded(db, record)):
            # What says too little for a statement is sorted out on the other side.
            parts = _folded(title), _folded(body)
            for statement in {"\n".join(parts), *parts}:
                self._said.setdefault(statement, []).append((id_, title, scope))

    def repeated_in(self, record: Record, before: Record | None = None) -> tuple[Past, ...]:
        """The superseded records whose text a record repeats; what ``before`` said is no news.

        A text that the heir of the superseded record kept is not withdrawn. Records of another
        scope are left out.
        """
        new = statements(record.title, record.body)
        if before is not None:
            new -= statements(before.title, before.body)
        found: dict[str, Past] = {}
        for statement in sorted(new):
            for id_, title, scope in self._said.get(statement, ()):
                if id_ in found or id_ == record.id or scope not in (None, _ALL, record.scope):
                    continue
                past = _past(self._dbs, id_, title)
                if not any(statement in self._kept(heir) for heir in past.heirs):
                    found[id_] = past
        return tuple(found[id_] for id_ in sorted(found))

    def _kept(self, heir: str) -> frozenset[str]:
        rows = (db.execute(_TEXT, (heir,)).fetchone() for db in self._dbs)
        row = next(filter(None, rows), None)
        return frozenset() if row is None else statements(*row)


def withdrawn_in(ws: Workspace, record: Record, before: Record | None = None) -> tuple[Past, ...]:
    """The superseded records whose text one record repeats, as ``Tombstones.repeated_in``."""
    return Tombstones(ws.indexes(), record).repeated_in(record, before)


def with_reason(record: Record, past: Sequence[Past], *, force: bool, reason: str | None) -> Record:
    """The record, with the reason why it may say again what was withdrawn kept in ``ext.forced``.

    Raises ``Withdrawn`` when that is not forced, or no reason is given.
    """
    if not past:
        return record
    if not force or reason is None:
        raise _refused(past)
    trace: dict[str, Plain] = {"reason": reason, "past": [one.id for one in past]}
    return replace(record, ext={**record.ext, "forced": trace})


def force_reason(*, force: bool, reason: str | None) -> str | None:
    """The reason given for forcing, as it is kept; raises ``UsageError`` or, blank, ``Invalid``."""
    if reason is None:
        return None
    if not force:
        raise UsageError("a reason belongs to --force")
    return checked_reason(reason)


def checked_reason(reason: str) -> str:
    """A reason as it is kept; raises ``Invalid`` for a blank one."""
    clean = " ".join(checked_text("reason", reason).split())
    if not clean:
        message = "the reason is blank"
        raise invalid([Finding(code="missing-text", field="reason", message=message)])
    return clean


_SUPERSEDED = (
    "select id, scope, json_extract(head, '$.title'), body from shown"
    " where state = 'superseded' and shadowed = 0"
)
_TEXT = "select json_extract(head, '$.title'), body from shown where id = ? and shadowed = 0"
_WHY = "select json_extract(head, '$.supersede_reason') from shown where id = ? and shadowed = 0"
_BY = (
    "select e.target from edges e join records r on r.path = e.path and r.shadowed = 0"
    " where e.source = ? and e.type = 'superseded_by' order by e.position"
)


def _superseded(
    db: sqlite3.Connection, record: Record | None
) -> list[tuple[str, str | None, str, str]]:
    """Id, scope, title and body of superseded records: all, or those that may say the same."""
    keys: set[int] = set()
    for text in () if record is None else filter(None, (record.title, record.body)):
        query = parse_query(text, _LOOKED_UP)
        if not query.terms:
            record = None  # nothing to look up by
            break
        rows = db.execute(
            "select rowid from past_words where past_words match ?", (query.all_terms(),)
        )
        keys.update(key for (key,) in rows)
    among = "" if record is None else f" and key in ({', '.join(map(str, keys))})"
    return db.execute(f"{_SUPERSEDED}{among} order by id").fetchall()


def _past(dbs: Sequence[sqlite3.Connection], id_: str, title: str) -> Past:
    # Of several layers that have the id, the first counts.
    ((reason,), db) = next((row, db) for db in dbs for row in db.execute(_WHY, (id_,)).fetchall())
    heirs = tuple(heir for (heir,) in db.execute(_BY, (id_,)))
    return Past(id=id_, title=title, reason=reason or "no reason was kept", heirs=heirs)


def _folded(text: str) -> str:
    return " ".join(fold(text).split()).removesuffix(".")


def _says_something(folded: str) -> bool:
    return len(words(folded)) >= _FEWEST_WORDS or any(
        len(run) >= _FEWEST_UNSPACED for run in unspaced_runs(folded)
    )


def _refused(past: Sequence[Past]) -> Withdrawn:
    first = past[0]
    by = f"superseded by {' and '.join(first.heirs)}" if first.heirs else "retracted"
    return Withdrawn(
        f'{first.id} "{first.title}" said this and was {by}: {first.reason}',
        hint=f"read it with `memspec get {first.id}`; if it holds all the same, repeat the command"
        " with --force and say why with --reason",
        details={
            "withdrawn": [
                {
                    "id": one.id,
                    "title": one.title,
                    "reason": one.reason,
                    "heirs": list(one.heirs),
                }
                for one in past
            ]
        },
    )
