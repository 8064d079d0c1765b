"""What was undone or forgotten does not come back by itself: not in summaries, not by learning again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from chatting import assistant
from learning_home import LearningHome

from amem.analysis import Extraction, Statement
from amem.analysts.rules import OfflineAnalyst
from amem.conversation.messages import without_forgotten
from amem.errors import ServiceUnavailable
from amem.note import Kind, Message, Role
from amem.testing import ScriptedAnalyst, ScriptedChat
from amem.writing.worker import RETRY_SECONDS

if TYPE_CHECKING:
    from pathlib import Path

    from amem.conversation.assistant import Assistant

SAID = [
    ("My sister Julia is pregnant.", "The ferry to Barreiro leaves at nine from pier two.", "Julia", "ferry"),
    ("我姐姐朱莉娅怀孕了。", "去巴雷鲁的渡轮九点从二号码头开。", "朱莉娅", "渡轮"),
]


def talk_in(home: LearningHome, answer: str = "Noted.") -> Assistant:
    return assistant(home.memory, ScriptedChat(answer), learner=home.learner)


def later(home: LearningHome, talk: Assistant) -> None:
    """The chat is quiet for so long that its episode ends, and what waits is worked off."""
    home.clock.advance(minutes=RETRY_SECONDS / 60 + 120)
    talk.learning.work()


def everything(home: LearningHome) -> str:
    return "\n".join(home.notes())


@pytest.mark.parametrize(("secret", "other", "name", "kept"), SAID)
def test_a_forgotten_note_is_not_told_again_by_the_summary_of_its_episode(
    tmp_path: Path, secret: str, other: str, name: str, kept: str
) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home, talk_in(home, f"{name}!") as talk:
        talk.say(secret)
        talk.say(other)
        assert talk.wait(30)
        (note,) = [note for text, note in home.facts().items() if name in text]
        talk.forget(note.id)
        later(home, talk)
        assert name not in everything(home)
        (episode,) = [note for note in home.notes().values() if note.kind is Kind.EPISODE]
        assert kept in episode.content
        assert talk.turns()[0].question == secret, "what was typed stays in the chat"
        assert name not in "".join(message.content for message in home.expanded(episode.id))


@pytest.mark.parametrize(("secret", "other", "name", "kept"), SAID)
def test_an_undone_turn_is_in_no_episode(tmp_path: Path, secret: str, other: str, name: str, kept: str) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home, talk_in(home) as talk:
        talk.say(other)
        talk.say(secret)
        assert talk.wait(30)
        talk.undo()
        later(home, talk)
        assert name not in everything(home)
        assert kept in everything(home)
        assert [bool(turn.episode) for turn in talk.turns()] == [True, False]
        assert talk.learning.work().episodes == 0


def test_a_chat_of_which_everything_was_undone_has_no_episode(tmp_path: Path) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home, talk_in(home) as talk:
        talk.say(SAID[0][0])
        assert talk.wait(30)
        talk.undo()
        later(home, talk)
        assert home.notes() == {}
        with home.store.read() as session:
            assert session.chats.quiet(home.clock.now()) == [], "nothing of it is left to be looked at"


def test_what_was_taken_back_and_redone_is_in_the_summary_again(tmp_path: Path) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home, talk_in(home) as talk:
        talk.say(SAID[0][0])
        assert talk.wait(30)
        talk.undo()
        home.memory.redo()
        later(home, talk)
        assert [note.kind for note in home.notes().values() if "Julia" in note.content].count(Kind.EPISODE) == 1


@pytest.mark.parametrize(("secret", "other", "name", "kept"), SAID)
def test_a_model_that_is_up_again_is_not_told_what_was_forgotten_meanwhile(
    tmp_path: Path, secret: str, other: str, name: str, kept: str
) -> None:
    analyst = thinking()
    with LearningHome(tmp_path, analyst) as home, talk_in(home, f"{name}!") as talk:
        talk.say(f"{secret} {other}")
        assert talk.wait(30)
        (note,) = [note for text, note in home.facts().items() if name in text]
        talk.forget(note.id)
        analyst.fail = None
        later(home, talk)
        assert heard_by(analyst) == [other]
        assert name not in everything(home)
        assert kept in everything(home)


def test_a_model_that_is_up_again_is_not_asked_about_a_turn_that_was_undone_meanwhile(tmp_path: Path) -> None:
    analyst = thinking()
    with LearningHome(tmp_path, analyst) as home, talk_in(home) as talk:
        talk.say(SAID[0][0])
        assert talk.wait(30)
        talk.undo()
        analyst.fail = None
        later(home, talk)
        assert len(analyst.passages) == 1, "only when it was down"
        assert home.notes() == {}


def test_an_imported_conversation_is_learnt_from_again_without_what_was_forgotten(tmp_path: Path) -> None:
    analyst = thinking()
    with LearningHome(tmp_path, analyst) as home:
        home.learner.remember(
            [Message(Role.USER, SAID[0][0]), Message(Role.USER, SAID[0][1])], conversation="kitchen", episodes=True
        )
        (note,) = [note for text, note in home.facts().items() if "Julia" in text]
        home.memory.delete(note.id)
        analyst.fail = None
        home.clock.advance(minutes=RETRY_SECONDS / 60 + 1)
        assert home.learner.work().done == 1
        assert heard_by(analyst) == [SAID[0][1]]
        assert not any("Julia" in text for text in home.facts())


def test_what_a_model_had_reworded_is_recognised_in_what_was_said(tmp_path: Path) -> None:
    reworded = "The user's sister Julia is pregnant."
    extraction = Extraction("", (Statement(reworded, Kind.FACT, ("m1",)),))
    with LearningHome(tmp_path, ScriptedAnalyst(extractions=[extraction], local=False, name="a/model")) as home:
        said = [
            Message(Role.USER, "Guess what: my big sister Julia is pregnant! The ferry leaves at nine.", id="k:1"),
            Message(Role.ASSISTANT, "Congratulations to Julia! Nine it is.", id="k:2"),
            Message(Role.USER, "Julia likes tea.", id="k:3"),
        ]
        home.learner.remember(said, conversation="k", episodes=False)
        with home.store.read() as session:
            assert without_forgotten(session, said, ["k:1", "k:2", "k:3"]) == tuple(said)
        home.memory.delete(home.notes()[reworded].id)
        with home.store.read() as session:
            left = without_forgotten(session, said, ["k:1", "k:2", "k:3"])
        assert [message.content for message in left] == ["The ferry leaves at nine.", "Nine it is.", "Julia likes tea."]


def thinking() -> ScriptedAnalyst:
    """A model that is down at first and then understands as much as the rules do."""
    analyst = ScriptedAnalyst(extractions=OfflineAnalyst().extract, local=False, name="scripted/model")
    analyst.fail = ServiceUnavailable("nobody answers")
    return analyst


def heard_by(analyst: ScriptedAnalyst) -> list[str]:
    return [message.content for message in analyst.passages[-1].said if message.role is Role.USER]
