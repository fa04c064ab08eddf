"""Folding, words, identifiers and their parts."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspec_py.identifiers import identifiers, parts
from memspec_py.text import (
    FUNCTION_WORDS,
    NEGATIONS,
    fold,
    unspaced_runs,
    words,
)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Harbour GAUGE", "harbour gauge"),
        ("Café", "cafe"),
        ("Cafe\u0301", "cafe"),
        ("ﬁrst", "first"),
        ("ＡＢＣ１２", "abc12"),
        ("Straße", "strasse"),
        ("Łódź, Ærø, Ørsted", "lodz, aero, orsted"),
        ("ΌΣΟΣ", "οσοσ"),
        ("Ёж", "еж"),
        ("soft\u00adhyphen", "softhyphen"),
        ("가다", "가다"),
        ("ｶﾞｷﾞ", "ガギ"),
        ("हिन्दी", "हिन्दी"),
    ],
)
def test_fold_joins_forms_of_one_text(text: str, folded: str) -> None:
    """Case, accents, ligatures and widths fold; the vowels of other scripts stay."""
    assert fold(text) == folded


@given(st.text())
def test_fold_is_idempotent(text: str) -> None:
    """Folding a folded text changes nothing."""
    assert fold(fold(text)) == fold(text)


@given(st.text())
def test_fold_does_not_see_case(text: str) -> None:
    """A text and its lower-case form fold to the same words."""
    assert words(text.lower()) == words(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Use `getUserById`, not get_user!", ["use", "getuserbyid", "not", "get", "user"]),
        ("rm -rf /tmp/x2", ["rm", "rf", "tmp", "x2"]),
        ("ที่นี่ สวัสดี", ["ที่นี่", "สวัสดี"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("Привет, мир", ["привет", "мир"]),
        ("日本語のテスト", ["日本語のテスト"]),
        ("🔥 -- ___", []),
        ("", []),
    ],
)
def test_words_are_runs_of_letters_and_digits(text: str, found: list[str]) -> None:
    """Everything else separates, and vowel marks belong to their letters."""
    assert words(text) == found


@given(st.text())
def test_every_letter_is_in_a_word(text: str) -> None:
    """No letter or digit of a text is lost by splitting it."""
    assert [char for char in fold(text) if char.isalnum()] == [
        char for word in words(text) for char in word if char.isalnum()
    ]


@pytest.mark.parametrize(
    "name",
    [
        "getUserById",
        "AUTH_TOKEN_TTL",
        "src/auth/jwt.ts",
        "v2.5",
        "1.0.21",
        "HTTPServer2",
        "std::vector",
        "foo()",
        "--force",
        ".gitignore",
        "./bin/test",
        "~/notes",
        "$HOME",
        "@scope/pkg",
        "host:8080",
        "utf-8",
        "C++",
        "C#",
        "__init__.py",
        "https://example.org/a/b",
        "naïveBayes",
    ],
)
def test_code_looks_like_code(name: str) -> None:
    """A token with the marks of code is found whole in the middle of a sentence."""
    assert identifiers(f"We saw {name}, then stopped.") == [name]


@pytest.mark.parametrize(
    "prose",
    [
        "A near-duplicate is read-only and/or stale.",
        "The 3rd and 21st APIs, e.g. those with IDs, i.e. URLs.",
        "At 12:30 on 2026-03-01.",
        "It is _very_ late, n/a.",
        "<td>cell</td>",
    ],
)
def test_prose_holds_no_identifier(prose: str) -> None:
    """Hyphens, ordinals, plural acronyms, dates, times and emphasis are prose."""
    assert identifiers(prose) == []


def test_an_accent_of_its_own_does_not_split_an_identifier() -> None:
    """A decomposed text has the same identifiers as a composed one."""
    assert identifiers("gue\u0301tId") == ["guétId"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("getUserById", ["get", "user", "by", "id"]),
        ("AUTH_TOKEN_TTL", ["auth", "token", "ttl"]),
        ("src/auth/jwt.ts", ["src", "auth", "jwt", "ts"]),
        ("v2.5", ["v", "2", "5"]),
        ("HTTPServer2", ["http", "server", "2"]),
        ("userIDs", ["user", "ids"]),
        ("utf8", ["utf", "8"]),
        ("C++", ["cpp"]),
        ("C#", ["csharp"]),
        ("naïveBayes", ["naive", "bayes"]),
        ("ПриветМир2", ["приветмир", "2"]),
        ("--__--", []),
    ],
)
def test_parts_of_identifiers(name: str, found: list[str]) -> None:
    """Separators, inner capitals and digits split a name."""
    assert parts(name) == found


@given(st.text())
def test_any_text_can_be_taken_apart(text: str) -> None:
    """Every identifier of any text occurs in it, and its parts are folded."""
    import unicodedata

    composed = unicodedata.normalize("NFC", text)
    for name in identifiers(text):
        assert name in composed
        assert all(part == fold(part) and part for part in parts(name))


def test_unspaced_runs_are_those_without_word_breaks() -> None:
    """Han, kana, Hangul and Thai stand alone; Latin text has none."""
    assert unspaced_runs("Redis で キャッシュ, 缓存 и кэш ที่") == ["で", "キャッシュ", "缓存", "ที่"]
    assert unspaced_runs("plain words") == []


def test_a_negation_is_no_function_word() -> None:
    """Leaving out function words never leaves out a negation, and both lists are folded."""
    assert FUNCTION_WORDS.isdisjoint(NEGATIONS)
    assert all(word == fold(word) for word in FUNCTION_WORDS | NEGATIONS)


def test_ascii_text_does_not_load_the_unicode_tables() -> None:
    """The shell starts without unicodedata as long as the text is ASCII."""
    code = (
        "import sys; from memspec_py import identifiers, text\n"
        "text.words('Plain'); identifiers.identifiers('getUserById'); identifiers.parts('a_b')\n"
        "assert text.words('Plain') == ['plain']\n"
        "print('unicodedata' in sys.modules)"
    )
    isolated = [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, '.')\n{code}"]
    done = subprocess.run(isolated, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "False", done.stderr
