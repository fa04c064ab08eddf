"""Setting up harnesses by options, and at a terminal by questions on standard error."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from memspec_py.cli import init
from memspec_py.cli.main import cli, main

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in a home, where one is."""
    made = tmp_path / "home" / "app"
    made.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(made.parent))
    monkeypatch.chdir(made)
    monkeypatch.setenv("PWD", str(made))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    return made


def files(project: Path) -> set[str]:
    """Every file of the home but those of the store."""
    home = project.parent
    every = {str(one.relative_to(home)) for one in home.rglob("*") if one.is_file()}
    return {name for name in every if "/.memspec/" not in f"/{name}"}


def run(*arguments: str, typed: str = "") -> Result:
    """`memspec init`, as a process would run it."""
    return CliRunner().invoke(cli, ["init", *arguments], input=typed, prog_name="memspec")


CLAUDE = {"app/AGENTS.md", "app/.mcp.json", ".claude/settings.json"}


@pytest.mark.parametrize(
    ("arguments", "made"),
    [
        ([], set()),
        (["--no-hooks"], set()),
        (["--no-mcp", "--no-agents-md"], set()),
        (["--harness", "claude-code"], CLAUDE),
        (["--harness", "claude-code", "--no-hooks"], CLAUDE - {".claude/settings.json"}),
        (["--harness", "claude-code", "--no-install-hooks"], CLAUDE - {".claude/settings.json"}),
        (["--harness", "claude-code", "--no-mcp"], CLAUDE - {"app/.mcp.json"}),
        (["--harness", "claude-code", "--no-agents-md"], CLAUDE - {"app/AGENTS.md"}),
        (["--agents-md"], {"app/AGENTS.md"}),
        (["--mcp"], {"app/.mcp.json"}),
        (["--hooks"], {".claude/settings.json"}),
        (["--mcp", "--hooks", "all"], {"app/.mcp.json", ".claude/settings.json"}),
        (["--harness", "claude-code", "--dry-run"], set()),
    ],
)
def test_options_decide_what_is_made(project: Path, arguments: list[str], made: set[str]) -> None:
    """Without any, nothing but the store; a second run makes nothing more."""
    assert run(*arguments).exit_code == 0
    assert files(project) == made
    assert (project / ".memspec").is_dir() == ("--dry-run" not in arguments)
    before = {name: (project.parent / name).read_bytes() for name in made}
    again = run(*arguments)
    assert "+++" not in again.stdout or "--dry-run" in arguments
    assert {name: (project.parent / name).read_bytes() for name in made} == before


def test_the_hooks_are_two_unless_all_are_asked_for(project: Path) -> None:
    """The start of a session, and a commit."""
    settings = project.parent / ".claude" / "settings.json"
    run("--hooks")
    assert json.loads(settings.read_bytes())["hooks"].keys() == {"SessionStart", "PostToolUse"}
    run("--hooks", "all")
    assert json.loads(settings.read_bytes())["hooks"].keys() == {
        *("SessionStart", "PostToolUse", "UserPromptSubmit", "PreCompact"),
    }


def test_each_change_is_shown_before_it_is_told(project: Path) -> None:
    """As a unified diff, with what became of the file below."""
    said = run("--harness", "cursor", "--no-agents-md").stdout
    assert said.index("+++ ") < said.index('+{"command"' if '+{"' in said else "+{")
    assert said.index("memspec-mcp") < said.index("Made " + str(project / ".cursor" / "mcp.json"))


def test_uninstall_takes_out_what_was_put_in(project: Path) -> None:
    """Of one harness or of all; the store stays, and without anything it says so."""
    run("--harness", "claude-code", "--harness", "cursor")
    assert run("--uninstall", "--harness", "cursor", "--no-agents-md").exit_code == 0
    assert files(project) == CLAUDE
    said = run("--uninstall")
    assert f"Removed {project / 'AGENTS.md'}" in said.stdout
    assert files(project) == set()
    assert (project / ".memspec" / "config.yaml").exists()
    assert run("--uninstall").stdout.startswith("Nothing of memspec was found")


def test_uninstall_makes_no_store(project: Path) -> None:
    """There may be none any more."""
    assert run("--uninstall").exit_code == 0
    assert list(project.iterdir()) == []


