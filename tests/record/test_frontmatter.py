from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspec_py.record.frontmatter import (
    ABSENT,
    Absent,
    Unreadable,
    _Splicer,
    compose,
    decode,
    key_lines,
    patch,
    read,
    split,
)
from memspec_py.record.yamltext import print_mapping
from tests.strategies import damaged, hand_written, mappings, plains, texts

if TYPE_CHECKING:
    from pathlib import Path

    from memspec_py.record.model import Plain


def _found(error: pytest.ExceptionInfo[Unreadable]) -> list[str]:
    return [f"{finding.line} {finding.code}" for finding in error.value.findings]


# Taking a file apart


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("closing", ["---", "---  ", "..."])
def test_splits(newline: str, bom: str, closing: str) -> None:
    """Head and body come out exactly, with any newline, mark and fence."""
    lines = [f"{bom}--- ", "a: b", "# c", closing, "", "# T", "---", "x"]
    text = decode(newline.join(lines).encode())
    parts = split(text)
    assert parts.head == f"a: b{newline}# c{newline}"
    assert parts.body == newline.join(["", "# T", "---", "x"])
    assert text[parts.start :].startswith(parts.head)
    assert (parts.bom, parts.newline) == (bool(bom), newline)


@pytest.mark.parametrize(
    ("text", "body"), [("---\n---", ""), ("---\n---\n", ""), ("---\n---\nx", "x")]
)
def test_splits_an_empty_head(text: str, body: str) -> None:
    """Two fences without a line between them are an empty head."""
    parts = split(text)
    assert (parts.head, parts.body) == ("", body)
    assert read(parts.head) == {}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "1 no-front-matter"),
        ("# Title\n", "1 no-front-matter"),
        ("\n---\na: b\n---\n", "1 no-front-matter"),
        ("----\na: b\n----\n", "1 no-front-matter"),
        ("---\na: b\n", "1 unclosed-front-matter"),
        ("---\na: b\n ---\n---x\n", "1 unclosed-front-matter"),
        ("---", "1 unclosed-front-matter"),
        ("---js\nprocess.exit()\n---\n", "1 front-matter-language"),
        ("---json\n{}\n---\n", "1 front-matter-language"),
        ("\ufeff--- toml\r\na = 1\r\n---\r\n", "1 front-matter-language"),
        ("+++\na = 1\n+++\n", "1 front-matter-language"),
        (";;;\n{}\n;;;\n", "1 front-matter-language"),
        ("---\n<<<<<<< ours\na: b\n=======\na: c\n>>>>>>> theirs\n---\n", "2 conflict-markers"),
        ("<<<<<<< a\n---\n=======\n>>>>>>> b\n", "1 conflict-markers"),
        ("---\r\n---\r\nx\r\n<<<<<<< a\r\n>>>>>>> b\r\n", "4 conflict-markers"),
        ("---\n---\n```\n<<<<<<< a\n```\n<<<<<<< a\n>>>>>>> b\n", "6 conflict-markers"),
        ("---\n```\n<<<<<<< a\n---\n>>>>>>> b\n", "3 conflict-markers"),
    ],
)
def test_refuses_to_split(text: str, found: str) -> None:
    """What is no YAML front matter between fences is refused with its line, and never evaluated."""
    with pytest.raises(Unreadable) as refused:
        split(text)
    assert _found(refused) == [found]


@pytest.mark.parametrize(
    "body",
    [
        "<<<<<<< a\n",
        ">>>>>>> b\n",
        ">>>>>>> b\n<<<<<<< a\n",
        " <<<<<<< a\n >>>>>>> b\n",
        "<<<<<<<<\n>>>>>>>>\n",
        "```diff\n<<<<<<< a\n~~~\n``\n>>>>>>> b\n```\n",
        "~~~~\n<<<<<<< a\n~~~\n>>>>>>> b\n",
        "Title\n=======\n",
    ],
)
def test_talks_about_conflicts(body: str) -> None:
    """Half a conflict, or one inside a block of code, is text like any other."""
    assert split(f"---\n---\n{body}").body == body


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"---\n\n\0", ["3 nul-byte"]),
        (b"---\n\xff\n", ["2 not-utf8"]),
        (b"a\n\xe9\n\0", ["3 nul-byte", "2 not-utf8"]),
        (b"\xed\xa0\x80", ["1 not-utf8"]),
        ("---\n".encode("utf-16"), ["1 nul-byte", "1 not-utf8"]),
    ],
)
def test_refuses_bytes(data: bytes, found: list[str]) -> None:
    """Bytes that are no text are refused with all reasons and their lines."""
    with pytest.raises(Unreadable) as refused:
        decode(data)
    assert _found(refused) == found


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_decode_keeps_every_character(text: str) -> None:
    """All text comes through as it is."""
    assert decode(text.encode()) == text


