from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memspec_py.errors import Invalid, UsageError
from memspec_py.record.model import EdgeType, Kind, State, Type, Witness
from memspec_py.report import as_json
from memspec_py.testing import TempStore, a_record, an_id

if TYPE_CHECKING:
    from pathlib import Path

    from memspec_py.views.search import SearchReply


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """An empty store."""
    return TempStore(tmp_path)


def ids(reply: SearchReply) -> list[str]:
    """The records of a reply, in order."""
    return [hit.id for hit in reply.results]


def numbered(*numbers: int) -> list[str]:
    """The ids of ``a_record``s."""
    return [an_id(number) for number in numbers]


# Tiers and order


def test_records_with_all_terms_stand_above_those_with_some(store: TempStore) -> None:
    """However often a single term occurs, a record that carries every term comes first."""
    store.put(a_record(1, title="queue", tags=("queue",), body="queue " * 40))
    store.put(a_record(2, body="long " * 300 + " queue worker"))
    reply = store.ms.search("queue worker", explain=True)
    assert ids(reply) == numbered(2, 1)
    assert [hit.score and hit.score["tier"] for hit in reply.results] == ["all", "some"]


def test_partial_matches_only_fill_the_page(store: TempStore) -> None:
    """Where records with every term fill the page, no other is added."""
    for number in range(1, 5):
        store.put(a_record(number, body="queue worker" if number < 4 else "queue"))
    assert set(ids(store.ms.search("queue worker", limit=3))) == set(numbered(1, 2, 3))
    assert ids(store.ms.search("queue worker", limit=4))[3] == an_id(4)


def test_one_missing_word_does_not_lose_the_record(store: TempStore) -> None:
    """A query with one word the right record lacks still finds it."""
    store.put(a_record(1, body="the ledger runs on Postgres"))
    assert ids(store.ms.search("ledger postgres version")) == numbered(1)


def test_title_and_tags_weigh_more_than_the_body(store: TempStore) -> None:
    """The same word counts most in a title, then in the tags, then in the body."""
    filler = "some other words of the same length here"
    store.put(a_record(1, title="Plain one", tags=("misc",), body=f"harbour {filler}"))
    store.put(a_record(2, title="Plain two", tags=("harbour",), body=f"pier {filler}"))
    store.put(a_record(3, title="Harbour two", tags=("misc",), body=f"pier {filler}"))
    assert ids(store.ms.search("harbour")) == numbered(3, 2, 1)


def test_equal_scores_are_ordered_by_id(store: TempStore) -> None:
    """The order is stable where nothing tells two records apart."""
    for number in (3, 1, 2):
        store.put(a_record(number, title="same", body="harbour"))
    assert ids(store.ms.search("harbour")) == numbered(1, 2, 3)


def test_freshness_reorders_within_a_tier_only(store: TempStore) -> None:
    """A profile's recency prefers the fresh among equals, never the fresh over the complete."""
    profiles = "profiles:\n  news:\n    ranking:\n      recency: '1.0'\n"
    profiles += "  flat:\n    ranking:\n      recency: '0'\n"
    store.write("config.yaml", profiles)
    store.put(a_record(1, title="t", body="queue worker", created="2024-01-01T00:00:00.000Z"))
    store.put(a_record(2, title="t", body="queue worker", created="2025-12-31T00:00:00.000Z"))
    store.put(a_record(3, title="queue", body="queue " * 9, created="2025-12-31T00:00:00.000Z"))
    ms = store.again()
    assert ids(ms.search("queue worker", profile="news")) == numbered(2, 1, 3)
    assert ids(ms.search("queue worker", profile="flat")) == numbered(1, 2, 3)


def test_a_verified_record_is_as_fresh_as_its_verification(store: TempStore) -> None:
    """Freshness counts from the last verification, else from the creation."""
    old, now = "2024-01-01T00:00:00.000Z", "2025-12-31T00:00:00.000Z"
    store.put(a_record(1, body="queue", created=old))
    store.put(a_record(2, body="queue", created=old, last_verified=now))
    assert ids(store.ms.search("queue")) == numbered(2, 1)


def test_the_parts_of_a_score_multiply_to_its_total(store: TempStore) -> None:
    """`--explain` shows why a hit stands where it does; without it there is no score."""
    for number in range(1, 6):
        store.put(a_record(number, body="harbour " * number + "filler " * 10 * number))
    reply = store.ms.search("harbour", explain=True)
    totals = []
    for hit in reply.results:
        assert hit.score is not None
        text, length, recency, fresh, total = (
            float(str(hit.score[name]))
            for name in ("text", "length", "recency", "freshness", "total")
        )
        assert total == pytest.approx(text * length * (1 + recency * fresh), rel=2e-3)
        totals.append(total)
    assert totals == sorted(totals, reverse=True)
    assert all(hit.score is None for hit in store.ms.search("harbour").results)


