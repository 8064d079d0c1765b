"""An answer without a model: the fact that is asked for as a sentence, else the sentence of a note that fits best.

It is in the language of the question; a note that is quoted keeps its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from amem.clock import zone
from amem.conversation.evidence import ALL, HELD, Evidence, Shortfall
from amem.conversation.listing import notes_of_a_deed, notes_of_a_sort, notes_of_a_time, of_a_time, only_plans, timely
from amem.conversation.reply import lines_for
from amem.language import index_terms
from amem.language.asking import asked_for, asks_when, tells_who
from amem.language.states import leads_on
from amem.language.times import asks_ahead, named_in_note, starts_ahead
from amem.note import MemoryNote, Overturned, Status
from amem.query import Filter, Query
from amem.rendering import holding_text, mark
from amem.retrieval.confidence import Support, best_support, supporting, told_over
from amem.retrieval.entailment import Verdict, bounds
from amem.retrieval.explanation import bounds as sentence_bounds
from amem.retrieval.explanation import passage, spans
from amem.retrieval.question import Intent, Period

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from amem.conversation.ports import Memory
    from amem.language.intervals import Interval
    from amem.retrieval.fact_leg import Filled
    from amem.retrieval.hit import Hit

#: Backends that leave it open whether there is a model; that there is none is no failure then.
NAMES_NO_MODEL = frozenset(("auto", "offline"))
#: A longer note is quoted by the sentence that says most of what is asked.
_WHOLE = 200
#: So many slots are told of a question that asks for more.
_MOST_FACTS = 3
#: An older note whose score is this share of the best one's may answer as well, and is quoted with it.
_NEARLY_EQUAL = 0.9
#: So many newer notes are quoted beside one.
_MOST_NEWER = 2
#: So many notes are told of a time, or of a sort, that has more of them.
_MOST_LISTED = 10
#: Notes that are looked at for what was so once.
_MOST_GONE = 4
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
    # 1. Read which facts the question asks for, and of what time.
    hits = [hit for hit in hits if hit.id in notes]
    reading = next((hit.explanation.reading for hit in hits), None)
    filled = memory.facts_asked(question, period=None if reading is None else reading.period)
    evidence = Evidence(memory, question, hits, notes, now)
    answer = _Answer(memory, question, evidence, cite=cite)
    # 2. Say what answers it whole: facts of a time, the end of a state, or all notes of a time, a deed or a sort.
    if (whole := answer.tell_whole(filled, of_event=reading is not None and reading.event is not None)) is not None:
        return whole
    # 3. Choose the hits to rest on, and see how sure they are.
    best, support, is_identity = answer.chosen(filled, support)
    asides = _slots(filled.asides)
    # 4. Where none is sure, look for what was noted of the time, around it, or before something took its place.
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
        little = evidence.holds(best[0]) < HELD and not _is_short(filled.period)
        poor, least = little or not inside, HELD if inside else evidence.holds(best[0]) or HELD
    if poor and not asides and (answer.tell_spanning(filled.period) or answer.tell_what_was(filled.period, least)):
        return answer.extract(Support.WEAK)
    # 5. Say the facts, or quote the best note.
    far = False
    if support is Support.NONE or not best:
        # An allergy that may be the same in another language is no reason to deny one.
        if asides or (near := evidence.nearest()) is None:
            answer.say(answer.words.uncertain if asides else answer.words.not_in_memory.rstrip(answer.words.stop))
        else:
            answer.quote(near, f"{answer.words.not_in_memory.rstrip(answer.words.stop)}{answer.words.yet_nearest}")
        support = Support.NONE
    elif support is Support.WEAK and asides and not evidence.is_near(best[0]):
        answer.say(answer.words.uncertain)
    elif support is Support.WEAK or not filled.exact or not answer.tell_facts(filled, best):
        # Of a time that is over nothing that was noted later makes what was noted then out of date.
        over = filled.period is not None and filled.period.until is not None and filled.period.until <= now
        far = support is Support.WEAK and not evidence.is_near(best[0])
        if support is Support.STRONG and filled.period is None and evidence.is_past(best[0]):
            support = Support.WEAK
        lead = "" if support is Support.STRONG else answer.words.far if far else answer.words.nearest
        if filled.period is None and (decided := evidence.decided(best[0], filled.wider)):
            best, lead, support = (decided[0],), answer.words.verdict(decided[1], question), Support.STRONG
        answer.quote(best[0], lead, doubts=not over)
    elif filled.several and filled.verdict is None and filled.period is None:
        answer.quote_unread()
    support = Support.WEAK if answer.doubted and support is Support.STRONG else support
    # 6. Add what was noted later, what the note lacks, and what must not be overlooked.
    # What was noted later is of another time than one that is asked about, and no reason for what was before.
    causal = reading is not None and Intent.CAUSAL in reading.intents
    if filled.period is None and not (is_identity or causal or far):
        answer.quote_others(alike=support is not Support.STRONG)
        support = Support.WEAK if answer.doubted and support is Support.STRONG else support
    if filled.period is None and support is Support.STRONG and not causal and answer.quote_leaving():
        support = Support.WEAK
    if support is Support.WEAK and not far:
        answer.tell_why(filled.period)
    if asides:
        answer.add_facts(asides)
        support = Support.WEAK if support is Support.NONE else support
    return answer.extract(support)


#: From the least on.
_ORDER = (Support.NONE, Support.WEAK, Support.STRONG)


class _Answer:
    """An answer while it is written: its clauses, and the notes that it cites."""

    def __init__(self, memory: Memory, question: str, found: Evidence, *, cite: bool) -> None:
        self._memory, self._question, self._found, self._cite = memory, question, found, cite
        self.words = lines_for(question)
        self._numbers: dict[str, int] = {}
        self._rests: dict[str, None] = {}
        self._clauses: list[str] = []
        #: Whether the last clause is a quotation, which has a full stop of its own.
        self._quoted = False
        self.doubted = False

    def extract(self, support: Support) -> Extract:
        text = self.words.semicolon.join(self._clauses) + ("" if self._quoted else self.words.stop)
        return Extract(f"{text[:1].upper()}{text[1:]}", tuple(self._rests), support)

    def tell_whole(self, filled: Filled, *, of_event: bool) -> Extract | None:
        """Say what answers the question whole, if anything does; `of_event` as for `tell_then`."""
        memory, question, found, period = self._memory, self._question, self._found, filled.period
        hits = [*found.hits.values()]
        if filled.of_a_guest:
            # Whatever else was noted of somebody, what harms them has to be said to whoever cooks for them.
            self.add_facts(_slots(filled.facts))
            return self.extract(Support.STRONG)
        if period is not None and filled.exact:
            return self.extract(self.tell_then(filled, of_event=of_event))
        if period is None and (ending := found.ending(filled.facts)) is not None:
            self.quote(ending, self.words.verdict(Verdict.NO_LONGER, question), doubts=False)
            return self.extract(Support.STRONG)
        whole = of_a_time(question, period, found.now)
        if whole is not None:
            of_it = notes_of_a_time(memory, question, whole, hits, found.notes, found.now)
            return replace(self.extract(self.tell_time(of_it, whole)), by_time=True)
        if filled.exact:
            return None
        if done := notes_of_a_deed(memory, question, period):
            return replace(self.extract(self.tell_list(done, "" if period is None else period.words)), by_time=True)
        if several := notes_of_a_sort(question, period, hits, found.notes):
            return self.extract(self.tell_list(several))
        if period is not None and self.tell_whether_then(period):
            return self.extract(Support.STRONG)
        if asks_when(question) and self.tell_span():
            return self.extract(Support.STRONG)
        return None

    def chosen(self, filled: Filled, support: Support) -> tuple[tuple[str, ...], Support, bool]:
        """The hits that the answer rests on, the best first, how sure they are, and whether they say who somebody is;
        `support` is that of all hits."""
        found, tells = self._found, tells_who(self._question)
        hits = [*found.hits.values()]
        identity = [] if tells is None or filled.exact else [hit.id for hit in hits if tells(hit.content)]
        if identity:
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
            then = _of_the_time(hits, found.notes, filled)
            best = tuple(id for id in best if id in then) or best
            support = support if best[0] in then else Support.WEAK
        if filled.period is not None and support is Support.WEAK and (before := self.last_before(best, filled.period)):
            best = (before,)
        return best, support, bool(identity)

    def say(self, clause: str) -> None:
        self._clauses.append(clause)
        self._quoted = False

    def tell_facts(self, filled: Filled, best: Sequence[str]) -> bool:
        """Say the facts that a question asks for and no more, if one rests on the best of the hits; whether it did."""
        facts = []
        over = [(each, True) for each in _slots(filled.ended)]
        for slot, ended in [*((each, False) for each in _slots(filled.facts)), *over]:
            rest = list(_rests_on(slot, self._found.notes, ended=ended))
            known = [id for id in rest if id in self._found.hits]
            if known and set(known) & set(best):
                facts.append((slot, known, ended))
            elif ended or any(each.until is not None for each in slot):
                # A note that tells of the end, which may lie ahead, has replaced it.
                facts.append((slot, rest, ended))
        lead = self.words.verdict(filled.verdict, self._question)
        for slot, rest, ended in facts[:_MOST_FACTS]:
            fact = self._memory.wording(slot, chinese=bool(self.words.language))
            after = [id for id in rest if self._found.note(id) is not None]
            quote = f"{self.words.colon}{self._quotation(after[0])}" if ended and after else ""
            cited = self._cited(after)
            doubt = "" if ended else self._doubt(rest, [each.object for each in slot])
            doubt = doubt or ("" if ended else self._outdated(self._found.changing(slot)))
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
        self._found.notes |= {note.id: note for note in notes}
        shown = notes[-_MOST_LISTED:]
        plans = [bool(words) and not asks_ahead(self._question) and only_plans(note) for note in shown]
        leads = [self.words.planned if plan else "" for plan in plans]
        told = [f"{self._quotation(note.id, beginning=bool(words))}{self._cited([note.id])}" for note in shown]
        quotes = [f"{lead}{quote}" for lead, quote in zip(leads, told, strict=True)]
        if len(notes) == 1:
            self.say(f"{words}{self.words.colon if words else ''}{quotes[0]}")
        else:
            count = self.words.notes if len(shown) == len(notes) else self.words.latest
            head = self.words.comma.join(filter(None, (words, count.format(len(shown), len(notes)))))
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
            hits = self._found.hits.values()
            before = [hit for hit in hits if hit.support is not Support.NONE and self._was(hit.id, filled)]
            if before:
                self.quote(max(before, key=lambda hit: hit.confidence).id, self.words.nearest, doubts=False)
                return Support.WEAK
            nearest = filled.elsewhen[:1]
            fact = self._memory.wording(nearest, chinese=chinese, period=Period("", None, None))
            self.say(f"{self.words.nearest}{fact}{self._cited(self._found.known(nearest))}")
            return Support.WEAK
        words = self.words.then if of_event and filled.period.words else _inside(filled.period.words)
        period = replace(filled.period, words=words)
        lead = self.words.verdict(filled.verdict, self._question)
        for slot in _slots(filled.facts)[:_MOST_FACTS]:
            fact = self._memory.wording(slot, chinese=chinese, period=period)
            rest = self._found.known(slot)
            cited = self._cited(rest)
            objects = [each.object for each in slot if each.until is None]
            doubt = self._doubt(rest, objects) if objects else ""
            if objects and not doubt:
                doubt = self._outdated(self._found.planned(rest, filled.period))
            self.say(f"{lead}{fact}{cited}{doubt}")
            lead = ""
        return Support.WEAK if self.doubted else Support.STRONG

    def tell_what_was(self, period: Period | None, least: float) -> bool:
        """Quote the note that comes nearest of those that something has taken the place of since, and where a time is
        asked about, of all until its end; whether one does that holds at `least` so much of what is asked."""
        past, asked = Filter(statuses=(Status.SUPERSEDED,)), self._question
        if period is not None:
            past = Filter(until=period.until, statuses=(Status.ACTIVE, Status.SUPERSEDED))
            asked = asked.replace(period.words, " ").strip() or asked
        found, at = self._found, self._found.at
        asked_of = self._memory.ask(Query(asked, _MOST_GONE, past, touch=False, passages=True))
        hits = [hit for hit in asked_of if hit.support is not Support.NONE and not self._is_taken_back(hit.id)]
        for hit in hits:
            found.hits.setdefault(hit.id, hit)
        near = [hit for hit in hits if found.is_near(hit.id) and found.holds(hit.id) >= least]
        if not near:
            return False
        best = max(near, key=lambda hit: hit.confidence)
        # What was noted last of the same was so then.
        alike = [hit for hit in near if period is not None and found.holds(hit.id) >= found.holds(best.id) > 0]
        told = max(alike, key=lambda hit: at(hit.id), default=best).id
        after = found.notes[told].superseded_by if period is None else None
        if after is None or found.note(after) is None:
            self.quote(told, self.words.nearest, doubts=False)
        else:
            self.quote(after, self.words.nearest, doubts=False)
            self.quote(told, self.words.before, doubts=False)
        return True

    def _is_taken_back(self, id: str) -> bool:
        """Whether a note is not there, or what it said was taken back as if it had never been so."""
        note = self._found.note(id)
        if note is None:
            return True
        never = note.valid_to is not None and note.at is not None and note.valid_to <= note.at
        return note.status is Status.SUPERSEDED and note.superseded_by is None and never

    def _was(self, id: str, filled: Filled) -> bool:
        """Whether a hit was noted before a time was over, and states none of the facts of other times."""
        until = None if filled.period is None else filled.period.until
        stated = any(id in each.notes for each in filled.elsewhen)
        return until is not None and self._found.at(id) < until and not stated and self._found.is_near(id)

    def add_facts(self, slots: Iterable[Sequence[Interval]]) -> None:
        """Say facts that are no answer, but that whoever asks must not overlook."""
        for slot in slots:
            fact = self._memory.wording(slot, chinese=bool(self.words.language))
            rest = self._found.known(slot)
            self.say(f"{fact}{self._cited(rest)}{self._doubt(rest, [each.object for each in slot])}")

    def quote(self, id: str, lead: str, *, doubts: bool = True) -> None:
        """Quote a note; first what replaced a statement of it that the quotation holds, last what makes it doubtful."""
        quote = self._quotation(id)
        found, note, hit = self._found, self._found.notes[id], self._found.hits.get(id)
        gone = [each for each in note.overturned if each.by and each.text in quote and found.note(each.by) is not None]
        after = dict.fromkeys(each.by for each in gone if each.by != id)
        asked = () if hit is None else hit.explanation.matched
        rest = len(spans(holding_text(note.content, note.overturned), asked))
        told = after.keys() & self._rests.keys()
        first = [each.by for each in gone if each.by in after.keys() - told and len(spans(each.text, asked)) > rest]
        now = "".join(f"{self._quotation(by)}{self._cited([by])}{self.words.semicolon}" for by in dict.fromkeys(first))
        if doubts and not after and (newer := self._found.newer_against(id)) is not None:
            self.doubted = self._found.hits[newer].support is not Support.STRONG
            self.quote(newer, lead)
            self.quote(id, self.words.before, doubts=False)
            return
        cited = self._cited([id, *(by for by in after if by not in first)])
        doubt = self._doubt([id], [passage(note.content, asked).text] if asked else ()) if doubts else ""
        lead = "" if doubt and lead in self.words.verdicts else lead
        self.say(f"{lead}{now}{self.words.before if now else ''}{quote}{cited}{doubt}")
        self._quoted = True

    def tell_why(self, period: Period | None) -> None:
        """Say why the one note that is quoted as the nearest is no certain answer, where nothing else tells."""
        ids = [*self._rests]
        if self.doubted or len(ids) != 1 or not self._quoted or ids[0] not in self._found.hits:
            return
        why = self._found.shortfall(ids[0], period)
        words = {
            Shortfall.OTHERS: self.words.of_others,
            Shortfall.TIME: self.words.of_another_time,
            Shortfall.DETAIL: self.words.without_detail.format(asked_for(self._question)),
            Shortfall.PART: self.words.in_part,
            Shortfall.LITTLE: self.words.in_little,
        }
        if why is not None:
            self._clauses[-1] += words[why]
            self._quoted = False

    def quote_unread(self) -> None:
        """Quote the hits that hold all that is asked, and state nothing that is read as a fact."""
        unread = [
            hit
            for hit in self._found.hits.values()
            if hit.id not in self._rests
            and not self._found.notes[hit.id].facts
            and hit.support is not Support.NONE
            and hit.explanation.signs is not None
            and hit.explanation.signs.held >= ALL
        ]
        for hit in unread[:_MOST_NEWER]:
            self.quote(hit.id, "")
            self._quoted = False  # an older note is no history of the facts before it

    def quote_others(self, *, alike: bool) -> None:
        """Quote the newest hits that are nearly as much to the point and newer than what was told, else an older one.

        Notes say in many words that something changed, so whoever asks sees what was noted last, and what before it.
        An older one is quoted beside a quotation only: a fact has its own history. With `alike` the two notes have a
        word in common that is not asked for.
        """
        found, at = self._found, self._found.at
        told = [hit for id in self._rests if (hit := found.hits.get(id)) is not None]
        if not told:
            return
        best, quoted = max(told, key=lambda hit: hit.score), self._quoted
        near = found.beside(told, self._rests, alike=alike, quoted=quoted)
        newest = max(at(hit.id) for hit in told)
        if newer := sorted((hit for hit in near if at(hit.id) > newest), key=lambda hit: at(hit.id)):
            for hit in newer[-_MOST_NEWER:]:
                if hit.id in self._rests:
                    continue  # told before what it changes
                # A fact that a later note corrects or changes is no certain one.
                unsure = not quoted and (found.corrects(hit) or found.changes(hit, best, quoted=False))
                self.doubted = self.doubted or unsure
                self.quote(hit.id, self.words.later)
        elif self._quoted and not alike and (equal := [hit for hit in near if hit.score >= _NEARLY_EQUAL * best.score]):
            self.quote(equal[0].id, self.words.before, doubts=False)

    def quote_leaving(self) -> bool:
        """Quote the note that says that somebody or something that was told of is gone; whether one does."""
        if (gone := self._found.leaving(self._rests)) is None:
            return False
        self.quote(gone, self.words.later, doubts=False)
        return True

    def tell_whether_then(self, period: Period) -> bool:
        """Say yes or no to whether something was so in a time by what was noted until its end; whether that tells."""
        if (found := self._found.decided_then(period)) is None:
            return False
        ids, verdict = found
        self.quote(ids[0], self.words.verdict(verdict, self._question), doubts=False)
        for id in ids[1:]:
            self.quote(id, self.words.later, doubts=False)
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
        for id in self._found.hits:
            text, said = self._found.notes[id].content, self._found.at(id).date()
            named = [each for each in named_in_note(text, said) if each.span is not None]
            spans = [(a, b) for a, b in pairwise(named) if leads_on(text[a.end : b.start])]
            told = [(a.span.first, b.span.last) for a, b in spans if a.span and b.span]
            if any(begun <= first and last <= over for begun, over in told for first, last in days):
                around.append(id)
        if not around:
            return False
        self.quote(max(around, key=self._found.at), self.words.nearest, doubts=False)
        return True

    def tell_span(self) -> bool:
        """Quote the notes in which what is asked about began and ended, if there are both; whether there are."""
        ids = sorted(self._found.hits, key=self._found.at)
        found = bounds(self._question, [self._found.notes[id].content for id in ids])
        if found is None:
            return False
        self.quote(ids[found[0]], "", doubts=False)
        self.quote(ids[found[1]], self.words.later, doubts=False)
        return True

    def last_before(self, best: Sequence[str], period: Period) -> str | None:
        """The last note before the end of a time that speaks of what is asked, where the best is later: what was so
        then was noted before. None where there is none."""
        found, at, until = self._found, self._found.at, period.until
        if until is None or not best or at(best[0]) < until or _near(at(best[0]), period):
            return None
        terms = {id: frozenset(index_terms(note.content)) for id, note in found.notes.items() if id in found.hits}
        asked = found.terms & terms[best[0]]
        before = [id for id in terms if at(id) < until and found.is_near(id) and asked & terms[id]]
        return max(before, key=at, default=None)

    def _doubt(self, ids: Sequence[str], words: Sequence[str]) -> str:
        """That these words of notes may be out of date, and what the note says because of which they may."""
        return self._outdated(self._found.against(ids, words))

    def _outdated(self, id: str | None) -> str:
        """That what was told may be out of date because of this note, if any."""
        if id is None:
            return ""
        self.doubted = True
        return f"{self.words.outdated}{self._quotation(id)}{self._cited([id])}"

    def _cited(self, ids: Iterable[str]) -> str:
        for id in ids:
            self._rests.setdefault(id)
            self._numbers.setdefault(id, len(self._numbers) + 1)
        return " " + "".join(f"[{self._numbers[id]}]" for id in ids) if self._cite and ids else ""

    def _quotation(self, id: str, *, beginning: bool = False) -> str:
        """The sentence of a note that says most of what is asked, or with `beginning` its first, with who said it and
        when, and what became of it."""
        note = self._found.notes[id]
        text = " ".join(note.content.split())
        if len(text) > _WHOLE:
            hit = self._found.hits.get(id)
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
