"""What this machine's user has said may be followed: declarations, each with the stores it names.

A cloned repository can name any folder as a store to write into. It is followed there only after
its user has said so once; the word holds for these stores of this file, so that a later commit
which names another one has to be asked for again.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from memspec_py.errors import Invalid, NotAllowed, StorageFailed
from memspec_py.store.resolve import distrusted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memspec_py.store.resolve import Surroundings

READ, WRITE = "read", "write"
Trusted = dict[str, dict[str, str]]


def trust_file(where: Surroundings) -> Path | None:
    """Where the words are kept; nowhere without a home."""
    base = where.env.get("XDG_CONFIG_HOME")
    if base and os.path.isabs(base):
        return Path(base, "memspec", "trust.json")
    return None if where.home is None else where.home / ".config" / "memspec" / "trust.json"


def key_of(declaration: Path) -> str:
    """What a declaration is called here: its name in its real folder.

    A link in a cloned repository to a file that is trusted elsewhere is not trusted for that.
    """
    return os.path.join(os.path.realpath(declaration.parent), declaration.name)


def trusted(where: Surroundings) -> Trusted:
    """Each trusted declaration (``key_of``) with the real paths of the stores it may name.

    With each stands whether it may be read or written to. A file that cannot be read as such, or
    that others may have written, counts as nothing said.
    """
    path = trust_file(where)
    if path is None or distrusted(path, where) is not None:
        return {}
    try:
        return _checked(json.loads(path.read_bytes()))
    except (OSError, ValueError, RecursionError):
        return {}


def may_name(where: Surroundings, declaration: Path, store: Path, *, writable: bool) -> bool:
    """Whether it was said that a declaration may name a store, to be written to or only read."""
    said = trusted(where).get(key_of(declaration), {}).get(os.path.realpath(store))
    return said == WRITE or (said == READ and not writable)


def trust(where: Surroundings, declaration: Path, stores: Mapping[Path, str]) -> None:
    """Keep the word that a declaration may name these stores, instead of what was said of it."""
    said = {os.path.realpath(store): for_ for store, for_ in stores.items()}
    _rewrite(where, key_of(declaration), said)


def distrust(where: Surroundings, declaration: Path) -> bool:
    """Take back what was said of a declaration; whether anything was."""
    key = key_of(declaration)
    was = key in trusted(where)
    if was:
        _rewrite(where, key, {})
    return was


def _rewrite(where: Surroundings, key: str, stores: dict[str, str]) -> None:
    path = trust_file(where)
    if path is None:
        raise StorageFailed(
            "there is no home folder to keep the word in", hint="set HOME or XDG_CONFIG_HOME"
        )
    from memspec_py.store import files  # 5 ms of imports, and most callers only look
    from memspec_py.store.lock import StoreLock

    with files.storage_errors(path):
        files.make_folder(path.parent)
        with StoreLock(path.parent):
            before = _before(path, where)
            known = {} if before is None else _known(path, before)
            kept = {name: said for name, said in {**known, key: stores}.items() if said}
            if kept == known:
                return
            data = (json.dumps(kept, indent=1, sort_keys=True) + "\n").encode()
            if before is None:
                files.create(path, data, mode=0o600)
            else:
                files.replace(path, data, expect=files.digest(before))


def _before(path: Path, where: Surroundings) -> bytes | None:
    """What the file holds; None where there is none."""
    if not os.path.lexists(path):
        return None
    problem = distrusted(path, where)
    if problem is not None:
        raise NotAllowed(problem, hint="it says what may be followed, so only you may write it")
    from memspec_py.store.files import read

    return read(path)


def _known(path: Path, data: bytes) -> Trusted:
    try:
        return _checked(json.loads(data))
    except (ValueError, RecursionError):
        message = f"{path} is not what memspec wrote"
        raise Invalid(message, hint="mend it, or move it away") from None


def _checked(value: object) -> Trusted:
    if not isinstance(value, dict) or not all(map(_is_entry, value.values())):
        raise ValueError(value)
    return value


def _is_entry(stores: object) -> bool:
    return isinstance(stores, dict) and all(said in (READ, WRITE) for said in stores.values())
