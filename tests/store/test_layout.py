from __future__ import annotations

from typing import Any

import pytest

from memspec_py.record.model import Kind, SourceKind, State, Type
from memspec_py.store.layout import FOLDERS, RECORD_FOLDERS, folder_of, path_of
from memspec_py.testing import a_record, an_id


@pytest.mark.parametrize(
    ("changes", "folder"),
    [
        ({}, "memory/facts"),
        ({"type": Type.DECISION}, "memory/decisions"),
        ({"type": Type.PROCEDURE}, "memory/procedures"),
        ({"source_kind": SourceKind.OPERATOR}, "memory/operator/facts"),
        ({"source_kind": SourceKind.IMPORT}, "memory/facts"),
        ({"state": State.SUPERSEDED}, "archive"),
        ({"state": State.RETIRED, "source_kind": SourceKind.OPERATOR}, "archive"),
        ({"kind": Kind.OBSERVATION}, "observations"),
        ({"kind": Kind.OBSERVATION, "source_kind": SourceKind.OPERATOR}, "observations"),
        ({"kind": Kind.OBSERVATION, "state": State.RETIRED}, "archive"),
        ({"kind": Kind.QUESTION}, "questions"),
        ({"kind": Kind.QUESTION, "state": State.RESOLVED}, "questions"),
    ],
)
def test_a_record_lies_where_its_kind_state_and_tier_say(
    changes: dict[str, Any], folder: str
) -> None:
    """Named after its id, in a folder that `init` makes and every listing looks into."""
    record = a_record(1, **changes)
    assert folder_of(record) == folder
    assert path_of(record) == f"{folder}/{an_id(1)}.md"
    assert folder in FOLDERS
    assert folder.split("/", maxsplit=1)[0] in RECORD_FOLDERS
