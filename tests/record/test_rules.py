from __future__ import annotations

from typing import Any

import pytest

from memspec_py.config import Limits
from memspec_py.record.model import Anchor, Evidence, Kind, SourceKind, State, Type
from memspec_py.record.rules import RULES, broken_rules, inferred_source_kind
from memspec_py.testing import a_record, an_id

LIMITS = Limits()


def codes(limits: Limits = LIMITS, **changes: Any) -> list[tuple[str | None, str, str]]:  # noqa: ANN401
    """Field, code and severity of each rule a record breaks."""
    found = broken_rules(a_record(1, **changes), limits)
    return [(one.field, one.code, str(one.severity)) for one in found]


def test_a_sound_record_breaks_no_rule() -> None:
    """Of any kind."""
    assert [codes(kind=kind) for kind in Kind] == [[], [], []]
    assert len(RULES) == len(set(RULES)) > 5


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"title": " "}, ("title", "missing-title", "error")),
        ({"title": "x" * 301}, ("title", "too-long", "error")),
        ({"type": None}, ("type", "missing-field", "error")),
        ({"kind": Kind.QUESTION, "type": Type.FACT}, ("type", "misplaced-field", "error")),
        ({"state": State.OPEN}, ("state", "bad-value", "error")),
        ({"kind": Kind.QUESTION, "state": State.ACTIVE}, ("state", "bad-value", "error")),
        ({"requires_human": ("x",)}, ("requires_human", "misplaced-field", "error")),
        ({"closed": True}, ("closed", "misplaced-field", "error")),
        ({"resolved_by": an_id(2)}, ("resolved_by", "misplaced-field", "error")),
        ({"answers": (an_id(2),)}, ("answers", "misplaced-field", "error")),
        ({"expires": "2026"}, ("expires", "misplaced-field", "error")),
        ({"valid_from": "2", "valid_to": "1"}, ("valid_from", "bad-validity", "error")),
        ({"tags": ("x",) * 65}, ("tags", "too-many", "error")),
        ({"tags": (" ",)}, ("tags", "bad-tag", "error")),
        ({"tags": ("x" * 65,)}, ("tags", "bad-tag", "error")),
        ({"anchors": (Anchor(file="a", sha="b"),) * 257}, ("anchors", "too-many", "error")),
        ({"evidence": (Evidence(url="a"),) * 65}, ("evidence", "too-many", "error")),
        (
            {"refines": tuple(an_id(number) for number in range(2, 300))},
            ("refines", "too-many", "error"),
        ),
        ({"refines": (an_id(1),)}, ("refines", "self-edge", "warning")),
        ({"refines": (an_id(2), an_id(2))}, ("refines", "repeated-edge", "warning")),
        ({"state": State.SUPERSEDED}, ("state", "no-heir", "warning")),
    ],
)
def test_each_breach_is_told(changes: dict[str, Any], expected: tuple[str, str, str]) -> None:
    """By field, code and severity; what only looks odd is a warning."""
    assert codes(**changes) == [expected]


def test_at_the_limit_nothing_is_wrong() -> None:
    """Limits are the last value that is allowed, and can be set."""
    assert codes(title="x" * 300, tags=("x" * 64,) * 64) == []
    assert codes(LIMITS._replace(title_chars=5), title="x" * 6)[0][1] == "too-long"
    assert codes(kind=Kind.OBSERVATION, title="x" * 400) == []


def test_a_reason_or_an_heir_explains_a_superseded_record() -> None:
    """Either will do."""
    assert codes(state=State.SUPERSEDED, supersede_reason="moved") == []
    assert codes(state=State.SUPERSEDED, superseded_by=(an_id(2),)) == []


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("human:ada", SourceKind.OPERATOR),
        (" Human:Ada ", SourceKind.OPERATOR),
        ("user", SourceKind.OPERATOR),
        ("openclaw-import", SourceKind.IMPORT),
        ("anything-import", SourceKind.IMPORT),
        ("migration-0.3", SourceKind.IMPORT),
        ("claude-code", SourceKind.AGENT),
        ("humans", SourceKind.AGENT),
        ("superhuman:x", SourceKind.AGENT),
    ],
)
def test_the_tier_of_a_source_by_its_name(source: str, kind: SourceKind) -> None:
    """For files and writers that do not say."""
    assert inferred_source_kind(source) is kind
