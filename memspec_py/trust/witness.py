"""What attests to a claim when it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspec_py.record.model import SourceKind, Witness

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memspec_py.record.model import Anchor, Evidence


def first_witness(
    anchors: Sequence[Anchor], evidence: Sequence[Evidence], source_kind: SourceKind
) -> Witness:
    """The strongest witness a new claim has: anchors, the operator's word, a file kept as evidence.

    A URL is a pointer that nobody looked at here, so it attests to nothing.
    """
    if anchors:
        return Witness.ANCHOR
    if source_kind is SourceKind.OPERATOR:
        return Witness.OPERATOR
    if any(one.path is not None for one in evidence):
        return Witness.EVIDENCE
    return Witness.ASSERTION
