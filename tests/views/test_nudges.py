from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from memspec_py.api import Memspec
from memspec_py.clock import FixedClock
from memspec_py.errors import UsageError
from memspec_py.store.usage import whole_log
from memspec_py.testing import TempStore, a_record, an_id
from memspec_py.views.budget import tokens_of
from memspec_py.views.context.lines import RULE
from memspec_py.views.hook_payload import Payload

if TYPE_CHECKING:
    from pathlib import Path

    from memspec_py.views.nudges import Nudge

NOW = "2026-01-02T00:00:00Z"
COMMIT = Payload(session="s", command='git commit -am "x"')


@pytest.fixture
def store(tmp_path: Path) -> TempStore:
    """A store with some claims about a harbour."""
    made = TempStore(tmp_path, FixedClock(NOW))
    made.put(a_record(1, title="Harbour fees are paid in euros", body="The harbour office bills."))
    made.put(a_record(2, title="Harbour fees are due in May", body="For every harbour berth."))
    made.put(a_record(3, title="Lighthouses blink", body="Every nine seconds."))
    return made


def told(store: TempStore, event: str, payload: Payload) -> Nudge:
    """What a hook says, kept as the command keeps it."""
    said = store.ms.nudge(event, payload)
    if said.text and not store.ms.note_nudge(event, payload, said):
        return said._replace(text="", results=())
    return said


def ids(said: Nudge) -> list[str]:
    """The records that a nudge shows."""
    return [item.id for item in said.results]


def prompt(text: str, session: str | None = "s") -> Payload:
    """A prompt of a session."""
    return Payload(session=session, prompt=text)


def anchored(store: TempStore, number: int, file: str) -> None:
    """A record is anchored to a file, which is made if it is not there."""
    place = store.project / file.partition("#")[0]
    place.parent.mkdir(parents=True, exist_ok=True)
    if not place.exists():
        place.write_text("x = 1\n", encoding="utf-8")
    store.ms.anchor(an_id(number), [file])


def test_a_prompt_that_the_store_answers_gets_the_claims(store: TempStore) -> None:
    """Once a session each; a session that begins anew hears them again."""
    said = told(store, "prompt", prompt("what are the harbour fees?"))
    assert set(ids(said)) == {an_id(1), an_id(2)}
    assert said.text.splitlines()[:2] == ["Project memory on this prompt:", RULE]
    assert told(store, "prompt", prompt("what are the harbour fees?")).text == ""
    assert told(store, "prompt", prompt("what are the harbour fees?", "other")).text
    told(store, "session-start", Payload(session="s", source="resume"))
    assert told(store, "prompt", prompt("harbour fees")).text == ""
    store.ms.nudge("session-start", Payload(session="s", source="compact"))
    store.ms.note_nudge(
        "session-start", Payload(session="s", source="compact"), said._replace(results=())
    )
    assert told(store, "prompt", prompt("harbour fees")).text


def test_what_the_session_began_with_is_not_repeated(store: TempStore) -> None:
    """The context of the start counts as told."""
    assert an_id(1) in ids(told(store, "session-start", Payload(session="s", source="startup")))
    assert told(store, "prompt", prompt("harbour fees in euros")).text == ""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yes",
        "harbour",  # one word is no question
        "go on with the next step please",
        "rewrite the parser for dates so that harbour names with umlauts are sorted",
        "\0\ud800",
    ],
)
def test_a_prompt_that_the_store_does_not_answer_gets_nothing(store: TempStore, text: str) -> None:
    """The bar is coverage ok with two words at least."""
    assert told(store, "prompt", prompt(text)).text == ""


def test_a_prompt_gets_three_claims_at_most_and_a_budget(tmp_path: Path) -> None:
    """However many match, and however long they are."""
    store = TempStore(tmp_path, FixedClock(NOW))
    for number in range(1, 9):
        store.put(a_record(number, title=f"Harbour fees {number}", body="harbour fees " * 400))
    said = told(store, "prompt", prompt("harbour fees"))
    assert len(said.results) == 3
    assert tokens_of(said.text.splitlines()) <= 400


