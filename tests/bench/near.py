"""How often the near-duplicate rule refuses a new claim, and how often it misses a repeat.

Real records are compared with each other, and each with edits of itself: edits that keep its
meaning, which should be refused, and edits that change it, which must not be. Three simple rules
are measured beside ours.
"""

from __future__ import annotations

import difflib
import json
import re
import sys
import time
import unicodedata
from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click

from memspec_py.acts.near import likeness, wording
from memspec_py.identifiers import identifiers, parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

MOST_FALSE_REFUSALS = 0  # among pairs of different real records
MOST_TITLES_REFUSED = 0.0  # of the titles with another meaning
MOST_BODIES_REFUSED = 0.05  # of the bodies with another meaning below an unchanged title
LEAST_REPEATS_REFUSED = 0.95  # of the classes that the rule promises to catch

# What reading found to be one decision twice, by how the paths end; each group is one decision.
SAME_DECISION = (
    (
        "docs/decisions/infra/2022-10-01-use-markdown-architectural-decision-records.md",
        "product/decisions/infra/0000-use-markdown-architectural-decision-records.md",
        "docs/adr/20200924-use-markdown-architectural-decision-records.md",
    ),
    (
        "JabRef+jabref/docs/decisions/0000-use-markdown-architectural-decision-records.md",
        "adr+madr/docs/decisions/0000-use-markdown-architectural-decision-records.md",
        "adr+madr/template/0000-use-markdown-architectural-decision-records.md",
    ),
    ("infra/0001-ci-cd-interface.md", "infra/2022-10-04-ci-cd-interface.md"),
    (
        "infra/0002-use-custom-implementation-of-github-oidc.md",
        "infra/2022-10-05-use-custom-implementation-of-github-oidc.md",
    ),
    (
        "infra/0003-manage-ecr-in-prod-account-module.md",
        "infra/2022-10-07-manage-ecr-in-prod-account-module.md",
    ),
    (
        "infra/0004-separate-terraform-backend-configs-into-separate-config-files.md",
        "infra/2023-05-09-separate-terraform-backend-configs-into-separate-config-files.md",
    ),
    (
        "infra/0006-provision-database-users-with-serverless-function.md",
        "infra/2023-05-25-provision-database-users-with-serverless-function.md",
    ),
    (
        "infra/0008-consolidate-infra-config-from-tfvars-files-into-config-module.md",
        "infra/2023-09-07-consolidate-infra-config-from-tfvars-files-into-config-module.md",
    ),
    ("adr+madr/docs/decisions/adr-template.md", "JabRef+jabref/docs/decisions/adr-template.md"),
    (
        "alphagov+govuk-aws/docs/architecture/decisions/0001-record-architecture-decisions.md",
        "cloudfoundry+cli/doc/adr/0001-record-architecture-decisions.md",
        "npryce+adr-tools/doc/adr/0001-record-architecture-decisions.md",
    ),
)
# Pages whose title is a blank to fill in; refusing one for another is neither right nor wrong.
_BLANK = re.compile(r"short title")

Claim: TypeAlias = "tuple[str, str]"


@dataclass(frozen=True, slots=True)
class Real:
    """A real record: where it is from, its title and its body."""

    path: str
    title: str
    body: str


@dataclass(slots=True)
class Row:
    """One class of edits: how many were tried, and how many of them each rule refused."""

    name: str
    wanted: bool
    promised: bool
    tried: int = 0
    refused: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Edit:
    """A class of edits; ``make`` gives two claims to compare, or None where it does not apply."""

    name: str
    make: Callable[[Real, Real], tuple[Claim, Claim] | None]
    wanted: bool
    promised: bool = True


# --- the real records ---------------------------------------------------------------------------


def real_records() -> list[Real]:
    """The decision records of the eleven projects, then the records of the reference store."""
    return [*_decisions(DATA / "adr"), *_store(DATA / "memspec-0.7.2-store" / ".memspec")]


_NUMBERED = re.compile(r"(?:ADR[ -]?)?\d+(?:\.| -|:)\s*|Architecture Decision Record:\s*")


