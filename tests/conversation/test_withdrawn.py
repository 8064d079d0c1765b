"""What sums a conversation up leaves out what was taken back in it, and taking back makes no note of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem import AgenticMemorySystem
from amem.analysts.model_analyst import ModelAnalyst
from amem.conversation.revocation import without_taken_back
from amem.note import Message, Role, Status
from amem.query import Filter
from amem.testing import FrozenClock, HashEmbedder, ScriptedChat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amem.note import MemoryNote

ALONE = [
    "忘掉刚才说的",
    "算了，当我没说",
    "forget that",
    "Never mind what I said about hiking.",
    "Scratch that. 算了。",
]


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock("2026-03-01T10:00")


@pytest.fixture
def memory(clock: FrozenClock) -> Iterator[AgenticMemorySystem]:
    with AgenticMemorySystem(llm_backend="offline", embedder=HashEmbedder(256), clock=clock) as opened:
        yield opened


def says(memory: AgenticMemorySystem, *texts: str, wait: bool = True):
    said = [{"role": "user", "content": text} for text in texts]
    return memory.remember(said, conversation="talk", wait=wait)


def episodes(memory: AgenticMemorySystem) -> list[MemoryNote]:
    return [note for note in memory.list(limit=100) if "episode" in note.metadata]


def left_of(*said: tuple[str, str]) -> list[str]:
    return [each.content for each in without_taken_back([Message(Role(role), text) for role, text in said])]


@pytest.mark.parametrize(
    ("texts", "gone", "kept"),
    [
        (("I adopted a cat.", "I'm allergic to peanuts.", "Forget that."), "peanuts", "cat"),
        (("我养了一只猫。", "我对花生过敏。", "算了，当我没说。"), "花生", "猫"),
        (("I like hiking.", "My name is Bob.", "Never mind what I said about hiking."), "hiking", "Bob"),
        (("我周五和王芳开会。", "我住在苏州。", "忘掉我刚才说的关于开会的事"), "开会", "苏州"),
        (("I love jazz. I moved to Berlin. Scratch that, to Bonn.",), "Berlin", "jazz"),
    ],
)
@pytest.mark.parametrize("at_once", [True, False])
def test_the_summary_leaves_out_what_was_taken_back_before_or_after_it_was_made(
    memory: AgenticMemorySystem, texts: tuple[str, ...], gone: str, kept: str, at_once: bool
) -> None:
    for some in [texts] if at_once else [[text] for text in texts]:
        says(memory, *some)
    words = [note.content for note in memory.list(limit=100)]
    assert not [each for each in words if gone in each]
    assert [each for each in words if kept in each]
    hits = memory.search(gone)
    assert not [hit.content for hit in hits if gone in hit.content]
    told = [message.content for note in episodes(memory) for message in memory.expand(note.id)]
    assert any(gone in each for each in told), "word for word it is kept"


@pytest.mark.parametrize(("said", "back"), [("I'm allergic to peanuts.", "Forget that."), ("我对花生过敏", "当我没说")])
def test_one_undo_brings_back_the_summary_with_the_note(memory: AgenticMemorySystem, said: str, back: str) -> None:
    says(memory, said)
    (before,) = episodes(memory)
    says(memory, back)
    (after,) = episodes(memory)
    assert after.id == before.id
    assert ("1 message" in after.content) or ("1 条消息" in after.content)
    assert [message.content for message in memory.expand(after.id)] == [said]
    memory.undo()
    (again,) = episodes(memory)
    assert again.content == before.content
    assert {note.content for note in memory.list(limit=9)} >= {said}


def test_a_summary_that_a_person_worded_stays(memory: AgenticMemorySystem) -> None:
    says(memory, "I'm allergic to peanuts.")
    (note,) = episodes(memory)
    memory.update(note.id, content="We talked of peanuts.")
    says(memory, "Forget that.")
    assert memory.read(note.id).content == "We talked of peanuts."


@pytest.mark.parametrize("words", ALONE)
@pytest.mark.parametrize("wait", [True, False])
def test_words_that_only_take_back_make_no_note(memory: AgenticMemorySystem, words: str, wait: bool) -> None:
    report = says(memory, words, wait=wait)
    assert (report.episodes, report.waiting, memory.list()) == ((), 0, [])
    assert says(memory, words).operation is None, "what was done is not done again"


@pytest.mark.parametrize("words", ALONE)
def test_among_others_they_make_no_note_either(memory: AgenticMemorySystem, words: str) -> None:
    says(memory, "My sister Rita works at Galp.", "What should I cook?", words)
    assert not [note.content for note in memory.list(limit=9) if words[:6] in note.content]


def test_what_is_said_with_the_taking_back_is_learnt(memory: AgenticMemorySystem) -> None:
    says(memory, "I moved to Berlin.")
    says(memory, "Forget that. My sister Rita works at Galp.")
    assert [each.object for each in memory.facts("Rita", "works_at")] == ["Galp"]
    assert memory.facts("user", "lives_in") == []


def test_taken_back_while_learning_waits_it_is_taken_back_once_learnt(memory: AgenticMemorySystem) -> None:
    says(memory, "I'm allergic to peanuts.", wait=False)
    says(memory, "Forget that.", wait=False)
    assert not [note for note in memory.list() if "peanuts" in note.content]
    memory.enrich()
    assert not [note.content for note in memory.list() if "peanuts" in note.content]


def test_taken_back_while_a_model_thinks_it_is_never_told_again(clock: FrozenClock) -> None:
    learnt = {"text": "The user is allergic to peanuts.", "kind": "fact", "messages": ["m1"]}
    told: list[str] = []

    def answer(prompt: str) -> str | dict[str, object]:
        if "MESSAGES" not in prompt:
            told.extend(note.content for note in memory.list() if "peanuts" in note.content)
            return {"keywords": ["peanuts"], "context": "An allergy.", "tags": ["health"], "links": []}
        says(memory, "Forget that.")
        return {"summary": "The user told of peanuts.", "statements": [learnt]}

    chat = ScriptedChat(answer)
    with AgenticMemorySystem(
        llm_backend="offline", embedder=HashEmbedder(256), clock=clock, analyst=ModelAnalyst(chat)
    ) as memory:
        says(memory, "I am allergic to peanuts.")
        assert len(chat.prompts) > 1, "what was learnt is analysed"
        assert told == []
        assert not [note.content for note in memory.list() if "peanuts" in note.content]
        hidden = memory.list(Filter(statuses=(Status.SUPERSEDED,)))
        assert [note.content for note in hidden] == [learnt["text"]]


def test_a_note_that_was_taken_back_before_it_was_analysed_changes_nothing_around_it(clock: FrozenClock) -> None:
    learnt = {"text": "The user is allergic to peanuts.", "kind": "fact", "messages": ["m1"]}
    about = {"quote": "Peanuts grow", "reason": "peanuts", "confidence": "sure"}
    link = {"from": "s1", "to": "n1", "type": "related", **about}
    rewrite = {"note": "n1", "context": "Peanuts, which the user must not eat.", **about}

    def answer(prompt: str) -> dict[str, object]:
        if "MESSAGES" in prompt:
            says(memory, "Forget that.")
            return {"summary": "", "statements": [learnt]}
        described = {"keywords": ["peanuts"], "context": "Peanuts grow.", "tags": ["health"], "facts": []}
        if "NEW NOTES" in prompt:
            return {"notes": [{"note": "s1", **described}], "links": [link], "rewrites": [rewrite]}
        return described

    with AgenticMemorySystem(
        llm_backend="offline", embedder=HashEmbedder(256), clock=clock, analyst=ModelAnalyst(ScriptedChat(answer))
    ) as memory:
        old = memory.add("Peanuts grow below the ground.").id
        says(memory, "I am allergic to peanuts.")
        assert memory.read(old).context == "Peanuts grow."
        assert memory.backlinks(old) == []


def test_answers_do_not_repeat_it() -> None:
    assert left_of(
        ("user", "I'm allergic to peanuts."),
        ("assistant", "Noted: you are allergic to peanuts. Shall I look for a recipe?"),
        ("user", "Forget that."),
        ("assistant", "Forgotten, no peanuts."),
        ("user", "I live in Porto."),
        ("assistant", "Porto is lovely."),
    ) == ["", "", "", "", "I live in Porto.", "Porto is lovely."]


def test_a_talk_in_which_nothing_is_taken_back_stays_word_for_word() -> None:
    said = [Message(Role.USER, "Don't forget  that I'm allergic.\nReally."), Message(Role.ASSISTANT, "别忘了。 好。")]
    assert without_taken_back(said) == tuple(said)
