"""Model servers that drip, never stop, send on, pack, nest or repeat the key: each ends as one clear error."""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from amem.analysts.choose import chat_model
from amem.embedding import make_embedder
from amem.errors import AmemError, BadModelAnswer, Cancelled, ServiceUnavailable
from amem.library_imports import import_litellm
from amem.llm.ollama_models import chat_models, models, pull, window
from amem.note import Message, Role
from amem.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# LiteLLM's answer types meet a pydantic newer than they were written for.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Item 'summary' on TypedDict class:UserWarning:pydantic"),
    pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning"),
    pytest.mark.timeout(120),
]

SECRET = "sk-own-0123456789abcdef"
PROMPT = "Wen is allergic to shrimp."
#: Bytes that an answer may have here.
MOST = 20_000
MB = 1_000_000


@dataclass
class Hostile:
    """A server that does to each connection what `answer` does, after it has read the request."""

    answer: Callable[[socket.socket, bytes], None]
    asked: list[bytes] = field(default_factory=list)
    sent: int = 0
    over: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._threads = [threading.Thread(target=self._serve, daemon=True)]
        self._threads[0].start()

    @property
    def host(self) -> str:
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._take, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _take(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            request = b""
            while b"\r\n\r\n" not in request:
                if not (some := connection.recv(65_536)):
                    return
                request += some
            head, _, body = request.partition(b"\r\n\r\n")
            length = next(
                (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0
            )
            while len(body) < length and (some := connection.recv(65_536)):
                body += some
            self.asked.append(head + b"\r\n\r\n" + body)
            self.answer(connection, self.asked[-1])

    def stop(self) -> None:
        self.over.set()
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for thread in self._threads:
            thread.join(10)


@pytest.fixture
def hostile() -> Iterator[Callable[..., Hostile]]:
    begun: list[Hostile] = []

    def begin(answer: Callable[..., None]) -> Hostile:
        begun.append(Hostile(lambda connection, request: answer(begun[-1], connection, request)))
        return begun[-1]

    yield begin
    for each in begun:
        each.stop()


@pytest.fixture(scope="module", autouse=True)
def litellm_is_imported() -> None:
    """Its import takes seconds, which no call's time limit should be measured with."""
    import_litellm()


# -- what a server does ------------------------------------------------------------------------------------------------


def head(status: str = "200 OK", **headers: str) -> bytes:
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([f"HTTP/1.1 {status}", "Content-Type: application/json", *lines, "", ""]).encode()


def whole(body: bytes, status: str = "200 OK", **headers: str) -> Callable[..., None]:
    def answer(server: Hostile, connection: socket.socket, request: bytes) -> None:
        connection.sendall(head(status, Content_Length=str(len(body)), **headers) + body)

    return answer


def drip(server: Hostile, connection: socket.socket, request: bytes) -> None:
    """A byte each tenth of a second, for ever."""
    connection.sendall(head())
    while not server.over.wait(0.1):
        connection.sendall(b" ")


def drip_head(server: Hostile, connection: socket.socket, request: bytes) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while not server.over.wait(0.1):
        connection.sendall(b"x")


def endless(server: Hostile, connection: socket.socket, request: bytes) -> None:
    """A line without an end, as fast as it is read."""
    connection.sendall(head() + b'data: {"a": "')
    while not server.over.is_set():
        server.sent += connection.send(b"x" * 65_536)


def huge(server: Hostile, connection: socket.socket, request: bytes) -> None:
    """40 MB of answer in one piece."""
    said = {"message": {"role": "assistant", "content": "x" * 40 * MB}, "done": True}
    text = json.dumps(said).encode()
    connection.sendall(head(Content_Length=str(len(text))))
    for start in range(0, len(text), MB):
        server.sent += connection.send(text[start : start + MB])


def deep(server: Hostile, connection: socket.socket, request: bytes) -> None:
    whole(b'{"message": ' + b"[" * 9_000 + b"]" * 9_000 + b"}\n")(server, connection, request)


def deep_error(server: Hostile, connection: socket.socket, request: bytes) -> None:
    whole(b'{"error": ' + b"[" * 9_000 + b"]" * 9_000 + b"}\n", "500 No")(server, connection, request)


def packed(server: Hostile, connection: socket.socket, request: bytes) -> None:
    """A megabyte of blanks in a thousand bytes."""
    whole(gzip.compress(b" " * MB), Content_Encoding="gzip")(server, connection, request)


def not_numbers(server: Hostile, connection: socket.socket, request: bytes) -> None:
    """A million tokens times a million, and vectors of things that are no numbers."""
    count = 10**30
    usage = {"prompt_tokens": count, "completion_tokens": count, "total_tokens": count}
    rows = [{"object": "embedding", "index": 0, "embedding": [count**10, "x"]}]
    if b"/api/embed" in request:
        said: dict[str, Any] = {"model": "m", "embeddings": [[1e300, 1.0]]}
    elif b"/embeddings" in request:
        said = {"object": "list", "model": "m", "data": rows, "usage": usage}
    elif b'"stream":true' in request.replace(b" ", b"") and b"/v1/" in request:
        part = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        said = part | {"choices": [{"index": 0, "finish_reason": "stop", "delta": {"content": "Hi"}}]}
        last = part | {"choices": [], "usage": usage}
        events = b"".join(b"data: %s\n\n" % json.dumps(each).encode() for each in (said, last))
        return whole(events + b"data: [DONE]\n\n")(server, connection, request)
    elif b"/v1/" in request:
        said = {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hi"}}],
            "usage": usage,
        }
    else:
        said = {"model": "m", "message": {"role": "assistant", "content": "Hi"}, "done": True}
        said |= {"done_reason": "stop", "prompt_eval_count": count, "eval_count": count}
    return whole(json.dumps(said).encode() + b"\n")(server, connection, request)


# -- who asks it -------------------------------------------------------------------------------------------------------


def settings(host: str, **given: Any) -> Settings:
    bounds = {"llm_timeout": 60, "llm_stream_timeout": 60, "llm_answer_bytes": MOST} | given
    return Settings(ollama_host=host, api_base=f"{host}/v1", api_key=SECRET, **bounds)


def answered(name: str) -> Callable[[Settings], str]:
    return lambda settings: chat_model(name, settings).complete(PROMPT)


def streamed(name: str) -> Callable[[Settings], str]:
    return lambda settings: "".join(chat_model(name, settings).stream([Message(Role.USER, PROMPT)]))


def embedded(name: str) -> Callable[[Settings], Any]:
    return lambda settings: make_embedder(settings, name).embed([PROMPT])


def through_ollama_chat(settings: Settings) -> Settings:
    return settings.replaced(api_base=settings.ollama_host)


CALLS: dict[str, Callable[[Settings], Any]] = {
    "ollama answers": answered("ollama/m"),
    "ollama streams": streamed("ollama/m"),
    "ollama embeds": embedded("ollama/m"),
    "openai answers": answered("openai/m"),
    "openai streams": streamed("openai/m"),
    "openai embeds": embedded("openai/m"),
    "litellm's ollama answers": lambda settings: answered("ollama_chat/m")(through_ollama_chat(settings)),
    "litellm's ollama streams": lambda settings: streamed("ollama_chat/m")(through_ollama_chat(settings)),
}


def each_call(test: Callable[..., None]) -> Callable[..., None]:
    """Every way in which amem asks a server; together they take a minute."""
    return pytest.mark.thorough(pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)(test))


def failing(call: Callable[[Settings], Any], settings: Settings) -> AmemError:
    """The one error of a call, which ended."""
    with pytest.raises(AmemError) as caught:
        call(settings)
    error = caught.value
    told = f"{error} {error.hint}"
    assert error.hint
    assert told.isprintable()
    assert len(told) < 500
    assert SECRET not in told
    return error


@each_call
@pytest.mark.parametrize("slow", [drip, drip_head])
def test_an_answer_that_drips_ends_at_its_deadline(
    call: Callable[[Settings], Any], slow: Callable[..., None], hostile: Callable[..., Hostile]
) -> None:
    assert "did not answer within" in str(failing(call, settings(hostile(slow).host, llm_timeout=0.5)))


def test_a_stream_of_empty_parts_ends_at_its_deadline(hostile: Callable[..., Hostile]) -> None:
    def empty(server: Hostile, connection: socket.socket, request: bytes) -> None:
        connection.sendall(head())
        while not server.over.wait(0.1):
            connection.sendall(b'{"model": "m", "message": {"role": "assistant", "content": ""}, "done": false}\n')

    error = failing(CALLS["ollama streams"], settings(hostile(empty).host, llm_stream_timeout=1))
    assert "did not answer within 1 seconds" in str(error)


@each_call
@pytest.mark.parametrize("large", [endless, huge])
def test_an_answer_without_an_end_is_given_up_after_so_many_bytes(
    call: Callable[[Settings], Any], large: Callable[..., None], hostile: Callable[..., Hostile]
) -> None:
    server = hostile(large)
    error = failing(call, settings(server.host))
    assert f"more than {MOST:,} bytes" in str(error)
    server.stop()
    # What lay between the two ends of the connection was sent, too.
    assert server.sent < 20 * MB


@each_call
def test_a_packed_answer_is_refused(call: Callable[[Settings], Any], hostile: Callable[..., Hostile]) -> None:
    server = hostile(packed)
    assert "packs its answer (gzip)" in str(failing(call, settings(server.host)))
    assert b"accept-encoding: identity" in server.asked[0].lower()


@each_call
@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"])
def test_nothing_is_sent_to_the_server_that_a_redirect_names(
    call: Callable[[Settings], Any], status: str, hostile: Callable[..., Hostile]
) -> None:
    thief = hostile(whole(b"{}"))
    server = hostile(whole(b"", status, Location=f"{thief.host.replace('//', f'//{SECRET}@')}/api/chat?{SECRET}"))
    error = failing(call, settings(server.host))
    assert f"sends on to {thief.host}, to which nothing was sent" in str(error)
    assert thief.asked == []
    assert len(server.asked) == 1


def test_a_redirect_within_the_same_server_is_followed(hostile: Callable[..., Hostile]) -> None:
    said = b'{"model": "m", "message": {"role": "assistant", "content": "Hi"}, "done": true}\n'

    def moved(server: Hostile, connection: socket.socket, request: bytes) -> None:
        here = b"POST /there" in request
        (whole(said) if here else whole(b"", "307 Temporary", Location="/there"))(server, connection, request)

    assert answered("ollama/m")(settings(hostile(moved).host)) == "Hi"


@each_call
@pytest.mark.parametrize("nested", [deep, deep_error])
def test_json_nested_too_deeply_is_one_clear_error(
    call: Callable[[Settings], Any], nested: Callable[..., None], hostile: Callable[..., Hostile]
) -> None:
    assert isinstance(failing(call, settings(hostile(nested).host)), ServiceUnavailable | BadModelAnswer)


@each_call
def test_numbers_that_cannot_be_are_one_clear_error(
    call: Callable[[Settings], Any], hostile: Callable[..., Hostile]
) -> None:
    assert isinstance(failing(call, settings(hostile(not_numbers).host)), ServiceUnavailable | BadModelAnswer)


@each_call
@pytest.mark.parametrize("status", ["400 Bad Request", "429 Too Many", "500 Broken"])
def test_a_key_that_an_error_repeats_is_masked(
    call: Callable[[Settings], Any], status: str, hostile: Callable[..., Hostile], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_API_KEY", "ollama-key-of-mine")
    monkeypatch.setenv("SOME_PROVIDER_TOKEN", "token-of-another")
    padding = "x" * 170  # where the error is cut, half a key could be left
    told = f"{padding} bad key {SECRET} ollama-key-of-mine token-of-another \x1b]52;c;eA==\x07 http://me:secret@host/"
    server = hostile(whole(json.dumps({"error": {"message": told, "type": "x"}}).encode(), status))
    error = failing(call, settings(server.host))
    for half in (SECRET[:6], "ollama-key", "token-of", "me:secret"):
        assert half not in f"{error}{error.hint}"


def test_a_key_in_an_error_is_not_stored_with_the_note(
    hostile: Callable[..., Hostile], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from amem import AgenticMemorySystem

    monkeypatch.setenv("OLLAMA_API_KEY", "ollama-key-of-mine")
    server = hostile(whole(b'{"error": "key ollama-key-of-mine is not one"}', "500 Broken"))
    chosen = settings(server.host, home=tmp_path, llm_backend="ollama", llm_model="m", llm_retries=0)
    with AgenticMemorySystem(settings=chosen) as memory:
        receipt = memory.add(PROMPT)
        assert "***" in (receipt.error or "")
        assert memory.read(receipt.id) is not None
    assert b"ollama-key-of-mine" in server.asked[-1]
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert PROMPT.encode() in kept
    assert b"ollama-key-of-mine" not in kept


@pytest.mark.parametrize("name", ["ollama/m", "openai/m"])
def test_a_call_that_drips_can_be_called_off(name: str, hostile: Callable[..., Hostile]) -> None:
    chat = chat_model(name, settings(hostile(drip).host))
    timer = threading.Timer(0.3, chat.cancel)  # type: ignore[attr-defined]
    timer.start()
    with pytest.raises(Cancelled):
        chat.complete(PROMPT)
    timer.join()


# -- what Ollama lists and pulls ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [drip, drip_head, endless, huge, deep, deep_error, packed, not_numbers])
def test_what_does_not_list_models_as_ollama_does_lists_none(
    bad: Callable[..., None], hostile: Callable[..., Hostile]
) -> None:
    server = hostile(bad)
    assert models(server.host, 1) is None
    assert window(server.host, "m", 1) == 0


def test_a_list_of_models_is_not_sent_elsewhere_and_holds_no_odd_names(hostile: Callable[..., Hostile]) -> None:
    thief = hostile(whole(b"{}"))
    assert models(hostile(whole(b"", "307 Temporary", Location=thief.host)).host, 1) is None
    assert thief.asked == []
    names = ["good:latest", "\x1b]52;c;eA==\x07", "a\nb", 5, "x" * 400, ""]
    listed = {"models": [{"name": name, "size": 10**400} for name in names]}
    server = hostile(whole(json.dumps(listed).encode()))
    assert chat_models(server.host, 1) == ["good:latest"]
    assert [each.size for each in models(server.host, 1) or ()] == [0]


@pytest.mark.parametrize("bad", [endless, huge, deep, packed])
def test_a_pull_from_what_is_no_ollama_is_one_clear_error(
    bad: Callable[..., None], hostile: Callable[..., Hostile]
) -> None:
    with pytest.raises(ServiceUnavailable) as caught:
        list(pull(hostile(bad).host, "m"))
    assert caught.value.hint


def test_a_pull_of_many_lines_is_not_bounded_by_all_of_them(hostile: Callable[..., Hostile]) -> None:
    def long(server: Hostile, connection: socket.socket, request: bytes) -> None:
        connection.sendall(head())
        for _ in range(60):
            connection.sendall(json.dumps({"status": "x" * 200_000}).encode() + b"\n")
        connection.sendall(b'{"status": "success"}\n')

    assert len(list(pull(hostile(long).host, "m"))) == 61


def test_nothing_of_a_call_stays_behind(hostile: Callable[..., Hostile]) -> None:
    server = hostile(drip)
    failing(CALLS["ollama answers"], settings(server.host, llm_timeout=0.5))
    end = time.monotonic() + 30
    while any(thread.name == "amem-deadline" for thread in threading.enumerate()):
        assert time.monotonic() < end
        time.sleep(0.01)
