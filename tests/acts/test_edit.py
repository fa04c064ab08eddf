from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memspec_py.errors import Conflict, Invalid, NotAllowed, NotFound
from memspec_py.record.model import Anchor, Witness
from memspec_py.testing import TempStore, a_record, an_id

if TYPE_CHECKING:
    from pathlib import Path

HAND_WRITTEN = f"""\
---
# kept by hand
id: {an_id(1)}
type:   fact      # the type
state: active
created: 2026-01-01
source: 'ada'
tags: [ "auth", web ]
team:
    - a
    - {{ name: b }}
check_by: never
---

#  Auth uses JWT  ##

Signed with RS256.\r
"""


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """A store with one record, written by hand."""
    made = TempStore(tmp_path)
    made.write(f"memory/facts/{an_id(1)}.md", HAND_WRITTEN)
    return made


def on_disk(store: TempStore, folder: str = "facts") -> str:
    """The bytes of the record, as text."""
    return (store.root / f"memory/{folder}/{an_id(1)}.md").read_bytes().decode()


def edited(store: TempStore, old: str, new: str) -> tuple[str, ...]:
    """The fields an edit changed."""
    copy = store.ms.edit_copy(an_id(1))
    assert old in copy.text
    return store.ms.replace_text(copy, copy.text.replace(old, new)).changed


def test_an_edit_is_what_was_typed_byte_for_byte(store: TempStore) -> None:
    """Comments, spacing, quoting, line ends and unknown keys are the editor's business."""
    assert edited(store, "RS256", "ES256") == ("body",)
    assert on_disk(store) == HAND_WRITTEN.replace("RS256", "ES256")
    assert edited(store, "- a\n", "- c\n") == ("extra",)
    assert store.ms.search("ES256").count == 1


def test_no_change_is_no_write(store: TempStore) -> None:
    """The file is not even touched."""
    path = store.root / f"memory/facts/{an_id(1)}.md"
    before = path.stat()
    assert edited(store, "RS256", "RS256") == ()
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert path.stat().st_ino == before.st_ino


def test_a_new_type_moves_the_file(store: TempStore) -> None:
    """It lies where its type belongs, and only there."""
    assert edited(store, "fact ", "decision ") == ("type",)
    assert "decision" in on_disk(store, "decisions")
    assert store.ms.get(an_id(1)).path == f"memory/decisions/{an_id(1)}.md"
    assert store.ms.status().files == 1


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("type:   fact", "type: rumour", "type"),
        ("created: 2026-01-01", "created: yesterday", "created"),
        ("source: 'ada'", "source:", "source"),
        ("check_by: never", "check_by: soon", "check_by"),
        ("#  Auth uses JWT  ##\n\nSigned with RS256.", "", "title"),
        (an_id(1), an_id(2), "id"),
        ("state: active", "state: retired", "state"),
        ("state: active", "state: active\nsupersedes: [" + an_id(3) + "]", "supersedes"),
        ("state: active", "state: active\nsuperseded_by: " + an_id(3), "superseded_by"),
        ("state: active", "state: active\nverified_with: operator", "verified_with"),
        ("state: active", "state: active\nlast_verified: 2026-01-01", "last_verified"),
        ("source: 'ada'", "source: human:ada", "source_kind"),
        ("source: 'ada'", "source: unknown", "source"),
        ("created: 2026-01-01", "created: 2026-01-02", "created"),
        ("---\n\n#", "\n#", None),
    ],
)
def test_what_is_no_record_or_needs_an_act_is_refused(
    store: TempStore, old: str, new: str, field: str | None
) -> None:
    """A mistake changes nothing, and the findings name the field."""
    with pytest.raises(Invalid) as raised:
        edited(store, old, new)
    if field is not None:
        assert field in {finding.field for finding in raised.value.findings}
    assert on_disk(store) == HAND_WRITTEN
    assert store.ms.status().files == 1


