"""What each field of a reply means, and its shape where the annotation does not tell it whole.

A field that is not here stops ``bin/schema``; a line that no field needs fails the tests.
"""

from __future__ import annotations

from memspec_py import errors
from memspec_py.index.search import Hidden
from memspec_py.record.model import Kind, SourceKind, State, Type, Witness
from memspec_py.views.hit import LINKS
from tests.schemas.record import FIELDS
from tests.schemas.shapes import (
    COUNT,
    ID,
    INSTANT,
    INSTANT_OR_NEVER,
    NUMBER,
    TEXT,
    Schema,
    closed,
    described,
    list_of,
    one_of,
)

_LABEL = one_of(Type, Kind.OBSERVATION.value, Kind.QUESTION.value)
_STORE = "The store's folder."
_FILE = "The record's file, relative to the store."
_WITNESS = "How it was last attested, strongest first: anchor, operator, evidence, assertion."
_STALE = "Whether it is an active claim whose check_by has passed, as of now."
_DERIVED = "Whether it was concluded from other records."
_EXPIRES = "When an observation expires; absent for one that never does."
_SHOWN_LAST = "When a search last showed it on this machine; absent if none has."
_SESSIONS = "How many sessions on this machine it was shown in."
_SCOPE = "The part of the store it belongs to."

MEANINGS: dict[str, dict[str, str]] = {
    "Adopted": {
        "store": _STORE,
        "applied": "Whether anything was written; false for a dry run.",
        "created": "How many records were, or would be, created.",
        "present": "How many were there already.",
        "refused": "How many were refused.",
        "records": "What became of each record, in the order given.",
    },
    "Adoption": {
        "id": "The record's id, as the batch gave it.",
        "title": "Its title.",
        "outcome": "What became of it; present means that a record with this id exists.",
        "path": "Where its file is, or would be; absent when refused.",
        "code": "Why it was refused, as a stable word.",
        "reason": "Why it was refused, as a sentence.",
    },
    "Brief": {
        "id": "The record's id.",
        "type": "The type of a claim, else the kind.",
        "title": "The title.",
        "check_by": "When it should have been looked at.",
    },
    "Check": {
        "name": "What was checked.",
        "compared": "What was compared with what.",
        "count": "How many things were looked at.",
        "findings": "How many findings that gave.",
    },
    "Duplicate": {
        "id": "The record that says it already.",
        "title": "Its title.",
        "why": "In which way the two are alike.",
    },
    "Edited": {
        "store": _STORE,
        "id": "The record's id.",
        "path": _FILE,
        "changed": "The fields that differ now; none when the text was the same.",
    },
    "Envelope": {
        "store": _STORE,
        "index": "How the index was used for this answer.",
        "unreadable": "What is wrong with files that no answer can include; at most 20.",
        "unreadable_count": "How many files cannot be read.",
        "warnings": "What in config.yaml was not understood.",
    },
    "Examined": {
        "store": _STORE,
        "healthy": "Whether there is no error and no warning.",
        "checks": "What was compared.",
        "findings": "What is wrong, in the order of the checks.",
        "fixed": "What --fix did before this examination.",
    },
    "Finding": {
        "code": "A stable word for what is wrong.",
        "message": "What is wrong, as a sentence.",
        "severity": "An error hides a record, a warning does not, a note only informs.",
        "path": "The file, relative to the store; empty when it is about no file.",
        "line": "The line in the file, from 1.",
        "field": "The front matter key.",
        "fix": "What to do.",
    },
    "Hit": {
        "id": "The record's id.",
        "kind": "The kind of record.",
        "type": "The type of a claim, else the kind.",
        "state": "Where the record stands.",
        "title": "The title.",
        "preview": "The beginning of the body on one line.",
        "source": "Who says so.",
        "source_kind": "The tier of the source.",
        "verified_with": _WITNESS,
        "created": "When the record was made.",
        "stale": _STALE,
        "path": _FILE,
        "tags": "Its tags.",
        "pinned": "Whether it is always part of the boot context.",
        "derived": _DERIVED,
        "scope": _SCOPE,
        "check_by": "When to look at it again.",
        "last_verified": "When its witness was last renewed.",
        "expires": _EXPIRES,
        "valid_from": "Since when it holds in the world.",
        "valid_to": "Until when it holds in the world.",
        "requires_human": "Steps of a procedure that only a person may do.",
        "links": "The records it names, by edge type; only the types that have any.",
        "closed": "Whether a question needs no answer any more; absent for all else.",
        "answers": "The records that answer a question; absent for all else.",
        "resolved_by": "Who resolved a question.",
        "body": "The whole body; only with --full.",
        "last_referenced": _SHOWN_LAST,
        "sessions": _SESSIONS,
        "expanded_via": "How an edge led to it; absent for what the query itself found.",
        "score": "The parts of its score; only with --explain.",
    },
    "Initialized": {
        "store": _STORE,
        "created": "What was made in it; nothing when it was complete already.",
    },
    "Linked": {
        "id": "The record's id.",
        "title": "Its title; absent when it is not in this store, or expired.",
        "state": "Where it stands; absent when it is not in this store, or expired.",
    },
    "ListReply": {
        "count": "How many results are on this page.",
        "total": "How many records match.",
        "offset": "How many matching records come before this page.",
        "next_offset": "Where the next page begins; absent on the last one.",
        "results": "The records, newest first.",
    },
    "Observed": {
        "store": _STORE,
        "id": "The new record's id.",
        "path": _FILE,
        "title": "The first line of what was noted.",
        "source": "Who noted it.",
        "expires": _EXPIRES,
    },
    "Remembered": {
        "store": _STORE,
        "id": "The new record's id.",
        "path": _FILE,
        "kind": "The kind of record.",
        "type": "The type of claim.",
        "title": "The title.",
        "source": "Who claims it.",
        "source_kind": "The tier of the source.",
        "verified_with": _WITNESS,
        "check_by": "When to look at it again.",
        "scope": _SCOPE,
        "anchors": "The files it was anchored to.",
        "unresolved": "The paths it could not be anchored to.",
        "evidence": "The evidence: paths in the store, and URLs.",
        "duplicates": "Records that say the same; only when the write was forced past them.",
    },
    "SearchReply": {
        "query": "The query as asked.",
        "count": "How many results there are.",
        "results": "The records, best first; those reached along edges stand last.",
        "coverage": "How far the store answers the query.",
        "coverage_note": "Why, as a sentence.",
        "coverage_witness": "The strongest witness among the results; absent without results.",
        "profile": "The search profile used.",
        "limit": "The largest number of records asked for.",
        "type": "The type asked for.",
        "scope": "The scope asked for.",
        "as_of": "The instant asked for.",
        "expanded": "How many of the results were reached along edges.",
        "hidden": "How many matching records were kept back, by what keeps them back.",
    },
    "Shown": {
        "id": "The record's id.",
        "kind": "The kind of record.",
        "type": "The type of a claim, else the kind.",
        "title": "The title.",
        "body": "The body, as the file has it.",
        "path": _FILE,
        "stale": _STALE,
        "derived": _DERIVED,
        "record": "The front matter under its own names, as record.schema.json describes it.",
        "ancestors": "What it superseded, directly or not, nearest first.",
        "descendants": "What superseded it, directly or not, nearest first.",
        "linked_from": "The records that name this one, by edge type.",
        "last_referenced": _SHOWN_LAST,
        "sessions": _SESSIONS,
    },
    "Status": {
        "files": "How many record files there are.",
        "records": "How many records there are.",
        "by_type": "Active records by type; open questions count as question.",
        "by_state": "All records by state.",
        "by_witness": "Active claims by witness.",
        "by_scope": "Active records by scope; those without one are left out.",
        "stale_count": "How many active claims are stale.",
        "stale": "The most overdue of them, at most ten.",
        "expired": "How many observations have expired; they count nowhere else.",
        "doubled": "How many files have an id that another file has too.",
    },
    "Unresolved": {
        "path": "The path as typed.",
        "reason": "Why it could not be anchored.",
    },
}

