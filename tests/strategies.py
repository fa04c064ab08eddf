"""Hypothesis strategies for front matter: values, texts in our own form, and damage to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from memspec_py.record.yamltext import print_mapping

if TYPE_CHECKING:
    from memspec_py.record.model import Plain

# What YAML 1.1 or 1.2 readers guess at, and text with a meaning in YAML.
_GUESSED = (
    "no Yes y N on OFF true False null Null ~ .nan NaN -.inf inf 1 0123 0x1F 0o17 1e10 1_000 1.10 "
    "12:30 2026-01-02 2026-01-02T03:04:05Z 1234567 12e3456"
).split()
_SIGNS = (
    "= << - ? : # --- ... [] {} [a] {a} &a *a !a !!int % @ ` | > ' \" \\ a:b a: :a a#b #a a,b"
).split()
_SPACED = ["", " ", " a", "a ", "a b", "a  b", "a #b", "a: b", "- a", "? a", "a\nb", "\n", "a\\nb"]
_ODD = (
    "\t\r\n\0\x07\x1b\x7f\x80\x85\xa0\xad\u200b\u2028\u2029\u3000\ufeff\ufffd\ufffe\uffff"
    "\U0001f4a9é :#-'\"\\[]{}a1"
)

texts = st.one_of(
    st.text(st.sampled_from("abcxyz019 ./-_"), max_size=20),
    st.sampled_from([*_GUESSED, *_SIGNS, *_SPACED]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    st.text(st.sampled_from(_ODD), max_size=12),
    st.sampled_from(["x" * 1100, "ab " * 400 + "c", "é: " * 400]),
)
names = st.text(st.sampled_from("abc019_-"), max_size=5).map("key_".__add__)
keys = st.one_of(names, texts.filter(lambda text: len(text) < 100))
scalars: st.SearchStrategy[str | None] = st.one_of(st.none(), texts)


def _nested(inner: st.SearchStrategy[Plain]) -> st.SearchStrategy[Plain]:
    return st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(keys, inner, max_size=4),
    )


plains: st.SearchStrategy[Plain] = st.recursive(scalars, _nested, max_leaves=8)
mappings: st.SearchStrategy[dict[str, Plain]] = st.dictionaries(keys, plains, max_size=6)

_rows = st.dictionaries(names, scalars, min_size=1, max_size=3)
_flat: st.SearchStrategy[Plain] = st.one_of(
    scalars,
    st.lists(scalars, max_size=3),
    st.lists(_rows, max_size=3),
    _rows,
    st.dictionaries(names, _rows, max_size=2),
)
# Of the shapes that records have; the fast reader takes all of these.
record_like: st.SearchStrategy[dict[str, Plain]] = st.dictionaries(names, _flat, max_size=8)

canonical_texts = st.one_of(record_like, mappings).map(print_mapping)

_SCRAPS = (
    *(
        "\n",
        "\n\n",
        "  ",
        "\n  ",
        "\n- ",
        "\n  - ",
        "    ",
        "\t",
        "\r\n",
        "",
        "\n---\n",
        "...",
        "--- a",
    ),
    *": :  # # - ? , [ ] { } ' \" \\ &a *a ! % @ ` ~ = < > | a 1 null é".split(" "),
    *("&a ", "a: b\n", "|\n  ", "|+\n", ">-\n  ", "\\x41", "\\_", "\\/", "\\u00e9"),
    *("\x85", "\u2028", "\xa0", "\u3000", "\ufeff"),
)
_scrap_edits = st.lists(
    st.tuples(st.floats(0, 1), st.sampled_from([0, 0, 1, 2, 5]), st.sampled_from(_SCRAPS)),
    max_size=4,
)


def _damage(text: str, edits: list[tuple[float, int, str]]) -> str:
    for where, removed, scrap in edits:
        at = int(where * len(text))
        text = text[:at] + scrap + text[at + removed :]
    return text


def damaged(sound: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Texts with a few places cut out or written over with what means something to YAML."""
    return st.builds(_damage, sound, _scrap_edits)


_HAND_WRITTEN = (
    "a: 1\nb:\n  - x\n  - y: z\n    w: 'q'\nc: |\n  t\n  u\n\nd: {a: b, c: [d, e]}\n",
    "k: \"a\\n b\"\nl: 'it''s'\nm: >-\n  x\n  y\n# c\nn:\n- 1\n- - 2\n",
    '"q": ~\n? z\n: - a\n  - b\ne: a b\n  c\n',
    "tags: [a, 'b', \"c\"]   # note\nempty:\nmap: {}\n\n# end\n",
    "  in: deep\n  list:\n  - a\n  -\n  - b: |+\n      t\n\n",
    'long: "a\n  b\n\n  c" # x\nplain: a\n b\n\n c\nflow: [a,\n  b: c, {d}]\n',
)
hand_written = st.sampled_from(_HAND_WRITTEN)
