"""The near-duplicate rule: whether two claims say the same, judged by their titles and bodies.

The rule would rather miss a repeat than refuse a new claim. So two titles are the same only when
every word that can carry meaning is the same: case, accents, plurals, articles, the order of an
enumeration and the spelling of an identifier may differ; a number, a negation or a noun may not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from memspec_py.identifiers import identifiers
from memspec_py.text import FUNCTION_WORDS, NEGATIONS, fold, unspaced_runs, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

T = TypeVar("T")
_Words: TypeAlias = tuple[str, ...]
_Edit: TypeAlias = tuple[_Words, _Words]

# Titles that share fewer of their words speak of different things; the bodies are never looked at.
TITLE_RELATED = 0.5
# A title of fewer words ("Decision", "Feature flags") names a topic that many records may share.
TITLE_SPECIFIC = 3
# A body of fewer distinct words, two or three sentences, comments on its title; a longer one makes
# claims of its own.
BODY_SHORT = 30
# Under equal titles: the share of the shorter body's words that the longer must have. On the real
# records every pair that says the same has at least 0.9, every other pair at most 0.7.
BODY_REPEATS = 0.8
# Where one title says more: the share of their word pairs that the bodies must have in common, and
# the number of distinct words from which such agreement cannot be chance.
BODY_EQUAL = 0.8
BODY_WEIGHTY = 8
# A negation that comes with at most so many words was put into a sentence, else it has its own.
EDIT_SHORT = 3
# Longer stretches are not compared word by word: the time difflib takes is their product.
EDITED_MOST = 1500

_NOT = "not"
_TURNING = frozenset([_NOT, "only", "unless", "except"])
_DENYING = NEGATIONS | {"avoid", "avoids", "avoiding"}
_AND = ","
_OR = "or"

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
_SHORT = 3  # letters; shorter words have no endings to take off

_CONTRACTION = re.compile(
    r"\b(?:(can)(?:not|['\u2019\u02bc ]?t)"
    r"|(do|does|did|is|are|was|were|has|have|had|should|could|would|must)n['\u2019\u02bc ]?t"
    r"|(wo)n['\u2019\u02bc ]t)\b"
)
_THOUSANDS = re.compile(r"(?<=\d)[,_](?=\d{3}(?!\d))")
_VERSION = re.compile(r"\b(?:versions?|v)[ .]?(?=\d)")
_QUANTITY = re.compile(r"(\d)(%|[kmg]b|ms(?:ec)?|secs?|mins?|hrs?|[smhd])(?!\w)")
_MINUS = re.compile(r"(?<![^\s(=])[-\u2212](?=\d)")
_COMPARISON = re.compile(r"(?<=\s)(?:<=|>=|==|!=|<|>)(?=\s+\w|\d)")
_COMPARED = {"<": "under", ">": "over", "<=": "atmost", ">=": "atleast", "==": "equals", "!=": _NOT}
_SIGNED_LANGUAGE = re.compile(r"\b([a-z])(\+\+|#)(?!\w)")
_JOINT = re.compile(r",(?=\s)|[&+]")
_NUMBER_OR_WORD = re.compile(rf"(?<![^\W\d_])\d+(?:\.\d+)*|\b(?:{'|'.join(_NUMBERS)})\b")
_ONLY_NUMBER = re.compile(r"v?[\d.]+(?:%|[kmg]b|ms|[smhd])?\Z", re.IGNORECASE)
_FRONTED = re.compile(
    r"\s*((?:after|at|before|by|during|for|if|in|on|since|under|when|while|with)\s[^,]+),\s(.+)",
    re.DOTALL,
)
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Wording:
    """What the rule compares of one claim; the body stays whole until the titles call for it.

    ``readings`` are the title's words in order: as written, and with a leading clause put last.
    """

    readings: tuple[tuple[str, ...], ...]
    forms: tuple[tuple[str, ...], ...]
    names: frozenset[str]
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """How alike two claims are, part by part; ``why`` says what decided.

    ``title`` is the share of the titles' words that they have in common, ``body`` the share of the
    shorter body's words that the longer one has, or None where the titles settled it. The four
    booleans speak of the titles.
    """

    title: float
    body: float | None
    same_numbers: bool
    same_negation: bool
    same_identifiers: bool
    same_order: bool
    is_duplicate: bool
    why: str


def wording(title: str, body: str = "") -> Wording:
    """A claim made ready to be compared with others."""
    folded = fold(title)
    readings = [_said(folded)]
    fronted = _FRONTED.match(folded)
    if fronted:
        readings.append(_said(f"{fronted[2]} {fronted[1]}"))
    return Wording(
        readings=tuple(readings),
        forms=_forms(readings),
        names=_names(title),
        body=body,
    )


def likeness(one: Wording, other: Wording) -> Likeness:
    """Whether two claims say the same, and why; the order of the two does not matter."""
    mine, theirs = _spelt_alike(one, other)
    titles = _titles(mine, theirs)
    difference = _title_difference(titles, mine, theirs)
    body: float | None = None
    if difference is None:
        body = _repeated(mine.body, theirs.body)
        difference = _contradiction(mine, theirs, body) or (
            _difference_under_one_title(mine, theirs, body)
            if titles.same_order
            else _difference_under_two_titles(mine, theirs)
        )
    return Likeness(
        title=titles.share,
        body=body,
        same_numbers=titles.same_numbers,
        same_negation=titles.same_negation,
        same_identifiers=titles.same_identifiers,
        same_order=titles.same_order,
        is_duplicate=difference is None,
        why=difference or _sameness(titles, mine, theirs),
    )


@dataclass(frozen=True, slots=True)
class _Body:
    """A body taken apart.

    ``name_words`` are the words of its identifiers, ``denied`` the words right behind a negation,
    ``affirmed`` all others.
    """

    said: tuple[str, ...]
    content: tuple[str, ...]
    distinct: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    numbers: tuple[str, ...]
    names: frozenset[str]
    name_words: frozenset[str]
    denied: frozenset[str]
    affirmed: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Claim:
    """A wording after the two claims' compounds were spelt alike."""

    forms: tuple[tuple[str, ...], ...]
    wording: Wording

    @property
    def content(self) -> tuple[str, ...]:
        return self.forms[0]

    @property
    def body(self) -> _Body:
        return _body(self.wording.body)

    @property
    def said(self) -> tuple[str, ...]:
        return self.wording.readings[0] + self.body.said