_HIDDEN = {
    "type": "Of a type that was not searched.",
    "scope": "Of another scope.",
    "as_of": "Not valid at the instant asked for.",
    "expired": "Expired observations.",
    "superseded": "Superseded.",
}

SHAPES: dict[str, Schema] = {
    "Adoption.outcome": one_of("created", "present", "refused"),
    "Brief.type": _LABEL,
    "Brief.check_by": INSTANT,
    "Edited.id": ID,
    "Envelope.index": {"$ref": "#/$defs/IndexState"},
    "Envelope.unreadable": list_of({"$ref": "#/$defs/Unreadable"}, 20),
    "Finding.line": {"type": "integer", "minimum": 1},
    "Hit.id": ID,
    "Hit.kind": one_of(Kind),
    "Hit.type": _LABEL,
    "Hit.state": one_of(State),
    "Hit.source_kind": one_of(SourceKind),
    "Hit.verified_with": one_of(Witness),
    "Hit.created": INSTANT,
    "Hit.check_by": INSTANT_OR_NEVER,
    "Hit.last_verified": INSTANT,
    "Hit.expires": INSTANT,
    "Hit.valid_from": INSTANT,
    "Hit.valid_to": INSTANT,
    "Hit.links": {
        "type": "object",
        "properties": {name: described(list_of(ID), FIELDS[name].meaning) for name in LINKS},
        "additionalProperties": False,
    },
    "Hit.answers": list_of(ID),
    "Hit.last_referenced": INSTANT,
    "Hit.expanded_via": {"$ref": "#/$defs/Step"},
    "Hit.score": {"$ref": "#/$defs/Score"},
    "Linked.id": ID,
    "Linked.state": one_of(State),
    "Observed.id": ID,
    "Observed.expires": INSTANT,
    "Remembered.id": ID,
    "Remembered.kind": one_of(Kind),
    "Remembered.type": one_of(Type),
    "Remembered.source_kind": one_of(SourceKind),
    "Remembered.verified_with": one_of(Witness),
    "Remembered.check_by": INSTANT_OR_NEVER,
    "SearchReply.coverage": one_of("none", "weak", "ok"),
    "SearchReply.coverage_witness": one_of(Witness),
    "SearchReply.type": _LABEL,
    "SearchReply.as_of": INSTANT,
    "SearchReply.hidden": {
        "type": "object",
        "properties": {name: described(COUNT, _HIDDEN[name]) for name in Hidden._fields},
        "additionalProperties": False,
    },
    "Shown.id": ID,
    "Shown.kind": one_of(Kind),
    "Shown.type": _LABEL,
    "Shown.last_referenced": INSTANT,
}

