"""Words of a text: folding, splitting, and the small words that carry no topic.

Everything here is pure and cheap: the index reads ten thousand bodies with it, and the shell starts
with it. ASCII text, by far the most common, never touches the Unicode tables.
"""

from __future__ import annotations

import re
from functools import cache

# Words that join others but name nothing. Negations are kept apart: leaving one out turns a claim
# into its opposite, though a search may well skip both sets.
FUNCTION_WORDS = frozenset(
    """
    a about after again all also although always am among an and any are as at be because been
    before being between both but by can could did do does doing done during each either else
    etc even ever every few for from further get gets getting got had has have having he hence her
    here hers him his how however i if in instead into is it its itself just let lets like made make
    makes many may me might mine more most much must my of off often on once one only onto or other
    others our ours out over own per please quite rather really s same shall she should since so
    some still such t than that the their theirs them then there therefore these they this those
    though through thus to too toward towards under until up upon us very via was we were what when
    where whether which while who whom whose why will with within would yet you your yours
    """.split()
)

# One of these, or a contraction in n't, turns a sentence round.
NEGATIONS = frozenset(
    "cannot hardly neither never no nobody non none nor not nothing nowhere without".split()
)

# Letters that Unicode does not take apart into a base letter and an accent.
_PLAIN_LETTERS = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "ł": "l", "þ": "th"}
)
# The accents of Latin, Greek and Cyrillic, and the characters that only steer line breaks and
# ligatures. Marks of other scripts are vowels, so they stay.
_UNHEARD = "[\u0300-\u036f\u00ad\u200b-\u200f\u2060\ufe00-\ufe0f\ufeff]+"

_WORD = re.compile(r"[^\W_]+")
# Blocks where marks occur, so that most text skips the look-up of each character.
_MAY_BE_MARKED = "[\u0483-\u1dff\u20d0-\u20ff\u2cef-\u2df1\u302a-\u309a\ua66f-\uabed]"

# Scripts written without spaces between words, and Hangul, whose particles cling to the word.
_UNSPACED = (
    "["
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
    "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff"  # Japanese
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\uac00-\ud7a3"  # Hangul
    "]+"
)


def fold(text: str) -> str:
    """The text as comparison sees it: one Unicode form, no case, no accents; idempotent."""
    if text.isascii():
        return text.lower()
    import unicodedata  # 2 ms that most stores never need

    # Twice, because folding case can make a letter that has another plain form, and the other way.
    for _ in range(2):
        text = unicodedata.normalize("NFKD", text.casefold()).translate(_PLAIN_LETTERS)
        text = _pattern(_UNHEARD).sub("", text)
    return unicodedata.normalize("NFC", text)


def words(text: str) -> list[str]:
    """The runs of letters and digits, folded, in order."""
    folded = fold(text)
    if folded.isascii() or not _pattern(_MAY_BE_MARKED).search(folded):
        return _WORD.findall(folded)
    return _marked_words(folded)


def unspaced_runs(text: str) -> list[str]:
    """The stretches in scripts that put no space between words, in order."""
    return [] if text.isascii() else _pattern(_UNSPACED).findall(text)


def _marked_words(folded: str) -> list[str]:
    """The words of scripts whose vowels are marks, which Python counts as no letters."""
    import unicodedata

    marks = "".join(sorted(mark for mark in set(folded) if unicodedata.category(mark)[0] == "M"))
    return re.findall(rf"[^\W_](?:[^\W_]|[{marks}])*", folded) if marks else _WORD.findall(folded)


@cache
def _pattern(expression: str) -> re.Pattern[str]:
    """Compiled on first use: these cover many alphabets, and ASCII text needs none of them."""
    return re.compile(expression)


def without_accents(text: str) -> str:
    """The text in the letters it is built on, case kept."""
    import unicodedata

    plain = _pattern(_UNHEARD).sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", plain)
