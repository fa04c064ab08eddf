from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memspec_py.index import db as file
from memspec_py.index.query import parse_query
from memspec_py.testing import TempStore, a_record

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path

LIMIT = 64


@pytest.fixture(scope="module")
def empty() -> Iterator[sqlite3.Connection]:
    """The tables of an index, without rows."""
    db = file.in_memory()
    yield db
    db.close()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> TempStore:
    """A record for each way of writing things, titled with a word of its own."""
    made = TempStore(tmp_path_factory.mktemp("store"))
    for number, (title, body) in enumerate(SAID.items(), 1):
        made.put(a_record(number, title=title, body=body))
    return made


SAID = {
    "alpha": "getUserById loads a profile",
    "bravo": "AUTH_TOKEN_TTL is nine hundred",
    "charlie": "see src/auth/jwt.ts for signing",
    "delta": "written in C++, not in C# or F#",
    "echo": "never run rm -rf here",
    "foxtrot": "released as v2.5 and 1.0.21",
    "golf": "the gateway and the tariff table",
    "hotel": "naïve café in Kraków",
    "india": "Łódź ferry, Ærø, Straße, ﬁle, ＦＵＬＬ",
    "juliett": "东京都的天气预报 is Chinese",
    "kilo": "カタカナとひらがな",
    "lima": "한국어 검색은 어렵다",
    "mike": "ภาษาไทยค้นหาได้",
    "november": "Ελληνικά: ο λόγος",
    "oscar": "shipped 🎉 yesterday",
    "papa": "cafe\u0301 in parts",
    "quebec": "HTTPServer2 and snake_case_name",
    "romeo": "it is what it is",
    "sierra": "host:8080, a*b, foo+bar, me@example.org, x.y#z",
    "tango": "don't panic",
    "uniform": "Lodz in plain letters",
}


def runs(db: sqlite3.Connection, text: str) -> None:
    """Ask SQLite for everything a search asks about a text."""
    query = parse_query(text, LIMIT)
    if not query.terms:
        return
    expressions = [query.all_terms(), query.any_term(), "{body} : (" + query.any_term() + ")"]
    expressions += [part for term in query.terms for part in (term.whole, *term.loose)]
    for expression in expressions:
        db.execute("select rowid from words where words match ?", (expression,)).fetchall()


_syntax = st.text(st.sampled_from("\"'*^:()-+{}[]ANDORTNEabC# ._/\\@\0\ud800é漢🎉"), max_size=40)


@given(st.one_of(st.text(), _syntax, st.text(st.characters(categories=["Cs"]))))
@example("\ud800")
@example("a\0b")
@example('NEAR("a" b, 3) AND NOT x*')
@example("{title} : ^x")
def test_any_text_is_a_legal_query(empty: sqlite3.Connection, text: str) -> None:
    """Nothing a person types is an operator, so SQLite never finds a syntax error."""
    runs(empty, text)


