"""The published schema of records and the hand-written checks accept the same records."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from memspec_py.clock import NEVER, parse_instant
from memspec_py.config import Limits
from memspec_py.record import frontmatter
from memspec_py.record.frontmatter import Unreadable
from memspec_py.record.legacy import modern
from memspec_py.record.model import Kind, State, Type
from memspec_py.record.parse import FLAG_KEYS, KEYS, parse_record, to_mapping
from memspec_py.record.rules import EDGE_KEYS
from memspec_py.record.schema import schema, schema_findings
from memspec_py.testing import a_record, an_id
from tests.schemas.record import ALSO_READ, NOT_IN_THE_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memspec_py.record.model import Plain, Record

_SCHEMA = Draft202012Validator(schema("record"))
_LIMITS = Limits()
_LISTS = frozenset({"tags", "requires_human", *EDGE_KEYS})
_ITEMS = frozenset({"anchors", "evidence"})
_TIMES = frozenset({"created", "check_by", "last_verified", "expires", "valid_from", "valid_to"})

_INSTANTS = (
    "2026-01-01T00:00:00.000Z",
    "2026-12-31T23:59:59.999Z",
    "2024-02-29T12:00:00.000Z",
    "9999-12-31T00:00:00.000Z",
)
_NOT_IN_THE_CALENDAR = ("2026-02-30T00:00:00.000Z", "0000-01-01T00:00:00.000Z")
# One pool for all fields: what is right for one is a good mistake in another.
_SCALARS = (
    *(*_INSTANTS, NEVER, an_id(1), an_id(2), "ms_" + "A" * 26, f"{an_id(1)},{an_id(2)}"),
    *("2026-01-01", "2026-01-01T09:30:00+02:00", "20260101T0930", *_NOT_IN_THE_CALENDAR),
    *("2026-13-01T00:00:00.000Z", "2026-01-01T24:00:00.000Z"),
    *("2026-01-01T00:00:00.000Z\n", f"{an_id(1)}\n", an_id(1).lower(), an_id(1)[:-1], "ms_x"),
    *(
        "2026-01-01T00:00:00.00\u0660Z",
        an_id(1)[:-1] + "\u0660",
        f" {an_id(1)}",
        f"x{_INSTANTS[0]}",
    ),
    *("", " ", "\n", ",", "a", "a, b", "true", "false", "True", "claim\n", "human:ann"),
    *("é" * _LIMITS.tag_chars, "é" * (_LIMITS.tag_chars + 1)),
    *(word.value for words in (Kind, Type, State) for word in words),
    *("anchor", "operator", "evidence", "assertion", "agent", "import", "captured", "archived"),
)


_scalars: st.SearchStrategy[Plain] = st.one_of(st.none(), st.sampled_from(_SCALARS))
_parts = st.dictionaries(
    st.sampled_from(["repo", "file", "sha", "path", "url", "name", "added", "note"]),
    st.one_of(st.sampled_from(["x", "a/b.py", "", None]), _scalars, st.just(["x"])),
    max_size=4,
)
_values: st.SearchStrategy[Plain] = st.one_of(
    _scalars,
    st.lists(_scalars, max_size=3),
    _parts,
    st.lists(_parts, max_size=2),
    st.just({"code_anchors": [{"file": "f", "sha": "s"}]}),
)
_keys = st.sampled_from(
    [*KEYS, "owner", "decay_after", "corrects", "corrected_by", "correction_reason", "confidence"]
)
_too_many: list[tuple[str, Plain]] = [
    ("tags", ["x"] * 64),
    ("tags", ["x"] * 65),
    ("anchors", [{"file": "f", "sha": "s"} for _ in range(257)]),
    ("evidence", [{"url": "u"} for _ in range(65)]),
    ("refines", [an_id(3)] * 256),
    ("refines", [an_id(3)] * 257),
]
_COLLECTIONS: tuple[Any, ...] = (
    *([], [None], [""], [" "], ["a"], ["a", None], [[]], [{}], {}, {"a": "b"}, {"a": None}),
    *([an_id(1)], [an_id(2), an_id(3)], [f"{an_id(1)}\n"], [an_id(1), "ms_x"], [_INSTANTS[0]]),
    *(["é" * 64], ["é" * 65], {"code_anchors": [{"file": "f", "sha": "s"}]}),
    *([{"file": "f", "sha": "s", "more": []}], [{"file": "f"}], [{"sha": "s"}], [{"url": ""}]),
    *([{"file": "f", "sha": ""}], [{"file": ["f"], "sha": "s"}], [{"file": "", "sha": "s"}]),
    *([{"file": "f", "sha": "s", "repo": part}] for part in ("r", "", None, ["r"])),
    *([{"url": "u", "name": "n"}], [{"path": "p", "url": None}], [{"name": "n"}], [{"url": ["u"]}]),
    *([{"url": "u", "added": ""}], [{"path": "p", "sha256": {}}], [{"path": None}]),
)
_REMOVED = "(removed)"
_mutations: st.SearchStrategy[list[tuple[str, Plain]]] = st.lists(
    st.one_of(
        st.tuples(_keys, _values),
        st.tuples(st.sampled_from(sorted(_TIMES)), _scalars),
        st.tuples(st.sampled_from(["id", *sorted(EDGE_KEYS)]), _scalars),
        st.tuples(st.sampled_from(KEYS), st.just(_REMOVED)),
        st.sampled_from(_too_many),
    ),
    max_size=3,
)


@st.composite
def sound_mappings(draw: st.DrawFn) -> dict[str, Plain]:
    """Front matter that all agree on."""
    kind = draw(st.sampled_from(Kind))
    question = kind is Kind.QUESTION
    states = [state for state in State if (state in (State.OPEN, State.RESOLVED)) is question]
    ids: st.SearchStrategy[Plain] = st.lists(st.sampled_from([an_id(2), an_id(3)]), max_size=3)
    times: st.SearchStrategy[Plain] = st.sampled_from(_INSTANTS)
    text: st.SearchStrategy[Plain] = st.sampled_from(["because", "human:ann"])
    optional: dict[str, st.SearchStrategy[Plain]] = {
        "source_kind": st.sampled_from(["agent", "operator", "import"]),
        "tags": st.lists(st.sampled_from(["auth", "v2 api"]), max_size=2),
        "scope": st.just("api"),
        "check_by": st.one_of(times, st.just(NEVER)),
        "last_verified": times,
        "verified_with": st.sampled_from(["anchor", "assertion"]),
        "pinned": st.just("true"),
        "anchors": st.just([{"file": "a.py", "sha": "0" * 40, "note": "x"}]),
        "evidence": st.just([{"path": "evidence/x/y"}, {"url": "https://example.com"}]),
        "superseded_by": st.one_of(ids, st.just(an_id(2))),
        "supersede_reason": text,
        "ext": st.just({"any": ["thing", {"at": None}]}),
        "owner": st.just("me"),
        **dict.fromkeys(EDGE_KEYS[2:-1], ids),
    }
    if question:
        optional |= {"answers": ids, "closed": st.just("true"), "resolved_by": text}
    if kind is Kind.OBSERVATION:
        optional["expires"] = times
    mapping: dict[str, Plain] = {
        "id": an_id(1),
        "kind": kind.value,
        "state": draw(st.sampled_from(states)).value,
        "created": draw(st.sampled_from(_INSTANTS)),
        "source": "tests",
    }
    if kind is Kind.CLAIM:
        mapping["type"] = draw(st.sampled_from(Type)).value
        if mapping["type"] == Type.PROCEDURE:
            optional["requires_human"] = st.just(["press the button", ""])
    chosen = draw(st.sets(st.sampled_from(sorted(optional)), max_size=6))
    return mapping | {key: draw(optional[key]) for key in sorted(chosen)}


@st.composite
def near_sound_mappings(draw: st.DrawFn) -> dict[str, Plain]:
    """Front matter with up to three fields that are wrong, missing or out of place."""
    mapping = draw(sound_mappings())
    for key, value in draw(_mutations):
        if value == _REMOVED:
            mapping.pop(key, None)
        else:
            mapping[key] = value
    return mapping


def _emptied(mapping: dict[str, Plain]) -> dict[str, Plain]:
    """Without what counts as absent."""
    nothing: dict[str, tuple[Plain, ...]] = {
        **dict.fromkeys(_LISTS, ("", [])),
        **dict.fromkeys(_ITEMS, ([],)),
        **dict.fromkeys(FLAG_KEYS, ("false",)),
        **dict.fromkeys(("scope", "supersede_reason", "resolved_by"), ("",)),
        "ext": ("", [], {}),
    }
    kept = {
        key: value
        for key, value in mapping.items()
        if key not in KEYS or not (value is None or value in nothing.get(key, ()))
    }
    for key in _ITEMS & kept.keys():
        items = kept[key]
        if isinstance(items, list):
            kept[key] = [
                {name: part for name, part in item.items() if part is not None}
                if isinstance(item, dict)
                else item
                for item in items
            ]
    return kept


def _listed(mapping: dict[str, Plain]) -> dict[str, Plain]:
    """With lists in the place of comma text."""
    return {
        key: [part.strip() for part in value.split(",") if part.strip()]
        if key in _LISTS and isinstance(value, str)
        else value
        for key, value in mapping.items()
    }


def _timed(mapping: dict[str, Plain]) -> dict[str, Plain]:
    """With every time in its canonical form."""
    return {key: _canonical(key, value) for key, value in mapping.items()}


def _canonical(key: str, value: Plain) -> Plain:
    if key not in _TIMES or not isinstance(value, str):
        return value
    try:
        return parse_instant(value)
    except ValueError:
        return value


# Each form that is read as well, and how it would be written in the way of the schema.
_REWRITTEN: Mapping[str, Callable[[dict[str, Plain]], dict[str, Plain]]] = {
    "older names": lambda mapping: modern(dict(mapping)),
    "comma text": _listed,
    "empty values": _emptied,
    "other times": _timed,
}


def _plainly_written(mapping: dict[str, Plain]) -> dict[str, Plain]:
    for rewritten in _REWRITTEN.values():
        mapping = rewritten(mapping)
    return mapping


def _read(mapping: dict[str, Plain]) -> Record | set[str]:
    """The record in a file with this front matter, or the codes of what is wrong with it."""
    try:
        return parse_record(frontmatter.compose(mapping, "# Title\n").encode(), _LIMITS)
    except Unreadable as problem:
        return {finding.code for finding in problem.findings}


def _agreed(mapping: dict[str, Plain]) -> bool:
    """Whether both accept or both refuse, once the forms that are read as well are rewritten."""
    read = _read(mapping)
    accepted = _accepted(_plainly_written(mapping))
    if accepted and isinstance(read, set) and read <= NOT_IN_THE_SCHEMA.keys():
        no_day = any(value in _NOT_IN_THE_CALENDAR for value in mapping.values() if value)
        return no_day if "bad-time" in read else True
    return accepted is not isinstance(read, set)


def _accepted(mapping: Mapping[str, Plain]) -> bool:
    return _SCHEMA.is_valid(mapping)


def test_every_difference_is_named() -> None:
    """SCHEMA.md lists the forms that this test knows to be read as well, and no others."""
    assert _REWRITTEN.keys() == ALSO_READ.keys()


@given(sound_mappings())
def test_a_sound_mapping_is_accepted_by_both(mapping: dict[str, Plain]) -> None:
    """The test's own idea of a valid record is that of the schema and of the reader."""
    read = _read(mapping)
    assert _accepted(mapping)
    assert not isinstance(read, set) or read == {"bad-validity"}


