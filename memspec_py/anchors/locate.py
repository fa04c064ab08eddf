"""From the path a person types to a file and its recorded name, and from that name back."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.anchors.blob import blob_id, is_blob_id
from memspec_py.record.anchor import Anchor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MOST_BYTES = 100_000_000

_NOT_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
_REMOTES = "refs/remotes/"
_MOST_REFS_BYTES = 1_000_000


class Unresolved(NamedTuple):
    """A path that could not be anchored, and why."""

    path: str
    reason: str


class Checkouts(NamedTuple):
    """Where the repositories that anchors name may lie on this machine."""

    project: Path
    search_paths: tuple[Path, ...] = ()

    def find(self, repo: str) -> Path | None:
        """The checkout of a repository: beside the project, below a search path, or a submodule.

        ``repo`` must be a bare name; one that leads elsewhere is never looked at.
        """
        if not is_bare_name(repo):
            return None
        for place in self._places(repo):
            if os.path.lexists(os.path.join(place, ".git")):
                return place
        return None

    def _places(self, repo: str) -> Iterator[Path]:
        own = repository_of(self.project)
        if own is not None and repository_name(own) == repo:
            yield own
        yield self.project.parent / repo
        for folder in self.search_paths:
            yield folder / repo
        if own is not None:
            yield from (own / path for path in _submodules(own) if path.rpartition("/")[2] == repo)
            main = _main_checkout(own)
            if main is not None:
                yield main.parent / repo


def expanded(paths: Sequence[str], project: Path, env: Mapping[str, str]) -> tuple[Path, ...]:
    """Search paths as a person writes them: ``~`` is the home, the rest starts at the project."""
    home = env.get("HOME", "")
    found = []
    for path in paths:
        if path == "~" or path.startswith("~/"):
            if home:
                found.append(Path(home, path[2:]))
        else:
            found.append(project / path)
    return tuple(found)


def is_bare_name(repo: str) -> bool:
    """Whether a text names a folder and can lead nowhere else."""
    return repo not in {"", ".", ".."} and not set(repo) & {"/", "\\", "\0"}


def is_inside(file: str) -> bool:
    """Whether a recorded path stays below the folder that it is relative to."""
    parts = file.replace("\\", "/").split("/") if os.sep == "\\" else file.split("/")
    return bool(file) and not os.path.isabs(file) and ".." not in parts and "\0" not in file


def anchor_file(typed: str, *, cwd: Path, project: Path) -> Anchor | Unresolved:
    """The anchor of one whole file.

    A relative path is looked up in the working directory, then in the project.
    """
    found = existing(typed, (cwd, project))
    if found is None:
        return Unresolved(path=typed, reason=not_found(cwd, project))
    try:
        return recorded(typed, found, project, read_file(found))
    except NoBytes as problem:
        return Unresolved(path=typed, reason=problem.reason)


def not_found(*bases: Path) -> str:
    """The reason when a path leads to no file."""
    return f"no such file in {' or '.join(dict.fromkeys(str(base) for base in bases))}"


def recorded(typed: str, found: Path, project: Path, data: bytes) -> Anchor | Unresolved:
    """The anchor of a file that is there and has these bytes.

    A file of the project's own repository (or of none) is recorded relative to the project; a file
    of another repository as ``repo`` (the name of its folder) and a path within it, because that is
    what other machines have in common.
    """
    top = repository_of(found)
    own = repository_of(project)
    sha = blob_id(data, digits_of(top) if top is not None else 40)
    if top is not None and not _are_one(top, own):
        inside = found.relative_to(top).as_posix()
        return Anchor(repo=repository_name(top), file=inside, sha=sha)
    relative = _within(found, project)
    if relative is None and top is not None and own is not None:
        # In a linked worktree of the project's repository, or beside the project in its repository.
        inside = found.relative_to(top).as_posix()
        relative = _within(own / inside, project)
        if relative is None:
            return Anchor(repo=repository_name(own), file=inside, sha=sha)
    if relative is None:
        return Unresolved(path=typed, reason=f"lies outside {project} and in no repository")
    return Anchor(file=relative, sha=sha)


class NoBytes(Exception):
    """Why a path has no bytes to look at; ``is_gone`` when there simply is no file."""

    def __init__(self, reason: str, *, is_gone: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_gone = is_gone


def read_file(path: str | Path) -> bytes:
    """The bytes of a regular file; ``NoBytes`` tells why not."""
    try:
        # Whatever a path has become, opening it must not wait: it may be a pipe.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        raise NoBytes("is gone", is_gone=True) from None
    except (OSError, ValueError) as problem:
        raise NoBytes(f"cannot be read: {_words(problem)}") from None
    try:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise NoBytes("is no regular file")
        if about.st_size > MOST_BYTES:
            raise NoBytes(f"is too large to look at ({about.st_size} bytes)")
        return os.read(handle, about.st_size)  # of a regular file, one read gives as much as asked
    except OSError as problem:
        raise NoBytes(f"cannot be read: {_words(problem)}") from None
    finally:
        os.close(handle)


def repository_of(path: Path) -> Path | None:
    """The top of the git checkout a path lies in; a linked worktree or submodule is its own."""
    # By text: each anchor that is looked at may ask, and paths as objects take five times as long.
    place, above = "", str(path)
    while place != above:
        place, above = above, os.path.dirname(above)
        try:
            os.stat(os.path.join(place, ".git"))
        except OSError as problem:
            if problem.errno not in _NOT_THERE:
                raise
        else:
            return Path(place)
    return None


def repository_name(top: Path) -> str:
    """What other machines call a checkout; a linked worktree is named after the main one."""
    return (_main_checkout(top) or top).name


def git_folder(top: Path) -> Path | None:
    """Where a checkout's refs and settings are; that of a linked worktree is shared with others."""
    own = own_git_folder(top)
    common = _text(own / "commondir").strip() if own is not None else ""
    return Path(os.path.normpath(own / common)) if own is not None and common else own


