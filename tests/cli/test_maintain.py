"""``amem maintain`` and ``amem health``: reports, reasons, undo, and the machine's own timer."""

from __future__ import annotations

import os
import stat
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _judging_model import judging_model
from sitting import PROMPT, Sitting

from amem import AgenticMemorySystem
from amem.settings import Settings
from amem.testing import FakeOllama, FrozenClock

if TYPE_CHECKING:
    from conftest import Cli

    from amem.protocols import Embedder

AGO = datetime.now(UTC) - timedelta(days=100)


@pytest.fixture
def aged(cli: Cli, minilm: Embedder) -> Cli:
    """A collection of a hundred days ago, in which a chat and a decision were noted."""
    cli.env["AMEM_ARCHIVE_OWN_NOTES"] = "true"
    settings = Settings(home=cli.home, llm_backend="offline", timezone="UTC")
    with AgenticMemorySystem(settings=settings, embedder=minilm, clock=FrozenClock(AGO)) as memory:
        memory.add("haha nice", kind="chitchat", importance=0.1)
        memory.add("哈哈，真不错", kind="chitchat", importance=0.1)
        memory.add("We decided to keep the cache off.", kind="decision")
    return cli


def test_a_report_names_what_faded_and_why_and_all_of_it_can_be_taken_back(aged: Cli) -> None:
    rehearsed = aged.json("maintain", "--dry-run")
    assert (rehearsed["faded"], rehearsed["operation"], rehearsed["dry_run"]) == (2, None, True)
    assert aged.json("health")["statuses"] == {"active": 3}

    result = aged("maintain")
    assert result.exit_code == 0
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert [(row[0], row[2]) for row in rows] == [("faded", "haha nice"), ("faded", "哈哈，真不错")]
    assert "strength" in rows[0][3]
    assert "days" in rows[0][3]
    assert "2 faded into the archive" in result.stderr
    operation = aged.json("health")["last"]["operation"]
    assert f"undo {operation}" in result.stderr
    assert aged.json("health")["statuses"] == {"archived": 2, "active": 1}

    assert aged.json("undo", str(operation))["undone"] == operation
    assert aged.json("health")["statuses"] == {"active": 3}
    assert aged.json("maintain")["operation"] is None, "what was taken back is not done again"


def test_what_is_due_is_done_once(aged: Cli) -> None:
    assert aged.json("maintain", "--due")["cycle"] == "monthly"
    result = aged("maintain", "--due")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "nothing is due" in result.stderr


def test_health_fits_on_one_screen_of_a_terminal(aged: Cli) -> None:
    aged.ok("maintain", "--monthly")
    with Sitting("--home", str(aged.home), "health", env=aged.env) as sitting:
        assert sitting.end() == 0
        shown = sitting.screen
    assert len(shown.splitlines()) <= 24
    assert "2 archived" in shown
    assert "2 faded into the archive" in shown
    assert "✓ due" in shown


def test_a_terminal_shows_the_reasons_in_words(aged: Cli) -> None:
    with Sitting("--home", str(aged.home), "maintain", env=aged.env) as sitting:
        assert sitting.end() == 0
        shown = " ".join(sitting.screen.split())
    assert "nightly maintenance" in shown
    assert "“haha nice”" in shown
    assert "amem --home" in shown
    assert "undo" in shown


def test_one_thing_at_a_time(cli: Cli) -> None:
    cli.refused("maintain", "--nightly", "--weekly", code=2)
    cli.refused("maintain", "--print", code=2)
    cli.refused("maintain", "--at", "04:00", code=2)
    assert "--at 03:30" in cli.refused("maintain", "--install", "--at", "late")


@pytest.mark.thorough
def test_the_chat_maintains_while_nobody_types_and_says_so_in_one_line(aged: Cli) -> None:
    with FakeOllama(judging_model) as ollama:
        env = aged.env | {"AMEM_LLM_BACKEND": "ollama", "AMEM_LLM_MODEL": "llama3.2", "AMEM_OLLAMA_HOST": ollama.host}
        with Sitting("--home", str(aged.home), "chat", env=env | {"AMEM_IDLE_MINUTES": "0"}) as sitting:
            sitting.until(PROMPT)
            while aged.json("health")["last"] is None:  # typing would call it off
                pass
            printed = sitting.say("")
            assert "maintenance: 2 faded" in printed
            assert "amem undo" in printed
            assert "maintenance: " not in sitting.say("")
            sitting.keys("\x04")
            assert sitting.end() == 0
    assert aged.json("health")["statuses"]["archived"] == 2


@pytest.mark.thorough
def test_an_incognito_chat_maintains_nothing(aged: Cli) -> None:
    with FakeOllama(judging_model) as ollama:
        env = aged.env | {"AMEM_LLM_BACKEND": "ollama", "AMEM_LLM_MODEL": "llama3.2", "AMEM_OLLAMA_HOST": ollama.host}
        words = ("--home", str(aged.home), "chat", "--incognito")
        with Sitting(*words, env=env | {"AMEM_IDLE_MINUTES": "0"}) as sitting:
            sitting.until(PROMPT)
            sitting.say("What about the cache?")
            sitting.keys("\x04")
            assert sitting.end() == 0
    assert aged.json("health")["last"] is None


