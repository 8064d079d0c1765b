"""What a sentence says, denies or asks, and which claims that leaves: in English and Chinese."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from amem.analysis import Passage
from amem.analysts.rules import OfflineAnalyst
from amem.conversation.grounding import Said
from amem.note import Message, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

LOCOMO = Path(__file__).parents[3] / "shared" / "data" / "locomo_dev.json"

ASKED = [
    ("Do I live in Porto?", "Ana lives in Porto"),
    ("Do I live in Porto?", "The user lives in Porto."),
    ("Hi! Do you know if I live in Porto?", "Ben lives in Porto."),
    ("do i live in porto", "Ben lives in Porto."),
    ("Do I live in Porto? I live with Ana.", "Ben lives in Porto."),
    ("Is Ana allergic to nuts or to shrimp?", "Ana is allergic to shrimp."),
    ("我住在波尔图吗？", "用户住在波尔图。"),
    ("你知道我是不是住在杭州吗？", "用户住在杭州。"),
    ("安娜住在里斯本，还是住在波尔图？", "安娜住在波尔图。"),
]
DENIED = [
    ("I am not allergic to nuts", "Ana is allergic to nuts"),
    ("I'm not allergic to nuts.", "The user is allergic to nuts."),
    ("I don't like jazz.", "Ben loves jazz."),
    ("I have no car.", "Ben owns a car."),
    ("I no longer live in Porto.", "Ben lives in Porto."),
    ("I never eat fish.", "The user eats fish."),
    ("I live in Porto.", "Ben does not live in Porto."),
    ("I'm allergic to nuts.", "Ben isn't allergic to nuts."),
    ("I don’t drink coffee.", "The user drinks coffee."),
    ("I live in Lisbon without a car.", "Ben has a car."),
    ("I don't live in Porto but in Lisbon.", "Ben lives in Porto."),
    ("I don't think Ana is allergic to nuts.", "Ana is allergic to nuts"),
    ("Nobody in my family drinks coffee.", "Ben's family drinks coffee."),
    ("我对花生不过敏。", "用户对花生过敏。"),
    ("我不喜欢爵士乐。", "小林喜欢爵士乐。"),
    ("我没有养猫。", "用户养猫。"),
    ("我不再住在杭州了。", "用户住在杭州。"),
    ("我住在杭州。", "用户不住在杭州。"),
    ("我对花生过敏。", "用户对花生不过敏。"),
    ("我从不喝咖啡。", "李雷喝咖啡。"),
    ("李雷没有住在上海，他住在北京。", "李雷住在上海。"),
    ("别给我买花生。", "给用户买花生。"),
    ("安娜对花生无过敏史。", "安娜对花生有过敏史。"),
    ("我未婚，没有孩子。", "用户有孩子。"),
]
SAID = [
    ("I'm allergic to nuts, can I eat this?", "Ben is allergic to nuts."),
    ("I live in Porto, what should I see there?", "The user lives in Porto."),
    ("Can you remember that I live in Porto?", "Ben lives in Porto."),
    ("Did you know that Ana lives in Porto?", "Ana lives in Porto."),
    ("How do I cook for my son who is allergic to nuts?", "The user's son is allergic to nuts."),
    ("I live in Porto with no car.", "Ben lives in Porto."),
    ("I live in Porto with no car.", "Ben has no car."),
    ("I can't wait to visit Porto!", "Ben is looking forward to visiting Porto."),
    ("I hate jazz.", "Ben doesn't like jazz."),
    ("I don't like jazz.", "Ben hates jazz."),
    ("I don't like jazz.", "Ben doesn't enjoy jazz."),
    ("I no longer live in Porto.", "Ben used to live in Porto."),
    ("I don't live in Porto but in Lisbon.", "Ben lives in Lisbon."),
    ("I don't eat meat, fish or eggs.", "Ben eats no fish."),
    ("I don't eat meat, fish or eggs.", "Ben does not eat meat, fish or eggs."),
    ("I quit coffee.", "Ben doesn't drink coffee any more."),
    ("I can't eat the cake that Ana baked.", "Ana baked a cake."),
    ("Do I live in Porto?", "Ben asked whether he lives in Porto."),
    ("I moved to Porto not long ago.", "Ben moved to Porto."),
    ("No, I live in Porto.", "Ben lives in Porto."),
    ("I'm not only allergic to nuts but also to shrimp.", "Ben is allergic to nuts and shrimp."),
    ("Ana lives in Porto, right?", "Ana lives in Porto."),
    ("I couldn't go to the concert because Ana was ill.", "Ana was ill."),
    ("I have never been to Japan.", "The user has never visited Japan."),
    ("I don't have any pets.", "Ben has no pets."),
    ("I have three cats. Do I need a licence?", "Ben has three cats."),
    ("Any ideas for my wedding in May?", "Ben asks for wedding ideas."),
    ("What's a good gift for Ana, who lives in Porto?", "Ana lives in Porto."),
    ("I can't believe Ana moved to Porto!", "Ana moved to Porto."),
    ("Don't forget that Ana lives in Porto.", "Ana lives in Porto."),
    ("I'm vegan, so no cheese please.", "Ben is vegan and eats no cheese."),
    ("My flight isn't until Friday.", "Ben's flight is on Friday."),
    ("我对花生过敏，这个能吃吗？", "用户对花生过敏。"),
    ("你能记住我住在杭州吗？", "用户住在杭州。"),
    ("我不仅对花生过敏，还对虾过敏。", "用户对花生和虾过敏。"),
    ("我讨厌爵士乐。", "用户不喜欢爵士乐。"),
    ("我不吃肉，只吃鱼。", "用户只吃鱼，不吃肉。"),
    ("我住在杭州，没有车。", "用户住在杭州。"),
    ("我住在杭州，没有车。", "用户没有车。"),
    ("我特别喜欢爵士乐，不过没时间听。", "用户特别喜欢爵士乐。"),
    ("千万别忘了我对花生过敏。", "用户对花生过敏。"),
    ("没想到安娜搬到了波尔图。", "安娜搬到了波尔图。"),
    ("我以前住在杭州，现在不住了。", "用户以前住在杭州。"),
    ("我住在杭州吗？", "用户问自己是否住在杭州。"),
    ("我妈妈不能吃花生。", "用户的妈妈不能吃花生。"),
    ("我和妹妹小梅上周搬到了杭州，房租不到三千二百元。", "李雷和妹妹小梅搬到了杭州。"),
    ("你知道吗，我搬到杭州了。", "用户搬到杭州了。"),
    ("我没有车，所以骑自行车上班。", "用户骑自行车上班。"),
]


def why(*said: Message, claim: str) -> str | None:
    handles = [f"m{number}" for number in range(1, len(said) + 1)]
    return Said(said, [], ["user", "用户"]).refuses(claim, handles)


def by_person(text: str, name: str = "Ben") -> Message:
    return Message(Role.USER, text, speaker=name)


@pytest.mark.parametrize(("said", "claim"), ASKED)
def test_what_was_only_asked_was_not_stated(said: str, claim: str) -> None:
    assert why(by_person(said), claim=claim) == "it was asked, not said"


@pytest.mark.parametrize(("said", "claim"), DENIED)
def test_what_was_denied_is_not_claimed_and_what_was_said_is_not_denied(said: str, claim: str) -> None:
    assert why(by_person(said, "李雷" if "李雷" in claim else "Ben"), claim=claim) == "the opposite was said"


@pytest.mark.parametrize(("said", "claim"), SAID)
def test_what_was_said_beside_a_question_or_a_denial_is_stated(said: str, claim: str) -> None:
    assert why(by_person(said, "李雷" if "李雷" in claim else "Ben"), claim=claim) is None


@pytest.mark.parametrize("role", [Role.ASSISTANT, Role.USER])
@pytest.mark.parametrize(
    ("question", "answer", "claim", "stated"),
    [
        ("Is your dog called Rex?", "No, Max.", "Ben's dog is called Rex.", False),
        ("Do you like jazz?", "Yes!", "Ben likes jazz.", True),
        ("Do you like jazz?", "no", "Ben likes jazz.", False),
        ("Do you like jazz?", "no", "Ben does not like jazz.", True),
        ("Don't you like jazz?", "no", "Ben does not like jazz.", True),
        ("你住在杭州吗？", "不是。", "用户住在杭州。", False),
        ("你住在杭州吗？", "是的", "用户住在杭州。", True),
    ],
)
def test_an_answer_says_or_denies_what_somebody_else_asked(
    role: Role, question: str, answer: str, claim: str, stated: bool
) -> None:
    assert (why(Message(role, question, speaker="Ana"), by_person(answer), claim=claim) is None) == stated


def test_what_is_asked_in_one_message_may_be_stated_in_another() -> None:
    asked, stated = by_person("Do I live in Porto?"), by_person("Oh, I remember: I live in Porto.")
    assert why(asked, stated, claim="Ben lives in Porto.") is None
    assistant = Message(Role.ASSISTANT, "You live in Porto.")
    assert why(asked, assistant, claim="Ben lives in Porto.") == "it was asked, not said"


def test_a_step_may_be_asked_for_but_not_forbidden() -> None:
    said = Said([by_person("Could you restart Redis? And never drop the tables.")], [], [])
    assert said.refuses("Restart Redis.", ["m1"], orders=True) is None
    assert said.refuses("Drop the tables.", ["m1"], orders=True) == "the opposite was said"


@pytest.mark.locomo
@pytest.mark.skipif(not LOCOMO.is_file(), reason=f"the LoCoMo development file is not at {LOCOMO}")
def test_nothing_that_real_people_said_is_refused_in_their_own_words() -> None:
    refused, quoted = [], 0
    for said in sessions():
        held = Said(said, [], [])
        found = OfflineAnalyst().extract(Passage(said)).statements
        claims = [(each.text, each.handles) for each in found]
        # A model that quotes whole messages, as `judging_model` does.
        claims += [(message.content, (f"m{number}",)) for number, message in enumerate(said, start=1)]
        refused += [claim for claim, handles in claims if held.refuses(claim, handles)]
        quoted += len(claims)
    assert quoted > 2_000
    assert refused == []


def sessions() -> Iterator[tuple[Message, ...]]:
    for sample in json.loads(LOCOMO.read_text(encoding="utf-8")):
        for name, turns in sample["conversation"].items():
            if name.startswith("session_") and isinstance(turns, list):
                yield tuple(Message(Role.USER, turn["text"], speaker=turn["speaker"]) for turn in turns if turn["text"])
