"""What an anchor's grain sees in the bytes of one file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memspec_py.anchors.blob import ids_of, is_blob_id, is_lfs_pointer
from memspec_py.anchors.grain import Grain, grain_of
from memspec_py.anchors.verdict import Verdict

if TYPE_CHECKING:
    from memspec_py.anchors.span import Lines
    from memspec_py.anchors.symbols import Symbols, Unreadable
    from memspec_py.record.model import Anchor


class Sight(NamedTuple):
    """What was seen: ``part`` is where it is within the file, when that is elsewhere."""

    verdict: Verdict
    reason: str = ""
    part: str = ""


UNCHANGED = Sight(Verdict.UNCHANGED)


class Looked:
    """One file's bytes; whatever is read from them is read once, for all of its anchors."""

    def __init__(self, file: str, data: bytes) -> None:
        self.file = file
        self.data = data
        self._ids: dict[int, tuple[str, ...]] = {}
        self._symbols: Symbols | Unreadable | None = None
        self._lines: Lines | None = None

    def ids(self, digits: int) -> tuple[str, ...]:
        """Every id of this length that counts as that of the file, beginning with its own."""
        if digits not in self._ids:
            self._ids[digits] = tuple(ids_of(self.data, digits))
        return self._ids[digits]

    @property
    def symbols(self) -> Symbols | Unreadable:
        """The file's symbols, or why they cannot be told."""
        if self._symbols is None:
            from memspec_py.anchors.symbols import symbols_of

            self._symbols = symbols_of(self.file, self.data)
        return self._symbols

    @property
    def lines(self) -> Lines:
        """The file's lines."""
        if self._lines is None:
            from memspec_py.anchors.span import Lines

            self._lines = Lines(self.data)
        return self._lines

    def at(self, anchor: Anchor) -> Sight:
        """What an anchor sees here, whatever this file is called."""
        if is_blob_id(anchor.sha) and anchor.sha in self.ids(len(anchor.sha)):
            return UNCHANGED
        if is_lfs_pointer(self.data):
            return Sight(Verdict.UNCHECKED, "Git LFS has not fetched the file")
        return _SIGHTS[grain_of(anchor)](self, anchor)


def _whole(_: Looked, anchor: Anchor) -> Sight:
    if not is_blob_id(anchor.sha):
        return Sight(Verdict.UNCHECKED, f"{anchor.sha} is no blob id")
    return Sight(Verdict.DRIFTED, "the file has changed")


def _symbol(looked: Looked, anchor: Anchor) -> Sight:
    from memspec_py.anchors.symbols import Symbols

    name, wanted = anchor.symbol or "", anchor.symbol_id or ""
    symbols = looked.symbols
    if not isinstance(symbols, Symbols):
        return Sight(Verdict.UNCHECKED, symbols.reason)
    if wanted.partition(":")[0] != symbols.rule:
        return Sight(Verdict.UNCHECKED, f"{wanted or 'nothing'} is no id that this version makes")
    found = symbols.find(name)
    if found is not None:
        same = symbols.id_of(found) == wanted
        return UNCHANGED if same else Sight(Verdict.DRIFTED, f"{name} has changed")
    moved = symbols.with_id(wanted, name)
    if moved is not None:
        return Sight(Verdict.MOVED, f"{name} is {moved} now", f"#{moved}")
    if symbols.is_damaged:
        return Sight(Verdict.UNCHECKED, f"{name} is not in the part of the file that can be read")
    return Sight(Verdict.MISSING, f"{name} is gone")


def _span(looked: Looked, anchor: Anchor) -> Sight:
    from memspec_py.anchors.span import is_span_id, parse_span

    span, wanted = parse_span(anchor.lines or ""), anchor.span_id or ""
    if span is None or not is_span_id(wanted):
        return Sight(Verdict.UNCHECKED, f"{wanted or 'nothing'} is no id that this version makes")
    if looked.lines.id_of(span) == wanted:
        return UNCHANGED
    found = looked.lines.find(wanted, span)
    if found is None:
        return Sight(Verdict.DRIFTED, f"the text of lines {span} has changed")
    return Sight(Verdict.MOVED, f"lines {span} are lines {found} now", f":{found}")


def _literal(looked: Looked, anchor: Anchor) -> Sight:
    from memspec_py.anchors.literal import says, values_of

    name, value = anchor.name or "", anchor.value
    found = values_of(looked.file, looked.data, name)
    if not isinstance(found, list):
        return Sight(Verdict.UNCHECKED, found.reason)
    if value is None:
        return Sight(Verdict.UNCHECKED, f"no value of {name} was recorded")
    if not found:
        return Sight(Verdict.MISSING, f"{name} is gone")
    if all(says(value, one) for one in found):
        return UNCHANGED
    return Sight(Verdict.DRIFTED, f"{name} is {' and '.join(found)} now")


_SIGHTS = {
    Grain.FILE: _whole,
    Grain.SYMBOL: _symbol,
    Grain.SPAN: _span,
    Grain.LITERAL: _literal,
}
