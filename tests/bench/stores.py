"""Stores of any number of realistic records, the same ones every time.

Their words are invented, but their frequencies, lengths, tags, anchors, edges, identifiers and the
share of text without spaces are such as a project's memory has. Record number *i* depends on the
seed and on *i* alone, so records and the queries that should find them need no store in memory.
"""

from __future__ import annotations

import hashlib
import shutil
from bisect import bisect
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import accumulate
from random import Random
from typing import TYPE_CHECKING

from memspec_py.clock import instant
from memspec_py.config import DEFAULT_CONFIG
from memspec_py.ids import new_id
from memspec_py.record.model import Anchor, Kind, Record, SourceKind, State, Type, Witness
from memspec_py.record.parse import print_record
from memspec_py.store.layout import CONFIG, LOCAL, RECORD_FOLDERS, STORE_NAME, path_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

SEED = 1
START = datetime(2025, 1, 1, tzinfo=UTC)
_SPREAD = timedelta(days=600)

_VOCABULARY = 8_000
_IDENTIFIERS = 2_000
_SYLLABLES = "ba co de fi gu ha jo ke li mo na po qua re si tu ve wi xo ya zen tor mal lin".split()
_ENDINGS = ["", "", "", "s", "ed", "ing", "er", "tion"]
_SMALL_WORDS = "the of to and in is for that it with as on by be this from are or not when".split()
_UNSPACED = "索引在读取之前与文件比较 検索結果は常に出典を示す 데이터베이스 연결은 하나만".split()
_EXTENSIONS = ["py", "ts", "go", "sql", "md"]

# Of a hundred records: how a store in daily use is made up.
_MAKE_UP = (
    (52, Kind.CLAIM, Type.FACT, State.ACTIVE),
    (20, Kind.CLAIM, Type.DECISION, State.ACTIVE),
    (10, Kind.CLAIM, Type.PROCEDURE, State.ACTIVE),
    (8, Kind.OBSERVATION, None, State.ACTIVE),
    (6, Kind.CLAIM, Type.FACT, State.SUPERSEDED),
    (2, Kind.CLAIM, Type.DECISION, State.RETIRED),
    (2, Kind.QUESTION, None, State.OPEN),
)
_MAKE_UP_BOUNDS = list(accumulate(share for share, *_ in _MAKE_UP))


