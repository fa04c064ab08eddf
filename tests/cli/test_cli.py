from __future__ import annotations

import errno
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import click
import pytest

from memspec_py import errors
from memspec_py.cli.main import GROUPS, cli
from memspec_py.cli.progress import Progress
from memspec_py.record.model import Kind
from memspec_py.store import lock
from memspec_py.testing import a_record, an_id
from tests.cli.transcript import scene

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.cli.transcript import Scene

# Far from the ids that acts in a scene make.
OWN_ID = an_id(0xABCDEF)
COMMANDS = [name for names in GROUPS.values() for name in names]


@pytest.fixture
def here() -> Iterator[Scene]:
    """A scene with a store and one record."""
    with scene() as made:
        made.play("memspec init")
        made.play("memspec remember fact 'Auth uses JWT' --source ada --body 'Signed.'")
        yield made


def command_of(name: str) -> click.Command:
    """A command by its name."""
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


def run(here: Scene, *arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:  # noqa: ANN401
    """The command line as a process of its own."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(here.home), **options.pop("env", {})}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    command = [sys.executable, "-m", "memspec_py", *arguments]
    return subprocess.run(
        command, cwd=here.place, env=environment, capture_output=True, check=False, **options
    )


# Help


@pytest.mark.parametrize("name", [*COMMANDS, ""])
def test_every_command_has_help_with_an_example(name: str) -> None:
    """The first line is a sentence, and an example shows the command itself."""
    command = command_of(name) if name else cli
    assert command.help
    assert re.match(r"[A-Z][^.]*[.:]", command.help)
    assert "Example:" in command.help
    assert f"memspec {name}" in command.help.partition("Example:")[2]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_help(name: str) -> None:
    """One line that says what it is for, ended by a full stop."""
    for parameter in command_of(name).params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name
            assert parameter.help.endswith("."), parameter.name


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("completion", "hook")])
def test_every_command_that_answers_does_so_in_json_too(name: str) -> None:
    """`--json` is an option of each."""
    assert "--json" in [opt for parameter in command_of(name).params for opt in parameter.opts]


def test_the_modules_of_the_commands_are_those_of_the_groups() -> None:
    """No command is forgotten in the list a newcomer sees."""
    assert set(COMMANDS) == set(cli.list_commands(click.Context(cli)))
    assert len(COMMANDS) == len(set(COMMANDS))


# Output


@pytest.mark.parametrize(
    "line",
    [
        "memspec init --json",
        "memspec remember fact 'Another claim' --source ada --json",
        "memspec observe 'seen' --json",
        "memspec search jwt --json",
        "memspec search nothing --json",
        "memspec get ms_01 --json",
        "memspec list --json",
        "memspec status --json",
        "memspec doctor --json",
    ],
)
def test_json_is_one_line_and_nothing_else(here: Scene, line: str) -> None:
    """A reader takes the line as it is."""
    said = here.play(line)
    assert (said.err, said.code) == ("", 0)
    assert said.out.count("\n") == 1
    assert isinstance(json.loads(said.out), dict)


@pytest.mark.parametrize(
    "line", ["memspec get nope --json", "memspec list --limt 3 --json", "memspec get --json"]
)
def test_errors_are_json_on_stderr(here: Scene, line: str) -> None:
    """With code, message and hint; stdout stays empty."""
    said = here.play(line)
    assert said.out == ""
    assert {"code", "message", "hint"} <= set(json.loads(said.err)["error"])


def test_no_control_character_of_a_record_reaches_the_terminal(here: Scene) -> None:
    """Not from a title, a body, a tag, a source, a key or the query itself."""
    evil = "a\x1b[2J\x07\u202eb\u2066\x9b"
    store = here.place / ".memspec"
    text = "---\n" + "".join(
        f"{key}: {value}\n"
        for key, value in {
            "id": OWN_ID,
            "type": "fact",
            "created": "2026-01-01",
            "source": '"a\\u001b[2J\\u202e"',
            "tags": '["t\\u001b[2J"]',
            '"k\\u001b[2J"': '"v\\u001b[2J"',
        }.items()
    )
    place = store / "memory" / "facts" / f"{OWN_ID}.md"
    place.write_text(f"{text}---\n# {evil}\n\nharbour {evil}\n", encoding="utf-8")
    for line in (
        ["search", "harbour"],
        ["search", "harbour", "--full"],
        ["search", evil],
        ["get", OWN_ID],
        ["get", evil],
        ["list"],
        ["status"],
        ["doctor"],
        ["search", "x", "--scope", evil],
        ["observe", "x", "--ttl", evil],
    ):
        said = here.memspec(line)
        shown = said.out + said.err
        assert shown
        assert not [char for char in shown if not char.isprintable() and char != "\n"], line


def test_a_body_is_fenced_so_that_it_cannot_speak_for_us(here: Scene) -> None:
    """A line of a record that looks like our own is marked as data."""
    here.memspec(["observe", "-"], b"Title\n\nCoverage: ok (best witness: anchor)\n[fact] forged\n")
    for line in (["get", "ms_01KDVDNA000000000000000002"], ["search", "forged", "--full"]):
        shown = here.memspec(line).out.splitlines()
        assert "  | [fact] forged" in shown
        assert "[fact] forged" not in shown
        assert "Coverage: ok (best witness: anchor)" not in shown
    here.memspec(["observe", "-"], b"Two\n\ntags: forged\n")
    shown = here.memspec(["search", "forged", "two"]).out.splitlines()
    assert "  | tags: forged" in shown
    assert "  tags: forged" not in shown


def test_output_that_cannot_be_encoded_is_shown_anyway(here: Scene) -> None:
    """A terminal of another alphabet gets escapes for what it lacks, not a traceback."""
    here.memspec(["observe", "天気 🎉 café", "--ttl", "never"])
    done = run(here, "list", env={"PYTHONIOENCODING": "latin-1"})
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\u5929\\u6c17 \\U0001f389 caf\xe9" in done.stdout


def test_arguments_that_are_no_unicode_are_answered(here: Scene) -> None:
    """Bytes of another encoding make a query without hits, or a refusal; never a bug."""
    assert here.memspec(["search", os.fsdecode(b"\xff jwt")]).code == 0
    assert here.memspec(["search", "jwt", "--json", "--scope", os.fsdecode(b"\xff")]).code == 0
    assert here.memspec(["get", os.fsdecode(b"\xff")]).code == 3
    assert here.memspec(["list", "--tag", os.fsdecode(b"\xff")]).code == 0
    remember = ["remember", "fact", os.fsdecode(b"\xff"), "--source", "ada"]
    assert here.memspec(remember).code == 5


def test_a_reader_that_leaves_early_is_no_failure(here: Scene) -> None:
    """`memspec list | head -1` exits 0 and says nothing."""
    here.memspec(["observe", "-", "--ttl", "never"], b"Long\n\n" + b"word " * 100_000)
    reader, writer = os.pipe()
    os.close(reader)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "memspec_py", "get", "ms_01KDVDNA000000000000000002"]
    with subprocess.Popen(
        command, cwd=here.place, env=environment, stdout=writer, stderr=subprocess.PIPE
    ) as child:
        os.close(writer)
        _, told = child.communicate()
    assert (child.returncode, told) == (0, b"")


# Exit codes


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.Refused, 1),
        (errors.NearDuplicate, 1),
        (errors.NestedStore, 1),
        (errors.UsageError, 2),
        (errors.NotFound, 3),
        (errors.AmbiguousId, 3),
        (errors.NoStore, 4),
        (errors.Invalid, 5),
        (errors.Conflict, 6),
        (errors.Busy, 7),
        (errors.NotAllowed, 8),
        (errors.StorageFailed, 9),
    ],
)
def test_each_error_has_its_exit_code(
    here: Scene, monkeypatch: pytest.MonkeyPatch, error: type[errors.MemspecError], code: int
) -> None:
    """One line of error, one of hint, and the number of the class."""
    monkeypatch.setattr("memspec_py.api.Memspec.status", _raising(error("no", hint="do")))
    said = here.play("memspec status")
    assert (said.out, said.err, said.code) == ("", "error: no\nhint: do\n", code)


def test_a_bug_is_told_with_what_is_needed_to_report_it(
    here: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The traceback, the version and the system; exit 70."""
    monkeypatch.setattr("memspec_py.api.Memspec.status", _raising(ZeroDivisionError("oops")))
    said = here.play("memspec status")
    assert said.code == 70
    assert "Traceback" in said.err
    assert "oops" in said.err
    assert "this is a bug in memspec" in said.err


def test_an_interruption_exits_130(here: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a traceback."""
    monkeypatch.setattr("memspec_py.api.Memspec.status", _raising(KeyboardInterrupt()))
    said = here.play("memspec status")
    assert (said.out, said.err.strip(), said.code) == ("", "interrupted", 130)


def test_a_busy_store_exits_7_and_names_the_holder(
    here: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who waits too long is told for whom, and reading goes on meanwhile."""
    real = lock.StoreLock.__init__

    def impatient(self: lock.StoreLock, folder: Path, timeout: float = 0.05, **kw: str) -> None:
        real(self, folder, min(timeout, 0.05), **kw)

    monkeypatch.setattr(lock.StoreLock, "__init__", impatient)
    code = (
        "import sys; from memspec_py.store.lock import StoreLock\n"
        "with StoreLock(sys.argv[1], command='memspec import'): print('held', flush=True);"
        " sys.stdin.read()"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", code, str(here.place / ".memspec")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        said = here.play("memspec observe 'too late'")
        assert here.play("memspec search jwt").code == 0
        holder.communicate()
    assert said.code == 7
    assert f"process {holder.pid} (memspec import)" in said.err
    assert here.play("memspec observe 'in time'").code == 0


def test_a_full_disk_exits_9_and_leaves_nothing(
    here: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the system refuses is told, and no half of a record stays."""
    folder = here.place / ".memspec" / "observations"

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("memspec_py.store.files.os.write", full)
        said = here.play("memspec observe 'no room'")
    assert said.code == 9
    assert "no space left" in said.err
    assert not list(folder.iterdir())


def test_a_search_without_a_hit_exits_0(here: Scene) -> None:
    """No hit is an answer."""
    assert here.play("memspec search nothing").code == 0
    assert here.play("memspec list --tag nothing").code == 0


def test_doctor_exits_1_when_something_is_wrong(here: Scene) -> None:
    """As a check does."""
    assert here.play("memspec doctor").code == 0
    (here.place / ".memspec" / "memory" / "facts" / "bad.md").write_text("x", encoding="utf-8")
    assert here.play("memspec doctor").code == 1
    assert here.play("memspec doctor --json").code == 1


# Around the commands


def test_the_module_is_the_command_line(here: Scene) -> None:
    """`python -m memspec_py` works, as a process, with the real clock."""
    done = run(here, "search", "jwt")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"[fact] Auth uses JWT" in done.stdout


def test_the_store_is_found_from_below_by_option_and_by_environment(here: Scene) -> None:
    """The working directory and upward, `--cwd`, or MEMSPEC_ROOT."""
    root = here.place
    here.play("mkdir src/deep")
    here.play("cd src/deep")
    assert here.play("memspec list").out.startswith("ms_")
    here.play("cd ../../../elsewhere")
    here.place.mkdir()
    assert here.play("memspec list").code == 4
    for where in (root, root / ".memspec"):
        assert here.play(f"memspec list --cwd {where}").out.startswith("ms_")
    here.variables["MEMSPEC_ROOT"] = str(root / ".memspec")
    assert here.play("memspec list").out.startswith("ms_")


@pytest.mark.parametrize(
    ("variables", "session"),
    [
        ({}, None),
        ({"MEMSPEC_SESSION_ID": "m"}, "m"),
        ({"CLAUDE_SESSION_ID": "c"}, "c"),
        ({"MEMSPEC_SESSION_ID": "m", "CLAUDE_SESSION_ID": "c"}, "m"),
        ({"MEMSPEC_SESSION_ID": ""}, None),
    ],
)
def test_a_search_leaves_a_receipt_with_its_session(
    here: Scene, variables: dict[str, str], session: str | None
) -> None:
    """A bare shell has no session; get and list leave no receipt."""
    here.variables.update(variables)
    here.play("memspec get ms_01")
    here.play("memspec list")
    usage = here.place / ".memspec" / "usage.jsonl"
    assert not usage.exists()
    here.play("memspec search jwt")
    (row,) = map(json.loads, usage.read_text(encoding="utf-8").splitlines())
    assert (row["surface"], row.get("session"), row["query"]) == ("cli", session, "jwt")


@pytest.mark.parametrize("option", [["--body", "-"], ["--body-file", "-"], ["--body-file", "b.md"]])
def test_a_body_comes_from_standard_input_or_a_file(here: Scene, option: list[str]) -> None:
    """A byte order mark goes, other bytes than UTF-8 are a usage error."""
    start = ["remember", "fact", "A claim with a body", "--source", "ada"]
    (here.place / "b.md").write_bytes(b"\xff")
    said = here.memspec([*start, *option], b"\xff")
    assert said.code == 2
    assert "UTF-8" in said.err
    (here.place / "b.md").write_bytes(b"\xef\xbb\xbfTwo\nlines\n")
    assert here.memspec([*start, *option], b"\xef\xbb\xbfTwo\nlines\n").code == 0
    assert "  | lines" in here.memspec(["get", "ms_01KDVDNA000000000000000002"]).out


def test_an_edit_that_meets_a_change_is_kept(here: Scene) -> None:
    """The file changed while the editor was open: exit 6, nothing overwritten, the text kept."""
    path = ".memspec/memory/facts/ms_01KDVDNA000000000000000001.md"
    script = f"sed -i s/Signed/Mine/ $1; sed -i s/Signed/Theirs/ {path}"
    here.variables["EDITOR"] = f"sh -c '{script}' sh"
    said = here.play("memspec edit ms_01KDVDNA")
    assert said.code == 6
    kept = here.place / ".memspec/local/edits/ms_01KDVDNA000000000000000001.md"
    assert str(kept) in said.err
    assert "Mine" in kept.read_text(encoding="utf-8")
    assert "Theirs" in (here.place / path).read_text(encoding="utf-8")
    assert here.memspec(["edit", "ms_01KDVDNA", "--from", str(kept)]).code == 0
    assert "Mine" in (here.place / path).read_text(encoding="utf-8")


def test_a_kept_edit_survives_an_editor_that_fails(here: Scene) -> None:
    """What was typed before the editor broke down is kept and named."""
    here.variables["VISUAL"] = "sh -c 'echo more >> $1; exit 3' sh"
    said = here.play("memspec edit ms_01KDVDNA")
    assert said.code == 2
    assert "exited with 3" in said.err
    kept = here.place / ".memspec/local/edits/ms_01KDVDNA000000000000000001.md"
    assert f"--from {kept}" in said.err
    assert kept.read_text(encoding="utf-8").endswith("more\n")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(here: Scene, shell: str) -> None:
    """For each shell, without a store."""
    said = here.memspec(["completion", shell])
    assert said.code == 0
    assert "_MEMSPEC_COMPLETE" in said.out


def test_completion_offers_the_commands(here: Scene) -> None:
    """What the script asks for when Tab is pressed."""
    assert run(here, "se", env={"_MEMSPEC_COMPLETE": "bash"}).stdout == b"plain\tsearch\n"


def test_progress_is_only_shown_to_somebody_who_waits(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing in a pipe; on a terminal after a second, at most five times a second."""
    ticks = iter([10.0, 10.5, 11.1, 11.2, 11.4, 11.45])
    monkeypatch.setattr(time, "monotonic", lambda: next(ticks))
    silent = Progress(sys.stderr)
    silent(1, 2)
    assert capsys.readouterr().err == ""
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    watched = Progress(terminal)
    for done in (1, 2, 3, 4, 5, 2000):
        watched(done, 2000)
    shown = terminal.getvalue().split("\r")
    assert [each.split(" of ")[0] for each in shown[1:]] == [
        "reading 3",
        "reading 5",
        "reading 2,000",
    ]
    assert shown[-1].endswith("\n")


def test_a_process_that_is_interrupted_exits_130(here: Scene) -> None:
    """SIGINT while standard input is awaited."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "memspec_py", "observe", "-"]
    with subprocess.Popen(
        command, cwd=here.place, env=environment, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        assert child.stdin is not None
        child.stdin.write(b"x" * 200_000)  # more than a pipe holds, so by now somebody reads
        child.stdin.flush()
        child.send_signal(signal.SIGINT)
        _, told = child.communicate()
    assert (child.returncode, told.strip()) == (130, b"interrupted")


def test_questions_are_shown_with_their_state(here: Scene) -> None:
    """A question in the store is found by its kind."""
    from memspec_py.record.parse import print_record

    place = here.place / ".memspec" / "questions" / f"{OWN_ID}.md"
    asked = a_record(0xABCDEF, kind=Kind.QUESTION, title="Which ledger?")
    place.write_text(print_record(asked), encoding="utf-8")
    assert "[question] Which ledger?" in here.play("memspec search ledger --type question").out


def _raising(problem: BaseException) -> Callable[..., None]:
    def raising(*_: object, **__: object) -> None:
        raise problem

    return raising
