"""Any text as a legal full-text query.

Every word is passed to SQLite as a quoted string, so nothing a person types is an operator, and no
query can be a syntax error.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from memspec_py.index.tokens import (
    camel_parts,
    coded,
    pictograms,
    pieces,
    plain_forms,
    signed_languages,
    spelt_sign,
)
from memspec_py.text import FUNCTION_WORDS, NEGATIONS, fold, unspaced_runs

# What separates words for us. Marks that join the parts of an identifier (. _ / : \ @ # -) do not.
_BETWEEN = dict.fromkeys(
    (
        *map(ord, ',;!?"()[]{}<>|*=&%^`+~$\u00ab\u00bb\u30fb\0'),
        *range(0x2010, 0x2028),
        *range(0x2030, 0x205F),
        *(0x3001, 0x3002, *range(0x3008, 0x3012)),
        *(*range(0xFF01, 0xFF0E), 0xFF0F, *range(0xFF1A, 0xFF21)),
    ),
    " ",
)
_JOINTS = re.compile(r"[._/:\\@#-]+")
_PLAIN_COMPOUND = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+\Z")
# "Which database do we use": a question is about the database.
_IGNORED = FUNCTION_WORDS | NEGATIONS | {"use", "used", "uses", "using"}
_MOST_PARTS = 64
# Behind an apostrophe: 's, 're, 'll. What is longer is the word itself, behind l', d' or O'.
_LONGEST_ENDING = 2


class Term(NamedTuple):
    """One word of a query.

    ``whole`` is the FTS5 expression a record must match to carry the term. ``loose`` are the
    expressions of its parts, any of which will do in a record that carries only some terms.
    """

    shown: str
    whole: str
    loose: tuple[str, ...]


class Query(NamedTuple):
    """The content-bearing terms of a text, and how many were left out as too many."""

    terms: tuple[Term, ...]
    left_out: int

    def all_terms(self) -> str:
        """The expression for records that carry every term."""
        return " AND ".join(term.whole for term in self.terms)

    def has_loose_form(self) -> bool:
        """Whether ``any_term`` can match what ``all_terms`` does not."""
        return len(self.terms) > 1 or any(term.loose != (term.whole,) for term in self.terms)

    def any_term(self) -> str:
        """The expression for records that carry some of it."""
        return " OR ".join(dict.fromkeys(part for term in self.terms for part in term.loose))


def parse_query(text: str, limit: int) -> Query:
    """The terms of any text, at most ``limit`` distinct ones, in order.

    Function words are ignored, unless there is nothing else.
    """
    chunks = _chunks(text.encode("utf-8", "replace").decode())
    content = [chunk for chunk in chunks if "'" not in chunk and fold(chunk) not in _IGNORED]
    terms: dict[str, Term] = {}
    left_out = 0
    for chunk in content or chunks:
        key = fold(chunk)
        if key in terms:
            continue
        if len(terms) == limit:
            left_out += 1
            continue
        term = _term(chunk)
        if term is not None:
            terms[key] = term
    return Query(tuple(terms.values()), left_out)


def _chunks(text: str) -> list[str]:
    """The words of a query: split at spaces and punctuation, but not inside identifiers."""
    found = signed_languages(text) + pictograms(text)
    for sign in found:
        text = text.replace(sign, " ")
    for chunk in text.replace("\u2019", "'").translate(_BETWEEN).split():
        word = _without_apostrophe(chunk).strip("._/:\\@#-")
        if any(map(str.isalnum, word)):
            found.append(word)
    return found


def _without_apostrophe(chunk: str) -> str:
    """``user's`` is user and ``l'avion`` avion; ``don't`` stays whole, to be ignored as it is."""
    whole = chunk.strip("'")
    head, mark, tail = whole.partition("'")
    if mark and head.endswith("n") and tail == "t":
        return whole
    return _without_apostrophe(tail) if len(tail) > _LONGEST_ENDING else head


def _term(chunk: str) -> Term | None:
    if signed_languages(chunk):
        return _same(chunk, _quoted(spelt_sign(chunk)))
    if pictograms(chunk):
        return _same(chunk, _quoted(coded(chunk)))
    if unspaced_runs(chunk):
        return _unspaced_term(chunk)
    words = [word for word in _JOINTS.split(chunk) if any(map(str.isalnum, word))]
    if len(words) == 1:
        return _same(chunk, _word(words[0]))
    return _compound_term(chunk, words)


def _compound_term(chunk: str, words: list[str]) -> Term:
    """An identifier is a phrase of its parts; ``role-based`` is just two words."""
    content = _few([word for word in words if fold(word) not in _IGNORED] or words)
    every = " AND ".join(map(_word, content))
    if _PLAIN_COMPOUND.match(chunk):
        whole = f"({every})"
    elif any(map(camel_parts, words)):
        whole = f"({_quoted(chunk)} OR ({every}))"
    else:
        whole = _quoted(chunk)
    # Not the whole again: counting it beside its parts lets compounds outweigh plain words.
    return Term(chunk, whole, tuple(map(_word, content)))


def _unspaced_term(chunk: str) -> Term:
    """Text without spaces: a phrase of pairs; what else clings to it is a word of its own."""
    whole = []
    loose = []
    rest = chunk
    for run in unspaced_runs(chunk):
        rest = rest.replace(run, " ")
        found = pieces(run)
        if len(found) == 1:
            whole.append(f"{_quoted(found[0])} *")
            loose.append(f"{_quoted(found[0])} *")
        else:
            pairs = found[:-1]
            whole.append(_quoted(" ".join(pairs)))
            loose += map(_quoted, pairs)
    for word in _JOINTS.sub(" ", rest).split():
        if any(map(str.isalnum, word)):
            whole.append(_word(word))
            loose.append(_word(word))
    return Term(chunk, "(" + " AND ".join(_few(whole)) + ")", tuple(_few(loose)))


def _few(parts: list[str]) -> list[str]:
    """Each part once, and no more of them than a query has time for."""
    return list(dict.fromkeys(parts))[:_MOST_PARTS]


def _word(word: str) -> str:
    """One word as an expression.

    The parts of ``getUserById`` in a row will do as well, and so will ``strasse`` for ``straße``.
    """
    split = camel_parts(word)
    other = " ".join(split if len(split) > 1 else plain_forms(word))
    return f"({_quoted(word)} OR {_quoted(other)})" if other else _quoted(word)


def _same(shown: str, expression: str) -> Term:
    return Term(shown, expression, (expression,))


def _quoted(text: str) -> str:
    """An FTS5 string; the only character with a meaning inside is the quote itself."""
    return '"' + text.replace('"', '""') + '"'
