"""Real repositories for tests, made with real git."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memspec_py.anchors.drift import check
from memspec_py.anchors.resolve import Resolved, resolve_anchor

if TYPE_CHECKING:
    from pathlib import Path

    from memspec_py.anchors.verdict import Drift
    from memspec_py.record.model import Anchor


@dataclass(frozen=True)
class Repo:
    """A work tree; everything a test does in it is one short call."""

    path: Path

    @classmethod
    def make(cls, path: Path, *options: str) -> Repo:
        """A new repository."""
        path.mkdir(parents=True, exist_ok=True)
        made = cls(path)
        made.git("init", "--quiet", *options)
        return made

    def git(self, *arguments: str) -> str:
        """Run git here."""
        command = ["git", "-c", "protocol.file.allow=always", *arguments]
        done = subprocess.run(command, cwd=self.path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def write(self, file: str, content: str | bytes) -> Path:
        """Write a file, and its folder if need be."""
        place = self.path / file
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
        return place

    def commit(self, **files: str | bytes) -> None:
        """Commit everything, after writing some Python files by their stems."""
        for stem, content in files.items():
            self.write(f"{stem}.py", content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "x")

    def clone(self, path: Path, *options: str) -> Repo:
        """A clone of this repository."""
        self.git("clone", "--quiet", *options, f"file://{self.path}", str(path))
        return Repo(path)

    def anchor(self, typed: str, **changes: str) -> Anchor:
        """An anchor of this project, as a person would make it."""
        found = resolve_anchor(typed, cwd=self.path, project=self.path, env=os.environ, **changes)  # type: ignore[arg-type]
        assert isinstance(found, Resolved), found
        return found.anchor

    def check(self, *anchors: Anchor, **changes: object) -> list[Drift]:
        """The verdicts on some anchors of this project."""
        return look(self.path, *anchors, **changes)


def look(project: Path, *anchors: Anchor, **changes: object) -> list[Drift]:
    """The verdicts on some anchors, in order."""
    arguments = {"project": project, "env": os.environ, **changes}
    return check((("r", anchor) for anchor in anchors), **arguments)["r"]  # type: ignore[arg-type]
