"""The schema of a record's front matter: its fields, and which fields go with which kind."""

from __future__ import annotations

from typing import NamedTuple

from memspec_py.config import Limits
from memspec_py.record.model import Kind, SourceKind, State, Type, Witness
from memspec_py.record.parse import KEYS
from memspec_py.record.rules import QUESTION_STATES
from tests.schemas.shapes import (
    DIALECT,
    ID,
    INSTANT,
    INSTANT_OR_NEVER,
    NOT_BLANK,
    TEXT,
    Schema,
    described,
    list_of,
    one_of,
)

ABOUT = (
    "The front matter of a record file as memspec reads it, which is without guessing types: every"
    ' value is text, or a list or mapping of texts, so a pinned record has the text "true", and a'
    " date is text. Keys that are not listed here are allowed and kept. The title is not among"
    " them: it is the first heading below the front matter. Counts and lengths are the defaults;"
    " a store's config.yaml may change them. SCHEMA.md says what else the reader takes."
)

_LIMITS = Limits()
_IDS = list_of(ID, _LIMITS.edges)
_ALL = "`remember`, `observe`"
_IMPORTS = "imports"

# `edit` may change every other field of a record.
NOT_BY_EDIT = ("id", "kind", "state", "created", "source_kind", "superseded_by", "supersedes")


class Field(NamedTuple):
    """A key of the front matter: its shape, its meaning, and who writes it."""

    shape: Schema
    meaning: str
    written_by: str


FIELDS: dict[str, Field] = {
    "id": Field(ID, "`ms_` and a ULID. It never changes, and the file is named after it.", _ALL),
    "kind": Field(
        one_of(Kind),
        "A claim says what holds, an observation what was seen, a question what is open."
        " Without it the record is a claim.",
        _ALL,
    ),
    "type": Field(one_of(Type), "What sort of claim it is.", "`remember`"),
    "state": Field(
        one_of(State),
        "Where the record stands. Without it a question is open and all else active.",
        _ALL,
    ),
    "created": Field(INSTANT, "When the record was made, in UTC.", _ALL),
    "source": Field(NOT_BLANK, "Who says so: a program, `human:NAME`, an importer.", "`--source`"),
    "source_kind": Field(
        one_of(SourceKind),
        "The tier of the source. Without it the name of the source decides.",
        _ALL,
    ),
    "tags": Field(
        list_of(NOT_BLANK | {"maxLength": _LIMITS.tag_chars}, _LIMITS.tags),
        "Words to find it by.",
        "`--tags`",
    ),
    "scope": Field(
        TEXT,
        "The part of the store it belongs to. Without one, or in `universal`, it shows everywhere.",
        "`--scope`",
    ),
    "check_by": Field(
        INSTANT_OR_NEVER,
        "When to look at it again. An active claim is stale from then on.",
        "`remember`, `verify`",
    ),
    "last_verified": Field(
        INSTANT,
        "When its witness was last renewed; a bare assertion has none.",
        "`remember`, `anchor`, `verify`",
    ),
    "verified_with": Field(
        one_of(Witness),
        "How it was last attested, strongest first. Without it: `anchor` when it has anchors, else"
        " `assertion`.",
        _ALL,
    ),
    "pinned": Field({"enum": ["true", True]}, "Always part of the boot context.", "`--pin`"),
    "requires_human": Field(
        list_of(TEXT), "Steps that only a person may do.", "`--requires-human`"
    ),
    "anchors": Field(
        list_of({"$ref": "#/$defs/anchor"}, _LIMITS.anchors),
        "The code it depends on.",
        "`--anchor`, `anchor`, `verify --reanchor`",
    ),
    "evidence": Field(
        list_of({"$ref": "#/$defs/evidence"}, _LIMITS.evidence),
        "Proof that is kept in the store, or pointers to it.",
        "`--evidence`, `verify --evidence-file`",
    ),
    "supersedes": Field(_IDS, "The records it replaces.", "`supersede`"),
    "superseded_by": Field(
        # For one heir a text and for more a list, as 0.7.2 wrote it.
        ID | _IDS | {"type": ["string", "array"]},
        "The records that replace it.",
        "`supersede`",
    ),
    "supersede_reason": Field(
        TEXT, "Why it was replaced or retracted, or why it replaced others.", "`supersede`"
    ),
    "conflicts_with": Field(
        _IDS, "Records that cannot hold together with it.", "`--conflicts-with`"
    ),
    "refines": Field(_IDS, "Records it makes more exact.", "`--refines`"),
    "supports": Field(_IDS, "Records it speaks for.", "`--supports`"),
    "depends_on": Field(_IDS, "Records it does not hold without.", "`--depends-on`"),
    "derived_from": Field(_IDS, "Records it was concluded from.", "`--derived-from`"),
    "distinct_from": Field(
        _IDS, "Records it looks like and is not the same as.", "`--distinct-from`"
    ),
    "answers": Field(_IDS, "The records that answer a question.", "`question`"),
    "closed": Field(
        {"enum": ["true", True]},
        "A question whose answers are the only candidates.",
        "`question --closed`",
    ),
    "resolved_by": Field(
        TEXT, "The answer that a question was resolved by.", "`question --resolve`"
    ),
    "expires": Field(
        INSTANT, "From then on an observation is never shown; its file stays.", "`observe --ttl`"
    ),
    "valid_from": Field(INSTANT, "Since when it holds in the world.", "`remember --valid-from`"),
    "valid_to": Field(INSTANT, "Until when it holds in the world.", "`remember --valid-to`"),
    "ext": Field(
        {"type": "object", "additionalProperties": True},
        "Anything else, by whoever writes it; memspec keeps it and does not look at it.",
        f"the Python API, {_IMPORTS}",
    ),
}

