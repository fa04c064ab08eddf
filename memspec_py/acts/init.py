"""Make a store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memspec_py.config import DEFAULT_CONFIG
from memspec_py.errors import NestedStore, StorageFailed
from memspec_py.store import files, layout
from memspec_py.store.gitignore import keep_current
from memspec_py.store.lock import StoreLock
from memspec_py.store.resolve import enclosing_store

if TYPE_CHECKING:
    from pathlib import Path

    from memspec_py.acts.set_up import FileChange
    from memspec_py.store.resolve import Surroundings


@dataclass(frozen=True, slots=True, kw_only=True)
class Initialized:
    """A store and what ``init`` made in it; nothing when it was complete already.

    ``files`` are those of agents' harnesses outside of it, if any were asked for, by their names.
    """

    store: str
    created: tuple[str, ...]
    harnesses: tuple[str, ...] = ()
    files: tuple[FileChange, ...] = ()


def init(folder: Path, where: Surroundings, *, force: bool = False) -> Initialized:
    """Make a store in ``folder`` (or at it, when it is named ``.memspec``), or complete one.

    Raises ``NestedStore`` when a store further up already serves the folder, unless forced.
    """
    root = folder if folder.name == layout.STORE_NAME else folder / layout.STORE_NAME
    if not root.is_dir() and not force:
        above = enclosing_store(root.parent, where)
        if above is not None:
            raise NestedStore(
                f"{root.parent} is served by the store {above}",
                hint="use that store, or pass --force to make a separate one here",
                details={"store": str(above)},
            )
    if root.exists() and not root.is_dir():
        raise StorageFailed(f"{root} is not a folder", hint="move it away and try again")
    created = [] if root.is_dir() else [layout.STORE_NAME]
    files.make_folder(root)
    with StoreLock(root, command="memspec init"):
        created += _missing_folders(root)
        if not (root / layout.CONFIG).exists():
            files.create(root / layout.CONFIG, DEFAULT_CONFIG.encode())
            created.append(layout.CONFIG)
        if keep_current(root):
            created.append(layout.GITIGNORE)
    return Initialized(store=str(root), created=tuple(created))


def _missing_folders(root: Path) -> list[str]:
    made = []
    for name in layout.FOLDERS:
        if not (root / name).is_dir():
            files.make_folder(root / name)
            made.append(f"{name}/")
    return made
