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
    from memspec_py.acts.edit import EditCopy, Edited
    from memspec_py.acts.init import Initialized
    from memspec_py.acts.observe import Observed
    from memspec_py.acts.remember import Remembered
    from memspec_py.clock import Clock
    from memspec_py.index.index import Progress
    from memspec_py.record.model import Plain, Record
    from memspec_py.views.doctor import Examined
    from memspec_py.views.get import Shown
    from memspec_py.views.listed import ListReply
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
        evidence: Sequence[str] = (),
        requires_human: Sequence[str] = (),
        edges: Mapping[str, Sequence[str]] | None = None,
        ext: Mapping[str, Plain] | None = None,
        force: bool = False,
    ) -> Remembered:
        """Write a claim. ``acts.remember`` tells the fields (``NewClaim``) and the errors."""
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
            evidence=evidence,
            requires_human=requires_human,
            edges=edges or {},
            ext=ext or {},
        )
        return remember(self._ws, claim, self._where, force=force)

    def observe(
        self,
        text: str,
        *,
        source: str = "agent",
        ttl: str | None = None,
        tags: Sequence[str] = (),
        scope: str | None = None,
    ) -> Observed:
        """Note what was seen; it expires after ``ttl`` such as ``7d``, ``12h`` or ``never``."""
        from memspec_py.acts.observe import observe

        return observe(self._ws, text, source=source, ttl=ttl, tags=tags, scope=scope)

    def adopt(
        self, records: Iterable[Record], *, apply: bool = False, force: bool = False
    ) -> Adopted:
        """Take in whole records made by a script; a dry run unless ``apply`` is set."""
        from memspec_py.acts.adopt import adopt

        return adopt(self._ws, records, apply=apply, force=force)

    def edit_copy(self, record_id: str) -> EditCopy:
        """A record's text, for an editor."""
        from memspec_py.acts.edit import edit_copy

        return edit_copy(self._ws, record_id)

    def replace_text(self, copy: EditCopy, text: str) -> Edited:
        """Put an edited text in the place of the copy it was made from."""
        from memspec_py.acts.edit import replace_text

        return replace_text(self._ws, copy, text)

    def get(self, record_id: str) -> Shown:
        """One record by its id or a unique start of it."""
        from memspec_py.views.get import get

        return get(self._ws, record_id)

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
        return list_records(self._ws, wanted)

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
        return search(self._ws, asked)

    def note_use(self, reply: SearchReply, *, surface: str, session: str | None = None) -> None:
        """Append usage receipts for a reply that was shown; a failure to do so is no failure."""
        from memspec_py.store.usage import Receipt, write_receipt

        ids = tuple(hit.id for hit in reply.results)
        receipt = Receipt(ids, self._ws.now(), reply.query, surface, session)
        write_receipt(self._ws.root, receipt)

    def status(self) -> Status:
        """Counts by type, state and witness, what is stale, and how the index is."""
        from memspec_py.views.status import status

        return status(self._ws)

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
