"""The graph as a page: it opens in a real web browser without a server, and asks nobody for anything."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from amem.interop.graph import Edge, Node, NoteGraph, read_graph
from amem.interop.graph_formats import html

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import Told
    from playwright.sync_api import Browser

    from amem import AgenticMemorySystem

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [pytest.mark.thorough, pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser
        browser.close()


def test_a_page_finds_shows_and_goes_back_in_time(
    browser: Browser, memory: AgenticMemorySystem, told: Told, tmp_path: Path
) -> None:
    path = tmp_path / "notes.html"
    path.write_text(html(read_graph(memory)), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1000, "height": 700})
    asked: list[str] = []
    errors: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("dialog", lambda dialog: errors.append("a note's text was run"))

    page.goto(path.as_uri())
    page.locator("circle").nth(3).wait_for()
    page.locator("input[type=search]").fill("绿茶")
    page.locator(".amem-count", has_text="1 of 4").wait_for()
    assert page.locator("circle.amem-faint").count() == 3
    page.locator("input[type=search]").press("Enter")
    panel = page.locator(".amem-panel")
    panel.get_by_text("both on green tea").wait_for()
    panel.get_by_text("Green tea wants 80 degrees.").click()
    panel.get_by_text("preference · short term").first.wait_for()
    assert "<img src=x" in panel.inner_text()  # of a link's reason, as text

    page.locator("select").select_option("tag")
    page.locator(".amem-legend", has_text="kitchen 1").wait_for()
    slider = page.locator("input[type=range]")
    slider.evaluate("each => { each.value = Number(each.min); each.dispatchEvent(new Event('input')); }")
    # Not `wait_for_function`, which evaluates a string: the page's own policy forbids that.
    page.locator("circle").nth(1).wait_for(state="detached")
    assert page.locator("circle").count() == 1

    assert asked == [path.as_uri()]
    assert errors == []
    page.close()


def test_a_large_graph_is_drawn_on_a_canvas(browser: Browser, tmp_path: Path) -> None:
    plain = Node("", "", "", "fact", "short_term", "active", (), "", 0.3, "2025-01-01T00:00:00Z", "", False)
    nodes = tuple(replace(plain, id=f"n{n}", title=f"Note {n}") for n in range(600))
    edges = tuple(Edge(f"n{n}", f"n{n // 3}", "related", "", "user", "2025-01-01T00:00:00Z") for n in range(1, 600))
    path = tmp_path / "large.html"
    path.write_text(html(NoteGraph(nodes, edges)), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1000, "height": 700})
    page.goto(path.as_uri())
    canvas = page.locator("canvas")
    canvas.wait_for()
    assert page.locator("circle").count() == 0
    page.locator("canvas[aria-label*='600 notes']").wait_for()
    assert page.evaluate(
        "(() => { const c = document.querySelector('canvas'); const d = c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data; return d.some((value) => value > 0); })()"
    )
    page.close()
