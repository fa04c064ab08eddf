"""YAML front matter without guesses: every scalar is its text.

Reading builds on the parser's events and refuses what lets a text mean two things: a key given
twice, aliases, tags, several documents, characters on which YAML readers disagree. What is
printed all readers read alike.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.errors import Invalid
from memspec_py.report import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, NoReturn, Protocol

    from memspec_py.record.model import Plain

    class _Mark(Protocol):
        index: int
        line: int

    class _Event(Protocol):
        """What we look at in the parser's events; each kind of event has its part of it."""

        start_mark: _Mark
        explicit: bool
        implicit: tuple[bool, bool]
        anchor: str | None
        tag: str | None
        value: str

    class _Node(Protocol):
        """A node of the composed tree; a scalar's value is text and has no flow style."""

        start_mark: _Mark
        end_mark: _Mark
        value: Any
        style: str | None
        flow_style: bool | None


MAX_DEPTH = 16

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})

# Line breaks to some readers and text to others, or refused by some and kept by others.
_DISPUTED = re.compile(
    "\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]"
)


class Unreadable(Exception):
    """A text that cannot be read, or edited, without guessing; ``findings`` says why and where."""

    def __init__(self, *findings: Finding) -> None:
        super().__init__("; ".join(str(finding) for finding in findings))
        self.findings = findings


def read_mapping(text: str, first_line: int = 1) -> dict[str, Plain]:
    """The mapping a YAML text holds; a text without content is an empty one.

    Raises ``Unreadable`` with every finding there is. ``first_line`` is the number the first line
    of ``text`` has in its file.
    """
    disputed = list(_disputed(text, first_line))
    if disputed:
        raise Unreadable(*disputed)
    return _Builder(text, first_line).build()


def _disputed(text: str, line: int) -> Iterator[Finding]:
    """A finding for the first disputed character of each line."""
    start = 0
    while (found := _DISPUTED.search(text, start)) is not None:
        line += text.count("\n", start, found.start())
        told = f"U+{ord(found[0]):04X} stands unescaped, and YAML readers disagree about it"
        yield Finding(code="yaml-character", line=line, message=told)
        if (start := text.find("\n", found.end())) < 0:
            return


def _loader() -> Any:  # noqa: ANN401 - PyYAML's two loaders share no type
    """The parser over libyaml, or the slow one where PyYAML came without it."""
    import yaml  # dear, and not needed for files in our own form

    return yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader


class _Level:
    """A collection being built; in a mapping also the key that waits for its value."""

    __slots__ = ("has_key", "is_key", "key", "lines", "value")

    def __init__(self, value: list[Plain] | dict[str, Plain], *, is_key: bool) -> None:
        self.value = value
        self.is_key = is_key
        self.key = ""
        self.has_key = False
        self.lines: dict[str, int] = {}


