"""The score of a hit, with its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memspec_py.clock import age_days
from memspec_py.record.words import Type

if TYPE_CHECKING:
    from datetime import datetime

# How much a match weighs by where it is. Measured on four public collections (BENCHMARK.md).
TITLE_WEIGHT = 2.0
TAGS_WEIGHT = 1.5
BODY_WEIGHT = 1.0

# Days after which a record's freshness has halved; what changes faster ages faster.
HALF_LIFE_DAYS = {
    Type.DECISION.value: 180.0,
    Type.PROCEDURE.value: 90.0,
    Type.FACT.value: 45.0,
    "observation": 7.0,
}


# FTS5 divides by 0.25 + 0.75 * relative length, which makes short records win by being short. The
# correction replaces that by 0.6 + 0.4 * relative length, for a term that occurs twice.
_K1 = 1.2
_FTS5_B = 0.75
_OUR_B = 0.4
_FREQUENCY = 2.0


class Sizes(NamedTuple):
    """Words in the title, the tags and the body of a record, or their averages over a store."""

    title: float
    tags: float
    body: float

    def plain(self) -> float:
        """The length FTS5 divides by."""
        return self.title + self.tags + self.body

    def weighted(self) -> float:
        """The length with each part counted as much as it weighs."""
        return self.title * TITLE_WEIGHT + self.tags * TAGS_WEIGHT + self.body * BODY_WEIGHT


class Score(NamedTuple):
    """Why a hit stands where it stands.

    ``tier`` is ``all`` for records that carry every term and ``some`` for the rest, which always
    come after. Within a tier ``total = text * length * (1 + recency * freshness)``: BM25, the
    correction for length, and the preference for fresh records.
    """

    tier: str
    text: float
    length: float
    recency: float
    freshness: float

    @property
    def total(self) -> float:
        """The number hits are ordered by within their tier."""
        return self.text * self.length * (1.0 + self.recency * self.freshness)


def freshness(label: str, verified: str, now: datetime) -> float:
    """From 1 for a record verified this instant towards 0, by the half-life of its type."""
    half_life = HALF_LIFE_DAYS.get(label, HALF_LIFE_DAYS["fact"])
    power: float = 0.5 ** (age_days(now, verified) / half_life)
    return power


def length_correction(sizes: Sizes, averages: Sizes) -> float:
    """The factor that softens BM25's preference for short records."""
    plain = _norm(_FTS5_B, sizes.plain(), averages.plain())
    weighted = _norm(_OUR_B, sizes.weighted(), averages.weighted())
    return (_FREQUENCY + _K1 * plain) / (_FREQUENCY + _K1 * weighted)


def sizes_of(text: str) -> Sizes:
    """Averages as the index keeps them; ones for an empty index."""
    return Sizes(*map(float, text.split())) if text else Sizes(1.0, 1.0, 1.0)


def _norm(b: float, length: float, average: float) -> float:
    return 1 - b + b * (length / average if average else 1.0)
