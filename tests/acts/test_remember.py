from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memspec_py.errors import (
    AmbiguousId,
    Invalid,
    MemspecError,
    NearDuplicate,
    NotAllowed,
    NotFound,
    UsageError,
)
from memspec_py.record.model import Kind, State, Type
from memspec_py.testing import TempStore, a_record, an_id

if TYPE_CHECKING:
    from pathlib import Path

    from memspec_py.acts.remember import Remembered
    from memspec_py.errors import MemspecError as _Error


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """A store with two records."""
    made = TempStore(tmp_path)
    made.put(a_record(1, title="Auth uses JWT"))
    made.put(a_record(2, title="Sessions live in Redis"))
    made.ms.search("warm")  # the index is there before any tree is compared
    return made


def remember(store: TempStore, title: str = "A new claim", **given: Any) -> Remembered:  # noqa: ANN401
    """Write a claim with whatever is given."""
    return store.ms.remember(given.pop("type", "fact"), title, **{"source": "ada", **given})


def tree(store: TempStore) -> dict[str, bytes]:
    """Every file of the store but those of this machine."""
    return {
        str(path.relative_to(store.root)): path.read_bytes()
        for path in sorted(store.root.rglob("*"))
        if path.is_file() and "local" not in path.relative_to(store.root).parts
    }


def refused(store: TempStore, error: type[_Error], **given: Any) -> _Error:  # noqa: ANN401
    """The refusal of a claim, once it is sure that nothing was written."""
    before = tree(store)
    folders = sorted(path for path in store.root.rglob("*") if path.is_dir())
    with pytest.raises(error) as raised:
        remember(store, **given)
    assert tree(store) == before
    assert sorted(path for path in store.root.rglob("*") if path.is_dir()) == folders
    return raised.value


# What is written


def test_a_claim_is_found_again_at_once(store: TempStore) -> None:
    """Every field stands in the file as it was given, and the next reader finds it."""
    done = remember(
        store,
        "Tokens live for 15 minutes",
        source="human:ada",
        type="decision",
        body="\r\nSigned.\r\n\r\nTwice.\r\n\r\n",
        tags=["auth", " tokens ", "auth", ""],
        scope="web",
        pinned=True,
        check_by="2026-06-01",
        valid_from="2026-01-01T00:30+01:00",
        valid_to="2027-01-01",
        edges={"refines": [an_id(1)], "supports": [an_id(2), an_id(2)]},
        ext={"origin": {"pages": ["1", "2"]}},
    )
    shown = store.again().get(done.id)
    assert (shown.title, shown.body) == ("Tokens live for 15 minutes", "Signed.\n\nTwice.")
    assert shown.record == {
        "id": done.id,
        "kind": "claim",
        "type": "decision",
        "state": "active",
        "created": "2026-01-01T00:00:00.000Z",
        "source": "human:ada",
        "source_kind": "operator",
        "tags": ["auth", "tokens"],
        "scope": "web",
        "check_by": "2026-06-01T00:00:00.000Z",
        "last_verified": "2026-01-01T00:00:00.000Z",
        "verified_with": "operator",
        "pinned": "true",
        "refines": [an_id(1)],
        "supports": [an_id(2)],
        "valid_from": "2025-12-31T23:30:00.000Z",
        "valid_to": "2027-01-01T00:00:00.000Z",
        "ext": {"origin": {"pages": ["1", "2"]}},
    }
    assert done.path == f"memory/operator/decisions/{done.id}.md"
    assert store.again().search("tokens minutes", scope="web").results[0].id == done.id


@pytest.mark.parametrize(
    ("type_", "due"),
    [("fact", "2026-04-01"), ("decision", "2026-06-30"), ("procedure", "2026-04-01")],
)
def test_the_review_date_counts_by_type(store: TempStore, type_: str, due: str) -> None:
    """Without `check_by` the type's span counts from now; `never` stays never."""
    assert remember(store, type=type_).check_by == f"{due}T00:00:00.000Z"
    assert remember(store, "Another", check_by="never").check_by == "never"


def test_the_review_span_can_be_set(store: TempStore) -> None:
    """`decay` in config.yaml says how long a type holds."""
    store.write("config.yaml", "decay:\n  fact: 12h\n  decision: never\n")
    store.ms = store.again()
    assert remember(store).check_by == "2026-01-01T12:00:00.000Z"
    assert remember(store, "Another", type="decision").check_by == "never"


