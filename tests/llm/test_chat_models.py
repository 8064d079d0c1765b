"""Both real clients against a server that speaks Ollama's protocol."""

from __future__ import annotations

import json
import socket
import threading
import time
from functools import partial

import pytest

from amem.analysts.choose import make_chat
from amem.errors import BadModelAnswer, Cancelled, InvalidInput, MissingModel, ServiceUnavailable
from amem.llm.guarded import GuardedChat
from amem.llm.litellm_chat import LiteLLMChat
from amem.llm.model_text import find_object
from amem.llm.ollama_chat import OllamaChat
from amem.llm_controller import LLMController
from amem.note import Message, Role
from amem.protocols import ChatModel
from amem.settings import load_settings
from amem.testing import FakeOllama, Fault

SCHEMA = {"type": "object", "properties": {"keywords": {"type": "array", "items": {"type": "string"}}}}
ANSWER = {"keywords": ["量子退火", "annealing"], "context": "An answer that is long enough to be cut in two."}

# LiteLLM's answer types meet a pydantic newer than they were written for.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Item 'summary' on TypedDict class:UserWarning:pydantic"),
    pytest.mark.filterwarnings("ignore:Accessing the 'model_computed_fields' attribute:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Accessing the 'model_fields' attribute:DeprecationWarning"),
]


def through_ollama(host: str, model: str = "llama3.2", timeout: float = 20) -> ChatModel:
    return OllamaChat(model, host=host, timeout=timeout)


def through_litellm(host: str, model: str = "llama3.2", timeout: float = 20) -> ChatModel:
    return LiteLLMChat(f"ollama_chat/{model}", api_base=host, timeout=timeout)


def through_openai(host: str, model: str = "llama3.2", timeout: float = 20) -> ChatModel:
    return LiteLLMChat(f"openai/{model}", api_key="sk-secret", api_base=f"{host}/v1", timeout=timeout)


@pytest.fixture(params=[through_ollama, through_litellm], ids=["ollama", "litellm"])
def client(request):
    return request.param


@pytest.fixture(params=[through_litellm, through_openai], ids=["ollama_chat", "openai"])
def by_litellm(request):
    return request.param


def test_an_answer_comes_over_the_wire_with_its_cost(client):
    with FakeOllama("你好, hello") as ollama:
        chat = client(ollama.host)
        assert isinstance(chat, ChatModel)
        assert chat.complete("say hello", temperature=0.5) == "你好, hello"
        (request,) = ollama.asked("/api/chat")
        assert request["messages"][0]["content"] == "say hello"
        assert request["options"]["temperature"] == 0.5
        assert "format" not in request or request["format"] in (None, "")
        assert (chat.usage.calls, chat.usage.tokens_in, chat.usage.tokens_out) == (1, 2, 2)


def test_a_schema_reaches_the_server_as_its_format(client):
    with FakeOllama(ANSWER) as ollama:
        assert json.loads(client(ollama.host).complete("analyse", schema=SCHEMA)) == ANSWER
        assert ollama.asked("/api/chat")[0]["format"] == SCHEMA


@pytest.mark.parametrize("fault", [Fault.TRUNCATED, Fault.FENCED])
def test_a_damaged_answer_comes_as_it_is_and_can_be_read(client, fault):
    with FakeOllama(ANSWER, fault=fault) as ollama:
        answer = client(ollama.host).complete("analyse", schema=SCHEMA)
        assert find_object(answer, frozenset({"keywords"})).object["keywords"][0] == "量子退火"


@pytest.mark.parametrize("fault", [Fault.ERROR, Fault.RESET])
def test_a_server_that_fails_is_unavailable_and_the_next_call_may_succeed(client, fault):
    with FakeOllama("ok", fault=fault) as ollama:
        chat = client(ollama.host)
        with pytest.raises(ServiceUnavailable) as caught:
            chat.complete("x")
        assert caught.value.hint
        ollama.fault = None
        assert chat.complete("x") == "ok"
        assert chat.usage.calls == 1


def test_a_server_that_is_slow_is_given_up_in_time(client):
    with FakeOllama("ok", fault=Fault.SLOW) as ollama:
        chat = client(ollama.host, timeout=0.3)
        with pytest.raises(ServiceUnavailable, match=r"within 0\.3 seconds") as caught:
            chat.complete("x")
    assert "llm_timeout" in caught.value.hint


