"""Names in a question that half of the notes carry, and whose words the notes are.

In a conversation of two, a speaker's name pulls a question's vector towards every turn that says the name, while the
answer is nearly always *spoken by* that person. So such names are left out of what the dense leg is asked, and who is
named is told to the speaker leg.
"""

from __future__ import annotations

import re
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from amem.retrieval.entity import COMMON, SOME_SIZE, spans
from amem.text.scripts import is_cjk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from amem.retrieval.frequencies import Frequencies
    from amem.retrieval.reading import Reading
    from amem.storage import Session

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