@dataclass(frozen=True, slots=True)
class _Titles:
    """What the comparison of two titles found."""

    share: float
    same_numbers: bool
    same_negation: bool
    same_identifiers: bool
    same_order: bool


def _titles(mine: _Claim, theirs: _Claim) -> _Titles:
    same_order = not set(mine.forms).isdisjoint(theirs.forms)
    return _Titles(
        share=1.0 if same_order else _shared(set(mine.content), set(theirs.content)),
        same_numbers=_numerals(mine.content) == _numerals(theirs.content),
        same_negation=mine.content.count(_NOT) == theirs.content.count(_NOT),
        same_identifiers=not (
            _unsaid(mine.wording.names, theirs.wording.names, theirs.wording.readings[0])
            or _unsaid(theirs.wording.names, mine.wording.names, mine.wording.readings[0])
        ),
        same_order=same_order,
    )


def _title_difference(titles: _Titles, mine: _Claim, theirs: _Claim) -> str | None:
    """What makes the titles two claims whatever their bodies say, as a sentence."""
    shuffled = not titles.same_order and sorted(mine.content) == sorted(theirs.content)
    differences = (
        (not (mine.content and theirs.content), "a title without words is like no other"),
        (titles.share < TITLE_RELATED, "the titles speak of different things"),
        (not titles.same_numbers, "the titles name different numbers"),
        (not titles.same_negation, "one title denies what the other says"),
        (not titles.same_identifiers, "the titles name different identifiers"),
        (shuffled, "the titles have the same words in another order"),
    )
    found = next((sentence for differs, sentence in differences if differs), None)
    if found or titles.same_order:
        return found
    said = mine.wording.readings[0] + theirs.wording.readings[0]
    return _opposed("titles", _edits(mine.content, theirs.content), said)


