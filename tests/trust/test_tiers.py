"""The whole table of the operator tier, walked: each act, channel, actor and override."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memspec_py.api import Memspec
from memspec_py.config import Limits
from memspec_py.errors import NotAllowed
from memspec_py.record.model import Kind, Record, SourceKind, State, Witness
from memspec_py.record.parse import parse_record
from memspec_py.record.rules import inferred_source_kind
from memspec_py.testing import TempStore, a_record, an_id
from memspec_py.trust.channel import Channel
from memspec_py.trust.source import tier_of
from memspec_py.trust.tiers import TABLE, Act, Verdict, markdown, permits, verdict

if TYPE_CHECKING:
    from pathlib import Path

    from memspec_py.acts.edit import Edited
    from memspec_py.acts.sweep import Candidate

OPERATOR, AGENT = "human:ann", "claude-code"
FREE = an_id(9)  # an agent's record that may be named, merged and listed by everybody
_PAST = "2025-12-01T00:00:00.000Z"


@dataclass(frozen=True)
class Stage:
    """A store with the same records of one tier: a claim, one linked to another, questions."""

    store: TempStore
    channel: Channel
    source: str
    override: bool = False
    claim: str = an_id(1)
    linked: str = an_id(2)
    question: str = an_id(3)
    ripe: str = an_id(4)
    resolved: str = an_id(5)

    @property
    def ms(self) -> Memspec:
        """The store, opened anew by this channel."""
        store = self.store
        return Memspec.open(
            store.project, where=store.where, clock=store.clock, channel=self.channel
        )

    @property
    def by(self) -> dict[str, Any]:
        """Who acts, and whether over the operator's head."""
        return {"source": self.source, "override_operator": self.override}

    def path(self, id_: str) -> Path:
        """Where a record's file is now."""
        (path,) = self.store.root.rglob(f"{id_}.md")
        return path

    def record(self, id_: str) -> Record:
        """A record as its file has it."""
        return parse_record(self.path(id_).read_bytes(), Limits())


class Told(NotAllowed):
    """A refusal that the reply tells, of an act that goes on with other records."""


Deed: TypeAlias = Callable[[Stage], object]


def staged(
    folder: Path, tier: SourceKind, channel: Channel, source: str, *, override: bool = False
) -> Stage:
    """A store whose records are all of one tier but the free one, opened by somebody."""
    store = TempStore(folder)
    (store.project / "auth.py").write_text("def login():\n    return 1\n", encoding="utf-8")
    theirs: dict[str, Any] = {
        "source": "human:bob" if tier is SourceKind.OPERATOR else "ada",
        "source_kind": tier,
        "verified_with": Witness.ASSERTION,
    }
    store.put(a_record(1, title="Auth uses JWT", check_by=_PAST, **theirs))
    store.put(a_record(2, title="Keys rotate weekly", refines=(FREE,), **theirs))
    store.put(a_record(3, kind=Kind.QUESTION, title="Which database?", **theirs))
    ripe: dict[str, Any] = {"kind": Kind.QUESTION, "closed": True, "answers": (FREE,)}
    store.put(a_record(4, title="Which cache?", **ripe, **theirs))
    done: dict[str, Any] = {"state": State.RESOLVED, "resolved_by": FREE}
    store.put(a_record(5, title="Which queue?", **ripe, **done, **theirs))
    store.put(a_record(9, title="Sessions live in Redis", source="ada"))
    return Stage(store, channel, source, override)


def _edited(stage: Stage, id_: str, old: str, new: str) -> Edited:
    copy = stage.ms.edit_copy(id_)
    assert old in copy.text
    return stage.ms.replace_text(copy, copy.text.replace(old, new, 1), **stage.by)


def _mended(stage: Stage) -> object:
    """An edit of a file that is no record as it is."""
    path = stage.path(stage.claim)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("created: ", "created: x", 1), encoding="utf-8")
    try:
        copy = stage.ms.edit_copy(stage.claim)
        return stage.ms.replace_text(copy, text + "\nMended.\n", **stage.by)
    except NotAllowed:
        path.write_text(text, encoding="utf-8")
        raise


def _reanchored(stage: Stage) -> object:
    return stage.ms.verify(stage.claim, reanchor=True, evidence="read it", **stage.by)


def _swept(stage: Stage, decide: Callable[[Candidate], str] | None = None) -> object:
    answers = {stage.claim: "y"} if decide is None else decide
    done = stage.ms.sweep(answers, force=True, **stage.by)
    (one,) = done.records
    if one.outcome != "retired":
        raise Told(str(one.why))
    return done


