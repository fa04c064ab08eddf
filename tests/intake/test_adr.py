from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memspec_py.intake.adr import (
    MAX_BYTES,
    AdrDraft,
    AdrFolder,
    AdrLink,
    AdrLinkKind,
    AdrSkip,
    AdrSkipped,
    AdrStatus,
    drafts,
    read_adr,
)

if TYPE_CHECKING:
    from pathlib import Path

PROJECTS = (
    *("HHS+simpler-grants-gov", "JabRef+jabref", "adr+madr", "alphagov+govuk-aws"),
    *("arachne-framework+architecture", "bitwarden+contributing-docs", "cloudfoundry+cli"),
    *("eclipse-edc+Connector", "nats-io+nats-architecture-and-design", "npryce+adr-tools"),
    "thomvaill+log4brains",
)


@pytest.fixture(scope="module")
def folder(repository: Path) -> AdrFolder:
    """The invented decision records of every style."""
    return drafts(repository / "fixtures" / "adr")


def _draft(folder: AdrFolder, path: str) -> AdrDraft:
    return next(draft for draft in folder.drafts if draft.path == path)


def _read(text: str, path: str = "0001-a-choice.md") -> AdrDraft:
    draft = read_adr(path, text.encode())
    assert isinstance(draft, AdrDraft), draft
    return draft


def _skipped(text: str, path: str = "0001-a-choice.md") -> AdrSkip:
    skipped = read_adr(path, text.encode())
    assert isinstance(skipped, AdrSkipped), skipped
    return skipped.reason


def _codes(draft: AdrDraft) -> list[str]:
    return [finding.code for finding in draft.findings]


@pytest.mark.parametrize(
    ("path", "head", "date"),
    [
        (
            "nygard/0001-record-decisions.md",
            ("0001", "Record architecture decisions", AdrStatus.ACCEPTED),
            ("2019-03-04", "metadata"),
        ),
        (
            "nygard/0002-ferry-timetable-in-csv.md",
            ("0002", "Keep the ferry timetable in CSV", AdrStatus.SUPERSEDED),
            ("2019-03-11", "metadata"),
        ),
        (
            "madr/0005-use-grpc.md",
            ("0005", "Use gRPC between the crane and the office", AdrStatus.SUPERSEDED),
            ("2023-04-05", "front matter"),
        ),
        (
            "madr/0006-limit-crane-speed.md",
            ("0006", "Limit the crane's speed in software", AdrStatus.ACCEPTED),
            ("2022-11-30", "metadata"),
        ),
        (
            "log4brains/20210304-name-buoys-by-colour.md",
            (None, "Name buoys by colour", AdrStatus.SUPERSEDED),
            ("2021-03-04", "file name"),
        ),
        (
            "table/ADR-7.md",
            ("7", "Berth reservations", AdrStatus.ACCEPTED),
            ("2021-06-01", "metadata"),
        ),
        (
            "folders/2024-05-02-retry-queue/README.md",
            (None, "A queue for retries", AdrStatus.UNKNOWN),
            ("2024-05-02", "file name"),
        ),
        (
            "misc/0010-bold-list.mdx",
            ("0010", "Tide tables from the institute", AdrStatus.DEPRECATED),
            ("2022-05-06", "front matter"),
        ),
        (
            "misc/harbour-lights.md",
            (None, "Harbour lights", AdrStatus.ACCEPTED),
            ("2025-08-12", "metadata"),
        ),
        (
            "misc/0011-partly.md",
            ("0011", "Address ranges", AdrStatus.ACCEPTED),
            ("2018-05-03", "metadata"),
        ),
        (
            "misc/0012-new-ranges.md",
            ("0012", "New address ranges", AdrStatus.PROPOSED),
            (None, None),
        ),
    ],
)
def test_every_style_is_read(
    folder: AdrFolder,
    path: str,
    head: tuple[str | None, str, AdrStatus],
    date: tuple[str | None, str | None],
) -> None:
    """Number, title, status and date are found wherever a style puts them, and never made up."""
    draft = _draft(folder, path)
    assert (draft.number, draft.title, draft.status) == head
    assert (draft.date, draft.date_from) == date