def test_a_witness_may_be_given_up(store: TempStore) -> None:
    """An edit never strengthens what attests to a claim, but may take it away."""
    anchor = Anchor(file="a.ts", sha="0" * 40)
    day = "2026-01-01T00:00:00.000Z"
    anchored = a_record(1, anchors=(anchor,), verified_with=Witness.ANCHOR, last_verified=day)
    store.put(anchored)
    assert edited(store, "verified_with: anchor", "verified_with: assertion") == ("verified_with",)
    assert edited(store, f'last_verified: "{day}"\n', "") == ("last_verified",)


ANCHORS = """\
anchors:
  - file: a.ts
    sha: {a}
    symbol: login
    symbol_id: "ts1:1"
    note: mine
  - file: b.ts
    sha: {b}
    name: LIMIT
    value: "3"
evidence:
  - path: evidence/0123456789abcdef/proof.txt
    sha256: {c}
  - url: https://example.org/x
verified_with: anchor
""".format(a="a" * 40, b="b" * 40, c="c" * 64)
FIRST = ANCHORS.partition("  - file: b.ts")[0].partition("\n")[2]


@pytest.fixture
def attested(store: TempStore) -> TempStore:
    """The store, its record with two anchors and two pieces of evidence."""
    text = HAND_WRITTEN.replace("check_by: never\n", f"check_by: never\n{ANCHORS}")
    store.write(f"memory/facts/{an_id(1)}.md", text)
    return store


@pytest.mark.parametrize(
    ("old", "new", "field", "step"),
    [
        ("a" * 40, "d" * 40, "anchors", "verify ID --reanchor"),
        ("ts1:1", "ts1:2", "anchors", "verify ID --reanchor"),
        ('value: "3"', 'value: "4"', "anchors", "verify ID --reanchor"),
        ("file: a.ts", "file: c.ts", "anchors", "memspec anchor ID PATH"),
        ("    symbol: login\n", "    symbol: logout\n", "anchors", "memspec anchor ID PATH"),
        ('    symbol: login\n    symbol_id: "ts1:1"\n', "", "anchors", "memspec anchor ID PATH"),
        ("anchors:\n", f"anchors:\n  - file: c.ts\n    sha: {'e' * 40}\n", "anchors", "anchor"),
        (FIRST, "", "verified_with", "memspec anchor ID PATH --replace"),
        ("c" * 64, "f" * 64, "evidence", "--evidence-file"),
        ("evidence:\n", "evidence:\n  - url: https://example.org/y\n", "evidence", "--evidence"),
        ("https://example.org/x", "https://example.org/z", "evidence", "--evidence-file"),
    ],
)
def test_what_attests_to_a_record_is_not_made_by_hand(
    attested: TempStore, old: str, new: str, field: str, step: str
) -> None:
    """No edit makes drift go away or proof appear; the error names the act that looks at it."""
    before = on_disk(attested)
    with pytest.raises(Invalid) as raised:
        edited(attested, old, new)
    assert [(one.code, one.field) for one in raised.value.findings] == [("not-by-edit", field)]
    assert step in str(raised.value.findings[0].fix)
    assert on_disk(attested) == before


@pytest.mark.parametrize(
    ("pairs", "changed"),
    [
        ([("    note: mine\n", "    note: yours\n")], ("anchors",)),
        ([(FIRST, ""), ("verified_with: anchor", "verified_with: evidence")], None),
        ([(ANCHORS.partition("evidence:")[0], ""), ("verified_with: anchor\n", "")], None),
        ([("  - url: https://example.org/x\n", "")], ("evidence",)),
        ([(FIRST, ""), ("evidence:\n", f"{FIRST}evidence:\n")], ("anchors",)),
    ],
    ids=["a note", "an anchor and the witness", "every anchor", "evidence", "another order"],
)
def test_what_attests_to_a_record_can_be_taken_away(
    attested: TempStore, pairs: list[tuple[str, str]], changed: tuple[str, ...] | None
) -> None:
    """Anchors go with the witness they were; order and keys we do not know are free."""
    copy = attested.ms.edit_copy(an_id(1))
    text = copy.text
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new, 1)
    done = attested.ms.replace_text(copy, text)
    assert done.changed == (changed or ("verified_with", "anchors"))
    assert on_disk(attested) == text


