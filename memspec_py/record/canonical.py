"""The fast way to read front matter in our own form, and in the form memspec 0.7.2 wrote.

One expression takes the head apart line by line. Whatever it is not certain of it leaves to the
full reader of ``yamltext``, with which it agrees wherever it gives an answer.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memspec_py.record.model import Plain
    from memspec_py.record.yamltext import Entry

# Each expression takes long to compile beside what reading one short file does, so all but the
# first are compiled when they are needed. That one is kept to Latin-1, as sets with other
# characters take milliseconds; what YAML readers dispute beyond it is looked for apart, and only in
# heads that are not all ASCII.
_CONTROL = r"\x00-\x1f\x7f-\x9f"
_LINE = re.compile(
    rf"""
    ([ ]{{2}}-[ ]|[ ]{{4}}|[ ]{{2}}|)             # how deep: one of four
    (?:([A-Za-z_][A-Za-z0-9_-]*+):(?:[ ]|(?=\n)))?
    ( "[^"\\{_CONTROL}]*+(?:\\.[^"\\{_CONTROL}]*+)*+"
    | '[^'{_CONTROL}]*+'
    # A plain scalar: no `#`, and `:` only inside a word.
    | (?:[A-Za-z0-9_.]|~?/)[^\ \#:\\{_CONTROL}]*+(?:[ :][^\ \#:\\{_CONTROL}]++)*+
    | \[\] | \{{\}}
    |)\n
    | [^\n]*\n                                    # any other line: nothing is caught
    """,
    re.VERBOSE,
)
_lines = _LINE.findall

_NULLS = frozenset({"null", "Null", "NULL"})
_SHORT = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def read_canonical(head: str) -> dict[str, Plain] | None:  # noqa: C901, PLR0912 - the hot loop
    """The mapping of a head in canonical form, or None if it is not certainly that."""
    if head and (head[-1] != "\n" or (not head.isascii() and _disputed().search(head))):
        return None
    mapping: dict[str, Plain] = {}
    items: list[Plain] | None = None  # the list below the last key at the top, or ...
    inside: dict[str, Plain] | None = None  # ... the mapping below it
    part: dict[str, Plain] | None = None  # the mapping that is the last value of either
    bare = inner = ""  # the last key at the top, and inside, when it has no value yet
    value: Plain
    for lead, key, token in _lines(head):
        first = token[:1]
        if first == '"' or first == "'":  # noqa: PLR1714 - faster than asking a set
            value = token[1:-1]
            if first == '"' and "\\" in token and (value := _unescape(token)) is None:
                return None
        elif first == "[":
            value = []
        elif first == "{":
            value = {}
        else:
            value = token if token and token not in _NULLS else None
        if not lead:
            if not key or key in mapping:
                return None
            mapping[key] = value
            bare, inner = "" if token else key, ""
            items = inside = part = None
        elif lead == "  - ":
            if items is None:
                if not bare or inside is not None:
                    return None
                items = mapping[bare] = []
            if key:
                part = {key: value}
                items.append(part)
            elif token:
                part = None
                items.append(value)
            else:
                return None
        elif not key:
            return None
        elif lead == "    ":
            if part is None and inside is not None and inner:
                part = inside[inner] = {}
            if part is None or key in part:
                return None
            part[key] = value
        else:
            if inside is None:
                if not bare or items is not None:
                    return None
                inside = mapping[bare] = {}
            if key in inside:
                return None
            inside[key] = value
            inner, part = "" if token else key, None
    return mapping


def _unescape(token: str) -> str | None:
    """The text of a double-quoted scalar; None if YAML readers could differ about it."""
    try:
        text = _escape().sub(_character, token[1:-1])
    except KeyError:
        return None
    return text


def _character(found: re.Match[str]) -> str:
    if (code := found[1]) is None:
        return _SHORT[found[2]]
    if code[0] in "dD" and code[1] in "89abcdefABCDEF":
        raise KeyError(code)
    return chr(int(code, 16))


@cache
def _disputed() -> re.Pattern[str]:
    return re.compile("[\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")


@cache
def _escape() -> re.Pattern[str]:
    return re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")


@cache
def _entry() -> re.Pattern[str]:
    return re.compile(r"(?P<key>[^\s:]+):(?: (?P<value>.*))?\n(?P<below>(?: .*\n)*)")


def canonical_entries(head: str) -> list[Entry]:
    """The top-level keys of a head that ``read_canonical`` accepts, found without a parser."""
    from memspec_py.record.yamltext import Entry  # who only reads has no use for it

    found = []
    line = 1
    for match in _entry().finditer(head):
        start, key_end = match.span("key")
        name = "value" if match["value"] else "below"
        value_start, value_end = match.span(name) if match[name] else (key_end, key_end)
        if name == "below" and match[name]:
            value_start, value_end = value_start + 2, value_end - 1
        found.append(Entry(match["key"], line, start, key_end, value_start, value_end))
        line += match[0].count("\n")
    return found
