"""Words of time resolved against the day they were said (festivals, seasons, relative words), and days in a row."""

from __future__ import annotations

from bisect import bisect_left
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import TYPE_CHECKING

from amem.language.numerals import SPELLED, WEEKDAYS, weekday_number
from amem.language.scripts import Patterns, read_list

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Iterator, Mapping

#: Which one after the present year, week, month or quarter a word means; a year by itself or with its 年.
STEPS = {"last": -1, "previous": -1, "this": 0, "current": 0, "next": 1}
STEPS |= {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
STEPS |= {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}
#: In a regular expression: the words that name a year by the present one, and those before a week, month or quarter.
WHICH_YEAR, WHICH = "大前年|前年|去年|今年|明年|后年", "上上|下下|[上下这本]"

#: Days of the units that are counted in days; months and years are counted by the calendar.
_DAYS = {"day": 1, "weekend": 2, "week": 7}


@dataclass(frozen=True, slots=True)
class Span:
    """`count` days, weekends, weeks, months or years (`unit`) in a row, the first of which begins with `first`."""

    first: date
    unit: str
    count: int = 1

    @property
    def last(self) -> date:
        """Its last day. Raises OverflowError or ValueError at the end of the calendar."""
        if self.unit in _DAYS:
            return self.first + timedelta(days=_DAYS[self.unit] * self.count - 1)
        months = self.count * (12 if self.unit == "year" else 1)
        final = months_from(self.first, months - 1).first
        return final.replace(day=monthrange(final.year, final.month)[1])

    def written(self, chinese: bool) -> str:
        """The span as a note's context writes it."""
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


@dataclass(frozen=True, slots=True)
class Named:
    """A time that a text names: where it stands, which days it means (None: none that can be told), and how.

    `bare` is one whose year is left out ("in May"); `relative` one that is reckoned from the day it was said
    ("yesterday"), so that another text may mean another day by the same words.
    """

    start: int
    end: int
    span: Span | None
    bare: bool = False
    relative: bool = False


def iso(day: date, chinese: bool) -> str:
    """The day as a note's context writes it."""
    return f"{day.year}年{day.month}月{day.day}日" if chinese else day.isoformat()


def months_from(day: date, steps: int) -> Span:
    """The month so many after that of `day`. Raises ValueError or OverflowError without such."""
    years, month = divmod(day.month - 1 + steps, 12)
    return Span(date(day.year + years, month + 1, 1), "month")


def years_from(day: date, steps: int) -> Span:
    """The year so many after that of `day`. Raises ValueError or OverflowError without such."""
    return Span(date(day.year + steps, 1, 1), "year")


def same_day(day: date, months: int) -> date:
    """The same day so many months later, or the last of a shorter month. Raises ValueError or OverflowError."""
    month = months_from(day, months)
    return min(month.last, month.first + timedelta(days=day.day - 1))


def before(said: date, count: int, unit: str) -> Span:
    """The day, week, month or year so many before that of `said`. Raises OverflowError or ValueError without such."""
    if unit == "day":
        return Span(said - timedelta(days=count), "day")
    if unit == "week":
        return Span(said - timedelta(weeks=count, days=said.weekday()), "week")
    return months_from(said, -count) if unit == "month" else years_from(said, -count)


def month_of(today: date, month: int, day: int, years_back: int | None) -> Span:
    """A month, or with `day` a day of it, named without its year: the most recent that has begun; else of that year.

    Raises ValueError for one that the calendar does not have.
    """
    first = date(today.year - (years_back or 0), month, day or 1)
    if years_back is None and first > today:
        first = first.replace(year=first.year - 1)
    return Span(first, "day" if day else "month")


def weekday_of(today: date, weekday: int) -> Span:
    """A weekday (Monday is 0) named alone by somebody who tells what was: the most recent one."""
    return Span(today - timedelta(days=(today.weekday() - weekday) % 7), "day")


def longest(named: Iterable[Named]) -> list[Named]:
    """In order; of two that overlap ("3 May 2024", "May 2024") only the longer."""
    kept: list[Named] = []
    starts: list[int] = []
    for each in sorted(named, key=lambda each: each.start - each.end):
        at = bisect_left(starts, each.start)
        after_one = at == 0 or kept[at - 1].end <= each.start
        if after_one and (at == len(kept) or each.end <= kept[at].start):
            kept.insert(at, each)
            starts.insert(at, each.start)
    return kept


# Festivals that times are named by: "over Christmas", 今年春节.


def _fixed(month: int, day: int, days: int = 1) -> Callable[[int], Span]:
    return lambda year: Span(date(year, month, day), "day", days)


def _lunar(which: int, before: int, days: int) -> Callable[[int], Span]:
    return lambda year: Span(_chinese_calendar()[year][which] - timedelta(days=before), "day", days)


def _thanksgiving(year: int) -> Span:
    first = date(year, 11, 1)
    return Span(first + timedelta(days=(3 - first.weekday()) % 7 + 21), "day", 4)


def _easter(year: int) -> Span:
    """Good Friday to Easter Monday. The anonymous Gregorian computus (Meeus, Astronomical Algorithms, ch. 8)."""
    century, rest = divmod(year, 100)
    epact = (19 * (year % 19) + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    weekday = (32 + 2 * (century % 4) + 2 * (rest // 4) - epact - rest % 4) % 7
    late = (year % 19 + 11 * epact + 22 * weekday) // 451
    month, day = divmod(epact + weekday - 7 * late + 114, 31)
    return Span(date(year, month, day + 1) - timedelta(days=2), "day", 4)


_RULES: Mapping[str, Callable[..., Callable[[int], Span]]] = {
    "fixed": _fixed,
    "lunar": _lunar,
    "good_friday": lambda: lambda year: Span(_easter(year).first, "day"),
    "thanksgiving": lambda: _thanksgiving,
    "easter": lambda: _easter,
}
_FESTIVALS: dict[str, Callable[[int], Span]] = {}
#: Days from the first of its holiday to the festival itself: "Christmas Day", 春节那天.
_ITSELF: dict[str, int] = {}
for _section, _line in read_list("festivals.txt"):
    if _section == "named":
        _name, _, _how = _line.partition(": ")
        _rule, _, _itself = _how.partition(" | ")
        _FESTIVALS[_name] = _RULES[_rule.split()[0]](*map(int, _rule.split()[1:]))
        _ITSELF[_name] = int(_itself or 0)
_LATIN = "|".join(name.replace("'", "['’]?") for name in _FESTIVALS if name.isascii())
_HAN = "|".join(name for name in _FESTIVALS if not name.isascii())


_pattern = Patterns(
    "times/relative",
    **{"festivals": _LATIN, "festivals_zh": _HAN, "weekdays": "|".join(WEEKDAYS)},
    **{"which": WHICH, "which_year": WHICH_YEAR},
)


def festivals(text: str, today: date) -> Iterator[Named]:
    """Each festival that is named as a time; one without a year is the most recent that has begun."""
    for match in _pattern.english_festivals.finditer(text):
        named = match["festival"].casefold().replace("’", "'")
        name = next(each for each in _FESTIVALS if each.replace("'", "") == named.replace("'", ""))
        which = (match["which"] or "").casefold()
        start = match.start("which") if which else match.start("festival")
        yield _named(match, start, name, which, today)
    for match in _pattern.chinese_festivals.finditer(text):
        told = match["year"] or match["which"] or match["itself"] or match["after"]
        if told or match["festival"].startswith("大年") or match["festival"].endswith(("假", "期")):
            yield _named(match, match.start(), match["festival"], match["which"] or "", today)


def _named(match: re.Match[str], start: int, name: str, which: str, today: date) -> Named:
    bare = not match["year"] and not which
    try:
        of = _FESTIVALS[name]
        if match["itself"] or match.groupdict().get("day_of"):
            of = _day_itself(of, _ITSELF[name])
        if match["year"]:
            span = of(int(match["year"]))
        elif which.endswith("年"):
            span = of(today.year + STEPS[which])
        else:
            span = of(today.year)
            begun = span.last < today if which in ("last", "上", "上个") else span.first <= today
            span = span if begun else of(today.year - 1)
    except (KeyError, ValueError, OverflowError):
        return Named(start, match.end(), None)
    return Named(start, match.end(), span, bare=bare, relative=bool(which))


def _day_itself(of: Callable[[int], Span], later: int) -> Callable[[int], Span]:
    return lambda year: Span(of(year).first + timedelta(days=later), "day")


@cache
def _chinese_calendar() -> Mapping[int, tuple[date, ...]]:
    """By year, when its first month begins, and when the Dragon Boat and the Mid-Autumn Festival are."""
    rows = (line.split() for section, line in read_list("festivals.txt") if section == "lunar")
    return {int(year): tuple(date(int(year), int(day[:2]), int(day[2:])) for day in days) for year, *days in rows}


# Seasons, by the northern calendar: spring is March to May.

_FIRST_MONTH = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12, "春": 3, "夏": 6, "秋": 9, "冬": 12}


def seasons(text: str, today: date) -> Iterator[Named]:
    """Each season that is named as a time: "last summer", "in the winter of 2022", 去年夏天.

    "Last summer" is the most recent that is over, one without a year the most recent that has begun.
    """
    for pattern in (_pattern.english_seasons, _pattern.chinese_seasons):
        for match in pattern.finditer(text):
            month = _FIRST_MONTH[match["season"].casefold()]
            which = (match["which"] or "").casefold()
            if match["year"]:
                start = match.start("season") if pattern is _pattern.english_seasons else match.start()
                yield _season(match, start, int(match["year"]), month)
            elif pattern is _pattern.english_seasons and which:
                yield _season(match, match.start("which"), _year(today, month, which), month, relative=True)
            elif pattern is _pattern.chinese_seasons and which:
                yield _season(match, match.start(), _year(today, month, which), month, relative=True)
            elif _is_a_time(match, pattern is _pattern.english_seasons):
                yield _season(match, match.start("season"), _year(today, month, ""), month, bare=True)


def _is_a_time(match: re.Match[str], english: bool) -> bool:
    """Whether a season alone is when something was, not what it was about; in English a fall may be an accident."""
    if english:
        return match.start() < match.start("season") and match["season"].casefold() != "fall"
    return match["after"] is not None


def _year(today: date, month: int, which: str) -> int:
    """The year in which that season begins."""
    begun = today.year if date(today.year, month, 1) <= today else today.year - 1
    if which in ("last", "past", "上", "上个"):
        ends_in = begun + (month == 12)
        over = (ends_in, (month + 2) % 12) < (today.year, today.month)
        return begun if over else begun - 1
    if which.endswith("年"):
        return today.year + STEPS[which]
    return begun + 1 if which == "next" else begun


def _season(
    match: re.Match[str], start: int, year: int, month: int, *, bare: bool = False, relative: bool = False
) -> Named:
    end = match.end("year") if match["year"] and match.end("year") > match.end("season") else match.end("season")
    end += match.re is _pattern.chinese_seasons
    try:
        return Named(start, end, Span(date(year, month, 1), "month", 3), bare=bare, relative=relative)
    except ValueError:
        return Named(start, end, None)


# Relative words of time ("yesterday", "上周五") resolved against the day they were said; never a guess.

_NUMBERS = SPELLED | {"a": 1, "an": 1, "a couple of": 2}
#: Each of what it finds holds one of these.
MARKS = ("yesterday", "tomorrow", "last ", "before last", " ago", "this ", "next ")
#: Words for a day, in days from the one they are said on.
_OFFSETS = {
    "the day before yesterday": -2,
    "yesterday": -1,
    "last night": -1,
    "tomorrow": 1,
    "the day after tomorrow": 2,
}
_OFFSETS |= {"大前天": -3, "前天": -2, "昨天": -1, "昨晚": -1, "昨夜": -1}
_OFFSETS |= {"明天": 1, "明早": 1, "明晚": 1, "后天": 2, "大后天": 3}


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

    text = _pattern.english.sub(lambda match: dated(match, _english, False), text)
    return _pattern.chinese.sub(lambda match: dated(match, _chinese, True), text)


def relative(text: str, said: date) -> Iterator[Named]:
    """Each relative word of time, without a span where it leaves the date open."""
    if text.isascii() and not holds(text, MARKS):
        return
    for pattern, read in ((_pattern.english, _english), (_pattern.chinese, _chinese))[: 1 if text.isascii() else 2]:
        for match in pattern.finditer(text):
            yield Named(match.start(), match.end(), _resolved(match, read, said), relative=True)


def holds(text: str, marks: Iterable[str]) -> bool:
    """Whether any of these lower-case pieces stands in an ASCII text, sooner seen than by a regular expression."""
    return any(map(text.lower().__contains__, marks))


def _resolved(match: re.Match[str], read: Callable[[re.Match[str], date], Span | None], said: date) -> Span | None:
    try:
        return read(match, said)
    except (OverflowError, ValueError):
        # "99 years ago" said in year 50 has no date to name.
        return None


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else _NUMBERS[text]


def _english(match: re.Match[str], said: date) -> Span | None:
    if match["day"]:
        return Span(said + timedelta(days=_OFFSETS[match["day"].casefold()]), "day")
    if match["weekday"]:
        back = (said.weekday() - weekday_number(match["weekday"])) % 7 or 7
        return Span(said - timedelta(days=back), "day")
    if match["span"]:
        return _whole(said, STEPS[match["which"].casefold()], match["span"].casefold())
    if match["before_last"]:
        return _whole(said, -2, match["before_last"].casefold())
    return before(said, _number(match["count"].casefold()), match["unit"].casefold())


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
        return years_from(said, STEPS[match["year"]])
    if match["month"]:
        return months_from(said, STEPS[match["month"]])
    if match["week"]:
        monday = said - timedelta(days=said.weekday()) + timedelta(weeks=STEPS[match["week"]])
        if match["weekday"] == "末":
            return Span(monday + timedelta(days=5), "weekend")
        if match["weekday"]:
            return Span(monday + timedelta(days=weekday_number(match["weekday"])), "day")
        return Span(monday, "week")
    unit = {"天": "day", "周": "week", "星期": "week", "月": "month", "年": "year"}[match["unit"]]
    return before(said, _number(match["count"]), unit)
