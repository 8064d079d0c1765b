"""The tour in a real JupyterLab in a real web browser: the graph is drawn, and a click is known to Python."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytest.importorskip("jupyterlab", reason="needs JupyterLab (amem's dev extra)")
pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium"),
    pytest.mark.timeout(300),
]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
#: Run code in the notebook's kernel; returns what it printed.
IN_KERNEL = """async (code) => {
    const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
    const future = kernel.requestExecute({code});
    let said = "";
    future.onIOPub = (message) => {
        if (message.header.msg_type === "stream") said += message.content.text;
        if (message.header.msg_type === "error") said += "ERROR " + message.content.evalue;
    };
    await future.done;
    return said.trim();
}"""


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """Address of a JupyterLab that serves a copy of the examples."""
    shutil.copytree(EXAMPLES, tmp_path / "examples", ignore=shutil.ignore_patterns("*.py"))
    homes = {
        name: str(tmp_path / name)
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    }
    words = [
        *("--no-browser", "--ServerApp.port=0", "--ServerApp.ip=127.0.0.1", "--IdentityProvider.token=tour"),
        *("--LabApp.expose_app_in_browser=True", "--LabApp.extension_manager=readonly", "--allow-root"),
        *("--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",),
    ]
    log = tmp_path / "lab.log"
    with log.open("w") as told:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *words],
            cwd=tmp_path / "examples",
            env={**os.environ, **homes},
            stdout=told,
            stderr=told,
            start_new_session=True,
        )
    try:
        yield f"http://127.0.0.1:{_port(Path(homes['JUPYTER_RUNTIME_DIR']), log)}"
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


@pytest.fixture
def page() -> Iterator[Page]:
    from playwright.sync_api import sync_playwright

    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser.new_page(viewport={"width": 1300, "height": 1000})
        browser.close()


def test_the_tour_is_run_a_click_reaches_python_and_nobody_else_is_asked(lab: str, page: Page) -> None:
    asked: list[str] = []
    errors: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)

    page.goto(f"{lab}/lab/tree/tour.ipynb?token=tour")
    page.wait_for_function("window.jupyterapp?.shell?.currentWidget?.sessionContext?.session?.kernel", timeout=120_000)
    page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")
    graph = page.locator(".amem-graph").first
    graph.locator("circle").first.wait_for(timeout=180_000)

    # A click selects, in Python too.
    assert _python(page, "print(graph.selected == leaving.id, len(graph.view.nodes))").startswith("True ")
    graph.scroll_into_view_if_needed()
    before = graph.locator("circle").count()
    other = graph.locator("circle").nth(1)
    name = other.get_attribute("data-id")
    _still(page, graph)
    other.click()
    _wait(lambda: _python(page, "print(graph.selected)") == name)
    assert graph.locator(".amem-panel").is_visible()

    # A double click brings the note's neighbours, from Python.
    _still(page, graph)
    other.dblclick()
    _wait(lambda: graph.locator("circle").count() > before)
    assert int(_python(page, "print(len(graph.view.nodes))")) == graph.locator("circle").count()

    # The slider goes back in time; and what Python sets is shown.
    slider = graph.locator("input[type=range]")
    slider.evaluate("each => { each.value = Number(each.min); each.dispatchEvent(new Event('input')); }")
    _wait(lambda: _python(page, "print(graph.as_of[:4])") in ("2025", "2026"))
    _wait(lambda: graph.locator("circle").count() < before)
    _python(page, "graph.as_of = ''; graph.query = 'Marulho'; graph.color_by = 'tag'")
    _wait(lambda: " of " in graph.locator(".amem-count").inner_text())
    assert graph.locator("select").input_value() == "tag"

    hosts = {urlsplit(url).hostname for url in asked if urlsplit(url).scheme in ("http", "https", "ws", "wss")}
    assert hosts == {"127.0.0.1"}
    assert errors == []


def _python(page: Page, code: str) -> str:
    said: str = page.evaluate(IN_KERNEL, code)
    return said


def _still(page: Page, graph: Any) -> None:
    """Wait until the notes no longer move."""
    place = None
    while place != (place := graph.locator("circle").nth(1).bounding_box()):
        page.wait_for_timeout(300)


def _wait(reached: Any) -> None:
    end = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.1)


def _port(runtime: Path, log: Path) -> int:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        for told in runtime.glob("jpserver-*.json") if runtime.is_dir() else ():
            try:
                port = json.loads(told.read_text())["port"]
            except ValueError:
                continue  # being written
            if port:
                return int(port)
        time.sleep(0.2)
    raise AssertionError(f"JupyterLab did not start:\n{log.read_text()[-2000:]}")
