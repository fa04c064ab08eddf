from __future__ import annotations

import io
import json
import re
import sys
from typing import TYPE_CHECKING

import jsonschema
import pytest

from memspec_py.cli import demo as demo_module
from memspec_py.cli.demo import Played, demonstrate
from memspec_py.cli.demo_script import FILE, STEPS, Step
from memspec_py.cli.main import main
from tests.cli import pages
from tests.cli.pages import demo
from tests.cli.transcript import scene

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tests.cli.transcript import Scene


@pytest.fixture
def here() -> Iterator[Scene]:
    """A fresh scene."""
    with scene() as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where steps can be played."""
    (tmp_path / "shop" / FILE).parent.mkdir(parents=True)
    return tmp_path


def played(folder: Path, *steps: Step) -> tuple[Played, ...]:
    """Play some steps without telling."""
    return demonstrate(steps, folder, lambda _: None, lambda _: None)


def test_the_demo_goes_as_told(tmp_path: Path) -> None:
    """Every line of it is as in `fixtures/demo.transcript`, which `bin/pages` writes."""
    done = demo("--fast", cwd=tmp_path)
    assert (done.stderr, done.returncode) == ("", 0)
    assert pages.steady(done.stdout) == pages.TRANSCRIPT.read_text(encoding="utf-8")


def test_the_readme_shows_the_demo() -> None:
    """What stands under `In sixty seconds` is the transcript, but for the folders of a store."""
    transcript = pages.TRANSCRIPT.read_text(encoding="utf-8")
    shown = pages.shown_in(pages.README.read_text(encoding="utf-8"))
    assert shown == pages.abridged(transcript)
    assert len(transcript.splitlines()) - len(shown.splitlines()) > 5


def test_the_story_is_told_in_full() -> None:
    """Written, found, no alarm, alarm, superseded, refused, corrected: the turns of the issue."""
    typed = [step.typed.partition("\n")[0].split()[:2] for step in STEPS]
    commands = [name for program, name in typed if program == "memspec"]
    assert commands == [
        *("init", "remember", "search", "search", "reconcile", "search", "reconcile"),
        *("supersede", "remember", "context"),
    ]
    ours = [step for step in STEPS if step.typed.startswith("memspec")]
    assert all(step.shows for step in ours)
    assert [step.exit_code for step in ours] == [0, 0, 0, 0, 0, 0, 1, 0, 1, 0]


def test_nothing_is_left_or_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the temporary folder, the home or the place it is called in, whatever is set there."""
    for name in ("tmp", "home", "here"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("MEMSPEC_ROOT", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    (tmp_path / "config").write_text("[color]\n  ui = always\n[commit]\n  gpgSign = true\n")
    done = demo(cwd=tmp_path / "here")
    assert done.returncode == 0, done.stdout
    for name in ("tmp", "home", "here"):
        assert list((tmp_path / name).iterdir()) == []


def test_a_folder_inside_of_a_project_with_a_store_will_do(here: Scene) -> None:
    """The store around it is neither in the way nor written to."""
    here.play("memspec init")
    before = sorted(here.home.rglob("*"))
    done = demo("--fast", "--keep", "demo", cwd=here.place)
    assert done.returncode == 0, done.stdout
    ours = here.place / "demo"
    after = sorted(path for path in here.home.rglob("*") if ours not in (path, *path.parents))
    assert after == before


def test_a_kept_demo_is_there_to_look_at(here: Scene) -> None:
    """`--keep` says where it is; the store in it is whole, and the correction can be read."""
    said = here.play("memspec demo --keep kept --fast --json")
    done = json.loads(said.out)
    assert (said.code, done["as_told"], done["folder"]) == (0, True, str(here.place / "kept"))
    here.play("cd kept/shop")
    assert here.play("memspec doctor").code == 0
    assert "Access tokens live for 60 minutes" in here.play("memspec list").out


def test_json_lists_the_steps(tmp_path: Path) -> None:
    """One object: each command as typed, with its exit code and what it printed."""
    done = demo("--json", cwd=tmp_path)
    assert (done.stderr, done.returncode, done.stdout.count("\n")) == ("", 0, 1)
    shown = json.loads(done.stdout)
    assert len(shown["steps"]) == len(STEPS)
    assert shown["as_told"] is True
    assert not shown.keys() & {"folder"}
    schema = (pages.ROOT / "schema" / "demo-reply.schema.json").read_text(encoding="utf-8")
    jsonschema.validate(shown, json.loads(schema))
    context = shown["steps"][-1]
    assert (context["command"], context["exit_code"]) == ("memspec context", 0)
    assert "60 minutes" in context["output"]
    assert not context.keys() & {"unexpected"}


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (Step("git no-such-command", shows=("no-such-command",)), "exit code is 1 instead of 0"),
        (Step("git --version", shows=("memspec",)), "the answer lacks 'memspec'"),
        (Step("git --version", hides=("version",)), "the answer has 'version'"),
        (Step("no-such-program"), "exit code is 127 instead of 0"),
        (Step("memspec get ms_01"), "exit code is 4 instead of 0"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.typed,
)
def test_a_step_that_goes_otherwise_is_named(folder: Path, step: Step, why: str) -> None:
    """With what is wrong about it, and nothing is played after it."""
    done = played(folder, Step("git --version"), step, Step("git --version"))
    assert [one.unexpected is None for one in done] == [True, False]
    assert why in (done[1].unexpected or "")


def test_a_demo_that_fails_says_so_and_exits_1(
    here: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a test of the installation, too."""
    monkeypatch.setattr(demo_module, "STEPS", (Step("git --version", shows=("perfection",)),))
    said = here.play("memspec demo")
    assert said.code == 1
    assert "This did not go as told: the answer lacks 'perfection'" in said.out
    assert "The folder is gone" not in said.out
    shown = here.play("memspec demo --json")
    assert (shown.code, json.loads(shown.out)["as_told"]) == (1, False)


def test_without_git_it_says_so(here: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is made."""
    monkeypatch.setenv("PATH", str(here.home))
    said = here.play("memspec demo --keep kept")
    assert (said.out, said.code) == ("", 9)
    assert "git is not installed" in said.err
    assert not (here.place / "kept").exists()


def test_a_folder_that_is_in_use_is_refused(here: Scene) -> None:
    """Nothing of anybody's is mixed with the demo."""
    here.play("printf mine > kept/file")
    said = here.play("memspec demo --keep kept")
    assert (said.code, "is not empty" in said.err) == (2, True)
    assert [path.name for path in (here.place / "kept").iterdir()] == ["file"]
    assert here.play("memspec demo --keep kept/file").code == 9


@pytest.mark.parametrize(
    ("arguments", "is_watched"),
    [([], True), ([], False), (["--fast"], True), (["--json"], True)],
)
def test_it_pauses_only_for_people(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], *, is_watched: bool
) -> None:
    """On a terminal it is told at a pace to read along, and the pauses stay below seven seconds."""
    pauses: list[float] = []
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: is_watched)
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setattr(demo_module, "sleep", pauses.append)
    monkeypatch.setattr(demo_module, "demonstrate", _told_only)
    with pytest.raises(SystemExit) as left:
        main(["demo", *arguments])
    assert left.value.code == 0
    told = terminal.getvalue()
    assert ("memspec context" in told) is (arguments != ["--json"])
    if is_watched and not arguments:
        assert len(pauses) == sum(1 for step in STEPS if step.said)
        assert 3 < sum(pauses) < 7
    else:
        assert sum(pauses) == 0


def _told_only(
    steps: Sequence[Step], _: Path, before: Callable[[Played], None], after: object
) -> tuple[Played, ...]:
    """The story without doing what it tells."""
    assert callable(after)
    for step in steps:
        before(Played(said=step.said, command=step.typed, exit_code=0, output=""))
    return ()


def test_no_step_waits_for_ever(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not answer is told."""
    monkeypatch.setattr(demo_module, "_SECONDS", 0.2)
    (done,) = played(folder, Step("sleep 30"))
    assert "no answer within 0.2 seconds" in done.output
    assert done.unexpected is not None


def test_the_commands_run_in_the_python_that_was_asked(folder: Path) -> None:
    """The same interpreter and the same modules, found without help from the folder it is in."""
    (folder / "shop" / "memspec_py.py").write_text("raise SystemExit(99)", encoding="utf-8")
    (done,) = played(folder, Step("memspec --version"))
    assert done.exit_code == 0
    assert re.match(r"memspec, version \d", done.output)
