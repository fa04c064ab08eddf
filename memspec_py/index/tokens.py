"""Words that SQLite's tokenizer does not find by itself, added to the indexed text.

``unicode61`` splits at everything that is no letter or digit and nowhere else. So it never sees the
parts of ``getUserById``, the words inside Chinese, Japanese, Korean or Thai text, ``C++`` as more
than a ``c``, or a pictogram at all.
"""

from __future__ import annotations

import re

from memspec_py.text import fold, unspaced_runs

_CAMEL = re.compile(r"[A-Za-z0-9]*(?:[a-z0-9][A-Z]|[A-Z]{2}[a-z])[A-Za-z0-9]*")
_INNER_CAPITAL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_LAST_OF_WORD = re.compile(r"[A-Za-z0-9]*")
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

    Found by the capital and widened to the word: one pattern for the whole word would start anew at
    each letter of every word, ten times as slow.
    """
    found = []
    end = 0
    for inner in _INNER_CAPITAL.finditer(text):
        if inner.start() < end:
            continue
        start = inner.start()
        while start > end and text[start - 1].isalnum() and text[start - 1].isascii():
            start -= 1
        last = _LAST_OF_WORD.match(text, inner.start())
        end = last.end() if last else inner.end()
        found.append(text[start:end])
    return found


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
