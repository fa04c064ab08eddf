"""Which decision a link means, and which decision replaced which."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from posixpath import normpath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from memspec_py.intake.adr_names import home, name_number
from memspec_py.intake.adr_words import AdrLink, AdrLinkKind, AdrStatus
from memspec_py.report import Finding, Severity
from memspec_py.text import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from memspec_py.intake.adr import AdrDraft

__all__ = ["AdrEdge", "AdrLinks", "AdrUnresolved", "resolve_links"]

_NAMED = 3  # candidates that a reason lists
_NUMBER = re.compile(r"(?:ADR[-_ ]{0,2}|#)*(\d{1,5})\Z", re.IGNORECASE)
# Statuses of a decision that is not in force, and so cannot have replaced another.
_NOT_IN_FORCE = frozenset({AdrStatus.DRAFT, AdrStatus.PROPOSED, AdrStatus.DEFERRED})


@dataclass(frozen=True, slots=True, kw_only=True)
class AdrEdge:
    """A link whose target was found; both ends are paths of drafts."""

    source: str
    kind: AdrLinkKind
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AdrUnresolved:
    """A link whose target was not found, and why."""

    source: str
    link: AdrLink
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AdrLinks:
    """What the links of a folder mean.

    ``heirs`` names, for each superseded decision, those that replaced it; either side saying so is
    enough. What contradicts itself is a finding and no heir.
    """

    edges: tuple[AdrEdge, ...] = ()
    unresolved: tuple[AdrUnresolved, ...] = ()
    heirs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


def resolve_links(drafts: Sequence[AdrDraft]) -> AdrLinks:
    """The links among drafts: by path, by number within a folder, or by title."""
    places = _Places(drafts)
    edges: dict[AdrEdge, None] = {}
    unresolved: list[AdrUnresolved] = []
    for draft in drafts:
        for link in draft.links:
            found = places.find(draft.path, link.target)
            if found == (draft.path,) and link.kind is AdrLinkKind.MENTIONS:
                continue
            if len(found) == 1:
                edges[AdrEdge(source=draft.path, kind=link.kind, target=found[0])] = None
            else:
                reason = _reason(link.target, found)
                unresolved.append(AdrUnresolved(source=draft.path, link=link, reason=reason))
    heirs, findings = _heirs({draft.path: draft for draft in drafts}, edges)
    return AdrLinks(
        edges=tuple(edges), unresolved=tuple(unresolved), heirs=heirs, findings=tuple(findings)
    )


class _Places:
    """The drafts by everything they may be called."""

    def __init__(self, drafts: Iterable[AdrDraft]) -> None:
        self._paths: dict[str, str] = {}
        self._names: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        self._numbers: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
        self._titles: defaultdict[str, list[str]] = defaultdict(list)
        for draft in drafts:
            path = PurePosixPath(draft.path)
            self._paths[draft.path] = draft.path
            self._paths.setdefault(str(path.with_suffix("")), draft.path)
            folder = home(draft.path)
            if folder != str(path.parent):
                path = path.parent
                self._paths.setdefault(str(path), draft.path)
            self._names[folder, path.stem.lower()].append(draft.path)
            if draft.number:
                self._numbers[folder, int(draft.number)].append(draft.path)
            self._titles[_folded(draft.title)].append(draft.path)

    def find(self, source: str, target: str) -> tuple[str, ...]:
        """The drafts a target can mean, most exact way first; one is a find, more are a doubt."""
        if "://" in target:
            return ()
        path = unquote(target.partition("#")[0].partition("?")[0]).strip()
        for found in self._ways(source, path, target):
            if found:
                return tuple(dict.fromkeys(found))
        return ()

    def _ways(self, source: str, path: str, target: str) -> Iterator[Sequence[str]]:
        folder = home(source)
        here = path.removeprefix("./")
        if path.startswith("/"):
            yield self._at(normpath(path.lstrip("/")))
        elif path:
            yield self._at(normpath(str(PurePosixPath(source).parent / path)))
        # A path through other folders means just that place; a name alone is looked for here.
        if here and "/" not in here:
            yield self._names[folder, PurePosixPath(here).stem.lower()]
            # A renamed file keeps its number, which is what names a numbered decision.
            if here.lower().endswith(".md") and (numbered := name_number(here)):
                yield self._numbers[folder, int(numbered)]
        if number := _NUMBER.match(target.strip()):
            yield self._numbers[folder, int(number[1])]
        yield self._titles[_folded(target)]

    def _at(self, path: str) -> list[str]:
        return [self._paths[path]] if path in self._paths else []


def _reason(target: str, found: Sequence[str]) -> str:
    if found:
        more = "" if len(found) <= _NAMED else f" or {len(found) - _NAMED} more"
        return "it can mean " + " or ".join(found[:_NAMED]) + more
    if "://" in target:
        return "it leads elsewhere"
    return "no decision of this folder is called so"


def _folded(title: str) -> str:
    return " ".join(fold(title).split())


def _heirs(
    drafts: Mapping[str, AdrDraft], edges: Iterable[AdrEdge]
) -> tuple[dict[str, tuple[str, ...]], list[Finding]]:
    """Who replaced whom, without the statements that contradict others."""
    stated: dict[tuple[str, str], set[str]] = {}  # (replaced, heir) -> the sides that say so
    for edge in edges:
        if edge.kind is AdrLinkKind.SUPERSEDED_BY:
            stated.setdefault((edge.source, edge.target), set()).add(edge.source)
        elif edge.kind is AdrLinkKind.SUPERSEDES:
            stated.setdefault((edge.target, edge.source), set()).add(edge.source)
    findings: list[Finding] = []
    circular = _circular(stated)
    heirs: dict[str, tuple[str, ...]] = {}
    for (old, heir), sides in stated.items():
        problem = _contradiction(drafts[old], drafts[heir], sides, circular)
        if problem:
            findings.append(_finding(*problem, path=min(sides)))
        else:
            heirs[old] = (*heirs.get(old, ()), heir)
    return heirs, findings


def _contradiction(
    old: AdrDraft, heir: AdrDraft, sides: set[str], circular: set[tuple[str, str]]
) -> tuple[str, str] | None:
    """Why a statement cannot hold, as a code and a sentence, or None."""
    if (old.path, heir.path) in circular:
        message = f"{heir.path} would replace {old.path}, which replaces it in turn"
        return "supersede-cycle", message
    if heir.status is AdrStatus.REJECTED:
        return "rejected-heir", f"{heir.path} was rejected, so it did not replace {old.path}"
    if heir.status in _NOT_IN_FORCE and old.path not in sides:
        message = f"{heir.path} is {heir.status}, so it has not yet replaced {old.path}"
        return "heir-not-in-force", message
    return None


def _circular(pairs: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """The pairs that lie on a circle: from the second one can come back to the first."""
    after: defaultdict[str, list[str]] = defaultdict(list)
    listed = list(pairs)
    for old, heir in listed:
        after[old].append(heir)
    return {(old, heir) for old, heir in listed if old in _reachable(after, heir)}


def _reachable(after: Mapping[str, Sequence[str]], start: str) -> set[str]:
    seen: set[str] = set()
    open_ends = [start]
    while open_ends:
        at = open_ends.pop()
        if at not in seen:
            seen.add(at)
            open_ends += after.get(at, ())
    return seen


def _finding(code: str, message: str, *, path: str) -> Finding:
    return Finding(code=code, message=message, severity=Severity.WARNING, path=path)