# The objects of replies that have no class of their own.
OBJECTS: dict[str, Schema] = {
    "IndexState": described(
        closed(
            {
                "state": described(
                    one_of("fresh", "synced", "built", "bypassed"),
                    "Nothing had changed; changed files were read; it was made anew; or it could"
                    " not be used and the answer comes from memory.",
                ),
                "files": described(COUNT, "How many record files there are."),
                "read": described(COUNT, "How many of them were read just now."),
                "why": described(TEXT, "Why it was thrown away or bypassed."),
            },
            optional=("why",),
        ),
        "How the index was used.",
    ),
    "Unreadable": described(
        closed(
            {
                "path": described(TEXT, "The file, relative to the store."),
                "code": described(TEXT, "A stable word for what is wrong."),
                "line": described(
                    {"type": ["integer", "null"], "minimum": 1}, "The line in the file, from 1."
                ),
                "message": described(TEXT, "What is wrong, as a sentence."),
                "severity": described(one_of("error", "warning", "note"), "How bad it is."),
                "fix": described(TEXT, "What to do."),
            },
            optional=("line", "severity", "fix"),
        ),
        "What is wrong with a file that no answer can include.",
    ),
    "Step": described(
        closed(
            {
                "from_id": described(ID, "The record that names it."),
                "edge_type": described(TEXT, "The type of the edge."),
                "hops": described(COUNT, "How many edges lie between it and the query's results."),
            }
        ),
        "The edge that led to a record.",
    ),
    "Score": described(
        closed(
            {
                "tier": described(
                    one_of("all", "some"),
                    "Records that carry every term come before all that carry some.",
                ),
                "total": described(
                    NUMBER,
                    "The order within the tier: text * length * (1 + recency * freshness).",
                ),
                "text": described(NUMBER, "How well the words fit (BM25)."),
                "length": described(NUMBER, "The correction for the length of the body."),
                "recency": described(NUMBER, "How much the profile prefers fresh records."),
                "freshness": described(NUMBER, "How fresh the record is, 0 to 1."),
            }
        ),
        "Why a result stands where it stands.",
    ),
    "Candidate": described(
        closed(
            {
                "id": described(ID, "The record's id."),
                "type": described(_LABEL, "The type of a claim, else the kind."),
                "title": described(TEXT, "The title."),
            }
        ),
        "A record that what was typed could mean.",
    ),
    "Details": described(
        {
            "type": "object",
            "properties": {
                "findings": described(
                    list_of({"$ref": "#/$defs/Finding"}), "Everything that is wrong, at once."
                ),
                "duplicates": described(
                    list_of({"$ref": "#/$defs/Duplicate"}), "The records that say it already."
                ),
                "candidates": described(
                    list_of({"$ref": "#/$defs/Candidate"}), "The records that begin like this."
                ),
                "store": described(TEXT, "The store that is in the way."),
                "path": described(TEXT, "The file or folder it is about."),
                "errno": described(TEXT, "The system's name for its refusal, such as EACCES."),
                "expected": described(TEXT, "The digest the change was made from."),
                "found": described({"type": ["string", "null"]}, "The digest of what is there."),
                "pid": described(COUNT, "The process that holds the lock."),
                "command": described(TEXT, "What that process is doing."),
            },
            "additionalProperties": False,
        },
        "What a program needs to act on an error; each has its part of it.",
    ),
}


def error_codes() -> list[str]:
    """Every code an error can have, by exit code."""
    classes = [one for one in vars(errors).values() if isinstance(one, type)]
    ours = {(one.exit_code, one.code) for one in classes if issubclass(one, errors.MemspecError)}
    return [code for _, code in sorted(ours)]
