"""A chat whose prompt or rules a person wrote and got wrong: said in a line, with no traceback."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from _judging_model import judging_model

from amem.testing import FakeOllama

if TYPE_CHECKING:
    from conftest import Cli


@pytest.mark.parametrize("text", ["Where does Ana live?", "Ana住在哪里？"])
def test_a_prompt_that_cannot_be_used_is_named_and_what_is_remembered_is_shown(cli: Cli, text: str) -> None:
    cli.add("Ana lives in Lisbon.")
    path = cli.home / "prompts" / "chat.md"
    path.parent.mkdir()
    path.write_text("Be nice.", encoding="utf-8")
    with FakeOllama(judging_model) as ollama:
        result = cli("chat", input=f"{text}\n", AMEM_LLM_BACKEND="ollama", OLLAMA_HOST=ollama.host)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    shown = " ".join(result.output.split())
    assert "cannot use the prompt" in shown
    assert "compare it with the one that comes with amem" in shown
    assert "Lisbon" in shown
    assert "Traceback" not in shown


def test_rules_that_cannot_be_read_are_named_before_anything_is_stored(cli: Cli) -> None:
    cli.add("Ana lives in Lisbon.")
    (cli.home / "rules.md").write_text("never: /(/\n", encoding="utf-8")
    with FakeOllama(judging_model) as ollama:
        result = cli("chat", input="My token is abc.\n", AMEM_LLM_BACKEND="ollama", OLLAMA_HOST=ollama.host)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    shown = " ".join(result.output.split())
    assert "rules.md, line 1" in shown
    assert "amem rules --edit" in shown
    assert "Traceback" not in shown
