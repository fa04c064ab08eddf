from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memspec_py.clock import parse_instant
from memspec_py.config import Limits
from memspec_py.record.frontmatter import Unreadable
from memspec_py.record.model import (
    Anchor,
    Evidence,
    Kind,
    Record,
    SourceKind,
    State,
    Type,
    Witness,
)
from memspec_py.record.parse import edit_text, parse_record, print_record
from memspec_py.record.rules import broken_rules
from memspec_py.report import Finding, Severity
from memspec_py.testing import TempStore, a_record, an_id
from tests.strategies import names, plains, texts

if TYPE_CHECKING:
    from pathlib import Path

LIMITS = Limits()


def findings(data: bytes | str, limits: Limits = LIMITS) -> list[Finding]:
    """What is wrong with a file."""
    with pytest.raises(Unreadable) as raised:
        parse_record(data if isinstance(data, bytes) else data.encode(), limits)
    return list(raised.value.findings)


def file_of(*lines: str, body: str = "# Title\n", **changes: str | None) -> str:
    """A record's file with some lines of the front matter changed, left out (None) or added."""
    head = {
        "id": an_id(1),
        "type": "fact",
        "state": "active",
        "created": "2026-01-01",
        "source": "ada",
        **changes,
    }
    shown = [f"{key}: {value}\n" for key, value in head.items() if value is not None]
    return "---\n" + "".join([*shown, *(f"{line}\n" for line in lines)]) + f"---\n{body}"


def read(*lines: str, body: str = "# Title\n", **changes: str | None) -> Record:
    """The record of such a file."""
    return parse_record(file_of(*lines, body=body, **changes).encode(), LIMITS)


# Broken files

