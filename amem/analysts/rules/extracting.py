"""What a conversation teaches, by rules: each substantive sentence of a person's own is a statement of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.analysis import Extraction, Statement
from amem.analysts.rules.kind_and_context import importance_of, is_courtesy, kind_of, shorten, without_lead_in
from amem.language import sentences, split_text, written_in_cjk
from amem.language.lexicon import Sort
from amem.language.word_reading import read
from amem.note import Kind, Role

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from amem.analysis import Passage
    from amem.language.word_reading import Reading
    from amem.note import Message

#: A sentence longer than this is cut, so that what it says can be found.
_LONGEST = 2_000
_SUMMARY = 240
_SUMMARY_SENTENCE = 110
_SUMMARISED = 3

# "Write me a poem" tells the assistant what to do now; "never use tabs" and "remind me on Friday" tell it something
# that stays true, as does "call me Ben".
_COMMAND_EN = re.compile(
    r"(?:(?:ok(?:ay)?|now|then|and|so|great|thanks|thank you|hi|hello|hey)[,.!:\s]+)*"
    r"(?:(?:please|pls|kindly|can you|could you|would you|will you|i(?:'d| would) like you to|i (?:want|need) you to"
    r"|go ahead and|try to|let's)[,\s]+)*"
    r"(?:write|rewrite|rephrase|tell me|show me|give me|send me|help me|explain|summari[sz]e|translate|list|generate"
    r"|create|draft|describe|compare|calculate|compute|convert|suggest|recommend|search|look up|look for|google|find me"
    r"|find out|find the|fix|debug|refactor|continue|go on|carry on|try again|do it again|repeat|stop (?:it|that|now)"
    r"|undo|elaborate|shorten|expand|proofread|review (?:this|my|the)|check (?:this|my|the|if|whether)|answer|open the"
    r"|read (?:this|the)|run (?:this|the|it)|make (?:it|this|that|me|the)|say (?:it|that|hi|hello)"
    r"|forget (?:it|that|about))\b",
    re.IGNORECASE,
)
_COMMAND_ZH = re.compile(
    r"(?:好的?|那么?|现在|然后|谢谢)?[，,、！!\s]*"
    r"(?:(?:请你?|麻烦你?|拜托你?|你?(?:能|可以)?(?:帮我|给我|替我|帮忙))+(?:再|先|把)?"
    r"(?:写|翻译|总结|概括|归纳|解释|列|生成|查|搜|找|推荐|介绍|说明|分析|修改|改|润色|计算|算|画|讲|说|看|想|做|起草|起|设计|对比"
    r"|比较|继续|回答|重写|重试|整理|检查|润|补充|告诉|把)"
    r"|告诉我|继续(?:说|写|吧|$)|再(?:试|写|来|说)一|换一个|接着(?:说|写)|总结一下|翻译一下|解释一下)"
)
#: What only tells the assistant to keep what follows is no part of what it says.
_KEEP_IN_MIND = re.compile(
    r"(?:please |pls )?(?:remember|note|keep in mind|don't forget|do not forget)(?: that)?[,:]? +(?=\S+ \S)"
    r"|(?:请|麻烦)?(?:你)?(?:帮我)?(?:记住|记得|记一下|别忘了?|不要忘了?)[，,：:\s]*(?=\S{3})",
    re.IGNORECASE,
)
#: A sentence that begins so cannot be understood without the one before it.
_POINTS_BACK = re.compile(r"(?:she|he|it|they)(?:'\w+)?\b|[她他它]", re.IGNORECASE)
_LIST_LINE = re.compile(r"^[^\S\n]*(?:\d+[.)、]|[-*•]|第[一二三四五六七八九十]步)\s*\S", re.MULTILINE)
_WHOLE = (Kind.CODE, Kind.ERROR)
#: From so many words on, a sentence with one that tells something is no small talk.
_TELLING_FROM = 7


def extract(passage: Passage) -> Extraction:
    """One statement for each substantive sentence that a person said; questions and orders to the assistant are none.

    Small talk that tells something is kept as chitchat, one statement for a message that has
    nothing else; greetings, thanks, "ok", laughter and goodbyes are none: they would only be found again. What an
    assistant, a tool or a system message says is not taken from; procedures are left to models.
    """
    found: list[Statement] = []
    for number, message in enumerate(passage.said, start=1):
        if message.role is Role.USER:
            found += _statements(message, f"m{number}")
    return Extraction(summary=summary_of(passage.said, found), statements=tuple(found))


def summary_of(said: Sequence[Message], statements: Sequence[Statement]) -> str:
    """What the passage is about in a line or two: its weightiest statements in their order, else its first words."""
    telling = [each for each in statements if each.kind is not Kind.CHITCHAT]
    if not telling:
        # Questions and answers that stated nothing still were about something.
        opening = next((message for message in said if message.role is Role.USER), said[0] if said else None)
        return "" if opening is None else shorten(without_lead_in(" ".join(opening.content.split())), _SUMMARY_SENTENCE)
    weights = {at: importance_of(read(each.text), each.kind, ()) for at, each in enumerate(telling)}
    chosen = sorted(sorted(weights, key=lambda at: (-weights[at], at))[:_SUMMARISED])
    lines = [shorten(without_lead_in(telling[at].text), _SUMMARY_SENTENCE).rstrip(" .。!！") for at in chosen]
    chinese = written_in_cjk("".join(lines))
    return shorten(("；" if chinese else "; ").join(lines), _SUMMARY)


def _statements(message: Message, handle: str) -> Iterator[Statement]:
    kind = kind_of(read(message.content))
    if ("```" in message.content and kind in _WHOLE) or len(_LIST_LINE.findall(message.content)) > 1:
        # Code, a traceback and a list of steps mean nothing line by line.
        for piece in split_text(message.content, _LONGEST):
            yield Statement(piece, kind, (handle,))
        return
    small: list[str] = []
    stated: list[str] = []
    for sentence in sentences(message.content):
        if _is_order(sentence):
            continue
        reading = read(sentence)
        kind = kind_of(reading)
        if kind is Kind.QUESTION or is_courtesy(reading):
            continue
        if _is_small(reading, kind):
            small.append(sentence)
        else:
            text = _KEEP_IN_MIND.sub("", sentence, count=1) if _KEEP_IN_MIND.match(sentence) else sentence
            if stated and _POINTS_BACK.match(text):
                stated[-1] += ("" if written_in_cjk(text) else " ") + text
            else:
                stated.append(text)
    for text in dict.fromkeys(stated):  # a page that says one thing a thousand times says it once
        for piece in split_text(text, _LONGEST):
            kind = kind_of(read(piece))
            yield Statement(piece, Kind.FACT if kind in (Kind.CHITCHAT, Kind.QUESTION) else kind, (handle,))
    if small and not stated:
        yield Statement(" ".join(small), Kind.CHITCHAT, (handle,))


def _is_small(reading: Reading, kind: Kind) -> bool:
    """Whether a sentence is only chat; "Make sure the invoice goes to Ana" holds more than that."""
    telling = any(word.sort >= Sort.COMMON for word in reading.words)
    return kind is Kind.CHITCHAT and not (telling and len(reading.words) >= _TELLING_FROM)


def _is_order(sentence: str) -> bool:
    return bool(_COMMAND_EN.match(sentence) or _COMMAND_ZH.match(sentence))
