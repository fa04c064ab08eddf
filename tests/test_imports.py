from __future__ import annotations

import ast
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import memspec_py
from memspec_py.testing import TempStore, a_record, an_id

if TYPE_CHECKING:
    from pathlib import Path

# What a search of a fresh index has no use for; each costs more than the search itself, or starts
# something a read must not start.
DEAR = {
    *("sqlite_utils", "jsonschema", "ruamel", "ulid", "frontmatter", "yaml", "filelock"),
    *("subprocess", "pickle", "tempfile", "hypothesis", "asyncio", "logging", "multiprocessing"),
}
_TELL = "import sys; sys.stdout.flush(); sys.stderr.write(repr(sorted(sys.modules)))"


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """A store whose index is fresh."""
    made = TempStore(tmp_path)
    for number in range(1, 4):
        made.put(a_record(number, body="harbour"))
    os.utime(made.root / "memory")
    made.ms.search("harbour")
    return made


def loaded(store: TempStore, *arguments: str) -> set[str]:
    """The modules a command has imported when it is done, in a process of its own."""
    code = (
        "import atexit; atexit.register(lambda: exec(" + repr(_TELL) + "))\n"
        "from memspec_py.cli.main import main; main(" + repr(list(arguments)) + ")"
    )
    environment = {"HOME": str(store.home), "PATH": os.environ["PATH"]}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=store.project,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    modules = set(ast.literal_eval(done.stderr))
    assert "memspec_py.cli.main" in modules
    return modules


@pytest.mark.parametrize(
    "arguments",
    [
        ["search", "harbour"],
        ["search", "harbour", "--json"],
        ["search", "where is getHarbourById", "--full", "--explain", "--expand-edges"],
        ["list"],
        ["status"],
        ["context"],
        ["context", "--query", "harbour"],
    ],
    ids=" ".join,
)
def test_a_read_of_a_fresh_index_imports_nothing_dear(
    store: TempStore, arguments: list[str]
) -> None:
    """Start-up is part of the product: agents run this hundreds of times a day."""
    assert {name.partition(".")[0] for name in loaded(store, *arguments)} & DEAR == set()


def test_a_page_without_anchors_loads_nothing_of_them(store: TempStore) -> None:
    """And one whose code is as it was starts no process."""
    for arguments in (["search", "harbour"], ["list"], ["status"], ["context"]):
        found = {
            name for name in loaded(store, *arguments) if name.startswith("memspec_py.anchors")
        }
        assert found <= {"memspec_py.anchors"}, arguments
    (store.project / "pier.py").write_text("x = 1\n", encoding="utf-8")
    store.ms.anchor(an_id(1), ["pier.py"])
    modules = loaded(store, "search", "harbour")
    assert "memspec_py.anchors.drift" in modules
    needless = {"memspec_py.anchors.symbols_python", "memspec_py.anchors.moves", "subprocess"}
    assert modules & needless == set()


def test_importing_the_package_loads_nothing_of_it() -> None:
    """Each public name is imported on first use."""
    code = "import sys, memspec_py; print([m for m in sys.modules if m.startswith('memspec_py.')])"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", memspec_py.__all__)
def test_every_public_name_is_there(name: str) -> None:
    """`__all__` names what exists, and nothing else is offered."""
    assert getattr(memspec_py, name) is not None
    assert name in dir(memspec_py)


def test_a_name_that_is_not_public_is_an_error() -> None:
    """With the name in the message."""
    with pytest.raises(AttributeError, match="nonsense"):
        getattr(memspec_py, "nonsense")  # noqa: B009 - a type checker would refuse the name