BROKEN: dict[str, tuple[str | bytes, list[tuple[str, int]]]] = {
    "empty": ("", [("no-front-matter", 1)]),
    "no fence": ("# Title\n", [("no-front-matter", 1)]),
    "unclosed": ("---\nid: x\n", [("unclosed-front-matter", 1)]),
    "script": ("---js\nmodule.exports = {}\n---\n# T\n", [("front-matter-language", 1)]),
    "toml": ("+++\nid = 1\n+++\n# T\n", [("front-matter-language", 1)]),
    "conflict in the head": (
        file_of("<<<<<<< ours", "tags: [a]", "=======", "tags: [b]", ">>>>>>> theirs"),
        [("conflict-markers", 7)],
    ),
    "conflict in the body": (
        file_of(body="# T\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"),
        [("conflict-markers", 9)],
    ),
    "key twice": (file_of("source: bob"), [("duplicate-key", 7)]),
    "two keys twice": (
        file_of("source: bob", "type: fact"),
        [("duplicate-key", 7), ("duplicate-key", 8)],
    ),
    "alias": (file_of("tags: &a [x]", "ext: *a"), [("yaml-alias", 7), ("yaml-alias", 8)]),
    "tag": (file_of("ext: !!python/object:os.system {}"), [("yaml-tag", 7)]),
    "no mapping": ("---\n- a\n---\n# T\n", [("not-a-mapping", 2)]),
    "syntax": (file_of("tags: [a"), [("yaml-syntax", 8)]),
    "nul": (file_of(body="# T\na\0b\n"), [("nul-byte", 9)]),
    "no utf-8": (file_of().encode() + b"\xff", [("not-utf8", 9)]),
    "nul and no utf-8": (b"---\n\0\n\xff\n", [("nul-byte", 2), ("not-utf8", 3)]),
    "deep": (file_of("ext: " + "[" * 40 + "]" * 40), [("yaml-depth", 7)]),
    "no id": (file_of(id=None), [("missing-field", 1)]),
    "bad id": (file_of(id="ms_abc"), [("bad-id", 2)]),
    "lower id": (file_of(id=an_id(1).lower()), [("bad-id", 2)]),
    "no source": (file_of(source=None), [("missing-field", 1)]),
    "blank source": (file_of(source='" "'), [("missing-field", 6)]),
    "no created": (file_of(created=None), [("missing-field", 1)]),
    "no type": (file_of(type=None), [("missing-field", 1)]),
    "bad type": (file_of(type="rumour"), [("bad-value", 3)]),
    "bad kind": (file_of("kind: rumour"), [("bad-value", 7)]),
    "bad state": (file_of(state="gone"), [("bad-value", 4)]),
    "state of another kind": (file_of(state="open"), [("bad-value", 4)]),
    "bad witness": (file_of("verified_with: hope"), [("bad-value", 7)]),
    "bad tier": (file_of("source_kind: king"), [("bad-value", 7)]),
    "bad flag": (file_of("pinned: yes"), [("bad-value", 7)]),
    "bad time": (file_of(created="yesterday"), [("bad-time", 5)]),
    "time of digits": (file_of(created="20261301"), [("bad-time", 5)]),
    "check_by a list": (file_of("check_by: [a]"), [("bad-time", 7)]),
    "never is no creation": (file_of(created="never"), [("bad-time", 5)]),
    "tags a mapping": (file_of("tags: {a: b}"), [("wrong-type", 7)]),
    "tags of lists": (file_of("tags: [[a]]"), [("wrong-type", 7)]),
    "a tag of nothing": (file_of("tags: [~]"), [("wrong-type", 7)]),
    "edge to no id": (file_of("refines: [abc, def]"), [("bad-id", 7), ("bad-id", 7)]),
    "anchors no list": (file_of("anchors: a.ts"), [("wrong-type", 7)]),
    "anchor no mapping": (file_of("anchors: [a.ts]"), [("wrong-type", 7)]),
    "anchor without parts": (
        file_of("anchors:", "  - repo: x"),
        [("missing-field", 7), ("missing-field", 7)],
    ),
    "evidence of nothing": (file_of("evidence:", "  - name: x"), [("missing-field", 7)]),
    "ext no mapping": (file_of("ext: text"), [("wrong-type", 7)]),
    "source a list": (file_of(source="[a]"), [("wrong-type", 6)]),
    "no title": (file_of(body=""), [("missing-title", 1)]),
    "blank title": (file_of(body="#  \n\ntext\n"), [("missing-title", 1)]),
    "long title": (file_of(body=f"# {'x' * 301}\n"), [("too-long", 1)]),
    "human step of a fact": (file_of("requires_human: [sign]"), [("misplaced-field", 7)]),
    "answers of a fact": (file_of(f"answers: [{an_id(2)}]"), [("misplaced-field", 7)]),
    "expiry of a fact": (file_of("expires: 2026-01-01"), [("misplaced-field", 7)]),
    "backwards": (
        file_of("valid_from: 2026-02-01", "valid_to: 2026-01-01"),
        [("bad-validity", 7)],
    ),
    "everything at once": (
        file_of(
            "tags: {a: b}",
            "check_by: soon",
            "refines: [x]",
            "pinned: maybe",
            "requires_human: [sign]",
            id="x",
            type="fact",
            state="gone",
            created="y",
            source=None,
            body="",
        ),
        [
            ("missing-field", 1),
            ("wrong-type", 6),
            ("bad-id", 8),
            ("bad-time", 5 - 1 + 1),
            ("bad-id", 2),
            ("bad-value", 4),
            ("bad-value", 9),
            ("bad-time", 7),
            ("missing-title", 1),
            ("misplaced-field", 10),
        ],
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_each_breach_is_a_finding_with_its_line(name: str) -> None:
    """Every file tells all that is wrong with it at once, with a code, a line and a sentence."""
    data, expected = BROKEN[name]
    found = findings(data)
    assert sorted((one.code, one.line or 0) for one in found) == sorted(expected)
    assert all(one.message and one.severity is Severity.ERROR for one in found)


def test_a_file_over_the_limit_is_not_even_parsed() -> None:
    """The limit is in bytes and can be set."""
    data = file_of(body="# T\n\n" + "x" * 2000).encode()
    assert parse_record(data, LIMITS).title == "T"
    (found,) = findings(data, LIMITS._replace(record_bytes=1000))
    assert (found.code, found.line) == ("too-large", 1)
    assert "limit is 1000" in found.message


def test_a_folder_of_broken_files_leaves_the_rest_of_the_store_working(tmp_path: Path) -> None:
    """Each file is named in status and doctor with its code and line; all acts and views go on."""
    store = TempStore(tmp_path)
    store.put(a_record(1, body="harbour"))
    codes = {}
    for number, (data, expected) in enumerate(BROKEN.values(), 100):
        path = f"memory/facts/{an_id(number)}.md"
        text = data if isinstance(data, bytes) else data.encode()
        store.write(path, text)
        codes[path] = sorted(expected)
    ms = store.again()
    assert ms.search("harbour").count == 1
    assert ms.remember("fact", "Another claim", source="ada").id
    assert ms.list().total == 2
    assert ms.status().circumstances.unreadable_count == len(BROKEN)
    found: dict[str, list[tuple[str, int]]] = {}
    for finding in ms.doctor().findings:
        found.setdefault(finding.path, []).append((finding.code, finding.line or 0))
    assert {path: sorted(each) for path, each in found.items()} == codes
    assert ms.get(an_id(1)).title == "Record 1"


# Reading


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("2026-01-02", "2026-01-02T00:00:00.000Z"),
        ("'2026-01-02'", "2026-01-02T00:00:00.000Z"),
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000Z"),
        ("2026-01-02 03:04", "2026-01-02T03:04:00.000Z"),
        ("2026-01-02T03:04:05.6789+02:00", "2026-01-02T01:04:05.678Z"),
        ("2026-01-01T22:00:00-05:00", "2026-01-02T03:00:00.000Z"),
    ],
)
def test_times_are_read_with_their_offset(written: str, read_as: str) -> None:
    """A date alone is midnight UTC; a time without offset is UTC."""
    record = read(f"check_by: {written}", created=written)
    assert record.created == read_as
    assert record.check_by == read_as


