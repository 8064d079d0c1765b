"""``amem`` as a program of its own: quick help, pipes, interrupts, a real terminal."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from _judging_model import judging_model
from rich.cells import cell_len
from sitting import Sitting

from amem.testing import FakeOllama

if TYPE_CHECKING:
    from conftest import Cli

AMEM = [sys.executable, "-c", "from amem.cli import main; main()"]
HEAVY = ("chromadb", "torch", "sentence_transformers", "litellm", "ollama", "textual", "nltk", "onnxruntime")


def run(
    cli: Cli, *words: str, env: dict[str, str] | None = None, **options: object
) -> subprocess.CompletedProcess[str]:
    command = [*AMEM, "--home", str(cli.home), *words]
    env = {**os.environ, **cli.env, **(env or {})}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=60, **options)  # type: ignore[call-overload, no-any-return]


def imported(*words: str, env: dict[str, str] | None = None) -> set[str]:
    code = "import sys; from amem.cli import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
    result = subprocess.run(
        [sys.executable, "-c", code, *words],
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return set(result.stderr.split())


def test_help_loads_nothing_heavy() -> None:
    found = imported("--help")
    assert not found & {*HEAVY, "numpy", "pydantic", "amem.memory_system"}


def test_completing_a_line_loads_the_command_that_it_names_and_no_other(cli: Cli) -> None:
    typed = {"_AMEM_COMPLETE": "complete_bash", "COMP_CWORD": "4", "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    found = imported(env={**typed, "COMP_WORDS": f"amem --home {cli.home} list --ta"})
    assert "amem.cli.note_commands" in found
    assert not found & {"amem.cli.search", "amem.cli.maintenance", "amem.language", "amem.memory_system"}


@pytest.mark.parametrize("words", [("list",), ("list", "--json"), ("log",), ("log", "--json"), ("show", "{id}")])
def test_what_reads_notes_alone_loads_no_numbers_no_models_and_no_index(demo: Cli, words: tuple[str, ...]) -> None:
    id = demo.json("-c", "demo", "list", "--limit", "1")[0]["id"]
    here = ("--home", str(demo.home), "-c", "demo")
    found = imported(*here, *(word.format(id=id) for word in words), env=demo.env)
    assert "amem.memory_system" in found
    unused = {"numpy", "networkx", "asyncio", "pydantic_settings", "tokenizers", "snowballstemmer"}
    rooms = ("amem.index", "amem.retrieval", "amem.conversation", "amem.writing", "amem.llm", "amem.analysts")
    assert found & {*HEAVY, *unused} == set()
    assert {name for name in found if name.startswith(rooms)} == set()


@pytest.mark.parametrize("words", [("facts",), ("facts", "me"), ("timeline", "me", "--json"), ("tags",)])
def test_what_looks_up_facts_and_tags_loads_no_numbers_and_nothing_that_reads_a_question(
    demo: Cli, words: tuple[str, ...]
) -> None:
    found = imported("--home", str(demo.home), "-c", "demo", *words, env=demo.env)
    assert "amem.memory_system" in found
    unused = {"numpy", "snowballstemmer", "amem.language.times", "amem.retrieval.fact_leg", "amem.storage.note_lists"}
    assert found & {*HEAVY, *unused} == set()


@pytest.mark.parametrize("words", [("history", "{id}"), ("trace", "{id}"), ("conflicts",), ("review",)])
def test_what_was_and_what_waits_is_shown_without_numbers_models_or_index(demo: Cli, words: tuple[str, ...]) -> None:
    changed = (each["id"] for each in demo.json("-c", "demo", "list", "--limit", "60") if each["version"] > 1)
    id = next(changed)
    found = imported("--home", str(demo.home), "-c", "demo", *(word.format(id=id) for word in words), env=demo.env)
    assert "amem.memory_system" in found
    assert found & {*HEAVY, "numpy", "amem.index"} == set()


def test_adding_a_text_that_is_known_loads_no_model_and_none_of_the_rules_that_read_notes(demo: Cli) -> None:
    known = demo.json("-c", "demo", "list", "--limit", "1")[0]["content"]
    found = imported("--home", str(demo.home), "-c", "demo", "add", known, env=demo.env)
    assert "amem.writing.pipeline" in found
    assert not found & {*HEAVY, "tokenizers"}
    unread = ("amem.analysts.rules.", "amem.language.statements", "amem.retrieval")
    assert {name for name in found if name.startswith(unread)} == set()


def test_a_search_loads_onnxruntime_and_nothing_heavier(demo: Cli) -> None:
    found = imported("--home", str(demo.home), "-c", "demo", "search", "Inês", env=demo.env)
    assert found & set(HEAVY) == {"onnxruntime"}


@pytest.mark.thorough
def test_litellm_says_nothing_of_its_own_when_it_answers_and_when_nobody_is_there(cli: Cli) -> None:
    with FakeOllama(judging_model) as server:
        there = {"AMEM_LLM_BACKEND": "openai", "AMEM_LLM_MODEL": "llama3.2", "AMEM_API_BASE": f"{server.host}/v1"}
        settled = run(cli, "add", "Ana moved to Lisbon.", env=there)
    (line,) = settled.stderr.splitlines()
    assert line.startswith("analysed by openai/llama3.2; see amem ")
    gone = {**there, "AMEM_API_BASE": "http://127.0.0.1:9/v1", "AMEM_LLM_RETRIES": "0"}
    (line,) = run(cli, "add", "Ana has a bakery.", env=gone).stderr.splitlines()
    assert line.startswith("the note is stored, but not fully analysed: analysis by openai/llama3.2: ")


@pytest.mark.thorough
def test_a_reader_that_leaves_early_hears_no_complaint(demo: Cli) -> None:
    command = f"{' '.join(map(repr, AMEM))} --home {demo.home} -c demo list --limit 60 --json | head -n 1"
    result = subprocess.run(
        ["bash", "-c", command], env={**os.environ, **demo.env}, capture_output=True, text=True, check=True, timeout=60
    )
    assert result.stdout == "[\n"
    assert result.stderr == ""


def test_an_interrupt_ends_with_130(cli: Cli) -> None:
    process = subprocess.Popen(
        [*AMEM, "--home", str(cli.home), "add", "-"],
        env={**os.environ, **cli.env},
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stdin is not None
        # It waits for its input from the moment when everything is imported.
        _wait_until_it_reads(process.pid)
        assert _interrupted(process) == 130
    finally:
        process.kill()
        process.communicate()


def _interrupted(process: subprocess.Popen[bytes]) -> int:
    """The exit code after Ctrl-C; Python overlooks one in the instant before it waits, and a person presses again."""
    for _ in range(6):
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            return process.wait(10)
    raise AssertionError("it goes on reading")


def _wait_until_it_reads(pid: int) -> None:
    import time

    for _ in range(600):
        try:
            with open(f"/proc/{pid}/wchan") as stream:
                waits = "pipe" in stream.read()
        except OSError:
            waits = False
        if waits:
            return
        time.sleep(0.05)
    pytest.skip("cannot see what the process waits for")


@pytest.mark.thorough
def test_a_full_disk_is_one_line_and_loses_nothing(cli: Cli) -> None:
    cli.add("Tea at five.")

    def no_room() -> None:
        # SQLite cannot grow its files past this, as on a disk without room.
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    result = run(cli, "add", "No sugar. " * 500, preexec_fn=no_room)

    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert "free some space" in line
    assert [note["content"] for note in cli.json("list")] == ["Tea at five."]


@pytest.mark.thorough
def test_json_survives_a_pipe_in_any_locale(cli: Cli) -> None:
    cli.env |= {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert json.loads(run(cli, "add", "安娜住在里斯本。", "--json").stdout)["status"] == "stored"
    assert json.loads(run(cli, "list", "--json").stdout)[0]["content"] == "安娜住在里斯本。"
    assert "安娜住在里斯本" in run(cli, "list").stdout


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
class TestTerminal:
    """In a terminal of 100 columns."""

    def screen(self, cli: Cli, *words: str, typed: bytes = b"", **env: str) -> str:
        import fcntl
        import pty
        import struct
        import termios

        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 100, 0, 0))
        environment = {**os.environ, **cli.env, "TERM": "xterm-256color", **env}
        environment.pop("COLUMNS", None)
        process = subprocess.Popen(
            [*AMEM, "--home", str(cli.home), *words], env=environment, stdin=slave, stdout=slave, stderr=slave
        )
        os.close(slave)
        os.write(master, typed)
        seen = b""
        while True:
            try:
                data = os.read(master, 65536)
            except OSError:
                break
            if not data:
                break
            seen += data
        process.wait(30)
        os.close(master)
        return seen.decode().replace("\r\n", "\n")

    def plain(self, cli: Cli, *words: str, typed: bytes = b"") -> str:
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.screen(cli, *words, typed=typed))

    def test_lists_are_tables_that_fit(self, demo: Cli) -> None:
        lines = self.plain(demo, "-c", "demo", "list", "--all", "-n", "5").splitlines()
        assert any(line.split() == ["id", "when", "kind", "note", "tags"] for line in lines)
        assert any("5 of 63 notes" in line for line in lines)

        from rich.cells import cell_len

        assert max(map(cell_len, lines)) <= 100

    def test_no_color_is_respected(self, demo: Cli) -> None:
        words = ("-c", "demo", "search", "Who is Inês?")
        colour = re.compile(r"\x1b\[[0-9;]*3[0-9][;m]")
        assert colour.search(self.screen(demo, *words))
        assert not colour.search(self.screen(demo, *words, NO_COLOR="1"))

    def test_a_note_cannot_drive_the_terminal(self, cli: Cli) -> None:
        cli.ok("add", "-", input="harmless \x1b]0;owned\x07 \x1b[2J text \u202e desrever")
        for words in (("list",), ("search", "harmless"), ("log",)):
            seen = self.screen(cli, *words)
            assert "\x1b]0;owned" not in seen
            assert "\x1b[2J" not in seen
            assert "\u202e" not in seen

    def test_purge_asks_first(self, cli: Cli) -> None:
        id = cli.add("Tea at five.")
        assert "Destroy 1 note for good?" in self.plain(cli, "purge", id, typed=b"n\n")
        assert cli.json("show", id)["content"] == "Tea at five."
        self.plain(cli, "purge", id, typed=b"y\n")
        assert cli.json("list") == []

    def test_an_import_shows_a_bar_and_the_demo_fits_the_screen(self, cli: Cli) -> None:
        from rich.cells import cell_len

        seen = self.plain(cli, "demo")
        assert "reading a year of notes" in seen
        story = seen[seen.index("A year in 63 notes") :]
        assert max(cell_len(line) for line in story.splitlines() if str(cli.home) not in line) <= 80


@pytest.mark.parametrize("text", ["The ferry to Barreiro leaves at nine.", "去巴雷鲁的渡轮九点开。"])
def test_a_terminal_of_eighty_columns_is_not_shown_lines_cut_in_words_nor_tables_without_rows(
    cli: Cli, text: str
) -> None:
    cli.add(text)
    with Sitting("--home", str(cli.home), "list", "--tag", "none", env=cli.env) as sitting:
        assert sitting.end() == 0
        assert sitting.screen.strip() == "no notes match these filters"
    for characters in range(20, 26):
        cli.add("茶" * characters + "a" * (characters % 2))
    with Sitting("--home", str(cli.home), "list", env=cli.env) as sitting:
        assert sitting.end() == 0
        assert "茶…" in sitting.screen
        assert " …" not in sitting.screen
        assert max(cell_len(line) for line in sitting.screen.splitlines()) == 80
    with Sitting("--home", str(cli.home), "topics", env=cli.env) as sitting:
        assert sitting.end() == 0
        told = sitting.screen.splitlines()
    amem = f"amem --home {cli.home}"
    assert told[0].startswith("no topics yet; find some with:")
    assert [line.strip() for line in told if line.endswith(("maintain", "--declare"))][-1].endswith(
        f"{amem} topic NAME --declare"
    )
    with Sitting("--home", str(cli.home), "doctor", env=cli.env) as sitting:
        assert sitting.end() == 0
        lines = sitting.screen.splitlines()
    assert all(cell_len(line) <= 80 and line == line.rstrip() for line in lines)
    assert all(line[:2] in ("✓ ", "! ", "  ") for line in lines if line)
