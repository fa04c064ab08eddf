"""What files a store has, by name and stat: the cheap half of knowing whether anything changed."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from functools import partial
from itertools import chain
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, NamedTuple, Protocol
from zlib import crc32

from memspec_py.store.layout import RECORD_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from pathlib import Path

    from memspec_py.report import Finding

    _Row = tuple[int, int, int, int, int]
    _StatOf = Callable[[str], os.stat_result]

_REGULAR = 0o100000
_CAN_STAT_IN_FOLDER = os.stat in os.supports_dir_fd and os.listdir in os.supports_fd
_FORMAT = 0o170000
_ROW: Callable[[os.stat_result], _Row] = attrgetter(
    "st_mode", "st_size", "st_mtime_ns", "st_ctime_ns", "st_ino"
)
_STAT: Callable[[_Row], tuple[int, int, int, int]] = itemgetter(1, 2, 3, 4)
_MODE: Callable[[_Row], int] = itemgetter(0)


class Stat(NamedTuple):
    """What the file system says of a file without reading it; times in nanoseconds."""

    size: int
    mtime: int
    ctime: int
    inode: int


class Observer(Protocol):
    """Who is told what a listing looks at."""

    def enters(self, folder: str) -> None:
        """A folder is about to be listed."""

    def sees(self, found: os.stat_result) -> None:
        """Something that is named like a record was looked at."""


class Listing:
    """The record files of a store at one moment.

    ``findings`` names what is not followed (symbolic links) or could not be listed; ``strays`` are
    files that are no records.
    """

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.strays: list[str] = []
        self._folders: list[tuple[str, list[str], list[_Row]]] = []
        self._names = 0
        self._fingerprint: str | None = None

    def __len__(self) -> int:
        """How many record files there are."""
        return sum(len(names) for _, names, _ in self._folders)

    @property
    def paths(self) -> list[str]:
        """The record files, relative to the store with ``/``, in no particular order."""
        return [f"{folder}/{name}" for folder, names, _ in self._folders for name in names]

    def add(self, folder: str, names: list[str], rows: list[_Row]) -> None:
        """Note the record files of one folder."""
        self._folders.append((folder, names, rows))
        self._names = crc32("\0".join((folder, *names)).encode(), self._names)
        self._fingerprint = None

    def fingerprint(self) -> str:
        """A checksum of all names and stats; equal fingerprints mean nothing changed.

        The order of a folder's entries is part of it, so two different fingerprints prove nothing.
        Stats are a hint already, so this guards against accidents only: 96 bits that cost a tenth
        of what a cryptographic digest would.
        """
        if self._fingerprint is None:
            # Python salts the hash of text, but not that of whole numbers.
            numbers = hash(tuple(tuple(rows) for _, _, rows in self._folders))
            self._fingerprint = f"{len(self)} {self._names:x} {numbers:x}"
        return self._fingerprint

    def stats(self) -> dict[str, tuple[int, int, int, int]]:
        """Path to the fields of ``Stat``, as plain tuples: there may be very many."""
        return dict(zip(self.paths, map(_STAT, self._all_rows()), strict=True))

    def difference(self, before: Listing) -> tuple[list[str], list[str]]:
        """The paths that are new or have another stat than in an earlier listing, and the gone."""
        changed: list[str] = []
        gone: list[str] = []
        earlier = {folder: (names, rows) for folder, names, rows in before._folders}
        for folder, names, rows in self._folders:
            old_names, old_rows = earlier.pop(folder, ([], []))
            if names == old_names and rows == old_rows:
                continue
            old = dict(zip(old_names, old_rows, strict=True))
            pairs = zip(names, rows, strict=True)
            changed += [f"{folder}/{name}" for name, row in pairs if old.pop(name, None) != row]
            gone += [f"{folder}/{name}" for name in old]
        gone += [f"{folder}/{name}" for folder, (names, _) in earlier.items() for name in names]
        return changed, gone

    def touched_since(self, moment: int) -> list[str]:
        """The paths whose mtime or ctime is later, in nanoseconds."""
        return [
            f"{folder}/{name}"
            for folder, names, rows in self._folders
            for name, (_, _, mtime, ctime, _) in zip(names, rows, strict=True)
            if mtime > moment or ctime > moment
        ]

    def newest(self) -> int:
        """The latest change of any file by the file system's clock, in nanoseconds.

        That is its ctime: anybody can set an mtime, to a time in the future too. 0 for an empty
        store.
        """
        return max((ctime for _, _, _, ctime, _ in self._all_rows()), default=0)

    def folders(self) -> Iterator[tuple[str, list[str], list[_Row]]]:
        """What ``add`` was given."""
        return iter(self._folders)

    def _all_rows(self) -> Iterator[_Row]:
        return chain.from_iterable(rows for _, _, rows in self._folders)


def list_records(root: Path | str, observer: Observer | None = None) -> Listing:
    """List every record file below a store's record folders, following no symbolic link."""
    listing = Listing()
    base = os.fspath(root)
    waiting = list(reversed(RECORD_FOLDERS))
    while waiting:
        waiting += reversed(_list_folder(base, waiting.pop(), listing, observer))
    return listing


