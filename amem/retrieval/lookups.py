"""Counts, lists, similar notes, and facts of a subject over time; looking them up counts as no use."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from amem.clock import parse_time
from amem.language.asking import wording, wording_then
from amem.language.intervals import Interval, intervals
from amem.language.predicates import canonical_subject, spellings, subject_key, typed_subject
from amem.note import EVERYONE, MemoryNote, Scope
from amem.query import Filter
from amem.storage.search_tables import told_at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date, datetime

    from amem.collection import Collection
    from amem.retrieval.fact_leg import Filled, Slots
    from amem.retrieval.question import Period
    from amem.storage.note_lists import Card, Census, Ledger, Order, Shelf
    from amem.storage.reviews import Flag
    from amem.storage.store import Session


Found = TypeVar("Found")
#: Orders that change with the notes alone, not with time and use.
_STEADY = ("time", "recorded", "importance")


class NoteLists:
    """Counts and lists the notes of one collection, by the million; what is asked for often is kept until a write."""

    def __init__(self, collection: Collection) -> None:
        self._store = collection.store
        self._collection = collection  # whose dense leg few look-ups need
        self._zone = collection.zone
        self._kept: dict[str, tuple[int, Any]] = {}

    def since(self, counter: int, name: str, count: Callable[[], Found]) -> Found:
        """Return the count kept under that name; count anew when the change counter has moved."""
        held = self._kept.get(name)
        if held is None or held[0] != counter:
            held = self._kept[name] = (counter, count())
        found: Found = held[1]
        return found

    def topic_sizes(self, session: Session) -> Mapping[str, int]:
        """How many active notes each topic's page has, by the id of the page."""
        return self._ledger(session).census(session, Filter()).topics

    def census(self, filter: Filter | None = None, *, starting: str = "") -> Census:
        """How many notes one would see with each kind, layer, status, tag, topic or day chosen besides the filter."""
        wanted = (filter or Filter()).in_zone(self._zone)
        with self._store.read() as session:
            holding = session.cards.holding(starting, wanted)
            return self._ledger(session).census(session, wanted, holding)

    def days(self, filter: Filter | None = None) -> dict[date, int]:
        """How many notes speak of each day, the first day first."""
        wanted = (filter or Filter()).in_zone(self._zone)
        with self._store.read() as session:
            count = partial(session.cards.days, wanted, self._zone)
            return dict(self.since(session.counter, "days", count) if wanted.is_default else count())

    def shelf(self, filter: Filter | None = None, *, starting: str = "", order: Order = "time") -> Shelf:
        """The order of all notes that pass the filter and hold words that are `starting` so."""
        wanted = (filter or Filter()).in_zone(self._zone)
        with self._store.read() as session:
            cards, every = session.cards, None
            if starting and wanted.is_default and order in _STEADY:  # at every letter that is typed
                every = self.since(session.counter, order, lambda: cards.shelf(wanted, order=order).keys)
            return cards.shelf(wanted, starting=starting, order=order, every=every)

    def cards(self, shelf: Shelf, start: int, stop: int) -> list[Card]:
        """The notes at these places of a shelf."""
        with self._store.read() as session:
            return session.cards.of(shelf.keys[max(0, start) : max(0, stop)].tolist())

    def cards_of(self, ids: Sequence[str]) -> dict[str, Card]:
        """The cards of notes by id, deleted ones too, in the order asked for."""
        with self._store.read() as session:
            keys = session.notes.keys_of(ids)
            found = {card.id: card for card in session.cards.of(list(keys.values()))}
        return {id: found[id] for id in ids if id in found}

    def place(self, shelf: Shelf, id: str) -> int | None:
        """Where a note stands on a shelf, counted from 0; None when it does not."""
        with self._store.read() as session:
            key = session.notes.keys_of([id]).get(id)
        found = [] if key is None else (shelf.keys == key).nonzero()[0].tolist()
        return found[0] if found else None

    def similar(self, id: str, k: int = 10, *, scope: Scope = EVERYONE) -> list[tuple[Card, float]]:
        """The scope's k active notes nearest in meaning, each with its cosine. Raises NoteNotFound."""
        with self._store.read() as session:
            key = session.notes.key_of(id)
        import numpy as np  # which takes longer to load than all else that is looked up

        dense = self._collection.dense
        dense.refresh()
        vector = dense.vectors([key])[0]
        if not len(vector) or np.isnan(vector).any():
            return []
        with self._store.read() as session:
            allowed = session.notes.met_by(scope)
        found = dense.search(vector, k + 1, allowed=allowed)
        near = [(int(other), float(cosine)) for other, cosine in zip(*found, strict=True) if other != key][:k]
        with self._store.read() as session:
            held = {card.key: card for card in session.cards.of([other for other, _ in near])}
        return [(held[other], cosine) for other, cosine in near if other in held]

    def _ledger(self, session: Session) -> Ledger:
        from amem.storage.note_lists import read_ledger

        return self.since(session.counter, "ledger", partial(read_ledger, session, self._zone))


# What is so and since when, of whoever is asked about.


