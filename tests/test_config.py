from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memspec_py.config import DEFAULT_DECAY, SEARCHED_TYPES, Limits, Settings, settings_from
from memspec_py.errors import Invalid
from memspec_py.record.yamltext import read_mapping
from memspec_py.testing import TempStore, a_record

if TYPE_CHECKING:
    from pathlib import Path


def settings(text: str) -> Settings:
    """The settings of a config.yaml."""
    return settings_from(read_mapping(text))


def test_nothing_said_is_the_default() -> None:
    """An empty file and none at all mean the same."""
    assert settings("") == Settings()
    assert Settings().decay == DEFAULT_DECAY
    assert Settings().profile("default").types == SEARCHED_TYPES


def test_each_setting_changes_only_itself() -> None:
    """What is not named keeps its default."""
    found = settings(
        "decay: {fact: 30d, decision: never}\n"
        "profiles:\n  news: {types: [fact], ranking: {recency: 0.9}}\n  all: {}\n"
        "scopes: {web: [~/web, ~/site], one: ~/one}\n"
        "scopes_require: true\n"
        "limits: {tags: 3, record_bytes: 1000}\n"
    )
    assert found.findings == ()
    assert found.decay == {**DEFAULT_DECAY, "fact": "30d", "decision": "never"}
    assert found.profile("news") == (("fact",), 0.9)
    assert found.profile("all") == Settings().profile("default")
    assert found.scopes == {"web": ("~/web", "~/site"), "one": ("~/one",)}
    assert found.scopes_require
    assert found.limits == Limits()._replace(tags=3, record_bytes=1000)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("decay: soon", "decay"),
        ("decay: {fact: soon}", "decay.fact"),
        ("decay: {fact: 0d}", "decay.fact"),
        ("profiles: [a]", "profiles"),
        ("profiles: {news: x}", "profiles.news"),
        ("profiles: {news: {types: {a: b}}}", "profiles.news.types"),
        ("profiles: {news: {types: [fact, rumour]}}", "profiles.news.types"),
        ("profiles: {news: {ranking: {recency: 2}}}", "profiles.news.ranking.recency"),
        ("profiles: {news: {ranking: {recency: nan}}}", "profiles.news.ranking.recency"),
        ("profiles: {news: {ranking: {recency: [1]}}}", "profiles.news.ranking.recency"),
        ("scopes: [a]", "scopes"),
        ("scopes: {web: {a: b}}", "scopes.web"),
        ("scopes_require: yes", "scopes_require"),
        ("scopes_require: [true]", "scopes_require"),
        ("anchors: [a]", "anchors"),
        ("anchors: {repo_search_paths: {a: b}}", "anchors.repo_search_paths"),
        ("limits: {tags: many}", "limits.tags"),
        ("limits: {tags: 0}", "limits.tags"),
        ("limits: {tag: 3}", "limits.tag"),
    ],
)
def test_what_is_not_understood_is_a_finding_and_the_default_holds(text: str, field: str) -> None:
    """One wrong setting costs only itself, and says where it is and what it should be."""
    found = settings(text)
    (finding,) = found.findings
    assert (finding.code, finding.field, finding.path) == ("bad-setting", field, "config.yaml")
    assert "should be" in finding.message
    assert found.decay == DEFAULT_DECAY
    assert found.limits == Limits()
    assert found.anchors.repo_search_paths == ("~/git",)
    assert not found.scopes_require
    assert found.profiles.get("news", Settings().profile("default")) == Settings().profile(
        "default"
    )


def test_search_paths_are_as_given_and_may_be_none() -> None:
    """A single path is a list of one, and an empty list looks nowhere."""
    assert settings("anchors: {repo_search_paths: ~/code}").anchors.repo_search_paths == ("~/code",)
    both = settings('anchors: {repo_search_paths: [/srv, "~"]}')
    assert both.anchors.repo_search_paths == ("/srv", "~")
    assert settings("anchors: {repo_search_paths: []}").anchors.repo_search_paths == ()


def test_an_unknown_profile_names_the_known_ones() -> None:
    """A misspelt profile is not the default one."""
    with pytest.raises(Invalid) as raised:
        settings("profiles: {news: {}}").profile("new")
    assert raised.value.hint == "known profiles: default, news"


@pytest.mark.parametrize(
    "text", ["a: [", "- a", "a: 1\na: 2", "a: &x 1", "\0", b"\xff", "!!python/object:x {}"]
)
def test_settings_that_cannot_be_read_let_reading_go_on(tmp_path: Path, text: str | bytes) -> None:
    """Answers come with a warning; nothing is written until the file is mended."""
    store = TempStore(tmp_path)
    store.put(a_record(1, body="harbour"))
    store.write("config.yaml", text)
    ms = store.again()
    reply = ms.search("harbour")
    assert reply.count == 1
    assert "config.yaml" in reply.circumstances.warnings[0]
    with pytest.raises(Invalid, match="config"):
        ms.observe("x")


def test_settings_are_read_again_when_they_change(tmp_path: Path) -> None:
    """A kept parsed form never outlives the text it was made from."""
    store = TempStore(tmp_path)
    for span, due in (("{fact: 1d}", "2026-01-02"), ("{fact: 2d}", "2026-01-03")):
        store.write("config.yaml", f"decay: {span} # comment\n")
        for _ in range(2):
            done = store.again().remember("fact", "x", source="ada", force=True)
            assert done.check_by.startswith(due)
