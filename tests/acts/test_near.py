"""The near-duplicate rule, class by class."""

from __future__ import annotations

import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memspec_py.acts.near import Likeness, likeness, wording
from memspec_py.text import words

BODY = (
    "The poller reads each gauge over Modbus and polls the mast last. Lower values starve the radio"
    " link at the pier, so ask the harbour board before changing POLL_SECONDS in src/poller.py."
)


def compare(one: str, other: str, one_body: str = "", other_body: str = "") -> Likeness:
    """The likeness of two claims, after checking that their order does not matter."""
    first, second = wording(one, one_body), wording(other, other_body)
    found = likeness(first, second)
    assert likeness(second, first) == found
    return found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Gauge poller wakes every 45 seconds", "gauge poller wakes EVERY 45 seconds."),
        ("Gauge poller wakes every 45 seconds", "  “Gauge poller”\twakes every 45 seconds!"),
        ("Café opens at dawn", "Cafe\u0301 opens at dawn"),
        ("Conﬁg is cached", "Config is cached"),
        ("Writer flushes readings", "Writers flush the reading"),
        ("Radio link saturates near high tide", "The radio link saturates near the high tide"),
        ("We use SQLite for gauge readings", "Use SQLite for our gauge readings"),
        ("Chose SQLite for gauge readings", "Adopt SQLite for gauge readings"),
        ("Build with Gradle, Maven and Ant", "Build with Ant, Gradle & Maven"),
        ("In staging, tokens expire after 15 minutes", "Tokens expire after 15 minutes in staging"),
        ("`getUserById` caches users", "getUserById caches users"),
        ("getUserById caches users", "get_user_by_id caches users"),
        ("getUserById caches users", "get-user-by-id caches users"),
        ("Front-end tests run in CI", "Frontend tests run in CI"),
        ("Encode pages as UTF-8", "Encode pages as utf8"),
        ("Tokens expire after 15 min", "Tokens expire after 15 minutes"),
        ("Poller wakes every 45s", "Poller wakes every 45 seconds"),
        ("Poller retries five times", "Poller retries 5 times"),
        ("Access tokens live for 15 minutes", "the access-tokens live for fifteen minutes"),
        ("Keep 10,000 readings", "Keep 10000 readings"),
        ("Requires Python v3.11", "Requires Python version 3.11"),
        ("Cap the queue at 80%", "Cap the queue at 80 percent"),
        ("Tokens don't expire", "Tokens do not expire"),
        ("Tokens can't expire", "Tokens cannot expire"),
        ("Delete the database config", "Remove the db configuration"),
        ("使用架构决策记录", "使用架构决策记录。"),
        ("Use it", "use it!"),
    ],
)
def test_a_reworded_title_is_a_duplicate(one: str, other: str) -> None:
    """Wording that keeps every word of meaning is the same title."""
    found = compare(one, other)
    assert found.is_duplicate, found.why
    assert found.title == 1.0
    assert found.same_order


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # numbers and versions
        ("Poller wakes every 45 seconds", "Poller wakes every 46 seconds"),
        ("Poller wakes every 45 seconds", "Poller wakes every 45 minutes"),
        ("Poller retries five times", "Poller retries three times"),
        ("Requires Python 3.11", "Requires Python 3.1.1"),
        ("Requires Python 3.11", "Requires Python 3.12"),
        ("Requires Python", "Requires Python 3"),
        ("Offset is -5 cm", "Offset is 5 cm"),
        ("Window 1.5 m", "Window 15 m"),
        # negation
        ("Tokens expire", "Tokens never expire"),
        ("Do not lower the threshold", "Lower the threshold"),
        ("Deploys with a lock", "Deploys without a lock"),
        ("Avoid default exports", "Default exports"),
        # opposites and quantifiers
        ("Enable caching on the pier box", "Disable caching on the pier box"),
        ("Retry before the flush", "Retry after the flush"),
        ("Deploy to staging", "Deploy from staging"),
        ("Deploys to staging need approval", "Deploys to production need approval"),
        ("Keys are stable across restarts", "Keys are unstable across restarts"),
        ("Operators may retire a record", "Only operators may retire a record"),
        ("A claim may name a source", "A claim must name a source"),
        ("Requires a witness and an anchor", "Requires a witness or an anchor"),
        ("Window < 5 px", "Window > 5 px"),
        # order
        ("Poller depends on writer", "Writer depends on poller"),
        ("Prefer tabs over spaces", "Prefer spaces over tabs"),
        ("Use tabs, not spaces", "Use spaces, not tabs"),
        ("Retries, not timeouts", "No retries, timeouts"),
        ("Migrate, then deploy", "Deploy, then migrate"),
        ("Set x to 1, y to 2", "Set x to 2, y to 1"),
        # small words
        ("The queue was SQLite", "The queue is SQLite"),
        ("Log in to the pier box", "Log to the pier box"),
        ("Flush 5 readings per second", "Flush 5 readings second"),
        # identifiers and nouns
        ("getUserById caches users", "getUserByName caches users"),
        ("Tokens live in src/auth/jwt.ts", "Tokens live in src/auth/jwt.js"),
        ("Paths start at src/auth", "Paths start at auth/src"),
        ("Store files in S3", "Store files in R3"),
        ("Store files in S3", "Store files in 3"),
        ("Written in C++", "Written in C"),
        ("Written in C#", "Written in C++"),
        ("Served over http", "Served over https"),
        ("Radio link of the pier saturates", "Radio link of the mast saturates"),
        ("有効にする設定", "無効にする設定"),
        # nothing to compare
        ("", ""),
        ("🔥", "🔥"),
    ],
)
@pytest.mark.parametrize("body", ["", BODY])
def test_a_title_with_another_meaning_is_no_duplicate(one: str, other: str, body: str) -> None:
    """One word of meaning makes another claim, even over the very same body."""
    found = compare(one, other, body, body)
    assert not found.is_duplicate, found.why


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (BODY, ""),
        ("", BODY),
        (BODY, BODY.upper()),
        (BODY, BODY.split(". ", maxsplit=1)[0]),
        (BODY, BODY + " Agreed in March 2024."),
        (BODY, BODY.replace("The poller reads", "It's the poller that reads")),
        ("Set by the timer.", "Agreed with the harbour board after the surge."),
    ],
)
def test_the_same_title_is_a_duplicate_over_bodies_that_agree(one: str, other: str) -> None:
    """A body may be missing, cut, longer, or a comment in other words."""
    title = "Gauge poller wakes on a timer"
    found = compare(title, title, one, other)
    assert found.is_duplicate, found.why


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("BATCH is 32", "BATCH is 64"),
        ("It is five", "It is six"),
        ("64 since March, 32 was slow", "32 since March, 64 was slow"),
        ("Set in POLL_SECONDS", "Set in WAKE_SECONDS"),
        ("Do not lower it without asking", "Lower it without asking"),
        ("Allow it on the pier box", "Deny it by order of the board"),
        (BODY, BODY.replace("before", "after")),
        (BODY, BODY.replace("reads", "never reads")),
        (BODY, BODY.replace("reads", "only reads")),
        (BODY, BODY.replace("src/poller.py", "src/writer.py")),
        (BODY, BODY.replace("Modbus", "RS485")),
    ],
)
def test_the_same_title_is_no_duplicate_over_bodies_that_disagree(one: str, other: str) -> None:
    """Another number, identifier, negation or opposite in the body is another claim."""
    title = "Gauge poller wakes on a timer"
    found = compare(title, title, one, other)
    assert not found.is_duplicate, found.why


