"""Sources: who a record comes from, checked before anything is written."""

from __future__ import annotations

from memspec_py.errors import Invalid
from memspec_py.report import Finding

_LONGEST = 200
_NOBODY = frozenset({"", "unknown", "none", "null", "n/a"})


def checked_source(source: str) -> str:
    """The source as it is stored; raises ``Invalid`` for one that names nobody."""
    name = source.strip()
    if name.lower() in _NOBODY:
        raise _refused(f"source {source!r} names nobody")
    if len(name) > _LONGEST or not name.isprintable():
        raise _refused(f"source should be one line of at most {_LONGEST} characters")
    return name


def _refused(message: str) -> Invalid:
    return Invalid(
        message,
        findings=[Finding(code="bad-value", field="source", message=message)],
        hint="say who claims this, such as --source claude-code or --source human:NAME",
    )