@pytest.mark.parametrize(
    ("source", "kind", "folder", "witness"),
    [
        ("claude-code", "agent", "memory/facts", "assertion"),
        ("human:ada", "operator", "memory/operator/facts", "operator"),
        ("user", "operator", "memory/operator/facts", "operator"),
        ("okf-import", "import", "memory/facts", "assertion"),
    ],
)
def test_the_tier_follows_the_source(
    store: TempStore, source: str, kind: str, folder: str, witness: str
) -> None:
    """An operator's record lies apart and is witnessed by the operator."""
    done = remember(store, source=source)
    assert (done.source_kind, done.verified_with) == (kind, witness)
    assert done.path == f"{folder}/{done.id}.md"


@pytest.mark.parametrize(
    "title",
    [
        "Ends with #",
        "Ends with ###",
        "#",
        "# # #",
        "C#",
        "## starts",
        "---",
        "a: b",
        '"quoted" \\ back',
        "- item",
        "`code` *star* <b>",
        "emoji 🎉 中文 עברית",
        "tab\tinside",
        "\x1b[31mred\x1b[0m",
        "key: | > & * ! % @",
    ],
)
def test_any_one_line_title_is_kept(store: TempStore, title: str) -> None:
    """What a person writes in a title is what comes back."""
    assert store.again().get(remember(store, title).id).title == title


_chars = st.characters(exclude_categories=["Cs"], exclude_characters="\0")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> TempStore:
    """One store for many examples."""
    return TempStore(tmp_path_factory.mktemp("shared"))


@settings(max_examples=30)
@given(title=st.text(_chars, min_size=1, max_size=40), body=st.text(_chars, max_size=80))
def test_whatever_is_accepted_reads_back_the_same(shared: TempStore, title: str, body: str) -> None:
    """A claim is either written as it was meant or refused; nothing is quietly changed."""
    before = shared.ms.status().files
    try:
        done = remember(shared, title, body=body, force=True)
    except Invalid:
        assert shared.ms.status().files == before
        return
    shown = shared.ms.get(done.id)
    assert shown.title == title.strip()
    assert shown.body == body.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    assert shown.circumstances.unreadable_count == 0


# Refusals


@pytest.mark.parametrize("source", ["", " ", "unknown", " Unknown ", "none", "a\nb", "x" * 201])
def test_a_source_that_names_nobody_is_refused(store: TempStore, source: str) -> None:
    """Every claim says who claims it."""
    error = refused(store, Invalid, source=source)
    assert isinstance(error, Invalid)
    assert error.findings[0].field == "source"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"title": ""}, "title"),
        ({"title": " \t"}, "title"),
        ({"title": "two\nlines"}, "title"),
        ({"title": "two\u2028lines"}, "title"),
        ({"title": "two\rlines"}, "title"),
        ({"title": "nul\0"}, "title"),
        ({"title": "half \ud800"}, "title"),
        ({"title": "x" * 301}, "title"),
        ({"body": "nul\0"}, "body"),
        ({"body": "half \udfff"}, "body"),
        ({"tags": ["\ud800"]}, "tags"),
        ({"tags": ["x" * 65]}, "tags"),
        ({"tags": [f"tag{number}" for number in range(65)]}, "tags"),
        ({"scope": " "}, "scope"),
        ({"scope": "a\nb"}, "scope"),
        ({"scope": "\ud800"}, "scope"),
        ({"check_by": "tomorrow"}, "check_by"),
        ({"check_by": ""}, "check_by"),
        ({"check_by": "2026-02-30"}, "check_by"),
        ({"valid_from": "2026-13-01"}, "valid_from"),
        ({"valid_from": "never"}, "valid_from"),
        ({"valid_to": "12:30"}, "valid_to"),
        ({"valid_from": "2026-02-01", "valid_to": "2026-01-01"}, "valid_from"),
        ({"requires_human": ["press"]}, "requires_human"),
    ],
)
def test_a_bad_value_is_refused_by_the_name_of_its_field(
    store: TempStore, given: dict[str, Any], field: str
) -> None:
    """Nothing is written, not even the evidence given along with it."""
    (store.project / "proof.txt").write_text("proof", encoding="utf-8")
    error = refused(store, Invalid, evidence=["proof.txt"], **given)
    assert isinstance(error, Invalid)
    assert [finding.field for finding in error.findings] == [field]
    assert field.removesuffix("s") in error.message


