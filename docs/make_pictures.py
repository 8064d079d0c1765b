"""Draw the README's pictures from real runs of amem.

    python docs/make_pictures.py [search browser chat mcp hooks vault]

Writes ``docs/pictures/*.svg``, all or those that are named. Run it after a change to what the command line, the
terminal browser or the MCP server shows. ``make_notebook_pictures.py`` and ``make_desktop_picture.py`` take the others.
"""

from __future__ import annotations

import asyncio
import contextlib
import html
import json
import os
import pty
import re
import shlex
import subprocess
import sys
import tempfile
import time
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from textual.pilot import Pilot

PICTURES = Path(__file__).parent / "pictures"
WIDTH = 100
AMEM = [sys.executable, "-c", "import sys; from amem.cli import main; sys.argv[0] = 'amem'; main()"]
QUESTIONS = ("why did I withdraw from the marathon?", "我对什么过敏？")
#: What is said in the picture of a chat, and what the model answers.
SAID = {
    "Why did I leave Kestrel Freight?": "Because of the on-call nights: every second week, after the reorganisation in "
    "January, was more than you could keep up. You told Pieter in April.",
    "My sister Lian visits on Friday. She is vegan and brings her dog.": "I will keep that in mind.",
    "Where did I put my passport?": "You have not told me where.",
}


def main() -> None:
    """Draw the pictures that were named, or all."""
    PICTURES.mkdir(exist_ok=True)
    wanted = sys.argv[1:] or ["search", "browser", "chat", "mcp", "hooks", "vault"]
    with tempfile.TemporaryDirectory() as folder:
        demo, project, notes = (Shell(Path(folder, name)) for name in ("demo", "project", "notes"))
        if {"search", "browser", "chat"} & set(wanted):
            demo("amem demo")
        if "search" in wanted:
            draw("search", demo.shown(*(f"amem -c demo search {shlex.quote(each)} -k 2" for each in QUESTIONS)))
        if "browser" in wanted:  # before the chat, from which the notes have one more
            disagree(demo)
            asyncio.run(browser(demo.home))
        if "chat" in wanted:
            draw("chat", prompt("amem -c demo chat") + chat(demo.home))
        if "mcp" in wanted:
            draw("mcp", asyncio.run(mcp_session(project.home)), "an MCP client and amem mcp")
        if "hooks" in wanted:
            draw("hooks", hooks(project), "two sessions of a coding agent")
        if "vault" in wanted:
            draw("vault", vault(notes))