class FactQueries:
    """Answers from the facts of one collection: what holds, what held, and who there is to ask about.

    A subject may be spelled as people do: "me", 我 and the name the settings give the user are the user; "we" and "the
    project" are one; case, width and articles do not matter.
    """

    def __init__(self, collection: Collection) -> None:
        self._store = collection.store
        self._clock = collection.clock
        self._predicates = collection.predicates
        self._zone = collection.zone
        self._settings = collection.settings
        self._user = self._settings.user_name

    @cached_property
    def _slots(self) -> Slots:
        # Reading a question takes far more code than looking up a name.
        from amem.retrieval.fact_leg import Slots

        return Slots(self._settings, self._predicates)

    def facts(
        self,
        subject: str,
        predicate: str | None = None,
        as_of: datetime | str | None = None,
        known_at: datetime | str | None = None,
        *,
        scope: Scope = EVERYONE,
    ) -> list[Interval]:
        """The facts of a subject at `as_of` (None: now, or `known_at`), by the `scope`'s notes as of `known_at`."""
        known, moment = self._moment(known_at), self._moment(as_of)
        moment = moment or known or self._clock.now()
        found = [each for each in self._intervals(subject, predicate, known, scope) if each.at(moment)]
        return found if known else [replace(each, doubted_by=tuple(self.doubted_by(each.notes))) for each in found]

    def facts_asked(
        self,
        question: str,
        as_of: datetime | str | None = None,
        *,
        period: Period | None = None,
        scope: Scope = EVERYONE,
    ) -> Filled:
        """The facts that fill the slot a question asks for at `as_of`, else in `period`, else when its words say."""
        from amem.retrieval.question_times import period_of

        given, now = self._moment(as_of), self._clock.now()
        with self._store.read() as session, session.within(scope):
            if given is None and period is None:
                period = period_of(session, question, now, self._zone)
            return self._slots.filled(session, question, given or now, period if given is None else None)

    def wording(self, found: Sequence[Interval], *, chinese: bool = False, period: Period | None = None) -> str:
        """The facts of one subject and predicate as a clause said to the user; with `period`, those that were so in it.

        A period without words has none said, and of what is over from when to when it was so.
        """
        now, predicates = self._clock.now(), self._predicates()
        if period is None:
            return wording(found, predicates, now, self._zone, chinese=chinese)
        so = [each for each in found if (period.until is None or period.until > now) and each.at(now)]
        was = [each for each in found if each not in so]
        clauses = (
            wording(so, predicates, now, self._zone, chinese=chinese),
            wording_then(
                was,
                predicates,
                self._zone,
                period.words,
                period.since,
                period.until,
                chinese=chinese,
                ahead=period.since is not None and period.since > now,
            ),
        )
        return ("；" if chinese else "; ").join(filter(None, clauses))

    def doubted_by(self, ids: Sequence[str], words: Sequence[str] = ()) -> list[str]:
        """The notes because of which these, which state one fact, may be out of date, the latest first.

        One that is older than the last of these speaks against none: the fact was said again since. With `words` of
        what is taken from the notes, neither does one that speaks against other statements of them.
        """
        with self._store.read() as session:
            flags = [flag for id in ids for flag in session.flags.open(id)]
            notes = session.notes.get_many([*ids, *(flag.because for flag in flags)], history=False)
        flagged = {flag.because for flag in flags if _concerns(flag, notes, words)}
        last = max((note.at for id in ids if (note := notes.get(id)) is not None and note.at is not None), default=None)
        against = [
            (note.at, id) for id in flagged - {*ids} if (note := notes.get(id)) is not None and note.at is not None
        ]
        return [id for at, id in sorted(against, reverse=True) if last is None or at >= last]

    def timeline(
        self,
        subject: str,
        predicate: str | None = None,
        known_at: datetime | str | None = None,
        *,
        scope: Scope = EVERYONE,
    ) -> list[Interval]:
        """All that was ever so of a subject, in order of time."""
        found = self._intervals(subject, predicate, self._moment(known_at), scope)
        return sorted(found, key=lambda each: (each.since, each.until is None))

    def subjects(self, *, scope: Scope = EVERYONE) -> dict[str, int]:
        """Everyone and everything that notes of the `scope` state facts of, and how many, most first."""
        counts: dict[str, int] = {}
        names: dict[str, str] = {}
        with self._store.read() as session, session.within(scope):
            for name, count in session.facts.subjects().items():
                name = canonical_subject(name, user=self._user)
                name = names.setdefault(subject_key(name), name)
                counts[name] = counts.get(name, 0) + count
        return dict(sorted(counts.items(), key=lambda each: -each[1]))

    def _intervals(
        self, subject: str, predicate: str | None, known_at: datetime | None, scope: Scope
    ) -> list[Interval]:
        predicates, user = self._predicates(), self._user
        wanted = canonical_subject(subject, user=user)
        with self._store.read() as session, session.within(scope):
            names = spellings(wanted, user=user)
            told = session.facts.about(names) if known_at is None else told_at(session, names, known_at)
            typed = wanted if told else typed_subject(wanted, session.facts.subjects())
        if typed != wanted:
            return self._intervals(typed, predicate, known_at, scope)
        # In words of their own, notes may still say "I" of whoever spoke.
        meant = [canonical_subject(each.subject, speaker=each.speaker, user=user) for each in told]
        about = [
            (name, each) for name, each in zip(meant, told, strict=True) if subject_key(name) == subject_key(wanted)
        ]
        name = about[0][0] if about else wanted
        found = intervals([replace(each, subject=name) for _, each in about], predicates)
        if predicate is None:
            return found
        # A predicate that notes use is meant by its very name, whatever else the table has for the word.
        own = predicates.canonical(predicate)
        asked = own if any(each.predicate == own for each in found) else predicates.meant(predicate)
        return [each for each in found if each.predicate == asked]

    def _moment(self, given: datetime | str | None) -> datetime | None:
        return None if given is None else parse_time(given, self._zone)


def _concerns(flag: Flag, notes: Mapping[str, MemoryNote], words: Sequence[str]) -> bool:
    """Whether a doubt about a note concerns these words of it: it quotes no statement, or the one that has them."""
    note = notes.get(flag.note)
    if not words or note is None:
        return True
    from amem.conflict.ending import quoted, statements_of

    doubted = [each for each in map(quoted, statements_of(note.content)) if each and each in flag.reason]
    return not doubted or any(word in each or each in word for each in doubted for word in words)
