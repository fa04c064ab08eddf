"""Give records a scope by their tags; started by ``bin/repair-scope-backfill``."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import click

from memspec_py import Memspec, UsageError
from memspec_py.cli.progress import Progress
from memspec_py.cli.script import run
from memspec_py.render.text import harmless
from memspec_py.report import as_json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from memspec_py import Record
    from memspec_py.acts.backfill import Backfilled

ANSWER_IS_NO = 1
EVERYWHERE = "universal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ambiguous:
    """A record whose tags stand for more than one scope."""

    id: str
    title: str
    scopes: tuple[str, ...]


@dataclass(slots=True)
class ScopeByTag:
    """The function of the backfill; it keeps what it left alone, and why."""

    scopes: Mapping[str, str]
    ambiguous: list[Ambiguous] = field(default_factory=list)
    scoped: int = 0
    unmatched: int = 0

    def __call__(self, record: Record) -> Record | None:
        """The record with a scope, or None for one that has one, or that gets none."""
        if record.scope is not None:
            self.scoped += 1
            return None
        tags = {tag.casefold() for tag in record.tags}
        found = sorted({scope for tag, scope in self.scopes.items() if tag in tags})
        if len(found) == 1:
            return replace(record, scope=found[0])
        if found:
            one = Ambiguous(id=record.id, title=record.title, scopes=tuple(found))
            self.ambiguous.append(one)
        else:
            self.unmatched += 1
        return None


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--store",
    metavar="PATH",
    type=click.Path(file_okay=False),
    help="The .memspec folder, or the folder that it lies in. Default: as `memspec` does.",
)
@click.option(
    "--map", "map_", metavar="TAG:SCOPE,...", required=True, help="Which scope each tag stands for."
)
@click.option("--apply", is_flag=True, help="Write. Without it nothing is changed.")
@click.option("--include-operator", is_flag=True, help="Even the operator's records.")
@click.option("--json", "as_json_", is_flag=True, help="Print the report as JSON.")
def command(
    store: str | None, *, map_: str, apply: bool, include_operator: bool, as_json_: bool
) -> int:
    """Give each record that has no scope the one that its tags stand for.

    Records whose tags stand for two scopes are left as they are and listed; those with none of the
    tags are counted. `memspec undo last` takes it back. Exit code 1: some were refused.
    """
    scopes = _scopes(map_)
    # By its path, so that a store further up the tree, or a layer beside it, is never taken for it.
    place = None if store is None else os.path.abspath(store)
    with Memspec.open(store=place, command="repair-scope-backfill") as memspec:
        _refuse_unknown(scopes, memspec.scopes)
        by_tag = ScopeByTag(scopes)
        done = memspec.backfill(
            by_tag,
            name="repair-scope",
            apply=apply,
            include_operator=include_operator,
            progress=Progress(sys.stderr, "{} of {} records"),
        )
    if as_json_:
        click.echo(json.dumps(_report(by_tag, done), ensure_ascii=False))
    else:
        for line in _lines(by_tag, done):
            click.echo(line)
    return ANSWER_IS_NO if done.refused else 0


def _scopes(text: str) -> dict[str, str]:
    """Scope by tag; tags are compared without regard to case, as ``memspec list`` does."""
    scopes: dict[str, str] = {}
    for pair in text.split(","):
        # A tag may hold a colon (area:auth), the name of a scope does not.
        tag, _, scope = (part.strip() for part in pair.rpartition(":"))
        if not tag or not scope:
            raise UsageError(
                f"--map: {pair.strip()!r} is not TAG:SCOPE", hint="such as --map auth:api,css:web"
            )
        if scopes.setdefault(tag.casefold(), scope) != scope:
            raise UsageError(f"--map: tag {tag!r} stands for two scopes")
    return scopes


def _refuse_unknown(scopes: Mapping[str, str], known: Collection[str]) -> None:
    """Raise ``UsageError`` for a scope that the store does not declare, if it declares any."""
    for scope in scopes.values():
        if known and scope not in (*known, EVERYWHERE):
            raise UsageError(
                f"--map: no scope {scope!r} in config.yaml",
                hint=f"known scopes: {', '.join(sorted(known))}, {EVERYWHERE}",
            )


def _lines(by_tag: ScopeByTag, done: Backfilled) -> Iterator[str]:
    yield f"{done.seen} records in {done.store}"
    yield f"  {'scoped' if done.applied else 'to scope':<12}{done.changed:5}"
    yield f"  {'ambiguous':<12}{len(by_tag.ambiguous):5}"
    yield f"  {'no such tag':<12}{by_tag.unmatched:5}"
    yield f"  {'had a scope':<12}{by_tag.scoped:5}"
    yield f"  {'operator':<12}{done.skipped_operator:5}"
    yield f"  {'refused':<12}{done.refused:5}"
    yield f"  {'unreadable':<12}{done.unreadable:5}"
    for one in done.records:
        what = one.reason if one.outcome == "refused" else one.fields[0].after
        yield harmless(f"{one.outcome}: {one.id} {one.title}: {what}")
    for left in by_tag.ambiguous:
        yield harmless(f"ambiguous: {left.id} {left.title}: {', '.join(left.scopes)}")
    for finding in done.findings:
        yield harmless(f"unreadable: {finding}")
    if done.journal:
        yield f"To undo this: memspec undo {done.journal}"
    elif done.changed and not done.applied:
        yield "nothing was written; --apply writes"


def _report(by_tag: ScopeByTag, done: Backfilled) -> dict[str, object]:
    return {
        "map": dict(by_tag.scopes),
        "had_scope": by_tag.scoped,
        "unmatched": by_tag.unmatched,
        "ambiguous": as_json(by_tag.ambiguous),
        "backfilled": as_json(done),
    }


if __name__ == "__main__":
    run(command, "repair-scope-backfill")
