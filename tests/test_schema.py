"""The published schemas are current, sound and strict, and every reply fits its own."""

from __future__ import annotations

import json
import re
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from memspec_py.acts import edit
from memspec_py.cli.main import main as memspec
from memspec_py.errors import Busy, Conflict, MemspecError, NearDuplicate, StorageFailed
from memspec_py.record import schema as published_schema
from memspec_py.record.model import Anchor, Evidence, Kind, State, Type, Witness
from memspec_py.record.parse import KEYS, print_record
from memspec_py.record.schema import schema
from memspec_py.report import as_json
from memspec_py.store.lock import StoreLock
from memspec_py.testing import TempStore, a_record, an_id
from tests.schemas.__main__ import differences, main, published, schemas
from tests.schemas.record import FIELDS, NOT_BY_EDIT
from tests.schemas.replies import REPLIES, Reply, reply_schema
from tests.schemas.words import MEANINGS, OBJECTS, SHAPES, error_codes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memspec_py.record.model import Record

NAMES = ("record", *REPLIES, "error")
SUPERSEDED, HEIR, QUESTION, STALE, EXPIRED, PROCEDURE, NOTED = (an_id(n) for n in range(1, 8))
LONG_AGO = "2020-01-01T00:00:00.000Z"
FAR = "2999-01-01T00:00:00.000Z"


class Printed(NamedTuple):
    """What a command left behind: its exit code, and the JSON of its last line on each stream."""

    code: int
    reply: dict[str, Any]
    error: dict[str, Any]


class Shell:
    """Runs commands with ``--json`` on one store."""

    def __init__(self, store: TempStore, capsys: pytest.CaptureFixture[str]) -> None:
        self.store = store
        self._capsys = capsys

    def run(self, command: str, *arguments: str) -> Printed:
        """Run a command and read what it printed."""
        place = [] if command == "init" else ["--cwd", str(self.store.project)]
        with pytest.raises(SystemExit) as leaving:
            memspec([command, *place, "--json", *arguments])
        out, err = self._capsys.readouterr()
        return Printed(int(leaving.value.code or 0), _last_json(out), _last_json(err))


def _last_json(text: str) -> dict[str, Any]:
    lines = text.splitlines()
    found: dict[str, Any] = json.loads(lines[-1]) if lines else {}
    return found


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """A store with a record of every sort, a broken file and a setting that makes no sense."""
    store = TempStore(tmp_path)
    for record in (
        a_record(
            1,
            title="Tokens live an hour",
            state=State.SUPERSEDED,
            superseded_by=(HEIR,),
            supersede_reason="too short",
        ),
        a_record(
            2,
            title="Tokens live a day",
            body="AUTH_TOKEN_TTL is a day.",
            tags=("auth", "token"),
            scope="api",
            pinned=True,
            check_by="never",
            last_verified=LONG_AGO,
            verified_with=Witness.ANCHOR,
            valid_from=LONG_AGO,
            valid_to=FAR,
            anchors=(Anchor(file="auth.py", sha="0" * 40, extra={"note": None}),),
            evidence=(Evidence(url="https://example.com", added=LONG_AGO),),
            supersedes=(SUPERSEDED,),
            refines=(STALE,),
            conflicts_with=(an_id(99),),
            ext={"ticket": ["A-1", None]},
            extra={"owner": {"name": "me"}},
        ),
        a_record(
            3,
            kind=Kind.QUESTION,
            title="How long do tokens live?",
            state=State.RESOLVED,
            closed=True,
            answers=(HEIR,),
            resolved_by="human:ann",
        ),
        a_record(4, title="Logins need a token", check_by=LONG_AGO, derived_from=(HEIR,)),
        a_record(5, kind=Kind.OBSERVATION, title="The token page is slow", expires=LONG_AGO),
        a_record(
            6,
            title="Rotate the token key",
            type=Type.PROCEDURE,
            requires_human=("press the button",),
        ),
        a_record(7, kind=Kind.OBSERVATION, title="The token test is flaky", expires=FAR),
    ):
        store.put(record)
    store.write("memory/facts/broken.md", "no front matter\n")
    store.write(f"memory/facts/{an_id(8)}.md", f"---\nid: {an_id(8)}\ntags: {{}}\n---\n# Broken\n")
    store.write("config.yaml", "decay:\n  fact: soon\n")
    return store


