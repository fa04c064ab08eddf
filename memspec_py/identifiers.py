"""Identifiers: the tokens of a text that look like code, and the words they are made of."""

from __future__ import annotations

import re
from functools import lru_cache

from memspec_py.text import FUNCTION_WORDS, fold, without_accents

# A run of word characters and the marks that code puts between them, with what may lead it.
_TOKEN = re.compile(
    r"(?:(?<![\w-])--(?=\w)|(?<![\w<])(?:\.{1,2}/|~/|/|[.@$]))?"
    r"\w+(?:(?:::|://|->|[./\\:#@-])\w+)*"
    r"(?:\+\+(?!\w)|#(?!\w)|\(\))?"
)
_INNER_CAPITAL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_PLURAL_ACRONYM = re.compile(r"[A-Z]{2,}s\Z")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)\Z", re.IGNORECASE)
_EMPHASIS = re.compile(r"_([^\W_]+)_\Z")
_SHORTHAND = re.compile(r"(?:[^\W\d_][./])+[^\W\d_]\Z")  # e.g, i.e, n/a, I/O
_SIGNED_LANGUAGE = re.compile(r"([A-Za-z])(\+\+|#)\Z")
_SPELT_SIGN = {"++": "pp", "#": "sharp"}

_PART = re.compile(
    r"[A-Z]{2,}s(?![A-Za-z])"  # IDs, URLs
    r"|[A-Z]+(?![a-z])"  # HTTP, and the HTTP of HTTPServer
    r"|[A-Z]?[a-z]+"
    r"|\d+"
    r"|[^\W\d_A-Za-z]+"
)


def identifiers(text: str) -> list[str]:
    """The tokens that look like code rather than prose, as written, in order, repeats included."""
    if not text.isascii():
        import unicodedata

        text = unicodedata.normalize("NFC", text)  # a free-standing accent would end the token
    found = []
    for token in _TOKEN.findall(text):
        identifier = _as_identifier(token)
        if identifier:
            found.append(identifier)
    return found


def parts(identifier: str) -> list[str]:
    """The folded words and numbers an identifier is made of: ``HTTPServer2`` is http, server, 2."""
    signed = _SIGNED_LANGUAGE.match(identifier)
    if signed:
        return [signed[1].lower() + _SPELT_SIGN[signed[2]]]
    if identifier.isascii():
        return [part.lower() for part in _PART.findall(identifier)]
    found = [fold(part) for run in _unaccented_runs(identifier) for part in _PART.findall(run)]
    return [part for part in found if part]


@lru_cache(maxsize=8192)
def _as_identifier(token: str) -> str:
    """The token without Markdown's emphasis, or nothing when it is prose."""
    if token.isalpha() and not _INNER_CAPITAL.search(token):
        return ""
    emphasised = _EMPHASIS.match(token)
    if emphasised:
        token = emphasised[1]
    return token if _is_code(token) else ""


def _is_code(token: str) -> bool:
    if _ORDINAL.match(token) or _PLURAL_ACRONYM.match(token) or _SHORTHAND.match(token):
        return False
    has_letter = any(letter.isalpha() for letter in token)
    has_digit = any(letter.isdigit() for letter in token)
    if not has_letter:
        return has_digit and "." in token  # 1.0.21 and 10.0.0.1, not 12:30 or 2026-03-01
    if has_digit or not (token[0].isalnum() and token[-1].isalnum()):
        return True
    if "/" in token:
        return not FUNCTION_WORDS.issuperset(token.lower().split("/"))
    return any(mark in token for mark in "_.\\:#@>") or _INNER_CAPITAL.search(token) is not None


def _unaccented_runs(identifier: str) -> list[str]:
    """The runs between separators with accents off but case kept, so that capitals still show."""
    return re.split(r"[\W_]+", without_accents(identifier))
