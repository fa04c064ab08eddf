"""The named parts of a file, and an id for each that only a change of its own code changes."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

MOST_BYTES = 5_000_000

_DIGITS = 40


class Symbols:
    """The symbols of one file.

    A name may stand for several pieces of code (overloads, the branches of a condition, a property
    and its setter); its id is that of all of them together, in file order. An id begins with the
    name of the rule that made it, so that ids of another rule are never compared.
    """

    def __init__(
        self,
        rule: str,
        pieces: Mapping[str, list[Any]],
        fold: Callable[[Any], Iterable[str]],
        *,
        is_damaged: bool = False,
    ) -> None:
        self.rule = rule
        # Part of the file could not be read, so a symbol that is not here may still be in it.
        self.is_damaged = is_damaged
        self._pieces = pieces
        self._fold = fold
        self._ids: dict[str, str] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._pieces

    @property
    def names(self) -> list[str]:
        """Every qualified name, in file order."""
        return list(self._pieces)

    def id_of(self, name: str) -> str | None:
        """The id of a symbol, or None when there is none of this name."""
        if name not in self._pieces:
            return None
        if name not in self._ids:
            digest = hashlib.sha256(usedforsecurity=False)
            for piece in self._pieces[name]:
                for word in self._fold(piece):
                    digest.update(word.encode("utf-8", "surrogatepass"))
                    digest.update(b"\0")
                digest.update(b"\1")
            self._ids[name] = f"{self.rule}:{digest.hexdigest()[:_DIGITS]}"
        return self._ids[name]

    def pieces_of(self, name: str) -> list[Any]:
        """The pieces of code that a name stands for, as its language reads them."""
        return self._pieces.get(name, [])

    def find(self, asked: str) -> str | None:
        """The qualified name that a person meant, or None."""
        return asked if asked in self._pieces else None

    def with_id(self, symbol_id: str, name: str) -> str | None:
        """The symbol that has this id and the same last name, wherever it stands in the file."""
        last = name.rpartition(".")[2]
        for known in self._pieces:
            if known.rpartition(".")[2] == last and self.id_of(known) == symbol_id:
                return known
        return None


class Unreadable:
    """A file whose symbols cannot be told, and why: what follows the file's name in a sentence."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason


def symbols_of(file: str, data: bytes) -> Symbols | Unreadable:
    """The symbols of a file, by the language that its name says it is in."""
    if len(data) > MOST_BYTES:
        return Unreadable(f"is too large to be read for its parts ({len(data)} bytes)")
    suffix = suffix_of(file)
    text = data.replace(b"\r\n", b"\n")
    if suffix in PYTHON:
        from memspec_py.anchors import symbols_python as language
    elif suffix in MARKDOWN:
        from memspec_py.anchors import symbols_markdown as language  # type: ignore[no-redef]
    elif suffix in DATA:
        from memspec_py.anchors import symbols_data

        return symbols_data.read(text, suffix)
    else:
        from memspec_py.anchors import symbols_treesitter

        return symbols_treesitter.read(text, suffix)
    return language.read(text)


PYTHON = {".py", ".pyi", ".pyw"}
MARKDOWN = {".md", ".markdown", ".mdx"}
DATA = {".json", ".jsonc", ".json5", ".yaml", ".yml", ".toml"}


def suffix_of(file: str) -> str:
    """The ending of a file's name, in lower case and with its dot."""
    name = file.rpartition("/")[2]
    return f".{name.rpartition('.')[2].lower()}" if "." in name else ""
