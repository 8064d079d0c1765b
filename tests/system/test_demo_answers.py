"""What the demo's notebook says of its owner reaches whoever asks: by `ask` without a model, in contexts, in a chat.

Nobody reads the demo's notes but as anybody's: no rule knows them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem import AgenticMemorySystem, load_settings
from amem.clock import SystemClock
from amem.conversation.prompt import Prompting
from amem.conversation.questions import Asker
from amem.errors import ServiceUnavailable
from amem.interop.demo_data import demo_folder
from amem.interop.formats import Format
from amem.interop.importing import Importer
from amem.interop.reader import read_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amem.conversation.questions import Answer
    from amem.llm.answering import Answerer
    from amem.protocols import Embedder

#: What is asked, and what any right answer says; and where a note has to be read for it, what stands in that note.
ALLERGY, FISH, HOME, EMPLOYER = ("虾", "蟹"), ("鱼可以吃",), ("里斯本",), ("Marulho",)
QUESTIONS = {
    "What am I allergic to?": ALLERGY,
    "我对什么过敏？": ALLERGY,
    "Am I vegetarian?": FISH,
    "May I eat fish?": FISH,
    "我还吃素吗？": FISH,
    "我能吃鱼吗？": FISH,
    "Where do I live?": HOME,
    "我住在哪里？": HOME,
    "Who do I work for?": EMPLOYER,
    "我在哪家公司上班？": EMPLOYER,
}
#: What notes say of it by the way, in a sentence that a context of 250 tokens may cut away.
BY_THE_WAY = {
    "What phone do I have?": ("Fairphone 5",),
    "Who is my landlord?": ("Amélia",),
    "房东是谁？": ("Amélia",),
    "How much is my rent?": ("1180",),
    "我的房租多少？": ("1180",),
}
#: What was so once, and must not be said as if it were.
GONE = ("I have been vegetarian since 2023", "鹿特丹北边")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory, minilm: Embedder) -> Iterator[AgenticMemorySystem]:
    """The collection that ``amem demo`` makes."""
    settings = load_settings(tmp_path_factory.mktemp("demo"), llm_backend="offline", collection="demo")
    with AgenticMemorySystem(settings=settings, embedder=minilm) as memory:
        Importer(memory, cause="amem demo").run(read_path(demo_folder() / "year.jsonl", settings, Format.JSONL))
        yield memory


def no_model() -> Answerer:
    raise ServiceUnavailable("no chat model was found", hint="start Ollama")


def ask(memory: AgenticMemorySystem, question: str) -> Answer:
    return Asker(memory, memory.parts.store, SystemClock(), answerer=no_model, touch=False).ask(question)


def test_ask_answers_without_a_model_in_the_language_of_the_question(demo: AgenticMemorySystem) -> None:
    for question, wanted in {**QUESTIONS, **BY_THE_WAY}.items():
        answer = ask(demo, question)
        assert (answer.support, answer.in_memory) == ("strong", True), question
        assert all(each in answer.text for each in wanted), (question, answer.text)
        assert not any(each in answer.text for each in GONE), (question, answer.text)
        assert answer.citations, question
    assert ask(demo, "What am I allergic to?").text == "You are allergic to 虾 and 蟹, since 2026-05-13 [1]."
    assert ask(demo, "我对什么过敏？").text == "你对虾和蟹过敏（2026-05-13 起） [1]。"
    assert ask(demo, "Am I vegetarian?").text.startswith("No longer: your diet used to be vegetarian, but")


def test_ask_does_not_say_as_if_it_were_so_what_has_presumably_ended(demo: AgenticMemorySystem) -> None:
    assert "Your manager used to be Pieter, but presumably not since 2026-05-29" in ask(demo, "Who is my manager?").text


def test_the_capital_of_france_is_no_hit_in_a_private_notebook(demo: AgenticMemorySystem) -> None:
    for question, lead in (
        ("What is the capital of France?", "Nothing certain; nearest, though far off: “"),
        ("法国的首都是哪里？", "没有确定的答案"),
    ):
        answer = ask(demo, question)
        assert answer.support == "weak", "a third of the notes are in the other language"
        assert answer.text.startswith(lead)
        assert answer.confidence < 0.3
        assert demo.search(question, touch=False, minimum_confidence=0.3) == []


@pytest.mark.parametrize("budget", [250, 1200])
def test_a_context_holds_the_answer_whatever_the_budget(demo: AgenticMemorySystem, budget: int) -> None:
    for question, wanted in (QUESTIONS if budget < 300 else {**QUESTIONS, **BY_THE_WAY}).items():
        context = demo.context(question, budget, touch=False)
        if budget < 300 and wanted == FISH:  # cut short, the note of the day on which that changed stands there
            wanted = ("[2026-06-22", "虾")
        assert all(each in context.text for each in wanted), (question, context.text)
        assert context.support == "strong", question


def test_a_chat_prompt_holds_the_answer_and_says_that_support_is_strong(demo: AgenticMemorySystem) -> None:
    prompting = Prompting(demo, demo.parts.store, SystemClock())
    for question, wanted in {**QUESTIONS, **BY_THE_WAY}.items():
        prepared = prompting.prepare(question, [])
        prompt = "\n".join(message.content for message in prepared.messages)
        assert all(each in prompt for each in wanted), question
        assert prepared.notice == "", question
        assert "Support for an answer: strong." in prompt or "对答案的支持：强。" in prompt, question
