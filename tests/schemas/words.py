"""What each field of a reply means, and its shape where the annotation does not tell it whole.

A field that is not here stops ``bin/schema``; a line that no field needs fails the tests.
"""

from __future__ import annotations

from memspec_py import errors
from memspec_py.anchors.grain import Grain
from memspec_py.index.search import Hidden
from memspec_py.record.model import EdgeType, Kind, SourceKind, State, Type, Witness
from memspec_py.record.rules import QUESTION_STATES
from memspec_py.store.outcomes import Outcome
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
_WITHDRAWN = "Superseded records that said it; only when the write was forced past them."

_DRIFTED = "Whether an anchor of it has drifted or is gone."
_ANCHOR_UNCHECKED = "Whether an anchor of it could not be checked, which never means that it holds."
_DRIFT = "The verdict on each of its anchors, in its own order; absent when it has none."
_NOTES = "What else should be known, as sentences."
_TITLE = "The title."

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
    "Anchored": {
        "store": _STORE,
        "id": "The record's id.",
        "path": _FILE,
        "title": _TITLE,
        "source": "Who says so.",
        "verified_with": _WITNESS,
        "last_verified": "When its witness was last renewed.",
        "anchors": "Everything it is anchored to now.",
        "added": "What of that it was not anchored to before.",
        "renewed": "What of that it was anchored to before, taken again.",
        "dropped": "What it is not anchored to any more.",
        "unresolved": "The paths it could not be anchored to.",
        "notes": _NOTES,
    },
    "Answer": {
        "id": "The record that answers.",
        "title": "Its title; absent when it is not in this store.",
        "state": "Where it stands; absent when it is not in this store.",
    },
    "Asked": {
        "store": _STORE,
        "id": "The question's id.",
        "path": _FILE,
        "title": "What is asked.",
        "source": "Who asks.",
        "state": "Whether it is open or resolved.",
        "closed": "Whether the answers listed are the only candidates.",
        "created": "Whether it is new.",
        "changed": "Whether anything was written.",
        "answers": "The records listed as its answers.",
        "holding": "The active records among them, or in the place of superseded ones.",
        "unknown": "Records on the way from the answers that are not in this store, or expired.",
        "survivor_id": "The one answer left of a closed question that is not resolved.",
        "resolved_by": "The answer it was resolved by.",
    },
    "Brief": {
        "id": "The record's id.",
        "type": "The type of a claim, else the kind.",
        "title": "The title.",
        "check_by": "When it should have been looked at.",
        "created": "When the record was made.",
        "last_referenced": _SHOWN_LAST,
        "sessions": _SESSIONS,
    },
    "Check": {
        "name": "What was checked.",
        "compared": "What was compared with what.",
        "count": "How many things were looked at.",
        "findings": "How many findings that gave.",
    },
    "Contradiction": {
        "id": "The record that names the other in conflicts_with.",
        "title": _TITLE,
        "other_id": "The record it cannot hold together with.",
        "other_title": "The title of that.",
    },
    "Decided": {
        "id": "The record's id.",
        "type": "The type of a claim, else the kind.",
        "title": _TITLE,
        "reason": "Why it could be retired.",
        "path": _FILE,
        "outcome": "What became of it.",
        "why": "What keeps it from being retired.",
    },
    "Drift": {
        "anchor": "The anchor as it could be typed, within its repository.",
        "file": "The file it is recorded for.",
        "grain": "How much of the file it watches.",
        "verdict": "Whether that is as it was.",
        "compared_to": "What was looked at: worktree, worktree+BRANCH, or empty for nothing.",
        "repo": "The other repository that the file is in.",
        "held_on": "Which of what was looked at still has it.",
        "place": "Where it is now, when that is elsewhere.",
        "reason": "Why the verdict is so, in a few words.",
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
        "withdrawn": _WITHDRAWN,
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
        "drifted": _DRIFTED,
        "anchor_unchecked": _ANCHOR_UNCHECKED,
        "drift": _DRIFT,
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
    "Noted": {
        "store": _STORE,
        "id": "The record it is about.",
        "outcome": "What came of acting on it.",
        "at": "When that was noted.",
        "source": "Who says so.",
        "note": "What happened.",
        "counts": "How often each outcome was noted of this record on this machine.",
    },
    "Observed": {
        "store": _STORE,
        "id": "The new record's id.",
        "path": _FILE,
        "title": "The first line of what was noted.",
        "source": "Who noted it.",
        "expires": _EXPIRES,
        "withdrawn": _WITHDRAWN,
    },
    "Past": {
        "id": "The superseded record.",
        "title": "Its title.",
        "reason": "Why it was superseded.",
        "heirs": "What took its place; none when it was retracted.",
    },
    "Reconciled": {
        "reconciled_at": "When the anchors were looked at.",
        "since": "The commit asked for.",
        "anchored": "How many records in use have anchors.",
        "count": "How many candidates there are.",
        "candidates": "Records with an anchor that drifted or is gone.",
        "moved": "Other records with an anchor whose code is elsewhere now, and as it was.",
        "unchecked": "Other records with an anchor that could not be checked.",
        "earlier": "How many more drifted before the commit asked for.",
    },
    "Related": {
        "store": _STORE,
        "from_id": "The record that carries the edge.",
        "to_id": "The record it names.",
        "edge_type": "The type of the edge.",
        "changed": "Whether anything was written; false when the edge was there already.",
        "edges": "How many edges of this type the record has now.",
        "path": _FILE,
        "to_title": "The title of the record it names; absent when that is not in this store.",
        "to_state": "Where that record stands; absent when it is not in this store.",
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
        "notes": _NOTES,
        "evidence": "The evidence: paths in the store, and URLs.",
        "duplicates": "Records that say the same; only when the write was forced past them.",
        "withdrawn": _WITHDRAWN,
        "answers_question": "The question it was listed in as an answer.",
    },
    "Resolvable": {
        "id": "The question.",
        "title": "What is asked.",
        "survivor_id": "The answer that is left.",
        "survivor_title": "Its title.",
    },
    "SearchReply": {
        "query": "The query as asked.",
        "count": "How many results there are.",
        "results": "The records, best first; those reached along edges stand last.",
        "coverage": "How far the store answers the query.",
        "coverage_note": "Why, as a sentence.",
        "coverage_witness": "The strongest witness among the results; absent without results.",
        "coverage_witness_note": "What made an anchor count as mere evidence, if that is the best.",
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
        "drifted": _DRIFTED,
        "anchor_unchecked": _ANCHOR_UNCHECKED,
        "drift": _DRIFT,
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
        "anchored": "How many records in use have anchors.",
        "drifted_count": "How many of them have one that drifted or is gone.",
        "drifted": "Those, at most ten, with the anchors in question.",
        "unchecked_count": "How many others have one that could not be checked.",
        "unchecked": "Those, at most ten.",
        "moved_count": "How many others have one whose code is elsewhere now.",
        "moved": "Those, at most ten.",
        "conflicts_count": "How many pairs of active records cannot both hold.",
        "conflicts": "Those pairs, at most ten.",
        "cold_count": "How many active records are old and were not shown of late.",
        "cold": "Those, at most ten, shown longest ago first.",
        "promotion_count": "How many notes and bare young facts several sessions were shown.",
        "promotion_candidates": "Those, at most ten, the most sessions first.",
        "receipts_since": "How far back the usage receipts of this machine go.",
        "resolvable": "Closed questions with one answer left, which nobody has confirmed yet.",
    },
    "Superseded": {
        "store": _STORE,
        "act": "A new record replaced them, an existing one was merged with them, or none did.",
        "survivor_id": "The record that stands for them; absent after a retraction.",
        "superseded_ids": "The records that were superseded, the one named first at first.",
        "reason": "Why, as it is kept.",
        "source": "Who says so.",
        "survivor": "The record that stands for them; absent after a retraction.",
        "notes": _NOTES,
        "unresolved": "The anchors that the new record could not keep or get.",
        "duplicates": "Records that say the same; only when the write was forced past them.",
        "withdrawn": _WITHDRAWN,
    },
    "Survivor": {
        "id": "The record's id.",
        "path": _FILE,
        "type": "The type of a claim, else the kind.",
        "title": "The title.",
        "source": "Who claims it.",
        "verified_with": _WITNESS,
        "check_by": "When to look at it again; absent for an observation.",
        "expires": _EXPIRES,
        "anchors": "The files it is anchored to.",
    },
    "Swept": {
        "store": _STORE,
        "dry_run": "Whether nobody was asked.",
        "count": "How many records are stale or expired.",
        "retired": "How many were retired.",
        "refused": "How many should have been retired and were not.",
        "records": "Each of them, the longest overdue first, and what became of it.",
        "unknown": "Ids that were answered for and are neither stale nor expired.",
    },
    "Unresolved": {
        "path": "The path as typed.",
        "reason": "Why it could not be anchored.",
    },
    "Verified": {
        "store": _STORE,
        "id": "The record's id.",
        "path": _FILE,
        "title": _TITLE,
        "status": "Whether it was verified, or nothing was changed and somebody has to look.",
        "reason": "Why it was not verified.",
        "hint": "What can be done about that.",
        "source": "Who says so.",
        "verified_with": _WITNESS,
        "last_verified": "When its witness was last renewed.",
        "check_by": "When to look at it again; absent for an observation.",
        "evidence": "The evidence attached: paths in the store, and URLs.",
        "drift": "The verdict on each of its anchors, as they were.",
        "reanchored": "The anchors that were taken again.",
        "notes": _NOTES,
    },
    "Watched": {
        "id": "The record's id.",
        "type": "The type of a claim, else the kind.",
        "title": _TITLE,
        "drift": "The verdicts on its anchors, but for those that are as they were.",
    },
}

