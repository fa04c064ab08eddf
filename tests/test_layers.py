"""Imports point down only, and below the fronts nothing reads the world: DESIGN.md, "Layers"."""

from __future__ import annotations

import ast
from collections import ChainMap
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, TypeGuard

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

PACKAGE = "memspec_py"
VERSION = "memspec_py.__version__"  # a constant, and importing it loads nothing else

# From the top. `testing` builds whole stores out of every row for tests, ours and our users', and
# `__main__` starts the command line, so both stand above the fronts. `__init__` offers names of
# every row without importing any at start-up; for whoever imports it, it is the API.
ROWS = (
    {"testing", "__main__"},
    {"cli", "mcp_server", "hooks"},
    {"render"},
    {"api", "__init__"},
    {"acts", "views", "intake", "inbox"},
    {"layered"},
    {"workspace"},
    {"index", "anchors", "trust"},
    {"store"},
    {"record"},
    {"config", "identifiers"},
    {"report", "ids", "clock", "text"},
    {"errors"},
)
ROW = {part: number for number, row in enumerate(ROWS) for part in row}

# An error carries findings, and their class is needed for type checking alone.
FOR_TYPES_ONLY = {("errors", "report")}

# What has to come in as an argument below the API.
WORLD = {
    "os.environ": "the environment",
    "os.environb": "the environment",
    "os.getenv": "the environment",
    "os.path.expanduser": "the home directory",
    "pathlib.Path.home": "the home directory",
    "datetime.datetime.now": "the clock",
    "datetime.datetime.utcnow": "the clock",
    "datetime.datetime.today": "the clock",
    "datetime.date.today": "the clock",
    "time.time": "the clock",
    "time.time_ns": "the clock",
    "time.gmtime": "the clock",
    "time.localtime": "the clock",
    "builtins.print": "the terminal",
    "builtins.input": "the terminal",
    "sys.argv": "the terminal",
    "sys.stdin": "the terminal",
    "sys.stdout": "the terminal",
    "sys.stderr": "the terminal",
}
ALLOWED = {
    ("clock.py", "datetime.datetime.now"),
    # A child process answers its parent over its own two pipes; no terminal is there.
    ("index/parallel.py", "sys.stdin"),
    ("index/parallel.py", "sys.stdout"),
}


@dataclass(frozen=True)
class Import:
    """One module imported by another."""

    target: str
    line: int
    for_types: bool
    at_start: bool


@dataclass(frozen=True)
class Module:
    """A source file with its dotted name and its syntax tree."""

    name: str
    path: str
    tree: ast.Module
    is_package: bool

    @property
    def part(self) -> str:
        """The package or module right below the root that this file belongs to."""
        return _part(self.name)


def test_the_tree_keeps_to_the_layers(repository: Path) -> None:
    """No module imports a sibling row, a higher row, or a part that stands in no row."""
    assert _listed(upward_imports(modules(repository / PACKAGE))) == ""


def test_no_two_modules_need_each_other(repository: Path) -> None:
    """Imports that run at start-up have no cycle."""
    assert _listed(cycles(modules(repository / PACKAGE))) == ""


def test_the_world_comes_in_as_arguments(repository: Path) -> None:
    """Below the API nothing prints, and nothing reads the environment, the clock or the home."""
    assert _listed(world_reads(modules(repository / PACKAGE))) == ""


@pytest.mark.parametrize(
    ("path", "source", "complaint"),
    [
        ("record/parse.py", "import memspec_py.store", "record/parse.py imports store (line 1)"),
        ("record/parse.py", "from memspec_py.store import files", "imports store"),
        ("record/parse.py", "from memspec_py import store", "imports store"),
        ("record/parse.py", "from ..store.files import create", "imports store"),
        ("record/__init__.py", "from ..store import files", "imports store"),
        ("record/parse.py", "def f():\n    from memspec_py import api", "imports api (line 2)"),
        ("record/parse.py", "if TYPE_CHECKING:\n    import memspec_py.api", "imports api (line 2)"),
        ("cli/main.py", "import_module('memspec_py.hooks.git')", "cli/main.py imports hooks"),
        ("acts/remember.py", "from memspec_py import Memspec", "acts/remember.py imports __init__"),
        ("index/db.py", "import memspec_py.trust.tiers", "index/db.py imports trust"),
        ("errors.py", "from memspec_py.report import Finding", "errors.py imports report"),
        ("errors.py", "if TYPE_CHECKING:\n    from memspec_py.ids import is_id", "imports ids"),
        ("cli/main.py", "import memspec_py.testing", "cli/main.py imports testing"),
        ("helpers.py", "", "helpers.py is in no layer"),
        ("record/parse.py", "import memspec_py.odd", "record/parse.py imports odd"),
    ],
)
def test_an_import_that_does_not_point_down_is_named(
    tmp_path: Path, path: str, source: str, complaint: str
) -> None:
    """The checker catches each way to import upward, sideways or out of the rows."""
    assert complaint in _listed(upward_imports(_tree(tmp_path, {path: source})))


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("cli/main.py", "from memspec_py import Memspec, __version__"),
        ("record/parse.py", "from memspec_py.record import model\nfrom . import rules"),
        ("record/parse.py", "from memspec_py import __version__, ids\nimport os.path"),
        ("errors.py", "if TYPE_CHECKING:\n    from memspec_py.report import Finding"),
        ("testing.py", "import memspec_py.cli.main"),
        ("__init__.py", "from memspec_py.api import Memspec"),
    ],
)
def test_an_import_that_points_down_is_fine(tmp_path: Path, path: str, source: str) -> None:
    """The checker leaves alone what the layers allow."""
    assert _listed(upward_imports(_tree(tmp_path, {path: source}))) == ""


