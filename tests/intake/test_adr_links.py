from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspec_py.intake.adr import AdrDraft, AdrLink, AdrLinkKind, AdrStatus, drafts
from memspec_py.intake.adr_links import AdrEdge, resolve_links

if TYPE_CHECKING:
    from pathlib import Path

SUPERSEDES = AdrLinkKind.SUPERSEDES
SUPERSEDED_BY = AdrLinkKind.SUPERSEDED_BY


def _draft(
    path: str,
    *links: tuple[AdrLinkKind, str],
    number: str | None = None,
    title: str = "",
    status: AdrStatus = AdrStatus.ACCEPTED,
) -> AdrDraft:
    return AdrDraft(
        path=path,
        number=number,
        title=title or path,
        status=status,
        body="x",
        links=tuple(AdrLink(kind=kind, target=target) for kind, target in links),
    )


@pytest.mark.parametrize(
    "target",
    [
        *("0002-b.md", "./0002-b.md", "0002-b.md#context", "0002-b", "0002-B.md", "0002%2Db.md"),
        *("../adr/0002-b.md", "/doc/adr/0002-b.md", "0002-an-older-name.md"),
        *("ADR-2", "ADR-0002", "adr 2", "#2", "0002", "Use TUGS", "use  tugs"),
    ],
)
def test_one_decision_has_many_names(target: str) -> None:
    """A path, a name, a number and a title all lead to the decision they mean."""
    one = _draft("doc/adr/0001-a.md", (SUPERSEDES, target), number="0001")
    two = _draft("doc/adr/0002-b.md", number="0002", title="Use tugs")
    edge = AdrEdge(source=one.path, kind=SUPERSEDES, target=two.path)
    assert resolve_links([one, two]).edges == (edge,)


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("../other/0002-b.md", "no decision of this folder is called so"),
        ("0009-x.md", "no decision of this folder is called so"),
        ("https://example.invalid/0002-b.md", "it leads elsewhere"),
        ("Twice", "it can mean doc/adr/0002-b.md or doc/adr/0003-c.md"),
    ],
)
def test_what_cannot_be_found_is_told(target: str, reason: str) -> None:
    """A link that means nothing here, or more than one decision, is unresolved with a reason."""
    one = _draft("doc/adr/0001-a.md", (SUPERSEDES, target), number="1")
    others = [
        _draft("doc/adr/0002-b.md", number="2", title="Twice"),
        _draft("doc/adr/0003-c.md", number="3", title="Twice"),
    ]
    links = resolve_links([one, *others])
    assert links.edges == ()
    assert [each.reason for each in links.unresolved] == [reason]


def test_a_number_means_a_decision_of_the_same_folder() -> None:
    """Two folders count on their own, and records in folders of their own count together."""
    drafts_ = [
        _draft("a/0001-x.md", number="1"),
        _draft("a/0002-y.md", (SUPERSEDES, "ADR-1"), number="2"),
        _draft("b/0001-z/README.md", number="1"),
        _draft("b/0002-z/README.md", (SUPERSEDES, "ADR-1"), (SUPERSEDES, "../0001-z/"), number="2"),
    ]
    assert resolve_links(drafts_).heirs == {
        "a/0001-x.md": ("a/0002-y.md",),
        "b/0001-z/README.md": ("b/0002-z/README.md",),
    }


@pytest.mark.parametrize("says", ["old", "new", "both"])
def test_either_side_may_say_who_replaced_whom(says: str) -> None:
    """One statement of supersession is enough, and two are one heir."""
    old = [(SUPERSEDED_BY, "b.md")] if says != "new" else []
    new = [(SUPERSEDES, "a.md")] if says != "old" else []
    links = resolve_links([_draft("a.md", *old), _draft("b.md", *new)])
    assert links.heirs == {"a.md": ("b.md",)}
    assert links.findings == ()


