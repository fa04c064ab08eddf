"""Wording as the near-duplicate rule compares it: the words of meaning, each in one form."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from memspec_py.identifiers import identifiers
from memspec_py.text import FUNCTION_WORDS, NEGATIONS, fold, unspaced_runs, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

# What stands in the compared words for every negation, and for the joints of an enumeration.
NOT = "not"
AND = ","
OR = "or"
_DENYING = NEGATIONS | {"avoid", "avoids", "avoiding"}

# Words that may come and go without changing a claim. The other small words (only, was, then, from,
# in, by, if, must ...) are compared as strictly as nouns.
_FILLER = frozenset(
    """
    a also am an and are be currently do does doing has have having here i is it its itself just let
    lets of our ours please quite really s simply such t that the their theirs them these they this
    those too very we which who whom whose you your yours
    """.split()
)

# "one" is missing: it is a pronoun more often than a number.
_NUMBERS = {
    "zero": "0", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "fifteen": "15",
    "twenty": "20", "thirty": "30", "sixty": "60", "hundred": "100", "thousand": "1000",
}  # fmt: skip


def _first_for_each(table: str) -> dict[str, str]:
    """The first word of a row for every word of the row."""
    rows = [row.split() for row in table.strip().splitlines()]
    return {word: row[0] for row in rows for word in row}


# Read only behind a number, where ``m`` and ``min`` are no other words.
_UNITS = _first_for_each(
    """
    millisecond milliseconds msec ms
    second seconds secs sec s
    minute minutes mins min m
    hour hours hrs hr h
    day days d
    kilobyte kilobytes kb
    megabyte megabytes mb
    gigabyte gigabytes gb
    """
)

# Words that mean the same in any claim about software, with the forms that stemming cannot join.
_SYNONYMS = _first_for_each(
    """
    use used using adopt choose chose chosen
    delete remove
    config configuration
    repo repository
    db database
    env environment
    doc documentation
    directory dir folder
    app application
    param parameter
    arg argument
    maximum max
    minimum min
    production prod
    development dev
    kubernetes k8s
    postgres postgresql
    all every each
    must shall
    instead rather
    expire expiry expiration
    """
)

# Words whose exchange turns a claim into another, however much else agrees.
_OPPOSITES = """
    enable/disable allow/deny allow/forbid allow/block permit/forbid accept/reject true/false yes/no
    before/after minimum/maximum add/delete insert/delete sync/async synchronous/asynchronous
    left/right front/back single/multiple read/write reader/writer client/server input/output in/out
    up/down open/close on/off
    start/stop start/end first/last old/new oldest/newest public/private internal/external
    local/remote staging/production development/production test/production staging/development
    upper/lower increase/decrease raise/lower more/less most/least above/below over/under from/to
    always/sometimes all/some must/may must/should push/pull get/set encrypt/decrypt encode/decode
    upload/download upgrade/downgrade include/exclude inbound/outbound request/response lock/unlock
    primary/secondary primary/replica parent/child source/target ascending/descending
    frontend/backend optional/required optional/mandatory mutable/immutable valid/invalid
    success/failure pass/fail slow/fast high/low hot/cold short/long manual/automatic hard/soft
    linux/windows linux/macos windows/macos ios/android tcp/udp row/column commit/rollback
    import/export
    """

# Before a word that stands without it in the other claim, one of these is a negation too.
_NEGATING_PREFIXES = ("un", "in", "im", "ir", "dis", "non", "de", "mis", "a")

# They end like plurals and are none, or their singular is something else.
_NO_PLURALS = frozenset(
    "https ftps ldaps imaps mqtts always perhaps series kubernetes macos chaos".split()
)
_VOWELS = frozenset("aeiouy")
_SHORT = 3  # letters; shorter words have no endings to take off

# Patterns stay text until they are needed: compiling all of them costs every write 3 ms.
_CONTRACTION = (
    r"\b(?:(can)(?:not|['\u2019\u02bc ]?t)"
    r"|(do|does|did|is|are|was|were|has|have|had|should|could|would|must)n['\u2019\u02bc ]?t"
    r"|(wo)n['\u2019\u02bc ]t)\b"
)
_MEANT_SIGN = r"[\d<>!+#]"
_THOUSANDS = r"(?<=\d)[,_](?=\d{3}(?!\d))"
_VERSION = r"\b(?:versions?|v)[ .]?(?=\d)"
_QUANTITY = r"(\d)(%|[kmg]b|ms(?:ec)?|secs?|mins?|hrs?|[smhd])(?!\w)"
_MINUS = r"(?<![^\s(=])[-\u2212](?=\d)"
_COMPARISON = r"(?<=\s)(?:<=|>=|!=|<|>)(?=\s+\w|\d)"
_COMPARED = {"<": "under", ">": "over", "<=": "atmost", ">=": "atleast", "!=": NOT}
_SIGNED_LANGUAGE = r"\b([a-z])(\+\+|#)(?!\w)"
_SPELT_SIGN = {"++": "pp", "#": "sharp"}
_JOINT = r",(?=\s)|[&+]"
_NUMBER_OR_WORD = rf"(?<![^\W\d_])\d+(?:\.\d+)*|\b(?:{'|'.join(_NUMBERS)})\b"
_ONLY_NUMBER = r"(?i)v?[\d.]+(?:%|[kmg]b|ms|[smhd])?\Z"


def words_in_order(folded: str) -> tuple[str, ...]:
    """The words of a folded text in order, with ``,`` where an enumeration may join two of them."""
    text = _plainly_written(folded)
    found: list[str] = []
    for position, stretch in enumerate(re.split(_JOINT, text)):
        if position:
            found.append(AND)
        found += words(stretch)
    return tuple(found)


def _plainly_written(text: str) -> str:
    """Signs that carry meaning as words, and numbers in one notation."""
    text = re.sub(_CONTRACTION, lambda found: f"{found[1] or found[2] or 'will'} not", text)
    if not re.search(_MEANT_SIGN, text):
        return text
    text = re.sub(_SIGNED_LANGUAGE, lambda found: found[1] + _SPELT_SIGN[found[2]], text)
    text = re.sub(_VERSION, "", re.sub(_THOUSANDS, "", text))
    text = re.sub(_QUANTITY, lambda found: f"{found[1]} {found[2].replace('%', 'percent')}", text)
    text = re.sub(_COMPARISON, lambda found: f"{_COMPARED[found[0]]} ", text)
    return re.sub(_MINUS, "minus ", text)


def forms_of(readings: Iterable[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Each reading's content words in order, then again with every enumeration sorted."""
    marked = [content_words(reading) for reading in readings]
    plain = [tuple(word for word in reading if word != AND) for reading in marked]
    return (*plain, *(tuple(_enumerations_sorted(reading)) for reading in marked))


