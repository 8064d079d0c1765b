"""Entailment by rules: whether a note is about whom a question asks, and answers it with yes or no."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from amem.conflict.clause_parts import KIN, THIRD, Of, kin_words
from amem.conflict.cues import Cue, is_state, replaces
from amem.conflict.statements import read
from amem.language import index_terms, normalize, query_terms
from amem.language.asking import (
    asks_whether_allowed,
    asks_yes_or_no,
    is_about_oneself,
    is_of_another_owner,
    says_to_do_less,
    speaks_of_oneself,
    without_asking_zh,
)
from amem.language.lexicon import is_person, is_place, stem
from amem.language.predicates import USER, WE
from amem.language.scripts import is_cjk, words
from amem.language.sentence_parts import DENIAL
from amem.language.states import (
    asks_how_things_are,
    asks_how_things_were,
    asks_where_now,
    asks_whether_there,
    calls_off,
    exceptions,
    is_of_own_state,
    is_of_the_speaker,
    is_settled,
    names_its_subject,
    speaks_of_the_present,
    states_asked,
    tells_how_long,
    tells_of_harm,
    tells_since_when,
    tells_until_when,
    without_own_place,
)
from amem.language.times import asks_ahead, named_in_note, past_of, starts_ahead

if TYPE_CHECKING:
    from collections.abc import Sequence, Set
    from datetime import date, datetime

    from amem.conflict.statements import Statement
    from amem.note import Fact


class Verdict(StrEnum):
    """The answer to a question that wants a yes or a no."""

    YES = "yes"
    NO = "no"
    NO_LONGER = "no longer"


@dataclass(frozen=True, slots=True)
class Premise:
    """A note as it is asked: what of it still holds, when it was said, and the facts it states to be so no more."""

    text: str
    at: datetime
    gone: tuple[Fact, ...] = ()


#: Whoever is this to one is it as long as both are there.
_AT_WORK = frozenset(("boss", "colleague", "roommate", "neighbour"))
#: What begins a question, and words that a statement need not hold.
_VERB = re.compile(r"^\W*(?:do|does|am|are|is) (?:\S+ ){1,2}?(?:still |even )?(?P<verb>\w+)", re.IGNORECASE)
_AUXILIARY = re.compile(r"^\W*\w+")
_PLAIN = words(
    """
    i we you he she it they me us my our your his her its their a an the this that these those of to in at on for with
    by from and or still already yet ever now currently any anymore more
    """
)
_BE = words("am is are was were")
_THERE = "在有是住"
#: What stands between somebody and where or with what they are.
_BESIDE = words("on in at with under")
_WITH = re.compile(r"\b(?:with|because|at|in|on|for|after|since|to|from|by)\b", re.IGNORECASE)
#: The telling words of a statement; less is a verb of every day.
_TELLING = 1.0


@lru_cache(maxsize=64)
def _asked(question: str) -> Statement | None:
    """The question as a statement; None where it holds more than one."""
    found = read(question)
    return found[0] if len(found) == 1 else None


def _stated(text: str) -> list[Statement]:
    """The statements of a note; one without a subject has that of the clause before it in its sentence, and one of
    several ("my sister and Tom are divorced") has them all."""
    found: list[Statement] = []
    for each in read(text):
        last = found[-1] if found and found[-1].sentence == each.sentence else None
        if last is not None and last.frame and last.frame.of is Of.NOTHING and last.people and each.opener == "and":
            each = replace(each, people=last.people | each.people, about={**last.about, **each.about})
        elif last is not None and not each.people:
            each = replace(each, people=last.people)
        found.append(each)
    return found


def is_beside(question: str, text: str, speaker: str | None = None) -> bool:
    """Whether all that a note says to a question is said of others than it asks about, or only supposed.

    `speaker` is who says "I" in the note (None: the user). Notes that speak of a thing, or in words that nothing tells
    whom of, are never beside the point.
    """
    asked = _asked(question)
    if asked is None:
        return False
    stated = _stated(without_own_place(text))
    bearing = [each for each in stated if _shares(asked, each)] or list(stated)
    if not bearing:
        return False
    of_now = _decidable(question, asked) or asks_where_now(question)
    if of_now and not asks_ahead(question) and not any(each.said for each in bearing):
        return True
    if speaker is None and is_of_another_owner(question, text):
        return True
    who = asked.people
    if who == {USER} and speaker is None and is_about_oneself(question):
        others = [each for each in bearing if _is_of_others(asked, each)]
        # "Leo is allergic to nuts, so no peanut butter in the house" says nothing of whoever asks.
        most = max((len(_shared(asked, each)) for each in others), default=0)
        rest = [each for each in bearing if each not in others]
        own = any(each.people & {USER, WE} or speaks_of_oneself(each.text) for each in rest)
        return bool(others) and not own and all(len(_shared(asked, each)) < most for each in rest)
    named = [key for key in who if key not in (USER, WE) and key not in THIRD]
    if len(who) == len(named) == 1 and _is_somebody(asked, named[0]):
        return not any(_names(each, named[0]) for each in stated) and all(
            (each.people & {USER, WE} and speaker is None) or _is_of_others(asked, each) for each in bearing
        )
    return False


def _decidable(question: str, asked: Statement) -> bool:
    """Whether yes or no is a whole answer to what is or was so."""
    return asks_yes_or_no(question) and not asked.planned


def _shares(asked: Statement, each: Statement) -> bool:
    """Whether a statement is about something that is asked of whoever is asked about."""
    return bool(_shared(asked, each) or asked.poles.keys() & each.poles.keys())


def _shared(asked: Statement, each: Statement) -> Set[str]:
    """What a statement is about of what is asked, whoever it is of."""
    return (asked.about.keys() - asked.people - asked.names.keys()) & each.about.keys()


def _is_of_others(asked: Statement, each: Statement) -> bool:
    """Whether a statement is of persons whom the question does not name, and not of who says it."""
    persons = [key for key in each.people if key in THIRD or _is_somebody(each, key)]
    if _is_by_name(asked, each):
        return True
    if not persons or each.people & {USER, WE}:
        return False
    if any(key in asked.about or key in asked.people for key in persons):
        return False
    return not speaks_of_oneself(each.text)


def _is_by_name(asked: Statement, each: Statement) -> bool:
    """Whether a statement is of somebody or something by name that the question, which is of whoever asks, does not
    name, and says nothing of whoever made it: "Joris quit smoking", "Lotte from the bakery is pregnant"."""
    if asked.people != {USER} or speaks_of_oneself(each.text):
        return False
    named = each.people & each.names.keys()
    if named and not each.people & {USER, WE} and named.isdisjoint(asked.about):
        return True
    return is_of_own_state(asked.text) and names_its_subject(each.text)


def _is_somebody(each: Statement, key: str) -> bool:
    """Whether this is a person's name, or what somebody is to one."""
    if key in KIN:
        return True
    name = each.names.get(key, "")
    if is_cjk(name[:1]):
        return not is_place(name)
    return is_person(name.split(" ")[0]) if name else False


