"""Names and states that older versions wrote, turned into today's at the door.

The only module that knows an old name (source: the 0.7.2 reference and its 0.2/0.3 migration map).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memspec_py.record.model import Plain

_STATES = {
    "captured": "active",
    "corrected": "superseded",
    "decayed": "retired",
    "archived": "retired",
}
# Old key -> today's key, value unchanged.
RENAMED = {
    "decay_after": "check_by",
    "corrects": "supersedes",
    "corrected_by": "superseded_by",
    "correction_reason": "supersede_reason",
}
# Written by older versions and meaningless now: staleness is computed when it is asked for.
DROPPED = frozenset({"stale"})
_OLD_KEYS = frozenset({*RENAMED, *DROPPED, "confidence"})


def modern(mapping: dict[str, Plain]) -> dict[str, Plain]:
    """The mapping with today's names; a key present under both names keeps today's value."""
    state = mapping.get("state")
    ext = mapping.get("ext")
    old_state = isinstance(state, str) and state in _STATES
    old_ext = isinstance(ext, dict) and "code_anchors" in ext
    if not old_state and not old_ext and _OLD_KEYS.isdisjoint(mapping):
        return mapping
    new = {key: value for key, value in mapping.items() if key not in _OLD_KEYS}
    for old, name in RENAMED.items():
        if old in mapping:
            new.setdefault(name, mapping[old])
    if isinstance(state, str):
        new["state"] = _STATES.get(state, state)
    _move_into_ext(mapping, new)
    return new


def old_names(key: str, mapping: Mapping[str, Plain]) -> tuple[str, ...]:
    """The old names under which a raw mapping carries today's ``key``; an edit removes them."""
    return tuple(old for old, name in RENAMED.items() if name == key and old in mapping)


def _move_into_ext(mapping: Mapping[str, Plain], new: dict[str, Plain]) -> None:
    ext = mapping.get("ext")
    kept: dict[str, Plain] = dict(ext) if isinstance(ext, dict) else {}
    anchors = kept.pop("code_anchors", None)
    if isinstance(anchors, list):
        new.setdefault("anchors", anchors)
    if "confidence" in mapping:
        kept.setdefault("legacy_confidence", mapping["confidence"])
    if kept:
        new["ext"] = kept
    elif isinstance(ext, dict):
        del new["ext"]
