"""Git's id of some bytes."""

from __future__ import annotations

import hashlib


def blob_id(data: bytes) -> str:
    """The SHA-1 blob id of the raw bytes, as ``git hash-object --no-filters`` prints it."""
    head = f"blob {len(data)}\0".encode()
    return hashlib.sha1(head + data, usedforsecurity=False).hexdigest()
