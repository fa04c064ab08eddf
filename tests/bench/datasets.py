"""Public retrieval sets as values: documents, questions, and which documents answer them.

A document has a title and a body that together are its whole text, once: where the set gives no
title, the first words become it and the body is the rest. So every system compared reads the same
words, and none of them reads any word twice.
"""

from __future__ import annotations

import ast
import csv
import json
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

RETRIEVAL_DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "retrieval"

_TITLE_LIMIT = 80
_FIRST_SENTENCE = re.compile(r"[^.!?\n]*[.!?]+(?=\s|\Z)")
_PYTHON_STRING = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_ADVERSARIAL = 5  # LoCoMo's category of questions about something that was never said


@dataclass(frozen=True, slots=True)
class Doc:
    """One document; ``title`` and ``body`` share no text."""

    id: str
    title: str
    body: str

    @property
    def text(self) -> str:
        """The whole document, as a system without fields reads it."""
        return f"{self.title}\n{self.body}" if self.body else self.title


@dataclass(frozen=True, slots=True)
class Query:
    """One question; ``relevant`` names documents of the same set.

    Where ``answerable`` is false, they are the ones the question was made up from.
    """

    id: str
    text: str
    relevant: frozenset[str]
    answerable: bool = True


@dataclass(frozen=True, slots=True)
class Dataset:
    """Documents that make one store, and the questions asked of it."""

    name: str
    docs: list[Doc]
    queries: list[Query]

    @property
    def answerable(self) -> list[Query]:
        """The questions that the documents answer."""
        return [query for query in self.queries if query.answerable]


def load(family: str, folder: Path = RETRIEVAL_DATA) -> list[Dataset]:
    """The stores of one set, by its name in ``FAMILIES``.

    Raises ``FileNotFoundError`` where the data is not there.
    """
    if not (folder / family).is_dir():
        msg = f"no data for {family} in {folder}"
        raise FileNotFoundError(msg)
    return list(FAMILIES[family](folder / family))


def split_title(text: str) -> tuple[str, str]:
    """A title for a text without one (its first sentence, or its first words), and the rest."""
    text = text.strip()
    sentence = _FIRST_SENTENCE.match(text)
    if sentence and len(sentence[0]) <= _TITLE_LIMIT:
        end = sentence.end()
    elif len(text) <= _TITLE_LIMIT:
        end = len(text)
    else:
        end = text.rfind(" ", 0, _TITLE_LIMIT + 1)
        end = end if end > 0 else _TITLE_LIMIT
    return _one_line(text[:end]), text[end:].strip()


def _locomo(folder: Path) -> Iterator[Dataset]:
    for sample in json.loads((folder / "locomo10.json").read_text(encoding="utf-8")):
        docs = [_turn(turn) for turn in _turns(sample["conversation"])]
        known = {doc.id for doc in docs}
        queries = list(_questions(sample["qa"], known))
        yield Dataset(f"locomo/{sample['sample_id']}", docs, queries)


def _turns(conversation: Mapping[str, object]) -> Iterator[Mapping[str, str]]:
    for part in conversation.values():
        if isinstance(part, list):
            yield from part


def _turn(turn: Mapping[str, str]) -> Doc:
    said = turn["text"]
    if caption := turn.get("blip_caption"):
        said = f"{said} [shows {caption}]"
    title, body = split_title(said)
    return Doc(turn["dia_id"], f"{turn['speaker']}: {title}", body)


def _questions(asked_of: Sequence[Mapping[str, Any]], known: set[str]) -> Iterator[Query]:
    for number, asked in enumerate(asked_of):
        named = re.findall(r"D\d+:\d+", " ".join(asked["evidence"]))
        relevant = frozenset(_without_zeros(name) for name in named) & known
        if relevant:  # four questions name no turn that exists
            answerable = asked["category"] != _ADVERSARIAL
            yield Query(str(number), asked["question"], relevant, answerable)


def _without_zeros(turn: str) -> str:
    return re.sub(r"(?<=[D:])0+(?=\d)", "", turn)


