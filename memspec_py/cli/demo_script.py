"""The story that ``memspec demo`` plays: what is typed, and what has to come of it."""

from __future__ import annotations

from typing import NamedTuple

FILE = "src/tokens.py"
# Stands in a command for the id of the first record.
ID = "{id}"


class Step(NamedTuple):
    """One command, told, typed and checked.

    ``said`` is told before it, ``file`` is the text that ``FILE`` gets before that. It is as told
    when the exit code is this one, each text of ``shows`` is printed, and none of ``hides`` is.
    """

    typed: str
    said: str = ""
    file: str = ""
    exit_code: int = 0
    shows: tuple[str, ...] = ()
    hides: tuple[str, ...] = ()


_AT_FIRST = """\
from datetime import timedelta


def token_lifetime():
    return timedelta(minutes=15)
"""
_TIDIED = '''\
"""Tokens of people who have signed in."""

from datetime import timedelta


def token_lifetime():
    # Short, for a token cannot be revoked.
    return timedelta(
        minutes=15,
    )
'''
_CHANGED = _TIDIED.replace("    # Short, for a token cannot be revoked.\n", "").replace("15", "60")

_OLD = "Access tokens live for 15 minutes"
_NEW = "Access tokens live for 60 minutes"
_ASK = 'memspec search "access token lifetime"'
_ALARMS = ("[DRIFTED]", "drifted")

STEPS = (
    Step("cat src/tokens.py", "A project: one file of Python, in git.", _AT_FIRST),
    Step("git init -q -b main"),
    Step("git add ."),
    Step('git commit -q -m "Tokens"'),
    Step("memspec init", "It gets a store: plain files beside the code.", shows=("Made ",)),
    Step(
        f'memspec remember fact "{_OLD}" --source claude-code \\\n'
        f'    --anchor "{FILE}#token_lifetime" \\\n'
        '    --body "Clients renew them at 80 % of their lifetime."',
        "An agent writes down what it found out, anchored to the function that says so.",
        shows=("Remembered fact ms_", f"anchored to {FILE}#token_lifetime"),
    ),
    Step("git add ."),
    Step('git commit -q -m "Remember how long tokens live"'),
    Step(
        _ASK,
        "Another session, another process: it asks in its own words.",
        shows=(_OLD, "(anchor)", "Coverage: ok"),
        hides=_ALARMS,
    ),
    Step(
        "git diff -U0",
        "Somebody tidies up: a docstring, a comment, other line breaks. No alarm: the function\n"
        "does what it did.",
        _TIDIED,
        shows=("cannot be revoked",),
    ),
    Step(_ASK, shows=(_OLD, "(anchor)"), hides=_ALARMS),
    Step("memspec reconcile", shows=("0 of 1 anchored records",)),
    Step('git commit -q -a -m "Tidy up"'),
    Step(
        "git diff -U0",
        "Then the function itself changes, and nobody thinks of the claim. Every read marks it.",
        _CHANGED,
        shows=("minutes=60",),
    ),
    Step(_ASK, shows=(_OLD, "[DRIFTED]", "token_lifetime has changed")),
    Step("memspec reconcile", exit_code=1, shows=("1 of 1 anchored records", ID)),
    Step(
        f'memspec supersede {ID} --source codex \\\n    --title "{_NEW}" \\\n'
        '    --reason "Tokens can be revoked now"',
        "So it is superseded, with the reason. The old claim goes to archive/ and names its heir.",
        shows=(f"Superseded {ID} by ms_", "reason: Tokens can be revoked now", _NEW),
    ),
    Step(
        f'memspec remember fact "{_OLD}" --source gemini-cli',
        "An agent that still has the old state in mind is refused, and told why.",
        exit_code=1,
        shows=(ID, "was superseded by ms_", "Tokens can be revoked now"),
    ),
    Step(
        "memspec context",
        "What the next session is given before it starts: the correction.",
        shows=("1 active record", _NEW),
        hides=(_OLD, *_ALARMS, "DRIFTED"),
    ),
)
