"""The few lines the assistant says itself, in the language it is spoken to."""

from __future__ import annotations

from dataclasses import dataclass

from amem.llm.prompts import CHINESE as ZH
from amem.llm.prompts import language_of
from amem.retrieval.confidence import Support


@dataclass(frozen=True, slots=True)
class Lines:
    """What is said, in one language."""

    language: str
    not_in_memory: str
    no_answer: str
    earlier: str
    nothing: str
    strong: str
    weak: str
    none: str
    none_told: str
    aside: str
    nearest: str
    uncertain: str
    outdated: str
    before: str
    noted: str
    not_noted: str
    idle: str
    colon: str
    stop: str
    semicolon: str

    def support(self, support: Support) -> str:
        """What a model is told of how well the notes support an answer."""
        return {Support.STRONG: self.strong, Support.WEAK: self.weak, Support.NONE: self.none}[support]


ENGLISH = Lines(
    language="",
    not_in_memory="That is not in memory.",
    no_answer="(no answer)",
    earlier="Earlier in this conversation, summed up:",
    nothing="(nothing)",
    strong="Support for an answer: strong. One of these notes is very likely to hold it.",
    weak=(
        "Support for an answer: weak. These notes come near and may not hold it; where they do not, say that it is not"
        " in memory."
    ),
    none=(
        "Support for an answer: none. Most likely it is not in memory: unless a note plainly states the answer, say"
        " that it is not in memory, and do not guess."
    ),
    none_told=(
        "The user has been told so already: answer in one short sentence, and ask the user to tell you if it should be"
        " remembered."
    ),
    aside="Support for an answer: none or weak. These notes may have nothing to do with the message.",
    nearest="Nothing certain; nearest: ",
    uncertain="Nothing certain",
    outdated=", but this may be out of date: ",
    before="before that: ",
    noted="Noted.",
    not_noted="I keep nothing of this chat.",
    idle="Tell me something to save as a note, or ask what is saved.",
    colon=": ",
    stop=".",
    semicolon="; ",
)
CHINESE = Lines(
    language=ZH,
    not_in_memory="记忆里没有这件事。",
    no_answer="（没有回答）",
    earlier="这次对话前面部分的摘要：",
    nothing="（无）",
    strong="对答案的支持：强。其中很可能有一条笔记写着答案。",
    weak="对答案的支持：弱。这些笔记相近，但不一定写着答案；没有写的，就说记忆里没有。",
    none="对答案的支持：无。记忆里多半没有：除非有笔记明白写着答案，否则就说记忆里没有，不要猜测。",
    none_told="用户已经被告知：只用一句短话回答，并请用户告诉你需要记住的内容。",
    aside="对答案的支持：弱或无。这些笔记可能与这条消息无关。",
    nearest="没有确定的答案，最接近的是：",
    uncertain="没有确定的答案",
    outdated="，但可能已过时：",
    before="此前：",
    noted="记下了。",
    not_noted="这次对话的内容我不会保存。",
    idle="告诉我要记下的事，或者问问记忆里有什么。",
    colon="：",
    stop="。",
    semicolon="；",
)


def lines_for(text: str) -> Lines:
    """The lines in the language of `text`: Chinese where it is Chinese, else English."""
    return CHINESE if language_of(text) == ZH else ENGLISH