@pytest.mark.parametrize(
    "text", ["no", "1.10", "12:30", "1e10", "0123", "2026-01-02", "true", "~x"]
)
def test_a_text_stays_the_text_it_is(text: str) -> None:
    """Nothing is guessed into a number, a date or a truth."""
    record = read(f"tags: [{text}]", f"ext: {{key: {text}}}", source=text)
    assert (record.source, record.tags, record.ext) == (text, (text,), {"key": text})


@pytest.mark.parametrize(
    ("body", "title", "rest"),
    [
        ("# Title\n\ntext\n", "Title", "text"),
        ("\n\n#   Title   ##  \n\n\ntext\n\n\n", "Title", "text"),
        ("# Title\r\n\r\ntext\r\n", "Title", "text"),
        ("# Title", "Title", ""),
        ("# C#\n", "C#", ""),
        ("# a # b\n", "a # b", ""),
        ("first line\n\n# Later\n", "Later", "first line\n\n# Later"),
        ("only text\nmore\n", "only text", "only text\nmore"),
        ("#hashtag\n", "#hashtag", "#hashtag"),
    ],
)
def test_the_title_is_the_first_heading(body: str, title: str, rest: str) -> None:
    """At the top it is no part of the body; elsewhere, as older versions had it, it stays there."""
    record = read(body=body)
    assert (record.title, record.body) == (title, rest)


def test_what_is_left_out_has_a_default() -> None:
    """The least a record needs is an id, a type, a date and a source."""
    record = read(state=None)
    assert record == Record(
        id=an_id(1),
        kind=Kind.CLAIM,
        type=Type.FACT,
        state=State.ACTIVE,
        title="Title",
        created="2026-01-01T00:00:00.000Z",
        source="ada",
    )
    anchored = read("anchors:", "  - file: a", "    sha: b", source="human:ada")
    assert (anchored.verified_with, anchored.source_kind) == (
        Witness.ANCHOR,
        SourceKind.OPERATOR,
    )


def test_a_bom_and_crlf_are_read() -> None:
    """Files of other systems are records, too."""
    text = "\ufeff" + file_of(body="# Title\n\ntext\n").replace("\n", "\r\n")
    assert parse_record(text.encode(), LIMITS).body == "text"


def test_one_text_may_stand_for_a_list() -> None:
    """Tags in one line with commas, one heir without a list."""
    record = read("tags: auth, web", f"superseded_by: {an_id(2)}", state="superseded")
    assert record.tags == ("auth", "web")
    assert record.superseded_by == (an_id(2),)


# Round trips

_ids = st.integers(2, 60).map(an_id)
_id_lists = st.lists(_ids, max_size=3).map(tuple)
_line = texts.map(lambda text: " ".join(text.replace("\0", "0").split()) or "x")
_instants = st.datetimes().map(lambda moment: parse_instant(f"{moment.isoformat()}Z"))
_times = st.none() | _instants
_free = st.characters(exclude_categories=["Cs"], exclude_characters="\0\r")
_plain = st.dictionaries(names, plains, max_size=2)
_others = st.dictionaries(names, texts, max_size=1)
_anchors = st.lists(
    st.builds(Anchor, file=_line, sha=_line, repo=st.none() | _line, extra=_others),
    max_size=2,
).map(tuple)
_evidence = st.lists(st.builds(Evidence, url=_line, name=st.none() | _line), max_size=2).map(tuple)


