"""Passwords, keys and card numbers that are typed into a chat: read by the model that answers, and stored nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from chatting import assistant
from learning_home import LearningHome

from amem.analysts.rules import OfflineAnalyst
from amem.conversation.admission import REMOVED
from amem.conversation.rule_file import FILE_NAME
from amem.errors import InvalidInput
from amem.testing import ScriptedChat

if TYPE_CHECKING:
    from pathlib import Path


def stored(home: Path) -> bytes:
    """Every byte on disk but for the rule file."""
    return b"".join(each.read_bytes() for each in home.rglob("*") if each.is_file() and each.name != FILE_NAME)


@pytest.mark.parametrize(
    ("said", "answer", "secret", "kept"),
    [
        (
            "My password is hunter2. Is it safe?",
            "Hunter2 is weak, never use hunter2!",
            "hunter2",
            f"{REMOVED} is weak, never use {REMOVED}!",
        ),
        ("我的密码是abc123，安全吗？", "abc123太短了。", "abc123", f"{REMOVED}太短了。"),
        ("卡号4111111111111111", "您的卡4111 1111 1111 1111。", "4111111111111111", f"您的卡{REMOVED}。"),
    ],
)
def test_a_secret_is_shown_to_the_model_and_is_neither_in_the_turn_nor_in_the_answer_that_repeats_it(
    tmp_path: Path, said: str, answer: str, secret: str, kept: str
) -> None:
    chat = ScriptedChat([answer, "Nothing."])
    with LearningHome(tmp_path, OfflineAnalyst()) as home, assistant(home.memory, chat, learner=home.learner) as talk:
        reply = talk.say(said)
        assert reply.text == answer, "whoever asked reads what was answered"
        assert said in chat.conversations[0][-1].content
        assert talk.wait(30)
        (turn,) = talk.turns()
        assert turn.question == said.replace(secret, REMOVED)
        assert turn.answer == kept
        talk.say("And what now?")
        assert secret not in "".join(message.content for message in chat.conversations[1])
        assert secret.encode() not in stored(tmp_path).lower()
    assert secret.encode() not in stored(tmp_path).lower()


def test_an_answer_that_breaks_off_keeps_no_secret_either(tmp_path: Path) -> None:
    chat = ScriptedChat("Well, hunter2 is rather weak.")
    with LearningHome(tmp_path, OfflineAnalyst()) as home, assistant(home.memory, chat) as talk:
        pieces = talk.stream("My password is hunter2.")
        said = ""
        for piece in pieces:
            said += piece.text
            if "hunter2" in said:
                break
        pieces.close()
        (turn,) = talk.turns()
        assert REMOVED in turn.answer
        assert b"hunter2" not in stored(tmp_path)


def test_a_secret_that_the_rules_allow_stays_in_the_chat(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("允许：[密码]\n", encoding="utf-8")
    with LearningHome(tmp_path, OfflineAnalyst()) as home, assistant(home.memory, ScriptedChat("Fine.")) as talk:
        talk.say("My password is hunter2.")
        assert talk.turns()[0].question == "My password is hunter2."


def test_nothing_is_stored_while_the_rules_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("never: /(/\n", encoding="utf-8")
    with LearningHome(tmp_path, OfflineAnalyst()) as home, assistant(home.memory, ScriptedChat("Fine.")) as talk:
        with pytest.raises(InvalidInput, match="line 1"):
            talk.say("My password is hunter2.")
        assert talk.sessions() == []
