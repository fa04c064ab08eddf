"""``python -m memspec_py`` is the command line."""

from __future__ import annotations

from memspec_py.cli.main import entry

if __name__ == "__main__":
    entry()