def test_what_no_reader_could_read_is_not_written(store: TempStore) -> None:
    """A record over the size limit, or with the markers of a merge, is refused."""
    assert "limit is 1048576" in refused(store, Invalid, body="x" * 1_048_576).message
    marks = "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs"
    assert "conflict" in refused(store, Invalid, body=marks).message
    assert remember(store, body=f"```\n{marks}\n```").id
    assert remember(store, "Large", body="x " * 400_000).id


def test_limits_can_be_set(store: TempStore) -> None:
    """`limits` in config.yaml bounds what is written."""
    store.write("config.yaml", "limits:\n  title_chars: 10\n")
    store.ms = store.again()
    assert "limit is 10" in refused(store, Invalid, title="more than ten").message
    assert remember(store, "just ten..").id


def test_an_unknown_type_or_edge_is_a_usage_error(store: TempStore) -> None:
    """The call itself is wrong, and the known words are named."""
    assert "procedure" in str(refused(store, UsageError, type="rumour").hint)
    assert "refines" in str(refused(store, UsageError, edges={"supersedes": [an_id(1)]}).hint)


def test_settings_that_cannot_be_read_stop_every_write(store: TempStore) -> None:
    """Nobody writes under defaults that the store meant to change."""
    store.write("config.yaml", "decay: [")
    store.ms = store.again()
    assert "config.yaml" in refused(store, Invalid).message


# Edges


def test_edges_take_a_unique_beginning_and_store_the_whole_id(store: TempStore) -> None:
    """In any case; each target once."""
    store.put(a_record(3, id="ms_02ABCDEFGHJKMNPQRSTVWXYZ00"))
    done = remember(store, edges={"depends_on": ["02abc", "ms_02"], "conflicts_with": [an_id(1)]})
    record = store.ms.get(done.id).record
    assert record["depends_on"] == ["ms_02ABCDEFGHJKMNPQRSTVWXYZ00"]
    assert record["conflicts_with"] == [an_id(1)]


def test_an_edge_to_nowhere_is_refused(store: TempStore) -> None:
    """With the edge's name and position; an ambiguous one lists its candidates."""
    (store.project / "proof.txt").write_text("proof", encoding="utf-8")
    edges = {"refines": [an_id(1), an_id(9)]}
    error = refused(store, NotFound, edges=edges, evidence=["proof.txt"])
    assert error.message == f"refines[1]: no record {an_id(9)}"
    ambiguous = refused(store, AmbiguousId, edges={"supports": ["ms_01"]})
    assert ambiguous.message.startswith("supports[0]: 2 records start with")
    assert "candidates" in ambiguous.details


@pytest.mark.parametrize(
    ("first", "second"),
    [
        *((edge, "conflicts_with") for edge in ("refines", "supports", "depends_on")),
        ("derived_from", "conflicts_with"),
        ("distinct_from", "conflicts_with"),
        ("refines", "distinct_from"),
    ],
)
def test_edges_that_contradict_each_other_are_refused(
    store: TempStore, first: str, second: str
) -> None:
    """One record cannot both rest on another and oppose it, or be independent of it."""
    error = refused(store, Invalid, edges={first: [an_id(1)], second: [an_id(1)]})
    assert an_id(1) in error.message
    assert remember(store, edges={first: [an_id(1)], second: [an_id(2)]}).id


def test_a_procedure_may_need_a_person(store: TempStore) -> None:
    """The steps are kept in order, blank ones left out."""
    done = remember(store, type="procedure", requires_human=[" approve ", "", "confirm"])
    assert store.ms.get(done.id).record["requires_human"] == ["approve", "confirm"]


# Near-duplicates


def test_what_the_store_already_says_is_refused(store: TempStore) -> None:
    """The refusal names the record, and `force` writes past it and says so."""
    (store.project / "proof.txt").write_text("proof", encoding="utf-8")
    error = refused(store, NearDuplicate, title="auth uses a jwt.", evidence=["proof.txt"])
    assert an_id(1) in error.message
    assert error.details["duplicates"][0]["id"] == an_id(1)  # type: ignore[index]
    done = remember(store, "auth uses a jwt.", force=True)
    assert [one.id for one in done.duplicates] == [an_id(1)]
    assert remember(store, "Unrelated").duplicates == ()


