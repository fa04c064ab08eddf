"""What a record is worth to somebody who starts to work: a number with its parts.

As far as the index alone knows it, SQL orders by the same number, so that of ten thousand records
only the best are looked at.
"""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.index.rank import HALF_LIFE_DAYS, freshness
from memspec_py.record.words import Type, Witness

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from memspec_py.views.hit import Hit

TYPES = {
    Type.DECISION.value: 1.0,
    Type.PROCEDURE.value: 0.9,
    Type.FACT.value: 0.8,
    "observation": 0.4,
}
# An anchor that holds and the word of an operator count the same.
_WITNESSES = {
    Witness.ANCHOR.value: 1.2,
    Witness.OPERATOR.value: 1.2,
    Witness.EVIDENCE.value: 1.1,
    Witness.ASSERTION.value: 1.0,
}
_STALE = 0.7
_DRIFTED = 0.5
_USE = 0.25


class Worth(NamedTuple):
    """The parts, each a factor of ``total``.

    ``freshness`` halves in 180 days for a decision, 90 for a procedure, 45 for a fact and 7 for an
    observation. ``use`` grows with the sittings of the last 30 days in which somebody asked for the
    record. ``witness`` is by how it was attested, ``soundness`` below 1 for a record that is stale
    or has an anchor that drifted.
    """

    type: float
    freshness: float
    use: float
    witness: float
    soundness: float

    @property
    def total(self) -> float:
        """The number records are ordered by."""
        return self.type * self.freshness * self.use * self.witness * self.soundness

    def told(self) -> dict[str, object]:
        """The parts for ``--explain``, with four significant digits."""
        parts = {"total": self.total, **self._asdict()}
        return {name: float(f"{value:.4g}") for name, value in parts.items()}


def worth_of(hit: Hit, sittings: int, now: datetime) -> Worth:
    """What a record is worth now; an anchor that nobody could check is no more than evidence."""
    weak = hit.verified_with == Witness.ANCHOR and (hit.anchor_unchecked or hit.drifted)
    witness = Witness.EVIDENCE.value if weak else hit.verified_with
    return Worth(
        type=TYPES.get(hit.type, 0.0),
        freshness=freshness(hit.type, hit.last_verified or hit.created, now),
        use=1 + _USE * log2(1 + sittings),
        witness=_WITNESSES[witness],
        soundness=(_STALE if hit.stale else 1.0) * (_DRIFTED if hit.drifted else 1.0),
    )


def best_first() -> str:
    """The order of records ``r`` by worth, without use and soundness.

    A product sorts as the sum of its logarithms, and SQLite has no powers everywhere.
    """
    age = "max(0.0, julianday(:now) - julianday(r.fresh))"
    return (
        f"{_choice('r.label', _logarithms(TYPES))}"
        f" + {_choice('r.witness', _logarithms(_WITNESSES))}"
        f" - {age} / {_choice('r.label', HALF_LIFE_DAYS)}"
        " desc, r.created desc, r.id"
    )


def _logarithms(weights: Mapping[str, float]) -> dict[str, float]:
    return {name: log2(weight) for name, weight in weights.items()}


def _choice(column: str, values: Mapping[str, float]) -> str:
    cases = " ".join(f"when '{name}' then {value}" for name, value in values.items())
    return f"case {column} {cases} end"
