"""Chats that the real learner learns from: what stands in the notes afterwards, and in the chat."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest
from chatting import assistant
from learning_home import LearningHome

from amem.analysis import Extraction, Statement
from amem.analysts.rules import OfflineAnalyst
from amem.errors import ServiceUnavailable
from amem.memory_system import AgenticMemorySystem
from amem.note import Kind
from amem.settings import Settings
from amem.storage.chats import Learning
from amem.testing import HashEmbedder, ScriptedAnalyst, ScriptedChat
from amem.writing.worker import RETRY_SECONDS

if TYPE_CHECKING:
    from pathlib import Path

    from amem.conversation.assistant import Assistant
    from amem.conversation.reply import Learnt

STATED = "The ferry to Barreiro leaves at nine from pier two."
FERRY = Extraction("The user told when the ferry leaves.", (Statement(STATED, Kind.FACT, ("m1",)),))
SAID = "By the way, the ferry to Barreiro leaves at nine, from pier two."


def model(*extractions: Extraction) -> ScriptedAnalyst:
    return ScriptedAnalyst(extractions=list(extractions), local=False, name="scripted/model")


def talk_in(home: LearningHome, told: list[Learnt] | None = None, chat: str = "Noted.") -> Assistant:
    hear = None if told is None else told.append
    return assistant(home.memory, ScriptedChat(chat), learner=home.learner, on_learnt=hear)


def test_what_the_user_said_becomes_notes_that_undo_takes_back(tmp_path: Path) -> None:
    told: list[Learnt] = []
    with LearningHome(tmp_path, model(FERRY)) as home, talk_in(home, told) as talk:
        talk.say(SAID)
        assert talk.wait(30)
        (note,) = home.facts().values()
        assert (note.content, note.kind) == (STATED, Kind.FACT)
        assert [source.id for source in home.memory.sources([note.id])[note.id]] == [f"{talk.session}:1:user"]
        assert told[0].line() == f"saved “{STATED}”: undo with /undo"
        assert note.id in talk.replay()[0].learnt
        talk.undo()
        assert home.facts() == {}


def test_purging_what_was_learnt_takes_the_words_out_of_the_chat(tmp_path: Path) -> None:
    with LearningHome(tmp_path, model(FERRY)) as home, talk_in(home) as talk:
        talk.say(SAID)
        assert talk.wait(30)
        (note,) = home.facts().values()
        home.memory.purge(note.id)
        (turn,) = talk.turns()
        assert turn.question == ""
        assert turn.answer == "Noted."


def test_the_rules_stand_in_for_a_model_that_is_down_until_it_is_up_again(tmp_path: Path) -> None:
    told: list[Learnt] = []
    analyst = model(FERRY)
    with LearningHome(tmp_path, analyst) as home, talk_in(home, told) as talk:
        analyst.fail = ServiceUnavailable("nobody answers")
        talk.say(SAID)
        assert talk.wait(30)
        (turn,) = talk.turns()
        assert turn.learning is Learning.DEGRADED
        assert "nobody answers" in told[0].line()
        assert list(home.facts()) == [SAID], "by the rules: the user's own sentence"
        analyst.fail = None
        assert talk.learning.work().turns == 0, "it was tried a moment ago"
        home.clock.advance(minutes=RETRY_SECONDS / 60 + 1)
        assert talk.learning.work().turns == 1
        (turn,) = talk.turns()
        assert turn.learning is Learning.DONE
        assert list(home.facts()) == [STATED]


def test_a_chat_without_a_model_is_learnt_from_by_the_rules(tmp_path: Path) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home, talk_in(home) as talk:
        talk.say("我对虾和蟹过敏，以后点菜要先问。")
        talk.say("What can I eat?")
        assert talk.wait(30)
        assert [turn.learning for turn in talk.turns()] == [Learning.DONE, Learning.DONE]
        assert any("过敏" in text for text in home.facts())


def test_recalled_notes_that_a_model_repeats_are_not_learnt_again(tmp_path: Path) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home:
        home.memory.add("My landlord is called Amélia.")
        echo = assistant(home.memory, ScriptedChat(lambda prompt: prompt), learner=home.learner)
        with echo as talk:
            talk.say("What is my landlord called?")
            assert talk.wait(30)
            assert list(home.facts()) == ["My landlord is called Amélia."]


def test_an_episode_of_the_chat_is_summed_up_once_it_is_over(tmp_path: Path) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home, talk_in(home) as talk:
        talk.say("The ferry to Barreiro leaves at nine from the pier.")
        talk.say("It is the blue one with the red funnel, not the other.")
        assert talk.wait(30)
        home.clock.advance(hours=3)
        assert [turn.episode for turn in talk.turns()] == [None, None]
        learnt = talk.learning.work()
        assert learnt.episodes == 1, "nothing was said for hours"
        first, second = talk.turns()
        assert first.episode == second.episode is not None
        assert [message.content for message in home.expanded(str(first.episode))][::2] == [
            first.question,
            second.question,
        ]
        assert talk.learning.work().episodes == 0


@pytest.mark.parametrize(
    ("first", "second", "asked", "told"),
    [
        (
            "Wen comes for dinner on Friday and must not eat shrimp.",
            "The good plates are in the cellar.",
            "Who comes for dinner on Friday?",
            "Wen comes for dinner",
        ),
        ("小文周五来家里吃晚饭，她不能吃虾。", "好盘子在地下室里。", "周五谁来家里吃晚饭？", "小文周五来家里吃晚饭"),
    ],
)
def test_a_model_is_not_told_by_the_summary_of_an_episode_what_notes_of_it_tell(
    tmp_path: Path, first: str, second: str, asked: str, told: str
) -> None:
    chat = ScriptedChat("Noted.")
    with LearningHome(tmp_path, OfflineAnalyst()) as home:
        with assistant(home.memory, chat, learner=home.learner) as talk:
            for said in (first, second):
                talk.say(said)
                assert talk.wait(30)
            home.clock.advance(hours=3)
            assert talk.learning.work().episodes == 1
        (episode,) = [note for note in home.notes().values() if "episode" in note.metadata]
        assert told in episode.content
        reply = assistant(home.memory, chat, incognito=True).say(asked)
        prompt = "\n".join(message.content for message in chat.conversations[-1])
        assert prompt.count(told) == 1
        assert episode.id not in {each.note for each in reply.recalled}


def test_a_summary_that_answers_where_the_notes_of_it_do_not_is_recalled(tmp_path: Path) -> None:
    ferry = Extraction("Ana told about the pier and her plans for Barreiro.", (Statement(STATED, Kind.FACT, ("m1",)),))
    chat = ScriptedChat("Noted.")
    with LearningHome(tmp_path, model(ferry)) as home:
        home.learner.remember([{"role": "user", "content": f"{SAID} Ana has plans there."}], conversation="harbour")
        (episode,) = [note for note in home.notes().values() if "episode" in note.metadata]
        reply = assistant(home.memory, chat).say("What plans does Ana have?")
        assert episode.id in {each.note for each in reply.recalled if each.injected}
        reply = assistant(home.memory, chat).say("When does the ferry to Barreiro leave?")
        assert episode.id not in {each.note for each in reply.recalled}


def test_turns_that_a_killed_worker_held_are_free_at_once(tmp_path: Path) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home:
        talk = talk_in(home)
        talk.close(0)
        talk.say(SAID)
        (turn,) = talk.turns()
        gone = f"{socket.gethostname()}:{2**22 + 1}:cafe:1"
        with home.store.write() as session:
            assert session.chats.claim([turn.key], gone, seconds=900) == {turn.key}
            assert session.chats.waiting() == []
        assert talk_in(home).learning.work().turns == 1


def test_what_is_left_of_what_waits_is_counted(tmp_path: Path) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home:
        talk = talk_in(home)
        talk.close(0)
        talk.say(SAID)
        talk.say("我对花生过敏。")
        assert home.memory.turns_waiting() == 2
        report = home.memory.enrich(1)
        assert (report.done, report.failed, report.remaining) == (1, 0, 1)
        assert home.memory.enrich().remaining == home.memory.turns_waiting() == 0


@pytest.mark.parametrize(
    ("said", "answer", "saved"),
    [
        ("My sister Lian is vegan.", "Noted.", "saved “My sister Lian is vegan.”: undo with /undo"),
        ("我妹妹搬到了上海。", "记下了。", "saved “我妹妹搬到了上海。”: undo with /undo"),
        ("thanks!", "Tell me something to save as a note, or ask what is saved.", ""),
        ("你好", "告诉我要记下的事，或者问问记忆里有什么。", ""),
    ],
)
def test_without_a_model_a_statement_is_saved_and_named_and_a_greeting_is_not(
    tmp_path: Path, said: str, answer: str, saved: str
) -> None:
    told: list[Learnt] = []
    settings = Settings(home=tmp_path, llm_backend="offline")
    with AgenticMemorySystem(settings=settings, embedder=HashEmbedder()) as memory:
        with memory.assistant(on_learnt=told.append) as talk:
            assert talk.say(said).text == answer
            assert talk.wait(30)
            assert [each.line() for each in told] == [saved]
            if saved:
                assert memory.count() == 1
                talk.undo()
        assert memory.count() == 0
