"""Whether a message asks for something, and whether only memory can answer it."""

from __future__ import annotations

import pytest

from amem.conversation.prompt import asks, asks_memory


@pytest.mark.parametrize(
    "message",
    [
        "What is my blood type?",
        "Where did I leave the keys",
        "Do you remember what Ana ordered?",
        "what do i like for breakfast?",
        "Can you tell me what our landlord is called?",
        "Did we decide on a database?",
        "我的血型是什么？",
        "我妹妹什么时候结婚",
        "你还记得上次聊的餐厅吗？",
        "我有没有跟你说过离婚的事",
        "我们选了哪个数据库？",
    ],
)
def test_questions_that_only_memory_can_answer(message: str) -> None:
    assert asks_memory(message)


@pytest.mark.parametrize(
    "message",
    [
        "What is the capital of Mongolia?",
        "How do I install Python?",
        "Can you help me with my CV?",
        "Should I buy a bicycle?",
        "What's wrong with my code?",
        "My sister marries in May.",
        "Hello!",
        "Write me a poem about my cat, please?",
        "What did I just say?",
        "What is my mistake here?\nfor x in y: print(z)",
        "蒙古的首都是哪里？",
        "帮我写一封信好吗？",
        "我该怎么安装 Python？",
        "我妹妹五月结婚。",
        "你好！",
        "我刚才问了什么？",
        "光合作用是怎么回事？",
    ],
)
def test_messages_that_do_not_ask_for_memory(message: str) -> None:
    assert not asks_memory(message)


def test_a_statement_asks_for_nothing() -> None:
    for said in ("My sister marries in May.", "我妹妹五月结婚。", "Hello!", "I moved to Porto in May."):
        assert not asks(said), said
    for asked in ("where do I live", "我住在哪里", "Write me a poem.", "Tell me about Ana.", "查一下房东的电话"):
        assert asks(asked), asked
