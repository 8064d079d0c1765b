"""Runs ``amem`` on a home of its own, with the real model and the offline analyst."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
import typer.testing
from typer.main import get_command
from typer.testing import CliRunner

from amem.cli.app import app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from typer.testing import Result


@dataclass
class Cli:
    """``cli("add", "text")`` is ``amem --home HOME add text``."""

    home: Path
    env: dict[str, str] = field(default_factory=dict)

    def __call__(self, *words: str, input: str | bytes | None = None, **env: str) -> Result:
        return CliRunner().invoke(app, ["--home", str(self.home), *words], input=input, env=self.env | env)

    def ok(self, *words: str, input: str | bytes | None = None, **env: str) -> str:
        """Standard output of a command that must succeed."""
        result = self(*words, input=input, **env)
        assert result.exit_code == 0, f"amem {' '.join(words)}: {result.output}"
        return result.stdout

    def json(self, *words: str, input: str | bytes | None = None, **env: str) -> Any:
        """What a command that must succeed prints with --json."""
        return json.loads(self.ok(*words, "--json", input=input, **env))

    def refused(self, *words: str, code: int = 1, input: str | bytes | None = None, **env: str) -> str:
        """The one line of error of a command that must fail, without printing any data."""
        result = self(*words, input=input, **env)
        assert result.exit_code == code, f"amem {' '.join(words)}: {result.exit_code} {result.output}"
        assert result.stdout == ""
        (line,) = result.stderr.splitlines()
        assert line.startswith("error: ")
        return line.removeprefix("error: ")

    def add(self, text: str, *words: str) -> str:
        """Add a note; its id."""
        return str(self.json("add", text, *words)["id"])


@pytest.fixture(scope="session", autouse=True)
def commands_are_put_together_once() -> Iterator[None]:
    """A run of the program does that once, too; here there are a thousand and more."""
    with pytest.MonkeyPatch.context() as patch:
        # Should Typer name it otherwise one day, tests are only slower.
        patch.setattr(typer.testing, "_get_command", cache(get_command), raising=False)
        yield


@pytest.fixture
def cli(tmp_path: Path, model_cache: Path) -> Cli:
    env = {"AMEM_CACHE": str(model_cache), "AMEM_LLM_BACKEND": "offline", "AMEM_TIMEZONE": "UTC", "COLUMNS": "100"}
    return Cli(tmp_path / "home", env)


@pytest.fixture(scope="session")
def with_a_note(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> tuple[Cli, str]:
    """A home with a note, not to be written to, and the note's id."""
    env = {"AMEM_CACHE": str(model_cache), "AMEM_LLM_BACKEND": "offline", "AMEM_TIMEZONE": "UTC"}
    cli = Cli(tmp_path_factory.mktemp("note") / "home", env)
    return cli, cli.add("The deadline is Friday")


@pytest.fixture(scope="session")
def demo_run(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> tuple[Path, str]:
    """A home in which the demo has run, to be read and not written to, and what the demo printed."""
    home = tmp_path_factory.mktemp("demo") / "home"
    env = {"AMEM_CACHE": str(model_cache), "AMEM_LLM_BACKEND": "offline", "AMEM_TIMEZONE": "UTC"}
    return home, Cli(home, env).ok("demo", "--all")


@pytest.fixture
def demo(demo_run: tuple[Path, str], cli: Cli) -> Cli:
    """A copy of the demo's home."""
    shutil.copytree(demo_run[0], cli.home)
    return cli