def test_a_cycle_is_named(tmp_path: Path) -> None:
    """Two modules of one package that import each other at start-up are reported with the way."""
    tree = _tree(
        tmp_path,
        {"record/a.py": "from memspec_py.record import b", "record/b.py": "from .a import one"},
    )
    assert _listed(cycles(tree)).startswith("import cycle: ")
    assert "record/a.py" in _listed(cycles(tree))
    assert "record/b.py" in _listed(cycles(tree))


def test_a_late_or_type_only_import_makes_no_cycle(tmp_path: Path) -> None:
    """Imports inside functions and for type checkers do not run at start-up."""
    late = "def f():\n    from memspec_py.record import a"
    tree = _tree(
        tmp_path,
        {
            "record/a.py": "from memspec_py.record import b, c",
            "record/b.py": late,
            "record/c.py": "if TYPE_CHECKING:\n    from memspec_py.record import a",
        },
    )
    assert _listed(cycles(tree)) == ""


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("import os\nx = os.environ['A']", "store/files.py reads the environment: os.environ"),
        ("from os import environ as e\nx = e['A']", "os.environ (line 2)"),
        ("import os as o\nx = o.getenv('A')", "os.getenv"),
        ("print('x')", "store/files.py reads the terminal: builtins.print"),
        ("import sys\nsys.stderr.write('x')", "sys.stderr"),
        ("import datetime as d\nx = d.datetime.now(d.UTC)", "datetime.datetime.now"),
        ("from datetime import datetime\nx = datetime.now", "datetime.datetime.now"),
        ("import time\nx = time.time()", "time.time"),
        ("from time import time\nx = time()", "time.time"),
        ("from pathlib import Path\nx = Path.home()", "pathlib.Path.home"),
        ("from pathlib import Path\nx = Path('~').expanduser()", "expanduser"),
        ("import os.path\nx = os.path.expanduser('~')", "expanduser"),
        ("def f():\n    import os\n    return os.environ", "os.environ (line 3)"),
    ],
)
def test_a_look_at_the_world_is_named(tmp_path: Path, source: str, complaint: str) -> None:
    """The checker sees through aliases and names what is read, and where."""
    assert complaint in _listed(world_reads(_tree(tmp_path, {"store/files.py": source})))


def test_fronts_and_the_clock_may_look(tmp_path: Path) -> None:
    """The rule binds what lies below the API; of that, the clock alone may ask for the time."""
    tree = _tree(
        tmp_path,
        {
            "cli/main.py": "import os\nprint(os.environ)",
            "api.py": "import os\nx = os.environ",
            "clock.py": "from datetime import UTC, datetime\nx = datetime.now(UTC)",
            "store/lock.py": "import time\nx = time.monotonic()",
        },
    )
    assert _listed(world_reads(tree)) == ""


def modules(root: Path) -> list[Module]:
    """Every source file below the package's folder."""
    return [_module(root, path) for path in sorted(root.rglob("*.py"))]


def upward_imports(tree: list[Module]) -> Iterator[str]:
    """One sentence for each import that does not point down."""
    for module in tree:
        if module.part not in ROW:
            yield f"{module.path} is in no layer: give it a row in tests/test_layers.py"
            continue
        if module.name == PACKAGE:
            continue
        for found in imports(module, tree):
            target = _part(found.target)
            if not _points_down(module.part, target, for_types=found.for_types):
                yield f"{module.path} imports {target} (line {found.line})"


