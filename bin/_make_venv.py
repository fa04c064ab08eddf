"""Make or renew the virtual environment of a checkout: ``_make_venv.py ROOT run|dev|bench``.

Started by ``bin/_venv`` with a bare Python of the machine, so it uses the standard library alone.
However often it is killed or started twice at once, the next run ends with a whole environment.
"""

from __future__ import annotations

import ast
import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator

EXIT_FAILED = 9
EXIT_INTERRUPTED = 130

# What is installed for each use; whatever else it is for, an environment runs the command.
WANTED = {
    "run": ".",
    "mcp": ".[mcp]",
    "dev": ".[dev,mcp,symbols]",
    "bench": ".[bench,mcp,symbols]",
}
STAMPS = {
    "run": ("ready-run",),
    "mcp": ("ready-run", "ready-mcp"),
    "dev": ("ready-run", "ready-mcp", "ready-dev"),
    "bench": ("ready-run", "ready-mcp", "ready-bench"),
}

# The settings of pip that say how this machine reaches packages. All others, such as `user` or
# `target`, say where or how a person likes to install, and would break an install of ours.
PIP_MAY = (
    "index-url extra-index-url find-links no-index trusted-host proxy cert client-cert"
    " keyring-provider timeout default-timeout retries cache-dir no-cache-dir constraint"
    " build-constraint use-feature use-deprecated"
).split()

# Variables that move Python, pip or git away from where they are started.
FOREIGN = ("PYTHON", "PIP_", "HATCH_", "VIRTUAL_ENV", "CONDA_PREFIX", "__PYVENV_LAUNCHER__")
GIT_MAY = ("GIT_SSL_", "GIT_PROXY_", "GIT_HTTP_")


def main(root: Path, wanted: str) -> None:
    """Leave ``ROOT/.venv`` ready, or say why not and exit."""
    with _lock(root / ".venv.lock") as lock:
        venv = Venv(root, lock)
        if not venv.is_ready(wanted):
            venv.make(wanted)


class Venv:
    """The virtual environment of one checkout; ``lock`` is the open lock that its users hold."""

    def __init__(self, root: Path, lock: int) -> None:
        self.root = root
        self.path = root / ".venv"
        self.python = self.path / "bin" / "python"
        self.ours = self.path / "made-by-bin-memspec"
        self.unfinished = self.path / "unfinished"
        self.content = f"{root}\n{_digest(root / 'pyproject.toml')}\n"
        self._lock = lock

    def is_ready(self, wanted: str) -> bool:
        """Whether another process made it meanwhile, or nothing that matters here has changed."""
        stamps = [self.path / name for name in STAMPS[wanted]]
        if not all(_text(stamp) == self.content for stamp in stamps) or not self._is_sound():
            return False
        for stamp in stamps:
            self._stamp(stamp)
        return True

    def make(self, wanted: str) -> None:
        """Install the checkout, into a fresh environment unless there is a sound one."""
        if self._is_sound():
            say(f"installing what pyproject.toml asks for into {self.path}")
            self.unfinished.touch()
        else:
            say(f"first use: making {self.path} (about half a minute)")
            self._create()
        self._install(WANTED[wanted])
        for name in STAMPS[wanted]:
            self._stamp(self.path / name)

    def _is_sound(self) -> bool:
        """Whether it may be used as it stands, whatever is installed in it."""
        if not self.path.exists():
            return False
        if not self.ours.exists() and any(self.path.iterdir()):
            # Made by hand: it may be used, and must not be thrown away.
            if self._runs():
                return True
            fail(f"{self.path} is not ours and has no working pip", "move it away and try again")
        moved = _text(self.ours) != f"{self.root}\n"
        return not moved and not self.unfinished.exists() and self._runs()

    def _runs(self) -> bool:
        """Whether its Python still starts: the one it was made from may be gone."""
        command: list[str | Path] = [self.python, "-I", "-c", "import pip"]
        try:
            return subprocess.run(command, capture_output=True, check=False).returncode == 0
        except OSError:
            return False

    def _create(self) -> None:
        if self.path.exists():
            _remove(self.path)
        self.path.mkdir()
        self.ours.write_text(f"{self.root}\n", encoding="utf-8")
        self.unfinished.touch()
        made = self._run([sys.executable, "-I", "-m", "venv", self.path], clean_environment())
        self._demand(made)

    def _install(self, what: str) -> None:
        pip: list[str | Path] = [self.python, "-I", "-m", "pip"]
        # pip cannot be told to forget one setting of a file, so no file is read, and what may
        # stand is handed over as variables.
        settings = self._run(
            [*pip, "config", "list"], clean_environment() | _pip_variables(), stdout=subprocess.PIPE
        )
        self._demand(settings)
        renews = bool(_text(self.path / "ready-run"))
        installed = self._run(
            [*pip, "install", "-qq", "--no-input", "--editable", what],
            clean_environment() | pip_settings(settings.stdout),
        )
        if renews or installed.returncode == 0:
            # When pip fails, without a network say, it leaves an older install as it was.
            self.unfinished.unlink()
        self._demand(installed)

    def _run(
        self,
        command: list[str | Path],
        environment: dict[str, str],
        stdout: int | TextIO = sys.stderr,
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            # It holds the lock too: when we are killed and it is not, nobody else may start.
            pass_fds=[self._lock],
            text=True,
            check=False,
        )

    def _demand(self, done: subprocess.CompletedProcess[str]) -> None:
        if done.returncode:
            command = " ".join(map(str, done.args))
            fail(f"failed with {done.returncode}: {command}", "the reason stands above")

    def _stamp(self, stamp: Path) -> None:
        """Write the stamp, dated as pyproject.toml: the shell compares the two dates."""
        stamp.write_text(self.content, encoding="utf-8")
        project = (self.root / "pyproject.toml").stat().st_mtime_ns
        os.utime(stamp, ns=(project, project))


