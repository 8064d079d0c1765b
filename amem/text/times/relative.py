"""Relative words of time ("yesterday", "上周五") resolved against the day they were said; never a guess."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import TYPE_CHECKING

from amem.text.times.numbers import SPELLED
from amem.text.times.spans import Named, Span, before, months_from, years_from

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_NUMBERS = SPELLED | {str(number): number for number in range(1, 100)} | {"a": 1, "an": 1, "a couple of": 2}
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
    rf"|(?<!\d)(?P<count>{_COUNT_ZH})个?(?P<unit>天|周|星期|月|年)(?P<ago>前|之前|以前)"
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

    def dated(match: re.Match[str], read: Callable[[re.Match[str], date], Span | None], chinese: bool) -> str:
        meant = _resolved(match, read, said)
        if meant is None:
            return match[0]
        return f"{match[0]}（{meant.written(True)}）" if chinese else f"{match[0]} ({meant.written(False)})"

    text = _ENGLISH.sub(lambda match: dated(match, _english, False), text)
    return _CHINESE.sub(lambda match: dated(match, _chinese, True), text)


def relative(text: str, said: date) -> Iterator[Named]:
    """Each relative word of time, without a span where it leaves the date open."""
    for pattern, read in ((_ENGLISH, _english), (_CHINESE, _chinese)):
        for match in pattern.finditer(text):
            yield Named(match.start(), match.end(), _resolved(match, read, said), relative=True)


def _resolved(match: re.Match[str], read: Callable[[re.Match[str], date], Span | None], said: date) -> Span | None:
    try:
        return read(match, said)
    except (OverflowError, ValueError):
        # "99 years ago" said in year 50 has no date to name.
        return None


def _english(match: re.Match[str], said: date) -> Span | None:
    if match["day"]:
        return Span(said + timedelta(days=_OFFSETS[match["day"].casefold()]), "day")
    if match["weekday"]:
        back = (said.weekday() - _DAYS.index(match["weekday"].casefold())) % 7 or 7
        return Span(said - timedelta(days=back), "day")
    if match["span"]:
        return _whole(said, {"last": -1, "this": 0, "next": 1}[match["which"].casefold()], match["span"].casefold())
    return before(said, _NUMBERS[match["count"].casefold()], match["unit"].casefold())


def _whole(said: date, steps: int, span: str) -> Span | None:
    if span == "year":
        return years_from(said, steps)
    if span == "month":
        return months_from(said, steps)
    monday = said - timedelta(days=said.weekday()) + timedelta(weeks=steps)
    if span == "week":
        return Span(monday, "week")
    # Said on a Saturday or Sunday, "last weekend" may mean either one.
    return None if said.weekday() >= 5 else Span(monday + timedelta(days=5), "weekend")


def _chinese(match: re.Match[str], said: date) -> Span | None:
    if match["day"]:
        return Span(said + timedelta(days=_OFFSETS[match["day"]]), "day")
    if match["year"]:
        return years_from(said, _YEARS_ZH[match["year"]])
    if match["month"]:
        return months_from(said, {"上": -1, "下": 1}.get(match["month"], 0))
    if match["week"]:
        monday = said - timedelta(days=said.weekday()) + timedelta(weeks=_WEEKS_ZH[match["week"]])
        if match["weekday"] == "末":
            return Span(monday + timedelta(days=5), "weekend")
        if match["weekday"]:
            return Span(monday + timedelta(days=_DAYS_ZH[match["weekday"]]), "day")
        return Span(monday, "week")
    unit = {"天": "day", "周": "week", "星期": "week", "月": "month", "年": "year"}[match["unit"]]
    return before(said, _NUMBERS[match["count"]], unit)
