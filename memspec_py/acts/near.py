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
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from memspec_py.acts.near_words import (
    AND,
    NOT,
    OR,
    content_words,
    forms_of,
    joined_like,
    leaves_unsaid,
    names_in,
    numbers_in,
    opposites_among,
    stood_for,
    words_in_order,
)
from memspec_py.identifiers import identifiers
from memspec_py.text import FUNCTION_WORDS, fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
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

# What turns a sentence round when it is put into one.
_TURNING = frozenset([NOT, "only", "unless", "except"])

_FRONTED = (
    r"(?s)\s*((?:after|at|before|by|during|for|if|in|on|since|under|when|while|with)\s[^,]+),\s(.+)"
)


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
    readings = [words_in_order(folded)]
    fronted = re.match(_FRONTED, folded)
    if fronted:
        readings.append(words_in_order(f"{fronted[2]} {fronted[1]}"))
    return Wording(
        readings=tuple(readings),
        forms=forms_of(readings),
        names=names_in(title),
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


class _Body(NamedTuple):
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


class _Claim(NamedTuple):
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


class _Titles(NamedTuple):
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
        same_negation=mine.content.count(NOT) == theirs.content.count(NOT),
        same_identifiers=not (
            leaves_unsaid(mine.wording.names, theirs.wording.names, theirs.wording.readings[0])
            or leaves_unsaid(theirs.wording.names, mine.wording.names, mine.wording.readings[0])
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
    if leaves_unsaid(one.names, other.names, theirs.said) and leaves_unsaid(
        other.names, one.names, mine.said
    ):
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
    written = {stood_for(word): word for word in sorted(said, reverse=True)}
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


def _spelt_alike(one: Wording, other: Wording) -> tuple[_Claim, _Claim]:
    if not set(one.forms).isdisjoint(other.forms):
        return _Claim(one.forms, one), _Claim(other.forms, other)
    mine = [joined_like(reading, other.readings[0]) for reading in one.readings]
    theirs = [joined_like(reading, one.readings[0]) for reading in other.readings]
    return _Claim(forms_of(mine), one), _Claim(forms_of(theirs), other)


def _numerals(content: Iterable[str]) -> list[str]:
    return sorted(re.findall(r"\d+", " ".join(content)))


@lru_cache(maxsize=32)
def _body(text: str) -> _Body:
    folded = fold(text)
    said = words_in_order(folded)
    content = [word for word in content_words(said) if word not in (AND, OR)]
    pairs = list(pairwise(content))
    denied = frozenset(word for before, word in pairs if before == NOT)
    return _Body(
        said=said,
        content=tuple(content),
        distinct=frozenset(content),
        pairs=frozenset(pairs),
        numbers=numbers_in(folded),
        names=names_in(text),
        name_words=frozenset(content_words(words_in_order(fold(" ".join(identifiers(text)))))),
        denied=denied,
        affirmed=frozenset(word for before, word in pairs if before != NOT)
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
        pair = opposites_among(*(frozenset(words) for words in edit))
        if pair:
            return f"the {where} say opposite things: {_as_said(pair, said)}"
    return None