class Shell:
    """A folder with a home of amem in it, where commands are run as on a terminal that knows colours (POSIX only)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = str(folder / "home")
        folder.mkdir()

    def __call__(self, command: str, given: str = "") -> str:
        """What a command prints; `amem` is the one of this checkout. `given` is its standard input."""
        first, *words = shlex.split(command)
        settings = {"COLUMNS": str(WIDTH), "TERM": "xterm-256color", "AMEM_LLM_BACKEND": "offline"}
        master, terminal = pty.openpty()
        running = subprocess.Popen(
            [*(AMEM if first == "amem" else [first]), *words],
            cwd=self.folder,
            env=os.environ | settings | {"AMEM_HOME": self.home},
            stdin=subprocess.PIPE,
            stdout=terminal,
            stderr=subprocess.DEVNULL,
        )
        os.close(terminal)
        assert running.stdin is not None
        running.stdin.write(given.encode())
        running.stdin.close()
        printed = b""
        # Reading a terminal that its last writer has closed is an error, not an end.
        with contextlib.suppress(OSError):
            while part := os.read(master, 65_536):
                printed += part
        os.close(master)
        if running.wait():
            raise SystemExit(f"{command} failed")
        return printed.decode().replace("\r\n", "\n")

    def shown(self, *commands: str) -> str:
        """Commands behind a prompt, each with what it prints."""
        return "\n".join(prompt(command) + self(command) for command in commands)


def prompt(command: str) -> str:
    """A command line as a terminal shows it."""
    return f"\x1b[1;32m$\x1b[0m {command}\x1b[0m\n"


def remark(words: str) -> str:
    """What happens beside the commands, as a comment."""
    return f"\x1b[2m# {words}\x1b[0m\n"


def chat(home: str) -> str:
    """A chat about the demo's notes, in tmux. What the model says is scripted; what is recalled and learnt is not."""
    sys.path.append(str(Path(__file__).resolve().parents[1] / "benchmarks"))
    from _judging_model import judging_model

    from amem.testing import FakeOllama

    def answers(request: dict[str, Any]) -> Any:
        said = request["messages"][-1]["content"]
        if request.get("format"):
            return judging_model(request)
        # Recalled notes, which may hold an earlier line, stand above the question.
        return SAID[max(SAID, key=said.rfind)]

    def tmux(*words: str) -> str:
        made = subprocess.run(["tmux", "-L", f"amem-{os.getpid()}", *words], capture_output=True, text=True, check=True)
        return made.stdout

    def answered() -> None:
        """Wait until the last line is the prompt alone."""
        deadline = time.monotonic() + 60
        while not re.search(r"(?:^|\n)>\s*$", tmux("capture-pane", "-p")):
            if time.monotonic() > deadline:
                raise SystemExit(f"the chat did not answer:\n{tmux('capture-pane', '-p')}")
            time.sleep(0.2)

    with FakeOllama(answers) as ollama:
        settings = {"AMEM_LLM_BACKEND": "ollama", "AMEM_LLM_MODEL": "llama3.2", "OLLAMA_HOST": ollama.host}
        # A server of one's own has the environment of this process, the path of the packages included.
        os.environ |= {**settings, "LC_ALL": "C.UTF-8"}
        try:
            command = shlex.join([*AMEM, "--home", home, "-c", "demo", "chat"])
            tmux("-f", "/dev/null", "new-session", "-d", "-x", str(WIDTH), "-y", "60", command)
            answered()
            first, *others = SAID
            for line in (first, "/why", *others):
                tmux("send-keys", "-l", line)
                tmux("send-keys", "Enter")
                time.sleep(1)
                answered()
            shown = tmux("capture-pane", "-e", "-p")
        finally:
            with contextlib.suppress(subprocess.CalledProcessError):
                tmux("kill-server")
            for name in settings:
                del os.environ[name]
    return shown.replace(ollama.host.removeprefix("http://"), "127.0.0.1:11434").rstrip().removesuffix(">").rstrip()


#: What an MCP client calls, and what of each result the picture shows.
CALLS: tuple[tuple[str, dict[str, Any], tuple[str, ...]], ...] = (
    (
        "remember",
        {
            "messages": [
                {"role": "user", "content": "The buoy catalogue uses PostgreSQL 15.3. Releases go out on Tuesdays."}
            ]
        },
        ("learnt",),
    ),
    ("ask", {"question": "Which database does the buoy catalogue use?"}, ("answer", "support")),
    (
        "write",
        {"content": "We moved the buoy catalogue to MySQL 8.4: the port authority hosts nothing else."},
        ("status", "operation", "overturned"),
    ),
    ("ask", {"question": "Which database does the buoy catalogue use?"}, ("answer", "support")),
    ("undo", {}, ("undone",)),
    ("ask", {"question": "Which database does the buoy catalogue use?"}, ("answer", "support")),
)


async def mcp_session(home: str) -> str:
    """What a client by the SDK asks of `amem mcp` over stdio, and what it is told: remember, contradict, ask, undo."""
    from mcp import Client, StdioServerParameters
    from mcp.types import Implementation

    first, *words = [*AMEM, "--home", home, "mcp"]
    server = StdioServerParameters(command=first, args=words, env=os.environ | {"AMEM_LLM_BACKEND": "offline"})
    lines = []
    async with Client(server, client_info=Implementation(name="editor", version="1")) as client:
        for tool, arguments, shown in CALLS:
            result = await client.call_tool(tool, arguments)
            if result.is_error or result.structured_content is None:
                raise SystemExit(f"{tool} failed: {result.content}")
            lines.append(f"\x1b[1;34m→ {tool}\x1b[0m {json.dumps(arguments, ensure_ascii=False)}")
            for name in shown:
                for value in _lines(result.structured_content[name]):
                    lines.append(f"\x1b[32m←\x1b[0m \x1b[2m{name:10}\x1b[0m {value}")
            lines.append("")
    return "\n".join(lines)


