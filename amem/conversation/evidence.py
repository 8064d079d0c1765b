"""The hits of a question, the notes that are read beside them, and which of these end or change what an answer tells.

It finds notes and writes nothing: ``extractive`` tells what is found here.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from amem.conflict.clause_parts import THIRD
from amem.conflict.cues import Cue, cues_of, replaces, rises
from amem.conflict.statements import read
from amem.language import index_terms, query_terms
from amem.language.asking import (
    NUMBER,
    asked_for,
    asks_for_a_name,
    asks_whether_allowed,
    asks_yes_or_no,
    is_of_another_owner,
)
from amem.language.predicates import USER, WE
from amem.language.states import (
    asks_how_things_were,
    asks_who,
    clauses,
    is_of_the_speaker,
    states_asked,
    tells_instead,
    tells_of_death,
    tells_of_leave,
    tells_of_leaving,
    tells_of_loss,
    told_anew,
)
from amem.language.times import named_in_note
from amem.note import Fact, Kind, MemoryNote, Status
from amem.query import Filter
from amem.rendering import holding_text
from amem.retrieval.confidence import CALIBRATION
from amem.retrieval.entailment import (
    Premise,
    Verdict,
    asks_for_kin,
    deciding,
    deciding_then,
    is_beside,
    is_over,
    terms_of_people,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence, Set

    from amem.conversation.ports import Memory
    from amem.language.intervals import Interval
    from amem.retrieval.hit import Hit
    from amem.retrieval.question import Period

#: A note whose score is this share of the best one's may answer as well.
_NEAR = 0.66
#: A later note that changes what one says goes first where it holds this share of what that one holds of the question.
_NEARLY_AS_MUCH = 0.75
#: So much of what is asked is all of it.
ALL = 0.9
#: From this share of what is asked on, or this cosine, a note has something to do with it.
_SOME, _RELATED = 0.3, 0.3
#: So much of what is asked a later note holds that may change what the best one says.
HELD = 0.5
#: From about ten notes on (`Signs.few`) there are others that hold as much.
_FEW = 0.75
#: Names of people in an answer who may have left, and notes that are looked at for each.
_MOST_NAMES, _MOST_OF_ONE = 3, 20
#: A part of a name by which people go on to call a thing: "the Fabia" of "Skoda Fabia".
_NAME = re.compile(r"\b[A-Z][\w-]{3,}")
#: What an amount is in.
_UNITS = re.compile(r"[^\W\d]+|[€$£¥]")
#: Predicates of what somebody may not have.
_FORBIDS = frozenset(("allergic_to", "intolerant_to", "cannot_eat", "avoids"))
#: Notes that are looked at for the end of a state, the latest first.
_LATEST = 1_000
#: So many letters of a term a text holds in any of its forms.
_STEM = 4


class Shortfall(StrEnum):
    """Why a note that comes near is no certain answer."""

    OTHERS = "it is said of somebody else"
    TIME = "it was noted at another time"
    DETAIL = "it may lack the kind of detail that is asked for"
    PART = "it holds only a part of what is asked with"
    LITTLE = "it holds little of what is asked with"


class Evidence:
    """What was found for a question, asked at `now`. `notes` are those of the `hits`; more are read as needed."""

    def __init__(
        self, memory: Memory, question: str, hits: Sequence[Hit], notes: Mapping[str, MemoryNote], now: datetime
    ) -> None:
        self._memory, self._question, self.now = memory, question, now
        reading = next((hit.explanation.reading for hit in hits), None)
        others = [] if reading is None else [name for names in reading.translated.values() for name in names]
        #: What is asked with, in either language where some notes are in the other.
        self.terms = frozenset(query_terms(question)) | frozenset(query_terms(" ".join(others)))
        self._wants_a_name = asks_for_a_name(question)
        self.hits = {hit.id: hit for hit in hits}
        self.notes = dict(notes)

    def note(self, id: str) -> MemoryNote | None:
        """A note, read where the hits lack it; None where it is not there."""
        if id not in self.notes and (note := self._memory.read(id)) is not None:
            self.notes[id] = note
        return self.notes.get(id)

    def at(self, id: str) -> datetime:
        return self.notes[id].at or datetime.min.replace(tzinfo=UTC)

    def known(self, slot: Sequence[Interval]) -> list[str]:
        """The notes that state these facts, as far as they are there."""
        return [id for id in dict.fromkeys(id for each in slot for id in each.notes) if self.note(id) is not None]

    def holds(self, id: str) -> float:
        """How much of what is asked a hit holds, 0..1."""
        signs = self.hits[id].explanation.signs
        return signs.held if signs is not None else 0.0

    def is_near(self, id: str) -> bool:
        """Whether a hit comes near enough to be shown where nothing is certain; what must be heeded always does."""
        signs = self.hits[id].explanation.signs
        return signs is None or CALIBRATION.is_near(signs) or self.notes[id].kind is Kind.CONSTRAINT

    def nearest(self) -> str | None:
        """The hit that is nearest to what memory does not hold; None where none has anything to do with it."""
        held = [
            hit
            for hit in self.hits.values()
            if (signs := hit.explanation.signs) and (signs.held >= _SOME or signs.cosine >= _RELATED)
        ]
        return max(held, key=lambda hit: hit.confidence).id if held else None

    def shortfall(self, id: str, period: Period | None) -> Shortfall | None:
        """Why a hit that comes near is no certain answer; None where nothing tells."""
        note, signs = self.notes[id], self.hits[id].explanation.signs
        if is_beside(self._question, note.content, note.speaker):
            return Shortfall.OTHERS
        since, until = (None, None) if period is None else (period.since, period.until)
        if (since is not None and self.at(id) < since) or (until is not None and self.at(id) >= until):
            return Shortfall.TIME
        if signs is None:
            return None
        if signs.lacks and asked_for(self._question):
            return Shortfall.DETAIL
        return None if signs.held >= ALL else Shortfall.PART if signs.held >= HELD else Shortfall.LITTLE

    # What makes a fact, or the words of a note, doubtful.

    def against(self, ids: Sequence[str], words: Sequence[str]) -> str | None:
        """The note because of which these words of notes may be out of date.

        A note that says something of what is asked speaks against them, whichever statement it was held against.
        """
        concerned = self._memory.doubted_by(ids, words)
        against = [
            id
            for id in self._memory.doubted_by(ids)
            if (note := self.note(id)) is not None
            and (id in concerned or not self.terms.isdisjoint(index_terms(note.content)))
            and not any(_only_names(note.content, each) for each in words)
        ]
        return None if not against or self._follows(against[0], ids) else against[0]

    def changing(self, slot: Sequence[Interval]) -> str | None:
        """The later note of no fact that says that the thing of these facts was sold or lost, that what they forbid is
        allowed, or that their amount rises or falls."""
        if asks_how_things_were(self._question):
            return None
        latest = max(map(self.at, self.known(slot)), default=self.now)
        for fact in slot:
            own = fact.subject in (USER, WE)
            names = [fact.object, *(name for name in _NAME.findall(fact.object) if name != fact.object)]
            terms, whose = index_terms(fact.object), [] if own else [index_terms(fact.subject)]
            named = [*([terms] if fact.object.isascii() else ([term] for term in terms)), *whose]
            found = self._memory.list(Filter(since=latest), limit=_MOST_OF_ONE, holding=named)
            lost = [note for note in found if any(tells_of_loss(note.content, name) for name in names)]
            if fact.predicate in _FORBIDS:
                lost += [note for note in found if _allows(note.content, fact, own=own)]
            if units := {*_UNITS.findall(fact.object)} if fact.object[:2].strip("€$£¥")[:1].isdigit() else set():
                hits = [hit for hit in self.hits.values() if (signs := hit.explanation.signs) and not signs.strangers]
                lost += [note for hit in hits if self._moves(note := self.notes[hit.id], units)]
            lost = [note for note in lost if note.speaker is None and (note.at or latest) > latest]
            if lost:
                self.notes |= {note.id: note for note in lost}
                return max((note.id for note in lost), key=self.at)
        return None

    def _moves(self, note: MemoryNote, units: Set[str]) -> bool:
        """Whether a note gives a number in one of these units for what is asked, and says that it changes."""
        return any(
            self.terms & {*index_terms(each)}
            and units & {*_UNITS.findall(each)}
            and NUMBER.search(each)
            and (rises(each) or replaces(each))
            for each in clauses(note.content)
        )

    def planned(self, ids: Sequence[str], period: Period) -> str | None:
        """The later hit that plans a change of what these notes tell until the end of a time that lies ahead."""
        if period.until is None or period.until <= self.now:
            return None
        latest = max(map(self.at, ids), default=self.now)
        later = [hit.id for hit in self.hits.values() if self.at(hit.id) > latest and replaces(hit.content)]
        planned = [id for id in later if self.is_near(id) and self._is_ahead(id, period.until)]
        return max(planned, key=self.at, default=None)

    def _is_ahead(self, id: str, until: datetime) -> bool:
        """Whether a note names a day after the one it is of, and before this moment."""
        said = self.at(id).date()
        spans = [each.span for each in named_in_note(self.notes[id].content, said) if each.span is not None]
        return any(said < span.first < until.date() for span in spans)

    def leaving(self, told: Collection[str]) -> str | None:
        """The last note that says that somebody whom the notes that were `told` name died, that a thing was sold or
        lost, or that somebody left where the question is for a person."""
        if asks_how_things_were(self._question):
            return None
        notes = [self.notes[id] for id in told if id in self.hits]
        leaves = asks_who(self._question) and not asks_for_kin(self._question)
        latest = max((self.at(note.id) for note in notes), default=self.now)
        held = {note.id: holding_text(note.content, note.overturned) for note in notes}
        bearing = [each for text in held.values() for each in clauses(text) if self.terms & {*index_terms(each)}]
        # Of whom nothing is told any more it is known that they are gone.
        named = [
            name for note in notes for name in note.entities if name not in self._question and name in held[note.id]
        ]
        names = [name for name in named if any(name in each for each in bearing)] or named
        for name in names[:_MOST_NAMES]:
            found = self._memory.list(Filter(since=latest), limit=_MOST_OF_ONE, holding=[index_terms(name)])
            for note in found:
                after = note.at is not None and note.at > latest and note.id not in told
                if not after or note.speaker is not None:
                    continue
                gone = tells_of_death(note.content, name) or tells_of_loss(note.content, name)
                if gone or (leaves and tells_of_leaving(note.content, name)):
                    self.notes[note.id] = note
                    return note.id
        return None

    def _follows(self, id: str, ids: Sequence[str]) -> bool:
        """Whether a note tells that the job has begun that others had in prospect, as an offer does, or of another than
        whom they say that it is over with."""
        facts = self.notes[id].facts
        notes = [note for other in ids if (note := self.note(other)) is not None]
        gone = {each.predicate: each.object for note in notes for each in _ended(note)}
        if any(each.holds and gone.get(each.predicate, each.object) != each.object for each in facts):
            return True
        named = [fact.object for fact in facts if fact.holds and fact.predicate == "works_at" and fact.object]
        return any(each in note.content for each in named for note in notes)

    # What is as much to the point as what was told, and newer.

    def newer_against(self, id: str) -> str | None:
        """The later hit that puts a hit in doubt and says as much to the question; None where none does."""
        for other in self._memory.doubted_by([id]):
            if id not in self.hits or other not in self.hits:
                continue
            as_much = self.holds(other) >= _NEARLY_AS_MUCH * self.holds(id) > 0
            if as_much and self.at(other) > self.at(id):
                return other if not self._follows(other, [id]) else None
        return None

    def beside(self, told: Sequence[Hit], rests: Collection[str], *, alike: bool, quoted: bool) -> list[Hit]:
        """The hits that are nearly as much to the point as the best that is `told`, and say something else.

        `rests` are left out. With `alike` a hit has a word in common with the best that is not asked for. `quoted`
        tells that the answer is a quotation.
        """
        best = max(told, key=lambda hit: hit.score)
        terms = frozenset(index_terms(best.content))
        common = terms - self.terms if alike else terms
        asked = terms & self.terms
        # What ended another statement of the note says nothing of a fact that stands.
        ended = {each.by for each in self.notes[best.id].overturned if not quoted}
        return [
            hit
            for hit in self.hits.values()
            if hit.id not in rests
            and hit.id not in ended
            and (hit.score >= _NEAR * best.score or self.corrects(hit) or self.changes(hit, best, quoted=quoted))
            and not is_of_another_owner(self._question, hit.content)
            and not asked.isdisjoint(index_terms(hit.content))
            and not common.isdisjoint(index_terms(hit.content))
            and all(set(index_terms(hit.content)) != set(index_terms(each.content)) for each in told)
        ]

    def corrects(self, hit: Hit) -> bool:
        """Whether a hit holds all that is asked, and says that something is not as it was said."""
        return self.holds(hit.id) >= ALL and Cue.RETRACTS in cues_of(hit.content)

    def changes(self, hit: Hit, best: Hit, *, quoted: bool) -> bool:
        """Whether a later note holds so much of what is asked, and says that something changed or is one of few: its
        score lies far below that of the best there."""
        signs = hit.explanation.signs
        if signs is None or self.at(hit.id) <= self.at(best.id):
            return False
        if self._wants_a_name and not signs.lacks and not signs.strangers and replaces(hit.content):
            return True  # "Mia changes to Parkskolan"
        if not signs.strangers and any(self.terms & {*index_terms(what)} for what in told_anew(hit.content)):
            return True  # "Sabine will be my new boss", 换了班主任
        if signs.held < HELD or not quoted:
            return False
        if tells_instead(hit.content):
            return True
        return not signs.read and (signs.few >= _FEW or replaces(hit.content))

    # What says yes or no.

    def decided(self, id: str, wider: str = "") -> tuple[str, Verdict] | None:
        """The note that says yes or no to the question, the latest of those that bear on it; this hit or one that is
        nearly as much to the point bears on it that speaks of it. What is not so of `wider` is not so, either."""
        near = {id, *(each.id for each in self.beside([self.hits[id]], (), alike=False, quoted=False))}
        ids = sorted(self.hits, key=self.at, reverse=True)
        notes = [self._premise(self.notes[each]) for each in ids]
        bearing = [each in near for each in ids]
        found = deciding(self._question, notes, self.now, bearing)
        if found is None and wider:
            found = deciding(wider, notes, self.now, bearing)
            found = None if found is None or found[1] is Verdict.YES else found
        if found is None or (found[1] is Verdict.YES and self._is_over_since(ids[found[0]])):
            return None
        return ids[found[0]], found[1]

    def _is_over_since(self, id: str) -> bool:
        """Whether a later hit ends a state that a note tells of, of whom or what the question names: who graduated
        studies nowhere."""
        states, at = states_asked(self.notes[id].content), self.at(id)
        later = [self.notes[each].content for each in self.hits if self.at(each) > at] if states else []
        return any(state.ended.search(text) and self.terms & {*index_terms(text)} for text in later for state in states)

    def decided_then(self, period: Period) -> tuple[list[str], Verdict | None] | None:
        """The notes, the earliest first, by which what is asked was so in a time or was not, and which of the two; no
        verdict where it changed meanwhile. None where what was noted until its end does not tell."""
        if period.since is None or period.until is None or period.since > self.now:
            return None
        if not asks_yes_or_no(self._question) or asks_whether_allowed(self._question):
            return None  # "can we deploy on Friday?" is for no day that is over
        # What has been superseded since was so then.
        then = Filter(until=period.until, statuses=(Status.ACTIVE, Status.SUPERSEDED))
        asked = {part for term in self.terms for part in ([term[:_STEM]] if term.isascii() else term)}
        notes = [
            note
            for note in self._memory.list(then, limit=_LATEST)
            if note.at is not None and note.speaker is None and any(term in note.content.casefold() for term in asked)
        ]
        notes.sort(key=lambda note: note.at or self.now)
        told = [Premise(note.content, note.at or self.now) for note in notes]
        found = deciding_then(self._question.replace(period.words, " "), told, period.since, period.until)
        if found is None:
            return None
        ids, verdict = [notes[place].id for place in found[0]], found[1]
        if verdict and any(self.at(id) < period.until for id in self._memory.doubted_by(ids[:1]) if self.note(id)):
            return None  # something told before the time was over may have ended it
        self.notes |= {notes[place].id: notes[place] for place in found[0]}
        return ids, verdict

    def ending(self, facts: Sequence[Interval]) -> str | None:
        """The note that tells of the event by which the state is over that the question asks about, hit or not; None
        where none does, or one of these facts, for which it asks, has begun since."""
        if not (asks_yes_or_no(self._question) and (states := states_asked(self._question))):
            return None
        # A note that ends it need have no word of the question, and may lie behind the hits. Of a thing, such as what
        # one owns, it names the thing, and so is a hit. What tells that it is so matters only where something ended it.
        people, every = terms_of_people(self._question), dict(self.notes)
        behind = [state for state in states if not state.of_a_thing]
        for terms in ([state.ended_terms for state in behind], [state.stated_terms for state in behind]):
            if terms:
                found = self._memory.list(limit=_LATEST, holding=[*people, sorted(set().union(*terms))])
                every |= {note.id: note for note in found}
            if not any(state.ended.search(note.content) for note in every.values() for state in states):
                return None
        telling = [
            note
            for note in every.values()
            if note.at is not None
            and note.at <= self.now
            and note.speaker is None
            and any(state.ended.search(note.content) or state.stated.search(note.content) for state in states)
        ]
        telling.sort(key=lambda note: note.at or self.now, reverse=True)
        place = is_over(self._question, [self._premise(note) for note in telling], self.now)
        if place is None:
            return None
        over = self.notes.setdefault(telling[place].id, telling[place])
        return None if any(each.since > self.at(over.id) for each in facts) else over.id

    def is_past(self, id: str) -> bool:
        """Whether a question asks if somebody is in a state that lasts for a while, and a hit told of it longer ago."""
        if not asks_yes_or_no(self._question) or asks_how_things_were(self._question):
            return False
        ago = self.now - self.at(id)
        return any(state.lasts is not None and ago > state.lasts for state in states_asked(self._question))

    def _premise(self, note: MemoryNote) -> Premise:
        return Premise(holding_text(note.content, note.overturned), note.at or self.now, tuple(_ended(note)))


def _ended(note: MemoryNote) -> list[Fact]:
    """What a note says is so no more, of what it names."""
    return [each for each in note.facts if not each.holds and each.object]


def _only_names(text: str, value: str) -> bool:
    """Whether a text names a value and says of no change to it: "the rent goes up, a letter from Mr. Okafor" of him."""
    stated = read(text)
    naming = [each for each in stated if value in each.text]
    touching = [*naming, *(each for each in stated if each.people & THIRD)]
    return bool(naming) and not any(each.cues or each.negative or each.planned for each in touching)


def _allows(text: str, fact: Interval, *, own: bool) -> bool:
    """Whether a text says that what a fact forbids is allowed."""
    terms = {*index_terms(fact.object)}
    parts = [each for each in clauses(text) if terms <= {*index_terms(each)} and tells_of_leave(each)]
    return any(is_of_the_speaker(each) if own else fact.subject in each for each in parts)