def content_words(said: Iterable[str]) -> list[str]:
    """The words that carry meaning, each in the one form that stands for all its forms."""
    kept: list[str] = []
    before = ""
    for word in said:
        if word in (AND, "and"):
            kept.append(AND)
        elif (before[-1:].isdigit() or before in _NUMBERS) and word in _UNITS:
            kept.append(stood_for(_UNITS[word]))
        elif word not in _FILLER:
            kept += _pieces(word)
        before = word
    # "Use it" is all fillers to us, but two such titles can still be compared.
    return kept if any(word != AND for word in kept) else [word for word in said if word != AND]


def _pieces(word: str) -> list[str]:
    """One form for a word, or the overlapping pairs of a run that has no spaces to split it at."""
    if len(word) >= _SHORT and unspaced_runs(word):
        return [first + second for first, second in pairwise(word)]
    return [stood_for(word)]


@lru_cache(maxsize=8192)
def stood_for(word: str) -> str:
    """The form that a word is compared by."""
    if word in _DENYING:
        return NOT
    if word in _NUMBERS:
        return _NUMBERS[word]
    stem = _stem(word)
    return _SYNONYM_STEMS.get(stem, stem)


def _stem(word: str) -> str:
    """The word without plural and verb endings; light, since a wrong join refuses a new claim."""
    if len(word) <= _SHORT or not (word.isascii() and word.isalpha()) or word in _NO_PLURALS:
        return word
    stem = _without_verb_ending(_singular(word))
    if len(stem) > _SHORT + 1:
        stem = stem.removesuffix("e")
    return word if stem in NEGATIONS else stem  # "noted" is not "not"


def _singular(word: str) -> str:
    if not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    return word[:-3] + "y" if word.endswith("ies") else word[:-1]


