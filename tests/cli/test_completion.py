from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Self

import click
import pytest

from memspec_py.cli import candidates, completing
from memspec_py.cli.candidates import MOST_IDS, Candidate
from memspec_py.cli.main import GROUPS, cli
from memspec_py.testing import TempStore, a_record, an_id
from tests.cli.transcript import scene

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.transcript import Scene

_OLD, _NEW = "ms_01KDVDNA000000000000000001", "ms_01KDVDNA000000000000000002"
_CONFIG = """\
scopes:
  api: [src/api/**]
  web: [src/web/**]
profiles:
  brief: {types: [decision]}
"""


@pytest.fixture
def here() -> Iterator[Scene]:
    """A scene with a store, settings, a superseded claim and its heir, and a question."""
    with scene() as made:
        made.play("memspec init")
        (made.place / ".memspec" / "config.yaml").write_text(_CONFIG, encoding="utf-8")
        made.play("memspec remember fact 'Ports are fixed' --source ada --scope universal")
        made.play(f"memspec supersede {_OLD} --reason Moved --title 'Ports: free, * and $HOME'")
        made.play("memspec question 'Which port?'")
        yield made


def asked(here: Scene, *words: str, shell: str = "fish") -> list[tuple[str, str]]:
    """What is offered for the last word: each word and what it is."""
    here.variables["_MEMSPEC_COMPLETE"] = shell
    try:
        said = here.memspec(list(words))
    finally:
        del here.variables["_MEMSPEC_COMPLETE"]
    assert (said.err, said.code) == ("", 0)
    lines = [line.split("\t") for line in said.out.splitlines()]
    return [(value, about) for kind, value, about in lines if kind == "plain"]


def words(here: Scene, *typed: str) -> list[str]:
    """The words that are offered."""
    return [value for value, _ in asked(here, *typed)]


# What is offered


def test_commands_come_with_what_they_do(here: Scene) -> None:
    """All of them, in the order of the help."""
    offered = asked(here, "")
    assert [name for name, _ in offered] == [name for names in GROUPS.values() for name in names]
    assert dict(offered)["search"].startswith("Find records")
    assert words(here, "sea") == ["search"]


def test_options_come_with_their_help(here: Scene) -> None:
    """Those of the command, and none that was given already."""
    offered = dict(asked(here, "search", "--e"))
    assert offered.keys() == {"--expand-edges", "--edge-types", "--expand-depth", "--explain"}
    assert offered["--explain"] == "Show the parts of each score."
    assert "--explain" not in words(here, "search", "--explain", "--e")


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("remember|", ["fact", "decision", "procedure"]),
        ("outcome|ms_01|", ["helped", "dead_end", "corrected"]),
        ("export|--format|d", ["dot"]),
        ("list|--state|re", ["retired", "resolved"]),
        ("list|--witness|a", ["anchor", "assertion"]),
        ("list|--type|", ["fact", "decision", "procedure", "observation", "question"]),
        ("supersede|ms_01|--type|p", ["procedure"]),
        ("relate|--type|re", ["refines"]),
        ("search|x|--edge-types|refines,superseded", ["refines,superseded_by"]),
        ("search|x|--edge-types|refines,ref", []),
        ("search|x|--profile|b", ["brief"]),
        ("search|x|--scope|", ["api", "web", "universal"]),
        ("remember|fact|x|--scope|w", ["web"]),
        ("search|x|--store|", ["project"]),
        ("hook|pro", ["prompt"]),
        ("init|--hooks|", ["default", "all"]),
        ("init|--harness|co", ["codex", "copilot"]),
        ("init|--harness|all", ["all-found"]),
        ("completion|", ["bash", "zsh", "fish"]),
        ("list|--state=su", ["--state=superseded"]),
        ("list|--state|=|su", ["superseded"]),
        ("list|--state|=", ["active", "superseded", "retired", "open", "resolved", "any"]),
    ],
)
def test_values_are_offered_where_only_some_can_be(
    here: Scene, typed: str, wanted: list[str]
) -> None:
    """Of an argument, of an option, behind `=`, and in a list with commas."""
    assert words(here, *typed.split("|")) == wanted


def test_ids_come_with_type_and_title(here: Scene) -> None:
    """Those in use, newest first; only `get` also offers what is in the archive, after them."""
    in_use, whole = asked(here, "verify", "ms_"), asked(here, "get", "")
    titles = ["[fact] Ports: free, * and $HOME", "[question] Which port?"]
    assert [about for _, about in in_use] == titles
    assert whole == [*in_use, (_OLD, "[fact] Ports are fixed")]