def _cranfield(folder: Path) -> Iterator[Dataset]:
    docs = []
    for number, parts in _dotted((folder / "cran.all.1400").read_text(encoding="utf-8")):
        title, words = _one_line(parts.get("T", "")), _one_line(parts.get("W", ""))
        docs.append(Doc(number, *_titled(title, words.removeprefix(title).strip())))
    # The judgements count the questions from 1, whatever number stands in the question file.
    asked = _dotted((folder / "cran.qry").read_text(encoding="utf-8"))
    judged = _judgements(folder / "QRelsCorrectedforTRECeval", lambda degree: degree != "5")
    queries = [
        Query(str(count), _one_line(parts["W"]), judged[str(count)])
        for count, (_, parts) in enumerate(asked, start=1)
        if str(count) in judged
    ]
    yield Dataset("cranfield", docs, queries)


def _dotted(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Entries of the SMART format: ``.I number``, then sections begun by ``.T``, ``.A``, ``.W``."""
    for entry in re.split(r"^\.I ", text, flags=re.MULTILINE)[1:]:
        number, _, rest = entry.partition("\n")
        pieces = re.split(r"^\.([A-Z])\s*$\n?", rest, flags=re.MULTILINE)
        yield number.strip(), dict(zip(pieces[1::2], pieces[2::2], strict=True))


def _scifact(folder: Path) -> Iterator[Dataset]:
    docs = [
        Doc(row["doc_id"], _one_line(row["title"]), _abstract(row["abstract"]))
        for row in _rows(folder / "corpus_train.csv")
    ]
    known = {doc.id for doc in docs}
    claims: dict[str, Query] = {}
    for part in ("train", "validation"):  # the third part has no judgements
        for row in _rows(folder / f"claims_{part}.csv"):
            relevant = frozenset(re.findall(r"\d+", row["cited_doc_ids"])) & known
            if relevant:
                claims[row["id"]] = Query(row["id"], row["claim"], relevant)
    yield Dataset("scifact", docs, list(claims.values()))


def _abstract(printed: str) -> str:
    """Sentences printed as a numpy array of strings."""
    return " ".join(ast.literal_eval(found) for found in _PYTHON_STRING.findall(printed))


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines)


def _vaswani(folder: Path) -> Iterator[Dataset]:
    corpus = (folder / "corpus" / "doc-text.trec").read_text(encoding="utf-8")
    docs = [
        Doc(number, *_first_part(text))
        for number, text in re.findall(
            r"<DOC>\s*<DOCNO>(\d+)</DOCNO>\n(.*?)</DOC>", corpus, flags=re.DOTALL
        )
    ]
    judged = _judgements(folder / "qrels", lambda degree: degree != "0")
    asked = re.findall(
        r"<num>(\d+)</num><title>(.*?)</title>",
        (folder / "query-text.trec").read_text(encoding="utf-8"),
        flags=re.DOTALL,
    )
    queries = [
        Query(number, _one_line(text), judged[number]) for number, text in asked if number in judged
    ]
    yield Dataset("vaswani", docs, queries)


def _first_part(text: str) -> tuple[str, str]:
    """Vaswani's titles end with a double space or with their line."""
    first, _, rest = text.strip().partition("\n")
    title, gap, more = first.partition("  ")
    return _titled(_one_line(title), _one_line(f"{more} {rest}" if gap else rest))


def _titled(title: str, body: str) -> tuple[str, str]:
    return (title, body) if title else split_title(body or "untitled")


def _judgements(path: Path, counts: Callable[[str], bool]) -> dict[str, frozenset[str]]:
    """TREC judgement lines: question, unused, document, degree."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for line in path.read_text(encoding="utf-8").splitlines():
        query, _, doc, degree = line.split()
        if counts(degree):
            found[query].add(doc)
    return {query: frozenset(docs) for query, docs in found.items()}


def _one_line(text: str) -> str:
    return " ".join(text.split())


FAMILIES: dict[str, Callable[[Path], Iterator[Dataset]]] = {
    "locomo": _locomo,
    "cranfield": _cranfield,
    "scifact": _scifact,
    "vaswani": _vaswani,
}
