"""Git's id of some bytes, and the other ids under which git may know the same text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOOKED_AT_FOR_NUL = 8_000  # as many bytes as git looks at to tell text from binary
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"


def blob_id(data: bytes, digits: int = 40) -> str:
    """The blob id of the raw bytes, as ``git hash-object --no-filters`` prints it.

    An id of 40 digits is SHA-1; one of 64 is that of a repository whose object format is SHA-256.
    """
    import hashlib  # loads OpenSSL, which a page of hits without a file to look at does not need

    head = b"blob %d\0" % len(data)
    if digits == 64:
        return hashlib.sha256(head + data, usedforsecurity=False).hexdigest()
    return hashlib.sha1(head + data, usedforsecurity=False).hexdigest()


def is_blob_id(text: str) -> bool:
    """Whether a text is a whole id of either object format."""
    return len(text) in (40, 64) and not text.strip("0123456789abcdef")


def is_same(sha: str, data: bytes) -> bool:
    """Whether an id belongs to these bytes, whatever a checkout did to their line ends.

    The id of the pointer that Git LFS would store in their place counts too.
    """
    return sha in ids_of(data, len(sha))


def ids_of(data: bytes, digits: int = 40) -> Iterator[str]:
    """Every id that counts as that of these bytes, beginning with their own."""
    yield blob_id(data, digits)
    if b"\0" not in data[:_LOOKED_AT_FOR_NUL]:
        unix = data.replace(b"\r\n", b"\n")
        if unix != data:
            yield blob_id(unix, digits)
        windows = unix.replace(b"\n", b"\r\n")
        if windows != data:
            yield blob_id(windows, digits)
    yield blob_id(lfs_pointer(data), digits)


def lfs_pointer(data: bytes) -> bytes:
    """What Git LFS commits in the place of some bytes."""
    import hashlib

    digest = hashlib.sha256(data, usedforsecurity=False).hexdigest()
    return b"%sv1\noid sha256:%s\nsize %d\n" % (_LFS_POINTER, digest.encode(), len(data))


def is_lfs_pointer(data: bytes) -> bool:
    """Whether a file is such a pointer, whose bytes were not fetched."""
    return data.startswith(_LFS_POINTER)