@pytest.fixture
def shell(store: TempStore, capsys: pytest.CaptureFixture[str]) -> Shell:
    """A command line on that store."""
    return Shell(store, capsys)


def complaints(name: str, reply: object) -> list[str]:
    """What a schema says against a reply."""
    errors = Draft202012Validator(schema(name)).iter_errors(reply)
    return [f"{error.json_path}: {error.message}" for error in errors]


def parts_of(node: object) -> Iterator[dict[str, Any]]:
    """Every mapping inside a schema, itself included."""
    if isinstance(node, dict):
        yield node
    for part in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from parts_of(part)


def test_everything_published_is_current(repository: Path) -> None:
    """`bin/schema` has nothing to do."""
    assert differences(repository) == []


def test_the_check_tells_what_is_not_current(tmp_path: Path) -> None:
    """`bin/schema --check` writes nothing and exits 1 for what is missing, changed or left over."""
    run = CliRunner().invoke
    root = ["--root", str(tmp_path)]
    missing = run(main, ["--check", *root])
    assert (missing.exit_code, list(tmp_path.iterdir())) == (1, [])
    assert "SCHEMA.md is missing" in missing.output
    assert run(main, root).exit_code == 0
    assert run(main, ["--check", *root]).exit_code == 0
    (tmp_path / "SCHEMA.md").write_text("old", encoding="utf-8")
    (tmp_path / "schema" / "old-reply.schema.json").write_text("{}", encoding="utf-8")
    stale = run(main, ["--check", *root])
    assert (stale.exit_code, stale.output.splitlines()) == (
        1,
        ["SCHEMA.md is not current", "schema/old-reply.schema.json is not made from anything"],
    )
    run(main, root)
    assert differences(tmp_path) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_valid(name: str) -> None:
    """Each is a schema of draft 2020-12, says so, and has an id of its own."""
    one = schema(name)
    Draft202012Validator.check_schema(one)
    assert one["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
    assert one["$id"] == f"urn:memspec-py:schema:{name}"


@pytest.mark.parametrize("name", NAMES)
def test_every_field_is_described(name: str) -> None:
    """No field, and no part of a reply, is without a sentence."""
    parts = {key: part for key, part in schema(name).items() if key != "allOf"}
    for part in (parts, *parts.get("$defs", {}).values()):
        assert part["description"].endswith(".")
    for part in parts_of(parts):
        for key, field in part.get("properties", {}).items():
            assert field["description"].endswith("."), key


@pytest.mark.parametrize("name", NAMES)
def test_a_pattern_means_the_same_everywhere(name: str) -> None:
    r"""Patterns keep to what ECMAScript, Python and RE2 share, and none leans on `$` or `\Z`."""
    patterns = [part["pattern"] for part in parts_of(schema(name)) if "pattern" in part]
    for pattern in patterns:
        assert isinstance(pattern, str)
        assert not re.search(r"\$|\\[^S.]|\(\?", pattern), pattern
    assert patterns or name not in ("record", "get-reply", "search-reply")


@pytest.mark.parametrize("name", [*REPLIES, "error"])
def test_a_reply_has_no_other_fields(name: str) -> None:
    """Every object of a reply that has fields is closed, so that a new one needs its schema."""
    for part in parts_of(schema(name)):
        if "properties" in part and part.get("type") == "object":
            assert part["additionalProperties"] is False


def test_every_line_of_the_words_is_used() -> None:
    """No meaning and no shape is left over from a field that is gone."""
    every = schemas()
    objects = {part: body for one in every.values() for part, body in one.get("$defs", {}).items()}
    objects |= {reply.cls.__name__: every[name] for name, reply in REPLIES.items()}
    objects["Envelope"] = every["search-reply"]
    for name, meanings in MEANINGS.items():
        shown = objects[name]["properties"]
        assert {key: shown[key]["description"] for key in meanings} == meanings
    for field in SHAPES:
        name, _, key = field.partition(".")
        assert key in MEANINGS[name]
    assert objects.keys() >= OBJECTS.keys()
    assert FIELDS.keys() == set(KEYS)


def test_a_field_without_words_stops_the_generator() -> None:
    """Whoever adds a field to a reply has to say what it means."""

    @dataclass(frozen=True)
    class Check:
        name: str
        surprise: str

    with pytest.raises(KeyError, match="surprise"):
        reply_schema("check", Reply("a test", Check))


def test_edit_may_not_change_what_the_page_says() -> None:
    """SCHEMA.md names the fields that an edit refuses to change."""
    assert NOT_BY_EDIT == edit._FIXED  # noqa: SLF001 - the page has no other way to know


def test_every_error_code_is_published() -> None:
    """The error schema knows the code of every class in `errors`."""
    assert {MemspecError.code, NearDuplicate.code, StorageFailed.code} <= set(error_codes())
    assert schema("error")["properties"]["error"]["properties"]["code"]["enum"] == error_codes()


def test_the_schemas_of_a_wheel_are_found(repository: Path) -> None:
    """The build puts the folder `schema/` where an installed package looks for it first."""
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))
    (source, target) = next(
        iter(project["tool"]["hatch"]["build"]["targets"]["wheel"]["sources"].items())
    )
    in_package, in_checkout = published_schema._PLACES  # noqa: SLF001
    assert repository / source == in_checkout
    assert repository / target == in_package
    written = {path for path in published() if path.startswith(f"{source}/")}
    assert written == {f"schema/{name}.schema.json" for name in NAMES}


