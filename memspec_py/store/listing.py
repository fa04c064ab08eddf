"""What files a store has, by name and stat: the cheap half of knowing whether anything changed."""

from __future__ import annotations

import hashlib
import os
from array import array
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.report import Finding
from memspec_py.store.layout import RECORD_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Stat(NamedTuple):
    """What the file system says of a file without reading it; times in nanoseconds."""

    size: int
    mtime: int
    ctime: int
    inode: int


class Listing:
    """The record files of a store at one moment.

    ``findings`` names what is not followed (symbolic links) or could not be listed.
    """

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.findings: list[Finding] = []
        self.strays: list[str] = []
        self.numbers: list[int] = []

    def fingerprint(self) -> str:
        """A digest of all names and stats; equal fingerprints mean nothing changed.

        The order of a folder's entries is part of it, so two different fingerprints prove nothing.
        """
        names = "\0".join(self.paths).encode("utf-8", "surrogateescape")
        try:
            numbers = array("q", self.numbers).tobytes()
        except OverflowError:  # some network disks use all 64 bits of an inode number
            numbers = repr(self.numbers).encode()
        return hashlib.sha256(names + b"\0\0" + numbers).hexdigest()

    def stats(self) -> dict[str, Stat]:
        """Path to stat, for comparing file by file."""
        numbers = iter(self.numbers)
        return dict(zip(self.paths, map(Stat, numbers, numbers, numbers, numbers), strict=True))

    def newest(self) -> int:
        """The latest change of any file, in nanoseconds; 0 for an empty store."""
        numbers = self.numbers
        return max(max(numbers[1::4], default=0), max(numbers[2::4], default=0))


def list_records(root: Path | str) -> Listing:
    """List every record file below a store's record folders, following no symbolic link."""
    listing = Listing()
    base = os.fspath(root)
    for folder in RECORD_FOLDERS:
        _list_folder(base, folder, listing)
    return listing


def stat_of(path: Path | str) -> Stat:
    """The stat of one file, by the same fields; raises ``OSError``."""
    return stat_from(os.lstat(path))


def stat_from(found: os.stat_result) -> Stat:
    """The fields we compare, of an ``os.stat_result``."""
    return Stat(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def _list_folder(base: str, folder: str, listing: Listing) -> None:
    place = f"{base}/{folder}"
    try:
        if os.path.islink(place):
            listing.findings.append(_not_followed(folder))
            return
        with os.scandir(place) as entries:
            for sub in _note_files(entries, folder, listing):
                _list_folder(base, sub, listing)
    except FileNotFoundError:
        return  # a folder appears with its first record
    except OSError as problem:
        reason = problem.strerror or str(problem)
        message = f"the folder cannot be listed: {reason}"
        listing.findings.append(Finding(code="unlisted-folder", path=folder, message=message))


def _note_files(entries: Iterator[os.DirEntry[str]], folder: str, listing: Listing) -> list[str]:
    """Note the files of one folder; returns its subfolders. Inlined, as it runs once per record."""
    subfolders = []
    paths, numbers = listing.paths, listing.numbers
    prefix = folder + "/"
    for entry in entries:
        name = entry.name
        if name.endswith(".md") and name[0] != "." and entry.is_file(follow_symlinks=False):
            found = entry.stat(follow_symlinks=False)
            paths.append(prefix + name)
            numbers += (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
        elif entry.is_symlink():
            listing.findings.append(_not_followed(prefix + name))
        elif entry.is_dir(follow_symlinks=False):
            subfolders.append(prefix + name)
        else:
            listing.strays.append(prefix + name)
    return sorted(subfolders)


def _not_followed(path: str) -> Finding:
    return Finding(
        code="symlink",
        path=path,
        message="is a symbolic link, which a store does not follow",
        fix="replace the link by the file itself, or remove it",
    )
