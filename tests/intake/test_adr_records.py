from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspec_py.config import Limits
from memspec_py.ids import is_id
from memspec_py.intake.adr import AdrDraft, AdrLink, AdrLinkKind, AdrStatus, drafts
from memspec_py.intake.adr_records import EPOCH, AdrRecords, record_id, records_of
from memspec_py.record.model import Record, SourceKind, State, Type
from memspec_py.record.rules import broken_rules, inferred_source_kind

if TYPE_CHECKING:
    from pathlib import Path

    from memspec_py.record.model import Plain


@pytest.fixture(scope="module")
def imported(repository: Path) -> AdrRecords:
    """The records of the invented folder, as if it stood in ``docs/adr``."""
    return records_of(drafts(repository / "fixtures" / "adr").drafts, folder="docs/adr")


def _record(imported: AdrRecords, path: str) -> Record:
    found = (each for each in imported.records if imported.paths[each.id] == f"docs/adr/{path}")
    return next(found)


def _origin(record: Record) -> dict[str, Plain]:
    origin = record.ext["adr"]
    assert isinstance(origin, dict)
    return origin


def _one(status: AdrStatus = AdrStatus.ACCEPTED, *, tags: tuple[str, ...] = ()) -> Record:
    draft = AdrDraft(path="0001-a.md", title="T", status=status, body="x", tags=tags)
    return records_of([draft]).records[0]


def test_an_id_depends_on_the_path_alone(imported: AdrRecords, repository: Path) -> None:
    """A second run gives the same ids, and a record whose text and date changed keeps its id."""
    found = drafts(repository / "fixtures" / "adr").drafts
    again = records_of(found[::-1], folder="docs/adr/")
    assert {each.id for each in again.records} == {each.id for each in imported.records}
    old = AdrDraft(path="a.md", title="T", body="x", date="2020-01-01")
    new = AdrDraft(path="a.md", title="U", body="y", date="2021-01-01")
    assert records_of([old]).records[0].id == records_of([new]).records[0].id


def test_an_id_starts_with_the_day_of_the_name() -> None:
    """Ids of dated files sort by their day; the others share one day, and old days one floor."""
    early, late = record_id("2020-01-01-a.md"), record_id("2020-01-02-a.md")
    assert early < late
    assert record_id("0001-a.md")[:13] == record_id("0002-b.md")[:13]
    assert record_id("0101-01-01-a.md")[:13] == "ms_0000000000"
    # Pinned: another value would make every project's second import a first one.
    assert record_id("docs/adr/0001-a.md") == "ms_00VHNCZB00MNBKRVE4ZDBMTZ51"


@given(st.text(max_size=30), st.text(max_size=30))
def test_different_paths_have_different_ids(one: str, other: str) -> None:
    """Any path has a canonical id, and two paths share one only if they are the same."""
    assert is_id(record_id(one))
    assert (record_id(one) == record_id(other)) is (one == other)


@pytest.mark.parametrize(
    ("status", "state", "tags"),
    [
        (AdrStatus.ACCEPTED, State.ACTIVE, ("adr",)),
        (AdrStatus.UNKNOWN, State.ACTIVE, ("adr",)),
        (AdrStatus.PROPOSED, State.ACTIVE, ("adr", "proposed")),
        (AdrStatus.DRAFT, State.ACTIVE, ("adr", "draft")),
        (AdrStatus.DEFERRED, State.ACTIVE, ("adr", "deferred")),
        (AdrStatus.REJECTED, State.RETIRED, ("adr", "rejected")),
        (AdrStatus.DEPRECATED, State.RETIRED, ("adr", "deprecated")),
        (AdrStatus.SUPERSEDED, State.SUPERSEDED, ("adr", "superseded")),
    ],
)
def test_states_and_status_tags(status: AdrStatus, state: State, tags: tuple[str, ...]) -> None:
    """Each status has one state, and is a tag where it is not simply in force."""
    record = _one(status)
    assert (record.state, record.tags) == (state, tags)


def test_heirs_and_reasons_stand_on_both_sides(imported: AdrRecords) -> None:
    """A superseded record names its heir, the heir names it, and both give the reason."""
    old = _record(imported, "madr/0005-use-grpc.md")
    new = _record(imported, "madr/0007-use-mqtt.md")
    assert (old.state, old.superseded_by, old.supersedes) == (State.SUPERSEDED, (new.id,), ())
    assert (new.state, new.superseded_by, new.supersedes) == (State.ACTIVE, (), (old.id,))
    said = "the status of docs/adr/madr/0005-use-grpc.md says: superseded by ADR-0007"
    assert (old.supersede_reason, new.supersede_reason) == (said, said)


