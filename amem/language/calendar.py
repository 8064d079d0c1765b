"""The names of months and weekdays in English and Chinese: the one table of them."""

from __future__ import annotations

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
