"""``amem context``: what is known, as text for another program."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _judging_model import judging_model

from amem.testing import FakeOllama

if TYPE_CHECKING:
    from conftest import Cli

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")


def test_the_text_goes_to_stdout_and_the_talk_to_stderr(demo: Cli) -> None:
    result = demo("-c", "demo", "context", "Which", "database", "holds", "the", "buoys?", "--budget", "600")
    assert result.exit_code == 0
    assert result.stdout.startswith("[Background]\n- (constraint) ")
    assert "=== RELEVANT MEMORIES ===\n[20" in result.stdout
    assert result.stdout.rstrip().endswith("=== END MEMORIES ===")
    assert "MySQL 8.4" in result.stdout
    (line,) = result.stderr.splitlines()
    tokens = r"(\d+) of 600 tokens by an upper bound for any model, \d+ left out; support for an answer: weak$"
    said = re.match(tokens, line)
    assert said
    assert int(said[1]) <= 600


def test_options_say_how_it_is_made(demo: Cli) -> None:
    plain = demo.ok("-c", "demo", "context", "芝麻怎么样了？", "--no-core", "--order", "relevance", "--budget", "300")
    assert plain.startswith("=== RELEVANT MEMORIES ===")
    assert "芝麻" in plain
    exact = demo("-c", "demo", "context", "芝麻怎么样了？", "--tokenizer", "gpt-4o", "--budget", "300")
    assert "tokens by the tokenizer of gpt-4o" in exact.stderr
    filtered = demo.json("-c", "demo", "context", "芝麻", "--since", "2026-11-01", "--no-core")
    assert all(note["time"] >= "2026-11-01" for note in filtered["notes"])
    assert {key for key in filtered if f"`{key}`" not in PAGE} == set()
    assert {
        key for part in ("notes", "left_out") for each in filtered[part] for key in each if key not in PAGE
    } == set()


def test_tiers_say_how_far_they_read_and_why(demo: Cli) -> None:
    demo.ok("-c", "demo", "maintain")
    overview = demo("-c", "demo", "context", "Tell me about Dawnchorus", "--tiers", "--budget", "1200")
    assert "[Dawnchorus" in overview.stdout
    assert [line.split(":")[0] for line in overview.stderr.splitlines()] == [
        "topics",
        overview.stderr.splitlines()[1].split(":")[0],
    ]
    assert "topics: 1 text read" in overview.stderr
    assert "enough: an overview is asked for" in overview.stderr
    detail = demo("-c", "demo", "context", "芝麻的肌酐是多少？", "--tiers")
    assert "肌酐 168" in detail.stdout
    assert "topics: 0 texts read, 0 tokens, not enough: it sums up, and the question asks for a detail" in detail.stderr
    record = demo.json("-c", "demo", "context", "Tell me about Dawnchorus", "--tiers")
    assert record["answered_by"] == "topics"
    assert {key for key in record if f"`{key}`" not in PAGE} == set()
    assert {key for each in (*record["tiers"], *record["pages"]) for key in each if key not in PAGE} == set()


def test_a_model_may_say_whether_it_suffices(demo: Cli) -> None:
    demo.ok("-c", "demo", "maintain")
    with FakeOllama(judging_model) as ollama:
        env = {"AMEM_LLM_BACKEND": "ollama", "OLLAMA_HOST": ollama.host, "AMEM_LLM_RETRIES": "0"}
        said = demo("-c", "demo", "context", "Tell me about Dawnchorus", "--tiers", "--ask-model", **env)
        assert said.exit_code == 0
        assert "(says ollama/llama3.2)" in said.stderr
    down = demo("-c", "demo", "context", "Tell me about Dawnchorus", "--tiers", "--ask-model", **env)
    assert down.exit_code == 0
    assert "says" not in down.stderr
    assert "[Dawnchorus" in down.stdout


def test_what_cannot_be_is_refused(cli: Cli) -> None:
    cli.add("Something")
    assert "ordered by" in cli.refused("context", "some", "--order", "best")
    assert cli("context", "some", "--ask-model").exit_code == 2
    assert cli("context", "some", "--budget", "-1").exit_code == 2
    assert "offline" in cli.refused("context", "some", "--tiers", "--ask-model")


@pytest.mark.parametrize("words", [("context", "zzyzx"), ("context", "zzyzx", "--tiers")])
def test_nothing_found_is_said_and_prints_nothing(cli: Cli, words: tuple[str, ...]) -> None:
    assert cli(*words).stdout == ""
    cli.add("Bread needs fourteen hours")
    result = cli(*words)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "nothing found" in result.stderr
