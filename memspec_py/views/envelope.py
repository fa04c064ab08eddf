"""What every reply says beside its answer: which store it is from, and what it could not read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence

    from memspec_py.layered import Late, Layered
    from memspec_py.workspace import Workspace

_MOST_UNREADABLE = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerShown:
    """A layer that the answer is from: ``scope`` is the one the caller's directory has in it."""

    name: str
    store: str
    writable: bool
    primary: bool
    scope: str | None
    index: Mapping[str, object]


class LayerLeftOut(NamedTuple):
    """A layer that the answer lacks: missing, unreadable, untrusted, or another user's."""

    name: str
    path: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """The circumstances of an answer.

    ``store`` is the one that new records go to. ``unreadable`` lists findings of files that no
    answer can include, at most 20; ``unreadable_count`` counts the files. ``index`` says how the
    index was used: ``fresh``, ``synced``, ``built`` or ``bypassed``.

    Where several stores serve the caller, or are declared to, ``layers`` has those that answered,
    highest first; ``layers_unavailable`` names those that are not here, ``layers_left_out`` says
    why each is not used, and ``layers_stale`` has those whose checkouts are behind. Each is None
    where there is nothing to tell, so that one store's reply costs its reader nothing.
    """

    store: str
    index: Mapping[str, object]
    unreadable: tuple[Mapping[str, object], ...] = ()
    unreadable_count: int = 0
    warnings: tuple[str, ...] = ()
    layers: tuple[LayerShown, ...] | None = None
    layers_unavailable: tuple[str, ...] | None = None
    layers_left_out: tuple[LayerLeftOut, ...] | None = None
    layers_stale: tuple[Late, ...] | None = None


def envelope(
    stores: Layered,
    dbs: Sequence[sqlite3.Connection],
    answering: Sequence[Workspace] | None = None,
) -> Envelope:
    """The circumstances of an answer from the indexes of all layers, or of those ``answering``."""
    asked = stores.stores if answering is None else answering
    unreadable: list[Mapping[str, object]] = []
    count = 0
    warnings: list[str] = []
    for store, db in zip(asked, dbs, strict=True):
        layer = stores.mark(store)
        found, files = _unreadable(store, db, layer)
        unreadable += found
        count += files
        told = f" (layer: {layer})" if layer else ""
        warnings += [f"{finding}{told}" for finding in store.settings.findings]
    stale = stores.stale()
    left_out = stores.resolution.left_out
    return Envelope(
        store=str(stores.primary.root),
        index=_index_state(stores.primary),
        unreadable=tuple(unreadable[:_MOST_UNREADABLE]),
        unreadable_count=count,
        warnings=(*warnings, *stores.warnings, *map(late_told, stale.layers), *stale.undecided),
        layers=None if stores.is_plain else tuple(map(_shown(stores), asked)),
        layers_unavailable=tuple(
            one.name for one in left_out if one.why in ("missing", "unreadable")
        )
        or None,
        layers_left_out=tuple(
            LayerLeftOut(name=one.name, path=one.path, why=one.why) for one in left_out
        )
        or None,
        layers_stale=stale.layers or None,
    )


def _shown(stores: Layered) -> Callable[[Workspace], LayerShown]:
    return lambda store: LayerShown(
        name=store.name,
        store=str(store.root),
        writable=store.is_writable,
        primary=store is stores.primary,
        scope=store.active_scope,
        index=_index_state(store),
    )


def late_told(late: Late) -> str:
    """A sentence on a layer that is behind."""
    commits = "commit" if late.behind == 1 else "commits"
    at = late.branch or "a detached HEAD"
    return (
        f"layer {late.name!r} is {late.behind} {commits} behind {late.default_branch}"
        f" (its checkout is at {at}): bring it up to date to see what others wrote"
    )


def _unreadable(
    store: Workspace, db: sqlite3.Connection, layer: str | None
) -> tuple[list[Mapping[str, object]], int]:
    """Findings of files that are in no answer, and the number of such files."""
    rows = db.execute(
        "select path, code, line, message from findings order by path, position limit ?",
        (_MOST_UNREADABLE,),
    ).fetchall()
    count = 0
    if rows:
        count = db.execute("select count(distinct path) from findings").fetchone()[0]
    mark = {"layer": layer} if layer else {}
    found: list[Mapping[str, object]] = [
        {"path": path, "code": code, **({"line": line} if line else {}), "message": message, **mark}
        for path, code, line, message in rows
    ]
    found += [{**finding.as_dict(), **mark} for finding in store.index.unlisted]
    return found, count + len(store.index.unlisted)


def _index_state(ws: Workspace) -> dict[str, object]:
    state = ws.index.state
    shown: dict[str, object] = {"state": state.how, "files": state.files, "read": state.read}
    if state.why:
        shown["why"] = state.why
    return shown
