"""Incognito: what is refused, and what a person may change all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest
from chatting import assistant, open_memory

from amem.cli.chat_commands import Commands
from amem.cli.chat_keyboard import Keyboard
from amem.cli.chat_screen import Screen
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


def test_a_terminal_says_how_to_remember_and_that_forgetting_is_stored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_memory(tmp_path) as memory, assistant(memory, ScriptedChat("..."), incognito=True) as talk:
        note = memory.add("My landlord is called Amélia.")
        commands = Commands(talk, memory, Screen(ZoneInfo("UTC")), Keyboard(plain=True))

        commands.run("/remember The spare key is under the mint.")
        assert "/incognito off" in capsys.readouterr().out
        assert memory.count() == 1

        commands.run(f"/forget {note.id}")
        assert "this change is stored, though you are incognito" in capsys.readouterr().out
        assert memory.count() == 0

        commands.run("/undo")
        assert "this change is stored, though you are incognito" in capsys.readouterr().out
        assert memory.count() == 1

        commands.run("/incognito off")
        commands.run(f"/forget {note.id}")
        assert "incognito" not in capsys.readouterr().out.split("forgot", 1)[1]
