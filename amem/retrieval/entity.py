"""The entity leg: notes about the people, places and things that the question names."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from amem.retrieval.legs import Listed
from amem.text.scripts import CJK, is_cjk
from amem.text.stopwords import ENGLISH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.retrieval.frequencies import Frequencies
    from amem.retrieval.legs import Asked

#: A name that more notes than this carry picks out none of them, and walking its list would cost milliseconds.
_CROWD = 1_000
#: Nor does one that a quarter of a collection of some size carries: in a diary, its owner.
COMMON = 0.25
SOME_SIZE = 20
_LONGEST_NAME = 4
_LONGEST_CJK_NAME = 6
_MOST_WORDS = 100
_WORD = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+(?:[._\-+@'’/#][^\W_{CJK}]+)*(?:\+\+|#)?")
_CLITIC = re.compile(r"['’]s?$")


class EntityLeg:
    """Ranks notes by the summed rarity of the question's names they carry; abstains when all are commonplace."""

    name = "entity"

    def __init__(self, frequencies: Frequencies) -> None:
        self._frequencies = frequencies

    def ask(self, asked: Asked) -> Listed | None:
        """Candidates that carry any of the names, the rarest names first; None where no name picks notes out."""
        rarities = self._rarities(asked.reading.names)
        if not rarities:
            return None
        # One look-up takes all holders (few, as crowds are left out), so that the rarest name is never cut off.
        held = asked.session.text.holding(self.name, tuple(rarities), _CROWD * len(rarities), asked.gate.wanted)
        scored = [(sum(rarities[name] for name in names), key, names) for key, names in held]
        scored.sort(key=lambda each: (-each[0], -each[1]))
        best = scored[: asked.limit]
        return Listed(
            [key for _, key, _ in best],
            [score for score, _, _ in best],
            sum(rarities.values()),
            {key: names for _, key, names in best},
            ties_share=True,
        )

    def _rarities(self, counts: Mapping[str, int]) -> dict[str, float]:
        """The question's names that pick notes out, and how rare each is."""
        total = self._frequencies.total
        most = min(_CROWD, COMMON * total) if total > SOME_SIZE else total
        rare = {name: rarity(count, total) for name, count in counts.items() if count <= most}
        return {name: weight for name, weight in rare.items() if weight > 0}


def rarity(count: int, total: int) -> float:
    """Robertson and Sparck Jones's idf, floored at 0: a name that half of the notes carry says nothing."""
    return max(0.0, math.log((total - count + 0.5) / (count + 0.5)))


def spans(text: str) -> tuple[str, ...]:
    """Every run of the question's words that could be a name the collection knows, case-folded, longest first."""
    words = [_CLITIC.sub("", word) for word in _WORD.findall(text)][:_MOST_WORDS]
    found: dict[str, None] = {}
    for length in range(_LONGEST_NAME, 0, -1):
        for start in range(len(words) - length + 1):
            run = words[start : start + length]
            if length > 1 or run[0].casefold() not in ENGLISH:
                found[" ".join(run).casefold()] = None
    for word in words:
        found.update(dict.fromkeys(_cjk_spans(word)))
    return tuple(found)


def _cjk_spans(word: str) -> Sequence[str]:
    if not is_cjk(word):
        return ()
    longest = min(_LONGEST_CJK_NAME, len(word))
    return [word[start : start + length] for length in range(longest, 1, -1) for start in range(len(word) - length + 1)]
