"""A-Mem's controller, as programs written for it use it."""

from __future__ import annotations

import pytest

from amem.errors import BudgetSpent, InvalidInput, ServiceUnavailable
from amem.llm_controller import BaseLLMController, LLMController, OllamaController, OpenAIController
from amem.settings import load_settings
from amem.testing import FakeOllama

FORMAT = {
    "type": "json_schema",
    "json_schema": {"name": "response", "schema": {"type": "object", "properties": {"a": {"type": "string"}}}},
}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("AMEM_HOME", str(tmp_path))


def test_a_program_written_for_a_mem_gets_its_completion(monkeypatch):
    with FakeOllama({"a": "b"}) as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.host)
        controller = LLMController("ollama", "llama3.2")
        assert controller.llm.get_completion("question", response_format=FORMAT, temperature=0.3) == '{"a": "b"}'
        assert controller.get_completion("question", {"type": "json_object"}) == '{"a": "b"}'
        assert controller.get_completion("question") == '{"a": "b"}'
        formats = [request.get("format") for request in ollama.asked("/api/chat")]
        assert formats == [FORMAT["json_schema"]["schema"], {"type": "object"}, None]
        assert [request["options"]["temperature"] for request in ollama.asked("/api/chat")] == [0.3, 0.7, 0.7]


def test_a_missing_key_is_reported_when_it_is_needed():
    controller = LLMController()
    assert isinstance(controller.llm, OpenAIController)
    assert isinstance(controller.llm, BaseLLMController)
    with pytest.raises(ServiceUnavailable, match="no API key for openai/gpt-4"):
        controller.llm.get_completion("x")


def test_a_model_that_is_away_is_an_error_not_an_empty_answer(monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    with pytest.raises(ServiceUnavailable):
        OllamaController("llama3.2").get_completion("x", FORMAT)


def test_unknown_backends_and_formats_are_refused():
    with pytest.raises(InvalidInput, match="unknown backend 'gemini'"):
        LLMController("gemini")
    with pytest.raises(InvalidInput, match="response_format"):
        OllamaController().get_completion("x", {"type": "grammar"})


def test_a_memory_system_s_controller_follows_its_settings(tmp_path):
    with FakeOllama("hi", models=["qwen3:4b"]) as ollama:
        assert LLMController.of(load_settings(tmp_path, ollama_host=ollama.host)).llm.get_completion("x") == "hi"
    with pytest.raises(InvalidInput, match="cannot chat"):
        LLMController.of(load_settings(tmp_path, llm_backend="offline")).get_completion("x")


def test_a_memory_system_s_controller_keeps_to_the_day_s_budget(tmp_path):
    class Spent:
        def spent_today(self):
            return 100

        def add(self, model, spent):
            raise AssertionError("nothing is asked")

    with FakeOllama("hi", models=["qwen3:4b"]) as ollama:
        settings = load_settings(tmp_path, ollama_host=ollama.host, llm_daily_tokens=100)
        with pytest.raises(BudgetSpent):
            LLMController.of(settings, ledger=Spent()).get_completion("x")
