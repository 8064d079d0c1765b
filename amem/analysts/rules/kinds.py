"""What sort of thing a note says, and how much it weighs."""

from __future__ import annotations

import re
from bisect import bisect_right
from operator import itemgetter
from typing import TYPE_CHECKING

from amem.language.lexicon import CUES, Sort, cue_in, lexicon
from amem.language.scripts import words
from amem.note import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.language.entities import Name
    from amem.language.word_reading import Reading, Word


# What sort of thing a note says, by its cues in English and Chinese.

#: Cues are looked for in this much of a note; a longer one has shown its kind by then.
_WINDOW = 3000


_CODE = re.compile(
    r"```|^\s*(?:def |class |import |from \w+ import |return\b|function |const |let |var |public |private |#include|"
    r"@\w+|<\w+[^>]*>|\$ \w|SELECT |INSERT |CREATE |fn |package )|[;{}]\s*$|=>|\)\s*[:{]\s*$",
    re.MULTILINE,
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
_PAST_ZH = re.compile(r"了|过(?!敏|程|期|年|渡)|参加|见到|来到|遇到|陪|回到|收到|看到|听到|去(?!年|掉)")
_ASKS_EN = re.compile(
    r"^(?:who|what|when|where|why|how|which|whose|is|are|was|were|do|does|did|can|could|will|would|should|have|has)\b",
    re.IGNORECASE,
)


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
    if "```" in text:
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
        return True
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
        return bool(_TIMES_ZH.search(stated) and _PAST_ZH.search(stated))
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


# What is said out of courtesy: greetings, thanks, "ok", laughter, goodbyes. It tells nothing about anybody.

_GREETING_EN = (
    r"(?:hi|hello|hey|hiya|howdy|yo|gm|greetings)(?: (?:again|there|all|everyone|everybody|guys|folks))?"
    r"|good (?:morning|afternoon|evening|night|day)(?: (?:to you|all|everyone|everybody))?|(?:what's|whats) up|sup"
    r"|(?:bye|goodbye|good bye)(?: bye| now| for now)?|gn|brb|ttyl|cya|farewell|sleep well|sweet dreams"
    r"|(?:i'll |i will )?(?:see|talk to|speak to|catch) (?:you|ya|u)"
    r"(?: (?:again|all|around|later|soon|then|there|tomorrow|tonight|next (?:time|week)"
    r"|(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day))*"
    r"|(?:talk|speak|chat) (?:soon|later)|until (?:next time|tomorrow|then)|take care|have fun"
    r"|(?:nice|good|great|lovely|pleased) to (?:meet|see|hear from|talk to) you(?: (?:too|again))?"
    r"|(?:have|enjoy) (?:a|an|your|the) (?:\w+ ){0,2}(?:day|time|morning|afternoon|evening|night|weekend|one|trip|rest)"
)
_COURTESY_EN = (
    r"(?:many |much )?(?:thanks|thank (?:you|u)|thx|ty|cheers)(?: (?:a lot|a million|a bunch|so much|very much|again"
    r"|anyway|for (?:the|your|that|this|all the|all your) (?:help|answer|info|information|tip|tips|advice|time)))*"
    r"|(?:you're|youre|you are) (?:very |most )?(?:welcome|right|kind|the best)|no (?:problem|worries|way|idea|thanks)"
    r"|(?:good|best of) luck|of course|that's (?:all|it|fine|right|true)(?: for (?:now|today))?|same (?:here|to you)"
    r"|(?:sounds|looks) (?:good|great|fine|like a plan)|(?:oh )?my (?:god|goodness)|i (?:see|agree|understand)|got it"
    r"|will do|fair enough|makes sense|never ?mind|rofl|lmao|lo+l|xd|(?:ha|he|hi|ho){2,}h?|idk|imo|k{1,2}|np|yw"
    r"|what a day|good (?:point|idea|question|job)|well done"
)
_GREETING_ZH = (
    r"(?:你们?|您|大家)好[呀啊哦]?|哈喽|哈啰|嗨|早(?:上好|安)?[呀啊]?|上午好|中午好|下午好|晚上好|晚安|拜+|再见|再会"
    r"|(?:明天|明早|明晚|回头|待会儿?|一会儿?|下次|下周|周[一二三四五六日])再?(?:见|聊)[啦哦吧咯]?(?![一-鿿])|回聊|好久不见|很高兴认识你"
    r"|我?先(?:走|撤|下|睡)了|周末愉快|保重"
)
_COURTESY_ZH = (
    r"(?:非常|十分|太|多)?(?:谢+|感谢|多谢)(?:你|您|大家)?(?:的?(?:帮助|帮忙|回答|建议|解答))?[啦了哦呀]?|辛苦(?:你|您)?了"
    r"|不客气|没(?:事|关系|问题)|不用谢|(?:好|行|可以|对|嗯|哦|噢|是)+(?:的|呀|啊|吧|哒|嘞|啦|了)?(?![一-鿿])|明白了?|知道了|懂了|收到"
    r"|[哈嘿呵嘻]+|祝?你?(?:好运|顺利)|加油|麻烦(?:你|您)?了|就这样吧?|先这样吧?"
)
_GREETING = re.compile(rf"\b(?:{_GREETING_EN})\b|{_GREETING_ZH}", re.IGNORECASE)
_COURTESY = re.compile(rf"\b(?:{_GREETING_EN}|{_COURTESY_EN})\b|{_GREETING_ZH}|{_COURTESY_ZH}", re.IGNORECASE)


def is_courtesy(reading: Reading) -> bool:
    """Whether nothing is left of a sentence without its courtesies: nobody will ever ask for it again."""
    covered = [match.span() for match in _COURTESY.finditer(reading.text)]
    left = [word for word in reading.words if not _within(word, covered)]
    if not left or all(_is_reaction(word) for word in left):
        return True
    if any(word.sort >= Sort.COMMON and not _is_name(word) and not _is_reaction(word) for word in left):
        return False
    if not covered and not is_small_talk(reading):
        return False
    if any(word.shaped or word.sort is Sort.NUMBER for word in left):
        return False
    left = [word for word in left if word.sort is not Sort.STOP and not _is_name(word) and not _is_reaction(word)]
    # Beside a courtesy a word of no weight ("thanks for helping", "hi Ben") is part of it; "can eat spicy" is not.
    return len(left) <= 1 and all(word.sort is Sort.WEAK for word in left)


def is_greeting(reading: Reading) -> bool:
    """Whether it only greets or takes leave, which is about nothing that was said before."""
    covered = [match.span() for match in _GREETING.finditer(reading.text)]
    return bool(covered) and all(_within(word, covered) or _is_name(word) for word in reading.words)


def _within(word: Word, spans: list[tuple[int, int]]) -> bool:
    """Whether one of the spans, which are in order, holds the word."""
    last = bisect_right(spans, word.start, key=itemgetter(0)) - 1
    return last >= 0 and word.end <= spans[last][1]


def _is_reaction(word: Word) -> bool:
    lists = lexicon()
    return word.text in lists.chinese_reactions if word.cjk else word.key in lists.reactions


def _is_name(word: Word) -> bool:
    return word.person or (word.capital and not word.known and not word.shaped)


# How much a note weighs, 0..1: by its kind, then by what it says about itself.

_BY_KIND = {
    Kind.CONSTRAINT: 0.85,
    Kind.DECISION: 0.78,
    Kind.PREFERENCE: 0.68,
    Kind.PROCEDURE: 0.66,
    Kind.CONFIG: 0.64,
    Kind.CODE: 0.58,
    Kind.FACT: 0.56,
    Kind.TOPIC: 0.55,
    Kind.ERROR: 0.55,
    Kind.EPISODE: 0.48,
    Kind.QUESTION: 0.3,
    Kind.CHITCHAT: 0.1,
}
_URGENT = re.compile(
    r"\b(?:important|remember|don't forget|allerg\w+|deadline|urgent|critical|crucial|emergency|password|birthday|"
    r"anniversary|surgery|passport|visa|died|pregnant|married|engaged|must|never)\b"
    r"|重要|记住|记得|务必|千万|别忘|紧急|过敏|截止|密码|生日|纪念日|手术|护照|签证|去世|怀孕|结婚|关键|急救",
    re.IGNORECASE,
)


def importance_of(reading: Reading, kind: Kind, names: Sequence[Name]) -> float:
    """0..1, two decimals. A constraint outweighs a decision, that a preference, and small talk weighs least."""
    value = _BY_KIND[kind]
    if kind in (Kind.CHITCHAT, Kind.QUESTION) and not names:
        return value
    urgent = len({match[0].casefold() for match in _URGENT.finditer(reading.text[:3000])})
    value += 0.05 * min(urgent, 2)
    if any(word.sort is Sort.NUMBER for word in reading.words):
        value += 0.02
    value += 0.01 * min(len(names), 3)
    if sum(1 for word in reading.words if word.sort >= Sort.COMMON) <= 1:
        value -= 0.08
    return round(min(1.0, max(0.05, value)), 2)