# Q6, computed from the numbers of SPEC.md alone; no word has an ending that Porter would take off.
_COMPUTED = {
    1: ("crane yard", ("harbour",), "the crane and the pier stand on the yard and the pier"),
    2: ("pier", (), "harbour pier harbour"),
    3: ("crane", ("pier", "yard"), ""),
    4: ("ledger", ("book",), "a book of the harbour with the crane in it and much more to read"),
}


@pytest.mark.parametrize("query", ["crane", "harbour pier", "crane book pier"])
def test_a_score_can_be_computed_from_the_specification(store: TempStore, query: str) -> None:
    """BM25 with weights, the correction for length, and freshness by half-life."""
    for number, (title, tags, body) in _COMPUTED.items():
        made = f"2025-0{number}-01T00:00:00.000Z"
        store.put(a_record(number, title=title, tags=tags, body=body, created=made))
    store.put(a_record(9, title="crane", kind=Kind.QUESTION))  # neither shown nor counted
    reply = store.ms.search(query, explain=True)
    assert reply.count > 1
    for hit in reply.results:
        assert hit.score is not None
        number = next(each for each in _COMPUTED if an_id(each) == hit.id)
        assert hit.score["text"] == pytest.approx(_text_by_hand(number, query.split()), rel=1e-3)
        assert hit.score["length"] == pytest.approx(_length_by_hand(number), rel=1e-3)
        days = {1: 365, 2: 334, 3: 306, 4: 275}[number]
        assert hit.score["freshness"] == pytest.approx(0.5 ** (days / 45), rel=1e-3)
        assert hit.score["recency"] == 0.1


def _parts(number: int) -> list[list[str]]:
    """The words of title, tags and body."""
    title, tags, body = _COMPUTED[number]
    return [title.split(), list(tags), body.split()]


def _text_by_hand(number: int, terms: list[str]) -> float:
    sizes = {each: sum(map(len, _parts(each))) for each in _COMPUTED}
    d = sizes[number] / (sum(sizes.values()) / len(sizes))
    total = 0.0
    for term in terms:
        have = sum(any(term in part for part in _parts(each)) for each in _COMPUTED)
        idf = max(math.log((len(_COMPUTED) - have + 0.5) / (have + 0.5)), 0.000001)
        weights = zip((2, 1.5, 1), _parts(number), strict=True)
        f = sum(weight * Counter(part)[term] for weight, part in weights)
        total += idf * f * 2.2 / (f + 1.2 * (0.25 + 0.75 * d))
    return total


def _length_by_hand(number: int) -> float:
    def relative(weights: tuple[float, float, float]) -> float:
        sizes = {
            each: sum(w * len(part) for w, part in zip(weights, _parts(each), strict=True))
            for each in _COMPUTED
        }
        return sizes[number] / (sum(sizes.values()) / len(sizes))

    r, w = relative((1, 1, 1)), relative((2, 1.5, 1))
    return (2 + 1.2 * (0.25 + 0.75 * r)) / (2 + 1.2 * (0.6 + 0.4 * w))


@settings(max_examples=25)
@given(st.lists(st.lists(st.sampled_from("abc"), max_size=4), min_size=1, max_size=6), st.data())
def test_tiers_hold_for_any_store(
    tmp_path_factory: pytest.TempPathFactory, bodies: list[list[str]], data: st.DataObject
) -> None:
    """Whatever is in the store: complete hits first, then partial ones, each record once."""
    store = TempStore(tmp_path_factory.mktemp("store"))
    for number, words in enumerate(bodies, 1):
        body = " ".join(f"word{letter}" for letter in words)
        store.put(a_record(number, title="t", body=body))
    wanted = data.draw(st.sets(st.sampled_from("abc"), min_size=1))
    limit = data.draw(st.integers(1, 7))
    query = " ".join(f"word{letter}" for letter in sorted(wanted))
    page = ids(store.ms.search(query, limit=limit))
    complete = {an_id(n) for n, words in enumerate(bodies, 1) if wanted <= set(words)}
    partial = {an_id(n) for n, words in enumerate(bodies, 1) if wanted & set(words)}
    assert len(set(page)) == len(page) == min(limit, len(partial))
    assert set(page[: len(complete)]) <= complete
    assert set(page) <= partial


