"""Say, once on this machine, that a declaration may name the stores that it names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memspec_py.errors import NoStore, NotAllowed
from memspec_py.store import authority, trusted
from memspec_py.store.layout import CONFIG, POINTER_NAME, STORE_NAME
from memspec_py.store.resolve import distrusted, expanded, find, starting_point

if TYPE_CHECKING:
    from pathlib import Path

    from memspec_py.store.resolve import Surroundings


@dataclass(frozen=True, slots=True, kw_only=True)
class Trusted:
    """A declaration and the stores it may name from now on; ``missing`` are not here to be judged.

    ``stores`` is empty where nothing needed the word: the layers are read-only, or lie in the
    repository of the declaration.
    """

    declaration: str
    stores: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Distrusted:
    """A declaration whose word was taken back, if there was one."""

    declaration: str
    changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustList:
    """Every declaration with a word, and the stores it may name; ``file`` keeps them."""

    file: str | None
    trusted: tuple[Trusted, ...]


def trust(where: Surroundings, path: Path | None = None) -> Trusted:
    """Trust what serves ``path``, or that pointer or config.yaml itself, with what it names today.

    Raises ``NoStore`` where nothing is declared, ``NotAllowed`` for a declaration of another user
    or one that everybody may write, which cannot be trusted.
    """
    declaration = _declaration(where, path)
    declared = authority.declared_stores(declaration, where)
    asking = [one for one in declared if one.needs_word]
    words = {one.root: trusted.WRITE if one.writable else trusted.READ for one in asking}
    trusted.trust(where, declaration, words)
    return Trusted(
        declaration=str(declaration),
        stores=tuple(map(str, words)),
        missing=tuple(str(one.root) for one in declared if one.is_missing),
    )


def distrust(where: Surroundings, path: Path | None = None) -> Distrusted:
    """Take the word back; the declaration need not exist any more when its file is named."""
    named = None if path is None else expanded(path, where)
    if named is not None and (
        named.name in (POINTER_NAME, CONFIG) or trusted.key_of(named) in trusted.trusted(where)
    ):
        declaration = named
    else:
        declaration = _declaration(where, path)
    changed = trusted.distrust(where, declaration)
    return Distrusted(declaration=str(declaration), changed=changed)


def trust_list(where: Surroundings) -> TrustList:
    """What has been trusted on this machine."""
    said = trusted.trusted(where)
    kept = trusted.trust_file(where)
    return TrustList(
        file=None if kept is None else str(kept),
        trusted=tuple(
            Trusted(declaration=name, stores=tuple(stores), missing=())
            for name, stores in sorted(said.items())
        ),
    )


def _declaration(where: Surroundings, path: Path | None) -> Path:
    """The file whose ``stores:`` the word is about."""
    if path is not None and path.name in (POINTER_NAME, CONFIG):
        named = expanded(path, where)
        if not named.is_file():
            raise NoStore(f"no file {named}", hint="name a .memspec.yaml, or the folder it is in")
    else:
        named = _nearest(where, path)
    problem = distrusted(named, where)
    if problem is not None:
        raise NotAllowed(problem, hint="what can be trusted is a file that only you can change")
    return named


def _nearest(where: Surroundings, path: Path | None) -> Path:
    """The declaration that serves a folder, also a pointer there that is passed over."""
    folder, _ = starting_point(where, path)
    pointer = folder / POINTER_NAME
    if pointer.is_file() and not (folder / STORE_NAME).is_dir():
        return pointer
    found = find(where, path)
    declaration = authority.declaration_of(found)
    if declaration is None:
        raise NoStore(
            f"{found.path} serves {folder} and declares no other stores",
            hint="there is nothing to trust; `memspec where` shows the decision",
        )
    return declaration
