"""The quick ways to the mapping of ``config.yaml`` or a pointer: no command pays for a YAML parser.

What is not in the simple form is kept once it was parsed. Derived and machine-local:
``local/settings.json`` holds the text it was made from and is used only while that is the text of
the file.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memspec_py.record.model import Plain

_NAME = "settings.json"


def known(text: str, local: str) -> dict[str, Plain] | None:
    """The mapping of a text, if it is kept in the folder ``local``."""
    try:
        with open(os.path.join(local, _NAME), encoding="utf-8") as file:
            kept = json.load(file)
        return kept["mapping"] if kept["text"] == text else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def simple(text: str) -> dict[str, Plain] | None:
    """The mapping of a text in the simple form; None for any other."""
    from memspec_py.record.canonical import read_canonical

    plain = _without_remarks(text)
    return None if plain is None else read_canonical(plain)


def _without_remarks(text: str) -> str | None:
    """The text of the simple form alone; None where a ``#`` may be more than a remark.

    That form has a line for each value. An expression would take longer to make than this to run.
    """
    kept = []
    for line in text.split("\n"):
        before, sign, remark = line.partition("#")
        if sign and ("'" in before or '"' in before):
            return None
        if not remark.isprintable():  # some readers end a line at some of what is not
            return None
        if not before.strip(" "):
            continue
        if sign and before[-1] != " ":
            return None
        kept.append(before.rstrip(" ") if sign else line)
    return "".join(f"{line}\n" for line in kept)


def parsed(text: str, local: str | None = None) -> dict[str, Plain]:
    """The mapping of any text, which is kept in the folder ``local``; raises ``Unreadable``."""
    from memspec_py.record.yamltext import read_mapping

    mapping = read_mapping(text.removeprefix("\ufeff"))
    # A cloned repository may bring a link along, to where other programs keep their settings.
    if local is not None and not os.path.islink(local):
        _keep(text, mapping, os.path.join(local, _NAME))
    return mapping


def _keep(text: str, mapping: dict[str, Plain], path: str) -> None:
    temporary = f"{path}.{os.getpid()}"
    # A store that cannot be written is read a little slower.
    with suppress(OSError):
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump({"text": text, "mapping": mapping}, file)
        os.replace(temporary, path)