class _Builder:
    """Values out of parser events, with a finding for everything that is refused."""

    def __init__(self, text: str, first_line: int) -> None:
        self._text = text
        self._first_line = first_line
        self._findings: list[Finding] = []
        self._levels: list[_Level] = []
        self._root: Plain = {}

    def build(self) -> dict[str, Plain]:
        """The mapping the text holds; raises ``Unreadable`` with all findings."""
        import yaml  # dear, and not needed for files in our own form

        parser = _loader()(self._text)
        take = {
            yaml.ScalarEvent: self._scalar,
            yaml.MappingStartEvent: self._mapping,
            yaml.SequenceStartEvent: self._sequence,
            yaml.MappingEndEvent: self._close,
            yaml.SequenceEndEvent: self._close,
            yaml.AliasEvent: self._alias,
            yaml.DocumentStartEvent: self._document,
            yaml.DocumentEndEvent: self._document,
        }
        try:
            while not isinstance(event := parser.get_event(), yaml.StreamEndEvent):
                if (act := take.get(type(event))) is not None:
                    act(event)
        except yaml.YAMLError as error:
            self._syntax(error)
        finally:
            parser.dispose()
        if not self._findings and not isinstance(self._root, dict):
            self._refuse("not-a-mapping", 0, "the front matter is not a mapping of keys to values")
        if self._findings or not isinstance(self._root, dict):
            raise Unreadable(*self._findings)
        return self._root

    def _refuse(self, code: str, line: int, message: str) -> None:
        self._findings.append(Finding(code=code, line=line + self._first_line, message=message))

    def _syntax(self, error: Exception) -> None:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        why = getattr(error, "problem", None) or getattr(error, "reason", None) or "unknown reason"
        context = getattr(error, "context", None)
        told = f"{context}, {why}" if context else why
        # Brackets that could begin a key are counted by libyaml itself, before there is an event.
        code = "yaml-depth" if "nesting depth" in why else "yaml-syntax"
        self._refuse(code, mark.line if mark else 0, f"this is not YAML: {told}")

    def _document(self, event: _Event) -> None:
        # A second document cannot begin without a marker, so markers are all there is to look for.
        if event.explicit:
            told = "a document marker stands inside the front matter"
            self._refuse("yaml-documents", event.start_mark.line, told)

    def _alias(self, event: _Event) -> None:
        line = event.start_mark.line
        self._refuse("yaml-alias", line, f"the alias *{event.anchor} is not followed")
        if self._wants_key():
            self._levels[-1].has_key = True
        else:
            self._put(None)

    def _node(self, event: _Event) -> None:
        if event.anchor is not None:
            line = event.start_mark.line
            self._refuse("yaml-alias", line, f"the anchor &{event.anchor} is not accepted")
        if event.tag is not None:
            self._refuse("yaml-tag", event.start_mark.line, f"the tag {event.tag} is not accepted")

    def _scalar(self, event: _Event) -> None:
        if event.anchor is not None or event.tag is not None:
            self._node(event)
        if self._wants_key():
            self._key(event)
        else:
            value = event.value
            self._put(None if event.implicit[0] and value in _NULLS else value)

    def _key(self, event: _Event) -> None:
        level, line, key = self._levels[-1], event.start_mark.line, event.value
        if event.implicit[0] and not key:
            self._refuse("yaml-key", line, "a value stands without a key")
        elif self._text.startswith("?", max(0, event.start_mark.index - 1)):
            # YAML says the sign belongs to the key; the parsers take it for an indicator.
            self._refuse("yaml-key", line, f"the key {key!r} stands behind `?` without a space")
        elif key in level.lines:
            first = level.lines[key] + self._first_line
            told = f"the key {key!r} is given again, first on line {first}"
            self._refuse("duplicate-key", line, told)
        level.lines.setdefault(key, line)
        level.key, level.has_key = key, True

    def _mapping(self, event: _Event) -> None:
        self._enter(event, {})

    def _sequence(self, event: _Event) -> None:
        self._enter(event, [])

    def _enter(self, event: _Event, value: list[Plain] | dict[str, Plain]) -> None:
        self._node(event)
        is_key = self._wants_key()
        if is_key:
            self._refuse("yaml-key", event.start_mark.line, "a list or mapping stands as a key")
        self._levels.append(_Level(value, is_key=is_key))
        if len(self._levels) > MAX_DEPTH:
            # Later events would cost time and tell nothing.
            told = f"values are nested deeper than {MAX_DEPTH} levels"
            self._refuse("yaml-depth", event.start_mark.line, told)
            raise Unreadable(*self._findings)

    def _close(self, _: _Event) -> None:
        level = self._levels.pop()
        if level.is_key:
            self._levels[-1].has_key = True
        else:
            self._put(level.value)

    def _wants_key(self) -> bool:
        if not self._levels:
            return False
        level = self._levels[-1]
        return isinstance(level.value, dict) and not level.has_key

    def _put(self, value: Plain) -> None:
        if not self._levels:
            self._root = value
            return
        level = self._levels[-1]
        if isinstance(level.value, dict):
            level.value[level.key] = value
            level.has_key = False
        else:
            level.value.append(value)


# Where things stand


class Entry(NamedTuple):
    """Where one top-level key and its value stand in a head.

    All are offsets but ``line``, which counts from 1. ``value_start`` equals ``value_end`` when
    there is no value; the end is that of the last character that means something.
    """

    key: str
    line: int
    start: int
    key_end: int
    value_start: int
    value_end: int


def entries(text: str) -> tuple[list[Entry], bool]:
    """The top-level keys of a readable YAML text, and whether its mapping is in flow style."""
    loader = _loader()(text)
    try:
        root: _Node | None = loader.get_single_node()
    finally:
        loader.dispose()
    if root is None:
        return [], False
    return [_entry(text, key, value) for key, value in root.value], bool(root.flow_style)


def _entry(text: str, key: _Node, value: _Node) -> Entry:
    start, key_end = key.start_mark.index, key.end_mark.index
    value_start, value_end = value.start_mark.index, _end(text, value)
    if value_start == value_end:
        value_start = value_end = key_end
    return Entry(key.value, key.start_mark.line + 1, start, key_end, value_start, value_end)


