"""What the acts on anchors have in common: resolving, checking, and keeping what an anchor was."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.acts.inputs import invalid
from memspec_py.anchors.grain import part_of, shown
from memspec_py.anchors.locate import Unresolved
from memspec_py.report import Finding
from memspec_py.store.resolve import expanded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from memspec_py.anchors.resolve import Resolved
    from memspec_py.anchors.verdict import Drift
    from memspec_py.record.model import Anchor, Plain, Record
    from memspec_py.store.resolve import Surroundings
    from memspec_py.workspace import Workspace

MOST_HISTORY = 20
_HISTORY = "anchor_history"
_KEPT = ("file", "repo", "sha", "symbol", "symbol_id", "lines", "span_id", "name", "value")


class Taken(NamedTuple):
    """What became of the paths that were typed: anchors, each part of a file once, and notes."""

    anchors: tuple[Anchor, ...] = ()
    notes: tuple[str, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()


def anchored(
    ws: Workspace,
    where: Surroundings,
    typed: Sequence[str],
    *,
    root: str | None = None,
    strict: bool = False,
) -> Taken:
    """The anchors for some paths of any grain; ``root`` is where relative ones are looked up first.

    Raises ``Invalid`` with each path that resolves nowhere when ``strict``.
    """
    if not typed:
        return Taken()
    base = None if root is None else expanded(_path(root), where)
    found = [_resolved(ws, where, one, base) for one in typed]
    lost = tuple(one for one in found if isinstance(one, Unresolved))
    if strict and lost:
        raise unresolved_error(lost)
    good = [one for one in found if not isinstance(one, Unresolved)]
    notes = (f"{shown(one.anchor)}: {note}" for one in good for note in one.notes)
    return Taken(each_once(one.anchor for one in good), tuple(dict.fromkeys(notes)), lost)


def unresolved_error(lost: Iterable[Unresolved]) -> Exception:
    """The refusal of paths that lead nowhere."""
    return invalid(
        Finding(
            code="unresolved-anchor",
            field="anchors",
            message=f"cannot anchor to {one.path}: {one.reason}",
            fix="give a path that is absolute, or relative to the working directory, the project"
            " or --anchor-root",
        )
        for one in lost
    )


def each_once(anchors: Iterable[Anchor]) -> tuple[Anchor, ...]:
    """The anchors with each part of each file once, as it was given last."""
    return tuple({place_of(one): one for one in anchors}.values())


def place_of(anchor: Anchor) -> tuple[str | None, str, str]:
    """Which part of which file an anchor watches; a literal is the same whatever its value."""
    part = f"::{anchor.name}" if anchor.name is not None else part_of(anchor)
    return anchor.repo, anchor.file, part


def verdicts_on(ws: Workspace, where: Surroundings, anchors: Sequence[Anchor]) -> tuple[Drift, ...]:
    """How some anchors stand, as every read would say."""
    if not anchors:
        return ()
    from memspec_py.anchors.drift import check

    found = check(
        (("", anchor) for anchor in anchors),
        project=ws.project,
        env=where.env,
        search_paths=ws.search_paths(where),
    )
    return tuple(found[""])


def taken_again(
    ws: Workspace, where: Surroundings, anchor: Anchor, place: str | None
) -> Resolved | Unresolved:
    """The same anchor as its code is now, at a new place if a verdict named one."""
    from memspec_py.anchors.resolve import retaken

    found = retaken(
        anchor,
        project=ws.project,
        env=where.env,
        search_paths=ws.search_paths(where),
        place=place,
    )
    if isinstance(found, Unresolved):
        return found
    return replace(found, anchor=replace(found.anchor, extra=anchor.extra))


def with_anchors(
    record: Record, anchors: tuple[Anchor, ...], *, at: str, source: str
) -> Mapping[str, Plain]:
    """The record's ``ext`` once it has other anchors: what it had before is kept, newest last."""
    gone = [one for one in record.anchors if one not in anchors]
    if not gone:
        return record.ext
    earlier = record.ext.get(_HISTORY)
    kept = earlier if isinstance(earlier, list) else []
    now: list[Plain] = [{**_mapping(one), "until": at, "by": source} for one in gone]
    return {**record.ext, _HISTORY: [*kept, *now][-MOST_HISTORY:]}


def _mapping(anchor: Anchor) -> dict[str, Plain]:
    values = {key: getattr(anchor, key) for key in _KEPT}
    return {key: value for key, value in values.items() if value is not None}


def _resolved(
    ws: Workspace, where: Surroundings, typed: str, root: Path | None
) -> Resolved | Unresolved:
    from memspec_py.anchors.resolve import resolve_anchor

    return resolve_anchor(
        typed,
        cwd=where.cwd,
        project=ws.project,
        env=where.env,
        search_paths=ws.search_paths(where),
        root=root,
    )


def _path(text: str) -> Path:
    from pathlib import Path

    return Path(text)
