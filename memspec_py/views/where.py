"""Which stores serve a place, and each step of the decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memspec_py.errors import MemspecError

if TYPE_CHECKING:
    from memspec_py.layered import Late, Layered
    from memspec_py.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class WhereLayer:
    """One of the stores: ``scope`` is the one the place has in it, by its ``scopes:``."""

    name: str
    store: str
    project: str
    writable: bool
    priority: int
    primary: bool
    scope: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WhereLeftOut:
    """A declared store that is not used: why, and what would change that."""

    name: str
    path: str
    why: str
    message: str
    fix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """The stores that serve ``place``, highest first, and how they were chosen.

    ``writes_to`` is the store that new records go to without ``--store``; where there is none,
    ``writes_refused`` says why. ``declared_in`` is the file whose ``stores:`` made the layers.
    ``claimed_by`` names the layer whose ``claims:`` cover the place. ``scope`` is the one that
    searches and new records take here.
    """

    place: str
    store: str
    writes_to: str | None
    writes_refused: str | None
    scope: str | None
    claimed_by: str | None
    declared_in: str | None
    layers: tuple[WhereLayer, ...]
    left_out: tuple[WhereLeftOut, ...]
    layers_stale: tuple[Late, ...]
    steps: tuple[str, ...]
    warnings: tuple[str, ...]


def whereabouts(stores: Layered) -> Where:
    """Tell which stores serve the place; no index is opened for it."""
    resolution = stores.resolution
    writes_to, refused = _target(stores)
    declared_in = resolution.declared_in
    stale = stores.stale()
    return Where(
        place=str(resolution.place),
        store=str(stores.primary.root),
        writes_to=writes_to,
        writes_refused=refused,
        scope=stores.primary.active_scope,
        claimed_by=_claimant(stores),
        declared_in=None if declared_in is None else str(declared_in),
        layers=tuple(_layer(stores, store) for store in stores.stores),
        left_out=tuple(
            WhereLeftOut(
                name=one.name, path=one.path, why=one.why, message=one.message, fix=one.fix
            )
            for one in resolution.left_out
        ),
        layers_stale=stale.layers,
        steps=resolution.steps,
        warnings=(*stores.warnings, *stale.undecided),
    )


def _target(stores: Layered) -> tuple[str | None, str | None]:
    try:
        return str(stores.target().root), None
    except MemspecError as problem:
        return None, f"{problem.message}; {problem.hint}" if problem.hint else problem.message


def _layer(stores: Layered, store: Workspace) -> WhereLayer:
    return WhereLayer(
        name=store.name,
        store=str(store.root),
        project=str(store.project),
        writable=store.is_writable,
        priority=store.layer.priority if store.layer else 0,
        primary=store is stores.primary,
        scope=store.active_scope,
    )


def _claimant(stores: Layered) -> str | None:
    from memspec_py.store.scopes import covering

    claims = [(store.name, store.settings.claims, store.root.parent) for store in stores.stores]
    found = covering(stores.resolution.place, claims, home=stores.where.home)
    return None if found is None else found.store