# Filters


def test_type_narrows_and_the_note_counts_what_it_hides(store: TempStore) -> None:
    """A type filter that empties the page says how many records of other types match."""
    store.put(a_record(1, type=Type.DECISION, body="harbour"))
    store.put(a_record(2, kind=Kind.OBSERVATION, body="harbour"))
    assert ids(store.ms.search("harbour", type="decision")) == numbered(1)
    assert ids(store.ms.search("harbour", type="observation")) == numbered(2)
    reply = store.ms.search("harbour", type="procedure")
    assert (reply.coverage, reply.hidden) == ("none", {"type": 2})
    assert "2 matching records" in reply.coverage_note
    assert "--type procedure" in reply.coverage_note


def test_questions_are_listed_open_ones_first_then_newest(store: TempStore) -> None:
    """Questions are filtered by a part of their title, and never mixed into a plain search."""
    for number, title in enumerate(("Which ledger?", "Which queue?", "Old LEDGER?", "New ledger?")):
        resolved = number == 2
        store.put(
            a_record(
                number + 1,
                kind=Kind.QUESTION,
                title=title,
                state=State.RESOLVED if resolved else State.OPEN,
                created=f"2025-0{number + 1}-01T00:00:00.000Z",
                answers=(an_id(9),),
                closed=True,
                resolved_by=an_id(9) if resolved else None,
            )
        )
    reply = store.ms.search("ledger", type="question")
    assert ids(reply) == numbered(4, 1, 3)
    assert (reply.results[2].state, reply.results[2].resolved_by) == ("resolved", an_id(9))
    assert (reply.results[0].closed, reply.results[0].answers) == (True, (an_id(9),))
    assert len(store.ms.search("", type="question").results) == 4
    assert store.ms.search("ledger").results == ()
    assert store.ms.search("lighthouse", type="question").coverage == "none"


def test_as_of_is_applied_before_the_page_is_cut(store: TempStore) -> None:
    """A page of one still shows the record that was true then, however many rank above it."""
    for number in range(1, 30):
        summer = "2026-06-01T00:00:00.000Z"
        store.put(a_record(number, title="harbour", body="harbour", valid_from=summer))
    store.put(a_record(50, body="harbour " + "word " * 90, valid_to="2026-03-01T00:00:00.000Z"))
    reply = store.ms.search("harbour", limit=1, as_of="2026-02-01")
    assert ids(reply) == numbered(50)
    assert reply.as_of == "2026-02-01T00:00:00.000Z"
    assert reply.hidden["as_of"] == 29
    gone = store.ms.search("harbour", as_of="2026-04-01")
    assert (gone.count, gone.coverage) == (0, "none")
    assert "30 matching records" in gone.coverage_note
    assert "--as-of" in gone.coverage_note


@pytest.mark.parametrize(
    ("as_of", "shown"),
    [
        ("2026-01-31T23:59:59.999Z", False),
        ("2026-02-01", True),
        ("2026-02-01T01:00:00+02:00", False),
        ("2026-03-01T00:00:00Z", True),
        ("2026-03-01T00:00:00.001Z", False),
    ],
)
def test_validity_includes_both_its_ends(store: TempStore, as_of: str, shown: bool) -> None:  # noqa: FBT001
    """From the first instant to the last, offsets converted."""
    store.put(
        a_record(
            1,
            body="harbour",
            valid_from="2026-02-01T00:00:00.000Z",
            valid_to="2026-03-01T00:00:00.000Z",
        )
    )
    assert bool(store.ms.search("harbour", as_of=as_of).results) is shown


def test_limit_and_full(store: TempStore) -> None:
    """A page is as long as asked; whole bodies come only when asked for."""
    body = "harbour " + "long " * 100
    for number in range(1, 14):
        store.put(a_record(number, body=body.strip()))
    assert store.ms.search("harbour").count == 10
    assert store.ms.search("harbour", limit=3).count == 3
    short, full = (store.ms.search("harbour", limit=1, full=full) for full in (False, True))
    assert short.results[0].body is None
    assert len(short.results[0].preview) <= 160
    assert full.results[0].body == body.strip()


def test_superseded_and_retired_records_are_not_found_but_counted(store: TempStore) -> None:
    """What was replaced does not come back as an answer; the note says that it exists."""
    store.put(a_record(1, body="harbour", state=State.SUPERSEDED, supersede_reason="moved"))
    store.put(a_record(2, body="harbour", state=State.RETIRED))
    reply = store.ms.search("harbour")
    assert (reply.count, reply.coverage, reply.hidden) == (0, "none", {"superseded": 1})
    assert "superseded" in reply.coverage_note


