"""What a purge takes out of conversations: messages, turns, answers and the summaries of episodes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from chatting import assistant
from learning_home import LearningHome

from amem.analysis import Extraction, Statement
from amem.note import Kind, Message, Role
from amem.testing import ScriptedAnalyst, ScriptedChat

if TYPE_CHECKING:
    from pathlib import Path

BOATS, NUMBER = "I paint wooden boats on Sundays.", "My patient number is 77123."
NUMBER_CHINESE = "我的病历号是88342。"


def lesson(*said: str, summary: str = "The user told of boats and of the number 77123.") -> Extraction:
    return Extraction(summary, tuple(Statement(text, Kind.FACT, ("m1",)) for text in said))


def bytes_of(home: Path) -> bytes:
    return b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())


def test_a_message_that_taught_two_notes_loses_what_the_purged_one_says(tmp_path: Path) -> None:
    analyst = ScriptedAnalyst(extractions=lesson(BOATS, NUMBER), local=False, name="scripted/model")
    with LearningHome(tmp_path, analyst) as home:
        talk = [Message(Role.USER, f"{BOATS} {NUMBER}"), Message(Role.ASSISTANT, "77123, noted. Boats are fun.")]
        home.learner.remember(talk, conversation="talk")
        facts = home.facts()
        report = home.memory.purge(facts[NUMBER].id)
        assert report is not None
        assert (report.owed, report.left) == ("", ())
        (source,) = home.memory.sources([facts[BOATS].id])[facts[BOATS].id]
        assert source.text == BOATS
        (episode,) = [note for note in home.memory.list() if "episode" in note.metadata]
        assert "boats" in episode.content
        assert "77123" not in json.dumps([each.changes for each in home.memory.history(episode.id)])
    assert b"77123" not in bytes_of(tmp_path)


def test_a_message_whose_note_says_it_in_other_words_goes_whole(tmp_path: Path) -> None:
    with LearningHome(tmp_path, ScriptedAnalyst(local=False, name="scripted/model")) as home:
        home.learner.remember([Message(Role.USER, "Shrimp makes me ill.")], conversation="talk")
        note = home.memory.add_note("Keep off seafood.")
        (episode,) = [each for each in home.memory.list() if "episode" in each.metadata]
        with home.store.write() as session:  # as a model would have put it
            source = session.sources.keys_of([each.id for each in session.notes.sources_of([episode.id])[episode.id]])
            ((key, _),) = source.values()
            session.sources.attach(session.notes.keys_of([note])[note], key, session.begin("extract", "model"))
        home.memory.purge(note)
        assert home.memory.read(episode.id).content == "A conversation of 1 message (user)"
    assert b"Shrimp" not in bytes_of(tmp_path)
    assert b"shrimp" not in bytes_of(tmp_path)


def test_turns_answers_and_reasons_of_a_chat_lose_a_purged_note(tmp_path: Path) -> None:
    analyst = ScriptedAnalyst(extractions=[lesson(NUMBER), *[Extraction()] * 9], local=False, name="scripted/model")
    with LearningHome(tmp_path, analyst) as home:
        chat = ScriptedChat(["Noted.", "It is 77123 [1].", "Boats float. Your patient number is 77123."])
        with assistant(home.memory, chat, learner=home.learner) as talk:
            for said in (f"{NUMBER} {NUMBER_CHINESE}", "What is my patient number?", "Tell me of boats."):
                talk.say(said)
                assert talk.wait(30)
            note = home.facts()[NUMBER]
            chinese = home.memory.add_note(NUMBER_CHINESE)
            report = home.memory.purge([note.id, chinese])
            assert report is not None
            assert report.owed == ""
            turns = talk.turns()
        assert [turn.question for turn in turns][1:] == ["What is my patient number?", "Tell me of boats."]
        assert turns[2].answer == "Boats float."
        assert "77123" not in turns[1].answer
    left = bytes_of(tmp_path)
    assert [word for word in ("77123", "88342", "病历号是") if word.encode() in left] == []


def test_the_purge_of_a_summary_leaves_what_was_learnt_and_its_messages(tmp_path: Path) -> None:
    analyst = ScriptedAnalyst(extractions=lesson(BOATS), local=False, name="scripted/model")
    with LearningHome(tmp_path, analyst) as home:
        home.learner.remember([Message(Role.USER, BOATS), Message(Role.USER, "Nothing else.")], conversation="talk")
        (episode,) = [note for note in home.memory.list() if "episode" in note.metadata]
        home.memory.purge(episode.id)
        fact = home.facts()[BOATS]
        assert [source.text for source in home.memory.sources([fact.id])[fact.id]] == [BOATS]
    assert b"Nothing else." not in bytes_of(tmp_path)
