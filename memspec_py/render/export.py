"""What `memspec export` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspec_py.render.reply import warning_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspec_py.views.export import Exported


def lines(done: Exported) -> Iterator[str]:
    """The graph itself, for a program to read."""
    yield done.output.removesuffix("\n")


def beside(done: Exported) -> Iterator[str]:
    """What is not in the graph although it might be expected there."""
    yield from warning_lines(done.circumstances.warnings)
    count = done.circumstances.unreadable_count
    if count:
        files = "1 file is" if count == 1 else f"{count} files are"
        yield f"Warning: {files} not in it, being unreadable (`memspec doctor`)"
