"""``chat_learning=night``: a day longer than the window is summed up as it goes, and learnt from once, at night."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from chatting import open_memory

from amem.analysis import Extraction, Passage, Statement
from amem.errors import ServiceUnavailable
from amem.note import Kind
from amem.storage.chats import Learning
from amem.testing import FrozenClock, ScriptedAnalyst, ScriptedChat

if TYPE_CHECKING:
    from pathlib import Path

    from amem import AgenticMemorySystem
    from amem.conversation.assistant import Assistant

pytestmark = pytest.mark.thorough

TURNS = 40
ANSWER = "The lamps on the harbour were lit again, as they are each evening of the week. " * 4
SAID = {
    "en": "Number {n}: the harbour and its lamps were quiet when boat {n} came in.",
    "zh": "第{n}条：第{n}条船进港的时候，港口和灯塔都很安静，一个人也没有。",
}


def extract(passage: Passage) -> Extraction:
    """Each message of a person's as it is."""
    people = [(f"m{n}", each) for n, each in enumerate(passage.said, start=1) if each.role == "user"]
    return Extraction(
        summary="About the harbour 港口.",
        statements=tuple(Statement(each.content, Kind.FACT, (handle,)) for handle, each in people),
    )


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock("2026-03-01T10:00")


@pytest.fixture
def analyst() -> ScriptedAnalyst:
    return ScriptedAnalyst(extractions=extract)


def opened(tmp_path: Path, clock: FrozenClock, analyst: ScriptedAnalyst, **options: Any) -> AgenticMemorySystem:
    given: dict[str, Any] = {"llm_context": 4096, "chat_learning": "night", "analyst": analyst, "background": False}
    return open_memory(tmp_path / "home", clock, **given | options)


def sit(talk: Assistant, clock: FrozenClock, language: str = "en", turns: int = TURNS) -> None:
    for number in range(turns):
        talk.say(SAID[language].format(n=number))
        assert talk.wait(30)
        clock.advance(minutes=1)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_leaves_the_window_is_summed_up_in_the_day_and_every_turn_is_learnt_from_once_at_night(
    tmp_path: Path, clock: FrozenClock, analyst: ScriptedAnalyst, language: str
) -> None:
    chat = ScriptedChat(ANSWER)
    with opened(tmp_path, clock, analyst) as memory, memory.assistant(chat=chat) as talk:
        sit(talk, clock, language)
        assert analyst.passages == [], "the model is not asked by day"
        *past, _ = talk.turns()
        assert {turn.learning for turn in past} == {Learning.WAITING}
        shown = " ".join(message.content for message in chat.conversations[-1][1:-1])
        system = chat.conversations[-1][0].content
        for turn in past:
            summary = memory.read(turn.episode) if turn.episode else None
            assert turn.question in shown or (summary is not None and summary.content in system)
        summed_up = {turn.episode for turn in past if turn.episode}
        assert len(summed_up) > 2

        memory.work(once=True)
        assert analyst.passages == [], "the day is not over"
        clock.advance(days=1)
        memory.work(once=True)
        assert {turn.learning for turn in talk.turns()} == {Learning.DONE}
        heard = [message.content for passage in analyst.passages for message in passage.said if message.role == "user"]
        assert heard == [SAID[language].format(n=number) for number in range(TURNS)]
        assert {each.episode for each in talk.turns()} >= summed_up
        learnt = [note for note in memory.list(limit=1_000) if "episode" not in note.metadata]
        assert len(learnt) == TURNS
        # What an episode taught is undone with it.
        memory.undo(talk.turns()[0].learnt_by)
        held = {note.content for note in memory.list(limit=1_000)}
        assert SAID[language].format(n=0) not in held
        assert SAID[language].format(n=TURNS - 1) in held
        asked = len(analyst.passages)
        memory.enrich()
        assert len(analyst.passages) == asked


def test_an_episode_whose_model_fails_is_a_job_of_its_own_and_learnt_from_later(
    tmp_path: Path, clock: FrozenClock, analyst: ScriptedAnalyst
) -> None:
    with opened(tmp_path, clock, analyst) as memory, memory.assistant(chat=ScriptedChat(ANSWER)) as talk:
        sit(talk, clock, turns=12)
        assert any(turn.episode for turn in talk.turns())
        analyst.fail = ServiceUnavailable("gone fishing")
        report = memory.enrich()
        assert report.remaining
        assert {turn.learning for turn in talk.turns()} == {Learning.DONE}
        analyst.fail = None
        assert memory.enrich().remaining == 0
        held = {note.content for note in memory.list(limit=1_000)}
        assert {SAID["en"].format(n=number) for number in range(12)} <= held


def test_turns_that_were_summed_up_by_day_are_learnt_from_when_the_setting_has_changed(
    tmp_path: Path, clock: FrozenClock, analyst: ScriptedAnalyst
) -> None:
    with opened(tmp_path, clock, analyst) as memory, memory.assistant(chat=ScriptedChat(ANSWER)) as talk:
        sit(talk, clock, turns=12)
    with opened(tmp_path, clock, analyst, chat_learning="turn") as memory:
        memory.enrich()
        held = {note.content for note in memory.list(limit=1_000)}
        assert {SAID["en"].format(n=number) for number in range(12)} <= held
        assert memory.turns_waiting() == 0


def test_an_episode_that_was_forgotten_by_day_is_not_learnt_from_at_night(
    tmp_path: Path, clock: FrozenClock, analyst: ScriptedAnalyst
) -> None:
    with opened(tmp_path, clock, analyst) as memory, memory.assistant(chat=ScriptedChat(ANSWER)) as talk:
        sit(talk, clock, turns=12)
        first = talk.turns()[0].episode
        assert first
        memory.delete(first)
        memory.enrich()
        heard = [message.content for passage in analyst.passages for message in passage.said]
        assert SAID["en"].format(n=0) not in heard
        assert SAID["en"].format(n=11) in heard
