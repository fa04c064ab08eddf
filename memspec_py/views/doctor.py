"""A full examination: what was compared, what is wrong, and what to do about it.

Nothing here trusts the index: files are read again, and the index is compared with them row by row.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from memspec_py.index.index import Index
from memspec_py.record.frontmatter import Unreadable
from memspec_py.record.model import EdgeType, State
from memspec_py.record.parse import parse_record
from memspec_py.record.rules import broken_rules
from memspec_py.record.schema import schema_findings
from memspec_py.report import Finding, Severity
from memspec_py.store import files, layout
from memspec_py.store.gitignore import missing_lines
from memspec_py.store.listing import list_records
from memspec_py.store.unfinished import set_aside, unfinished
from memspec_py.views.envelope import late_told

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Container, Iterator, Mapping

    from memspec_py.layered import Layered
    from memspec_py.record.model import Record
    from memspec_py.workspace import Workspace

_COMPARED = {
    "files": "path, size, mtime, ctime, inode, digest",
    "records": "path, id, kind, label, state, live, shadowed, indexed, title_size, tags_size,"
    " body_size, scope, created, fresh, check_by, expires, valid_from, valid_to, witness, derived",
    "records natural join texts": "path, title, tags, body, body_words, head",
    "edges": "source, type, target, position, path",
    "findings": "path, position, code, severity, line, field, message",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One comparison: how many things were looked at, and how many findings it gave."""

    name: str
    compared: str
    count: int
    findings: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What ``doctor`` looked at and found; ``fixed`` says what ``--fix`` did before."""

    store: str
    healthy: bool
    checks: tuple[Check, ...]
    findings: tuple[Finding, ...]
    fixed: tuple[str, ...] = ()


def examine(stores: Layered, *, fixed: tuple[str, ...] = ()) -> Examined:
    """Look at everything in the primary store, and at how it stands to the other layers.

    Healthy means no error and no warning. Nothing is written to the store.
    """
    ws = stores.primary
    checks: list[Check] = []
    every: list[Finding] = []

    def add(name: str, compared: str, count: int, found: Iterator[Finding]) -> None:
        findings = [_with_a_fix(finding) for finding in found]
        checks.append(Check(name=name, compared=compared, count=count, findings=len(findings)))
        every.extend(findings)

    listing = list_records(ws.root)
    records = dict(_read_all(ws, listing.paths))
    readable = {path: one for path, one in records.items() if not isinstance(one, tuple)}
    by_id = _by_id(readable)
    strays = [*listing.strays, *_other_strays(ws)]
    attached = sum(len(record.evidence) for record in readable.values())
    add("settings", "config.yaml with what it may say", 1, iter(ws.settings.findings))
    add("records", "each file with the format and the schema", len(records), _broken(ws, records))
    add(
        "places", "each file's name and folder with its record", len(readable), _misplaced(readable)
    )
    add("ids", "each id with all others", len(by_id), _doubled(by_id))
    elsewhere = _elsewhere(ws)
    dangling = _dangling(readable, by_id, elsewhere)
    add("edges", "each edge with the record it names", len(readable), dangling)
    if not stores.is_plain:
        known = len(by_id.keys() | elsewhere)
        doubled = _in_two_layers(stores, by_id, elsewhere)
        add("layer ids", "each id with those of the other layers", known, doubled)
        declared = len(stores.every) + len(stores.resolution.left_out)
        add("layers", "each layer with what is here of it", declared, _layers(stores))
    add("evidence", "each attachment with its digest", attached, _evidence(ws, readable))
    add(
        "strays",
        "each folder with what may lie in it",
        len(strays),
        _strays(strays),
    )
    add(
        "links",
        "symbolic links and unreadable folders",
        len(listing.findings),
        iter(listing.findings),
    )
    add("journal", "unfinished changes of several files", 1, _unfinished(ws))
    add(
        "ignored", ".gitignore with what must not be committed", len(layout.IGNORED), _unignored(ws)
    )
    add("index", "each row and word with the files", len(records), _index_differences(ws))
    return Examined(
        store=str(ws.root),
        healthy=all(one.severity is Severity.NOTE for one in every),
        checks=tuple(checks),
        findings=tuple(every),
        fixed=fixed,
    )


# The next step for findings that do not bring one along.
_FIXES = {
    "bad-setting": "correct it in config.yaml",
    "dangling-edge": "it may be on another branch; else remove the id",
    "evidence-changed": "restore the file with git, or remove the entry from the record",
    "evidence-missing": "restore the file with git, or remove the entry from the record",
    "evidence-path": "remove the entry from the record",
    "foreign-file": "move it elsewhere if it is not meant to be here",
    "unopened": "check who may read it",
    "unused-evidence": "remove it if nobody needs it",
}
_ANY_FIX = "mend the file (`memspec edit` opens it), or restore it with git"


def _with_a_fix(finding: Finding) -> Finding:
    if finding.fix is not None:
        return finding
    return replace(finding, fix=_FIXES.get(finding.code, _ANY_FIX))


def _read_all(
    ws: Workspace, paths: list[str]
) -> Iterator[tuple[str, Record | tuple[Finding, ...]]]:
    for path in sorted(paths):
        try:
            yield path, parse_record(files.read(ws.path_of(path)), ws.settings.limits)
        except FileNotFoundError:
            continue  # removed since it was listed
        except OSError as problem:
            message = f"the file cannot be read: {problem.strerror or problem}"
            yield path, (Finding(code="unopened", path=path, message=message),)
        except Unreadable as problem:
            yield path, tuple(replace(finding, path=path) for finding in problem.findings)


def _by_id(readable: Mapping[str, Record]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path, record in readable.items():
        found.setdefault(record.id, []).append(path)
    return found


def _broken(
    ws: Workspace, records: Mapping[str, Record | tuple[Finding, ...]]
) -> Iterator[Finding]:
    for path, record in records.items():
        if isinstance(record, tuple):
            yield from record
            continue
        for finding in (*broken_rules(record, ws.settings.limits), *schema_findings(record)):
            yield replace(finding, path=path)


def _misplaced(readable: Mapping[str, Record]) -> Iterator[Finding]:
    for path, record in readable.items():
        proper = layout.path_of(record)
        folder, _, name = path.rpartition("/")
        if not f"{folder}/".startswith(f"{layout.folder_of(record)}/"):
            article = "an" if record.state[0] in "aeiou" else "a"
            what = f"{article} {record.state} {record.label}"
            message = f"{what} belongs in {layout.folder_of(record)}/"
        elif name != f"{record.id}.md":
            message = f"the file should be named {record.id}.md, after its record"
        else:
            continue
        yield Finding(
            code="misplaced",
            severity=Severity.WARNING,
            path=path,
            message=message,
            fix=f"move it to {proper} (doctor --fix does)",
        )


def _doubled(by_id: Mapping[str, list[str]]) -> Iterator[Finding]:
    for id_, paths in by_id.items():
        for path in paths[1:]:
            yield Finding(
                code="duplicate-id",
                path=path,
                field="id",
                message=f"{id_} is also the id of {paths[0]}; only one of them is shown",
                fix="remove the copy, or give it an id of its own",
            )


_Copy: TypeAlias = "tuple[Workspace, str]"  # a layer, and the path of a record in it


def _elsewhere(ws: Workspace) -> dict[str, list[_Copy]]:
    """The records of the other layers by id, as their indexes have them."""
    found: dict[str, list[_Copy]] = {}
    for other in ws.beside:
        for id_, path in other.read(lambda db: db.execute(_SHOWN).fetchall()):
            found.setdefault(id_, []).append((other, path))
    return found


_SHOWN = "select id, path from records where shadowed = 0"


def _in_two_layers(
    stores: Layered, by_id: Mapping[str, list[str]], elsewhere: Mapping[str, list[_Copy]]
) -> Iterator[Finding]:
    """Ids that two layers have; with one store asked for, those that it has a part in."""
    for id_ in sorted(elsewhere):
        own = [(stores.primary, path) for path in by_id.get(id_, ())[:1]]
        copies = sorted([*own, *elsewhere[id_]], key=lambda copy: stores.every.index(copy[0]))
        if len(copies) < 2 or (not own and stores.resolution.narrowed is not None):
            continue
        (highest, _), *_ = copies
        listed = " and ".join(f"{one.path_of(path)} (layer: {one.name})" for one, path in copies)
        yield Finding(
            code="id-in-two-layers",
            severity=Severity.WARNING,
            path=own[0][1] if own else "",
            field="id",
            message=f"{id_} is the id of {listed}; that of {highest.name!r}, the higher layer,"
            " counts",
            fix="remove all but one of them, or give the other records ids of their own",
        )


def _layers(stores: Layered) -> Iterator[Finding]:
    """What this machine lacks of the layers."""
    for absent in stores.resolution.left_out:
        yield Finding(
            code="layer-left-out",
            severity=Severity.WARNING,
            message=absent.message,
            fix=absent.fix,
        )
    stale = stores.stale()
    for late in stale.layers:
        yield Finding(
            code="layer-behind",
            severity=Severity.NOTE,
            message=late_told(late),
            fix=f"bring the checkout up to date that {late.path} is in",
        )
    for sentence in stale.undecided:
        yield Finding(
            code="layer-undecided",
            severity=Severity.NOTE,
            message=sentence,
            fix="look at its checkout with git",
        )


def _dangling(
    readable: Mapping[str, Record],
    by_id: Mapping[str, list[str]],
    elsewhere: Container[str],
) -> Iterator[Finding]:
    for path, record in readable.items():
        for edge in (*EdgeType, "answers"):
            for target in getattr(record, edge):
                if target not in by_id and target not in elsewhere:
                    yield Finding(
                        code="dangling-edge",
                        severity=Severity.WARNING,
                        path=path,
                        field=str(edge),
                        message=f"{edge} names {target}, which is not in this store",
                    )
        for target in record.supersedes:
            for other in by_id.get(target, ()):
                if readable[other].state is State.ACTIVE:
                    yield Finding(
                        code="unapplied-supersede",
                        path=path,
                        field="supersedes",
                        message=f"supersedes {target}, which is still active in {other}",
                        fix="retire the old record, or remove the edge",
                    )


def _evidence(ws: Workspace, readable: Mapping[str, Record]) -> Iterator[Finding]:
    used = set()
    for path, record in readable.items():
        for one in record.evidence:
            if one.path is None:
                continue
            used.add(one.path)
            yield from _attachment_findings(ws, path, one.path, one.sha256)
    for found in _evidence_files(ws):
        if found not in used:
            yield Finding(
                code="unused-evidence",
                severity=Severity.NOTE,
                path=found,
                message="no record refers to this attachment",
            )


def _attachment_findings(
    ws: Workspace, path: str, attached: str, digest: str | None
) -> Iterator[Finding]:
    parts = attached.split("/")
    if parts[0] != layout.EVIDENCE or ".." in parts:
        message = f"evidence path {attached!r} does not lie in {layout.EVIDENCE}/"
        yield Finding(code="evidence-path", path=path, field="evidence", message=message)
        return
    try:
        data = files.read(ws.path_of(attached))
    except OSError as problem:
        message = f"evidence {attached} cannot be read: {problem.strerror or problem}"
        yield Finding(code="evidence-missing", path=path, field="evidence", message=message)
        return
    if digest is not None and files.digest(data) != digest:
        message = f"evidence {attached} is not what was attached: its digest differs"
        yield Finding(code="evidence-changed", path=path, field="evidence", message=message)


def _evidence_files(ws: Workspace) -> list[str]:
    found = []
    for folder, _, names in os.walk(ws.root / layout.EVIDENCE):
        relative = os.path.relpath(folder, ws.root).replace(os.sep, "/")
        found += [f"{relative}/{name}" for name in names if not name.startswith(".tmp-")]
    return sorted(found)


def _other_strays(ws: Workspace) -> list[str]:
    """What killed writers left beside the attachments and in the store's own folder."""
    places = [ws.root, *map(Path, _folders_below(ws.root / layout.EVIDENCE))]
    return [
        stray.relative_to(ws.root).as_posix() for place in places for stray in files.strays(place)
    ]


