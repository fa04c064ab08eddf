"""Import a folder of decision records of other styles; started by ``bin/backfill-adrs``."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memspec_py import Memspec
from memspec_py.cli.script import run
from memspec_py.intake.adr import AdrFolder, AdrLinkKind, drafts
from memspec_py.intake.adr_records import AdrRecords, records_of
from memspec_py.render.text import harmless
from memspec_py.report import as_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memspec_py.acts.adopt import Adopted

ANSWER_IS_NO = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Backfill:
    """What was read, what became of it, and where it stands in the project."""

    place: str
    read: AdrFolder
    made: AdrRecords
    adopted: Adopted


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False))
@click.option("--apply", is_flag=True, help="Write. Without it nothing is changed.")
@click.option("--force", is_flag=True, help="Import even what a record already says.")
@click.option(
    "--cwd",
    type=click.Path(file_okay=False),
    help="Import into the store that serves this folder. Default: as `memspec` does.",
)
@click.option(
    "--place",
    metavar="PATH",
    help="The path of DIR in its project; ids are made of it. Default: DIR as seen from the folder"
    " of the store, or its bare name where DIR is elsewhere.",
)
@click.option("--json", "as_json_", is_flag=True, help="Print the report as JSON.")
def command(
    folder: str,
    *,
    apply: bool,
    force: bool,
    cwd: str | None,
    place: str | None,
    as_json_: bool,
) -> int:
    """Import the architecture decision records below DIR, as decisions with stable ids.

    It is safe to run twice: what was imported is left as it is. Exit code 1: some were refused.
    """
    with Memspec.open(cwd, command="backfill-adrs") as memspec:
        backfill = _backfill(memspec, Path(folder), place, apply=apply, force=force)
    if as_json_:
        click.echo(json.dumps(_report(backfill), ensure_ascii=False))
    else:
        for line in _lines(backfill):
            click.echo(line)
    return ANSWER_IS_NO if backfill.adopted.refused else 0


def _backfill(
    memspec: Memspec, folder: Path, place: str | None, *, apply: bool, force: bool
) -> Backfill:
    read = drafts(folder)
    where = place if place is not None else _place(folder, memspec.root)
    undated = [draft.path for draft in read.drafts if draft.date is None]
    made = records_of(read.drafts, folder=where, dates=_first_commits(folder) if undated else {})
    adopted = memspec.adopt(made.records, apply=apply, force=force)
    return Backfill(place=where, read=read, made=made, adopted=adopted)


def _place(folder: Path, store: Path) -> str:
    """The path of a folder in the project that a store belongs to, or its name."""
    real, project = folder.resolve(), store.resolve().parent
    place = real.relative_to(project).as_posix() if real.is_relative_to(project) else real.name
    return "" if place == "." else place


def _first_commits(folder: Path) -> dict[str, str]:
    """The day on which git first saw each file below a folder, by its path in that folder."""
    shallow = _git(folder, "rev-parse", "--is-shallow-repository")
    # The oldest commit of a shallow clone seems to add every file.
    if shallow is None or shallow.strip() != "false":
        return {}
    log = _git(
        folder,
        *("log", "--reverse", "--diff-filter=A", "--no-renames", "--relative", "--name-only"),
        *("-z", "--format=%x01%at", "--", "."),
    )
    days: dict[str, str] = {}
    for commit in (log or "").split("\x01")[1:]:
        time, _, names = commit.partition("\0")
        day = datetime.fromtimestamp(int(time), UTC).date().isoformat()
        for name in names.strip("\0\n").split("\0"):
            days.setdefault(name, day)
    return days


def _git(folder: Path, *arguments: str) -> str | None:
    """What git prints, or None where there is no git or no repository."""
    # A hook that calls us has set variables that would lead git to another repository.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, check=False, env=clean
        )
    except OSError:
        return None
    return os.fsdecode(done.stdout) if done.returncode == 0 else None


def _lines(backfill: Backfill) -> Iterator[str]:
    read, adopted = backfill.read, backfill.adopted
    place = backfill.place or "."
    yield f"{len(read.drafts)} decisions and {len(read.skipped)} other files in {place}"
    yield f"  created  {adopted.created:4}" + ("" if adopted.applied else "  (a dry run)")
    yield f"  present  {adopted.present:4}"
    yield f"  refused  {adopted.refused:4}"
    for status, count in Counter(draft.status for draft in read.drafts).most_common():
        yield f"  {status:<10}{count:3}  by status"
    edges = Counter(edge.kind for edge in backfill.made.links.edges)
    for kind, count in edges.most_common():
        yield f"  {kind:<14}{count:3}  links found"
    paths = backfill.made.paths
    refused = [(paths[one.id], one.code, one.reason) for one in adopted.records]
    yield from _table("refused", refused)
    yield from _table(
        "skipped", [(each.path, each.reason.value, each.sentence) for each in read.skipped]
    )
    lost = [
        (each.source, f"{each.link.kind} {each.link.target}", each.reason)
        for each in backfill.made.links.unresolved
        if each.link.kind is not AdrLinkKind.MENTIONS
    ]
    yield from _table("links not found", lost)
    notes = [(each.path, each.code, each.message) for each in backfill.made.findings]
    yield from _table("notes", notes)
    if not adopted.applied and adopted.created:
        yield "nothing was written; --apply writes"


def _table(name: str, rows: Iterable[tuple[str, str | None, str | None]]) -> Iterator[str]:
    """The rows that have a code, below a name; nothing at all where there are none."""
    shown = [row for row in rows if row[1]]
    yield from [f"{name}:"] if shown else []
    for path, code, told in shown:
        yield harmless(f"  {path}: {code}: {told}")


def _report(backfill: Backfill) -> dict[str, object]:
    links = backfill.made.links
    return {
        "place": backfill.place,
        "adopted": as_json(backfill.adopted),
        "paths": dict(backfill.made.paths),
        "skipped": as_json(backfill.read.skipped),
        "links": as_json(links.edges),
        "unresolved": as_json(links.unresolved),
        "findings": [finding.as_dict() for finding in backfill.made.findings],
    }


if __name__ == "__main__":
    run(command, "backfill-adrs")
