from __future__ import annotations

import subprocess

from hypothesis import given, settings
from hypothesis import strategies as st

from memspec_py.anchors.blob import blob_id, ids_of, is_same


@settings(max_examples=10)
@given(st.binary(max_size=300))
def test_the_id_is_the_one_git_gives(data: bytes) -> None:
    """Of the raw bytes, without filters."""
    command = ["git", "hash-object", "--no-filters", "--stdin"]
    told = subprocess.run(command, input=data, capture_output=True, check=True).stdout
    assert blob_id(data) == told.decode().strip()


@given(st.lists(st.sampled_from(["a", "\n", "\r\n", "\r"])).map("".join))
def test_a_text_has_the_ids_of_its_checkouts(text: str) -> None:
    """Its own comes first, and line ends are all that may differ."""
    unix = text.replace("\r\n", "\n")
    forms = [form.encode() for form in (text, unix, unix.replace("\n", "\r\n"))]
    ids = list(ids_of(forms[0]))
    assert ids[0] == blob_id(forms[0])
    assert {blob_id(form) for form in forms} <= set(ids)
    assert all(is_same(one, forms[0]) for one in ids)
    assert not is_same(blob_id(forms[0] + b"a"), forms[0])