def _decisions(folder: Path) -> Iterator[Real]:
    for path in sorted(folder.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        heading = re.search(r"^#[ \t]+(.+)$", text, re.MULTILINE)
        if heading:
            title = _NUMBERED.sub("", heading[1].strip(), count=1)
            yield Real(path.relative_to(folder).as_posix(), title, text[heading.end() :].strip())


def _store(folder: Path) -> Iterator[Real]:
    for path in sorted(folder.rglob("*.md")):
        _, _, text = path.read_text(encoding="utf-8").split("---\n", 2)
        title, _, body = text.strip().removeprefix("# ").partition("\n")
        yield Real(path.relative_to(folder).as_posix(), title.strip(), body.strip())


def short_claims(records: list[Real]) -> list[Real]:
    """The same titles, each with the first two sentences of prose: claims of the usual size."""
    claims = []
    for real in records:
        prose = (_prose(paragraph) for paragraph in re.split(r"\n\s*\n", real.body))
        body = next((found for found in prose if found), "")
        claims.append(Real(real.path, real.title, body))
    return claims


def _prose(paragraph: str) -> str:
    """The first two sentences of a paragraph, or nothing when it is a list or a heading."""
    text = " ".join(paragraph.split())
    if len(text.split()) < 8 or not text[0].isalpha() or re.match(r"[\w-]+:", text):
        return ""
    return " ".join(re.split(r"(?<=[.!?])\s+", text)[:2])


# --- the rules compared -------------------------------------------------------------------------


def ours(one: Claim, other: Claim) -> bool:
    """The rule of the product."""
    return likeness(wording(*one), wording(*other)).is_duplicate


def equal_titles(one: Claim, other: Claim) -> bool:
    """Titles equal but for case and outer white space."""
    return one[0].strip().casefold() == other[0].strip().casefold()


def token_overlap(one: Claim, other: Claim) -> bool:
    """Titles that share four fifths of their words."""
    mine, theirs = (set(re.findall(r"\w+", claim[0].casefold())) for claim in (one, other))
    return bool(mine | theirs) and len(mine & theirs) >= 0.8 * len(mine | theirs)


def close_spelling(one: Claim, other: Claim) -> bool:
    """Titles that difflib finds nine tenths equal."""
    matcher = difflib.SequenceMatcher(a=one[0].casefold(), b=other[0].casefold(), autojunk=False)
    return (
        matcher.real_quick_ratio() >= 0.9
        and matcher.quick_ratio() >= 0.9
        and matcher.ratio() >= 0.9
    )


RULES: dict[str, Callable[[Claim, Claim], bool]] = {
    "memspec": ours,
    "equal titles": equal_titles,
    "words >= 0.8": token_overlap,
    "difflib >= 0.9": close_spelling,
}

# --- edits that keep the meaning ----------------------------------------------------------------

# Not the rule's own table: half of these pairs are unknown to it.
SYNONYMS = {
    "use": "adopt", "remove": "delete", "database": "db", "configuration": "config", "adopt": "use",
    "repository": "repo", "documentation": "docs", "production": "prod", "maximum": "max",
    "allow": "permit", "add": "introduce", "store": "keep", "show": "display", "handle": "treat",
    "separate": "split", "support": "offer", "test": "check", "record": "log", "design": "layout",
    "provide": "supply", "implementation": "realisation", "selection": "choice", "tool": "utility",
    "generate": "produce", "determine": "find", "manage": "administer", "drop": "discard",
}  # fmt: skip
_KNOWN = frozenset(
    "use remove database configuration adopt repository documentation production maximum".split()
)


def _both(change: Callable[[str], str]) -> Callable[[Real, Real], tuple[Claim, Claim] | None]:
    def make(real: Real, _: Real) -> tuple[Claim, Claim] | None:
        return (real.title, real.body), (change(real.title), change(real.body))

    return make


def _informed(real: Real, _: Real) -> tuple[Claim, Claim] | None:
    """A noun of the body put at the end of the title."""
    known = real.title.casefold()
    nouns = [word for word in re.findall(r"\b[a-z]{6,}\b", real.body) if word not in known]
    if not nouns or len(real.title.split()) < 3:
        return None
    return (real.title, real.body), (f"{real.title} {nouns[0]}", real.body)


def _titled(
    change: Callable[[str], str | None],
) -> Callable[[Real, Real], tuple[Claim, Claim] | None]:
    """The title changed and the body left alone, where the change applies."""

    def make(real: Real, _: Real) -> tuple[Claim, Claim] | None:
        title = change(real.title)
        if title is None or title == real.title:
            return None
        return (real.title, real.body), (title, real.body)

    return make


def _bodied(
    change: Callable[[str], str | None],
) -> Callable[[Real, Real], tuple[Claim, Claim] | None]:
    def make(real: Real, _: Real) -> tuple[Claim, Claim] | None:
        body = change(real.body)
        if body is None or body == real.body:
            return None
        return (real.title, real.body), (real.title, body)

    return make


def _restyled(text: str) -> str:
    spaced = re.sub(r" ", "  ", text.strip().rstrip(".!?"))
    return f"  {spaced.replace(chr(39), chr(0x2019))} ."


def _recoded(text: str) -> str:
    """The text as another system may spell it: decomposed, with ligatures and no-break spaces."""
    text = text.replace("fi", "\ufb01").replace(" ", "\u00a0")
    return unicodedata.normalize("NFD", re.sub(r"(?<=[a-z])e(?=[a-z])", "\u00e9", text, count=1))


def _other_number(title: str) -> str | None:
    """The last noun in the plural if it stands in the singular, else the other way round."""
    found = re.search(r"\b([a-z]{4,})(\W*)$", title)
    if found is None or found[1].endswith(("ss", "ing", "us", "is", "them", "three")):
        return None
    word = found[1]
    if word.endswith("s"):
        changed = word[:-3] + "y" if word.endswith("ies") else word[:-1]
    else:
        changed = word[:-1] + "ies" if word.endswith("y") else word + "s"
    return title[: found.start()] + changed + found[2]


def _articles_added(title: str) -> str | None:
    return re.sub(r"\b(for|in|of|to|as|into)(?= [a-z])", r"\1 the", title) + ", currently"


def _articles_dropped(title: str) -> str | None:
    return re.sub(r"\b(?:the|a|an|our|its) ", "", title, flags=re.IGNORECASE)


def _enumeration_turned(title: str) -> str | None:
    return re.sub(r"\b([A-Z]?[a-z]+) (and|&) ([A-Z]?[a-z]+)\b", r"\3 \2 \1", title, count=1)


def _clause_fronted(title: str) -> str | None:
    found = re.match(r"(\w+ .+) ((?:for|in|during|on|at) [^,:]+)$", title)
    return f"{found[2].capitalize()}, {found[1]}" if found else None


def _quoted(title: str) -> str | None:
    if "`" in title:
        return title.replace("`", "")
    for name in identifiers(title):
        title = title.replace(name, f"`{name}`")
    return title


def _camel_to_snake(text: str) -> str | None:
    for name in identifiers(text):
        if name.isidentifier() and re.search(r"[a-z][A-Z]", name) and not re.search(r"\d", name):
            text = text.replace(name, "_".join(parts(name)))
    return text


def _synonym(*, known: bool) -> Callable[[str], str | None]:
    def change(title: str) -> str | None:
        for word, other in SYNONYMS.items():
            found = re.search(rf"\b{word}\b", title, re.IGNORECASE)
            if found and (word in _KNOWN) == known:
                return title[: found.start()] + other + title[found.end() :]
        return None

    return change


def _participle(title: str) -> str | None:
    found = re.match(r"(Use|Add|Remove|Adopt|Support|Test|Implement|Separate|Record)\b", title)
    if found is None:
        return None
    return found[1].removesuffix("e") + "ing" + title[found.end() :]


def _lightly_reworded(body: str) -> str | None:
    """The body without every sixth sentence, without articles, and with other list marks."""
    sentences = re.split(r"(?<=[.!?])\s+", body)
    kept = [sentence for at, sentence in enumerate(sentences) if at % 6 != 5]
    return re.sub(r"\b(?:the|a|an) ", "", " ".join(kept)).replace("\n* ", "\n- ")


def _first_half(body: str) -> str | None:
    """The body up to the end of a sentence or line near its middle."""
    found = re.search(r"[.!?]?\s", body[len(body) // 2 :])
    return body[: len(body) // 2 + found.start()] if found else None


def _commented(real: Real, _: Real) -> tuple[Claim, Claim] | None:
    first = re.split(r"(?<=[.!?])\s", real.body, maxsplit=1)[0]
    comment = "Agreed in the weekly meeting after a long talk."
    return ((real.title, first), (real.title, comment)) if len(real.title.split()) >= 4 else None


SAME = (
    Edit("the same again", _both(lambda text: text), wanted=True),
    Edit("capitals", _both(str.upper), wanted=True),
    Edit("small letters", _both(str.lower), wanted=True),
    Edit("white space, quotes, full stop", _both(_restyled), wanted=True),
    Edit("another Unicode form, an accent", _both(_recoded), wanted=True),
    Edit("plural or singular", _titled(_other_number), wanted=True),
    Edit("articles and fillers added", _titled(_articles_added), wanted=True),
    Edit("articles dropped", _titled(_articles_dropped), wanted=True),
    Edit("enumeration in another order", _titled(_enumeration_turned), wanted=True),
    Edit("last clause put first", _titled(_clause_fronted), wanted=True),
    Edit("identifier quoted or not", _titled(_quoted), wanted=True),
    Edit("identifier in another style", _titled(_camel_to_snake), wanted=True),
    Edit("a synonym the rule knows", _titled(_synonym(known=True)), wanted=True),
    Edit("a synonym it does not know", _titled(_synonym(known=False)), wanted=True, promised=False),
    Edit("verb as a participle", _titled(_participle), wanted=True),
    Edit("a word of the body added", _informed, wanted=True, promised=False),
    Edit("body lightly reworded", _bodied(_lightly_reworded), wanted=True),
    Edit("body cut to its first half", _bodied(_first_half), wanted=True),
    Edit("body dropped", _bodied(lambda _: ""), wanted=True),
    Edit("a sentence of comment as the body", _commented, wanted=True, promised=False),
)

# --- edits that change the meaning --------------------------------------------------------------

_OTHER_NUMBERS = {"two": "three", "three": "five", "four": "six", "single": "double"}
ANTONYMS = {
    "allow": "forbid", "enable": "disable", "add": "remove", "remove": "add", "public": "private",
    "before": "after", "after": "before", "synchronous": "asynchronous", "local": "remote",
    "front-end": "back-end", "frontend": "backend", "internal": "external", "server": "client",
    "clients": "servers", "maximum": "minimum", "mutable": "immutable", "always": "never",
    "from": "to", "input": "output", "encryption": "decryption", "online": "offline",
    "production": "staging", "prod": "dev", "only": "also", "with": "without", "import": "export",
    "publish": "subscribe", "multiple": "single", "default": "custom", "global": "local",
}  # fmt: skip
_VALUE = re.compile(r"(?<![\w./-])(\d+)(?![\w/-])")


def _number_changed(text: str) -> str | None:
    changed = re.sub(r"\d+", lambda found: str(int(found[0]) + 1), text, count=1)
    for word, other in _OTHER_NUMBERS.items():
        changed = re.sub(rf"\b{word}\b", other, changed)
    return changed


def _value_changed(body: str) -> str | None:
    return _VALUE.sub(lambda found: str(int(found[0]) + 1), body, count=1)


def _denied(title: str) -> str | None:
    return f"Do not {title[:1].lower()}{title[1:]}"


def _turned_round(title: str) -> str | None:
    found = re.search(r"\b(not|without|no|never|avoid|non)\b[ -]?", title, re.IGNORECASE)
    return title[: found.start()] + title[found.end() :] if found else None


def _antonym(text: str) -> str | None:
    for word, other in ANTONYMS.items():
        found = re.search(rf"\b{word}\b", text, re.IGNORECASE)
        if found:
            return text[: found.start()] + other + text[found.end() :]
    return None


def _identifier_changed(text: str) -> str | None:
    for name in identifiers(text):
        if not re.search(r"\d", name) and len(parts(name)) > 1:
            last = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)[-1]
            return text.replace(name, "Ledger".join(name.rsplit(last, 1)))
    return None


def _relation_swapped(title: str) -> str | None:
    joints = "over|instead of|from|into|to|with|for|as|on|in|via"
    found = re.match(rf"(.*?)\b(\w+) ({joints}) (?:the |a )?(\w+)(.*)$", title)
    if found is None or found[4] in ("its", "their", "default"):
        return None
    return f"{found[1]}{found[4]} {found[3]} {found[2]}{found[5]}"


def _environments(real: Real, _: Real) -> tuple[Claim, Claim] | None:
    return (f"{real.title} in staging", real.body), (f"{real.title} in production", real.body)


def _services(real: Real, _: Real) -> tuple[Claim, Claim] | None:
    return (f"{real.title} for billing", real.body), (f"{real.title} for shipping", real.body)


def _noun_swapped(real: Real, other: Real) -> tuple[Claim, Claim] | None:
    nouns = re.findall(r"\b[A-Za-z]{5,}\b", other.title)
    found = re.search(r"\b[A-Za-z]{5,}\b(?=\W*$)", real.title)
    if not nouns or found is None or nouns[-1].casefold() == found[0].casefold():
        return None
    changed = real.title[: found.start()] + nouns[-1] + real.title[found.end() :]
    return (real.title, real.body), (changed, real.body)


def _sentence_denied(body: str) -> str | None:
    return re.sub(r"\b(is|are|will|should|must|can) (?!not)", r"\1 not ", body, count=1)


def _other_body(real: Real, other: Real) -> tuple[Claim, Claim] | None:
    long_enough = min(len(real.body), len(other.body)) > 400
    return ((real.title, real.body), (real.title, other.body)) if long_enough else None


CHANGED = (
    Edit("another number or version", _titled(_number_changed), wanted=False),
    Edit("a version added", _titled(lambda title: f"{title} v2"), wanted=False),
    Edit("another number in the body", _bodied(_value_changed), wanted=False),
    Edit("a negation added", _titled(_denied), wanted=False),
    Edit("a negation removed", _titled(_turned_round), wanted=False),
    Edit("a negation added in the body", _bodied(_sentence_denied), wanted=False),
    Edit("an antonym", _titled(_antonym), wanted=False),
    Edit("an antonym in the body", _bodied(_antonym), wanted=False),
    Edit("another identifier", _titled(_identifier_changed), wanted=False),
    Edit("another identifier in the body", _bodied(_identifier_changed), wanted=False),
    Edit("two things swapped", _titled(_relation_swapped), wanted=False),
    Edit("staging, production", _environments, wanted=False),
    Edit("another service", _services, wanted=False),
    Edit("another last noun", _noun_swapped, wanted=False),
    Edit("'only' added", _titled(lambda title: f"{title} only for tests"), wanted=False),
    Edit("title kept, another record's body", _other_body, wanted=False),
)


# --- measuring ----------------------------------------------------------------------------------


def measured(records: list[Real], edits: tuple[Edit, ...]) -> list[Row]:
    """Each class of edits over all records, by every rule."""
    rows = []
    for edit in edits:
        row = Row(edit.name, edit.wanted, edit.promised, refused=dict.fromkeys(RULES, 0))
        for at, real in enumerate(records):
            # Seven on, so that a record does not borrow from its neighbour on the same matter.
            made = edit.make(real, records[(at + 7) % len(records)])
            if made is None or not re.search(r"\w", made[1][0]):
                continue
            row.tried += 1
            for name, rule in RULES.items():
                row.refused[name] += rule(*made)
        rows.append(row)
    return rows


def refused_pairs(records: list[Real]) -> dict[str, list[tuple[Real, Real]]]:
    """Every pair of different real records that a rule would refuse."""
    prepared = [wording(real.title, real.body) for real in records]
    found: dict[str, list[tuple[Real, Real]]] = {name: [] for name in RULES}
    for (one, mine), (other, theirs) in combinations(zip(records, prepared, strict=True), 2):
        for name, rule in RULES.items():
            if rule is ours:
                refused = likeness(mine, theirs).is_duplicate
            else:
                refused = rule((one.title, one.body), (other.title, other.body))
            if refused:
                found[name].append((one, other))
    return found


def verdict(one: Real, other: Real) -> str:
    """What reading the two records said: same, blank (a template to fill in) or different."""
    for group in SAME_DECISION:
        if all(any(real.path.endswith(end) for end in group) for real in (one, other)):
            return "same"
    return "blank" if _BLANK.search(one.title) and _BLANK.search(other.title) else "different"


def judged(pairs: list[tuple[Real, Real]]) -> dict[str, int]:
    """How many of the refused pairs are the same, blank or different."""
    counts = dict.fromkeys(("same", "blank", "different"), 0)
    for pair in pairs:
        counts[verdict(*pair)] += 1
    return counts


def rule_microseconds(records: list[Real]) -> float:
    """What one comparison costs, the preparation of the other record included."""
    sample = records[:: max(1, len(records) // 60)]
    start = time.perf_counter()
    for one, other in combinations(sample, 2):
        likeness(wording(one.title, one.body), wording(other.title, other.body))
    return (time.perf_counter() - start) / (len(sample) * (len(sample) - 1) / 2) * 1e6


@dataclass(frozen=True, slots=True)
class Report:
    """What a run measured."""

    records: int
    pairs: int
    truly_same: int
    microseconds: float
    judged: dict[str, dict[str, int]]
    refused: list[tuple[str, str, str]]
    rows: list[Row]
    short_rows: list[Row]

    def missed_targets(self) -> list[str]:
        """The promises that this run did not keep, as sentences."""
        different = self.judged["memspec"]["different"]
        missed = [f"{different} false refusals"] if different > MOST_FALSE_REFUSALS else []
        for row in (*self.rows, *self.short_rows):
            share = row.refused["memspec"] / max(1, row.tried)
            most = MOST_BODIES_REFUSED if "body" in row.name else MOST_TITLES_REFUSED
            fails = share < LEAST_REPEATS_REFUSED if row.wanted else share > most
            if row.tried and row.promised and fails:
                missed.append(f"{row.name}: {share:.0%} refused")
        return missed


def run(*, as_json: bool = False) -> Report:
    """Measure everything and print it."""
    records = real_records()
    pairs = refused_pairs(records)
    report = Report(
        records=len(records),
        pairs=len(records) * (len(records) - 1) // 2,
        truly_same=sum(len(group) * (len(group) - 1) // 2 for group in SAME_DECISION),
        microseconds=rule_microseconds(records),
        judged={name: judged(found) for name, found in pairs.items()},
        refused=[(verdict(a, b), a.path, b.path) for a, b in pairs["memspec"]],
        rows=measured(records, SAME + CHANGED),
        short_rows=measured(short_claims(records), SAME + CHANGED),
    )
    click.echo(json.dumps(asdict(report), indent=2) if as_json else table(report))
    return report


def table(report: Report) -> str:
    """The report as Markdown."""
    names = list(RULES)
    pairs = [
        [kind, *(str(report.judged[name][kind]) for name in names)]
        for kind in ("same", "blank", "different")
    ]
    return "\n".join(
        [
            f"{report.records} records, {report.pairs} pairs, {report.truly_same} say the same.",
            f"One comparison takes {report.microseconds:.0f} microseconds.",
            "",
            *_markdown(["pairs of real records refused", *names], pairs),
            "",
            "Refused by memspec:",
            "",
            *(f"- {kind}: {one} = {other}" for kind, one, other in sorted(report.refused)),
            "",
            *_edit_table("edit of a real record", report.rows),
            "",
            *_edit_table("edit of its title and first two sentences", report.short_rows),
        ]
    )


def _edit_table(title: str, rows: list[Row]) -> list[str]:
    names = list(RULES)
    cells = [
        [
            row.name,
            str(row.tried),
            "refused" if row.wanted else "kept",
            *(f"{row.refused[name] / max(1, row.tried):.1%}" for name in names),
        ]
        for row in rows
        if row.tried
    ]
    return _markdown([title, "tried", "wanted", *names], cells)


def _markdown(head: list[str], rows: list[list[str]]) -> list[str]:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]


@click.command("near")
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of tables.")
@click.option("--check", is_flag=True, help="Exit 1 when a promise was not kept.")
def command(*, as_json: bool, check: bool) -> None:
    """Measure the near-duplicate rule on real records."""
    missed = run(as_json=as_json).missed_targets()
    for sentence in missed:
        click.echo(f"target missed: {sentence}", err=True)
    if check and missed:
        sys.exit(1)
