from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from memspec_py.errors import Invalid
from memspec_py.record.frontmatter import decode, split
from memspec_py.record.yamltext import (
    MAX_DEPTH,
    Unreadable,
    entries,
    print_mapping,
    read_mapping,
)
from tests.strategies import canonical_texts, damaged, hand_written, mappings, texts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memspec_py.record.model import Plain

_NULLS = ("", "~", "null", "Null", "NULL")
_REFUSED = object()


@pytest.fixture(params=["libyaml", "pure"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each of the two parsers that PyYAML may come with."""
    if request.param == "pure":
        monkeypatch.setattr(yaml, "__with_libyaml__", False)
    elif not yaml.__with_libyaml__:
        pytest.skip("this PyYAML has no libyaml")
    return str(request.param)


def _codes(text: str) -> list[str]:
    with pytest.raises(Unreadable) as refused:
        read_mapping(text)
    return [finding.code for finding in refused.value.findings]


def _ours(text: str) -> object:
    try:
        return read_mapping(text)
    except Unreadable as refused:
        lines = [finding.line for finding in refused.findings]
        assert lines
        assert all(lines)
        return _REFUSED


def _as_ruamel_reads(text: str) -> object:
    """The text as ruamel.yaml reads it, every scalar as text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = YAML(typ="base", pure=True).load(text)
        except (YAMLError, ValueError, TypeError, AttributeError):
            return _REFUSED
    return {} if found is None else found


def _same(ours: object, other: object) -> bool:
    """Equal, where the other reader shows nothing at all as one of the texts for null."""
    if isinstance(ours, dict) and isinstance(other, dict):
        return list(ours) == list(other) and all(_same(ours[key], other[key]) for key in ours)
    if isinstance(ours, list) and isinstance(other, list):
        return len(ours) == len(other) and all(map(_same, ours, other))
    return other in _NULLS if ours is None else ours == other


# Printing


@given(mappings)
def test_every_reader_reads_what_we_print(mapping: dict[str, Plain]) -> None:
    """Printed text comes back the same from us, and from PyYAML and ruamel.yaml that guess."""
    text = print_mapping(mapping)
    assert read_mapping(text) == mapping
    assert (yaml.safe_load(text) or {}) == mapping
    assert (YAML(typ="safe", pure=True).load(text) or {}) == mapping


@given(mappings)
def test_the_slow_parser_agrees_on_what_we_print(mapping: dict[str, Plain]) -> None:
    """PyYAML without libyaml reads the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yaml, "__with_libyaml__", False)
        assert read_mapping(print_mapping(mapping)) == mapping


@given(texts)
def test_a_value_stays_on_its_line(text: str) -> None:
    """No scalar reaches over its line, whatever is in it."""
    printed = print_mapping({"key": text})
    assert printed.splitlines() == [printed[:-1]]


def test_canonical_form() -> None:
    """The canonical form, shown once."""
    mapping: dict[str, Plain] = {
        "id": "ms_01",
        "reason": "two words",
        "created": "2026-01-01T00:00:00.000Z",
        "pinned": "true",
        "closed": "true",
        "on": "no",
        "none": None,
        "tags": ["a", "é"],
        "empty": [],
        "ext": {"a": {"b": "c"}, "d": {}},
        "anchors": [{"file": "x.py", "sha": "0123"}, ["e", ["g"]]],
    }
    assert print_mapping(mapping, frozenset({"pinned"})) == (
        "id: ms_01\n"
        "reason: two words\n"
        'created: "2026-01-01T00:00:00.000Z"\n'
        "pinned: true\n"
        'closed: "true"\n'
        '"on": "no"\n'
        '"none": null\n'
        "tags:\n"
        "  - a\n"
        '  - "é"\n'
        "empty: []\n"
        "ext:\n"
        "  a:\n"
        "    b: c\n"
        "  d: {}\n"
        "anchors:\n"
        "  - file: x.py\n"
        '    sha: "0123"\n'
        "  - - e\n"
        "    - - g\n"
    )


@pytest.mark.parametrize("word", "y n yes no on off true false null none nan inf infinity".split())
def test_quotes_words_that_some_reader_guesses_at(word: str) -> None:
    """Booleans, nulls and numbers of any YAML are quoted in any case, as value and as key."""
    for shown in (word, word.upper(), word.title()):
        assert print_mapping({shown: shown}) == f'"{shown}": "{shown}"\n'


def _nest(levels: int, leaf: Plain) -> Plain:
    for _ in range(levels):
        leaf = [leaf]
    return leaf


def test_prints_to_the_depth_it_reads() -> None:
    """The deepest mapping that can be printed can be read, and one level more is refused."""
    deepest = {"a": _nest(MAX_DEPTH - 1, "x")}
    assert read_mapping(print_mapping(deepest)) == deepest
    for too_deep in (_nest(MAX_DEPTH, "x"), _nest(MAX_DEPTH - 1, [])):
        with pytest.raises(Invalid, match="deeper"):
            print_mapping({"a": too_deep})


@pytest.mark.parametrize(
    ("mapping", "code"),
    [({"a": "\ud800"}, "lone-surrogate"), ({"k" * 1001: "a"}, "key-too-long")],
)
def test_refuses_to_print_what_yaml_cannot_hold(mapping: dict[str, Plain], code: str) -> None:
    """Half a character and an endless key are refused with a finding."""
    with pytest.raises(Invalid) as refused:
        print_mapping(mapping)
    assert [finding.code for finding in refused.value.findings] == [code]


# Reading


@pytest.mark.usefixtures("parser")
def test_guesses_nothing() -> None:
    """Every scalar is its text, and only a plain null or nothing is None."""
    text = (
        "a: 2026-01-02\nb: no\nc: 1.10\nd: 12:30\ne: 1e10\nf: 0123\n<<: {y: =}\nnull: ~\n"
        "n: [null, Null, NULL, nULL, 'null', \"~\", '']\nlast:\n"
    )
    assert read_mapping(text) == {
        "a": "2026-01-02",
        "b": "no",
        "c": "1.10",
        "d": "12:30",
        "e": "1e10",
        "f": "0123",
        "<<": {"y": "="},
        "null": None,
        "n": [None, None, None, "nULL", "null", "~", ""],
        "last": None,
    }


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n"])
def test_nothing_is_an_empty_mapping(text: str) -> None:
    """A head without content is an empty mapping."""
    assert read_mapping(text) == {}


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a: 1\nb: 2\na: 3\nb: 4\n", ["3 duplicate-key", "4 duplicate-key"]),
        ("a:\n  - b: 1\n    b: 2\n", ["3 duplicate-key"]),
        ("'a': 1\n\"a\": 2\n", ["2 duplicate-key"]),
        ("a: &x 1\nb: *x\n", ["1 yaml-alias", "2 yaml-alias"]),
        ("a: &x [1]\n*x : 2\n", ["1 yaml-alias", "2 yaml-alias"]),
        ("a: !!str 1\nb: !x {}\nc: ! y\n", ["1 yaml-tag", "2 yaml-tag", "3 yaml-tag"]),
        ("a: 1\n? [b]\n: 2\nc: *x\n", ["2 yaml-key", "4 yaml-alias"]),
        ("? {a: {b: c}}\n: [d]\ne: 1\ne: 2\n", ["1 yaml-key", "4 duplicate-key"]),
        ("a: 1\n?\n: c\n", ["2 yaml-key"]),
        ("a: {?b: c, ?'d': e}\nf: [?g]\n", ["1 yaml-key", "1 yaml-key", "2 yaml-key"]),
        ("a: 1\n--- # next\nb: 2\n", ["2 yaml-documents"]),
        ("a: 1\n... # end\n", ["2 yaml-documents"]),
        ("- a\n", ["1 not-a-mapping"]),
        ("text\n", ["1 not-a-mapping"]),
        ("~\n", ["1 not-a-mapping"]),
        ("a: 1\na: 2\nb: [\n", ["2 duplicate-key", "4 yaml-syntax"]),
        ("a: b: c\n", ["1 yaml-syntax"]),
        ("a: 1\n\tb: 2\n", ["2 yaml-syntax"]),
        ("a: 1\nb: \x85\u2028\nc: x\ufeff\n", ["2 yaml-character", "3 yaml-character"]),
        ("a: 1\rb: 2\n", ["1 yaml-character"]),
        ("a: \x07\n", ["1 yaml-character"]),
        ("a: \ud800\n", ["1 yaml-character"]),
    ],
)
def test_refuses(text: str, found: list[str]) -> None:
    """What could mean two things is refused, with the lines of all that was found."""
    with pytest.raises(Unreadable) as refused:
        read_mapping(text)
    assert [f"{finding.line} {finding.code}" for finding in refused.value.findings] == found


def test_counts_lines_from_the_given_one() -> None:
    """The finding's line, and the line its message names, are those of the file."""
    with pytest.raises(Unreadable) as refused:
        read_mapping("a: 1\na: 2\n", first_line=2)
    assert str(refused.value) == ":3: duplicate-key: the key 'a' is given again, first on line 2"


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize("piece", ["[", "- ", "{a: ", "[\n", "? "])
def test_depth_is_bounded(piece: str) -> None:
    """Fifty thousand levels are refused at once, without recursion."""
    prefix = "" if piece in ("- ", "? ") else "a: "
    assert _codes(prefix + piece * 50_000)[-1] == "yaml-depth"


@given(damaged(st.one_of(canonical_texts, hand_written)))
def test_agrees_with_ruamel(text: str) -> None:
    """Our reader and ruamel.yaml read the same out of every text that both accept."""
    ours, other = _ours(text), _as_ruamel_reads(text)
    if _REFUSED not in (ours, other):
        assert _same(ours, other)


@given(damaged(st.one_of(canonical_texts, hand_written)))
def test_both_parsers_agree(text: str) -> None:
    """With libyaml and without, a text that both accept means the same."""
    ours = _ours(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yaml, "__with_libyaml__", False)
        pure = _ours(text)
    if _REFUSED not in (ours, pure):
        assert ours == pure


# Real documents


def _suite(data_dir: Path) -> Iterator[tuple[str, str, str]]:
    """Name, text and expected events of each valid case that could stand between fences."""
    for path in sorted((data_dir / "frontmatter/yaml+yaml-test-suite/src").glob("*.yaml")):
        text, tree = "", ""
        for number, case in enumerate(YAML(typ="safe").load(path.read_text(encoding="utf-8"))):
            text, tree = case.get("yaml", text), case.get("tree", tree)
            if not case.get("fail") and _unmarked(text).endswith("\n"):
                yield f"{path.stem}-{number}", _unmarked(text), tree


def _unmarked(text: str) -> str:
    """A text of the suite without the signs it writes for what cannot be seen."""
    text = re.sub("—*»", "\t", text.replace("␣", " ").replace("↵", "").replace("∎\n", ""))
    text = text.replace("←", "\r").replace("⇔", "\ufeff")
    return text.removeprefix("---\n").removesuffix("...\n")


def _as_the_suite_says(tree: str) -> object:
    """The value that the suite's list of events describes, every scalar as text."""
    lines = iter(tree.split("\n"))
    for line in lines:
        event = line.strip()
        if event.startswith(("+MAP", "+SEQ", "=VAL")):
            return _value(event, lines)
    return {}


def _value(event: str, lines: Iterator[str]) -> object:
    if event.startswith("=VAL"):
        shown = event.removeprefix("=VAL ").replace("␣", " ")
        signs = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "\\": "\\"}
        return re.sub(r"\\(.)", lambda found: signs[found[1]], shown[1:])
    parts = []
    while not (inner := next(lines).strip()).startswith("-"):
        parts.append(_value(inner, lines))
    return parts if event.startswith("+SEQ") else dict(zip(parts[::2], parts[1::2], strict=True))


def test_yaml_test_suite(data_dir: Path) -> None:
    """Each case of the suite that we accept means to us what the suite and ruamel.yaml say."""
    accepted, wrong = 0, []
    for name, text, tree in _suite(data_dir):
        ours = _ours(text)
        if ours is _REFUSED:
            continue
        accepted += 1
        other = _as_ruamel_reads(text)
        if not _same(ours, _as_the_suite_says(tree)) or not (
            other is _REFUSED or _same(ours, other)
        ):
            wrong.append((name, text, ours, other, _as_the_suite_says(tree)))
    assert not wrong
    assert accepted > 70


def test_real_front_matter(data_dir: Path) -> None:
    """Front matter of many tools is read or refused with a line, and read as ruamel.yaml does."""
    read = 0
    for path in sorted((data_dir / "frontmatter").rglob("*.md")):
        try:
            head = split(decode(path.read_bytes())).head
            mapping = read_mapping(head)
        except Unreadable as refused:
            lines = [finding.line for finding in refused.findings]
            assert lines
            assert all(lines)
            continue
        read += 1
        other = _as_ruamel_reads(head)
        assert other is _REFUSED or _same(mapping, other), path
        assert [entry.key for entry in entries(head)[0]] == list(mapping)
    assert read > 50
