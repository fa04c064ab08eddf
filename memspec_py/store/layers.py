"""Several stores as one: the layers that serve a place, and which of them new records go to.

What a declaration names is followed as far as ``store.authority`` lets it; every reply tells what
is left out.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.errors import NoStore, NotAllowed, UsageError
from memspec_py.store.layout import CONFIG, PROJECT, STORE_NAME, is_link
from memspec_py.store.resolve import absolute, distrusted, find, place_of
from memspec_py.store.settings import pointer_of, settings_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memspec_py.config import Settings, StoreSetting
    from memspec_py.store.authority import LeftOut
    from memspec_py.store.resolve import Found, Surroundings

GLOBAL = "global"
_LONGEST_NAME = 200  # bytes; file systems take 255


class Layer(NamedTuple):
    """One store of those that serve a place.

    ``root`` is the ``.memspec`` folder, ``project`` the folder its anchors start from. ``machine``
    is where the index and the receipts lie: the store itself, or for one that must not be written
    to a folder of this machine's; None when there is none.
    """

    name: str
    root: Path
    project: Path
    writable: bool
    priority: int
    machine: Path | None
    settings: Settings


class Resolution(NamedTuple):
    """The stores that serve a place, highest first, and how they were found.

    ``place`` is where the caller stands, ``declared_in`` the file whose ``stores:`` made the
    layers, ``narrowed`` the one layer that was asked for by name.
    """

    layers: tuple[Layer, ...]
    left_out: tuple[LeftOut, ...]
    place: Path
    steps: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    declared_in: Path | None = None
    narrowed: str | None = None

    @property
    def primary(self) -> Layer:
        """The layer a hit is of unless it says otherwise: the highest that may be written to."""
        if self.narrowed is not None:
            return next(layer for layer in self.layers if layer.name == self.narrowed)
        return next((layer for layer in self.layers if layer.writable), self.layers[0])

    def target(self) -> Layer:
        """The layer that new records go to.

        Raises ``NotAllowed`` when none may be written to, ``UsageError`` when several may: a store
        is never guessed, also when all but one of them cannot be used here.
        """
        if self.narrowed is not None:
            return self._writable(self.primary)
        if self.declared_in is None:
            return self.primary
        could = [layer.name for layer in self.layers if layer.writable]
        absent = [layer for layer in self.left_out if layer.writable]
        if len(could) + len(absent) > 1:
            names = [*could, *(f"{layer.name} ({layer.why})" for layer in absent)]
            raise UsageError(
                f"several stores could take this: {', '.join(names)}",
                hint=f"say which one: --store {names[0].partition(' ')[0]}",
            )
        if could:
            return self.primary
        if absent:
            raise NotAllowed(absent[0].message, hint=absent[0].fix)
        raise NotAllowed(
            f"every store that {self.declared_in} names is read-only",
            hint="one of them needs `writable: true`, or name another with --store",
        )

    def _writable(self, layer: Layer) -> Layer:
        if not layer.writable:
            raise read_only(layer)
        return layer


def read_only(layer: Layer, message: str | None = None) -> NotAllowed:
    """The refusal of a write to a layer that is only read here."""
    return NotAllowed(
        message or f"store layer {layer.name!r} ({layer.root}) is read-only",
        hint="work in the checkout that the store belongs to",
        details={"layer": layer.name, "store": str(layer.root)},
    )


def resolve(where: Surroundings, start: Path | None = None, store: str | None = None) -> Resolution:
    """The layers for ``start``, else ``MEMSPEC_ROOT``, else the working directory.

    ``store`` narrows them to one: the name of a layer, ``global``, or a path to any store, which is
    then used by itself. Raises ``NoStore``, ``UsageError`` for a name that no layer has, and
    ``Invalid`` for a pointer that cannot be read.
    """
    if store is not None and _is_path(store):
        return _alone(where, start, absolute(store, where.cwd, where.home))
    if store == GLOBAL:
        return _global(where, start)
    resolution = _served(where, find(where, start))
    return resolution if store is None else _narrowed(resolution, store)


def _is_path(store: str) -> bool:
    """Whether ``--store`` was given a path, and not a name."""
    return os.sep in store or store in (".", "..", "~", STORE_NAME)


def _global(where: Surroundings, start: Path | None) -> Resolution:
    """The store of the home: beside what serves the place, or by itself where nothing does.

    A declared layer of that name goes first.
    """
    if where.home is None:
        raise NoStore("there is no home folder, and so no global store", hint="set HOME")
    try:
        found = find(where, start)
    except NoStore:
        return _alone(where, start, where.home / STORE_NAME)
    resolution = _served(where, found, may_be_empty=True)
    names = {one.name for one in resolution.layers} | {one.name for one in resolution.left_out}
    if GLOBAL in names:
        return _narrowed(resolution, GLOBAL)
    return _alone(where, start, where.home / STORE_NAME)


def _alone(where: Surroundings, start: Path | None, named: Path) -> Resolution:
    """A store by its path and nothing beside it."""
    root = named if named.name == STORE_NAME else named / STORE_NAME
    if not os.path.isdir(root):
        raise NoStore(f"no store at {root}", hint=f"make one with: memspec init {root}")
    layer = _layer(_name_of(root, where), root, root.parent)
    return Resolution((layer,), (), place_of(where, start), (f"{root} is named with --store",))


def _served(where: Surroundings, found: Found, *, may_be_empty: bool = False) -> Resolution:
    """The layers for what was found; raises ``NoStore`` when none of them can be used here."""
    if found.is_pointer:
        pointer = pointer_of(found.path)
        told = tuple(str(finding) for finding in pointer.findings)
        resolution = _layered(where, found, found.path, pointer.stores, told)
    else:
        resolution = _of_store(where, found)
    if resolution.layers or may_be_empty:
        return resolution
    raise NoStore(
        f"none of the stores that {resolution.declared_in} names can be used: "
        + "; ".join(one.message for one in resolution.left_out),
        hint=resolution.left_out[0].fix,
    )


def _of_store(where: Surroundings, found: Found) -> Resolution:
    """The layers that a store's own ``stores:`` names; else the store itself and the global one."""
    if is_link(found.path):
        from memspec_py.store.authority import refused_link

        refusal = refused_link(where, found.path)
        if refusal is not None:
            told = (*found.steps, refusal.message)
            return Resolution((), (refusal,), found.place, told, found.ignored, found.path)
    stores = settings_of(found.path, keep=False).stores
    if stores:
        declaration = found.path / CONFIG
        problem = distrusted(declaration, where)
        if problem is None:
            return _layered(where, found, declaration, stores)
        found = found._replace(ignored=(*found.ignored, problem))
    own = _layer(_name_of(found.path, where), found.path, found.project)
    layers = [own]
    steps = list(found.steps)
    shared = where.home and where.home / STORE_NAME
    if shared is not None and own.name != GLOBAL and os.path.isdir(shared):
        layers.append(_layer(GLOBAL, shared, shared.parent, priority=-1))
        steps.append(f"{shared} is the store of the home, a lower layer")
    return Resolution(tuple(layers), (), found.place, tuple(steps), found.ignored)


