from __future__ import annotations

import re
import textwrap
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memspec_py.anchors.symbols import Symbols, Unreadable, suffix_of, symbols_of


def symbols(text: str, file: str = "a.py") -> Symbols:
    """The symbols of a text that can be read."""
    found = symbols_of(file, textwrap.dedent(text).encode())
    assert isinstance(found, Symbols), found.reason
    return found


def is_same(old: str, new: str, name: str, file: str = "a.py") -> bool:
    """Whether a symbol has one id in two texts."""
    ids = [symbols(text, file).id_of(name) for text in (old, new)]
    assert None not in ids
    return ids[0] == ids[1]


PYTHON = '''
    """Module."""
    import os
    from typing import TYPE_CHECKING

    LIMIT: int = 60
    A, (B, *C) = 1, (2, 3)
    first = second = os.sep
    __all__ = ["one"]
    __all__ += ["two"]
    Alias = dict[str, int]

    if TYPE_CHECKING:
        import json
        class Typed: ...
    else:
        class Typed: pass

    try:
        def fast(): return 1
    except ImportError:
        def fast(): return 2
    finally:
        done = True

    with open(os.devnull) as f:
        inside = 1
    for i in ():
        looped = i
    match first:
        case _:
            matched = 1

    @decorated(1)
    async def one(a, *, b=2) -> None:
        """Doc."""
        local = 1
        def inner():
            """Doc."""
            return local
        class Local: x = 1

    class K(Base, metaclass=M):
        """Doc."""
        attr = 1
        typed: int
        @property
        def p(self): return 1
        @p.setter
        def p(self, v): pass
        class Deep:
            def m(self): return 2
'''


def test_every_kind_of_python_symbol_has_a_name() -> None:
    """Nested, conditional, decorated, assigned in every way; local variables have none."""
    names = set(symbols(PYTHON).names)
    assert names == {
        *("LIMIT", "A", "B", "C", "first", "second", "__all__", "Alias", "Typed", "fast", "done"),
        *("inside", "looped", "matched", "one", "one.inner", "one.Local", "one.Local.x", "K"),
        *("K.attr", "K.typed", "K.p", "K.Deep", "K.Deep.m"),
    }


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("one", "async def one", "async  def  one"),
        ("one", '"""Doc."""\n        local', '"""Other.\n\n        More."""\n        local'),
        ("one", '"""Doc."""\n        local', "local"),
        ("one.inner", '"""Doc."""\n            return', "return"),
        ("one", "local = 1", "local = (1)  # why"),
        ("one", "local = 1", "local = 0x1"),
        ("one", "a, *, b=2", "a,\n        *,\n        b=2,\n    "),
        ("__all__", '["one"]', "['one',]"),
        ("K", '"""Doc."""\n        attr', "# c\n\n        attr"),
        ("K", "Base, metaclass=M", "Base, metaclass=M,"),
        ("LIMIT", "LIMIT: int = 60", "X = 1\n    LIMIT: int = 6_0"),
        ("fast", "except ImportError", "except (ImportError, OSError)"),
    ],
)
def test_what_is_no_part_of_python_code_changes_no_id(name: str, old: str, new: str) -> None:
    """White space, comments, docstrings, spelling, and the condition around it."""
    assert old in PYTHON
    assert is_same(PYTHON, PYTHON.replace(old, new, 1), name)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("one", "decorated(1)", "decorated(2)"),
        ("one", "async def", "def"),
        ("one", "b=2", "b=3"),
        ("one", "-> None", "-> int"),
        ("one", "return local", "return -local"),
        ("one.inner", "return local", "return -local"),
        ("LIMIT", "60", "61"),
        ("LIMIT", "LIMIT: int", "LIMIT: float"),
        ("B", "(2, 3)", "(2, 4)"),
        ("__all__", '["two"]', '["three"]'),
        ("fast", "return 2", "return 3"),
        ("K", "metaclass=M", "metaclass=N"),
        ("K", "def m(self): return 2", "def m(self): return 3"),
        ("K.p", "self, v", "self, w"),
        ("K.attr", "attr = 1", "attr = '1'"),
        ("K.attr", "attr = 1", "attr = True"),
        ("K.attr", "attr = 1", "attr = 1.0"),
        ("Typed", "pass", "x = 1"),
        ("Alias", "int]", "bytes]"),
    ],
)
def test_a_change_of_python_code_changes_its_id(name: str, old: str, new: str) -> None:
    """In each piece of code that the name stands for."""
    assert old in PYTHON
    assert not is_same(PYTHON, PYTHON.replace(old, new, 1), name)


def test_a_change_beside_a_symbol_is_none_of_its_business() -> None:
    """Only what the change is in gets another id."""
    old, new = symbols(PYTHON), symbols(PYTHON.replace("m(self): return 2", "m(self): return 3"))
    changed = [name for name in old.names if old.id_of(name) != new.id_of(name)]
    assert changed == ["K", "K.Deep", "K.Deep.m"]


