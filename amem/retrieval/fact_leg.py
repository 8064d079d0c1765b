"""The facts leg and the slots of questions: which notes state what is asked."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from amem.language import held_terms, index_terms, normalize
from amem.language.asking import (
    AVOIDING,
    EATING,
    HARM,
    LIKING,
    MEDICINE,
    NEGATED,
    OPEN,
    TAKING,
    YES_NO,
    Asking,
    asks_for_a_device,
    asks_for_a_move,
    asks_yes_or_no,
    what_a_guest_eats,
)
from amem.language.intervals import Interval, intervals, same_value
from amem.language.predicates import (
    KIN_ZH,
    USER,
    WE,
    bare_name,
    canonical_subject,
    names_of,
    other_names,
    spellings,
    subject_key,
    value_key,
)
from amem.language.terms import content_terms, query_terms
from amem.language.times import asks_for_a_day_or_deed, may_name_a_time, mentions, without_earlier, without_tense
from amem.note import Status
from amem.retrieval.entailment import Verdict
from amem.retrieval.legs import ListAnswer
from amem.retrieval.question import Period
from amem.retrieval.router import spans
from amem.storage.search_tables import Stated, told_at

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set

    from amem.language.asking import Asked
    from amem.language.predicates import Predicates
    from amem.query import Filter
    from amem.retrieval.legs import Asked as Question
    from amem.retrieval.ranking import EligibleNotes
    from amem.settings import Settings
    from amem.storage.store import Session


# The facts leg: from the names in a question, along what is stated of them, to the notes that state what is asked.
#
# "Where does Ana's manager live?" names Ana and asks for two things: her manager, which brings in Priya, and where
# someone lives, which is stated of Priya. What is so no longer does not count, unless the past is asked for. It says
# nothing where a question asks for nothing that a predicate names.

#: Facts looked at for one hop, those true last first; and names that the first hop may bring in.
_HOPS = 2
LONGEST = 2_000
_MOST_FACTS = 200
_MOST_NAMES = 50
#: A fact between two names, or of somebody's somebody, answers more; what is so no longer, of a question that asks
#: for it, less.
_CLOSE = 0.25
_PAST = -0.5
#: What a fact is worth that fills the slot, where its object is not what the question says of it: "Ana likes chess" to
#: "which novels does Ana like".
_SLOT = 0.25
_OF_SOMEBODY = re.compile(r"['’]s |的")
SELF = re.compile(r"\b(?:[Ii]|[Mm]y|me|mine|myself)\b|我(?!们)|本人")
OURS = re.compile(r"\b(?:[Ww]e|[Oo]ur|us|ours)\b|我们|咱们")
ASKS_PAST = re.compile(
    r"\b(?:before|used to|previous(?:ly)?|former(?:ly)?|ever|once|history|in the past|originally|did|was|were)\b"
    r"|以前|之前|原来|原先|曾经?|过去|当时|历史|历任|先后"
)
_POSSESSIVE = re.compile(r"(?:[Mm]y|\w[\w.\-]*(?:\s\w[\w.\-]*)?['’]s?)\s+\w+")


#: 妈妈的生日是哪天: without 我 it is one's own that is meant.
_KIN_ALONE = re.compile(KIN_ZH)


def named(text: str, user: str) -> dict[str, str]:
    """Every run of words in a question that may name a subject: its key, as facts have it, with the run itself."""
    canonical = {subject_key(name): who for who in (WE, USER) for name in spellings(who, user)}
    runs = spans(text)
    owned = [*_POSSESSIVE.findall(text), *(run for run in runs if run[0] == "我" or "的" in run)]
    keys = {subject_key(run): run for run in runs}
    keys |= {subject_key(canonical_subject(each, user=user)): each for each in owned}
    keys |= {subject_key(canonical_subject(f"我{run}", user=user)): run for run in runs if _KIN_ALONE.fullmatch(run)}
    keys |= {subject_key(bare): run for run in runs if (bare := bare_name(run.capitalize())) != run.capitalize()}
    return {canonical.get(key, key): run for key, run in keys.items()}


@dataclass(frozen=True, slots=True)
class _Way:
    """How a note was reached: the facts on the way, the last one its own, and the predicates they answer."""

    score: float
    facts: tuple[Stated, ...]
    answered: frozenset[str]
    #: Whether its last fact is so; what was so once leads no further.
    so: bool = True

    def words(self) -> tuple[str, ...]:
        return tuple(" ".join(filter(None, (each.subject, each.predicate, each.object))) for each in self.facts)


class FactsLeg:
    """Ranks notes by how much of what the question asks their facts answer, within two hops of its names."""

    name = "facts"

    def __init__(self, settings: Settings, predicates: Callable[[], Predicates]) -> None:
        self._user = settings.user_name
        self._predicates = predicates

    @cached_property
    def _asking(self) -> Asking:
        return Asking(self._predicates())

    def ask(self, question: Question) -> ListAnswer | None:
        """Candidates whose facts answer what is asked of the names; None where nothing is asked or nobody named.

        Raises InvalidInput for a table of predicates that cannot be read.
        """
        # What is longer than this is no question but a page to find the like of.
        session, eligible, text = question.session, question.eligible, question.reading.text[:LONGEST]
        text = " ".join((text, *self._predicates().general(text)))
        asked = self._asking.of(text)
        # One look at the index is all it takes to see that there is nothing to say.
        names = session.facts.known(self._names(text), self._spelled(asked))
        past = Status.SUPERSEDED in eligible.wanted.statuses or ASKS_PAST.search(text) is not None
        ways = self._walk(session, asked, names, eligible, past=past) if names else {}
        if not ways:
            return None
        rest = self._rest(text, asked, names)
        worth = {key: way.score * _match(text, rest, way.facts[-1].object) for key, way in ways.items()}
        best = sorted(ways, key=lambda key: (-worth[key], -key))[: question.limit]
        return ListAnswer(
            best,
            [worth[key] for key in best],
            max(way.score for way in ways.values()),
            {key: ways[key].words() for key in best},
            ties_share=True,
        )

    def _names(self, text: str) -> frozenset[str]:
        """Every run of words that may be a name, as facts are keyed; who speaks and who we are among them."""
        speaking = {USER} if SELF.search(text) else set()
        together = {WE} if OURS.search(text) else set()
        return frozenset(set(named(text, self._user)) | speaking | together)

    def _rest(self, text: str, asked: Asked, names: Set[str]) -> set[str]:
        """What a question says beside its names and predicates: "novels" of "what novels does Ana like"."""
        predicates = self._predicates()
        words = [run for key, run in named(text, self._user).items() if key in names]
        for predicate in asked.predicates:
            words += _phrases(predicates, predicate, asked.roles)
        return _left_over(text, words)

    def _walk(
        self, session: Session, asked: Asked, names: Set[str], eligible: EligibleNotes, *, past: bool
    ) -> dict[int, _Way]:
        ways: dict[int, _Way] = {}
        frontier: Mapping[str, _Way] = dict.fromkeys(names, _Way(0.0, (), frozenset()))
        for _ in range(_HOPS):
            reached = list(self._step(session, asked, frontier, names, eligible, past=past))
            for way in reached:
                key = way.facts[-1].note
                if key not in ways or ways[key].score < way.score:
                    ways[key] = way
            frontier = _brought(reached, asked, names)
            if not frontier:
                break
        return ways

    def _step(
        self,
        session: Session,
        asked: Asked,
        frontier: Mapping[str, _Way],
        names: Set[str],
        eligible: EligibleNotes,
        *,
        past: bool,
    ) -> Iterator[_Way]:
        predicates = self._predicates()
        stated = session.facts.stated(frontier, self._spelled(asked), _MOST_FACTS)
        admitted = set(eligible.passing({each.note for each in stated}))
        stated = [each for each in stated if each.note in admitted]
        so = self._so(session, {each.subject_key for each in stated}, asked, eligible.wanted) if stated else {}
        for each in stated:
            predicate = predicates.canonical(each.predicate)
            role = predicates.role(each.object) if predicates.row(predicate).one == "role" else None
            holds = any(same_value(each.object, value) for value in so.get((each.note, predicate), ()))
            if not asked.covers(predicate, role) or not (holds or past):
                continue
            for name in (each.subject_key, each.object_key):
                way = frontier.get(name)
                if way is None or predicate in way.answered:
                    continue
                close = {each.subject_key, each.object_key} <= names or _OF_SOMEBODY.search(name) is not None
                score = way.score + 1.0 + _CLOSE * close + (0.0 if holds else _PAST)
                yield _Way(score, (*way.facts, each), way.answered | {predicate}, holds)

    def _so(
        self, session: Session, subjects: Collection[str], asked: Asked, wanted: Filter
    ) -> Mapping[tuple[int, str], list[str]]:
        """What is so of these subjects, at the time that the filter asks for: values by note and predicate."""
        predicates = self._predicates()
        if wanted.known_at is not None:
            told = told_at(session, list(subjects), wanted.known_at)
        else:
            bases = filter(None, map(predicates.hangs_on, asked.predicates))
            told = session.facts.about(subjects, [*self._spelled(asked), *self._names_of(bases)])
        keys = {each.note: each.order for each in told}
        denied = {
            (each.subject, predicates.canonical(each.predicate), value_key(each.object)): each
            for each in told
            if not each.holds and each.object
        }
        moment = wanted.as_of or wanted.known_at or session.now
        so: dict[tuple[int, str], list[str]] = {}
        ended: dict[tuple[str, str], Interval] = {}
        holding: set[tuple[str, str]] = set()
        for each in intervals(told, predicates):
            if each.until is None or each.ended_by is not None:
                denied.pop((each.subject, each.predicate, value_key(each.object)), None)
            if each.at(moment):
                holding.add((each.subject, each.predicate))
                for note in each.notes:
                    so.setdefault((keys[note], each.predicate), []).append(each.object)
            elif each.until is not None and each.until <= moment and each.ended_by in keys:
                ended[each.subject, each.predicate] = each
        for (subject, predicate), last in ended.items():
            if (subject, predicate) not in holding and last.ended_by is not None:
                # Where nothing took its place, the note that says it is over says what is so now.
                so.setdefault((keys[last.ended_by], predicate), []).extend((last.object, ""))
        for (_, predicate, _), word in denied.items():
            # That it is not so, where nothing says that it ever was, or what came after: 咖啡戒掉了.
            so.setdefault((word.order, predicate), []).append(word.object)
        return so

    def _spelled(self, asked: Asked) -> list[str]:
        return [*asked.words, *self._names_of(asked.predicates)]

    def _names_of(self, predicates: Iterable[str]) -> list[str]:
        """These predicates under every name that a note may have for them, folded."""
        rows = self._predicates().rows
        return [normalize(each) for name in predicates for each in (name, *rows[name].aliases)]


def _match(text: str, rest: Set[str], object: str) -> float:
    """How far the object of a fact is what a question asks for beside the slot, 0..1."""
    if not rest or _names(text, object):
        return 1.0
    return max(_SLOT, len(rest & set(index_terms(object))) / len(rest))


def _brought(reached: Iterable[_Way], asked: Asked, names: Set[str]) -> dict[str, _Way]:
    """The names that the first hop's facts bring in, each by the best way, where something is left to be answered."""
    found: dict[str, _Way] = {}
    for way in reached:
        fact = way.facts[-1]
        if not way.so or asked.predicates <= way.answered:
            continue
        for name in {fact.subject_key, fact.object_key} - names:
            if name not in found or found[name].score < way.score:
                found[name] = way
    best = sorted(found.items(), key=lambda each: -each[1].score)[:_MOST_NAMES]
    return dict(best)


