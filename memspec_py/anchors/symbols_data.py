"""Key paths of JSON, YAML and TOML files, such as ``tool.ruff.line-length`` or ``jobs.0.name``.

A key that contains a dot is quoted: ``dependencies."socket.io"``. An id is made of the value below
the path: white space, comments and the order of keys in a mapping are folded; the order of a list,
and for YAML also the difference between ``no`` and ``"no"``, count. YAML's aliases stand for what
they name; its merge keys are keys like others.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from memspec_py.anchors.symbols import Symbols, Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

RULE = "kv1"

MOST_KEYS = 200_000
_DEEPEST = 60
_MOST_DOTS = 500
_STEP = re.compile(r'"((?:[^"\\]|\\.)*)"|\[(\d+)\]|([^.\[\]"]+)|(\.)')
_PLAIN = re.compile(r'[^.\[\]"]+\Z')


class _Scalar(NamedTuple):
    kind: str
    text: str


class _Mapping(NamedTuple):
    items: list[tuple[str, Any]]


class _TooMuchError(Exception):
    """A file has more keys, or deeper ones, than are worth looking at."""


class _Keys(Symbols):
    def find(self, asked: str) -> str | None:
        """A key path, however its keys are quoted and its positions are written."""
        if asked in self:
            return asked
        steps = [
            json.loads(f'"{found[1]}"') if found[1] is not None else found[2] or found[3]
            for found in _STEP.finditer(asked)
            if not found[4]
        ]
        name = _joined(steps)
        return name if name in self else None


def read(data: bytes, suffix: str) -> Symbols | Unreadable:
    """The key paths of a file; the suffix says which notation it is in."""
    try:
        documents = _READERS[suffix](data.decode("utf-8-sig"))
        pieces: dict[str, list[Any]] = {}
        for document in documents:
            for path, value in _paths(document):
                pieces.setdefault(path, []).append(value)
    except (ValueError, RecursionError) as problem:
        told = str(problem).partition("\n")[0]
        return Unreadable(f"cannot be read as {suffix[1:].upper()}: {told}")
    except _TooMuchError:
        return Unreadable("has too many keys, or too deep ones, to look at")
    return _Keys(RULE, pieces, _folded)


def _paths(root: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401  a parsed document
    waiting: list[tuple[tuple[str, ...], Any]] = [((), root)]
    count = 0
    while waiting:
        steps, value = waiting.pop()
        count += 1
        if len(steps) > _DEEPEST or count > MOST_KEYS:
            raise _TooMuchError
        if steps:
            yield _joined(steps), value
        inner: Iterable[tuple[str, Any]] = ()
        if isinstance(value, _Mapping):
            inner = value.items
        elif isinstance(value, list):
            inner = ((str(place), one) for place, one in enumerate(value))
        waiting += reversed([((*steps, key), one) for key, one in inner])


def _joined(steps: Iterable[str]) -> str:
    return ".".join(step if _PLAIN.match(step) else json.dumps(step) for step in steps)


def _folded(value: Any) -> Iterable[str]:  # noqa: ANN401  a parsed document
    return (_digest(value, {}),)


def _digest(value: Any, known: dict[int, str]) -> str:  # noqa: ANN401  a parsed document
    """A text for a value; what aliases share is worked out once."""
    if isinstance(value, _Scalar):
        return f"{value.kind} {value.text}"
    if id(value) not in known:
        known[id(value)] = ""  # an alias inside of what it names adds nothing
        if isinstance(value, _Mapping):
            parts = sorted(f"{key}\0{_digest(one, known)}" for key, one in value.items)
            parts.insert(0, "mapping")
        else:
            parts = ["list", *(_digest(one, known) for one in value)]
        text = "\1".join(parts).encode("utf-8", "surrogatepass")
        known[id(value)] = hashlib.sha256(text, usedforsecurity=False).hexdigest()
    return known[id(value)]


def _json(text: str) -> list[Any]:
    try:
        return [_parsed_json(text)]
    except ValueError:
        # Editors and compilers accept comments and a last comma in their settings, so we do.
        return [_parsed_json(_LAST_COMMA.sub(r"\1", _JSON_COMMENT.sub(r"\1", text)))]


# What is not closed goes on to the end of the file, so that no start of it is tried twice.
_TEXT_VALUE = r'("(?:[^"\\]|\\.)*+(?:"|\Z))'
_JSON_COMMENT = re.compile(_TEXT_VALUE + r"|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_LAST_COMMA = re.compile(_TEXT_VALUE + r"|,(?=\s*+[}\]])", re.DOTALL)


def _parsed_json(text: str) -> Any:  # noqa: ANN401  a parsed document
    return _plain(
        json.loads(
            text,
            parse_int=lambda digits: _Scalar("number", digits),
            parse_float=lambda digits: _Scalar("number", digits),
            parse_constant=lambda word: _Scalar("number", word),
            object_pairs_hook=_Mapping,
        )
    )


def _toml(text: str) -> list[Any]:
    import tomllib

    # The time that tomllib takes for one dotted key grows with the square of its length.
    if any(line.partition("=")[0].count(".") > _MOST_DOTS for line in text.splitlines()):
        raise _TooMuchError
    return [_plain(tomllib.loads(text, parse_float=lambda digits: _Scalar("number", digits)))]


def _plain(value: Any) -> Any:  # noqa: ANN401  a parsed document
    """The three shapes that all notations share."""
    if isinstance(value, _Scalar):
        return value
    if isinstance(value, _Mapping):
        return _Mapping([(key, _plain(one)) for key, one in value.items])
    if isinstance(value, dict):
        return _Mapping([(key, _plain(one)) for key, one in value.items()])
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return _Scalar("number", str(value))
    return _Scalar(type(value).__name__, str(value))


def _yaml(text: str) -> list[Any]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    known: dict[int, Any] = {}
    try:
        return [_of_node(node, known, 0) for node in yaml.compose_all(text, loader)]
    except yaml.YAMLError as problem:
        raise ValueError(" ".join(str(problem).split())) from None


def _of_node(node: Any, known: dict[int, Any], depth: int) -> Any:  # noqa: ANN401  a YAML node
    if depth > _DEEPEST:
        raise _TooMuchError
    if node.id == "scalar":
        return _Scalar(node.tag, node.value)
    if id(node) not in known:
        found: Any = [] if node.id == "sequence" else _Mapping([])
        known[id(node)] = found
        if node.id == "sequence":
            found += [_of_node(one, known, depth + 1) for one in node.value]
        else:
            found.items.extend(
                (_key(key), _of_node(value, known, depth + 1)) for key, value in node.value
            )
    return known[id(node)]


def _key(node: Any) -> str:  # noqa: ANN401  a YAML node
    return str(node.value) if node.id == "scalar" else "?"


_READERS = {
    ".json": _json,
    ".jsonc": _json,
    ".json5": _json,
    ".yaml": _yaml,
    ".yml": _yaml,
    ".toml": _toml,
}


class Single(NamedTuple):
    """A single value, and whether it is a text."""

    text: str
    is_text: bool


def scalar(value: Any) -> Single | None:  # noqa: ANN401  a parsed document
    """What a single value says, as its notation writes it; None for a list or a mapping."""
    if not isinstance(value, _Scalar):
        return None
    if value.kind in {"bool", "NoneType"}:
        return Single({"None": "null"}.get(value.text, value.text.lower()), is_text=False)
    return Single(value.text, is_text=value.kind in {"str", "tag:yaml.org,2002:str"})
