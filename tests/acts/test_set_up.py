from __future__ import annotations

import json
import os
import stat
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from memspec_py import Memspec
from memspec_py.acts.harness import words
from memspec_py.acts.harness.plan import Wanted
from memspec_py.acts.harness.table import BY_NAME, EVENTS, HARNESSES
from memspec_py.acts.set_up import FileChange, set_up
from memspec_py.errors import Conflict, UsageError
from memspec_py.store.resolve import Surroundings
from tests.acts.harness.test_jsontext import documents

if TYPE_CHECKING:
    from collections.abc import Callable

ALL = tuple(BY_NAME)
EVERYTHING = Wanted(ALL, events=EVENTS)
TAKE_OUT = EVERYTHING._replace(uninstall=True)


@pytest.fixture
def where(tmp_path: Path) -> Surroundings:
    """A project without anything, in a home without anything."""
    return surroundings(tmp_path)


def surroundings(folder: Path) -> Surroundings:
    """A home with a project in it."""
    (folder / "home" / "app").mkdir(parents=True)
    return Surroundings(cwd=folder / "home" / "app", home=folder / "home", env={})


def put(where: Surroundings, wanted: Wanted = EVERYTHING, **given: Any) -> dict[str, FileChange]:  # noqa: ANN401
    """Set up the project; what became of each file, by its path from the home."""
    done = set_up(where.cwd, wanted, where, **given)
    return {os.path.relpath(one.path, where.home): one for one in done.files}


def tree(where: Surroundings) -> dict[str, bytes]:
    """Every file below the home with its bytes."""
    assert where.home is not None
    return {
        str(one.relative_to(where.home)): one.read_bytes()
        for one in where.home.rglob("*")
        if one.is_file()
    }


