from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from memspec_py.clock import FixedClock, instant, moment_of
from memspec_py.record.model import Kind, Type, Witness
from memspec_py.testing import TempStore, a_record
from memspec_py.views.context.worth import best_first, worth_of

if TYPE_CHECKING:
    from memspec_py.record.model import Record

NOW = "2026-06-01T00:00:00.000Z"
_LABELS: tuple[dict[str, Any], ...] = (
    {"type": Type.FACT},
    {"type": Type.DECISION},
    {"type": Type.PROCEDURE},
    {"kind": Kind.OBSERVATION},
)


def aged(days: float) -> str:
    """The instant so many days ago."""
    return instant(moment_of(NOW) - timedelta(days=days))


@st.composite
def stores_of_records(draw: st.DrawFn) -> list[Record]:
    """Some records of all types, ages and witnesses."""
    days = st.floats(0, 2000)
    return [
        a_record(
            number,
            created=aged(draw(days)),
            verified_with=draw(st.sampled_from(Witness)),
            **draw(st.sampled_from(_LABELS)),
        )
        for number in range(1, draw(st.integers(2, 12)))
    ]


@settings(max_examples=25)
@given(stores_of_records())
def test_sql_orders_by_worth_as_python_does(records: list[Record]) -> None:
    """So the best few of ten thousand are the best."""
    with TemporaryDirectory() as folder:
        store = TempStore(Path(folder), FixedClock(NOW))
        for record in records:
            store.put(record)
        with store.ms as ms:
            hits = {hit.id: hit for hit in ms.list(limit=100).results}
            rows = ms.database().execute(
                f"select r.id from records r order by {best_first()}", {"now": NOW}
            )
            ids = [id_ for (id_,) in rows.fetchall()]
        worths = [worth_of(hits[id_], 0, moment_of(NOW)).total for id_ in ids]
    assert all(earlier >= later * (1 - 1e-9) for earlier, later in pairwise(worths))


def hit_with(store: TempStore, **changes: Any) -> Any:  # noqa: ANN401 - any field of a hit
    """The hit of a plain fact, changed."""
    store.put(a_record())
    return store.ms.list().results[0]._replace(**changes)


def test_each_part_counts(tmp_path: Path) -> None:
    """Type, witness, use, freshness and soundness are factors of one number."""
    now = moment_of(NOW)
    plain = hit_with(TempStore(tmp_path), created=NOW)
    one = worth_of(plain, 0, now)
    assert one.total == one.type * one.freshness * one.use * one.witness * one.soundness
    assert worth_of(plain._replace(type="decision"), 0, now).total > one.total
    assert worth_of(plain._replace(verified_with="operator"), 0, now).total > one.total
    assert worth_of(plain, 3, now).total > worth_of(plain, 1, now).total > one.total
    for worse in ({"stale": True}, {"drifted": True}, {"created": aged(45)}):
        assert worth_of(plain._replace(**worse), 0, now).total < one.total


def test_an_anchor_nobody_could_check_is_no_more_than_evidence(tmp_path: Path) -> None:
    """Unchecked is never taken for fine."""
    now = moment_of(NOW)
    hit = hit_with(TempStore(tmp_path), verified_with="anchor")
    checked, unchecked = (
        worth_of(hit, 0, now),
        worth_of(hit._replace(anchor_unchecked=True), 0, now),
    )
    evidence = worth_of(hit._replace(verified_with="evidence"), 0, now)
    assert checked.witness > unchecked.witness == evidence.witness


def test_freshness_halves_by_type(tmp_path: Path) -> None:
    """From when a record was last verified, else from when it was made."""
    now = moment_of(NOW)
    hit = hit_with(TempStore(tmp_path), created=aged(500))
    for label, days in (("decision", 180), ("procedure", 90), ("fact", 45), ("observation", 7)):
        verified = hit._replace(type=label, last_verified=aged(days))
        assert abs(worth_of(verified, 0, now).freshness - 0.5) < 1e-9