def _layered(
    where: Surroundings,
    found: Found,
    declaration: Path,
    stores: Sequence[StoreSetting],
    told: tuple[str, ...] = (),
) -> Resolution:
    """The layers that a file declares, those that can be used here."""
    # Most places have one store and declare nothing.
    from memspec_py.store.authority import refusal_of, root_of

    layers: list[Layer] = []
    left_out: list[LeftOut] = []
    steps = [*found.steps, f"{declaration} declares the layers"]
    seen: dict[tuple[int, int], str] = {}
    own = None if found.is_pointer else _identity(found.path)
    for setting in sorted(stores, key=lambda one: -one.priority):
        root = root_of(setting, declaration, where)
        refusal = refusal_of(where, declaration, setting, root)
        if refusal is not None:
            left_out.append(refusal)
            steps.append(refusal.message)
            continue
        same = _identity(root)
        if same in seen:
            steps.append(f"layer {setting.name} is {seen[same]} once more")
            continue
        seen[same] = setting.name
        if same == own:
            layers.append(_declared_layer(where, setting, found.path, found.project))
        else:
            layers.append(_declared_layer(where, setting, root, root.parent))
        kind = "" if setting.writable else ", read-only"
        steps.append(f"layer {setting.name} is {layers[-1].root}{kind}")
    warnings = (*found.ignored, *told, *(f"{one.message} ({one.fix})" for one in left_out))
    return Resolution(
        tuple(layers), tuple(left_out), found.place, tuple(steps), warnings, declaration
    )


def _identity(folder: Path) -> tuple[int, int]:
    """What a folder is, whatever it is called."""
    about = os.stat(folder)
    return about.st_dev, about.st_ino


def _declared_layer(where: Surroundings, setting: StoreSetting, root: Path, project: Path) -> Layer:
    machine = root if setting.writable else _machine_folder(where, root)
    return Layer(
        name=setting.name,
        root=root,
        project=project,
        writable=setting.writable,
        priority=setting.priority,
        machine=machine,
        settings=settings_of(root, machine, keep=machine is not None),
    )


def _layer(name: str, root: Path, project: Path, priority: int = 0) -> Layer:
    return Layer(
        name=name,
        root=root,
        project=project,
        writable=True,
        priority=priority,
        machine=root,
        settings=settings_of(root),
    )


def _name_of(root: Path, where: Surroundings) -> str:
    if where.home is None:
        return PROJECT
    shared = os.path.realpath(where.home / STORE_NAME)
    return GLOBAL if os.path.realpath(root) == shared else PROJECT


def _machine_folder(where: Surroundings, root: Path) -> Path | None:
    """Where this machine keeps what belongs to a store that must not be written to."""
    base = where.env.get("XDG_CACHE_HOME")
    if not base or not os.path.isabs(base):
        if where.home is None:
            return None
        base = os.path.join(where.home, ".cache")
    # One folder for each store, named so that people can tell which.
    name = os.path.realpath(root).replace("%", "%25").replace(os.sep, "%2F")
    if len(os.fsencode(name)) > _LONGEST_NAME:
        from hashlib import sha256

        name = f"{sha256(os.fsencode(name)).hexdigest()[:32]}{name[-_LONGEST_NAME // 8 :]}"
    return Path(base, "memspec", name)


def _narrowed(resolution: Resolution, name: str) -> Resolution:
    names = [layer.name for layer in resolution.layers]
    if name in names:
        steps = (*resolution.steps, f"--store narrows it to {name}")
        return resolution._replace(narrowed=name, steps=steps)
    for absent in resolution.left_out:
        if absent.name == name:
            raise NoStore(absent.message, hint=absent.fix)
    raise UsageError(
        f"no store layer {name!r} here",
        hint=f"one of: {', '.join(names)}; or a path that ends in {STORE_NAME}",
    )
