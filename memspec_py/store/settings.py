"""Reading ``config.yaml`` of a store and ``.memspec.yaml`` beside a project."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.config import DEFAULT_CONFIG, Settings, StoreSetting, pointed_to, settings_from
from memspec_py.errors import Invalid, StorageFailed
from memspec_py.store import layout

if TYPE_CHECKING:
    from pathlib import Path

    from memspec_py.report import Finding


class Pointer(NamedTuple):
    """What a pointer file declares, and what in it was not understood."""

    stores: tuple[StoreSetting, ...]
    findings: tuple[Finding, ...]


def settings_of(root: Path, machine: Path | None = None, *, keep: bool = True) -> Settings:
    """The settings of a store; what cannot be understood is a finding in them.

    ``machine`` is the folder for what belongs to this machine, if that is not the store; without
    ``keep`` nothing is written there.
    """
    try:
        with open(root / layout.CONFIG, "rb") as file:
            text = file.read().decode()
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeDecodeError) as problem:
        return Settings(findings=(_unreadable(str(problem), 1),))
    if text == DEFAULT_CONFIG:
        return Settings()
    from memspec_py.store import settings_cache

    local = os.path.join(machine or root, layout.LOCAL)
    mapping = settings_cache.known(text, local) or settings_cache.simple(text)
    if mapping is None:
        from memspec_py.record.yamltext import Unreadable

        try:
            mapping = settings_cache.parsed(text, local if keep else None)
        except Unreadable as problem:
            first = problem.findings[0]
            return Settings(findings=(_unreadable(first.message, first.line),))
    return settings_from(mapping)


def pointer_of(path: Path) -> Pointer:
    """What a pointer file says.

    Raises ``Invalid`` or ``StorageFailed`` for one that cannot be read: to go on as if it were not
    there would serve another store.
    """
    try:
        text = path.read_bytes().decode()
    except OSError as problem:
        raise StorageFailed(
            f"{path} cannot be read: {problem.strerror or problem}",
            hint="it says which stores serve this place; make it readable or remove it",
        ) from None
    except UnicodeDecodeError as problem:
        raise _broken_pointer(str(path), str(problem)) from None
    from memspec_py.store.settings_cache import parsed, simple

    mapping = simple(text)
    if mapping is None:
        from memspec_py.record.yamltext import Unreadable

        try:
            mapping = parsed(text)
        except Unreadable as problem:
            first = problem.findings[0]
            place = f"{path}:{first.line}" if first.line else str(path)
            raise _broken_pointer(place, first.message) from None
    stores, findings = pointed_to(mapping, str(path))
    if not stores:
        raise Invalid(
            f"{path} names no store",
            findings=findings,
            hint="it needs `stores:`, a list of layers, each with a name and a path",
        )
    return Pointer(tuple(stores), tuple(findings))


def _broken_pointer(place: str, why: str) -> Invalid:
    return Invalid(
        f"{place} cannot be read: {why}",
        hint="it says which stores serve this place; mend it or remove it",
    )


def _unreadable(message: str, line: int | None) -> Finding:
    from memspec_py.report import Finding

    return Finding(
        code="bad-config",
        path=layout.CONFIG,
        line=line,
        message=f"the settings cannot be read, so the defaults are used: {message}",
        fix="mend config.yaml; until then nothing is written",
    )