# The facts that fill the slot a question asks for: "who is my landlord", 我对什么过敏, "which school does Mia go to".
#
# Stricter than the facts leg, which finds notes: here the subject has to be the one that is asked about ("my sister's
# manager" is not mine), and what comes back may be said as the answer.

#: "My landlord", "Ana's current manager": whose, and the words that may name what.
_OWNED = re.compile(
    r"(?P<whose>\b(?:my|our)\b|\b(?!(?:what|who|when|where|how)['’]s)\w[\w.-]*['’]s?(?= ))"
    r"\s+(?P<noun>\w+(?:[ -]\w+){0,2})",
    re.IGNORECASE,
)
_PASSING = re.compile(r"(?:(?:new|current|present|own|old|latest) )+", re.IGNORECASE)
#: Words of the speaker alone; "my" and 我妹妹 are of somebody else.
_SPEAKS = re.compile(r"\b(?:I|we)\b|我们?(?=[住在对吃用喜讨过开是能可该还上有换搬叫])")
#: In 我的经理是陈丽吗 the value is named, not the subject.
_MINE_IS = re.compile(r"(?P<whose>我们?)的(?P<noun>\w{1,6}?)是(?!谁|什么|哪|多少|几)")
_KIN = re.compile(rf"我们?家?的?(?P<noun>{KIN_ZH})")
_REQUEST = re.compile(
    r"\b(?:tell|remind|show|give|let) me(?: know)?\b|\bdo (?:you|i) know\b|告诉我|提醒我|我想知道|你?知道",
    re.IGNORECASE,
)
#: What a question may hold beside its subject and its slot without asking for more.
_PLAIN = frozenset(
    query_terms(
        "now currently current still today these days moment right present tell know name called exactly go goes get "
        "much many do does have has please anything thing allowed safe new live stay"
    )
)
_PLAIN_ZH = re.compile(
    r"什么时候|什么|多少钱?|哪一?天|日期|哪里|哪儿|哪个|哪家|哪所|哪位|哪|谁|怎么样?|几|现在|目前|如今|当前|还|可以|能不能|可不可以|能|会|吗|呢|吧|啊|的|了|是|在|对|用|叫|请问|告诉"
    r"|我们|我|你|知道|一下|个月?|月|每|去|上|名字|号码?|有没有|有|东西|里|家|到底|[，。？！?!,.\s]"
)


