"""Every way a model server can break, through every client and both kinds of call, over the wire."""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass, replace

import pytest

from amem.errors import AmemError, MissingModel, ServiceUnavailable
from amem.library_imports import import_litellm
from amem.llm.litellm_chat import LiteLLMChat
from amem.llm.ollama_chat import OllamaChat
from amem.note import Message, Role
from amem.testing import FakeOllama, Fault, spoil

KEY = "sk-secret-0123456789"
TEXT = "The answer has a good many words, 答案有好多字, so that it comes in pieces."
TIMEOUT = 0.3
#: Longer than any call here may take to fail, with room for a machine that is busy.
PATIENCE = 10

# LiteLLM's answer types meet a pydantic newer than they were written for.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Item 'summary' on TypedDict class:UserWarning:pydantic"),
    pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning"),
]

CLIENTS = {
    "ollama": lambda host, timeout: OllamaChat("llama3.2", host=host, timeout=timeout),
    "ollama_chat": lambda host, timeout: LiteLLMChat("ollama_chat/llama3.2", api_base=host, timeout=timeout),
    "openai": lambda host, timeout: LiteLLMChat("openai/llama3.2", api_key=KEY, api_base=f"{host}/v1", timeout=timeout),
}


@dataclass(frozen=True)
class Outcome:
    """What a caller sees: an error of that type whose message has these words. `passing` None is not looked at."""

    error: type[AmemError]
    words: str
    passing: bool | None = None


DIED = Outcome(ServiceUnavailable, "llama runner process has terminated", passing=True)
BUSY = Outcome(ServiceUnavailable, "server busy", passing=True)
LIMITED = Outcome(ServiceUnavailable, "rate limit reached", passing=True)
KEY_WANTED = Outcome(ServiceUnavailable, "needs an API key", passing=False)
BROKE_OFF = Outcome(ServiceUnavailable, "could not answer", passing=True)
TOO_SLOW = Outcome(ServiceUnavailable, f"did not answer within {TIMEOUT:g} seconds", passing=False)
# LiteLLM takes a web page for an answer that broke off, which may pass.
SOME_PAGE = Outcome(ServiceUnavailable, "openai/llama3.2 ")
NOBODY = Outcome(ServiceUnavailable, "could not answer", passing=False)
NOT_PULLED = Outcome(MissingModel, "the provider has no model")

REFUSED, MISSING = "refused", "missing"

#: What is seen through ollama, ollama_chat and openai, in this order.
TABLE: dict[str, tuple[Outcome, Outcome, Outcome]] = {
    Fault.ERROR: (DIED, DIED, DIED),
    # LiteLLM makes an error in the middle of Ollama's stream a request that was bad.
    Fault.FAILING: (DIED, replace(DIED, passing=None), DIED),
    Fault.BUSY: (BUSY, BUSY, BUSY),
    Fault.LIMITED: (LIMITED, LIMITED, LIMITED),
    Fault.DENIED: (replace(KEY_WANTED, words="wants a key"), KEY_WANTED, KEY_WANTED),
    Fault.RESET: (replace(BROKE_OFF, words="broke off"), BROKE_OFF, BROKE_OFF),
    Fault.CUT: (replace(BROKE_OFF, words="broke off"), BROKE_OFF, BROKE_OFF),
    Fault.SLOW: (TOO_SLOW, TOO_SLOW, TOO_SLOW),
    Fault.NOT_OLLAMA: (
        Outcome(ServiceUnavailable, "does not answer like Ollama", passing=False),
        replace(SOME_PAGE, words="ollama_chat/llama3.2 "),
        SOME_PAGE,
    ),
    REFUSED: (replace(NOBODY, words="no Ollama answers at"), NOBODY, NOBODY),
    MISSING: (replace(NOT_PULLED, words="does not have the model llama3.2"), NOT_PULLED, NOT_PULLED),
}
ROWS = [
    pytest.param(fault, client, outcome, id=f"{fault}-{client}")
    for fault, outcomes in TABLE.items()
    for client, outcome in zip(CLIENTS, outcomes, strict=True)
]


def whole(chat, said):
    """The answer to one prompt."""
    said.append(chat.complete("你好, hello"))


def in_pieces(chat, said):
    """The answer to a conversation."""
    for piece in chat.stream([Message(Role.SYSTEM, "Be brief."), Message(Role.USER, "你好, hello")]):
        said.append(piece)


@pytest.fixture(params=[whole, in_pieces])
def call(request):
    return request.param


@pytest.fixture(params=list(CLIENTS))
def client(request):
    return request.param


@pytest.fixture(scope="module", autouse=True)
def litellm_is_imported_and_nothing_left_open():
    """LiteLLM's import takes seconds, which no call's time limit should be measured with. At the end a connection that
    nobody closed warns as it is collected, and a warning is an error here."""
    import_litellm()
    yield
    gc.collect()


