"""bin/memspec and bin/test set themselves up on any machine, once, and then stay out of the way."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
import tomllib
import zipfile
from typing import TYPE_CHECKING

import pytest
from packaging.requirements import Requirement

import memspec_py

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import ModuleType

_SCRIPTS = (
    *("bin/backfill-adrs", "bin/bench", "bin/check", "bin/golden", "bin/memspec", "bin/schema"),
    "bin/memspec-mcp",
    "bin/pages",
    "bin/repair-scope-backfill",
    "bin/test",
)
SHELL_SCRIPTS = ("bin/_venv", *_SCRIPTS)
COMMANDS = (*_SCRIPTS, ".ci/run")

# Settings that people and wrappers have, and that must not reach our set-up.
HOSTILE = {
    "GIT_DIR": "/nonexistent",
    "GIT_INDEX_FILE": "/nonexistent",
    "PIP_NO_DEPS": "1",
    "PIP_PREFIX": "/nonexistent/prefix",
    "PIP_REQUIRE_HASHES": "1",
    "PIP_REQUIRE_VIRTUALENV": "1",
    "PIP_TARGET": "/nonexistent/target",
    "PIP_USER": "1",
    "PYTHONHOME": "/nonexistent",
    "PYTHONPATH": "/nonexistent",
    "VIRTUAL_ENV": "/nonexistent",
    "CDPATH": "/:/usr",
}
HOSTILE_PIP_CONF = """\
[global]
require-virtualenv = true
user = true
[install]
dry-run = true
no-deps = true
prefix = /nonexistent/prefix
target = /nonexistent/target
"""

# Stands in for the Python of a venv and shows what it was given.
ECHO = """\
#!/bin/sh
printf '[%s]' "$@"
"""


@pytest.fixture(scope="session")
def project(repository: Path) -> dict[str, dict[str, object]]:
    """The parsed pyproject.toml."""
    return tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture
def maker(repository: Path) -> ModuleType:
    """The script that makes the virtual environment, as a module."""
    spec = importlib.util.spec_from_file_location("maker", repository / "bin" / "_make_venv.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def launchers(repository: Path, tmp_path: Path) -> Path:
    """A checkout with a space in its name that holds no more than the launchers."""
    root = tmp_path / "a checkout"
    root.mkdir()
    shutil.copytree(repository / "bin", root / "bin")
    shutil.copy(repository / "pyproject.toml", root)
    return root


@pytest.fixture
def checkout(repository: Path, tmp_path: Path) -> Path:
    """A copy of this checkout, as a fresh clone would be, with a space in its name."""
    root = tmp_path / "a checkout"
    made = (".git", ".venv*", ".*_cache", ".hypothesis", "__pycache__", "build", "dist")
    shutil.copytree(repository, root, ignore=shutil.ignore_patterns(*made))
    return root


@pytest.mark.parametrize("script", SHELL_SCRIPTS)
def test_a_launcher_is_posix_shell(repository: Path, script: str) -> None:
    """The shell reads each script to its end."""
    assert _run(["sh", "-n", script], cwd=repository).returncode == 0


def test_every_script_is_tested(repository: Path) -> None:
    """None is forgotten above."""
    found = {f"bin/{one.name}" for one in (repository / "bin").iterdir() if one.is_file()}
    assert {name for name in found if not name.endswith(".py")} == {*SHELL_SCRIPTS}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_may_be_executed(repository: Path, command: str) -> None:
    """Whoever clones can start them as the README says."""
    assert (repository / command).stat().st_mode & stat.S_IXUSR


def test_every_dependency_is_bounded(project: Mapping[str, Mapping[str, object]]) -> None:
    """No release that may break us is ever installed: each requirement excludes a far one."""
    wanted = _requirements(project)
    assert len(wanted) > 10
    open_ended = [str(each) for each in wanted if each.specifier.contains("9999.0")]
    assert open_ended == []


def test_a_zero_version_is_bounded_by_its_minor(
    project: Mapping[str, Mapping[str, object]],
) -> None:
    """In 0.x the minor number is the one that breaks."""
    zero = [each for each in _requirements(project) if each.specifier.contains("0.9999")]
    assert [str(each) for each in zero] == []


def test_the_wheel_takes_the_schemas(project: Mapping[str, Mapping[str, object]]) -> None:
    """`schema/` lands inside the package."""
    wheel = json.dumps(project["tool"]["hatch"])
    assert '"schema": "memspec_py/schema"' in wheel
    assert '"only-include": ["memspec_py", "schema"]' in wheel


def test_importing_the_package_loads_nothing_else() -> None:
    """The public names are found on first use, so that `--version` need not pay for the rest."""
    code = "import sys, memspec_py; print([m for m in sys.modules if m.startswith('memspec_py.')])"
    assert _run([sys.executable, "-c", code]).stdout.strip() == "[]"


def test_every_public_name_is_there() -> None:
    """What `__all__` and `dir()` promise can be had."""
    assert dir(memspec_py) == sorted(memspec_py.__all__)
    missing = [name for name in memspec_py.__all__ if not hasattr(memspec_py, name)]
    assert missing == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A typing mistake reads as it does for any module."""
    with pytest.raises(AttributeError, match="module 'memspec_py' has no attribute 'Memspek'"):
        _ = memspec_py.Memspek  # type: ignore[attr-defined]


