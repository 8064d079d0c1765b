"""Embedders behind a server, against a real loopback server that speaks the protocol."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from amem.embedding import ensure_model, make_embedder
from amem.errors import BadModelAnswer, MissingModel, ServiceUnavailable
from amem.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from amem.protocols import Embedder

MODEL = "nomic-embed-text"


def vector(text: str) -> list[float]:
    """Not of unit length; tells texts apart by their length and first character."""
    return [3.0 + len(text), float(ord(text[0]) % 7), 4.0]


@dataclass
class Served:
    """The server's address, what it was asked, and how it should misbehave."""

    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    short: bool = False
    failing: bool = False

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.asked.append(body)
        texts = body["input"][1:] if self.short else body["input"]
        if self.failing:
            return 500, {"error": "out of memory"}
        if path == "/api/embed":
            if body["model"] != MODEL:
                return 404, {"error": f'model "{body["model"]}" not found, try pulling it first'}
            return 200, {"model": MODEL, "embeddings": [vector(text) for text in texts]}
        if path == "/v1/embeddings":
            rows = [{"object": "embedding", "index": n, "embedding": vector(text)} for n, text in enumerate(texts)]
            usage = {"prompt_tokens": 1, "total_tokens": 1}
            return 200, {"object": "list", "model": body["model"], "data": rows, "usage": usage}
        return 404, {"error": "no such path"}


@contextmanager
def listening(served: Served) -> Iterator[None]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            served.keys.append(self.headers.get("Authorization"))
            status, answer = served.answer(self.path, body)
            payload = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def served() -> Iterator[Served]:
    one = Served()
    with listening(one):
        yield one


def by_ollama(served: Served, cache: Path, model: str = MODEL) -> Embedder:
    return make_embedder(Settings(cache=cache, ollama_host=served.url, llm_timeout=5), f"ollama/{model}")


def test_ollama_texts_become_unit_rows_in_their_order(served: Served, tmp_path: Path) -> None:
    texts = ["tea", "茶道", "a longer one"]
    rows = by_ollama(served, tmp_path).embed(texts)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)
    for text, row in zip(texts, rows, strict=True):
        expected = np.array(vector(text))
        np.testing.assert_allclose(row, expected / np.linalg.norm(expected), atol=1e-6)


def test_ollama_is_asked_in_batches_and_only_when_needed(served: Served, tmp_path: Path) -> None:
    embedder = by_ollama(served, tmp_path)
    assert served.asked == []
    assert embedder.name == f"ollama/{MODEL}"
    assert embedder.embed([f"text {number}" for number in range(70)]).shape == (70, 3)
    assert [len(request["input"]) for request in served.asked] == [32, 32, 6]


def test_ollama_tells_the_dimension_once(served: Served, tmp_path: Path) -> None:
    embedder = by_ollama(served, tmp_path)
    assert embedder.embed([]).shape == (0, 3)
    assert (embedder.dimension, embedder.dimension, len(served.asked)) == (3, 3, 1)


def test_a_model_ollama_lacks_comes_with_the_pull_command(served: Served, tmp_path: Path) -> None:
    with pytest.raises(MissingModel, match="does not have the model bge-m3") as caught:
        by_ollama(served, tmp_path, "bge-m3").embed(["tea"])
    assert caught.value.hint == "run `amem models pull bge-m3`"


def test_an_ollama_that_does_not_run_is_one_clear_error(tmp_path: Path) -> None:
    served = Served()
    with listening(served):
        pass
    with pytest.raises(ServiceUnavailable, match=f"no Ollama answers at {served.url}") as caught:
        by_ollama(served, tmp_path).embed(["tea"])
    assert "ollama serve" in caught.value.hint


def test_an_ollama_that_fails_says_why(served: Served, tmp_path: Path) -> None:
    served.failing = True
    with pytest.raises(ServiceUnavailable, match="out of memory"):
        by_ollama(served, tmp_path).embed(["tea"])


def test_an_answer_with_a_vector_too_few_is_refused(served: Served, tmp_path: Path) -> None:
    served.short = True
    with pytest.raises(BadModelAnswer, match="answered 2 texts with 1 vectors"):
        by_ollama(served, tmp_path).embed(["tea", "coffee"])


def test_setup_proves_that_the_served_model_answers(served: Served, tmp_path: Path) -> None:
    settings = Settings(cache=tmp_path, ollama_host=served.url, embed_model=f"ollama/{MODEL}")
    assert "3 dimensions" in str(ensure_model(settings))


def by_litellm(served: Served, cache: Path, name: str = "openai/small") -> Embedder:
    settings = Settings(cache=cache, api_base=f"{served.url}/v1", api_key="sk-of-the-test", llm_timeout=5)
    return make_embedder(settings, name)


@pytest.mark.thorough
def test_litellm_reaches_an_openai_compatible_server(served: Served, tmp_path: Path) -> None:
    embedder = by_litellm(served, tmp_path)
    rows = embedder.embed([f"{number} texts" for number in range(40)])
    assert rows.shape == (40, embedder.dimension) == (40, 3)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)
    assert [len(request["input"]) for request in served.asked] == [32, 8, 1]
    assert set(served.keys) == {"Bearer sk-of-the-test"}


def test_a_litellm_server_that_fails_is_one_clear_error(served: Served, tmp_path: Path) -> None:
    served.failing = True
    with pytest.raises(ServiceUnavailable, match="cannot embed with openai/small") as caught:
        by_litellm(served, tmp_path).embed(["tea"])
    assert "\n" not in str(caught.value)
    assert "sk-of-the-test" not in str(caught.value)


@pytest.mark.thorough
def test_litellm_does_not_read_an_env_file_of_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("OPENAI_API_BASE=http://elsewhere.invalid\n")
    script = """
import os
from amem.library_imports import import_litellm
import_litellm()
print([os.environ.get(name) for name in ("OPENAI_API_BASE", "LITELLM_MODE", "LITELLM_LOCAL_MODEL_COST_MAP")])
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[None, None, None]"