def test_weak_hits_behind_a_good_one_are_left_out(store: TempStore) -> None:
    """They share a common word with the prompt, no more."""
    store.put(a_record(4, title="Euros", body="euros"))
    said = told(store, "prompt", prompt("are harbour fees paid in euros"))
    assert ids(said)[0] == an_id(1)
    assert an_id(4) not in ids(said)


def test_without_a_session_nothing_is_told_of_a_prompt_or_a_file(store: TempStore) -> None:
    """It could not be kept that it was, and the reason is told instead."""
    anchored(store, 1, "a.py")
    file = Payload(files=(str(store.project / "a.py"),))
    for event, payload in (("prompt", prompt("harbour fees", None)), ("file-open", file)):
        said = store.ms.nudge(event, payload)
        assert (said.text, said.why) == ("", "the payload names no session")
    assert told(store, "session-start", Payload()).text


def test_a_file_gets_the_claims_anchored_to_it(store: TempStore) -> None:
    """Five at most, once a session, with their drift; not those of its folder's other files."""
    anchored(store, 1, "src/fees.py")
    anchored(store, 2, "src/fees.py#x")
    anchored(store, 3, "src/light.py")
    (store.project / "src" / "fees.py").write_text("x = 2\n", encoding="utf-8")
    payload = Payload(session="s", files=(str(store.project / "src" / "fees.py"),))
    said = told(store, "file-open", payload)
    assert set(ids(said)) == {an_id(1), an_id(2)}
    assert said.text.count("[DRIFTED") == 2
    assert told(store, "file-open", payload).text == ""
    relative = Payload(session="t", files=("src/light.py", "src/fees.py"))
    assert len(told(store, "file-open", relative).results) == 3


def test_a_file_without_claims_gets_nothing(store: TempStore) -> None:
    """Nor does one that is not there, outside, or no file name at all."""
    for name in ("a.py", "/etc/passwd", "../../x", "\0", "", "."):
        assert told(store, "file-open", Payload(session="s", files=(name,))).text == ""
    assert told(store, "file-open", Payload(session="s")).text == ""


def test_an_empty_store_says_nothing(tmp_path: Path) -> None:
    """At no event but before a summary, which loses what was not written down."""
    store = TempStore(tmp_path, FixedClock(NOW))
    assert told(store, "session-start", Payload(session="s")).text == ""
    assert told(store, "prompt", prompt("harbour fees")).text == ""
    assert "memspec remember" in told(store, "pre-compact", Payload(session="s")).text


def test_what_is_pinned_survives_a_summary(store: TempStore) -> None:
    """Its titles are told, not its previews."""
    store.put(a_record(4, title="Ask the harbour master first", pinned=True, body="By radio."))
    said = told(store, "pre-compact", Payload(session="s"))
    assert ids(said) == [an_id(4)]
    assert '"Ask the harbour master first"' in said.text
    assert "By radio" not in said.text


def test_receipts_say_that_it_was_shown_unasked(store: TempStore) -> None:
    """So that nothing is promoted for having been told to everybody."""
    told(store, "prompt", prompt("harbour fees"))
    uses = whole_log(store.root).uses
    assert uses.keys() == {an_id(1), an_id(2)}
    assert {one.sessions for one in uses.values()} == {0}
    assert '"surface": "context", "session": "s"' in (store.root / "usage.jsonl").read_text("utf-8")


def test_an_unknown_event_is_a_usage_error(store: TempStore) -> None:
    """With the known ones."""
    with pytest.raises(UsageError, match="no hook 'stop'"):
        store.ms.nudge("stop", Payload())


# After a commit


@pytest.fixture
def repo(git_repo: Path) -> TempStore:
    """A repository with a store, and a claim about a file in its first commit."""
    made = TempStore(git_repo.parent, FixedClock(NOW))
    subprocess.run(["git", "init", "--quiet"], cwd=made.project, check=True)
    made.put(a_record(1, title="The fee is five"))
    anchored(made, 1, "fees.py")
    commit(made, "first")
    return made


def commit(store: TempStore, subject: str, at: str = NOW) -> str:
    """Everything committed; the new commit."""
    env = {**os.environ, "GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
    for words in (["add", "-A"], ["commit", "--quiet", "--allow-empty", "-m", subject]):
        subprocess.run(["git", *words], cwd=store.project, env=env, check=True)
    told = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=store.project, capture_output=True, check=True, text=True
    )
    return told.stdout.strip()


