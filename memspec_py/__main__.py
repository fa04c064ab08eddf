"""The ``memspec`` command, and ``python -m memspec_py``: which front it is for."""

from __future__ import annotations

import sys
from typing import NoReturn


def entry() -> NoReturn:
    """What the ``memspec`` script runs.

    A hook keeps an agent waiting at every prompt, so it is answered without loading what only a
    person's shell needs.
    """
    if sys.argv[1:2] == ["hook"]:
        from memspec_py.hooks import main as hooks

        asked = hooks.asked(sys.argv[1:])
        if asked is not None:
            hooks.entry(*asked)
    from memspec_py.cli.main import entry as shell

    shell()


if __name__ == "__main__":
    entry()
