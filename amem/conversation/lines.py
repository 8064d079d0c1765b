"""The few lines the assistant says itself, in the language it is spoken to."""

from __future__ import annotations

from dataclasses import dataclass

from amem.llm.prompts import CHINESE as ZH
from amem.llm.prompts import language_of


@dataclass(frozen=True, slots=True)
class Lines:
    """What is said, in one language."""

    language: str
    not_in_memory: str
    no_answer: str
    earlier: str
    nothing: str
    do_not_fill: str
    may_not_know: str


ENGLISH = Lines(
    language="",
    not_in_memory="That is not in memory.",
    no_answer="(no answer)",
    earlier="Earlier in this conversation, summed up:",
    nothing="(nothing)",
    do_not_fill=(
        "Memory holds nothing about this, and the user has been told so already. Do not guess and do not make anything"
        " up; answer in one short sentence, and ask the user to tell you if it should be remembered."
    ),
    may_not_know="Answer from what is recalled above; where it does not hold the answer, say that it is not in memory.",
)
CHINESE = Lines(
    language=ZH,
    not_in_memory="记忆里没有这件事。",
    no_answer="（没有回答）",
    earlier="这次对话前面部分的摘要：",
    nothing="（无）",
    do_not_fill="记忆里没有与此有关的内容，用户已经被告知。不要猜测，不要编造；只用一句短话回答，并请用户告诉你需要记住的内容。",
    may_not_know="根据上面回忆起来的内容回答；其中没有答案的，就说记忆里没有。",
)


def lines_for(text: str) -> Lines:
    """The lines in the language of `text`: Chinese where it is Chinese, else English."""
    return CHINESE if language_of(text) == ZH else ENGLISH