def test_python_ids_stay_what_they_are() -> None:
    """They are in people's records: a change of the rule needs a new name for it."""
    assert symbols(PYTHON).id_of("K") == "py1:5ee2f6ec1d3ab8449f1dff3c8a040849b2f68d66"


@pytest.mark.parametrize(
    "text", ["def f(:", "x = 1\0", "print 'old'", "  x = 1", "f(" * 3000, "é = \udcff"]
)
def test_what_is_no_python_is_told(text: str) -> None:
    """Never an exception, and never a warning."""
    found = symbols_of("a.py", text.encode("utf-8", "surrogateescape"))
    assert isinstance(found, Unreadable)
    assert found.reason


def test_deep_and_odd_python_is_read() -> None:
    """A long sum nests deep; an escape that is none is a warning elsewhere."""
    long = "x = " + " + ".join(["1"] * 900)
    assert is_same(long, long.replace(" + ", "+"), "x")
    assert not is_same(long, f"{long} + 2", "x")
    assert symbols("x = '\\d'; y = '\\ud800'; z = 0x" + "f" * 5000).id_of("z")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("a.md", "<!--" * 1_000_000),
        ("a.md", "# " + "[" * 1_000_000),
        ("a.md", "# a" + " #" * 1_000_000),
        ("a.ts", "a={a:" * 100_000),
        ("a.rs", "mod a{" * 3_000 + "}" * 3_000),
    ],
)
def test_no_file_takes_long(file: str, text: str) -> None:
    """Whatever a repository has in it, a read must end."""
    began = time.monotonic()
    found = symbols_of(file, text.encode())
    if isinstance(found, Symbols):
        assert all(found.id_of(name) for name in found.names[:3])
    assert time.monotonic() - began < 10


def test_a_file_that_is_too_large_is_not_read() -> None:
    """The whole of it can still be anchored."""
    found = symbols_of("a.py", b"#" * 5_000_001)
    assert isinstance(found, Unreadable)
    assert "too large" in found.reason


def test_f_strings_are_code() -> None:
    """What is between the braces counts, and so does the text."""
    assert is_same("x = f'a{b!r:>{c}}{{'", 'x = f"a{ b !r:>{c}}" "{"', "x")
    for other in ("f'a{b!s:>{c}}{{'", "f'a{b!r:<{c}}{{'", "f'a{b!r:>{d}}{{'", "f'A{b!r:>{c}}{{'"):
        assert not is_same("x = f'a{b!r:>{c}}{{'", f"x = {other}", "x")


def test_a_coding_line_and_a_mark_at_the_start_are_understood() -> None:
    """As Python understands them."""
    plain = symbols("x = 'é'").id_of("x")
    latin = symbols_of("a.py", "# -*- coding: latin-1 -*-\nx = 'é'\n".encode("latin-1"))
    marked = symbols_of("a.py", b"\xef\xbb\xbf" + "x = 'é'\r\n".encode())
    assert [one.id_of("x") for one in (latin, marked) if isinstance(one, Symbols)] == [plain] * 2


# --- Markdown -------------------------------------------------------------------------------------

MARKDOWN = """\
---
title: x
# no heading
---
# Top

Intro with [a link](x).

## One `code` & more ##

Text <!-- hidden --> here.

```sh
# no heading
```

### Deep

More.

Two
---

Last.

## Deep

Again.
"""


def test_headings_are_symbols_with_their_sections() -> None:
    """Up to the next one of the same level or a higher one; of one name, all together."""
    found = symbols(MARKDOWN, "a.md")
    assert found.names == ["Top", "One `code` & more", "Deep", "Two"]
    assert found.find("one-code--more") == "One `code` & more"
    assert found.find("##  Two") == "Two"
    assert found.find("three") is None
    edited = symbols(MARKDOWN.replace("More.", "Less."), "a.md")
    changed = [name for name in found.names if found.id_of(name) != edited.id_of(name)]
    assert changed == ["Top", "One `code` & more", "Deep"]
    again = symbols(MARKDOWN.replace("Again.", "Never."), "a.md")
    assert [n for n in found.names if found.id_of(n) != again.id_of(n)] == ["Top", "Deep"]


def test_wrapping_and_comments_are_folded_in_markdown() -> None:
    """A paragraph may be wrapped anew."""
    assert is_same(MARKDOWN, MARKDOWN.replace("Intro with", "Intro\nwith"), "Top", "a.md")
    assert is_same(MARKDOWN, MARKDOWN.replace(" <!-- hidden -->", ""), "Top", "a.md")
    assert not is_same(MARKDOWN, MARKDOWN.replace("Intro", "Outro"), "Top", "a.md")


# --- JSON, YAML, TOML -----------------------------------------------------------------------------