def _names(each: Statement, key: str) -> bool:
    return key in each.people or key in each.about


def verdict(question: str, text: str, at: datetime | None = None, now: datetime | None = None) -> Verdict | None:
    """What the latest statement of a note that decides a question says to it; None where none decides it.

    A statement says yes that holds all that is asked, and no that denies it; that something ended needs no word for
    what was done with it ("do I drink coffee?", "gave up coffee"). With `at`, when it was said, and `now` a statement
    says yes to what is so only as far as it is so still.
    """
    for told, each in _decisive(question, text):
        if told is Verdict.YES and _ran_out(question, each, at, now):
            return Verdict.NO_LONGER
        if told in _DENIALS and asks_how_things_were(question) and not _never_was(question, each):
            continue  # "I gave up smoking" is no "no" to "did I smoke?"
        if _counts(question, told, each, at, now):
            return told
    return None


def _decisive(question: str, text: str) -> list[tuple[Verdict, Statement]]:
    """What the statements of a note that decide a question say to it, the latest first."""
    asked = _asked(question)
    if asked is None or asked.negative or not _decidable(question, asked):
        return []
    found: list[tuple[Verdict, Statement]] = []
    for each in _stated(text):
        told = _says(question, asked, each) if each.said and not each.planned and _same_people(asked, each) else None
        if told in _TURNED and _excepts(question, each.text):
            told = _TURNED[told]
        if told is not None and tells_of_harm(each.text):
            told = _of_harm(question, told, each.text)
        if told is not None:
            found.append((told, each))
        elif found and found[-1][0] is Verdict.YES and each.cues & {Cue.CHANGES, Cue.ENDS, Cue.OVER}:
            found.clear()  # "takes it and has swollen feet, so the doctor changed it": a yes is none to what changed
    return found[::-1]


