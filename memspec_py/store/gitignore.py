"""The store's ``.gitignore``: machine-local files must never be committed with the records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspec_py.errors import StorageFailed
from memspec_py.store import files
from memspec_py.store.layout import GITIGNORE, IGNORED

if TYPE_CHECKING:
    from pathlib import Path

_REMARK = "# memspec: derived files and telemetry of this machine, never memory"


def missing_lines(root: Path) -> list[str]:
    """The lines that should stand in the file and do not."""
    present = {line.strip() for line in _text(root / GITIGNORE).splitlines()}
    return [line for line in IGNORED if line not in present]


def keep_current(root: Path) -> bool:
    """Append what is missing and say whether anything was; the caller holds the store lock."""
    missing = missing_lines(root)
    if not missing:
        return False
    path = root / GITIGNORE
    text = _text(path)
    gap = "\n" if text and not text.endswith("\n") else ""
    more = "\n".join((_REMARK, *missing)) + "\n"
    if path.exists():
        files.replace(path, f"{text}{gap}{more}".encode(), expect=files.digest(text.encode()))
    else:
        files.create(path, more.encode())
    return True


def _text(path: Path) -> str:
    try:
        return files.read(path).decode()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as problem:
        raise StorageFailed(f"{path} cannot be read: {problem}") from None
