"""On the command line: one command says it on stderr, the next does not, and what it names works."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

NOTES = "\n".join(
    f'{{"content": "{text}"}}'
    for text in ("手机在充电。", "今天下雨了。", "猫在沙发上。", "明天去杭州。", "药在抽屉里。", "妈妈打来电话。")
)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.jsonl"
    path.write_text(NOTES, encoding="utf-8")
    return path


def run(cli: Cli, *words: str) -> subprocess.CompletedProcess[str]:
    """The program in a process of its own."""
    command = [sys.executable, "-c", "from amem.cli import main; main()", "--home", str(cli.home), *words]
    return subprocess.run(command, env=os.environ | cli.env, capture_output=True, text=True, check=True, timeout=120)


@pytest.mark.thorough
def test_the_first_process_says_it_and_the_second_does_not(cli: Cli, notes: Path) -> None:
    first, second = run(cli, "import", str(notes)), run(cli, "search", "猫在哪里？")
    said = first.stdout + first.stderr
    assert said.count("cannot read") == 1
    assert "cannot read" in first.stderr
    assert "cannot read" not in second.stdout + second.stderr
    assert "猫在沙发上" in second.stdout


@pytest.mark.thorough
def test_two_processes_at_once_say_it_once(cli: Cli, notes: Path) -> None:
    cli.ok("import", str(notes))
    # As if nobody had been told yet.
    with_nothing_said(cli)
    words = [sys.executable, "-c", "from amem.cli import main; main()", "--home", str(cli.home), "search", "下雨"]
    both = [
        subprocess.Popen(words, env=os.environ | cli.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [process.communicate(timeout=120)[1] for process in both]
    assert sum(text.count("cannot read") for text in said) == 1


def test_json_on_stdout_stays_json(cli: Cli, notes: Path) -> None:
    cli.ok("import", str(notes))
    with_nothing_said(cli)
    assert cli.json("search", "下雨")


def test_doctor_and_health_say_it_each_time_with_commands_that_exist(cli: Cli, notes: Path) -> None:
    cli.ok("import", str(notes))
    for _ in range(2):
        (finding,) = [each for each in cli.json("doctor") if each["about"] == "language"]
        assert finding["level"] == "warning"
        assert "cannot read" in cli.json("health")["language"]
        assert "language" in cli.ok("health")
    assert str(cli.home / "config.toml") in finding["hint"]
    assert finding["hint"].endswith("amem reindex")
    (cli.home / "config.toml").write_text('embed_model = "paraphrase-multilingual-MiniLM-L12-v2"\n', encoding="utf-8")
    assert cli.ok("config", "embed_model").split()[1] == "paraphrase-multilingual-MiniLM-L12-v2"
    assert "Embed every note again" in cli.ok("reindex", "--help")


def test_an_english_collection_hears_nothing_and_health_says_it_from_the_first_chinese_note_on(cli: Cli) -> None:
    for text, said in (("The key is under the mat.", False), ("It rained.", False), ("猫在沙发上。", True)):
        result = cli("add", text)
        assert "cannot read" not in result.output
        assert ("cannot read" in cli.json("health")["language"]) == said
    assert "some notes are in Chinese" in " ".join(cli.ok("health").split())


def with_nothing_said(cli: Cli) -> None:
    """Take the remark back."""
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(cli.home / "memories" / "amem.db")) as raw:
        raw.execute("DELETE FROM meta WHERE key = 'said languages'")
        raw.commit()
