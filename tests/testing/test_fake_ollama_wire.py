"""What the server that speaks Ollama does on the wire: pulling, pacing, breaking, stopping and coming back."""

from __future__ import annotations

import http.client
import json
import time

import httpx
import ollama
import pytest

from amem.testing import FakeOllama, Fault

HELLO = [{"role": "user", "content": "hello there"}]
LONG = "A long answer that comes in a good many pieces, 一段很长的回答。" * 4


@pytest.fixture
def server():
    with FakeOllama(LONG) as fake:
        yield fake


@pytest.fixture
def client(server):
    with ollama.Client(host=server.host, timeout=20) as client:
        yield client


def wait_until(happened):
    deadline = time.monotonic() + 10
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_pulling_reports_each_layer_and_ends_with_the_model_there(server, client):
    parts = list(client.pull("qwen3:4b", stream=True))
    assert (parts[0].status, parts[-1].status) == ("pulling manifest", "success")
    digests = {part.digest for part in parts if part.digest}
    assert len(digests) == 3
    for digest in digests:
        done = [(part.completed or 0, part.total) for part in parts if part.digest == digest]
        assert done == sorted(done)
        assert done[-1][0] == done[-1][1]
    assert [model.model for model in client.list().models] == ["qwen3:4b", "llama3.2:latest"]
    assert client.chat("qwen3:4b", HELLO).message.content == LONG
    assert client.pull("nomic-embed-text").status == "success"


@pytest.mark.parametrize("stream", [True, False])
def test_pulling_what_does_not_exist_says_what_ollama_says(client, stream):
    with pytest.raises(ollama.ResponseError, match="pull model manifest: file does not exist"):
        list(client.pull("nosuch", stream=stream))
    assert len(client.list().models) == 1


@pytest.mark.parametrize("fault", [Fault.CUT, Fault.FAILING])
def test_a_pull_that_breaks_off_leaves_no_model(server, client, fault):
    server.fault = fault
    seen = []
    with pytest.raises((httpx.HTTPError, ollama.ResponseError)):
        seen.extend(client.pull("qwen3:4b", stream=True))
    server.fault = None
    assert "qwen3:4b" not in [model.model for model in client.list().models]
    assert [part.status for part in client.pull("qwen3:4b", stream=True)][-1] == "success"


def test_show_says_how_much_a_model_can_read():
    with FakeOllama(context=4096) as fake, ollama.Client(host=fake.host) as client:
        assert client.show("llama3.2").modelinfo["llama.context_length"] == 4096
        with pytest.raises(ollama.ResponseError) as caught:
            client.show("nosuch")
        assert caught.value.status_code == 404


def test_a_model_can_be_deleted(client):
    assert client.delete("llama3.2").status == "success"
    assert client.list().models == []
    with pytest.raises(ollama.ResponseError):
        client.delete("llama3.2")


def test_a_stream_that_is_cut_gives_its_first_half_and_then_breaks(server, client):
    server.fault = Fault.CUT
    said = []
    with pytest.raises(httpx.RemoteProtocolError):
        said.extend(part.message.content for part in client.chat("llama3.2", HELLO, stream=True))
    assert LONG.startswith("".join(said))
    assert 0 < len("".join(said)) < len(LONG)
    with pytest.raises(httpx.RemoteProtocolError):
        client.chat("llama3.2", HELLO)


def test_a_stream_that_fails_half_way_ends_with_ollama_s_error(server, client):
    server.fault = Fault.FAILING
    said = []
    with pytest.raises(ollama.ResponseError, match="runner process has terminated"):
        said.extend(part.message.content for part in client.chat("llama3.2", HELLO, stream=True))
    assert said
    with pytest.raises(ollama.ResponseError):
        client.chat("llama3.2", HELLO)


def test_a_trickle_keeps_its_pace(server, client):
    server.fault, server.pace = Fault.TRICKLE, 0.005
    began = time.monotonic()
    parts = [part.message.content for part in client.chat("llama3.2", HELLO, stream=True)]
    assert "".join(parts) == LONG
    assert time.monotonic() - began >= 0.005 * (len(parts) - 1)


