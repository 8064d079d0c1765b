"""The server that speaks Ollama's protocol, asked by Ollama's own client and by bare HTTP."""

from __future__ import annotations

import http.client
import json

import numpy as np
import ollama
import pytest

from amem.testing import FakeOllama, Fault, HashEmbedder

HELLO = [{"role": "user", "content": "hello there"}]


@pytest.fixture
def server():
    with FakeOllama("The answer is forty-two, 四十二。", models=["llama3.2:latest", "nomic-embed-text:latest"]) as fake:
        yield fake


@pytest.fixture
def client(server):
    with ollama.Client(host=server.host, timeout=20) as client:
        yield client


def test_models_are_listed_and_shown(client):
    assert [model.model for model in client.list().models] == ["llama3.2:latest", "nomic-embed-text:latest"]
    assert client.show("llama3.2").capabilities == ["completion"]
    assert client.show("nomic-embed-text").capabilities == ["embedding"]


def test_chat_answers_at_once_and_in_a_stream(client):
    whole = client.chat("llama3.2", HELLO)
    assert whole.message.content == "The answer is forty-two, 四十二。"
    assert (whole.done, whole.prompt_eval_count, whole.eval_count) == (True, 2, 5)
    parts = list(client.chat("llama3.2", HELLO, stream=True))
    assert len(parts) > 2
    assert "".join(part.message.content for part in parts) == whole.message.content
    assert [part.done for part in parts] == [False] * (len(parts) - 1) + [True]


def test_generate_answers_at_once_and_in_a_stream(client):
    whole = client.generate("llama3.2", "hello there")
    assert whole.response == "The answer is forty-two, 四十二。"
    assert "".join(part.response for part in client.generate("llama3.2", "hello", stream=True)) == whole.response


def test_texts_are_embedded(client):
    answer = client.embed("nomic-embed-text", ["tea", "茶"])
    np.testing.assert_allclose(answer.embeddings, HashEmbedder().embed(["tea", "茶"]), atol=1e-6)


def test_the_format_that_was_asked_for_is_kept(server, client):
    client.chat("llama3.2", HELLO, format={"type": "object"})
    assert server.asked("/api/chat")[0]["format"] == {"type": "object"}


def test_answers_are_used_up_in_order_and_running_out_is_an_error():
    with FakeOllama(["one", {"two": 2}]) as fake, ollama.Client(host=fake.host) as client:
        assert client.chat("llama3.2", HELLO).message.content == "one"
        assert json.loads(client.chat("llama3.2", HELLO).message.content) == {"two": 2}
        with pytest.raises(ollama.ResponseError, match="no answers left"):
            client.chat("llama3.2", HELLO)


def test_an_answer_may_depend_on_the_request():
    def backwards(request):
        return request["messages"][0]["content"][::-1]

    with FakeOllama(backwards) as fake, ollama.Client(host=fake.host) as client:
        assert client.chat("llama3.2", HELLO).message.content == "ereht olleh"


def test_faults_come_and_go(server, client):
    server.fault = Fault.ERROR
    with pytest.raises(ollama.ResponseError) as caught:
        client.chat("llama3.2", HELLO)
    assert caught.value.status_code == 500
    server.fault = Fault.TRUNCATED
    assert client.chat("llama3.2", HELLO).message.content == "The answer is "
    server.fault = Fault.FENCED
    assert "```json\nThe answer" in client.chat("llama3.2", HELLO).message.content
    server.fault = None
    assert client.chat("llama3.2", HELLO).message.content.startswith("The answer")


def test_a_model_that_was_not_pulled_is_not_found(client):
    with pytest.raises(ollama.ResponseError) as caught:
        client.chat("mistral", HELLO)
    assert caught.value.status_code == 404


def test_a_stopped_server_refuses_connections():
    with FakeOllama("x") as fake, ollama.Client(host=fake.host) as client:
        assert client.chat("llama3.2", HELLO).message.content == "x"
        fake.stop()
        with pytest.raises(ConnectionError):
            client.chat("llama3.2", HELLO)


def test_other_paths_are_not_found(server):
    connection = http.client.HTTPConnection(server.host.removeprefix("http://"), timeout=20)
    connection.request("POST", "/api/nonsense", body='{"model": "llama3.2"}')
    assert connection.getresponse().status == 404
    connection.close()