def _backfilled(stage: Stage) -> object:
    done = stage.ms.backfill(
        lambda one: replace(one, tags=("auth",)) if one.id == stage.claim else None,
        name="tags",
        apply=True,
        include_operator=stage.override,
    )
    if not done.changed:
        raise Told(f"{done.skipped_operator} skipped")
    return done


def _adopted(stage: Stage, *, pinned: bool = False) -> object:
    tier = stage.record(stage.claim).source_kind
    one = a_record(20, title="Queues are durable", source_kind=tier, pinned=pinned)
    done = stage.ms.adopt([one], apply=True)
    if done.refused:
        raise Told(str(done.records[0].reason))
    return done


DEEDS: dict[Act, dict[str, Deed]] = {
    Act.PIN_NEW: {
        "remember": lambda on: on.ms.remember(
            "fact", "Queues are durable", source=on.source, pinned=True
        ),
    },
    Act.PIN: {
        "supersede": lambda on: on.ms.supersede(
            FREE, reason="x", title="Sessions live in Valkey", pinned=True, **on.by
        ),
        "edit": lambda on: _edited(on, FREE, "tags: []", "tags: []\npinned: true"),
    },
    Act.REPLACE: {
        "title": lambda on: on.ms.supersede(on.claim, reason="x", title="Auth is mTLS", **on.by),
        "with others": lambda on: on.ms.supersede(
            on.claim, reason="x", body="mTLS", merge_from=[FREE], **on.by
        ),
    },
    Act.RETRACT: {"supersede": lambda on: on.ms.supersede(on.claim, reason="x", **on.by)},
    Act.MERGE_FROM: {
        "merge": lambda on: on.ms.supersede(FREE, reason="x", merge_from=[on.claim], **on.by),
        "replace": lambda on: on.ms.supersede(
            FREE, reason="x", body="mTLS", merge_from=[on.claim], **on.by
        ),
    },
    Act.MERGE_INTO: {
        "merge": lambda on: on.ms.supersede(on.claim, reason="x", merge_from=[FREE], **on.by)
    },
    Act.RELATE: {
        "relate": lambda on: on.ms.relate(on.claim, FREE, "supports", **on.by),
        "unrelate": lambda on: on.ms.unrelate(on.linked, FREE, "refines", **on.by),
    },
    Act.RELATE_TO: {"relate": lambda on: on.ms.relate(FREE, on.claim, "supports", **on.by)},
    Act.VERIFY: {"verify": lambda on: on.ms.verify(on.claim, evidence="read it", **on.by)},
    Act.ANCHOR: {
        "anchor": lambda on: on.ms.anchor(on.claim, ["auth.py"], **on.by),
        "verify --reanchor": _reanchored,
    },
    Act.QUESTION: {
        "add": lambda on: on.ms.question(on.question, add=[FREE], **on.by),
        "close": lambda on: on.ms.question(on.question, close=True, **on.by),
        "resolve": lambda on: on.ms.question(on.ripe, resolve=True, **on.by),
        "open": lambda on: on.ms.question(on.resolved, open=True, **on.by),
    },
    Act.ANSWER_NEW: {
        "remember": lambda on: on.ms.remember(
            "fact", "Queues are durable", source=on.source, answers_question=on.question
        ),
    },
    Act.EDIT: {
        "text": lambda on: _edited(on, on.claim, "# Auth uses JWT", "# Auth uses mTLS"),
        "broken file": _mended,
    },
    Act.SWEEP: {
        "by id": _swept,
        "asked": lambda on: _swept(on, lambda one: "y" if one.id == on.claim else "n"),
    },
    Act.BACKFILL: {"backfill": _backfilled},
    Act.ADOPT: {"adopt": _adopted},
    Act.OUTCOME: {"outcome": lambda on: on.ms.outcome(on.claim, "helped", source=on.source)},
}
CREATING: dict[str, Deed] = {
    "remember": lambda on: on.ms.remember("fact", "Queues are durable", source=on.source).id,
    "observe": lambda on: on.ms.observe("CI is red", source=on.source).id,
    "ask": lambda on: on.ms.ask("Which queue?", source=on.source).id,
    "supersede": lambda on: (
        on.ms.supersede(
            FREE, reason="x", title="Sessions live in Valkey", source=on.source
        ).survivor_id
    ),
}
_WALK = [
    pytest.param(act, deed, channel, source, override, id=f"{act}-{name}-{channel}-{who}{forced}")
    for act, deeds in DEEDS.items()
    for name, deed in deeds.items()
    for channel in Channel
    for who, source in (("operator", OPERATOR), ("agent", AGENT))
    for forced, override in (("", False), ("-override", True))
]