@given(st.text(st.sampled_from("-.\r\n \ufeff<>=`~a:+;")))
def test_no_text_breaks_the_splitter(text: str) -> None:
    """A text is taken apart without loss, or refused with a line."""
    try:
        parts = split(text)
    except Unreadable as refused:
        lines = [finding.line for finding in refused.findings]
        assert lines
        assert all(lines)
    else:
        assert text[parts.start :].startswith(parts.head)
        assert text.endswith(parts.body)


# Reading


def test_lines_are_those_of_the_file() -> None:
    """Findings and key lines count from the opening fence."""
    assert key_lines("a: b\n# c\nd:\n  - e\n'f': g # h\n") == {"a": 2, "d": 4, "f": 6}
    assert key_lines("a: b\nc: d\n") == {"a": 2, "c": 3}
    assert key_lines("{a: b,\nc: d}\n") == {"a": 2, "c": 3}
    assert key_lines("# nothing\n") == {}
    with pytest.raises(Unreadable) as refused:
        read("a: b\na: c\nd: *e\n")
    assert _found(refused) == ["3 duplicate-key", "4 yaml-alias"]


@given(damaged(hand_written))
def test_key_lines_of_all_that_is_readable(head: str) -> None:
    """Every key of a readable head has a line."""
    try:
        mapping = read(head)
    except Unreadable:
        return
    assert set(key_lines(head)) == set(mapping)


@given(mappings, st.text(st.characters(exclude_categories=["Cs"]), max_size=50))
def test_compose_then_split(mapping: dict[str, Plain], body: str) -> None:
    """A composed file comes apart into what it was made of."""
    parts = split(compose(mapping, body))
    assert read(parts.head) == mapping
    assert parts.body == body


# Editing

_TEXT = """\
---
# about
id:  ms_1   # an id
title: 'It''s'
tags: [a, b] # two
list:  # kept
  - x # gone
  # gone too
  - y

# before note
note: |
  text\x20\x20

keep: |+  # all
  text

empty:   # nothing yet
last: "1"
---
# Body
"""