@st.composite
def records(draw: st.DrawFn) -> Record:
    """Any valid record."""
    kind = draw(st.sampled_from(Kind))
    type_ = draw(st.sampled_from(Type)) if kind is Kind.CLAIM else None
    question = kind is Kind.QUESTION
    states = [state for state in State if (state in ("open", "resolved")) is question]
    edges = ("supersedes", "superseded_by", "refines", "supports", "depends_on", "derived_from")
    lists: dict[str, Any] = {
        edge: draw(_id_lists) for edge in (*edges, "conflicts_with", "distinct_from")
    }
    early, late = sorted(draw(st.tuples(_times, _times)), key=lambda one: one or "")
    title = draw(_line)
    return Record(
        id=draw(_ids),
        kind=kind,
        type=type_,
        state=draw(st.sampled_from(states)),
        title=title[:300].strip(),
        body=draw(
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"))
        ).strip("\n"),
        created=draw(_instants),
        source=draw(_line),
        source_kind=draw(st.sampled_from(SourceKind)),
        verified_with=draw(st.sampled_from(Witness)),
        tags=tuple(draw(st.lists(_line.map(lambda text: text[:64]), max_size=3))),
        scope=draw(st.none() | _line),
        pinned=draw(st.booleans()),
        check_by=draw(_times | st.just("never")),
        last_verified=draw(_times),
        expires=draw(_times) if kind is Kind.OBSERVATION else None,
        valid_from=early,
        valid_to=late,
        requires_human=tuple(draw(st.lists(_line, max_size=2))) if type_ is Type.PROCEDURE else (),
        anchors=draw(_anchors),
        evidence=draw(_evidence),
        supersede_reason=draw(st.none() | _line),
        answers=draw(_id_lists) if question else (),
        closed=question and draw(st.booleans()),
        resolved_by=draw(st.none() | _ids) if question else None,
        ext=draw(_plain),
        extra=draw(_plain),
        **lists,
    )


@settings(max_examples=100)
@given(records())
def test_print_then_parse_is_the_same_record(record: Record) -> None:
    """Whatever a record holds, its file says the same, and printing again gives the same bytes."""
    assert not [one for one in broken_rules(record, LIMITS) if one.severity is Severity.ERROR]
    text = print_record(record)
    again = parse_record(text.encode(), LIMITS)
    assert again == record
    assert print_record(again) == text


def test_an_edit_leaves_what_it_does_not_own() -> None:
    """Unknown keys, comments, order and quoting stay; only the changed keys are rewritten."""
    text = (
        f"---\n# by hand\nteam: [a, 'b']   # ours\nid: {an_id(1)}\nstate:   active\n"
        "type: fact\ncreated: 2026-01-01\nsource: ada\n"
        "anchors:\n  - file: a.ts\n    sha: '1'\n    grain: symbol\n---\n\n# Title\n\nbody\n\n\n"
    )
    before = parse_record(text.encode(), LIMITS)
    after = replace(before, state=State.RETIRED, tags=("x",), pinned=True)
    new = edit_text(text, before, after)
    assert new == text.replace("state:   active", "state:   retired").replace(
        "---\n\n# Title", "tags:\n  - x\npinned: true\n---\n\n# Title"
    )
    assert parse_record(new.encode(), LIMITS) == after
    assert edit_text(text, before, before) == text


@settings(max_examples=40)
@given(records(), records())
def test_any_edit_says_what_was_meant(before: Record, after: Record) -> None:
    """From any record to any other of the same id."""
    after = replace(after, id=before.id)
    text = print_record(before)
    new = edit_text(text, before, after)
    assert parse_record(new.encode(), LIMITS) == after


@given(st.binary(max_size=200) | st.text(max_size=100).map(lambda text: file_of(text).encode()))
def test_any_bytes_are_a_record_or_findings(data: bytes) -> None:
    """Nothing else ever comes out of reading a file."""
    try:
        outcome: object = parse_record(data, LIMITS).id
    except Unreadable as problem:
        outcome = problem.findings
    assert outcome
