"""The benchmarks themselves: what they read, what they compute, and that they run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from memspec_py.api import Memspec
from memspec_py.config import Limits
from memspec_py.record.parse import parse_record
from memspec_py.store.layout import RECORD_FOLDERS, STORE_NAME
from tests.bench.__main__ import main
from tests.bench.datasets import Dataset, Doc, Query, load, split_title
from tests.bench.retrieval import FtsOr, Ours, Quality, quality, recall, reciprocal_rank
from tests.bench.speed import (
    JUDGED,
    AnchorBench,
    Bench,
    Measure,
    SizeReport,
    ask,
    insert_rows,
    list_files,
    read_files,
)
from tests.bench.stores import make_store, queries, record_number

if TYPE_CHECKING:
    from pathlib import Path

_CRANFIELD = """\
.I 1
.T
wing lift .
.A
someone
.B
somewhere
.W
wing lift .
  an experiment
with wings .
.I 2
.T
.A
.B
.W
heat flows in a slab .  it is slow .
"""
_CRANFIELD_QUESTIONS = """\
.I 007
.W
how do wings
lift .
.I 009
.W
what of slabs .
"""
_TURNS = {
    "speaker_a": "Ann",
    "session_1_date_time": "1 May",
    "session_1": [
        {"speaker": "Ann", "dia_id": "D1:1", "text": "Hello! I bought a canoe."},
        {"speaker": "Bob", "dia_id": "D1:2", "text": "Nice.", "blip_caption": "a red canoe"},
    ],
}
_ASKED = [
    {"question": "What did Ann buy?", "evidence": ["D1:01; D9:9"], "category": 4},
    {"question": "What did Bob buy?", "evidence": ["D1:1"], "category": 5},
    {"question": "Nothing known", "evidence": [], "category": 1},
]

_PLANTS = Dataset(
    "plants",
    [
        Doc("oak", "Oak trees", "Acorns fall in autumn."),
        Doc("fern", "Ferns", "They grow in the shade of trees."),
        Doc("moss", "Moss", "Soft and green."),
    ],
    [Query("1", "Where do acorns fall from trees?", frozenset({"oak"}))],
)


def test_locomo_gives_a_document_a_turn_and_the_questions_that_name_one(tmp_path: Path) -> None:
    """Zeros in turn numbers, several turns in one text and unknown turns are all understood."""
    folder = tmp_path / "locomo"
    folder.mkdir()
    sample = {"sample_id": "x", "conversation": _TURNS, "qa": _ASKED}
    (folder / "locomo10.json").write_text(json.dumps([sample]), encoding="utf-8")

    (found,) = load("locomo", tmp_path)

    assert found.docs == [
        Doc("D1:1", "Ann: Hello!", "I bought a canoe."),
        Doc("D1:2", "Bob: Nice.", "[shows a red canoe]"),
    ]
    assert found.queries == [
        Query("0", "What did Ann buy?", frozenset({"D1:1"})),
        Query("1", "What did Bob buy?", frozenset({"D1:1"}), answerable=False),
    ]
    assert [query.id for query in found.answerable] == ["0"]


def test_cranfield_reads_no_title_twice_and_counts_its_questions(tmp_path: Path) -> None:
    """The text repeats the title, and judgements use the position of a question, not its number."""
    folder = tmp_path / "cranfield"
    folder.mkdir()
    (folder / "cran.all.1400").write_text(_CRANFIELD, encoding="utf-8")
    (folder / "cran.qry").write_text(_CRANFIELD_QUESTIONS, encoding="utf-8")
    (folder / "QRelsCorrectedforTRECeval").write_text("1 0 1 2\n1 0 2 5\n2 0 2 1\n", "utf-8")

    (found,) = load("cranfield", tmp_path)

    assert found.docs == [
        Doc("1", "wing lift .", "an experiment with wings ."),
        Doc("2", "heat flows in a slab .", "it is slow ."),
    ]
    assert found.queries == [
        Query("1", "how do wings lift .", frozenset({"1"})),
        Query("2", "what of slabs .", frozenset({"2"})),
    ]


def test_scifact_reads_abstracts_printed_as_arrays(tmp_path: Path) -> None:
    """Sentences quoted either way are joined; a claim that cites nothing known is left out."""
    folder = tmp_path / "scifact"
    folder.mkdir()
    (folder / "corpus_train.csv").write_text(
        'doc_id,title,abstract,structured\n5,Cells,"[\'It\'\'s one.\' ""It\'s two.""]",False\n',
        encoding="utf-8",
    )
    head = "id,claim,evidence_doc_id,evidence_label,evidence_sentences,cited_doc_ids\n"
    (folder / "claims_train.csv").write_text(f"{head}1,Cells are one.,5,SUPPORT,[0],[5]\n", "utf-8")
    (folder / "claims_validation.csv").write_text(f"{head}2,Unknown.,,,[],[6]\n", "utf-8")

    (found,) = load("scifact", tmp_path)

    assert found.docs == [Doc("5", "Cells", "It s one. It's two.")]
    assert found.queries == [Query("1", "Cells are one.", frozenset({"5"}))]


def test_vaswani_takes_the_part_before_the_gap_as_title(tmp_path: Path) -> None:
    """A title ends with two spaces or with its line."""
    folder = tmp_path / "vaswani"
    (folder / "corpus").mkdir(parents=True)
    (folder / "corpus" / "doc-text.trec").write_text(
        "<DOC>\n<DOCNO>1</DOCNO>\nsmall memories  they\nhold little\n</DOC>\n"
        "<DOC>\n<DOCNO>2</DOCNO>\nlarge memories\nhold much\n</DOC>\n",
        encoding="utf-8",
    )
    (folder / "qrels").write_text("1 0 2 1\n", encoding="utf-8")
    (folder / "query-text.trec").write_text(
        "<top>\n<num>1</num><title>\nLARGE\n</title>\n</top>\n", encoding="utf-8"
    )

    (found,) = load("vaswani", tmp_path)

    assert found.docs == [
        Doc("1", "small memories", "they hold little"),
        Doc("2", "large memories", "hold much"),
    ]
    assert found.queries == [Query("1", "LARGE", frozenset({"2"}))]


@pytest.mark.parametrize(
    ("family", "stores", "documents", "answerable"),
    [
        ("locomo", 10, 5882, 1536),
        ("cranfield", 1, 1400, 225),
        ("scifact", 1, 5183, 1109),
        ("vaswani", 1, 11429, 93),
    ],
)
def test_the_real_sets_are_read_whole(
    data_dir: Path, family: str, stores: int, documents: int, answerable: int
) -> None:
    """Every document and question is there, and every judgement names a document of its set."""
    found = load(family, data_dir / "retrieval")

    assert len(found) == stores
    assert sum(len(one.docs) for one in found) == documents
    assert sum(len(one.answerable) for one in found) == answerable
    for one in found:
        known = {doc.id for doc in one.docs}
        assert len(known) == len(one.docs)
        assert all(query.relevant and query.relevant <= known for query in one.queries)


def test_a_set_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Missing data is an error with the folder in it, not an empty result."""
    with pytest.raises(FileNotFoundError, match="vaswani"):
        load("vaswani", tmp_path)