@pytest.mark.parametrize(
    ("there", "new"),
    [
        ("Tokens live 15 minutes", "Tokens live 30 minutes"),
        ("We run Postgres 15", "We run Postgres 16"),
        ("Uses v1.2", "Uses v1.3"),
        ("The API is public", "The API is not public"),
        ("Deploys are allowed on Friday", "Deploys are never allowed on Friday"),
    ],
)
def test_another_number_version_or_negation_is_another_claim(
    store: TempStore, there: str, new: str
) -> None:
    """Titles that differ only there are not duplicates."""
    remember(store, there)
    assert remember(store, new).duplicates == ()


def test_only_active_claims_of_the_scope_are_compared(store: TempStore) -> None:
    """What was retired, observed, asked, or said for another scope may be said again."""
    title = "The ledger runs on Postgres"
    store.put(a_record(3, title=title, state=State.RETIRED))
    store.put(a_record(4, title=title, kind=Kind.OBSERVATION))
    store.put(a_record(5, title=title, kind=Kind.QUESTION))
    store.put(a_record(6, title=title, scope="web"))
    assert remember(store, title).id
    refused(store, NearDuplicate, title=title, scope="web")
    refused(store, NearDuplicate, title=title, type="decision")
    assert remember(store, title, scope="billing", force=True).id


# Anchors


def test_a_file_becomes_an_anchor_that_means_the_same_elsewhere(store: TempStore) -> None:
    """Relative to the project, with git's blob id; each file once, however it was typed."""
    place = store.project / "src" / "jwt.ts"
    place.parent.mkdir()
    place.write_bytes(b"ttl\n")
    done = remember(store, anchors=["src/jwt.ts", str(place), "./src/../src/jwt.ts"])
    assert (done.anchors, done.verified_with, done.unresolved) == (("src/jwt.ts",), "anchor", ())
    assert store.ms.get(done.id).record["anchors"] == [
        {"file": "src/jwt.ts", "sha": _git_blob(place)}
    ]
    assert store.ms.get(done.id).record["last_verified"] == "2026-01-01T00:00:00.000Z"


@pytest.mark.parametrize("path", ["gone.ts", "", "src", "\0", "x" * 5000, "\udcff", "../../etc"])
def test_an_anchor_that_resolves_nowhere_is_reported(store: TempStore, path: str) -> None:
    """The claim is kept, as an assertion; the path and the reason come back."""
    (store.project / "src").mkdir()
    done = remember(store, anchors=[path])
    assert (done.anchors, done.verified_with) == ((), "assertion")
    assert [one.path for one in done.unresolved] == [path]
    assert done.unresolved[0].reason


# Evidence


def test_a_file_is_kept_by_its_content_and_a_url_as_a_pointer(store: TempStore) -> None:
    """Copied once, however often it is attached; a URL attests to nothing and is not fetched."""
    (store.project / "a.txt").write_bytes(b"proof")
    (store.project / "b.txt").write_bytes(b"proof")
    first = remember(store, evidence=["a.txt", "https://example.invalid/x"])
    second = remember(store, "Another claim", evidence=["a.txt", "b.txt", "a.txt"])
    assert first.verified_with == "evidence"
    kept = sorted(path.name for path in (store.root / "evidence").rglob("*.txt"))
    assert kept == ["a.txt", "b.txt"]
    assert (store.root / first.evidence[0]).read_bytes() == b"proof"
    assert first.evidence[0] == second.evidence[0]
    assert len(second.evidence) == 2
    assert remember(store, "Only a link", evidence=["https://a.b"]).verified_with == "assertion"


def test_evidence_is_at_most_five_megabytes(store: TempStore) -> None:
    """The limit itself is allowed, one byte more is not."""
    big = store.project / "big.bin"
    big.write_bytes(b"x" * 5_242_881)
    assert "limit is 5242880" in refused(store, NotAllowed, evidence=["big.bin"]).message
    os.truncate(big, 5_242_880)
    assert remember(store, evidence=["big.bin"]).verified_with == "evidence"