def test_a_schema_that_is_not_published_is_missed() -> None:
    """A wrong name is an error and not an empty schema."""
    with pytest.raises(FileNotFoundError, match=r"records\.schema\.json"):
        schema("records")


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["token"], {"unreadable", "warnings"}),
        (["token", "--explain", "--full", "--expand-edges", "--include-superseded"], {"results"}),
        (["tokens", "--type", "question"], {"type"}),
        (["token", "--type", "observation", "--as-of", "2026-01-01", "--scope", "web"], {"as_of"}),
        (["zebra"], set()),
        ([""], set()),
    ],
)
def test_a_search_reply_fits(shell: Shell, arguments: list[str], shown: set[str]) -> None:
    """Whatever is asked of a search."""
    shell.run("search", "token")  # a second search shows the use that the first one noted
    printed = shell.run("search", *arguments)
    assert complaints("search-reply", printed.reply) == []
    assert {key for key in shown if not printed.reply[key]} == set()


def test_every_part_of_a_hit_has_been_seen(shell: Shell) -> None:
    """Some searches show all fields a hit can have, so that none goes unchecked."""
    seen: set[str] = set()
    options = ("--scope", "api", "--explain", "--full", "--expand-edges", "--include-superseded")
    for arguments in (
        ["token", *options],
        ["token", *options],
        ["", "--type", "question"],
        ["team"],
    ):
        if arguments == ["team"]:
            beside_a_team(shell)
        reply = shell.run("search", *arguments).reply
        assert complaints("search-reply", reply) == []
        seen = seen.union(*reply["results"])
    assert seen == schema("search-reply")["$defs"]["Hit"]["properties"].keys()


