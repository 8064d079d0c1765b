"""Every example does what its first lines promise, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _judging_model import judging_model

from amem.testing import FakeOllama

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def ollama() -> Iterator[FakeOllama]:
    with FakeOllama(judging_model) as server:
        yield server


def run(name: str, *words: str, **environment: str) -> str:
    done = ended(name, *words, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(name: str, *words: str, **environment: str) -> str:
    """The one line on stderr of an example that cannot go on."""
    done = ended(name, *words, **environment)
    assert done.returncode == 1, done.stderr
    (line,) = done.stderr.splitlines()
    return line


def ended(name: str, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py", *words],
        env={**os.environ, "OLLAMA_HOST": "http://127.0.0.1:9", **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def test_there_is_a_test_for_every_example() -> None:
    tested = {"quickstart", "agent_tools", "local_assistant", "agent_loop", "own_agent", "bulk_import", "three_agents"}
    assert {path.stem for path in EXAMPLES.glob("*.py")} == tested


def test_the_quickstart_finds_changes_and_takes_back() -> None:
    said = run("quickstart")
    assert "PostgreSQL 15.3" in said
    assert "tags are" in said.splitlines()[-1]


def test_tools_answer_an_agent_and_tell_it_what_it_got_wrong() -> None:
    said = run("agent_tools")
    assert "shrimp" in said
    assert '"error"' in said


@pytest.mark.thorough
def test_the_local_assistant_remembers_from_one_run_to_the_next(tmp_path: Path, ollama: FakeOllama) -> None:
    first = run("local_assistant", str(tmp_path), "I am allergic to peanuts.", OLLAMA_HOST=ollama.host)
    assert "saved “" in first
    second = run("local_assistant", str(tmp_path), "What am I allergic to?", OLLAMA_HOST=ollama.host)
    assert "allergic to peanuts" in second.split("recalled:")[0]


@pytest.mark.thorough
def test_the_local_assistant_says_when_no_model_answers_and_shows_what_it_holds(
    tmp_path: Path, ollama: FakeOllama
) -> None:
    run("local_assistant", str(tmp_path), "I am allergic to peanuts.", OLLAMA_HOST=ollama.host)
    said = run("local_assistant", str(tmp_path), "What am I allergic to?")
    assert "no model answered" in said
    assert "peanuts" in said.split("recalled:")[1]


@pytest.mark.thorough
def test_the_agent_needs_one_attempt_less_once_it_remembers(tmp_path: Path) -> None:
    said = run("agent_loop", str(tmp_path), "--pretend")
    assert [line.strip() for line in said.splitlines() if "attempts" in line] == ["attempts: 2", "attempts: 1"]
    assert "harbour-2 printed" in said.split("In its memory now:")[1]


@pytest.mark.thorough
def test_an_agent_whose_model_is_never_right_gives_up(tmp_path: Path) -> None:
    def stubborn(request: dict[str, Any]) -> Any:
        if "printer" not in request.get("format", {}).get("properties", {}):
            return judging_model(request)
        return {"printer": "office-1", "because": "it is the nearest"}

    with FakeOllama(stubborn) as ollama:
        said = run("agent_loop", str(tmp_path), OLLAMA_HOST=ollama.host, AMEM_LLM_BACKEND="ollama")
    assert said.count("attempts: 4, then given up") == 2


@pytest.mark.thorough
def test_an_example_that_cannot_go_on_says_why_in_a_line(tmp_path: Path) -> None:
    assert "ollama" in refused("agent_loop", str(tmp_path / "home")).lower()
    missing = str(tmp_path / "没有.txt")
    assert refused("bulk_import", str(tmp_path / "home"), missing) == f"{missing}: No such file or directory"


@pytest.mark.thorough
def test_an_agent_of_one_s_own_gets_what_is_known_within_its_budget() -> None:
    said = run("own_agent")
    prompt, _, account = said.partition("=== END MEMORIES ===")
    assert "- (constraint) Never point the telescope at the sun" in prompt
    assert "jams below minus ten" in prompt
    assert "coffee" not in said
    assert int(account.split(" of 300 tokens")[0].split()[-1]) <= 300
    assert "learnt from the conversation: 1" in account


@pytest.mark.thorough
def test_a_bulk_import_stores_every_line_once(tmp_path: Path) -> None:
    assert "new: 300, known: 0" in run("bulk_import", str(tmp_path))
    assert "new: 0, known: 300" in run("bulk_import", str(tmp_path))


@pytest.mark.thorough
def test_a_bulk_import_of_a_file_leaves_out_what_cannot_be_a_note(tmp_path: Path, ollama: FakeOllama) -> None:
    journal = tmp_path / "日记.txt"
    journal.write_text("面包发酵了十四个小时。\n\nThe ferry leaves at 7:40.\n", encoding="utf-8")
    said = run("bulk_import", str(tmp_path / "notes"), str(journal), OLLAMA_HOST=ollama.host)
    assert "line 2 was left out" in said
    assert "all analysed: 2 notes" in said


@pytest.mark.parametrize("how", [(), ("--pretend",)])
def test_three_agents_share_a_catalog_whose_log_tells_their_story(tmp_path: Path, how: tuple[str, ...]) -> None:
    said = run("three_agents", str(tmp_path / "newsroom"), *how, AMEM_LLM_BACKEND="" if how else "offline")
    first, second, endings = [line for line in said.splitlines() if line.startswith("writer:")]
    assert "PostgreSQL" in first
    assert "MySQL" in second
    assert first.endswith("[newsroom]")
    assert second.endswith("[newsroom]")
    published = [line.split()[1] for line in said.splitlines() if " publish " in line]
    assert published == ["agent:researcher", "agent:researcher", "agent:critic"]
    assert endings.endswith("merged 1 ending, dropped the other: ['Ending: the buoys are counted every spring.']")
    assert [line.split()[2] for line in said.splitlines() if "agent:writer" in line].count("merge") == 1
    assert said.endswith("own notes stay its own: True\n")
