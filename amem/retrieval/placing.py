"""From a question to a context: recalls, leaves out what is beside the point, picks, writes, keeps to the budget."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from amem import checks
from amem.clock import zone
from amem.errors import InvalidInput
from amem.labels import short_id
from amem.llm.tokenizers import Counter, counter_for, settings_counter
from amem.retrieval.confidence import Support, best_support, supporting
from amem.retrieval.context import Context, Entry, LeftOut, Placed, entry, framed
from amem.retrieval.core_notes import CoreNotes, background
from amem.retrieval.picking import Candidate, comparable, pick
from amem.retrieval.repeats import told_by_others
from amem.text import query_terms, written_in_cjk

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from amem.note import MemoryNote
    from amem.query import Filter, Query
    from amem.retrieval.hit import Hit
    from amem.retrieval.recall import Recall
    from amem.settings import Settings
    from amem.storage import Session, Store
    from amem.truth.predicates import Predicates

ORDERS = ("time", "relevance")
#: Notes asked for: about as many short ones as a budget holds.
_FEWEST, _MOST, _SHORT = 20, 100, 25
#: Core notes take at most this share of a budget, and one recalled note so many tokens.
_CORE = 4
_LONGEST = 300
#: What scores so small a share of the best is left out, the sooner where nothing in it speaks of what is asked.
_FAINT, _FAR_LESS = 0.2, 0.35
#: The best answer gets that share of the room at once, or at least so many tokens.
_SHARE, _LEAST = 3, 80
#: Of a question so much is asked of recall: the embedder reads less, and the words of a book find everything.
_ASKED = 4_000


_CALLERS = "a function of the caller's"
_EVER = datetime.min.replace(tzinfo=UTC)
_WHY = {
    "budget": "there was no room for it",
    "beside_the_point": "it has next to nothing to do with what is asked",
    "retold": "it sums up what other notes here say",
    "repeats": "it says what {} says",
}


@dataclass(frozen=True, slots=True)
class Found:
    """What recall found for a question, with what is needed to choose from it: `support` is how well it supports an
    answer, `repeated` are summaries of what other hits say."""

    hits: tuple[Hit, ...]
    notes: Mapping[str, MemoryNote]
    vectors: Mapping[str, NDArray[np.float32]]
    support: Support
    repeated: frozenset[str]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A hit that goes into a prompt, and how it stands there."""

    hit: Hit
    note: MemoryNote
    entry: Entry