def test_what_was_typed_of_an_id_may_lack_its_head_or_be_small(here: Scene) -> None:
    """As commands take it; the whole id is put in its place."""
    for typed in (_OLD[:20], _OLD[3:20], _OLD[:20].lower(), f"'{_OLD[:20]}", f'"{_OLD[:20]}'):
        assert _OLD in words(here, "get", typed)
    for typed in ("ms_02", "nothing", "ms_01KDVDNA0!"):
        assert words(here, "get", typed) == []


def test_every_place_for_an_id_offers_them(here: Scene) -> None:
    """Also in lists with commas, behind several words, and where only a question fits."""
    in_use = set(words(here, "verify", "ms_"))
    question = words(here, "remember", "fact", "x", "--answers-question", "")
    assert len(question) == 1
    assert in_use > set(question)
    assert words(here, "question", "ms_") == question
    assert words(here, "question", "") == []
    for typed in (
        ("relate", "--from", "ms_"),
        ("relate", "--from", "ms_01", "--to", ""),
        ("remember", "fact", "x", "--refines", ""),
        ("question", "Which?", "--answers", ""),
        ("question", "Which?", "--answers", "ms_01", ""),
    ):
        assert set(words(here, *typed)) == in_use, typed
    merged = words(here, "supersede", "ms_01", "--merge-from", f"{_OLD},")
    assert merged == [f"{_OLD},{id_}" for id_ in words(here, "verify", "ms_")]


def test_the_folder_and_the_layer_that_were_named_are_looked_in(here: Scene) -> None:
    """`--cwd` and `--store` before the word count; `global` is offered once it is there."""
    here.play("memspec init ../other")
    here.play("memspec init ../.memspec")
    here.play("memspec observe Elsewhere --cwd ../other")
    here.play("memspec observe Home --store global")
    there = [about for _, about in asked(here, "get", "--cwd", "../other", "ms_")]
    assert there == ["[observation] Home", "[observation] Elsewhere"]
    assert [about for _, about in asked(here, "get", "--store", "global", "ms_")] == [
        "[observation] Home"
    ]
    assert words(here, "search", "x", "--store", "") == ["project", "global"]
    assert words(here, "search", "x", "--store", "g") == ["global"]


@pytest.mark.parametrize(
    ("typed", "kind"),
    [
        (["anchor", "ms_01", "sr"], "file"),
        (["remember", "fact", "x", "--anchor", "sr"], "file"),
        (["remember", "fact", "x", "--body-file", ""], "file"),
        (["context", "--paths", "a", ""], "file"),
        (["list", "--cwd", ""], "dir"),
        (["list", "--store", "../"], "dir"),
        (["remember", "fact", "x", "--anchor-root", ""], "dir"),
    ],
)
def test_files_and_folders_are_left_to_the_shell(here: Scene, typed: list[str], kind: str) -> None:
    """It knows them better."""
    here.variables["_MEMSPEC_COMPLETE"] = "bash"
    assert here.memspec(typed).out.split("\t")[0] == kind


def test_each_value_that_is_offered_is_taken(here: Scene) -> None:
    """No type, state, witness, edge, scope or profile is offered that the command refuses."""
    tried = 0
    for line in (
        "list --type",
        "list --state",
        "list --witness",
        "list --scope",
        "search x --type",
        "search x --scope",
        "search x --profile",
        "search x --expand-edges --edge-types",
        "context --type",
        "export --format jsonl --types",
    ):
        for value in words(here, *line.split(), ""):
            said = here.play(f"memspec {line} {value}")
            assert said.code in (0, 1), (line, value, said.err)
            tried += 1
    for edge in words(here, "relate", "--type", ""):
        said = here.play(f"memspec relate --from {_OLD} --to {_NEW} --type {edge}")
        assert said.code != 2, (edge, said.err)
        tried += 1
    assert tried > 30


def test_every_parameter_with_an_id_is_known() -> None:
    """None of a command to come is forgotten: what is shown as ID has an offer."""
    seen = 0
    for name in cli.list_commands(click.Context(cli)):
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        for parameter in command.params:
            if "ID" in (parameter.metavar or "").replace("|", ",").split(","):
                assert candidates.offered(name, parameter) is not None, (name, parameter.name)
                seen += 1
    assert seen > 10


# Bounded, quick and silent


