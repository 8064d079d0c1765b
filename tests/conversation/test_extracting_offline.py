"""What a conversation teaches without a model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from amem.analysis import Extraction, Passage
from amem.analysts.rules import OfflineAnalyst
from amem.note import Kind, Message, Role

LOCOMO = Path(__file__).parents[3] / "shared" / "data" / "locomo_dev.json"


def extracted(*texts: str, role: Role = Role.USER) -> Extraction:
    return OfflineAnalyst().extract(Passage(tuple(Message(role, text) for text in texts)))


def stated(*texts: str) -> list[str]:
    return [statement.text for statement in extracted(*texts).statements if statement.kind is not Kind.CHITCHAT]


def test_each_substantive_sentence_is_a_statement_of_the_message_it_stands_in() -> None:
    found = extracted("I'm allergic to peanuts. I prefer window seats.", "We decided to use PostgreSQL.")
    assert [(each.text, each.kind, each.handles) for each in found.statements] == [
        ("I'm allergic to peanuts.", Kind.CONSTRAINT, ("m1",)),
        ("I prefer window seats.", Kind.PREFERENCE, ("m1",)),
        ("We decided to use PostgreSQL.", Kind.DECISION, ("m2",)),
    ]
    assert not found.procedures


def test_each_substantive_sentence_is_a_statement_in_chinese_too() -> None:
    found = extracted("我对花生过敏。我更喜欢靠窗的座位。", "我们决定用PostgreSQL。")
    assert [(each.text, each.kind, each.handles) for each in found.statements] == [
        ("我对花生过敏。", Kind.CONSTRAINT, ("m1",)),
        ("我更喜欢靠窗的座位。", Kind.PREFERENCE, ("m1",)),
        ("我们决定用PostgreSQL。", Kind.DECISION, ("m2",)),
    ]


@pytest.mark.parametrize(
    "asked",
    [
        "What is the capital of France?",
        "Can you recommend a restaurant in Lisbon?",
        "Do you remember where I live",
        "Please write me a poem about the sea.",
        "Explain quantum annealing.",
        "ok, now translate it into French.",
        "I'd like you to summarize this article.",
        "Thanks! Tell me more about tram 28.",
        "法国的首都是哪里？",
        "你能推荐一家餐厅吗？",
        "请帮我写一首关于大海的诗。",
        "帮我总结一下这篇文章。",
        "继续说。",
        "告诉我里斯本的天气。",
    ],
)
def test_questions_and_orders_to_the_assistant_state_nothing(asked: str) -> None:
    assert stated(asked) == []


@pytest.mark.parametrize(
    "kept",
    [
        "Never use tabs in this repository.",
        "Remind me to call mom on Friday.",
        "Call me Ben.",
        "Make sure the invoice goes to Ana.",
        "I find the new office too noisy.",
        "Check out the museum in Porto, I loved it.",
        "Writing poems is my hobby.",
        "以后不要在代码里用制表符。",
        "提醒我周五给妈妈打电话。",
        "写代码是我的爱好。",
        "找工作花了我三个月。",
    ],
)
def test_what_stays_true_after_the_answer_is_kept(kept: str) -> None:
    assert stated(kept) == [kept]


def test_small_talk_that_tells_something_is_chitchat_once_for_a_message_that_has_nothing_else() -> None:
    found = extracted(
        "Hi! Lovely weather today. I'm so tired haha", "Lovely weather! I moved to Berlin.", "哈哈，天气真好"
    )
    assert [(each.text, each.kind, each.handles) for each in found.statements] == [
        ("Lovely weather today. I'm so tired haha", Kind.CHITCHAT, ("m1",)),
        ("I moved to Berlin.", Kind.DECISION, ("m2",)),
        ("哈哈，天气真好", Kind.CHITCHAT, ("m3",)),
    ]


@pytest.mark.parametrize(
    "said",
    [
        *("hello!", "Hi Ben", "how are you?", "good morning everyone", "nice to meet you", "thanks, bye", "lol", "ok"),
        *("Thank you so much, that was helpful!", "no problem", "see you tomorrow", "brb", "Yes, we did!", "😀"),
        *("Sounds like a plan", "I'm fine, thanks", "wow that's amazing", "What must I not eat?", "have a nice day"),
        *(
            "你好",
            "你好吗",
            "您好，早上好！",
            "谢谢！",
            "谢谢你的帮助",
            "好的，明白了",
            "哈哈哈",
            "明天见",
            "再见！",
            "嗯嗯",
        ),
        *("没问题", "我很好，谢谢", "我不能吃什么？", "好的👌"),
    ],
)
def test_courtesies_and_questions_are_no_statements(said: str) -> None:
    assert not extracted(said).statements


@pytest.mark.parametrize(
    "told",
    [
        *("ok, my flight is at 9", "see you at Ana's wedding on 3 May", "I see a therapist", "I'm vegetarian"),
        *("Same here, I love hiking", "Nice weather, I got the job!", "thanks, my name is Ana"),
        *("明天见小王", "可以吃辣", "好吧，那就用PostgreSQL", "行李丢了", "对虾过敏", "谢谢小王帮我修车"),
    ],
)
def test_what_only_begins_like_a_courtesy_is_kept(told: str) -> None:
    assert [each.text for each in extracted(told).statements] == [told]


def test_a_sentence_that_points_back_stays_with_the_one_it_points_to() -> None:
    assert stated("My sister Ana lives in Porto. She is a doctor. It rains there.") == [
        "My sister Ana lives in Porto. She is a doctor. It rains there."
    ]
    assert stated("我妹妹小梅住在杭州。她是医生。我住在上海。") == ["我妹妹小梅住在杭州。她是医生。", "我住在上海。"]


def test_what_only_asks_to_remember_is_left_out_of_what_is_remembered() -> None:
    assert stated("Remember that my train leaves at 9.") == ["my train leaves at 9."]
    assert stated("请记住我妹妹住在杭州。") == ["我妹妹住在杭州。"]


def test_code_and_lists_of_steps_stay_in_one_piece() -> None:
    code = "My helper:\n```python\ndef double(x):\n    return 2 * x\n```"
    assert [(each.text, each.kind) for each in extracted(code).statements] == [(code, Kind.CODE)]
    steps = "1. Open the valve.\n2. Press start.\n3. Wait."
    assert [(each.text, each.kind) for each in extracted(steps).statements] == [(steps, Kind.PROCEDURE)]


def test_nothing_is_taken_from_the_assistant_a_tool_or_the_system() -> None:
    for role in (Role.ASSISTANT, Role.TOOL, Role.SYSTEM):
        assert not extracted("I live in Porto and like tea.", role=role).statements


def test_a_sentence_without_an_end_becomes_statements_of_a_size_that_can_be_stored() -> None:
    found = extracted("a word about the garden and " * 800)
    assert all(len(each.text) <= 2_000 for each in found.statements)
    assert len(found.statements) > 8


def test_the_summary_holds_what_weighs_most_in_the_order_it_was_said() -> None:
    found = extracted("Hi! I had toast this morning. I am allergic to peanuts. We moved to Lisbon on 3 May.")
    assert found.summary.index("allergic to peanuts") < found.summary.index("Lisbon")
    assert len(extracted("I like this long sentence about the garden. " * 50).summary) <= 240
    assert extracted("我对花生过敏。上周搬到了杭州。").summary == "我对花生过敏；上周搬到了杭州"


def test_a_passage_that_states_nothing_is_summed_up_by_its_first_words() -> None:
    assert extracted("What is the capital of France?").summary == "What is the capital of France?"
    assert extracted("I can help with that.", role=Role.ASSISTANT).summary.startswith("I can help")
    assert extracted() == Extraction()


@pytest.mark.locomo
@pytest.mark.skipif(not LOCOMO.is_file(), reason=f"the LoCoMo development file is not at {LOCOMO}")
def test_most_turns_of_a_real_conversation_teach_something_and_small_talk_is_told_apart() -> None:
    turns = json.loads(LOCOMO.read_text(encoding="utf-8"))[0]["conversation"]["session_1"]
    found = extracted(*(turn["text"] for turn in turns))
    facts = [each for each in found.statements if each.kind is not Kind.CHITCHAT]
    assert any("support group" in each.text for each in facts)
    assert not any(each.text.endswith("?") and "," not in each.text for each in facts)
    assert len(turns) * 0.5 < len(facts) < len(turns) * 3