def test_what_must_not_be_committed_is_refused_as_evidence(store: TempStore) -> None:
    """Links, machine-local files by any way to them, folders and pipes."""
    (store.project / "real.txt").write_text("x", encoding="utf-8")
    (store.project / "link.txt").symlink_to("real.txt")
    (store.root / "local" / "key.txt").write_text("x", encoding="utf-8")
    (store.project / "way").symlink_to(store.root / "local")
    os.mkfifo(store.project / "pipe")
    local = str(store.root / "local" / "key.txt")
    for path in ("link.txt", local, "way/key.txt", "way", ".", "pipe"):
        refused(store, NotAllowed, evidence=["real.txt", path])


@pytest.mark.parametrize("path", ["gone.txt", "", "\0", "x" * 5000, "\ud800", "ftp://a/b"])
def test_evidence_that_is_not_there_is_refused(store: TempStore, path: str) -> None:
    """Checked before the first of several pieces is copied."""
    (store.project / "real.txt").write_text("x", encoding="utf-8")
    with pytest.raises((Invalid, NotAllowed)):
        remember(store, evidence=["real.txt", path])
    assert not list((store.root / "evidence").iterdir())


def test_changed_evidence_is_never_recorded_again(store: TempStore) -> None:
    """Where the kept copy is not what it was, the claim on top of it is refused."""
    (store.project / "a.txt").write_bytes(b"proof")
    kept = store.root / remember(store, evidence=["a.txt"]).evidence[0]
    kept.write_bytes(b"forged")
    before = tree(store)
    with pytest.raises(MemspecError):
        remember(store, "Another claim", evidence=["a.txt"])
    assert tree(store) == before


@pytest.mark.parametrize("place", ["home", "repository", "nowhere"])
def test_the_origin_of_evidence_is_never_an_absolute_path(store: TempStore, place: str) -> None:
    """`~/…` below the home, `repository:path` in a checkout, else nothing but the name."""
    folder = store.home if place == "home" else store.project.parent / place
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "p.txt").write_text("x", encoding="utf-8")
    if place == "repository":
        subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    done = remember(store, evidence=[str(folder / "docs" / "p.txt")])
    evidence: Any = store.ms.get(done.id).record["evidence"]
    source = {"home": "~/docs/p.txt", "repository": "repository:docs/p.txt", "nowhere": None}
    assert [entry.get("source") for entry in evidence] == [source[place]]


# Scope


def test_a_scope_must_be_known_where_scopes_are_declared(store: TempStore) -> None:
    """`universal` always is; without a map any name will do."""
    assert remember(store, scope="anything").scope == "anything"
    store.write("config.yaml", "scopes:\n  web: [~/web]\n")
    store.ms = store.again()
    assert "web" in str(refused(store, Invalid, scope="weg").hint)
    assert remember(store, "In web", scope=" web ").scope == "web"
    assert remember(store, "Everywhere", scope="universal").scope == "universal"
    assert remember(store, "Nowhere in particular").scope is None


def test_a_store_may_require_a_scope(store: TempStore) -> None:
    """With `scopes_require` a record without one is refused, and told how to opt out."""
    store.write("config.yaml", "scopes_require: true\n")
    store.ms = store.again()
    assert "--scope universal" in str(refused(store, Invalid).hint)
    assert remember(store, scope="universal").id


def test_the_gitignore_is_kept_current_by_every_write(store: TempStore) -> None:
    """A line that an older version did not know is added, what is there stays."""
    ignore = store.root / ".gitignore"
    ignore.write_text("mine\nlocal/", encoding="utf-8")
    remember(store)
    lines = ignore.read_text(encoding="utf-8").splitlines()
    assert lines[:2] == ["mine", "local/"]
    assert {"usage.jsonl", "outcomes.jsonl", "logs/"} <= set(lines)
    assert lines.count("local/") == 1


def test_types_are_those_of_claims(store: TempStore) -> None:
    """Each type lands in its folder."""
    for type_ in Type:
        assert remember(store, f"One {type_}", type=type_.value).path.startswith(
            f"memory/{type_}s/"
        )


def _git_blob(path: Path) -> str:
    command = ["git", "hash-object", "--no-filters", str(path)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
