"""docs/harnesses.md, made from the table that ``memspec init`` goes by.

``python -m tests.harness_page`` rewrites the page; a test compares it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memspec_py.acts.harness.jsontext import fresh
from memspec_py.acts.harness.table import (
    CLAUDE,
    DEFAULT_EVENTS,
    EVENTS,
    HARNESSES,
    HOME,
    JsonServer,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspec_py.acts.harness.table import Harness, Place

PAGE = Path(__file__).resolve().parent.parent / "docs" / "harnesses.md"


class Remark(NamedTuple):
    """What else is to be known of a harness: how a session starts, what was read, what is left."""

    start: str
    read: str
    beware: str = ""


REMARKS = {
    "claude-code": Remark(
        "The hook at the start adds the context to the session; after a compaction it runs again.",
        "the hooks reference, the settings and the plugins page of code.claude.com and"
        " docs.claude.com. That what a pre-compact hook prints is added to what the summary is"
        " asked for is told by Claude Code's own `/hooks` menu, as quoted by several projects.",
        "Where only AGENTS.md exists, Claude Code reads it only if CLAUDE.md takes it in"
        " (`@AGENTS.md`); hook and server reach it either way. Use the plugin"
        " folder or `init`, not both, or each hook runs twice.",
    ),
    "codex": Remark(
        "The hook at the start, where Codex has hooks on and the project is trusted; else the"
        " server's instructions, which carry the context.",
        "OpenAI's pages on configuration, MCP and hooks of May 2026, and the schemas of answers"
        " in the repository openai/codex. They say that hooks are on by default, under the feature"
        " `hooks` (before: `codex_hooks`), and that files below a project's `.codex/` count only in"
        " a project that is trusted.",
        "Codex opens files with shell commands, so there is no hook for that, and its pre-compact"
        " hook takes no text.",
    ),
    "cursor": Remark(
        "The hook at the start, which Cursor does not wait for; there are reports that its text"
        " does not always reach the agent. The server's instructions and AGENTS.md do not depend on"
        " it.",
        "descriptions of cursor.com/docs/hooks by others (the page itself was not at hand) and the"
        " hook files of other projects.",
        "A hook on a prompt can refuse it but add nothing, so none is registered. No timeout is"
        " written, because sources differ on whether it is in seconds.",
    ),
    "opencode": Remark(
        "None is written: OpenCode's hooks are JavaScript plugins. The server's instructions carry"
        " the context, and AGENTS.md is read.",
        "the configuration and plugin pages in the repository sst/opencode.",
        "A plugin of yours can run `memspec hook EVENT --harness plain` and use what it prints.",
    ),
    "gemini": Remark(
        "The hook at the start; what it adds is the first turn of the history.",
        "docs/hooks/reference.md in the repository google-gemini/gemini-cli and the settings page.",
        "The contract goes into GEMINI.md, the file that it reads by default. Its hook before a"
        " compression takes no text for the model.",
    ),
    "copilot": Remark(
        "The hook at the start, in a file of its own that the command line tool and VS Code (a"
        " preview there) both read.",
        "the hooks pages of docs.github.com and code.visualstudio.com, and GitHub's list of the"
        " payloads.",
        "The command line tool reads `.mcp.json` of a repository, VS Code `.vscode/mcp.json`. What"
        " becomes of text from other hooks was not clear, so none is registered.",
    ),
    "windsurf": Remark(
        "None: its hooks can refuse something but add nothing. The server's instructions carry the"
        " context; AGENTS.md is read.",
        "the hooks, MCP and rules pages of docs.windsurf.com.",
        "One file of the home is for all projects, and no folder is named in it: the server serves"
        " what it finds from the folder that Windsurf starts it in.",
    ),
    "openclaw": Remark(
        "None is written. The workspace's AGENTS.md is read at the start, so make the store in the"
        " workspace.",
        "the MCP and configuration pages of docs.openclaw.ai.",
        "Its settings may be JSON5. With names without quotes or texts in single ones they are left"
        " alone, and what to paste is shown. One file is for all agents, as with Windsurf.",
    ),
    "hermes": Remark(
        "None is written, because Hermes asks for consent to each hook by itself. AGENTS.md is read"
        " where there is no `.hermes.md`.",
        "the MCP page in the repository NousResearch/hermes-agent, and what other projects wrote"
        " about its hooks.",
        "One file of the home is for all projects, as with Windsurf.",
    ),
    "pi": Remark(
        "None: pi has neither MCP nor hooks in files. It reads AGENTS.md at the start, the skill"
        " when it fits.",
        "the README of badlogic/pi-mono and what other projects wrote about its skills.",
        "With its MCP extension, put the entry shown for Claude Code into `.pi/mcp.json` yourself.",
    ),
    "antigravity": Remark(
        "None is written: what was read about its hooks differed from page to page. The server's"
        " instructions carry the context, and AGENTS.md is read.",
        "descriptions by other projects (antigravity.google itself was not at hand).",
        "Older versions read `~/.gemini/antigravity/mcp_config.json` only; put the same entry"
        " there.",
    ),
}
_HEAD = """\
# Harnesses