def failing(call, chat):
    """What was said before the error, and the error, which has come in time."""
    said: list[str] = []
    began = time.monotonic()
    with pytest.raises(AmemError) as caught:
        call(chat, said)
    assert time.monotonic() - began < PATIENCE
    return "".join(said), caught.value


def wait_until(happened):
    deadline = time.monotonic() + 10
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.mark.thorough
@pytest.mark.parametrize(("fault", "client", "outcome"), ROWS)
def test_a_broken_server_is_one_clear_error_and_nothing_worse(fault, client, outcome, call):
    with FakeOllama(TEXT, fault=fault if isinstance(fault, Fault) else None) as server:
        chat = CLIENTS[client](server.host, TIMEOUT if fault is Fault.SLOW else 20)
        if fault == REFUSED:
            server.stop()
        elif fault == MISSING:
            server.models.clear()
        said, error = failing(call, chat)

        assert type(error) is outcome.error
        assert outcome.words in str(error)
        if outcome.passing is not None:
            assert error.passing is outcome.passing
        assert error.hint
        assert "\n" not in f"{error}{error.hint}"
        assert KEY not in f"{error}{error.hint}"
        breaks_in_the_middle = call is in_pieces and fault in (Fault.CUT, Fault.FAILING)
        assert TEXT.startswith(said)
        assert bool(said) is breaks_in_the_middle

        server.start()
        server.fault, server.models = None, ["llama3.2:latest"]
        again: list[str] = []
        call(CLIENTS[client](server.host, 20) if fault is Fault.SLOW else chat, again)
        assert "".join(again) == TEXT
        assert len([path for path, _ in server.requests if path != "/api/show"]) == (1 if fault == REFUSED else 2)


def test_a_slow_answer_is_waited_for(client, call):
    with FakeOllama(TEXT, fault=Fault.TRICKLE, pace=0.01) as server:
        said: list[str] = []
        call(CLIENTS[client](server.host, 20), said)
        assert "".join(said) == TEXT


def test_an_answer_that_stalls_is_given_up_and_the_server_is_let_go(client, call):
    with FakeOllama(TEXT, fault=Fault.TRICKLE, pace=60) as server:
        # A stream has to begin within the time limit, also on a machine that is busy.
        said, error = failing(call, CLIENTS[client](server.host, TIMEOUT if call is whole else 1))
        assert isinstance(error, ServiceUnavailable)
        assert error.hint
        assert TEXT.startswith(said)
        assert bool(said) is (call is in_pieces)
        wait_until(lambda: server.hung_up == 1)


def test_a_stream_that_is_closed_lets_the_server_go(client):
    with FakeOllama(TEXT, fault=Fault.TRICKLE, pace=60) as server:
        stream = CLIENTS[client](server.host, 20).stream([Message(Role.USER, "hello")])
        assert TEXT.startswith(next(stream))
        stream.close()
        wait_until(lambda: server.hung_up == 1)


def test_a_server_that_stops_in_the_middle_of_an_answer_may_be_asked_again(client):
    with FakeOllama(TEXT, fault=Fault.TRICKLE, pace=60) as server:
        chat = CLIENTS[client](server.host, 20)
        stream = chat.stream([Message(Role.USER, "hello")])
        next(stream)
        server.stop()
        with pytest.raises(ServiceUnavailable) as caught:
            list(stream)
        assert caught.value.passing
        server.start()
        server.fault = None
        assert chat.complete("hello") == TEXT


def test_faults_may_be_scripted_for_single_calls(client, call):
    with FakeOllama([Fault.ERROR, Fault.RESET, Fault.BUSY, TEXT]) as server:
        chat = CLIENTS[client](server.host, 20)
        for _ in range(3):
            assert failing(call, chat)[1].passing
        said: list[str] = []
        call(chat, said)
        assert "".join(said) == TEXT


def test_what_a_model_writes_badly_arrives_as_it_was_written(client, call):
    with FakeOllama(TEXT) as server:
        chat = CLIENTS[client](server.host, 20)
        for server.fault in (Fault.EMPTY, Fault.TRUNCATED, Fault.FENCED, Fault.CHATTY, Fault.OBEDIENT, Fault.NOISE):
            said: list[str] = []
            call(chat, said)
            assert "".join(said) == spoil(server.fault, TEXT)


@pytest.mark.parametrize("fault", [Fault.THINKING, Fault.UNCLOSED])
@pytest.mark.parametrize("client", ["ollama", "openai"])
def test_thoughts_are_no_part_of_a_streamed_answer(client, fault):
    with FakeOllama(TEXT, fault=fault) as server:
        said: list[str] = []
        in_pieces(CLIENTS[client](server.host, 20), said)
        assert "".join(said) == (TEXT if fault is Fault.THINKING else "")


def test_a_key_that_the_server_repeats_stays_secret(call):
    with FakeOllama(TEXT, fault=Fault.DENIED) as server:
        _, error = failing(call, CLIENTS["openai"](server.host, TIMEOUT))
    assert KEY not in f"{error} {error.hint}"
    assert "AMEM_API_KEY" in error.hint
