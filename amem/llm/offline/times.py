"""Relative words of time ("yesterday", "上周五") resolved against the day they were said; never a guess."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_NUMBERS = {
    **{str(number): number for number in range(1, 100)},
    **{word: at for at, word in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), 1)},  # noqa: SIM905
    **{word: at for at, word in enumerate("一二三四五六七八九十", 1)},
    "a": 1,
    "an": 1,
    "a couple of": 2,
    "两": 2,
    "十一": 11,
    "十二": 12,
}
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAYS_ZH = {**{day: at for at, day in enumerate("一二三四五六日")}, "天": 6}
_NUMBER = r"\d{1,2}|an?|a couple of|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_ENGLISH = re.compile(
    r"\b(?:(?P<day>the day before yesterday|the day after tomorrow|yesterday|tomorrow|last night)"
    rf"|(?P<count>{_NUMBER}) (?P<unit>day|week|month|year)s? (?P<ago>ago)"
    r"|(?<!the )(?P<which>last|this|next) (?P<span>week|month|year|weekend)"
    rf"|last (?P<weekday>{'|'.join(_DAYS)}))\b",
    re.IGNORECASE,
)
_COUNT_ZH = r"\d{1,2}|十[一二]|[一二两三四五六七八九十]"
_CHINESE = re.compile(
    r"(?P<day>大前天|大后天|前天|昨天|昨晚|昨夜|明天|明早|明晚|后天)"
    rf"|(?P<count>{_COUNT_ZH})个?(?P<unit>天|周|星期|月|年)(?P<ago>前|之前|以前)"
    r"|(?P<week>上上|上|下下|下|这|本)个?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天](?![个些种次])|末)?"
    r"|(?P<month>上|下|这|本)个?月(?![底初中])"
    r"|(?P<year>去年|前年|今年|明年|后年)"
)
_OFFSETS = {
    "the day before yesterday": -2,
    "yesterday": -1,
    "last night": -1,
    "tomorrow": 1,
    "the day after tomorrow": 2,
    "大前天": -3,
    "前天": -2,
    "昨天": -1,
    "昨晚": -1,
    "昨夜": -1,
    "明天": 1,
    "明早": 1,
    "明晚": 1,
    "后天": 2,
    "大后天": 3,
}
_YEARS_ZH = {"去年": -1, "前年": -2, "今年": 0, "明年": 1, "后年": 2}
_WEEKS_ZH = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}


def with_dates(text: str, said: date | None) -> str:
    """`text` with the date behind each relative word it means: "yesterday (2023-05-07)", "上周五（2026年2月27日）".

    Words that leave the date open ("next Friday", "soon", "on Monday") stay alone, so do "today" and the like, which
    mean the note's own date, and all of a text whose own date is unknown.
    """
    if said is None:
        return text
    dated = _ENGLISH.sub(lambda match: _after(match, _english, said, " (", ")"), text)
    return _CHINESE.sub(lambda match: _after(match, _chinese, said, "（", "）"), dated)


def _after(
    match: re.Match[str], resolve: Callable[[re.Match[str], date], str], said: date, opening: str, closing: str
) -> str:
    try:
        meant = resolve(match, said)
    except (OverflowError, ValueError):
        # "99 years ago" said in year 50 has no date to name.
        return match[0]
    return f"{match[0]}{opening}{meant}{closing}" if meant else match[0]


def iso(day: date, chinese: bool) -> str:
    """The day as a note's context writes it."""
    return f"{day.year}年{day.month}月{day.day}日" if chinese else day.isoformat()


def _english(match: re.Match[str], said: date) -> str:
    if match["day"]:
        return iso(said + timedelta(days=_OFFSETS[match["day"].casefold()]), False)
    if match["weekday"]:
        back = (said.weekday() - _DAYS.index(match["weekday"].casefold())) % 7 or 7
        return iso(said - timedelta(days=back), False)
    if match["span"]:
        return _span(said, {"last": -1, "this": 0, "next": 1}[match["which"].casefold()], match["span"].casefold())
    return _before(said, _NUMBERS[match["count"].casefold()], match["unit"].casefold(), False)


def _span(said: date, steps: int, span: str) -> str:
    if span == "year":
        return str(said.replace(year=said.year + steps, day=1).year)
    if span == "month":
        return _month(said, steps, False)
    monday = said - timedelta(days=said.weekday()) + timedelta(weeks=steps)
    if span == "week":
        return f"week of {monday.isoformat()}"
    # Said on a Saturday or Sunday, "last weekend" may mean either one.
    if said.weekday() >= 5:
        return ""
    saturday = monday + timedelta(days=5)
    return f"{saturday.isoformat()} to {(saturday + timedelta(days=1)).isoformat()}"


def _chinese(match: re.Match[str], said: date) -> str:
    if match["day"]:
        return iso(said + timedelta(days=_OFFSETS[match["day"]]), True)
    if match["year"]:
        return f"{said.year + _YEARS_ZH[match['year']]}年"
    if match["month"]:
        return _month(said, {"上": -1, "下": 1}.get(match["month"], 0), True)
    if match["week"]:
        monday = said - timedelta(days=said.weekday()) + timedelta(weeks=_WEEKS_ZH[match["week"]])
        if match["weekday"] == "末":
            return f"{iso(monday + timedelta(days=5), True)}至{iso(monday + timedelta(days=6), True)}"
        if match["weekday"]:
            return iso(monday + timedelta(days=_DAYS_ZH[match["weekday"]]), True)
        return f"{iso(monday, True)}那周"
    unit = {"天": "day", "周": "week", "星期": "week", "月": "month", "年": "year"}[match["unit"]]
    return _before(said, _NUMBERS[match["count"]], unit, True)


def _before(said: date, count: int, unit: str, chinese: bool) -> str:
    if unit == "day":
        return iso(said - timedelta(days=count), chinese)
    if unit == "week":
        monday = said - timedelta(weeks=count, days=said.weekday())
        return f"{iso(monday, True)}那周" if chinese else f"week of {monday.isoformat()}"
    if unit == "month":
        return _month(said, -count, chinese)
    year = said.replace(year=said.year - count, day=1).year
    return f"{year}年" if chinese else str(year)


def _month(said: date, steps: int, chinese: bool) -> str:
    years, month = divmod(said.month - 1 + steps, 12)
    first = date(said.year + years, month + 1, 1)
    return f"{first.year}年{first.month}月" if chinese else f"{first.year}-{first.month:02}"