@pytest.mark.parametrize("key", [*KEYS, "owner"])
@pytest.mark.parametrize("label", ["fact", "procedure", "observation", "question"])
def test_both_think_the_same_of_one_changed_field(label: str, key: str) -> None:
    """Whatever one field of a sound record is set to, and when it is missing."""
    kind = Kind(label) if label in tuple(Kind) else Kind.CLAIM
    sound = to_mapping(a_record(kind=kind, type=Type(label) if kind is Kind.CLAIM else None))
    values = [*_SCALARS, None, *_COLLECTIONS, *(value for name, value in _too_many if name == key)]
    different = [value for value in values if not _agreed(sound | {key: value})]
    assert different == []
    assert _agreed({name: value for name, value in sound.items() if name != key})


@given(near_sound_mappings())
@settings(max_examples=4 * settings().max_examples)
@example({"id": an_id(1), "created": "2026-02-30T00:00:00.000Z", "source": "x", "type": "fact"})
@example({"id": f"{an_id(1)}\n", "created": _INSTANTS[0], "source": "x", "type": "fact"})
@example({"id": an_id(1), "created": f"{_INSTANTS[0]}\n", "source": "x", "type": "fact"})
@example({"id": an_id(1), "created": _INSTANTS[0], "source": "x", "type": "fact", "tags": "a,b"})
def test_the_reader_and_the_schema_agree(mapping: dict[str, Plain]) -> None:
    """Once the forms that are read as well are rewritten, both accept or both refuse."""
    event("refused" if isinstance(_read(mapping), set) else "accepted")
    assert _agreed(mapping), (_read(mapping), _plainly_written(mapping))