def write(path: Path, data: str | bytes) -> Path:
    """A file with whatever folders it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def outcomes(done: dict[str, FileChange]) -> set[str]:
    """What became of the files."""
    return {one.outcome for one in done.values()}


# Every file that init may write, below the home, and what somebody may have in it.
_MARKDOWN = (None, b"", b"# Rules\r\n\r\nBe kind.", b"# Rules\n", b"\xff\xfe", b"\r")
_TOML = (None, b"", b'model = "o3"', b"[a]\r\nb = 1\r\n", b"[mcp_servers.x]\na=1\n")
_YAML = (
    *(None, b"", b"model: x", b"# only a remark\n", b"a: 1\r\nb:\r\n  - 2\r\n"),
    *(b"mcp_servers:\n    x:\n        command: y\n# end\n", b"mcp_servers:\nother: 1\n"),
)
_JSON = (None, b"", b"\n", b"{}", b'{"mcpServers": {}, "hooks": {"SessionStart": []}}\n')
FILES = {
    **dict.fromkeys(["app/AGENTS.md", "app/CLAUDE.md", "app/GEMINI.md"], _MARKDOWN),
    **dict.fromkeys(
        ["app/.mcp.json", "app/.vscode/mcp.json", "app/.agents/mcp_config.json"], _JSON
    ),
    **dict.fromkeys(["app/.cursor/mcp.json", "app/.cursor/hooks.json", "app/opencode.json"], _JSON),
    **dict.fromkeys(["app/.codex/hooks.json", "app/.gemini/settings.json"], _JSON),
    **dict.fromkeys(["app/.github/hooks/memspec.json", ".claude/settings.json"], _JSON),
    **dict.fromkeys([".codeium/windsurf/mcp_config.json", ".openclaw/openclaw.json"], _JSON),
    "app/.codex/config.toml": _TOML,
    ".hermes/config.yaml": _YAML,
    "app/.agents/skills/memspec/SKILL.md": (None,),
}


@st.composite
def homes(draw: Callable[[st.SearchStrategy[Any]], Any]) -> dict[str, bytes | None]:
    """What is in each of these files; JSON files may all hold one odd document."""
    odd = draw(documents()).encode()
    return {
        name: draw(st.sampled_from([*some, odd] if some is _JSON else some))
        for name, some in FILES.items()
    }


@settings(max_examples=40)
@given(homes())
def test_what_was_put_in_is_taken_out_to_the_byte(before: dict[str, bytes | None]) -> None:
    """From whatever files there were; what init made is gone, and twice does nothing more."""
    with TemporaryDirectory() as folder, patch("os.fsync"):  # no power cut can fail this
        here = surroundings(Path(folder))
        assert here.home is not None
        for name, data in before.items():
            if data is not None:
                write(here.home / name, data)
        first = tree(here)
        put(here)
        second = tree(here)
        again = put(here)
        assert outcomes(again) <= {"present", "unreadable"}
        assert all(one.diff is None for one in again.values())
        assert tree(here) == second
        put(here, TAKE_OUT)
        assert tree(here) == first
        assert outcomes(put(here, TAKE_OUT)) <= {"absent", "unreadable"}


def test_every_file_of_the_table_is_made(where: Surroundings) -> None:
    """In a home without any; the files are what the test above knows, and are gone afterwards."""
    made = put(where)
    assert outcomes(made) == {"created"}
    assert made.keys() == FILES.keys() - {"app/CLAUDE.md"}
    assert put(where, TAKE_OUT).keys() >= made.keys()
    assert tree(where) == {}
    assert list(where.cwd.iterdir()) == []


def test_json_files_say_what_the_table_says(where: Surroundings) -> None:
    """As a strict reader reads them, with a path that is good on every machine."""
    put(where)
    for name, data in tree(where).items():
        if name.endswith(".json"):
            json.loads(data)
        assert str(where.home).encode() not in data
    assert json.loads((where.cwd / ".mcp.json").read_bytes()) == {
        "mcpServers": {"memspec": {"command": "memspec-mcp", "args": []}}
    }
    assert where.home is not None
    hooks = json.loads((where.home / ".claude" / "settings.json").read_bytes())["hooks"]
    assert hooks["SessionStart"] == [
        {"hooks": [{"type": "command", "command": "memspec hook session-start", "timeout": 5}]}
    ]
    assert [group["matcher"] for group in hooks["PostToolUse"]] == ["Bash", "Read"]
    codex = tomllib.loads((where.cwd / ".codex" / "config.toml").read_text(encoding="utf-8"))
    assert codex == {"mcp_servers": {"memspec": {"command": "memspec-mcp"}}}
    hermes = yaml.safe_load((where.home / ".hermes" / "config.yaml").read_text(encoding="utf-8"))
    assert hermes == {"mcp_servers": {"memspec": {"command": "memspec-mcp", "args": []}}}


def test_nothing_is_written_by_a_dry_run(where: Surroundings) -> None:
    """The diffs are those of the real one."""
    shown = put(where, dry_run=True)
    assert tree(where) == {}
    assert shown == put(where)
    assert all("memspec" in (one.diff or "") for one in shown.values())


def test_what_is_declined_is_not_written(where: Surroundings) -> None:
    """File by file, after its diff was shown."""
    seen = []

    def approve(change: FileChange) -> bool:
        seen.append(change.diff)
        return change.path.endswith("AGENTS.md")

    done = put(where, Wanted(("cursor",), events=EVENTS), approve=approve)
    assert {name: one.outcome for name, one in done.items()} == {
        "app/AGENTS.md": "created",
        "app/.cursor/mcp.json": "declined",
        "app/.cursor/hooks.json": "declined",
    }
    assert tree(where).keys() == {"app/AGENTS.md"}
    assert all(seen)
    assert len(seen) == 3


def test_keys_order_remarks_mode_and_mark_stay(where: Surroundings) -> None:
    """A byte order mark, Windows line ends, tabs, unknown keys and file permissions."""
    assert where.home is not None
    before = '\ufeff{\r\n\t"z": 1, // mine\r\n\t"hooks": {\r\n\t\t"Stop": []\r\n\t},'
    before += '\r\n\t"a": [1,  2]\r\n}'
    file = write(where.home / ".claude" / "settings.json", before)
    file.chmod(0o640)
    put(where, Wanted(("claude-code",), contract=False, servers=False, events=("session-start",)))
    after = file.read_bytes().decode()
    ours = '"SessionStart": [{"hooks": [{"type": "command", "command":'
    ours += ' "memspec hook session-start", "timeout": 5}]}]'
    assert after == before.replace('"Stop": []', f'"Stop": [],\r\n\t\t{ours}')
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        (".mcp.json", b"{mcpServers: {}}", "a name without quotes"),
        (".mcp.json", b'{"mcpServers": []}', "is not an object"),
        (".mcp.json", b'{"a": "\xff"}', "not UTF-8"),
        (".codex/config.toml", b"[mcp_servers\n", "no TOML"),
        (".codex/config.toml", b"mcp_servers = {}\n", "no TOML"),
        (".codex/hooks.json", b"[]", "the whole is not an object"),
        ("AGENTS.md", b"<!-- memspec:init:start -->\n", "not one pair"),
        ("AGENTS.md", b"\xff\xfea\0", "not UTF-8"),
        ("../.hermes/config.yaml", b"a: [\n", "no YAML"),
        ("../.hermes/config.yaml", b"mcp_servers: {}\n", "a form that cannot be added to"),
        ("../.hermes/config.yaml", b"- 1\n", "no mapping"),
    ],
)
def test_what_cannot_be_understood_is_left_alone(
    where: Surroundings, name: str, data: bytes, why: str
) -> None:
    """With the reason and what to paste, and the other files are set up all the same."""
    file = write(where.cwd / name, data)
    done = put(where)
    change = done[os.path.relpath(file, where.home)]
    assert change.outcome == "unreadable"
    assert why in (change.note or "")
    assert "memspec" in (change.snippet or "")
    assert change.diff is None
    assert file.read_bytes() == data
    assert "created" in outcomes(done)


def test_an_entry_that_somebody_set_up_otherwise_stays(where: Surroundings) -> None:
    """Init says so, and uninstall leaves it."""
    mine = '{"mcpServers": {"memspec": {"command": "memspec-mcp", "args": ["--cwd", "/srv"]}}}'
    file = write(where.cwd / ".mcp.json", mine)
    done = put(where, Wanted(("claude-code",)))["app/.mcp.json"]
    assert (done.outcome, done.diff) == ("present", None)
    assert done.note == "mcpServers.memspec is set up otherwise, and left as it is"
    done = put(where, TAKE_OUT)["app/.mcp.json"]
    assert done.outcome == "absent"
    assert "not as memspec writes it" in (done.note or "")
    assert file.read_text(encoding="utf-8") == mine


@pytest.mark.parametrize(
    "path", ["~/.claude", "$HOME/.claude", "${HOME}/.claude", "{home}/.claude", "/etc/claude"]
)
@pytest.mark.parametrize("quote", ['"', "'", ""])
def test_a_plain_registration_of_the_older_memspec_becomes_ours(
    where: Surroundings, path: str, quote: str
) -> None:
    """With nothing else changed, in the folder of this configuration or of the home."""
    assert where.home is not None
    here = where._replace(env={"CLAUDE_CONFIG_DIR": f"{where.home}/other"})
    place = path.replace("{home}", str(where.home))
    command = f"node {quote}{place}/hooks/memspec-session-start.js{quote}"
    old = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": command}]}]}}
    file = write(where.home / "other" / "settings.json", json.dumps(old, indent=4))
    done = set_up(where.cwd, Wanted(("claude-code",), events=("session-start",)), here).files[-1]
    after = file.read_text(encoding="utf-8")
    if path == "/etc/claude":
        assert (done.outcome, after) == ("present", json.dumps(old, indent=4))
        assert done.note == "the hook session-start is set up otherwise, and left as it is"
    else:
        ours = json.dumps(command)
        assert after == json.dumps(old, indent=4).replace(ours, '"memspec hook session-start"')
        assert done.note == "the hook session-start ran the older memspec's script"


@pytest.mark.parametrize(
    "command",
    [
        "node ~/.claude/hooks/memspec-session-start.js && date",
        "MEMSPEC_ROOT=/x node ~/.claude/hooks/memspec-session-start.js",
        "sh -c 'memspec hook session-start'",
        "timeout 1 memspec hook session-start",
    ],
)
def test_wrappers_and_chains_are_left_alone(where: Surroundings, command: str) -> None:
    """And what they do is not registered a second time."""
    assert where.home is not None
    mine = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": command}]}]}}
    file = write(where.home / ".claude" / "settings.json", json.dumps(mine))
    wanted = Wanted(("claude-code",), events=("session-start",))
    assert put(where, wanted)[".claude/settings.json"].outcome == "present"
    assert put(where, TAKE_OUT)[".claude/settings.json"].outcome == "absent"
    assert file.read_text(encoding="utf-8") == json.dumps(mine)


@pytest.mark.parametrize("value", ["relative/claude", "~/claude", "."])
def test_a_config_folder_must_be_absolute(where: Surroundings, value: str) -> None:
    """As Claude Code requires; nothing is written anywhere."""
    here = where._replace(env={"CLAUDE_CONFIG_DIR": value})
    with pytest.raises(UsageError, match="no absolute path"):
        set_up(where.cwd, EVERYTHING, here)
    assert tree(where) == {}


def test_more_hooks_can_be_asked_for_later(where: Surroundings) -> None:
    """A file that is all ours stays as a new one would be, and goes away as a whole."""
    put(where, Wanted(ALL, events=("session-start", "post-commit")))
    assert "changed" in outcomes(put(where))
    assert where.home is not None
    grown = (where.home / ".claude" / "settings.json").read_bytes()
    put(where, TAKE_OUT)
    assert tree(where) == {}
    put(where)
    assert (where.home / ".claude" / "settings.json").read_bytes() == grown


def make_link(where: Surroundings, name: str, to: str) -> None:
    """A link in the project."""
    (where.cwd / name).parent.mkdir(parents=True, exist_ok=True)
    (where.cwd / name).symlink_to(to)


def test_a_link_is_written_through_and_told(where: Surroundings) -> None:
    """The link stays one; two names of one file are one file."""
    write(where.cwd / "docs" / "rules.md", "# Rules\n")
    make_link(where, "CLAUDE.md", "docs/rules.md")
    make_link(where, "AGENTS.md", "CLAUDE.md")
    done = set_up(where.cwd, Wanted(), where).files
    assert [one.outcome for one in done] == ["changed"]
    assert done[0].target == str(where.cwd / "docs" / "rules.md")
    assert f"leads to {done[0].target}" in (done[0].note or "")
    assert (where.cwd / "CLAUDE.md").is_symlink()
    assert "memspec search" in (where.cwd / "docs" / "rules.md").read_text(encoding="utf-8")


def test_a_link_out_of_the_project_is_not_followed_unless_forced(where: Surroundings) -> None:
    """A cloned repository may not choose a file of the home to be written to."""
    assert where.home is not None
    outside = write(where.home / "notes.md", "mine\n")
    make_link(where, "AGENTS.md", str(outside))
    done = put(where, Wanted())["app/AGENTS.md"]
    assert done.outcome == "unreadable"
    assert "outside of the project" in (done.note or "")
    assert outside.read_bytes() == b"mine\n"
    assert put(where, Wanted(force=True))["app/AGENTS.md"].outcome == "changed"


def test_instruction_files_are_those_that_are_there(where: Surroundings) -> None:
    """CLAUDE.md alone, both, or one that takes in the other."""
    write(where.cwd / "CLAUDE.md", "# Rules\n")
    assert put(where, Wanted()).keys() == {"app/CLAUDE.md"}
    put(where, Wanted(uninstall=True))
    write(where.cwd / "AGENTS.md", "# Rules\n")
    assert put(where, Wanted()).keys() == {"app/AGENTS.md", "app/CLAUDE.md"}
    put(where, Wanted(uninstall=True))
    write(where.cwd / "CLAUDE.md", "@AGENTS.md\n")
    assert put(where, Wanted()).keys() == {"app/AGENTS.md"}


def test_the_contract_is_short_and_says_what_matters() -> None:
    """It is paid for in every session."""
    assert len(words.CONTRACT) < 1_200
    for word in ("search", "verify", "supersede", "DRIFTED", "STALE", "witness", "secrets"):
        assert word in words.CONTRACT


def test_an_older_contract_is_replaced(where: Surroundings) -> None:
    """The markers are those of 0.7.2."""
    old = "# X\n\n<!-- memspec:init:start -->\nold words\n<!-- memspec:init:end -->\n"
    file = write(where.cwd / "AGENTS.md", old)
    done = put(where, Wanted())["app/AGENTS.md"]
    assert done.outcome == "changed"
    assert "-old words" in (done.diff or "")
    assert "old words" not in file.read_text(encoding="utf-8")


def test_the_home_is_no_project(where: Surroundings) -> None:
    """A store there gets hooks, and no files that a project shares."""
    assert where.home is not None
    done = set_up(where.home / ".memspec", EVERYTHING, where)
    names = {os.path.relpath(one.path, where.home) for one in done.files}
    assert names == {
        *(".claude/settings.json", ".codeium/windsurf/mcp_config.json"),
        *(".openclaw/openclaw.json", ".hermes/config.yaml"),
    }


@pytest.mark.parametrize("one", HARNESSES, ids=lambda one: one.name)
def test_a_harness_is_found_by_its_folders(where: Surroundings, one: Any) -> None:  # noqa: ANN401
    """Each by any of its signs, and by no other's."""
    assert Memspec.harnesses(where=where).names == ()
    for sign in one.signs:
        base = {"project": where.cwd, "claude": where.cwd.parent / ".claude"}.get(
            sign.base, where.cwd.parent
        )
        made = base / sign.names[0]
        made.mkdir(parents=True, exist_ok=True)
        assert one.name in Memspec.harnesses(where=where).names
        if made not in (where.cwd, where.cwd.parent):
            made.rmdir()
    assert Memspec.harnesses(where=where).names == ()


