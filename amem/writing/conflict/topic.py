"""What a clause is about: its telling words, each with its weight, and which of them are names."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from amem.llm.offline.entities import names
from amem.llm.offline.lexicon import Sort, lexicon
from amem.llm.offline.reading import Word
from amem.text.stopwords import words as words_of
from amem.writing.conflict import values
from amem.writing.conflict.cues import Cue
from amem.writing.conflict.people import kin
from amem.writing.conflict.words import chinese_names, concepts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.llm.offline.reading import Reading
    from amem.writing.conflict.cues import Mark

#: What a word weighs in what a clause is about: verbs and adjectives of every day say little of it.
_WEIGHT = {Sort.WEAK: 0.5, Sort.COMMON: 1.0, Sort.CONTENT: 1.0}
#: A Chinese word of one character is half a word as often as not.
_LIGHT = 0.5
#: Words that the lexicon takes for code; "my return flight" is another than "my flight".
_HALF_CODE = frozenset({"return", "import"})
#: They tell two things of one name apart.
_WHICH = frozenset({"old", "new", "right", "upper", "lower", "front", "spare", "other", "旧", "新", "老"})
_AFTER_NAME = words_of(
    "is was has had does did will can isn't wasn't hasn't doesn't didn't won't can't and lives works likes loves hates"
)
#: Nobody in particular, and how much: neither tells what a clause is about.
_ANYBODY = words_of(
    "everybodi everyon everyth somebodi someon anybodi anyon peopl end bit lot littl 人 口 遍 丝 下 点儿 临时 一直"
)
#: "v2" is a value, as 2 is.
_NUMBERED = re.compile(r"v?\d[\d.]*")


def words_in(reading: Reading) -> list[Word]:
    """The text's words, with names that the lists know ("飞书") kept whole."""
    known = list(chinese_names(reading.text)) if not reading.text.isascii() else []
    if not known:
        return list(reading.words)
    words = [word for word in reading.words if not any(start < word.end and word.start < end for start, end in known)]
    for start, end in known:
        text = reading.text[start:end]
        words.append(Word(text, start, end, text, lexicon().chinese.get(text, Sort.CONTENT), cjk=True))
    return sorted(words, key=lambda word: word.start)


def named_in(reading: Reading, words: Sequence[Word]) -> dict[str, str]:
    """What is a name among the words' keys, with the name in full."""
    found = {key: word.text for word in words if word.person for key in concepts(word.key)}
    for word, following in pairwise(words):
        # "Nils doesn't": a capital, no word that anybody knows, and no "Rewrote".
        begins = not word.first or following.text.casefold() in _AFTER_NAME or following.verb
        if word.capital and not word.known and not word.cjk and begins:
            found[word.key] = word.text
    for name in names(reading):
        inside = [word for word in words if name.start <= word.start < name.end and word.sort >= Sort.WEAK]
        if not name.date:
            found |= {key: name.text for word in inside for key in concepts(word.key)}
    return found


def about(text: str, at: int, words: Sequence[Word], marked: Sequence[Mark]) -> tuple[dict[str, float], list[Word]]:
    """The weight of each telling word of a clause that begins at `at`, and the words that are left to tell anything."""
    # 七点开场 holds an hour, and no word 点开.
    taken = [] if text.isascii() else [(at + begin, at + end) for begin, end in values.places(text)]
    told = [
        word
        for word in words
        if not (word.cjk and any(begin < word.end and word.start < end for begin, end in taken))
        and not any(mark.start < word.end and word.start < mark.end and _is_used(mark) for mark in marked)
    ]
    found: dict[str, float] = {}
    for word in told:
        if (weight := _weight(word)) and word.key not in _ANYBODY and not _NUMBERED.fullmatch(word.key):
            for key in kin(word) or concepts(_bare(word)):
                half = word.cjk and len(word.text) == 1 and key == word.key
                found[key] = max(_LIGHT if half else weight, found.get(key, 0.0))
    return found, told


def _weight(word: Word) -> float:
    if word.key in _HALF_CODE:
        return _LIGHT
    return 1.0 if word.key in _WHICH else _WEIGHT.get(word.sort, 0.0)


def _bare(word: Word) -> str:
    """A word's key, without what only says where a Chinese verb went: 寄出去, 寄出."""
    return word.key[:-1] if word.cjk and len(word.key) > 2 and word.key[-1] in "去来了" else word.key


def _is_used(mark: Mark) -> bool:
    return Cue.NOTHING not in mark.cues and (bool(mark.poles) or bool(mark.cues - {Cue.FOREVER}))