@given(near_sound_mappings())
@settings(max_examples=2 * settings().max_examples)
def test_what_the_schema_accepts_can_be_read(mapping: dict[str, Plain]) -> None:
    """A writer that keeps to the schema and to today's names writes records."""
    if _accepted(mapping) and modern(dict(mapping)) == mapping:
        read = _read(mapping)
        assert not isinstance(read, set) or read <= NOT_IN_THE_SCHEMA.keys()


@given(near_sound_mappings())
@settings(max_examples=2 * settings().max_examples)
def test_what_is_read_is_what_the_schema_describes(mapping: dict[str, Plain]) -> None:
    """The front matter of any record, as every front shows it, fits the schema."""
    read = _read(mapping)
    if not isinstance(read, set):
        assert [error.message for error in _SCHEMA.iter_errors(to_mapping(read))] == []


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"created": "2026-02-30T00:00:00.000Z"}, "bad-time"),
        ({"created": "0000-01-01T00:00:00.000Z"}, "bad-time"),
        ({"valid_from": _INSTANTS[1], "valid_to": _INSTANTS[0]}, "bad-validity"),
    ],
)
def test_what_the_schema_cannot_say(changes: dict[str, Plain], code: str) -> None:
    """Each limit of the schema that SCHEMA.md names is one."""
    mapping = to_mapping(a_record()) | changes
    assert _accepted(mapping)
    assert _read(mapping) == {code}
    assert code in NOT_IN_THE_SCHEMA


