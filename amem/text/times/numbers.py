"""Numbers that are written as words, as far as people count days and months."""

from __future__ import annotations

_ENGLISH = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_CHINESE = ("一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二")

#: From one to twelve, in English and Chinese.
SPELLED = {word: at for words in (_ENGLISH, _CHINESE) for at, word in enumerate(words, 1)} | {"两": 2}
