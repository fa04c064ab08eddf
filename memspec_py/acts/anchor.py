"""Say which code a record depends on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memspec_py.acts.anchoring import (
    anchored,
    each_once,
    place_of,
    unresolved_error,
    verdicts_on,
    with_anchors,
)
from memspec_py.acts.changing import change_to, on_disk, path_of, refuse_inactive
from memspec_py.acts.permission import is_override, refuse_operator, with_override
from memspec_py.anchors.grain import shown
from memspec_py.errors import Conflict, UsageError
from memspec_py.record.model import Kind, Witness
from memspec_py.store import journal
from memspec_py.store.gitignore import keep_current
from memspec_py.trust.source import checked_source
from memspec_py.trust.tiers import Act

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memspec_py.acts.anchoring import Taken
    from memspec_py.anchors.locate import Unresolved
    from memspec_py.record.model import Anchor, Record
    from memspec_py.store.resolve import Surroundings
    from memspec_py.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchored:
    """The anchors of a record as they are now.

    ``added`` were not there before, ``renewed`` were and have been taken again, ``dropped`` went;
    what the last two were is kept in the record. ``notes`` are sentences on what is coarser or less
    portable than was asked for.
    """

    store: str
    id: str
    path: str
    title: str
    source: str
    verified_with: str
    last_verified: str | None
    anchors: tuple[str, ...]
    added: tuple[str, ...]
    renewed: tuple[str, ...]
    dropped: tuple[str, ...]
    unresolved: tuple[Unresolved, ...]
    notes: tuple[str, ...]


def anchor(
    ws: Workspace,
    typed: str,
    paths: Sequence[str],
    where: Surroundings,
    *,
    source: str,
    replace_all: bool = False,
    strict: bool = False,
    root: str | None = None,
    override_operator: bool = False,
) -> Anchored:
    """Anchor a record in use to code as it is now; with ``replace_all`` to nothing else.

    A path is ``PATH``, ``PATH#Symbol``, ``PATH:10-40`` or ``PATH::NAME=value``; a part of a file
    that is anchored already is taken again. The anchors witness the record from now on, unless
    another anchor of it does not hold. Its review date stays.
    Raises ``NotActive``, ``NotAllowed`` for an operator's record that this caller may not touch,
    ``Invalid`` when no path resolves (or, ``strict``, when one does not), ``UsageError``, and
    ``Conflict`` when the record was changed meanwhile.
    """
    name = checked_source(source)
    if not paths:
        raise UsageError("no path to anchor to", hint="such as src/auth.py#login")
    one = ws.read(lambda _: on_disk(ws, typed))
    if one.record.kind is Kind.QUESTION:
        raise UsageError(f"{one.record.id} is a question, which depends on no code")
    ws.read(lambda db: refuse_inactive(db, one.record))
    refuse_operator(ws, Act.ANCHOR, [one.record], source=name, override=override_operator)
    taken = anchored(ws, where, paths, root=root, strict=strict)
    if not taken.anchors:
        raise unresolved_error(taken.unresolved)
    after, notes = _after(ws, where, one.record, taken, name, replace_all=replace_all)
    change = change_to(ws, one, after)
    with ws.writing():
        # The code was looked at without the lock; what was read then must still be there.
        if ws.read(lambda _: on_disk(ws, one.record.id)).data != one.data:
            raise Conflict(f"{one.path} was changed meanwhile", hint="run the command again")
        keep_current(ws.root)
        journal.apply(ws.root, [change], after.id)
    return _reply(ws, one.record, after, path_of(change), taken, name, notes)


def _after(
    ws: Workspace,
    where: Surroundings,
    record: Record,
    taken: Taken,
    source: str,
    *,
    replace_all: bool,
) -> tuple[Record, tuple[str, ...]]:
    """The record with its new anchors, and what should be known of those it keeps."""
    new = {place_of(one) for one in taken.anchors}
    kept = () if replace_all else tuple(one for one in record.anchors if place_of(one) not in new)
    anchors = each_once((*kept, *taken.anchors))
    now = ws.now()
    ext = with_anchors(record, anchors, at=now, source=source)
    if is_override(ws, Act.ANCHOR, record, source):
        ext = with_override(ws, Act.ANCHOR, ext, source)
    after = replace(record, anchors=anchors, ext=ext)
    doubts = tuple(
        f"{one.anchor} {one.verdict}, so the witness stays {record.verified_with}"
        for one in verdicts_on(ws, where, kept)
        if one.is_alarm or one.verdict == "unchecked"
    )
    if doubts:
        return after, doubts
    return replace(after, verified_with=Witness.ANCHOR, last_verified=now), ()


def _reply(
    ws: Workspace,
    before: Record,
    after: Record,
    path: str,
    taken: Taken,
    source: str,
    notes: tuple[str, ...],
) -> Anchored:
    had = {place_of(one) for one in before.anchors}
    has = {place_of(one) for one in after.anchors}
    return Anchored(
        store=str(ws.root),
        id=after.id,
        path=path,
        title=after.title,
        source=source,
        verified_with=after.verified_with.value,
        last_verified=after.last_verified,
        anchors=_shown(after.anchors),
        added=_shown(one for one in taken.anchors if place_of(one) not in had),
        renewed=_shown(one for one in taken.anchors if place_of(one) in had),
        dropped=_shown(one for one in before.anchors if place_of(one) not in has),
        unresolved=taken.unresolved,
        notes=(*taken.notes, *notes),
    )


def _shown(anchors: Iterable[Anchor]) -> tuple[str, ...]:
    return tuple(shown(one) for one in anchors)
