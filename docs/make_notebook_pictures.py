"""Take the pictures of the notebook and of the exported graph, in a real JupyterLab and a real web browser.

    python docs/make_notebook_pictures.py

Writes ``docs/pictures/notebook.png`` and ``docs/pictures/graph-page.png``. Needs the dev extra, Chromium, Pillow, and
a font with Chinese letters.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from make_pictures import AMEM, small
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PICTURES = Path(__file__).parent / "pictures"
EXAMPLES = Path(__file__).parents[1] / "examples"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def main() -> None:
    """Take both pictures."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        exported_page(browser, Path(scratch))
        notebook(browser, Path(scratch))
        browser.close()


def exported_page(browser: Browser, scratch: Path) -> None:
    """The demo's notes as one page, one of them selected."""
    for words in (["demo"], ["-c", "demo", "graph", "--html", str(scratch / "notes.html")]):
        environment = {**os.environ, "AMEM_LLM_BACKEND": "offline"}
        command = [*AMEM, "--home", str(scratch / "home"), *words]
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    page = browser.new_page(viewport={"width": 1100, "height": 640})
    page.goto((scratch / "notes.html").as_uri())
    page.locator("input[type=search]").fill("withdraw marathon")
    page.wait_for_timeout(1000)
    page.locator("input[type=search]").press("Enter")
    page.locator("input[type=search]").fill("")
    page.locator("input[type=search]").blur()
    page.wait_for_timeout(6000)
    (PICTURES / "graph-page.png").write_bytes(small(page.screenshot()))
    page.close()


def notebook(browser: Browser, scratch: Path) -> None:
    """The tour in JupyterLab, at its graph."""
    folder = scratch / "examples"
    shutil.copytree(EXAMPLES, folder, ignore=shutil.ignore_patterns("*.py"))
    runtime = scratch / "runtime"
    words = ["--no-browser", "--ServerApp.port=0", "--ServerApp.ip=127.0.0.1", "--IdentityProvider.token=tour"]
    words += ["--LabApp.expose_app_in_browser=True", "--allow-root"]
    homes = {"JUPYTER_RUNTIME_DIR": str(runtime), "JUPYTER_CONFIG_DIR": str(scratch / "config")}
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *words], cwd=folder, env={**os.environ, **homes}, stderr=subprocess.DEVNULL
    )
    try:
        while not (told := list(runtime.glob("jpserver-*.json"))):
            time.sleep(0.5)
        time.sleep(1)
        address = f"http://127.0.0.1:{json.loads(told[0].read_text())['port']}"
        page = browser.new_page(viewport={"width": 1200, "height": 820})
        page.goto(f"{address}/lab/tree/tour.ipynb?token=tour&reset")
        page.wait_for_function(
            "window.jupyterapp?.shell?.currentWidget?.sessionContext?.session?.kernel", timeout=120_000
        )
        page.get_by_role("button", name="No", exact=True).click()  # news from elsewhere
        for command in ("application:toggle-left-area", "notebook:run-all-cells"):
            page.evaluate(f"window.jupyterapp.commands.execute({command!r})")
        graph = page.locator(".amem-graph").first
        graph.locator("circle").first.wait_for(timeout=180_000)
        page.locator(".amem-browser").first.wait_for(timeout=180_000)
        page.wait_for_timeout(4000)
        for place in (1, -1, 4):
            circle = graph.locator("circle").nth(place)
            circle.scroll_into_view_if_needed()
            circle.dblclick()
            page.wait_for_timeout(4000)
        graph.get_by_text("Fit", exact=True).click()
        page.wait_for_timeout(1000)
        graph.evaluate("each => each.closest('.jp-Cell').scrollIntoView()")
        page.wait_for_timeout(1000)
        (PICTURES / "notebook.png").write_bytes(small(page.screenshot()))
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