def _end(text: str, node: _Node) -> int:
    """Past the last character of a node that means something; a block's own mark is further on."""
    end: int = node.end_mark.index
    if isinstance(node.value, str):
        is_block = node.style in ("|", ">")
        return _block_end(text, node.start_mark.index, end) if is_block else end
    if node.flow_style:
        return end
    last = node.value[-1]
    return _end(text, last[1] if isinstance(last, tuple) else last)


def _block_end(text: str, start: int, end: int) -> int:
    """The end of a block scalar's last line; blank lines count only where ``+`` keeps them."""
    header = text[start : text.find("\n", start)].partition("#")[0]
    if "+" not in header:
        tight = start + len(text[start:end].rstrip())
        end = text.find("\n", tight, end) + 1 or end
    return start + len(text[start:end].removesuffix("\n").removesuffix("\r"))


# Printing

# A parser must meet the `:` of a key within 1024 characters.
_MAX_KEY = 1000
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./@+-]*(?: [A-Za-z0-9_./@+-]+)*\Z")
# Booleans, nulls and numbers of YAML 1.1, of 1.2 and of readers in between, in any case.
_GUESSED = frozenset("y n yes no on off true false null none nan inf infinity".split())
_ESCAPED = re.compile('["\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]')
_LONE = re.compile("[\ud800-\udfff]")
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def print_mapping(mapping: Mapping[str, Plain], plain_words: frozenset[str] = frozenset()) -> str:
    """The canonical text of a mapping; true and false go unquoted under the ``plain_words`` keys.

    Raises ``Invalid`` for what no YAML text can hold: a lone surrogate, a key of over 1000
    characters, nesting deeper than ``MAX_DEPTH``.
    """
    lines: list[str] = []
    for key, value in mapping.items():
        lines += entry_lines(print_key(key), value, plain_word=key in plain_words)
    return "".join([line + "\n" for line in lines])


def entry_lines(key: str, value: Plain, *, plain_word: bool = False) -> list[str]:
    """The lines of one top-level key, printed already, with its value."""
    shown = print_inline(value, plain_word=plain_word)
    return [f"{key}:", *print_block(value)] if shown is None else [f"{key}: {shown}"]


def print_key(key: str) -> str:
    """A key as it stands before its colon."""
    shown = _print_text(key)
    if len(shown) > _MAX_KEY:
        _unprintable("key-too-long", f"a key of {len(key)} characters is too long for YAML")
    return shown


def print_inline(value: Plain, *, plain_word: bool = False) -> str | None:
    """A value that fits behind its key: a scalar or an empty collection; None for all others."""
    if value is None:
        return "null"
    if isinstance(value, str):
        return value if plain_word and value in ("true", "false") else _print_text(value)
    if not value:
        return "[]" if isinstance(value, list) else "{}"
    return None


def print_block(value: Plain, depth: int = 2) -> list[str]:
    """The lines of a collection with content, as they stand below its key."""
    lines: list[str] = []
    if isinstance(value, dict):
        for key, part in value.items():
            shown, below = _print_part(part, depth)
            lines.append(f"  {print_key(key)}:{shown and ' ' + shown}")
            lines += ["  " + line for line in below]
    elif isinstance(value, list):
        for part in value:
            shown, below = _print_part(part, depth)
            if not shown:
                shown, *below = below
                shown = shown[2:]
            lines.append(f"  - {shown}")
            lines += ["  " + line for line in below]
    return lines


def _print_part(part: Plain, depth: int) -> tuple[str, list[str]]:
    """A value inside a collection: its one line, or the lines below."""
    if depth >= MAX_DEPTH and isinstance(part, (list, dict)):
        _unprintable("yaml-depth", f"values are nested deeper than {MAX_DEPTH} levels")
    shown = print_inline(part)
    return (shown, []) if shown is not None else ("", print_block(part, depth + 1))


def _print_text(text: str) -> str:
    if _PLAIN.match(text) and text.lower() not in _GUESSED:
        return text
    if (lone := _LONE.search(text)) is not None:
        told = f"U+{ord(lone[0]):04X} is half a character and cannot be written"
        _unprintable("lone-surrogate", told)
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    return _SHORT.get(char) or f"\\u{ord(char):04x}"


def _unprintable(code: str, message: str) -> NoReturn:
    raise Invalid(message, findings=[Finding(code=code, message=message)])
