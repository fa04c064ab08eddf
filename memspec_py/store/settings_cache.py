"""The parsed form of ``config.yaml``, kept so that no command pays for a YAML parser.

Derived and machine-local: ``local/settings.json`` holds the text it was made from and is used only
while that is the text of the file.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from memspec_py.record.canonical import read_canonical

if TYPE_CHECKING:
    from memspec_py.record.model import Plain

_NAME = "settings.json"
_REMARK = re.compile(r"^[ \t]*(?:#.*)?\n", re.MULTILINE)


def mapping_of(text: str, local: str) -> dict[str, Plain]:
    """The mapping a configuration text holds; raises ``Unreadable``."""
    # Whole-line comments cannot be inside a value of the simple form, which has one line each.
    simple = read_canonical(_REMARK.sub("", text))
    if simple is not None:
        return simple
    path = os.path.join(local, _NAME)
    try:
        with open(path, encoding="utf-8") as file:
            kept = json.load(file)
        known: dict[str, Plain] | None = kept["mapping"] if kept["text"] == text else None
    except (OSError, ValueError, KeyError, TypeError):
        known = None
    return _parsed_and_kept(text, path) if known is None else known


def _parsed_and_kept(text: str, path: str) -> dict[str, Plain]:
    from memspec_py.record.yamltext import read_mapping

    mapping = read_mapping(text.removeprefix("\ufeff"))
    temporary = f"{path}.{os.getpid()}"
    # A store that cannot be written is read a little slower.
    with suppress(OSError):
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump({"text": text, "mapping": mapping}, file)
        os.replace(temporary, path)
    return mapping
