from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memspec_py.index.coverage import strongest
from memspec_py.record.model import Witness
from memspec_py.testing import TempStore, a_record

if TYPE_CHECKING:
    from pathlib import Path

    from memspec_py.views.search import SearchReply


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """An empty store."""
    return TempStore(tmp_path)


def verdict(reply: SearchReply) -> tuple[str, str]:
    """The coverage of a reply and its note."""
    return reply.coverage, reply.coverage_note


def test_ok_when_the_best_hit_carries_every_term(store: TempStore) -> None:
    """All content-bearing terms in one body: the store answers."""
    store.put(a_record(1, title="Auth", body="Tokens are signed with RS256."))
    assert verdict(store.ms.search("are the tokens signed")) == (
        "ok",
        "the best hit carries every query term",
    )


def test_none_when_nothing_matches(store: TempStore) -> None:
    """No record matches, and an empty store says so as well."""
    assert verdict(store.ms.search("tokens")) == ("none", "no active record matches")
    store.put(a_record(1, body="something else"))
    assert verdict(store.ms.search("tokens")) == ("none", "no active record matches")


def test_weak_below_half_of_the_terms(store: TempStore) -> None:
    """Fewer than half of the terms in the best hit, and the note names which matched nothing."""
    store.put(a_record(1, body="tokens rotate"))
    coverage, note = verdict(store.ms.search("tokens kubernetes ingress"))
    assert coverage == "weak"
    assert note.startswith("the best hit carries 1 of 3 query terms")
    assert "kubernetes, ingress" in note


def test_weak_below_three_quarters_for_a_partial_match(store: TempStore) -> None:
    """A hit that lacks terms answers only when it carries three quarters of them."""
    store.put(a_record(1, body="alpha bravo charlie"))
    coverage, note = verdict(store.ms.search("alpha bravo zulu"))
    assert coverage == "weak"
    assert note.startswith("no hit carries more than 2 of 3 query terms")
    coverage, note = verdict(store.ms.search("alpha bravo charlie zulu"))
    assert coverage == "ok"
    assert "3 of 4 query terms" in note
    assert "zulu" in note


def test_weak_when_only_the_title_or_the_tags_match(store: TempStore) -> None:
    """A word in a title tells little when the body lacks it; without a body it is the claim."""
    store.put(a_record(1, title="Deployment", tags=("harbour",), body="Ask the operators first."))
    store.put(a_record(2, title="Queue lag is normal on Mondays"))
    assert verdict(store.ms.search("deployment"))[0] == "weak"
    assert "title or tags" in verdict(store.ms.search("harbour"))[1]
    assert verdict(store.ms.search("queue lag"))[0] == "ok"


def test_weak_when_every_record_has_the_words(store: TempStore) -> None:
    """Words that are in nearly all records tell nothing; rare ones do."""
    for number in range(1, 41):
        store.put(a_record(number, body=f"the service handles orders of kind{number}"))
    coverage, note = verdict(store.ms.search("service orders"))
    assert coverage == "weak"
    assert "nearly every record" in note
    assert verdict(store.ms.search("service kind7"))[0] == "ok"


@pytest.mark.parametrize(
    ("query", "coverage"),
    [
        ("remootio, hubitat, gate", "ok"),
        ('"remootio relay" hubitat', "ok"),
        ("tariffs", "ok"),
        ("gateway", "none"),
        ("does the relay use a tariff", "ok"),
    ],
)
def test_terms_are_judged_by_the_words_of_the_index(
    store: TempStore, query: str, coverage: str
) -> None:
    """Commas, quotes, plurals and function words do not count; a part of a word does not match."""
    store.put(a_record(1, body="The remootio relay opens the gate by hubitat at night tariff."))
    assert store.ms.search(query).coverage == coverage


def test_the_best_covered_hit_is_judged_not_the_first(store: TempStore) -> None:
    """The verdict looks at the hit that carries most, wherever it stands on the page."""
    store.put(a_record(1, title="alpha alpha alpha", body="alpha " * 30))
    store.put(a_record(2, body="alpha bravo charlie and much else " + "filler word " * 60))
    assert verdict(store.ms.search("alpha bravo charlie delta"))[0] == "ok"


@pytest.mark.parametrize(
    ("hits", "witness"),
    [
        ([], None),
        ([("assertion", False)], "assertion"),
        ([("assertion", False), ("operator", False), ("evidence", False)], "operator"),
        ([("anchor", False), ("operator", False)], "anchor"),
        ([("anchor", True)], "operator"),
        ([("operator", True)], "evidence"),
        ([("evidence", True)], "assertion"),
        ([("assertion", True)], "assertion"),
        ([("evidence", True), ("evidence", False)], "evidence"),
    ],
)
def test_the_strongest_witness_with_derived_hits_one_step_weaker(
    hits: list[tuple[str, bool]], witness: str | None
) -> None:
    """An inference attests to no more than how the inference was checked."""
    assert strongest(hits) == witness


def test_the_reply_names_the_strongest_witness_of_its_hits(store: TempStore) -> None:
    """Coverage ok with witness assertion reads as claimed, but unverified."""
    store.put(a_record(1, body="alpha", verified_with=Witness.EVIDENCE))
    store.put(a_record(2, body="alpha"))
    first = a_record(1).id
    store.put(a_record(3, body="bravo", verified_with=Witness.EVIDENCE, derived_from=(first,)))
    assert store.ms.search("alpha").coverage_witness == "evidence"
    assert store.ms.search("bravo").coverage_witness == "assertion"
    assert store.ms.search("bravo").results[0].derived
    assert store.ms.search("zulu").coverage_witness is None
