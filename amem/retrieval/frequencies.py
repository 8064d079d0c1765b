"""How many notes hold each term, remembered between questions, and which terms of a question are worth asking for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.storage import Session

_REMEMBERED = 20_000
#: Above this many notes, a term that most of them hold is left out of the question: BM25 gives it no weight anyway.
_FEW_NOTES = 50
_MOST = 0.5
#: Ranking walks the list of every term, about two microseconds for each note in it. The commonest terms are left out
#: until the lists together are no longer than this share of the collection, or than so many notes, but for the two
#: rarest.
_WALKED = 0.03
_WALKED_ANYWAY = 2_000
_ENOUGH_RARE = 2
#: Share of the collection that may change before everything is counted anew.
_DRIFT = 0.02


class Frequencies:
    """Document frequencies of one collection, kept because counting a common term walks its whole list.

    Call `follow` before the first of a question's look-ups.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: OrderedDict[str, int] = OrderedDict()
        #: How many notes there are (not deleted), as last counted.
        self.total = 0
        #: The change counter it was counted at.
        self.counted_at = -1

    def follow(self, session: Session) -> None:
        """Count anew when the collection has changed by more than a fiftieth since."""
        counter = session.counter
        with self._lock:
            # A bulk write moves the counter once for many notes, so the drift allowed is small beside the collection.
            if self.counted_at < 0 or abs(counter - self.counted_at) > _DRIFT * self.total / 64:
                self._held.clear()
                self.total = session.text.total
                self.counted_at = counter

    def of(self, session: Session, terms: Sequence[str]) -> dict[str, int]:
        """For each index term how many notes held it when last counted."""
        with self._lock:
            unknown = [term for term in terms if term not in self._held]
            counted = session.text.document_frequency(unknown) if unknown else {}
            # A term nobody holds is not remembered: the next note may hold it, and has to be found at once.
            self._held.update({term: count for term, count in counted.items() if count})
            found = {term: self._held.get(term, 0) for term in terms}
            for term in found.keys() & self._held.keys():
                self._held.move_to_end(term)
            while len(self._held) > _REMEMBERED:
                self._held.popitem(last=False)
            return found


def telling(frequencies: Mapping[str, int], total: int) -> list[str]:
    """The terms worth asking for, in order: those held by some note but not by most; the rarest one in any case.

    In a large collection the commonest are left out too, as far as two rarer ones remain, to bound what ranking costs.
    """
    held = [term for term, count in frequencies.items() if count]
    if total <= _FEW_NOTES:
        return held
    rarest_first = sorted(held, key=lambda term: frequencies[term])
    kept = {term for term in rarest_first if frequencies[term] <= _MOST * total} or set(rarest_first[:1])
    kept &= set(_affordable(rarest_first, frequencies, max(_WALKED_ANYWAY, _WALKED * total)))
    return [term for term in held if term in kept]


def _affordable(rarest_first: Sequence[str], frequencies: Mapping[str, int], budget: float) -> list[str]:
    taken: list[str] = []
    for term in rarest_first:
        budget -= frequencies[term]
        if budget < 0 and len(taken) >= _ENOUGH_RARE:
            break
        taken.append(term)
    return taken
