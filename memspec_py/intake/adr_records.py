"""Decision records of other projects as records of ours: drafts in, ``Record`` values out.

What becomes what:

- The id is a function of the file's path alone, so that a second run, or a colleague's on another
  branch, gives the same ids even after the text or its date changed.
- A decision with a known heir is superseded and names it, and the heir names the decision; one that
  calls itself superseded without an heir here is superseded with what it says as the reason.
  Rejected and deprecated decisions are retired. All others are active; a status other than
  accepted is also a tag, because a proposal is no decision yet.
- "Amends" becomes ``refines``. "Relates to" says too little for any edge, so it stays in ``ext``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING

from memspec_py.clock import instant, parse_instant
from memspec_py.ids import new_id
from memspec_py.intake.adr import AdrDraft, AdrLinkKind, AdrStatus
from memspec_py.intake.adr_links import AdrLinks, AdrUnresolved, resolve_links
from memspec_py.intake.adr_names import name_date
from memspec_py.record.model import Kind, Record, SourceKind, State, Type, Witness
from memspec_py.report import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from memspec_py.record.model import Plain

__all__ = ["EPOCH", "SOURCE", "TAG", "AdrRecords", "record_id", "records_of"]

SOURCE = "adr-import"
TAG = "adr"
# Where neither a file's name nor anything in it gives a day.
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)

_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_TAG_CHARS = 64
_LINK = re.compile(r"\[([^\]\[]{1,300})\]\([^()]{0,500}\)")
_RETIRED = frozenset({AdrStatus.REJECTED, AdrStatus.DEPRECATED})
_UNTAGGED = frozenset({AdrStatus.ACCEPTED, AdrStatus.UNKNOWN})


@dataclass(frozen=True, slots=True, kw_only=True)
class AdrRecords:
    """The records a folder's drafts make, in the order of the drafts, and what to know about them.

    ``paths`` gives the file of each record by its id.
    """

    records: tuple[Record, ...]
    paths: Mapping[str, str]
    links: AdrLinks
    findings: tuple[Finding, ...]


def record_id(path: str) -> str:
    """The id of the record a file becomes; ``path`` is relative to the project."""
    day = name_date(path)
    moment = datetime.fromisoformat(day).replace(tzinfo=UTC) if day else EPOCH
    digest = sha256(path.encode("utf-8", "surrogatepass")).digest()
    return new_id(max(moment, _EARLIEST), digest[:10])


def records_of(
    drafts: Sequence[AdrDraft], *, folder: str = "", dates: Mapping[str, str] | None = None
) -> AdrRecords:
    """The records that drafts make.

    ``folder`` is the place of the drafts' folder in the project, as a relative path. ``dates``
    gives the day of a file's first commit, by the path of its draft; it is used where the file
    does not say when it was decided.
    """
    links = resolve_links(drafts)
    mapping = _Mapping(drafts, folder.strip("/"), links, dates or {})
    records = tuple(mapping.record(draft) for draft in drafts)
    findings = [finding for draft in drafts for finding in draft.findings]
    return AdrRecords(
        records=records,
        paths={mapping.id(draft.path): mapping.place(draft.path) for draft in drafts},
        links=links,
        findings=(*findings, *links.findings, *mapping.findings),
    )


class _Mapping:
    """From drafts to records, with what was decided about all of them together."""

    def __init__(
        self,
        drafts: Iterable[AdrDraft],
        folder: str,
        links: AdrLinks,
        dates: Mapping[str, str],
    ) -> None:
        self.findings: list[Finding] = []
        self._folder = folder
        self._drafts = {draft.path: draft for draft in drafts}
        self._heirs = links.heirs
        self._dates = dates
        self._replaced: defaultdict[str, list[str]] = defaultdict(list)
        for old, heirs in links.heirs.items():
            for heir in heirs:
                self._replaced[heir].append(old)
        self._amended, self._related = _amended_and_related(links)
        self._unresolved: defaultdict[str, list[AdrUnresolved]] = defaultdict(list)
        for each in links.unresolved:
            if each.link.kind is not AdrLinkKind.MENTIONS:
                self._unresolved[each.source].append(each)

    def place(self, path: str) -> str:
        """The path of a draft in its project."""
        return f"{self._folder}/{path}" if self._folder else path

    def id(self, path: str) -> str:
        """The id of the record that the draft of a path becomes."""
        return record_id(self.place(path))

    def record(self, draft: AdrDraft) -> Record:
        """The record of a draft."""
        heirs = self._heirs.get(draft.path, ())
        return Record(
            id=self.id(draft.path),
            kind=Kind.CLAIM,
            type=Type.DECISION,
            state=_state(draft, heirs),
            title=draft.title,
            body=draft.body,
            created=self._created(draft),
            source=SOURCE,
            source_kind=SourceKind.IMPORT,
            verified_with=Witness.ASSERTION,
            tags=self._tags(draft),
            supersedes=self._ids(self._replaced[draft.path]),
            superseded_by=self._ids(heirs),
            supersede_reason=self._reason(draft.path),
            refines=self._ids(self._amended[draft.path]),
            ext={"adr": self._origin(draft)},
        )

    def _ids(self, paths: Iterable[str]) -> tuple[str, ...]:
        return tuple(self.id(path) for path in dict.fromkeys(paths))

    def _created(self, draft: AdrDraft) -> str:
        day = draft.date or self._dates.get(draft.path)
        if day is not None:
            return parse_instant(day)
        message = f"nothing says when this was decided; it is filed under {EPOCH:%Y-%m-%d}"
        self.findings.append(_finding("undated", message, draft.path, Severity.NOTE))
        return instant(EPOCH)

    def _tags(self, draft: AdrDraft) -> tuple[str, ...]:
        # The number is how people speak of a decision, and it stands in no other searched field.
        tags = [TAG, *([f"{TAG}-{draft.number}"] if draft.number else [])]
        if draft.status not in _UNTAGGED:
            tags.append(draft.status.value)
        for written in draft.tags:
            tag = re.sub(r"[\s,]+", "-", written.lower().strip())
            if len(tag) > _TAG_CHARS:
                message = f"the tag {tag[:_TAG_CHARS]!r} is longer than {_TAG_CHARS} characters"
                self.findings.append(_finding("long-tag", message, draft.path, Severity.WARNING))
            else:
                tags.append(tag)
        return tuple(dict.fromkeys(tags))

    def _reason(self, path: str) -> str | None:
        """Why a record was superseded or replaced others, in the words of whoever says so."""
        draft, heirs = self._drafts[path], self._heirs.get(path, ())
        if draft.status is AdrStatus.SUPERSEDED:
            said = _LINK.sub(r"\1", draft.status_text or "")
            return f"the status of {self.place(path)} says: {said}"
        if heirs:
            return f"it is replaced according to {', '.join(map(self.place, heirs))}"
        replaced = dict.fromkeys(map(self._reason, self._replaced[path]))
        return "; ".join(filter(None, replaced)) or None

    def _origin(self, draft: AdrDraft) -> dict[str, Plain]:
        """What the file says that a record has no field for."""
        unresolved: list[Plain] = [
            f"{each.link.kind}: {each.link.target}" for each in self._unresolved[draft.path]
        ]
        every: dict[str, Plain] = {
            "path": self.place(draft.path),
            "number": draft.number,
            "status": draft.status_text,
            "date_from": draft.date_from or (draft.path in self._dates and "first commit") or None,
            "deciders": [*draft.deciders],
            "related": [*self._ids(self._related[draft.path])],
            "unresolved": unresolved,
        }
        return {key: value for key, value in every.items() if value}


def _state(draft: AdrDraft, heirs: Sequence[str]) -> State:
    if heirs or draft.status is AdrStatus.SUPERSEDED:
        return State.SUPERSEDED
    return State.RETIRED if draft.status in _RETIRED else State.ACTIVE


def _amended_and_related(
    links: AdrLinks,
) -> tuple[defaultdict[str, list[str]], defaultdict[str, list[str]]]:
    """By path, the decisions that each amends, and those it only calls related."""
    amended: defaultdict[str, list[str]] = defaultdict(list)
    related: defaultdict[str, list[str]] = defaultdict(list)
    # A decision that was replaced was not refined, whatever else is said.
    replaced = {(heir, old) for old, heirs in links.heirs.items() for heir in heirs}
    for edge in links.edges:
        later, earlier = edge.source, edge.target
        if edge.kind is AdrLinkKind.AMENDED_BY:
            later, earlier = earlier, later
        if edge.kind in {AdrLinkKind.AMENDS, AdrLinkKind.AMENDED_BY}:
            if later != earlier and (later, earlier) not in replaced:
                amended[later].append(earlier)
        elif edge.kind is AdrLinkKind.RELATES:
            related[later].append(earlier)
    return amended, related


def _finding(code: str, message: str, path: str, severity: Severity) -> Finding:
    return Finding(code=code, message=message, severity=severity, path=path)
