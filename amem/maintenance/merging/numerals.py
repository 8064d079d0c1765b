"""Numbers written in words, as digits: 三点 and 3点, "three" and "3" are the same."""

from __future__ import annotations

import re

_DIGITS = {**{char: value for value, char in enumerate("零一二三四五六七八九")}, "〇": 0, "两": 2}
_UNITS = {"十": 10, "百": 100, "千": 1000}
_LARGE = {"万": 10_000, "亿": 100_000_000}
_RUN = re.compile(rf"[{''.join({**_DIGITS, **_UNITS, **_LARGE})}]+")
_ENGLISH = {
    word: str(value)
    for value, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    )
} | {"fifteen": "15", "twenty": "20", "thirty": "30", "forty": "40", "fifty": "50", "once": "1", "twice": "2"}


def digits(text: str) -> str:
    """The text with Chinese numerals as digits: 三点 -> 3点, 十二个 -> 12个, 二〇二六年 -> 2026年.

    Also within words that are no numbers (一起 -> 1起): two texts are compared in the same form.
    """
    return text if text.isascii() else _RUN.sub(lambda found: _value(found[0]), text)


def number_word(word: str) -> str:
    """An English number in digits; any other word as it is. Versions lose their "v"."""
    if word[0] == "v" and word[1:2].isdigit():
        return word[1:]
    return _ENGLISH.get(word, word)


def _value(run: str) -> str:
    if not any(char in _UNITS or char in _LARGE for char in run):
        return "".join(str(_DIGITS[char]) for char in run)
    total, section, digit = 0, 0, -1
    for char in run:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif char in _UNITS:
            section += (1 if digit < 0 else digit) * _UNITS[char]
            digit = -1
        else:
            total += max(1, section + max(0, digit)) * _LARGE[char]
            section, digit = 0, -1
    return str(total + section + max(0, digit))