def say(message: str) -> None:
    """One line on stderr: stdout belongs to the command that follows."""
    print(f"memspec: {message}", file=sys.stderr, flush=True)


def fail(message: str, hint: str) -> NoReturn:
    """Say what went wrong and what to do, and exit."""
    print(f"memspec: {message}\nhint: {hint}", file=sys.stderr, flush=True)
    sys.exit(EXIT_FAILED)


@contextlib.contextmanager
def _lock(path: Path) -> Iterator[int]:
    """Hold the lock of the checkout; the system frees it when we end, however we end."""
    with path.open("w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another process that sets up this checkout")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()


def _remove(folder: Path) -> None:
    """Take a folder out of the way at once, then delete it, so that a kill leaves no half of it."""
    aside = folder.with_name(f"{folder.name}.old")
    _delete(aside)
    folder.rename(aside)
    _delete(aside)


def _delete(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)


def _digest(project: Path) -> str:
    """What of pyproject.toml an installed environment depends on, as a short text."""
    read = tomllib.loads(project.read_text(encoding="utf-8"))
    hatch = read.get("tool", {}).get("hatch")
    depends_on = json.dumps([read.get("build-system"), read["project"], hatch], sort_keys=True)
    return hashlib.sha256(depends_on.encode()).hexdigest()


def clean_environment() -> dict[str, str]:
    """Our environment without what would lead Python, pip or git astray."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(FOREIGN)
        and (not name.startswith("GIT_") or name.startswith(GIT_MAY))
    }


def _pip_variables() -> dict[str, str]:
    kept = {f"PIP_{name.upper().replace('-', '_')}" for name in PIP_MAY} | {"PIP_CONFIG_FILE"}
    return {name: value for name, value in os.environ.items() if name in kept}


def pip_settings(listed: str) -> dict[str, str]:
    """What may stand of ``pip config list``, as variables; a later source outranks an earlier."""
    found = {"PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    for section in ("global.", "install.", ":env:."):
        for line in listed.splitlines():
            key, _, value = line.removeprefix(section).partition("=")
            if line.startswith(section) and key in PIP_MAY:
                found[f"PIP_{key.upper().replace('-', '_')}"] = str(ast.literal_eval(value))
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), sys.argv[2])
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    except OSError as problem:
        fail(str(problem), "the checkout must be writable; or install it with pip somewhere else")