def beside_a_team(shell: Shell, more: str = "") -> None:
    """Put a read-only layer with a record beside the store, and perhaps more layers."""
    team = shell.store.home / "team" / ".memspec" / "memory" / "facts"
    team.mkdir(parents=True)
    record = a_record(80, title="The team rotates keys on Mondays")
    (team / f"{record.id}.md").write_text(print_record(record), encoding="utf-8")
    layers = (
        f"- {{name: own, path: .}}\n- {{name: team, path: {team.parents[2]}, writable: false}}\n"
    )
    shell.store.write("config.yaml", f"stores:\n{layers}{more}")


def test_sessions_fit(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """A use within a session is counted, and fits."""
    monkeypatch.setenv("MEMSPEC_SESSION_ID", "one")
    shell.run("search", "token")
    printed = shell.run("search", "token")
    assert printed.reply["results"][0]["sessions"] == 1
    assert complaints("search-reply", printed.reply) == []


@pytest.mark.parametrize("record_id", [SUPERSEDED, HEIR, QUESTION, STALE, PROCEDURE, NOTED])
def test_a_get_reply_fits(shell: Shell, record_id: str) -> None:
    """For each sort of record, and the front matter in it fits the schema of records."""
    printed = shell.run("get", record_id)
    assert complaints("get-reply", printed.reply) == []
    assert complaints("record", printed.reply["record"]) == []


@pytest.mark.parametrize("arguments", [[], ["--state", "any", "--limit", "2"], ["--tag", "no"]])
def test_a_list_reply_fits(shell: Shell, arguments: list[str]) -> None:
    """With records, with a next page, and with nothing."""
    assert complaints("list-reply", shell.run("list", *arguments).reply) == []


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["--type", "fact"], {"results", "type", "hidden"}),
        (["--limit", "1", "--explain"], {"results", "left_out"}),
        (["--query", "token", "--explain", "--scope", "api"], {"query", "coverage", "scope"}),
        (["--paths", "auth.py", "b.py", "--scope", "api"], {"results", "unanchored", "notes"}),
        (["--query", "zebra"], {"coverage_note"}),
    ],
)
def test_a_context_reply_fits(shell: Shell, arguments: list[str], shown: set[str]) -> None:
    """Whatever it is for."""
    printed = shell.run("context", *arguments)
    assert complaints("context-reply", printed.reply) == []
    assert {key for key in shown if not printed.reply[key]} == set()


def test_a_status_reply_fits(shell: Shell) -> None:
    """With stale records, expired ones and files that cannot be read."""
    printed = shell.run("status")
    assert complaints("status-reply", printed.reply) == []
    assert printed.reply["stale"]
    assert printed.reply["unreadable_count"] == 2


def test_a_doctor_reply_fits(shell: Shell) -> None:
    """With findings, and after mending."""
    shell.store.write("memory/facts/misplaced.md", "---\nid: x\n---\n")
    found = shell.run("doctor")
    mended = shell.run("doctor", "--fix")
    assert (found.code, mended.code) == (1, 1)
    for printed in (found, mended):
        assert complaints("doctor-reply", printed.reply) == []
    assert {"fix", "line", "field"} <= {key for one in found.reply["findings"] for key in one}


def test_an_init_reply_fits(shell: Shell, tmp_path: Path) -> None:
    """The first time and the second."""
    for created in (True, False):
        printed = shell.run("init", str(tmp_path / "new"))
        assert complaints("init-reply", printed.reply) == []
        assert bool(printed.reply["created"]) is created


def test_a_remember_reply_fits(shell: Shell) -> None:
    """With every option, and forced past a duplicate."""
    (shell.store.project / "auth.py").write_text("x = 1\n", encoding="utf-8")
    options = ["--source", "tests", "--scope", "api", "--check-by", "never"]
    proof = ["--anchor", str(shell.store.project / "auth.py"), "--anchor", "gone.py"]
    first = shell.run(
        "remember", "fact", "Passwords use argon2", *options, *proof, "--evidence", "https://e.org"
    )
    again = shell.run("remember", "fact", "Passwords use argon2", "--source", "tests", "--force")
    doubled = shell.run("remember", "fact", "Passwords use argon2", *options, "--force")
    for printed in (first, again, doubled):
        assert complaints("remember-reply", printed.reply) == []
    assert first.reply["unresolved"]
    assert first.reply["evidence"]
    assert doubled.reply["duplicates"]