#: What is said of all but what is asked about says the contrary of that.
_TURNED = {Verdict.YES: Verdict.NO, Verdict.NO: Verdict.YES}


_DENIALS = {Verdict.NO, Verdict.NO_LONGER}


def _never_was(question: str, each: Statement) -> bool:
    """Whether what denies what was asked tells that it never was so, not that it ended or changed since."""
    asked = _asked(question)
    poles = asked.poles.keys() & each.poles.keys() if asked else ()
    changed = any(map(is_state, poles)) and not DENIAL.search(each.text)
    return calls_off(each.text) or not (changed or _is_over(each))


def _of_harm(question: str, told: Verdict, text: str) -> Verdict | None:
    """The verdict of a text that tells of harm: whoever gets ill from milk may not drink it."""
    denied = DENIAL.search(text) is not None
    if told is Verdict.YES:
        return Verdict.NO if asks_whether_allowed(question) and not denied else None
    return None if told is Verdict.NO_LONGER and denied else told


def _excepts(question: str, text: str) -> bool:
    """Whether a text leaves out of what it says what the question asks about: "vegetarian except for fish"."""
    asked = set(query_terms(question))
    return any(asked & {*index_terms(each)} for each in exceptions(text))


def _counts(question: str, told: Verdict, each: Statement, at: datetime | None, now: datetime | None) -> bool:
    """Whether a verdict counts at `now`: a yes to how things are does where they may be taken to be so still, and a no
    where it is not only to be so, or was to be so for some days."""
    if at is not None and now is not None and told is not Verdict.YES and not asks_ahead(question):
        ahead, longest = starts_ahead(each.text, at.date()), tells_how_long(each.text)
        return (ahead is None or ahead <= now.date()) and (longest is None or now - at <= longest)
    if told is not Verdict.YES or at is None or now is None or asks_how_things_were(question):
        return True
    return _lasts(question, each, at, now)


def _ran_out(question: str, each: Statement, at: datetime | None, now: datetime | None) -> bool:
    """Whether what a statement says was so until a day that is over: "valid until 1 May"."""
    if at is None or now is None or asks_how_things_were(question):
        return False
    last = tells_until_when(each.text, at.date())
    return last is not None and last < now.date()


#: Whoever is said to be somewhere, and not to live there, is there as long.
_A_DAY = timedelta(days=1)


def _lasts(question: str, each: Statement, at: datetime, then: datetime) -> bool:
    """Whether what a statement says of how things are, or of where somebody is, may be taken as so `then`.

    It may not where it says what was so, was said of days that are over or to come, or tells of a visit.
    """
    if any(state.lasts and then - at > state.lasts for state in states_asked(question)):
        return False
    there = asks_whether_there(question)
    if not (there or asks_how_things_are(question)):
        return True
    if not speaks_of_the_present(each.text, event=each.event):
        return False
    days = _days(each, at)
    here = any(first <= then.date() <= last for first, last in days)
    if days and not here and not (each.event and not there) and not tells_since_when(each.text):
        return False
    return not there or here or is_settled(each.text) or then - at <= _A_DAY


