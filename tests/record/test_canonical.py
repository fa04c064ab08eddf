from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspec_py.record.canonical import canonical_entries, read_canonical
from memspec_py.record.frontmatter import decode, split
from memspec_py.record.yamltext import Unreadable, entries, print_mapping, read_mapping
from tests.strategies import canonical_texts, damaged, hand_written, record_like

if TYPE_CHECKING:
    from pathlib import Path

    from memspec_py.record.model import Plain


def _full(text: str) -> dict[str, Plain] | None:
    try:
        return read_mapping(text)
    except Unreadable:
        return None


@given(record_like)
def test_takes_all_shapes_of_a_record(mapping: dict[str, Plain]) -> None:
    """What the printer writes for a record's shapes is read by the fast reader, and rightly."""
    assert read_canonical(print_mapping(mapping)) == mapping


@given(damaged(st.one_of(canonical_texts, hand_written)))
def test_agrees_with_the_full_reader(text: str) -> None:
    """Where the fast reader gives an answer on damaged text, the full reader gives the same."""
    fast = read_canonical(text)
    if fast is not None:
        assert fast == _full(text)


@given(record_like)
def test_entries_need_no_parser(mapping: dict[str, Plain]) -> None:
    """The places of the top-level keys are those that the parser's marks give."""
    text = print_mapping(mapping)
    assert canonical_entries(text) == entries(text)[0]


@pytest.mark.parametrize(
    ("text", "mapping"),
    [
        ("", {}),
        ("a: '2026-11-29T21:34:30.705Z'\n", {"a": "2026-11-29T21:34:30.705Z"}),
        (
            "a: 49dca7d639426a944e51e05870e9640e4742f83b\n",
            {"a": "49dca7d639426a944e51e05870e9640e4742f83b"},
        ),
        ("a: 1e10\nb: no\nc: 2026-01-01\n", {"a": "1e10", "b": "no", "c": "2026-01-01"}),
        ("a: null\nb:\nc: 'null'\nd: \"~\"\n", {"a": None, "b": None, "c": "null", "d": "~"}),
        ("a:\n  - b\n  - c: d\n    e: f\n", {"a": ["b", {"c": "d", "e": "f"}]}),
        ("a:\n  b:\n    c: d\n  e: f\n", {"a": {"b": {"c": "d"}, "e": "f"}}),
        ("a: Null\nb: NULL\nc: nULL\n", {"a": None, "b": None, "c": "nULL"}),
        ("a: https://x.org/y:1?z=2\n", {"a": "https://x.org/y:1?z=2"}),
        ("a: ~/x\nb: ~/\nc:\n  - ~/y z\n", {"a": "~/x", "b": "~/", "c": ["~/y z"]}),
        ('a: "\\"\\u0085\\\\n\\n"\n', {"a": '"\x85\\n\n'}),
    ],
)
def test_reads(text: str, mapping: dict[str, Plain]) -> None:
    """Our form and that of memspec 0.7.2 are read, as text and without a guess."""
    assert read_canonical(text) == mapping == read_mapping(text)


@pytest.mark.parametrize(
    "text",
    [
        "a: b",
        "a: b\r\n",
        "\n",
        "# c\n",
        "a: b # c\n",
        "a: b \n",
        "a:  b\n",
        "a: b\na: c\n",
        "a:\n  b: c\n  b: d\n",
        "a:\n  - b: c\n    b: d\n",
        "a: 'it''s'\n",
        "a: [b]\n",
        "a: |\n  b\n",
        "a: b\n  c\n",
        "a: &x b\n",
        "a: *x\n",
        "a: !t b\n",
        "a: b: c\n",
        "a: b:\n",
        "a: ~x\n",
        "a: ~\n",
        "a:\n- b\n",
        "a:\n  - - b\n",
        "a:\n  - b\n    c: d\n",
        "a:\n  - b\n  c: d\n",
        "a:\n  b: c\n  - d\n",
        "a: b\n  - c\n",
        "a:\n  - b: c\nd:\n    e: f\n",
        "? a\n: b\n",
        "a: b\x85\n",
        'a: "b\u2028"\n',
        'a: "\\ud800"\n',
        'a: "\\x41"\n',
        'a: "\\N"\n',
        "b\n",
        "  a: b\n",
        "---\n",
        "a: ...\n---\n",
    ],
)
def test_leaves_what_is_not_certain(text: str) -> None:
    """Anything but the one form is left to the full reader."""
    assert read_canonical(text) is None


def test_reads_the_older_store(data_dir: Path) -> None:
    """Nearly all records that memspec 0.7.2 wrote take the fast way, and mean the same."""
    heads = [
        split(decode(path.read_bytes())).head
        for path in sorted((data_dir / "memspec-0.7.2-store").rglob("ms_*.md"))
    ]
    read = [(head, mapping) for head in heads if (mapping := read_canonical(head)) is not None]
    assert len(read) >= len(heads) - 1 > 10
    assert all(mapping == read_mapping(head) for head, mapping in read)


def test_loads_no_yaml_parser(repository: Path) -> None:
    """Reading and patching a file in our own form does not import PyYAML."""
    script = (
        "import sys\n"
        "from memspec_py.record.frontmatter import patch\n"
        "after = patch('---\\na: b\\n---\\n', {'a': 'c', 'd': ['e']})\n"
        "assert after == '---\\na: c\\nd:\\n  - e\\n---\\n'\n"
        "sys.exit('yaml' in sys.modules)\n"
    )
    assert (
        subprocess.run([sys.executable, "-c", script], cwd=repository, check=False).returncode == 0
    )
