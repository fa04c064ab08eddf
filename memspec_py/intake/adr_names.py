"""What the name of a decision record's file tells: its number, its date, its place."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from memspec_py.intake.adr_words import iso_date

_INDEXES = frozenset({"readme", "index", "_index", "toc", "summary", "contents", "contributing"})
_TEMPLATE = re.compile(
    r"(?:\d+[-_])?(?:(?:m?adr|nygard|decision)[-_])?template(?:[-_](?:bare|minimal|full|short|long))*\Z",
    re.IGNORECASE,
)
_DATE = re.compile(r"(?:adr[-_ ])?(\d{4})([-_]?)(\d\d)\2(\d\d)(?!\d)", re.IGNORECASE)
_MONTH = re.compile(r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])(?:-|\Z)")
_NUMBER = re.compile(r"(?:adr|dr|rfc)?[-_ ]?(\d{1,5})(?=[-_. ]|\Z)", re.IGNORECASE)


def is_index(path: str) -> bool:
    """Whether a file is about its folder and no decision."""
    return _stem(path).lower() in _INDEXES and not _is_folder_record(path)


def is_template(path: str) -> bool:
    """Whether a file is named as a form to fill in."""
    return _TEMPLATE.match(_stem(path)) is not None


def home(path: str) -> str:
    """The folder whose records are counted together: a record's own, or that of its folder."""
    parent = PurePosixPath(path).parent
    return str(parent.parent if _is_folder_record(path) else parent)


def name_number(path: str) -> str | None:
    """The number a file or its folder is named by, as written."""
    name = _decision_name(path)
    if _DATE.match(name) or _MONTH.match(name):
        return None
    found = _NUMBER.match(name)
    return found[1] if found else None


def name_date(path: str) -> str | None:
    """The day a file or its folder is named by."""
    found = _DATE.match(_decision_name(path))
    return iso_date(found[1], found[3], found[4]) if found else None


def _stem(path: str) -> str:
    return PurePosixPath(path).stem


def _is_folder_record(path: str) -> bool:
    """Whether a file stands for its folder, and the folder is named like a decision."""
    folder = PurePosixPath(path).parent.name
    named = _DATE.match(folder) or _NUMBER.match(folder)
    return named is not None and _stem(path).lower() in _INDEXES


def _decision_name(path: str) -> str:
    return PurePosixPath(path).parent.name if _is_folder_record(path) else _stem(path)