_HIDDEN = {
    "type": "Of a type that was not searched.",
    "scope": "Of another scope.",
    "as_of": "Not valid at the instant asked for.",
    "expired": "Expired observations.",
    "superseded": "Superseded.",
}

_OUTCOMES = {
    Outcome.HELPED: "It helped.",
    Outcome.DEAD_END: "It led nowhere.",
    Outcome.CORRECTED: "It was wrong and has been superseded.",
}

SHAPES: dict[str, Schema] = {
    "Adoption.outcome": one_of("created", "present", "refused"),
    "Answer.id": ID,
    "Answer.state": one_of(State),
    "Asked.id": ID,
    "Asked.state": one_of(*(state for state in State if state in QUESTION_STATES)),
    "Brief.type": _LABEL,
    "Anchored.id": ID,
    "Anchored.verified_with": one_of(Witness),
    "Anchored.last_verified": INSTANT,
    "Brief.id": ID,
    "Brief.check_by": INSTANT,
    "Brief.created": INSTANT,
    "Brief.last_referenced": INSTANT,
    "Contradiction.id": ID,
    "Contradiction.other_id": ID,
    "Decided.id": ID,
    "Decided.type": _LABEL,
    "Decided.outcome": one_of("retired", "kept", "refused", "skipped", "left"),
    "Drift.grain": one_of(Grain),
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
    "Noted.id": ID,
    "Noted.outcome": one_of(Outcome),
    "Noted.at": INSTANT,
    "Noted.counts": {
        "type": "object",
        "properties": {one.value: described(COUNT, _OUTCOMES[one]) for one in Outcome},
        "additionalProperties": False,
    },
    "Past.id": ID,
    "Past.heirs": list_of(ID),
    "Related.from_id": ID,
    "Related.to_id": ID,
    "Related.edge_type": one_of(*EdgeType),
    "Related.to_state": one_of(State),
    "Observed.id": ID,
    "Observed.expires": INSTANT,
    "Reconciled.reconciled_at": INSTANT,
    "Remembered.id": ID,
    "Remembered.kind": one_of(Kind),
    "Remembered.type": one_of(Type),
    "Remembered.source_kind": one_of(SourceKind),
    "Remembered.verified_with": one_of(Witness),
    "Remembered.check_by": INSTANT_OR_NEVER,
    "Remembered.answers_question": ID,
    "Resolvable.id": ID,
    "Resolvable.survivor_id": ID,
    "SearchReply.coverage": one_of("none", "weak", "ok"),
    "SearchReply.coverage_witness": one_of(Witness),
    "SearchReply.coverage_witness_note": one_of("drifted", "unchecked"),
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
    "Status.receipts_since": INSTANT,
    "Verified.id": ID,
    "Verified.status": one_of("verified", "needs_review"),
    "Verified.verified_with": one_of(Witness),
    "Verified.last_verified": INSTANT,
    "Verified.check_by": INSTANT_OR_NEVER,
    "Watched.id": ID,
    "Watched.type": _LABEL,
    "Superseded.act": one_of("replaced", "merged", "retracted"),
    "Superseded.survivor_id": ID,
    "Superseded.superseded_ids": list_of(ID),
    "Survivor.id": ID,
    "Survivor.type": _LABEL,
    "Survivor.verified_with": one_of(Witness),
    "Survivor.check_by": INSTANT_OR_NEVER,
    "Survivor.expires": INSTANT,
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
                "withdrawn": described(
                    list_of({"$ref": "#/$defs/Past"}), "The superseded records that said it."
                ),
                "heirs": described(list_of(ID), "What holds in the record's place."),
                "holding": described(list_of(ID), "The answers that hold."),
                "unknown": described(list_of(ID), "The answers that cannot be looked at here."),
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