def test_everything_wrong_is_told_at_once(store: TempStore) -> None:
    """Two mistakes are two findings, with their lines."""
    copy = store.ms.edit_copy(an_id(1))
    text = copy.text.replace("created: 2026-01-01", "created: x").replace("fact ", "rumour ")
    with pytest.raises(Invalid) as raised:
        store.ms.replace_text(copy, text)
    assert {(one.field, one.line) for one in raised.value.findings} == {("created", 6), ("type", 4)}


@pytest.mark.parametrize("text", ["nul \0", "half \ud800"])
def test_a_text_no_file_can_hold_is_refused(store: TempStore, text: str) -> None:
    """As in every act."""
    with pytest.raises(Invalid):
        store.ms.replace_text(store.ms.edit_copy(an_id(1)), HAND_WRITTEN + text)


def test_a_change_in_the_meantime_is_a_conflict(store: TempStore) -> None:
    """Whoever comes second is told and overwrites nothing."""
    copy = store.ms.edit_copy(an_id(1))
    other = HAND_WRITTEN.replace("RS256", "PS512")
    store.write(f"memory/facts/{an_id(1)}.md", other)
    with pytest.raises(Conflict):
        store.ms.replace_text(copy, copy.text.replace("RS256", "ES256"))
    with pytest.raises(Conflict):
        store.ms.replace_text(copy, copy.text.replace("fact ", "decision "))
    assert on_disk(store) == other
    (store.root / f"memory/facts/{an_id(1)}.md").unlink()
    with pytest.raises(Conflict):
        store.ms.replace_text(copy, copy.text.replace("RS256", "ES256"))


def test_a_broken_file_can_be_mended_by_the_name_of_its_file(store: TempStore) -> None:
    """What cannot be read as a record can still be edited, as long as it keeps its id."""
    broken = HAND_WRITTEN.replace("type:   fact", "type: rumour")
    store.write(f"memory/facts/{an_id(1)}.md", broken)
    copy = store.ms.edit_copy(an_id(1)[:-1])
    assert copy.text == broken
    with pytest.raises(Invalid, match="named after"):
        store.ms.replace_text(copy, HAND_WRITTEN.replace(an_id(1), an_id(2)))
    with pytest.raises(Invalid, match="rumour"):
        store.ms.replace_text(copy, broken + "more\n")
    assert "type" in store.ms.replace_text(copy, HAND_WRITTEN).changed
    assert store.ms.get(an_id(1)).title == "Auth uses JWT"


def test_bytes_that_are_no_text_are_told(store: TempStore) -> None:
    """An editor could only spoil them."""
    store.write(f"memory/facts/{an_id(1)}.md", HAND_WRITTEN.encode() + b"\xff")
    with pytest.raises(Invalid, match="not UTF-8"):
        store.ms.edit_copy(an_id(1))


def test_no_record_no_copy(store: TempStore) -> None:
    """An id that names nothing is not found."""
    with pytest.raises(NotFound):
        store.ms.edit_copy(an_id(7))


def test_an_override_is_traced_in_what_was_typed(store: TempStore) -> None:
    """An agent's edit of the operator's record keeps every byte beside the trace."""
    theirs = HAND_WRITTEN.replace("source: 'ada'", "source: human:ann")
    store.write(f"memory/operator/facts/{an_id(1)}.md", theirs)
    (store.root / f"memory/facts/{an_id(1)}.md").unlink()
    copy = store.ms.edit_copy(an_id(1))
    text = theirs.replace("RS256", "ES256")
    with pytest.raises(NotAllowed, match="the operator's"):
        store.ms.replace_text(copy, text)
    store.ms.replace_text(copy, text, override_operator=True)
    kept = store.ms.edit_copy(an_id(1)).text
    assert "ES256" in kept
    assert [line for line in text.splitlines() if line not in kept.splitlines()] == []
    overridden = store.ms.get(an_id(1)).record["ext"]["overridden"]  # type: ignore[index,call-overload]
    at = "2026-01-01T00:00:00.000Z"
    assert overridden == {"act": "edit", "by": "agent", "at": at, "override_operator": "true"}
