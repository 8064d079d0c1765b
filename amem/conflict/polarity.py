"""Whether a clause affirms or denies what it is about, read once, with opposites folded; ``likeness`` compares two.

"Not happy" is "unhappy" is "dissatisfied", 不喜欢 is 讨厌, "no longer smokes" is "gave up smoking": each is a pair of
opposites with a sign (``opposites.txt``), turned round by every word that denies (``DENIAL``, ``[denies]``), ends
(``[ends]``) or says that it is over (``[over]``). What has no opposite is affirmed or denied as a whole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.conflict.cues import DENYING, Cue, Mark
from amem.language.lexicon import Sort
from amem.language.sentence_parts import DENIAL, NO_MORE, without_idioms

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from amem.language.word_reading import Word


#: A "not" that stands last denies what a clause of its own would have said: "I opened a shop not / that long ago".
_LAST_NOT = re.compile(r"\bnot\W*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Polarity:
    """`negative`: the clause denies what it is about, or says that it is over; `ended`: a denial that says "no more".
    `poles`: its words with opposites, by the name of the pair, +1 or -1, turned round where they are denied."""

    negative: bool
    ended: bool
    poles: Mapping[str, int]


def of(
    text: str, at: int, words: Sequence[Word], marked: Sequence[Mark], found: Collection[Cue], *, without: bool
) -> Polarity:
    """The polarity of a clause that begins at `at`, with its `marked` words and all cues `found`.

    `without` tells that the word "without" opens it.
    """
    # 无锡 denies nothing; 没考上 does.
    whole = [
        Mark(word.start, word.end)
        for word in words
        if word.cjk and word.sort >= Sort.COMMON and len(word.text) > 1 and not _holds_opposite(word, marked)
    ]
    blanked = _blanked(without_idioms(text), at, [*marked, *whole])
    denials = (0 if _LAST_NOT.search(text) else len(DENIAL.findall(blanked))) + without
    denials += sum(1 for mark in marked if Cue.DENIES in mark.cues)
    denied = denials % 2 == 1
    return Polarity(
        negative=Cue.OVER in found or denied != (Cue.ENDS in found),
        ended=denied and NO_MORE.search(text) is not None,
        poles=_poles(text, at, marked, denials),
    )


def _holds_opposite(word: Word, marked: Iterable[Mark]) -> bool:
    """Whether a Chinese word is one with an opposite, behind its denial."""
    return word.text[0] in DENYING and any(mark.poles and mark.start == word.start + 1 for mark in marked)


def _blanked(text: str, at: int, marked: Iterable[Mark]) -> str:
    for mark in marked:
        if mark.start < at:
            continue
        text = text[: mark.start - at] + " " * (mark.end - mark.start) + text[mark.end - at :]
    return text


def _poles(text: str, at: int, marked: Sequence[Mark], denials: int) -> dict[str, int]:
    """Each pair's sign, turned by every negation but the one that the word is itself ("retired", 戒烟).

    "Can't stand it any more" is denied once: what is over is that it could be stood.
    """
    found: dict[str, int] = {}
    for mark in marked:
        if mark.poles:
            others = {cue for other in marked if other is not mark for cue in other.cues}
            denied = (denials - (Cue.DENIES in mark.cues)) % 2 == 1
            over = Cue.OVER in others and not DENIAL.search(text, max(0, mark.start - at), mark.end - at)
            turned = over or (denied != (Cue.ENDS in others))
            found |= {pair: -sign if turned else sign for pair, sign in mark.poles}
    return found
