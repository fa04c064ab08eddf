"""What a hook tells an agent unasked: little, of use at that moment, and not twice in a session."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.clock import moment_of
from memspec_py.errors import UsageError
from memspec_py.store.told import Told
from memspec_py.views.budget import Allowance
from memspec_py.views.context.lines import RULE, inert, item_line
from memspec_py.views.context.packing import PATHS, PINNED, RELEVANT, ContextItem

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from memspec_py.layered import Layered
    from memspec_py.views.drift import Row
    from memspec_py.views.hit import Hit
    from memspec_py.views.hook_payload import Payload
    from memspec_py.workspace import Workspace

_BUDGET = 400
_MOST_FOR_PROMPT = 3
_MOST_FOR_FILE = 5
_MOST_PINNED = 5
_MOST_DRIFTED = 5
_LEAST_TERMS = 2
# Of what the best hit scores by its text: what has less of the prompt's words is there by chance.
_LEAST_SHARE = 0.5
_SUBJECT_CHARS = 80
_COMMIT_SECONDS = 120
_MOST_PATHS = 50
_FORGETTING = ("startup", "clear", "compact")
# `git commit` with options between, at the beginning of a command.
_COMMIT = (
    r"(?:^|[\s;&|(`\"'])git(?:\s+-[cC]\s+\S+|\s+--?[\w-]+(?:=\S+)?)*\s+commit(?=$|[\s;&|)`\"'])"
)


class Nudge(NamedTuple):
    """A text, the records it shows, and the commit it speaks of; nothing to say is no text.

    ``query`` is what found the records, for the receipts. ``why`` says why there is nothing, where
    that is worth knowing.
    """

    text: str = ""
    results: tuple[ContextItem, ...] = ()
    query: str | None = None
    commit: str | None = None
    why: str | None = None


def nudge(stores: Layered, event: str, payload: Payload) -> Nudge:
    """What to say at an event. Raises ``UsageError`` for one that there is not."""
    view = _EVENTS.get(event)
    if view is None:
        raise UsageError(f"no hook {event!r}", hint=f"one of: {', '.join(_EVENTS)}")
    return view(stores, payload)


def keep(stores: Layered, event: str, payload: Payload, said: Nudge) -> bool:
    """Keep what is about to be said; False where it has to go unsaid, because that failed."""
    told = _told(stores, payload)
    if event == "session-start":
        if payload.source in _FORGETTING:
            told.forget()
        told.add(item.id for item in said.results)
        return True
    if said.commit is not None:
        return told.add_commit(said.commit)
    if event in ("prompt", "file-open"):
        return told.add(item.id for item in said.results)
    return True


def _session_start(stores: Layered, _: Payload) -> Nudge:
    from memspec_py.views.context.view import Wanted, context

    reply = context(stores, Wanted())
    return Nudge(text=reply.text, results=reply.results) if reply.results else Nudge()


def _prompt(stores: Layered, payload: Payload) -> Nudge:
    from memspec_py.index.query import parse_query
    from memspec_py.views.search import Question, search

    terms = parse_query(payload.prompt, stores.primary.settings.limits.query_terms).terms
    if len(terms) < _LEAST_TERMS:
        return Nudge()
    if payload.session is None:
        return Nudge(why="the payload names no session")
    reply = search(stores, Question(payload.prompt, limit=2 * _MOST_FOR_PROMPT, explain=True))
    if reply.coverage != "ok":
        return Nudge()
    known = _told(stores, payload).ids()
    best = _text_score(reply.results[0])
    hits = [
        hit
        for hit in reply.results
        if hit.id not in known and _text_score(hit) >= _LEAST_SHARE * best
    ]
    items = [ContextItem(RELEVANT, hit) for hit in hits[:_MOST_FOR_PROMPT]]
    said = _listed(stores, "Project memory on this prompt:", items)
    return said._replace(query=payload.prompt)


def _file_open(stores: Layered, payload: Payload) -> Nudge:
    if not payload.files:
        return Nudge()
    if payload.session is None:
        return Nudge(why="the payload names no session")
    known = _told(stores, payload).ids()
    items = [one for one in _on_paths(stores, payload.files) if one.id not in known]
    return _listed(stores, "Claims anchored to this file:", items[:_MOST_FOR_FILE])


def _pre_compact(stores: Layered, _: Payload) -> Nudge:
    hits = _looked_at(stores, _pinned)
    items = [ContextItem(PINNED, hit._replace(preview="")) for hit in hits[:_MOST_PINNED]]
    head = (
        "Keep in the summary what was decided, found out or tried in vain and is not in the"
        " project's memory yet, so that it can be written down with `memspec remember` or"
        " `memspec observe`, and the ids (ms_...) of the records in use."
    )
    if not items:
        return Nudge(text=head)
    pinned = _listed(stores, "Pinned in the project's memory:", items)
    return pinned._replace(text=f"{head}\n\n{pinned.text}")


def _post_commit(stores: Layered, payload: Payload) -> Nudge:
    if payload.failed or not re.search(_COMMIT, payload.command):
        return Nudge()
    commit = _new_commit(stores)
    if commit is None or commit.id in _told(stores, payload).commits():
        return Nudge()
    paths = commit.paths[:_MOST_PATHS]
    drifted = [one for one in _on_paths(stores, paths) if one.record.drifted]
    head = f'Commit {commit.id[:12]} "{inert(commit.subject, _SUBJECT_CHARS)}" is in.'
    ask = (
        "If it settled something that the next session needs and the code does not say, write it"
        " down now: `memspec remember TYPE TITLE --source YOU --anchor FILE`. If not, go on."
    )
    if not drifted:
        return Nudge(text=f"{head} {ask}", commit=commit.id)
    head += (
        f" {_claims(len(drifted))} on code that has changed. For each: `memspec verify ID"
        " --reanchor` if it still holds, else `memspec supersede ID --reason WHY --body TEXT`."
    )
    listed = _listed(stores, head, drifted[:_MOST_DRIFTED])
    return listed._replace(text=f"{listed.text}\n{ask}", commit=commit.id)


_EVENTS: dict[str, Callable[[Layered, Payload], Nudge]] = {
    "session-start": _session_start,
    "post-commit": _post_commit,
    "prompt": _prompt,
    "file-open": _file_open,
    "pre-compact": _pre_compact,
}


class _Commit(NamedTuple):
    id: str
    subject: str
    paths: tuple[str, ...]


def _new_commit(stores: Layered) -> _Commit | None:
    """The commit that was made just now, as git knows it; what a payload says proves nothing."""
    from memspec_py.anchors.git import Git, fields
    from memspec_py.anchors.locate import repository_of

    top = repository_of(Path(os.path.realpath(stores.where.cwd)))
    if top is None:
        return None
    told = Git(os.fspath(top), stores.where.env, seconds=2.0).ask(
        *("log", "-1", "-m", "--first-parent", "--no-renames", "--name-only", "-z"),
        "--format=%H%x00%ct%x00%s",
    )
    parts = fields((told or b"") + b"\0")
    if len(parts) < 3 or not parts[1].isdigit():
        return None
    age = stores.primary.clock.now().timestamp() - int(parts[1])
    if not -_COMMIT_SECONDS <= age <= _COMMIT_SECONDS:
        return None
    paths = [os.path.join(top, path.lstrip("\n")) for path in parts[3:] if path.strip("\n")]
    return _Commit(parts[0], parts[2], tuple(paths))


def _on_paths(stores: Layered, paths: Sequence[str]) -> list[ContextItem]:
    """What is anchored to these files: pinned first, then what was attested last."""
    if not paths:
        return []
    hits = _looked_at(stores, lambda *of: _anchored(stores.where.cwd, paths, *of))
    return [ContextItem(PATHS, hit) for hit in hits]


def _looked_at(
    stores: Layered,
    keys: Callable[[sqlite3.Connection, Workspace, str, Mapping[str, object]], Iterable[int]],
) -> list[Hit]:
    """Records of all layers with their drift, each from the highest that has it.

    ``keys`` finds them in one index, by a condition on ``shown r`` and its values. Pinned ones come
    first, then what was attested last.
    """
    from memspec_py.views.drift import anchored_page, with_drift

    def found(dbs: Sequence[sqlite3.Connection]) -> tuple[list[Hit], list[Sequence[Row]]]:
        hits = _hits(stores, dbs, keys)
        return hits, anchored_page(stores, dbs, hits)

    hits, rows = stores.read(found)
    looked = sorted(
        with_drift(stores, hits, rows),
        key=lambda hit: hit.last_verified or hit.created,
        reverse=True,
    )
    return sorted(looked, key=lambda hit: not hit.pinned)


def _hits(
    stores: Layered,
    dbs: Sequence[sqlite3.Connection],
    keys: Callable[[sqlite3.Connection, Workspace, str, Mapping[str, object]], Iterable[int]],
) -> list[Hit]:
    from memspec_py.views.context.candidates import context_filters
    from memspec_py.views.hit import hit_of

    now = stores.primary.now()
    found: list[Hit] = []
    for position, (ws, db) in enumerate(zip(stores.stores, dbs, strict=True)):
        clause, values = context_filters(None, ws.active_scope, now).clause()
        chosen = dict.fromkeys(keys(db, ws, f"r.live and r.shadowed = 0 and {clause}", values))
        hits = [hit_of(db, key, now, layer=stores.mark(ws)) for key in chosen]
        found += _uncovered(dbs[:position], hits)
    return found


def _uncovered(higher: Sequence[sqlite3.Connection], hits: list[Hit]) -> list[Hit]:
    """Those of some hits that no higher store has, too."""
    if not higher:
        return hits
    from memspec_py.index.across import known_above  # the one store there mostly is needs none

    covered = known_above(higher, [hit.id for hit in hits])
    return [hit for hit in hits if hit.id not in covered]


def _anchored(
    cwd: Path,
    paths: Sequence[str],
    db: sqlite3.Connection,
    ws: Workspace,
    clause: str,
    values: Mapping[str, object],
) -> list[int]:
    from memspec_py.views.context.by_path import anchored_to, places_of

    places = {path: places_of(path, cwd, ws.project) for path in paths}
    return [key for keys in anchored_to(db, places, clause, values).values() for key in keys]


def _pinned(
    db: sqlite3.Connection, _: Workspace, clause: str, values: Mapping[str, object]
) -> list[int]:
    rows = db.execute(
        f"select r.key from records r where r.pinned and {clause}"
        " order by r.created desc, r.id limit :most",
        {**values, "most": _MOST_PINNED},
    )
    return [key for (key,) in rows]


def _listed(stores: Layered, head: str, items: Iterable[ContextItem]) -> Nudge:
    """The items that fit, each on its line; nothing when none does."""
    now = moment_of(stores.primary.now())
    allowance = Allowance(_BUDGET)
    allowance.take(head, RULE)
    shown = []
    for one in items:
        for brief in (False, True):
            item = one._replace(brief=brief, score=None)
            if allowance.take(item_line(item, now)):
                shown.append(item)
                break
        else:
            break
    if not shown:
        return Nudge()
    lines = [head, RULE, *(item_line(item, now) for item in shown)]
    return Nudge(text="\n".join(lines), results=tuple(shown))


def _told(stores: Layered, payload: Payload) -> Told:
    primary = stores.primary
    return Told(primary.machine, payload.session if primary.has_machine else None)


def _text_score(hit: Hit) -> float:
    value = (hit.score or {}).get("text")
    return value if isinstance(value, float) else 0.0


def _claims(count: int) -> str:
    return "1 claim rests" if count == 1 else f"{count} claims rest"
