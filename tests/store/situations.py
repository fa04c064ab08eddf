"""Directories as people have them, made from a few lines: stores, pointers, links, worktrees.

::

    world = Situation(tmp_path)
    world.make('''
        store ~/app : scopes: {api: [api]}
        pointer ~/app/api : team @/team rw 10, app .. ro
        worktree ~/copy of ~/app
    ''')

``~`` is the home and ``@`` the folder outside of it. Each line is one of these:

=====================================  ============================================================
``dir PATH``                           a folder
``store PATH [: SETTINGS]``            a store in a folder, with a record; settings end at `` | ``
``layers PATH : LAYERS [| SETTINGS]``  the same with ``stores:``
``pointer PATH : LAYERS``              a pointer; a layer is ``NAME PATH [rw|ro [PRIORITY]]``
``file PATH : TEXT``                   any file; `` | `` ends a line
``link PATH -> PATH``                  a symbolic link
``mode PATH : OCTAL``                  who may do what
``owner PATH : NUMBER``                another user's (only root can make it so)
``git PATH``, ``bare PATH``            a repository
``commit PATH``                        everything in a repository is committed
``clone PATH of PATH``                 a clone; ``fetch PATH`` fetches
``worktree PATH of PATH``              a linked worktree
``submodule PATH of PATH``             a repository as submodule of the one that it lies in
``trust PATH``                         the user's word, as by ``memspec trust``
``env NAME=VALUE``                     a variable of the environment
``home PATH``                          what HOME names; ``~`` stays the same folder
``uid NUMBER``                         who the caller is taken for
``caseless``, ``nobody``               not played where names differ by case, or for root
=====================================  ============================================================
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memspec_py import Memspec
from memspec_py.clock import FixedClock
from memspec_py.record.parse import print_record
from memspec_py.store import layout
from memspec_py.store.resolve import Surroundings
from memspec_py.testing import a_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Situation:
    """A home, a world outside of it, and what was put there."""

    def __init__(self, folder: Path) -> None:
        self.base = folder / "world"
        self.home = self.base / "home" / "me"
        self.home.mkdir(parents=True)
        self.home_name: Path | None = self.home
        self.env: dict[str, str] = {}
        self.uid: int | None = None
        self.stores: dict[str, Path] = {}

    def make(self, text: str) -> Situation:
        """Do what each line says."""
        for line in text.splitlines():
            verb, _, rest = line.strip().partition(" ")
            if verb:
                made: Callable[[str], None] = getattr(self, f"_{verb}")
                made(rest.strip())
        return self

    def path(self, text: str) -> Path:
        """A path with ``~`` and ``@`` filled in."""
        first, _, rest = text.partition("/")
        start = {"~": self.home, "@": self.base}.get(first)
        return self.base / text if start is None else start / rest

    def where(self, at: str) -> Surroundings:
        """Being in a folder."""
        return Surroundings(self.path(at), self.home_name, dict(self.env), self.uid)

    def open(self, at: str, start: str | None = None, store: str | None = None) -> Memspec:
        """What serves a folder, opened as by a command there."""
        return Memspec.open(
            None if start is None else self.path(start),
            store=None if store is None else self._filled(store),
            where=self.where(at),
            clock=FixedClock(),
        )

    def records(self) -> dict[Path, bytes]:
        """Every record file there is, by its real path."""
        return {path: path.read_bytes() for path in self._walk(".md")}

    def everything(self) -> dict[Path, bytes]:
        """Every file there is."""
        return {path: path.read_bytes() for path in self._walk("")}

    def marker(self, at: str) -> str:
        """The title of the record that the store of a folder was made with.

        A store that git copied has that of the first one.
        """
        return f"Planted number {list(self.stores).index(at) + 1 if at in self.stores else 1}"

    def root(self, at: str) -> str:
        """The real path of a folder's store."""
        path = self.path(at)
        return os.path.realpath(
            path if path.name == layout.STORE_NAME else path / layout.STORE_NAME
        )

    def _walk(self, ending: str) -> Iterator[Path]:
        for folder, _, names in os.walk(self.base):
            for name in names:
                path = Path(folder, name)
                if name.endswith(ending) and not path.is_symlink():
                    yield path

    def _filled(self, text: str) -> str:
        return text.replace("@/", f"{self.base}/")

    def _dir(self, text: str) -> None:
        self.path(text).mkdir(parents=True, exist_ok=True)

    def _store(self, text: str) -> None:
        at, _, settings = text.partition(" : ")
        root = self.path(at)
        root = root if root.name == layout.STORE_NAME else root / layout.STORE_NAME
        (root / "memory" / "facts").mkdir(parents=True)
        self.stores[at] = root
        record = a_record(len(self.stores), title=self.marker(at))
        (root / layout.path_of(record)).write_text(print_record(record), encoding="utf-8")
        if settings:
            self._file(f"{root / layout.CONFIG} : {settings}")

    def _layers(self, text: str) -> None:
        at, _, rest = text.partition(" : ")
        layers, _, more = rest.partition(" | ")
        self._store(f"{at} : {_stores(layers)}{f' | {more}' if more else ''}")

    def _pointer(self, text: str) -> None:
        at, _, layers = text.partition(" : ")
        self._dir(at)
        self._file(f"{self.path(at) / layout.POINTER_NAME} : {_stores(layers)}")

    def _file(self, text: str) -> None:
        at, _, content = text.partition(" : ")
        path = self.path(at)
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = self._filled(content).replace(" | ", "\n")
        path.write_text(f"{lines}\n", encoding="utf-8")

    def _link(self, text: str) -> None:
        at, _, target = text.partition(" -> ")
        self.path(at).parent.mkdir(parents=True, exist_ok=True)
        self.path(at).symlink_to(self.path(target))

    def _mode(self, text: str) -> None:
        at, _, mode = text.partition(" : ")
        self.path(at).chmod(int(mode, 8))

    def _owner(self, text: str) -> None:
        at, _, number = text.partition(" : ")
        if os.geteuid() != 0:
            pytest.skip("only root can give a file to another user")
        os.chown(self.path(at), int(number), -1, follow_symlinks=False)

    def _git(self, text: str) -> None:
        self._dir(text)
        self.run(text, "init", "--quiet")
        self.run(text, "commit", "--quiet", "--allow-empty", "-m", "first")

    def _bare(self, text: str) -> None:
        self._git(f"{text}.src")
        self.run(f"{text}.src", "clone", "--quiet", "--bare", ".", str(self.path(text)))

    def _commit(self, text: str) -> None:
        self.run(text, "add", "--all", "--force")
        self.run(text, "commit", "--quiet", "--allow-empty", "-m", "more")

    def _clone(self, text: str) -> None:
        at, _, source = text.partition(" of ")
        self.run("~", "clone", "--quiet", str(self.path(source)), str(self.path(at)))

    def _fetch(self, text: str) -> None:
        self.run(text, "fetch", "--quiet")

    def _worktree(self, text: str) -> None:
        at, _, source = text.partition(" of ")
        self.run(source, "worktree", "add", "--quiet", "--detach", str(self.path(at)))

    def _submodule(self, text: str) -> None:
        at, _, source = text.partition(" of ")
        path = self.path(at)
        allow = ("-c", "protocol.file.allow=always")
        above = str(path.parent)
        self.run(above, *allow, "submodule", "--quiet", "add", str(self.path(source)), path.name)

    def _trust(self, text: str) -> None:
        Memspec.trust(self.path(text), where=self.where("~"))

    def _env(self, text: str) -> None:
        name, _, value = text.partition("=")
        self.env[name] = str(self.path(value)) if value[:1] in ("~", "@") else value

    def _home(self, text: str) -> None:
        self.home_name = self.path(text)

    def _uid(self, text: str) -> None:
        self.uid = int(text)

    def _caseless(self, _: str) -> None:
        if not (self.base / "HOME").exists():
            pytest.skip("this disk tells upper from lower case")

    def _nobody(self, _: str) -> None:
        if os.geteuid() == 0:
            pytest.skip("root may read everything")

    def run(self, at: str, *arguments: str) -> None:
        """Git, in a folder."""
        subprocess.run(["git", *arguments], cwd=self.path(at), check=True, capture_output=True)


def _stores(layers: str) -> str:
    """The ``stores:`` of some layers, as YAML with `` | `` between the lines."""
    lines = ["stores:"]
    for layer in layers.split(", "):
        name, path, *rest = layer.split()
        lines += [f"  - name: {name}", f'    path: "{path}"']
        lines += [f"    writable: {'true' if word == 'rw' else 'false'}" for word in rest[:1]]
        lines += [f"    priority: {priority}" for priority in rest[1:]]
    return " | ".join(lines)
