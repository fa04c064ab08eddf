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
from memspec_py.store.resolve import Surroundings, expanded, resolve
from memspec_py.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import TracebackType
    from typing import Self

    from sqlite_utils import Database

    from memspec_py.acts.adopt import Adopted
    from memspec_py.acts.anchor import Anchored
    from memspec_py.acts.edit import EditCopy, Edited
    from memspec_py.acts.init import Initialized
    from memspec_py.acts.observe import Observed
    from memspec_py.acts.outcome import Noted
    from memspec_py.acts.question import Asked
    from memspec_py.acts.relate import Related
    from memspec_py.acts.remember import Remembered
    from memspec_py.acts.supersede import Superseded
    from memspec_py.acts.sweep import Candidate, Swept
    from memspec_py.acts.verify import Verified
    from memspec_py.clock import Clock
    from memspec_py.index.index import Progress
    from memspec_py.record.model import Plain, Record
    from memspec_py.views.doctor import Examined
    from memspec_py.views.get import Shown
    from memspec_py.views.listed import ListReply
    from memspec_py.views.reconcile import Reconciled
    from memspec_py.views.search import SearchReply
    from memspec_py.views.status import Status


class Memspec:
    """One store, opened. Use it as a context manager, or ``close`` it."""

    def __init__(self, workspace: Workspace, where: Surroundings) -> None:
        self._ws = workspace
        self._where = where

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        where: Surroundings | None = None,
        clock: Clock | None = None,
        entropy: Callable[[int], bytes] = os.urandom,
        progress: Progress | None = None,
        command: str = "",
    ) -> Self:
        """Open the store that serves ``path`` (a project folder, or a ``.memspec`` folder itself).

        Without a path: ``MEMSPEC_ROOT``, else the working directory and upward. ``progress`` is
        called with (done, total) while many files are read. Raises ``NoStore``.
        """
        here = where or surroundings()
        found = resolve(here, None if path is None else Path(path))
        workspace = Workspace(
            found.root,
            clock=clock or SystemClock(),
            entropy=entropy,
            progress=progress,
            command=command,
        )
        return cls(workspace, here)

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
        self._ws.close()

    @property
    def root(self) -> Path:
        """The store's folder."""
        return self._ws.root

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
        return remember(self._ws, claim, self._where, force=force, reason=reason)

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
            self._ws,
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
        return supersede(
            self._ws,
            record_id,
            self._where,
            reason=reason,
            source=source,
            new=new,
            merge_from=merge_from,
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

        return adopt(self._ws, records, apply=apply, force=force, reason=reason)

    def relate(
        self,
        from_id: str,
        to_id: str,
        type: str,
        *,
        allow_missing: bool = False,
        override_operator: bool = False,
    ) -> Related:
        """Link a record to another; an edge that is there already is left as it is."""
        from memspec_py.acts.relate import relate

        return relate(
            self._ws,
            from_id,
            to_id,
            type,
            allow_missing=allow_missing,
            override_operator=override_operator,
        )

    def unrelate(
        self, from_id: str, to_id: str, type: str, *, override_operator: bool = False
    ) -> Related:
        """Take a link away."""
        from memspec_py.acts.relate import unrelate

        return unrelate(self._ws, from_id, to_id, type, override_operator=override_operator)

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
            self._ws,
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
    ) -> Asked:
        """Add answers to a question, close, open or resolve it; with nothing to do, look at it."""
        from memspec_py.acts.question import QuestionEdit, change_question

        wanted = QuestionEdit(add=add, close=close, open=open, resolve=resolve)
        return change_question(self._ws, record_id, wanted, source=source)

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

        return note_outcome(self._ws, record_id, outcome, note=note, source=source, session=session)

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

        return verify(
            self._ws,
            record_id,
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

        return anchor(
            self._ws,
            record_id,
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

        return reconcile(self._ws, self._where, since=since, progress=progress)

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

        return edit_copy(self._ws, record_id)

    def replace_text(
        self, copy: EditCopy, text: str, *, force: bool = False, reason: str | None = None
    ) -> Edited:
        """Put an edited text in the place of the copy it was made from."""
        from memspec_py.acts.edit import replace_text

        return replace_text(self._ws, copy, text, force=force, reason=reason)

    def get(self, record_id: str) -> Shown:
        """One record by its id or a unique start of it."""
        from memspec_py.views.get import get

        return get(self._ws, record_id, self._where)

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
        return list_records(self._ws, wanted, self._where)

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
        return search(self._ws, asked, self._where)

    def note_use(self, reply: SearchReply, *, surface: str, session: str | None = None) -> None:
        """Append usage receipts for a reply that was shown; a failure to do so is no failure."""
        from memspec_py.store.usage import Receipt, write_receipt

        ids = tuple(hit.id for hit in reply.results)
        receipt = Receipt(ids, self._ws.now(), reply.query, surface, session)
        write_receipt(self._ws.root, receipt)

    def status(self, *, progress: Progress | None = None) -> Status:
        """Counts by type, state and witness, what wants attention, and how the index is.

        ``progress`` is called with (done, total) while the files of anchors are looked at.
        """
        from memspec_py.views.status import status

        return status(self._ws, self._where, progress)

    def doctor(self, *, fix: bool = False) -> Examined:
        """Compare everything with everything; ``fix`` mends what can be mended without loss."""
        from memspec_py.acts.mend import mend
        from memspec_py.views.doctor import examine

        examined = examine(self._ws)
        if not fix:
            return examined
        fixed = mend(self._ws, examined.findings)
        return examine(self._ws, fixed=fixed)

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