_FILLED: Schema = {"type": "string", "minLength": 1}
ITEMS: dict[str, Schema] = {
    "anchor": {
        "type": "object",
        "description": "A file that a claim depends on, or a part of it, as it was then.",
        "properties": {
            "repo": described(_FILLED, "The folder name of another repository the file is in."),
            "file": described(_FILLED, "Its path from the project root, or from that of `repo`."),
            "sha": described(_FILLED, "Git's blob id of its bytes."),
            "symbol": described(_FILLED, "The part of it that counts: a symbol, heading or key."),
            "symbol_id": described(_FILLED, "A hash of that symbol's own code, after its rule."),
            "lines": described(_FILLED, "The part of it that counts: lines such as `10-40`."),
            "span_id": described(_FILLED, "A hash of what those lines say, after its rule."),
            "name": described(_FILLED, "What must keep its value: the name it is given to."),
            "value": described(_FILLED, "That value, in one spelling."),
        },
        "required": ["file", "sha"],
        "additionalProperties": True,
    },
    "evidence": {
        "type": "object",
        "description": "A file kept below evidence/ (`path`), or a pointer to proof (`url`).",
        "properties": {
            "path": described(_FILLED, "Where the copy lies in the store."),
            "sha256": described(_FILLED, "The digest of the copy."),
            "url": described(_FILLED, "Where the proof is; it is never fetched."),
            "name": described(_FILLED, "What the file was called."),
            "source": described(_FILLED, "Where the file came from; never an absolute path."),
            "added": described(_FILLED, "When it was attached."),
        },
        "anyOf": [{"required": ["path"]}, {"required": ["url"]}],
        "additionalProperties": True,
    },
}


def _when(key: str, value: str, *, or_absent: bool = False) -> Schema:
    shape: Schema = {"properties": {key: {"const": value}}}
    return shape if or_absent else {**shape, "required": [key]}


def _states(states: frozenset[State]) -> Schema:
    return {"properties": {"state": {"enum": [state.value for state in State if state in states]}}}


def _without(*keys: str) -> Schema:
    return {"properties": dict.fromkeys(keys, False)}


# What a record of one kind must have and others must not; each with its sentence.
RULES: dict[str, Schema] = {
    "A claim has a `type`; no other kind has one.": {
        "if": _when("kind", Kind.CLAIM.value, or_absent=True),
        "then": {"required": ["type"]},
        "else": _without("type"),
    },
    "The states `open` and `resolved` are those of questions, and of nothing else.": {
        "if": _when("kind", Kind.QUESTION.value),
        "then": _states(QUESTION_STATES),
        "else": _states(frozenset(State) - QUESTION_STATES),
    },
    "Only questions have `answers`, `closed` and `resolved_by`.": {
        "if": {"not": _when("kind", Kind.QUESTION.value)},
        "then": _without("answers", "closed", "resolved_by"),
    },
    "Only observations have `expires`.": {
        "if": {"not": _when("kind", Kind.OBSERVATION.value)},
        "then": _without("expires"),
    },
    "Only procedures have `requires_human`.": {
        "if": {"not": _when("type", Type.PROCEDURE.value)},
        "then": _without("requires_human"),
    },
}

# Where the reader is more generous than the schema: forms in which files may have a value. What is
# read from them, and so what every front shows, is what the schema describes.
ALSO_READ: dict[str, str] = {
    "older names": "The names and states of memspec 0.7.2 and before, such as `decay_after` and"
    " `captured`. They are translated first; the schema speaks of the names of today.",
    "empty values": "An empty value (nothing, `null`, `~`) counts as absent; so do an empty text,"
    " list or mapping where the field allows more than that, and a flag that is `false`.",
    "comma text": "A list of tags, steps or ids may be one text with commas.",
    "other times": "A time may be a date or time of ISO 8601, by calendar or week. A date alone is"
    " midnight UTC, a time without an offset is UTC.",
}

# Where the schema is more generous than the reader, by the code of the reader's finding.
NOT_IN_THE_SCHEMA: dict[str, str] = {
    "bad-time": "A time must be one that the calendar has: not February 30, not the year 0.",
    "bad-validity": "`valid_from` must not be later than `valid_to`.",
}


def record_schema() -> Schema:
    """The schema of the front matter that ``record.parse.to_mapping`` gives."""
    return {
        "$schema": DIALECT,
        "$id": "urn:memspec-py:schema:record",
        "title": "memspec record",
        "description": ABOUT,
        "type": "object",
        "properties": {
            key: described(FIELDS[key].shape, FIELDS[key].meaning.replace("`", "")) for key in KEYS
        },
        "required": ["id", "created", "source"],
        "allOf": list(RULES.values()),
        "additionalProperties": True,
        "$defs": ITEMS,
    }
