"""Incognito: what is refused, and what a person may change all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from chatting import assistant, open_memory

from amem.conversation.commands import Line, run
from amem.conversation.session import Conversation
from amem.errors import InvalidInput
from amem.testing import ScriptedChat

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("text", ["The spare key is under the mint.", "备用钥匙在薄荷下面。"])
def test_nothing_is_remembered_by_hand_until_incognito_is_off(tmp_path: Path, text: str) -> None:
    with open_memory(tmp_path) as memory, assistant(memory, ScriptedChat("..."), incognito=True) as talk:
        with pytest.raises(InvalidInput, match="incognito: nothing is stored") as refused:
            talk.remember(text)
        assert "/incognito off" in refused.value.hint
        assert memory.count() == 0
        talk.incognito = False
        assert talk.remember(text).stored


def test_a_command_says_how_to_remember_and_that_forgetting_is_stored(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory, Conversation(memory, incognito=True) as talk:
        note = memory.add("My landlord is called Amélia.")

        def said(command: str) -> str:
            return "\n".join(each.text for each in run(talk, command) if isinstance(each, Line))

        assert "/incognito off" in said("/remember The spare key is under the mint.")
        assert memory.count() == 1

        assert "this change is stored, though you are incognito" in said(f"/forget {note.id}")
        assert memory.count() == 0

        assert "this change is stored, though you are incognito" in said("/undo")
        assert memory.count() == 1

        said("/incognito off")
        assert "incognito" not in said(f"/forget {note.id}")