def test_expired_observations_never_come_back(store: TempStore) -> None:
    """Not from a search, not along an edge, not from list, get or status; their files stay."""
    seen = a_record(1, kind=Kind.OBSERVATION, body="harbour", expires="2026-01-02T00:00:00.000Z")
    path = store.put(seen)
    store.put(a_record(2, body="pier", refines=(an_id(1),)))
    assert ids(store.ms.search("harbour")) == numbered(1)
    assert store.ms.search("pier", expand=True).count == 2
    store.clock.advance(days=1)
    reply = store.ms.search("harbour")
    assert (reply.count, reply.hidden) == (0, {"expired": 1})
    assert "expired" in reply.coverage_note
    assert store.ms.search("pier", expand=True).count == 1
    assert store.ms.search("harbour", type="observation").count == 0
    assert path.exists()


# Scope


def test_scope_shows_its_own_and_what_belongs_everywhere(store: TempStore) -> None:
    """Without a scope only unscoped and universal records; with one, its own as well."""
    scopes = {1: None, 2: "universal", 3: "web", 4: "billing"}
    for number, scope in scopes.items():
        store.put(a_record(number, body="harbour", scope=scope))
    assert set(ids(store.ms.search("harbour"))) == set(numbered(1, 2))
    assert store.ms.search("harbour").hidden == {"scope": 2}
    web = store.ms.search("harbour", scope="web")
    assert set(ids(web)) == set(numbered(1, 2, 3))
    assert "scope: web" in web.coverage_note
    assert web.hidden == {"scope": 1}


def test_what_a_scope_hides_is_no_silent_zero(store: TempStore) -> None:
    """An empty page names the scopes in use, or the one that was nearly typed."""
    store.put(a_record(1, body="harbour", scope="billing"))
    plain = store.ms.search("harbour")
    assert plain.coverage == "none"
    assert "1 matching record is of another scope" in plain.coverage_note
    assert "scopes in use: billing" in plain.coverage_note
    assert (
        "did you mean --scope billing" in store.ms.search("harbour", scope="biling").coverage_note
    )


# Edges


def linked(store: TempStore) -> None:
    """1 refines 2, 2 supports 3, 3 depends on 4; 1 supersedes 5 and is distinct from 6."""
    store.put(
        a_record(
            1,
            body="harbour",
            refines=(an_id(2),),
            supersedes=(an_id(5),),
            distinct_from=(an_id(6),),
        )
    )
    store.put(a_record(2, body="pier", supports=(an_id(3),)))
    store.put(a_record(3, body="quay", depends_on=(an_id(4), an_id(99))))
    store.put(a_record(4, body="dock", conflicts_with=(an_id(1),)))
    store.put(a_record(5, body="jetty", state=State.SUPERSEDED, superseded_by=(an_id(1),)))
    store.put(a_record(6, body="mole"))


def test_expansion_follows_edges_for_as_many_steps_as_asked(store: TempStore) -> None:
    """Neighbours stand behind the hits, each once, with the step that led to it."""
    linked(store)
    assert store.ms.search("harbour").count == 1
    found = [ids(store.ms.search("harbour", expand=True, depth=depth)) for depth in (1, 2, 3)]
    assert found == [numbered(1, 2), numbered(1, 2, 3), numbered(1, 2, 3, 4)]
    reply = store.ms.search("harbour", expand=True, depth=2)
    assert (reply.count, reply.expanded) == (3, 2)
    assert reply.results[0].expanded_via is None
    assert reply.results[2].expanded_via == {
        "from_id": an_id(2),
        "edge_type": "supports",
        "hops": 2,
    }


def test_expansion_reaches_superseded_records_only_when_asked(store: TempStore) -> None:
    """The predecessor comes with `include_superseded`, marked by its state."""
    linked(store)
    reply = store.ms.search("harbour", expand=True, include_superseded=True)
    assert ids(reply) == numbered(1, 2, 5)
    assert reply.results[2].state == "superseded"


def test_expansion_follows_only_the_edges_asked_for(store: TempStore) -> None:
    """Other edge types are left out, `distinct_from` always, and an unknown one is refused."""
    linked(store)
    assert ids(store.ms.search("harbour", expand=True, edge_types=["supports"])) == numbered(1)
    assert ids(store.ms.search("pier", expand=True, edge_types=["supports"])) == numbered(2, 3)
    with pytest.raises(UsageError, match="distinct_from"):
        store.ms.search("harbour", expand=True, edge_types=["distinct_from"])


