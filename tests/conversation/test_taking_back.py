"""What people take back while they talk is hidden, no more than was meant, and one undo brings it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem import AgenticMemorySystem, Filter
from amem.conflict.cues import take_back_in
from amem.note import Fact, Status
from amem.rendering import holding_text
from amem.testing import FrozenClock, HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock("2026-03-01T10:00")


@pytest.fixture
def memory(clock: FrozenClock) -> Iterator[AgenticMemorySystem]:
    with AgenticMemorySystem(llm_backend="offline", embedder=HashEmbedder(256), clock=clock) as opened:
        yield opened


def says(memory: AgenticMemorySystem, *texts: str, conversation: str = "talk"):
    return memory.remember([{"role": "user", "content": text} for text in texts], conversation=conversation)


def standing(memory: AgenticMemorySystem) -> set[str]:
    return {note.content for note in memory.list(limit=100) if "episode" not in note.metadata}


TAKEN_BACK = [
    "Forget that.",
    "Forget that, it was only the new soap.",
    "Scratch that.",
    "No, wait, scratch that.",
    "Never mind what I said.",
    "I take that back.",
    "Please ignore what I just said.",
    "算了",
    "算了，刚才那句不算，只是新肥皂惹的。",
    "当我没说",
    "算了，当我没说。",
    "忘掉刚才说的",
    "忘掉我刚才说的话吧。",
    "收回刚才的话。",
]
NOT_TAKEN_BACK = [
    "Don't forget that I'm allergic to nuts.",
    "Forget that I ever liked him.",
    "Forget the strawberries, I want a nap.",
    "Forget strawberries.",
    "Never mind, I found it.",
    "Never mind the bugs in the garden.",
    "Ignore that last error in the log.",
    "I forgot that it was Monday.",
    "算了，我自己查吧。",
    "别忘了我对花生过敏。",
    "忘了带伞。",
    "他说算了。",
]


@pytest.mark.parametrize("words", TAKEN_BACK)
def test_what_was_said_right_before_is_taken_back(memory: AgenticMemorySystem, words: str):
    says(memory, "My sister Rita works at Galp.", "I am allergic to strawberries.")
    report = says(memory, words)
    assert "I am allergic to strawberries." not in standing(memory)
    assert "My sister Rita works at Galp." in standing(memory)
    (id,) = report.retracted
    note = memory.read(id)
    assert (note.status, note.superseded_by) == (Status.SUPERSEDED, None)
    assert report.superseded == 1
    assert report.to_dict()["retracted"] == [id]
    assert memory.facts("user", "allergic_to") == []
    memory.undo()
    assert "I am allergic to strawberries." in standing(memory)


@pytest.mark.parametrize("words", NOT_TAKEN_BACK)
def test_words_that_only_look_like_it_take_nothing_back(memory: AgenticMemorySystem, words: str):
    says(memory, "I am allergic to strawberries.")
    assert says(memory, words).retracted == ()
    assert "I am allergic to strawberries." in standing(memory)


def test_only_what_the_words_name_is_taken_back(memory: AgenticMemorySystem):
    says(memory, "The meeting with Ana is on Friday.", "I live in Porto.", "Tom owes me ten euros.")
    says(memory, "Never mind what I said about the meeting.")
    assert standing(memory) >= {"I live in Porto.", "Tom owes me ten euros."}
    assert "The meeting with Ana is on Friday." not in standing(memory)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("My son Jonas is lactose intolerant.", "Forget that Jonas is lactose intolerant."),
        ("My salary is 4200 euros.", "Please forget my salary."),
        ("乐乐对牛奶过敏。", "忘掉乐乐对牛奶过敏这件事"),
        ("Wouter sold his boat.", "forget everything about Wouter"),
        ("My address is 5 Mill Lane.", "Delete my address"),
        ("My job is driving a bus.", "I want you to forget my job"),
        ("My phone number is 5551234.", "Could you please delete my phone number?"),
        ("小王在广州开店。", "忘掉关于小王的一切"),
        ("我的地址是中山路8号。", "删掉我的地址"),
        ("我的生日是三月五号。", "把我的生日忘掉吧"),
    ],
)
def test_what_is_named_without_being_said_to_be_said_is_taken_back(
    memory: AgenticMemorySystem, said: str, words: str
) -> None:
    says(memory, said, "I live in Porto.")
    says(memory, words)
    assert standing(memory) == {"I live in Porto."}


@pytest.mark.parametrize(
    ("said", "words", "left"),
    [
        (
            "I bought a house, I have two kids and my wife Ada is from Ghana.",
            "never mind what I said about Ada",
            "I bought a house, I have two kids",
        ),
        ("I live in Ghent with my partner Wouter.", "Forget everything about Wouter.", "I live in Ghent."),
        ("我买了一套房子，有两个孩子，老婆阿梅是湖南人。", "忘掉关于阿梅的一切", "我买了一套房子，有两个孩子"),
    ],
)
def test_of_a_note_of_several_statements_only_what_names_it_is_taken_back(
    memory: AgenticMemorySystem, said: str, words: str, left: str
) -> None:
    says(memory, said)
    assert says(memory, words).retracted == ()
    (note,) = [each for each in memory.list(limit=10) if "episode" not in each.metadata]
    assert note.content == said
    assert holding_text(note.content, note.overturned).startswith(left)
    assert not any(name in holding_text(note.content, note.overturned) for name in ("Ada", "Wouter", "阿梅"))
    memory.undo()
    assert memory.read(note.id).overturned == []


@pytest.mark.parametrize(
    "words",
    [
        "Remove my name from the list.",
        "Delete my old account on Friday.",
        "I deleted my account.",
        "Don't delete my address.",
        "删掉了我的地址。",
        "别删掉我的地址。",
        "我把钥匙忘了。",
    ],
)
def test_what_only_speaks_of_deleting_takes_nothing_back(words: str) -> None:
    assert take_back_in(words) is None


def test_a_chat_without_a_model_says_what_it_takes_back_keeps_or_leaves_out(memory: AgenticMemorySystem) -> None:
    chat = memory.assistant()
    answers = {
        "My salary is 4200 euros.": "Noted.",
        "Forget my salary.": (
            "What names “my salary” in this chat counts no more. What was saved before: /forget my salary"
        ),
        "What is my salary?": "That is not in memory.",
        "The spare key is under the mat.": "Noted.",
        "Forget that.": "What you said last counts no more. What was saved before: /forget TEXT",
        "Where is the spare key?": "That is not in memory.",
        "remember my locker number is 212": "Noted.",
        "记住我的车位是B12": "记下了。",
        "My card is 4111 1111 1111 1111, keep it in mind.": (
            "The secret in it, such as a password or a card number, is left out."
        ),
    }
    for said, answer in answers.items():
        assert chat.say(said).text == answer, said
        assert chat.wait(30)
    assert "my locker number is 212" in " ".join(standing(memory))
    assert "4111" not in " ".join(standing(memory))


def test_what_the_words_name_and_nobody_said_takes_nothing_back(memory: AgenticMemorySystem):
    says(memory, "I live in Porto.")
    assert says(memory, "忘掉我刚才说的关于会议的事").retracted == ()
    assert "I live in Porto." in standing(memory)


def test_a_slip_within_one_message_takes_back_the_sentence_before_it(memory: AgenticMemorySystem):
    says(memory, "I love jazz. I moved to Berlin. Scratch that, to Bonn.")
    assert "I love jazz." in standing(memory)
    assert "I moved to Berlin." not in standing(memory)


def test_after_a_question_or_another_person_nothing_is_taken_back(memory: AgenticMemorySystem):
    says(memory, "I live in Porto.", "What should I cook tonight?", "Forget that.")
    assert "I live in Porto." in standing(memory)
    memory.remember(
        [
            {"role": "user", "speaker": "Ana", "content": "I live in Faro."},
            {"role": "user", "speaker": "Ben", "content": "Forget that."},
        ],
        conversation="three",
    )
    assert "I live in Faro." in standing(memory)


def test_what_was_known_before_is_not_taken_back_with_its_repetition(memory: AgenticMemorySystem):
    says(memory, "I am allergic to strawberries.", conversation="long ago")
    says(memory, "I am allergic to strawberries.")
    assert says(memory, "Forget that.").retracted == ()
    assert "I am allergic to strawberries." in standing(memory)


def test_what_a_slip_had_overturned_stands_again(memory: AgenticMemorySystem):
    says(memory, "I live in Porto.")
    assert says(memory, "I moved to Berlin.").superseded == 1
    says(memory, "Scratch that.")
    assert standing(memory) == {"I live in Porto."}
    assert [each.object for each in memory.timeline("user", "lives_in")] == ["Porto"]
    memory.undo()
    assert standing(memory) == {"I moved to Berlin."}
    memory.redo()
    assert standing(memory) == {"I live in Porto."}


def test_notes_told_one_by_one_are_taken_back_within_the_hour(memory: AgenticMemorySystem, clock: FrozenClock):
    soap = memory.add("I'm allergic to strawberries.")
    clock.advance(minutes=1)
    assert memory.add("Forget that, it was only the new soap.").superseded == (soap.id,)
    memory.undo()
    assert memory.read(soap.id).status is Status.ACTIVE
    clock.advance(hours=3)
    assert memory.add("算了").superseded == ()


def test_a_second_reading_of_the_words_takes_back_nothing_more(memory: AgenticMemorySystem, clock: FrozenClock):
    first = memory.add("I live in Porto.", facts=[Fact("user", "lives_in", "Porto")])
    second = memory.add("I'm allergic to strawberries.")
    back = memory.add("Scratch that, it was the soap.")
    assert back.superseded == (second.id,)
    memory.process_memory(memory.read(back.id))
    assert memory.read(first.id).status is Status.ACTIVE


def test_a_long_text_is_read_quickly():
    text = "wait, " * 20_000 + "never mind " * 5_000 + "算了" * 5_000
    assert take_back_in(text) is None


def test_what_was_taken_back_is_found_when_asked_for(memory: AgenticMemorySystem):
    says(memory, "I am allergic to strawberries.", "Forget that.")
    hits = memory.search("strawberries", filter=Filter(statuses=(Status.SUPERSEDED,)))
    assert [hit.content for hit in hits] == ["I am allergic to strawberries."]
