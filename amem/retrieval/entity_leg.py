"""The people, places and things that a question names, and the notes about them."""

from __future__ import annotations

import math
import re
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from amem.language.scripts import CJK, ENGLISH, is_cjk
from amem.retrieval.legs import Listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from amem.retrieval.legs import Asked
    from amem.retrieval.question import Reading
    from amem.retrieval.words import Frequencies
    from amem.storage.store import Session


# The entity leg: notes about the people, places and things that the question names.

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


# Names in a question that half of the notes carry, and whose words the notes are.
#
# In a conversation of two, a speaker's name pulls a question's vector towards every turn that says the name, while
# the answer is nearly always *spoken by* that person. So such names are left out of what the dense leg is asked, and
# who is named is told to the speaker leg.

#: Words for parts in a chat, not names: "what did the user report" is no question about who said it.
_PARTS = frozenset({"user", "assistant", "system", "human", "ai", "bot", "agent", "tool"})
_SELF = re.compile(r"\b(?:I|[Mm]y|[Mm]e|[Mm]ine|[Mm]yself)\b|我(?!们)|本人")
_LETTER = re.compile(r"\w")
_LONGEST = 2_000


class Names:
    """Knows who speaks in a collection and how much; counted anew as `frequencies` are."""

    def __init__(
        self, frequencies: Frequencies, user: str, recognise: Callable[[str], tuple[str, ...]] | None = None
    ) -> None:
        self._frequencies, self._user = frequencies, user.casefold()
        self._recognise = recognise or spans
        self._lock = threading.Lock()
        self._counted: tuple[int, Mapping[str, int]] | None = None

    def read(self, session: Session, reading: Reading) -> Reading:
        """The reading with the names it holds, what the dense leg is asked, and the one speaker who is named."""
        speakers = self._speakers(session)
        # Names stand early in what is a question at all; in a whole page pasted they would be thousands.
        runs = self._recognise(reading.text[:_LONGEST])
        names = session.text.counts("entity", runs) if runs else {}
        named = self._named(speakers, reading.text, runs)
        common = self._common(names, speakers, runs)
        meaning = (without(reading.meaning or reading.text, common) if common else "") or reading.meaning
        return replace(reading, meaning=meaning, speaker=named, names=names)

    def _named(self, speakers: Mapping[str, int], text: str, runs: tuple[str, ...]) -> str | None:
        asked = set(runs)
        found = {who for who in speakers if who not in _PARTS and (who in asked or _first(who, speakers) in asked)}
        if self._user in speakers and _SELF.search(text):
            found.add(self._user)
        return found.pop() if len(found) == 1 else None

    def _common(self, names: Mapping[str, int], speakers: Mapping[str, int], runs: tuple[str, ...]) -> set[str]:
        total = self._frequencies.total
        if total <= SOME_SIZE or not runs:
            return set()
        counts = dict(names)
        for who, count in speakers.items():
            for name in {who, _first(who, speakers)} - _PARTS:
                counts[name] = max(counts.get(name, 0), count)
        return {name for name in runs if counts.get(name, 0) >= COMMON * total}

    def _speakers(self, session: Session) -> Mapping[str, int]:
        """How many notes each person said, by case-folded name."""
        stamp = self._frequencies.counted_at
        with self._lock:
            if self._counted is None or self._counted[0] != stamp:
                self._counted = stamp, session.notes.speakers()
            return self._counted[1]


def without(text: str, names: Iterable[str]) -> str:
    """The text without these names and their possessives; '' (ask the whole text) when no word would be left."""
    rest = text
    for name in sorted(names, key=len, reverse=True):
        pattern = re.escape(name) if is_cjk(name) else rf"\b{re.escape(name)}(?:['’]s?)?(?!\w)"
        rest = re.sub(pattern, " ", rest, flags=re.IGNORECASE)
    rest = " ".join(rest.split())
    return rest if _LETTER.search(rest) else ""


def _first(who: str, speakers: Mapping[str, int]) -> str:
    """The first name of a speaker with several, where no other speaker has it; else the whole name."""
    first = who.split(" ", 1)[0]
    return first if sum(each.split(" ", 1)[0] == first for each in speakers) == 1 else who
