"""One question, one answer with numbered citations; or the plain word that memory does not hold it."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from amem.clock import Clock, zone
from amem.conversation.context_window import Shares
from amem.conversation.extractive import NAMES_NO_MODEL, extract
from amem.conversation.messages import check_asked
from amem.conversation.prompt import Attribution, attributed, attribution_of, tellers
from amem.conversation.reply import lines_for
from amem.errors import AmemError
from amem.language.terms import tokens
from amem.llm.answering import MOST_NOTES, NOTE_WORDS, Answerer, Orderer
from amem.llm.prompts import first_words
from amem.query import Query
from amem.rendering import text_of
from amem.retrieval.confidence import Support, best_support
from amem.retrieval.explanation import ordinal
from amem.retrieval.question import asks_for_several
from amem.storage.usage import Uses

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from amem.conversation.ports import Memory
    from amem.retrieval.hit import Hit
    from amem.storage.store import Store


_log = logging.getLogger(__name__)

#: Notes that an answer is made from where nobody says how many.
_FOR_ONE, _FOR_SEVERAL = 8, 16


@dataclass(frozen=True, slots=True)
class Citation:
    """Note `note`, as `line`, stood as number `number` (from 1) before the model, or is the n-th that an answer without
    one mentions, and the answer rests on it.

    `catalog` names the catalog that the note is in, '' for one of the memory's own; `at` and `text` are the note's time
    and its words, with marks at what holds no longer.
    """

    number: int
    note: str
    line: str
    catalog: str = ""
    at: datetime | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """`in_memory` is True when the answer rests on notes; False when memory holds none, and `text` says that;
    None when nothing is certain and `text` quotes what comes nearest. `support` says how well the hits support an
    answer, and `confidence` (0..1) how sure the surest of them is.

    Where no model answered, `model` is '' and the text is taken from the notes as they are; had one been named, `error`
    says what became of it, and `hint` what to do. `hits` are there in any case. What the text cites as ``[n]`` is the
    citation of that number: hit number n in the answer of a model, else the n-th note that the text mentions, which may
    be none of the hits. `notes` are remarks on how they were found.
    """

    question: str
    text: str
    citations: tuple[Citation, ...]
    in_memory: bool | None
    hits: tuple[Hit, ...]
    model: str = ""
    error: str = ""
    hint: str = ""
    notes: tuple[str, ...] = ()
    support: Support = Support.NONE

    @property
    def confidence(self) -> float:
        """That of the surest hit; 0 without one."""
        return max((hit.confidence for hit in self.hits), default=0.0)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "question": self.question,
            "answer": self.text,
            "in_memory": self.in_memory,
            "support": str(self.support),
            "confidence": self.confidence,
            "citations": [
                {"number": each.number, "id": each.note, "line": each.line, "catalog": each.catalog}
                for each in self.citations
            ],
            "model": self.model,
            "error": self.error,
            "hint": self.hint,
            "notes": list(self.notes),
            "hits": [hit.to_dict() for hit in self.hits],
        }


def _moved(hit: Hit, place: int, now: int, name: str) -> Hit:
    """The hit, with where it stood before: its score is that of the search, which no longer says its place."""
    note = f"put {ordinal(now + 1)} by {name}, {ordinal(place + 1)} before"
    return replace(hit, explanation=replace(hit.explanation, notes=(*hit.explanation.notes, note)))


def _remarks(question: str, hits: Sequence[Hit], support: Support) -> tuple[str, ...]:
    """What there is to say of how the hits of a question were found."""
    reading = hits[0].explanation.reading
    if support is Support.STRONG or reading is None:
        return ()
    if reading.foreign or support is not Support.NONE:
        return (lines_for(question).foreign,) if reading.foreign else ()
    signs = [hit.explanation.signs for hit in hits]
    unread = not question.isascii() and not any(each is None or each.read for each in signs)
    return (lines_for(question).unread,) if unread else ()


class Asker:
    """Answers single questions from memory. `answerer` makes what asks the model, when it is needed; it may raise.

    So may `orderer`, which makes what reads more hits than are wanted and puts the best of them first; None leaves
    them in the order in which they were found.
    """

    def __init__(
        self,
        memory: Memory,
        store: Store,
        clock: Clock,
        *,
        answerer: Callable[[], Answerer],
        orderer: Callable[[], Orderer] | None = None,
        touch: bool = True,
    ) -> None:
        self._memory = memory
        self._store = store
        self._clock = clock
        self._answerer = answerer
        self._orderer = orderer
        self._uses = Uses(store, clock) if touch else None
        self._zone = zone(memory.settings.timezone)

    def ask(self, question: str, k: int | None = None) -> Answer:
        """The answer from the best `k` notes: a model's, which is told how well they support one, else the notes' own.

        None takes 8, or 16 for a question that asks for several things.

        That no model answers is told by the answer, not raised; one that only cannot put the notes in order leaves them
        as they are, and is told in `notes`. Raises InvalidInput for a question that is empty, no text, or longer than
        ``max_note_chars``, and what recall raises.
        """
        check_asked(question, self._memory.settings.max_note_chars)
        if k is None:
            k = _FOR_SEVERAL if asks_for_several(question) else _FOR_ONE
        found = k if self._orderer is None else max(k, MOST_NOTES)
        hits = self._memory.ask(Query(question, found, expand=True, touch=False, passages=True))
        said = lines_for(question)
        read = attribution_of(self._memory, hits, said.language)
        hits = [hit for hit in hits if hit.id in read.notes]
        if not hits:
            return Answer(question, said.not_in_memory, (), False, ())
        support = best_support(hits)
        remarks = _remarks(question, hits, support)
        try:
            answerer = self._answerer()
        except AmemError as error:
            plain = self._plain(question, hits[:k], read, support)
            if self._memory.settings.llm_backend not in NAMES_NO_MODEL:
                return replace(plain, error=str(error), hint=error.hint)
            # To a certain answer a model has nothing to add.
            host = self._memory.settings.ollama_host
            more = () if plain.in_memory else (said.unanswered(error, host),)
            return replace(plain, notes=(*plain.notes, *more))
        hits, ordering = self._ordered(question, hits, read)
        hits, remarks = hits[:k], (*remarks, *ordering)
        lines = self._lines([hit.id for hit in hits], read)
        try:
            answered = answerer.answer(
                question, lines, self._clock.now().astimezone(self._zone), support=said.support(support)
            )
        except AmemError as error:
            plain = self._plain(question, hits, read, support)
            return replace(plain, error=str(error), hint=error.hint, notes=(*plain.notes, *ordering))
        self._count([hit.id for hit in hits[: len(lines)]])
        told = partial(Answer, question, hits=tuple(hits), notes=remarks, model=answerer.name, support=support)
        if not answered.in_memory:
            return told(said.not_in_memory, (), False)
        cited = ((number, hits[number - 1], lines[number - 1]) for number in answered.cites)
        citations = (Citation(n, hit.id, line, hit.catalog, read.notes[hit.id].at, hit.text) for n, hit, line in cited)
        return told(answered.text, tuple(citations), True)

    def _plain(
        self,
        question: str,
        hits: Sequence[Hit],
        read: Attribution,
        support: Support,
    ) -> Answer:
        """The answer that the notes give themselves."""
        made = extract(self._memory, question, hits, read.notes, support, self._clock.now(), cite=True)
        with self._store.read() as session:
            read.told.update(tellers(session, [id for id in made.notes if id not in read.notes]))
        more = {id: note for id in made.notes if id not in read.notes and (note := self._memory.read(id)) is not None}
        read.notes.update(more)
        lines = self._lines(made.notes, read)
        self._count(made.notes)
        return Answer(
            question,
            made.text,
            tuple(
                Citation(number, id, line, read.catalogs.get(id, ""), read.notes[id].at, text_of(read.notes[id]))
                for number, (id, line) in enumerate(zip(made.notes, lines, strict=False), start=1)
            ),
            {Support.STRONG: True, Support.NONE: False}.get(made.support),
            tuple(hits),
            notes=() if made.by_time else _remarks(question, hits, made.support),
            support=made.support,
        )

    def _ordered(self, question: str, hits: list[Hit], read: Attribution) -> tuple[list[Hit], tuple[str, ...]]:
        """The hits that the model finds helpful first, then the others as they were; and what is to be said of that."""
        if self._orderer is None or len(hits) < 2:
            return hits, ()
        lines = self._lines([hit.id for hit in hits[:MOST_NOTES]], read, NOTE_WORDS)
        try:
            orderer = self._orderer()
            places = orderer.order(question, lines).places
        except AmemError as error:
            _log.warning("notes are not put in order by a model: %s", error)
            return hits, (f"not put in order by a model: {error}",)
        first = [_moved(hits[place], place, now, orderer.name) for now, place in enumerate(places)]
        return [*first, *(hit for place, hit in enumerate(hits) if place not in places)], ()

    def _lines(self, ids: Sequence[str], read: Attribution, words: int | None = None) -> list[str]:
        """The notes as the model reads them, each cut to so many `words`, the best first, as many as fit."""
        settings = self._memory.settings
        room = Shares.of(settings.llm_context, core=0, recalled=settings.recall_tokens).recalled
        lines: list[str] = []
        for id in ids:
            line = attributed(read.notes[id], read)
            line = line if words is None else first_words(line, words)
            room -= tokens(line)
            if room < 0 and lines:
                break
            lines.append(line)
        return lines

    def _count(self, ids: Sequence[str]) -> None:
        """Count the notes that a model or a person is shown as used, where that can be written down at once."""
        if self._uses is None:
            return
        with self._store.read() as session:
            keys = session.notes.keys_of(ids)
        self._uses.count(list(keys.values()))
