"""The graph as a page: it opens in a real web browser without a server, and asks nobody for anything."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from amem.interop.graph import Edge, Node, NoteGraph, read_graph
from amem.interop.graph_formats import html

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import Told
    from playwright.sync_api import Browser, Page

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
    page.locator("circle.amem-faint").nth(2).wait_for()  # drawn a moment after the count
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


def test_a_page_fits_its_window_and_no_label_lies_on_another(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "year.html"
    path.write_text(html(_some_notes(60), "year: 60 notes"), encoding="utf-8")
    page = browser.new_page(viewport={"width": 800, "height": 600})
    page.goto(path.as_uri())
    page.locator("circle").nth(59).wait_for()
    page.locator("circle").nth(7).click()  # makes room for the note beside the graph, and moves no view
    for width, height in ((1280, 800), (1024, 500), (600, 900)):
        page.set_viewport_size({"width": width, "height": height})
        deadline = time.monotonic() + 60
        while (seen := _seen(page))["cut"] or seen["overlaps"] or seen["labels"] < 5:
            assert time.monotonic() < deadline, seen
            page.wait_for_timeout(200)
        assert seen["scrolls"] is False
    assert page.title() == "year: 60 notes"
    page.close()


def test_a_graph_that_was_moved_stays_where_it_is_until_it_is_fitted(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "moved.html"
    path.write_text(html(_some_notes(30)), encoding="utf-8")
    page = browser.new_page(viewport={"width": 900, "height": 700})
    page.goto(path.as_uri())
    page.locator("circle").nth(29).wait_for()
    world = page.locator(".amem-stage svg > g").first
    page.mouse.move(450, 400)
    page.mouse.wheel(0, -800)
    page.locator(".amem-stage svg > g[transform*='scale(']").first.wait_for()
    page.wait_for_timeout(500)
    near = world.get_attribute("transform")
    page.set_viewport_size({"width": 700, "height": 500})
    page.wait_for_timeout(500)
    assert world.get_attribute("transform") == near
    page.get_by_text("Fit", exact=True).click()
    deadline = time.monotonic() + 60
    while world.get_attribute("transform") == near:
        assert time.monotonic() < deadline
        page.wait_for_timeout(100)
    page.close()


def test_a_large_graph_is_drawn_on_a_canvas(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "large.html"
    path.write_text(html(_some_notes(600)), encoding="utf-8")
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


def _some_notes(number: int) -> NoteGraph:
    """A tree of notes, every other one named in Chinese."""
    plain = Node("", "", "", "fact", "short_term", "active", (), "", 0.3, "2025-01-01T00:00:00Z", "", False)
    names = ("What was said of the boat on day {}", "第{}天关于那条船说了些什么话")
    nodes = tuple(replace(plain, id=f"n{n}", title=names[n % 2].format(n)) for n in range(number))
    edges = tuple(Edge(f"n{n}", f"n{n // 3}", "related", "", "user", "2025-01-01T00:00:00Z") for n in range(1, number))
    return NoteGraph(nodes, edges)


def _seen(page: Page) -> dict[str, Any]:
    """What of the graph lies outside the stage or the window, and which labels lie on each other."""
    found: dict[str, Any] = page.evaluate("""() => {
        const box = (each) => each.getBoundingClientRect();
        const stage = box(document.querySelector(".amem-stage"));
        const labels = [...document.querySelectorAll(".amem-stage text")].map(box);
        const inside = (each) => each.left >= stage.left - 2 && each.right <= Math.min(stage.right, innerWidth) + 2
            && each.top >= stage.top - 2 && each.bottom <= Math.min(stage.bottom, innerHeight) + 2;
        const apart = (a, b) => a.left >= b.right - 2 || a.top >= b.bottom - 4;
        const meet = (a, b) => !apart(a, b) && !apart(b, a);
        const discs = [...document.querySelectorAll("circle")].map(box);
        const whole = document.documentElement;
        return {
            cut: discs.concat(labels).filter((each) => !inside(each)).length,
            overlaps: labels.filter((a, place) => labels.slice(place + 1).some((b) => meet(a, b))).length,
            labels: labels.length,
            scrolls: whole.scrollHeight > innerHeight || whole.scrollWidth > innerWidth,
        };
    }""")
    return found