def snapshot(store: TempStore) -> dict[str, bytes]:
    """Every file of the store but what is of this machine."""
    return {
        path.relative_to(store.root).as_posix(): path.read_bytes()
        for path in sorted(store.root.rglob("*"))
        if path.is_file() and "local" not in path.relative_to(store.root).parts
    }


def refusal(deed: Deed, stage: Stage) -> NotAllowed | None:
    """Why an act was not done; None when it was."""
    try:
        deed(stage)
    except NotAllowed as problem:
        return problem
    return None


def test_every_act_of_the_table_is_walked() -> None:
    """A new row needs deeds, and no act stands twice."""
    assert {row.act for row in TABLE} == set(Act) == {*DEEDS, Act.CREATE}
    assert len(TABLE) == len(Act)


def test_what_the_table_must_say() -> None:
    """Over mcp nothing of the operator's changes; an agent changes nothing without the override."""
    free = {Act.RELATE_TO, Act.OUTCOME}
    rows = [row for row in TABLE if row.act not in free]
    assert {row.mcp for row in rows} == {Verdict.REFUSED, Verdict.AGENT_TIER}
    assert [row.act for row in rows if row.mcp is Verdict.AGENT_TIER] == [Act.CREATE]
    assert Verdict.ALLOWED not in {row.agent for row in rows}
    guarded = {row.act for row in rows if row.operator is Verdict.OVERRIDE}
    assert {Act.REPLACE, Act.RETRACT, Act.MERGE_FROM, Act.MERGE_INTO, Act.SWEEP} <= guarded


@pytest.mark.parametrize(("act", "deed", "channel", "source", "override"), _WALK)
def test_an_operators_record_goes_by_the_table(
    tmp_path: Path,
    act: Act,
    deed: Deed,
    channel: Channel,
    source: str,
    override: bool,  # noqa: FBT001 - a parameter of the walk
) -> None:
    """What the table refuses changes no byte; an override that was needed leaves its trace."""
    found = verdict(act, channel, by_operator=source == OPERATOR)
    if act is Act.BACKFILL:  # it has no source: whoever runs it includes the operator's or not
        found = verdict(act, channel, by_operator=False)
    stage = staged(tmp_path, SourceKind.OPERATOR, channel, source, override=override)
    before = snapshot(stage.store)
    refused = refusal(deed, stage)
    assert (refused is None) is permits(found, override=override)
    if refused is not None and not isinstance(refused, Told):
        assert (refused.code, refused.exit_code) == ("not-allowed", 8)
        said = "command line" if channel is Channel.MCP else "--"
        assert said in str(refused.hint)
    after = snapshot(stage.store)
    assert (after == before) is not permits(found, override=override)
    traces = [data.decode() for data in after.values() if b"override_operator" in data]
    if act is not Act.BACKFILL:  # which leaves a journal that has every byte of before
        assert bool(traces) is (found is Verdict.OVERRIDE and override)
        assert all(source in text for text in traces)


@pytest.mark.parametrize(
    ("deed", "channel", "source"),
    [
        pytest.param(deed, channel, source, id=one.id)
        for one in _WALK
        for act, deed, channel, source, override in [one.values]
        if act not in (Act.PIN, Act.PIN_NEW) and not override
    ],
)
def test_an_agents_record_is_free(
    tmp_path: Path, deed: Deed, channel: Channel, source: str
) -> None:
    """Every act on it goes through on every channel, with nothing to override."""
    stage = staged(tmp_path, SourceKind.AGENT, channel, source)
    before = snapshot(stage.store)
    assert refusal(deed, stage) is None
    after = snapshot(stage.store)
    assert after != before
    assert not any(b"override_operator" in data for data in after.values())