def test_a_file_to_be_changed_by_hand_is_exit_1(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what to put into it; the others are set up."""
    (project / ".mcp.json").write_text("{ servers }", encoding="utf-8")
    with pytest.raises(SystemExit) as leaving:
        main(["init", "--harness", "claude-code"])
    assert leaving.value.code == 1
    said = capsys.readouterr().out
    assert "Not changed: " in said
    assert '"command": "memspec-mcp"' in said
    assert (project / "AGENTS.md").exists()


def test_the_reply_has_every_file(project: Path) -> None:
    """With its diff; nothing else is on standard output."""
    said = json.loads(run("--harness", "claude-code", "--json").stdout)
    assert said["harnesses"] == ["claude-code"]
    assert {one["outcome"] for one in said["files"]} == {"created"}
    assert all("memspec" in one["diff"] for one in said["files"])
    assert said["store"] == str(project / ".memspec")


def test_a_diff_cannot_act_on_the_terminal(project: Path) -> None:
    """Whatever bytes are beside the change."""
    (project / "AGENTS.md").write_bytes(b"\x1b[2Jhello\n")
    said = run("--agents-md", "--dry-run").stdout
    assert "\x1b" not in said
    assert "\\x1b[2Jhello" in said


def test_where_it_is_made_can_be_said_in_two_ways(project: Path) -> None:
    """The files go where the store is, never where one happens to stand."""
    (project / "sub").mkdir()
    assert run("--cwd", "sub", "--mcp").exit_code == 0
    assert files(project) == {"app/sub/.mcp.json"}
    assert run("a", "--cwd", "b").exit_code != 0
    assert run(".", "--force").exit_code == 0
    inner = run("sub/deeper", "--mcp")
    assert inner.exit_code != 0
    assert files(project) == {"app/sub/.mcp.json"}


def test_a_project_with_a_pointer_needs_no_store_of_its_own(project: Path) -> None:
    """Its agents can be told all the same; a plain `init` there is refused as before."""
    (project / ".memspec.yaml").write_text("stores:\n  - {name: team, path: ../team}\n", "utf-8")
    said = run("--mcp")
    assert said.exit_code == 0
    assert f"{project / '.memspec.yaml'} says which stores serve this" in said.stdout
    assert files(project) == {"app/.mcp.json", "app/.memspec.yaml"}
    assert not (project / ".memspec").exists()
    assert run().exit_code != 0


# At a terminal


@pytest.fixture
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(init, "_is_terminal", lambda: True)


@pytest.mark.usefixtures("_terminal")
@pytest.mark.parametrize(
    ("typed", "made"),
    [
        ("claude-code\ny\ny\ny\ny\ny\ny\n", CLAUDE),
        ("claude-code\n\n\n\ny\nn\n\n", {"app/AGENTS.md"}),  # enter writes nothing
        ("claude-code\ny\nn\nn\ny\n", {"app/AGENTS.md"}),
        ("none\ny\ny\n", {"app/AGENTS.md"}),
        ("none\nn\n", set()),
        (
            "cursor, pi\nn\ny\nn\ny\ny\n",
            {"app/.cursor/mcp.json", "app/.agents/skills/memspec/SKILL.md"},
        ),
    ],
)
def test_it_asks_at_a_terminal(project: Path, typed: str, made: set[str]) -> None:
    """Which harnesses, which parts, and each file after its diff."""
    said = run(typed=typed)
    assert said.exit_code == 0
    assert files(project) == made
    assert "Which of them should know of it?" in said.stderr
    assert "?" not in said.stdout


@pytest.mark.usefixtures("_terminal")
def test_what_is_found_is_offered(project: Path) -> None:
    """Enter takes it; the end of the input stops with what was answered so far."""
    (project / ".cursor").mkdir()
    said = run(typed="\nn\n\nn\ny\n")
    assert "[cursor]" in said.stderr
    assert files(project) == {"app/.cursor/mcp.json"}


@pytest.mark.usefixtures("_terminal")
def test_options_leave_only_the_files_to_be_asked_for(project: Path) -> None:
    """And --yes asks nothing at all."""
    said = run("--harness", "cursor", "--no-agents-md", "--no-hooks", typed="n\n")
    assert files(project) == set()
    assert "Which of them" not in said.stderr
    said = run("--harness", "cursor", "--no-agents-md", "--no-hooks", "--yes")
    assert files(project) == {"app/.cursor/mcp.json"}
    assert said.stderr == ""
