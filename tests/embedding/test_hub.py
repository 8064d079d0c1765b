"""The download from the hub, against a loopback server that answers as the hub does."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from amem.embedding.minilm import REPOSITORY, REVISION

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from amem.protocols import Embedder

SCRIPT = """
import sys
from pathlib import Path
from amem.embedding.minilm import open_minilm
from amem.embedding.minilm import Hub
from amem.errors import MissingModel
try:
    print(open_minilm(Path(sys.argv[1]), print, [Hub(onnx_sha256=sys.argv[2])]).encode(["tea"]).shape)
except MissingModel as error:
    print("MissingModel:", error)
"""


@dataclass
class Repository:
    """Files of one model repository, the requests for them, and whether the server is in trouble."""

    files: dict[str, bytes]
    failing: bool = False
    asked: list[str] = field(default_factory=list)


@contextmanager
def hub(repository: Repository) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.send(body=False)

        def do_GET(self) -> None:
            self.send(body=True)

        def send(self, *, body: bool) -> None:
            if REPOSITORY in self.path:  # the hub's library has questions of its own
                repository.asked.append(f"{self.command} {self.path}")
            content = repository.files.get(self.path.removeprefix(f"/{REPOSITORY}/resolve/{REVISION}/"))
            if repository.failing or content is None:
                self.send_error(503 if repository.failing else 404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("X-Repo-Commit", REVISION)
            self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
            self.end_headers()
            if body:
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def repository(tmp_path: Path, model_cache: Path, minilm: Embedder) -> Repository:
    import onnx

    minilm.embed(["so that the model is in the cache"])
    folder = model_cache / "models" / "all-MiniLM-L6-v2"
    onnx.save(onnx.load(folder / "model.onnx"), tmp_path / "single.onnx")
    return Repository(
        {
            "onnx/model.onnx": (tmp_path / "single.onnx").read_bytes(),
            "tokenizer.json": (folder / "tokenizer.json").read_bytes(),
        }
    )


def run(endpoint: str, tmp_path: Path, digest: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "HF_HUB_OFFLINE"}
    environment |= {"HF_ENDPOINT": endpoint, "HF_HOME": str(tmp_path / "hf")}
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "cache"), digest]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


@pytest.mark.thorough
def test_the_model_is_downloaded_once_and_verified(tmp_path: Path, repository: Repository) -> None:
    digest = hashlib.sha256(repository.files["onnx/model.onnx"]).hexdigest()
    with hub(repository) as endpoint:
        first = run(endpoint, tmp_path, digest)
        requests = len(repository.asked)
        second = run(endpoint, tmp_path, digest)
    assert first.splitlines()[0].startswith("downloading all-MiniLM-L6-v2")
    assert first.splitlines()[-1] == second.strip() == "(1, 384)"
    assert len(repository.asked) == requests


@pytest.mark.thorough
def test_a_downloaded_model_that_is_not_the_original_is_refused(tmp_path: Path, repository: Repository) -> None:
    with hub(repository) as endpoint:
        assert run(endpoint, tmp_path, "0" * 64).splitlines()[-1].startswith("MissingModel:")
    assert not (tmp_path / "cache" / "models" / "all-MiniLM-L6-v2").exists()


def test_a_hub_in_trouble_is_asked_once_and_not_again_and_again(tmp_path: Path, repository: Repository) -> None:
    repository.failing = True
    with hub(repository) as endpoint:
        assert run(endpoint, tmp_path, "0" * 64).startswith("MissingModel:")
    assert len(repository.asked) == 1
