"""Numbers in digits, in words and in Chinese characters; the names of months and weekdays: the one table of each."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


# The words that numbers are written in. Every other table of numbers is made of these.

_SMALL = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NTH = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh"),
    "twelfth",
)
#: English cardinals below a hundred, those from twenty on by the ten, and their values.
CARDINALS = {word: value for value, word in enumerate(_SMALL)} | {word: 10 * ten for ten, word in enumerate(_TENS, 2)}
#: English ordinals up to twelve.
ORDINALS = {word: value for value, word in enumerate(_NTH, 1)}
_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_UNITS = {"十": 10, "百": 100, "千": 1_000}
_MYRIADS = {"万": 10_000, "亿": 100_000_000}
#: Every character of a Chinese number.
CHINESE = "".join([*_DIGITS, *_UNITS, *_MYRIADS])
#: From one to twelve, in English and Chinese, as far as people count days and months.
SPELLED = (
    {word: value for word, value in CARDINALS.items() if 1 <= value <= 12}
    | {character: value for character, value in _DIGITS.items() if value}
    | {"十": 10, "十一": 11, "十二": 12}
)

# Numbers that a question writes in digits and a note in Chinese characters, or the other way round.

_CHINESE = re.compile(rf"[{CHINESE}]{{2,20}}")
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
    """The number that Chinese numerals write (三百零五万, 三千八, 二零二五), digits among them (3万, 12万5千) or not.

    None where they write none. This is the one reader of such numbers.
    """
    total = myriads = section = digit = 0
    unit, digits = 1, False
    for each in text:
        if each in _DIGITS or each.isdecimal():
            digit, digits = digit * 10 + (_DIGITS[each] if each in _DIGITS else int(each)), True
        elif each in _UNITS:
            unit = _UNITS[each]
            section, digit, digits = section + (digit or 1) * unit, 0, True
        elif each in _MYRIADS and digits:
            unit = _MYRIADS[each]
            if each == "万":
                myriads += (section + digit) * unit
            else:
                total, myriads = total + (myriads + section + digit) * unit, 0
            section = digit = 0
        else:
            return None
    # "三千八" leaves out the unit that follows; "三千零八" does not.
    if 0 < digit < 10 and unit > 10 and text[-2] not in "零〇":
        digit *= unit // 10
    return total + myriads + section + digit if digits else None


_DIGITAL = re.compile(r"(?P<whole>\d{1,3}(?:,\d{3})+|\d+)(?P<rest>\.\d+)?\s?(?P<scale>k|[十百千万亿])?", re.IGNORECASE)
_SCALES = _UNITS | _MYRIADS | {"k": 1_000}


def digits_of(text: str) -> str | None:
    """The number that `text` writes, in digits without separators: 1,150, 1.5k, 2万, 一千一百五十; None for no number.

    Without a scale its decimals stay as they are: 3.10 is a version as well.
    """
    match = _DIGITAL.fullmatch(text)
    if match is None:
        value = value_of(text)
        return None if value is None else str(value)
    number = match["whole"].replace(",", "") + (match["rest"] or "")
    if not match["scale"]:
        return number
    return f"{(Decimal(number) * _SCALES[match['scale'].casefold()]).normalize():f}"


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


# Months and weekdays.

MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
#: Behind 周, 星期 or 礼拜, from Monday on.
WEEKDAYS_CHINESE = "一二三四五六日"
_SHORT_MONTHS = {name[:3]: at for at, name in enumerate(MONTHS, 1)}
_SHORT_WEEKDAYS = {name[:3]: at for at, name in enumerate(WEEKDAYS)}


def month_number(name: str) -> int:
    """1 to 12 for a month's English name, of which the first three letters count. Raises KeyError for no month."""
    return _SHORT_MONTHS[name[:3].casefold()]


def weekday_number(name: str) -> int:
    """0 (Monday) to 6 for an English name, of which three letters count, or 一 to 日 and 天. Raises KeyError."""
    if name.isascii():
        return _SHORT_WEEKDAYS[name[:3].casefold()]
    if name == "天":
        return 6
    at = WEEKDAYS_CHINESE.find(name)
    if len(name) != 1 or at < 0:
        raise KeyError(name)
    return at
