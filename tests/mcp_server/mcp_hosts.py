"""An MCP server on a home of its own: in this process, over stdio, or over HTTP."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import Implementation

from amem.mcp.collections import Collections
from amem.mcp.server import make_server
from amem.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

AMEM = [sys.executable, "-c", "import sys; sys.argv[0] = 'amem'; from amem.cli import main; main()"]


@dataclass
class Host:
    """A home, and how clients reach the server of it."""

    home: Path
    cache: Path

    @property
    def env(self) -> dict[str, str]:
        settings = {"AMEM_CACHE": str(self.cache), "AMEM_LLM_BACKEND": "offline", "AMEM_TIMEZONE": "UTC"}
        return {**os.environ, **settings, "PYTHONPATH": os.pathsep.join(sys.path)}

    def command(self, *words: str) -> list[str]:
        return [*AMEM, "--home", str(self.home), "mcp", *words]

    def collections(self, **options: Any) -> Collections:
        settings = load_settings(str(self.home), cache=str(self.cache), llm_backend="offline", timezone="UTC")
        return Collections(settings, chroma=False, **options)

    @asynccontextmanager
    async def inside(self, name: str = "tester", mode: str = "auto", **options: Any) -> AsyncIterator[Client]:
        """A client of a server in this process."""
        collections = self.collections(**options)
        try:
            async with Client(make_server(collections), client_info=named(name), mode=mode) as client:
                yield client
        finally:
            collections.close()

    def stdio(self, *words: str, name: str = "tester", mode: str = "auto") -> Client:
        """A client that starts a server of its own."""
        first, *rest = self.command(*words)
        return Client(StdioServerParameters(command=first, args=rest, env=self.env), client_info=named(name), mode=mode)

    @contextmanager
    def http(self, *words: str) -> Iterator[Address]:
        """A server by HTTP, until left."""
        command = self.command("--http", "--port", "0", *words)
        process = subprocess.Popen(command, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            assert url.startswith("http://127.0.0.1:"), process.communicate(timeout=30)
            yield Address(url, (self.home / "mcp.token").read_text().strip())
        finally:
            process.terminate()
            said, errors = process.communicate(timeout=30)
        assert said == ""
        assert "Traceback" not in errors


@dataclass(frozen=True)
class Address:
    """Where a server answers, and the token that it asks for."""

    url: str
    token: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    @asynccontextmanager
    async def client(self, name: str = "tester", mode: str = "auto") -> AsyncIterator[Client]:
        async with (
            httpx2.AsyncClient(headers=self.headers, timeout=60) as http,
            Client(streamable_http_client(self.url, http_client=http), client_info=named(name), mode=mode) as client,
        ):
            yield client


def named(name: str) -> Implementation:
    return Implementation(name=name, version="1")


async def answer(client: Client, tool: str, **arguments: Any) -> Any:
    """The structured result of a call that must succeed."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    """What a call that must fail tells the model."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    (said,) = result.content
    assert said.type == "text"
    return said.text
