"""What is said out of courtesy: greetings, thanks, "ok", laughter, goodbyes. It tells nothing about anybody."""

from __future__ import annotations

import re
from bisect import bisect_right
from operator import itemgetter
from typing import TYPE_CHECKING

from amem.llm.offline.kinds import is_small_talk
from amem.llm.offline.lexicon import Sort, lexicon
from amem.text.stopwords import words

if TYPE_CHECKING:
    from amem.llm.offline.reading import Reading, Word

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
#: How somebody feels is worth a line of small talk; that somebody is fine is only an answer to being asked.
_MOOD_EN = re.compile(r"\b(?:i'?m|i am|i feel|i'm feeling|feeling)\b", re.IGNORECASE)
_MOOD_ZH = re.compile(r"我?(?:今天|现在|最近)?(?:很|好|真|太|有点儿?|特别|非常)\S")
_FINE = words("fine well good ok okay great ready back sure sorry here right done well kidding joking love like")
_FINE_ZH = frozenset(["好", "很好", "还好", "不错", "可以", "行", "爱", "喜欢", "真好", "太好了"])
_WEATHER = re.compile(
    r"(?:(?:oh|wow|ah)[,!\s]+)?(?:what |such )?(?:(?:lovely|nice|beautiful|gorgeous|wonderful|perfect|great|good|awful"
    r"|terrible|horrible|miserable) (?:weather|sunshine)\b|the (?:weather|sun) (?:is|was) )"
    r"|(?:哇[，,！!]?)?(?:今天|今早|外面|最近)?的?天气(?:真|好|太|很|真是|可真)?(?:好|不错|棒|糟|差|热|冷|舒服)",
    re.IGNORECASE,
)
_ME = re.compile(r"\b(?:i|me|my|mine|we|us|our)\b|[我咱]", re.IGNORECASE)


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
    return len(left) <= 1 and all(word.sort is Sort.WEAK for word in left) and not _tells_a_mood(reading, left)


def is_greeting(reading: Reading) -> bool:
    """Whether it only greets or takes leave, which is about nothing that was said before."""
    covered = [match.span() for match in _GREETING.finditer(reading.text)]
    return bool(covered) and all(_within(word, covered) or _is_name(word) for word in reading.words)


def is_talk_of_the_weather(reading: Reading) -> bool:
    """Whether it talks of fine or foul weather and of nobody: chat, however many words it takes."""
    named = any(_is_name(word) or word.shaped or word.sort is Sort.NUMBER for word in reading.words)
    return bool(_WEATHER.match(reading.text)) and not named and not _ME.search(reading.text)


def _tells_a_mood(reading: Reading, left: list[Word]) -> bool:
    told = [
        word
        for word in left
        if (word.text not in _FINE_ZH if word.cjk else word.text.casefold() not in _FINE and not word.verb)
    ]
    return bool(told) and bool((_MOOD_ZH if reading.chinese else _MOOD_EN).search(reading.text))


def _within(word: Word, spans: list[tuple[int, int]]) -> bool:
    """Whether one of the spans, which are in order, holds the word."""
    last = bisect_right(spans, word.start, key=itemgetter(0)) - 1
    return last >= 0 and word.end <= spans[last][1]


def _is_reaction(word: Word) -> bool:
    lists = lexicon()
    return word.text in lists.chinese_reactions if word.cjk else word.key in lists.reactions


def _is_name(word: Word) -> bool:
    return word.person or (word.capital and not word.known and not word.shaped)