@pytest.mark.parametrize(
    ("path", "links"),
    [
        (
            "nygard/0003-ferry-timetable-in-sqlite.md",
            [
                (AdrLinkKind.SUPERSEDES, "0002-ferry-timetable-in-csv.md"),
                (AdrLinkKind.AMENDED_BY, "0004-one-timetable-for-each-season.md"),
            ],
        ),
        (
            "madr/0006-limit-crane-speed.md",
            [
                (AdrLinkKind.AMENDED_BY, "0007-use-mqtt.md"),
                (AdrLinkKind.RELATES, "./0005-use-grpc.md"),
            ],
        ),
        (
            "madr/0007-use-mqtt.md",
            [
                (AdrLinkKind.SUPERSEDES, "ADR-0005"),
                (AdrLinkKind.SUPERSEDES, "0005-use-grpc.md"),
                (AdrLinkKind.MENTIONS, "0006-limit-crane-speed.md#decision-outcome"),
            ],
        ),
        ("table/ADR-12.md", [(AdrLinkKind.AMENDS, "ADR-7")]),
        ("misc/0012-new-ranges.md", [(AdrLinkKind.AMENDS, "0011-partly.md")]),
        (
            "nygard/0001-record-decisions.md",
            [(AdrLinkKind.MENTIONS, "0002-ferry-timetable-in-csv.md")],
        ),
    ],
)
def test_links_are_read_where_a_record_states_them(
    folder: AdrFolder, path: str, links: list[tuple[AdrLinkKind, str]]
) -> None:
    """Statements come from status, metadata, link lists and sentences about the record itself."""
    expected = tuple(AdrLink(kind=kind, target=target) for kind, target in links)
    assert _draft(folder, path).links == expected


def test_skipped_files_say_why(folder: AdrFolder) -> None:
    """What is no decision is listed with a reason, and a refused head with its line."""
    assert {skipped.path: skipped.reason.value for skipped in folder.skipped} == {
        "folders/2024-05-02-retry-queue/appendix.md": "no-title",
        "folders/README.md": "index",
        "log4brains/20220301-no-title.md": "no-title",
        "madr/adr-template.md": "template",
        "misc/broken-head.md": "unreadable",
        "misc/onboarding.md": "no-decision",
        "nygard/template.md": "template",
    }
    broken = next(each for each in folder.skipped if each.path == "misc/broken-head.md")
    assert broken.sentence.startswith("line 3: ")


def test_deciders_and_tags_are_lists(folder: AdrFolder) -> None:
    """Names are split at commas and between handles, but not inside brackets."""
    buoys = _draft(folder, "log4brains/20210304-name-buoys-by-colour.md")
    assert buoys.deciders == ("Ines", "Jo (for the pilots, by phone)")
    assert buoys.tags == ("buoys", "naming")
    assert _draft(folder, "madr/0006-limit-crane-speed.md").deciders == (
        "@ines",
        "@tomas",
        "@berta",
    )
    assert _draft(folder, "madr/0005-use-grpc.md").deciders == ("Ines", "Tomas")


def test_body_is_what_stood_below_the_title() -> None:
    """Only front matter, the title and blank lines around go; links and newlines stay."""
    text = (
        "---\r\nstatus: accepted\r\n---\r\n<!-- lint -->\r\n# T\r\n\r\n[a](b.md)  \r\n\tx\r\n\r\n"
    )
    assert _read(text).body == "<!-- lint -->\r\n\r\n[a](b.md)  \r\n\tx"


def test_a_heading_below_a_rule_of_signs_is_a_title() -> None:
    """A title underlined with ``===`` is one, and both its lines leave the body."""
    draft = _read("Use tugs\n========\n\nStatus: accepted\n")
    assert (draft.title, draft.body) == ("Use tugs", "Status: accepted")