#: What "when is" asks for.
_ON_DAYS = frozenset(("date", "time", "deadline"))
_HARMS = frozenset(("allergic_to", "intolerant_to", "cannot_eat"))


@dataclass(frozen=True, slots=True)
class Filled:
    """The facts that fill what a question asks for: those that may do harm first, then the first said first.

    `exact` says that the question asks for nothing else: "where do I work", not "what did I do at work in May".
    `ended` holds what filled the slot last where nothing does now: "am I vegetarian" of one who was until June.
    `asides` are safety facts that do not name the one thing a yes/no question is about: "may I eat meat?" of one who is
    allergic to penicillin. They may be said beside an answer and are none; `topic` has the index terms of that thing.

    Where the question names a `period`, `facts` are those that were so in it, and `elsewhen` what filled the slot at
    other times only, the nearest first. `verdict` is what a question for a yes or a no has for an answer, as far as
    that can be told: NO where what it names was so at other times only, and something else then. `wider` is the
    question for what its things fall under (coffee for lattes), '' where that is the same; `several` tells that the
    slot has room for more than one value. `of_a_guest` says that the question is what to cook for somebody, and that
    the facts are what they do not eat.
    """

    facts: tuple[Interval, ...] = ()
    ended: tuple[Interval, ...] = ()
    exact: bool = False
    asides: tuple[Interval, ...] = ()
    topic: frozenset[str] = frozenset()
    period: Period | None = None
    elsewhen: tuple[Interval, ...] = ()
    verdict: Verdict | None = None
    wider: str = ""
    several: bool = False
    of_a_guest: bool = False