SAME_DATA = {
    "a.json": '{"a": {"b.c": [1, {"d": "x"}], "e": null, "f": true}, "g": 1.50}',
    "a.yaml": "# c\na:\n  b.c:\n    - 1\n    - d: x\n  e: null\n  f: true\ng: 1.50\n",
    "a.toml": 'g = 1.50\n[a]\nf = true\n"b.c" = [1, {d = "x"}]\n',
}


@pytest.mark.parametrize("file", SAME_DATA)
def test_key_paths_are_symbols(file: str) -> None:
    """Lists by position; a key with a dot is quoted."""
    found = symbols(SAME_DATA[file], file)
    assert {"a", 'a."b.c"', 'a."b.c".0', 'a."b.c".1', 'a."b.c".1.d', "a.f", "g"} <= set(found.names)
    assert found.find('a."b.c"[1].d') == 'a."b.c".1.d'
    assert found.find("a.f") == "a.f"
    assert found.find("a.z") is None
    for name in ('a."b.c"', "a.f", "g"):
        for old, new in (("x", "y"), ("true", "false"), ("1.50", "1.51")):
            edited = symbols(SAME_DATA[file].replace(old, new), file)
            is_in = {"x": 'a."b.c"', "true": "a.f", "1.50": "g"}[old] == name
            assert (found.id_of(name) != edited.id_of(name)) == is_in


def test_the_order_of_keys_and_white_space_are_folded_in_data() -> None:
    """The order of a list is not."""
    assert is_same('{"a": {"b": 1, "c": 2}}', '{"a":\n{"c":2,"b":1}}', "a", "a.json")
    assert not is_same('{"a": [1, 2]}', '{"a": [2, 1]}', "a", "a.json")
    assert not is_same("a: no", 'a: "no"', "a", "a.yaml")
    assert not is_same('{"a": 1}', '{"a": "1"}', "a", "a.json")
    assert not is_same('{"a": {"b": []}}', '{"a": {"b": {}}}', "a", "a.json")
    assert is_same('{"a": 1}', '{// c\n"a": /* d */ 1,}', "a", "tsconfig.json")
    assert is_same('{"a": "// 1,}"}', '{"a": "// 1,}",}', "a", "a.jsonc")
    assert is_same("a: &x {b: 1}\nc: *x", "a: {b: 1}\nc: {b: 1}", "c", "a.yml")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("a.json", "{"),
        ("a.json", "[" * 100_000),
        ("a.yaml", "a: [\n"),
        ("a.yaml", "a: &x [*x]\n"),
        ("a.yaml", "a: &a [1,1]\n" + "".join(f"k{n}: &k{n} [*a, *a]\n" for n in range(3)) + "%"),
        ("a.toml", "a = \n"),
        ("a.toml", f"[a{'.a' * 100_000}]\n"),
        ("a.yaml", "[" * 100_000),
        ("a.json", "/*" * 1_000_000),
        ("a.json", '"' + '\\"' * 1_000_000),
        ("a.json", "\udcff"),
    ],
)
def test_what_is_no_data_is_told(file: str, text: str) -> None:
    """Also what nests without end."""
    found = symbols_of(file, text.encode("utf-8", "surrogateescape"))
    assert isinstance(found, Unreadable)
    assert found.reason


def test_aliases_of_aliases_do_not_multiply() -> None:
    """A small file must not become a large one."""
    lines = ["k0: &k0 [x, x]"] + [
        f"k{n}: &k{n} [{', '.join([f'*k{n - 1}'] * 9)}]" for n in range(1, 12)
    ]
    found = symbols_of("a.yaml", "\n".join(lines).encode())
    assert isinstance(found, Unreadable)
    assert "too many" in found.reason


# --- what has no symbols --------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["a.kt", "Makefile", "a", ".env", "a.py/b"])
def test_other_files_have_no_symbols(file: str) -> None:
    """The reason names the ending."""
    found = symbols_of(file, b"x")
    assert isinstance(found, Unreadable)
    assert "no language" in found.reason


def test_the_ending_is_that_of_the_file_and_not_of_a_folder() -> None:
    """In any case of letters."""
    assert [suffix_of(one) for one in ("A.PY", "x.d/y", "a.test.ts")] == [".py", "", ".ts"]


_WORDS = st.lists(st.sampled_from("x y f ( ) : = 1 'a' # \n def class , . [ ] \\ \t".split(" ")))


@settings(max_examples=200)
@given(st.sampled_from(["a.py", "a.md", "a.json", "a.yaml", "a.toml", "a.ts"]), _WORDS, st.binary())
def test_any_bytes_are_read_or_refused(file: str, words: list[str], more: bytes) -> None:
    """Without an exception, and with an id for each name."""
    for data in (" ".join(words).encode(), more, " ".join(words).encode() + more):
        found = symbols_of(file, data)
        if isinstance(found, Symbols):
            ids = [found.id_of(name) for name in found.names]
            assert all(one and re.fullmatch(r"[a-z]{2}1:[0-9a-f]{40}", one) for one in ids)
        else:
            assert found.reason