@pytest.mark.parametrize(
    ("heading", "number", "title"),
    [
        ("2. Use tugs", "2", "Use tugs"),
        ("0002 - Use tugs", "0002", "Use tugs"),
        ("0002 Use tugs", "0002", "Use tugs"),
        ("ADR-2: Use tugs", "2", "Use tugs"),
        ("[ADR-0002] Use tugs", "0002", "Use tugs"),
        ("ADR 2 Use tugs", "2", "Use tugs"),
        ("ADR: Use tugs", None, "Use tugs"),
        ("Architecture Decision Record: Use tugs", None, "Use tugs"),
        ("3 tugs for each ship", None, "3 tugs for each ship"),
        ("2.5 knots at most", None, "2.5 knots at most"),
        ("Use **two** tugs &amp; a pilot ##", None, "Use two tugs & a pilot"),
        ("Use `tug.next()` in C#", None, "Use `tug.next()` in C#"),
    ],
)
def test_titles_lose_their_number_only(heading: str, number: str | None, title: str) -> None:
    """A counted title gives its number, and a number that belongs to the words stays."""
    draft = _read(f"# {heading}\n\n## Decision\n\nYes.\n", path="tugs.md")
    assert (draft.number, draft.title) == (number, title)


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("Accepted", AdrStatus.ACCEPTED),
        ("**approved** ✅", AdrStatus.ACCEPTED),
        ("✅ Active", AdrStatus.ACCEPTED),
        ("Partially implemented in #4", AdrStatus.ACCEPTED),
        ("![Accepted](https://example.invalid/accepted.svg)", AdrStatus.ACCEPTED),
        ("~~Proposed~~ Accepted", AdrStatus.ACCEPTED),
        ("2020-01-02 accepted", AdrStatus.ACCEPTED),
        ("in review", AdrStatus.PROPOSED),
        ("WIP", AdrStatus.DRAFT),
        ("on hold", AdrStatus.DEFERRED),
        ("rejected, too dear", AdrStatus.REJECTED),
        ("Obsolete", AdrStatus.DEPRECATED),
        ("superseded", AdrStatus.SUPERSEDED),
        ("Superseeded by [2](0002-b.md)", AdrStatus.SUPERSEDED),
        ("accepted, replaced by ADR-0009", AdrStatus.SUPERSEDED),
        ("accepted; supersedes ADR-0009", AdrStatus.ACCEPTED),
        ("Superseded in part", AdrStatus.ACCEPTED),
        ("In part superseded by ADR-9", AdrStatus.ACCEPTED),
        ("not accepted", AdrStatus.UNKNOWN),
        ("Acceptance pending", AdrStatus.UNKNOWN),
    ],
)
def test_statuses_of_many_words(words: str, status: AdrStatus) -> None:
    """A status is told by the words it starts with, in any mark-up; others are unknown."""
    draft = _read(f"# Use tugs\n\n## Status\n\n{words}\n\n## Decision\n\nYes.\n")
    assert draft.status is status
    assert ("unknown-status" in _codes(draft)) is (status is AdrStatus.UNKNOWN)
    assert draft.status_text


def test_a_log_of_statuses_ends_with_what_holds() -> None:
    """Of several status lines the last one counts, and the choice is told."""
    draft = _read("# Use tugs\n\n## Status\n\nProposed\n\nRejected\n\n## Decision\n\nNo.\n")
    assert draft.status is AdrStatus.REJECTED
    assert _codes(draft) == ["several-statuses"]


def test_no_status_is_none() -> None:
    """A record without a status has none, and a choice of statuses is a template's."""
    assert _read("# Use tugs\n\n## Decision\n\nYes.\n").status_text is None
    assert _read("# Use tugs\n\n* Status: [proposed | accepted]\n").status_text is None


@pytest.mark.parametrize(
    ("line", "date"),
    [
        ("2020-02-29", "2020-02-29"),
        ("2020/2/9", "2020-02-09"),
        ("2020-02-29T10:00:00Z", "2020-02-29"),
        ("3rd of May 2018", "2018-05-03"),
        ("Feb 5, 2019", "2019-02-05"),
        ("2019-02-05 (updated 2020-01-01)", "2019-02-05"),
        ("2019-02-30", None),
        ("03/04/2019", None),
        ("2019-02-05, 2020-01-01", None),
        ("last week", None),
    ],
)
def test_dates_are_read_when_they_can_mean_one_day(line: str, date: str | None) -> None:
    """A date with one meaning is read; any other is a finding and no date."""
    draft = _read(f"# Use tugs\n\nDate: {line}\n")
    assert draft.date == date
    assert _codes(draft) == ([] if date else ["unclear-date"])


def test_the_day_of_a_change_comes_last() -> None:
    """A name's day counts before the day of the last change, and a month is no day or number."""
    text = "# Use tugs\n\n* **Last Modified:** 2024-01-01\n"
    assert _read(text, "2023-06-07-use-tugs.md").date == "2023-06-07"
    draft = _read(text, "2023-06-use-tugs.md")
    assert (draft.date, draft.number) == ("2024-01-01", None)


