"""What sort of thing a note says, by its cues in English and Chinese."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.llm.offline.cues import CUES, cue_in
from amem.llm.offline.lexicon import Sort, lexicon
from amem.note import Kind
from amem.text.stopwords import words

if TYPE_CHECKING:
    from amem.llm.offline.reading import Reading, Word

#: Cues are looked for in this much of a note; a longer one has shown its kind by then.
_WINDOW = 3000


_CODE = re.compile(
    r"```|^\s*(?:def |class |import |from \w+ import |return\b|function |const |let |var |public |private |#include|"
    r"@\w+|<\w+[^>]*>|\$ \w|SELECT |INSERT |CREATE |fn |package )|[;{}]\s*$|=>|\)\s*[:{]\s*$",
    re.MULTILINE,
)
_CODE_LINE = re.compile(
    r"^\s*(?:\$ |>>> )?\w[\w.]*\([^\n]*\)[;{:]?\s*$|^\s*SELECT\b[^\n]*\bFROM\b|^\s*[a-z_]\w*\s*=\s*\w+[\[(.{][^\n]*$"
)
_PAST_WORDS = words(
    "went saw met had took made got bought visited started finished celebrated tried watched moved ran joined "
    "attended spent cooked came lost found broke won planted painted hiked adopted signed flew drove hosted sat "
    "ate did walked called talked read booked gave passed failed fixed played arrived left received sent shipped "
    "deployed dropped told taught helped baked camped swam returned stayed wrote picked ended fell felt heard led "
    "organised organized said asked learned learnt discovered noticed spotted recorded rode climbed skipped "
    "borrowed repaired replaced sold paid became turned was were presented demoed ordered brought wore sang "
    "danced slept woke stopped began counted missed knocked "
)
_BEFORE_PAST = words("i we she he they and also just finally both even recently all then almost never again")
_TIMES_ZH = re.compile(
    r"昨天|昨晚|昨夜|前天|今天|今早|今晚|上周|上个?月|去年|前年|刚刚?|那天|当天|周末|早上|下午|上午|晚上|中午|清晨|凌晨"
)
_AHEAD_ZH = re.compile(r"明天|明早|明晚|后天|下周|下个?月|明年|打算|计划|准备|将要|要去")
_PAST_ZH = re.compile(r"了|过(?!敏|程|期|年|渡)|参加|见到|来到|遇到|陪|回到|收到|看到|听到|去(?!年|掉)")
_ASKS_ZH = re.compile(
    r"(?:吗|呢|么|什么|怎么|怎样|如何|哪里|哪儿|哪个|哪些|谁|为什么|几点|多少|是不是|能不能|有没有|要不要)"
)
_ASKS_EN = re.compile(
    r"^(?:who|what|when|where|why|how|which|whose|is|are|was|were|do|does|did|can|could|will|would|should|have|has)\b",
    re.IGNORECASE,
)
_RHETORICAL = re.compile(r"\b(?:right|you know|isn't it|huh|eh|don't you think)\?$|(?:对吧|是吧)[？?]$", re.IGNORECASE)


def kind_of(reading: Reading) -> Kind:
    """The kind of the note, from the strongest cue; `Kind.FACT` where nothing says otherwise."""
    text = reading.text[:_WINDOW]
    if _is_code(text):
        return Kind.ERROR if re.search(r"\bTraceback\b", text) else Kind.CODE
    if not reading.words:
        return Kind.CHITCHAT
    stated = _stated(reading)
    if stated is None:
        return Kind.QUESTION
    for kind in CUES:
        if cue_in(stated, kind):
            return kind
    if is_small_talk(reading):
        return Kind.CHITCHAT
    return Kind.EPISODE if _happened(reading, stated) else Kind.FACT


def _is_code(text: str) -> bool:
    if "```" in text or _CODE_LINE.match(text):
        return True
    lines = [line for line in text.splitlines() if line.strip()]
    return len(lines) >= 2 and sum(1 for line in lines if _CODE.search(line)) >= max(2, len(lines) * 0.4)


def _stated(reading: Reading) -> str | None:
    """What the note states, its questions left out; None when asking is its point."""
    questions = {at for at in range(len(reading.sentences)) if _asks(reading, at)}
    if not questions:
        return reading.text[:_WINDOW]
    weight = sum(
        1 for word in reading.words if word.sentence not in questions and word.sort in (Sort.COMMON, Sort.CONTENT)
    )
    if weight < 3:
        return None
    return " ".join(reading.sentence(at) for at in range(len(reading.sentences)) if at not in questions)[:_WINDOW]


def _asks(reading: Reading, at: int) -> bool:
    sentence = reading.sentence(at).rstrip("\"'”’）) ")
    if sentence.endswith(("?", "？")):
        return not _RHETORICAL.search(sentence)
    last = at == len(reading.sentences) - 1
    if sentence[-1:] in ".!。！…" or not last:
        return False
    if reading.chinese:
        return bool(re.search(r"(?:吗|呢|什么|怎么办|哪里|哪儿|几点|多少|谁)$", sentence))
    return bool(_ASKS_EN.match(sentence)) and len(sentence.split()) >= 3 and "," not in sentence


def is_small_talk(reading: Reading) -> bool:
    """Whether the note is a greeting, thanks or a reaction, with next to nothing else in it."""
    lists = lexicon()
    reactions = sum(
        1
        for word in reading.words
        if (word.text in lists.chinese_reactions if word.cjk else word.key in lists.reactions)
    )
    content = [
        word
        for word in reading.words
        if word.sort in (Sort.COMMON, Sort.CONTENT)
        and not (word.text in lists.chinese_reactions if word.cjk else word.key in lists.reactions)
        and not (word.person or (word.capital and not word.known))
    ]
    if any(word.shaped or word.sort is Sort.NUMBER for word in reading.words):
        return False
    if reactions:
        return len(content) <= 1 + (reactions > 1)
    return not content and all(word.sort in (Sort.STOP, Sort.WEAK) and word.known for word in reading.words)


def _happened(reading: Reading, stated: str) -> bool:
    if reading.chinese:
        return bool(_TIMES_ZH.search(stated) and _PAST_ZH.search(stated)) and not _AHEAD_ZH.search(stated)
    before = None
    for word in reading.words:
        if word.text.casefold() in _PAST_WORDS and word.text != "Read":
            acts = before is not None and not word.gap and (before.text.casefold() in _BEFORE_PAST or _who(before))
            if acts or (word.first and word.text not in ("Had", "Was", "Were", "Did", "Left")):
                return True
        before = word
    return False


def _who(word: Word) -> bool:
    """Whether the word may name a person."""
    return word.person or (word.capital and not word.known and not word.shaped)
