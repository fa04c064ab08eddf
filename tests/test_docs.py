"""The documents say what the code does: numbers, names, commands and links are compared with it."""

# The numbers of SPEC.md are private to the modules that use them, and compared with them here.
# ruff: noqa: SLF001

from __future__ import annotations

import ast
import inspect
import re
import shlex
import shutil
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

import memspec_py
from memspec_py import api, config, errors, workspace
from memspec_py.acts import inputs, near, near_words, observe, remember
from memspec_py.cli.main import cli
from memspec_py.index import across, coverage, query, rank, search, sync
from memspec_py.record.parse import KEYS
from memspec_py.store import usage
from memspec_py.trust import source, tiers
from memspec_py.views import envelope, listed
from memspec_py.views import search as search_view
from tests.cli.transcript import HOME, scene

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.transcript import Scene

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(path.name for path in ROOT.glob("*.md"))
SPEC = (ROOT / "SPEC.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
IDS = re.findall(r"^- \*\*([A-Z]+[0-9]+)\*\* ", SPEC, re.MULTILINE)
COMMANDS = cli.list_commands(click.Context(cli))


def section(title: str, text: str = SPEC) -> str:
    """What stands below a heading, up to the next one of its level or above."""
    found = re.search(rf"^(#+) {re.escape(title)}\n", text, re.MULTILINE)
    assert found is not None, f"no section {title}"
    rest = text[found.end() :]
    after = re.search(rf"^#{{1,{len(found[1])}}} ", rest, re.MULTILINE)
    return rest[: after.start()] if after else rest


def rows(text: str) -> list[list[str]]:
    """The cells of all table rows of a text, without heads and rules."""
    found: list[list[str]] = []
    lines = text.splitlines()
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        is_head = re.match(r"\s*\|[ :|-]+\|\s*\Z", following) is not None
        if line.lstrip().startswith("|") and not is_head and set(line) - set(" |:-"):
            found.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])])
    return found


def number(text: str) -> float:
    """A number as documents write it: 1,048,576."""
    return float(text.replace(",", ""))


