from __future__ import annotations

import pytest

from memspec_py.record.model import Anchor, Evidence, SourceKind, Witness
from memspec_py.trust.witness import first_witness

ANCHOR = (Anchor(file="a", sha="b"),)
FILE = (Evidence(path="evidence/ab/x.txt", sha256="0" * 64),)
LINK = (Evidence(url="https://a.b"),)


@pytest.mark.parametrize(
    ("anchors", "evidence", "tier", "witness"),
    [
        (ANCHOR, FILE, SourceKind.OPERATOR, Witness.ANCHOR),
        ((), FILE, SourceKind.OPERATOR, Witness.OPERATOR),
        ((), FILE, SourceKind.AGENT, Witness.EVIDENCE),
        ((), LINK + FILE, SourceKind.AGENT, Witness.EVIDENCE),
        ((), LINK, SourceKind.AGENT, Witness.ASSERTION),
        ((), (), SourceKind.IMPORT, Witness.ASSERTION),
    ],
)
def test_a_new_claim_has_the_strongest_witness_there_is(
    anchors: tuple[Anchor, ...],
    evidence: tuple[Evidence, ...],
    tier: SourceKind,
    witness: Witness,
) -> None:
    """Anchors, then the operator's word, then kept proof; a link attests to nothing."""
    assert first_witness(anchors, evidence, tier) is witness