@pytest.mark.parametrize("command", ["memspec", "memspec-mcp"])
def test_a_ready_checkout_only_hands_over(launchers: Path, tmp_path: Path, command: str) -> None:
    """From any directory and through links, the arguments arrive as typed and stderr is empty."""
    _pretend_ready(launchers)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "first").symlink_to(launchers / "bin" / command)
    (tmp_path / "second").symlink_to("bin/first")
    done = _run([str(tmp_path / "second"), "search", "a b", "", "*"], cwd=tmp_path / "bin")
    assert done.stdout == f"[-I][{launchers}/.venv/bin/{command}][search][a b][][*]"
    assert done.stderr == ""


@pytest.mark.parametrize("spoil", ["no stamp", "other checkout", "newer", "older", "no python"])
def test_a_checkout_that_is_not_ready_says_what_it_needs(
    launchers: Path, tmp_path: Path, spoil: str
) -> None:
    """Without a Python to set up with, the launcher stops with a hint, and never half-works."""
    _pretend_ready(launchers)
    stamp, project = launchers / ".venv" / "ready-run", launchers / "pyproject.toml"
    if spoil == "no stamp":
        stamp.unlink()
    elif spoil == "other checkout":
        stamp.write_text(f"{tmp_path}\n", encoding="utf-8")
        shutil.copystat(project, stamp)
    elif spoil == "no python":
        (launchers / ".venv" / "bin" / "python").unlink()
    else:
        os.utime(project, (0, 0) if spoil == "older" else (2**31, 2**31))
    (tmp_path / "tools").mkdir()
    environment = {"PATH": str(tmp_path / "tools")}
    sh = shutil.which("sh")
    assert sh is not None
    done = _run([sh, str(launchers / "bin" / "memspec"), "status"], environment=environment)
    assert done.returncode == 9
    assert done.stdout == ""
    assert done.stderr.startswith("memspec: no Python 3.11 or newer")
    assert "\nhint: " in done.stderr


def test_pip_keeps_only_what_reaches_a_registry(maker: ModuleType) -> None:
    """Index, certificate and proxy settings are handed on; how a person likes to install is not."""
    listed = (
        "global.index-url='https://one.example/simple'\n"
        "global.user='true'\n"
        "install.find-links='/wheels'\n"
        "install.target='/elsewhere'\n"
        "freeze.cert='/not/for/install'\n"
        ":env:.index-url='https://two.example/simple'\n"
    )
    settings = maker.pip_settings(listed)
    assert settings == {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_INDEX_URL": "https://two.example/simple",
        "PIP_FIND_LINKS": "/wheels",
    }


