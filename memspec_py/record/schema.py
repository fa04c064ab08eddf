"""The published JSON Schemas, and what they say of a record."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memspec_py.record.parse import to_mapping
from memspec_py.report import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonschema import ValidationError

    from memspec_py.record.model import Record

_PACKAGE = Path(__file__).parent.parent
# In a wheel the schemas lie inside the package, in a checkout beside it.
_PLACES = (_PACKAGE / "schema", _PACKAGE.parent / "schema")

# A store's own limits may be wider than the published ones; ``rules`` holds records to them.
_BOUNDS = frozenset({"maxItems", "maxLength"})
_MOST_CHARS = 200


@cache
def schema(name: str) -> dict[str, Any]:
    """A published schema by name, such as ``record``."""
    for place in _PLACES:
        path = place / f"{name}.schema.json"
        if path.is_file():
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return found
    raise FileNotFoundError(f"{name}.schema.json")


def schema_findings(record: Record) -> Iterator[Finding]:
    """What the published schema of records says against one, but for counts and lengths."""
    for error in sorted(_validator().iter_errors(to_mapping(record)), key=_place):
        if error.validator in _BOUNDS:
            continue
        field = _place(error) or None
        yield Finding(
            code="schema",
            severity=Severity.WARNING,
            field=field,
            message=f"{field or 'front matter'}: {_shortened(error.message)}",
        )


def _place(error: ValidationError) -> str:
    return ".".join(map(str, error.absolute_path))


def _shortened(message: str) -> str:
    """The message without the middle of a long value that it repeats."""
    if len(message) <= _MOST_CHARS:
        return message
    return f"{message[: _MOST_CHARS // 2]} … {message[-_MOST_CHARS // 2 :]}"


@cache
def _validator() -> Any:  # noqa: ANN401 - the library's own type loads it
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema("record"))