`memspec init --harness NAME` tells an agent's harness about the store, and `memspec init
--uninstall` takes that back. This page is made from the table that the command goes by (`python
-m tests.harness_page`).

**What was tried:** the writing of these files, twice, and taking everything out again to the
byte, from empty folders and from files with odd contents; the hooks, by giving them such payloads
as the vendors' pages describe; the MCP server, with the official client. **What was not:** none
of these harnesses was run. Paths, names of keys and forms of answers are as we read them, in the
sources named below, and harnesses change. When one differs, the file says in plain words what
memspec wrote: please report it.

Everywhere: AGENTS.md or CLAUDE.md, whichever there is (both, if there are both and neither takes
in the other; AGENTS.md, if there is none) gets the agent's contract between `<!--
memspec:init:start -->` and `<!-- memspec:init:end -->`. Entries name `memspec-mcp` and `memspec`
without a path, so both have to be on the `PATH` of the harness, and files can be shared. An entry
of that name that somebody set up otherwise is left as it is, and so is a hook that already runs
`memspec hook`.

| harness | `--harness` | found by | MCP server | hooks, by default and with `--hooks all` |
|---|---|---|---|---|
"""
_TAIL = """\
## Claude Code as a plugin

The folder `memspec_py/plugin` of an installed package is a Claude Code plugin: the hooks, the
server and a skill.

```console
$ where=$(python -c 'import memspec_py; print(memspec_py.__path__[0])')
$ claude --plugin-dir "$where/plugin"
```

Copy it into a marketplace of yours to have it for good. The skill in it,
`skills/memspec/SKILL.md`, is a plain agent skill: copied to `.claude/skills/memspec/`,
`.agents/skills/memspec/`, or wherever a harness looks for skills, it works without the rest.

## Hooks by hand

`memspec hook EVENT` reads the harness's JSON on standard input and prints the answer in the form
that `--harness` names, the bare text with `--harness plain`. It exits 0 whatever happens, and
says on standard error what was wrong.

| event | what it tells | how often |
|---|---|---|
| `session-start` | `memspec context` | at each start; a cleared session may hear all again |
| `prompt` | 3 claims at most, if coverage is `ok` | each claim once a session |
| `file-open` | 5 claims at most that are anchored to it | each claim once a session |
| `pre-compact` | what to keep in the summary, and what is pinned | each time |
| `post-commit` | claims whose code it changed, and to write down what is new | once a commit |

`prompt` and `file-open` take 400 tokens at most and need a session's id in the payload. What was
told lies in `.memspec/local/told/`.
"""


def page() -> str:
    """The whole page."""
    rows = "".join(_row(one) for one in HARNESSES)
    return f"{_HEAD}{rows}\n{''.join(_section(one) for one in HARNESSES)}{_TAIL}"


def _row(one: Harness) -> str:
    signs = ", ".join(_shown(place) for place in one.signs)
    servers = ", ".join(_shown(server.place) for server in one.servers) or "none"
    return (
        f"| [{one.title}](#{_anchor(one)}) | `{one.name}` | {signs} | {servers} | {_hooks(one)} |\n"
    )


def _hooks(one: Harness) -> str:
    if one.hooks is None:
        return "none"
    usual = [event for event in DEFAULT_EVENTS if event in one.hooks.triggers]
    more = [event for event in EVENTS if event in one.hooks.triggers and event not in usual]
    told = f"{_shown(one.hooks.place)}: {', '.join(usual)}"
    return f"{told}; {', '.join(more)}" if more else told


def _section(one: Harness) -> str:
    remark = REMARKS[one.name]
    lines = [f"## {one.title}", "", *_written(one)]
    lines += [f"- **Start of a session:** {remark.start}", f"- **Read, not tried:** {remark.read}"]
    if remark.beware:
        lines.append(f"- **To know:** {remark.beware}")
    return "\n".join(lines) + "\n\n"


def _written(one: Harness) -> Iterator[str]:
    if one.instructions:
        yield f"- **Instructions:** `{one.instructions}`, beside AGENTS.md or CLAUDE.md."
    if one.skill:
        yield f"- **Skill:** {_shown(one.skill)}."
    for server in one.servers:
        yield f"- **MCP server** in {_shown(server.place)}:"
        yield ""
        if isinstance(server, JsonServer):
            yield from _block("json", fresh([server.entry], server.always))
        else:
            yield from _block(server.syntax, server.body)
        yield ""
    if one.hooks is not None:
        yield f"- **Hooks** in {_shown(one.hooks.place)}:"
        yield ""
        yield "  | event | harness's moment | entry |"
        yield "  |---|---|---|"
        for event in EVENTS:
            entry = one.hook(event)
            if entry is not None:
                trigger = one.hooks.triggers[event]
                yield f"  | `{event}` | `{trigger.event}` | `{json.dumps(entry.value)}` |"
        yield ""


def _block(language: str, text: str) -> Iterator[str]:
    yield f"  ```{language}"
    yield from (f"  {line}".rstrip() for line in text.splitlines())
    yield "  ```"


def _shown(place: Place) -> str:
    if place.base == CLAUDE:
        inside = "" if place.names == (".",) else f"/{place.names[0]}"
        return f"`$CLAUDE_CONFIG_DIR{inside}` or `~/.claude{inside}`"
    base = "~/" if place.base == HOME else ""
    return " or ".join(f"`{base}{name}`" for name in place.names)


def _anchor(one: Harness) -> str:
    kept = "".join(char for char in one.title.lower() if char.isalnum() or char in " -")
    return kept.replace(" ", "-")


def main() -> int:
    """Rewrite the page."""
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
