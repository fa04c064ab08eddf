from __future__ import annotations

import subprocess

from hypothesis import given, settings
from hypothesis import strategies as st

from memspec_py.anchors.blob import blob_id


@settings(max_examples=10)
@given(st.binary(max_size=300))
def test_the_id_is_the_one_git_gives(data: bytes) -> None:
    """Of the raw bytes, without filters."""
    command = ["git", "hash-object", "--no-filters", "--stdin"]
    told = subprocess.run(command, input=data, capture_output=True, check=True).stdout
    assert blob_id(data) == told.decode().strip()