@pytest.mark.parametrize("deed", CREATING.values(), ids=CREATING)
@pytest.mark.parametrize("channel", Channel)
@pytest.mark.parametrize("source", [OPERATOR, "USER", " Siim ", AGENT])
def test_who_writes_at_which_tier(
    tmp_path: Path, channel: Channel, source: str, deed: Deed
) -> None:
    """As the row of create says; the text of the source is kept, whatever the tier."""
    stage = staged(tmp_path, SourceKind.AGENT, channel, source)
    stage.store.write("config.yaml", "operators: [siim, 'Ada L']\n")
    made = stage.record(str(deed(stage)))
    found = verdict(Act.CREATE, channel, by_operator=source != AGENT)
    assert found in (Verdict.ALLOWED, Verdict.AGENT_TIER)
    theirs = found is Verdict.ALLOWED
    assert made.source == source.strip()
    assert made.source_kind is (SourceKind.OPERATOR if theirs else SourceKind.AGENT)
    if made.kind is Kind.CLAIM:
        assert made.verified_with is (Witness.OPERATOR if theirs else Witness.ASSERTION)
        folder = stage.path(made.id).parent.relative_to(stage.store.root).as_posix()
        assert folder == ("memory/operator/facts" if theirs else "memory/facts")


def test_nobody_verifies_as_the_operator_over_mcp(tmp_path: Path) -> None:
    """The witness of what an operator-looking source saw there is evidence."""
    stage = staged(tmp_path, SourceKind.AGENT, Channel.MCP, OPERATOR)
    assert stage.ms.verify(FREE, evidence="read it", source=OPERATOR).verified_with == "evidence"
    (tmp_path / "b").mkdir()
    stage = staged(tmp_path / "b", SourceKind.AGENT, Channel.CLI, OPERATOR)
    assert stage.ms.verify(FREE, evidence="read it", source=OPERATOR).verified_with == "operator"


def test_a_kept_pin_is_no_new_one(tmp_path: Path) -> None:
    """An agent that corrects a pinned record of its own keeps the pin, over mcp too."""
    for number, channel in enumerate(Channel):
        stage = staged(tmp_path / str(number), SourceKind.AGENT, channel, AGENT)
        stage.store.put(a_record(7, title="Ports are fixed", source="ada", pinned=True))
        heir = stage.ms.supersede(an_id(7), reason="x", title="Ports are drawn").survivor_id
        assert stage.record(str(heir)).pinned
        edit = _edited(stage, str(heir), "# Ports are drawn", "# Ports are drawn anew")
        assert edit.changed == ("title",)


def test_a_pin_in_a_batch_is_refused(tmp_path: Path) -> None:
    """Imported trust is trust nobody gave here."""
    stage = staged(tmp_path, SourceKind.AGENT, Channel.CLI, OPERATOR)
    before = snapshot(stage.store)
    with pytest.raises(Told, match="pin"):
        _adopted(stage, pinned=True)
    assert snapshot(stage.store) == before


def test_a_broken_file_stays_its_operators(tmp_path: Path) -> None:
    """Its folder says whose it was, so that an edit cannot take it over while it is broken."""
    stage = staged(tmp_path, SourceKind.OPERATOR, Channel.API, AGENT)
    path = stage.path(an_id(1))
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole.replace("created: ", "created: x", 1), encoding="utf-8")
    before = snapshot(stage.store)
    ours = whole.replace("source_kind: operator", "source_kind: agent")
    with pytest.raises(NotAllowed):
        stage.ms.replace_text(stage.ms.edit_copy(an_id(1)), ours, source=AGENT)
    assert snapshot(stage.store) == before


_NAMES = st.sampled_from(["human:ann", "HUMAN:Ann", "user", " User ", "siim", "SIIM ", "ada"])


@given(
    source=_NAMES | st.text(min_size=1, max_size=20),
    operators=st.lists(_NAMES | st.text(max_size=20), max_size=4),
    channel=st.sampled_from(Channel),
)
def test_a_tier_follows_from_name_channel_and_settings(
    source: str, operators: list[str], channel: Channel
) -> None:
    """Over mcp nobody is an operator; elsewhere `human:NAME`, `user` and the named ones are."""
    found = tier_of(source, channel, operators)
    named = source.strip().casefold() in {name.strip().casefold() for name in operators}
    by_name = inferred_source_kind(source)
    is_operator = channel is not Channel.MCP and (named or by_name is SourceKind.OPERATOR)
    assert (found is SourceKind.OPERATOR) is is_operator
    if not is_operator:
        lowered = SourceKind.AGENT if by_name is SourceKind.OPERATOR else by_name
        assert found is lowered


def test_the_table_in_markdown_has_a_line_for_each_row() -> None:
    """Below the head, in the order of the table, each with three verdicts."""
    head, rule, *rows = markdown()
    assert head.count("|") == rule.count("|") == 5
    assert len(rows) == len(TABLE)
    for line, row in zip(rows, TABLE, strict=True):
        assert line == f"| {row.what} | {row.operator} | {row.agent} | {row.mcp} |"
