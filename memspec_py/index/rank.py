"""The score of a hit, with its parts."""

from __future__ import annotations

from math import log
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
# What FTS5 gives a phrase that half of all records have, or more.
_LEAST_IDF = 1e-6
# Each weight is a multiple of this, and so is every weighted frequency.
_WEIGHT_STEP = 0.5


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


def idf(records: int, carrying: int) -> float:
    """How much a phrase tells that so many of the records have, as FTS5 has it."""
    found = log((records - carrying + 0.5) / (carrying + 0.5))
    return found if found > 0 else _LEAST_IDF


def phrase_score(weight: float, frequency: float, length: int, average: float) -> float:
    """What a phrase adds to BM25's score of a record: FTS5's formula, step by step.

    ``weight`` is the phrase's ``idf``, ``frequency`` how often it occurs, weighted by where, and
    ``length`` the record's tokens, ``average`` those of all records.
    """
    return weight * (frequency * (_K1 + 1) / (frequency + _bias(length, average)))


def frequency_behind(score: float, weight: float, length: int, average: float) -> float:
    """The weighted frequency that makes this ``phrase_score``."""
    share = score / (weight * (_K1 + 1))
    found = share * _bias(length, average) / (1 - share)
    return round(found / _WEIGHT_STEP) * _WEIGHT_STEP


def sizes_of(text: str) -> Sizes:
    """Averages as the index keeps them; ones for an empty index."""
    return Sizes(*map(float, text.split())) if text else Sizes(1.0, 1.0, 1.0)


def _bias(length: int, average: float) -> float:
    return _K1 * (1 - _FTS5_B + _FTS5_B * length / average)


def _norm(b: float, length: float, average: float) -> float:
    return 1 - b + b * (length / average if average else 1.0)
