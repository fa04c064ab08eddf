"""Words that SQLite's tokenizer does not find by itself, added to the indexed text.

``unicode61`` splits at everything that is no letter or digit and nowhere else. So it never sees the
parts of ``getUserById``, the words inside Chinese, Japanese, Korean or Thai text, ``C++`` as more
than a ``c``, or a pictogram at all.
"""

from __future__ import annotations

import re

from memspec_py.text import fold, unspaced_runs

_CAMEL = re.compile(r"[A-Za-z0-9]*(?:[a-z0-9][A-Z]|[A-Z]{2}[a-z])[A-Za-z0-9]*")
_CAPITAL = re.compile("[A-Z]")
_SMALL = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_WORD_LETTERS = _SMALL | frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_SIGNED = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z](?:\+\+|#)(?!\w)")
_PICTOGRAM = "[\u2190-\u21ff\u2300-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]"


def extra_words(text: str) -> str:
    """The words to index beside ``text`` itself, in order, separated by spaces."""
    found = [" ".join(camel_parts(word)) for word in _camel_words(text)]
    if "++" in text or "#" in text:
        found += [spelt_sign(sign) for sign in _SIGNED.findall(text)]
    if not text.isascii():
        found += [" ".join(pieces(run)) for run in unspaced_runs(text)]
        found += [coded(sign) for sign in pictograms(text)]
        found += plain_forms(text)
    return " ".join(found)


def plain_forms(text: str) -> list[str]:
    """The words of a text in plain letters, where the tokenizer would keep accents or the like.

    By itself it folds an ASCII letter with a mark, but no Greek accent, and not ł, ø or ß.
    """
    if text.isascii():
        return []
    foreign = re.findall(r"\w*[^\W\x00-\x7f]\w*", text)
    return [plain for word in foreign if (plain := _plain_form(word))]


def _plain_form(word: str) -> str:
    """Another form under which the word should be found, or nothing."""
    from unicodedata import normalize

    if all(normalize("NFD", letter)[0].isascii() for letter in word):
        return ""
    plain = fold(word)
    return plain if plain != word.lower() else ""


def _camel_words(text: str) -> list[str]:
    """The words with an inner capital, in order.

    Found by their capitals and widened to the word: one pattern for the whole word would start anew
    at each letter of every word, ten times as slow.
    """
    found = []
    end = 0
    for capital in _CAPITAL.finditer(text):
        at = capital.start()
        if at < end or not _is_inner(text, at):
            continue
        start = at
        while start > end and text[start - 1] in _WORD_LETTERS:
            start -= 1
        end = at
        while end < len(text) and text[end] in _WORD_LETTERS:
            end += 1
        found.append(text[start:end])
    return found


def _is_inner(text: str, at: int) -> bool:
    """Whether the capital follows a small letter or digit, or leads the last word of HTTPServer."""
    if at and text[at - 1] in _SMALL:
        return True
    following = text[at + 1 : at + 3]
    return following[:1].isupper() and following[1:].islower() and following.isascii()


def camel_parts(word: str) -> list[str]:
    """The words of ``getUserById``; nothing when the word has no inner capital."""
    if not _CAMEL.fullmatch(word):
        return []
    from memspec_py.identifiers import parts  # patterns that most queries never need

    return parts(word)


def spelt_sign(language: str) -> str:
    """``C++`` as a word that can be looked up."""
    from memspec_py.identifiers import parts

    return parts(language)[0]


def signed_languages(text: str) -> list[str]:
    """Each ``C++``, ``C#`` or ``F#`` of a text, as written."""
    return _SIGNED.findall(text)


def pictograms(text: str) -> list[str]:
    """Each emoji or arrow of a text."""
    return [] if text.isascii() else re.findall(_PICTOGRAM, text)


def pieces(run: str) -> list[str]:
    """The overlapping pairs of a run without spaces, and its last character alone.

    With the last character every single one is the start of some piece, so one character is found
    by prefix and longer text by a phrase of pairs.
    """
    folded = fold(run)
    pairs = [coded(folded[at : at + 2]) for at in range(len(folded) - 1)]
    return [*pairs, coded(folded[-1:])] if folded else []


def coded(characters: str) -> str:
    """Characters as a word that the tokenizer keeps whole and the stemmer leaves alone.

    Of fixed width, so that a prefix is always a whole character.
    """
    return "".join(f"u{ord(character):06d}" for character in characters)