def test_all_found_means_those(where: Surroundings) -> None:
    """And none when none is."""
    assert put(where, Wanted(("all-found",), contract=False)) == {}
    (where.cwd / ".cursor").mkdir()
    assert put(where, Wanted(("all-found",), contract=False)).keys() == {"app/.cursor/mcp.json"}


@pytest.mark.parametrize("wanted", [Wanted(("emacs",)), Wanted(("pi",), events=("stop",))])
def test_an_unknown_name_is_a_usage_error(where: Surroundings, wanted: Wanted) -> None:
    """With the known ones."""
    with pytest.raises(UsageError) as raised:
        put(where, wanted)
    assert "one of:" in (raised.value.hint or "")


def test_somebody_elses_edit_in_between_is_a_conflict(where: Surroundings) -> None:
    """The diff that was approved is the one that is written, or none."""
    file = write(where.cwd / "AGENTS.md", "# Rules\n")

    def meanwhile(_: FileChange) -> bool:
        file.write_bytes(b"# Other rules\n")
        return True

    with pytest.raises(Conflict):
        put(where, Wanted(), approve=meanwhile)
    assert file.read_bytes() == b"# Other rules\n"


def test_a_changed_skill_is_left_alone_unless_forced(where: Surroundings) -> None:
    """It may be somebody's own by now."""
    put(where, Wanted(("pi",), contract=False))
    file = where.cwd / ".agents" / "skills" / "memspec" / "SKILL.md"
    file.write_bytes(b"mine")
    name = "app/.agents/skills/memspec/SKILL.md"
    assert put(where, Wanted(("pi",)))[name].outcome == "present"
    assert put(where, TAKE_OUT)[name].outcome == "absent"
    assert file.read_bytes() == b"mine"
    assert put(where, Wanted(("pi",), force=True))[name].outcome == "changed"


def test_open_code_settings_with_remarks_are_used_when_they_are_there(where: Surroundings) -> None:
    """The first of several names that exists."""
    file = write(where.cwd / "opencode.jsonc", '{\n  // mine\n  "theme": "x"\n}\n')
    put(where, Wanted(("opencode",), contract=False))
    assert "// mine" in file.read_text(encoding="utf-8")
    assert not (where.cwd / "opencode.json").exists()