def _folders_below(folder: Path) -> list[str]:
    return [found for found, _, _ in os.walk(folder)]


def _strays(strays: list[str]) -> Iterator[Finding]:
    for path in sorted(strays):
        if files.is_stray(path.rpartition("/")[2]):
            yield Finding(
                code="stray-file",
                severity=Severity.WARNING,
                path=path,
                message="was left by a writer that was killed; its record was never written",
                fix="remove it (doctor --fix does)",
            )
        else:
            yield Finding(
                code="foreign-file",
                severity=Severity.NOTE,
                path=path,
                message="is no record file (*.md) and is not read",
            )


def _unfinished(ws: Workspace) -> Iterator[Finding]:
    if unfinished(ws.root):
        yield Finding(
            code="unfinished-change",
            path=f"{layout.LOCAL}/journal",
            message="a change of several files was interrupted",
            fix="the next write finishes it (doctor --fix does, too)",
        )
    for name in set_aside(ws.root):
        yield Finding(
            code="set-aside-change",
            severity=Severity.WARNING,
            path=f"{layout.LOCAL}/journal/{name}",
            message="a change of several files was not finished, because somebody had edited one of"
            " them or the journal was damaged; what it meant to write is kept here",
            fix="look at the records it names, then remove it",
        )


def _unignored(ws: Workspace) -> Iterator[Finding]:
    missing = missing_lines(ws.root)
    if missing:
        yield Finding(
            code="gitignore",
            severity=Severity.WARNING,
            path=layout.GITIGNORE,
            message=f"does not ignore {', '.join(missing)}",
            fix="add the lines (doctor --fix does)",
        )


