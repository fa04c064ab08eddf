"""The schema of each reply that ``--json`` prints, made from the class of the reply.

It follows ``report.as_json``: what may be None is left out, so it is not required; the fields of a
part that is spread stand beside the others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import StrEnum
from inspect import getdoc
from types import NoneType, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from memspec_py.acts.adopt import Adopted
from memspec_py.acts.anchor import Anchored
from memspec_py.acts.backfill import Backfilled
from memspec_py.acts.edit import Edited
from memspec_py.acts.init import Initialized
from memspec_py.acts.observe import Observed
from memspec_py.acts.outcome import Noted
from memspec_py.acts.question import Asked
from memspec_py.acts.relate import Related
from memspec_py.acts.remember import Duplicate, Remembered
from memspec_py.acts.set_up import FileChange
from memspec_py.acts.supersede import Superseded
from memspec_py.acts.sweep import Swept
from memspec_py.acts.tombstones import Past
from memspec_py.acts.trusting import Distrusted, Trusted, TrustList
from memspec_py.acts.undo import UndoList, Undone
from memspec_py.acts.verify import Verified
from memspec_py.anchors.locate import Unresolved
from memspec_py.anchors.verdict import Drift
from memspec_py.cli.demo import Demonstrated
from memspec_py.layered import Late
from memspec_py.report import SPREAD, Finding
from memspec_py.views.context.view import ContextReply
from memspec_py.views.doctor import Examined
from memspec_py.views.drift import Watched
from memspec_py.views.export import Exported
from memspec_py.views.get import Shown
from memspec_py.views.hit import Hit
from memspec_py.views.listed import ListReply
from memspec_py.views.reconcile import Reconciled
from memspec_py.views.search import SearchReply
from memspec_py.views.status import Status
from memspec_py.views.where import Where
from tests.schemas.shapes import COUNT, DIALECT, TEXT, Schema, closed, described, list_of, one_of
from tests.schemas.words import MEANINGS, OBJECTS, SHAPES, WARNINGS, error_codes


class Plain:
    """Stands for ``record.model.Plain``: a text, nothing, or a list or mapping of such values."""


# The names that the modules of the replies import for type checkers alone.
_NAMES = {
    "Mapping": Mapping,
    "Sequence": Sequence,
    "Plain": Plain,
    "Finding": Finding,
    "Unresolved": Unresolved,
    "Drift": Drift,
    "FileChange": FileChange,
    "Late": Late,
    "Hit": Hit,
    "Watched": Watched,
}
_SIMPLE: dict[object, Schema] = {
    str: TEXT,
    bool: {"type": "boolean"},
    int: COUNT,
    Plain: {"type": ["string", "null", "array", "object"]},
}


# No stores are opened for these, so there is nothing to be told of any.
_ALONE = (Initialized, Trusted, Distrusted, TrustList)


class Reply(NamedTuple):
    """A reply: what prints it, and the class it is made from."""

    printed_by: str
    cls: type


REPLIES: dict[str, Reply] = {
    "search-reply": Reply("memspec search --json", SearchReply),
    "get-reply": Reply("memspec get --json", Shown),
    "list-reply": Reply("memspec list --json", ListReply),
    "context-reply": Reply("memspec context --json", ContextReply),
    "export-reply": Reply("memspec export --json", Exported),
    "status-reply": Reply("memspec status --json", Status),
    "doctor-reply": Reply("memspec doctor --json", Examined),
    "demo-reply": Reply("memspec demo --json", Demonstrated),
    "init-reply": Reply("memspec init --json", Initialized),
    "where-reply": Reply("memspec where --json", Where),
    "trust-reply": Reply("memspec trust --json", Trusted),
    "trust-remove-reply": Reply("memspec trust --remove --json", Distrusted),
    "trust-list-reply": Reply("memspec trust --list --json", TrustList),
    "remember-reply": Reply("memspec remember --json", Remembered),
    "observe-reply": Reply("memspec observe --json", Observed),
    "edit-reply": Reply("memspec edit --json", Edited),
    "supersede-reply": Reply("memspec supersede --json", Superseded),
    "anchor-reply": Reply("memspec anchor --json", Anchored),
    "relate-reply": Reply("memspec relate --json, or unrelate,", Related),
    "question-reply": Reply("memspec question --json", Asked),
    "reconcile-reply": Reply("memspec reconcile --json", Reconciled),
    "verify-reply": Reply("memspec verify --json", Verified),
    "sweep-reply": Reply("memspec sweep --json", Swept),
    "outcome-reply": Reply("memspec outcome --json", Noted),
    "undo-reply": Reply("memspec undo --json", Undone),
    "undo-list-reply": Reply("memspec undo --list --json", UndoList),
    "adopt-reply": Reply("Memspec.adopt", Adopted),
    "backfill-reply": Reply("Memspec.backfill", Backfilled),
}


def reply_schema(name: str, reply: Reply) -> Schema:
    """The schema of one reply."""
    summary = f"What {reply.printed_by} gives. {_summary(reply.cls)}"
    defs: dict[str, Schema] = {}
    body = _object(reply.cls, defs)
    if not {SPREAD, "warnings"} & set(names_of(reply.cls) or ()) and reply.cls not in _ALONE:
        body["properties"]["warnings"] = described(list_of(TEXT), WARNINGS)
    return _whole(name, summary, body, defs)


def error_schema() -> Schema:
    """The schema of the one line that a command with ``--json`` prints on stderr when it fails."""
    defs: dict[str, Schema] = {}
    for cls in (Finding, Duplicate, Past):
        _shape(cls, defs)
    error = {
        "code": described(one_of(*error_codes()), "A stable word for what went wrong."),
        "message": described(TEXT, "What went wrong, as a sentence."),
        "hint": described(TEXT, "The next step a person can take."),
        "details": described({"$ref": "#/$defs/Details"}, "What a program needs to act on it."),
    }
    body = described(closed(error, optional=("hint", "details")), "What went wrong.")
    summary = "What a command with --json prints as its last line on stderr when it fails."
    return _whole("error", summary, closed({"error": body}), defs)


def _whole(name: str, summary: str, body: Schema, defs: dict[str, Schema]) -> Schema:
    """A schema that stands for itself, with the definitions it refers to."""
    while missing := sorted(_references([body, defs]) - defs.keys()):
        defs |= {each: OBJECTS[each] for each in missing}
    schema = {
        "$schema": DIALECT,
        "$id": f"urn:memspec-py:schema:{name}",
        "title": f"memspec {name.replace('-', ' ')}",
        **described(body, summary),
    }
    return {**schema, "$defs": dict(sorted(defs.items()))} if defs else schema


def _references(schemas: Any) -> set[str]:  # noqa: ANN401 - any JSON
    return set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(schemas)))


def _object(cls: type, defs: dict[str, Schema]) -> Schema:
    """The object a dataclass becomes."""
    hints = get_type_hints(cls, localns=_NAMES)
    properties: dict[str, Schema] = {}
    optional: list[str] = []
    for name in names_of(cls) or ():
        hint, may_be_none = _without_none(hints[name])
        if name == SPREAD:
            beside = _object(hint, defs)
            properties |= beside["properties"]
            optional += beside["properties"].keys() - beside["required"]
            continue
        shape = SHAPES.get(f"{cls.__name__}.{name}") or _shape(hint, defs)
        properties[name] = described(shape, MEANINGS[cls.__name__][name])
        if may_be_none:
            optional.append(name)
    return closed(properties, optional=tuple(optional))


def names_of(cls: type) -> tuple[str, ...] | None:
    """The fields of a class that ``as_json`` makes an object of; None for any other."""
    if is_dataclass(cls):
        return tuple(each.name for each in fields(cls))
    return getattr(cls, "_fields", None)


def _without_none(hint: Any) -> tuple[Any, bool]:  # noqa: ANN401 - what annotations evaluate to
    """A hint without its None, and whether it had one."""
    if get_origin(hint) not in (Union, UnionType):
        return hint, False
    rest = [one for one in get_args(hint) if one is not NoneType]
    if len(rest) != 1:
        raise TypeError(f"{hint} is more than one thing or None")
    return rest[0], len(rest) < len(get_args(hint))


def _shape(hint: Any, defs: dict[str, Schema]) -> Schema:  # noqa: ANN401 - as above
    """The shape of a value by its annotation; what that leaves open must stand in ``SHAPES``."""
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return one_of(hint)
    if isinstance(hint, type) and names_of(hint):
        if hint.__name__ not in defs:
            defs[hint.__name__] = described(_object(hint, defs), _summary(hint))
        return {"$ref": f"#/$defs/{hint.__name__}"}
    of = get_args(hint)
    if get_origin(hint) in (tuple, list, Sequence):
        return list_of(_shape(of[0], defs))
    if get_origin(hint) in (dict, Mapping):
        return {"type": "object", "additionalProperties": _shape(of[1], defs)}
    raise TypeError(f"{hint} says too little: give the field a line in SHAPES")


def _summary(cls: type) -> str:
    """The first paragraph of a class's docstring, in the words of JSON."""
    first = (getdoc(cls) or "").split("\n\n")[0]
    return " ".join(first.replace("``", "").replace(" is None", " is absent").split())
