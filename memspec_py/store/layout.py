"""Where things lie in a store: the folders, and which one a record belongs in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspec_py.record.words import Kind, SourceKind, State

if TYPE_CHECKING:
    from pathlib import Path

    from memspec_py.record.model import Record

STORE_NAME = ".memspec"
POINTER_NAME = ".memspec.yaml"
PROJECT = "project"  # what the one store of a place is called as a layer
CONFIG = "config.yaml"
GITIGNORE = ".gitignore"
LOCAL = "local"
EVIDENCE = "evidence"
ARCHIVE = "archive"
USAGE = "usage.jsonl"

_CLAIM_FOLDERS = ("facts", "decisions", "procedures")
# Everything below these holds records, subfolders too (older versions dated observations).
RECORD_FOLDERS = ("memory", "observations", "questions", ARCHIVE)
FOLDERS = (
    *(f"memory/{name}" for name in _CLAIM_FOLDERS),
    *(f"memory/operator/{name}" for name in _CLAIM_FOLDERS),
    *("observations", "questions", ARCHIVE, EVIDENCE),
)
# Telemetry and machine-local files: never memory, never committed.
IGNORED = (USAGE, "usage.*.jsonl", "outcomes.jsonl", f"{LOCAL}/", "logs/", ".tmp-*")


def folder_of(record: Record) -> str:
    """The folder a record belongs in, by its kind, state and tier."""
    if record.kind is Kind.QUESTION:
        return "questions"
    if record.state is not State.ACTIVE:
        return ARCHIVE
    if record.kind is Kind.OBSERVATION or record.type is None:
        return "observations"
    tier = "operator/" if record.source_kind is SourceKind.OPERATOR else ""
    return f"memory/{tier}{record.type}s"


def path_of(record: Record) -> str:
    """The record's path in the store, with ``/``."""
    return f"{folder_of(record)}/{record.id}.md"


def is_link(store: Path) -> bool:
    """Whether a symbolic link stands in the place of a store."""
    return store.name == STORE_NAME and store.is_symlink()
