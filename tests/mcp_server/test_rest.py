"""The tools by plain HTTP: what a program without MCP can do, what it is refused, and how it is told."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette

from amem.mcp.collections import TOOLS
from amem.mcp.rest import routes
from amem.mcp.serving import WithToken

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp_hosts import Host

ALLOWED = TransportSecuritySettings(allowed_hosts=["amem.test"], allowed_origins=["http://amem.test"])
TOKEN = {"Authorization": "Bearer of-this-test-alone"}


@asynccontextmanager
async def door(host: Host, **options: Any) -> AsyncIterator[httpx2.AsyncClient]:
    """A program at the door of a server in this process."""
    collections = host.collections(**options)
    app = WithToken(Starlette(routes=routes(collections, ALLOWED)), "of-this-test-alone")
    try:
        async with httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=app), base_url="http://amem.test", headers=TOKEN
        ) as client:
            yield client
    finally:
        collections.close()


async def test_a_program_lists_the_tools_and_calls_them(host: Host) -> None:
    async with door(host) as client:
        tools = (await client.get("/tools")).json()["tools"]
        assert tuple(each["name"] for each in tools) == TOOLS
        assert all(each["parameters"]["type"] == "object" and each["result"] for each in tools)
        written = await client.post("/tools/write", json={"content": "我住在里斯本。"}, headers={"X-Client": "My App"})
        assert written.status_code == 200
        found = (await client.post("/tools/search", json={"query": "我住在哪里？"})).json()["result"]
        assert [each["id"] for each in found] == [written.json()["result"]["id"]]
        listed = await client.post("/tools/list", content=b"", headers={"Content-Type": "application/json"})
        assert "里斯本" in listed.text
        log = (await client.post("/tools/history", json={})).json()["result"]
        assert {each["actor"] for each in log if each["action"] == "add"} == {"agent:my-app"}


@pytest.mark.parametrize(
    ("tool", "body", "status", "said"),
    [
        ("search", b"{}", 400, "the argument 'query' is missing"),
        ("context", b'{"question": "Where?"}', 400, "there is no argument 'question'"),
        ("search", b'{"query": 5}', 400, "must be of type string"),
        ("search", b"[]", 400, "the arguments must be an object"),
        ("search", b"{", 400, "the arguments are not JSON"),
        ("search", b"\xff", 400, "not UTF-8"),
        ("read", b'{"id": "nobody"}', 400, "no note"),
        ("forget", b"{}", 404, "there is no tool 'forget'"),
        ("write", b" " * (4 << 20) + b"{}", 413, "too long"),
    ],
)
async def test_what_a_program_gets_wrong_is_told_and_changes_nothing(
    host: Host, tool: str, body: bytes, status: int, said: str
) -> None:
    async with door(host) as client:
        refused = await client.post(f"/tools/{tool}", content=body, headers={"Content-Type": "application/json"})
        assert refused.status_code == status
        assert said in refused.json()["error"]
        assert set(refused.json()) == {"error", "hint"}
        assert (
            status != 400 or tool == "read" or "object" in refused.json()["hint"] or "query" in refused.json()["hint"]
        )
        assert (await client.post("/tools/list", json={})).json()["result"]["total"] == 0


async def test_a_fault_of_amem_is_told_and_the_next_call_is_served(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    async with door(host) as client:
        with monkeypatch.context() as patch:
            patch.setattr("amem.scoped.ScopedMemory.ask", lambda *_: 1 / 0)
            failed = await client.post("/tools/search", json={"query": "x"})
        assert failed.status_code == 500
        assert "unexpected ZeroDivisionError" in failed.json()["error"]
        assert (await client.post("/tools/search", json={"query": "x"})).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "headers", "status", "hint"),
    [
        ("POST", "/tools/write", {"Authorization": ""}, 401, "Authorization: Bearer"),
        ("POST", "/tools/write", {"Authorization": "Bearer wrong"}, 401, "Authorization: Bearer"),
        ("POST", "/tools/write", {"Origin": "https://evil.example"}, 403, "Origin"),
        ("POST", "/tools/write", {"Host": "evil.example"}, 421, "127.0.0.1"),
        ("POST", "/tools/write", {"Content-Type": "text/plain"}, 400, "Content-Type: application/json"),
        ("POST", "/tools/write", {"Content-Type": ""}, 400, "Content-Type: application/json"),
        ("POST", "/tools/write", {"X-Client": b"\xff\xfe"}, 400, "UTF-8"),
        ("GET", "/tools/write", {}, 405, "POST /tools/write"),
        ("DELETE", "/tools/write", {}, 405, "POST /tools/write"),
        ("POST", "/tools", {}, 405, "GET /tools"),
        ("POST", "/tools/write/more", {}, 404, "GET /tools"),
        ("GET", "/tools", {"Authorization": ""}, 401, "Authorization: Bearer"),
        ("GET", "/tools", {"Origin": "null"}, 403, "Origin"),
        ("GET", "/tools", {"Host": "evil"}, 421, "127.0.0.1"),
    ],
)
async def test_each_refusal_is_json_that_says_what_to_do(
    host: Host, method: str, path: str, headers: dict[str, Any], status: int, hint: str
) -> None:
    async with door(host) as client:
        refused = await client.request(method, path, json={"content": "planted"}, headers=headers)
        assert refused.status_code == status
        assert refused.headers["Content-Type"] == "application/json"
        assert set(refused.json()) == {"error", "hint"}
        assert hint in refused.json()["hint"]
        assert status != 405 or refused.headers["Allow"] in hint
        assert not (host.home / "memories").exists()


async def test_a_tool_that_needs_no_arguments_needs_no_body_and_no_content_type(host: Host) -> None:
    async with door(host) as client:
        assert (await client.post("/tools/list")).json()["result"]["total"] == 0
        assert "'query' is missing" in (await client.post("/tools/search")).json()["error"]


async def test_a_client_is_logged_by_its_name_in_any_script(host: Host) -> None:
    async with door(host) as client:
        await client.post("/tools/write", json={"content": "x y"}, headers={"X-Client": "小助手".encode()})
        log = (await client.post("/tools/history")).json()["result"]
        assert {each["actor"] for each in log if each["action"] == "add"} == {"agent:小助手"}


async def test_a_door_that_only_reads_offers_no_other_tool(host: Host) -> None:
    async with door(host) as client:
        await client.post("/tools/write", json={"content": "The kettle is green."})
    async with door(host, read_only=True) as client:
        assert (await client.post("/tools/list", json={})).json()["result"]["total"] == 1
        assert (await client.post("/tools/write", json={"content": "x"})).status_code == 404