@given(st.text())
def test_a_split_text_keeps_each_word_once(text: str) -> None:
    """Title and body together are the words of the text, unless one word had to be cut."""
    title, body = split_title(text)

    assert "".join(f"{title}{body}".split()) == "".join(text.split())
    assert len(title) <= 80


def test_recall_and_reciprocal_rank_by_hand() -> None:
    """Two of three relevant among five is two thirds; the first at rank two is one half."""
    ranking = ["x", "a", "y", "b", "z", "c"]
    relevant = frozenset("abc")

    assert recall(ranking, relevant, 5) == pytest.approx(2 / 3)
    assert recall(ranking, relevant, 10) == 1
    assert reciprocal_rank(ranking, relevant) == 0.5
    assert reciprocal_rank([], relevant) == 0
    assert reciprocal_rank([*"0123456789", "a"], relevant) == 0


def test_quality_is_the_mean_over_the_questions() -> None:
    """One question answered at rank one and one not at all make halves of everything."""
    system = FtsOr(_PLANTS)
    asked = [
        (system, Query("1", "acorns", frozenset({"oak"}))),
        (system, Query("2", "granite", frozenset({"moss"}))),
    ]

    found = quality(asked)

    assert (found.questions, found.recall_5, found.mrr, found.empty) == (2, 0.5, 0.5, 0.5)


def test_below_means_below_by_more_than_rounding() -> None:
    """A measure is missed only where it is really smaller."""
    theirs = Quality(10, 0.5, 0.6, 0.4, 0, 1)

    assert Quality(10, 0.49999, 0.7, 0.3, 0, 1).is_below(theirs) == ["mrr"]


def test_plain_fts_takes_any_text_as_words() -> None:
    """Quotes and operators in a question are words or nothing."""
    system = FtsOr(_PLANTS)

    assert system.rank('"acorns" OR (NEAR *') == ["oak"]
    assert system.rank("?!") == []


