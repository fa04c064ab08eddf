"""What is told to callers: findings as values, and any result as plain JSON data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum

# The field of a reply whose own fields stand beside it in JSON, not one level down.
SPREAD = "circumstances"


class Severity(StrEnum):
    """How bad a finding is: an error hides a record, a warning does not, a note only informs."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing wrong in one place.

    ``code`` is a stable word that is never reused; ``path`` is relative to the store with ``/``;
    ``line`` counts from 1 in the file; ``field`` names the front matter key; ``fix`` says what to
    do.
    """

    code: str
    message: str
    severity: Severity = Severity.ERROR
    path: str = ""
    line: int | None = None
    field: str | None = None
    fix: str | None = None

    def as_dict(self) -> dict[str, object]:
        """The finding as JSON shows it; absent parts are left out."""
        every: dict[str, object] = {
            "code": self.code,
            "severity": str(self.severity),
            "path": self.path,
            "line": self.line,
            "field": self.field,
            "message": self.message,
            "fix": self.fix,
        }
        return {key: value for key, value in every.items() if value is not None}

    def __str__(self) -> str:
        """``path:line: code: message``, the form editors jump to."""
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.code}: {self.message}" if place else f"{self.code}: {self.message}"


def as_json(value: object) -> object:
    """A result as JSON data: results become objects, sequences lists; what is None is left out."""
    if isinstance(value, Finding):
        return value.as_dict()
    names = _field_names(value)
    if names is not None:
        shown: dict[str, object] = {}
        for name in names:
            part = as_json(getattr(value, name))
            if name == SPREAD and isinstance(part, dict):
                shown.update(part)
            elif part is not None:
                shown[name] = part
        return shown
    if isinstance(value, Mapping):
        return {str(key): as_json(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(part) for part in value]
    return str(value) if isinstance(value, str) else value


def _field_names(value: object) -> tuple[str, ...] | None:
    """The fields of a dataclass or a named tuple; None for anything else."""
    if isinstance(value, tuple):
        return getattr(value, "_fields", None)
    if is_dataclass(value) and not isinstance(value, type):
        return tuple(each.name for each in fields(value))
    return None