def test_a_whole_answer_comes_as_late_as_its_pieces_would(server, client):
    server.fault, server.pace = Fault.TRICKLE, 0.01
    began = time.monotonic()
    assert client.chat("llama3.2", HELLO).message.content == LONG
    assert time.monotonic() - began >= 0.01 * (len(LONG) // 16)


def test_a_trickle_ends_when_its_reader_leaves(server, client):
    server.fault, server.pace = Fault.TRICKLE, 60
    stream = client.chat("llama3.2", HELLO, stream=True)
    assert next(stream).message.content
    assert server.hung_up == 0
    stream.close()
    wait_until(lambda: server.hung_up == 1)


def test_a_stopping_server_breaks_off_what_it_is_saying(server, client):
    server.fault, server.pace = Fault.TRICKLE, 60
    stream = client.chat("llama3.2", HELLO, stream=True)
    next(stream)
    server.stop()
    with pytest.raises(httpx.HTTPError):
        next(stream)


def test_a_stopped_server_can_start_again_at_the_same_address(server, client):
    host = server.host
    server.stop()
    with pytest.raises(ConnectionError):
        client.chat("llama3.2", HELLO)
    server.start()
    server.start()
    assert server.host == host
    assert client.chat("llama3.2", HELLO).message.content == LONG


def test_a_server_that_never_started_has_no_address():
    with pytest.raises(RuntimeError, match="before it is started"):
        _ = FakeOllama().host


@pytest.mark.parametrize(("fault", "status"), [(Fault.BUSY, 503), (Fault.LIMITED, 429)])
def test_a_busy_server_says_when_to_come_back(server, fault, status):
    server.fault, server.retry_after = fault, 2.5
    answer = httpx.post(f"{server.host}/api/chat", json={"model": "llama3.2", "messages": HELLO})
    assert (answer.status_code, answer.headers["Retry-After"]) == (status, "2.5")


def test_a_reset_is_a_reset(server):
    server.fault = Fault.RESET
    with pytest.raises((httpx.ReadError, httpx.RemoteProtocolError)):
        httpx.post(f"{server.host}/api/chat", json={"model": "llama3.2", "messages": HELLO})


def test_another_server_answers_everything_with_its_page(server):
    server.fault = Fault.NOT_OLLAMA
    answers = [httpx.get(f"{server.host}/api/tags"), httpx.post(f"{server.host}/api/chat", json={"model": "llama3.2"})]
    assert {(answer.status_code, answer.headers["Content-Type"]) for answer in answers} == {(200, "text/html")}


def test_a_script_may_hold_faults_for_single_calls():
    with FakeOllama([Fault.ERROR, Fault.RESET, "well"]) as fake, ollama.Client(host=fake.host) as client:
        with pytest.raises(ollama.ResponseError):
            client.chat("llama3.2", HELLO)
        with pytest.raises(httpx.HTTPError):
            client.chat("llama3.2", HELLO)
        assert client.chat("llama3.2", HELLO).message.content == "well"


def test_a_mistake_in_a_script_is_seen():
    def broken(request):
        return request["nothing"]

    with FakeOllama(broken) as fake:
        answer = httpx.post(f"{fake.host}/api/chat", json={"model": "llama3.2", "messages": HELLO})
    assert (answer.status_code, answer.json()) == (500, {"error": "KeyError: 'nothing'"})


def test_openai_s_paths_answer_at_once_and_in_a_stream(server):
    url, asked = f"{server.host}/v1/chat/completions", {"model": "llama3.2", "messages": HELLO}
    whole = httpx.post(url, json=asked).json()
    assert whole["choices"][0]["message"] == {"role": "assistant", "content": LONG}
    assert whole["usage"]["prompt_tokens"] == 2
    lines = httpx.post(url, json={**asked, "stream": True, "stream_options": {"include_usage": True}}).text.split(
        "\n\n"
    )
    assert lines[-2:] == ["data: [DONE]", ""]
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines[:-2]]
    assert chunks[-1]["usage"] == whole["usage"]
    said = [choice["delta"].get("content", "") for chunk in chunks for choice in chunk["choices"]]
    assert "".join(said) == LONG
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"


def test_openai_s_errors_have_openai_s_shape(server):
    url = f"{server.host}/v1/chat/completions"
    missing = httpx.post(url, json={"model": "nosuch", "messages": HELLO})
    assert (missing.status_code, missing.json()["error"]["message"]) == (404, "model 'nosuch' not found")
    server.fault = Fault.DENIED
    denied = httpx.post(url, json={"model": "llama3.2", "messages": HELLO}, headers={"Authorization": "Bearer sk-1"})
    assert (denied.status_code, denied.json()["error"]["message"]) == (401, "incorrect API key provided: sk-1")


def test_openai_s_paths_list_models_and_embed(server):
    assert [model["id"] for model in httpx.get(f"{server.host}/v1/models").json()["data"]] == ["llama3.2:latest"]
    answer = httpx.post(f"{server.host}/v1/embeddings", json={"model": "llama3.2", "input": ["tea", "茶"]}).json()
    assert [len(row["embedding"]) for row in answer["data"]] == [64, 64]


def test_a_truncated_answer_says_that_it_hit_its_limit(server, client):
    server.fault = Fault.TRUNCATED
    assert client.chat("llama3.2", HELLO).done_reason == "length"


def test_the_version_is_told(server):
    connection = http.client.HTTPConnection(server.host.removeprefix("http://"), timeout=20)
    connection.request("GET", "/api/version")
    assert "version" in json.loads(connection.getresponse().read())
    connection.close()
