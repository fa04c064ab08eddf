from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli import transcript

if TYPE_CHECKING:
    from pathlib import Path

FILES = sorted(transcript.FOLDER.glob("*.transcript"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_command_line_answers_as_written_down(path: Path) -> None:
    """Each conversation goes as its transcript says; `bin/golden` rewrites them."""
    expected = path.read_text(encoding="utf-8")
    assert transcript.played(expected) == expected


def test_there_are_transcripts() -> None:
    """The folder is not empty, so that the test above cannot pass by finding nothing."""
    assert len(FILES) > 5
