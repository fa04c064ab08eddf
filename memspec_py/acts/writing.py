"""What every act that adds a record does: check it whole, then create its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspec_py.acts.inputs import invalid
from memspec_py.errors import NotFound
from memspec_py.ids import new_id
from memspec_py.record.frontmatter import Unreadable
from memspec_py.record.parse import parse_record, print_record
from memspec_py.record.rules import broken_rules
from memspec_py.report import Finding, Severity
from memspec_py.store import files, layout
from memspec_py.store.gitignore import keep_current

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memspec_py.record.model import Record
    from memspec_py.workspace import Workspace


def fresh_id(ws: Workspace) -> str:
    """An id nobody has used."""
    return new_id(ws.clock.now(), ws.entropy(10))


def checked(ws: Workspace, record: Record) -> bytes:
    """The bytes of a new record's file; raises ``Invalid`` with every finding at once.

    What we print is read back and compared, so that nothing is ever written that we cannot read.
    """
    if errors := broken(ws, record):
        raise invalid(errors)
    try:
        data = print_record(record).encode()
        again = parse_record(data, ws.settings.limits)
    except (Unreadable, UnicodeEncodeError) as problem:
        findings = getattr(problem, "findings", ()) or (
            Finding(code="not-utf8", message=f"the text is not valid Unicode: {problem}"),
        )
        raise invalid(findings) from None
    if again != record:
        raise invalid([unfaithful(record, again)])
    return data


def broken(ws: Workspace, record: Record) -> list[Finding]:
    """The rules a record breaks so badly that no reader would take it."""
    return [
        finding
        for finding in broken_rules(record, ws.settings.limits)
        if finding.severity is Severity.ERROR
    ]


def put(ws: Workspace, record: Record, data: bytes) -> str:
    """Create the record's file and return its path in the store; the caller holds the lock."""
    relative = layout.path_of(record)
    keep_current(ws.root)  # first, as a record that was written must not be reported as failed
    files.create(ws.path_of(relative), data)
    return relative


def known_ids(ws: Workspace, field: str, typed: Iterable[str]) -> tuple[str, ...]:
    """The records that some ids or unique prefixes name, each once, of this store or another layer.

    The index must be current.

    Raises ``NotFound`` with the field's name for one that does not exist.
    """
    found = []
    for position, one in enumerate(typed):
        try:
            found.append(ws.known_id(one))
        except NotFound as problem:
            message = f"{field}[{position}]: {problem.message}"
            raise type(problem)(message, hint=problem.hint, details=problem.details) from None
    return tuple(dict.fromkeys(found))


def unfaithful(record: Record, again: Record) -> Finding:
    """The first field that would not survive writing, such as a body with odd line ends."""
    names = record.__dataclass_fields__
    field = next(name for name in names if getattr(record, name) != getattr(again, name))
    message = f"{field} cannot be written so that it reads back the same"
    return Finding(code="not-faithful", field=field, message=message)
