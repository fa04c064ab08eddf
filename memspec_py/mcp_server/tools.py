"""The fourteen tools: what each is for, what it takes, and which act or view it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from memspec_py.errors import UsageError
from memspec_py.mcp_server.params import Param, Shape, checked, input_schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memspec_py.api import Memspec

_CLAIMS = ("fact", "decision", "procedure")
_AT_WRITING = ("refines", "supports", "depends_on", "derived_from")
_EDGES = (*_AT_WRITING, "conflicts_with", "distinct_from")

# Said once, where an agent meets it first: every agent reads all of this in every session.
_ID = Param("id", required=True, to="record_id")
_SOURCE = Param("source")
_TAGS = Param("tags", shape=Shape.TEXTS)
_SCOPE = Param("scope")
_STORE = Param("store")
_ROOT = Param("anchor_root")
_CHECK_BY = Param("check_by")


class Tool(NamedTuple):
    """One tool: the method of ``Memspec`` that is called like its verb, and its arguments.

    ``reply`` is the verb that names its schema, if another. ``keeps`` says that it adds and never
    changes what is there; ``again`` that a second call with the same arguments changes nothing
    more.
    """

    verb: str
    about: str
    params: tuple[Param, ...]
    reads: bool = False
    keeps: bool = False
    again: bool = False
    reply: str = ""

    @property
    def name(self) -> str:
        """What clients call it."""
        return f"memspec_{self.verb}"

    @property
    def schema(self) -> str:
        """The name of the published schema of its reply."""
        return f"{self.reply or self.verb}-reply"

    @property
    def takes_source(self) -> bool:
        """Whether it says who acts."""
        return any(param.name == _SOURCE.name for param in self.params)

    def annotations(self) -> dict[str, bool]:
        """The hints of the protocol; of a tool that only reads, the others mean nothing."""
        if self.reads:
            return {"readOnlyHint": True, "openWorldHint": False}
        return {
            "readOnlyHint": False,
            "destructiveHint": not self.keeps,
            "idempotentHint": self.again,
            "openWorldHint": False,
        }

    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        return input_schema(self.params)

    def checked(self, sent: Mapping[str, object]) -> dict[str, Any]:
        """What was sent, under the names of the API. Raises ``UsageError``."""
        return checked(self.name, self.params, sent)

    def call(self, memspec: Memspec, given: dict[str, Any]) -> object:
        """The reply to checked arguments. Raises ``MemspecError``."""
        if self.verb == "question":
            return _question(memspec, given)
        if self.verb == "remember":
            given["edges"] = {edge: given.pop(edge) for edge in _AT_WRITING if edge in given}
        reply: object = getattr(memspec, self.verb)(**given)
        return reply


TOOLS = (
    Tool(
        "search",
        "Find what the project knows. Use it before you answer or decide anything about the"
        " project. Any words, identifiers or paths; best first. Read `coverage`: none = nothing"
        " known, weak = do not infer from it, ok = answered.",
        (
            Param("query", required=True),
            Param("type", "Only these.", words=(*_CLAIMS, "observation", "question")),
            Param("limit", "Default 10.", Shape.NUMBER, most=50),
            Param("full", "Whole bodies, not previews.", Shape.FLAG),
            Param("scope", "Also records of this scope."),
            Param("as_of", "Valid in the world at this ISO 8601 time."),
            Param("expand_edges", "Add linked records.", Shape.FLAG, to="expand"),
            Param("edge_types", "Such as refines, conflicts_with, supersedes.", Shape.TEXTS),
            Param("expand_depth", shape=Shape.NUMBER, most=3, to="depth"),
            Param("include_superseded", "Along links.", Shape.FLAG),
        ),
        reads=True,
    ),
    Tool(
        "get",
        "One record whole, with drift, history and what links to it. Read it before you rely on a"
        " hit.",
        (_ID._replace(about="Its id, or a unique start of it."),),
        reads=True,
    ),
    Tool(
        "remember",
        "Write a claim that later sessions need: a fact, a decision with its why, a procedure."
        " Search first; to correct a record use memspec_supersede. Refused if the store says it"
        " already, or took it back.",
        (
            Param("type", required=True, words=_CLAIMS),
            Param("title", "The claim in one sentence.", required=True),
            Param("body", "Why, how, details (Markdown)."),
            Param("source", "Who claims it; default: this client."),
            Param(
                "anchors",
                "Code it rests on: PATH, PATH#Symbol, PATH:10-40 or PATH::NAME=value. Anchor every"
                " claim about code.",
                Shape.TEXTS,
            ),
            _ROOT._replace(about="Folder that paths start from."),
            _TAGS,
            _SCOPE,
            Param("evidence", "Proof: files or URLs.", Shape.TEXTS),
            _CHECK_BY._replace(about="When to look again: ISO 8601 or never."),
            Param("valid_from"),
            Param("valid_to"),
            *(Param(edge, shape=Shape.TEXTS) for edge in _AT_WRITING),
            Param("requires_human", "Steps only a person may do.", Shape.TEXTS),
            Param("answers_question", "Its id."),
            Param("force", "Write although a record says or said it.", Shape.FLAG),
            Param("reason", "Why, with force."),
            _STORE._replace(about="A layer's name, if several can be written to."),
        ),
        keeps=True,
    ),
    Tool(
        "supersede",
        "Correct a record: with body, title or type a new record replaces it; with merge_from"
        " alone it stands for the others; with neither it is retracted. The old stays readable.",
        (
            _ID,
            Param("reason", "Why; kept in every record involved.", required=True),
            Param("body", "What holds now."),
            Param("title"),
            Param("type", words=_CLAIMS),
            Param("merge_from", "Ids it also stands for.", Shape.TEXTS),
            _SOURCE,
            Param("anchors", shape=Shape.TEXTS),
            _TAGS,
            _CHECK_BY,
        ),
    ),
    Tool(
        "relate",
        "Link two records; conflicts_with when they cannot both hold.",
        (
            Param("from", "Id that gets the link.", required=True, to="from_id"),
            Param("to", "Id it names.", required=True, to="to_id"),
            Param("type", required=True, words=_EDGES),
            _SOURCE,
        ),
        keeps=True,
        again=True,
    ),
    Tool(
        "unrelate",
        "Take a link away.",
        (
            Param("from", required=True, to="from_id"),
            Param("to", required=True, to="to_id"),
            Param("type", required=True),
            _SOURCE,
        ),
        reply="relate",
    ),
    Tool(
        "observe",
        "Note what you saw just now; it expires. For what should last use memspec_remember.",
        (
            Param("text", required=True),
            Param("ttl", "7d (default), 12h, 30m or never."),
            _SOURCE,
            _TAGS,
            _SCOPE,
            _STORE,
        ),
        keeps=True,
    ),
    Tool(
        "verify",
        "Say that a record still holds, after you looked. With drifted anchors nothing changes and"
        " status is needs_review: read the code, then reanchor or supersede.",
        (
            _ID,
            Param("evidence", "What you looked at; needed without anchors."),
            Param("reanchor", "It holds: take the code as it is now.", Shape.FLAG),
            _CHECK_BY,
            _SOURCE,
        ),
    ),
    Tool(
        "outcome",
        "Say what came of acting on a record; the record stays as it is.",
        (
            _ID,
            Param("outcome", required=True, words=("helped", "dead_end", "corrected")),
            Param("note"),
            _SOURCE,
        ),
        keeps=True,
    ),
    Tool(
        "question",
        "Ask what several records answer (title), or go on with a question (id). It is never"
        " resolved by itself.",
        (
            Param("title", "A new question."),
            Param("answers", "Ids, of a new one.", Shape.TEXTS),
            Param("closed", "Those are the only candidates.", Shape.FLAG),
            Param("body"),
            _TAGS,
            _SCOPE,
            _STORE,
            Param("id", "A question that is there."),
            Param("add", "More answers.", Shape.TEXTS),
            Param("close", shape=Shape.FLAG),
            Param("open", shape=Shape.FLAG),
            Param("resolve", "Confirm the one answer that is left.", Shape.FLAG),
            _SOURCE,
        ),
    ),
    Tool(
        "anchor",
        "Tie a record to the code it rests on, so that drift shows.",
        (
            _ID,
            Param(
                "files", "As anchors of memspec_remember.", Shape.TEXTS, required=True, to="paths"
            ),
            Param("replace", "Drop all other anchors.", Shape.FLAG),
            _ROOT,
            _SOURCE,
        ),
        again=True,
    ),
    Tool(
        "reconcile",
        "Which records rest on code that this checkout changed? Use it after you changed code,"
        " then verify or supersede them.",
        (Param("since_ref", "Only what changed since this git ref.", to="since"),),
        reads=True,
    ),
    Tool("status", "Counts, and what wants attention.", (), reads=True),
    Tool(
        "export",
        "Records and links as a graph.",
        (
            Param("format", required=True, words=("jsonl", "graphml", "dot")),
            Param("include_superseded", shape=Shape.FLAG),
            Param("types", shape=Shape.TEXTS, words=_CLAIMS),
        ),
        reads=True,
    ),
)
BY_NAME = {tool.name: tool for tool in TOOLS}

_OF_NEW = ("title", "answers", "closed", "body", "tags", "scope")
_OF_OLD = ("add", "close", "open", "resolve")


def _question(memspec: Memspec, given: dict[str, Any]) -> object:
    """A new question, or a change of one; which it is says ``id``."""
    id_ = given.pop("id", None)
    for name in _OF_NEW if id_ is not None else _OF_OLD:
        if given.get(name):
            whose = "a new question" if id_ is not None else "a question that is there (id)"
            raise UsageError(f"{name} is for {whose}", hint="give title or id, not both")
    if id_ is not None:
        of_old = {name: given[name] for name in (*_OF_OLD, "source") if name in given}
        return memspec.question(id_, **of_old)
    if "title" not in given:
        raise UsageError("memspec_question needs title or id", hint="title asks a new question")
    of_new = {name: given[name] for name in (*_OF_NEW, "source") if name in given}
    return memspec.ask(**of_new)
