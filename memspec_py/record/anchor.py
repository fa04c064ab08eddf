"""What a claim depends on, as its record keeps it.

Apart from the record, because every page of hits has its anchors looked at and needs no more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

# Front matter is read without guessing types: a free value is text, nothing at all (an empty value,
# `~` or `null`), or a list or mapping of such values.
Plain: TypeAlias = "str | list[Plain] | dict[str, Plain] | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """A file a claim depends on, and git's blob id of its bytes when it was anchored.

    ``file`` is relative to the project root, or to the root of ``repo`` (a bare directory name)
    when the file belongs to another repository.

    A claim may depend on a part of the file only: on the code of a ``symbol``, on the text that
    stood in ``lines`` (``10-40``), or on the literal ``value`` of a ``name``. ``symbol_id`` and
    ``span_id`` are hashes of that part, made by the rule that stands before their colon.
    """

    file: str
    sha: str
    repo: str | None = None
    symbol: str | None = None
    symbol_id: str | None = None
    lines: str | None = None
    span_id: str | None = None
    name: str | None = None
    value: str | None = None
    extra: Mapping[str, Plain] = field(default_factory=dict)
