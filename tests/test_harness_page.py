"""docs/harnesses.md and the plugin folder say what ``memspec init`` does."""

from __future__ import annotations

import json
import re
from pathlib import Path

import yaml

import memspec_py
from memspec_py.acts.harness import words
from memspec_py.acts.harness.jsontext import fresh
from memspec_py.acts.harness.table import BY_NAME, EVENTS, JsonServer
from tests.harness_page import PAGE, REMARKS, page
from tests.test_docs import code_blocks, parsed

PLUGIN = Path(memspec_py.__file__).parent / "plugin"


def test_the_page_is_made_from_the_table() -> None:
    """`python -m tests.harness_page` rewrites it."""
    assert PAGE.read_text(encoding="utf-8") == page()
    assert REMARKS.keys() == BY_NAME.keys()


def test_the_seeds_eleven_are_there() -> None:
    """Each harness that the page of the original names."""
    assert list(BY_NAME) == [
        *("claude-code", "codex", "cursor", "opencode", "gemini", "copilot", "windsurf"),
        *("openclaw", "hermes", "pi", "antigravity"),
    ]


def test_the_plugin_registers_what_init_registers() -> None:
    """All hooks, and the same server."""
    claude = BY_NAME["claude-code"]
    entries = [entry for event in EVENTS if (entry := claude.hook(event))]
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_bytes())
    assert hooks["hooks"] == json.loads(fresh(entries, {}))["hooks"]
    server = claude.servers[0]
    assert isinstance(server, JsonServer)
    assert (PLUGIN / ".mcp.json").read_text(encoding="utf-8") == fresh([server.entry], {})


def test_the_plugin_has_the_version_of_the_package() -> None:
    """Updates arrive only when it changes."""
    about = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_bytes())
    assert (about["name"], about["version"]) == ("memspec", memspec_py.__version__)


def test_the_skill_is_one_and_its_commands_exist() -> None:
    """Its front matter has a name and says when to use it; what it shows can be typed."""
    text = words.skill()
    about = yaml.safe_load(text.split("---")[1])
    assert about["name"] == "memspec"
    assert 100 < len(about["description"]) < 1_024
    for block in code_blocks(text):
        for line in block.replace("\\\n", " ").splitlines():
            parsed(line)
    for shown in re.findall(r"`(memspec [a-z][^`]*)`", text):
        if "…" not in shown or shown.endswith("FILE…"):
            parsed(shown.replace("…", ""))


def test_the_commands_of_the_contract_exist() -> None:
    """As typed, with words in the place of the dots."""
    shown = re.findall(r"`(memspec [^`]*)`", words.CONTRACT)
    assert len(shown) > 5
    for line in shown:
        parsed(line.replace("fact|decision|procedure", "fact"))