def test_an_heir_alone_can_say_so() -> None:
    """A decision whose own status was never changed is superseded when its heir says so."""
    link = AdrLink(kind=AdrLinkKind.SUPERSEDES, target="a.md")
    old = AdrDraft(path="a.md", title="Old", body="x", status=AdrStatus.ACCEPTED)
    new = AdrDraft(path="b.md", title="New", body="y", links=(link,))
    first, second = records_of([old, new], folder="adr").records
    assert (first.state, first.superseded_by) == (State.SUPERSEDED, (second.id,))
    assert first.supersede_reason == "it is replaced according to adr/b.md"


def test_a_lost_heir_leaves_the_reason() -> None:
    """A superseded decision whose heir is not here says what its file says."""
    link = AdrLink(kind=AdrLinkKind.SUPERSEDED_BY, target="0009-x.md")
    draft = AdrDraft(
        path="a.md",
        title="Old",
        body="x",
        status=AdrStatus.SUPERSEDED,
        status_text="Superseded by [9. X](0009-x.md)",
        links=(link,),
    )
    record = records_of([draft]).records[0]
    assert record.supersede_reason == "the status of a.md says: Superseded by 9. X"
    assert record.superseded_by == ()
    assert _origin(record)["unresolved"] == ["superseded_by: 0009-x.md"]
    assert broken_rules(record, Limits()) == []


def test_amends_becomes_refines(imported: AdrRecords) -> None:
    """The later decision refines the earlier one, whoever says so; related stays aside."""
    speed = _record(imported, "madr/0006-limit-crane-speed.md")
    mqtt = _record(imported, "madr/0007-use-mqtt.md")
    assert (mqtt.refines, speed.refines, speed.supports) == ((speed.id,), (), ())
    assert _origin(speed)["related"] == [_record(imported, "madr/0005-use-grpc.md").id]
    expiry = _record(imported, "table/ADR-12.md")
    assert expiry.refines == (_record(imported, "table/ADR-7.md").id,)


def test_a_replaced_decision_is_not_also_refined() -> None:
    """Of two statements about one pair, supersession is the edge."""
    links = tuple(
        AdrLink(kind=kind, target="a.md") for kind in (AdrLinkKind.AMENDS, AdrLinkKind.SUPERSEDES)
    )
    old = AdrDraft(path="a.md", title="Old", body="x")
    new = AdrDraft(path="b.md", title="New", body="y", links=links)
    record = records_of([old, new]).records[1]
    assert (record.supersedes, record.refines) == ((record_id("a.md"),), ())


def test_where_a_record_comes_from(imported: AdrRecords) -> None:
    """Path, number, status and deciders stand in ``ext``, the number in a tag; it is an import."""
    record = _record(imported, "madr/0006-limit-crane-speed.md")
    assert (record.type, record.source, record.source_kind) == (
        Type.DECISION,
        "adr-import",
        SourceKind.IMPORT,
    )
    assert inferred_source_kind(record.source) is SourceKind.IMPORT
    assert record.tags == ("adr", "adr-0006", "safety", "crane")
    assert record.body.startswith("* Status: accepted\n")
    origin = _origin(record)
    assert (origin["path"], origin["number"]) == ("docs/adr/madr/0006-limit-crane-speed.md", "0006")
    assert (origin["status"], origin["deciders"]) == ("accepted", ["@ines", "@tomas", "@berta"])


def test_days_become_midnight_in_utc(imported: AdrRecords) -> None:
    """``created`` is the day of the decision, else the given day, else one fixed day and a note."""
    assert _record(imported, "table/ADR-7.md").created == "2021-06-01T00:00:00.000Z"
    undated = AdrDraft(path="a.md", title="T", body="x")
    given_day = records_of([undated], dates={"a.md": "2017-08-09"})
    assert (given_day.records[0].created, given_day.findings) == ("2017-08-09T00:00:00.000Z", ())
    assert _origin(given_day.records[0])["date_from"] == "first commit"
    fixed = records_of([undated])
    assert datetime(2000, 1, 1, tzinfo=UTC) == EPOCH
    assert fixed.records[0].created == "2000-01-01T00:00:00.000Z"
    assert [finding.code for finding in fixed.findings] == ["undated"]


def test_tags_are_words() -> None:
    """Tags lose case and spaces and repeat no more; one that is too long is left out and told."""
    draft = AdrDraft(path="a.md", title="T", body="x", tags=("Open Source", "ADR", "x" * 65))
    imported = records_of([draft])
    assert imported.records[0].tags == ("adr", "open-source")
    assert [finding.code for finding in imported.findings] == ["undated", "long-tag"]


def test_every_record_keeps_the_rules(imported: AdrRecords, data_dir: Path) -> None:
    """What is made of invented and of real folders breaks no rule of a record."""
    real = [
        record
        for project in sorted((data_dir / "adr").iterdir())
        for record in records_of(drafts(project).drafts).records
    ]
    assert len(real) > 400
    for record in (*imported.records, *real):
        assert broken_rules(record, Limits()) == [], record.title
