"""An answer without a model: the fact that is asked for as a sentence, else the sentence of a note that fits best.

It is in the language of the question; a note that is quoted keeps its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from amem.clock import zone
from amem.conflict.cues import now as tells_what_is_now
from amem.conflict.cues import replaces, rises, takes_back
from amem.conversation.listing import notes_of_a_deed, notes_of_a_sort, notes_of_a_time, of_a_time, timely
from amem.conversation.reply import lines_for
from amem.language import index_terms, query_terms
from amem.language.asking import (
    NUMBER,
    asks_for_a_move,
    asks_for_a_name,
    asks_when,
    asks_yes_or_no,
    is_of_another_owner,
    tells_of_a_move,
    tells_who,
)
from amem.language.predicates import USER, WE
from amem.language.states import (
    asks_how_things_were,
    asks_who,
    clauses,
    is_of_the_speaker,
    leads_on,
    states_asked,
    tells_instead,
    tells_of_death,
    tells_of_leave,
    tells_of_leaving,
    tells_of_loss,
    told_anew,
)
from amem.language.times import named_in_note, starts_ahead
from amem.note import Kind, Status
from amem.query import Filter, Query
from amem.rendering import holding_text, mark
from amem.retrieval.confidence import CALIBRATION, Support, best_support, supporting, told_over
from amem.retrieval.entailment import (
    Premise,
    Verdict,
    asks_for_kin,
    bounds,
    deciding,
    deciding_then,
    is_over,
    terms_of_people,
)
from amem.retrieval.explanation import bounds as sentence_bounds
from amem.retrieval.explanation import passage, spans
from amem.retrieval.question import Intent, Period

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Set
    from datetime import date

    from amem.conversation.ports import Memory
    from amem.language.intervals import Interval
    from amem.note import Fact, MemoryNote, Overturned
    from amem.retrieval.confidence import Signs
    from amem.retrieval.fact_leg import Filled
    from amem.retrieval.hit import Hit

#: Backends that leave it open whether there is a model; that there is none is no failure then.
NAMES_NO_MODEL = frozenset(("auto", "offline"))
#: A longer note is quoted by the sentence that says most of what is asked.
_WHOLE = 200
#: So many slots are told of a question that asks for more.
_MOST_FACTS = 3
#: A note whose score is this share of the best one's may answer as well: quoted with it where it is newer, and where
#: it is older this much.
_NEAR, _NEARLY_EQUAL = 0.66, 0.9
#: A later note that changes what one says goes first where it holds this share of what that one holds of the question.
_NEARLY_AS_MUCH = 0.75
_MOST_NEWER = 2
#: So much of what is asked is all of it.
_ALL = 0.9
#: From this share of what is asked on, or this cosine, a note has something to do with it.
_SOME, _RELATED = 0.3, 0.3
#: So much of what is asked a later note holds that may change what the best one says.
_HELD = 0.5
#: From about ten notes on (`Signs.few`) there are others that hold as much.
_FEW = 0.75
#: Names of people in an answer who may have left, and notes that are looked at for each.
_MOST_NAMES, _MOST_OF_ONE = 3, 20
#: So many notes are told of a time, or of a sort, that has more of them.
_MOST_LISTED = 10
#: What an amount is in.
_UNITS = re.compile(r"[^\W\d]+|[€$£¥]")
#: Predicates of what somebody may not have.
_FORBIDS = frozenset(("allergic_to", "intolerant_to", "cannot_eat", "avoids"))
#: Notes that are looked at for the end of a state, the latest first.
_LATEST = 1_000
#: Notes that are looked at for what was so once.
_MOST_GONE = 4
#: So many letters of a term a text holds in any of its forms.
_STEM = 4
#: So far from a time what is asked of it may have been.
_LOOSE = timedelta(days=7)
#: With these a time begins in the middle of a sentence.
_TIME_WORDS = frozenset(
    ("in", "on", "at", "during", "over", "around", "before", "after", "by", "as", "since", "last", "this")
)


@dataclass(frozen=True, slots=True)
class Extract:
    """`text` as it is to be said, the ids of the notes that it rests on in the order of their first mention, and how
    well they support it: weak where one of them may be out of date. `by_time` tells that they were found by their time
    and by nothing that they say."""

    text: str
    notes: tuple[str, ...] = ()
    support: Support = Support.NONE
    by_time: bool = False


def extract(
    memory: Memory,
    question: str,
    hits: Sequence[Hit],
    notes: Mapping[str, MemoryNote],
    support: Support,
    now: datetime,
    *,
    cite: bool,
) -> Extract:
    """What these hits, which give an answer this `support`, say to the question, asked at `now`.

    With `cite`, note number n (from 1) of those that it rests on is cited as ``[n]``.
    """
    hits = [hit for hit in hits if hit.id in notes]
    reading = next((hit.explanation.reading for hit in hits), None)
    filled = memory.facts_asked(question, period=None if reading is None else reading.period)
    answer = _Answer(memory, question, hits, notes, now, cite=cite)
    if filled.period is not None and filled.exact:
        of_event = reading is not None and reading.event is not None
        return answer.extract(answer.tell_then(filled, of_event=of_event))
    if filled.period is None and (ending := answer.ending(filled)) is not None:
        answer.quote(ending.id, answer.words.verdict(Verdict.NO_LONGER, question), doubts=False)
        return answer.extract(Support.STRONG)
    whole = of_a_time(question, filled.period, now)
    if whole is not None:
        support = answer.tell_time(notes_of_a_time(memory, question, whole, hits, notes, now), whole)
        return replace(answer.extract(support), by_time=True)
    if not filled.exact and (done := notes_of_a_deed(memory, question, filled.period)):
        words = "" if filled.period is None else filled.period.words
        return replace(answer.extract(answer.tell_list(done, words)), by_time=True)
    if not filled.exact and (several := notes_of_a_sort(question, filled.period, hits, notes)):
        return answer.extract(answer.tell_list(several))
    if filled.period is not None and not filled.exact and answer.tell_whether_then(filled.period):
        return answer.extract(Support.STRONG)
    if not filled.exact and asks_when(question) and answer.tell_span():
        return answer.extract(Support.STRONG)
    identity: Sequence[str] = ()
    tells = tells_who(question)
    if tells is not None and not filled.exact and (identity := [hit.id for hit in hits if tells(hit.content)]):
        best, support = tuple(identity), Support.STRONG
    elif filled.topic and not filled.exact:
        # Only what speaks of the thing that is asked about says yes or no to it.
        stating = {id for each in (*filled.facts, *filled.ended) for id in each.notes}
        speaking = [hit for hit in hits if hit.id in stating or filled.topic & set(index_terms(hit.content))]
        support = min(support, best_support(speaking), key=_ORDER.index) if speaking else Support.NONE
        best = supporting(speaking) if support is not Support.NONE else ()
    else:
        best = supporting(hits) or tuple(hit.id for hit in sorted(hits, key=lambda hit: -hit.confidence))
    if filled.period is not None and support is Support.STRONG:
        then = _of_the_time(hits, notes, filled)
        best = tuple(id for id in best if id in then) or best
        support = support if best[0] in then else Support.WEAK
    if filled.period is not None and support is Support.WEAK and (before := answer.last_before(best, filled.period)):
        best = (before,)
    asides = _slots(filled.asides)
    if support is not Support.STRONG and not asides:
        # Whom one met, or where one was, is among what was noted of that time.
        rough = of_a_time(question, filled.period, now, roughly=True)
        found = [] if rough is None else notes_of_a_time(memory, question, rough, hits, notes, now)
        if rough is not None and found:
            answer.tell_time(found, rough, sure=False)
            return replace(answer.extract(Support.WEAK), by_time=True)
    replaced = (filled.ended and not filled.facts) or any(each.until is not None for each in filled.facts)
    if filled.exact and replaced:
        support = Support.STRONG  # however little the hits have of what came after, or is to come
    poor, least = support is Support.NONE or not best, 0.0
    if filled.period is not None and support is Support.WEAK:
        # What is as much to the point, and was noted before the time was over, was so then.
        inside = best[0] in _of_the_time(hits, notes, filled)
        little = answer.holds(best[0]) < _HELD and not _is_short(filled.period)
        poor, least = little or not inside, _HELD if inside else answer.holds(best[0]) or _HELD
    if poor and not asides and answer.tell_spanning(filled.period):
        return answer.extract(Support.WEAK)
    if poor and not asides and answer.tell_what_was(filled.period, least):
        return answer.extract(Support.WEAK)
    far = False
    if support is Support.NONE or not best:
        # An allergy that may be the same in another language is no reason to deny one.
        if asides or (near := answer.nearest()) is None:
            answer.say(answer.words.uncertain if asides else answer.words.not_in_memory.rstrip(answer.words.stop))
        else:
            answer.quote(near, f"{answer.words.not_in_memory.rstrip(answer.words.stop)}{answer.words.yet_nearest}")
        support = Support.NONE
    elif support is Support.WEAK and asides and not answer.is_near(best[0]):
        answer.say(answer.words.uncertain)
    elif support is Support.WEAK or not filled.exact or not answer.tell_facts(filled, best):
        # Of a time that is over nothing that was noted later makes what was noted then out of date.
        over = filled.period is not None and filled.period.until is not None and filled.period.until <= now
        far = support is Support.WEAK and not answer.is_near(best[0])
        if support is Support.STRONG and filled.period is None and answer.is_past(best[0]):
            support = Support.WEAK
        lead = "" if support is Support.STRONG else answer.words.far if far else answer.words.nearest
        if filled.period is None and (decided := answer.decided(best[0], filled.wider)):
            best, lead, support = (decided[0],), answer.words.verdict(decided[1], question), Support.STRONG
        answer.quote(best[0], lead, doubts=not over)
        support = Support.WEAK if answer.doubted else support
    else:
        support = Support.WEAK if answer.doubted else support
        if filled.several and filled.verdict is None and filled.period is None:
            answer.quote_unread()
    # What was noted later is of another time than one that is asked about, and no reason for what was before.
    causal = reading is not None and Intent.CAUSAL in reading.intents
    if filled.period is None and not (identity or causal or far):
        answer.quote_others(alike=support is not Support.STRONG)
        support = Support.WEAK if answer.doubted and support is Support.STRONG else support
    if filled.period is None and support is Support.STRONG and not causal and answer.quote_leaving():
        support = Support.WEAK
    if asides:
        answer.add_facts(asides)
        support = Support.WEAK if support is Support.NONE else support
    return answer.extract(support)


#: From the least on.
_ORDER = (Support.NONE, Support.WEAK, Support.STRONG)


class _Answer:
    """An answer while it is written: its clauses, and the notes that it cites."""

    def __init__(
        self,
        memory: Memory,
        question: str,
        hits: Sequence[Hit],
        notes: Mapping[str, MemoryNote],
        now: datetime,
        *,
        cite: bool,
    ) -> None:
        self._memory, self._question, self._now, self._cite = memory, question, now, cite
        self.words = lines_for(question)
        self._terms = frozenset(query_terms(question))
        self._wants_a_name = asks_for_a_name(question)
        self._hits = {hit.id: hit for hit in hits}
        self._notes = dict(notes)
        self._numbers: dict[str, int] = {}
        self._rests: dict[str, None] = {}
        self._clauses: list[str] = []
        #: Whether the last clause is a quotation, which has a full stop of its own.
        self._quoted = False
        self.doubted = False

    def extract(self, support: Support) -> Extract:
        text = self.words.semicolon.join(self._clauses) + ("" if self._quoted else self.words.stop)
        return Extract(f"{text[:1].upper()}{text[1:]}", tuple(self._rests), support)

    def is_near(self, id: str) -> bool:
        """Whether a hit comes near enough to be shown where nothing is certain; what must be heeded always does."""
        signs = self._hits[id].explanation.signs
        return signs is None or CALIBRATION.is_near(signs) or self._notes[id].kind is Kind.CONSTRAINT

    def nearest(self) -> str | None:
        """The hit that is nearest to what memory does not hold; None where none has anything to do with it."""
        held = [hit for hit in self._hits.values() if (signs := hit.explanation.signs) and _touches(signs)]
        return max(held, key=lambda hit: hit.confidence).id if held else None

    def say(self, clause: str) -> None:
        self._clauses.append(clause)
        self._quoted = False

    def tell_facts(self, filled: Filled, best: Sequence[str]) -> bool:
        """Say the facts that a question asks for and no more, if one rests on the best of the hits; whether it did."""
        facts = []
        over = [(each, True) for each in _slots(filled.ended)]
        for slot, ended in [*((each, False) for each in _slots(filled.facts)), *over]:
            rest = list(_rests_on(slot, self._notes, ended=ended))
            known = [id for id in rest if id in self._hits]
            if known and set(known) & set(best):
                facts.append((slot, known, ended))
            elif ended or any(each.until is not None for each in slot):
                # A note that tells of the end, which may lie ahead, has replaced it.
                facts.append((slot, rest, ended))
        lead = self.words.verdict(filled.verdict, self._question)
        for slot, rest, ended in facts[:_MOST_FACTS]:
            fact = self._memory.wording(slot, chinese=bool(self.words.language))
            after = [id for id in rest if self._note(id) is not None]
            quote = f"{self.words.colon}{self._quotation(after[0])}" if ended and after else ""
            cited = self._cited(after)
            doubt = "" if ended else self._doubt(rest, [each.object for each in slot]) or self._change(slot)
            # What may be out of date is no yes and no no.
            self.say(f"{'' if doubt else lead}{fact}{quote}{cited}{doubt}")
            lead = ""
        return bool(facts)

    def tell_time(self, notes: Sequence[MemoryNote], period: Period, *, sure: bool = True) -> Support:
        """List what is of a time, or say that nothing is; where it is not `sure` to answer, that, too."""
        span = self._span(period)
        if not notes:
            self.say(self.words.nothing_then.format(span))
            return Support.NONE
        words = f"{_inside(period.words)} ({span})" if period.words and not self.words.language else ""
        words = words or (f"{period.words}（{span}）" if period.words else span)
        return self.tell_list(notes, words if sure else f"{self.words.uncertain}{self.words.semicolon}{words}")

    def tell_list(self, notes: Sequence[MemoryNote], words: str = "") -> Support:
        """List notes that are in order of time, under these words of a time, if any; of many the last.

        Of a long note that is listed for its time alone the beginning tells most.
        """
        self._notes |= {note.id: note for note in notes}
        shown = notes[-_MOST_LISTED:]
        quotes = [f"{self._quotation(note.id, beginning=bool(words))}{self._cited([note.id])}" for note in shown]
        if len(notes) == 1:
            self.say(f"{words}{self.words.colon if words else ''}{quotes[0]}")
        else:
            count = self.words.notes if len(shown) == len(notes) else self.words.latest
            told = count.format(len(shown), len(notes))
            head = self.words.comma.join(filter(None, (words, told)))
            self.say("\n".join([f"{head}{self.words.colon.strip()}", *(f"- {quote}" for quote in quotes)]))
        self._quoted = True
        return Support.STRONG

    def _span(self, period: Period) -> str:
        """The days of a time."""
        if not self.words.language:
            return period.span()
        first = "" if period.since is None else f"{period.since:%Y-%m-%d}"
        last = "" if period.until is None else f"{period.until - timedelta(microseconds=1):%Y-%m-%d}"
        if first and last:
            return first if first == last else f"{first} 至 {last}"
        return f"{first} 起" if first else f"至 {last}"

    def tell_then(self, filled: Filled, *, of_event: bool) -> Support:
        """Say what was so in the time that is asked about, else what is known of the nearest time; how sure that is.

        `of_event` tells that the time is named by what happened then, in words that are the asker's own.
        """
        assert filled.period is not None
        chinese = bool(self.words.language)
        if not filled.facts:
            before = [id for id, hit in self._hits.items() if hit.support is not Support.NONE and self._was(id, filled)]
            if before:
                self.quote(max(before, key=lambda id: self._hits[id].confidence), self.words.nearest, doubts=False)
                return Support.WEAK
            nearest = filled.elsewhen[:1]
            fact = self._memory.wording(nearest, chinese=chinese, period=Period("", None, None))
            self.say(f"{self.words.nearest}{fact}{self._cited(self._known(nearest))}")
            return Support.WEAK
        words = self.words.then if of_event and filled.period.words else _inside(filled.period.words)
        period = replace(filled.period, words=words)
        lead = self.words.verdict(filled.verdict, self._question)
        for slot in _slots(filled.facts)[:_MOST_FACTS]:
            fact = self._memory.wording(slot, chinese=chinese, period=period)
            rest = self._known(slot)
            cited = self._cited(rest)
            objects = [each.object for each in slot if each.until is None]
            doubt = self._doubt(rest, objects) if objects else ""
            if objects and not doubt and (planned := self._planned(rest, filled.period)) is not None:
                doubt = self._outdated(planned)
            self.say(f"{lead}{fact}{cited}{doubt}")
            lead = ""
        return Support.WEAK if self.doubted else Support.STRONG

    def _planned(self, ids: Sequence[str], period: Period) -> str | None:
        """The later hit that plans a change of what these notes tell until the end of a time that lies ahead."""
        if period.until is None or period.until <= self._now:
            return None
        latest = max(map(self._at, ids), default=self._now)
        later = [hit for hit in self._hits.values() if self._at(hit.id) > latest and replaces(hit.content)]
        planned = [hit.id for hit in later if self.is_near(hit.id) and self._is_ahead(hit.id, period.until)]
        return max(planned, key=self._at, default=None)

    def _is_ahead(self, id: str, until: datetime) -> bool:
        """Whether a note names a day after the one it is of, and before this moment."""
        said = self._at(id).date()
        spans = [each.span for each in named_in_note(self._notes[id].content, said) if each.span is not None]
        return any(said < span.first < until.date() for span in spans)

    def holds(self, id: str) -> float:
        """How much of what is asked a hit holds, 0..1."""
        signs = self._hits[id].explanation.signs
        return signs.held if signs is not None else 0.0

    def tell_what_was(self, period: Period | None, least: float) -> bool:
        """Quote the note that comes nearest of those that something has taken the place of since, and where a time is
        asked about, of all until its end; whether one does that holds at `least` so much of what is asked."""
        past, asked = Filter(statuses=(Status.SUPERSEDED,)), self._question
        if period is not None:
            past = Filter(until=period.until, statuses=(Status.ACTIVE, Status.SUPERSEDED))
            asked = asked.replace(period.words, " ").strip() or asked
        hits = self._memory.ask(Query(asked, _MOST_GONE, past, touch=False, passages=True))
        found = [hit for hit in hits if hit.support is not Support.NONE and not self._is_taken_back(hit.id)]
        for hit in found:
            self._hits.setdefault(hit.id, hit)
        near = [hit for hit in found if self.is_near(hit.id) and self.holds(hit.id) >= least]
        if not near:
            return False
        best = max(near, key=lambda hit: hit.confidence)
        # What was noted last of the same was so then.
        alike = [hit for hit in near if period is not None and self.holds(hit.id) >= self.holds(best.id) > 0]
        self.quote(max(alike, key=lambda hit: self._at(hit.id), default=best).id, self.words.nearest, doubts=False)
        return True

    def _is_taken_back(self, id: str) -> bool:
        """Whether a note is not there, or what it said was taken back as if it had never been so."""
        note = self._note(id)
        if note is None:
            return True
        never = note.valid_to is not None and note.at is not None and note.valid_to <= note.at
        return note.status is Status.SUPERSEDED and note.superseded_by is None and never

    def _was(self, id: str, filled: Filled) -> bool:
        """Whether a hit was noted before a time was over, and states none of the facts of other times."""
        until = None if filled.period is None else filled.period.until
        stated = any(id in each.notes for each in filled.elsewhen)
        return until is not None and self._at(id) < until and not stated and self.is_near(id)

    def _known(self, slot: Sequence[Interval]) -> list[str]:
        """The notes that state these facts, as far as they are there."""
        return [id for id in dict.fromkeys(id for each in slot for id in each.notes) if self._note(id) is not None]

    def add_facts(self, slots: Iterable[Sequence[Interval]]) -> None:
        """Say facts that are no answer, but that whoever asks must not overlook."""
        for slot in slots:
            fact = self._memory.wording(slot, chinese=bool(self.words.language))
            rest = self._known(slot)
            self.say(f"{fact}{self._cited(rest)}{self._doubt(rest, [each.object for each in slot])}")

    def quote(self, id: str, lead: str, *, doubts: bool = True) -> None:
        """Quote a note; first what replaced a statement of it that the quotation holds, last what makes it doubtful."""
        quote = self._quotation(id)
        note, hit = self._notes[id], self._hits.get(id)
        gone = [each for each in note.overturned if each.by and each.text in quote and self._note(each.by) is not None]
        after = dict.fromkeys(each.by for each in gone if each.by != id)
        asked = () if hit is None else hit.explanation.matched
        rest = len(spans(holding_text(note.content, note.overturned), asked))
        told = after.keys() & self._rests.keys()
        first = [each.by for each in gone if each.by in after.keys() - told and len(spans(each.text, asked)) > rest]
        now = "".join(f"{self._quotation(by)}{self._cited([by])}{self.words.semicolon}" for by in dict.fromkeys(first))
        if doubts and not after and (newer := self._newer_against(id)) is not None:
            self.doubted = self._hits[newer].support is not Support.STRONG
            self.quote(newer, lead)
            self.quote(id, self.words.before, doubts=False)
            return
        cited = self._cited([id, *(by for by in after if by not in first)])
        doubt = self._doubt([id], [passage(note.content, asked).text] if asked else ()) if doubts else ""
        lead = "" if doubt and lead in self.words.verdicts else lead
        self.say(f"{lead}{now}{self.words.before if now else ''}{quote}{cited}{doubt}")
        self._quoted = True

    def quote_unread(self) -> None:
        """Quote the hits that hold all that is asked, and state nothing that is read as a fact."""
        unread = [
            hit
            for hit in self._hits.values()
            if hit.id not in self._rests
            and not self._notes[hit.id].facts
            and hit.support is not Support.NONE
            and hit.explanation.signs is not None
            and hit.explanation.signs.held >= _ALL
        ]
        for hit in unread[:_MOST_NEWER]:
            self.quote(hit.id, "")
            self._quoted = False  # an older note is no history of the facts before it

    def _newer_against(self, id: str) -> str | None:
        """The later hit that puts a hit in doubt and says as much to the question; None where none does."""
        for other in self._memory.doubted_by([id]):
            signs = [None if (hit := self._hits.get(each)) is None else hit.explanation.signs for each in (id, other)]
            old, new = signs
            if (
                old is not None
                and new is not None
                and new.held >= _NEARLY_AS_MUCH * old.held > 0
                and self._at(other) > self._at(id)
            ):
                return other if not self._follows(other, [id]) else None
        return None

    def quote_others(self, *, alike: bool) -> None:
        """Quote the newest hits that are nearly as much to the point and newer than what was told, else an older one.

        Notes say in many words that something changed, so whoever asks sees what was noted last, and what before it.
        An older one is quoted beside a quotation only: a fact has its own history. With `alike` the two notes have a
        word in common that is not asked for.
        """
        told = [hit for id in self._rests if (hit := self._hits.get(id)) is not None]
        if not told:
            return
        best, quoted = max(told, key=lambda hit: hit.score), self._quoted
        near = self._near(told, alike=alike)
        newest = max(self._at(hit.id) for hit in told)
        if newer := sorted((hit for hit in near if self._at(hit.id) > newest), key=lambda hit: self._at(hit.id)):
            for hit in newer[-_MOST_NEWER:]:
                # A fact that a later note corrects or changes is no certain one.
                self.doubted = self.doubted or (not quoted and (self._corrects(hit) or self._changes(hit, best)))
                self.quote(hit.id, self.words.later)
        elif self._quoted and not alike and (equal := [hit for hit in near if hit.score >= _NEARLY_EQUAL * best.score]):
            self.quote(equal[0].id, self.words.before, doubts=False)

    def quote_leaving(self) -> bool:
        """Quote the last note that says that somebody whom the answer names died, that a thing was sold or lost, or
        that somebody left where the question is for a person: then it may be out of date; whether one does."""
        if asks_how_things_were(self._question):
            return False
        leaves = asks_who(self._question) and not asks_for_kin(self._question)
        told = [self._notes[id] for id in self._rests if id in self._hits]
        if tells_who(self._question) and any(name in self._question for note in told for name in note.entities):
            return False  # whoever has left is still who they are
        latest = max((self._at(note.id) for note in told), default=self._now)
        bearing = [each for note in told for each in clauses(note.content) if self._terms & {*index_terms(each)}]
        named = [name for note in told for name in note.entities if name not in self._question]
        names = [name for name in named if any(name in each for each in bearing)] or named
        for name in names[:_MOST_NAMES]:
            found = self._memory.list(Filter(since=latest), limit=_MOST_OF_ONE, holding=[index_terms(name)])
            for note in found:
                after = note.at is not None and note.at > latest and note.id not in self._rests
                if not after or note.speaker is not None:
                    continue
                gone = tells_of_death(note.content, name) or tells_of_loss(note.content, name)
                if gone or (leaves and tells_of_leaving(note.content, name)):
                    self._notes[note.id] = note
                    self.quote(note.id, self.words.later, doubts=False)
                    return True
        return False

    def _near(self, told: Sequence[Hit], *, alike: bool) -> list[Hit]:
        """The hits that are nearly as much to the point as the best that is `told`, and say something else."""
        best = max(told, key=lambda hit: hit.score)
        terms = frozenset(index_terms(best.content))
        common = terms - self._terms if alike else terms
        asked = terms & self._terms
        return [
            hit
            for hit in self._hits.values()
            if hit.id not in self._rests
            and (hit.score >= _NEAR * best.score or self._corrects(hit) or self._changes(hit, best))
            and not is_of_another_owner(self._question, hit.content)
            and not asked.isdisjoint(index_terms(hit.content))
            and not common.isdisjoint(index_terms(hit.content))
            and all(set(index_terms(hit.content)) != set(index_terms(each.content)) for each in told)
        ]

    def _corrects(self, hit: Hit) -> bool:
        """Whether a hit holds all that is asked, and says that something is not as it was said."""
        signs = hit.explanation.signs
        return signs is not None and signs.held >= _ALL and takes_back(hit.content)

    def _changes(self, hit: Hit, best: Hit) -> bool:
        """Whether a later note holds so much of what is asked, and says that something changed or is one of few: its
        score lies far below that of the best there."""
        signs = hit.explanation.signs
        if signs is None or self._at(hit.id) <= self._at(best.id):
            return False
        if self._wants_a_name and not signs.lacks and not signs.strangers and replaces(hit.content):
            return True  # "Mia changes to Parkskolan"
        if not signs.strangers and any(self._terms & {*index_terms(what)} for what in told_anew(hit.content)):
            return True  # "Sabine will be my new boss", 换了班主任
        if signs.held >= _HELD and self._quoted and tells_instead(hit.content):
            return True
        if signs.read or signs.held < _HELD or not self._quoted:
            return False
        return signs.few >= _FEW or replaces(hit.content) or tells_what_is_now(hit.content)

    def decided(self, id: str, wider: str = "") -> tuple[str, Verdict] | None:
        """The note that says yes or no to the question, the latest of those that bear on it; this hit or one that is
        nearly as much to the point bears on it that speaks of it. What is not so of `wider` is not so, either."""
        near = {id, *(each.id for each in self._near([self._hits[id]], alike=False))}
        ids = sorted(self._hits, key=self._at, reverse=True)
        notes = [self._told(self._notes[each]) for each in ids]
        bearing = [each in near for each in ids]
        found = deciding(self._question, notes, self._now, bearing)
        if found is None and wider:
            found = deciding(wider, notes, self._now, bearing)
            found = None if found is None or found[1] is Verdict.YES else found
        if found is None or (found[1] is Verdict.YES and self._is_over_since(ids[found[0]])):
            return None
        return ids[found[0]], found[1]

    def _is_over_since(self, id: str) -> bool:
        """Whether a later hit ends a state that a note tells of, of whom or what the question names: who graduated
        studies nowhere."""
        states, at = states_asked(self._notes[id].content), self._at(id)
        later = [self._notes[each].content for each in self._hits if self._at(each) > at] if states else []
        return any(
            state.ended.search(text) and self._terms & {*index_terms(text)} for text in later for state in states
        )

    def ending(self, filled: Filled) -> MemoryNote | None:
        """The note that tells of the event by which the state is over that the question asks about, hit or not; None
        where none does, or a fact that it asks for has begun since."""
        if not (asks_yes_or_no(self._question) and (states := states_asked(self._question))):
            return None
        # A note that ends it need have no word of the question, and may lie behind the hits. Of a thing, such as what
        # one owns, it names the thing, and so is a hit. What tells that it is so matters only where something ended it.
        people, every = terms_of_people(self._question), dict(self._notes)
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
            and note.at <= self._now
            and note.speaker is None
            and any(state.ended.search(note.content) or state.stated.search(note.content) for state in states)
        ]
        telling.sort(key=lambda note: note.at or self._now, reverse=True)
        place = is_over(self._question, [self._told(note) for note in telling], self._now)
        if place is None:
            return None
        over = self._notes.setdefault(telling[place].id, telling[place])
        return None if any(each.since > self._at(over.id) for each in filled.facts) else over

    def is_past(self, id: str) -> bool:
        """Whether a question asks if somebody is in a state that lasts for a while, and a hit told of it longer ago, or
        where somebody moves, and a hit tells of no move."""
        if asks_for_a_move(self._question) and not tells_of_a_move(self._notes[id].content):
            return True
        if not asks_yes_or_no(self._question) or asks_how_things_were(self._question):
            return False
        ago = self._now - self._at(id)
        return any(state.lasts is not None and ago > state.lasts for state in states_asked(self._question))

    def _told(self, note: MemoryNote) -> Premise:
        gone = tuple(fact for fact in note.facts if not fact.holds and fact.object)
        return Premise(holding_text(note.content, note.overturned), note.at or self._now, gone)

    def tell_whether_then(self, period: Period) -> bool:
        """Say yes or no to whether something was so in a time by what was noted until its end; whether that tells."""
        if period.since is None or period.until is None or period.since > self._now:
            return False
        if not asks_yes_or_no(self._question):
            return False
        # What has been superseded since was so then.
        then = Filter(until=period.until, statuses=(Status.ACTIVE, Status.SUPERSEDED))
        asked = {part for term in self._terms for part in ([term[:_STEM]] if term.isascii() else term)}
        notes = [
            note
            for note in self._memory.list(then, limit=_LATEST)
            if note.at is not None and note.speaker is None and any(term in note.content.casefold() for term in asked)
        ]
        notes.sort(key=lambda note: note.at or self._now)
        question = self._question.replace(period.words, " ")
        told = [Premise(note.content, note.at or self._now) for note in notes]
        found = deciding_then(question, told, period.since, period.until)
        if found is None:
            return False
        places, verdict = found
        if verdict and any(
            self._at(id) < period.until for id in self._memory.doubted_by([notes[places[0]].id]) if self._note(id)
        ):
            return False  # something told before the time was over may have ended it
        self._notes |= {notes[place].id: notes[place] for place in places}
        self.quote(notes[places[0]].id, self.words.verdict(verdict, self._question), doubts=False)
        for place in places[1:]:
            self.quote(notes[place].id, self.words.later, doubts=False)
        return True

    def tell_spanning(self, period: Period | None) -> bool:
        """Quote the last hit that tells of days from before a day that is asked about until after it; whether one
        does."""
        if period is None or period.since is None or period.until is None or not _is_short(period):
            return False
        first, last = period.since.date(), (period.until - timedelta(microseconds=1)).date()
        # "On 6 December" may be of this year or the next.
        days = [(first, last), *([(_year_after(first), _year_after(last))] if period.yearless else [])]
        around = []
        for id in self._hits:
            text, said = self._notes[id].content, self._at(id).date()
            named = [each for each in named_in_note(text, said) if each.span is not None]
            spans = [(a, b) for a, b in pairwise(named) if leads_on(text[a.end : b.start])]
            told = [(a.span.first, b.span.last) for a, b in spans if a.span and b.span]
            if any(begun <= first and last <= over for begun, over in told for first, last in days):
                around.append(id)
        if not around:
            return False
        self.quote(max(around, key=self._at), self.words.nearest, doubts=False)
        return True

    def tell_span(self) -> bool:
        """Quote the notes in which what is asked about began and ended, if there are both; whether there are."""
        ids = sorted(self._hits, key=self._at)
        found = bounds(self._question, [self._notes[id].content for id in ids])
        if found is None:
            return False
        self.quote(ids[found[0]], "", doubts=False)
        self.quote(ids[found[1]], self.words.later, doubts=False)
        return True

    def last_before(self, best: Sequence[str], period: Period) -> str | None:
        """The last note before the end of a time that speaks of what is asked, where the best is later: what was so
        then was noted before. None where there is none."""
        if period.until is None or not best or self._at(best[0]) < period.until or _near(self._at(best[0]), period):
            return None
        asked = self._terms & frozenset(index_terms(self._notes[best[0]].content))
        before = [
            id
            for id in self._hits
            if self._at(id) < period.until and self.is_near(id) and asked & set(index_terms(self._notes[id].content))
        ]
        return max(before, key=self._at, default=None)

    def _at(self, id: str) -> datetime:
        return self._notes[id].at or datetime.min.replace(tzinfo=UTC)

    def _doubt(self, ids: Sequence[str], words: Sequence[str]) -> str:
        """That these words of notes may be out of date, and what the note says because of which they may.

        A note that says something of what is asked speaks against them, whichever statement it was held against.
        """
        concerned = self._memory.doubted_by(ids, words)
        against = [
            id
            for id in self._memory.doubted_by(ids)
            if (note := self._note(id)) is not None
            and (id in concerned or not self._terms.isdisjoint(index_terms(note.content)))
        ]
        return "" if not against or self._follows(against[0], ids) else self._outdated(against[0])

    def _outdated(self, id: str) -> str:
        """That what was told may be out of date because of this note."""
        self.doubted = True
        return f"{self.words.outdated}{self._quotation(id)}{self._cited([id])}"

    def _change(self, slot: Sequence[Interval]) -> str:
        """That these facts may be out of date, where a later note of no fact says that their thing was sold or lost,
        that what they forbid is allowed, or that their amount rises or falls."""
        if asks_how_things_were(self._question):
            return ""
        told = [note for each in slot for id in each.notes if (note := self._note(id)) is not None]
        latest = max((self._at(note.id) for note in told), default=self._now)
        for fact in slot:
            own = fact.subject in (USER, WE)
            named = [[term] for term in index_terms(fact.object)] + ([] if own else [index_terms(fact.subject)])
            found = self._memory.list(Filter(since=latest), limit=_MOST_OF_ONE, holding=named)
            lost = [note for note in found if tells_of_loss(note.content, fact.object)]
            if fact.predicate in _FORBIDS:
                lost += [note for note in found if _allows(note.content, fact, own=own)]
            if units := {*_UNITS.findall(fact.object)} if fact.object[:2].strip("€$£¥")[:1].isdigit() else set():
                hits = [hit for hit in self._hits.values() if (signs := hit.explanation.signs) and not signs.strangers]
                lost += [note for hit in hits if self._moves(note := self._notes[hit.id], units)]
            lost = [note for note in lost if self._at(note.id) > latest and note.speaker is None]
            if lost:
                last = max(lost, key=lambda note: self._at(note.id))
                return self._outdated(self._notes.setdefault(last.id, last).id)
        return ""

    def _moves(self, note: MemoryNote, units: Set[str]) -> bool:
        """Whether a note gives a number in one of these units for what is asked, and says that it changes."""
        return any(
            self._terms & {*index_terms(each)}
            and units & {*_UNITS.findall(each)}
            and NUMBER.search(each)
            and (rises(each) or replaces(each))
            for each in clauses(note.content)
        )

    def _follows(self, id: str, ids: Sequence[str]) -> bool:
        """Whether a note tells that the job has begun that others had in prospect, as an offer does, or of another than
        whom they say that it is over with."""
        facts = self._notes[id].facts
        gone = {each.predicate: each.object for other in ids if self._note(other) for each in self._ended(other)}
        if any(each.holds and gone.get(each.predicate, each.object) != each.object for each in facts):
            return True
        named = [fact.object for fact in facts if fact.holds and fact.predicate == "works_at" and fact.object]
        return any(each in self._notes[other].content for each in named for other in ids if self._note(other))

    def _ended(self, id: str) -> list[Fact]:
        """What a note says is so no more, of what it names."""
        return [each for each in self._notes[id].facts if not each.holds and each.object]

    def _cited(self, ids: Iterable[str]) -> str:
        for id in ids:
            self._rests.setdefault(id)
            self._numbers.setdefault(id, len(self._numbers) + 1)
        return " " + "".join(f"[{self._numbers[id]}]" for id in ids) if self._cite and ids else ""

    def _note(self, id: str) -> MemoryNote | None:
        """A note, read where the hits lack it."""
        if id not in self._notes and (note := self._memory.read(id)) is not None:
            self._notes[id] = note
        return self._notes.get(id)

    def _quotation(self, id: str, *, beginning: bool = False) -> str:
        """The sentence of a note that says most of what is asked, or with `beginning` its first, with who said it and
        when, and what became of it."""
        note = self._notes[id]
        text = " ".join(note.content.split())
        if len(text) > _WHOLE:
            hit = self._hits.get(id)
            held = " ".join((holding_text(note.content, note.overturned) or note.content).split())
            found = passage(held, ()) if hit is None or note.overturned or beginning else hit.passage
            text = held if len(held) <= _WHOLE else _with_ellipses(" ".join(found.text.split()), held)
        day = f"{note.at.astimezone(zone(self._memory.settings.timezone)):%Y-%m-%d}" if note.at else ""
        told = ", ".join(filter(None, (note.speaker or "", day)))
        gone = [self._mark(each, text) for each in note.overturned if " ".join(each.text.split()) in text]
        told = self.words.semicolon.join(filter(None, (told, *gone)))
        return f"“{text}”{f' ({told})' if told else ''}"

    def _mark(self, each: Overturned, text: str) -> str:
        """What became of a statement of a text that is quoted, which names it where the text says more."""
        said = " ".join(each.text.split())
        rest = text.replace(said, "", 1)
        named = f"“{said}” " if any(map(str.isalnum, rest)) else ""
        return f"{named}{mark(each, chinese=bool(self.words.language))}"


def _allows(text: str, fact: Interval, *, own: bool) -> bool:
    """Whether a text says that what a fact forbids is allowed."""
    terms = {*index_terms(fact.object)}
    parts = [each for each in clauses(text) if terms <= {*index_terms(each)} and tells_of_leave(each)]
    return any(is_of_the_speaker(each) if own else fact.subject in each for each in parts)


def _touches(signs: Signs) -> bool:
    """Whether a note that is no answer has something of what is asked."""
    return signs.held >= _SOME or signs.cosine >= _RELATED


def _with_ellipses(text: str, whole: str) -> str:
    """A part of a text, with an ellipsis where it begins or ends within a sentence."""
    start = whole.find(text)
    if start < 0:
        return text
    end = start + len(text)
    begun = any(first < start < last for first, last in sentence_bounds(whole))
    broken = any(
        first < end < last and any(map(str.isalnum, whole[end:last])) for first, last in sentence_bounds(whole)
    )
    return f"{'…' if begun else ''}{text}{'…' if broken else ''}"


def _of_the_time(hits: Iterable[Hit], notes: Mapping[str, MemoryNote], filled: Filled) -> set[str]:
    """The hits that are of the time that is asked about, as loosely as people name one, or state what was so in it."""
    stating = {id for each in filled.facts for id in each.notes}
    assert filled.period is not None
    near = [hit.id for hit in hits if hit.id in stating or _near(notes[hit.id].at, filled.period)]
    return {id for id in (*near, *timely(hits)) if id in stating or not _is_of_later(notes[id], filled.period)}


def _is_of_later(note: MemoryNote, period: Period) -> bool:
    """Whether a note says what is to be so only after a time: "the rent goes up from July" of May."""
    if period.until is None or note.at is None:
        return False
    first = starts_ahead(note.content, note.at.date())
    return first is not None and first >= period.until.date()


def _year_after(day: date) -> date:
    return day.replace(year=day.year + 1, day=min(day.day, 28) if day.month == 2 else day.day)


def _is_short(period: Period) -> bool:
    return period.since is None or period.until is None or period.until - period.since <= 2 * _LOOSE


def _near(moment: datetime | None, period: Period) -> bool:
    """Whether it lies in the period or so little outside that "last week" may mean it."""
    if moment is None:
        return False
    loose = _LOOSE if _is_short(period) else timedelta(0)
    begun = period.since is None or moment >= period.since - loose
    return begun and (period.until is None or moment < period.until + loose)


def _inside(words: str) -> str:
    """Words of time within a sentence: "in 2025" of "In 2025, where did I live?"."""
    return words[:1].lower() + words[1:] if words.split(" ")[0].lower() in _TIME_WORDS else words


def _slots(facts: Iterable[Interval]) -> list[list[Interval]]:
    """The facts of each subject and predicate."""
    slots: dict[tuple[str, str], list[Interval]] = {}
    for each in facts:
        slots.setdefault((each.subject, each.predicate), []).append(each)
    return list(slots.values())


def _rests_on(slot: Sequence[Interval], notes: Mapping[str, MemoryNote], *, ended: bool) -> Iterable[str]:
    """The notes that state it; of what has ended those that say so, or where that is presumed, said what was."""
    return dict.fromkeys(id for each in slot for id in (told_over(each, notes) if ended else each.notes))