def _days(each: Statement, at: datetime) -> list[tuple[date, date]]:
    """The days that a statement names."""
    spans = [named.span for named in named_in_note(each.text, at.date())]
    return [(span.first, span.last) for span in spans if span is not None]


def _same_people(asked: Statement, each: Statement) -> bool:
    who = asked.people & {USER, WE}
    if _is_by_name(asked, each):
        return False
    if who:
        return bool(each.people & {USER, WE}) or not any(
            key in THIRD or _is_somebody(each, key) for key in each.people - asked.about.keys()
        )
    return not asked.people or asked.people <= each.people | each.about.keys()


def _says(question: str, asked: Statement, each: Statement) -> Verdict | None:
    who = asked.people | {key for key in each.people if key not in asked.about}
    wanted = _telling(asked) - who
    if each.negative and each.poles.get("allowed") == 1 and "allowed" not in asked.poles:
        return None  # "we no longer restrict deploys": no "no" to whether we may deploy
    pairs = [each.poles[pair] == sign for pair, sign in asked.poles.items() if pair in each.poles]
    if pairs and len(pairs) == len(asked.poles) and wanted <= each.about.keys():
        if all(pairs) and (Cue.CHANGES in each.cues or not _holds_words(question, each.text)):
            return None  # who is engaged, or moves the wedding, is not married
        if any(pairs):
            return Verdict.YES if all(pairs) else None
        if DENIAL.search(each.text) and not _holds_words(question, each.text):
            return None  # who eats no pork may eat chicken
        return _denial(question, each)
    if each.negative and _is_over(each) and _telling_first(each) - who in _done(question, asked, who):
        return Verdict.YES if _asks_for_an_end(question) else _denial(question, each)
    if not wanted or not wanted <= each.about.keys():
        return None
    if _holds_words(question, each.text):
        if Cue.ENDS in each.cues:
            return Verdict.YES if _asks_for_an_end(question) else None
        if each.negative:
            return _denial(question, each)
        if asks_whether_allowed(question) and (each.poles.get("allowed") == -1 or says_to_do_less(each.text)):
            return Verdict.NO if "allowed" in each.poles else None
        changed = each.cues & {Cue.CHANGES, Cue.DENIES}
        return Verdict.YES if not changed and _stands_there(question, asked, each) else None
    back = not asked.poles and wanted == _telling_first(each) - who and Cue.RETURNS in each.cues
    return Verdict.YES if back and not each.negative else None


def _denial(question: str, each: Statement) -> Verdict:
    """No to what was never so, or was called off before it was done; no longer to what ended."""
    done = asks_how_things_were(question) or "了吗" in question
    return Verdict.NO if not _is_over(each) or (done and calls_off(each.text)) else Verdict.NO_LONGER


def _is_over(each: Statement) -> bool:
    """Whether a statement tells of an end."""
    return each.ended or bool(each.cues & {Cue.ENDS, Cue.OVER})


def _done(question: str, asked: Statement, who: Set[str]) -> list[set[str]]:
    """What may be said to be over where the answer is no longer: all that is asked, and that without its verb ("gave up
    chess" of "do I play chess?")."""
    asks = (_telling(asked) or {*asked.about}) - who or {*asked.poles}
    verb = _VERB.search(question)
    does = _asked(f"Do I {verb['verb']}?") if verb else None
    return [each for each in (asks, asks - (does.about.keys() if does else set())) if each]


