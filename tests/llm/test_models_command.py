"""``amem models`` and what ``amem doctor`` says of the model, against a server that speaks Ollama's protocol."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from amem import AgenticMemorySystem
from amem.analysts.choose import survey
from amem.analysts.models import StoreLedger
from amem.cli.app import app
from amem.clock import zone
from amem.errors import InvalidInput, MissingModel, ServiceUnavailable
from amem.llm.ollama_models import pull
from amem.note import Cost
from amem.settings import load_settings
from amem.storage.store import Store
from amem.testing import FakeOllama, Fault, FrozenClock, HashEmbedder

MODELS = ("qwen3:4b", "llama3.2:latest", "nomic-embed-text:latest", "gpt-oss:120b-cloud")


@pytest.fixture
def amem(tmp_path):
    """Runs ``amem`` on an empty home; the output of a command that must end with `code`."""

    def run(*words, code=0, **env):
        env = {"AMEM_TIMEZONE": "UTC", "COLUMNS": "120"} | env
        result = CliRunner().invoke(app, ["--home", str(tmp_path), *words], env=env)
        assert result.exit_code == code, result.output
        return result

    return run


def test_models_says_who_analyses_and_what_ollama_has(amem):
    with FakeOllama("x", models=MODELS, context=40_960) as ollama:
        shown = amem("models", OLLAMA_HOST=ollama.host, AMEM_EMBED_MODEL="ollama/nomic-embed-text").stdout
        assert f"analysis\tnotes are analysed by ollama/qwen3:4b, which Ollama serves at {ollama.host}\n" in shown
        assert f"ollama\tanswers at {ollama.host}\n" in shown
        assert "openai\tno API key is set\n" in shown
        assert "offline\tthe built-in rules are always there" in shown
        assert "today\t0 tokens, without a limit\n" in shown
        lines = [line.split("\t") for line in shown.splitlines()[-4:]]
        assert [(line[0], line[1], line[3], line[4]) for line in lines] == [
            ("qwen3:4b", "chat", "40,960", "notes"),
            ("llama3.2:latest", "chat", "40,960", ""),
            ("nomic-embed-text:latest", "embed", "40,960", "embedding"),
            ("gpt-oss:120b-cloud", "chat", "40,960", "on the network"),
        ]
        assert all(line[2].endswith("B") for line in lines)


def test_models_as_json_has_its_documented_shape(amem):
    with FakeOllama("x", models=MODELS[:1], context=16_384) as ollama:
        env = {"OLLAMA_HOST": ollama.host, "OPENAI_API_KEY": "sk-secret", "AMEM_LLM_DAILY_TOKENS": "1000"}
        for words in (("models", "--json"), ("models", "list", "--json")):
            result = amem(*words, **env)
            assert "sk-secret" not in result.output
            told = json.loads(result.stdout)
            (served,) = told["ollama"]["models"]
            assert served.pop("size") > 0
            assert served == {
                "name": "qwen3:4b",
                "for": "chat",
                "context": 16_384,
                "remote": False,
                "used_for": ["notes"],
            }
            assert (told["backend"], told["model"], told["problem"]) == ("auto", "ollama/qwen3:4b", "")
            assert told["ollama"]["reachable"]
            assert told["api_key"] is True
            assert (told["today"]["tokens"], told["today"]["limit"], told["today"]["models"]) == (0, 1000, [])


def test_models_without_an_ollama_names_the_offline_rules_and_is_no_error(amem):
    with FakeOllama("x") as ollama:
        host = ollama.host
    shown = amem("models", OLLAMA_HOST=host).stdout
    assert f"notes are analysed by built-in rules: no Ollama answers at {host}" in shown
    assert f"ollama\tno Ollama answers at {host}" in shown
    assert "problem" not in shown
    assert json.loads(amem("models", "--json", OLLAMA_HOST=host).stdout)["model"] == "offline"


def test_models_shows_what_was_spent_today(amem, tmp_path):
    from amem.clock import SystemClock

    store = Store(tmp_path / "memories", SystemClock())
    ledger = StoreLedger(store, SystemClock(), zone("UTC"))
    ledger.add("ollama/qwen3:4b", Cost(2, 1200, 34))
    store.close()
    env = {"OLLAMA_HOST": "http://127.0.0.1:9", "AMEM_LLM_DAILY_TOKENS": "50000"}
    assert "today\t1,234 of 50,000 tokens\n" in amem("models", **env).stdout
    today = json.loads(amem("models", "--json", **env).stdout)["today"]
    assert today["models"] == [{"model": "ollama/qwen3:4b", "calls": 2, "tokens_in": 1200, "tokens_out": 34}]


@pytest.mark.parametrize(
    ("settings", "problem", "hint"),
    [
        ({"llm_backend": "ollama", "llm_model": "llama3"}, "does not have the model llama3", "amem models pull llama3"),
        (
            {"llm_backend": "auto", "llm_model": "mistral"},
            "does not have the model mistral",
            "amem models pull mistral",
        ),
        ({"llm_backend": "openai"}, "no API key for openai/gpt-4o-mini", "OPENAI_API_KEY"),
        ({"llm_backend": "litellm"}, "needs the name of a model", "AMEM_LLM_MODEL"),
        ({"llm_backend": "ollama", "llm_model": "qwen3:4b"}, "", ""),
        ({"llm_backend": "ollama", "llm_model": "llama3.2"}, "", ""),
        ({"llm_backend": "openai", "api_key": "sk-x"}, "", ""),
        ({"llm_backend": "openai", "api_base": "http://127.0.0.1:9/v1"}, "", ""),
        ({"llm_backend": "litellm", "llm_model": "anthropic/claude-3-haiku"}, "", ""),
        ({"llm_backend": "offline"}, "", ""),
    ],
)
def test_models_and_doctor_name_what_is_in_the_way_in_the_same_words(tmp_path, amem, settings, problem, hint):
    with FakeOllama("x", models=MODELS) as ollama:
        given = load_settings(tmp_path, ollama_host=ollama.host, **settings)
        found = survey(given)
        assert problem in found.problem
        assert bool(problem) == bool(found.problem)
        assert hint in found.hint
        assert (found.analyst == "") == ("needs the name" in problem)
        finding = finding_about("model", given)
        assert (finding.level, finding.what) == (("warning", found.problem) if problem else ("ok", found.reason))
        assert finding.hint == found.hint
        env = {f"AMEM_{name.upper()}": value for name, value in settings.items()}
        shown = amem("models", OLLAMA_HOST=ollama.host, **env).stdout
        assert (f"problem\t{found.problem} ({found.hint})" in shown) == bool(problem)


def test_an_ollama_that_was_asked_for_and_is_away_is_a_finding(tmp_path):
    with FakeOllama("x") as ollama:
        host = ollama.host
    found = survey(load_settings(tmp_path, llm_backend="ollama", ollama_host=host))
    assert found.problem == f"no Ollama answers at {host}"
    assert "ollama serve" in found.hint
    assert found.served is None


def test_a_window_that_the_model_does_not_have_is_a_finding(tmp_path):
    with FakeOllama("x", context=4096) as ollama:
        found = survey(load_settings(tmp_path, ollama_host=ollama.host))
        assert found.problem == "llama3.2:latest reads at most 4,096 tokens, and llm_context counts on 8,192"
        assert found.hint == "set AMEM_LLM_CONTEXT=4096"
        assert survey(load_settings(tmp_path, ollama_host=ollama.host, llm_context=4096)).problem == ""


def test_setup_says_what_is_in_the_way(amem, model_cache):
    with FakeOllama("x") as ollama:
        env = {"OLLAMA_HOST": ollama.host, "AMEM_LLM_BACKEND": "ollama", "AMEM_CACHE": str(model_cache)}
        result = amem("setup", AMEM_LLM_MODEL="llama3", **env)
        assert "analysis: notes are analysed by ollama/llama3\n" in result.stdout
        assert "does not have the model llama3 (run `amem models pull llama3`)" in result.stderr
        assert "problem: " not in amem("setup", **env).stderr
        assert json.loads(amem("setup", "--json", **env).stdout)["analyst"] == "ollama/llama3.2"


@pytest.mark.parametrize(("spent", "level"), [(9, "ok"), (10, "warning")])
def test_doctor_tells_when_the_day_s_tokens_are_spent(tmp_path, spent, level):
    finding = finding_about("budget", load_settings(tmp_path, llm_backend="offline", llm_daily_tokens=10), spent)
    assert finding.level == level
    assert f"{spent}" in finding.what


def finding_about(what, settings, spent=0):
    """The finding of a check-up of an empty collection."""
    clock = FrozenClock()
    with AgenticMemorySystem(settings=settings, clock=clock, embedder=HashEmbedder()) as memory:
        StoreLedger(memory.parts.store, clock, zone(settings.timezone)).add("m", Cost(1, spent, 0))
        (found,) = [finding for finding in memory.doctor() if finding.about == what]
    return found


# --- pulling ----------------------------------------------------------------------------------------------------


def test_pull_fetches_a_model_that_is_then_there(amem):
    with FakeOllama("x", models=[], library=["llama3.2:latest"]) as ollama:
        assert "has no chat model" in amem("models", OLLAMA_HOST=ollama.host).stdout
        result = amem("models", "pull", "llama3.2", OLLAMA_HOST=ollama.host)
        assert result.stdout.startswith("llama3.2 is ready (")
        assert "notes are analysed by ollama/llama3.2:latest" in result.stderr
        assert ollama.models == ["llama3.2:latest"]


def test_pull_as_json(amem):
    with FakeOllama("x", models=[], library=["llama3.2:latest"]) as ollama:
        told = json.loads(amem("models", "pull", "ollama/llama3.2", "--json", OLLAMA_HOST=ollama.host).stdout)
        assert told["pulled"] == "llama3.2"
        assert told["size"] > 0


def test_progress_sums_the_layers_and_never_goes_back():
    with FakeOllama("x", models=[], library=["llama3.2:latest"]) as ollama:
        steps = list(pull(ollama.host, "llama3.2"))
        assert [step.done for step in steps] == sorted(step.done for step in steps)
        assert steps[-1].status == "success"
        assert steps[-1].done == steps[-1].total > 0
        assert len({step.total for step in steps}) > 2


def test_a_model_that_ollama_cannot_find_is_one_line(amem):
    with FakeOllama("x") as ollama:
        result = amem("models", "pull", "lama3.2", code=1, OLLAMA_HOST=ollama.host)
        (line,) = result.stderr.splitlines()
        assert line.startswith("error: Ollama finds no model lama3.2 (")
        with pytest.raises(MissingModel):
            list(pull(ollama.host, "nosuch"))


@pytest.mark.parametrize("name", ["openai/gpt-4o", " ", "ollama/"])
def test_only_models_of_ollama_are_pulled(name):
    with pytest.raises(InvalidInput, match="no model of Ollama"):
        pull("http://127.0.0.1:9", name)


def test_pull_without_an_ollama_says_so(amem):
    with FakeOllama("x") as ollama:
        host = ollama.host
    assert "no Ollama answers at" in amem("models", "pull", "llama3.2", code=3, OLLAMA_HOST=host).stderr


@pytest.mark.parametrize("fault", [Fault.CUT, Fault.RESET, Fault.ERROR, Fault.FAILING])
def test_a_pull_that_breaks_off_says_that_it_goes_on(fault):
    with FakeOllama("x", models=[], fault=fault) as ollama:
        with pytest.raises(ServiceUnavailable) as caught:
            list(pull(ollama.host, "llama3.2"))
        assert "goes on where it stopped" in caught.value.hint
        ollama.fault = None
        assert list(pull(ollama.host, "llama3.2"))[-1].status == "success"


def test_ctrl_c_stops_a_pull_and_says_how_to_go_on(tmp_path):
    with FakeOllama("x", models=[], fault=Fault.TRICKLE, pace=1) as ollama:
        terminal, theirs = pty.openpty()
        env = os.environ | {"AMEM_HOME": str(tmp_path), "OLLAMA_HOST": ollama.host, "COLUMNS": "120"}
        process = subprocess.Popen(
            [sys.executable, "-c", "from amem.cli import main; main()", "models", "pull", "llama3.2"],
            stdout=subprocess.DEVNULL,
            stderr=theirs,
            env=env,
        )
        os.close(theirs)
        deadline = time.monotonic() + 60
        shown = b""
        while b"MB" not in shown and b"GB" not in shown and time.monotonic() < deadline:
            shown += os.read(terminal, 4096)
        process.send_signal(signal.SIGINT)
        try:
            while part := os.read(terminal, 4096):
                shown += part
        except OSError:
            pass  # a terminal whose other side has closed
        assert process.wait(60) == 130
        assert b"models pull llama3.2 goes on where it stopped" in shown
        os.close(terminal)