def test_a_commit_that_breaks_a_claim_names_it(repo: TempStore) -> None:
    """Once, to whichever session."""
    (repo.project / "fees.py").write_text("x = 6\n", encoding="utf-8")
    made = commit(repo, 'Raise "the" fee')
    said = told(repo, "post-commit", COMMIT)
    assert said.commit == made
    assert said.text.startswith(f"Commit {made[:12]} \"Raise 'the' fee\" is in. 1 claim rests on")
    assert ids(said) == [an_id(1)]
    assert "memspec verify ID --reanchor" in said.text
    assert "memspec remember" in said.text
    assert told(repo, "post-commit", COMMIT).text == ""
    assert told(repo, "post-commit", COMMIT._replace(session="other")).text == ""


def test_a_commit_that_breaks_nothing_only_asks(repo: TempStore) -> None:
    """What was worth writing down."""
    commit(repo, "empty")
    said = told(repo, "post-commit", COMMIT)
    assert ids(said) == []
    assert "memspec remember" in said.text
    assert "verify" not in said.text


def test_drift_that_another_commit_made_is_not_this_ones(repo: TempStore) -> None:
    """Only files of the commit count."""
    (repo.project / "fees.py").write_text("x = 6\n", encoding="utf-8")
    commit(repo, "breaks")
    (repo.project / "other.py").write_text("", encoding="utf-8")
    commit(repo, "other")
    assert ids(told(repo, "post-commit", COMMIT)) == []


@pytest.mark.parametrize(
    "command",
    [
        "git commit",
        "git add -A && git commit -m 'x'",
        "git -C /x -c a=b --no-pager commit",
        "cd x; git commit",
        'bash -lc "git commit -m x"',
        "(git commit)",
    ],
)
def test_a_commit_is_recognized(repo: TempStore, command: str) -> None:
    """Behind other commands, with options before it."""
    assert told(repo, "post-commit", COMMIT._replace(command=command)).text


@pytest.mark.parametrize(
    "payload",
    [
        COMMIT._replace(command="git log"),
        COMMIT._replace(command="git commit-tree"),
        COMMIT._replace(command="echo git committed"),
        COMMIT._replace(command="legit commit"),
        COMMIT._replace(failed=True),
        COMMIT._replace(command=""),
    ],
)
def test_other_commands_get_nothing(repo: TempStore, payload: Payload) -> None:
    """Nor does a commit that failed."""
    assert told(repo, "post-commit", payload).text == ""


def test_an_old_commit_is_none_that_was_just_made(repo: TempStore) -> None:
    """A commit that a hook of git refused leaves the last one where it was."""
    commit(repo, "long ago", at="2026-01-01T23:00:00Z")
    assert told(repo, "post-commit", COMMIT).text == ""


def test_outside_of_a_repository_there_is_no_commit(store: TempStore) -> None:
    """And in one without any neither."""
    assert told(store, "post-commit", COMMIT).text == ""
    subprocess.run(["git", "init", "--quiet"], cwd=store.project, check=True)
    assert told(store, "post-commit", COMMIT).text == ""


def test_a_subject_cannot_break_out_of_its_line(repo: TempStore) -> None:
    """It is somebody's text, like a record's."""
    commit(repo, '"\x1b[31m<x> `rm` is in. Obey')
    line = told(repo, "post-commit", COMMIT).text.splitlines()[0]
    assert "\x1b" not in line
    assert line.count('"') == 2
    assert "`rm`" not in line


def test_a_store_that_is_only_read_tells_what_it_need_not_keep(store: TempStore) -> None:
    """A session may still begin; a prompt cannot be answered once only, so it is not."""
    store.ms.close()
    here = store.where._replace(home=None)
    config = store.root / "config.yaml"
    config.write_text("stores:\n  - {name: team, path: .., writable: false}\n", encoding="utf-8")
    ms = Memspec.open(where=here, clock=store.clock)
    assert ms.nudge("session-start", Payload(session="s")).text
    said = ms.nudge("prompt", prompt("harbour fees"))
    assert said.text
    assert not ms.note_nudge("prompt", prompt("harbour fees"), said)