def test_no_server_is_said_in_one_line(client):
    with FakeOllama("ok") as ollama:
        host = ollama.host
    with pytest.raises(ServiceUnavailable) as caught:
        client(host).complete("x")
    assert "\n" not in str(caught.value)
    assert caught.value.hint


def test_a_model_that_was_not_pulled_is_missing(client):
    with FakeOllama("ok") as ollama, pytest.raises(MissingModel, match="mistral"):
        client(ollama.host, model="mistral").complete("x")


def test_ollama_s_missing_model_comes_with_the_command_that_pulls_it():
    with FakeOllama("ok", models=[]) as ollama, pytest.raises(MissingModel) as caught:
        through_ollama(ollama.host).complete("x")
    assert caught.value.hint == "run `amem models pull llama3.2`"


def test_a_server_that_is_no_ollama_is_named():
    with FakeOllama(lambda request: "x") as ollama, pytest.raises((MissingModel, ServiceUnavailable)):
        OllamaChat("llama3.2", host=f"{ollama.host}/elsewhere", timeout=5).complete("x")


def test_openai_without_a_key_is_said_before_anything_is_imported():
    with pytest.raises(ServiceUnavailable, match="no API key for openai/gpt-4o-mini") as caught:
        LiteLLMChat("openai/gpt-4o-mini").complete("x")
    assert "AMEM_API_KEY" in caught.value.hint


def test_an_unknown_provider_is_said():
    with pytest.raises(InvalidInput, match="no provider for the model 'nosuch/thing'"):
        LiteLLMChat("nosuch/thing").complete("x")


def test_another_provider_never_gets_the_key_meant_for_openai(monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with FakeOllama("ok") as server:
        chat = LiteLLMChat("anthropic/claude-3-haiku", api_key="sk-secret", api_base=server.host, timeout=5)
        with pytest.raises(ServiceUnavailable, match="needs an API key") as caught:
            chat.complete("x")
        assert server.requests == []
    assert "sk-secret" not in f"{caught.value} {caught.value.hint}"


def test_a_refused_key_does_not_appear_in_the_error():
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    chat = LiteLLMChat("openai/gpt", api_key="sk-secret", api_base=f"http://127.0.0.1:{port}/sk-secret", timeout=5)
    with pytest.raises(ServiceUnavailable) as caught:
        chat.complete("x")
    assert "sk-secret" not in f"{caught.value} {caught.value.hint}"


def test_many_threads_may_share_one_chat_model():
    from concurrent.futures import ThreadPoolExecutor

    with FakeOllama(lambda request: request["messages"][0]["content"].upper()) as ollama:
        chat = OllamaChat("llama3.2", host=ollama.host)
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(partial(chat.complete), [f"q{n}" for n in range(40)])) == [f"Q{n}" for n in range(40)]
        assert chat.usage.calls == 40


# --- streams through LiteLLM ------------------------------------------------------------------------------------

ASKED = [Message(Role.SYSTEM, "Answer briefly."), Message(Role.USER, "退火是什么？")]
TEXT = "Annealing cools a metal slowly. 退火是缓慢冷却金属的过程。"


def test_litellm_streams_with_the_cost_of_the_answer(by_litellm):
    with FakeOllama(TEXT) as server:
        chat = by_litellm(server.host)
        pieces = list(chat.stream(ASKED, temperature=0.2))
        assert "".join(pieces) == TEXT
        assert len(pieces) > 2
        assert (chat.usage.calls, chat.usage.tokens_in, chat.usage.tokens_out) == (1, 3, 6)
        ((_, request),) = server.requests
        assert request["stream"] is True
        assert [message["content"] for message in request["messages"]] == ["Answer briefly.", "退火是什么？"]


def test_litellm_s_pieces_come_before_the_end_and_closing_hangs_up(by_litellm):
    with FakeOllama(TEXT * 20, fault=Fault.TRICKLE, pace=0.05) as server:
        chat = by_litellm(server.host)
        pieces = chat.stream(ASKED)
        assert TEXT.startswith(next(pieces))
        pieces.close()
        deadline = time.monotonic() + 5
        while server.hung_up == 0 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert server.hung_up == 1
        assert chat.usage.calls == 1
        assert chat.usage.tokens_in >= 5


