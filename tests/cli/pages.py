"""Pages that are made from what the command line does; ``bin/pages`` writes them anew.

The manual, ``docs/memspec.1``; what ``memspec demo`` prints, ``fixtures/demo.transcript``; and the
block of README.md that shows it, without the folders that ``memspec init`` lists.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from memspec_py.testing import an_id
from tests.cli.manual import manual

ROOT = Path(__file__).resolve().parents[2]
MANUAL = ROOT / "docs" / "memspec.1"
TRANSCRIPT = ROOT / "fixtures" / "demo.transcript"
README = ROOT / "README.md"
_BLOCK = re.compile(
    r"(^## In sixty seconds$.*?^```console\n)(.*?)(^```$)", re.DOTALL | re.MULTILINE
)
_ID = re.compile(r"ms_[0-9A-Z]{26}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_FOLDER = re.compile(r"\S*/memspec-demo-[^/\s]+/shop")


def demo(*options: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the demo as a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    command = [sys.executable, "-m", "memspec_py", "demo", *options]
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, encoding="utf-8", check=False
    )


def steady(printed: str) -> str:
    """What the demo printed, without what differs from one run to the next.

    Ids count up in the order in which they appear; the day is always the same.
    """
    numbered: dict[str, str] = {}
    for found in _ID.findall(printed):
        numbered.setdefault(found, an_id(len(numbered) + 1))
    text = _ID.sub(lambda match: numbered[match[0]], printed)
    text = _DATE.sub("2026-01-01", text)
    text = text.replace("check by 2026-01-01", "check by 2026-04-01")
    return _FOLDER.sub("~/shop", text)


def abridged(transcript: str) -> str:
    """The transcript as README.md shows it."""
    text = transcript.lstrip("\n")
    return re.sub(r"(?m)^(\$ memspec init\nMade .*\n)(?:  .*\n)+", r"\1  …\n", text)


def shown_in(readme: str) -> str:
    """The block of README.md."""
    found = _BLOCK.search(readme)
    assert found is not None, "README.md has no section `In sixty seconds` with a console block"
    return found[2]


def pages() -> dict[Path, str]:
    """What each page has to be."""
    done = demo("--fast", cwd=ROOT)
    if done.returncode or done.stderr:
        raise SystemExit(f"the demo fails:\n{done.stdout}{done.stderr}")
    transcript = steady(done.stdout)
    readme = README.read_text(encoding="utf-8")
    shown_in(readme)
    return {
        MANUAL: manual(),
        TRANSCRIPT: transcript,
        README: _BLOCK.sub(lambda match: match[1] + abridged(transcript) + match[3], readme),
    }


def rewrite() -> int:
    """Write each page anew; says which changed."""
    for path, text in pages().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"rewritten: {path.relative_to(ROOT)}")  # noqa: T201 - a script
    return 0


if __name__ == "__main__":
    sys.exit(rewrite())
