"""The numbers and dates of a clause: what two notes that speak of one thing may differ in."""

from __future__ import annotations

import re
from dataclasses import dataclass

from amem.conflict.cues import concepts
from amem.language.lexicon import stem
from amem.language.numerals import CARDINALS, ORDINALS, digits_of, month_number, weekday_number
from amem.language.scripts import words

_WORDS = CARDINALS | ORDINALS | {"hundred": 100}
_HAN = "零一二三四五六七八九十百千万两"
#: Characters of a number in Chinese: a longer run of them is none.
_LONGEST = 20
_COUNTERS = (
    "折成欧点楼号日天块元毛角个次位名人周岁小时张瓶把双杯碗盒封棵"
    "支幅篇分折层期代级班组家厘公米斤度节本件条页套台辆只间批箱份"
)
_MONTH = (
    r"(?:january|february|march|april|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug"
    r"|sept?|oct|nov|dec|may)\b"
)
_BEFORE, _AFTER = r"(?:\b(?P<{}>[a-z]{{{{3,}}}}) )?", rf"(?:\s?(?P<{{}}>(?!{_MONTH})[a-z]{{{{2,}}}}\b))?"
_WORD = "|".join(word for word in _WORDS if word != "one")
_PATTERN = re.compile(
    r"(?P<noon>\bnoon\b|\bmidday\b|中午十二点)|(?P<midnight>\bmidnight\b)"
    r"|(?P<today>\b(?:yesterday|today|tomorrow|tonight|(?:last|this) (?:night|year|month|week))\b"
    r"|[今昨明][天晚早]|前天|后天|[今去]年|[上这本]个?[月周])"
    r"|(?P<weekday>\b(?:mon|tues?|wednes|wed|thurs?|fri|satur|sat|sun)(?:days?)?\b)"
    rf"|(?P<month>\b(?!may){_MONTH}|(?:(?<=\d )|(?<=in )|(?<=on ))may\b|\bmay(?= \d))"
    r"|(?:周|星期|礼拜)(?P<day>[一二三四五六日天])"
    rf"|{_BEFORE.format('what')}(?P<number>(?<![a-z_])v?\d+(?:[.,:]\d+)*)(?:\s?(?P<scale>[k万千百])(?![a-z]))?"
    rf"(?:\s?(?P<counter>月|年级?|[{_COUNTERS}]))?{_AFTER.format('unit')}"
    # 第一批 is which, not how many.
    rf"|(?!一[点些个下样起种次直边旦般])(?:(?<!第)|(?=[{_HAN}]{{1,{_LONGEST}}}+[层楼名]))"
    rf"(?P<han>[{_HAN}]{{1,{_LONGEST}}}+)(?P<hans>点半?|月|年级|年|[{_COUNTERS}])"
    rf"|(?P<large>[{_HAN}][十百千万](?![分里])[{_HAN}]*)"
    r"|\bone(?= (?:hours?|day|week|month|year|minute|percent|person|room|floor)\b)"
    rf"|{_BEFORE.format('of')}\b(?P<word>{_WORD})\b{_AFTER.format('counted')}",
    re.IGNORECASE,
)
#: They stand before what is counted, and do not tell what that is.
_CLASSIFIERS = frozenset("个只条台辆本件页间批箱份套家号张把双封棵支幅篇")
#: Words beside a number that do not tell what is counted.
_NO_UNIT = words(
    """
    the and for from until till with now per over about after before than only around nearly almost since are was have
    has had not our this that its there they you all more less least most away again last next night today yesterday
    at on in to by of or is it as so up no we he
    """
)


#: By the first letters or the first character of the word.
_DAYS = {
    **{"yes": "yesterday", "las": "last", "tom": "tomorrow"},
    **{"昨": "yesterday", "明": "tomorrow", "去": "last", "上": "last", "前": "before", "后": "after"},
}


@dataclass(frozen=True, slots=True)
class Value:
    """A number, year, month or weekday (`sort`), written the same in every language.

    `units` may be what the number counts or numbers ("people", "floor"); empty where that is not said.
    """

    sort: str
    text: str
    units: frozenset[str] = frozenset()

    def numbers_the_same(self, other: Value) -> bool:
        """Whether both may be values of one thing: three people are none of what floor 4 is."""
        return self.sort != other.sort or bool(self.units & other.units) or not (self.units and other.units)


def of(text: str) -> frozenset[Value]:
    """Every value in a text."""
    return frozenset(_value(match) for match in _PATTERN.finditer(text))


def places(text: str) -> list[tuple[int, int]]:
    """Where the values of a text stand, as [start, end)."""
    return [match.span() for match in _PATTERN.finditer(text)]


def _value(match: re.Match[str]) -> Value:
    if match["noon"] or match["midnight"]:
        return Value("number", "12" if match["noon"] else "0", frozenset({"clock"}))
    if match["today"]:
        return Value("day", _DAYS.get(match["today"].casefold()[:3], _DAYS.get(match["today"][0], "today")))
    if match["weekday"]:
        return Value("weekday", str(weekday_number(match["weekday"]) + 1))
    if match["month"]:
        return Value("month", str(month_number(match["month"])))
    if match["day"]:
        return Value("weekday", str(weekday_number(match["day"]) + 1))
    number, units = _number(match)
    if "月" in units:
        return Value("month", number)
    if "年" in units or (match["number"] and re.fullmatch(r"(?:19|20)\d\d", number)):
        return Value("year", number)
    return Value("number", number, frozenset(filter(None, map(_unit, units))))


def _number(match: re.Match[str]) -> tuple[str, list[str]]:
    """A number in digits, and the words beside it."""
    if match["han"]:
        number, unit = digits_of(match["han"]) or match["han"], match["hans"]
        return (f"{number}:30", ["点"]) if unit == "点半" else (number, [unit])
    if match["large"]:
        return digits_of(match["large"]) or match["large"], []
    if match["word"]:
        return str(_WORDS[match["word"].casefold()]), [match["counted"] or "", match["of"] or ""]
    if match["number"]:
        number = match["number"].casefold().removeprefix("v")
        beside = [match["counter"] or "", match["unit"] or "", match["what"] or ""]
        return digits_of(number + (match["scale"] or "")) or number.replace(",", ""), beside
    return "1", []


def _unit(word: str) -> str:
    folded = word.casefold()
    if folded in ("am", "pm", "点", "oclock"):
        return "clock"
    if folded in _CLASSIFIERS:
        return ""
    if folded in _NO_UNIT or folded in _WORDS:
        return ""
    return concepts(stem(folded) if folded.isascii() else folded)[0]