def test_of_many_ids_the_newest_are_offered_and_none_is_out_of_reach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the shell takes as their common beginning is that of all."""
    store = TempStore(tmp_path)
    monkeypatch.chdir(store.project)
    monkeypatch.setenv("HOME", str(store.home))
    numbers = [1, *range(1000, 1000 + 3 * MOST_IDS)]
    for number in numbers:
        store.put(a_record(number))
    found = [one.value for one in completing.possible(cli, ["get", "ms_"])]
    assert MOST_IDS - 2 < len(found) <= MOST_IDS
    assert found[0] == an_id(numbers[-1])
    assert _beginning(found) == _beginning([an_id(one) for one in numbers])


def _beginning(ids: list[str]) -> str:
    """What all of them begin with."""
    columns = list(zip(*ids, strict=True))
    length = next((at for at, letters in enumerate(columns) if len(set(letters)) > 1), len(columns))
    return ids[0][:length]


def test_a_file_that_cannot_be_read_is_offered_without_a_title(here: Scene) -> None:
    """Its id is what one needs to mend it."""
    id_ = an_id(0xABC)
    here.play(f"printf broken > .memspec/memory/facts/{id_}.md")
    assert dict(asked(here, "get", "ms_"))[id_] == "(cannot be read)"


def test_no_title_breaks_the_answer(here: Scene) -> None:
    """Neither a tab nor a newline nor an escape, and a long one is cut."""
    here.memspec(["observe", "-"], b"a\tb\x1b[2J " + b"long " * 100)
    (title,) = [about for _, about in asked(here, "get", "") if "observation" in about]
    assert title.isprintable()
    assert title.startswith("[observation] a b\\x1b[2J long")
    assert len(title) < 80


def test_asking_writes_nothing(here: Scene) -> None:
    """No index is made or brought up to date for it, and no receipt is written."""
    shutil.rmtree(here.place / ".memspec" / "local")
    before = sorted(here.home.rglob("*"))
    for typed in (["get", "ms_"], ["list", "--scope", ""], ["list", "--store", ""], ["undo", ""]):
        asked(here, *typed)
    made = set(here.home.rglob("*")) - set(before)
    assert not [path for path in made if path.name.startswith(("index", "usage"))]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "tcsh", ""])
@pytest.mark.parametrize(
    "typed",
    [
        [],
        ["get", "ms_"],
        ["search", "x", "--store", ""],
        ["search", "x", "--scope", ""],
        ["search", "x", "--profile", ""],
        ["undo", ""],
        ["get", "--cwd", "/no/such/folder", "ms_"],
        ["get", "--store", "nope", "ms_"],
        ["no-such-command", ""],
        ["no-such-command", "--x"],
        ["get", "--no-such-option", ""],
        ["get", "'unfinished"],
        ["get", os.fsdecode(b"\xff")],
        ["list", "--limit", "many", "--state", ""],
    ],
)
def test_nothing_is_said_where_there_is_nothing_to_say(shell: str, typed: list[str]) -> None:
    """Without a store, and for any nonsense: no error, and nothing that is not an offer."""
    with scene() as bare:
        bare.variables["_MEMSPEC_COMPLETE"] = shell
        said = bare.memspec(typed)
        assert said.err == ""
        for line in said.out.splitlines():
            assert line.split("\t")[0] in ("plain", "file", "dir")
        if "ms_" in typed:
            assert said.out == ""
        assert [path.name for path in bare.home.rglob("*")] == ["app"]


@pytest.mark.parametrize("damage", ["config.yaml", "../.memspec.yaml"])
def test_broken_settings_are_no_error(here: Scene, damage: str) -> None:
    """A prompt is no place to tell of them; the commands do."""
    (here.place / ".memspec" / damage).write_text("stores: [\x00", encoding="utf-8")
    for typed in (["get", "ms_"], ["search", "x", "--scope", ""], ["list", "--store", ""]):
        asked(here, *typed)


def test_a_bug_of_ours_is_not_shown_at_a_prompt(
    here: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It exits 1 without a word."""

    def broken(*_: object) -> list[Candidate]:
        raise ZeroDivisionError

    monkeypatch.setattr(completing, "possible", broken)
    here.variables["_MEMSPEC_COMPLETE"] = "bash"
    said = here.memspec(["get", ""])
    assert (said.out, said.err, said.code) == ("", "", 1)


def test_bash_shows_titles_but_never_puts_them_in(here: Scene) -> None:
    """Behind the words while there are several; alone where one is left, or bash inserts."""
    here.variables["_MEMSPEC_COMPLETE"] = "bash"
    several = here.memspec(["verify", "ms_"]).out.splitlines()
    assert len(several) == 2
    assert any(line.endswith("  [question] Which port?") for line in several)
    (one,) = here.memspec(["question", "ms_"]).out.splitlines()
    assert " " not in one
    here.variables["COMP_TYPE"] = "37"  # menu-complete
    assert all(" " not in line for line in here.memspec(["verify", "ms_"]).out.splitlines())


# The shells themselves