class Slots:
    """Reads which slot of whom a question asks for, and what fills it."""

    def __init__(self, settings: Settings, predicates: Callable[[], Predicates]) -> None:
        self._user = settings.user_name
        self._predicates = predicates

    @cached_property
    def _asking(self) -> Asking:
        return Asking(self._predicates())

    def filled(self, session: Session, text: str, moment: datetime, period: Period | None = None) -> Filled:
        """The facts that hold at `moment` of the subject that `text` names, in the slot that it asks for.

        With `period`, the time that the text names, those that were so in it. No facts where it names nobody, asks for
        no slot of the table, or nothing is known. Raises InvalidInput for a table of predicates that cannot be read.
        """
        if guest := what_a_guest_eats(text[:LONGEST]):
            found = self._filled(session, guest, moment, None)
            if found.exact and any(each.subject not in (USER, WE) for each in found.facts):
                return replace(found, of_a_guest=True)
        found = self._filled(session, text, moment, period)
        wider, rows = self._predicates().widened(text[:LONGEST]), self._predicates().rows
        several = any(each.predicate in rows and not rows[each.predicate].one for each in found.facts)
        return replace(found, wider="" if wider == text else wider, several=several)

    def _filled(self, session: Session, text: str, moment: datetime, period: Period | None) -> Filled:
        if earlier := self._earlier(session, text, moment):
            return Filled(earlier, exact=True, period=Period("", None, None))
        if period is not None:
            text = text.replace(period.words, " ")
        text = _REQUEST.sub(" ", text[:LONGEST].replace("’", "'").replace("for a living", "as a profession"))
        text = " ".join((text, *self._predicates().general(text)))
        rest, chain, whose = self._chain(text)
        asked = self._asking.of(rest)
        if asks_for_a_device(text):
            asked = replace(asked, predicates=asked.predicates - {"phone_number"})
        wanted = asked.predicates & self._predicates().rows.keys()
        if asks_for_a_move(text) or (not wanted and not chain):
            return Filled(period=period)
        subjects, names = self._subjects(session, text, whose, asked)
        by_chain = self._asking.of(chain) if chain else asked
        if "avoids" in by_chain.predicates:
            by_chain = replace(by_chain, predicates=by_chain.predicates | _HARMS)  # nor does one eat what harms
        found, ended, elsewhen = self._of(session, subjects, by_chain, moment, period)
        if not (found or ended or chain) and asked.predicates & _HARMS:
            # Whoever asks for allergies wants to hear of what makes ill by another name, too.
            found, ended, elsewhen = self._of(session, subjects, replace(asked, predicates=_HARMS), moment, period)
        if wanted <= _ON_DAYS and any(self._takes_a_day(each) for each in by_chain.predicates):
            wanted = frozenset()  # "When is Joel's birthday?" asks for the birthday, and for nothing of it
        if chain and wanted and (further := {subject_key(each.object) for each in found}):
            found, ended, elsewhen = self._of(session, further, asked, moment, period)
        found, ended, elsewhen = (self._of_what_is_taken(text, each) for each in (found, ended, elsewhen))
        if yes_or_no := asks_yes_or_no(text):
            # Whoever avoids coriander may well eat meat.
            found = [each for each in found if each.predicate != "avoids" or _names(text, each.object)]
        left = self._left_over(text, [*found, *ended, *elsewhen], [*names, chain])
        verdict: Verdict | None = None
        if YES_NO.search(text) and (period is not None or not OPEN.search(text)):
            verdict = self._verdict(text, found, [*ended, *elsewhen], timed=period is not None)
        asides: list[Interval] = []
        safety = [each for each in (*found, *ended) if self._predicates().is_safety(each.predicate)]
        naming = [each for each in safety if _names(text, each.object)]
        # "May I eat fish?": what is asked of an allergy is whether it is one.
        exact = bool(found or ended) and len(left) <= bool(safety)
        topic: frozenset[str] = frozenset()
        refused = any(each.predicate == "avoids" for each in found)
        if safety and (left or naming or refused) and yes_or_no:
            beside = [each for each in safety if each not in naming]
            # Where one allergy is named, the others are none of the question.
            asides = [each for each in found if each in beside and not naming]
            found = [each for each in found if each not in beside]
            ended = [each for each in ended if each not in beside]
            topic = frozenset(left) | {term for each in naming for term in index_terms(each.object)}
            exact = exact and bool(found or ended)
        if period is None:
            timed = ASKS_PAST.search(text) is not None
            timed = timed or (may_name_a_time(text) and bool(mentions(text, moment.date())))
            exact = exact and not timed
            return Filled(tuple(found), tuple(ended), exact, tuple(asides), topic, verdict=verdict if exact else None)
        # In a question about a time the past is no more than its tense; when something began is not in the slot.
        exact = not left and not asks_for_a_day_or_deed(text) and not ASKS_PAST.search(without_tense(text))
        exact = exact and bool(found or ended or elsewhen) and not topic
        return Filled(
            tuple(found), tuple(ended), exact, tuple(asides), topic, period, tuple(elsewhen), verdict if exact else None
        )

    def _earlier(self, session: Session, text: str, moment: datetime) -> tuple[Interval, ...]:
        """What was so before what is so now, or before the value that the question names ("my manager before Ana").

        Only of slots that hold one value at a time, and where nothing else is asked.
        """
        asking = without_earlier(_REQUEST.sub(" ", text[:LONGEST].replace("’", "'")))
        if asking is None or YES_NO.search(asking) or asks_for_a_day_or_deed(asking):
            return ()
        rest, chain, whose = self._chain(asking)
        asked = self._asking.of(rest)
        if chain and asked.predicates & self._predicates().rows.keys():
            return ()
        asked = self._asking.of(chain) if chain else asked
        if name := self._predicates().names.get(normalize(chain)):
            asked = replace(asked, predicates=frozenset((name,)))  # a phone is used, too; a phone number is not
        rows = self._predicates().rows
        asked = replace(asked, predicates=frozenset(each for each in asked.predicates if each in rows))
        if not asked.predicates or any(rows[each].one is not True for each in asked.predicates):
            return ()
        subjects, names = self._subjects(session, asking, whose, asked)
        if "我的" in asking:  # 赵敏之前我的经理 is mine
            subjects, names = {USER}, []
        every = self._of(session, subjects, asked, moment, Period("", None, None))[0]
        if self._left_over(asking, every, [*names, chain]):
            return ()
        said = set(index_terms(asking))
        named = [each for each in every if said & set(index_terms(each.object))]
        if not named:
            return tuple(each for each in every if each.until is not None and each.until <= moment)
        first = min(each.since for each in named)
        return tuple([each for each in every if each.since < first][-1:])

    def _verdict(
        self, text: str, found: Sequence[Interval], others: Sequence[Interval], *, timed: bool
    ) -> Verdict | None:
        """Whether what a question names is so, or was in its time; None where it names nothing, or nothing tells.

        `others` are of other times; where the question is not `timed`, of the past.
        """
        if NEGATED.search(text):
            return None
        if naming := [each for each in found if _names(text, each.object) or self._begins(text, each)]:
            told = {self._told(text, each.predicate) for each in naming}
            return told.pop() if len(told) == 1 else None
        rows = self._predicates().rows
        gone = [each for each in others if _names(text, each.object)]
        # What has no other value is over; a second like, pet or tool leaves the first.
        single = all(each.predicate in rows and rows[each.predicate].one is True for each in (*found, *gone))
        if not gone or (found and not single) or (timed and not found):
            return None
        if any(self._told(text, each.predicate) is not Verdict.YES for each in gone):
            return None
        return Verdict.NO if timed else Verdict.NO_LONGER

    def _begins(self, text: str, fact: Interval) -> bool:
        """Whether a question has the first word of the name that a fact gives: Brightwell of "Brightwell Analytics".

        New York is no York, and Porto Alegre no Porto.
        """
        row = self._predicates().rows.get(fact.predicate)
        first = fact.object.split(" ")[0]
        named = row is not None and row.value == "name" and first[:1].isupper() and first != fact.object
        return named and re.search(rf"\b{re.escape(first)}\b", text) is not None

    def _of_what_is_taken(self, text: str, facts: Sequence[Interval]) -> list[Interval]:
        """The facts without medicines where a question is for what is eaten, and without food where it is for those."""
        takes = self._predicates().rows.get("takes_medication")
        if takes is None or not OPEN.search(text) or not (EATING.search(text) or MEDICINE.search(text)):
            return list(facts)
        wants, known = MEDICINE.search(text) is not None, tuple(takes.known)

        def is_medicine(each: Interval) -> bool:
            named = normalize(each.object)
            return each.predicate == takes.name or MEDICINE.search(named) is not None or named.startswith(known)

        mixed = _HARMS | {takes.name}
        return [each for each in facts if each.predicate not in mixed or is_medicine(each) is wants]

    @staticmethod
    def _told(text: str, predicate: str) -> Verdict | None:
        """What a fact of what is named says to a question: an allergy says no to "may I eat", a dislike to "do I like".

        Yes to an allergy is said only where the question calls it one.
        """
        if predicate in _HARMS and not HARM.search(text):
            return Verdict.NO if TAKING.search(text) else None
        refuses = predicate == "avoids" and TAKING.search(text) and not AVOIDING.search(text)
        return Verdict.NO if refuses or (predicate == "dislikes" and LIKING.search(text)) else Verdict.YES

    def _chain(self, text: str) -> tuple[str, str, str]:
        """The text without "my landlord", the noun of it where that is a slot, and whose it is.

        In Chinese the noun needs no taking out, as a question asks for it by the same word.
        """
        for match in _OWNED.finditer(text):
            noun = _PASSING.sub("", match["noun"])
            words = noun.split(" ")
            for length in range(len(words), 0, -1):
                name = " ".join(words[:length])
                if self._is_slot(name):
                    start = match.start("noun") + match["noun"].index(noun)
                    return f"{text[: match.start()]} {text[start + len(name) :]}", name, match["whose"].casefold()
        return text, "", ""

    def _takes_a_day(self, predicate: str) -> bool:
        return self._predicates().row(predicate).value == "date"

    def _is_slot(self, noun: str) -> bool:
        predicates, folded = self._predicates(), normalize(noun)
        singular = folded.removesuffix("s")
        asks = {normalize(word) for row in predicates.rows.values() for word in row.asks}
        names = predicates.names.keys() | asks | {role.replace("_", " ") for role in predicates.role_names}
        return folded in names or singular in names

    def _subjects(self, session: Session, text: str, whose: str, asked: Asked) -> tuple[set[str], list[str]]:
        """The keys of the subjects that are asked about, and the words that name them."""
        runs: dict[str, str] = {}
        for key, run in named(text, self._user).items():
            for name in (key, *other_names(key)) if key not in (USER, WE) else ():
                # 妈妈 of 我妈妈, which begins with 我妈.
                runs[name] = max(runs.get(name, ""), run, key=lambda run: len(run.lstrip("我的")))
        known = session.facts.known(frozenset(runs), list(self._spelled(self._predicates().rows)))
        known = {key for key in known if not any(key != other and key in other for other in known)}
        left = text
        for key in known:
            left = left.replace(runs[key], " ")
        if whose not in ("", "my", "our"):
            owners = {key for key in known if key in (whose.removesuffix("'s"), whose.removesuffix("'"))}
            return owners, [runs[key] for key in owners]
        if whose or _SPEAKS.search(left):
            # "Do I live in Porto?" is asked of me, though Porto has a name.
            return ({WE, USER} if OURS.search(text) else {USER}), []
        mine = _MINE_IS.search(text)
        if mine is not None and self._is_slot(mine["noun"]):
            return ({USER} if mine["whose"] == "我" else {WE, USER}), []
        if known:
            return known, [runs[key] for key in known]
        kin = _KIN.search(left)
        if _OWNED.search(left) or (kin and not self._is_slot(kin["noun"])):
            return set(), []  # "my sister", of whom nothing is known, is not me
        if OURS.search(left):
            return {WE, USER}, []
        rows = self._predicates().rows
        own = all(rows[each].personal or rows[each].safety for each in asked.predicates if each in rows)
        # "How much is the rent?" is asked of one's own.
        return ({USER} if own or SELF.search(left) else set()), []

    def _of(
        self,
        session: Session,
        subjects: Collection[str],
        asked: Asked,
        moment: datetime,
        period: Period | None = None,
    ) -> tuple[list[Interval], list[Interval], list[Interval]]:
        """What fills the slots now, what filled those last that nothing fills now, and with a period what did else.

        Now is `moment`, or any time of the period.
        """
        predicates = self._predicates()
        bases = [base for each in asked.predicates if (base := predicates.hangs_on(each)) is not None]
        told = session.facts.about(list(subjects), list(self._spelled([*asked.predicates, *bases])))
        found: list[Interval] = []
        over: dict[tuple[str, str], Interval] = {}
        elsewhen: list[Interval] = []
        for each in intervals(told, predicates):
            role = predicates.role(each.object) if predicates.row(each.predicate).one == "role" else None
            if each.predicate not in asked.predicates or not asked.covers(each.predicate, role):
                continue
            if each.at(moment) if period is None else _in_period(each, period):
                found.append(each)
            elif period is not None:
                elsewhen.append(each)
            elif each.since <= moment:
                over[each.subject, each.predicate] = each
                elsewhen.append(each)
        found = self._in_role(found, asked)
        so = {(each.subject, each.predicate) for each in found}
        ended = [each for key, each in over.items() if key not in so]
        if period is not None:
            elsewhen.sort(key=lambda each: _apart(each, period))
        found.sort(key=lambda each: (not predicates.is_safety(each.predicate), each.since))
        return found, ended, elsewhen

    def _in_role(self, found: list[Interval], asked: Asked) -> list[Interval]:
        """The facts without those that fill another role than the one asked for, or none, where others do fill it."""
        rows, predicates = self._predicates().rows, self._predicates()
        roled = [each for each in found if rows[each.predicate].one == "role"] if asked.roles else []
        filling = [each for each in roled if predicates.role(each.object) in asked.roles]
        # "My phone number" is a number, though "phone" is also what one uses.
        beside = len(roled) < len(found) and asked.by_role
        dropped = roled if beside else [each for each in roled if filling and each not in filling]
        return [each for each in found if each not in dropped]

    def _spelled(self, names: Iterable[str]) -> Iterator[str]:
        """These predicates under every name that a note may have for them, folded."""
        rows = self._predicates().rows
        return (normalize(each) for name in names if name in rows for each in (name, *rows[name].aliases))

    def _left_over(self, text: str, found: Collection[Interval], names: Iterable[str]) -> set[str]:
        """The terms of a question beside those of the subject, the slot, and what fills it."""
        predicates = self._predicates()
        words = list(names)
        for each in found:
            role = predicates.role(each.object) if predicates.row(each.predicate).one == "role" else None
            words += [
                each.object,
                *names_of(each.object),
                *predicates.within(each.object),
                *_phrases(predicates, each.predicate, [role] if role else ()),
            ]
        return _left_over(text, words)