def _index_differences(ws: Workspace) -> Iterator[Finding]:
    """Compare the index in use with one made anew in memory, and have SQLite check its words."""
    ws.read(lambda db: db)
    truth = Index(ws.root, ws.settings.limits)
    truth.refresh_in_memory()
    try:
        for table, columns in _COMPARED.items():
            ours, theirs = (_rows(one.db, table, columns) for one in (ws.index, truth))
            different = (ours - theirs) | (theirs - ours)
            if different:
                yield _index_finding(f"{len(different)} rows of {table} differ from the files")
        for table in ("words", "past_words"):
            if not _words_agree(ws.index.db, table):
                yield _index_finding(f"the full-text table {table} differs from its records")
    finally:
        truth.close()


def _rows(db: sqlite3.Connection, table: str, columns: str) -> Counter[tuple[object, ...]]:
    return Counter(db.execute(f"select {columns} from {table}").fetchall())


def _words_agree(db: sqlite3.Connection, table: str) -> bool:
    import sqlite3

    live = int(table == "words")
    try:
        expected = db.execute(
            "select count(*) from records where indexed = 1 and live = ?", (live,)
        ).fetchone()[0]
        found = db.execute(f"select count(*) from {table}_docsize").fetchone()[0]
        # FTS5 checks that its index is what the rows it holds would give.
        db.execute(f"insert into {table} ({table}) values ('integrity-check')")
    except sqlite3.Error:
        return False
    return bool(expected == found)


def _index_finding(message: str) -> Finding:
    return Finding(
        code="index-differs",
        path=f"{layout.LOCAL}/index.db",
        message=message,
        fix="make it anew (doctor --fix does)",
    )
