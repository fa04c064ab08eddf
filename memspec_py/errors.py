"""What can go wrong, one class for each thing a caller can do about it.

::

    MemspecError
    ├── Refused              1  ran well, and the answer is no
    │   ├── NearDuplicate       a record that already says this
    │   ├── Withdrawn           a record that said this was superseded
    │   ├── NotActive           a record that is superseded or retired
    │   └── NestedStore         a store already exists up the tree
    ├── UsageError           2  the call itself is wrong
    ├── NotFound             3  no record with this id
    │   └── AmbiguousId         several records start with it
    ├── NoStore              4  no store here
    ├── Invalid              5  a value or a record that breaks the rules
    ├── Conflict             6  somebody else changed it first
    ├── Busy                 7  the store's lock was held too long
    ├── NotAllowed           8  this caller may not do this
    └── StorageFailed        9  the disk or the system said no

The numbers are the exit codes of the command line; SPEC.md has the table.
Foreign exceptions never leave the module that caused them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memspec_py.report import Finding


class MemspecError(Exception):
    """Any failure a caller can act on: a message, a stable code, and the next step as a hint."""

    exit_code = 70
    code = "error"

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        details: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details: Mapping[str, object] = details or {}

    def as_dict(self) -> dict[str, object]:
        """The error as every front's JSON shows it."""
        shown: dict[str, object] = {"code": self.code, "message": self.message}
        if self.hint is not None:
            shown["hint"] = self.hint
        if self.details:
            shown["details"] = dict(self.details)
        return shown


class Refused(MemspecError):
    """The act ran well and the answer is no."""

    exit_code = 1
    code = "refused"


class NearDuplicate(Refused):
    """A record of the store already says this; ``details["duplicates"]`` names the records."""

    code = "near-duplicate"


class Withdrawn(Refused):
    """A supersede replaced or retracted this very text; ``details["withdrawn"]`` names where."""

    code = "withdrawn"


class NotActive(Refused):
    """The record is not in use any more; ``details["heirs"]`` names what took its place."""

    code = "not-active"


class NestedStore(Refused):
    """A store exists further up the tree, so a new one here would shadow it."""

    code = "nested-store"


class UsageError(MemspecError):
    """The call cannot mean anything: contradictory or missing arguments."""

    exit_code = 2
    code = "usage"


class NotFound(MemspecError):
    """No record has this id."""

    exit_code = 3
    code = "not-found"


class AmbiguousId(NotFound):
    """More than one record's id starts with the given text."""

    code = "ambiguous-id"


class NoStore(MemspecError):
    """No store serves this directory."""

    exit_code = 4
    code = "no-store"


class Invalid(MemspecError):
    """A value breaks the rules of a record; ``findings`` lists everything wrong at once."""

    exit_code = 5
    code = "invalid"

    def __init__(
        self,
        message: str,
        *,
        findings: Sequence[Finding] = (),
        hint: str | None = None,
        details: Mapping[str, object] | None = None,
    ) -> None:
        shown = dict(details or {})
        if findings:
            shown["findings"] = [finding.as_dict() for finding in findings]
        super().__init__(message, hint=hint, details=shown)
        self.findings = tuple(findings)


class Conflict(MemspecError):
    """The file on disk is not the one this change was made from."""

    exit_code = 6
    code = "conflict"


class Busy(MemspecError):
    """Another process held the store's lock for longer than the caller would wait."""

    exit_code = 7
    code = "busy"


class NotAllowed(MemspecError):
    """This caller may not do this, whatever the arguments."""

    exit_code = 8
    code = "not-allowed"


class StorageFailed(MemspecError):
    """The file system refused; nothing half-written is left behind."""

    exit_code = 9
    code = "storage"
