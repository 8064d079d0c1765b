"""What is left to a model now and done by another command later: ``add --no-wait``, ``work``, ``enrich --upgrade``."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from threading import Event
from typing import TYPE_CHECKING

import pytest
from _judging_model import judging_model

from amem.cli.invocation import ended_by_interrupt
from amem.testing import FakeOllama

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Cli

#: A shell's background job ignores Ctrl-C, and so would what it starts: this one listens in any case.
LISTENING = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
AMEM = [sys.executable, "-c", f"{LISTENING}; from amem.cli import main; main()"]


@pytest.fixture
def ollama() -> Iterator[FakeOllama]:
    with FakeOllama(judging_model) as serving:
        yield serving


@pytest.fixture
def thinking(cli: Cli, ollama: FakeOllama) -> Cli:
    """The command line with a model behind it."""
    cli.env |= {"AMEM_LLM_BACKEND": "ollama", "AMEM_LLM_MODEL": "llama3.2", "AMEM_OLLAMA_HOST": ollama.host}
    return cli


def test_a_note_that_is_not_waited_for_is_stored_now_and_finished_by_work(thinking: Cli, ollama: FakeOllama) -> None:
    result = thinking("add", "The boiler hums in the cellar.", "--no-wait", "--json")
    assert result.exit_code == 0
    assert '"pending"' in result.stdout
    assert "work" in result.stderr
    assert ollama.asked("/api/chat") == []
    assert thinking.json("list")[0]["enrichment"] == "pending"

    id = thinking.ok("add", "The roof leaks above the kitchen.", "--no-wait").strip()
    lines = [line.split("\t") for line in thinking.ok("work", "--once").splitlines()]
    assert [line[1:3] for line in lines] == [["done", "ollama/llama3.2"]] * 2
    assert lines[1][0] == id[:8]
    assert {note["enrichment"] for note in thinking.json("list")} == {"done"}
    assert thinking.ok("work", "--once") == ""


def test_what_the_model_was_asked_is_kept_in_the_history_and_the_log(thinking: Cli) -> None:
    id = thinking.add("The boiler hums in the cellar.")
    version = thinking.json("history", id)[-1]
    assert version["actor"] == "ollama/llama3.2"
    assert version["prompts"].startswith("analyze")
    (operation,) = thinking.json("log")
    assert operation["children"][0]["prompts"] == version["prompts"]
    assert operation["prompts"] == ""


def test_the_receipt_counts_how_answers_were_got(thinking: Cli, ollama: FakeOllama) -> None:
    assert thinking.json("add", "The boiler hums in the cellar.")["cost"]["rungs"] == {"constrained": 1}
    ollama.stop()
    receipt = thinking.json("add", "The pump drips on the floor.", AMEM_LLM_RETRIES="0")
    assert receipt["enrichment"] == "degraded"
    assert receipt["cost"]["rungs"]["offline"] >= 1


def test_work_says_why_a_note_could_not_be_finished(thinking: Cli, ollama: FakeOllama) -> None:
    thinking.ok("add", "The boiler hums in the cellar.", "--no-wait")
    ollama.stop()
    (line,) = thinking.ok("work", "--once", AMEM_LLM_RETRIES="0").splitlines()
    assert line.split("\t")[1:3] == ["degraded", "offline"]
    assert "ollama/llama3.2" in line


def test_upgrading_has_a_model_redo_what_the_rules_wrote(thinking: Cli) -> None:
    offline = {"AMEM_LLM_BACKEND": "offline"}
    id = thinking.json("add", "The boiler hums in the cellar.", **offline)["id"]
    before = thinking.json("show", id)
    assert before["analyst"] == "offline"
    assert thinking.json("enrich")["done"] == 0
    assert thinking.json("enrich", "--upgrade", "-n", "5") == {"done": 1, "failed": 0, "remaining": 0, "errors": []}
    assert thinking.json("show", id)["analyst"] == "ollama/llama3.2"
    thinking.ok("undo")
    assert thinking.json("show", id)["context"] == before["context"]
    assert "no model" in thinking.refused("enrich", "--upgrade", **offline)


def test_show_tells_facts_and_since_when_they_hold(cli: Cli) -> None:
    id = cli.add("I moved to Porto on 3 May 2024.")
    assert "valid: from 2024-05-03" in cli.ok("show", id)
    assert cli.json("show", id)["facts"] == [["user", "lives_in", "Porto"]]
    assert cli.json("show", id)["valid_from"].startswith("2024-05-03T00:00:00")


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_a_worker_does_what_comes_until_it_is_interrupted(thinking: Cli) -> None:
    thinking.ok("add", "The boiler hums in the cellar.", "--no-wait")
    command = [*AMEM, "--home", str(thinking.home), "work", "--poll", "0.05"]
    with subprocess.Popen(
        command, env={**os.environ, **thinking.env}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as worker:
        assert worker.stdout is not None
        assert worker.stderr is not None
        try:
            assert worker.stdout.readline().split("\t")[1] == "done"
            thinking.ok("add", "The roof leaks above the kitchen.", "--no-wait")
            assert worker.stdout.readline().split("\t")[1] == "done"
            worker.send_signal(signal.SIGINT)
            assert worker.wait(30) == 0
            assert "stopped" in worker.stderr.read()
        finally:
            worker.kill()


def test_the_first_interrupt_is_waited_with_and_the_second_breaks_off() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with ended_by_interrupt(ended := Event()):
            signal.raise_signal(signal.SIGINT)
            assert ended.wait(60)
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_who_analyses_is_said_with_the_first_note_and_when_it_changes(cli: Cli, ollama: FakeOllama) -> None:
    env = {"AMEM_LLM_BACKEND": "auto", "AMEM_OLLAMA_HOST": "http://127.0.0.1:9"}
    first = cli("add", "The kettle is new.", **env)
    assert "analysed by built-in rules" in first.stderr
    assert first.stdout.strip()
    assert "analysed by" not in cli("add", "The teapot is old.", **env).stderr
    env["AMEM_OLLAMA_HOST"] = ollama.host
    assert "analysed by ollama/llama3.2:latest" in cli("add", "水壶是红的。", **env).stderr
    assert "analysed by" not in cli("add", "茶壶是蓝的。", **env).stderr


def test_a_day_is_learnt_from_once_it_is_over_or_when_a_person_asks_for_it(thinking: Cli, ollama: FakeOllama) -> None:
    thinking.env["AMEM_CHAT_LEARNING"] = "night"
    thinking("chat", input="I am allergic to peanuts.\n我对花生过敏。\n")

    assert {note["kind"] for note in thinking.json("list")} == set()
    result = thinking("work", "--once")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "2 turns of chats wait to be learnt from until the day is over (now with: amem" in result.stderr
    (found,) = [each for each in thinking.json("doctor") if each["about"] == "chats"]
    assert found["level"] == "ok"
    assert found["what"] == "2 turns of chats wait to be learnt from, 2 of them until the day is over"
    assert "amem enrich" in found["hint"]

    assert thinking.json("enrich") == {"done": 2, "failed": 0, "remaining": 0, "errors": []}
    notes = thinking.json("list")
    assert any("allergic to peanuts" in note["content"] for note in notes)
    assert any("花生" in note["content"] for note in notes)
    (episode,) = [note for note in notes if "episode" in note["metadata"]]
    assert "summed up by ollama/llama3.2" in thinking.ok("show", episode["id"])
    assert [each for each in thinking.json("doctor") if each["about"] == "chats"] == []
    assert thinking("work", "--once").stderr == ""
