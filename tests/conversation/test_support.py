"""Whether memory supports an answer, and whether a message asks for memory at all.

The thresholds were set on the demo's notes with questions that they answer and questions nobody could answer from
them, and on the LoCoMo development file, where none of 233 questions that have an answer is denied one.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from amem import AgenticMemorySystem
from amem.conversation.personal import asks_memory
from amem.interop.demo_data import demo_folder, demo_questions
from amem.query import Query
from amem.retrieval.support import Evidence, Support, evidence_of, judge, telling

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amem.protocols import Embedder

ANSWERED = [
    "Who is my manager?",
    "What is my cat called?",
    "Which marathon did I run?",
    "When did I move to Lisbon?",
    "Which phone do I have?",
    "What database does the buoy catalogue use?",
    "What film did I like?",
    "Am I allowed to eat shrimp?",
    "Why did the cat lose weight?",
    "What did Pieter say?",
    "我的猫叫什么名字？",
    "芝麻吃什么药？",
    "我妈妈和我去了哪里旅行？",
    "我的膝盖怎么了？",
    "量子退火是什么？",
    "我最近读了什么书？",
    "第一次马拉松的成绩是多少？",
    "我的邻居吹什么乐器？",
]
UNANSWERABLE = [
    "When is my sister's wedding?",
    "What's my passport number?",
    "Which car do I drive?",
    "What did I name my sailing boat?",
    "Who is my dentist?",
    "What was my grade in chemistry?",
    "Where did I park the motorbike?",
    "Did I tell you about my divorce?",
    "What is my favourite opera?",
    "How old is my daughter?",
    "我的血型是什么？",
    "我妹妹什么时候结婚？",
    "我女儿几岁了？",
    "我最喜欢的歌剧是哪一部？",
    "我的牙医叫什么？",
    "我在挪威小屋的无线密码是什么？",
    "我有没有跟你说过离婚的事？",
    "我化学考了多少分？",
    "我的帆船叫什么名字？",
]


@pytest.fixture(scope="module")
def demo(minilm: Embedder) -> Iterator[AgenticMemorySystem]:
    """The demo's notes with the real embedding model."""
    with AgenticMemorySystem(llm_backend="offline", embedder=minilm) as memory:
        lines = (demo_folder() / "year.jsonl").read_text(encoding="utf-8").splitlines()
        memory.add_notes([{"content": each["content"], "time": each["time"]} for each in map(json.loads, lines)])
        yield memory


def support(memory: AgenticMemorySystem, question: str) -> Support:
    hits = memory.ask(Query(question, 8, touch=False))
    with memory._store.read() as session:
        frequency = session.text.document_frequency(telling(question))
    return judge(question, [evidence_of(hit) for hit in hits], frequency, memory.count()).support


@pytest.mark.parametrize("question", [*(each.question for each in demo_questions()), *ANSWERED])
def test_what_the_notes_answer_is_never_denied(demo: AgenticMemorySystem, question: str) -> None:
    assert support(demo, question) is not Support.NO


@pytest.mark.parametrize("question", UNANSWERABLE)
def test_what_no_note_speaks_of_is_denied(demo: AgenticMemorySystem, question: str) -> None:
    assert support(demo, question) is Support.NO
    assert asks_memory(question)


def test_a_word_that_no_note_holds_weighs_more_than_a_common_one() -> None:
    note = Evidence("n1", "The type of the new buoy is printed on it.")
    common = {"type": 400}
    assert judge("What is my blood type?", [note], common, 1_000).support is Support.NO
    assert judge("What type is the buoy?", [note], common | {"buoy": 40}, 1_000).support is Support.YES


def test_closeness_counts_only_where_the_question_is_in_latin_script() -> None:
    near = Evidence("n1", "完全无关的一句话", cosine=0.66)
    assert judge("我的血型是什么？", [near], {}, 100).support is Support.NO
    close = Evidence("n1", "Pieter runs the team I am in.", cosine=0.6)
    verdict = judge("Who is my manager?", [close], {}, 100)
    assert (verdict.support, verdict.notes) == (Support.YES, ("n1",))


def test_something_that_comes_near_is_left_to_whoever_reads_it() -> None:
    assert judge("Who is my manager?", [Evidence("n1", "Lunch", cosine=0.4)], {}, 9).support is Support.PERHAPS


@pytest.mark.parametrize("question", ["", "???", "What did I tell you?", "我说过什么？"])
def test_a_question_without_a_subject_has_no_support_in_nothing(question: str) -> None:
    assert judge(question, [], {}, 0).support is Support.NO


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