def test_an_observe_reply_fits(shell: Shell) -> None:
    """With an expiry and without."""
    for ttl in ("7d", "never"):
        printed = shell.run("observe", f"seen with {ttl}", "--ttl", ttl)
        assert complaints("observe-reply", printed.reply) == []
        assert ("expires" in printed.reply) is (ttl != "never")


def test_an_edit_reply_fits(shell: Shell, tmp_path: Path) -> None:
    """With a change and without."""
    copy = shell.store.ms.edit_copy(STALE)
    for text in (copy.text, copy.text.replace("Logins need", "A login needs")):
        (tmp_path / "edited.md").write_text(text, encoding="utf-8")
        printed = shell.run("edit", STALE, "--from", str(tmp_path / "edited.md"))
        assert complaints("edit-reply", printed.reply) == []
        assert bool(printed.reply["changed"]) is (text != copy.text)


def test_a_supersede_reply_fits(shell: Shell) -> None:
    """A replacement with everything that can be told, a merge, a retraction."""
    anchors = (Anchor(file="gone.py", sha="0" * 40),)
    shell.store.put(a_record(60, title="Passwords use argon2 everywhere", anchors=anchors))
    shell.store.put(a_record(61, title="Hashes are salted with care"))
    shell.store.put(a_record(62, title="Hashes use a pepper as well"))
    because = ["--reason", "checked", "--source", "tests"]
    forced = ["--title", "Hashes are salted with care", "--force"]
    replaced = shell.run("supersede", an_id(60), *because, *forced)
    survivor = replaced.reply["survivor_id"]
    merged = shell.run("supersede", an_id(61), *because, "--merge-from", survivor)
    noted = shell.run("supersede", NOTED, *because, "--body", "Seen again.")
    retracted = shell.run("supersede", an_id(61), *because)
    back = ["--title", "Passwords use argon2 everywhere", "--force"]
    returned = shell.run("supersede", an_id(62), *because, *back)
    for printed in (replaced, merged, noted, retracted, returned):
        assert complaints("supersede-reply", printed.reply) == []
    assert (replaced.reply["unresolved"], replaced.reply["duplicates"][0]["id"]) == (
        [{"path": "gone.py", "reason": replaced.reply["unresolved"][0]["reason"]}],
        an_id(61),
    )
    assert returned.reply["withdrawn"][0]["id"] == an_id(60)
    assert "survivor" not in retracted.reply


def test_a_relate_reply_fits(shell: Shell) -> None:
    """New, there already, to nowhere, and taken away."""
    edge = ["--from", STALE, "--to", PROCEDURE, "--type", "supports"]
    for command in ("relate", "relate", "unrelate"):
        assert complaints("relate-reply", shell.run(command, *edge).reply) == []
    away = ["--from", STALE, "--to", an_id(98), "--type", "refines", "--allow-missing"]
    assert complaints("relate-reply", shell.run("relate", *away).reply) == []


def test_the_replies_of_anchors_fit(shell: Shell) -> None:
    """Anchored, drifted, verified and not, moved, and what every read says of it."""
    code = shell.store.project / "pool.py"
    code.write_text("depth = 3\n")
    shell.store.write("config.yaml", "")
    anchored = shell.run("anchor", PROCEDURE, "pool.py", "pool.py::depth", "nowhere.py")
    assert complaints("anchor-reply", anchored.reply) == []
    assert len(anchored.reply["unresolved"]) == 1
    code.write_text("depth = 4\n")
    drifted = shell.run("reconcile")
    assert (complaints("reconcile-reply", drifted.reply), drifted.code) == ([], 1)
    refused = shell.run("verify", PROCEDURE)
    assert (complaints("verify-reply", refused.reply), refused.code) == ([], 1)
    for name, *arguments in (("search", "rotate"), ("get", PROCEDURE), ("list",), ("status",)):
        printed = shell.run(name, *arguments)
        assert complaints(f"{name}-reply", printed.reply) == []
        assert '"verdict": "drifted"' in json.dumps(printed.reply)
    verified = shell.run("verify", PROCEDURE, "--reanchor")
    assert (complaints("verify-reply", verified.reply), verified.code) == ([], 0)
    assert len(verified.reply["reanchored"]) == 2


