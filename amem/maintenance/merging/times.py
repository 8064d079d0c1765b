"""When something is, taken out of a text in one form: it may stand at either end of a sentence and mean the same."""

from __future__ import annotations

import re

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = r"(?P<{0}>jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)(?:uary|ruary|ch|il|ust|ember|ober|tember)?"
_DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
_PATTERN = re.compile(
    r"(?:\b(?:on|at|in)\s+)?(?:"
    r"\b(?P<iso>\d{4}-\d{2}-\d{2})\b"
    rf"|\b(?:the\s+)?(?P<day1>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH.format('month1')}\b(?:,?\s+(?P<year1>\d{{4}}))?"
    rf"|\b{_MONTH.format('month2')}\.?\s+(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<year2>\d{{4}}))?"
    rf"|\b(?:(?<=in\s)|(?<=since\s)|(?<=until\s)){_MONTH.format('month3')}\b(?:\s+(?P<year3>\d{{4}}))?"
    r"|\b(?P<which>every|each|next|last|this)?\s*\b(?P<weekday>mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|satur|sun)day(?P<many>s?)\b"
    r"|\b(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?\s*(?P<half>am|pm|a\.m\.|p\.m\.)"
    r"|\b(?P<clock>\d{1,2}:\d{2})\b"
    r"|\b(?P<round>(?:every|each|this|next|last)\s+(?:morning|evening|night|afternoon|day|week|month|year|weekend))\b"
    r"|(?P<zh_year>\d{4}年)?(?P<zh_month>\d{1,2})月(?P<zh_day>\d{1,2})[日号]?"
    r"|(?P<zh_week>[每上下这本]?个?)(?:周|星期|礼拜)(?P<zh_weekday>[1-7日天])"
    r"|(?P<zh_clock>(?:凌晨|早上|上午|中午|下午|傍晚|晚上)?\d{1,2}点(?:半|\d{1,2}分)?)"
    r"|(?P<zh_round>每(?:天|晚|早|周|月|年)(?:早上|晚上|下午|上午)?)"
    r")"
)
#: Words whose meaning moves with the day on which they are said.
_MOVING = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|now|currently|ago|recently|lately|just|soon|this|last|next)\b"
    r"|今[天晚早晨日年]|明[天晚早日年]|昨[天晚日]|前天|后天|刚[才刚]?|现在|目前|最近|[上下这本](?:个|周|星期|礼拜|月)|去年"
)
_KINDS = ("date", "weekday", "clock", "round")


def take_out_times(text: str) -> tuple[str, tuple[tuple[str, ...], ...]]:
    """A folded text without its times, and these in their order: dates, weekdays, hours, rounds."""
    found: dict[str, list[str]] = {kind: [] for kind in _KINDS}

    def keep(match: re.Match[str]) -> str:
        kind, value = _time(match)
        found[kind].append(value)
        return " "

    bare = _PATTERN.sub(keep, text)
    return bare, tuple(tuple(found[kind]) for kind in _KINDS)


def moves_with_the_day(text: str) -> bool:
    """Whether a text says when by the day on which it is said ("yesterday", 今天)."""
    return _MOVING.search(text.casefold()) is not None


def _time(match: re.Match[str]) -> tuple[str, str]:
    part = match.groupdict()
    if part["iso"]:
        year, month, day = part["iso"].split("-")
        return "date", f"{year}-{int(month)}-{int(day)}"
    if month := part["month1"] or part["month2"]:
        day, year = part["day1"] or part["day2"], part["year1"] or part["year2"] or ""
        return "date", f"{year}-{_MONTHS.index(month[:3]) + 1}-{int(day)}"
    if part["month3"]:
        return "date", f"{part['year3'] or ''}-{_MONTHS.index(part['month3'][:3]) + 1}"
    if part["weekday"]:
        which = "every" if part["many"] or part["which"] in ("every", "each") else part["which"] or ""
        return "weekday", f"{which} {_DAYS.index(part['weekday'][:3]) + 1}".strip()
    if part["hour"]:
        hour = int(part["hour"]) % 12 + (12 if part["half"].startswith("p") else 0)
        return "clock", f"{hour}:{part['minute'] or '00'}"
    if part["clock"]:
        hours, minutes = part["clock"].split(":")
        return "clock", f"{int(hours)}:{minutes}"
    if part["zh_month"]:
        return "date", f"{(part['zh_year'] or '').rstrip('年')}-{int(part['zh_month'])}-{int(part['zh_day'])}"
    if part["zh_weekday"]:
        day = "7" if part["zh_weekday"] in "日天" else part["zh_weekday"]
        return "weekday", f"{part['zh_week'].removesuffix('个')} {day}".strip()
    if part["zh_clock"]:
        return "clock", part["zh_clock"]
    return "round", " ".join((part["round"] or part["zh_round"]).replace("each", "every").split())
