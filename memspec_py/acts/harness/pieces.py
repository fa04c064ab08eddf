"""What is put into a file, and how it comes out of it again: text in, text out, no file touched."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.acts.harness import block, claude, jsontext
from memspec_py.acts.harness.block import Block

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memspec_py.acts.harness.jsontext import Entry, Node
    from memspec_py.store.resolve import Surroundings


class Refused(Exception):
    """The file cannot be changed safely; the message says why."""


class Outcome(NamedTuple):
    """The bytes to have, None for no file at all, and what else is to be said."""

    data: bytes | None
    notes: tuple[str, ...] = ()


class Registered(NamedTuple):
    """An entry of a JSON file; of a hook, the event it is for."""

    entry: Entry
    event: str | None = None


class JsonPiece(NamedTuple):
    """Entries of a JSON file, and what a new file has besides."""

    parts: tuple[Registered, ...]
    always: Mapping[str, object]
    where: Surroundings

    @property
    def snippet(self) -> str:
        """What somebody would paste."""
        return jsontext.fresh([one.entry for one in self.parts], self.always)

    def put(self, data: bytes | None) -> Outcome:
        """The file with the entries. Raises ``Refused``."""
        if data is None:
            return Outcome(self.snippet.encode())
        text = _decoded(data)
        if not text.strip("\ufeff \t\r\n"):
            return Outcome((text + self._one_line(self.parts)).encode())
        try:
            return self._added(text)
        except jsontext.NotUnderstood as problem:
            raise Refused(str(problem)) from None

    def take(self, data: bytes) -> Outcome:
        """The file without the entries that are just as we write them. Raises ``Refused``."""
        text = _decoded(data)
        if not text.strip("\ufeff \t\r\n"):
            return Outcome(data)
        try:
            return self._removed(text)
        except jsontext.NotUnderstood as problem:
            raise Refused(str(problem)) from None

    def _added(self, text: str) -> Outcome:
        text, notes = self._renewed(text)
        root = jsontext.parse(text)
        present = [one for one in self.parts if jsontext.holds(root, one.entry)]
        missing = []
        for one in self.parts:
            if one in present:
                continue
            found = jsontext.at(root, one.entry.path)
            if one.event and _command_of(one.entry) in map(_text_of, _commands(found)):
                continue  # with another timeout or matcher, which is somebody's choice
            if found is not None and self._is_otherwise(found, one):
                notes.append(f"{_named(one)} is set up otherwise, and left as it is")
            else:
                missing.append(one)
        if present and text == self._fresh(present):
            wanted = [one for one in self.parts if one in present or one in missing]
            return Outcome(self._fresh(wanted).encode(), tuple(notes))
        for one in missing:
            text = jsontext.add(text, one.entry)
        jsontext.parse(text)
        return Outcome(text.encode(), tuple(notes))

    def _removed(self, text: str) -> Outcome:
        root = jsontext.parse(text)
        present = [one for one in self.parts if jsontext.holds(root, one.entry)]
        notes = tuple(
            f"{_named(one)} is not as memspec writes it, and left as it is"
            for one in self.parts
            if one not in present and self._is_ours_changed(root, one)
        )
        if present and text == self._fresh(present):
            return Outcome(None, notes)
        if present and text.endswith(self._one_line(present)):
            blank = text.removesuffix(self._one_line(present))
            if not blank.strip("\ufeff \t\r\n"):
                return Outcome(blank.encode(), notes)
        for one in reversed(present):
            while jsontext.holds(jsontext.parse(text), one.entry):
                text = jsontext.cut(text, one.entry)
        return Outcome(text.encode(), notes)

    def _renewed(self, text: str) -> tuple[str, list[str]]:
        """The text with the plain registrations of the older memspec's scripts made ours."""
        notes = []
        for one in self.parts:
            for found in _commands(jsontext.at(jsontext.parse(text), one.entry.path)):
                if one.event and claude.is_old(_text_of(found), one.event, self.where):
                    text = jsontext.replaced(text, found, _command_of(one.entry))
                    notes.append(f"{_named(one)} ran the older memspec's script")
                    break
        return text, notes

    def _is_otherwise(self, found: Node, one: Registered) -> bool:
        """Whether something stands where an entry would, or does what it would do."""
        if not one.entry.in_list:
            return True
        words = [f"memspec hook {one.event}", claude.OLD_SCRIPTS.get(one.event or "")]
        return any(word in _text_of(one) for word in words if word for one in _commands(found))

    def _is_ours_changed(self, root: Node, one: Registered) -> bool:
        found = jsontext.at(root, one.entry.path)
        return found is not None and self._is_otherwise(found, one)

    def _fresh(self, parts: Sequence[Registered]) -> str:
        return jsontext.fresh([one.entry for one in parts], self.always)

    def _one_line(self, parts: Sequence[Registered]) -> str:
        return jsontext.compact(jsontext.parse(self._fresh(parts)).value)


