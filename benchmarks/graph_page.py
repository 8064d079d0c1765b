"""How smoothly a browser draws the note graph while it finds its shape, by how many notes it has.

    python benchmarks/graph_page.py [--notes 100,500,2000,5000]

Each graph (invented, about two links a note, hubs as collections have them) is opened as an exported page in headless
Chromium, without a graphics card. Counted are the frames of the first seconds, while all notes move. Beside them stand
the frames that an empty page draws in the same time, which is the limit, and the processor time of a frame: 33 ms leave
room for 30 frames a second, whatever else the machine does.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

from amem.interop.graph import Edge, Node, NoteGraph
from amem.interop.graph_formats import html

if TYPE_CHECKING:
    from playwright.sync_api import Browser, CDPSession

KINDS = ("fact", "episode", "decision", "preference", "question")
SECONDS = 3
COUNT = f"""() => new Promise((done) => {{
    let frames = 0;
    const start = performance.now();
    const step = (now) => {{
        if (now - start > {SECONDS * 1000}) return done(frames);
        frames++;
        requestAnimationFrame(step);
    }};
    requestAnimationFrame(step);
}})"""


def invented(number: int) -> NoteGraph:
    """A graph of so many notes, each linked to about two earlier ones, some of which are linked to far more often."""
    chance = random.Random(number)
    nodes, edges = [], []
    for n in range(number):
        day = f"2025-{1 + n * 12 // number:02}-01T00:00:00Z"
        strength = chance.random()
        nodes.append(
            Node(
                f"n{n}", f"Note {n}", "", chance.choice(KINDS), "short_term", "active", (), "", strength, day, "", False
            )
        )
        for _ in range(min(n, 2)):
            other = int(n * chance.random() ** 2)
            edges.append(Edge(f"n{n}", f"n{other}", "related", "", "user", day))
    return NoteGraph(tuple(nodes), tuple(edges))


def frames(browser: Browser, address: str) -> tuple[float, float]:
    """Frames a second of a page in its first seconds, and the processor milliseconds that its thread took for each."""
    page = browser.new_page(viewport={"width": 1200, "height": 800})
    told = page.context.new_cdp_session(page)
    told.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(address)
    if "graph" in address:
        page.locator(".amem-stage > *").first.wait_for()
    before = worked(told)
    counted: int = page.evaluate(COUNT)
    after = worked(told)
    page.close()
    return counted / SECONDS, 1000 * (after - before) / counted


def worked(told: CDPSession) -> float:
    """Seconds of processor that the page's thread has taken so far."""
    metrics = told.send("Performance.getMetrics")["metrics"]
    return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", default="100,500,2000,5000")
    numbers = [int(each) for each in parser.parse_args().notes.split(",")]
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        print(f"{'notes':>6} {'links':>6} {'kB':>6} {'frames/s':>9} {'empty page':>11} {'processor ms a frame':>21}")
        for number in numbers:
            graph = invented(number)
            path = Path(scratch) / f"graph{number}.html"
            path.write_text(html(graph), encoding="utf-8")
            (drawn, spent), (limit, _) = frames(browser, path.as_uri()), frames(browser, "about:blank")
            size = path.stat().st_size // 1000
            print(f"{number:6} {len(graph.edges):6} {size:6} {drawn:9.1f} {limit:11.1f} {spent:21.1f}")
        browser.close()


if __name__ == "__main__":
    main()
