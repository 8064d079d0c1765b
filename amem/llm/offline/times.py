"""Relative words of time ("yesterday", "上周五") resolved against the day they were said; never a guess."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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


@dataclass(frozen=True, slots=True)
class Period:
    """The day, week, weekend, month or year (`unit`) that begins with `first`."""

    first: date
    unit: str

    @property
    def last(self) -> date:
        """Its last day. Raises OverflowError at the end of the calendar."""
        if self.unit == "month":
            return (self.first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
        if self.unit == "year":
            return self.first.replace(month=12, day=31)
        return self.first + timedelta(days={"week": 6, "weekend": 1}.get(self.unit, 0))

    def written(self, chinese: bool) -> str:
        """The period as a note's context writes it."""
        if self.unit == "year":
            return f"{self.first.year}年" if chinese else str(self.first.year)
        if self.unit == "month":
            year, month = self.first.year, self.first.month
            return f"{year}年{month}月" if chinese else f"{year}-{month:02}"
        if self.unit == "week":
            return f"{iso(self.first, True)}那周" if chinese else f"week of {self.first.isoformat()}"
        if self.unit == "weekend":
            first, last = iso(self.first, chinese), iso(self.last, chinese)
            return f"{first}至{last}" if chinese else f"{first} to {last}"
        return iso(self.first, chinese)


def with_dates(text: str, said: date | None) -> str:
    """`text` with the date behind each relative word it means: "yesterday (2023-05-07)", "上周五（2026年2月27日）".

    Words that leave the date open ("next Friday", "soon", "on Monday") stay alone, so do "today" and the like, which
    mean the note's own date, and all of a text whose own date is unknown.
    """
    if said is None:
        return text

    def dated(match: re.Match[str], read: Callable[[re.Match[str], date], Period | None], chinese: bool) -> str:
        meant = _resolved(match, read, said)
        if meant is None:
            return match[0]
        return f"{match[0]}（{meant.written(True)}）" if chinese else f"{match[0]} ({meant.written(False)})"

    text = _ENGLISH.sub(lambda match: dated(match, _english, False), text)
    return _CHINESE.sub(lambda match: dated(match, _chinese, True), text)


def relative(text: str, said: date) -> Iterator[tuple[int, int, Period | None]]:
    """(start, end, period) of each relative word of time; None where it leaves the date open."""
    for pattern, read in ((_ENGLISH, _english), (_CHINESE, _chinese)):
        for match in pattern.finditer(text):
            yield match.start(), match.end(), _resolved(match, read, said)


def iso(day: date, chinese: bool) -> str:
    """The day as a note's context writes it."""
    return f"{day.year}年{day.month}月{day.day}日" if chinese else day.isoformat()


def _resolved(match: re.Match[str], read: Callable[[re.Match[str], date], Period | None], said: date) -> Period | None:
    try:
        return read(match, said)
    except (OverflowError, ValueError):
        # "99 years ago" said in year 50 has no date to name.
        return None


def _english(match: re.Match[str], said: date) -> Period | None:
    if match["day"]:
        return Period(said + timedelta(days=_OFFSETS[match["day"].casefold()]), "day")
    if match["weekday"]:
        back = (said.weekday() - _DAYS.index(match["weekday"].casefold())) % 7 or 7
        return Period(said - timedelta(days=back), "day")
    if match["span"]:
        return _span(said, {"last": -1, "this": 0, "next": 1}[match["which"].casefold()], match["span"].casefold())
    return before(said, _NUMBERS[match["count"].casefold()], match["unit"].casefold())


def _span(said: date, steps: int, span: str) -> Period | None:
    if span == "year":
        return _year(said, steps)
    if span == "month":
        return _month(said, steps)
    monday = said - timedelta(days=said.weekday()) + timedelta(weeks=steps)
    if span == "week":
        return Period(monday, "week")
    # Said on a Saturday or Sunday, "last weekend" may mean either one.
    return None if said.weekday() >= 5 else Period(monday + timedelta(days=5), "weekend")


def _chinese(match: re.Match[str], said: date) -> Period | None:
    if match["day"]:
        return Period(said + timedelta(days=_OFFSETS[match["day"]]), "day")
    if match["year"]:
        return _year(said, _YEARS_ZH[match["year"]])
    if match["month"]:
        return _month(said, {"上": -1, "下": 1}.get(match["month"], 0))
    if match["week"]:
        monday = said - timedelta(days=said.weekday()) + timedelta(weeks=_WEEKS_ZH[match["week"]])
        if match["weekday"] == "末":
            return Period(monday + timedelta(days=5), "weekend")
        if match["weekday"]:
            return Period(monday + timedelta(days=_DAYS_ZH[match["weekday"]]), "day")
        return Period(monday, "week")
    unit = {"天": "day", "周": "week", "星期": "week", "月": "month", "年": "year"}[match["unit"]]
    return before(said, _NUMBERS[match["count"]], unit)


def before(said: date, count: int, unit: str) -> Period:
    """The day, week, month or year so many before that of `said`. Raises OverflowError or ValueError without such."""
    if unit == "day":
        return Period(said - timedelta(days=count), "day")
    if unit == "week":
        return Period(said - timedelta(weeks=count, days=said.weekday()), "week")
    return _month(said, -count) if unit == "month" else _year(said, -count)


def _month(said: date, steps: int) -> Period:
    years, month = divmod(said.month - 1 + steps, 12)
    return Period(date(said.year + years, month + 1, 1), "month")


def _year(said: date, steps: int) -> Period:
    return Period(date(said.year + steps, 1, 1), "year")


def month_of(today: date, month: int, day: int, years_back: int | None) -> Period:
    """A month, or with `day` a day of it, named without its year: the most recent that has begun; else of that year.

    Raises ValueError for one that the calendar does not have.
    """
    first = date(today.year - (years_back or 0), month, day or 1)
    if years_back is None and first > today:
        first = first.replace(year=first.year - 1)
    return Period(first, "day" if day else "month")


def weekday_of(today: date, weekday: int) -> Period:
    """A weekday (Monday is 0) named alone by somebody who tells what was: the most recent one."""
    return Period(today - timedelta(days=(today.weekday() - weekday) % 7), "day")
