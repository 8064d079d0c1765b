"""The page behind ``amem tui --web``: who may reach it, and what it asks of whom."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import sys
from typing import TYPE_CHECKING

import aiohttp
import pytest
from amem_tui.serving.page_server import HOST, WebPage, listening

from amem.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def page() -> AsyncIterator[WebPage]:
    """A page that nobody has opened yet; opening it would run a program that ends at once."""
    served = WebPage(["true"], listening(0), title="amem: tea & <cake>")
    await served.start()
    yield served
    await served.stop()


async def _status(url: str, **headers: str) -> int:
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as answer:
        return answer.status


async def test_the_page_asks_nothing_of_another_host(page: WebPage) -> None:
    async with aiohttp.ClientSession() as session, session.get(page.url) as answer:
        text = await answer.text()
        policy = answer.headers["Content-Security-Policy"]
    assert "tea &amp; &lt;cake&gt;" in text
    assert not re.findall(r"(?:src|href|url)\W{1,3}(?:https?:)?//", text)
    assert "default-src 'self'" in policy
    for address in re.findall(r"\w+://[^\s;]+", policy):
        assert address.startswith(("ws://127.0.0.1:", "ws://localhost:"))


async def test_what_the_page_needs_is_served_from_here(page: WebPage) -> None:
    async with aiohttp.ClientSession() as session, session.get(page.url) as answer:
        needed = re.findall(r'"(/static/[^"]+)"', await answer.text())
    root = page.url[: page.url.index("/", 8)]
    assert len(needed) >= 4
    assert [await _status(root + path) for path in needed] == [200] * len(needed)


async def test_without_its_key_there_is_no_page_and_no_connection(page: WebPage) -> None:
    root = page.url[: page.url.index("/", 8)]
    for path in ("/", "/ws", "/guess/", "/guess/ws"):
        assert await _status(root + path) == 404


async def test_every_run_has_a_key_of_its_own() -> None:
    keys = set()
    for _ in range(2):
        with listening(0) as heard:
            keys.add(WebPage(["true"], heard, title="").url.split("/")[3])
    assert len(keys) == 2
    assert all(len(key) >= 32 for key in keys)


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"}])
async def test_another_page_or_host_name_is_refused(page: WebPage, headers: dict[str, str]) -> None:
    assert await _status(page.url, **headers) == 403
    assert await _status(f"{page.url}ws", **headers) == 403


async def test_it_is_found_under_localhost_too(page: WebPage) -> None:
    root = page.url.replace("127.0.0.1", "localhost")
    assert await _status(root, Origin=root[: root.index("/", 8)]) == 200


async def test_it_listens_on_this_machine_alone(page: WebPage) -> None:
    assert page.url.startswith("http://127.0.0.1:")
    with listening(0) as heard:
        assert heard.getsockname()[0] == HOST == "127.0.0.1"


async def test_a_size_of_letters_is_a_number_or_the_usual_one(page: WebPage) -> None:
    async with aiohttp.ClientSession() as session:
        for asked, shown in (("20", "20"), ('"><script>', "16"), ("٣", "16"), ("999", "16")):
            async with session.get(page.url, params={"fontsize": asked}) as answer:
                assert f'data-font-size="{shown}"' in await answer.text()


def test_a_port_that_is_taken_is_refused_with_a_way_out() -> None:
    with socket.socket() as other:
        other.bind((HOST, 0))
        other.listen()
        with pytest.raises(InvalidInput, match="cannot be used") as refused:
            listening(other.getsockname()[1])
    assert "--port 0" in refused.value.hint
    with pytest.raises(InvalidInput, match="is no port"):
        listening(70_000)


#: Stands in for the browser: shows the size it was begun with, then every message it gets; ends where it heeds "quit".
_ECHO = """
import os, sys
heeds = sys.argv[1:] != ["deaf"]
def show(text):
    sys.stdout.buffer.write(b"D" + len(text).to_bytes(4, "big") + text)
    sys.stdout.buffer.flush()
sys.stdout.buffer.write(b"__GANGLION__\\n")
show(f"{os.environ['COLUMNS']}x{os.environ['ROWS']} {os.getpid()}".encode())
while True:
    head = sys.stdin.buffer.read(5)
    text = sys.stdin.buffer.read(int.from_bytes(head[1:], "big"))
    if heeds and b'"quit"' in text:
        break
    show(text)
"""


@pytest.fixture(params=[()])
async def echoing(request: pytest.FixtureRequest) -> AsyncIterator[WebPage]:
    served = WebPage([sys.executable, "-c", _ECHO, *request.param], listening(0), title="amem")
    await served.start()
    yield served
    await served.stop()


async def test_a_page_is_no_larger_than_can_be_drawn(echoing: WebPage) -> None:
    asked = f"{echoing.url}ws?width=100000&height=-5"
    async with aiohttp.ClientSession() as session, session.ws_connect(asked) as opened:
        assert (await opened.receive_bytes()).startswith(b"1000x1 ")
        await opened.send_json(["resize", {"width": 10**30, "height": 10**30}])
        assert json.loads(await opened.receive_bytes()) == {"type": "resize", "width": 1000, "height": 400}
        await opened.send_json(["resize", {"width": 90, "height": 30}])
        assert json.loads(await opened.receive_bytes()) == {"type": "resize", "width": 90, "height": 30}


@pytest.mark.parametrize("said", ["no json", "[5", "5", '["resize", {"width": "wide"}]', '["stdin", 5]', "[" * 100_000])
async def test_what_no_page_says_closes_it_and_ends_the_browser(echoing: WebPage, said: str) -> None:
    async with aiohttp.ClientSession() as session, session.ws_connect(f"{echoing.url}ws") as opened:
        browser = int((await opened.receive_bytes()).split()[1])
        await opened.send_str(said)
        assert (await opened.receive()).type is aiohttp.WSMsgType.CLOSE
        await _gone(browser)


@pytest.mark.thorough
@pytest.mark.parametrize("echoing", [("deaf",)], indirect=True)
async def test_a_browser_that_does_not_end_by_itself_is_ended(echoing: WebPage) -> None:
    async with aiohttp.ClientSession() as session, session.ws_connect(f"{echoing.url}ws") as opened:
        browser = int((await opened.receive_bytes()).split()[1])
        await opened.close()
        await _gone(browser)


async def _gone(process: int) -> None:
    async with asyncio.timeout(60):
        while True:
            try:
                os.kill(process, 0)
            except ProcessLookupError:
                return
            await asyncio.sleep(0.05)
