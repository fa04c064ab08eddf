"""The Python API: one short method for each act and each view.

from memspec_py import Memspec

ms = Memspec.open()
ms.remember("fact", "Auth uses JWT", source="my-script", tags=["auth"])
for hit in ms.search("auth").results:
    print(hit.id, hit.title)
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from memspec_py.clock import SystemClock
from memspec_py.layered import Layered, refuse_several
from memspec_py.store.layers import resolve
from memspec_py.store.resolve import Surroundings, expanded
from memspec_py.trust.channel import Channel

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from types import TracebackType
    from typing import Self

    from sqlite_utils import Database

    from memspec_py.acts.adopt import Adopted
    from memspec_py.acts.anchor import Anchored
    from memspec_py.acts.backfill import Backfilled
    from memspec_py.acts.edit import EditCopy, Edited
    from memspec_py.acts.harness.plan import Wanted
    from memspec_py.acts.init import Initialized
    from memspec_py.acts.observe import Observed
    from memspec_py.acts.outcome import Noted
    from memspec_py.acts.question import Asked
    from memspec_py.acts.relate import Related
    from memspec_py.acts.remember import Remembered
    from memspec_py.acts.set_up import Detected, FileChange, SetUp
    from memspec_py.acts.supersede import Superseded
    from memspec_py.acts.sweep import Candidate, Swept
    from memspec_py.acts.trusting import Distrusted, Trusted, TrustList
    from memspec_py.acts.undo import UndoList, Undone
    from memspec_py.acts.verify import Verified
    from memspec_py.clock import Clock
    from memspec_py.index.index import Progress
    from memspec_py.record.model import Plain, Record
    from memspec_py.views.context.packing import ContextItem
    from memspec_py.views.context.view import ContextReply
    from memspec_py.views.doctor import Examined
    from memspec_py.views.export import Exported
    from memspec_py.views.get import Shown
    from memspec_py.views.hit import Hit
    from memspec_py.views.hook_payload import Payload
    from memspec_py.views.listed import ListReply
    from memspec_py.views.nudges import Nudge
    from memspec_py.views.reconcile import Reconciled
    from memspec_py.views.search import SearchReply
    from memspec_py.views.status import Status
    from memspec_py.views.where import Where
    from memspec_py.workspace import Workspace


class Memspec:
    """The stores that serve a place, opened. Use it as a context manager, or ``close`` it."""

    def __init__(self, stores: Layered) -> None:
        self._stores = stores
        self._where = stores.where

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        store: str | None = None,
        where: Surroundings | None = None,
        clock: Clock | None = None,
        entropy: Callable[[int], bytes] = os.urandom,
        progress: Progress | None = None,
        command: str = "",
        channel: Channel = Channel.API,
        watch: bool = False,
    ) -> Self:
        """Open what serves ``path`` (a project folder, or a ``.memspec`` folder itself).

        Without a path: ``MEMSPEC_ROOT``, else the working directory and upward. ``store`` names one
        layer of several (``global`` is that of the home), or any store by its path, which is then
        used alone. ``channel`` is the front the calls come through. ``progress`` is called with
        (done, total) while many files are read. With ``watch`` a program that stays need not list
        all files before each read where the system tells what changed; the replies are the same,
        and it must be closed when it is done. Raises ``NoStore``, and ``Invalid`` for a pointer
        file that cannot be read.
        """
        here = where or surroundings()
        return cls(
            Layered(
                resolve(here, None if path is None else Path(path), store),
                here,
                clock=clock or SystemClock(),
                entropy=entropy,
                progress=progress,
                command=command,
                channel=channel,
                watched=watch,
            )
        )

    @classmethod
    def init(
        cls,
        path: str | os.PathLike[str] = ".",
        *,
        force: bool = False,
        where: Surroundings | None = None,
    ) -> Initialized:
        """Make a store in a folder, or complete one. Raises ``NestedStore`` unless forced."""
        from memspec_py.acts.init import init

        here = where or surroundings()
        return init(expanded(Path(path), here), here, force=force)

    @staticmethod
    def harnesses(
        path: str | os.PathLike[str] = ".", *, where: Surroundings | None = None
    ) -> Detected:
        """The names of the agents' harnesses that seem to be in use for a project."""
        from memspec_py.acts.set_up import detected

        here = where or surroundings()
        return detected(expanded(Path(path), here), here)

    @staticmethod
    def set_up(
        path: str | os.PathLike[str],
        wanted: Wanted,
        *,
        approve: Callable[[FileChange], bool] | None = None,
        dry_run: bool = False,
        where: Surroundings | None = None,
    ) -> SetUp:
        """Tell harnesses about memspec, or take that back, outside of any store.

        ``acts.set_up`` tells what is written where, and the errors.
        """
        from memspec_py.acts.set_up import set_up

        here = where or surroundings()
        folder = expanded(Path(path), here)
        return set_up(folder, wanted, here, approve=approve, dry_run=dry_run)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index file. The store itself needs no closing."""
        self._stores.close()

    @property
    def root(self) -> Path:
        """The folder of the store; of several, of the one that new records go to."""
        return self._ws.root

    @property
    def warnings(self) -> tuple[str, ...]:
        """What every answer should tell of the stores: layers left out, pointers not followed."""
        return tuple(self._stores.warnings)

    @property
    def _ws(self) -> Workspace:
        """The primary store."""
        return self._stores.primary

    @property
    def scopes(self) -> tuple[str, ...]:
        """The scopes that the store's config.yaml declares, in its order."""
        return tuple(self._ws.settings.scopes)

    def remember(
        self,
        type: str,
        title: str,
        *,
        source: str,
        body: str = "",
        tags: Sequence[str] = (),
        scope: str | None = None,
        pinned: bool = False,
        check_by: str | None = None,
        valid_from: str | None = None,
        valid_to: str | None = None,
        anchors: Sequence[str] = (),
        anchor_root: str | None = None,
        strict: bool = False,
        evidence: Sequence[str] = (),
        requires_human: Sequence[str] = (),
        edges: Mapping[str, Sequence[str]] | None = None,
        ext: Mapping[str, Plain] | None = None,
        answers_question: str | None = None,
        force: bool = False,
        reason: str | None = None,
    ) -> Remembered:
        """Write a claim. ``acts.remember`` tells the fields (``NewClaim``) and the errors.

        ``reason`` says why it is forced; without one, what a supersede withdrew stays refused.
        """
        from memspec_py.acts.remember import NewClaim, remember

        claim = NewClaim(
            type=type,
            title=title,
            source=source,
            body=body,
            tags=tags,
            scope=scope,
            pinned=pinned,
            check_by=check_by,
            valid_from=valid_from,
            valid_to=valid_to,
            anchors=anchors,
            anchor_root=anchor_root,
            strict=strict,
            evidence=evidence,
            requires_human=requires_human,
            edges=edges or {},
            ext=ext or {},
            answers_question=answers_question,
        )
        return remember(self._stores.target(), claim, self._where, force=force, reason=reason)

    def observe(
        self,
        text: str,
        *,
        source: str = "agent",
        ttl: str | None = None,
        tags: Sequence[str] = (),
        scope: str | None = None,
        force: bool = False,
        reason: str | None = None,
    ) -> Observed:
        """Note what was seen; it expires after ``ttl`` such as ``7d``, ``12h`` or ``never``."""
        from memspec_py.acts.observe import observe

        return observe(
            self._stores.target(),
            text,
            source=source,
            ttl=ttl,
            tags=tags,
            scope=scope,
            force=force,
            reason=reason,
        )

    def supersede(
        self,
        record_id: str,
        *,
        reason: str,
        source: str = "agent",
        title: str | None = None,
        body: str | None = None,
        type: str | None = None,
        merge_from: Sequence[str] = (),
        tags: Sequence[str] | None = None,
        scope: str | None = None,
        pinned: bool | None = None,
        check_by: str | None = None,
        valid_from: str | None = None,
        valid_to: str | None = None,
        anchors: Sequence[str] | None = None,
        override_operator: bool = False,
        force: bool = False,
    ) -> Superseded:
        """Replace a record (with a text), merge others into it, or retract it (with neither).

        ``acts.supersede`` tells what the replacement keeps, and the errors.
        """
        from memspec_py.acts.supersede import Replacement, supersede

        new = Replacement(
            title=title,
            body=body,
            type=type,
            tags=tags,
            scope=scope,
            pinned=pinned,
            check_by=check_by,
            valid_from=valid_from,
            valid_to=valid_to,
            anchors=anchors,
        )
        store, id_ = self._stores.owner_to_change(record_id)
        others = [self._stores.owner_to_change(other) for other in merge_from]
        refuse_several([(store, id_), *others], "a merge")
        return supersede(
            store,
            id_,
            self._where,
            reason=reason,
            source=source,
            new=new,
            merge_from=[other for _, other in others],
            override_operator=override_operator,
            force=force,
        )

    def adopt(
        self,
        records: Iterable[Record],
        *,
        apply: bool = False,
        force: bool = False,
        reason: str | None = None,
    ) -> Adopted:
        """Take in whole records made by a script; a dry run unless ``apply`` is set."""
        from memspec_py.acts.adopt import adopt

        return adopt(self._stores.target(), records, apply=apply, force=force, reason=reason)

    def backfill(
        self,
        change: Callable[[Record], Record | None],
        *,
        name: str,
        apply: bool = False,
        include_operator: bool = False,
        strict: bool = False,
        states: Collection[str] | None = None,
        types: Collection[str] | None = None,
        progress: Progress | None = None,
    ) -> Backfilled:
        """Change many records by a function, as one change that ``undo`` takes back.

        A dry run unless ``apply`` is set; ``acts.backfill`` tells what a function may change, and
        the errors. ``progress`` is called with (done, total): of reading, of changing, of writing.
        """
        from memspec_py.acts.backfill import backfill

        return backfill(
            self._stores.target(),
            change,
            name=name,
            apply=apply,
            include_operator=include_operator,
            strict=strict,
            states=states,
            types=types,
            progress=progress,
        )

    def undo(
        self,
        journal: str | os.PathLike[str],
        *,
        dry_run: bool = False,
        force: bool = False,
        progress: Progress | None = None,
    ) -> Undone:
        """Put back what a backfill replaced, byte for byte; what was edited since stays.

        ``journal`` is its path, its file name, or ``last``; ``force`` puts back edited files, too.
        ``acts.undo`` tells the errors.
        """
        from memspec_py.acts.undo import undo

        return undo(
            self._stores.target(),
            journal,
            self._where,
            dry_run=dry_run,
            force=force,
            progress=progress,
        )

    def undo_list(self) -> UndoList:
        """The undo journals that this machine has of the store, oldest first."""
        from memspec_py.acts.undo import undo_list

        return undo_list(self._ws)

    def relate(
        self,
        from_id: str,
        to_id: str,
        type: str,
        *,
        source: str = "agent",
        allow_missing: bool = False,
        override_operator: bool = False,
    ) -> Related:
        """Link a record to another; an edge that is there already is left as it is."""
        from memspec_py.acts.relate import relate

        store, id_ = self._stores.owner_to_change(from_id)
        return relate(
            store,
            id_,
            to_id,
            type,
            source=source,
            allow_missing=allow_missing,
            override_operator=override_operator,
        )

    def unrelate(
        self,
        from_id: str,
        to_id: str,
        type: str,
        *,
        source: str = "agent",
        override_operator: bool = False,
    ) -> Related:
        """Take a link away."""
        from memspec_py.acts.relate import unrelate

        store, id_ = self._stores.owner_to_change(from_id)
        return unrelate(store, id_, to_id, type, source=source, override_operator=override_operator)

    def ask(
        self,
        title: str,
        *,
        source: str,
        answers: Sequence[str] = (),
        closed: bool = False,
        body: str = "",
        tags: Sequence[str] = (),
        scope: str | None = None,
    ) -> Asked:
        """Write a question that several records answer; ``closed`` when no others can."""
        from memspec_py.acts.question import ask

        return ask(
            self._stores.target(),
            title,
            source=source,
            answers=answers,
            closed=closed,
            body=body,
            tags=tags,
            scope=scope,
        )

    def question(
        self,
        record_id: str,
        *,
        add: Sequence[str] = (),
        close: bool = False,
        open: bool = False,
        resolve: bool = False,
        source: str = "agent",
        override_operator: bool = False,
    ) -> Asked:
        """Add answers to a question, close, open or resolve it; with nothing to do, look at it."""
        from memspec_py.acts.question import QuestionEdit, change_question

        wanted = QuestionEdit(add=add, close=close, open=open, resolve=resolve)
        store, id_ = self._stores.owner_to_change(record_id)
        return change_question(
            store, id_, wanted, source=source, override_operator=override_operator
        )

    def outcome(
        self,
        record_id: str,
        outcome: str,
        *,
        note: str | None = None,
        source: str = "agent",
        session: str | None = None,
    ) -> Noted:
        """Note what came of acting on a record: ``helped``, ``dead_end`` or ``corrected``."""
        from memspec_py.acts.outcome import outcome as note_outcome

        store, id_ = self._stores.owner(record_id)
        return note_outcome(store, id_, outcome, note=note, source=source, session=session)

    def verify(
        self,
        record_id: str,
        *,
        source: str = "agent",
        evidence: str | None = None,
        evidence_files: Sequence[str] = (),
        check_by: str | None = None,
        reanchor: bool = False,
        override_operator: bool = False,
    ) -> Verified:
        """Renew a record's witness, or say what has to be looked at and change nothing.

        ``acts.verify`` tells what witnesses it, and the errors.
        """
        from memspec_py.acts.verify import verify

        store, id_ = self._stores.owner_to_change(record_id)
        return verify(
            store,
            id_,
            self._where,
            source=source,
            evidence=evidence,
            evidence_files=evidence_files,
            check_by=check_by,
            reanchor=reanchor,
            override_operator=override_operator,
        )

    def anchor(
        self,
        record_id: str,
        paths: Sequence[str],
        *,
        source: str = "agent",
        replace: bool = False,
        strict: bool = False,
        anchor_root: str | None = None,
        override_operator: bool = False,
    ) -> Anchored:
        """Say which code a record depends on: ``PATH``, ``PATH#Symbol``, ``PATH:10-40``, ….

        ``acts.anchor`` tells the forms, and the errors.
        """
        from memspec_py.acts.anchor import anchor

        store, id_ = self._stores.owner_to_change(record_id)
        return anchor(
            store,
            id_,
            paths,
            self._where,
            source=source,
            replace_all=replace,
            strict=strict,
            root=anchor_root,
            override_operator=override_operator,
        )

    def reconcile(
        self, *, since: str | None = None, progress: Progress | None = None
    ) -> Reconciled:
        """Compare every anchor with the work tree as it is here; with ``since``, what changed."""
        from memspec_py.views.reconcile import reconcile

        return reconcile(self._stores, since=since, progress=progress)

    def sweep(
        self,
        decide: Callable[[Candidate], str] | Mapping[str, str] | None = None,
        *,
        source: str = "user",
        override_operator: bool = False,
        force: bool = False,
    ) -> Swept:
        """Retire stale claims and expired observations, one by one, as ``decide`` answers.

        It is asked for each, or has the answers by id: ``y``, ``n`` or ``q``; without it this is a
        dry run.
        """
        from memspec_py.acts.sweep import sweep

        return sweep(
            self._ws,
            self._where,
            decide,
            source=source,
            override_operator=override_operator,
            force=force,
        )

    def edit_copy(self, record_id: str) -> EditCopy:
        """A record's text, for an editor."""
        from memspec_py.acts.edit import edit_copy

        return edit_copy(*self._stores.owner_to_change(record_id))

    def replace_text(
        self,
        copy: EditCopy,
        text: str,
        *,
        source: str = "agent",
        override_operator: bool = False,
        force: bool = False,
        reason: str | None = None,
    ) -> Edited:
        """Put an edited text in the place of the copy it was made from."""
        from memspec_py.acts.edit import replace_text

        store, _ = self._stores.owner_to_change(copy.id)
        return replace_text(
            store,
            copy,
            text,
            source=source,
            override_operator=override_operator,
            force=force,
            reason=reason,
        )

    def get(self, record_id: str) -> Shown:
        """One record by its id or a unique start of it."""
        from memspec_py.views.get import get

        return get(self._stores, record_id)

    def list(
        self,
        *,
        type: str | None = None,
        state: str | None = None,
        tag: str | None = None,
        source: str | None = None,
        scope: str | None = None,
        witness: str | None = None,
        stale: bool = False,
        pinned: bool = False,
        limit: int = 50,
        offset: int = 0,
    ) -> ListReply:
        """Records by filter, newest first, in pages."""
        from memspec_py.views.listed import Selection, list_records

        wanted = Selection(
            type=type,
            state=state,
            tag=tag,
            source=source,
            scope=scope,
            witness=witness,
            stale=stale,
            pinned=pinned,
            limit=limit,
            offset=offset,
        )
        return list_records(self._stores, wanted)

    def search(
        self,
        query: str,
        *,
        type: str | None = None,
        profile: str = "default",
        limit: int = 10,
        scope: str | None = None,
        as_of: str | None = None,
        full: bool = False,
        explain: bool = False,
        expand: bool = False,
        edge_types: Sequence[str] = (),
        depth: int = 1,
        include_superseded: bool = False,
    ) -> SearchReply:
        """Search. Any text is a legal query; the reply says how far the store answers it."""
        from memspec_py.views.search import Question, search

        asked = Question(
            text=query,
            type=type,
            profile=profile,
            limit=limit,
            scope=scope,
            as_of=as_of,
            full=full,
            explain=explain,
            expand=expand,
            edge_types=edge_types,
            depth=depth,
            include_superseded=include_superseded,
        )
        return search(self._stores, asked)

    def context(
        self,
        *,
        query: str | None = None,
        paths: Sequence[str] = (),
        type: str | None = None,
        scope: str | None = None,
        limit: int = 20,
        budget: int = 2_000,
        explain: bool = False,
    ) -> ContextReply:
        """What to know before work starts, within a budget of tokens: ``reply.text`` is Markdown.

        With a query its answer; claims anchored to ``paths`` come first. ``views.context`` tells
        the fields (``Wanted``) and the errors.
        """
        from memspec_py.views.context.view import Wanted, context

        wanted = Wanted(
            query=query,
            paths=paths,
            type=type,
            scope=scope,
            limit=limit,
            budget=budget,
            explain=explain,
        )
        return context(self._stores, wanted)

    def note_use(
        self,
        reply: SearchReply | ContextReply | Nudge,
        *,
        surface: str,
        session: str | None = None,
    ) -> None:
        """Append usage receipts for a reply that was shown; a failure to do so is no failure."""
        from memspec_py.store.usage import Receipt, write_receipt

        results: Sequence[Hit | ContextItem] = reply.results
        for store in self._stores.stores:
            layer = self._stores.mark(store)
            shown = [
                (hit.id, rank) for rank, hit in enumerate(results, start=1) if hit.layer == layer
            ]
            receipt = Receipt(
                ids=tuple(id_ for id_, _ in shown),
                at=self._ws.now(),
                query=reply.query or "",
                surface=surface,
                session=session,
                ranks=tuple(rank for _, rank in shown),
            )
            if store.has_machine:
                write_receipt(store.machine, receipt)

    def nudge(self, event: str, payload: Payload) -> Nudge:
        """What a hook should tell an agent at an event, unasked; ``views.nudges`` tells which."""
        from memspec_py.views.nudges import nudge

        return nudge(self._stores, event, payload)

    def note_nudge(self, event: str, payload: Payload, said: Nudge) -> bool:
        """Keep that it is told now, with receipts; False where that fails and it must not be."""
        from memspec_py.store.usage import BOOT
        from memspec_py.views.nudges import keep

        if not keep(self._stores, event, payload, said):
            return False
        self.note_use(said, surface=BOOT, session=payload.session)
        return True

    def whereabouts(self) -> Where:
        """Which stores serve this place, the scope it has, and each step of the decision."""
        from memspec_py.views.where import whereabouts

        return whereabouts(self._stores)

    @staticmethod
    def trust(
        path: str | os.PathLike[str] | None = None, *, where: Surroundings | None = None
    ) -> Trusted:
        """Follow what the pointer or config.yaml that serves ``path`` names today."""
        from memspec_py.acts.trusting import trust

        return trust(where or surroundings(), None if path is None else Path(path))

    @staticmethod
    def distrust(
        path: str | os.PathLike[str] | None = None, *, where: Surroundings | None = None
    ) -> Distrusted:
        """Take back what ``trust`` said of a pointer or config.yaml."""
        from memspec_py.acts.trusting import distrust

        return distrust(where or surroundings(), None if path is None else Path(path))

    @staticmethod
    def trust_list(*, where: Surroundings | None = None) -> TrustList:
        """Everything that has been trusted on this machine."""
        from memspec_py.acts.trusting import trust_list

        return trust_list(where or surroundings())

    def export(
        self, format: str, *, include_superseded: bool = False, types: Sequence[str] = ()
    ) -> Exported:
        """Claims, files and links as one graph: ``jsonl``, ``graphml`` or ``dot``."""
        from memspec_py.views.export import GraphWanted, export

        return export(self._stores, GraphWanted(format, include_superseded, types))

    def status(self, *, progress: Progress | None = None) -> Status:
        """Counts by type, state and witness, what wants attention, and how the index is.

        ``progress`` is called with (done, total) while the files of anchors are looked at.
        """
        from memspec_py.views.status import status

        return status(self._stores, progress)

    def doctor(self, *, fix: bool = False) -> Examined:
        """Compare everything with everything; ``fix`` mends what can be mended without loss."""
        from memspec_py.acts.mend import mend
        from memspec_py.views.doctor import examine

        examined = examine(self._stores)
        if not fix:
            return examined
        fixed = mend(self._ws, examined.findings)
        return examine(self._stores, fixed=fixed)

    def database(self) -> Database:
        """The current index as a ``sqlite_utils.Database``, to query; treat it as read-only."""
        from sqlite_utils import Database

        return Database(self._ws.read(lambda db: db))


def surroundings() -> Surroundings:
    """The process's working directory, home and environment."""
    home = os.environ.get("HOME") or os.environ.get("USERPROFILE")
    # PWD keeps the symbolic link the user came by; it is only believed when it is the same folder.
    cwd = Path.cwd()
    shown = os.environ.get("PWD")
    if shown and os.path.isabs(shown) and os.path.realpath(shown) == os.path.realpath(cwd):
        cwd = Path(os.path.normpath(shown))
    return Surroundings(
        cwd=cwd,
        home=Path(os.path.normpath(home)) if home and os.path.isabs(home) else None,
        env=dict(os.environ),
    )