def test_a_sweep_reply_fits(shell: Shell) -> None:
    """A dry run, and one that refuses what git has not got."""
    shell.store.write("config.yaml", "")
    listed = shell.run("sweep", "--dry-run")
    assert complaints("sweep-reply", listed.reply) == []
    assert listed.reply["count"] > 1
    answers = shell.store.home / "answers.tsv"
    answers.write_text(f"{STALE}\ty\n{EXPIRED}\tn\n{an_id(70)}\ty\n")
    refused = shell.run("sweep", "--answers", str(answers))
    assert (complaints("sweep-reply", refused.reply), refused.code) == ([], 1)
    assert refused.reply["unknown"] == [an_id(70)]
    forced = shell.run("sweep", "--answers", str(answers), "--force")
    assert (complaints("sweep-reply", forced.reply), forced.code) == ([], 0)


def test_a_question_reply_fits(shell: Shell) -> None:
    """New, with one answer left, resolved, and one whose answer is not here."""
    asked = shell.run("question", "Which token?", "--answers", STALE, PROCEDURE, "--closed")
    answered = shell.run(
        "remember", "fact", "Short ones", "--source", "x", "--answers-question", asked.reply["id"]
    )
    assert complaints("remember-reply", answered.reply) == []
    for answer in (PROCEDURE, answered.reply["id"]):
        shell.run("supersede", answer, "--reason", "no")
    left = shell.run("question", asked.reply["id"])
    status = shell.run("status")
    resolved = shell.run("question", asked.reply["id"], "--resolve")
    shell.store.put(a_record(70, kind=Kind.QUESTION, answers=(an_id(98),)))
    unknown = shell.run("question", an_id(70))
    for printed in (asked, left, resolved, unknown):
        assert complaints("question-reply", printed.reply) == []
    assert complaints("status-reply", status.reply) == []
    assert status.reply["resolvable"][0]["survivor_id"] == left.reply["survivor_id"] == STALE
    assert unknown.reply["unknown"] == [an_id(98)]


def test_a_where_reply_fits(shell: Shell) -> None:
    """For a plain store, for layers of which one is missing, and where a write would be refused."""
    plain = shell.run("where")
    beside_a_team(shell, "- {name: gone, path: nowhere, writable: false}\n")
    layered = shell.run("where")
    narrowed = shell.run("where", "--store", "team")
    for printed in (plain, layered, narrowed):
        assert complaints("where-reply", printed.reply) == []
    assert [one["why"] for one in layered.reply["left_out"]] == ["missing"]
    assert layered.reply["warnings"]
    assert "writes_to" not in narrowed.reply
    assert narrowed.reply["writes_refused"]


