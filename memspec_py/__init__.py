"""A project's memory as Markdown files in git, with a Python API, a command line and an index.

``import memspec_py`` loads nothing else; each public name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memspec_py.api import Memspec
    from memspec_py.errors import (
        AmbiguousId,
        Busy,
        Conflict,
        Invalid,
        MemspecError,
        NearDuplicate,
        NestedStore,
        NoStore,
        NotActive,
        NotAllowed,
        NotFound,
        Refused,
        StorageFailed,
        UsageError,
        Withdrawn,
    )
    from memspec_py.record.model import (
        Anchor,
        EdgeType,
        Evidence,
        Kind,
        Record,
        State,
        Type,
        Witness,
    )
    from memspec_py.trust.channel import Channel

__version__ = "0.1.0"

__all__ = [
    "AmbiguousId",
    "Anchor",
    "Busy",
    "Channel",
    "Conflict",
    "EdgeType",
    "Evidence",
    "Invalid",
    "Kind",
    "Memspec",
    "MemspecError",
    "NearDuplicate",
    "NestedStore",
    "NoStore",
    "NotActive",
    "NotAllowed",
    "NotFound",
    "Record",
    "Refused",
    "State",
    "StorageFailed",
    "Type",
    "UsageError",
    "Withdrawn",
    "Witness",
    "__version__",
]

_HOMES = {"Memspec": "memspec_py.api", "Channel": "memspec_py.trust.channel"}
_RECORD_NAMES = {"Anchor", "EdgeType", "Evidence", "Kind", "Record", "State", "Type", "Witness"}


if not TYPE_CHECKING:  # a type checker shall report a name that is not there

    def __getattr__(name: str) -> object:
        """Import a public name on first use; raises ``AttributeError`` for any other name."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_home(name)), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


def _home(name: str) -> str:
    if name in _HOMES:
        return _HOMES[name]
    return "memspec_py.record.model" if name in _RECORD_NAMES else "memspec_py.errors"
