"""SCHEMA.md: the schemas as a page to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspec_py.record.parse import KEYS
from tests.schemas.record import (
    ALSO_READ,
    FIELDS,
    ITEMS,
    NOT_BY_EDIT,
    NOT_IN_THE_SCHEMA,
    RULES,
    record_schema,
)
from tests.schemas.shapes import ID, INSTANT, NOT_BLANK, SUFFIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tests.schemas.shapes import Schema

_TOP = """\
# Schema reference

Made by `bin/schema` from the code; `bin/schema --check` says whether it is current. The JSON
Schemas (2020-12) are in `schema/`, and in an installed package in `memspec_py/schema/`.

An *id* is `ms_` and 26 capitals or digits. An *instant* is a text such as
`2026-11-29T21:34:30.705Z`: UTC, milliseconds, `Z`.

## Records

`schema/record.schema.json` describes the front matter as memspec reads it, without guessing types:
every value is text, or a list or mapping of texts, so `pinned: true` is the text `true`. The title
is not in it: it is the first heading below the front matter. Keys that are not listed are allowed
and kept. Counts and lengths are the defaults; `limits` in config.yaml changes them.
"""

_WRITTEN_BY = """
*Written by* names the command, or its option, that sets a field; *imports* are `Memspec.adopt` and
the scripts on top of it, which may set any. `edit` may change every field but
{fixed}; it may not claim a stronger or a later witness."""

_ALSO_READ = """
### What is read as well

Files may have these forms, which the schema does not know. What is read from them, and so what
`get` shows as `record`, is what the schema describes.
"""

_NOT_IN_THE_SCHEMA = """
### What the schema cannot say

The reader refuses it; the code is that of its finding.
"""

_REPLIES = """\
## Replies

What `--json` prints, and what the Python API returns under the same names. A field without a value
is left out; *sometimes* marks those that may be. No other fields occur.
"""


def page(schemas: Mapping[str, Schema]) -> str:
    """The whole page for some schemas by name."""
    return "\n".join([*_record_lines(), *_reply_lines(schemas)]) + "\n"


def _record_lines() -> Iterator[str]:
    yield _TOP
    needed = record_schema()["required"]
    yield from _table(
        ("field", "type", "needed", "meaning", "written by"),
        (
            (
                f"`{key}`",
                _type(FIELDS[key].shape),
                "yes" if key in needed else "",
                FIELDS[key].meaning,
                FIELDS[key].written_by,
            )
            for key in KEYS
        ),
    )
    yield _WRITTEN_BY.format(fixed=", ".join(f"`{key}`" for key in NOT_BY_EDIT))
    for name, item in ITEMS.items():
        yield f"\n### One of `{'anchors' if name == 'anchor' else name}`\n"
        yield f"{item['description']} Other keys are allowed and kept.\n"
        yield from _field_table(item)
    yield "\n### Which fields go together\n"
    yield from (f"- {sentence}" for sentence in RULES)
    yield _ALSO_READ
    yield from (f"- **{name}**: {sentence}" for name, sentence in ALSO_READ.items())
    yield _NOT_IN_THE_SCHEMA
    yield from (f"- `{code}`: {sentence}" for code, sentence in NOT_IN_THE_SCHEMA.items())
    yield "- What concerns the file and not its mapping: its size, its title, a doubled key."
    yield ""


def _reply_lines(schemas: Mapping[str, Schema]) -> Iterator[str]:
    yield _REPLIES
    parts: dict[str, Schema] = {}
    for name, schema in schemas.items():
        if name == "record":
            continue
        parts |= schema.get("$defs", {})
        yield f"### {name}\n"
        yield f"{schema['description']} Schema: `schema/{name}{SUFFIX}`.\n"
        yield from _field_table(schema["properties"]["error"] if name == "error" else schema)
        yield ""
    yield "## Parts of replies\n"
    for name, part in sorted(parts.items()):
        yield f"### {name}\n"
        yield f"{part['description']}\n"
        yield from _field_table(part)
        yield ""


def _field_table(schema: Schema) -> Iterator[str]:
    required = schema.get("required", ())
    return _table(
        ("field", "type", "", "meaning"),
        (
            (
                f"`{name}`",
                _type(field),
                "" if name in required else "sometimes",
                field["description"],
            )
            for name, field in schema["properties"].items()
        ),
    )


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    for row in (head, ("---",) * len(head), *rows):
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


_WORDS = {"string": "text", "array": "list", "object": "mapping", "null": "null"}


def _type(schema: Schema) -> str:
    """A shape in words."""
    kind = schema.get("type")
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "const" in schema or "enum" in schema:
        return ", ".join(f"`{word}`" for word in schema.get("enum", [schema.get("const")]))
    if kind is None:
        return " or ".join(map(_type, schema["anyOf"]))
    if kind == ["string", "array"]:
        return f"id or {_type({**schema, 'type': 'array'})}"
    if isinstance(kind, list):
        return " or ".join(_WORDS.get(str(one), str(one)) for one in kind)
    if kind == "array":
        most = f" (at most {schema['maxItems']})" if "maxItems" in schema else ""
        return f"list{most} of {_type(schema['items'])}"
    return _mapping_type(schema) if kind == "object" else _simple_type(schema)


def _mapping_type(schema: Schema) -> str:
    fields = schema.get("properties", {})
    if fields:
        values = {_type(field) for field in fields.values()}
        return f"mapping of {', '.join(f'`{name}`' for name in fields)} to {' or '.join(values)}"
    others = schema["additionalProperties"]
    return "mapping" if others is True else f"mapping to {_type(others)}"


def _simple_type(schema: Schema) -> str:
    for known, word in ((ID, "id"), (INSTANT, "instant"), (NOT_BLANK, "text, not blank")):
        if schema.get("pattern") == known["pattern"]:
            longest = schema.get("maxLength") if known is NOT_BLANK else None
            return word if longest is None else f"{word}, at most {longest} characters"
    kind: str = schema["type"]
    return _WORDS.get(kind, kind)
