"""What every test may rely on: a pinned machine, a throw-away home, real repositories."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

REPOSITORY = Path(__file__).resolve().parent.parent

# The environment as it was before any fixture pinned it.
_OUTER = dict(os.environ)

_PINNED = {"TZ": "UTC", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
# A hook or a wrapper that runs the tests may have set these, and they would redirect git, the
# store, the home or the editor of the code under test.
_FORBIDDEN_PREFIXES = ("GIT_", "MEMSPEC_", "XDG_")
_FORBIDDEN = ("EDITOR", "VISUAL", "PAGER", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR")

_GIT_CONFIG = """\
[user]
    name = Test
    email = test@example.invalid
[init]
    defaultBranch = main
[commit]
    gpgSign = false
[core]
    autocrlf = false
"""

settings.register_profile(
    "default",
    deadline=None,
    derandomize=False,
    print_blob=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("ci", settings.get_profile("default"), derandomize=True)
settings.register_profile("deep", settings.get_profile("default"), max_examples=1000)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") == "true" else "default")
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer ``--slow``."""
    parser.addoption("--slow", action="store_true", help="also run the tests marked slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what uses the real data, and leave slow tests out unless they are asked for."""
    for item in items:
        if "data_dir" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.data)
    if config.getoption("--slow"):
        return
    left_out = [item for item in items if item.get_closest_marker("slow")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]


@pytest.fixture(scope="session", autouse=True)
def _pinned_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One time zone, one locale, an empty home and our own git settings, on any machine."""
    home = tmp_path_factory.mktemp("home")
    git_config = home / ".gitconfig"
    git_config.write_text(_GIT_CONFIG, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        for name in _OUTER:
            if name.startswith(_FORBIDDEN_PREFIXES) or name in _FORBIDDEN:
                patch.delenv(name)
        for name, value in _PINNED.items():
            patch.setenv(name, value)
        patch.setenv("HOME", str(home))
        patch.setenv("USERPROFILE", str(home))
        patch.setenv("GIT_CONFIG_GLOBAL", str(git_config))
        patch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
        _apply_time_zone()
        yield
    _apply_time_zone()


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of this checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def outer_environment() -> Mapping[str, str]:
    """The environment the tests were started in, for what must reach a package registry."""
    return dict(_OUTER)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The real-world sets: ``MEMSPEC_TEST_DATA``, else ``../shared/data`` beside the checkout."""
    named = _OUTER.get("MEMSPEC_TEST_DATA")
    folder = Path(named) if named else REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no test data in {folder}; set MEMSPEC_TEST_DATA to its folder")
    return folder


@pytest.fixture
def git_repo(tmp_path: Path) -> Path:
    """An empty git repository on branch ``main``."""
    root = tmp_path / "repo"
    root.mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
    return root


def _apply_time_zone() -> None:
    if hasattr(time, "tzset"):  # not on Windows
        time.tzset()