@pytest.mark.parametrize("edge", [edge for edge in EdgeType if edge is not EdgeType.DISTINCT_FROM])
def test_every_other_edge_type_can_be_followed(store: TempStore, edge: EdgeType) -> None:
    """Expansion knows each edge by its name in the front matter."""
    store.put(a_record(1, body="harbour", **{edge.value: (an_id(2),)}))
    store.put(a_record(2, body="pier"))
    reply = store.ms.search("harbour", expand=True)
    assert reply.results[1].expanded_via == {"from_id": an_id(1), "edge_type": edge, "hops": 1}


def test_expansion_is_bound_by_as_of_and_scope(store: TempStore) -> None:
    """A neighbour that was not true then, or belongs to another scope, is not reached."""
    store.put(a_record(1, body="harbour", refines=(an_id(2),), supports=(an_id(3),)))
    store.put(a_record(2, body="pier", valid_to="2025-01-01T00:00:00.000Z"))
    store.put(a_record(3, body="quay", scope="web"))
    assert ids(store.ms.search("harbour", expand=True)) == numbered(1, 2)
    assert ids(store.ms.search("harbour", expand=True, as_of="2026-01-01")) == numbered(1)
    assert ids(store.ms.search("harbour", expand=True, scope="web")) == numbered(1, 2, 3)


def test_expansion_reaches_every_type_and_nothing_retired(store: TempStore) -> None:
    """What is asked of the hits, a type, is not asked of their neighbours."""
    store.put(a_record(1, type=Type.DECISION, body="harbour", refines=tuple(numbered(2, 3))))
    store.put(a_record(2, body="pier"))
    store.put(a_record(3, body="pier", state=State.RETIRED))
    reply = store.ms.search("harbour", type="decision", expand=True, include_superseded=True)
    assert ids(reply) == numbered(1, 2)


def test_expansion_reaches_fifty_records_at_most(store: TempStore) -> None:
    """A hit that names very many does not flood the page."""
    store.put(a_record(1, body="harbour", refines=tuple(numbered(*range(2, 62)))))
    for number in range(2, 62):
        store.put(a_record(number, body="pier"))
    reply = store.ms.search("harbour", expand=True)
    assert ids(reply) == numbered(*range(1, 52))


def test_cycles_end_the_walk(store: TempStore) -> None:
    """Records that name each other are shown once."""
    store.put(a_record(1, body="harbour", refines=(an_id(2),)))
    store.put(a_record(2, body="harbour pier", refines=(an_id(1), an_id(2))))
    assert sorted(ids(store.ms.search("pier", expand=True, depth=3))) == numbered(1, 2)


# The envelope


def test_hits_say_what_a_reader_must_know(store: TempStore) -> None:
    """Stale, derived, pinned, what needs a person, links, dates: all in the hit."""
    store.put(
        a_record(
            1,
            type=Type.PROCEDURE,
            body="harbour",
            tags=("sea", "land"),
            check_by="2025-12-31T00:00:00.000Z",
            derived_from=(an_id(2),),
            pinned=True,
            requires_human=("sign",),
            verified_with=Witness.EVIDENCE,
            superseded_by=(),
            conflicts_with=(an_id(3),),
            scope="universal",
        )
    )
    (hit,) = store.ms.search("harbour").results
    assert (hit.stale, hit.derived, hit.pinned) == (True, True, True)
    assert (hit.requires_human, hit.tags, hit.scope) == (("sign",), ("sea", "land"), "universal")
    assert hit.links == {"derived_from": (an_id(2),), "conflicts_with": (an_id(3),)}
    assert hit.path == f"memory/procedures/{an_id(1)}.md"


def test_stale_is_the_same_everywhere(store: TempStore) -> None:
    """Search, list, get and status agree, to the instant, and only active claims go stale."""
    due = "2026-01-02T00:00:00.000Z"
    store.put(a_record(1, body="harbour", check_by=due))
    store.put(a_record(2, body="harbour", check_by="never"))
    store.put(a_record(3, kind=Kind.OBSERVATION, body="harbour", check_by=due))
    store.put(a_record(4, body="harbour", check_by=due, state=State.RETIRED))

    def seen() -> list[list[str]]:
        ms = store.ms
        return [
            [hit.id for hit in ms.search("harbour").results if hit.stale],
            [hit.id for hit in ms.list(state="any").results if hit.stale],
            [hit.id for hit in ms.list(stale=True).results],
            [id_ for id_ in numbered(1, 2, 3, 4) if ms.get(id_).stale],
            [one.id for one in ms.status().stale],
        ]

    store.clock.advance(hours=23, minutes=59)
    assert seen() == [[]] * 5
    store.clock.advance(minutes=1)
    assert seen() == [numbered(1)] * 5


