"""How the answers of a question stand: which hold, which are gone, which nobody here knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memspec_py.record.words import Kind, State, is_expired

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

_MOST_STEPS = 1_000


class Standing(NamedTuple):
    """The answers of a question, sorted out.

    ``holding`` are active records: an answer, or what superseded it. ``gone`` are answers that were
    retracted or retired, or whose place another answer took. ``unknown`` are not in this store, or
    expired.
    """

    holding: tuple[str, ...]
    gone: tuple[str, ...]
    unknown: tuple[str, ...]

    @property
    def survivor(self) -> str | None:
        """The one that is left when every other answer is certainly gone."""
        return self.holding[0] if len(self.holding) == 1 and not self.unknown else None


def standing(db: sqlite3.Connection, answers: Iterable[str], now: str) -> Standing:
    """Follow each answer to what holds in its place today."""
    holding: list[str] = []
    gone: list[str] = []
    unknown: list[str] = []
    given = tuple(dict.fromkeys(answers))
    for answer in given:
        ends, lost = _ends(db, answer, now)
        unknown += [one for one in lost if one not in unknown]
        if answer not in ends and not lost and (not ends or set(ends) & set(given)):
            gone.append(answer)
        holding += [one for one in ends if one not in holding]
    return Standing(tuple(holding), tuple(gone), tuple(unknown))


def _ends(db: sqlite3.Connection, answer: str, now: str) -> tuple[list[str], list[str]]:
    """The active records at the ends of a record's chain, and those of it that are not here."""
    seen, level = {answer}, [answer]
    active: list[str] = []
    lost: list[str] = []
    while level and len(seen) < _MOST_STEPS:
        following: list[str] = []
        for id_ in level:
            row = db.execute(_STATE, (id_,)).fetchone()
            if row is None or is_expired(row[1], row[2], now):
                lost.append(id_)
            elif row[0] == State.ACTIVE and row[1] != Kind.QUESTION:
                active.append(id_)
            elif row[0] == State.SUPERSEDED:
                following += [heir for (heir,) in db.execute(_HEIRS, (id_,)) if heir not in seen]
                seen.update(following)
        level = following
    return active, lost


_STATE = "select state, kind, expires from records where id = ? and shadowed = 0"
_HEIRS = (
    "select e.target from edges e join records r on r.path = e.path and r.shadowed = 0"
    " where e.source = ? and e.type = 'superseded_by' order by e.position"
)