def make_store(folder: Path, count: int, seed: int = SEED) -> Path:
    """A folder with a store of so many records; the same one made earlier is used again."""
    sample = "".join(print_record(record_number(number, seed)) for number in range(3))
    digest = hashlib.sha256(sample.encode()).hexdigest()[:12]
    made = folder / f"store-{count}-{seed}-{digest}"
    if not made.exists():
        unfinished = made.with_suffix(".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        write_store(unfinished, (record_number(number, seed) for number in range(count)))
        unfinished.rename(made)
    return made


def write_store(folder: Path, records: Iterable[Record]) -> dict[str, Path]:
    """Make a store of these records below ``folder``; returns the file of each id."""
    root = folder / STORE_NAME
    for name in (*RECORD_FOLDERS, LOCAL):
        (root / name).mkdir(parents=True)
    (root / CONFIG).write_text(DEFAULT_CONFIG, encoding="utf-8")
    files: dict[str, Path] = {}
    parents = set()
    for record in records:
        path = root / path_of(record)
        if path.parent not in parents:
            path.parent.mkdir(parents=True, exist_ok=True)
            parents.add(path.parent)
        path.write_text(print_record(record), encoding="utf-8", newline="")
        files[record.id] = path
    return files


def seeded(seed: str) -> Random:
    """Chance that comes out the same every time."""
    return Random(seed)  # noqa: S311  it decides what is measured, and keeps no secret


def id_number(number: int, seed: int = SEED) -> str:
    """The id of a record, increasing with its number."""
    entropy = seed.to_bytes(4, "big") + number.to_bytes(6, "big")
    return new_id(START + timedelta(seconds=number), entropy)


def record_number(number: int, seed: int = SEED) -> Record:
    """One record of the invented project."""
    rng = seeded(f"{seed}/{number}")
    _, kind, type_, state = _MAKE_UP[bisect(_MAKE_UP_BOUNDS, rng.randrange(_MAKE_UP_BOUNDS[-1]))]
    created = START + rng.random() * _SPREAD
    is_claim, is_active = kind is Kind.CLAIM, state is State.ACTIVE
    anchors = tuple(_anchors(rng)) if is_claim and rng.random() < 0.6 else ()
    by_operator = rng.random() < 0.05
    earlier = [id_number(rng.randrange(number), seed) for _ in range(3)] if number else []
    return Record(
        id=id_number(number, seed),
        kind=kind,
        type=type_,
        state=state,
        title=_title(rng),
        body="\n\n".join(_paragraphs(rng)),
        created=instant(created),
        source="human:operator" if by_operator else rng.choice(["claude-code", "codex", "gemini"]),
        source_kind=SourceKind.OPERATOR if by_operator else SourceKind.AGENT,
        verified_with=Witness.ANCHOR if anchors else Witness.ASSERTION,
        tags=tuple(dict.fromkeys(_topic(rng) for _ in range(rng.randrange(1, 5)))),
        check_by=instant(created + timedelta(days=rng.choice([90, 180]))) if is_claim else None,
        last_verified=instant(created + timedelta(days=rng.randrange(60))) if anchors else None,
        expires=instant(created + timedelta(days=7)) if kind is Kind.OBSERVATION else None,
        requires_human=(_sentence(rng),) if type_ is Type.PROCEDURE and rng.random() < 0.2 else (),
        anchors=anchors,
        supersede_reason=_sentence(rng) if state is State.SUPERSEDED else None,
        answers=tuple(earlier[:2]) if kind is Kind.QUESTION else (),
        refines=tuple(earlier[:1]) if is_claim and is_active and rng.random() < 0.15 else (),
        depends_on=tuple(earlier[1:]) if is_claim and is_active and rng.random() < 0.15 else (),
    )


def queries(count: int, records: int, seed: int = SEED) -> list[str]:
    """Different questions that a store of so many records can answer, of two to four words."""
    rng = seeded(f"{seed}/queries")
    asked: dict[str, None] = {}
    while len(asked) < count:
        words = record_number(rng.randrange(records), seed).title.split()
        asked[" ".join(rng.sample(words, rng.randrange(2, 5)))] = None
    return list(asked)


def _title(rng: Random) -> str:
    words = _words(rng, rng.randrange(5, 9))
    if rng.random() < 0.4:
        words[rng.randrange(len(words))] = _identifier(rng)
    return " ".join(words).capitalize() if words[0].islower() else " ".join(words)


def _paragraphs(rng: Random) -> Iterator[str]:
    for _ in range(rng.randrange(1, 4)):
        yield " ".join(_sentence(rng) for _ in range(rng.randrange(3, 7)))
    if rng.random() < 0.03:
        yield rng.choice(_UNSPACED)


def _sentence(rng: Random) -> str:
    words = []
    for word in _words(rng, rng.randrange(7, 18)):
        chance = rng.random()
        if chance < 0.4:
            words.append(rng.choice(_SMALL_WORDS))
        words.append(f"`{_identifier(rng)}`" if chance > 0.95 else word)
    return " ".join(words).capitalize() + "."


def _anchors(rng: Random) -> Iterator[Anchor]:
    for _ in range(rng.randrange(1, 4)):
        yield Anchor(file=_path(rng), sha=rng.randbytes(20).hex())


def _topic(rng: Random) -> str:
    return _vocabulary()[0][rng.randrange(60)]


def _words(rng: Random, count: int) -> list[str]:
    words, weights = _vocabulary()
    return rng.choices(words, cum_weights=weights, k=count)


def _identifier(rng: Random) -> str:
    return _identifiers()[int(_IDENTIFIERS * rng.random() ** 2)]


@cache
def _vocabulary() -> tuple[Sequence[str], Sequence[float]]:
    """Invented words, the most frequent first, and their weights added up: Zipf's law."""
    rng = seeded("words")
    words: dict[str, None] = {}
    while len(words) < _VOCABULARY:
        stem = "".join(rng.choices(_SYLLABLES, k=rng.randrange(2, 4)))
        words[stem + rng.choice(_ENDINGS)] = None
    return tuple(words), tuple(accumulate(1 / (rank + 30) for rank in range(_VOCABULARY)))


@cache
def _identifiers() -> Sequence[str]:
    rng = seeded("identifiers")
    return tuple(_new_identifier(rng) for _ in range(_IDENTIFIERS))


def _new_identifier(rng: Random) -> str:
    form = rng.randrange(4)
    words = _words(rng, rng.randrange(2, 4))
    if form == 0:
        return words[0] + "".join(map(str.title, words[1:]))
    if form == 1:
        return "_".join(words)
    if form == 2:
        return "_".join(words).upper()
    return _path(rng)


def _path(rng: Random) -> str:
    folders = _words(rng, rng.randrange(1, 4))
    return f"src/{'/'.join(folders)}.{rng.choice(_EXTENSIONS)}"