class Placing:
    """Makes contexts from one collection."""

    def __init__(self, recall: Recall, store: Store, settings: Settings, predicates: Callable[[], Predicates]) -> None:
        self._recall = recall
        self._predicates = predicates
        self._store = store
        self.settings = settings
        self.zone = zone(settings.timezone)

    def counter(self, tokenizer: str | Callable[[str], int] | None) -> Counter:
        """What counts tokens: the function or the model that is named, else the model that the settings name."""
        if tokenizer is None:
            return settings_counter(self.settings)
        if isinstance(tokenizer, str):
            return counter_for(tokenizer)
        if callable(tokenizer):
            return Counter(lambda text: checks.whole("what the tokenizer returns", tokenizer(text), least=0), _CALLERS)
        raise InvalidInput(f"a tokenizer is a model's name or a function, not {checks.shown(tokenizer)}")

    def core(self, budget: int | None, within: Filter, counter: Counter, chinese: bool | None = None) -> CoreNotes:
        """The block of core notes within so many tokens (None: the setting ``core_tokens``)."""
        most = checked_budget(self.settings.core_tokens if budget is None else budget)
        with self._store.read() as session, session.within(within.scope):
            return background(session, self._predicates(), most, counter, within=within, chinese=chinese)

    def context(
        self,
        query: Query,
        budget: int | None,
        counter: Counter,
        *,
        order: str | None = None,
        core: bool = True,
    ) -> Context:
        """What is known about the question, within so many tokens (None: the setting ``context_tokens``).

        How many notes the query asks for does not matter. Raises InvalidInput.
        """
        budget = checked_budget(self.settings.context_tokens if budget is None else budget)
        order = checked_order(self.settings.context_order if order is None else order)
        block = self.core(
            min(self.settings.core_tokens, budget // _CORE) if core else 0,
            query.filter,
            counter,
            written_in_cjk(query.text) if any(map(str.isalpha, query.text)) else None,
        )
        room = budget - block.tokens - counter(f"\n\n{framed([''])}")
        found = self.find(query, room, block)
        out: list[LeftOut] = []
        chosen = self.choose(found, query.text, room, counter, out, already={note.id for note in block.notes})
        while True:
            shown = ordered(chosen, order)
            text = "\n\n".join(part for part in (block.text, framed([each.entry.written for each in shown])) if part)
            size = counter(text) if text else 0
            if size <= budget or not chosen:
                break
            # What a tokenizer makes of the whole can be a token or two more than of the parts.
            out.append(left_out(chosen.pop().hit, "budget"))
        if query.touch and shown:
            self._recall.opened([each.hit.id for each in shown])
        return Context(
            query=query.text,
            text=text,
            core=block.notes,
            notes=tuple(placed(each, counter) for each in shown),
            tokens=size,
            budget=budget,
            left_out=tuple(sorted(out, key=lambda each: -each.score)),
            order=order,
            support=str(found.support),
            counted_by=counter.name,
            exact=counter.exact,
        )

    def find(self, query: Query, room: int, core: CoreNotes | None = None) -> Found:
        """Ask recall for as many notes as may fit into `room` tokens; `core` notes are evidence as well."""
        many = min(_MOST, max(_FEWEST, room // _SHORT))
        asked = replace(query, text=query.text[:_ASKED], k=many, expand=True, touch=False)
        hits = self._recall.search(asked)
        ids = [hit.id for hit in hits]
        with self._store.read() as session:
            notes = session.notes.get_many(ids, history=False, known_at=query.filter.known_at)
            hits = [hit for hit in hits if hit.id in notes]
            beside = {hit.id for hit in hits if hit.support is Support.NONE}
            repeated = told_by_others(session, notes, beside, supporting(hits))
            vectors = _vectors(session, [id for id in notes if comparable(notes[id].content)])
        return Found(tuple(hits), notes, vectors, best_support(hits), frozenset(repeated))

    def choose(
        self,
        found: Found,
        question: str,
        room: int,
        counter: Callable[[str], int],
        out: list[LeftOut],
        *,
        already: Collection[str] = (),
    ) -> list[Chosen]:
        """The hits that go into `room` tokens, the one that adds most for its tokens first; others go `out`, with why.

        Those that stand in the prompt `already` are neither.
        """
        words = query_terms(question[:_ASKED])
        best = max((hit.score for hit in found.hits), default=0.0)
        ready: list[Chosen] = []
        for hit in found.hits:
            if hit.id in already:
                continue
            if hit.id in found.repeated:
                out.append(left_out(hit, "retold"))
                continue
            if hit.score <= best * (_FAR_LESS if hit.support is Support.NONE else _FAINT):
                out.append(left_out(hit, "beside_the_point"))
                continue
            most = min(_LONGEST, room)
            # The best answer goes in whatever its length, and leaves room for others if it can.
            tried = [max(room // _SHARE, min(_LEAST, room)), most] if not ready else [most]
            written = next(filter(None, (self._written(found, hit, words, size, counter) for size in tried)), None)
            if written is None:
                out.append(left_out(hit, "budget"))
            else:
                ready.append(written)
        candidates = [
            Candidate(hit.id, entry.text, counter(entry.written) + 1, hit.score, found.vectors.get(hit.id))
            for hit, entry in ((each.hit, each.entry) for each in ready)
        ]
        picked = pick(candidates, room, first=0 if ready else None)
        into = {place: ready[place] for place in picked.chosen}
        left = room - sum(candidates[place].tokens for place in into)
        for place, each in enumerate(ready):
            if place in picked.repeats:
                out.append(left_out(each.hit, "repeats", ready[picked.repeats[place]].hit.id))
                continue
            had = candidates[place].tokens if place in into else 0
            if had and not each.entry.shortened:
                continue
            if had + left < _SHORT:
                out += [] if had else [left_out(each.hit, "budget")]
                continue
            # What is left may do for more of a note, or for a part of one that was too long.
            more = self._written(found, each.hit, words, min(_LONGEST, had + left - 1), counter)
            if more is not None and (taken := counter(more.entry.written) + 1) <= had + left:
                into[place] = more
                left += had - taken
            elif not had:
                out.append(left_out(each.hit, "budget"))
        return list(into.values())

    def _written(
        self, found: Found, hit: Hit, words: Sequence[str], most: int, counter: Callable[[str], int]
    ) -> Chosen | None:
        note = found.notes[hit.id]
        written = entry(note, words, most, counter, self.zone)
        return None if written is None else Chosen(hit, note, written)


def checked_budget(budget: int) -> int:
    """The budget, if it is one. Raises InvalidInput."""
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 0:
        raise InvalidInput(f"a budget is a whole number of tokens, not {budget!r}", hint="give 0 or more")
    return budget


def checked_order(order: str) -> str:
    """The order, if it is one. Raises InvalidInput."""
    if order not in ORDERS:
        raise InvalidInput(f"a context cannot be ordered by {order!r}", hint=f"use {' or '.join(ORDERS)}")
    return order


def ordered(chosen: Sequence[Chosen], order: str) -> list[Chosen]:
    """By time, oldest first and the undated before them, or by relevance."""
    best = sorted(chosen, key=lambda each: (-each.hit.score, each.hit.id))
    if order == "relevance":
        return best
    return sorted(best, key=lambda each: (each.note.at is not None, each.note.at or _EVER, each.note.ordinal or 0))


def placed(each: Chosen, counter: Callable[[str], int]) -> Placed:
    """What stands in the prompt, as a value."""
    note = each.note
    return Placed(
        id=note.id,
        time="" if note.at is None else note.at.isoformat(),
        trust=note.trust,
        tokens=counter(each.entry.written),
        score=each.hit.score,
        why=each.hit.explanation.words(),
        text=each.entry.text,
        kind=str(note.kind),
        speaker=note.speaker or "",
        shortened=each.entry.shortened,
    )


def left_out(hit: Hit, reason: str, other: str = "") -> LeftOut:
    """A hit that is not placed, and why."""
    return LeftOut(hit.id, reason, hit.score, _WHY[reason].format(short_id(other)))


def _vectors(session: Session, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
    space = session.vectors.space()
    if space is None or not ids:
        return {}
    keys = session.notes.keys_of(ids)
    hashes = session.notes.columns(list(keys.values()), ("text_hash",))
    held = session.vectors.known(space, [hashed for (hashed,) in hashes.values() if hashed is not None])
    return {id: held[hashed] for id, key in keys.items() if (hashed := hashes[key][0]) in held}
