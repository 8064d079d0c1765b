"""Numbers in digits, in words and in Chinese characters."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


# Numbers that a question writes in digits and a note in Chinese characters, or the other way round.

_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_UNITS = {"十": 10, "百": 100, "千": 1_000}
_MYRIADS = {"万": 10_000, "亿": 100_000_000}
_CHINESE = re.compile(r"[零〇一二两三四五六七八九十百千万亿]{2,20}")
#: Digits before a Chinese character, but no version, telephone number or the like.
_ARABIC = re.compile(r"(?<![\w.\-])(\d{1,8})\s?([\u4e00-\u9fff])")
#: Behind these words a number says how many or which; 两 is two of something.
_COUNTED = "个只条本位张台件次年天月日号岁点块套家间斤公里米元分秒楼层人辆部届期周倍"


def otherwise_written(question: str) -> Iterator[str]:
    """Each number of the question in the other script, with what it counts, if anything.

    A number below ten needs that: 3 alone stands in too many notes.
    """
    text = unicodedata.normalize("NFKC", question)
    for match in _CHINESE.finditer(text):
        value = value_of(match[0])
        if value is not None and value >= 10:
            yield str(value)
            if match[0][-1] in _MYRIADS and (before := value_of(match[0][:-1])) is not None:
                yield str(before)
    for match in _ARABIC.finditer(text):
        number, behind = match[1], match[2]
        if behind == "年" and len(number) == 4:
            yield "".join("零一二三四五六七八九"[int(digit)] for digit in number) + behind
        elif behind in _COUNTED:
            yield in_characters(int(number)) + behind
            if int(number) == 2:
                yield "两" + behind
        elif int(number) >= 10:
            yield in_characters(int(number))


def value_of(text: str) -> int | None:
    """The number that these Chinese numerals write (三百零五万, 三千八, 二零二五); None where they write none."""
    if len(text) > 1 and all(each in _DIGITS for each in text):
        return int("".join(str(_DIGITS[each]) for each in text))
    total = section = digit = 0
    unit = 1
    for place, each in enumerate(text):
        if each in _DIGITS:
            if digit:
                return None
            digit = _DIGITS[each]
        elif each in _UNITS:
            unit = _UNITS[each]
            section, digit = section + (digit or 1) * unit, 0
        elif place:
            unit = _MYRIADS[each]
            total, section, digit = (total + section + digit) * unit, 0, 0
        else:
            return None
    # "三千八" leaves out the unit that follows; "三千零八" does not.
    if digit and unit > 10 and text[-2] not in "零〇":
        digit *= unit // 10
    return total + section + digit


def in_characters(number: int) -> str:
    """A number below 100,000,000 in Chinese characters: 28 -> 二十八, 3050000 -> 三百零五万."""
    thousands, rest = divmod(number, 10_000)
    if not thousands:
        written = _below_10_000(number)
        return written.removeprefix("一") if 10 <= number < 20 else written or "零"
    joint = "零" if 0 < rest < 1_000 else ""
    return f"{in_characters(thousands)}万{joint}{_below_10_000(rest)}"


def _below_10_000(number: int) -> str:
    written = ""
    for character, unit in (("千", 1_000), ("百", 100), ("十", 10), ("", 1)):
        digit, number = divmod(number, unit)
        if digit:
            written += "零一二三四五六七八九"[digit] + character
        elif written and number and not written.endswith("零"):
            written += "零"
    return written


# Numbers that are written as words, as far as people count days and months.

_ENGLISH = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_CHINESE_COUNTED = ("一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二")

#: From one to twelve, in English and Chinese.
SPELLED = {word: at for words in (_ENGLISH, _CHINESE_COUNTED) for at, word in enumerate(words, 1)} | {"两": 2}