def test_numbers_that_disagree_are_told() -> None:
    """The name's number counts before the title's, and the difference is a finding."""
    draft = _read("# 3. Use tugs\n\n## Decision\n\nYes.\n", path="0033-use-tugs.md")
    assert (draft.number, _codes(draft)) == ("0033", ["number-conflict"])


def test_code_and_comments_state_nothing() -> None:
    """What stands in a code block or a comment is no title, metadata or link."""
    text = (
        "<!-- # Not this -->\n# Use tugs\n\n```md\n- Status: rejected\n```\n"
        "<!--\n- Status: draft\nSupersedes [2](0002-b.md)\n-->\n- Status: accepted <!-- why -->\n"
    )
    draft = _read(text)
    assert (draft.title, draft.status, draft.links) == ("Use tugs", AdrStatus.ACCEPTED, ())


def test_metadata_goes_on_below_its_key() -> None:
    """Nested items and indented lines below a key belong to its value."""
    draft = _read("# Use tugs\n\n- Deciders:\n  - Ines\n  - Jo\n- Status: accepted\n  since May\n")
    assert draft.deciders == ("Ines", "Jo")
    assert draft.status_text == "accepted since May"


def test_metadata_may_stand_below_a_second_title() -> None:
    """A second heading with the title's words begins no section."""
    draft = _read(
        "# Use tugs\n\n## Use tugs\n\n* Status: rejected\n\n## Context\n\n* Date: 2020-01-01\n"
    )
    assert (draft.status, draft.date) == (AdrStatus.REJECTED, None)


def test_running_text_states_links_only_about_itself() -> None:
    """Other things may be superseded in a text without making a link between decisions."""
    text = "# Use tugs\n\n## Context\n\nPilots are superseded by [tugs](0002-b.md) everywhere.\n"
    assert _read(text).links == (AdrLink(kind=AdrLinkKind.MENTIONS, target="0002-b.md"),)


@pytest.mark.parametrize(
    ("path", "text", "reason"),
    [
        ("photo.png", "# T\n", AdrSkip.NOT_MARKDOWN),
        ("0001-a.md", " \n\n", AdrSkip.EMPTY),
        ("0001-a.md", "# Use tugs\n\n", AdrSkip.EMPTY),
        ("README.md", "# Decisions\n\n## Status\n\nAccepted\n", AdrSkip.INDEX),
        ("doc/index.md", "# Decisions\n", AdrSkip.INDEX),
        ("0000-template.md", "# T\n\nx\n", AdrSkip.TEMPLATE),
        ("0001-a.md", "# [short title of the problem]\n\nx\n", AdrSkip.TEMPLATE),
        ("0001-a.md", "# <!-- short title -->\n\nx\n", AdrSkip.TEMPLATE),
        ("0001-a.md", "# ADR-NNNN: Title\n\nx\n", AdrSkip.TEMPLATE),
        ("0001-a.md", "## Decision\n\nx\n", AdrSkip.NO_TITLE),
        ("0001-a.md", "Just text.\n", AdrSkip.NO_TITLE),
        ("0001-a.md", "---\nstatus: [a\n---\n# T\n\nx\n", AdrSkip.UNREADABLE),
        ("0001-a.md", "---\nstatus: accepted\n# T\n\nx\n", AdrSkip.UNREADABLE),
        ("0001-a.md", "# T\0\n", AdrSkip.UNREADABLE),
        ("notes.md", "# How we meet\n\nOn Mondays.\n", AdrSkip.NO_DECISION),
    ],
)
def test_what_is_no_decision_is_skipped(path: str, text: str, reason: AdrSkip) -> None:
    """Each kind of other file has its own reason."""
    assert _skipped(text, path) is reason


@pytest.mark.parametrize("name", ["0014-use-templates.md", "0001-index-the-log.md"])
def test_decisions_about_templates_are_decisions(name: str) -> None:
    """A name that only speaks of a template or an index is no template or index."""
    assert _read("# A title\n\nx\n", name).number == name[:4]


def test_files_beyond_the_limit_are_skipped() -> None:
    """A file that could not become a record is not parsed."""
    assert _skipped("# T\n\n" + "x" * MAX_BYTES) is AdrSkip.TOO_LARGE


def test_a_front_matter_title_serves_where_the_page_has_none() -> None:
    """The page's heading comes first, then the front matter's title."""
    assert _read("---\ntitle: 4. Use tugs\n---\n## Decision\n\nx\n").title == "Use tugs"