def _in_period(fact: Interval, period: Period) -> bool:
    """Whether it was so at some time of the period."""
    begun = period.until is None or fact.since < period.until
    return begun and (period.since is None or fact.until is None or fact.until > period.since)


def _apart(fact: Interval, period: Period) -> timedelta:
    """How far it lies from the period."""
    if period.until is not None and fact.since >= period.until:
        return fact.since - period.until
    return period.since - fact.until if period.since is not None and fact.until is not None else timedelta(0)


def _phrases(predicates: Predicates, predicate: str, roles: Iterable[str]) -> Iterator[str]:
    """What a question may call a predicate, and these roles of its objects."""
    row = predicates.row(predicate)
    yield from (predicate.replace("_", " "), *row.aliases, *row.asks)
    for role in roles:
        yield from (role.replace("_", " "), *predicates.role_words.get(role, ()))


def _left_over(text: str, words: Iterable[str]) -> set[str]:
    """The terms of a question beside those of `words` and those that only ask."""
    folded = {normalize(word) for word in set(words)}
    left = normalize(text)
    for word in sorted(folded, key=len, reverse=True):
        left = left.replace(word, " ") if not word.isascii() else left
    wanted = set(content_terms(_PLAIN_ZH.sub(" ", left))) - _PLAIN
    # Of thousands of objects in one slot few hold a word of the question.
    taken = {term for word in folded if held_terms(word, wanted) for term in query_terms(word)}
    return wanted - taken


def _names(text: str, object: str) -> bool:
    """Whether a question names the object of a fact: "can I eat peanuts" that of an allergy to peanuts or to 花生."""
    folded, asked = normalize(text), frozenset(query_terms(text))
    for value in map(normalize, names_of(object)):
        terms = frozenset(query_terms(value))
        if (not value.isascii() and value in folded) or (bool(terms) and terms <= asked):
            return True
    return False
