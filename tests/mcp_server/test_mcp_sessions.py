"""MCP clients of real servers: over stdio and HTTP, several at once, one that dies, and those that are turned away."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from mcp_hosts import answer

from amem.mcp.serving import token_of
from amem.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcp import Client
    from mcp_hosts import Address, Host

pytestmark = pytest.mark.thorough
PROTOCOL = "2025-11-25"
#: ``amem`` with a library in it that writes to stdout while a call is served.
_PRINTING = """
import os, sys
from amem.mcp.collections import Collections
opened = Collections._opened

def printing(self, name):
    print("printed by a library", flush=True)
    os.write(1, b"printed by a library\\n")
    return opened(self, name)

Collections._opened = printing
sys.argv[0] = "amem"
from amem.cli import main
main()
"""


async def store_contradict_ask_undo(client: Client) -> None:
    rome = await answer(client, "write", content="I live in Rome.", time="2026-03-01")
    berlin = await answer(client, "write", content="I moved to Berlin.", time="2026-06-22")
    assert [each["id"] for each in berlin["overturned"]] == [rome["id"]]
    said = await answer(client, "ask", question="Where do I live?")
    assert "Berlin" in said["answer"]
    assert [each["id"] for each in said["citations"]] == [berlin["id"]]
    assert (await answer(client, "undo"))["undone"] == berlin["operation"]
    said = await answer(client, "ask", question="Where do I live?")
    assert "Rome" in said["answer"]
    assert (await answer(client, "read", id=rome["id"]))["status"] == "active"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_session_over_stdio_stores_contradicts_asks_and_undoes(host: Host, mode: str) -> None:
    async with host.stdio(mode=mode) as client:
        await store_contradict_ask_undo(client)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_session_over_http_stores_contradicts_asks_and_undoes(host: Host, mode: str) -> None:
    with host.http() as address:
        async with address.client(mode=mode) as client:
            await store_contradict_ask_undo(client)


async def test_two_clients_at_once_share_the_notes_and_undo_their_own(host: Host) -> None:
    with host.http() as address:
        async with address.client("one") as one, address.client("two") as two:

            async def wrote(client: Client, who: str) -> list[str]:
                return [
                    (await answer(client, "write", content=f"Buoy {n} of {who} drifts north."))["id"] for n in range(8)
                ]

            first, second = await asyncio.gather(wrote(one, "one"), wrote(two, "two"))
            assert len({*first, *second}) == 16
            assert (await answer(one, "read", id=second[0]))["content"] == "Buoy 0 of two drifts north."
            await asyncio.gather(answer(one, "undo"), answer(two, "undo"))
        async with address.client() as other, host.stdio() as neighbour:
            for id in (first[-1], second[-1]):
                assert (await other.call_tool("read", {"id": id})).is_error
            for id in (*first[:-1], *second[:-1]):
                assert (await answer(neighbour, "read", id=id))["status"] == "active"


async def test_a_client_that_dies_in_a_call_leaves_others_and_the_notes_whole(host: Host) -> None:
    with host.http() as address:
        async with address.client() as other:
            headers = _session(address)
            dying = [f"Half a word {number} from one that died." for number in range(3)]
            for content in dying:
                await _die_in_a_call(address, headers, content)
            assert (await answer(other, "write", content="Still here."))["status"] == "stored"
            assert (await answer(other, "maintain", dry_run=True))["problems"] == []
            found = (await answer(other, "search", query="half a word from one that died"))["results"]
            assert {each["content"] for each in found} <= {*dying, "Still here."}
    _is_whole(host)


def test_a_server_whose_client_dies_in_a_call_ends_and_leaves_the_notes_whole(host: Host) -> None:
    with _started(host.command(), host) as (process, send, read):
        send(*_initialize(), _call(2, "write", content="The first is answered."))
        while read().get("id") != 2:
            pass
        send(_call(3, "write", content="Nobody waits for this one."))
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.close()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 0
    _is_whole(host)


def test_stdout_carries_nothing_but_the_protocol(host: Host) -> None:
    with _started([sys.executable, "-c", _PRINTING, *host.command()[3:]], host) as (process, send, read):
        send(
            *_initialize(),
            _call(2, "write", content="I live in Rome."),
            _call(3, "ask", question="Where do I live?"),
            _call(4, "nothing"),
            {"jsonrpc": "2.0", "id": 5, "method": "no/such/method"},
        )
        answered: set[Any] = set()
        while not {1, 2, 3, 4, 5} <= answered:
            message = read()
            assert message["jsonrpc"] == "2.0"
            answered.add(message.get("id"))
        said, errors = process.communicate(timeout=60)
        assert said == b""
        assert errors.count(b"printed by a library") == 2
        assert process.returncode == 0


def test_who_lacks_the_token_or_comes_from_elsewhere_is_turned_away(host: Host) -> None:
    with host.http() as address:
        allowed = {"Accept": "application/json, text/event-stream", **address.headers}
        assert httpx2.post(address.url, json=_initialize()[0], headers=allowed).status_code == 200
        for headers, status in (
            ({"Authorization": ""}, 401),
            ({"Authorization": "Bearer wrong"}, 401),
            ({"Authorization": f"Basic {address.token}"}, 401),
            ({"Origin": "https://evil.example"}, 403),
            ({"Origin": "http://127.0.0.1.evil.example"}, 403),
            ({"Origin": "http://localhost:1"}, 403),
            ({"Origin": "null"}, 403),
            ({"Host": "evil.example"}, 421),
            ({"Host": "127.0.0.1:1"}, 421),
        ):
            for call in (_initialize()[0], _call(2, "write", content="planted")):
                refused = httpx2.post(address.url, json=call, headers={**allowed, **headers})
                assert refused.status_code == status, headers
                assert refused.text
        assert not (host.home / "memories").exists()
        port = address.url.rpartition(":")[2].split("/")[0]
        second = host.command("--http", "--port", port)
        done = subprocess.run(second, env=host.env, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert f"port {port} cannot be used" in done.stderr.splitlines()[-1]


def test_the_token_is_made_once_and_is_for_its_owner_alone(host: Host) -> None:
    home = load_settings(str(host.home)).home
    token, path = token_of(home)
    assert len(token) >= 32
    assert token_of(home) == (token, path)
    assert path.stat().st_mode & 0o077 == 0


@contextmanager
def _started(command: list[str], host: Host) -> Iterator[tuple[Any, Callable[..., None], Callable[[], Any]]]:
    """A server over stdio, and how to send it messages and read one; it is gone in the end."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=host.env, **pipes) as process:
        try:

            def send(*messages: Any) -> None:
                assert process.stdin is not None
                process.stdin.write("".join(json.dumps(each) + "\n" for each in messages).encode())
                process.stdin.flush()

            def read() -> Any:
                assert process.stdout is not None
                return json.loads(process.stdout.readline())

            yield process, send, read
        finally:
            process.kill()


