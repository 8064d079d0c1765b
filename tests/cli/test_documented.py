"""docs/cli.md tells the truth: every command and every key is in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _judging_model import judging_model
from typer.main import get_command

from amem.cli.app import app
from amem.testing import FakeOllama

if TYPE_CHECKING:
    from conftest import Cli

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")


def keys_of(value: Any) -> set[str]:
    """Every key of nested JSON, but not those of metadata and changes, which are the user's own."""
    if isinstance(value, list):
        return set().union(*map(keys_of, value))
    if not isinstance(value, dict):
        return set()
    free = [value[name] for name in ("metadata", "changes") if name in value]
    return set(value) | set().union(*(keys_of(each) for each in value.values() if each not in free))


def test_every_command_is_described() -> None:
    for name in get_command(app).list_commands(None):
        assert f"`{name}" in PAGE, name


@pytest.mark.parametrize(
    "words",
    [
        ("demo",),
        ("search", "Inês"),
        ("why", "Inês"),
        ("list",),
        ("log",),
        ("tags",),
        ("doctor",),
        ("health",),
        ("maintain", "--dry-run"),
        ("collections",),
        ("config",),
        ("path",),
        ("setup",),
        ("models",),
        ("enrich",),
        ("review",),
    ],
)
def test_every_key_of_its_json_is_named(demo: Cli, words: tuple[str, ...]) -> None:
    missing = {key for key in keys_of(demo.json("-c", "demo", *words)) if key not in PAGE}
    assert missing == set()


def test_every_key_of_one_note_is_named(demo: Cli) -> None:
    id = demo.json("-c", "demo", "list", "-n", "1")[0]["id"]
    for words in (("show", id), ("link", id), ("history", id), ("edit", id, "--tag", "new"), ("undo",), ("redo",)):
        missing = {key for key in keys_of(demo.json("-c", "demo", *words)) if key not in PAGE}
        assert missing == set(), words


def test_every_key_of_a_chat_and_an_answer_is_named(demo: Cli) -> None:
    with FakeOllama(judging_model) as ollama:
        demo.env |= {"AMEM_LLM_BACKEND": "ollama", "OLLAMA_HOST": ollama.host}
        said = [json.loads(demo.ok("-c", "demo", "chat", "--json", input="Who is Inês?\n"))]
        said += [demo.json("-c", "demo", *words) for words in (("ask", "Who is Inês?"), ("chat", "--list"))]
        said.append(demo.json("-c", "demo", "chat", "--replay"))
    assert {key for key in keys_of(said) if key not in PAGE} == set()