def test_bm25s_leaves_out_what_shares_no_word() -> None:
    """Documents without a score are no answer."""
    pytest.importorskip("bm25s")
    from tests.bench.retrieval import Bm25s

    assert Bm25s(_PLANTS).rank("shade of trees") == ["fern", "oak"]


def test_ours_answers_through_the_api_and_without_the_evidence(tmp_path: Path) -> None:
    """A removed document is not found, and is found again when it is back."""
    ours = Ours(_PLANTS, tmp_path / "plants")
    question = _PLANTS.queries[0].text

    assert ours.rank(question)[0] == "oak"
    assert ours.verdicts[question] == "ok"
    with ours.without(frozenset({"oak"})):
        assert ours.rank("acorns") == []
        assert ours.coverage("acorns") == "none"
    assert ours.rank("acorns") == ["oak"]


def test_a_made_store_is_whole_canonical_and_used_again(tmp_path: Path) -> None:
    """Every record is readable as it was made, and a second call makes nothing."""
    made = make_store(tmp_path, 60)
    root = made / STORE_NAME
    read = [parse_record(path.read_bytes(), Limits()) for path in root.rglob("ms_*.md")]

    assert sorted(read, key=lambda one: one.id) == [record_number(number) for number in range(60)]
    marker = made / "marker"
    marker.touch()
    assert make_store(tmp_path, 60) == made
    assert marker.exists()


def test_made_questions_are_answered_by_the_made_store(tmp_path: Path) -> None:
    """They are words of titles, so a search for them finds something."""
    made = make_store(tmp_path, 60)

    with Memspec.open(made) as memspec:
        replies = [memspec.search(question) for question in queries(20, 60)]

    assert sum(bool(reply.results) for reply in replies) >= 15


def test_the_floors_do_the_work_they_stand_for(tmp_path: Path) -> None:
    """Listing finds every file, reading every byte, and the inserted rows are found."""
    made = make_store(tmp_path, 40)
    paths = list_files(str(made / STORE_NAME), RECORD_FOLDERS)
    database = tmp_path / "floor.db"

    insert_rows([(1, "Oak", "tree", "acorns"), (2, "Moss", "", "green")], database)

    assert len(paths) == 40
    assert read_files(paths) == sum(len((made / path).read_bytes()) for path in paths)
    assert ask(str(database), '"acorns"') == [1]


def test_only_the_judged_size_can_miss_a_target() -> None:
    """A slow measure counts at 10,000 records, and so does a dear import."""
    slow = Measure("search", "ms", ours=15, allowed=10, target="10 ms")
    small = SizeReport(100, measures=[slow], imported=["ulid"])
    judged = SizeReport(JUDGED, measures=[slow], imported=["click", "ruamel.yaml.main"])

    assert small.misses() == []
    assert [sentence.partition(":")[0] for sentence in judged.misses()] == [
        "search",
        "a warm search imports ruamel.yaml.main",
    ]


def test_anchors_are_judged_at_their_own_size_but_for_the_row_that_only_informs() -> None:
    """A slow check counts whatever the size; a row that is only shown never does."""
    slow = Measure("check", "ms", ours=15, allowed=10, target="10 ms")
    shown = Measure("whole", "ms", ours=99, allowed=10, target="10 ms", is_judged=False)
    report = SizeReport(1_000, measures=[slow, shown], subject="anchors")

    assert [sentence.partition(":")[0] for sentence in report.misses()] == ["check"]


def test_every_benchmark_is_offered() -> None:
    """The group lists its commands, and each loads and explains itself."""
    for name in ("mcp", "near", "retrieval", "speed"):
        shown = CliRunner().invoke(main, [name, "--help"])

        assert shown.exit_code == 0, shown.output
        assert "--json" in shown.output


@pytest.mark.slow
def test_speed_measures_a_small_store(tmp_path: Path) -> None:
    """Every floor and every promise has a number, and the report can be printed as JSON."""
    work = tmp_path / "work"
    work.mkdir()

    report = Bench(20, tmp_path, work, 1).report()

    assert len(report.measures) == 7
    assert all(one.ours > 0 and one.allowed > 0 for one in report.measures)
    assert report.floors["listing"] > 0
    assert "memspec_py.index.search" in report.imported
    assert json.loads(json.dumps(report.as_dict()))["records"] == 20


@pytest.mark.slow
def test_speed_measures_anchors_in_a_real_repository(tmp_path: Path) -> None:
    """Checking and searching are timed beside their floors, and one row is not judged."""
    report = AnchorBench(tmp_path, 1).report()

    assert [one.is_judged for one in report.measures] == [True, False, True, True, True]
    assert all(value > 0 for value in report.floors.values())
    assert report.measures[1].ours > 0
    assert json.loads(json.dumps(report.as_dict()))["judged"] is True