@pytest.mark.parametrize("fault", [Fault.CUT, Fault.RESET, Fault.ERROR, Fault.BUSY, Fault.LIMITED])
@pytest.mark.parametrize("how", ["complete", "stream"])
def test_litellm_says_what_may_pass(by_litellm, fault, how):
    with FakeOllama(TEXT, fault=fault) as server:
        chat = by_litellm(server.host)
        with pytest.raises(ServiceUnavailable) as caught:
            chat.complete("x") if how == "complete" else list(chat.stream(ASKED))
        assert caught.value.passing
        assert caught.value.hint


@pytest.mark.parametrize("fault", [Fault.SLOW, Fault.DENIED])
@pytest.mark.parametrize("how", ["complete", "stream"])
def test_litellm_says_what_will_not_pass_and_keeps_the_key(by_litellm, fault, how):
    with FakeOllama(TEXT, fault=fault) as server:
        chat = by_litellm(server.host, timeout=0.3)
        with pytest.raises(ServiceUnavailable) as caught:
            chat.complete("x") if how == "complete" else list(chat.stream(ASKED))
        assert not caught.value.passing
        assert "sk-secret" not in f"{caught.value} {caught.value.hint}"


def test_litellm_s_refused_connection_will_not_pass(by_litellm):
    with FakeOllama(TEXT) as server:
        chat = by_litellm(server.host)
    for ask in (lambda: chat.complete("x"), lambda: list(chat.stream(ASKED))):
        with pytest.raises(ServiceUnavailable) as caught:
            ask()
        assert not caught.value.passing


def test_an_account_without_money_is_not_asked_again(by_litellm, monkeypatch):
    with FakeOllama(TEXT, fault=Fault.LIMITED) as server:
        monkeypatch.setattr(
            "amem.testing.fake_ollama._REFUSALS",
            {Fault.LIMITED: (429, "You exceeded your current quota, please check your plan and billing details.")},
        )
        with pytest.raises(ServiceUnavailable, match="exceeded your current quota") as caught:
            by_litellm(server.host).complete("x")
        assert not caught.value.passing


def test_an_openai_server_s_stream_shows_no_thoughts():
    with FakeOllama(TEXT, fault=Fault.THINKING) as server:
        assert "".join(through_openai(server.host).stream(ASKED)) == TEXT


def test_a_stream_of_litellm_that_ends_without_an_end_is_an_error():
    with (
        FakeOllama(TEXT, fault=Fault.NOT_OLLAMA) as server,
        pytest.raises(ServiceUnavailable, match="broke off before it had answered"),
    ):
        list(through_openai(server.host).stream(ASKED))


def test_an_openai_server_s_model_that_only_thinks_is_an_error():
    with (
        FakeOllama("<think>hm " + "hm " * 50 + "</think>" + TEXT, fault=Fault.TRUNCATED) as server,
        pytest.raises(BadModelAnswer, match="before it had said anything"),
    ):
        list(through_openai(server.host).stream(ASKED))


def test_a_stream_of_litellm_is_called_off_between_two_pieces(by_litellm):
    with FakeOllama(TEXT * 20, fault=Fault.TRICKLE, pace=0.05) as server:
        cancelled = threading.Event()
        pieces = GuardedChat(by_litellm(server.host), cancelled=cancelled).stream(ASKED)
        assert next(pieces)
        cancelled.set()
        with pytest.raises(Cancelled):
            next(pieces)
        deadline = time.monotonic() + 5
        while server.hung_up == 0 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert server.hung_up == 1


def test_a_mem_s_arguments_for_openai_reach_its_server(tmp_path, monkeypatch):
    with FakeOllama(ANSWER, models=["gpt-4o-mini"]) as server:
        monkeypatch.setenv("AMEM_HOME", str(tmp_path))
        monkeypatch.setenv("AMEM_API_BASE", f"{server.host}/v1")
        controller = LLMController("openai", "gpt-4o-mini", api_key="sk-secret")
        answer_format = {"type": "json_schema", "json_schema": {"name": "response", "schema": SCHEMA}}
        assert json.loads(controller.llm.get_completion("analyse", response_format=answer_format)) == ANSWER
        chat = make_chat(load_settings(llm_backend="openai", llm_model="gpt-4o-mini", api_key="sk-secret"))
        assert json.loads(chat.complete("analyse", schema=SCHEMA)) == ANSWER
        assert [request["model"] for request in server.asked("/v1/chat/completions")] == ["gpt-4o-mini"] * 2
        assert server.asked("/v1/chat/completions")[0]["response_format"]["json_schema"]["schema"] == SCHEMA