def _contradiction(mine: _Claim, theirs: _Claim, repeated: float) -> str | None:
    """What the bodies say against each other, as a sentence.

    A longer body may name more numbers and identifiers; each naming some that the other lacks, or
    the same ones in another order, means that a value changed.
    """
    one, other = mine.body, theirs.body
    if not _one_within_the_other(one.numbers, other.numbers):
        return "the bodies name different numbers"
    if _unsaid(one.names, other.names, theirs.said) and _unsaid(other.names, one.names, mine.said):
        return "the bodies name different identifiers"
    differing = _without_common_ends(one.content, other.content)
    if repeated >= BODY_REPEATS and max(map(len, differing)) <= EDITED_MOST:
        return _changed_word(one, other, _edits(*differing))
    denied = (one.denied & other.affirmed) - other.denied - one.affirmed
    denied |= (other.denied & one.affirmed) - one.denied - other.affirmed
    if denied:
        return f"one body denies what the other says: {_as_said(denied, one.said + other.said)}"
    return _opposed("bodies", [(one.content, other.content)], one.said + other.said)


def _changed_word(one: _Body, other: _Body, edits: Sequence[_Edit]) -> str | None:
    """What the edits between two nearly equal bodies change, as a sentence."""
    said = one.said + other.said
    denied = _denied_within(edits)
    if denied:
        return f"one body denies what the other says: {_as_said(denied, said)}"
    if any(_renames(edit, one.name_words | other.name_words) for edit in edits):
        return "the bodies name different identifiers"
    return _opposed("bodies", edits, said)


def _denied_within(edits: Iterable[_Edit]) -> set[str]:
    """The words of the first short edit that puts a negation or a limit in, or takes it out."""
    for gone, come in edits:
        turning = (sorted(_TURNING.intersection(words)) for words in (gone, come))
        if len(gone) + len(come) <= EDIT_SHORT and len(set(map(tuple, turning))) > 1:
            return {*gone, *come}
    return set()


def _renames(edit: _Edit, name_words: frozenset[str]) -> bool:
    """Whether an edit replaces words, one of an identifier among them."""
    gone, come = (set(words) for words in edit)
    before, after = gone - come, come - gone
    return bool(before and after and (before | after) & name_words)


def _difference_under_one_title(mine: _Claim, theirs: _Claim, repeated: float) -> str | None:
    lengths = len(mine.body.distinct), len(theirs.body.distinct)
    only_a_comment = len(set(mine.content)) >= TITLE_SPECIFIC and min(lengths) < BODY_SHORT
    if repeated >= BODY_REPEATS or only_a_comment:
        return None
    return "the titles are the same, but each body has much that the other lacks"


def _difference_under_two_titles(mine: _Claim, theirs: _Claim) -> str | None:
    """One title may say more than the other, if both bodies say it and are nearly equal."""
    one, other = mine.body, theirs.body
    added = set(mine.content).symmetric_difference(theirs.content)
    if not _one_within_the_other(mine.content, theirs.content):
        return "the titles say different things"
    if min(len(mine.content), len(theirs.content)) < TITLE_SPECIFIC:
        return "one title says more, and the other only names a topic"
    if min(len(one.distinct), len(other.distinct)) < BODY_WEIGHTY:
        return "one title says more, and the bodies are too short to say it too"
    if _shared(one.pairs, other.pairs) < BODY_EQUAL:
        return "one title says more, and the bodies differ"
    new = added - (one.distinct & other.distinct) | added & FUNCTION_WORDS
    return f"only one title says: {_as_said(new, mine.said + theirs.said)}" if new else None


def _sameness(titles: _Titles, mine: _Claim, theirs: _Claim) -> str:
    """Why the two are duplicates."""
    if not titles.same_order:
        return "one title says more, but both bodies say it, and they are nearly equal"
    if not (mine.body.distinct and theirs.body.distinct):
        return "the titles say the same, and one record has no body"
    if _repeated(mine.body, theirs.body) >= BODY_REPEATS:
        return "the titles say the same, and so do the bodies"
    return "the titles say the same, and no body contradicts the other"