def _without_verb_ending(word: str) -> str:
    if word.endswith("ied"):
        return word[:-3] + "y"
    base = word.removesuffix("ing") if word.endswith("ing") else word.removesuffix("ed")
    if base == word or len(base) < _SHORT or word.endswith("eed") or _VOWELS.isdisjoint(base):
        return word
    is_doubled = len(base) > _SHORT and base[-1] == base[-2] and base[-1] not in "lsz"
    return base[:-1] if is_doubled else base  # logged, but added and called


_SYNONYM_STEMS = {_stem(word): _stem(first) for word, first in _SYNONYMS.items()}


def _each_with_its_opposites(pairs: Iterable[str]) -> dict[str, set[str]]:
    opposites: dict[str, set[str]] = {}
    for pair in pairs:
        one, other = (stood_for(word) for word in pair.split("/"))
        opposites.setdefault(one, set()).add(other)
        opposites.setdefault(other, set()).add(one)
    return opposites


_OPPOSITES_OF = _each_with_its_opposites(_OPPOSITES.split())


def _enumerations_sorted(content: Sequence[str]) -> Iterator[str]:
    """The words with each chain of single words joined by commas, and, or put in sorted order."""
    chain: list[str] = []
    joints: list[str] = []
    joined = True
    for word in content:
        if word in (AND, OR):
            joined = True
            joints += [word] if word == OR else []
            continue
        is_small = word == NOT or word in FUNCTION_WORDS
        if is_small or not joined:
            yield from (*sorted(chain), *joints)
            chain, joints = [], []
        if is_small:
            yield word  # "tabs, not spaces" and "from a, to b" are no enumerations
        else:
            chain.append(word)
        joined = False
    yield from (*sorted(chain), *joints)


def joined_like(said: Sequence[str], model: Sequence[str]) -> tuple[str, ...]:
    """The words with those run together that the other claim writes as one: front end, frontend."""
    wanted = [
        word for word in set(model).difference(said) if len(word) >= _SHORT and not word.isdigit()
    ]
    joined = tuple(said)
    for compound in sorted(wanted):
        start, end = _run(joined, compound, fewest=2)
        while end > start:
            joined = (*joined[:start], compound, *joined[end:])
            start, end = _run(joined, compound, fewest=2)
    return joined


def _run(said: Sequence[str], compound: str, fewest: int = 1) -> tuple[int, int]:
    """Where at least so many words in a row make up a compound, half open; empty when nowhere."""
    for start, word in enumerate(said):
        if not compound.startswith(word):
            continue
        rest, end = compound.removeprefix(word), start + 1
        while rest and end < len(said) and rest.startswith(said[end]):
            rest, end = rest.removeprefix(said[end]), end + 1
        if not rest and end - start >= fewest:
            return start, end
    return 0, 0


def names_in(text: str) -> frozenset[str]:
    """The identifiers of a text without their separators and case; bare numbers are left out."""
    found = (token for token in identifiers(text) if not re.match(_ONLY_NUMBER, token))
    return frozenset("".join(words_in_order(fold(token))) for token in found)


def leaves_unsaid(names: frozenset[str], known: frozenset[str], said: Sequence[str]) -> bool:
    """Whether one of the names occurs neither among the known ones nor as words in a row."""
    return any(_run(said, name) == (0, 0) for name in names - known)


def numbers_in(folded: str) -> tuple[str, ...]:
    """The numbers of a text in order, decimals whole, those in words included."""
    found = re.findall(_NUMBER_OR_WORD, _plainly_written(folded))
    return tuple(_NUMBERS.get(number, number) for number in found)


def opposites_among(one: frozenset[str], other: frozenset[str]) -> tuple[str, ...]:
    """Two opposites, one said on this side only and the other on that side only; else nothing."""
    here, there = one - other, other - one
    found = {(word, against) for word in here for against in _against(word, there)}
    found |= {(word, against) for word in there for against in _negated(word, here)}
    return min(map(tuple, map(sorted, found)), default=())


def _against(word: str, among: AbstractSet[str]) -> AbstractSet[str]:
    """Those of the other words that oppose this one."""
    return among & _OPPOSITES_OF.get(word, set()) | _negated(word, among)


def _negated(word: str, among: AbstractSet[str]) -> set[str]:
    """Those of the other words that are this one behind a negating prefix."""
    if len(word) < _SHORT:
        return set()
    return {prefix + word for prefix in _NEGATING_PREFIXES}.intersection(among)
