"""What this checkout changed of the code that records depend on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memspec_py.errors import UsageError
from memspec_py.views.drift import anchored_records, sorted_by_verdict, watched
from memspec_py.views.envelope import Envelope, envelope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from memspec_py.anchors.git import Git
    from memspec_py.anchors.verdict import Drift
    from memspec_py.layered import Layered
    from memspec_py.store.resolve import Surroundings
    from memspec_py.views.drift import Watched


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciled:
    """Every record in use with anchors, compared with the work tree alone.

    ``candidates`` have an anchor that drifted or is gone, and want to be verified or superseded;
    ``moved`` ones depend on code that is as it was but elsewhere; ``unchecked`` ones on code that
    could not be looked at. A record is in the first list that fits, with those of its anchors that
    say something. With ``since``, only what differs from that commit counts, and ``earlier`` counts
    the candidates that were so before.
    """

    reconciled_at: str
    since: str | None
    anchored: int
    count: int
    candidates: tuple[Watched, ...]
    moved: tuple[Watched, ...]
    unchecked: tuple[Watched, ...]
    earlier: int
    circumstances: Envelope


def reconcile(
    stores: Layered,
    *,
    since: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Reconciled:
    """Check the anchors of the primary store against the files here, uncommitted edits included.

    Raises ``UsageError`` for a ``since`` that is no commit of the project's repository.
    """
    ws, where = stores.primary, stores.where
    past = None if since is None else _Since(ws.project, where, since)
    rows, circumstances = ws.read(
        lambda db: (anchored_records(db, ws.now()), envelope(stores, [db], [ws]))
    )
    every = watched(ws, where, rows, default_branch=False, progress=progress)
    by = sorted_by_verdict(every)
    candidates, earlier = by.drifted, 0
    if past is not None:
        past.look(each.file for one in candidates for each in one.drift if each.repo is None)
        candidates = tuple(one for one in by.drifted if any(map(past.is_recent, one.drift)))
        earlier = len(by.drifted) - len(candidates)
    return Reconciled(
        reconciled_at=ws.now(),
        since=since,
        anchored=len(rows),
        count=len(candidates),
        candidates=candidates,
        moved=by.moved,
        unchecked=by.unchecked,
        earlier=earlier,
        circumstances=circumstances,
    )


class _Since:
    """Which of the project's files are as a commit had them."""

    def __init__(self, project: Path, where: Surroundings, ref: str) -> None:
        self._prefix = ""
        self._same: set[str] = set()
        self._git = self._opened(project, where)
        asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        told = None if self._git is None else self._git.ask(*asked)
        if told is None:
            why = "is in no git repository" if self._git is None else "knows no such commit"
            raise UsageError(f"since {ref}: {project} {why}", hint="such as HEAD~5, main or v1.2")
        self._commit = told.decode().strip()

    def _opened(self, project: Path, where: Surroundings) -> Git | None:
        from memspec_py.anchors.git import Git
        from memspec_py.anchors.locate import repository_of

        real = project.resolve()
        top = repository_of(real)
        if top is None:
            return None
        inside = real.relative_to(top).as_posix()
        self._prefix = "" if inside == "." else f"{inside}/"
        return Git(str(top), where.env)

    def look(self, files: Iterable[str]) -> None:
        """Ask about some files of the project, all at once."""
        from memspec_py.anchors.git import fields

        paths = [self._prefix + file for file in dict.fromkeys(files)]
        if not paths or self._git is None:
            return
        known = self._git.blobs_at(self._commit, paths)
        differing = self._git.ask_about(
            ("diff-index", "--name-only", "--no-renames", "-z", self._commit), paths
        )
        if known is not None and differing is not None:
            self._same = known.keys() - set(fields(differing))

    def is_recent(self, one: Drift) -> bool:
        """Whether an alarm is about a file that is not as it was then; in doubt it is."""
        return one.is_alarm and (one.repo is not None or self._prefix + one.file not in self._same)