@pytest.mark.parametrize(
    ("form", "changes"),
    [
        ("older names", {"state": "captured", "decay_after": NEVER}),
        ("empty values", {"scope": None, "requires_human": [], "closed": "false"}),
        ("comma text", {"refines": f"{an_id(2)}, {an_id(3)}"}),
        ("other times", {"check_by": "2026-01-01"}),
    ],
)
def test_what_is_read_as_well(form: str, changes: dict[str, Plain]) -> None:
    """Each form that SCHEMA.md names is read, is not that of the schema, and has one that is."""
    mapping = to_mapping(a_record()) | changes
    assert not isinstance(_read(mapping), set)
    assert not _accepted(mapping)
    assert _accepted(_REWRITTEN[form](mapping))


@pytest.mark.parametrize("key", ["id", "created", "check_by", "refines", "superseded_by"])
def test_a_final_newline_is_no_part_of_an_id_or_a_time(key: str) -> None:
    """Where `$` would let one pass, nothing does."""
    sound = _INSTANTS[0] if key in ("created", "check_by") else an_id(2)
    for value in (sound, f"{sound}\n"):
        wrapped: Any = [value] if key == "refines" else value
        assert _accepted(to_mapping(a_record()) | {key: wrapped}) is (value == sound)


@pytest.mark.parametrize("value", _SCALARS)
def test_only_the_shape_of_an_instant_is_a_time(value: str) -> None:
    """All that the schema leaves to the reader is the calendar."""
    expected = value in _INSTANTS or value in _NOT_IN_THE_CALENDAR
    assert _accepted(to_mapping(a_record()) | {"created": value}) is expected


def test_a_record_that_breaks_the_schema_is_a_finding() -> None:
    """Should the checks and the schema ever differ, doctor tells, with the field's name."""
    broken = replace(a_record(), id="ms_x", source=" ", refines=("x" * 500,))
    findings = list(schema_findings(broken))
    assert [finding.field for finding in findings] == ["id", "refines.0", "source"]
    assert all(len(finding.message) < 250 for finding in findings)
    assert list(schema_findings(a_record())) == []


def test_the_limits_of_a_store_are_its_own() -> None:
    """A record within the wider limits of its store is no finding."""
    many = replace(a_record(), tags=tuple(f"tag{number}" for number in range(100)))
    assert not _accepted(to_mapping(many))
    assert list(schema_findings(many)) == []
