"""JSON as a text that somebody wrote: read with places, changed where it must be, nowhere else.

Comments and trailing commas are read, too, because several harnesses allow them. What ``add`` puts
in, ``cut`` takes out again to the byte. That needs no memory of what was there: a container that
``add`` makes has no space inside its brackets, and one that was there empty gets some.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_DEEPEST = 200
_SPACE = " \t\r\n"
_DECODER = json.JSONDecoder()
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORDS = {"true": True, "false": False, "null": None}


class NotUnderstood(ValueError):
    """The text is no JSON that can be changed safely; the message says where and why."""


class Node(NamedTuple):
    """A value and where it stands; of an object, ``keys`` names the children."""

    start: int
    end: int
    value: object
    children: tuple[Child, ...] = ()
    opening: str = ""

    def child(self, key: str) -> Node | None:
        """The member of an object with this name."""
        return next((one.node for one in self.children if one.key == key), None)


class Child(NamedTuple):
    """A member of an object, from its name on, or an element of a list."""

    start: int
    node: Node
    key: str | None = None

    @property
    def end(self) -> int:
        """Where the value ends."""
        return self.node.end


class Entry(NamedTuple):
    """A value and the names that lead to it; ``in_list`` if they lead to a list that it is in."""

    path: tuple[str, ...]
    value: object
    in_list: bool = False


def parse(text: str) -> Node:
    """The value of a text. Raises ``NotUnderstood``; a name that is there twice is one reason."""
    return _Reader(text).whole()


def fresh(entries: Sequence[Entry], base: Mapping[str, object]) -> str:
    """The text of a new file that holds some entries, on top of what such a file always has."""
    made: dict[str, object] = json.loads(json.dumps(base))
    for one in entries:
        within: dict[str, object] = made
        for name in one.path[:-1]:
            below = within.setdefault(name, {})
            assert isinstance(below, dict)
            within = below
        if one.in_list:
            some = within.setdefault(one.path[-1], [])
            assert isinstance(some, list)
            some.append(one.value)
        else:
            within[one.path[-1]] = one.value
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def holds(root: Node, entry: Entry) -> bool:
    """Whether just this entry is there."""
    found = at(root, entry.path)
    if found is None:
        return False
    if not entry.in_list:
        return found.value == entry.value
    return isinstance(found.value, list) and entry.value in found.value


def at(root: Node, path: Sequence[str]) -> Node | None:
    """What the names lead to."""
    node: Node | None = root
    for name in path:
        node = None if node is None else node.child(name)
    return node


def add(text: str, entry: Entry) -> str:
    """The text with an entry more, which is not there yet.

    Raises ``NotUnderstood`` where something of another kind is in the way.
    """
    node = parse(text)
    containers = entry.path if entry.in_list else entry.path[:-1]
    for depth, name in enumerate(containers):
        _must_be(node, "{", containers[:depth])
        below = node.child(name)
        if below is None:
            return _with_child(text, node, _member(entry, depth))
        node = below
    _must_be(node, "[" if entry.in_list else "{", containers)
    child = compact(entry.value) if entry.in_list else _member(entry, len(entry.path) - 1)
    return _with_child(text, node, child)


def cut(text: str, entry: Entry) -> str:
    """The text without an entry that is there, and without the containers made for it."""
    while True:
        root = parse(text)
        names = entry.path if entry.in_list else entry.path[:-1]
        node = at(root, names)
        assert node is not None
        position = next(
            number
            for number, one in enumerate(node.children)
            if one.node.value == entry.value and (entry.in_list or one.key == entry.path[-1])
        )
        only = node.children[position]
        ours = len(node.children) == 1 and (only.start, only.end) == (node.start + 1, node.end - 1)
        if not ours or not names:
            return _without_child(text, node, position)
        entry = Entry(names, node.value)


def replaced(text: str, node: Node, value: object) -> str:
    """The text with another value in the place of one."""
    return text[: node.start] + compact(value) + text[node.end :]


def compact(value: object) -> str:
    """A value on one line."""
    return json.dumps(value, ensure_ascii=False)


def _must_be(node: Node, opening: str, names: Sequence[str]) -> None:
    if node.opening != opening:
        what = {"{": "an object", "[": "a list"}[opening]
        raise NotUnderstood(f"{'.'.join(names) or 'the whole'} is not {what}")


def _member(entry: Entry, depth: int) -> str:
    """The member to put into the object that stands so deep, containers and all."""
    value = compact(entry.value)
    if entry.in_list:
        value = f"[{value}]"
    for name in reversed(entry.path[depth + 1 :]):
        value = f"{{{compact(name)}: {value}}}"
    return f"{compact(entry.path[depth])}: {value}"


def _with_child(text: str, node: Node, child: str) -> str:
    if not node.children:
        return _with_first(text, node, child)
    last = node.children[-1]
    core, has_comma = _behind(text, last.end, node.end - 1)
    gap = _gap(text, node)
    if "\n" not in gap and text.rfind("//", last.end, core) > text.rfind("\n", last.end, core):
        gap = _newline(text) + gap  # or we would be part of the remark
    if has_comma:
        return f"{text[:core]}{gap}{child},{text[core:]}"
    return f"{text[: last.end]},{text[last.end : core]}{gap}{child}{text[core:]}"


def _with_first(text: str, node: Node, child: str) -> str:
    before, inside, behind = text[: node.start + 1], text[node.start + 1 : node.end - 1], text
    behind = text[node.end - 1 :]
    if not inside:
        return f"{before} {child} {behind}"
    if inside.strip(_SPACE) or "\n" not in inside:
        return f"{before}{child}{inside}{behind}"
    gap = _newline(text) + _line_indent(text, node.start) + "  "
    return f"{before}{gap}{child}{inside}{behind}"


def _without_child(text: str, node: Node, position: int) -> str:
    one, inner_end = node.children[position], node.end - 1
    following = node.children[position + 1].start if one != node.children[-1] else inner_end
    comma = _comma(text, one.end, following)
    if position == 0:
        return _without_first(text, node, comma)
    previous = node.children[position - 1]
    core, _ = _behind(text, previous.end, one.start)
    if comma >= 0:
        return text[:core] + text[comma + 1 :]
    earlier = _comma(text, previous.end, one.start)
    return text[:earlier] + text[earlier + 1 : core] + text[one.end :]


def _without_first(text: str, node: Node, comma: int) -> str:
    one = node.children[0]
    lead = text[node.start + 1 : one.start]
    if len(node.children) > 1:
        end = comma + 1
        while text[end] in _SPACE:
            end += 1
        return text[: one.start] + text[end:]
    end = one.end if comma < 0 else comma + 1
    if lead == " " and text[end : node.end - 1] == " ":
        end += 1
    start = one.start if lead.strip(_SPACE) else node.start + 1
    return text[:start] + text[end:]


def _behind(text: str, start: int, end: int) -> tuple[int, bool]:
    """Where the last remark or comma between two places ends, and whether there is a comma."""
    core, comma, place = start, False, start
    while place < end:
        if text[place] in _SPACE:
            place += 1
            continue
        comma = comma or text[place] == ","
        place = place + 1 if text[place] == "," else _remark_end(text, place)
        core = place
    return core, comma


def _comma(text: str, start: int, end: int) -> int:
    """Where the comma between two places is, remarks left out; -1 without one."""
    place = start
    while place < end:
        if text[place] == ",":
            return place
        place = place + 1 if text[place] in _SPACE else _remark_end(text, place)
    return -1


def _gap(text: str, node: Node) -> str:
    """What stands before a new child: a line of its own, where the last one has that."""
    last = node.children[-1]
    before = text[: last.start].rstrip(" \t")
    if not before.endswith("\n"):
        return " "
    return _newline(text) + text[len(before) : last.start]


def _line_indent(text: str, place: int) -> str:
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _newline(text: str) -> str:
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def _remark_end(text: str, place: int) -> int:
    """Where a remark ends, without the end of its line."""
    if text.startswith("/*", place):
        return text.index("*/", place + 2) + 2
    end = text.find("\n", place)
    end = len(text) if end < 0 else end
    return end - 1 if text[end - 1] == "\r" else end


class _Reader:
    """Reads a text from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 1 if text.startswith("\ufeff") else 0

    def whole(self) -> Node:
        try:
            node = self._value(0)
            self._pass_over()
        except (IndexError, ValueError) as problem:
            raise self._problem(str(problem) or "it ends too early") from None
        if self.place < len(self.text):
            raise self._problem("more text behind the value")
        return node

    def _value(self, depth: int) -> Node:
        self._pass_over()
        if depth > _DEEPEST:
            raise ValueError("it is nested too deep")
        start, mark = self.place, self.text[self.place]
        if mark == "{":
            return self._object(depth)
        if mark == "[":
            return self._list(depth)
        if mark == '"':
            value = self._string()
            return Node(start, self.place, value)
        return self._plain(start)

    def _string(self) -> str:
        value, self.place = _DECODER.raw_decode(self.text, self.place)
        assert isinstance(value, str)
        return value

    def _plain(self, start: int) -> Node:
        for word, value in _WORDS.items():
            if self.text.startswith(word, start):
                self.place = start + len(word)
                return Node(start, self.place, value)
        found = _NUMBER.match(self.text, start)
        if found is None:
            raise ValueError(f"unexpected {self.text[start]!r}")
        self.place = found.end()
        return Node(start, self.place, json.loads(found[0]))

    def _object(self, depth: int) -> Node:
        start = self._open()
        children: list[Child] = []
        value: dict[str, object] = {}
        while self._more("}"):
            begin = self.place
            if self.text[begin] != '"':
                raise ValueError("a name without quotes")
            key = self._string()
            if key in value:
                raise ValueError(f"the name {key!r} is there twice")
            self._pass_over()
            if self.text[self.place] != ":":
                raise ValueError("no colon behind a name")
            self.place += 1
            node = self._value(depth + 1)
            children.append(Child(begin, node, key))
            value[key] = node.value
            self._separate("}")
        return Node(start, self.place, value, tuple(children), "{")

    def _list(self, depth: int) -> Node:
        start = self._open()
        children: list[Child] = []
        while self._more("]"):
            node = self._value(depth + 1)
            children.append(Child(node.start, node))
            self._separate("]")
        value = [one.node.value for one in children]
        return Node(start, self.place, value, tuple(children), "[")

    def _open(self) -> int:
        self.place += 1
        return self.place - 1

    def _more(self, closing: str) -> bool:
        self._pass_over()
        if self.text[self.place] != closing:
            return True
        self.place += 1
        return False

    def _separate(self, closing: str) -> None:
        self._pass_over()
        if self.text[self.place] == ",":
            self.place += 1
        elif self.text[self.place] != closing:
            raise ValueError("a comma is missing")

    def _pass_over(self) -> None:
        while self.place < len(self.text):
            if self.text[self.place] in _SPACE:
                self.place += 1
            elif self.text.startswith(("//", "/*"), self.place):
                self.place = _remark_end(self.text, self.place)
            else:
                return

    def _problem(self, why: str) -> NotUnderstood:
        line = self.text.count("\n", 0, self.place) + 1
        return NotUnderstood(f"line {line}: {why}")