def list_again(
    root: Path | str, before: Listing, touched: Mapping[str, Collection[str]], observer: Observer
) -> Listing | None:
    """What ``list_records`` gives now, if nothing but some names in some folders was touched.

    None where that takes a whole look: there is, or was, more than records in such a folder.
    """
    base = os.fspath(root)
    odd = [*before.strays, *(finding.path for finding in before.findings)]
    if any(path.startswith(f"{folder}/") for folder in touched for path in odd):
        return None
    listing = Listing()
    listing.findings, listing.strays = list(before.findings), list(before.strays)
    waiting = dict(touched)
    for folder, names, rows in before.folders():
        some = waiting.pop(folder, None)
        if some is None:
            listing.add(folder, names, rows)
            continue
        known = dict(zip(names, rows, strict=True))
        for name in some:
            known.pop(name, None)
        if not _list_folder_again(base, folder, listing, known, observer):
            return None
    return None if waiting else listing


def stat_of(path: Path | str) -> Stat:
    """The stat of one file, by the same fields; raises ``OSError``."""
    return stat_from(os.lstat(path))


def stat_from(found: os.stat_result) -> Stat:
    """The fields we compare, of an ``os.stat_result``."""
    return Stat(*_ROW(found)[1:])


def _list_folder(base: str, folder: str, listing: Listing, observer: Observer | None) -> list[str]:
    """Note the files of one folder; returns the folders in it."""
    place = f"{base}/{folder}"
    try:
        if os.path.islink(place):
            listing.findings.append(_not_followed(folder))
            return []
        if observer is not None:
            observer.enters(folder)
        with _opened(place) as (where, stat):
            names, others = _record_names(os.listdir(where), folder, listing)
            names, rows, odd = _files(_told(stat, observer), names)
    except FileNotFoundError:
        return []  # a folder appears with its first record
    except OSError as problem:
        listing.findings.append(_unlisted(folder, "the folder cannot be listed", problem))
        return []
    listing.add(folder, names, rows)
    return [
        path for name in (*odd, *others) if _is_folder(base, path := f"{folder}/{name}", listing)
    ]


def _list_folder_again(
    base: str, folder: str, listing: Listing, known: dict[str, _Row], observer: Observer
) -> bool:
    """Note the files of one folder, of which some rows are known; whether these are all it has.

    The names are asked for again, because their order is part of the fingerprint.
    """
    told = len(listing.findings)
    try:
        with _opened(f"{base}/{folder}") as (where, stat):
            names, others = _record_names(os.listdir(where), folder, listing)
            new = [name for name in names if name not in known]
            found, rows, odd = _files(_told(stat, observer), new)
    except OSError:
        return False
    if others or odd or found != new or len(listing.findings) != told:
        return False
    known.update(zip(new, rows, strict=True))
    listing.add(folder, names, [known[name] for name in names])
    return True


def _told(stat: _StatOf, observer: Observer | None) -> _StatOf:
    """How to stat a name, with the observer told of what is found."""
    if observer is None:
        return stat

    def told(name: str) -> os.stat_result:
        found = stat(name)
        observer.sees(found)
        return found

    return told