def _lines(value: Any) -> list[str]:
    """A part of a result in lines: of notes their text, and why."""
    if isinstance(value, list):
        return [line for each in value for line in (each["content"], each.get("reason", "")) if line]
    return [str(value)]


def hooks(shell: Shell) -> str:
    """What the hooks of a coding agent print at the start of the second session, of what the first decided."""
    project = shell.folder / "buoy-catalogue"
    (project / ".git").mkdir(parents=True)
    said = (
        ("user", "We decided to keep the buoy catalogue in PostgreSQL 15.3, because PostGIS handles the positions."),
        ("assistant", "The schema is in place, and the positions are indexed."),
        ("user", "Never write to the production database from a test."),
        ("user", "发布版本之前一定要先跑迁移测试。"),
        ("assistant", "好的，先跑测试，再发布。"),
    )
    path = shell.folder / "monday.jsonl"
    path.write_text(
        "".join(
            json.dumps(
                {
                    "type": role,
                    "sessionId": "monday",
                    "cwd": str(project),
                    "uuid": f"monday-{number}",
                    "timestamp": f"2026-11-16T09:{number:02}:00.000Z",
                    "isSidechain": False,
                    "message": {"role": role, "content": text},
                }
            )
            + "\n"
            for number, (role, text) in enumerate(said)
        ),
        encoding="utf-8",
    )
    ended = {"session_id": "monday", "cwd": str(project), "transcript_path": str(path)}
    shell("amem hook session-end", json.dumps(ended))
    begun = json.dumps({"session_id": "tuesday", "cwd": str(project), "source": "startup"})
    deadline = time.monotonic() + 120
    while not (told := shell("amem hook session-start", begun)):  # a process of its own learns from the first
        if time.monotonic() > deadline:
            raise SystemExit(Path(shell.home, "hook.log").read_text())
        time.sleep(1)
    talk = "".join(f"\x1b[1m{'>' if role == 'user' else '●'}\x1b[0m {text}\n" for role, text in said)
    return "\n".join(
        [
            remark("Monday, in Claude Code:") + talk + prompt("amem hook session-end    \x1b[2m# run by Claude Code"),
            remark("Tuesday, a new session. What the hook prints is told to the model:")
            + prompt("amem hook session-start  \x1b[2m# run by Claude Code")
            + told,
        ]
    )


def vault(shell: Shell) -> str:
    """Notes become files, one file is edited, the edit becomes a version of its note, and one undo takes it back."""
    shell("amem add 'The buoy catalogue runs on PostgreSQL 15.3, because PostGIS handles the positions.' --tag buoys")
    shell("amem add 'Wen is allergic to shrimp and crab; fish is fine.'")
    shell("amem add '北海的浮标每年三月要换电池。' --tag buoys")
    parts = [shell.shown("amem vault sync vault")]
    (file,) = (shell.folder / "vault").glob("The buoy*.md")
    (other,) = (shell.folder / "vault").glob("北海*.md")
    file.write_text(
        file.read_text(encoding="utf-8").replace("PostgreSQL 15.3", "PostgreSQL 16.1") + f"See [[{other.stem}]].\n",
        encoding="utf-8",
    )
    parts += [
        remark("In Obsidian, or any editor: another version, and a link.") + shell.shown(f"cat 'vault/{file.name}'"),
        shell.shown("amem vault sync vault", "amem vault sync vault"),
    ]
    return "\n".join(parts)


def draw(name: str, printed: str, title: str = "amem") -> None:
    """An SVG of a terminal that shows commands and what they printed."""
    console = Console(record=True, width=WIDTH, file=StringIO(), force_terminal=True)
    console.print(Text.from_ansi(printed.rstrip()))
    save(name, console.export_svg(title=title))


