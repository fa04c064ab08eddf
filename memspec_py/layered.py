"""The stores that serve one caller, opened together: what reads merge and where writes go."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from memspec_py.errors import AmbiguousId, Invalid, NotFound
from memspec_py.store.layers import read_only
from memspec_py.workspace import Workspace

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from memspec_py.clock import Clock
    from memspec_py.index.index import Progress
    from memspec_py.store.layers import Layer, Resolution
    from memspec_py.store.resolve import Surroundings
    from memspec_py.trust.channel import Channel

    _T = TypeVar("_T")

_BEHIND = "behind.json"
_NAMED = "select label, json_extract(head, '$.title') from shown where id = ? and shadowed = 0"


class Late(NamedTuple):
    """A layer whose checkout lacks commits of its remote's default branch, as of the last fetch."""

    name: str
    path: str
    branch: str | None
    default_branch: str
    behind: int


class Stale(NamedTuple):
    """The layers that are behind, and sentences on those of which it cannot be told."""

    layers: tuple[Late, ...] = ()
    undecided: tuple[str, ...] = ()


class Layered:
    """The opened layers, highest first; nearly always one.

    ``stores`` are those that answer, ``every`` also those beside the one that was asked for.
    """

    def __init__(
        self,
        resolution: Resolution,
        where: Surroundings,
        *,
        clock: Clock,
        entropy: Callable[[int], bytes],
        channel: Channel,
        progress: Progress | None = None,
        command: str = "",
        watched: bool = False,
    ) -> None:
        self.resolution = resolution
        self.where = where
        self.warnings = list(resolution.warnings)
        every = tuple(
            Workspace(
                layer.root,
                clock=clock,
                entropy=entropy,
                progress=progress,
                command=command,
                channel=channel,
                layer=layer,
                active_scope=self._scope_in(layer),
                watched=watched,
            )
            for layer in resolution.layers
        )
        for one in every:
            one.beside = tuple(other for other in every if other is not one)
        self.every = every
        self.primary = next(one for one in every if one.layer is resolution.primary)
        self.stores = every if resolution.narrowed is None else (self.primary,)

    @property
    def is_plain(self) -> bool:
        """Whether nothing but one undeclared store is there, so that no layer need be told of."""
        return len(self.resolution.layers) == 1 and self.resolution.declared_in is None

    def mark(self, store: Workspace) -> str | None:
        """How what is of a layer is marked; what is of the primary store is not."""
        return None if store is self.primary else store.name

    def close(self) -> None:
        """Let go of every index file."""
        for one in self.every:
            one.close()

    def read(self, answer: Callable[[Sequence[sqlite3.Connection]], _T]) -> _T:
        """An answer from current indexes of all layers, each from one state of it."""
        return self._read(answer, ())

    def target(self) -> Workspace:
        """The store that new records go to; ``Resolution.target`` tells the errors."""
        layer = self.resolution.target()
        return next(one for one in self.stores if one.layer is layer)

    def owner(self, typed: str) -> tuple[Workspace, str]:
        """The store that has a record, and the record's whole id where several were looked at.

        Of several stores with the id the highest has it. Raises ``NotFound``, ``AmbiguousId``.
        """
        if len(self.every) == 1 and not self.resolution.left_out:
            return self.primary, typed
        found = self._look(self.stores, typed)
        if found is None:
            raise self._not_found(typed)
        return found

    def owner_to_change(self, typed: str) -> tuple[Workspace, str]:
        """As ``owner``, for a change of the record. Raises ``NotAllowed`` for a read-only layer."""
        store, id_ = self.owner(typed)
        if store.layer is not None and not store.is_writable:
            raise read_only(
                store.layer,
                f'"{id_}" lives in read-only store layer {store.name!r} ({store.root});'
                " it cannot be modified here",
            )
        return store, id_

    def stale(self) -> Stale:
        """The layers whose checkouts are behind; the one the caller stands in is its own affair."""
        if self.is_plain:
            return Stale()
        here = _checkout_of(self.resolution.place)
        keeps = self.primary.has_machine
        cache = self.primary.machine / "local" / _BEHIND if keeps else None
        late, undecided = [], []
        for one in self.stores:
            if _checkout_of(one.root) in (None, here):
                continue
            from memspec_py.anchors.behind import behind

            told = behind(one.root, env=self.where.env, cache=cache)
            if told.undecided:
                undecided.append(f"layer {one.name!r}: {told.undecided}")
            if told.behind is not None:
                late.append(Late(one.name, str(one.root), *told.behind))
        return Stale(tuple(late), tuple(undecided))

    def _read(
        self,
        answer: Callable[[Sequence[sqlite3.Connection]], _T],
        opened: tuple[sqlite3.Connection, ...],
    ) -> _T:
        store = self.stores[len(opened)]
        if len(opened) + 1 == len(self.stores):
            return store.read(lambda db: answer((*opened, db)))
        return store.read(lambda db: self._read(answer, (*opened, db)))

    def _not_found(self, typed: str) -> NotFound:
        """What to say of a record that no store has that was looked at."""
        others = [one for one in self.every if one not in self.stores]
        elsewhere = self._look(others, typed)
        if elsewhere is not None:
            store, id_ = elsewhere
            return NotFound(
                f"no record {typed} in store layer {self.primary.name!r}",
                hint=f"{id_} is in layer {store.name!r}: --store {store.name}",
            )
        left_out = (one.message for one in self.resolution.left_out)
        hint = "\n".join(("`memspec list` shows every id", *left_out))
        return NotFound(f"no record {typed}", hint=hint)

    def _look(self, stores: Sequence[Workspace], typed: str) -> tuple[Workspace, str] | None:
        found: dict[str, Workspace] = {}
        for one in stores:
            here = one.read(lambda db, one=one: one.look_up_file(db, typed))  # type: ignore[misc]
            if here is not None:
                found.setdefault(here[0], one)
        if len(found) > 1:
            raise self._ambiguous(typed, found)
        return next(((one, id_) for id_, one in found.items()), None)

    def _ambiguous(self, typed: str, found: Mapping[str, Workspace]) -> AmbiguousId:
        """What to say of a beginning that records of several stores have."""
        candidates = []
        lines = []
        for id_, store in found.items():
            row = store.read(lambda db, id_=id_: db.execute(_NAMED, (id_,)).fetchone())  # type: ignore[misc]
            known = {} if row is None else {"type": row[0], "title": row[1]}
            mark = self.mark(store)
            candidates.append({"id": id_, **known, **({"layer": mark} if mark else {})})
            shown = f" [{row[0]}] {row[1]}" if row else ""
            lines.append(f"{id_}{shown} (layer: {store.name})")
        return AmbiguousId(
            f"{len(found)} records start with {typed}",
            hint="\n  ".join(("give more of the id:", *lines)),
            details={"candidates": candidates},
        )

    def _scope_in(self, layer: Layer) -> str | None:
        """The scope that the caller's directory has in a layer.

        What no pattern names of a linked worktree is in the scope of the same folder of the main
        checkout.
        """
        if not layer.settings.scopes:
            return None
        from memspec_py.store.scopes import Derived, derive

        place, home = self.resolution.place, self.where.home
        base, project = layer.root.parent, layer.project
        found = derive(layer.settings.scopes, place, base=project, home=home)
        if found == Derived() and project != base and place.is_relative_to(project):
            same = base / place.relative_to(project)
            found = derive(layer.settings.scopes, same, base=base, home=home)
        if found.tied:
            self.warnings.append(
                f"the scopes {' and '.join(found.tied)} of {layer.root} both cover"
                f" {self.resolution.place}, so none is taken; name one with --scope"
            )
        return found.name


def _checkout_of(folder: Path) -> str | None:
    """The top of the git checkout that a folder lies in. Most layers are asked, so it is lean."""
    place, above = "", os.path.realpath(folder)
    while place != above:
        place, above = above, os.path.dirname(above)
        if os.path.exists(os.path.join(place, ".git")):
            return place
    return None


def refuse_several(stores: Sequence[tuple[Workspace, str]], what: str) -> Workspace:
    """The one store that has all of some records. Raises ``Invalid`` when several have."""
    first, id_ = stores[0]
    for other, other_id in stores[1:]:
        if other is not first:
            raise Invalid(
                f"{id_} lives in {first.root} and {other_id} in {other.root};"
                f" {what} keeps to one store",
                hint="supersede each of them in its own store",
            )
    return first