def _as_said(stems: Iterable[str], said: Iterable[str]) -> str:
    """Compared forms as a reader knows them: each as one of the words that it was made of."""
    written = {_stood_for(word): word for word in sorted(said, reverse=True)}
    return ", ".join(sorted(written.get(stem, stem) for stem in stems))


def _one_within_the_other(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether the shorter sequence can be had from the longer by leaving out members."""
    shorter, longer = sorted((one, other), key=len)
    rest = iter(longer)
    return all(member in rest for member in shorter)


def _without_common_ends(one: _Words, other: _Words) -> tuple[_Words, _Words]:
    """What is left of two sequences when their common start and end are taken off."""
    start = _common_start(one, other)
    one, other = one[start:], other[start:]
    end = _common_start(one[::-1], other[::-1])
    return one[: len(one) - end], other[: len(other) - end]


def _common_start(one: _Words, other: _Words) -> int:
    pairs = zip(one, other, strict=False)
    return next(
        (at for at, (mine, theirs) in enumerate(pairs) if mine != theirs), min(len(one), len(other))
    )


def _edits(one: _Words, other: _Words) -> list[_Edit]:
    """The stretches of words replaced, dropped or added on the way from one to the other."""
    if one == other:
        return []
    from difflib import SequenceMatcher  # only few pairs come so far

    # In one fixed order, since difflib's answer depends on it and ours must not.
    first, second = sorted((one, other))
    found = [
        (first[a:b], second[c:d])
        for kind, a, b, c, d in SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
        if kind != "equal"
    ]
    return found if first is one else [(come, gone) for gone, come in found]


def _said(folded: str) -> tuple[str, ...]:
    """The words of a folded text in order, with ``,`` where an enumeration may join two of them."""
    text = _plainly_written(folded)
    found: list[str] = []
    for position, stretch in enumerate(_JOINT.split(text)):
        if position:
            found.append(_AND)
        found += words(stretch)
    return tuple(found)


def _plainly_written(text: str) -> str:
    """Signs that carry meaning as words, and numbers in one notation."""
    text = _CONTRACTION.sub(lambda found: f"{found[1] or found[2] or 'will'} not", text)
    text = _SIGNED_LANGUAGE.sub(
        lambda found: found[1] + ("pp" if found[2] == "++" else "sharp"), text
    )
    text = _VERSION.sub("", _THOUSANDS.sub("", text))
    text = _QUANTITY.sub(lambda found: f"{found[1]} {found[2].replace('%', 'percent')}", text)
    text = _COMPARISON.sub(lambda found: f"{_COMPARED[found[0]]} ", text)
    return _MINUS.sub("minus ", text)


def _forms(readings: Iterable[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Each reading's content words in order, then again with every enumeration sorted."""
    marked = [_content(reading) for reading in readings]
    plain = [tuple(word for word in reading if word != _AND) for reading in marked]
    return (*plain, *(tuple(_enumerations_sorted(reading)) for reading in marked))


def _content(said: Iterable[str]) -> list[str]:
    """The words that carry meaning, each in the one form that stands for all its forms."""
    kept: list[str] = []
    before = ""
    for word in said:
        if word in (_AND, "and"):
            kept.append(_AND)
        elif before[-1:].isdigit() and word in _UNITS:
            kept.append(_UNITS[word])
        elif word not in _FILLER:
            kept += _pieces(word)
        before = word
    # "Use it" is all fillers to us, but two such titles can still be compared.
    return kept if any(word != _AND for word in kept) else [word for word in said if word != _AND]


def _pieces(word: str) -> list[str]:
    """One form for a word, or the overlapping pairs of a run that has no spaces to split it at."""
    if len(word) >= _SHORT and unspaced_runs(word):
        return [first + second for first, second in pairwise(word)]
    return [_stood_for(word)]


@lru_cache(maxsize=8192)
def _stood_for(word: str) -> str:
    """The form that a word is compared by."""
    if word in _DENYING:
        return _NOT
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
    if base == word or len(base) < _SHORT or word.endswith("eed") or not _VOWEL.search(base):
        return word
    is_doubled = len(base) > _SHORT and base[-1] == base[-2] and base[-1] not in "lsz"
    return base[:-1] if is_doubled else base  # logged, but added and called


_VOWEL = re.compile(r"[aeiouy]")
_SYNONYM_STEMS = {_stem(word): _stem(first) for word, first in _SYNONYMS.items()}


def _each_with_its_opposites(pairs: Iterable[str]) -> dict[str, set[str]]:
    opposites: dict[str, set[str]] = {}
    for pair in pairs:
        one, other = (_stood_for(word) for word in pair.split("/"))
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
        if word in (_AND, _OR):
            joined = True
            joints += [word] if word == _OR else []
            continue
        is_small = word == _NOT or word in FUNCTION_WORDS
        if is_small or not joined:
            yield from (*sorted(chain), *joints)
            chain, joints = [], []
        if is_small:
            yield word  # "tabs, not spaces" and "from a, to b" are no enumerations
        else:
            chain.append(word)
        joined = False
    yield from (*sorted(chain), *joints)


def _joined_like(said: Sequence[str], model: Sequence[str]) -> tuple[str, ...]:
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


def _spelt_alike(one: Wording, other: Wording) -> tuple[_Claim, _Claim]:
    if not set(one.forms).isdisjoint(other.forms):
        return _Claim(one.forms, one), _Claim(other.forms, other)
    mine = [_joined_like(reading, other.readings[0]) for reading in one.readings]
    theirs = [_joined_like(reading, one.readings[0]) for reading in other.readings]
    return _Claim(_forms(mine), one), _Claim(_forms(theirs), other)


def _names(text: str) -> frozenset[str]:
    """The identifiers of a text without their separators and case; bare numbers are left out."""
    found = (token for token in identifiers(text) if not _ONLY_NUMBER.match(token))
    return frozenset("".join(_said(fold(token))) for token in found)


def _unsaid(names: frozenset[str], known: frozenset[str], said: Sequence[str]) -> bool:
    """Whether one of the names occurs neither among the known ones nor as words in a row."""
    return any(_run(said, name) == (0, 0) for name in names - known)


def _numerals(content: Iterable[str]) -> list[str]:
    return sorted(_DIGITS.findall(" ".join(content)))


def _numbers(folded: str) -> tuple[str, ...]:
    """The numbers of a text in order, decimals whole, those in words included."""
    found = _NUMBER_OR_WORD.findall(_plainly_written(folded))
    return tuple(_NUMBERS.get(number, number) for number in found)


@lru_cache(maxsize=32)
def _body(text: str) -> _Body:
    folded = fold(text)
    said = _said(folded)
    content = [word for word in _content(said) if word not in (_AND, _OR)]
    pairs = list(pairwise(content))
    denied = frozenset(word for before, word in pairs if before == _NOT)
    return _Body(
        said=said,
        content=tuple(content),
        distinct=frozenset(content),
        pairs=frozenset(pairs),
        numbers=_numbers(folded),
        names=_names(text),
        name_words=frozenset(_content(_said(fold(" ".join(identifiers(text)))))),
        denied=denied,
        affirmed=frozenset(word for before, word in pairs if before != _NOT)
        | frozenset(content[:1]),
    )


def _repeated(one: _Body, other: _Body) -> float:
    """The share of the shorter body's words that the longer has; 1 when one has no words."""
    shorter = min(len(one.distinct), len(other.distinct))
    return len(one.distinct & other.distinct) / shorter if shorter else 1.0


def _shared(one: AbstractSet[T], other: AbstractSet[T]) -> float:
    """The share of all members that both have."""
    every = len(one | other)
    return len(one & other) / every if every else 1.0


def _opposed(where: str, edits: Iterable[_Edit], said: Iterable[str]) -> str | None:
    """A sentence on the first edit that puts a word's opposite in its place."""
    for edit in edits:
        pair = _opposites(*(frozenset(words) for words in edit))
        if pair:
            return f"the {where} say opposite things: {_as_said(pair, said)}"
    return None


def _opposites(one: frozenset[str], other: frozenset[str]) -> tuple[str, ...]:
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
