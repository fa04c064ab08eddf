"""Records as ``frontmatter.Post`` objects, for scripts that work with python-frontmatter.

Only values cross over. That library does not print our files: it sorts keys, strips the body and
turns line ends, and it reads dates and numbers out of text.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING

from memspec_py.clock import instant
from memspec_py.config import Limits
from memspec_py.errors import Invalid
from memspec_py.record.frontmatter import Unreadable, compose
from memspec_py.record.parse import join_body, parse_record, to_mapping

if TYPE_CHECKING:
    from frontmatter import Post

    from memspec_py.record.model import Plain, Record


def to_post(record: Record) -> Post:
    """The record's front matter as metadata, its heading and body as content."""
    from frontmatter import Post

    post = Post(join_body(record.title, record.body))
    post.metadata = dict(to_mapping(record))
    return post


def from_post(post: Post, limits: Limits | None = None) -> Record:
    """The record a post describes; raises ``Invalid`` with everything that is wrong with it.

    What YAML guessed is turned back into text: a date or time into ISO 8601, true into ``true``.
    """
    mapping = {str(key): _plain(value) for key, value in post.metadata.items()}
    text = compose(mapping, post.content.rstrip("\n") + "\n")
    try:
        return parse_record(text.encode(), limits or Limits())
    except Unreadable as problem:
        told = "; ".join(finding.message for finding in problem.findings)
        raise Invalid(f"this post is no valid record: {told}", findings=problem.findings) from None


def _plain(value: object) -> Plain:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return instant(value) if value.tzinfo else value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return str(value)
