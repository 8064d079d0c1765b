"""Was it stated? Claims held against what was said."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from amem.conversation.grounding import Said
from amem.note import Message, Role

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)  # a Monday
CHAT = (
    Message(Role.USER, "I moved to Lisbon last week with my sister Ana; the rent is 1,200 euros.", AT, "Ben"),
    Message(Role.ASSISTANT, "Your dog Rex must like the 3 beaches!"),
    Message(Role.USER, "I have three cats and twenty-two plants. We meet at 7 pm on Fridays."),
    Message(Role.SYSTEM, "Ben works at ACME."),
)
EARLIER = (Message(Role.USER, "Pedro is my landlord."), Message(Role.ASSISTANT, "Is Maria your aunt?"))


def why(text: str, *handles: str, **how: bool) -> str | None:
    return Said(CHAT, EARLIER, ["user"]).refuses(text, handles, **how)


@pytest.mark.parametrize(
    ("text", "handle"),
    [
        ("Ben moved to Lisbon last week with his sister Ana.", "m1"),
        ("Ben's rent in Lisbon is 1200 euros.", "m1"),
        ("The user moved to Lisbon in the week of 2026-02-23.", "m1"),
        ("Ben pays the rent to his landlord Pedro.", "m1"),
        ("The user has 3 cats and 22 plants.", "m3"),
        ("They meet on Fridays at 19:00.", "m3"),
        ("I have three cats and twenty-two plants.", "m3"),
    ],
)
def test_what_was_said_in_other_words_is_stated(text: str, handle: str) -> None:
    assert why(text, handle) is None


@pytest.mark.parametrize(
    ("text", "handle", "reason"),
    [
        ("Ben's rent is 1300 euros.", "m1", "nobody said 1300"),
        ("Ben's rent is thirteen hundred euros.", "m1", "nobody said 1300"),
        ("Ben moved to Porto.", "m1", "nobody spoke of Porto"),
        ("Ben moved to Lisbon with his aunt Maria.", "m1", "nobody spoke of Maria"),
        ("Ben works at ACME in Lisbon.", "m1", "nobody spoke of ACME"),
        ("Ben loves jazz.", "m1", "it is not in the messages it names"),
        ("Ben's dog Rex likes the beaches.", "m2", "only the assistant said so"),
        ("Ben works at ACME.", "m4", "it names no message that was shown"),
    ],
)
def test_what_nobody_said_is_refused_with_the_reason(text: str, handle: str, reason: str) -> None:
    assert why(text, handle) == reason


@pytest.mark.parametrize(
    ("question", "answer", "stated"),
    [
        ("Is your dog called Rex?", "Yes!", True),
        ("Your dog must be called Rex.", "haha, yes he is", True),
        ("What is your dog, a Rex or a Max?", "the first one", True),
        ("Your dog must be called Rex.", "Yesterday we walked him.", False),
        ("Your dog must be called Rex.", "Right now I am at work.", False),
        ("Your dog must be called Rex.", "ok, thanks! What is the weather like?", False),
        ("Is your dog called Rex?", "Sure, and he is a good boy, as all the neighbours know.", True),
        ("你的狗叫旺财吧。", "好的，谢谢。明天天气怎么样？", False),
        ("你的狗叫旺财吗？", "好的，谢谢。", True),
        ("你的狗叫旺财吗？", "对。", True),
        ("你的狗叫旺财吧", "没错", True),
        ("你的狗叫旺财吧", "对花生过敏的是我。", False),
        ("你的狗叫旺财吧", "好像下雨了。", False),
    ],
)
def test_what_the_assistant_asked_counts_where_it_was_agreed_to_or_answered(
    question: str, answer: str, stated: bool
) -> None:
    said = Said([Message(Role.USER, "Hm."), Message(Role.ASSISTANT, question), Message(Role.USER, answer)], [], [])
    claim = "用户的狗叫旺财。" if "旺财" in question else "The user's dog is called Rex."
    assert (said.refuses(claim, ["m2", "m3"]) is None) == stated


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("李雷上周和妹妹小梅搬到了杭州。", True),
        ("李雷的房租是3200元。", True),
        ("李雷住在上海。", False),
        ("李雷的房租是5000元。", False),
        ("李雷的房租是三千二百元。", True),
        ("李雷的房租是五千元。", False),
        ("李雷和妹妹小梅一起搬到了杭州，千万别忘了。", True),
        ("李雷喜欢爵士乐。", False),
    ],
)
def test_chinese_claims_are_held_against_chinese_words_and_numerals(text: str, stated: bool) -> None:
    said = Said([Message(Role.USER, "我和妹妹小梅上周搬到了杭州，房租三千二百元。", AT, "李雷")], [], ["用户"])
    assert (said.refuses(text, ["m1"]) is None) == stated


def test_a_procedure_may_be_shown_by_the_assistant_as_long_as_a_person_had_a_part_in_it() -> None:
    said = Said(
        [Message(Role.USER, "Please deploy it."), Message(Role.ASSISTANT, "Ran migration 42, then Redis.")], [], []
    )
    steps = "Deploy\nRun migration 42.\nStart Redis."
    assert said.refuses(steps, ["m1", "m2"], all_roles=True) is None
    assert said.refuses(steps, ["m2"], all_roles=True) == "only the assistant said so"
    assert said.refuses(steps, ["m1", "m2"]) == "nobody said 42"
