"""What the embedding model can read of a question, and of a collection: how far nearness by meaning is to be trusted.

An English model puts Chinese texts somewhere, and near to each other, without knowing what they say. Its opinion on a
question counts for as much of the question as its vocabulary has words for: nearly nothing for a Chinese one, something
for a mixed one. Words, names, facts and times then carry the answer.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from amem.note import Status
from amem.protocols import Literate
from amem.storage import tables
from amem.text import written_in_cjk

if TYPE_CHECKING:
    from amem.protocols import Embedder
    from amem.storage import Session

#: Notes looked at, spread over the collection, and characters of each.
_SAMPLE = 200
_LONGEST = 200
#: Fewer notes say nothing yet of what a collection will be written in.
_LEAST = 5
_MOSTLY = 0.5
#: Fewer notes in another language are a quotation or two.
_SOME = 0.02
#: Notes that the model is tried on.
_TRIED = 20
#: Share of the collection that may change before its language is looked at again.
_DRIFT = 0.02

_NOTES = tables.notes
_SPAN = select(func.min(_NOTES.c.key), func.max(_NOTES.c.key))
_TEXTS = select(func.substr(_NOTES.c.content, 1, _LONGEST)).where(_NOTES.c.status == str(Status.ACTIVE))


# GLOB takes ranges of characters: kana, Han and hangul. Few notes that hold one are written in another script.
_HOLDS_CJK = _TEXTS.where(_NOTES.c.content.op("GLOB")("*[\u3041-\u9fff\uac00-\ud7af]*")).limit(_SAMPLE)


def written_in_other_script(session: Session) -> str:
    """The beginning of a note in Chinese, Japanese or Korean; '' where there is none. Looks at every note."""
    found = session.connection.execute(_HOLDS_CJK).scalars()
    return next((text for text in found if written_in_cjk(text)), "")


def dense_trust(embedder: Embedder, text: str) -> float:
    """What nearness by meaning is worth for this question, 0..1, a factor on the dense leg's weight.

    1 for ASCII text (at no cost), and for a model that cannot tell, as those on a server.
    """
    if text.isascii():
        return 1.0
    return embedder.knows(text) if isinstance(embedder, Literate) else 1.0


@dataclass(frozen=True, slots=True)
class Languages:
    """What a sample of a collection's notes is written in: `cjk` is the share in Chinese, Japanese or Korean, 0..1.

    `tried` are some of the latter. The same notes are looked at by every process.
    """

    notes: int
    cjk: float
    tried: tuple[str, ...]

    @property
    def mostly_cjk(self) -> bool:
        """Whether most notes are, and there are enough of them to tell."""
        return self.notes >= _LEAST and self.cjk > _MOSTLY

    def read_by(self, embedder: Embedder) -> bool:
        """Whether the model has words for most of what the collection is written in; may load it."""
        if not self.mostly_cjk:
            return True
        return sum(dense_trust(embedder, text) for text in self.tried) > _MOSTLY * len(self.tried)

    def foreign_to(self, question: str, embedder: Embedder) -> bool:
        """Whether some notes are in another script than the question, and the model cannot read one of the two."""
        if written_in_cjk(question):
            return self.cjk <= 1.0 - _SOME and dense_trust(embedder, question) < _MOSTLY
        if self.cjk < _SOME or not self.tried:
            return False
        return sum(dense_trust(embedder, text) for text in self.tried) < _MOSTLY * len(self.tried)


class LanguagesOf:
    """The languages of one collection, looked at anew when a fiftieth of it has changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counter = -1
        self._found = Languages(0, 0.0, ())

    def of(self, session: Session) -> Languages:
        """What the collection is written in."""
        counter = session.counter
        with self._lock:
            # A bulk write moves the counter once for many notes: the drift allowed is small beside the collection.
            if self._counter < 0 or abs(counter - self._counter) > _DRIFT * self._found.notes / 64:
                self._found, self._counter = _look(session), counter
            return self._found


def _look(session: Session) -> Languages:
    texts = _sample(session)
    cjk = [text for text in texts if written_in_cjk(text)]
    return Languages(session.notes.count(), len(cjk) / len(texts) if texts else 0.0, tuple(cjk[:_TRIED]))


def _sample(session: Session) -> list[str]:
    first, last = session.connection.execute(_SPAN).one()
    if first is None:
        return []
    step = max(1, (last - first) // _SAMPLE)
    spread = session.connection.execute(_TEXTS.where(_NOTES.c.key.in_(range(first, last + 1, step)))).scalars().all()
    # Where most of those keys are gone, any notes will do.
    return list(spread) or list(session.connection.execute(_TEXTS.limit(_SAMPLE)).scalars())
