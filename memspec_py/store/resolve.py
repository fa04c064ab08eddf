"""Which stores serve a directory, and why: one resolver for every read and every write.

The nearest ``.memspec`` folder or ``.memspec.yaml`` pointer upward is what serves a place. What it
declares (``stores:``) is made into layers by ``store.layers``.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.errors import NoStore
from memspec_py.store.layout import POINTER_NAME, STORE_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Surroundings(NamedTuple):
    """What the process lives in, handed down by the fronts.

    ``uid`` is the number of the user files are expected to belong to; None is the process's.
    """

    cwd: Path
    home: Path | None
    env: Mapping[str, str]
    uid: int | None = None


class Found(NamedTuple):
    """What serves a place: a store, or a pointer to some.

    ``path`` is the ``.memspec`` folder or the ``.memspec.yaml`` file, ``project`` the folder of the
    code it speaks of, ``place`` where the caller stands. ``ignored`` tells of pointers that cannot
    be trusted.
    """

    path: Path
    project: Path
    place: Path
    steps: tuple[str, ...]
    ignored: tuple[str, ...] = ()

    @property
    def is_pointer(self) -> bool:
        """Whether it only says where the stores are."""
        return self.path.name == POINTER_NAME


class _Spot(NamedTuple):
    """A folder to look in: the project it would serve, and why it is looked at if not above."""

    folder: Path
    project: Path
    why: str = ""


def find(where: Surroundings, start: Path | None = None) -> Found:
    """What serves ``start``, else ``MEMSPEC_ROOT``, else the working directory.

    Raises ``NoStore``, which says where it looked and how to make one.
    """
    asked, first = starting_point(where, start)
    if asked.name == STORE_NAME:
        if os.path.isdir(asked):
            steps = (first, f"{asked} is named as the store itself")
            return Found(asked, asked.parent, place_of(where, start), steps)
        raise NoStore(f"no store at {asked}", hint=f"make one with: memspec init {asked}")
    if asked != where.cwd and not os.path.lexists(asked):
        # To walk up from a misspelt path would serve a store that nobody named.
        raise NoStore(f"{asked} is not there ({first})", hint="name a folder that exists")
    ignored: list[str] = []
    found = _walked(asked, where, ignored)
    if found is None:
        raise NoStore(
            "; ".join([f"no store in {asked} or above it", *ignored]),
            hint=f"make one with: memspec init {asked}",
        )
    path, spot = found
    word = "points to the stores" if path.name == POINTER_NAME else "is a store"
    told = (first, *ignored, f"{path} {word}{spot.why}")
    return Found(path, spot.project, place_of(where, start), told, tuple(ignored))


def enclosing_store(folder: Path, where: Surroundings) -> Path | None:
    """What serves a folder from strictly above it, or from its main checkout.

    A store in the folder would hide it. A pointer in the folder itself counts, too.
    """
    found = _walked(folder, where, [], below=folder / STORE_NAME)
    return found[0] if found else None


def distrusted(declaration: Path, where: Surroundings) -> str | None:
    """Why a file that names stores is not followed, if so.

    It redirects whoever believes it, so it has to be theirs.
    """
    try:
        itself, folder = os.lstat(declaration), os.stat(declaration.parent)
    except OSError as problem:
        return f"{declaration} is ignored: {problem.strerror}"
    is_link = stat.S_ISLNK(itself.st_mode)
    about = _target(declaration) if is_link and declaration.name != STORE_NAME else None
    if any(one.st_uid != owner(where) for one in (itself, about) if one):
        return f"{declaration} is ignored: it belongs to another user"
    if folder.st_mode & stat.S_IWOTH:
        return f"{declaration} is ignored: everybody may write in {declaration.parent}"
    if (about or itself).st_mode & stat.S_IWOTH and not (is_link and about is None):
        return f"{declaration} is ignored: everybody may write it"
    return None


def _target(link: Path) -> os.stat_result | None:
    """What a link leads to. One to nowhere is not passed over for that: its reader complains."""
    try:
        return os.stat(link)
    except OSError:
        return None


def expanded(path: Path, where: Surroundings) -> Path:
    """An absolute path without ``~`` and ``..``; symbolic links stay as they are."""
    return absolute(os.fspath(path), where.cwd, where.home)


def absolute(text: str, base: Path, home: Path | None) -> Path:
    """A path as somebody wrote it, from the folder it is relative to."""
    if home is not None and (text == "~" or text.startswith("~/")):
        text = os.path.join(home, text[2:])
    return Path(os.path.normpath(os.path.join(base, text)))


def owner(where: Surroundings) -> int:
    """The number of the user that files are expected to belong to."""
    return os.geteuid() if where.uid is None else where.uid


def is_home(folder: Path, where: Surroundings) -> bool:
    """Whether a folder is the home, by whatever name one came to it."""
    if where.home is None or folder == where.home:
        return where.home is not None
    try:
        return os.path.samefile(folder, where.home)
    except OSError:
        return False


def place_of(where: Surroundings, start: Path | None) -> Path:
    """Where the caller stands, which is what scopes go by.

    ``MEMSPEC_ROOT``, or the path of a store, names stores and says nothing of that.
    """
    place = where.cwd if start is None else expanded(start, where)
    return where.cwd if place.name == STORE_NAME else place


def starting_point(where: Surroundings, start: Path | None) -> tuple[Path, str]:
    """Where to begin looking, and why there, as a sentence."""
    if start is not None:
        place = expanded(start, where)
        return place, f"start at {place}, as asked"
    named = where.env.get("MEMSPEC_ROOT")
    if named:
        place = expanded(Path(named), where)
        return place, f"start at {place}, from MEMSPEC_ROOT"
    return where.cwd, f"start at {where.cwd}, the working directory"


def _walked(
    start: Path, where: Surroundings, ignored: list[str], below: Path | None = None
) -> tuple[Path, _Spot] | None:
    """The first store or pointer on the way up, but for ``below`` itself.

    The way the caller came by is walked first. A store of the home that it leads to yields to one
    that the real path leads to: behind a symbolic link lies another project.
    """
    found = _first(_spots(start, where), where, ignored, below)
    real = Path(os.path.realpath(start))
    if real == start or (found is not None and not is_home(found[1].folder, where)):
        return found
    behind = _first(_spots(real, where), where, ignored, below)
    if behind is None or is_home(behind[1].folder, where):
        return found or behind
    path, spot = behind
    return path, spot._replace(why=f"{spot.why}, found from {real}, where {start} leads")


def _first(
    spots: Iterator[_Spot], where: Surroundings, ignored: list[str], below: Path | None
) -> tuple[Path, _Spot] | None:
    for spot in spots:
        for path in (spot.folder / STORE_NAME, spot.folder / POINTER_NAME):
            if path == below or not os.path.lexists(path):
                continue
            problem = _passed_over(path, where)
            if problem is None:
                return path, spot
            if problem not in ignored:
                ignored.append(problem)
    return None


def _passed_over(path: Path, where: Surroundings) -> str | None:
    """Why a store or a pointer on the way up is none of the caller's.

    A link in place of a store is like a pointer: also one to nowhere is not passed over.
    """
    if path.name == POINTER_NAME:
        return distrusted(path, where)
    about = os.lstat(path)
    if stat.S_ISDIR(about.st_mode) or stat.S_ISLNK(about.st_mode):
        if about.st_uid == owner(where) or not os.stat(path.parent).st_mode & stat.S_IWOTH:
            return None
        why = f"it belongs to another user, and everybody may write in {path.parent}"
        return f"{path} is ignored: {why}"
    return f"{path} is ignored: it is no folder"


def _spots(start: Path, where: Surroundings) -> Iterator[_Spot]:
    """The folders to look in, nearest first.

    Inside the home folder the walk ends there, so that nothing above it can capture a session;
    elsewhere it goes to the root of the file system. Where it leaves a linked worktree of git, it
    looks at the same folders of the main checkout first.
    """
    only = where.env.get("MEMSPEC_NO_WALK") == "1"
    for folder in (start, *start.parents):
        yield _Spot(folder, folder)
        if only:
            return
        yield from _of_main_checkout(folder, start)
        if is_home(folder, where):
            return


def _of_main_checkout(top: Path, start: Path) -> Iterator[_Spot]:
    if not os.path.isfile(top / ".git"):
        return
    from memspec_py.store.worktree import main_checkout

    main = main_checkout(top)
    if main is None:
        return
    inner = start.relative_to(top)
    why = f" of the main checkout, which the worktree {top} belongs to"
    for below in (inner, *inner.parents):
        yield _Spot(main / below, top / below, why)