def test_the_replies_of_trust_fit(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Said, listed, taken back; with a store to trust, one that is not here, and with nothing."""
    monkeypatch.setenv("HOME", str(shell.store.home))
    monkeypatch.chdir(shell.store.project)
    beside_a_team(shell)

    def run(*arguments: str) -> dict[str, Any]:
        with pytest.raises(SystemExit):
            memspec(["trust", "--json", *arguments])
        return _last_json(capsys.readouterr().out)

    nothing = run()
    place = shell.store.home / "team"
    shell.store.write(
        "config.yaml", f"stores:\n- {{name: t, path: {place}}}\n- {{name: g, path: g}}\n"
    )
    said, listed, gone, empty = run(), run("--list"), run("--remove"), run("--list")
    assert [complaints("trust-reply", one) for one in (nothing, said)] == [[], []]
    assert [complaints("trust-list-reply", one) for one in (listed, empty)] == [[], []]
    assert complaints("trust-remove-reply", gone) == []
    assert (nothing["stores"], len(said["stores"]), len(said["missing"])) == ([], 1, 1)
    assert (len(listed["trusted"]), gone["changed"], empty["trusted"]) == (1, True, [])


def test_every_reply_has_room_for_the_warnings_of_its_stores(shell: Shell, tmp_path: Path) -> None:
    """A layer that is not here is told with each of them, and each still fits its schema."""
    beside_a_team(shell, "- {name: gone, path: nowhere, writable: false}\n")
    shell.store.write(f"memory/facts/{an_id(8)}.md", print_record(a_record(8, title="Eight")))
    (tmp_path / "edited.md").write_text(shell.store.ms.edit_copy(an_id(8)).text, encoding="utf-8")
    (shell.store.project / "pool.py").write_text("depth = 3\n")
    commands = {
        "search": ["keys"],
        "get": [an_id(80)],
        "list": [],
        "status": [],
        "reconcile": [],
        "doctor": [],
        "where": [],
        "remember": ["fact", "Keys are long", "--source", "x"],
        "observe": ["a key was lost"],
        "edit": [an_id(8), "--from", str(tmp_path / "edited.md")],
        "anchor": [PROCEDURE, "pool.py"],
        "relate": ["--from", STALE, "--to", an_id(80), "--type", "supports"],
        "question": ["Which keys?"],
        "verify": [STALE, "--evidence", "looked"],
        "outcome": [STALE, "helped"],
        "sweep": ["--dry-run"],
        "supersede": [an_id(8), "--reason", "wrong"],
    }
    for name, arguments in commands.items():
        printed = shell.run(name, *arguments)
        assert complaints(f"{name}-reply", printed.reply) == [], name
        assert any("'gone' is left out" in told for told in printed.reply["warnings"]), name


def test_an_error_about_layers_fits(shell: Shell) -> None:
    """A record that is only read, a beginning that two layers know, a text that the other has."""
    beside_a_team(shell)
    said = ["fact", "The team rotates keys on Mondays", "--source", "x"]
    shell.store.write(f"memory/facts/{an_id(81)}.md", "no front matter\n")
    readonly = shell.run("supersede", an_id(80), "--reason", "x")
    ambiguous = shell.run("get", an_id(80)[:-1])
    repeated = shell.run("remember", *said)
    unknown = shell.run("list", "--store", "nobody")
    codes = [one.error["error"]["code"] for one in (readonly, ambiguous, repeated, unknown)]
    assert codes == ["not-allowed", "ambiguous-id", "near-duplicate", "usage"]
    for printed in (readonly, ambiguous, repeated, unknown):
        assert complaints("error", printed.error) == []
    assert readonly.error["error"]["details"]["layer"] == "team"
    assert repeated.error["error"]["details"]["duplicates"][0]["layer"] == "team"


def test_an_outcome_reply_fits(shell: Shell) -> None:
    """With a note and without."""
    for more in ([], ["--note", "gone"]):
        printed = shell.run("outcome", STALE, "dead_end", *more)
        assert complaints("outcome-reply", printed.reply) == []


def test_the_replies_of_a_backfill_and_its_undo_fit(shell: Shell) -> None:
    """Changed, moved, refused and unreadable; then restored, in conflict, and nothing to do."""

    def change(record: Record) -> Record:
        if record.id == STALE:
            return replace(record, type=Type.DECISION)
        return replace(record, title="" if record.id == PROCEDURE else f"{record.title} now")

    done = shell.store.ms.backfill(change, name="all", apply=True)
    reply = as_json(done)
    assert isinstance(reply, dict)
    assert complaints("backfill-reply", reply) == []
    assert min(done.changed, done.refused, done.unreadable) > 0
    moved = next(one.moved_to for one in done.records if one.moved_to)
    edited = shell.store.root / moved
    edited.write_bytes(edited.read_bytes() + b"more\n")
    dry = shell.run("undo", "last", "--dry-run")
    undone = shell.run("undo", "last")
    again = shell.run("undo", "last", "--force")
    nothing = shell.run("undo", "last")
    for printed, code in ((dry, 1), (undone, 1), (again, 0), (nothing, 0)):
        assert (complaints("undo-reply", printed.reply), printed.code) == ([], code)
    assert "note" in nothing.reply
    shell.store.write("local/backfills/broken.jsonl", "")
    listed = shell.run("undo", "--list")
    assert complaints("undo-list-reply", listed.reply) == []
    assert (listed.reply["count"], len(listed.reply["findings"])) == (3, 1)


def test_an_adopt_reply_fits(store: TempStore) -> None:
    """With records that are new, there already, and refused for several reasons."""
    batch = [
        a_record(50, title="Caches are warm"),
        a_record(2),
        a_record(51, title="Dangling", refines=(an_id(98),)),
        replace(a_record(52, title="No such id"), id="ms_x"),
    ]
    reply = as_json(store.ms.adopt(batch))
    assert isinstance(reply, dict)
    assert complaints("adopt-reply", reply) == []
    assert (reply["created"], reply["present"], reply["refused"]) == (1, 1, 2)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["get", "ms_00000000000000000000000000"], "not-found"),
        (["get", SUPERSEDED[:8]], "ambiguous-id"),
        (["get", an_id(8)], "invalid"),
        (["get"], "usage"),
        (["search", "token", "--limit", "0"], "usage"),
        (["search", "token", "--as-of", "soon"], "invalid"),
        (
            ["remember", "fact", "Tokens live a day", "--source", "x", "--scope", "api"],
            "near-duplicate",
        ),
        (["remember", "fact", "New", "--source", "unknown"], "invalid"),
        (["remember", "fact", "Tokens live an hour", "--source", "x"], "withdrawn"),
        (["supersede", SUPERSEDED, "--reason", "x"], "not-active"),
        (["question", QUESTION, "--add", STALE], "refused"),
    ],
)
def test_an_error_fits(shell: Shell, arguments: list[str], code: str) -> None:
    """Each sort of error, with what its details hold."""
    printed = shell.run(*arguments)
    assert complaints("error", printed.error) == []
    assert printed.error["error"]["code"] == code
    assert printed.code > 0
    assert printed.reply == {}


def test_an_error_about_files_fits(shell: Shell, tmp_path: Path) -> None:
    """Errors of the store itself, whose details name files."""
    nested = shell.run("init", str(shell.store.project / "below"))
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / ".memspec").write_text("", encoding="utf-8")
    taken = shell.run("init", str(tmp_path / "taken"))
    nowhere = shell.run("status", "--cwd", str(shell.store.home))
    codes = [one.error["error"]["code"] for one in (nested, taken, nowhere)]
    assert codes == ["nested-store", "storage", "no-store"]
    for printed in (nested, taken, nowhere):
        assert complaints("error", printed.error) == []


def test_an_error_about_others_fits(store: TempStore) -> None:
    """Errors that come from another process, or another writer."""
    copy = store.ms.edit_copy(STALE)
    store.write(copy.path, copy.text + "more\n")
    with pytest.raises(Conflict) as conflict:
        store.ms.replace_text(copy, copy.text + "other\n")
    with StoreLock(store.root, command="memspec test"), ThreadPoolExecutor() as another:
        busy = another.submit(StoreLock(store.root, timeout=0).__enter__).exception()
    assert isinstance(busy, Busy)
    for problem in (conflict.value, busy):
        assert problem.details
        assert complaints("error", {"error": problem.as_dict()}) == []