def _gone(question: str, fact: Fact) -> bool:
    """Whether a fact that is so no more is what a question asks about: "I'm off coffee" of "do I drink coffee?"."""
    asked, told = _asked(question), read(f"I like {fact.object}.")
    if asked is None or len(told) != 1 or not _decidable(question, asked) or _asks_for_an_end(question):
        return False
    if question.isascii() and fact.object.isascii():
        # Fish is no word for meat, though both are foods of a diet.
        asks = set(map(stem, _words(question)))
        if not all(stem(word) in asks for word in _words(fact.object)):
            return False
    whose = {fact.subject, normalize(fact.subject)}
    return bool(whose & asked.people) and _telling(told[0]) in _done(question, asked, asked.people)


def _asks_for_an_end(question: str) -> bool:
    """Whether a question asks if something ended: "did I sell the caravan?"."""
    ends = [f"{past_of(word)} the" for word in _words(question)]
    ends += [f"{character}了" for character in question if "了吗" in question]
    return replaces(question) or any(map(replaces, ends))


def _telling_first(each: Statement) -> set[str]:
    """What a statement is about before it says with whom, where or why."""
    first = read(_WITH.split(each.text)[0])
    return (_telling(first[0]) if len(first) == 1 else set()) or _telling(each) or {*each.about}


def _telling(each: Statement) -> set[str]:
    return {key for key, weight in each.about.items() if weight >= _TELLING}


def _holds_words(question: str, text: str) -> bool:
    """Whether a statement has the question's words, those that only ask left out: its verb, above all."""
    if any(map(is_cjk, question)):
        return set(without_asking_zh(question)) <= set(text)
    said = {stem(word) for word in _words(text)}
    asked = [word for word in _words(_AUXILIARY.sub("", question, count=1)) if word not in _PLAIN]
    return bool(asked) and all(stem(word) in said or stem(past_of(word)) in said for word in asked)


def _stands_there(question: str, asked: Statement, each: Statement) -> bool:
    """Whether a statement has somebody where a question without a verb of its own asks if they are: "on Hetzner".

    Whoever is leaving Hetzner, or likes it, is not said to be on it, and 煤球走了 does not say 煤球在.
    """
    if "在" in question.replace("现在", ""):
        return any(map(each.text.__contains__, _THERE))
    first, *rest = _words(question) or [""]
    beside = next((word for word in rest if word in _BESIDE), None)
    return first not in _BE or not asked.people or beside is None or beside in _words(each.text)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def deciding(
    question: str, notes: Sequence[Premise], now: datetime, bearing: Sequence[bool] | None = None
) -> tuple[int, Verdict] | None:
    """The place of the first of these notes, the latest first, that bears on the question where it decides it.

    What is not so, and was so by an earlier one of them, is so no longer. With `bearing`, only the notes for which it
    is true bear on the question by what they speak of; any of them may decide it.
    """
    asked = _asked(question)
    for place, note in enumerate(notes):
        found = verdict(question, note.text, note.at, now)
        denied = found is Verdict.NO and not calls_off(note.text)
        if denied and any(verdict(question, each.text) is Verdict.YES for each in notes[place + 1 :]):
            return place, Verdict.NO_LONGER
        if found is None and any(_gone(question, fact) for fact in note.gone):
            found = Verdict.NO_LONGER
        if found is not None:
            return place, found
        if bearing is not None and not bearing[place]:
            continue
        if asked is None or any(each.said and _shares(asked, each) for each in read(note.text)):
            return None
    return None


def deciding_then(
    question: str, notes: Sequence[Premise], since: datetime, until: datetime
) -> tuple[list[int], Verdict | None] | None:
    """The places of the notes, the earliest first, by which what a question asks was so between two moments or was not,
    and which of the two; no verdict where it changed meanwhile. None where nothing tells.

    Whatever was so before and lasts was so then, unless it ended before.
    """
    before: tuple[int, Verdict] | None = None
    within: list[tuple[int, Verdict]] = []
    for place, note in enumerate(notes):
        found = next(iter(_decisive(question, note.text)), None) if note.at < until else None
        if found is None:
            continue
        told, each = (Verdict.YES if found[0] is Verdict.YES else Verdict.NO), found[1]
        if note.at >= since:
            within.append((place, told))
        elif told is Verdict.NO or (_is_habit(each, note.at) and _lasts(question, each, note.at, since)):
            before = place, told
    every = [*([before] if before else []), *within]
    if not every or (before is None and within[0][1] is Verdict.NO):
        return None
    verdicts = {told for _, told in every}
    if len(verdicts) == 1:
        return [every[-1 if within else 0][0]], verdicts.pop()
    changed = next(at for at in range(1, len(every)) if every[at][1] is not every[at - 1][1])
    return [every[changed - 1][0], every[changed][0]], None


