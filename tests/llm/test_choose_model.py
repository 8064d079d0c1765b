"""Which analyst and which chat model the settings mean."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import threading
import time

import pytest
from _judging_model import judging_model

from amem import AgenticMemorySystem
from amem.analysis import Draft
from amem.analysts.choose import make_analyst, make_chat
from amem.errors import InvalidInput, ServiceUnavailable
from amem.llm.model_names import full_name
from amem.llm.ollama_models import chat_models
from amem.settings import load_settings
from amem.testing import FakeOllama, Fault, HashEmbedder

ANALYSIS = {"keywords": ["tea"], "context": "Someone drinks tea.", "tags": ["food"]}


class NoWords:
    total = 0

    def document_frequency(self, terms):
        return dict.fromkeys(terms, 0)

    def tags(self):
        return {}


def given(tmp_path, **settings):
    return load_settings(tmp_path, **settings)


@pytest.mark.parametrize(
    ("backend", "model", "expected"),
    [
        ("ollama", "llama3", "ollama/llama3"),
        ("openai", "gpt-4o-mini", "openai/gpt-4o-mini"),
        ("openai", "meta-llama/Llama-3.1-8B", "openai/meta-llama/Llama-3.1-8B"),
        ("ollama", "hf.co/someone/model:Q4", "ollama/hf.co/someone/model:Q4"),
        ("openai", "ollama/llama3", "ollama/llama3"),
        ("ollama", "openai/gpt-4o", "openai/gpt-4o"),
        ("litellm", "anthropic/claude-3-haiku", "anthropic/claude-3-haiku"),
        ("litellm", "ollama_chat/llama3", "ollama/llama3"),
        ("ollama", "", "ollama/llama3.2"),
    ],
)
def test_a_model_without_a_prefix_belongs_to_the_backend(backend, model, expected):
    assert full_name(backend, model) == expected


def test_litellm_needs_a_model_s_name(tmp_path):
    with pytest.raises(InvalidInput, match="needs the name of a model"):
        make_chat(given(tmp_path, llm_backend="litellm"))


@pytest.mark.parametrize("backend", ["ollama", "openai"])
def test_a_named_backend_is_taken_without_asking_it(tmp_path, backend):
    told: list[str] = []
    settings = given(tmp_path, llm_backend=backend, llm_model="some-model", ollama_host="http://127.0.0.1:9")
    analyst = make_analyst(settings, notify=told.append)
    assert analyst.name == f"{backend}/some-model"
    assert make_chat(settings, notify=told.append).name == f"{backend}/some-model"
    assert not told
    with pytest.raises(ServiceUnavailable):
        analyst.analyze(Draft("tea"), NoWords())


def test_offline_is_offline(tmp_path):
    settings = given(tmp_path, llm_backend="offline")
    assert make_analyst(settings).local
    with pytest.raises(InvalidInput, match="cannot chat"):
        make_chat(settings)


def test_auto_takes_the_first_chat_model_ollama_has_and_says_so_once(tmp_path, caplog):
    told: list[str] = []
    models = ["nomic-embed-text:latest", "gpt-oss:120b-cloud", "qwen3:4b", "llama3.2:latest"]
    with FakeOllama(ANALYSIS, models=models) as ollama, caplog.at_level("INFO", "amem"):
        settings = given(tmp_path, ollama_host=ollama.host)
        analyst = make_analyst(settings, notify=told.append)
        assert analyst.name == "ollama/qwen3:4b"
        assert analyst.analyze(Draft("tea"), NoWords()).keywords == ("tea",)
        heard: list[str] = []
        assert make_chat(settings, notify=heard.append).name == "ollama/qwen3:4b"
    assert heard == ["answers come from ollama/qwen3:4b"]
    assert told == [f"notes are analysed by ollama/qwen3:4b, which Ollama serves at {ollama.host}"]
    assert told[0] in caplog.messages


def test_auto_takes_the_model_that_was_asked_for(tmp_path):
    with FakeOllama(ANALYSIS, models=["qwen3:4b", "llama3.2:latest"]) as ollama:
        assert make_analyst(given(tmp_path, ollama_host=ollama.host, llm_model="llama3.2")).name == "ollama/llama3.2"


def test_auto_goes_offline_when_nobody_answers_and_says_why(tmp_path):
    told: list[str] = []
    with FakeOllama(ANALYSIS) as ollama:
        settings = given(tmp_path, ollama_host=ollama.host)
    assert make_analyst(settings, notify=told.append).local
    assert told == [f"notes are analysed by built-in rules: no Ollama answers at {ollama.host}"]
    with pytest.raises(ServiceUnavailable, match="no chat model was found") as caught:
        make_chat(settings)
    assert "amem models pull llama3.2" in caught.value.hint


def test_auto_goes_offline_when_ollama_can_only_embed(tmp_path):
    told: list[str] = []
    with FakeOllama(ANALYSIS, models=["nomic-embed-text"]) as ollama:
        assert make_analyst(given(tmp_path, ollama_host=ollama.host), notify=told.append).local
    assert "has no chat model" in told[0]


def test_the_probe_shrugs_at_whatever_else_listens_there(tmp_path):
    with FakeOllama(judging_model, fault=Fault.ERROR) as ollama:
        assert chat_models(f"{ollama.host}/somewhere") is None
    for nonsense in ("", "http://", "http://127.0.0.1:notaport", "nonsense", "http://[::1"):
        assert chat_models(nonsense) is None


def test_the_probe_is_over_in_time_though_the_answer_drips():
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _ = server.accept()
            with connection, contextlib.suppress(OSError):
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\n")
                for _ in range(200):
                    connection.sendall(b" ")
                    time.sleep(0.05)

        threading.Thread(target=drip, daemon=True).start()
        began = time.monotonic()
        assert chat_models(f"http://127.0.0.1:{server.getsockname()[1]}", 0.2) is None
        assert time.monotonic() - began < 8


def test_auto_asks_ollama_for_the_first_note_and_for_nothing_before_it(tmp_path, monkeypatch):
    from amem.analysts import choose

    asked, told = [], []
    monkeypatch.setattr(choose, "chat_models", lambda host: asked.append(host))
    settings = given(tmp_path, llm_backend="auto", ollama_host="http://127.0.0.1:9")
    with AgenticMemorySystem(settings=settings, embedder=HashEmbedder(), notify=told.append) as memory:
        assert memory.search("tea") == memory.list() == memory.reviews() == memory.log() == []
        assert memory.count() == 0
        assert (asked, told) == ([], [])
        receipts = [memory.add("Tea is green."), memory.add("Coffee is black.")]
        assert asked == ["http://127.0.0.1:9"]
        assert len(told) == 1
        # The rules were chosen, nothing failed: such a note is done.
        assert {(str(each.enrichment), each.analyst) for each in receipts} == {("done", "offline")}


def test_importing_the_room_and_making_a_chat_model_load_no_client():
    script = (
        "import sys, amem.llm, amem.llm_controller\n"
        "from amem.analysts.choose import make_chat\n"
        "from amem.settings import load_settings\n"
        "amem.llm_controller.LLMController('openai', 'gpt-4')\n"
        "make_chat(load_settings(llm_backend='openai', llm_model='x'))\n"
        "make_chat(load_settings(llm_backend='ollama', llm_model='x'))\n"
        "print(sorted({'litellm', 'ollama', 'httpx', 'openai', 'numpy', 'json_repair'} & sys.modules.keys()))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.thorough
def test_importing_litellm_reads_no_env_file_and_leaves_the_environment_as_it_was(tmp_path):
    (tmp_path / ".env").write_text("OPENAI_API_BASE=http://evil.example\n", encoding="utf-8")
    script = (
        "import os\n"
        "before = dict(os.environ)\n"
        "from amem.library_imports import import_litellm\n"
        "assert import_litellm() is import_litellm()\n"
        "print({name for name in os.environ.keys() ^ before.keys()})\n"
    )
    # Without a file for __main__ (a notebook, -c) LiteLLM would look for an env file in the current folder.
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == "set()"
    assert done.stderr == ""