def test_the_set_up_runs_in_a_clean_environment(
    maker: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What moves Python, pip or git goes; what reaches the network stays."""
    kept = {"HTTPS_PROXY": "http://p.example", "SSL_CERT_FILE": "/c", "GIT_SSL_CAINFO": "/c"}
    for name, value in {**HOSTILE, **kept}.items():
        monkeypatch.setenv(name, value)
    environment = maker.clean_environment()
    assert kept.items() <= environment.items()
    assert environment.keys() & (HOSTILE.keys() - {"CDPATH"}) == set()


@pytest.mark.slow
def test_first_use_on_a_hostile_machine(
    checkout: Path, tmp_path: Path, outer_environment: Mapping[str, str]
) -> None:
    """Settings of pip, Python and git do not matter; the second use is silent."""
    (tmp_path / "config" / "pip").mkdir(parents=True)
    (tmp_path / "config" / "pip" / "pip.conf").write_text(HOSTILE_PIP_CONF, encoding="utf-8")
    config_home = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    environment = {**outer_environment, **HOSTILE, **config_home}
    command = [str(checkout / "bin" / "memspec"), "--version"]
    first = _run(command, cwd=tmp_path, environment=environment)
    second = _run(command, cwd=tmp_path, environment=environment)
    assert (first.returncode, second.returncode) == (0, 0), first.stderr
    assert memspec_py.__version__ in first.stdout
    assert first.stderr.count("\n") == 1
    assert "first use" in first.stderr
    assert (second.stdout, second.stderr) == (first.stdout, "")


@pytest.mark.slow
def test_two_first_uses_at_once(checkout: Path, outer_environment: Mapping[str, str]) -> None:
    """One sets up, the others wait, and all of them run."""
    command = [str(checkout / "bin" / "memspec"), "--version"]
    racing = [_start(command, outer_environment) for _ in range(3)]
    ended = [(*each.communicate(timeout=300), each.returncode) for each in racing]
    assert [code for _, _, code in ended] == [0, 0, 0], ended
    assert sum("first use" in said for _, said, _ in ended) == 1


@pytest.mark.slow
def test_a_killed_set_up_is_done_again(
    checkout: Path, outer_environment: Mapping[str, str]
) -> None:
    """A virtual environment that was left half-made is never taken for a whole one."""
    command = [str(checkout / "bin" / "memspec"), "--version"]
    first = _start(command, outer_environment)
    while not (checkout / ".venv" / "bin" / "python").exists():
        assert first.poll() is None, first.communicate()
        time.sleep(0.05)
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate(timeout=60)
    assert not (checkout / ".venv" / "ready-run").exists()
    again = _run(command, environment=outer_environment)
    assert again.returncode == 0, again.stderr
    assert memspec_py.__version__ in again.stdout


@pytest.mark.slow
def test_a_moved_checkout_is_set_up_again(
    checkout: Path, tmp_path: Path, outer_environment: Mapping[str, str]
) -> None:
    """A venv names its place in many files, so it is made anew where the checkout now is."""
    assert _run([str(checkout / "bin" / "memspec")], environment=outer_environment).returncode != 9
    checkout.rename(tmp_path / "moved")
    done = _run(
        [str(tmp_path / "moved" / "bin" / "memspec"), "--version"], environment=outer_environment
    )
    assert done.returncode == 0, done.stderr
    assert "first use" in done.stderr


@pytest.mark.slow
def test_the_test_command_sets_itself_up(
    checkout: Path, outer_environment: Mapping[str, str]
) -> None:
    """bin/test installs what the tests need and passes its arguments to pytest."""
    environment = {**outer_environment, **HOSTILE, "PYTHONOPTIMIZE": "2"}
    command = [str(checkout / "bin" / "test"), "-q", "tests/test_launchers.py", "-k", "bounded"]
    done = _run(command, environment=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


@pytest.mark.slow
def test_the_wheel_is_whole(
    checkout: Path, tmp_path: Path, outer_environment: Mapping[str, str]
) -> None:
    """It holds the schemas and the typing mark, and nothing that is for developers."""
    target = tmp_path / "wheels"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(target),
        ".",
    ]
    environment = {k: v for k, v in outer_environment.items() if k not in HOSTILE}
    done = _run(pip, cwd=checkout, environment=environment)
    assert done.returncode == 0, done.stderr
    (wheel,) = target.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    schemas = {f"memspec_py/schema/{path.name}" for path in (checkout / "schema").glob("*.json")}
    assert schemas
    assert schemas <= names
    assert "memspec_py/py.typed" in names
    assert not {name for name in names if name.startswith(("tests/", "bin/"))}


def _requirements(project: Mapping[str, Mapping[str, object]]) -> list[Requirement]:
    """Every requirement of pyproject.toml: to build, to run, and of the extras."""
    lists = [
        project["build-system"]["requires"],
        project["project"]["dependencies"],
        *_mapping(project["project"]["optional-dependencies"]).values(),
    ]
    return [Requirement(text) for each in lists if isinstance(each, list) for text in each]


def _mapping(value: object) -> dict[str, object]:
    assert isinstance(value, dict)
    return value


def _pretend_ready(root: Path) -> None:
    python = root / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(ECHO, encoding="utf-8")
    python.chmod(0o755)
    for name in ("ready-run", "ready-mcp"):
        stamp = root / ".venv" / name
        stamp.write_text(f"{root.resolve()}\n", encoding="utf-8")
        shutil.copystat(root / "pyproject.toml", stamp)


def _run(
    command: list[str],
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def _start(command: list[str], environment: Mapping[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
