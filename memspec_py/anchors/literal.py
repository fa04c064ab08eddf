"""Literals that must keep their value: ``PATH::NAME=value``.

Python is read by ``ast`` (``Class.NAME`` works too), JSON, YAML and TOML by their key paths. In any
other file an assignment is what looks like one outside of a comment line (``NAME = value``,
``NAME: type = value``, ``NAME := value``, ``NAME: value``, ``#define NAME value``); it ends at the
mark that ends a statement, or with the line.

Values are compared in one spelling: strings in double quotes, whole numbers in decimal digits
(``1_000`` and ``0x3e8`` are ``1000``), white space folded. A bare word that a person types stands
for the word and for the string.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from typing import TYPE_CHECKING

from memspec_py.anchors.symbols import DATA, MOST_BYTES, PYTHON, Unreadable, suffix_of, symbols_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_DIGITS = 1_000  # of a number that is read as one
_LONGEST_LINE = 2_000
_NUMBER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|[1-9][\d_]*|0)\Z")
_COMMENT_LINE = re.compile(rb"[ \t]*(?://|#(?!\s*define\b)|\*|/\*|--|;)")


def values_of(file: str, data: bytes, name: str) -> list[str] | Unreadable:
    """Every different value that a name has in a file; none when the name is not there."""
    if len(data) > MOST_BYTES:
        return Unreadable(f"is too large to be read for its parts ({len(data)} bytes)")
    suffix = suffix_of(file)
    if suffix in PYTHON:
        found = _in_python(data, name)
    elif suffix in DATA:
        found = _in_data(file, data, name)
    else:
        found = list(_in_text(data, name))
    return found if isinstance(found, Unreadable) else list(dict.fromkeys(found))


def says(said: str, value: str) -> bool:
    """Whether what a person typed, or a record has, is this value."""
    return value in {said, spelt(said), _quoted(said)}


def spelt(source: str) -> str:
    """The one spelling of a value as source code has it."""
    text = " ".join(source.split()) or '""'
    if len(text) <= _DIGITS and _NUMBER.match(text):
        return str(int(text.replace("_", ""), 0))
    if len(text) > 1 and text[0] in "\"'`" and text[-1] == text[0]:
        return _quoted(_inside(source.strip()))
    return text


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _inside(literal: str) -> str:
    """What a quoted string says."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an escape that Python does not know
            told = ast.literal_eval(literal)
    except (ValueError, SyntaxError):
        return literal[1:-1]
    return told if isinstance(told, str) else literal[1:-1]


def _in_python(data: bytes, name: str) -> list[str] | Unreadable:
    from memspec_py.anchors import symbols_python

    found = symbols_python.assigned(data, name)
    if isinstance(found, Unreadable):
        return found
    return [_of_python(value, source) for value, source in found]


def _of_python(value: ast.expr | None, source: str) -> str:
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return _quoted(value.value)
    return spelt(source)


def _in_data(file: str, data: bytes, name: str) -> list[str] | Unreadable:
    from memspec_py.anchors import symbols_data

    keys = symbols_of(file, data)
    if isinstance(keys, Unreadable):
        return keys
    found = keys.find(name)
    if found is None:
        return []
    values = [symbols_data.scalar(value) for value in keys.pieces_of(found)]
    if None in values:
        return Unreadable(f"has no single value for {name}; watch it as {file}#{name}")
    return [_quoted(one.text) if one.is_text else spelt(one.text) for one in values if one]


def _in_text(data: bytes, name: str) -> Iterator[str]:
    assigned = _assignment(name.encode("utf-8", "replace"))
    for line in data.splitlines():
        is_code = len(line) <= _LONGEST_LINE and not _COMMENT_LINE.match(line)
        found = assigned.search(line) if is_code else None
        if found is not None:
            yield spelt(_first_value(found[found.lastindex or 0].decode("utf-8", "replace")))


def _assignment(name: bytes) -> re.Pattern[bytes]:
    word = rb"(?<![\w$.-])[\"']?" + re.escape(name) + rb"[\"']?(?![\w$-])[ \t]*+"
    typed = rb"(?:(?::[ \t]*|(?<=[ \t]))[\w.<>\[\]*& |]{1,60}?[ \t]*+)?"
    return re.compile(
        rb"#[ \t]*define[ \t]+" + re.escape(name) + rb"[ \t]+(.+)"
        rb"|" + word + typed + rb"(?::=|=(?![=>~]))[ \t]*(.*)"
        rb"|" + word + rb"(?:=>|:(?![:=]))[ \t]*(.*)"
    )


_STRING = re.compile(r"(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`[^`]*`)")
_END = re.compile(r"[;,]|[ \t](?:#|//|--|/\*)")


def _first_value(rest: str) -> str:
    string = _STRING.match(rest)
    if string is not None:
        return string[0]
    end = _END.search(rest)
    return (rest[: end.start()] if end else rest).strip()