def cycles(tree: list[Module]) -> Iterator[str]:
    """The first import cycle at start-up, if there is one."""
    paths = {module.name: module.path for module in tree}
    graph = {
        module.name: {found.target for found in imports(module, tree) if found.at_start}
        - {module.name}
        for module in tree
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as problem:
        names: list[str] = problem.args[1]
        yield "import cycle: " + " needs ".join(paths.get(name, name) for name in names[::-1])


def world_reads(tree: list[Module]) -> Iterator[str]:
    """One sentence for each look at the environment, the clock, the home or the terminal."""
    for module in tree:
        if ROW.get(module.part, len(ROWS)) <= ROW["api"]:
            continue
        for name, line in _uses(module.tree):
            what = WORLD.get(name) or ("the home directory" if name == "?.expanduser" else None)
            if what and (module.path, name) not in ALLOWED:
                yield f"{module.path} reads {what}: {name} (line {line})"


def imports(module: Module, tree: list[Module]) -> Iterator[Import]:
    """Every import of our own modules, wherever in the file it stands."""
    known = {each.name for each in tree}
    for node, for_types, at_start in _walk(module.tree):
        for name in _targets(node, module):
            if name != VERSION and f"{name}.".startswith(f"{PACKAGE}."):
                target = _innermost(name, known)
                yield Import(target, getattr(node, "lineno", 0), for_types, at_start)


def _points_down(part: str, target: str, *, for_types: bool) -> bool:
    if part == target or (for_types and (part, target) in FOR_TYPES_ONLY):
        return True
    return target in ROW and ROW[part] < ROW[target]


def _module(root: Path, path: Path) -> Module:
    relative = path.relative_to(root)
    parts = [PACKAGE, *relative.with_suffix("").parts]
    is_package = parts[-1] == "__init__"
    name = ".".join(parts[:-1] if is_package else parts)
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    return Module(name, relative.as_posix(), tree, is_package)


def _part(name: str) -> str:
    pieces = name.split(".")
    return pieces[1] if len(pieces) > 1 else "__init__"


def _walk(
    node: ast.AST, *, for_types: bool = False, at_start: bool = True
) -> Iterator[tuple[ast.AST, bool, bool]]:
    """Every node, with whether it is for type checkers only and whether it runs on import."""
    yield node, for_types, at_start and not for_types
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        at_start = False
    typed: list[ast.AST] = list(node.body) if _asks_for_types(node) else []
    for child in ast.iter_child_nodes(node):
        yield from _walk(child, for_types=for_types or child in typed, at_start=at_start)


def _asks_for_types(node: ast.AST) -> TypeGuard[ast.If]:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def _targets(node: ast.AST, module: Module) -> Iterable[str]:
    """The dotted names a statement imports, before we know which of them are modules."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        source = _source(node, module)
        return [f"{source}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
        return [
            arg.value
            for arg in node.args
            if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
        ]
    return ()


def _source(node: ast.ImportFrom, module: Module) -> str:
    """The absolute name after ``from``."""
    if node.level == 0:
        return node.module or ""
    package = module.name.split(".")
    ups = node.level - 1 if module.is_package else node.level
    return ".".join([*package[: len(package) - ups], *filter(None, [node.module])])


def _innermost(name: str, known: set[str]) -> str:
    """The module that a dotted name lies in: the name itself, or what is left without its end."""
    parent, _, last = name.rpartition(".")
    if name in known or not parent:
        return name
    if parent == PACKAGE:
        # Either a name that the package offers, or a part whose files are not in this tree.
        return name if last in ROW or last.islower() else PACKAGE
    return parent


def _uses(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Each dotted name used, with its line, written as if nothing had been renamed on import."""
    renamed = ChainMap(_renamed(tree), {"print": "builtins.print", "input": "builtins.input"})
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield renamed.get(node.id, node.id), node.lineno
        elif isinstance(node, ast.Attribute):
            if node.attr == "expanduser":
                yield "?.expanduser", node.lineno
            else:
                yield _dotted(node, renamed), node.lineno


def _renamed(tree: ast.Module) -> dict[str, str]:
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {a.asname: a.name for a in node.names if a.asname}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    return names


def _dotted(node: ast.expr, renamed: Mapping[str, str]) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value, renamed)}.{node.attr}"
    return renamed.get(node.id, node.id) if isinstance(node, ast.Name) else "?"


def _tree(root: Path, files: Mapping[str, str]) -> list[Module]:
    for path, source in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(source, encoding="utf-8")
    return modules(root)


def _listed(complaints: Iterable[str]) -> str:
    return "\n".join(dict.fromkeys(complaints))