def _record_names(entries: list[str], folder: str, listing: Listing) -> tuple[list[str], list[str]]:
    """The names that may be records, and all others.

    Nearly every folder has nothing but records, which one look at all names together tells.
    """
    together = "\0".join(("", *entries, ""))
    if not together.isascii():
        entries = _named_in_unicode(entries, folder, listing)
    elif together.count(".md\0") == len(entries) and "\0." not in together:
        return entries, []
    names = [name for name in entries if name[-3:] == ".md" and name[0] != "."]
    return names, sorted(set(entries).difference(names))


def _named_in_unicode(entries: list[str], folder: str, listing: Listing) -> list[str]:
    """The entries whose names are text; a name of other bytes could not be shown or kept."""
    good = []
    for name in entries:
        try:
            name.encode()
        except UnicodeEncodeError:
            shown = os.fsencode(name).decode("utf-8", "backslashreplace")
            listing.findings.append(_unnamable(f"{folder}/{shown}"))
        else:
            good.append(name)
    return good


@contextmanager
def _opened(place: str) -> Iterator[tuple[int | str, _StatOf]]:
    """A folder to list, and how to stat a name in it.

    Through the open folder where the system can: it looks up one name instead of a whole path for
    each file, and the folder cannot become a link in between.
    """
    if not _CAN_STAT_IN_FOLDER:
        yield place, lambda name: os.lstat(f"{place}/{name}")
        return
    handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield handle, partial(os.stat, dir_fd=handle, follow_symlinks=False)
    finally:
        os.close(handle)


def _files(stat: _StatOf, names: list[str]) -> tuple[list[str], list[_Row], list[str]]:
    """The stats of the regular files among ``names``, and which names are something else.

    All at once in C, as it runs once per record on every read; one by one if that fails.
    """
    try:
        rows = list(map(_ROW, map(stat, names)))
    except OSError:
        return _files_one_by_one(stat, names)
    if all(mode & _FORMAT == _REGULAR for mode in set(map(_MODE, rows))):
        return names, rows, []
    regular = {
        name: row for name, row in zip(names, rows, strict=True) if row[0] & _FORMAT == _REGULAR
    }
    return list(regular), list(regular.values()), [name for name in names if name not in regular]


def _files_one_by_one(stat: _StatOf, names: list[str]) -> tuple[list[str], list[_Row], list[str]]:
    """The same where a file vanished since the folder was listed."""
    found: dict[str, _Row] = {}
    odd = []
    for name in names:
        try:
            row = _ROW(stat(name))
        except FileNotFoundError:
            continue
        except OSError:
            odd.append(name)
            continue
        if row[0] & _FORMAT == _REGULAR:
            found[name] = row
        else:
            odd.append(name)
    return list(found), list(found.values()), odd


def _is_folder(base: str, path: str, listing: Listing) -> bool:
    """Whether this is a folder to walk; a link is told, anything else is a stray."""
    try:
        mode = os.lstat(f"{base}/{path}").st_mode
    except FileNotFoundError:
        return False
    except OSError as problem:
        listing.findings.append(_unlisted(path, "cannot be looked at", problem))
        return False
    if stat.S_ISDIR(mode):
        return True
    if stat.S_ISLNK(mode):
        listing.findings.append(_not_followed(path))
    else:
        listing.strays.append(path)
    return False


def _not_followed(path: str) -> Finding:
    from memspec_py.report import Finding  # most listings have nothing to tell

    return Finding(
        code="symlink",
        path=path,
        message="is a symbolic link, which a store does not follow",
        fix="replace the link by the file itself, or remove it",
    )


def _unlisted(path: str, what: str, problem: OSError) -> Finding:
    from memspec_py.report import Finding

    message = f"{what}: {problem.strerror or problem}"
    return Finding(code="unlisted", path=path, message=message, fix="see who may read there")


def _unnamable(path: str) -> Finding:
    from memspec_py.report import Finding

    message = "its name is not valid UTF-8, so it is not read"
    return Finding(code="bad-name", path=path, message=message, fix="rename it")
