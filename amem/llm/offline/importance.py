"""How much a note weighs, 0..1: by its kind, then by what it says about itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.llm.offline.lexicon import Sort
from amem.note import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.llm.offline.entities import Name
    from amem.llm.offline.reading import Reading

_BY_KIND = {
    Kind.CONSTRAINT: 0.85,
    Kind.DECISION: 0.78,
    Kind.PREFERENCE: 0.68,
    Kind.PROCEDURE: 0.66,
    Kind.CONFIG: 0.64,
    Kind.CODE: 0.58,
    Kind.FACT: 0.56,
    Kind.TOPIC: 0.55,
    Kind.ERROR: 0.55,
    Kind.EPISODE: 0.48,
    Kind.QUESTION: 0.3,
    Kind.CHITCHAT: 0.1,
}
_URGENT = re.compile(
    r"\b(?:important|remember|don't forget|allerg\w+|deadline|urgent|critical|crucial|emergency|password|birthday|"
    r"anniversary|surgery|passport|visa|died|pregnant|married|engaged|must|never)\b"
    r"|重要|记住|记得|务必|千万|别忘|紧急|过敏|截止|密码|生日|纪念日|手术|护照|签证|去世|怀孕|结婚|关键|急救",
    re.IGNORECASE,
)
_HEDGED = re.compile(
    r"\b(?:maybe|perhaps|might|not sure|i guess|possibly)\b|也许|可能|大概|说不定|不确定", re.IGNORECASE
)


def importance_of(reading: Reading, kind: Kind, names: Sequence[Name]) -> float:
    """0..1, two decimals. A constraint outweighs a decision, that a preference, and small talk weighs least."""
    value = _BY_KIND[kind]
    if kind in (Kind.CHITCHAT, Kind.QUESTION) and not names:
        return value
    urgent = len({match[0].casefold() for match in _URGENT.finditer(reading.text[:3000])})
    value += 0.05 * min(urgent, 2)
    if any(word.sort is Sort.NUMBER for word in reading.words):
        value += 0.02
    value += 0.01 * min(len(names), 3)
    if _HEDGED.search(reading.text):
        value -= 0.05
    if sum(1 for word in reading.words if word.sort >= Sort.COMMON) <= 1:
        value -= 0.08
    return round(min(1.0, max(0.05, value)), 2)
