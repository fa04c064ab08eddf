"""How many alarms anchors raise on real histories, how many are true, and how many are missing.

At a commit some way back, each public function, class, method and constant is anchored twice: to
its file, and to its own code. Then the history is walked forward, commit by commit, with a checkout
of each and the product's own check. An alarm is true when the symbol's own code changed or is gone,
as told by a judge that shares no code with the anchors: for Python the syntax tree of `ast` without
docstrings, for the other languages the leaf texts of a tree-sitter tree without comments. After an
alarm, and after a change, the claim is taken as seen to and anchored anew.

Code that moved unchanged to another file is no change: an alarm for it is a false one. Where the
judge cannot read a file, nothing is counted.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from memspec_py.anchors.blob import blob_id
from memspec_py.anchors.drift import check
from memspec_py.anchors.resolve import Resolved, resolve_anchor
from memspec_py.anchors.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memspec_py.anchors.verdict import Drift
    from memspec_py.record.model import Anchor

LEAST_PRECISION = 0.95
LEAST_RECALL = 0.99
LEAST_FEWER = 5.0  # times, on the repository where file grain raises most alarms
GRAINS = ("file", "symbol")


@dataclass(frozen=True, slots=True)
class Code:
    """The code of each symbol of a file, and which of them others may use."""

    of: dict[str, str] = field(default_factory=dict)
    public: frozenset[str] = frozenset()


# --- the judge of Python --------------------------------------------------------------------------


class _WithoutDocstrings(ast.NodeTransformer):
    def visit(self, node: ast.AST) -> ast.AST:
        """Drop a text that stands first in a definition."""
        self.generic_visit(node)
        body = getattr(node, "body", None)
        is_definition = isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if is_definition and body and isinstance(body[0], ast.Expr):
            said = body[0].value
            if isinstance(said, ast.Constant) and isinstance(said.value, str):
                del body[0]
        return node


class _PythonSymbols(ast.NodeVisitor):
    """Collects what a module and its classes define, by qualified name."""

    def __init__(self) -> None:
        self.found: dict[str, list[str]] = defaultdict(list)
        self._inside: list[str] = []

    def _keep(self, name: str, node: ast.AST) -> None:
        self.found[".".join([*self._inside, name])].append(ast.dump(node))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """A function; what is defined in it is its own business."""
        self._keep(node.name, node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        """As a function."""
        self._keep(node.name, node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """A class and its members."""
        self._keep(node.name, node)
        self._inside.append(node.name)
        self.generic_visit(node)
        self._inside.pop()

    def visit_Assign(self, node: ast.Assign) -> None:
        """A constant."""
        for target in node.targets:
            for one in ast.walk(target):
                if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
                    self._keep(one.id, node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """A constant with its type."""
        if isinstance(node.target, ast.Name):
            self._keep(node.target.id, node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """More of a constant."""
        if isinstance(node.target, ast.Name):
            self._keep(node.target.id, node)


def _judge_python(data: bytes) -> Code | None:
    try:
        tree = _WithoutDocstrings().visit(ast.parse(data))
    except (SyntaxError, ValueError):
        return None
    symbols = _PythonSymbols()
    symbols.visit(tree)
    public = frozenset(name for name in symbols.found if _is_open(name))
    return Code({name: "\n".join(dumps) for name, dumps in symbols.found.items()}, public)


def _is_open(name: str) -> bool:
    """Whether no part of a name is marked as private; ``__init__`` and its like are public."""
    return all(
        not part.startswith(("_", "#")) or (part.startswith("__") and part.endswith("__"))
        for part in name.split(".")
    )


# --- the judge of the other languages -------------------------------------------------------------

_GRAMMARS = {
    ".js": ("tree_sitter_javascript", "language"),
    ".mjs": ("tree_sitter_javascript", "language"),
    ".jsx": ("tree_sitter_javascript", "language"),
    ".ts": ("tree_sitter_typescript", "language_typescript"),
    ".tsx": ("tree_sitter_typescript", "language_tsx"),
    ".go": ("tree_sitter_go", "language"),
    ".rs": ("tree_sitter_rust", "language"),
    ".java": ("tree_sitter_java", "language"),
}
_LANGUAGE = {
    ".py": "Python",
    ".go": "Go",
    ".rs": "Rust",
    ".java": "Java",
    **dict.fromkeys((".js", ".mjs", ".jsx"), "JavaScript"),
    **dict.fromkeys((".ts", ".tsx"), "TypeScript"),
}
# Node types that declare a function, a class or type, a method, or a constant.
_DECLARING = {
    *("function_declaration", "generator_function_declaration", "class_declaration"),
    *("abstract_class_declaration", "interface_declaration", "type_alias_declaration"),
    *("enum_declaration", "method_definition", "variable_declarator", "method_declaration"),
    *("type_spec", "type_alias", "const_spec", "function_item", "struct_item", "enum_item"),
    *("trait_item", "const_item", "static_item", "type_item", "record_declaration"),
    *("function_signature", "mod_item"),
}
# Declarations whose members are symbols of their own.
_HOLDING = {
    *("class_declaration", "abstract_class_declaration", "interface_declaration"),
    *("enum_declaration", "trait_item", "record_declaration", "mod_item"),
}
_CODE_BODIES = {"statement_block", "block", "arrow_function", "function_expression", "constructor"}
_REMARKS = {"comment", "line_comment", "block_comment"}
_MARKS = {"attribute_item", "decorator"}


@cache
def _reader(suffix: str) -> Any:  # noqa: ANN401  tree_sitter.Parser
    binding = import_module("tree_sitter")
    package, function = _GRAMMARS[suffix]
    language = getattr(import_module(package), function)()
    return binding.Parser(binding.Language(language))


def _judge_tree(data: bytes, suffix: str) -> Code | None:
    root = _reader(suffix).parse(data).root_node
    if root.has_error:
        return None
    found: dict[str, list[str]] = defaultdict(list)
    public: set[str] = set()
    _collect(root, (), suffix, found, public)
    open_ones = frozenset(name for name in public if _is_open(name))
    return Code({name: "\n".join(texts) for name, texts in found.items()}, open_ones)


def _collect(
    node: Any,  # noqa: ANN401
    inside: tuple[str, ...],
    suffix: str,
    found: dict[str, list[str]],
    public: set[str],
) -> None:
    marks: list[Any] = []
    for child in node.named_children:
        if child.type in _REMARKS:
            continue
        if child.type in _MARKS:
            marks.append(child)
            continue
        scope = inside
        if child.type in _DECLARING:
            name = child.child_by_field_name("name")
            text = name.text.decode() if name is not None else ""
            if text.replace("_", "").replace("$", "").isalnum():
                path = (*inside, *_receiver(child), text)
                found[".".join(path)].append(_texts([*marks, _whole(child)]))
                if _is_public(child, suffix):
                    public.add(".".join(path))
                if child.type in _HOLDING:
                    scope = path
        if child.type == "impl_item":
            scope = (*inside, _type_name(child.child_by_field_name("type")))
        marks = []
        is_inner = child.type in _DECLARING and child.type not in _HOLDING
        if child.type not in _CODE_BODIES and not is_inner:
            _collect(child, scope, suffix, found, public)


def _receiver(node: Any) -> tuple[str, ...]:  # noqa: ANN401
    receiver = node.child_by_field_name("receiver")
    if receiver is None:
        return ()
    return (_type_name(receiver.named_children[-1].child_by_field_name("type")),)


def _type_name(node: Any) -> str:  # noqa: ANN401
    """The first name of a type: of `*Tree`, `Tree<T>` and `Tree[T]` it is Tree."""
    waiting = [node]
    while waiting:
        one = waiting.pop(0)
        if one.type == "scoped_type_identifier":
            return str(one.child_by_field_name("name").text.decode())
        if one.type == "type_identifier":
            return str(one.text.decode())
        waiting = [*one.named_children, *waiting]
    return str(node.text.decode())


def _whole(node: Any) -> Any:  # noqa: ANN401
    """`const a = 1` for its only declarator."""
    parent = node.parent
    if node.type == "variable_declarator" and parent.named_child_count == 1:
        return parent
    return node


def _texts(nodes: list[Any]) -> str:
    texts: list[str] = []
    waiting = nodes[::-1]
    while waiting:
        node = waiting.pop()
        if node.type in _REMARKS:
            continue
        if node.child_count == 0 and node.text.strip():
            texts.append(node.text.decode("utf-8", "replace"))
        waiting += reversed(node.children)
    return "\0".join(texts)


def _is_public(node: Any, suffix: str) -> bool:  # noqa: ANN401
    name = node.child_by_field_name("name").text.decode()
    if suffix == ".go":
        return bool(name[:1].isupper())
    if suffix == ".rs":
        kinds = {child.type for child in node.children}
        holder = node.parent.parent
        in_trait = holder is not None and holder.type == "trait_item"
        return in_trait or "visibility_modifier" in kinds
    if suffix == ".java":
        return any(
            b"public" in one.text.split() for one in node.children if one.type == "modifiers"
        )
    above = node.parent
    while above is not None and above.type != "export_statement":
        above = above.parent
    return above is not None


def judge(path: str, data: bytes) -> Code | None:
    """The code of each symbol of a file; None where it cannot be read."""
    suffix = Path(path).suffix
    return _judge_python(data) if suffix == ".py" else _judge_tree(data, suffix)


# --- walking a history ----------------------------------------------------------------------------


@dataclass(slots=True)
class Claim:
    """A symbol, its code as the judge saw it last, and its anchors."""

    file: str
    name: str
    code: str
    anchors: dict[str, Anchor]

    @property
    def language(self) -> str:
        """What the file is written in."""
        return _LANGUAGE[Path(self.file).suffix]


@dataclass(slots=True)
class Count:
    """What happened to the claims of one language at one grain."""

    claims: int = 0
    checks: int = 0
    changes: int = 0
    alarms: int = 0
    true_alarms: int = 0
    moved: int = 0
    wrongly_moved: int = 0
    unchecked: int = 0

    @property
    def precision(self) -> float:
        """Which part of the alarms is true."""
        return self.true_alarms / self.alarms if self.alarms else 1.0

    @property
    def recall(self) -> float:
        """Which part of the changes raised an alarm."""
        return self.true_alarms / self.changes if self.changes else 1.0

    @property
    def alarms_per_change(self) -> float:
        """How many alarms a reader looks at to see one change."""
        return self.alarms / self.changes if self.changes else float(self.alarms)

    def as_dict(self) -> dict[str, float]:
        """The numbers and what follows from them."""
        numbers: dict[str, float] = {name: getattr(self, name) for name in self.__slots__}
        rates = {name: round(getattr(self, name), 4) for name in ("precision", "recall")}
        return {**numbers, **rates, "alarms_per_change": round(self.alarms_per_change, 2)}


@dataclass(slots=True)
class Report:
    """One repository."""

    repository: str
    commits: int = 0
    seconds: float = 0.0
    not_anchored: list[str] = field(default_factory=list)
    unjudged: int = 0
    counts: dict[tuple[str, str], Count] = field(default_factory=dict)
    odd: list[str] = field(default_factory=list)  # false alarms and misses at symbol grain

    def count(self, language: str, grain: str) -> Count:
        """The numbers of a language at a grain."""
        return self.counts.setdefault((language, grain), Count())

    def total(self, grain: str) -> Count:
        """The numbers of all languages at a grain."""
        total = Count()
        for (_, one_grain), count in self.counts.items():
            if one_grain == grain:
                for name in Count.__slots__:
                    setattr(total, name, getattr(total, name) + getattr(count, name))
        return total

    def as_dict(self) -> dict[str, object]:
        """The report as JSON shows it."""
        return {
            "repository": self.repository,
            "commits": self.commits,
            "seconds": round(self.seconds, 1),
            "not_anchored": len(self.not_anchored),
            "unjudged": self.unjudged,
            "languages": {
                f"{language}, {grain}": count.as_dict()
                for (language, grain), count in sorted(self.counts.items())
            },
            "odd": self.odd,
            "not_anchored_names": self.not_anchored[:20],
        }


class History:
    """A throw-away checkout of a repository that is moved from commit to commit."""

    def __init__(self, repository: Path, folder: Path, commits: int) -> None:
        self.top = folder / "checkout"
        self._env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        clone = ("clone", "--quiet", "--shared", "--no-checkout", "--no-tags", str(repository))
        self._git(*clone, str(self.top), cwd=folder)
        told = self._git("rev-list", "--first-parent", f"--max-count={commits + 1}", "HEAD")
        self.commits = told.decode().split()[::-1]
        # Without the remote, what a check sees is the work tree of each commit and nothing else.
        self._git("remote", "remove", "origin")

    def show(self, commit: str) -> None:
        """Check a commit out."""
        self._git("checkout", "--quiet", "--force", "--detach", commit)

    def changed(self, old: str, new: str) -> list[str]:
        """The files that differ between two commits."""
        told = self._git("diff", "--no-renames", "--name-only", "-z", old, new)
        return os.fsdecode(told).split("\0")[:-1]

    def files(self) -> list[str]:
        """Every tracked file."""
        return os.fsdecode(self._git("ls-files", "-z")).split("\0")[:-1]

    def read(self, file: str) -> bytes | None:
        """A file of the checkout, if it is there."""
        place = self.top / file
        return place.read_bytes() if place.is_file() and not place.is_symlink() else None

    def read_at(self, commit: str, file: str) -> bytes | None:
        """A file as it was at a commit, if it was there."""
        try:
            return self._git("cat-file", "blob", f"{commit}:{file}", complain=False)
        except subprocess.CalledProcessError:
            return None

    def _git(self, *arguments: str, cwd: Path | None = None, complain: bool = True) -> bytes:
        done = subprocess.run(
            ["git", *arguments],
            cwd=cwd or self.top,
            env=self._env,
            check=True,
            stdout=subprocess.PIPE,
            stderr=None if complain else subprocess.DEVNULL,
        )
        return done.stdout


def walk(repository: Path, commits: int, *, tell: bool = False) -> Report:
    """Anchor every symbol of a repository some commits back, and follow them to its head."""
    report = Report(_shown(repository))
    began = time.perf_counter()
    with TemporaryDirectory(prefix="memspec-bench-") as folder:
        history = History(repository, Path(folder), commits)
        history.show(history.commits[0])
        claims = _anchored(history, report)
        report.commits = len(history.commits) - 1
        for number, commit in enumerate(history.commits[1:], 1):
            touched = history.changed(history.commits[number - 1], commit)
            history.show(commit)
            step = Step(history, history.commits[number - 1], commit, set(touched))
            claims = step.follow(claims, report)
            if tell:
                click.echo(f"\r{report.repository} {number}/{report.commits}", nl=False, err=True)
    if tell:
        click.echo(err=True)
    report.seconds = time.perf_counter() - began
    return report


def _shown(repository: Path) -> str:
    """A name for the table: a git directory alone says less than the folder around it."""
    path = repository.resolve()
    return path.parent.name if path.name in {"repo", ".git"} else path.name


def _anchored(history: History, report: Report) -> list[Claim]:
    claims = []
    for file in history.files():
        data = history.read(file) if Path(file).suffix in _LANGUAGE else None
        code = (judge(file, data) if data is not None else None) or Code()
        for name in sorted(code.public):
            text = code.of[name]
            anchors = _anchors(history, file, name)
            if anchors is None:
                report.not_anchored.append(f"{file}#{name}")
                continue
            claim = Claim(file, name, text, anchors)
            claims.append(claim)
            for grain in GRAINS:
                report.count(claim.language, grain).claims += 1
    return claims


def _anchors(history: History, file: str, name: str) -> dict[str, Anchor] | None:
    found = resolve_anchor(f"{file}#{name}", cwd=history.top, project=history.top, env=os.environ)
    if not isinstance(found, Resolved) or found.anchor.symbol is None:
        return None
    fine = found.anchor
    whole = replace(fine, symbol=None, symbol_id=None)
    return {"file": whole, "symbol": fine}


class Step:
    """One commit: check what it touched, judge it, and anchor anew what was seen to."""

    def __init__(self, history: History, before: str, commit: str, touched: set[str]) -> None:
        self._history = history
        self._before = before
        self._commit = commit
        self._touched = touched
        self._code = {
            file: judge(file, data)
            for file in touched
            if Path(file).suffix in _LANGUAGE and (data := history.read(file)) is not None
        }
        self._old: dict[str, Code] = {}

    def follow(self, claims: list[Claim], report: Report) -> list[Claim]:
        """The claims as they go on after this commit."""
        asked = [claim for claim in claims if claim.file in self._touched]
        pairs = [
            (f"{number} {grain}", claim.anchors[grain])
            for number, claim in enumerate(asked)
            for grain in GRAINS
        ]
        verdicts = check(pairs, project=self._history.top, env=os.environ) if pairs else {}
        kept = [claim for claim in claims if claim.file not in self._touched]
        for number, claim in enumerate(asked):
            if claim.file in self._code and self._code[claim.file] is None:
                report.unjudged += 1
                kept.append(claim)
                continue
            said = {grain: verdicts[f"{number} {grain}"][0] for grain in GRAINS}
            code = self._code.get(claim.file) or Code()
            now = code.of.get(claim.name)
            home = self._home(claim) if now is None else None
            self._score(report, claim, said, is_changed=now != claim.code and home is None)
            follower = self._follower(claim, now, home)
            if follower is not None:
                kept.append(follower)
        return kept

    def _home(self, claim: Claim) -> tuple[str, str] | None:
        """Where this commit newly put the very same code under the same last name."""
        last = claim.name.rpartition(".")[2]
        for file, symbols in self._code.items():
            for name, text in (symbols or Code()).of.items():
                is_it = text == claim.code and name.rpartition(".")[2] == last
                if is_it and self._code_before(file).of.get(name) != text:
                    return file, name
        return None

    def _code_before(self, file: str) -> Code:
        if file not in self._old:
            data = self._history.read_at(self._before, file)
            self._old[file] = (judge(file, data) if data is not None else None) or Code()
        return self._old[file]

    def _score(
        self, report: Report, claim: Claim, said: Mapping[str, Drift], *, is_changed: bool
    ) -> None:
        for grain, drift in said.items():
            count = report.count(claim.language, grain)
            count.checks += 1
            count.changes += is_changed
            count.alarms += drift.is_alarm
            count.true_alarms += drift.is_alarm and is_changed
            count.moved += drift.verdict is Verdict.MOVED
            count.wrongly_moved += drift.verdict is Verdict.MOVED and is_changed
            count.unchecked += drift.verdict is Verdict.UNCHECKED
            if grain == "symbol" and drift.is_alarm != is_changed:
                what = "missed" if is_changed else "false alarm"
                where = f"{claim.file}#{claim.name}"
                told = f"{drift.verdict.value} {drift.place or ''}"
                report.odd.append(f"{self._commit[:10]} {what}: {where} {told}")

    def _follower(
        self, claim: Claim, now: str | None, home: tuple[str, str] | None
    ) -> Claim | None:
        """The claim as it goes on; None when its symbol is gone."""
        if home is not None:
            anchors = _anchors(self._history, *home)
            return None if anchors is None else Claim(*home, claim.code, anchors)
        if now is None:
            return None
        if now == claim.code:  # the file changed and the symbol did not: only the file is new
            data = self._history.read(claim.file)
            assert data is not None
            whole = replace(claim.anchors["file"], sha=blob_id(data))
            return replace(claim, anchors={**claim.anchors, "file": whole})
        renewed = _anchors(self._history, claim.file, claim.name)
        return None if renewed is None else replace(claim, code=now, anchors=renewed)


# --- the command ----------------------------------------------------------------------------------


def misses(reports: list[Report]) -> list[str]:
    """The broken promises, as sentences."""
    missed = []
    for report in reports:
        for (language, grain), count in sorted(report.counts.items()):
            if grain != "symbol" or not count.claims:
                continue
            where = f"{report.repository}, {language}"
            if count.precision < LEAST_PRECISION:
                missed.append(f"{where}: precision {count.precision:.3f}, not {LEAST_PRECISION}")
            if count.recall < LEAST_RECALL:
                missed.append(f"{where}: recall {count.recall:.3f}, not {LEAST_RECALL}")
    busiest = max(reports, key=lambda one: one.total("file").alarms)
    coarse, fine = busiest.total("file").alarms, busiest.total("symbol").alarms
    if coarse < LEAST_FEWER * fine:
        missed.append(
            f"{busiest.repository}: {coarse} alarms at file grain and {fine} at symbol grain,"
            f" not {LEAST_FEWER:g} times fewer"
        )
    return missed


def _table(reports: list[Report]) -> Iterator[str]:
    head = ("repository", "language", "grain", "claims", "changes", "alarms", "true")
    rates = ("precision", "recall", "per change", "moved", "unchecked")
    yield "".join(
        f"{word:>11}" if place > 2 else f"{word:<16}" for place, word in enumerate(head + rates)
    )
    for report in reports:
        for (language, grain), one in sorted(report.counts.items()):
            numbers = (one.claims, one.changes, one.alarms, one.true_alarms)
            shown = [f"{report.repository[-15:]:<16}{language:<16}{grain:<16}"]
            shown += [f"{number:>11}" for number in numbers]
            shown += [f"{rate:>11.3f}" for rate in (one.precision, one.recall)]
            shown += [f"{one.alarms_per_change:>11.1f}{one.moved:>11}{one.unchecked:>11}"]
            yield "".join(shown)
    for report in reports:
        fewer = report.total("file").alarms / max(report.total("symbol").alarms, 1)
        lost = Counter(line.split(" ")[1].rstrip(":") for line in report.odd)
        yield (
            f"{report.repository}: {report.commits} commits in {report.seconds:.0f} s;"
            f" {fewer:.1f} times fewer alarms at symbol grain; {lost['false']} false,"
            f" {lost['missed']} missed, {report.unjudged} not judged,"
            f" {len(report.not_anchored)} symbols not anchored"
        )


@click.command()
@click.option(
    "--repo",
    "repositories",
    multiple=True,
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A clone to walk, or its git directory; repeat it for more. Nothing in it is changed.",
)
@click.option("--commits", default=200, show_default=True, help="How far back to begin.")
@click.option("--odd", is_flag=True, help="List each false alarm and each miss at symbol grain.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--check", "judge_it", is_flag=True, help="Exit with 1 when a target is missed.")
def command(
    *, repositories: tuple[Path, ...], commits: int, odd: bool, as_json: bool, judge_it: bool
) -> None:
    """Alarms of file and symbol anchors on the histories of real repositories."""
    reports = [walk(path.resolve(), commits, tell=sys.stderr.isatty()) for path in repositories]
    missed = misses(reports)
    if as_json:
        shown = {"reports": [one.as_dict() for one in reports], "misses": missed}
        click.echo(json.dumps(shown, indent=2))
    else:
        lines = [*_table(reports), *(f"missed: {miss}" for miss in missed)]
        if odd:
            lines += [f"{one.repository} {line}" for one in reports for line in one.odd]
        click.echo("\n".join(lines))
    if missed and judge_it:
        sys.exit(1)
