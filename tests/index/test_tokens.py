from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspec_py.index.tokens import camel_parts, coded, extra_words, pieces, plain_forms


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("plain words only", ""),
        ("getUserById", "get user by id"),
        ("HTTPServer", "http server"),
        ("C++ and C#", "cpp csharp"),
        ("Straße", "strasse"),
        ("café", ""),
    ],
)
def test_what_the_tokenizer_misses_is_added(text: str, words: str) -> None:
    """Only what SQLite does not find by itself is indexed beside the text."""
    assert extra_words(text) == words


def test_a_word_without_inner_capital_has_no_parts() -> None:
    """`Auth` is one word."""
    assert camel_parts("Auth") == []
    assert camel_parts("authToken") == ["auth", "token"]


def test_text_without_spaces_becomes_pairs_and_its_last_character() -> None:
    """Each character begins some piece, so one character is found by a prefix."""
    assert pieces("東京都") == [coded("東京"), coded("京都"), coded("都")]
    assert pieces("") == []


def test_plain_forms_are_for_what_the_tokenizer_keeps() -> None:
    """An accent on an ASCII letter is folded by the tokenizer already; a Greek one is not."""
    assert plain_forms("café naïve") == []
    assert plain_forms("λόγος Łódź") == ["λογοσ", "lodz"]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_coded_pieces_survive_the_tokenizer(text: str) -> None:
    """SQLite takes each coded word as one token, whatever characters it stands for."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("create virtual table t using fts5(x, tokenize='porter unicode61')")
        db.execute("create virtual table v using fts5vocab(t, instance)")
        words = pieces(text.strip())
        db.execute("insert into t values (?)", (" ".join(words),))
        assert [term for (term,) in db.execute("select term from v order by offset")] == words


@given(st.text(max_size=80))
def test_any_text_has_extra_words(text: str) -> None:
    """No text is too odd, and the words are separated by single spaces."""
    words = extra_words(text)
    assert words == " ".join(words.split())
