"""Sometimes, or only somewhere: "I don't like jazz in the morning" says nothing against jazz at night."""

from __future__ import annotations

import re

_SOMETIMES = re.compile(
    r"\b(?:in the (?:morning|evening|afternoon)|at (?:night|work|home|school)|on (?:\w+days|weekends)"
    r"|during the (?:week|day)|for (?:breakfast|lunch|dinner))\b"
    r"|早上|晚上|周末|平时|工作日|周[一二三四五六日]|在(?:公司|家里)",
    re.IGNORECASE,
)


_ONE_TIME = re.compile(
    r"\b(?:this|next|today|tonight|tomorrow)(?: \w+)?['’]s\b|\bthis (?:time|week|once)\b(?! on)"
    r"|[这本今明下][次周天晚回](?!起|开始)",
    re.IGNORECASE,
)
_EVERY_TIME = re.compile(
    r"\b(?:every|each|weekly|monthly|daily)\b|\bon \w+days\b|每|周[一二三四五六日天]", re.IGNORECASE
)


def only_once(earlier: str, later: str) -> bool:
    """Whether the later text is of one time of what the earlier says is so every time: "this Monday's is cancelled"."""
    return _EVERY_TIME.search(earlier) is not None and _ONE_TIME.search(later) is not None


def only_sometimes(earlier: str, later: str) -> bool:
    """Whether the later text is of a time or place that the earlier one does not name."""
    named = {match[0].casefold() for match in _SOMETIMES.finditer(earlier)}
    return any(match[0].casefold() not in named for match in _SOMETIMES.finditer(later))