# -- every night ---------------------------------------------------------------------------------------------------


class Machine:
    """A machine whose systemd and cron are scripts that write down what they are asked."""

    def __init__(self, folder: Path, *, systemd: bool = True, cron: bool = True) -> None:
        self.programs, self.config, self.asked = folder / "bin", folder / "config", folder / "asked"
        self.crontab = folder / "crontab"
        self.programs.mkdir(parents=True)
        if systemd:
            self.program("systemctl", f'echo "$@" >> "{self.asked}"')
        if cron:
            listing = f'if [ "$1" = "-l" ]; then cat "{self.crontab}" 2>/dev/null || {{ echo "no crontab for me" >&2;'
            self.program("crontab", f'{listing} exit 1; }}; else cat > "{self.crontab}"; fi')

    @property
    def env(self) -> dict[str, str]:
        return {"PATH": f"{self.programs}:/usr/bin:/bin", "XDG_CONFIG_HOME": str(self.config)}

    def units(self) -> dict[str, str]:
        folder = self.config / "systemd" / "user"
        return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*"))}

    def program(self, name: str, script: str) -> None:
        path = self.programs / name
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)


def without_real(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the machine's own scripts, and the shell's own programs, not those of the machine the tests run on."""
    for name in ("sh", "cat", "echo"):
        os.symlink(f"/bin/{name}" if Path(f"/bin/{name}").exists() else f"/usr/bin/{name}", machine.programs / name)
    for name, value in (machine.env | {"PATH": str(machine.programs)}).items():
        monkeypatch.setenv(name, value)


@pytest.mark.skipif(sys.platform == "win32", reason="there is neither systemd nor cron on Windows")
def test_a_systemd_timer_is_written_enabled_replaced_and_taken_away(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(tmp_path / "machine")
    without_real(machine, monkeypatch)
    cli.home = tmp_path / "my home 100% $HOME"
    done = cli.json("maintain", "--install", "--at", "04:15")
    assert done["by"] == "systemd"
    (service, timer) = machine.units()
    assert service.startswith("amem-maintain")
    assert timer.removesuffix(".timer") == service.removesuffix(".service")
    assert "OnCalendar=*-*-* 04:15:00" in machine.units()[timer]
    (start,) = [line for line in machine.units()[service].splitlines() if line.startswith("ExecStart=")]
    assert start.startswith('ExecStart="/'), "systemd takes absolute paths only"
    assert f'"{tmp_path}/my home 100%% $$HOME" "--collection" "memories" "maintain" "--due"' in start
    asked = machine.asked.read_text(encoding="utf-8").splitlines()
    assert asked[1:] == ["--user daemon-reload", f"--user enable --now {timer}"]

    cli.ok("maintain", "--install", "--at", "05:00")
    assert "05:00:00" in machine.units()[timer]
    assert len(machine.units()) == 2
    assert len(cli.json("maintain", "--uninstall")["removed"]) == 2
    assert machine.units() == {}
    assert f"--user disable --now {timer}" in machine.asked.read_text(encoding="utf-8")
    assert cli.json("maintain", "--uninstall")["removed"] == []
    assert not machine.crontab.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="there is neither systemd nor cron on Windows")
def test_without_systemd_a_line_of_crontab_is_added_beside_the_others(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(tmp_path / "machine", systemd=False)
    without_real(machine, monkeypatch)
    others = "# my own\n0 5 * * * /usr/bin/backup # amem-maintain is not this\nMAILTO=me\n"
    machine.crontab.write_text(others, encoding="utf-8")
    cli.home = tmp_path / "my home 100%"
    assert cli.json("maintain", "--install")["by"] == "crontab"
    cli.ok("maintain", "--install", "--at", "04:00")
    cli.ok("-c", "work", "maintain", "--install")
    lines = machine.crontab.read_text(encoding="utf-8").splitlines()
    assert lines[:3] == others.splitlines()
    mine, works = lines[3:]
    assert mine.startswith("0 4 * * * /")
    assert rf"--home '{tmp_path}/my home 100\%' --collection memories maintain --due" in mine
    assert "--collection work " in works
    cli.ok("maintain", "--uninstall")
    cli.ok("-c", "work", "maintain", "--uninstall")
    assert machine.crontab.read_text(encoding="utf-8") == others


@pytest.mark.skipif(sys.platform == "win32", reason="there is neither systemd nor cron on Windows")
def test_a_crontab_that_cannot_be_read_is_never_written(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(tmp_path / "machine", systemd=False, cron=False)
    without_real(machine, monkeypatch)
    assert "neither systemd nor cron" in cli.refused("maintain", "--install")
    machine.program("crontab", 'echo "cannot open your file" >&2; exit 1')
    assert "crontab -l failed: cannot open your file" in cli.refused("maintain", "--install")


def test_print_shows_what_would_be_set_up_and_sets_up_nothing(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(tmp_path / "machine")
    without_real(machine, monkeypatch)
    shown = cli.ok("maintain", "--install", "--print")
    assert "ExecStart=" in shown
    assert "30 3 * * *" in shown
    assert set(cli.json("maintain", "--install", "--print")) == {"units", "crontab"}
    assert machine.units() == {}
    assert not machine.asked.exists()
