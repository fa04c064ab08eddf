"""From what a person types to an anchor, with everything they should be told about it."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memspec_py.anchors.grain import Grain, Typed, grain_of, part_of, readings
from memspec_py.anchors.locate import (
    Checkouts,
    NoBytes,
    Unresolved,
    existing,
    expanded,
    is_inside,
    not_found,
    read_file,
    recorded,
    repository_of,
)
from memspec_py.anchors.look import Looked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from memspec_py.record.model import Anchor


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """An anchor, and notes: sentences on what is coarser or less portable than was asked for."""

    anchor: Anchor
    notes: tuple[str, ...] = ()


def resolve_anchor(
    typed: str,
    *,
    cwd: Path,
    project: Path,
    env: Mapping[str, str],
    search_paths: Sequence[str] = (),
    root: Path | None = None,
) -> Resolved | Unresolved:
    """The anchor for ``PATH``, ``PATH#Symbol``, ``PATH:10-40`` or ``PATH::NAME=value``.

    A path is absolute, or relative to ``root`` (when given), the working directory or the project,
    or begins with the name of a repository that lies beside the project or below a search path.
    """
    bases = [base for base in (root, cwd, project) if base is not None]
    checkouts = Checkouts(project=project, search_paths=expanded(search_paths, project, env))
    for reading in readings(typed):
        found = existing(reading.path, bases) or _in_checkout(reading.path, checkouts)
        if found is not None:
            return _anchored(typed, reading, found, checkouts)
    for reading in readings(typed):
        if any(os.path.isdir(base / reading.path) for base in bases) and reading.path:
            return Unresolved(path=typed, reason="is a folder; anchor the files that matter")
    return Unresolved(path=typed, reason=not_found(*bases))


def retaken(
    anchor: Anchor,
    *,
    project: Path,
    env: Mapping[str, str],
    search_paths: Sequence[str] = (),
    place: str | None = None,
) -> Resolved | Unresolved:
    """The same anchor as its file is now; at a new place, if one is given as a verdict tells it.

    A literal takes the value it has now.
    """
    checkouts = Checkouts(project=project, search_paths=expanded(search_paths, project, env))
    shown = place or f"{anchor.file}{part_of(anchor)}"
    base = project if anchor.repo is None else checkouts.find(anchor.repo)
    if base is None:
        return Unresolved(path=shown, reason=f"no checkout of {anchor.repo} here")
    if not is_inside(anchor.file):
        return Unresolved(path=shown, reason="leads out of its folder")
    wanted = _as_typed(anchor)
    options = [one for one in readings(place) if one.grain is wanted.grain] if place else [wanted]
    for reading in options:
        found = existing(reading.path, (base,))
        if found is not None:
            return _anchored(shown, reading._replace(value=None), found, checkouts)
    return Unresolved(path=shown, reason=not_found(base))


def _as_typed(anchor: Anchor) -> Typed:
    from memspec_py.anchors.span import parse_span

    return Typed(
        path=anchor.file,
        grain=grain_of(anchor),
        symbol=anchor.symbol or "",
        lines=parse_span(anchor.lines or "") or (0, 0),
        name=anchor.name or "",
    )


def _in_checkout(path: str, checkouts: Checkouts) -> Path | None:
    repo, slash, inside = path.partition("/")
    if not slash or not is_inside(inside):
        return None
    checkout = checkouts.find(repo)
    return None if checkout is None else existing(inside, (checkout,))


def _anchored(
    typed: str, reading: Typed, found: Path, checkouts: Checkouts
) -> Resolved | Unresolved:
    try:
        data = read_file(found)
    except NoBytes as problem:
        return Unresolved(path=typed, reason=problem.reason)
    anchor = recorded(typed, found, checkouts.project, data)
    if isinstance(anchor, Unresolved):
        return anchor
    looked = Looked(anchor.file, data)
    fine = _FINER[reading.grain](anchor, reading, looked)
    if isinstance(fine, str):
        return Unresolved(path=typed, reason=fine)
    return replace(fine, notes=(*fine.notes, *_unportable(anchor, found, checkouts)))


def _unportable(anchor: Anchor, found: Path, checkouts: Checkouts) -> list[str]:
    """A warning when this store would not find the repository again."""
    if anchor.repo is None:
        return []
    checkout = checkouts.find(anchor.repo)
    top = repository_of(found)
    if checkout is not None and top is not None and checkout.resolve() == top.resolve():
        return []
    if checkout is not None and (checkout / anchor.file).is_file():
        return [f"reads look for {anchor.repo} in {checkout}, which is another checkout"]
    where = found.parent if top is None else top.parent
    missed = f"reads will not find the repository {anchor.repo}"
    return [f"{missed}: add {where} to anchors.repo_search_paths in config.yaml"]


def _file(anchor: Anchor, _: Typed, __: Looked) -> Resolved | str:
    return Resolved(anchor=anchor)


def _symbol(anchor: Anchor, typed: Typed, looked: Looked) -> Resolved | str:
    from memspec_py.anchors.symbols import Symbols

    symbols = looked.symbols
    if not isinstance(symbols, Symbols):
        return Resolved(
            anchor=anchor, notes=(f"anchored to the whole file: {anchor.file} {symbols.reason}",)
        )
    name = symbols.find(typed.symbol)
    if name is None:
        return f"there is no {typed.symbol} in {anchor.file}{_likely(typed.symbol, symbols.names)}"
    return Resolved(anchor=replace(anchor, symbol=name, symbol_id=symbols.id_of(name)))


def _likely(asked: str, names: list[str]) -> str:
    from difflib import get_close_matches

    last = asked.rpartition(".")[2]
    near = [name for name in names if name.rpartition(".")[2] == last][:3]
    near = near or get_close_matches(asked, names[:5_000], n=3)
    return f"; did you mean {' or '.join(near)}?" if near else ""


def _span(anchor: Anchor, typed: Typed, looked: Looked) -> Resolved | str:
    from memspec_py.anchors.span import Span

    span = Span(*typed.lines)
    if span.first > span.last:
        return f"line {span.first} comes after line {span.last}"
    if span.last > looked.lines.count:
        return f"{anchor.file} has only {looked.lines.count} lines"
    span_id = looked.lines.id_of(span)
    if span_id is None:
        return f"lines {span} of {anchor.file} are empty"
    return Resolved(anchor=replace(anchor, lines=str(span), span_id=span_id))


def _literal(anchor: Anchor, typed: Typed, looked: Looked) -> Resolved | str:
    from memspec_py.anchors.literal import says, values_of

    values = values_of(anchor.file, looked.data, typed.name)
    if not isinstance(values, list):
        return f"{anchor.file} {values.reason}"
    if not values:
        return f"nothing in {anchor.file} gives {typed.name} a value"
    if len(values) > 1:
        return f"{typed.name} has {len(values)} values in {anchor.file}: {', '.join(values[:5])}"
    if typed.value is not None and not says(typed.value, values[0]):
        return f"{typed.name} is {values[0]} in {anchor.file}, not {typed.value}"
    return Resolved(anchor=replace(anchor, name=typed.name, value=values[0]))


_FINER = {Grain.FILE: _file, Grain.SYMBOL: _symbol, Grain.SPAN: _span, Grain.LITERAL: _literal}