@pytest.fixture
def bin_folder(here: Scene) -> Path:
    """A folder with `memspec` in it, to come first on PATH."""
    folder = here.home / "bin"
    folder.mkdir()
    script = folder / "memspec"
    paths = os.pathsep.join(filter(None, sys.path))
    script.write_text(
        f'#!/bin/sh\nPYTHONPATH="{paths}" exec "{sys.executable}" -m memspec_py "$@"\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    for shell in completing.SHELLS:
        said = here.play(f"memspec completion {shell}")
        assert said.code == 0
        (folder / f"completion.{shell}").write_text(said.out, encoding="utf-8")
    return folder


def in_shell(here: Scene, bin_folder: Path, command: list[str]) -> str:
    """What a shell prints, in the scene's folder."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]} here")
    done = subprocess.run(
        command,
        cwd=here.place,
        env=_shell_environment(here, bin_folder),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.stderr, done.returncode) == ("", 0)
    return done.stdout


def _shell_environment(here: Scene, bin_folder: Path) -> dict[str, str]:
    path = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(here.home), "TERM": "dumb", "LC_ALL": "C.UTF-8"}


_BASH_TRY = """\
source "$HOME/bin/completion.bash"
complete -p memspec
try() {
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_TYPE=9
    _memspec memspec
    printf '%s\\n' "${COMPREPLY[@]}"
}
try memspec sea
try memspec list --state = su
try memspec get --cwd '"../app"' ms_
"""


def test_bash_completes(here: Scene, bin_folder: Path) -> None:
    """A command, a value behind `=`, ids with titles: no character of one is expanded."""
    said = in_shell(here, bin_folder, ["bash", "--norc", "--noprofile", "-c", _BASH_TRY])
    set_up, *completed = said.splitlines()
    assert set_up == "complete -o nosort -F _memspec memspec"
    assert completed[:2] == ["search", "superseded"]
    assert f"{_OLD}  [fact] Ports are fixed" in completed
    assert any(line.endswith("  [fact] Ports: free, * and $HOME") for line in completed)
    assert len(completed) == 5


def test_fish_completes(here: Scene, bin_folder: Path) -> None:
    """Fish says by itself what it would offer."""
    typed = [f'complete -C "memspec {line}"' for line in ("sea", "list --state=su", "get ms_")]
    code = "; ".join([f"source {bin_folder}/completion.fish", *typed])
    completed = in_shell(here, bin_folder, ["fish", "--no-config", "-c", code]).splitlines()
    assert completed[0].startswith("search\tFind records")
    assert completed[1].rstrip() == "--state=superseded"
    assert f"{_OLD}\t[fact] Ports are fixed" in completed
    assert any(line.endswith("\t[fact] Ports: free, * and $HOME") for line in completed)
    assert len(completed) == 5


_INTERACTIVE = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
}
_READY = {
    "bash": 'source "$HOME/bin/completion.bash"',
    "zsh": 'autoload -U compinit; compinit -D -u; source "$HOME/bin/completion.zsh"',
}


@pytest.mark.parametrize("shell", _INTERACTIVE)
def test_tab_completes_at_a_prompt(here: Scene, bin_folder: Path, shell: str) -> None:
    """As somebody types: a command, a value, and an id as far as it is clear."""
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    with _terminal(_INTERACTIVE[shell], here, bin_folder) as terminal:
        terminal.type(f"{_READY[shell]}; echo re''ady\n", "ready")
        terminal.type("memspec recon\t", "memspec reconcile ")
        terminal.type("\x15memspec list --state=su\t", "memspec list --state=superseded ")
        terminal.type(f"\x15memspec get {_OLD[:-1]}1\t", f"memspec get {_OLD}")
        terminal.type("\x15memspec remember f\t", "memspec remember fact ")


class _terminal:  # noqa: N801 - used as a function
    """A shell at a terminal."""

    def __init__(self, command: list[str], here: Scene, bin_folder: Path) -> None:
        self._main, other = pty.openpty()
        self._child = subprocess.Popen(
            command,
            cwd=here.place,
            env=_shell_environment(here, bin_folder),
            stdin=other,
            stdout=other,
            stderr=other,
            start_new_session=True,
        )
        os.close(other)
        self._told = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.kill()
        self._child.wait()
        os.close(self._main)

    def type(self, keys: str, wanted: str) -> None:
        """Type, and wait until what is wanted was told."""
        self._told = ""
        os.write(self._main, keys.encode())
        deadline = time.monotonic() + 30
        while wanted not in self._told:
            ready = select.select([self._main], [], [], 0.2)[0]
            if ready:
                self._told += os.read(self._main, 65536).decode(errors="replace")
            assert time.monotonic() < deadline, f"{keys!r} gave {self._told!r}"