def _session(address: Address) -> dict[str, str]:
    """The headers of a session of its own."""
    headers = {"Accept": "application/json, text/event-stream", **address.headers}
    begun, initialized = _initialize()
    answered = httpx2.post(address.url, json=begun, headers=headers)
    headers |= {"Mcp-Session-Id": answered.headers["mcp-session-id"], "Mcp-Protocol-Version": PROTOCOL}
    assert httpx2.post(address.url, json=initialized, headers=headers).status_code == 202
    return headers


async def _die_in_a_call(address: Address, headers: dict[str, str], content: str) -> None:
    """Send a call and break the connection as a killed client does, when the server has begun to answer."""
    body = json.dumps(_call(7, "write", content=content)).encode()
    host, port = address.url.split("/")[2].split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    sent = {**headers, "Host": f"{host}:{port}", "Content-Type": "application/json", "Content-Length": str(len(body))}
    head = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
    writer.write(f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + body)
    await writer.drain()
    assert (await reader.readline()).split()[1] == b"200"
    writer.transport.abort()


def _is_whole(host: Host) -> None:
    done = subprocess.run(
        [*host.command()[:-1], "doctor"], env=host.env, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _initialize() -> list[dict[str, Any]]:
    params = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
    return [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]


def _call(id: int, tool: str, **arguments: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
