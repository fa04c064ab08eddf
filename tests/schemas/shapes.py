"""The small pieces of JSON Schema that records and replies have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from enum import StrEnum

Schema: TypeAlias = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
SUFFIX = ".schema.json"

TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}
NUMBER: Schema = {"type": "number"}

# In Python `$` also matches before a final newline, and other languages have no `\Z`: so no pattern
# has an end, and the length is bounded instead. No pattern needs more than RE2 can do either.
ID: Schema = {"type": "string", "pattern": "^ms_[0-9A-Z]{26}", "maxLength": 29}
INSTANT: Schema = {
    "type": "string",
    "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    r"T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z",
    "maxLength": 24,
}
INSTANT_OR_NEVER: Schema = {"anyOf": [{"const": "never"}, INSTANT]}
NOT_BLANK: Schema = {"type": "string", "pattern": r"\S"}


def one_of(*words: str | type[StrEnum]) -> Schema:
    """One of some words; an enum stands for all of its own."""
    every: list[str] = []
    for word in words:
        every += [word] if isinstance(word, str) else [one.value for one in word]
    return {"type": "string", "enum": every}


def list_of(item: Schema, most: int | None = None) -> Schema:
    """A list of at most so many items."""
    return {"type": "array", "items": item} | ({} if most is None else {"maxItems": most})


def counts() -> Schema:
    """Numbers of records by a name."""
    return {"type": "object", "additionalProperties": COUNT}


def described(shape: Schema, meaning: str) -> Schema:
    """A shape with what it means, which comes first for a reader."""
    return {"description": meaning, **shape}


def closed(fields: dict[str, Schema], *, optional: tuple[str, ...] = ()) -> Schema:
    """An object with these fields and no others."""
    return {
        "type": "object",
        "properties": fields,
        "required": [name for name in fields if name not in optional],
        "additionalProperties": False,
    }
