"""What a declaration may name: a cloned repository's is input, and not authority.

A layer outside the declaring repository that is to be written to, and a store of another user, are
left out until this machine's user has said otherwise (``store.trusted``).
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.config import StoreSetting
from memspec_py.store.layout import CONFIG, PROJECT, STORE_NAME, is_link
from memspec_py.store.resolve import absolute, is_home, owner
from memspec_py.store.settings import pointer_of, settings_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memspec_py.store.resolve import Found, Surroundings

MISSING, UNTRUSTED, OTHER_OWNER, UNREADABLE = "missing", "untrusted", "other-owner", "unreadable"


class LeftOut(NamedTuple):
    """A declared layer that is not used, why, and what would change that."""

    name: str
    path: str
    why: str
    writable: bool
    message: str
    fix: str


class Declared(NamedTuple):
    """A store that a declaration names, and whether its user's word is needed to follow it."""

    root: Path
    writable: bool
    is_missing: bool
    needs_word: bool


def declaration_of(found: Found) -> Path | None:
    """The file that says which stores serve a place, if there is one.

    It is a pointer, a ``config.yaml`` with ``stores:``, or a symbolic link in place of a store.
    """
    if found.is_pointer or is_link(found.path):
        return found.path
    return found.path / CONFIG if settings_of(found.path, keep=False).stores else None


def declared_stores(declaration: Path, where: Surroundings) -> list[Declared]:
    """The stores that a pointer, a ``config.yaml`` or a link in place of a store names."""
    if declaration.name == STORE_NAME:
        stores: Sequence[StoreSetting] = (linked(declaration),)
    elif declaration.name == CONFIG:
        stores = settings_of(declaration.parent, keep=False).stores
    else:
        stores = pointer_of(declaration).stores
    found = []
    for setting in stores:
        root = root_of(setting, declaration, where)
        is_missing = not os.path.isdir(root)
        asks = not is_missing and (
            _is_foreign(root, where) or (setting.writable and not _is_own(root, declaration, where))
        )
        found.append(Declared(root, setting.writable, is_missing, asks))
    return found


def refused_link(where: Surroundings, store: Path) -> LeftOut | None:
    """Why a symbolic link in place of a store is not followed, if so.

    It redirects as a pointer does, so it may not lead out of its repository unless that was said.
    The user's own home is no cloned repository.
    """
    if is_home(store.parent, where):
        return None
    setting = linked(store)
    return refusal_of(where, store, setting, Path(setting.path))


def linked(store: Path) -> StoreSetting:
    """What a symbolic link in place of a store declares."""
    return StoreSetting(PROJECT, os.path.realpath(store))


def refusal_of(
    where: Surroundings, declaration: Path, setting: StoreSetting, root: Path
) -> LeftOut | None:
    """Why a declared layer cannot be used here, if so."""

    def refused(why: str, message: str, fix: str) -> LeftOut:
        said = f"layer {setting.name!r} is left out: {message}"
        return LeftOut(setting.name, str(root), why, setting.writable, said, fix)

    if not _may_be_entered(root):
        return refused(UNREADABLE, f"{root} may not be read", "check who may read it")
    if not os.path.isdir(root):
        fix = f"clone it there, or mend the path in {declaration}"
        return refused(MISSING, f"no store at {root}", fix)
    word = f"to use it: memspec trust {declaration}"
    is_trusted = partial(_is_trusted, where, declaration, root, writable=setting.writable)
    if _is_foreign(root, where) and not is_trusted():
        return refused(OTHER_OWNER, f"{root} belongs to another user", word)
    if not setting.writable or _is_own(root, declaration, where):
        return None
    if where.env.get("MEMSPEC_TRUST_POINTERS") == "1" or is_trusted():
        return None
    message = f"{root} lies outside the repository of {declaration} and would be written to"
    return refused(UNTRUSTED, message, word)


def _may_be_entered(root: Path) -> bool:
    """Whether the permissions, also those of the folders above, let one look into a store."""
    try:
        os.stat(root)
    except PermissionError:
        return False
    except OSError:
        return True  # it is not there
    return os.access(root, os.R_OK | os.X_OK)


def root_of(setting: StoreSetting, declaration: Path, where: Surroundings) -> Path:
    """The folder of a declared store; a relative path starts where the declaration lies.

    That is its real folder: ``..`` leads to the same place by whatever link one came.
    """
    if declaration.name == STORE_NAME:
        return Path(setting.path)
    base = Path(os.path.realpath(declaration.parent))
    place = absolute(setting.path, base, where.home)
    return place if place.name == STORE_NAME else place / STORE_NAME


def _is_foreign(root: Path, where: Surroundings) -> bool:
    return os.stat(root).st_uid != owner(where)


def _is_trusted(where: Surroundings, declaration: Path, root: Path, *, writable: bool) -> bool:
    from memspec_py.store.trusted import may_name

    return may_name(where, declaration, root, writable=writable)


def _is_own(root: Path, declaration: Path, where: Surroundings) -> bool:
    """Whether a store lies in the repository of its declaration, or in its main checkout."""
    real = os.path.realpath(root)
    return any(os.path.commonpath([real, one]) == one for one in _own_grounds(declaration, where))


def _own_grounds(declaration: Path, where: Surroundings) -> list[str]:
    """The folders that belong to whoever wrote a declaration.

    Without a repository that is the project's folder. A repository of the whole home, as people
    keep their dot files in, does not make what lies unpacked in it theirs.
    """
    folder = Path(os.path.realpath(declaration.parent))
    for parent in (folder, *folder.parents):
        if _holds_home(parent, where):
            break
        if os.path.lexists(parent / ".git"):
            from memspec_py.store.worktree import main_checkout

            main = main_checkout(parent)
            if main is None or _holds_home(Path(os.path.realpath(main)), where):
                return [str(parent)]
            return [str(parent), os.path.realpath(main)]
    return [str(folder.parent if folder.name == STORE_NAME else folder)]


def _holds_home(folder: Path, where: Surroundings) -> bool:
    """Whether a folder is the home or above it."""
    if where.home is None:
        return False
    home = os.path.realpath(where.home)
    return os.path.commonpath([home, folder]) == str(folder)