def save(name: str, svg: str) -> None:
    """Keep a picture without the fonts it would fetch from elsewhere, and Chinese as wide as a terminal draws it."""
    own = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    own = _TEXT.sub(_as_wide_as_its_cells, own)
    # No line is longer than the terminal, so each can do without what would cut it; and short names will do.
    own = re.sub(r'<clipPath id="[^"]*-line-\d+">.*?</clipPath>', "", own, flags=re.DOTALL)
    own = re.sub(r' clip-path="url\(#[^)]*-line-\d+\)"', "", own)
    own = re.sub(r"terminal-\d+-", "", own)
    (PICTURES / f"{name}.svg").write_text(re.sub(r"\n\s*", "\n", own), encoding="utf-8")


#: Rich counts characters where it should count cells, so that a web browser squeezes Chinese into half its room.
_TEXT = re.compile(r'<text ([^>]*)x="([\d.]+)"([^>]*) textLength="([\d.]+)"([^>]*)>([^<]*)</text>')


def _as_wide_as_its_cells(match: re.Match[str]) -> str:
    """A text of its own for each stretch of wide and of narrow characters, each as wide as its cells."""
    head, start, middle, length, tail, text = match.groups()
    shown = html.unescape(text)
    cell, x = float(length) / max(1, len(shown)), float(start)
    made = []
    for stretch in re.findall(r"[\u2e80-\uffef]+|[^\u2e80-\uffef]+", shown):
        width = cell * cell_len(stretch)
        kept = html.escape(stretch, quote=False).replace("\xa0", "&#160;")
        wide = ' lengthAdjust="spacingAndGlyphs"' if stretch[0] > "\u2e7f" else ""
        made.append(f'<text {head}x="{x:g}"{middle} textLength="{width:g}"{wide}{tail}>{kept}</text>')
        x += width
    return "".join(made)


def small(picture: bytes, colors: int = 256) -> bytes:
    """A screenshot (PNG) with a palette of so many colours: less than half its size."""
    from PIL import Image

    made = BytesIO()
    Image.open(BytesIO(picture)).convert("RGB").quantize(colors, dither=Image.Dither.NONE).save(
        made, "PNG", optimize=True
    )
    return made.getvalue()


def disagree(shell: Shell) -> None:
    """A copy of the demo's notes, `review`, in which two contradict each other."""
    shell("amem -c demo copy review")
    said = "Inês says the rent of a flat in Lisbon may be up to 1400 euros."
    later = json.loads(shell(f"amem -c review add {shlex.quote(said)} --time 2026-05-02 --json"))["id"]
    found = json.loads(shell("amem -c review search 'rent of the flat in Lisbon' -k 2 --json"))
    earlier = next(hit["id"] for hit in found if hit["id"] != later)
    shell(f"amem -c review link {later} {earlier} --type contradicts --reason '1400 euros, or 1250?'")


#: Pictures of the terminal browser: the keys that lead there from its first screen, and what is then on the screen.
ROOMS = {
    "browser": (("down", "down", "down"), "First day at Marulho"),
    "browser-search": (("/", *"why did I leave Kestrel Freight?", "enter"), "by meaning"),
    "browser-graph": (("down", "down", "down", "g", "2"), "hops"),
    "browser-history": (("h",), "Version"),
    "browser-timeline": (("down", "down", "down", "t"), "strength"),
    "browser-review": (("r", "tab"), "1250"),
}


async def browser(home: str) -> None:
    """An SVG of each room of the terminal browser."""
    from amem_tui.browser_app import NotesApp

    from amem import AgenticMemorySystem, load_settings

    for name, (keys, shows) in ROOMS.items():
        collection = "review" if name == "browser-review" else "demo"
        settings = load_settings(home, collection=collection, llm_backend="offline", dense_base="exact")
        with AgenticMemorySystem(settings=settings) as memory:
            app = NotesApp(memory)
            async with app.run_test(size=(120, 36)) as pilot:
                await seen(pilot, "First day")
                for key in keys:
                    await pilot.press(key)
                    await pilot.pause(0.2 if len(keys) < 5 else 0)
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
