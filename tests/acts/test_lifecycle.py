"""Whatever is done to a store, in whatever order, it keeps its promises."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from memspec_py.acts.relate import LINKS
from memspec_py.errors import NotAllowed, NotFound, Refused, UsageError
from memspec_py.record.model import EdgeType, Kind, Record, State
from memspec_py.record.parse import parse_record
from memspec_py.store import layout
from memspec_py.testing import TempStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_POSITIVE = {"refines", "supports", "depends_on", "derived_from"}
_WORDS = ("otters", "voles", "herons", "storks", "adders", "newts", "larks", "wrens")
_TEXT = st.permutations(_WORDS).map(lambda words: " ".join(words[:4]))
_PICK = st.integers(0, 40)
_FEW = st.lists(_PICK, max_size=2)


class _How(NamedTuple):
    """The parts of a supersede that do not depend on the records."""

    reason: str
    override: bool
    force: bool
    promote: bool


_HOW = st.builds(
    _How,
    reason=st.sampled_from(["wrong", "better", "the same"]),
    override=st.sampled_from([True, True, False]),
    force=st.booleans(),
    promote=st.booleans(),
)


class Lifecycle(RuleBasedStateMachine):
    """A store that is changed by acts alone, and looked at as files after each."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.mkdtemp(prefix="memspec-")
        self.store = TempStore(Path(self._folder))
        self.ids: list[str] = []
        self.reasons: dict[str, str] = {}

    def teardown(self) -> None:
        """Take the folder away."""
        self.store.ms.close()
        shutil.rmtree(self._folder)

    @initialize(titles=st.lists(_TEXT, min_size=4, max_size=4))
    def begin(self, titles: list[str]) -> None:
        """Some records, so that there is something to choose from."""
        for number, title in enumerate(titles):
            self.remember(title, "human:ann" if number == 0 else "ada")
        self.observe("noon was quiet")
        self.ask("which of them", [1, 2, 3], closed=True)

    @rule(title=_TEXT, source=st.sampled_from(["ada", "human:ann"]))
    def remember(self, title: str, source: str) -> None:
        """A claim of either tier."""
        done = self._done(lambda: self.store.ms.remember("fact", title, source=source))
        self.ids += [done.id] if done else []

    @rule(title=_TEXT)
    def observe(self, title: str) -> None:
        """A note that does not expire."""
        done = self._done(lambda: self.store.ms.observe(title, ttl="never"))
        self.ids += [done.id] if done else []

    @rule(at=_PICK, others=_FEW, title=_TEXT, how=_HOW)
    def replace(self, at: int, others: list[int], title: str, how: _How) -> None:
        """A new record for one or several; of a note it makes a claim, or another note."""
        self._supersede(at, others, how, title=title, type="fact" if how.promote else None)

    @rule(at=_PICK, others=_FEW, how=_HOW)
    def merge(self, at: int, others: list[int], how: _How) -> None:
        """Some into one that stays; without any this is a retraction."""
        self._supersede(at, others, how)

    @rule(one=_PICK, other=_PICK, edge=st.sampled_from(LINKS))
    def relate(self, one: int, other: int, edge: str) -> None:
        """Any edge between any two."""
        ids = self._id(one), self._id(other)
        self._done(lambda: self.store.ms.relate(*ids, edge, override_operator=True))

    @rule(at=_PICK)
    def unrelate(self, at: int) -> None:
        """An edge that is there."""
        every = [
            (record.id, target, edge)
            for record in self._records().values()
            for edge in LINKS
            for target in record.edges(edge)
        ]
        for edge in every[at % len(every) :][:1] if every else []:
            self._done(lambda: self.store.ms.unrelate(*edge, override_operator=True))  # noqa: B023

    @rule(title=_TEXT, answers=_FEW, closed=st.booleans())
    def ask(self, title: str, answers: list[int], closed: bool) -> None:  # noqa: FBT001 - drawn
        """A question."""
        ids = [self._id(at) for at in answers]
        done = self._done(
            lambda: self.store.ms.ask(title, source="ada", answers=ids, closed=closed)
        )
        self.ids += [done.id] if done else []

    @rule(at=_PICK, add=_FEW, wish=st.sampled_from(["close", "open", "resolve", "none"]))
    def go_on(self, at: int, add: list[int], wish: str) -> None:
        """Add answers to a question, close, open or resolve it."""
        wishes: dict[str, Any] = {} if wish == "none" else {wish: True}
        asked = [one.id for one in self._records().values() if one.kind is Kind.QUESTION]
        ids = [] if wish == "resolve" else [self._id(one) for one in add]
        id_ = asked[at % len(asked)]
        self._done(lambda: self.store.ms.question(id_, add=ids, **wishes))

    def _supersede(self, at: int, others: list[int], how: _How, **new: Any) -> None:  # noqa: ANN401
        done = self._done(
            lambda: self.store.ms.supersede(
                self._id(at),
                reason=how.reason,
                merge_from=[self._id(other) for other in others],
                override_operator=how.override,
                force=how.force,
                **new,
            )
        )
        if done:
            self.reasons |= dict.fromkeys(done.superseded_ids, how.reason)
            self.ids += [done.survivor_id] if done.act == "replaced" else []

    @invariant()
    def every_superseded_record_names_an_heir_or_a_reason(self) -> None:
        """And the reason is the one that was given."""
        for record in self._records().values():
            if record.state is State.SUPERSEDED:
                assert record.supersede_reason == self.reasons[record.id]
        assert {
            id_ for id_, one in self._records().items() if one.state is State.SUPERSEDED
        } == self.reasons.keys()

    @invariant()
    def each_record_is_there_once_and_in_its_place(self) -> None:
        """Nothing is lost, doubled or misplaced, and the doctor agrees."""
        records = self._records()
        assert sorted(records) == sorted(self.ids)
        assert [str(one) for one in self.store.ms.doctor().findings] == []

    @invariant()
    def superseding_runs_both_ways_and_in_no_circle(self) -> None:
        """What an heir supersedes names the heir; following heirs comes to an end."""
        records = self._records()
        for record in records.values():
            assert len(set(record.supersedes)) == len(record.supersedes)
            for old in record.supersedes:
                assert records[old].superseded_by == (record.id,)
                assert records[old].state is State.SUPERSEDED
                if record.state is State.ACTIVE:  # one that is gone says why it is gone itself
                    assert str(records[old].supersede_reason) in str(record.supersede_reason)
            for heir in record.superseded_by:
                assert record.id in records[heir].supersedes
            assert _ends(records, record.id)

    @invariant()
    def every_edge_is_read_from_both_ends_and_contradicts_none(self) -> None:
        """`get` of either record tells of it."""
        records = self._records()
        for record in records.values():
            between: dict[str, set[str]] = {}
            for edge in EdgeType:
                assert len(set(record.edges(edge))) == len(record.edges(edge))
                for target in record.edges(edge):
                    assert target != record.id
                    linked = self.store.ms.get(target).linked_from[edge]
                    assert record.id in [one.id for one in linked]
                    between.setdefault(target, set()).add(edge.value)
            if record.state is State.ACTIVE:
                _consistent(record, between, records)
            for answer in record.answers:
                asked = self.store.ms.get(answer).linked_from["answers"]
                assert record.id in [one.id for one in asked]

    @invariant()
    def a_resolved_question_names_what_answers_it(self) -> None:
        """Its survivor was reached from an answer, and an open one has none."""
        records = self._records()
        for record in records.values():
            if record.state is State.RESOLVED:
                assert record.closed
                assert any(record.resolved_by in _chain(records, one) for one in record.answers)
            elif record.state is State.OPEN:
                assert record.resolved_by is None

    def _id(self, at: int) -> str:
        """An id; mostly of a record in use."""
        live = [one.id for one in self._records().values() if one.state is State.ACTIVE]
        some = sorted(live) if live and at % 8 else self.ids
        return some[at % len(some)]

    def _done(self, act: Callable[[], Any]) -> Any:  # noqa: ANN401 - any reply
        """The reply of an act; one that is refused leaves the files as they were."""
        before = self._files()
        with suppress(Refused, UsageError, NotAllowed, NotFound):
            return act()
        assert self._files() == before
        return None

    def _files(self) -> dict[str, bytes]:
        return {
            str(path.relative_to(self.store.root)): path.read_bytes()
            for folder in layout.RECORD_FOLDERS
            for path in (self.store.root / folder).rglob("*.md")
        }

    def _records(self) -> dict[str, Record]:
        limits = self.store.ms._ws.settings.limits  # noqa: SLF001 - the files, past the API
        found = [parse_record(data, limits) for data in self._files().values()]
        assert len({record.id for record in found}) == len(found)
        return {record.id: record for record in found}


def _chain(records: dict[str, Record], start: str) -> set[str]:
    """A record and what came after it."""
    seen, level = {start}, [start]
    while level:
        level = [heir for id_ in level for heir in records[id_].superseded_by if heir not in seen]
        seen.update(level)
    return seen


def _ends(records: dict[str, Record], start: str) -> bool:
    """Whether the heirs of a record come to an end without coming back to it."""
    level: Iterable[str] = records[start].superseded_by
    for _ in records:
        level = [heir for id_ in level for heir in records[id_].superseded_by]
        if not level:
            return True
    return False


def _consistent(record: Record, between: dict[str, set[str]], records: dict[str, Record]) -> None:
    """No two edges between a record and an active one say the opposite."""
    for target, edges in between.items():
        if records[target].state is not State.ACTIVE:
            continue
        back = {edge.value for edge in EdgeType if record.id in records[target].edges(edge)}
        every = edges | back
        assert "distinct_from" not in every or every == {"distinct_from"}
        assert "conflicts_with" not in every or not every & _POSITIVE


Lifecycle.TestCase.settings = settings(max_examples=6, stateful_step_count=20, deadline=None)
TestLifecycle = Lifecycle.TestCase
