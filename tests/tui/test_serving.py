"""The page behind ``amem tui --web``: who may reach it, and what it asks of whom."""

from __future__ import annotations

import re
import socket
from typing import TYPE_CHECKING

import aiohttp
import pytest
from amem_tui.serving.server import HOST, Page, listening

from amem.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def page() -> AsyncIterator[Page]:
    """A page that nobody has opened yet; opening it would run a program that ends at once."""
    served = Page(["true"], listening(0), title="amem: tea & <cake>")
    await served.start()
    yield served
    await served.stop()


async def _status(url: str, **headers: str) -> int:
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as answer:
        return answer.status


async def test_the_page_asks_nothing_of_another_host(page: Page) -> None:
    async with aiohttp.ClientSession() as session, session.get(page.url) as answer:
        text = await answer.text()
        policy = answer.headers["Content-Security-Policy"]
    assert "tea &amp; &lt;cake>" in text
    assert not re.findall(r"(?:src|href|url)\W{1,3}(?:https?:)?//", text)
    assert "default-src 'self'" in policy
    for address in re.findall(r"\w+://[^\s;]+", policy):
        assert address.startswith(("ws://127.0.0.1:", "ws://localhost:"))


async def test_what_the_page_needs_is_served_from_here(page: Page) -> None:
    async with aiohttp.ClientSession() as session, session.get(page.url) as answer:
        needed = re.findall(r'"(/static/[^"]+)"', await answer.text())
    root = page.url[: page.url.index("/", 8)]
    assert len(needed) >= 4
    assert [await _status(root + path) for path in needed] == [200] * len(needed)


async def test_without_its_key_there_is_no_page_and_no_connection(page: Page) -> None:
    root = page.url[: page.url.index("/", 8)]
    for path in ("/", "/ws", "/guess/", "/guess/ws"):
        assert await _status(root + path) == 404


async def test_every_run_has_a_key_of_its_own() -> None:
    keys = set()
    for _ in range(2):
        with listening(0) as heard:
            keys.add(Page(["true"], heard, title="").url.split("/")[3])
    assert len(keys) == 2
    assert all(len(key) >= 32 for key in keys)


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"}])
async def test_another_page_or_host_name_is_refused(page: Page, headers: dict[str, str]) -> None:
    assert await _status(page.url, **headers) == 403
    assert await _status(f"{page.url}ws", **headers) == 403


async def test_it_is_found_under_localhost_too(page: Page) -> None:
    root = page.url.replace("127.0.0.1", "localhost")
    assert await _status(root, Origin=root[: root.index("/", 8)]) == 200


async def test_it_listens_on_this_machine_alone(page: Page) -> None:
    assert page.url.startswith("http://127.0.0.1:")
    with listening(0) as heard:
        assert heard.getsockname()[0] == HOST == "127.0.0.1"


async def test_a_size_of_letters_is_a_number_or_the_usual_one(page: Page) -> None:
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
