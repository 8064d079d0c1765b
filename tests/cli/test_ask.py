"""``amem ask``: one question, one answer, and the notes that it rests on."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from _judging_model import judging_model

from amem import AgenticMemorySystem
from amem.settings import Settings
from amem.testing import FakeOllama

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import Cli


@pytest.fixture
def ollama() -> Iterator[FakeOllama]:
    with FakeOllama(judging_model) as server:
        yield server


@pytest.fixture(scope="module")
def three_notes(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Path:
    """A home with three notes; to be copied."""
    with AgenticMemorySystem(
        settings=Settings(home=tmp_path_factory.mktemp("three"), cache=model_cache, llm_backend="offline")
    ) as memory:
        memory.add("Ana lives in Lisbon and works for a bakery.", time="2026-03-01")
        memory.add("Tea is served at five on the terrace.")
        memory.add("我住在里斯本，最喜欢喝绿茶。", time="2026-04-02")
        return memory.settings.home


@pytest.fixture
def asking(cli: Cli, three_notes: Path, ollama: FakeOllama) -> Cli:
    """A home with three notes, and a willing model to answer from them."""
    shutil.copytree(three_notes, cli.home)
    cli.env |= {"AMEM_LLM_BACKEND": "ollama", "OLLAMA_HOST": ollama.host, "AMEM_LLM_RETRIES": "0"}
    return cli


def test_an_answer_names_the_notes_it_rests_on(asking: Cli) -> None:
    answer, *cited = asking.ok("ask", "Where", "does", "Ana", "live?").splitlines()

    assert "Lisbon" in answer
    assert "[1]" in answer
    number, id, day, text = cited[0].split("\t")
    assert (number, day, text) == ("[1]", "2026-03-01", "Ana lives in Lisbon and works for a bakery.")
    assert asking.json("show", id)["content"] == text


def test_a_chinese_question_is_answered_from_chinese_notes(asking: Cli) -> None:
    answer, cited = asking.ok("ask", "我最喜欢喝什么？").splitlines()
    assert "绿茶" in answer
    assert cited.endswith("2026-04-02\t我住在里斯本，最喜欢喝绿茶。")


@pytest.mark.parametrize(
    ("question", "said"),
    [("What is the name of my dog?", "That is not in memory."), ("我的狗叫什么名字？", "记忆里没有这件事。")],
)
def test_what_memory_does_not_hold_is_said_and_is_no_failure(asking: Cli, question: str, said: str) -> None:
    assert asking.ok("ask", question) == f"{said}\n"


def test_json_holds_the_answer_and_what_was_recalled(asking: Cli) -> None:
    answer = asking.json("ask", "Where does Ana live?", "-k", "2")
    assert answer["in_memory"] is True
    assert answer["model"] == "ollama/llama3.2"
    assert answer["citations"][0]["id"] == answer["hits"][0]["id"]
    assert len(answer["hits"]) == 2


def test_the_model_may_pick_the_notes_first(asking: Cli, ollama: FakeOllama) -> None:
    assert "Lisbon" in asking.ok("ask", "Where does Ana live?", "--rerank")
    assert len(ollama.requests) == 2
    asking.ok("ask", "Where does Ana live?", "--no-rerank", AMEM_LLM_RERANK="true")
    assert len(ollama.requests) == 3


def test_a_model_that_cannot_pick_them_is_named_and_the_answer_is_still_given(asking: Cli) -> None:
    answer = {"in_memory": True, "answer": "In Lisbon [1].", "cites": [1]}
    with FakeOllama(["no list", "none at all", answer]) as ollama:
        result = asking("ask", "Where does Ana live?", "--rerank", OLLAMA_HOST=ollama.host)
    assert result.exit_code == 0
    assert result.stdout.startswith("In Lisbon [1].")
    assert "not put in order by a model: ollama/llama3.2 answered twice outside its schema" in result.stderr


def test_without_a_model_what_was_recalled_is_shown(asking: Cli) -> None:
    result = asking("ask", "Where does Ana live?", OLLAMA_HOST="127.0.0.1:9")

    assert result.exit_code == 3
    assert "Ana lives in Lisbon" in result.stdout.splitlines()[0]
    (line,) = result.stderr.splitlines()
    assert line.startswith("no model answers: ")
    assert line.endswith("; this is what memory holds")
    assert "ollama serve" in line


def test_without_a_model_the_notes_answer(asking: Cli) -> None:
    offline = {"AMEM_LLM_BACKEND": "offline"}
    answer, cited = asking.ok("ask", "Where does Ana live?", **offline).splitlines()
    assert answer == "Ana lives in Lisbon, since 2026-03-01 [1]."
    assert cited.endswith("2026-03-01\tAna lives in Lisbon and works for a bakery.")
    assert asking.ok("ask", "我住在哪里？", **offline).startswith("你住在里斯本（2026-04-02 起） [1]。\n")

    found = asking.json("ask", "When is my sister's wedding?", **offline)
    assert (found["in_memory"], found["support"], found["error"]) == (None, "weak", "")
    assert found["answer"].startswith("Nothing certain; nearest, though far off: “")
    assert found["confidence"] == max(hit["confidence"] for hit in found["hits"])


def test_a_model_that_was_named_and_fails_is_told_of_beside_the_answer(asking: Cli) -> None:
    result = asking("ask", "Where does Ana live?", OLLAMA_HOST="127.0.0.1:9")
    assert result.exit_code == 3
    assert result.stdout.startswith("Ana lives in Lisbon, since 2026-03-01 [1].\n")
    assert "no model answers: " in result.stderr


def test_a_model_is_taken_by_name_even_where_notes_are_analysed_by_rules(asking: Cli) -> None:
    answer = asking.ok("ask", "Where does Ana live?", "--model", "llama3.2", AMEM_LLM_BACKEND="offline")
    assert "[1]" in answer


def test_a_model_cannot_drive_the_terminal(asking: Cli) -> None:
    rude = {"in_memory": True, "answer": "In \x1b[2J Lisbon \x07 [1].", "cites": [1]}
    with FakeOllama(rude) as ollama:
        printed = asking.ok("ask", "Where does Ana live?", OLLAMA_HOST=ollama.host)
    assert "\x1b" not in printed
    assert "\x07" not in printed


def test_an_empty_question_is_refused(asking: Cli) -> None:
    assert asking.refused("ask", "") == "there is nothing to answer (say or ask something)"
    assert asking.refused("ask", "字" * 20_001).startswith("the message has 20,001 characters; the limit is 20,000")


@pytest.mark.parametrize("command", ["search", "why", "context", "facts", "timeline"])
def test_what_says_nothing_is_refused_by_every_command_that_asks(asking: Cli, command: str) -> None:
    assert asking.refused(command, "  ").startswith("nothing is asked for (")