@pytest.mark.parametrize(
    ("changes", "old", "new"),
    [
        ({"id": "ms_2"}, "id:  ms_1   # an id\n", "id:  ms_2   # an id\n"),
        ({"id": "no"}, "id:  ms_1   # an id\n", 'id:  "no"   # an id\n'),
        ({"id": None}, "id:  ms_1   # an id\n", "id:  null   # an id\n"),
        ({"id": ["x"]}, "id:  ms_1   # an id\n", "id:   # an id\n  - x\n"),
        ({"id": ABSENT}, "id:  ms_1   # an id\n", ""),
        ({"title": "Its"}, "'It''s'", "Its"),
        ({"tags": ["c"]}, "tags: [a, b] # two\n", "tags: # two\n  - c\n"),
        ({"tags": []}, "[a, b]", "[]"),
        ({"list": ["z"]}, "  - x # gone\n  # gone too\n  - y\n", "  - z\n"),
        ({"list": "z"}, "list:  # kept\n  - x # gone\n  # gone too\n  - y\n", "list: z  # kept\n"),
        ({"list": ABSENT}, "list:  # kept\n  - x # gone\n  # gone too\n  - y\n", ""),
        ({"note": "x"}, "note: |\n  text  \n", "note: x\n"),
        ({"keep": "x"}, "keep: |+  # all\n  text\n\n", "keep: x\n"),
        ({"note": {"k": "v"}}, "note: |\n  text  \n", "note:\n  k: v\n"),
        ({"note": ABSENT}, "note: |\n  text  \n", ""),
        ({"empty": "x"}, "empty:   # nothing yet\n", "empty: x   # nothing yet\n"),
        ({"empty": ["x"]}, "empty:   # nothing yet\n", "empty:   # nothing yet\n  - x\n"),
        ({"more": "x"}, 'last: "1"\n', 'last: "1"\nmore: x\n'),
        ({"more": {}, "on": ["x"]}, 'last: "1"\n', 'last: "1"\nmore: {}\n"on":\n  - x\n'),
        ({"id": "ms_1", "title": "It's", "tags": ["a", "b"], "gone": ABSENT}, "", ""),
        ({"note": "text  \n", "empty": None, "list": ["x", "y"], "last": "1"}, "", ""),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_patch_changes_its_keys_only(
    changes: dict[str, Plain | Absent], old: str, new: str, newline: str
) -> None:
    """An edit replaces its own words, and comments, order, quotes and newlines stay."""
    assert _TEXT.count(old) == 1 or not old
    meant = _TEXT.replace(old, new, 1) if old else _TEXT
    text = "\ufeff" + _TEXT.replace("\n", newline)
    assert patch(text, changes) == "\ufeff" + meant.replace("\n", newline)


def test_patch_prints_plain_words_where_told() -> None:
    """A boolean field gets a plain word, in its old place and in a new one."""
    text = "---\npinned: false # x\n---\n"
    changes: dict[str, Plain | Absent] = {"pinned": "true", "closed": "true", "word": "true"}
    assert patch(text, changes, plain_words=frozenset({"pinned", "closed"})) == (
        '---\npinned: true # x\nclosed: true\nword: "true"\n---\n'
    )


@pytest.mark.parametrize(
    ("text", "body", "after"),
    [
        ("---\na: b\n---\nold", "new\n", "---\na: b\n---\nnew\n"),
        ("---\r\na: b\r\n---", "new", "---\r\na: b\r\n---\r\nnew"),
        ("---\na: b\n---\nold", "", "---\na: b\n---\n"),
        ("---\na: b\n---", "", "---\na: b\n---"),
    ],
)
def test_patch_replaces_the_body(text: str, body: str, after: str) -> None:
    """A new body stands exactly as given behind the closing fence."""
    assert patch(text, {}, body=body) == after


def test_patch_keeps_the_indent_of_the_head() -> None:
    """Where all keys are indented, so is what an edit adds."""
    text = "---\n  a: b\n  c:\n    - d\n---\n"
    assert patch(text, {"c": ["e"], "f": {"g": "h"}, "a": ABSENT}) == (
        "---\n  c:\n    - e\n  f:\n    g: h\n---\n"
    )


@pytest.mark.parametrize(
    ("head", "changes"),
    [
        ("{a: b}\n", {"a": "c"}),
        ("# x\n{\n  a: b\n}\n", {"c": "d"}),
        ("? a\n: b\n", {"a": "c"}),
        ("x: y\n? a\n: b\n", {"a": ABSENT}),
    ],
)
def test_patch_refuses_what_it_cannot_splice(head: str, changes: dict[str, Plain | Absent]) -> None:
    """A head that is not written key by key is left alone, with a way out named."""
    with pytest.raises(Unreadable) as refused:
        patch(f"---\n{head}---\n", changes)
    finding = refused.value.findings[0]
    assert (finding.code, bool(finding.fix)) == ("cannot-edit", True)


def test_patch_proves_its_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """A result that does not read as it was meant never leaves."""
    for wrong in ("a: d\n", "a: c\nb: d\n", "a: [\n", "---\n"):
        monkeypatch.setattr(_Splicer, "apply", lambda *_, head=wrong: head)
        with pytest.raises(Unreadable) as refused:
            patch("---\na: b\n---\nx\n", {"a": "c"})
        assert _found(refused) == ["2 cannot-edit"]


def test_patch_refuses_a_body_in_conflict() -> None:
    """A new body may not make the file unreadable."""
    with pytest.raises(Unreadable) as refused:
        patch("---\na: b\n---\n", {}, body="<<<<<<< a\n>>>>>>> b\n")
    assert _found(refused) == ["4 conflict-markers"]


_QUOTED = st.text(st.sampled_from("ab #:-é"), max_size=8)
_VALUES = st.one_of(
    texts.map(lambda text: print_mapping({"k": text})[2:-1]),
    _QUOTED.map(lambda text: f" '{text}'"),
    _QUOTED.map(lambda text: f"  '{text}'  # after"),
    st.sampled_from(
        [
            " word",
            " word # after",
            " two\n  lines",
            ' "two\n\n  lines" # after',
            "",
            " # after",
            " ~",
            " [a, 'b'] # after",
            " [a,\n  b, {c: d}]",
            " {a: b}",
            "\n  [a, b] # after",
            "\n  text\n  more",
            " # after\n  - a\n  # inside\n  - b: c\n    d: e",
            "\n- a\n-",
            "\n- - a\n  - b: |\n      x\n- c",
            "\n  a: b # after\n  c:\n    d:",
            " |\n  a\n   b\n\n  # not a comment",
            " |+\n  a\n\n",
            " >- # after\n  a\n  b",
            " |2\n   a\n  b",
        ]
    ),
)
_BETWEEN = st.sampled_from(["", "", "# comment\n", "\n# comment\n", "# comment\n\n"])


@st.composite
def _heads(draw: st.DrawFn) -> list[tuple[str, str]]:
    """A head in many hands, as pieces: a key with its lines, or no key and a comment."""
    pieces = []
    for number, value in enumerate(draw(st.lists(_VALUES, max_size=6))):
        if between := draw(_BETWEEN):
            pieces.append(("", between.replace("comment", f"comment {number}")))
        key = f"key{number}"
        shown = draw(st.sampled_from([key, key, f'"{key}"', f"{key} "]))
        pieces.append((key, f"{shown}:{value}\n"))
    return pieces


_CHANGES = st.dictionaries(
    st.sampled_from(["key0", "key1", "key2", "key3", "new", "no"]),
    st.one_of(plains, st.just(ABSENT)),
    max_size=4,
)
_BODIES = st.sampled_from(["", "# T\n\nbody \n---\nx", "\r\n\tx"])


@given(
    _heads(), _CHANGES, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\ufeff"]), _BODIES
)
def test_patch_leaves_all_other_bytes(
    pieces: list[tuple[str, str]],
    changes: dict[str, Plain | Absent],
    newline: str,
    bom: str,
    body: str,
) -> None:
    """Whatever is changed in whichever style, each other piece of the file stays byte for byte."""
    pieces = [(key, piece.replace("\n", newline)) for key, piece in pieces]
    start, end = f"{bom}---{newline}", f"---{newline}{body}"
    before = read("".join(piece for _, piece in pieces))
    after = patch(start + "".join(piece for _, piece in pieces) + end, changes)

    assert after.startswith(start)
    assert after.endswith(end)
    head = after[len(start) : len(after) - len(end)]
    meant = {key: value for key, value in {**before, **changes}.items() if value is not ABSENT}
    assert read(head) == meant
    assert newline == "\n" or "\n" not in head.replace("\r\n", "")
    at = 0
    due: dict[str, Plain] = {}
    for key, piece in pieces:
        if changes.get(key, before.get(key)) == before.get(key):
            found = head.index(piece, at)
            assert read(head[at:found]) == due
            at, due = found + len(piece), {}
        elif key in meant:
            due[key] = meant[key]
    assert read(head[at:]) == due | {key: meant[key] for key in meant if key not in before}


@given(mappings, _CHANGES)
def test_patch_of_our_own_form(
    mapping: dict[str, Plain], changes: dict[str, Plain | Absent]
) -> None:
    """A file in canonical form stays in it."""
    meant: dict[str, Plain] = {
        key: value for key, value in {**mapping, **changes}.items() if not isinstance(value, Absent)
    }
    assert patch(compose(mapping, "x"), changes) == compose(meant, "x")


def test_patch_of_real_files(data_dir: Path) -> None:
    """In files of other tools one key can be added and taken away again without a trace."""
    patched = 0
    for path in sorted((data_dir / "frontmatter").rglob("*.md")):
        try:
            text = decode(path.read_bytes())
            read(split(text).head)
            added = patch(text, {"added_key": ["x", "no"]})
        except Unreadable:
            continue
        assert patch(added, {"added_key": ABSENT}) == text, path
        patched += 1
    assert patched > 50
