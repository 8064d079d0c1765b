"""What may stand before an English statement and is no part of it: "By the way, last month ...", "I'm" for "I am"."""

from __future__ import annotations

import re

from amem.text.times import MONTHS

_MONTHS = "|".join(MONTHS)
_NAMED = rf"(?:{_MONTHS}|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
_DATED = (
    rf"(?:{_NAMED}(?: \d{{1,2}}(?:st|nd|rd|th)?)?(?:,? \d{{4}})?"
    rf"|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:{_MONTHS})(?:,? \d{{4}})?"
    r"|(?:19|20)\d\d(?:-\d\d(?:-\d\d)?)?)"
)
_LEAD = re.compile(
    r"(?:(?:so|well|oh|ok(?:ay)?|yes|yeah|no|hey|hi|also|and|but|then|btw|by the way|fyi|actually|anyway|finally|now"
    r"|nowadays|these days|currently|recently|today|as of (?:today|now)|at the moment|right now|good news|big news|news"
    r"|update|reminder|decision|note|remember|please (?:remember|note)|note that|remember that|guess what|in fact"
    r"|honestly|for the record|again|luckily|sadly|unfortunately|in the end|eventually|officially|personally"
    r"|scratch that|correction|(?:earlier )?this (?:week|month|year)|yesterday"
    r"|last (?:week|month|year|night|spring|summer|autumn|fall|winter)"
    r"|(?:back )?(?:in|since|on|from|until|as of) (?:early |late |mid-?)?"
    rf"{_DATED}(?: (?:to|until|till) {_DATED})?"
    r"|(?:since|as of) (?:yesterday|today|last (?:night|week|month|year)|this (?:morning|week|month|year))"
    r"|(?:\d+|an?|two|three|four|five|six|seven|eight|nine|ten) (?:day|week|month|year)s? ago)\b[,:!]?\s+)+",
    re.IGNORECASE,
)
_SHORT = tuple(
    (re.compile(pattern, re.IGNORECASE), full)
    for pattern, full in (
        (r"\bwon't\b", "will not"),
        (r"\bcan't\b|\bcannot\b", "can not"),
        (r"n't\b", " not"),
        (r"'m\b", " am"),
        (r"'re\b", " are"),
        (r"'ve\b", " have"),
        (r"'ll\b", " will"),
        (r"'d\b", " would"),
        (r"\b(he|she|it|that|who|name|what)'s\b", r"\1 is"),
    )
)


def expanded(text: str) -> str:
    """The clause with its short forms written out."""
    if "'" in text or "’" in text:
        text = text.replace("’", "'")
        for pattern, full in _SHORT:
            text = pattern.sub(full, text)
    return text


def without_lead(text: str) -> tuple[str, str]:
    """The clause without what leads into it, and that."""
    lead = _LEAD.match(text)
    return (text, "") if lead is None else (text[lead.end() :], lead[0])