def test_a_byte_order_mark_hides_nothing() -> None:
    """Front matter after a byte order mark is front matter, and the mark is no part of a title."""
    assert _read("\ufeff---\nstatus: rejected\n---\n# T\n\nx\n").status is AdrStatus.REJECTED
    assert _read("\ufeff# Use tugs\n\nx\n").title == "Use tugs"


def test_links_in_the_file_system_are_not_followed(tmp_path: Path) -> None:
    """A symbolic link is listed as skipped, whether it leads to a file or to a folder."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "0001-a.md").write_text("# T\n\nx\n", encoding="utf-8")
    inside = tmp_path / "adr"
    (inside / ".git").mkdir(parents=True)
    (inside / ".git" / "0003-c.md").write_text("# T\n\nx\n", encoding="utf-8")
    (inside / "0002-b.md").symlink_to(tmp_path / "out" / "0001-a.md")
    (inside / "linked").symlink_to(tmp_path / "out")
    found = drafts(inside)
    assert found.drafts == ()
    assert [(each.path, each.reason) for each in found.skipped] == [
        ("0002-b.md", AdrSkip.LINK),
        ("linked", AdrSkip.LINK),
    ]


_SCRAPS = st.sampled_from(
    [
        *("---\n", "# ", "## ", "===\n", "\n", "\n\n", "\r\n", "  ", "* ", "- ", "**", "~~"),
        *("~~~", "```", "<!--", "-->", "[", "](", ")", "[[", "]]", "{", "}", "|", "| a | b |\n"),
        *("Status", ": ", "accepted", "superseded by ", "this ADR ", "ADR-1", "2020-01-01", ","),
        *("Deciders: ", "Date: ", "\\", "\x00", "\ufeff", "\u2028", "&amp;"),
    ]
)


@given(
    st.one_of(st.binary(max_size=400), st.lists(_SCRAPS, max_size=60).map("".join).map(str.encode))
)
@example(b"# T\n\n## Status\n\n" + b"[" * 2000)
@example(b"# T\n\n- Tags: " + b"," * 5000)
@example(b"# Ab" + b" " * 5000 + b"\nAb" + b" " * 5000 + b"\n")
def test_any_bytes_are_read_or_skipped(data: bytes) -> None:
    """No content raises; a draft has a title of one line and a body."""
    read = read_adr("docs/0001-x.md", data)
    if isinstance(read, AdrDraft):
        assert read.title.strip() == read.title != ""
        assert "\n" not in read.title
        assert read.body.strip()
    else:
        assert read.sentence


@given(st.text(max_size=60))
def test_any_name_is_read_or_skipped(name: str) -> None:
    """No file name raises."""
    read = read_adr(f"{name}.md", b"# A title\n\n## Decision\n\nYes.\n")
    assert read.path == f"{name}.md"


@pytest.mark.parametrize("project", PROJECTS)
def test_real_projects_are_read(data_dir: Path, project: str) -> None:
    """Of the files of real projects that are named as decisions, nine in ten become drafts."""
    found = drafts(data_dir / "adr" / project)
    left_out = [
        each
        for each in found.skipped
        if each.reason not in {AdrSkip.NOT_MARKDOWN, AdrSkip.INDEX, AdrSkip.TEMPLATE}
    ]
    assert len(found.drafts) >= 9 * len(left_out)
    assert len({draft.path for draft in found.drafts}) == len(found.drafts)
    assert not [each for each in left_out if each.reason is AdrSkip.UNREADABLE]
    for draft in found.drafts:
        text = (data_dir / "adr" / project / draft.path).read_text(encoding="utf-8-sig")
        assert set(draft.body.split("\n")) <= set(text.split("\n"))
        assert text.rstrip("\r\n").endswith(draft.body[-300:])
        assert PurePosixPath(draft.path).suffix == ".md"


def test_statuses_and_dates_of_real_projects(data_dir: Path) -> None:
    """Where a project writes status and date into every file, every draft has both."""
    for project in (
        "nats-io+nats-architecture-and-design",
        "npryce+adr-tools",
        "alphagov+govuk-aws",
    ):
        for draft in drafts(data_dir / "adr" / project).drafts:
            assert draft.date, draft.path
            assert draft.status is not AdrStatus.UNKNOWN, draft.path