@pytest.mark.parametrize(
    "text",
    [
        " ".join(f"word{number}" for number in range(10_000)),
        "_".join(f"part{number}" for number in range(10_000)),
        "-".join(f"part{number}" for number in range(10_000)),
        "/".join(f"camelCase{number}" for number in range(3_000)),
        "a_" * 10_000,
        "aB" * 10_000,
        "漢字" * 5_000,
        "漢a" * 5_000,
        "".join(chr(0x4E00 + number) for number in range(5_000)),
        "ก" * 10_000,
        "🎉" * 10_000,
        "".join(chr(0x1F300 + number) for number in range(600)) * 10,
        "C++ " * 10_000,
        '"' * 10_000,
        "(" * 10_000,
        "x" * 1_000_000,
        "é" * 100_000,
        "don't " * 10_000,
    ],
    ids=lambda text: f"{text[:12]!a}x{len(text)}",
)
def test_a_huge_query_takes_bounded_time(empty: sqlite3.Connection, text: str) -> None:
    """Ten thousand words, or one endless one, cost no more than a moment and never fail."""
    begun = time.process_time()
    runs(empty, text)
    assert time.process_time() - begun < 3


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("getUserById", "alpha"),
        ("getuserbyid", "alpha"),
        ("user profile", "alpha"),
        ("AUTH_TOKEN_TTL", "bravo"),
        ("token ttl", "bravo"),
        ("src/auth/jwt.ts", "charlie"),
        ("jwt.ts", "charlie"),
        ("auth/jwt", "charlie"),
        ("C++", "delta"),
        ("C#", "delta"),
        ("f#", "delta"),
        ("rm -rf", "echo"),
        ("v2.5", "foxtrot"),
        ("1.0.21", "foxtrot"),
        ("tariffs", "golf"),
        ("NOT gateway", "golf"),
        ('"gateway', "golf"),
        ("naive cafe krakow", "hotel"),
        ("KRAKÓW", "hotel"),
        ("lodz ferry", "india"),
        ("Łódź ferry", "india"),
        ("aero", "india"),
        ("strasse", "india"),
        ("Łódź letters", "uniform"),
        ("Straße", "india"),
        ("file", "india"),
        ("full", "india"),
        ("天气", "juliett"),
        ("京", "juliett"),
        ("ひらがな", "kilo"),
        ("검색", "lima"),
        ("ไทย", "mike"),
        ("λογος", "november"),
        ("ΛΌΓΟΣ", "november"),
        ("🎉", "oscar"),
        ("cafés parts", "papa"),
        ("server", "quebec"),
        ("snake case", "quebec"),
        ("host:8080", "sierra"),
        ("a*b", "sierra"),
        ("foo+bar", "sierra"),
        ("me@example.org", "sierra"),
        ("panic", "tango"),
    ],
)
def test_identifiers_and_words_are_found_whole_and_by_their_parts(
    store: TempStore, query: str, title: str
) -> None:
    """What stands in a body is found as it is written, by its parts, and without accents."""
    assert store.ms.search(query).results[0].title == title
    assert store.ms.search(query).coverage == "ok"


@pytest.mark.parametrize("query", ["gate", "tari", "userby", "京天", "ＸＹＺ", "𝔘"])
def test_a_part_of_a_word_is_not_the_word(store: TempStore, query: str) -> None:
    """`gate` does not match `gateway`, and characters that are not neighbours do not match."""
    assert store.ms.search(query).results == ()


def test_function_words_are_ignored_unless_they_stand_alone(store: TempStore) -> None:
    """`what is the tariff` asks for the tariff; `what is it` has nothing else to ask for."""
    assert [term.shown for term in parse_query("what is the tariff", LIMIT).terms] == ["tariff"]
    assert [term.shown for term in parse_query("isn't there a tariff?", LIMIT).terms] == ["tariff"]
    assert [term.shown for term in parse_query("which tariff do we use", LIMIT).terms] == ["tariff"]
    assert store.ms.search("what is it").results[0].title == "romeo"
    assert store.ms.search("don't").results[0].title == "tango"


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("user's", "user"),
        ("users'", "users"),
        ("we'll sail", "sail"),
        ("l'avion", "avion"),
        ("d\u2019authentification", "authentification"),
        ("O'Reilly", "Reilly"),
        ("'quoted'", "quoted"),
        ("rock'n'roll", "roll"),
    ],
)
def test_what_an_apostrophe_joins_is_taken_apart(word: str, shown: str) -> None:
    """The word counts; a short ending behind it, or an article before it, does not."""
    assert [term.shown for term in parse_query(word, LIMIT).terms] == [shown]


@pytest.mark.parametrize("joint", ["_", "-", "/", "漢"])
def test_one_endless_word_asks_for_few_parts(joint: str) -> None:
    """Each part counts once, and beyond a limit no more are looked for."""
    (term,) = parse_query(joint.join(f"part{number}" for number in range(1000)), LIMIT).terms
    assert len(term.loose) <= 64
    (same,) = parse_query(joint.join(["part"] * 50), LIMIT).terms
    assert len(same.loose) <= 2


def test_terms_are_counted_once_and_only_so_many() -> None:
    """Repeated words are one term, and what exceeds the limit is counted, not dropped silently."""
    query = parse_query("Auth auth AUTH token one two three four", 3)
    assert [term.shown for term in query.terms] == ["Auth", "token", "two"]
    assert query.left_out == 2


@pytest.mark.parametrize("text", ["", " \t\n", "-", "***", "\ud800", "''", '""'])
def test_a_query_without_a_word_says_so(tmp_path: Path, text: str) -> None:
    """A query of nothing but signs finds nothing and is told why."""
    reply = TempStore(tmp_path).ms.search(text)
    assert (reply.count, reply.coverage) == (0, "none")
    assert "no word to search for" in reply.coverage_note
