from __future__ import annotations

from dataclasses import replace

import frontmatter
import pytest

from memspec_py.errors import Invalid
from memspec_py.record.model import Anchor, State
from memspec_py.record.post import from_post, to_post
from memspec_py.testing import a_record, an_id


def test_a_record_survives_the_way_there_and_back() -> None:
    """Whatever a record holds comes back from a post as it was."""
    record = a_record(
        body="One.\n\nTwo.",
        tags=("a", "no"),
        pinned=True,
        anchors=(Anchor(file="src/x.py", sha="12345678"),),
        supersedes=(an_id(2),),
        ext={"n": "1.10"},
    )
    assert from_post(to_post(record)) == record


def test_what_yaml_guessed_becomes_text_again() -> None:
    """A post read by python-frontmatter has dates and booleans; the record has text."""
    text = (
        f"---\nid: {an_id(1)}\nkind: claim\ntype: fact\ncreated: 2026-01-01\n"
        "source: me\npinned: true\next: {on: 12}\n---\n# Title\n"
    )
    record = from_post(frontmatter.loads(text))
    assert record.created == "2026-01-01T00:00:00.000Z"
    assert record.pinned
    assert record.state is State.ACTIVE


def test_a_post_that_is_no_record_is_refused_with_everything_wrong() -> None:
    """All findings come at once."""
    post = to_post(a_record())
    post.metadata = {"type": "rumour"}
    with pytest.raises(Invalid) as caught:
        from_post(post)
    assert {finding.field for finding in caught.value.findings} >= {"id", "source", "created"}


def test_a_changed_post_is_a_changed_record() -> None:
    """Metadata and content can be edited as the library's users do."""
    record = a_record()
    post = to_post(record)
    post["tags"] = ["new"]
    post.content += "\nMore."
    assert from_post(post) == replace(record, tags=("new",), body="More.")
