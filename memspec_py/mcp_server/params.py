"""The arguments of tools: what a client is told of them, and the check of what it sends."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from memspec_py.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SHOWN_CHARS = 60


class Shape(Enum):
    """What a value is in JSON, and how a message calls it."""

    TEXT = "a text"
    TEXTS = 'a list of texts, such as ["one"]'
    FLAG = "true or false"
    NUMBER = "a whole number"


class Param(NamedTuple):
    """One argument of a tool.

    ``to`` is the name the API has for it, if another; ``words`` are the only values of a text, or
    of each text of a list; ``most`` bounds a number, from 1.
    """

    name: str
    about: str = ""
    shape: Shape = Shape.TEXT
    required: bool = False
    words: tuple[str, ...] = ()
    most: int | None = None
    to: str = ""

    @property
    def keyword(self) -> str:
        """What the API calls it."""
        return self.to or self.name


def input_schema(params: Sequence[Param]) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments, in the few words that every client understands."""
    required = [param.name for param in params if param.required]
    return {
        "type": "object",
        "properties": {param.name: _property(param) for param in params},
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }


def checked(tool: str, params: Sequence[Param], sent: Mapping[str, object]) -> dict[str, Any]:
    """The values under the names of the API; what is null counts as not sent.

    Raises ``UsageError``, which names the argument and what it should be.
    """
    known = {param.name: param for param in params}
    for name in sent:
        if name not in known:
            raise UsageError(f"{tool} has no argument {name!r}", hint=_known(params))
    given = {name: value for name, value in sent.items() if value is not None}
    for param in params:
        if param.required and param.name not in given:
            raise UsageError(f"{tool} needs {param.name}", hint=_known(params))
    return {known[name].keyword: _value(known[name], value) for name, value in given.items()}


def _property(param: Param) -> dict[str, Any]:
    words = {"enum": list(param.words)} if param.words else {}
    about = {"description": param.about} if param.about else {}
    match param.shape:
        case Shape.TEXT:
            return {"type": "string", **words, **about}
        case Shape.TEXTS:
            return {"type": "array", "items": {"type": "string", **words}, **about}
        case Shape.FLAG:
            return {"type": "boolean", **about}
        case Shape.NUMBER:
            return {"type": "integer", "minimum": 1, "maximum": param.most, **about}


def _value(param: Param, value: object) -> object:
    match param.shape, value:
        case Shape.TEXT, str():
            return _word(param, value)
        case Shape.TEXTS, list() if all(isinstance(one, str) for one in value):
            return [_word(param, one) for one in value]
        case Shape.FLAG, bool():
            return value
        case Shape.NUMBER, int() | float() if not isinstance(value, bool) and value == int(value):
            return _bounded(param, int(value))
    raise UsageError(f"{param.name} should be {param.shape.value}, not {_shown(value)}")


def _word(param: Param, text: str) -> str:
    if param.words and text not in param.words:
        raise UsageError(
            f"{param.name} cannot be {_shown(text)}", hint=f"one of: {', '.join(param.words)}"
        )
    return text


def _bounded(param: Param, number: int) -> int:
    if param.most is not None and not 1 <= number <= param.most:
        raise UsageError(f"{param.name} {number} is not between 1 and {param.most}")
    return number


def _known(params: Sequence[Param]) -> str:
    if not params:
        return "it has no arguments"
    names = (f"{param.name} (needed)" if param.required else param.name for param in params)
    return f"its arguments: {', '.join(names)}"


def _shown(value: object) -> str:
    import json

    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
