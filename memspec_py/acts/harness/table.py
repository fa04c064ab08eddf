"""The harnesses: which files of theirs say what, and how. What is here is what ``init`` writes.

It was taken from each vendor's pages; docs/harnesses.md has the same table, and says how far each
was tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memspec_py.acts.harness.jsontext import Entry

if TYPE_CHECKING:
    from collections.abc import Mapping

PROJECT, HOME, CLAUDE = "project", "home", "claude"
# What a hook can be asked for, and which of them `init` registers unless told otherwise.
EVENTS = ("session-start", "post-commit", "prompt", "file-open", "pre-compact")
DEFAULT_EVENTS = EVENTS[:2]
SERVER = "memspec-mcp"
_SECONDS = 5


class Place(NamedTuple):
    """A file of a harness: below the project, the home, or Claude Code's own folder.

    Of several ``names`` the first that exists is meant, else the first.
    """

    base: str
    names: tuple[str, ...]


class JsonServer(NamedTuple):
    """The MCP server as an entry of a JSON file; ``always`` is what a new file has besides."""

    place: Place
    entry: Entry
    always: Mapping[str, object] = {}


class TextServer(NamedTuple):
    """The MCP server as lines of a TOML or YAML file."""

    place: Place
    syntax: str
    body: str


class Trigger(NamedTuple):
    """What a harness calls a moment, and which of its tools it is about."""

    event: str
    matcher: str | None = None


class Hooks(NamedTuple):
    """Where commands are registered, and for which moments.

    ``shape`` is how an entry looks: ``grouped`` as in Claude Code, ``flat`` as in Cursor, ``shell``
    as in Copilot. ``timeout`` is as the harness counts it; None leaves its own.
    """

    place: Place
    shape: str
    triggers: Mapping[str, Trigger]
    timeout: int | None = _SECONDS
    always: Mapping[str, object] = {}


class Harness(NamedTuple):
    """An agent's harness. ``signs`` are the folders and files that tell that it is in use here.

    ``instructions`` is the file with the contract, where it reads none of AGENTS.md and CLAUDE.md.
    ``skill`` is the folder for a skill, where that is all it reads.
    """

    name: str
    title: str
    signs: tuple[Place, ...]
    servers: tuple[JsonServer | TextServer, ...] = ()
    hooks: Hooks | None = None
    instructions: str | None = None
    skill: Place | None = None

    def command(self, event: str) -> str:
        """The command that a hook of this harness runs."""
        which = "" if self.name == "claude-code" else f" --harness {self.name}"
        return f"memspec hook {event}{which}"

    def hook(self, event: str) -> Entry | None:
        """The registration of an event; None where the harness has no such moment."""
        trigger = self.hooks.triggers.get(event) if self.hooks else None
        if self.hooks is None or trigger is None:
            return None
        made = _SHAPES[self.hooks.shape](self.command(event), trigger, self.hooks.timeout)
        return Entry(("hooks", trigger.event), made, in_list=True)


def _grouped(command: str, trigger: Trigger, timeout: int | None) -> dict[str, object]:
    hook = {"type": "command", "command": command, "timeout": timeout}
    matcher = {} if trigger.matcher is None else {"matcher": trigger.matcher}
    return {**matcher, "hooks": [hook]}


def _flat(command: str, trigger: Trigger, _: int | None) -> dict[str, object]:
    matcher = {} if trigger.matcher is None else {"matcher": trigger.matcher}
    return {"command": command, **matcher}


def _shell(command: str, _: Trigger, timeout: int | None) -> dict[str, object]:
    return {"type": "command", "bash": command, "powershell": command, "timeoutSec": timeout}


_SHAPES = {"grouped": _grouped, "flat": _flat, "shell": _shell}


def _project(*names: str) -> Place:
    return Place(PROJECT, names)


def _home(*names: str) -> Place:
    return Place(HOME, names)


def _server(*path: str, **more: object) -> Entry:
    return Entry((*path, "memspec"), {**more, "command": SERVER, "args": []})


_SHARED = JsonServer(_project(".mcp.json"), _server("mcpServers"))

HARNESSES = (
    Harness(
        name="claude-code",
        title="Claude Code",
        signs=(_project(".claude"), _project("CLAUDE.md"), Place(CLAUDE, (".",))),
        servers=(_SHARED,),
        hooks=Hooks(
            Place(CLAUDE, ("settings.json",)),
            "grouped",
            {
                "session-start": Trigger("SessionStart"),
                "post-commit": Trigger("PostToolUse", "Bash"),
                "prompt": Trigger("UserPromptSubmit"),
                "file-open": Trigger("PostToolUse", "Read"),
                "pre-compact": Trigger("PreCompact"),
            },
        ),
    ),
    Harness(
        name="codex",
        title="Codex CLI",
        signs=(_project(".codex"), _home(".codex")),
        servers=(
            TextServer(
                _project(".codex/config.toml"),
                "toml",
                f'[mcp_servers.memspec]\ncommand = "{SERVER}"\n',
            ),
        ),
        hooks=Hooks(
            _project(".codex/hooks.json"),
            "grouped",
            {
                "session-start": Trigger("SessionStart"),
                "post-commit": Trigger("PostToolUse", "Bash"),
                "prompt": Trigger("UserPromptSubmit"),
            },
        ),
    ),
    Harness(
        name="cursor",
        title="Cursor",
        signs=(_project(".cursor"), _home(".cursor")),
        servers=(JsonServer(_project(".cursor/mcp.json"), _server("mcpServers")),),
        hooks=Hooks(
            _project(".cursor/hooks.json"),
            "flat",
            {
                "session-start": Trigger("sessionStart"),
                "post-commit": Trigger("postToolUse", "Shell"),
                "file-open": Trigger("postToolUse", "Read"),
            },
            timeout=None,
            always={"version": 1},
        ),
    ),
    Harness(
        name="opencode",
        title="OpenCode",
        signs=(
            _project(".opencode"),
            _project("opencode.json"),
            _project("opencode.jsonc"),
            _home(".config/opencode"),
        ),
        servers=(
            JsonServer(
                _project("opencode.json", "opencode.jsonc"),
                Entry(("mcp", "memspec"), {"type": "local", "command": [SERVER], "enabled": True}),
                {"$schema": "https://opencode.ai/config.json"},
            ),
        ),
    ),
    Harness(
        name="gemini",
        title="Gemini CLI",
        signs=(_project(".gemini"), _project("GEMINI.md"), _home(".gemini/settings.json")),
        servers=(JsonServer(_project(".gemini/settings.json"), _server("mcpServers")),),
        hooks=Hooks(
            _project(".gemini/settings.json"),
            "grouped",
            {
                "session-start": Trigger("SessionStart"),
                "post-commit": Trigger("AfterTool", "run_shell_command"),
                "prompt": Trigger("BeforeAgent"),
                "file-open": Trigger("AfterTool", "read_file"),
            },
            timeout=1_000 * _SECONDS,
        ),
        instructions="GEMINI.md",
    ),
    Harness(
        name="copilot",
        title="GitHub Copilot (VS Code and CLI)",
        signs=(
            _project(".vscode/mcp.json"),
            _project(".github/copilot-instructions.md"),
            _home(".copilot"),
        ),
        servers=(
            JsonServer(_project(".vscode/mcp.json"), _server("servers", type="stdio")),
            _SHARED,
        ),
        hooks=Hooks(
            _project(".github/hooks/memspec.json"),
            "shell",
            {"session-start": Trigger("sessionStart")},
            always={"version": 1},
        ),
    ),
    Harness(
        name="windsurf",
        title="Windsurf",
        signs=(_project(".windsurf"), _home(".codeium/windsurf")),
        servers=(JsonServer(_home(".codeium/windsurf/mcp_config.json"), _server("mcpServers")),),
    ),
    Harness(
        name="openclaw",
        title="OpenClaw",
        signs=(_home(".openclaw"),),
        servers=(JsonServer(_home(".openclaw/openclaw.json"), _server("mcp", "servers")),),
    ),
    Harness(
        name="hermes",
        title="Hermes",
        signs=(_project(".hermes.md"), _home(".hermes")),
        servers=(
            TextServer(
                _home(".hermes/config.yaml"),
                "yaml",
                f'mcp_servers:\n  memspec:\n    command: "{SERVER}"\n    args: []\n',
            ),
        ),
    ),
    Harness(
        name="pi",
        title="pi",
        signs=(_project(".pi"), _home(".pi")),
        skill=_project(".agents/skills/memspec/SKILL.md"),
    ),
    Harness(
        name="antigravity",
        title="Antigravity",
        signs=(_project(".agent"), _home(".gemini/antigravity"), _home(".gemini/antigravity-cli")),
        servers=(JsonServer(_project(".agents/mcp_config.json"), _server("mcpServers")),),
    ),
)
BY_NAME = {one.name: one for one in HARNESSES}