def own_git_folder(top: Path) -> Path | None:
    """Where a checkout's HEAD is; each linked worktree has its own."""
    inside = top / ".git"
    if inside.is_dir():
        return inside
    told = _text(inside)
    if not told.startswith("gitdir:"):
        return None
    return Path(os.path.normpath(top / told.removeprefix("gitdir:").strip()))


def digits_of(top: Path) -> int:
    """How long the ids of a repository are: 40 digits, or 64 when its object format is SHA-256."""
    folder = git_folder(top)
    if folder is None:
        return 40
    formats = _settings(folder / "config", "objectformat")
    return 64 if "sha256" in formats else 40


def remote_head(top: Path) -> str | None:
    """The branch that ``origin/HEAD`` points at, such as ``origin/main``, read from git's files.

    None where it points nowhere, is no pointer, or where refs are kept in another way than in plain
    files or there are very many: then git has to be asked.
    """
    folder = git_folder(top)
    if folder is None or "refstorage" in _text(folder / "config").lower():
        return None
    told = _text(folder / _REMOTES / "origin" / "HEAD")
    name = told.removeprefix("ref:").strip()
    if not told.startswith("ref:") or not name.startswith(_REMOTES) or not is_inside(name):
        return None
    return name.removeprefix(_REMOTES) if _is_ref(folder, name) else None


def _is_ref(folder: Path, name: str) -> bool:
    """Whether a ref is there and names an object; git keeps it in a file of its own or a list."""
    if own := _text(folder / name):
        return is_blob_id(own.strip())
    packed = folder / "packed-refs"
    try:
        is_long = packed.stat().st_size > _MOST_REFS_BYTES
    except OSError:
        return False
    return not is_long and f" {name}\n" in _text(packed)


def existing(typed: str, bases: Sequence[Path]) -> Path | None:
    """The first of some folders' file of this name."""
    for base in bases:
        place = os.path.normpath(base / typed)
        if os.path.isfile(place):  # unlike Path.is_file, it never raises, however odd the name
            return Path(place)
    return None


def _are_one(top: Path, own: Path | None) -> bool:
    """Whether two checkouts are of one repository."""
    if own is None or top == own:
        return top == own
    folders = git_folder(top), git_folder(own)
    return None not in folders and len({os.path.realpath(str(each)) for each in folders}) == 1


def _main_checkout(top: Path) -> Path | None:
    """The checkout that a linked worktree was made from, when it has the usual form."""
    if (top / ".git").is_dir():
        return None
    folder = git_folder(top)
    return folder.parent if folder is not None and folder.name == ".git" else None


def _submodules(top: Path) -> list[str]:
    return [path for path in _settings(top / ".gitmodules", "path") if is_inside(path)]


def _settings(path: Path, wanted: str) -> list[str]:
    """Every value that a file in git's notation gives to a key, in whichever section."""
    pairs = (line.partition("=") for line in _text(path).splitlines())
    return [value.strip().strip('"') for key, _, value in pairs if key.strip().lower() == wanted]


def _within(found: Path, project: Path) -> str | None:
    """The path of a file in the project, also where one of the two was reached by a link."""
    for base, place in ((project, found), (project.resolve(), found.resolve())):
        if place.is_relative_to(base):
            return place.relative_to(base).as_posix()
    return None


def _text(path: Path) -> str:
    try:
        return read_file(path).decode("utf-8", "replace")
    except NoBytes:
        return ""


def _words(problem: OSError | ValueError) -> str:
    return (problem.strerror if isinstance(problem, OSError) else None) or str(problem)