def terms_of_people(question: str) -> list[list[str]]:
    """For each person whom a question asks about, the index terms one of which a note has that speaks of them; none for
    whoever asks, or for "she"."""
    asked = _asked(question)
    people = () if asked is None else asked.people - {USER, WE} - THIRD
    named = ((kin_words(key) or (asked.names.get(key, key),)) for key in people) if asked else ()
    return [index_terms(" ".join(words)) for words in named]


def asks_for_kin(question: str) -> bool:
    """Whether a question is for one's kin or partner, who stay that wherever they go."""
    asked = _asked(question)
    return asked is not None and bool(asked.people & KIN - _AT_WORK)


def is_over(question: str, notes: Sequence[Premise], now: datetime) -> int | None:
    """The place of the note, of these from the latest on, that tells of the event by which the state is over that a
    question asks about; None where none does, or a later one says that it is so."""
    states = [] if asks_how_things_were(question) else states_asked(question)
    asked = _asked(question) if states else None
    if asked is None or asked.negative or not _decidable(question, asked):
        return None
    things = frozenset(key for key in asked.about if key not in asked.people and not _is_somebody(asked, key))
    # A cat that is missing is named as somebody is.
    things = things or asked.people - {USER, WE}
    mine = {USER, WE} if asked.people & {USER, WE} else set()
    for place, note in enumerate(notes):
        for each in reversed(_stated(note.text)):
            if not each.said or each.planned:
                continue
            for state in states:
                if state.of_a_thing and not things & (each.about.keys() | each.people):
                    continue
                # "Hanna gave birth" ends nothing of whoever asks, though nobody knows Hanna for a name.
                others = each.people and not each.people & mine and not is_of_the_speaker(each.text)
                if not state.of_a_thing and mine and others:
                    continue
                ended = state.ended.search(each.text)
                if ended is None:
                    own = asked.people <= {USER, WE} and is_of_the_speaker(each.text)
                    if state.stated.search(each.text) and not each.negative and (own or _same_people(asked, each)):
                        return None
                elif DENIAL.search(each.text) is None and not _is_ahead(each, note, now) and _same_people(asked, each):
                    return place
    return None


def _is_ahead(each: Statement, note: Premise, now: datetime) -> bool:
    """Whether a statement is of a day to come."""
    days = _days(each, note.at)
    return bool(days) and all(first > now.date() for first, _ in days)


def _is_habit(each: Statement, at: datetime) -> bool:
    """Whether a statement tells what goes on, and not what happened or is of certain days."""
    return not _days(each, at) and (not each.event or Cue.RETURNS in each.cues)


def bounds(question: str, texts: Sequence[str]) -> tuple[int, int] | None:
    """The places of the notes, the earliest first, in which what a question is about began and ended: "joined the
    choir", "quit the choir". None where not both are told."""
    asked = _asked(question)
    if asked is None:
        return None
    wanted = _telling(asked) - asked.people
    begun: dict[str, int] = {}
    for place, text in enumerate(texts):
        for each in read(text):
            about = wanted & each.about.keys() if each.said and not each.planned else set()
            if each.negative and Cue.ENDS in each.cues:
                for key in about & begun.keys():
                    return begun[key], place
            elif Cue.AFRESH in each.cues:
                begun.update(dict.fromkeys(about - begun.keys(), place))
    return None