def code_blocks(text: str) -> list[str]:
    """The fenced blocks of a page."""
    return re.findall(r"^```\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def prose(text: str) -> str:
    """A page without its fenced blocks and inline code."""
    return re.sub(r"`[^`]*`", "", _without_blocks(text))


def _without_blocks(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


# SPEC.md and its proofs


def proofs() -> dict[str, list[str]]:
    """The tests that each promise names."""
    return {id_: re.findall(r"`([^`]+)`", tests) for id_, tests in rows(section("Proofs"))}


def test_each_promise_has_one_number_and_a_proof() -> None:
    """No number stands twice, and the proofs are those of the numbers, in their order."""
    assert len(IDS) > 50
    assert sorted({id_ for id_ in IDS if IDS.count(id_) > 1}) == []
    assert [row[0] for row in rows(section("Proofs"))] == IDS


@pytest.mark.parametrize(("id_", "tests"), proofs().items(), ids=lambda one: str(one)[:4])
def test_each_proof_is_a_test_that_exists(id_: str, tests: list[str]) -> None:
    """A file below `tests/` and a function of it that pytest collects."""
    assert tests, f"{id_} has no proof"
    for test in tests:
        path, _, name = test.partition("::")
        tree = ast.parse((ROOT / "tests" / path).read_text(encoding="utf-8"))
        assert name.startswith("test_")
        assert Path(path).name.startswith("test_")
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, test


# Numbers


def test_the_limits_are_those_of_the_code() -> None:
    """Each limit of config.yaml with its default, and no other."""
    table = next(iter(section("Limits").split("- **R15**")))
    found = {name.strip("`"): number(value) for name, value, _ in rows(table)}
    assert found == config.Limits()._asdict()


def test_the_table_of_the_operator_tier_is_that_of_the_code() -> None:
    """Every act, by who acts and through which front."""
    assert rows(section("11. Operator tier")) == rows("\n".join(tiers.markdown()))


def test_the_fixed_bounds_are_those_of_the_code() -> None:
    """What cannot be set."""
    table = section("Limits").split("- **R15**")[1]
    depth = next(
        each.type
        for each in cli.get_command(click.Context(cli), "search").params  # type: ignore[union-attr]
        if each.name == "expand_depth"
    )
    assert isinstance(depth, click.IntRange)
    assert {name: number(value) for name, value, _ in rows(table)} == {
        "characters of a source": source._LONGEST,
        "characters of a scope": inputs._LONGEST_SCOPE,
        "characters of an observation's title": observe._TITLE_CHARS,
        "hits on a page of `search`": search_view.MOST_HITS,
        "records on a page of `list`": listed.MOST_LISTED,
        "steps of `--expand-edges`": depth.max,
        "records reached by `--expand-edges`": across._MOST_EXPANDED,
        "unreadable files listed in a reply": envelope._MOST_UNREADABLE,
        "candidates of an ambiguous id": workspace._MOST_CANDIDATES,
        "parts of one term": query._MOST_PARTS,
        "bytes of a usage file": usage._MOST_BYTES,
    }


def test_the_settings_have_the_defaults_of_the_code() -> None:
    """The spans, the types, the recency and the flag."""
    found = {key: default for keys, default, _ in rows(section("Settings")) for key in [keys]}
    spans = config.DEFAULT_DECAY
    profile = config.Profile()
    assert found["`decay.fact`, `decay.decision`, `decay.procedure`"] == ", ".join(
        spans[name] for name in ("fact", "decision", "procedure")
    )
    assert found["`decay.observation`"] == spans["observation"]
    assert found["`profiles.<name>.types`"] == ", ".join(profile.types)
    assert found["`profiles.<name>.ranking.recency`"] == str(profile.recency)
    assert found["`scopes_require`"] == str(config.Settings().scopes_require).lower()
    named = {re.split(r"[.`]", key)[1] for key in found}
    assert named == {*config.Settings._fields} - {"findings"}


_WEIGHTS = f"title ×{rank.TITLE_WEIGHT:g}, tags ×{rank.TAGS_WEIGHT:g}, body ×{rank.BODY_WEIGHT:g}"
FORMULAS = {
    "weights": f"`p` occurs, {_WEIGHTS};",
    "weighted words": f"weighted words ({_WEIGHTS})",
    "BM25": f"`idf × f × {rank._K1 + 1:g} / (f + {rank._K1:g} ({1 - rank._FTS5_B:g} +"
    f" {rank._FTS5_B:g} d))`",
    "length": f"`({rank._FREQUENCY:g} + {rank._K1:g} ({1 - rank._FTS5_B:g} + {rank._FTS5_B:g} r))"
    f" / ({rank._FREQUENCY:g} + {rank._K1:g} ({1 - rank._OUR_B:g} + {rank._OUR_B:g} w))`",
    "half-lives": "half-lives "
    + ", ".join(f"{days:g} ({label})" for label, days in rank.HALF_LIFE_DAYS.items())
    + " days",
    "recency": f"0 to 1, default {config.Profile().recency:g}",
    "candidates": f"The best {search._CANDIDATES} by text",
    "share": f"less than {coverage._PARTIAL_SHARE:g} of the terms",
    "floor": f"with {coverage._FLOOR_RECORDS} records and more, its `text` per term is below"
    f" {coverage._FLOOR:g}",
    "terms": f"At most {config.Limits().query_terms} terms,"
    f" and {query._MOST_PARTS} parts of a term",
    "receipts": f"query up to {usage._QUERY_CHARS} characters",
    "types": f"(default: {', '.join(config.SEARCHED_TYPES)})",
    "racy": {2: "within two seconds of the last look"}[sync.RACY_NS // 1_000_000_000],
}


@pytest.mark.parametrize("name", FORMULAS)
def test_the_formulas_have_the_numbers_of_the_code(name: str) -> None:
    """Ranking and coverage can be computed from the page alone."""
    assert FORMULAS[name] in " ".join(SPEC.split())


def test_the_near_duplicate_rule_has_the_numbers_of_the_code() -> None:
    """Its constants, the size of its tables, and how many records it looks at."""
    page = section("Near-duplicates")
    found = {
        name: number(value)
        for names, values, _ in rows(page)
        for name, value in zip(re.findall(r"`(\w+)`", names), values.split(", "), strict=True)
    }
    constants = {
        name: value
        for name, value in vars(near).items()
        if name.isupper() and type(value) in (int, float)
    }
    assert found == constants
    assert f"a table of {len(near_words._OPPOSITES.split())} pairs" in page
    assert f"{len(set(near_words._SYNONYMS.values()))} groups of synonyms" in page
    assert f"the {remember._COMPARED} claims that match" in page


def test_keys_are_printed_in_the_order_of_the_schema_page() -> None:
    """The table of fields in SCHEMA.md is the order of a new file."""
    page = section("Records", (ROOT / "SCHEMA.md").read_text(encoding="utf-8"))
    table = page.split("### ")[0]
    assert [name.strip("`") for name, *_ in rows(table)] == list(KEYS)


# Errors


def classes() -> list[type[errors.MemspecError]]:
    """Every class of error, the base left out."""
    found = [one for one in vars(errors).values() if inspect.isclass(one)]
    return [one for one in found if issubclass(one, errors.MemspecError)][1:]


def test_the_exit_codes_are_those_of_the_code() -> None:
    """The table of SPEC.md, the tree above the classes, the help text and README.md."""
    table = {int(row[0]): row for row in rows(section("7. Errors and exit codes"))}
    by_code: dict[int, set[str]] = {}
    for one in classes():
        by_code.setdefault(one.exit_code, set()).add(one.code)
    assert {
        code: {name for name in re.findall(r"`([a-z-]+)`", row[2]) if name not in COMMANDS}
        for code, row in table.items()
        if code in by_code
    } == by_code
    assert table.keys() == by_code.keys() | {0, 70, 130}
    tree = re.findall(r"[├└]── (\w+)(?: +(\d+)  )?", errors.__doc__ or "")
    assert [name for name, _ in tree] == [one.__name__ for one in classes()]
    numbers = {name: int(code) for name, code in tree if code}
    assert numbers == {one.__name__: one.exit_code for one in classes() if one.__name__ in numbers}
    said = re.findall(r"(\d) ([a-z ]+)", cli.epilog or "")
    assert [int(code) for code, _ in said] == [0, *sorted(by_code)]
    assert ", ".join(" ".join(pair) for pair in said) in " ".join(README.split())


# Commands


def parsed(line: str) -> None:
    """Let click read a command line, without running it; raises ``click.UsageError``."""
    words = shlex.split(line, comments=True)
    for end in ("|", ">", "&&", ";"):
        words = words[: words.index(end)] if end in words else words
    name, *arguments = words[1:]
    if name in {"--version", "--help"}:
        return
    command = cli.get_command(click.Context(cli), name)
    assert command is not None, f"no command {name}"
    # A command keeps the help option it is first asked for, so the parent must be as in real life.
    parent = click.Context(cli, info_name="memspec", **cli.context_settings)
    command.make_context(name, arguments, parent=parent)


def command_lines(text: str) -> Iterator[str]:
    """The `memspec` command lines of a page's blocks, prompts and continuations taken off."""
    for block in code_blocks(text):
        for line in block.replace("\\\n", " ").splitlines():
            found = re.match(r"(?:\$ |! |  )?(?:bin/)?(memspec .*)", line)
            if found:
                yield found[1]


@pytest.mark.parametrize("page", PAGES)
def test_each_command_line_is_one(page: str) -> None:
    """What a page shows can be typed: the command, its arguments and options exist."""
    for line in command_lines((ROOT / page).read_text(encoding="utf-8")):
        parsed(line)


def test_there_are_command_lines() -> None:
    """The test above cannot pass by finding nothing."""
    assert len(list(command_lines(README))) > 5


@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_of_the_help_texts_can_be_typed(name: str) -> None:
    """As those of the pages."""
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    example = (command.help or "").partition("Example:")[2]
    lines = re.sub(r"\\\n", " ", example).splitlines()
    # As it is, behind an assignment, or inside of `eval "$(...)"`.
    shown = [
        found for line in lines for found in re.findall(r"\$\((memspec .*)\)|(memspec .*)", line)
    ]
    assert shown
    for inner, whole in shown:
        parsed(inner or whole)


def test_each_command_stands_in_the_table_of_the_readme() -> None:
    """And the table has no other."""
    table = rows(section("Commands", README))
    assert [re.findall(r"`memspec (\w+)", cell)[0] for cell, _ in table] == COMMANDS


@pytest.mark.parametrize("page", ["README.md", "SPEC.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_each_option_that_is_named_exists(page: str) -> None:
    """In a command, or in one of the scripts."""
    text = (ROOT / page).read_text(encoding="utf-8")
    known = {"--help", "--version"}
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        known.update(option for one in command.params for option in one.opts)
    scripts = [*(ROOT / "bin").glob("*"), *(ROOT / "tests").glob("**/*.py")]
    ours = "".join(one.read_text(encoding="utf-8") for one in scripts if one.is_file())
    for code in re.findall(r"`([^`\n]+)`", text):
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", code):
            assert option in known or f'"{option}"' in ours, f"{page} names {option}"


def test_the_readme_says_which_commands_take_the_common_options() -> None:
    """`--json`, `--cwd` and `--store`, but for the exceptions it names."""
    lacking: dict[str, list[str]] = {"--json": [], "--cwd": [], "--store": []}
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        options = {option for one in command.params for option in one.opts}
        for option in lacking.keys() - options:
            lacking[option].append(name)
    placeless = ["demo", "trust", "hook", "completion"]
    assert lacking == {
        "--json": ["hook", "completion"],
        "--cwd": placeless,
        "--store": ["demo", "init", *placeless[1:]],
    }
    said = "Every command but `completion` and `hook` takes `--json`"
    assert said in README
    but_for = "and, but for `demo`, `init` and `trust`, `--cwd DIR` and `--store NAME|PATH`"
    assert but_for in " ".join(README.split())


def test_the_first_block_of_the_readme_is_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The example store answers as shown, from a fresh checkout."""
    shutil.copytree(
        ROOT / "fixtures" / "example",
        tmp_path / "fixtures" / "example",
        ignore=shutil.ignore_patterns("local", "usage*.jsonl"),
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWD", str(tmp_path))
    block = code_blocks(README)[0]
    typed, _, shown = block.partition("\n")
    arguments = shlex.split(typed.removeprefix("$ bin/memspec"))
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0
    printed = done.output.replace(f"{tmp_path}/", "")
    assert re.split(r"(?m)^\$ ", shown)[0] == printed


_BROKEN = r"---\nid: nope\nkind: claim\ntype: rumour\ncreated: yesterday\n---\n# Broken\n"
# What happens between the commands of the tour, before the command that begins so.
_MEANWHILE = {
    "memspec remember fact": ["mkdir src/auth", "printf 'TOKEN_TTL = 900' > src/auth/jwt.py"],
    'memspec search "token ttl"': [
        'memspec remember fact "Refresh tokens live for 30 days" --source codex'
    ],
    'memspec search "token ttl" --limit 1': [
        f"printf '{_BROKEN}' > .memspec/memory/facts/broken.md"
    ],
    "memspec reconcile": [
        "rm .memspec/memory/facts/broken.md",
        "printf 'TOKEN_TTL = 1800' > src/auth/jwt.py",
    ],
}


def test_the_tour_of_the_readme_is_what_is_printed() -> None:
    """Played in an empty folder, each command answers as shown; ids, dates and hashes aside."""
    tour = section("A tour in five minutes", README)
    meanwhile = dict(_MEANWHILE)
    code = 0
    with scene() as here:
        for block in code_blocks(tour):
            if block.startswith("---"):
                assert _steady(block) in map(_steady, _records(here))
                continue
            for typed, shown in _turns(block):
                if typed == "echo $?":
                    assert shown == f"{code}\n"
                    continue
                start = next((one for one in meanwhile if typed.startswith(one)), "")
                for line in meanwhile.pop(start, []):
                    assert here.play(line).code == 0
                said = here.play(typed)
                code = said.code
                _compare(_steady(here.told(said.out + said.err)), _steady(shown))
    assert meanwhile == {}


def _compare(printed: str, shown: str) -> None:
    """Fail with the difference, unless it lies where `…` on a line of its own leaves lines out."""
    kept, left_out, rest = shown.partition("  …\n")
    if left_out:
        assert printed.startswith(kept)
        assert printed.endswith(rest)
    else:
        assert printed == shown


def _turns(block: str) -> list[tuple[str, str]]:
    """What is typed in a block, and what is answered."""
    turns = re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.MULTILINE)[1:]
    return [(turn.partition("\n")[0], turn.partition("\n")[2]) for turn in turns]


def _records(here: Scene) -> list[str]:
    """The record files of the scene's store."""
    found = here.place.glob(".memspec/memory/*/ms_*.md")
    return [path.read_text(encoding="utf-8") for path in found]


def _steady(text: str) -> str:
    """A text without what differs from one run to the next."""
    text = text.replace(f"{HOME}/app", "~/shop")
    for pattern, same in (
        (r"ms_[0-9A-Z]{26}", "ms_ID"),
        (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME"),
        (r"\d{4}-\d\d-\d\d", "DATE"),
        (r'sha: "?[0-9a-f]{40}"?', "sha: SHA"),
    ):
        text = re.sub(pattern, same, text)
    return text


# The API


def test_every_public_method_says_what_it_does() -> None:
    """A sentence each, for `help(Memspec)`."""
    for name, method in vars(api.Memspec).items():
        if name.startswith("_"):
            continue
        found = method.fget if isinstance(method, property) else inspect.unwrap(method)
        found = getattr(found, "__func__", found)
        assert (found.__doc__ or "").strip().partition("\n")[0].endswith("."), name


def test_every_act_and_view_has_a_frozen_result() -> None:
    """Whatever a method returns cannot be changed by whoever got it."""
    tree = ast.parse(inspect.getsource(api))
    homes = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    plain = {"open", "close", "note_use", "note_nudge", "database", "root", "scopes", "warnings"}
    seen = []
    for name, method in vars(api.Memspec).items():
        if name.startswith("_") or name in plain:
            continue
        returned = getattr(method, "__func__", method).__annotations__["return"]
        module = homes[returned]
        assert module is not None
        result = getattr(import_module(module), returned)
        is_frozen = is_dataclass(result) and vars(result)["__dataclass_params__"].frozen
        assert is_frozen or issubclass(result, tuple), name
        seen.append(name)
    assert {"remember", "search", "doctor", "init"} <= set(seen)


def test_what_is_public_is_in_all() -> None:
    """The API, each error, and the words of a record; a page imports nothing else."""
    assert {one.__name__ for one in classes()} | {"MemspecError"} <= set(memspec_py.__all__)
    assert memspec_py.__all__ == sorted(memspec_py.__all__)
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        for names in re.findall(r"^from memspec_py import (.+)$", text, re.MULTILINE):
            assert set(re.findall(r"\w+", names)) <= set(memspec_py.__all__)


# Pages


@pytest.mark.parametrize("page", PAGES)
def test_links_between_pages_lead_somewhere(page: str) -> None:
    """Files exist, and headings too."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(text)):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, heading = link.partition("#")
        target = ROOT / (name or page)
        assert target.exists(), f"{page} links to {link}"
        if heading:
            assert heading in _headings(target), f"{page} links to {link}"


def _headings(page: Path) -> set[str]:
    """The anchors that GitHub makes of a page's headings."""
    found = re.findall(
        r"^#+ (.+)$", _without_blocks(page.read_text(encoding="utf-8")), re.MULTILINE
    )
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in found}


def test_the_changelog_has_a_place_for_what_comes_next() -> None:
    """`Unreleased` on top, with headings a reader knows."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE)[0] == "Unreleased"
    assert re.findall(r"^- ", section("Unreleased", text), re.MULTILINE)


@pytest.mark.parametrize("page", PAGES)
def test_no_placeholder_is_left(page: str) -> None:
    """Words in capitals that stand for a text to come, in prose or on a line of their own."""
    text = (ROOT / page).read_text(encoding="utf-8")
    left = re.findall(r"\b[A-Z]+_[A-Z_]+\b", prose(text))
    left += re.findall(r"^[A-Z]+_[A-Z_]+$", text, re.MULTILINE)
    assert left == []


def test_each_script_stands_in_a_page_for_those_who_need_it(repository: Path) -> None:
    """What lies in `bin/` is named in README.md or CONTRIBUTING.md."""
    pages = README + (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    scripts = [one.name for one in (repository / "bin").iterdir() if one.name[0].isalpha()]
    assert len(scripts) > 5
    assert [name for name in scripts if f"bin/{name}" not in pages] == []