@pytest.mark.parametrize(
    ("links", "kept"),
    [
        ({"a": "a"}, {}),
        ({"a": "b", "b": "a"}, {}),
        ({"a": "b", "b": "c", "c": "a", "d": "a"}, {"d.md": ("a.md",)}),
    ],
)
def test_circles_are_findings(links: dict[str, str], kept: dict[str, tuple[str, ...]]) -> None:
    """Decisions that replace each other in a circle are told and get no heirs; others do."""
    drafts_ = [_draft(f"{old}.md", (SUPERSEDED_BY, f"{new}.md")) for old, new in links.items()]
    found = resolve_links(drafts_)
    assert found.heirs == kept
    assert {each.code for each in found.findings} == {"supersede-cycle"}
    assert len(found.findings) == len(links) - len(kept)


@pytest.mark.parametrize(
    ("status", "says", "code"),
    [
        (AdrStatus.REJECTED, "old", "rejected-heir"),
        (AdrStatus.REJECTED, "new", "rejected-heir"),
        (AdrStatus.PROPOSED, "new", "heir-not-in-force"),
        (AdrStatus.PROPOSED, "old", None),
    ],
)
def test_what_is_not_in_force_replaces_nothing(
    status: AdrStatus, says: str, code: str | None
) -> None:
    """A proposal that would supersede has not, unless the old record itself says so."""
    old = [(SUPERSEDED_BY, "b.md")] if says == "old" else []
    new = [(SUPERSEDES, "a.md")] if says == "new" else []
    links = resolve_links([_draft("a.md", *old), _draft("b.md", *new, status=status)])
    assert [each.code for each in links.findings] == ([code] if code else [])
    assert links.heirs == ({} if code else {"a.md": ("b.md",)})


@given(
    st.lists(
        st.tuples(st.integers(0, 6), st.sampled_from(AdrLinkKind), st.integers(0, 7)), max_size=25
    )
)
def test_heirs_never_lead_back(stated: list[tuple[int, AdrLinkKind, int]]) -> None:
    """Whatever is stated, each link is resolved or not, and following heirs comes to an end."""
    drafts_ = [
        _draft(f"{n}.md", *[(kind, f"{to}.md") for at, kind, to in stated if at == n])
        for n in range(7)
    ]
    links = resolve_links(drafts_)
    paths = {draft.path for draft in drafts_}
    assert all({edge.source, edge.target} <= paths for edge in links.edges)
    assert all(each.link.target == "7.md" for each in links.unresolved)
    for start in links.heirs:
        ends = [*links.heirs[start]]
        seen: set[str] = set()
        while ends:
            at = ends.pop()
            assert at != start
            if at not in seen:
                seen.add(at)
                ends += links.heirs.get(at, ())


def test_invented_folder(repository: Path) -> None:
    """In the invented records every stated link but the one to a lost file is found."""
    links = resolve_links(drafts(repository / "fixtures" / "adr").drafts)
    assert [each.link.target for each in links.unresolved] == ["20200101-lost.md"]
    assert links.heirs == {
        "log4brains/20210304-name-buoys-by-colour.md": (
            "log4brains/20220107-name-buoys-by-position.md",
        ),
        "madr/0005-use-grpc.md": ("madr/0007-use-mqtt.md",),
        "nygard/0002-ferry-timetable-in-csv.md": ("nygard/0003-ferry-timetable-in-sqlite.md",),
    }


def test_links_of_real_projects(data_dir: Path) -> None:
    """Across real projects nearly every stated link is found, and five supersessions hold."""
    stated = unresolved = heirs = 0
    for project in sorted((data_dir / "adr").iterdir()):
        links = resolve_links(drafts(project).drafts)
        lost = [each for each in links.unresolved if each.link.kind is not AdrLinkKind.MENTIONS]
        stated += sum(edge.kind is not AdrLinkKind.MENTIONS for edge in links.edges) + len(lost)
        unresolved += len(lost)
        heirs += len(links.heirs)
        assert links.findings == ()
    assert stated >= 30
    assert unresolved <= 1
    assert heirs == 5
