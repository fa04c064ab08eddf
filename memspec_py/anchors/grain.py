"""How much of a file an anchor is about, as typed and as recorded."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspec_py.record.model import Anchor


class Grain(StrEnum):
    """The part of a file that an anchor watches."""

    FILE = "file"
    SYMBOL = "symbol"
    SPAN = "span"
    LITERAL = "literal"


class Typed(NamedTuple):
    """One way to read what a person typed; ``value`` is None where only a name was given."""

    path: str
    grain: Grain = Grain.FILE
    symbol: str = ""
    lines: tuple[int, int] = (0, 0)
    name: str = ""
    value: str | None = None


_SPAN = re.compile(r"(.+):([1-9]\d{0,7})(?:-([1-9]\d{0,7}))?\Z", re.DOTALL)


def readings(typed: str) -> Iterator[Typed]:
    """Every way to read ``PATH``, ``PATH#Symbol``, ``PATH:10-40`` and ``PATH::NAME=value``.

    File names may contain all of these marks, so the longest path comes first; the first reading
    whose path is a file is the one that was meant.
    """
    yield Typed(typed)
    found = [*_symbols(typed), *_literals(typed)]
    span = _SPAN.match(typed)
    if span is not None:
        first = int(span[2])
        found.append(Typed(span[1], Grain.SPAN, lines=(first, int(span[3] or first))))
    yield from sorted(found, key=lambda one: -len(one.path))


def _symbols(typed: str) -> Iterator[Typed]:
    for mark in re.finditer("#", typed):
        path, symbol = typed[: mark.start()], typed[mark.end() :].strip()
        if path and symbol:
            yield Typed(path, Grain.SYMBOL, symbol=symbol)


def _literals(typed: str) -> Iterator[Typed]:
    for mark in re.finditer("::", typed):
        path, said = typed[: mark.start()], typed[mark.end() :]
        name, equals, value = said.partition("=")
        if path and name.strip():
            known = value.strip() if equals else None
            yield Typed(path, Grain.LITERAL, name=name.strip(), value=known)


def grain_of(anchor: Anchor) -> Grain:
    """The grain of a recorded anchor."""
    if anchor.symbol is not None:
        return Grain.SYMBOL
    if anchor.lines is not None:
        return Grain.SPAN
    return Grain.FILE if anchor.name is None else Grain.LITERAL


def part_of(anchor: Anchor) -> str:
    """What follows the path when an anchor is shown as it could be typed."""
    if anchor.symbol is not None:
        return f"#{anchor.symbol}"
    if anchor.lines is not None:
        return f":{anchor.lines}"
    return "" if anchor.name is None else f"::{anchor.name}={anchor.value or ''}"


def shown(anchor: Anchor) -> str:
    """The anchor as it could be typed, below its repository's name if it has one."""
    path = anchor.file if anchor.repo is None else f"{anchor.repo}/{anchor.file}"
    return path + part_of(anchor)