def test_unreadable_files_are_reported_with_every_answer(store: TempStore) -> None:
    """One bad file never hides the rest, and the reply names it with its line."""
    store.put(a_record(1, body="harbour"))
    store.write(f"memory/facts/{an_id(2)}.md", "---\nid: x\nid: y\n---\n# Harbour\n")
    reply = store.ms.search("harbour")
    assert (reply.count, reply.circumstances.unreadable_count) == (1, 1)
    (finding,) = reply.circumstances.unreadable
    assert (finding["code"], finding["line"]) == ("duplicate-key", 3)
    assert finding["path"] == f"memory/facts/{an_id(2)}.md"
    assert store.ms.list().circumstances.unreadable_count == 1
    assert store.ms.status().circumstances.unreadable_count == 1
    assert store.ms.get(an_id(1)).circumstances.unreadable_count == 1


def test_only_some_of_many_unreadable_files_are_listed_but_all_counted(store: TempStore) -> None:
    """A broken merge of a hundred files does not flood the reply."""
    for number in range(30):
        store.write(f"memory/facts/{an_id(number)}.md", "no front matter")
    about = store.ms.search("x").circumstances
    assert (about.unreadable_count, len(about.unreadable)) == (30, 20)


def test_settings_that_were_not_understood_are_in_the_envelope(store: TempStore) -> None:
    """A setting that is ignored is told with each answer."""
    store.write("config.yaml", "limits:\n  tags: many\n")
    (warning,) = store.again().search("x").circumstances.warnings
    assert "limits.tags" in warning


def test_receipts_come_back_as_use(store: TempStore) -> None:
    """A hit says when it was last shown and in how many sessions."""
    store.put(a_record(1, body="harbour"))
    reply = store.ms.search("harbour")
    assert (reply.results[0].last_referenced, reply.results[0].sessions) == (None, None)
    store.ms.note_use(reply, surface="cli")
    store.clock.advance(days=1)
    store.ms.note_use(reply, surface="mcp", session="a")
    store.ms.note_use(reply, surface="mcp", session="a")
    store.ms.note_use(reply, surface="mcp", session="b")
    (hit,) = store.ms.search("harbour").results
    assert (hit.last_referenced, hit.sessions) == ("2026-01-02T00:00:00.000Z", 2)


def test_too_many_terms_are_said(store: TempStore) -> None:
    """Ten thousand words are legal; the reply says that only the first were used."""
    reply = store.ms.search(" ".join(f"word{number}" for number in range(10_000)))
    assert "only the first 64 distinct terms were used" in reply.coverage_note


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"type": "rumour"}, UsageError),
        ({"limit": 0}, UsageError),
        ({"limit": 201}, UsageError),
        ({"depth": 4}, UsageError),
        ({"edge_types": ["likes"]}, UsageError),
        ({"as_of": "yesterday"}, Invalid),
        ({"profile": "fast"}, Invalid),
    ],
)
def test_a_question_that_means_nothing_is_refused(
    store: TempStore, asked: dict[str, object], error: type[Exception]
) -> None:
    """Wrong arguments are told, never quietly replaced by a default."""
    with pytest.raises(error):
        store.ms.search("harbour", **asked)  # type: ignore[arg-type]


@pytest.mark.parametrize("scope", ["\ud800", "a\0b", "x" * 10_000, ""])
def test_any_text_is_a_legal_scope_to_ask_for(store: TempStore, scope: str) -> None:
    """A scope no record can have finds what belongs everywhere."""
    store.put(a_record(1, body="harbour"))
    assert store.ms.search("harbour", scope=scope).count == 1


def test_a_reply_is_plain_json(store: TempStore) -> None:
    """The envelope's parts stand beside the answer, and what is None is left out."""
    store.put(a_record(1, body="harbour"))
    shown = as_json(store.ms.search("harbour"))
    assert isinstance(shown, dict)
    assert {"query", "count", "results", "coverage", "store", "index", "unreadable"} <= set(shown)
    assert "circumstances" not in shown
    assert "body" not in shown["results"][0]