class TextPiece(NamedTuple):
    """Lines between markers; of a TOML or YAML file, such as leave it one."""

    body: str
    syntax: str = "markdown"

    @property
    def snippet(self) -> str:
        """What somebody would paste."""
        return self.body

    def put(self, data: bytes | None) -> Outcome:
        """The file with the lines. Raises ``Refused``."""
        if data is None:
            return Outcome(block.created(self._block))
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise Refused("it is not UTF-8")
        try:
            found = block.find(data, self._block)
            before = {} if self.syntax == "markdown" else self._value(self._taken(data))
            new = self._put(data, before, found)
        except block.Torn as problem:
            raise Refused(str(problem)) from None
        if self.syntax != "markdown":
            self._check(before, new)
        return Outcome(new)

    def take(self, data: bytes) -> Outcome:
        """The file without the lines. Raises ``Refused``."""
        try:
            return Outcome(block.take(data, self._block))
        except block.Torn as problem:
            raise Refused(str(problem)) from None

    @property
    def _block(self) -> Block:
        return Block(block.MARKDOWN if self.syntax == "markdown" else block.HASH, self.body)

    def _taken(self, data: bytes) -> bytes:
        return block.take(data, self._block) or b""

    def _put(self, data: bytes, before: Mapping[str, object], found: block.Found | None) -> bytes:
        head, _, inner = self.body.partition("\n")
        nested = Block(block.HASH, _dedented(inner))
        if found is not None:
            return block.put(data, nested if found.indent else self._block)
        if self.syntax != "yaml" or head.rstrip(":") not in before:
            return block.put(data, self._block)
        place = _children(data, head)
        if place is None:
            raise Refused(f"it has {head} in a form that cannot be added to")
        return block.put_behind(data, nested, *place)

    def _check(self, before: Mapping[str, object], new: bytes) -> None:
        """Make sure that the file says what it said, and what we say."""
        expected = _merged(before, self._value(self.body.encode()))
        if self._value(new) != expected:
            raise Refused("it could not be changed without changing something else")

    def _value(self, data: bytes) -> Mapping[str, object]:
        read = _toml if self.syntax == "toml" else _yaml
        return read(_decoded(data))


class WholePiece(NamedTuple):
    """A file of our own."""

    text: str
    force: bool = False

    @property
    def snippet(self) -> str:
        """What the file should hold."""
        return self.text

    def put(self, data: bytes | None) -> Outcome:
        """The file as we write it, unless somebody wrote another."""
        if data is None or self.force or data == self.text.encode():
            return Outcome(self.text.encode())
        return Outcome(data, ("it is another file, and left as it is; --force replaces it",))

    def take(self, data: bytes) -> Outcome:
        """No file, if it is as we wrote it."""
        if data == self.text.encode():
            return Outcome(None)
        return Outcome(data, ("it is not as memspec writes it, and left as it is",))


Piece = JsonPiece | TextPiece | WholePiece


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Refused("it is not UTF-8") from None


def _named(one: Registered) -> str:
    return f"the hook {one.event}" if one.event else ".".join(one.entry.path)


def _commands(node: Node | None) -> Iterator[Node]:
    """Every command below a value."""
    for one in () if node is None else node.children:
        if one.key in {"command", "bash"} and isinstance(one.node.value, str):
            yield one.node
        else:
            yield from _commands(one.node)


def _text_of(command: Node) -> str:
    return str(command.value)


def _command_of(entry: Entry) -> str:
    root = jsontext.parse(jsontext.compact(entry.value))
    return _text_of(next(_commands(root)))


def _toml(text: str) -> Mapping[str, object]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise Refused(f"it is no TOML: {problem}") from None


def _yaml(text: str) -> Mapping[str, object]:
    import yaml

    try:
        value = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as problem:
        told = " ".join(str(problem).split())[:200]
        raise Refused(f"it is no YAML: {told}") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Refused("it is no mapping")
    return value


def _children(data: bytes, head: str) -> tuple[int, str] | None:
    """Where the first child of a YAML mapping would go, and its indent; None without the key."""
    found = re.search(rb"(?m)^" + re.escape(head.encode()) + rb"[ \t]*(?:#[^\n]*)?\r?\n", data)
    if found is None:
        return None
    below = re.search(rb"(?m)^([ \t]+)[^\s#]", data[found.end() :])
    outside = re.search(rb"(?m)^[^\s#]", data[found.end() :])
    if below is None or (outside and outside.start() < below.start()):
        return found.end(), "  "
    return found.end(), below[1].decode()


def _dedented(lines: str) -> str:
    first = lines[: len(lines) - len(lines.lstrip(" "))]
    return "".join(line.removeprefix(first) for line in lines.splitlines(keepends=True))


def _merged(before: Mapping[str, object], ours: Mapping[str, object]) -> dict[str, object]:
    """Both; where both have a mapping, that of both, and ours has to be new there."""
    both = dict(before)
    for key, value in ours.items():
        known = both.get(key)
        if known is None:
            both[key] = value
        elif isinstance(known, dict) and isinstance(value, dict):
            both[key] = _merged(known, value)
        else:
            raise Refused(f"it has {key!r} already, set up otherwise")
    return both