def _distinct_words(prefix: str, count: int) -> str:
    letters = string.ascii_lowercase
    return " ".join(prefix + letters[i // 26] + letters[i % 26] + "ux" for i in range(count))


def test_long_bodies_under_one_title_must_repeat_each_other() -> None:
    """Two records on one topic, each with much to say of its own, both stand."""
    title = "Security groups in Terraform"
    found = compare(title, title, _distinct_words("a", 60), _distinct_words("b", 60))
    assert not found.is_duplicate
    assert found.body == 0.0


def test_a_topic_is_not_a_claim() -> None:
    """Under a title of one or two words even short bodies must repeat each other."""
    assert not compare("Decision", "Decision", "Use tabs here", "Keep the old box").is_duplicate
    assert compare("Decision", "Decision", "Use tabs here", "Use tabs here too").is_duplicate


def test_a_title_may_say_more_of_what_both_bodies_say() -> None:
    """A word that the body says anyway makes no new claim; a word it does not say does."""
    title = "Gauge poller wakes on a timer"
    assert (
        compare(title, f"{title} over Modbus", BODY, BODY).is_duplicate is False
    )  # over: small word
    assert compare(title, f"Harbour {title}", BODY, BODY).is_duplicate
    assert not compare(title, f"Ferry {title}", BODY, BODY).is_duplicate
    assert not compare(title, f"Harbour {title}", BODY, "The poller is slow.").is_duplicate


def test_the_parts_of_a_likeness_say_what_differs() -> None:
    """Each part is judged on its own, and why is a sentence about what decided."""
    found = compare("Poller retries 3 times", "Poller never retries 5 times")
    assert not found.same_numbers
    assert not found.same_negation
    assert found.same_identifiers
    assert found.body is None
    assert found.why == "the titles name different numbers"
    opposed = compare("Deploys to staging need approval", "Deploys to production need approval")
    assert opposed.why == "the titles say opposite things: production, staging"


_WORDS = (
    "gauge poller Writer reads every not only 45 3.11 v2 getUserById AUTH_TTL src/a.py S3 and or"
    " the staging, in Notes café 日本語 before enable utf-8 over don't frontend front end"
).split()
_TITLES = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=8).map(" ".join)
_CLAIMS = st.tuples(_TITLES | st.text(max_size=40), _TITLES | st.text(max_size=80))


@given(_CLAIMS)
def test_a_claim_is_a_duplicate_of_itself(claim: tuple[str, str]) -> None:
    """The rule is reflexive for every title that has a word."""
    assume(words(claim[0]))
    found = likeness(wording(*claim), wording(*claim))
    assert found.is_duplicate, found.why


@given(_CLAIMS, _CLAIMS)
def test_the_order_of_two_claims_does_not_matter(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    """The rule is symmetric in every part."""
    first, second = wording(*one), wording(*other)
    assert likeness(first, second) == likeness(second, first)


@given(_TITLES, _TITLES)
def test_case_does_not_matter(title: str, body: str) -> None:
    """A claim in capitals is the same claim."""
    found = likeness(wording(title, body), wording(title.upper(), body.upper()))
    assert found.is_duplicate, found.why


@given(st.lists(st.sampled_from(_WORDS), min_size=1, max_size=8), st.data())
def test_punctuation_between_words_does_not_matter(chosen: list[str], data: st.DataObject) -> None:
    """Marks before and after words, and wider gaps, leave a title the same."""
    marks = st.sampled_from(["", "", ".", "!", ";", "?", "...", "”", "`", ")", ":", " —"])
    gaps = st.sampled_from([" ", "  ", "\t", " “", " (", " *"])
    title = " ".join(chosen)
    marked = "".join(word + data.draw(marks) + data.draw(gaps) for word in chosen)
    found = likeness(wording(title), wording(marked))
    assert found.is_duplicate, (marked, found.why)


@given(_TITLES, st.integers(0, 10_000), st.integers(0, 10_000))
def test_another_number_is_never_a_duplicate(title: str, one: int, other: int) -> None:
    """Whatever the rest says, a title with another number is another claim."""
    assume(one != other)
    body = "The same long body that says nothing about it but is as long as any real one would be."
    found = likeness(wording(f"{title} is {one}", body), wording(f"{title} is {other}", body))
    assert not found.is_duplicate
