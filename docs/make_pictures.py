"""Draw the README's pictures from real runs of amem on the demo's notes.

    python docs/make_pictures.py

Writes ``docs/pictures/*.svg``. Run it after a change to what the command line or the terminal browser shows.
"""

from __future__ import annotations

import asyncio
import contextlib
import html
import os
import pty
import re
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from textual.pilot import Pilot

PICTURES = Path(__file__).parent / "pictures"
WIDTH = 100
#: What is said in the picture of a chat, and what the model answers.
SAID = {
    "Why did I leave Kestrel Freight?": "Because of the on-call nights: every second week, after the reorganisation in "
    "January, was more than you could keep up. You told Pieter in April.",
    "My sister Lian visits on Friday. She is vegan and brings her dog.": "I will keep that in mind.",
    "Where did I put my passport?": "You have not told me where.",
}


def main() -> None:
    """Load the demo's notes into a scratch home and draw a search and the terminal browser."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        amem(home, "demo")
        question = "Why did I leave Kestrel Freight?"
        shown = f"[bold green]$[/] amem search {question!r} -k 3\n"
        search = amem(home, "--collection", "demo", "search", question, "-k", "3")
        draw("search", shown, search)
        asyncio.run(browser(home))  # before the chat, from which the notes have one more
        draw("chat", "[bold green]$[/] amem -c demo chat\n", chat(home))


def amem(home: str, *words: str) -> str:
    """What the command line prints on a terminal that is 100 columns wide and knows colours (POSIX only)."""
    code = "import sys; from amem.cli import main; sys.argv[0] = 'amem'; main()"
    environment = os.environ | {"COLUMNS": str(WIDTH), "TERM": "xterm-256color", "AMEM_LLM_BACKEND": "offline"}
    master, terminal = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-c", code, "--home", home, *words],
        env=environment,
        stdout=terminal,
        stderr=subprocess.DEVNULL,
    )
    os.close(terminal)
    printed = b""
    # Reading a terminal that its last writer has closed is an error, not an end.
    with contextlib.suppress(OSError):
        while part := os.read(master, 65_536):
            printed += part
    os.close(master)
    if running.wait():
        raise SystemExit(f"amem {' '.join(words)} failed")
    return printed.decode().replace("\r\n", "\n")


def chat(home: str) -> str:
    """A chat about the demo's notes. What the model says is scripted; what is recalled and learnt is not."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "cli"))
    from sitting import PROMPT, Sitting

    from amem.testing import FakeOllama, willing_model

    def answers(request: dict[str, Any]) -> Any:
        said = request["messages"][-1]["content"]
        if request.get("format"):
            return willing_model(request)
        # Recalled notes, which may hold an earlier line, stand above the question.
        return SAID[max(SAID, key=said.rfind)]

    with FakeOllama(answers) as ollama:
        env = {"AMEM_LLM_BACKEND": "ollama", "AMEM_LLM_MODEL": "llama3.2", "OLLAMA_HOST": ollama.host}
        with Sitting("--home", home, "-c", "demo", "chat", env=env, columns=WIDTH) as sitting:
            sitting.until(PROMPT)
            first, *others = SAID
            for line in (first, "/why", *others):
                sitting.keys(f"{line}\r")
                sitting.until(PROMPT)
            raw = sitting.raw.replace(ollama.host.removeprefix("http://"), "127.0.0.1:11434")
    # Colours stay; what else moves the cursor or asks the terminal for something has no place in a picture.
    raw = re.sub(r"[^\n]*\r\x1b\[K", "", raw)
    return re.sub(r"\x1b\[[0-9;?]*[A-Zac-ln-z]|\x1b[=>]|\r", "", raw).removesuffix("> ").rstrip()


def draw(name: str, prompt: str, output: str) -> None:
    """An SVG of a terminal that shows a command and what it printed."""
    console = Console(record=True, width=WIDTH, file=StringIO(), force_terminal=True)
    console.print(prompt, end="", highlight=False)
    console.print(Text.from_ansi(output))
    save(name, console.export_svg(title="amem"))


def save(name: str, svg: str) -> None:
    """Keep a picture without the fonts it would fetch from elsewhere, and Chinese as wide as a terminal draws it."""
    own = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    (PICTURES / f"{name}.svg").write_text(_TEXT.sub(_as_wide_as_its_cells, own), encoding="utf-8")


#: Rich counts characters where it should count cells, so that a web browser squeezes Chinese into half its room.
_TEXT = re.compile(r'(<text [^>]*textLength=")([\d.]+)("[^>]*>)([^<]*)(</text>)')


def _as_wide_as_its_cells(match: re.Match[str]) -> str:
    head, length, middle, text, tail = match.groups()
    shown = html.unescape(text)
    width = float(length) / max(1, len(shown)) * cell_len(shown)
    return f"{head}{width:g}{middle}{text}{tail}"


#: Pictures of the terminal browser: the keys that lead there from its first screen, and what is then on the screen.
ROOMS = {
    "browser": (("down", "down", "down"), "First day at Marulho"),
    "browser-search": (("/", *"why did I leave Kestrel Freight?", "enter"), "by meaning"),
    "browser-graph": (("down", "down", "down", "g", "2"), "hops"),
    "browser-history": (("h",), "Version"),
    "browser-timeline": (("down", "down", "down", "t"), "strength"),
    "browser-review": (("r",), "Conflicts"),
}


async def browser(home: str) -> None:
    """An SVG of each room of the terminal browser."""
    from amem_tui.browser_app import NotesApp

    from amem import AgenticMemorySystem, load_settings

    settings = load_settings(home, collection="demo", llm_backend="offline", dense_base="exact")
    for name, (keys, shows) in ROOMS.items():
        with AgenticMemorySystem(settings=settings) as memory:
            app = NotesApp(memory)
            async with app.run_test(size=(120, 36)) as pilot:
                await seen(pilot, "First day")
                await pilot.press(*keys)
                await seen(pilot, shows)
                await asyncio.sleep(1.0)  # what is still on its way: other panes, a step of an animation
                save(name, app.export_screenshot(title="amem tui"))


async def seen(pilot: Pilot[None], words: str) -> None:
    """Wait until the screen shows these words."""
    async with asyncio.timeout(30):
        while words not in "\n".join(
            strip.text for strip in pilot.app.screen._compositor.render_strips(pilot.app.size)
        ):
            await pilot.pause(0.05)


if __name__ == "__main__":
    main()
