"""The shapes in which clauses state facts, and what tense, negation and times make of these."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from enum import Enum, StrEnum
from functools import cache
from typing import TYPE_CHECKING

from amem.language.numerals import MONTHS, SPELLED
from amem.language.predicates import WE, Predicates, same_value
from amem.language.scripts import Patterns, read_list
from amem.language.times import Named, Span, bare, before, longest, mentions
from amem.note import Fact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.language.statements.clauses import Cast, Subject

_pattern = Patterns("statements/tense", months="|".join(MONTHS))


# The shapes in which clauses state facts, from the two tables among the word lists.


class Aspect(StrEnum):
    """What a verb does to a fact when it is told of."""

    STATE = "state"
    BEGIN = "begin"
    END = "end"


class Form(Enum):
    """A form of a verb; ADJECTIVE stands behind a form of "be"."""

    BASE = "base"
    THIRD = "third person"
    PAST = "past"
    PARTICIPLE = "participle"
    GERUND = "gerund"
    ADJECTIVE = "adjective"


@dataclass(frozen=True, slots=True)
class Shape:
    """One line of a table. `after` says what has to stand before the verb: "be" and a participle, "is" an adjective.

    `kind` says how the object is cut out of the tail, `people` that nobody but somebody can be the subject.
    """

    predicate: str
    aspect: Aspect
    kind: str
    tail: str
    after: str = ""
    people: bool = False

    def match(self, text: str, at: int = 0) -> re.Match[str] | None:
        """What stands at that place, if the shape fits there."""
        return _compiled(self.tail).match(text, at)


@dataclass(frozen=True, slots=True)
class English:
    """The forms that a word may be, and the shapes that it may be the verb of, in their order."""

    forms: Mapping[str, frozenset[Form]]
    shapes: Mapping[str, tuple[Shape, ...]]


#: Compiled when first looked for: a note needs a few of them.
_compiled = cache(lambda tail: re.compile(tail, re.IGNORECASE))


@cache
def english() -> English:
    """The table for English."""
    forms: defaultdict[str, set[Form]] = defaultdict(set)
    spellings: defaultdict[str, set[str]] = defaultdict(set)
    shapes: defaultdict[str, list[Shape]] = defaultdict(list)
    adjectives: set[str] = set()
    for section, line in read_list("facts_english.txt"):
        if section == "verbs":
            listed = line.split()
            for word, form in zip(listed, tuple(Form)[:5], strict=True):
                forms[word].add(form)
                spellings[listed[0]].add(word)
        elif section == "adjectives":
            adjectives.update(line.split())
            for word in line.split():
                forms[word].add(Form.ADJECTIVE)
        else:
            aspect, kind, subject, verbs, tail = _columns(line, 5)
            for verb in verbs.split(","):
                after = "be" if "passive" in subject else "is" if verb in adjectives else ""
                shape = Shape(section, Aspect(aspect), kind, tail, after, people="person" in subject)
                for word in [verb] if after == "is" else spellings[verb]:
                    shapes[word].append(shape)
    return English(
        {word: frozenset(each) for word, each in forms.items()}, {word: tuple(each) for word, each in shapes.items()}
    )


@cache
def chinese() -> Mapping[str, tuple[Shape, ...]]:
    """The table for Chinese: shapes by the character they begin with, in their order."""
    found: defaultdict[str, list[Shape]] = defaultdict(list)
    for section, line in read_list("facts_chinese.txt"):
        aspect, kind, heads, tail = _columns(line, 4)
        for head in dict.fromkeys(heads):
            found[head].append(Shape(section, Aspect(aspect), kind, tail))
    return {head: tuple(shapes) for head, shapes in found.items()}


def _columns(line: str, count: int) -> list[str]:
    columns = re.split(r" {2,}", line, maxsplit=count - 1)
    return columns + [""] * (count - len(columns))


# Since when and until when a clause says that something is so.

#: Words before a time that tell what it is are no more characters than that, spaces among them.
_LEAD = 60


@dataclass(frozen=True, slots=True)
class Times:
    """`since` and `until` as the clause states them; `ahead` where it speaks of what is still to come.

    `within` is the end of the month or year that `since` begins, for what was so in it; `named` says whether the clause
    names a time at all, if only one that cannot be used.
    """

    since: datetime | None = None
    until: datetime | None = None
    within: datetime | None = None
    ahead: bool = False
    named: bool = False


NO_TIMES = Times()


def times(text: str, said: datetime | None, *, lasting: bool = False) -> Times:
    """The times of a clause that was said at `said`; a month or weekday alone is the most recent one.

    With `lasting` the clause tells of something that goes on: "for five years" then is since when, and an end may lie
    ahead ("until December").
    """
    if said is None:
        return NO_TIMES
    today = said.date()
    since: list[Named] = []
    until: list[Named] = []
    inclusive = False
    last_end = 0
    every = _every(text, today, lasting=lasting)
    for each in every:
        lead = max(0, each.start - _LEAD), each.start
        ranged = bool(since) and not until and _pattern.on.fullmatch(text[last_end : each.start]) is not None
        last_end = each.end
        lasted = _pattern.lasted.match(text, each.start) is not None
        each = _edge(each, text)
        unclear = (_pattern.unclear.search(text, *lead) is not None and not lasted) or _pattern.unclear_after.match(
            text, each.end
        )
        if each.span is None or unclear:
            return Times(named=True, ahead=each.span is not None and each.span.first > today)
        if ranged or _pattern.until.search(text, *lead):
            until.append(each)
            inclusive = ranged and _pattern.inclusive.search(text, *lead) is not None
        else:
            since.append(each)
    if any(each.span is not None and each.span.first > today for each in since):
        first = next(each.span.first for each in since if each.span is not None and each.span.first > today)
        return Times(_midnight(first, said), ahead=True, named=True)
    if len({each.span for each in since}) > 1 or len(until) > 1:
        return Times(named=True)
    begin, end = _span(since[0] if since else None, until[0] if until else None, today, inclusive, lasting)
    ahead = bool(end and end > today and not lasting)
    return Times(_midnight(begin, said), _midnight(end, said), _within(since, said), ahead, bool(every))


def _within(since: Sequence[Named], said: datetime) -> datetime | None:
    span = since[0].span if since else None
    if span is None or span.unit not in ("month", "year"):
        return None
    return _midnight(min(span.last, said.date()) + timedelta(days=1), said)


def _edge(named: Named, text: str) -> Named:
    """The last day of what is named for "the end of May" and 5月底, the first for its beginning."""
    before = _pattern.edge.search(text, max(0, named.start - _LEAD), named.start)
    after = _pattern.edge_zh.match(text, named.end)
    if named.span is None or (before is None and after is None):
        return named
    last = (before["edge"].casefold() == "end") if before else (after is not None and after[0] in "底末")
    day = named.span.last if last else named.span.first
    return Named(named.start, after.end() if after else named.end, Span(day, "day"), named.bare)


def _span(
    begin: Named | None, end: Named | None, today: date, inclusive: bool, lasting: bool
) -> tuple[date | None, date | None]:
    """First day, and first day after; a year that only one of the two has is the other's, too."""
    first = None if begin is None or begin.span is None else begin.span.first
    if end is None or end.span is None:
        return first, None
    last = end.span
    if first is not None and begin is not None and end.bare and not begin.bare:
        last = _in_year(last, first.year)  # "from May 2021 to August"
        last = last if last.first > first else _in_year(last, first.year + 1)
    elif end.bare and lasting and last.first <= today:
        last = _in_year(last, last.first.year + 1)  # "until December", said in March: the next one
    after = last.last + timedelta(days=1) if inclusive else last.first
    if first is not None and begin is not None and begin.bare and first >= after:
        months = Span(first, "day")
        first = _in_year(months, after.year).first  # "from May to August 2024"
        first = first if first < after else _in_year(months, after.year - 1).first  # "from October to March 2024"
    return first, after


def _in_year(span: Span, year: int) -> Span:
    """The same days of another year."""
    day = min(span.first.day, 28) if span.first.month == 2 else span.first.day
    return Span(span.first.replace(year=year, day=day), span.unit)


def _midnight(day: date | None, said: datetime) -> datetime | None:
    return None if day is None else datetime.combine(day, time(), tzinfo=said.tzinfo)


def _every(text: str, today: date, *, lasting: bool) -> list[Named]:
    """Each time that is named, in order; of two that overlap the longer."""
    kept = longest([*mentions(text, today), *bare(text, today)])
    if lasting and (match := _pattern.lasted.search(text)):
        count = SPELLED.get(match["count"].casefold()) or (int(match["count"]) if match["count"].isdigit() else 1)
        kept.append(Named(match.start(), match.end(), before(today, count, match["unit"].casefold())))
    return sorted(kept, key=lambda each: each.start)


# What tense, negation and times make of a fact: that it is so, that it is no longer, or nothing.

#: Predicates whose object is a date.
DATED = ("deadline", "date", "time", "birthday")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
#: A day of the present tense that lies further back than this is one to come.
MONTH = timedelta(days=31)
_HALF_A_YEAR = timedelta(days=183)


_LASTING = frozenset(("job_title", "team", "partner", "diet"))


class Tense(StrEnum):
    """When a verb group places what it tells."""

    NOW = "now"
    PERFECT = "perfect"
    PAST = "past"
    THEN = "then"
    """"Was": a state of affairs of the past, or something done to somebody."""
    FORMERLY = "formerly"
    """"Used to"."""
    NONE = ""


@dataclass(slots=True)
class Group:
    """What stands between subject and main verb: auxiliaries, negation, habit of the past."""

    plural: bool = False
    be: Tense = Tense.NONE
    have: bool = False
    had: bool = False
    did: bool = False
    do: bool = False
    used_to: bool = False
    negated: bool = False
    ended: bool = False
    always: bool = False
    still: bool = False
    will: bool = False

    def of_be(self) -> Tense:
        """The tense of a form of "be"."""
        return Tense.FORMERLY if self.used_to else Tense.PERFECT if self.have else self.be

    def tense(self, forms: frozenset[Form], shape: Shape) -> Tense:
        """The tense of a main verb; none where its form does not fit what stands before it."""
        if self.had:
            return Tense.NONE
        if shape.after:
            wanted = Form.ADJECTIVE if shape.after == "is" else Form.PARTICIPLE
            return self.of_be() if self.be and wanted in forms else Tense.NONE
        if self.will:
            return Tense.NOW if Form.BASE in forms else Tense.NONE
        if self.used_to:
            return Tense.FORMERLY if Form.BASE in forms else Tense.NONE
        if self.be:
            if Form.GERUND not in forms:
                return Tense.NONE
            if self.be is Tense.NOW or self.have:
                return Tense.NOW
            # "Was moving" may never have got there.
            return Tense.THEN if shape.aspect is Aspect.STATE else Tense.NONE
        if self.have:
            return Tense.PERFECT if Form.PARTICIPLE in forms else Tense.NONE
        if self.did or self.do:
            fitting = Form.BASE in forms
            return Tense.NONE if not fitting else Tense.PAST if self.did else Tense.NOW
        present = Form.BASE in forms if self.plural else Form.THIRD in forms  # "the long run" has no verb in it
        if Form.PAST in forms and not (present and shape.aspect is Aspect.STATE):
            return Tense.PAST  # "quit" may be either, and "I quit" tells that it is done
        return Tense.NOW if present else Tense.NONE


def told(found: Sequence[Fact], group: Group, tense: Tense, aspect: Aspect, scene: Scene, text: str) -> list[Fact]:
    """The facts as far as tense, negation and times let them be so; `text` is the clause."""
    if aspect is Aspect.STATE and _pattern.sometimes.search(text) and {each.predicate for each in found} <= _LASTING:
        return []  # "I'm the driver tonight", "Kim is the cook on Fridays"
    if all(each.predicate in DATED for each in found):
        # The date is what it is about, and may well lie ahead.
        done = tense is Tense.NOW or (tense in (Tense.PAST, Tense.PERFECT, Tense.THEN) and aspect is Aspect.BEGIN)
        return list(found) if done and not group.negated else []
    paid = aspect is Aspect.BEGIN and all(each.predicate in ("rent", "salary") for each in found)
    if group.will and not paid:
        return []
    goes_on = aspect is Aspect.STATE and tense in (Tense.NOW, Tense.PERFECT)
    when = times(text, scene.said, lasting=goes_on)
    if not when.named and scene.lead:
        when = scene.lead
    going = aspect is not Aspect.STATE and tense is Tense.NOW and bool(group.be)
    arranged = going and (scene.settled or _pattern.on_a_day.search(text) is not None)
    if paid or arranged or (tense is Tense.NOW and _pattern.from_a_day.match(text)):
        when = announced_for(when, text, scene.said, lag=MONTH if tense is Tense.NOW else _HALF_A_YEAR)
    # "The landlord raises the rent to 980 from January", "we're moving in October, the lease is signed".
    arranged = (arranged or (paid and tense is Tense.NOW)) and when.since is not None
    if when.ahead:
        return []
    if aspect is not Aspect.STATE:
        stated = _done(found, group, tense, aspect, scene, when, arranged=arranged)
    elif goes_on:
        stated = _ongoing(found, group, tense, text, when)
    else:
        stated = _over(found, group, tense, text, when)
    # Whoever does not like tea any more does not prefer it either.
    lost = group.ended or _pattern.no_more.search(text) is not None
    gone = [each for each in stated if lost and each.predicate == "likes" and not each.holds]
    return [*stated, *(replace(each, predicate="prefers") for each in gone)]


def announced_for(when: Times, text: str, said: datetime | None, *, lag: timedelta = _HALF_A_YEAR) -> Times:
    """The times of a change told ahead: "raised to 790 from June", said in May, means the June that is nearer.

    What began longer than `lag` before it was said is meant for the year after.
    """
    since = when.since
    if said is not None and since is not None and said - since > lag and not _YEAR.search(text):
        since = since.replace(year=since.year + 1, day=min(since.day, 28) if since.month == 2 else since.day)
    within = when.within if since == when.since else None
    return when if since is None else replace(when, since=since, within=within, ahead=False)


def with_its_times(fact: Fact, sentence: str, said: datetime | None, lasts: int | None) -> Fact:
    """The fact with its times: a home that a lease is signed for is one from its start; `lasts` is a number of days."""
    if lasts is not None and said is not None and fact.holds and fact.valid_to is None:
        return replace(fact, valid_to=(fact.valid_from or said) + timedelta(days=lasts))
    starts = _pattern.starts.search(sentence) if fact.predicate == "planned_home" else None
    day = (starts["day"] or starts["zh"]) if starts else ""
    since = announced_for(times(day, said), day, said).since if day else None
    return fact if since is None else replace(fact, predicate="lives_in", valid_from=since)


def _done(
    found: Sequence[Fact], group: Group, tense: Tense, aspect: Aspect, scene: Scene, when: Times, *, arranged: bool
) -> list[Fact]:
    """Something that began or ended, or is `arranged` for a day; "I am moving" and "I join them in May" are plans."""
    is_over = aspect is Aspect.END and tense is Tense.NOW and bool(group.be)  # "is divorced"
    # "We move the list to Listmonk" is decided; "I move to Lisbon in May" and "we are moving" are plans.
    # "We're switching from Jira to Linear" leaves Jira.
    simply = (not group.be and group.plural) or any(not each.holds and each.object for each in found)
    used = all(each.predicate == "uses" for each in found)
    decided = used and tense is Tense.NOW and simply
    past = tense in (Tense.PAST, Tense.PERFECT, Tense.THEN)
    if group.negated or not (past or is_over or decided or arranged):
        return []
    return [replace(each, valid_from=when.since) for each in found]


def _ongoing(found: Sequence[Fact], group: Group, tense: Tense, text: str, when: Times) -> list[Fact]:
    """A state that is so now, or with a negation is not; "have lived in Porto" alone is long ago."""
    if tense is Tense.PERFECT:
        no_more = group.ended or _pattern.no_more.search(text) is not None
        still = _pattern.ongoing.search(text) is not None or group.always or when.since is not None
        if not still or (group.negated and not no_more):
            return []
    until = None if group.negated else when.until
    holds = not group.negated
    return [replace(each, holds=holds and each.holds, valid_from=when.since, valid_to=until) for each in found]


def _over(found: Sequence[Fact], group: Group, tense: Tense, text: str, when: Times) -> list[Fact]:
    """A state of the past: so in a month that is named, over since a time that is named, else only not so any more."""
    if group.negated:
        return []
    if when.since and when.until:
        return [replace(each, valid_from=when.since, valid_to=when.until) for each in found]
    if when.until:
        return [replace(each, holds=False, valid_from=when.until) for each in found]
    if when.since and when.within:
        return [replace(each, valid_from=when.since, valid_to=when.within) for each in found]
    if tense is Tense.FORMERLY or _pattern.formerly.search(text):
        return [replace(each, holds=False) for each in found]
    return []


# What is known while a note is read clause by clause: who is about, what it was about last, when it was said.


@dataclass(slots=True)
class Scene:
    """The state of one reading.

    `lower` says that the note has no capitals; `lead` is a time that opened the sentence.
    """

    cast: Cast
    said: datetime | None
    predicates: Predicates
    lower: bool = False
    subject: Subject | None = None
    lead: Times | None = None
    opening: bool = False
    """Whether the clause opens its sentence."""
    others: bool = False
    """Whether somebody else was named since who speaks last was ("Called mum."), and may be who is meant."""
    be: Tense = Tense.NONE
    """The tense of "be" in the clause before."""
    replaced: str = ""
    """What has been changed, by the clause before (妈妈换手机号了)."""
    leaving: str = ""
    """Who is about to go, by the clause before ("Pieter is leaving")."""
    heard: str = ""
    """The clause before in the sentence, as it stands."""
    broken: str = ""
    """The thing that no longer works, by the clause before (旧手机坏了)."""
    event: str = ""
    """The lesson or meeting that a clause before began with (瑜伽课换老师了，时间改成周四)."""
    whole: str = ""
    """The project that a clause before is about, whose parts others tell of (Lantern 是我的项目，前端用 React)."""
    medicine: Fact | None = None
    """What somebody takes, by a clause before (爸爸吃氨氯地平，后来换成了缬沙坦)."""
    about: str = ""
    """The thing that the sentence is limited to ("in the mobile app")."""
    notice: bool = False
    """Whether who speaks has given notice, so that "the last day" is that of the job."""
    settled: bool = False
    """Whether the note says that a lease or contract is signed, so that "we're moving in October" is arranged."""
    dwelling: bool = False
    """Whether the note speaks of a house or flat, so that "we moved to Meanwood" is about living there."""
    working: bool = False
    """Whether the note speaks of colleagues or pay, so that "moved to Fennick" is not about living there."""

    def begin_sentence(self) -> None:
        """Forget what held for one sentence only."""
        self.subject, self.lead, self.be, self.about, self.replaced = None, None, Tense.NONE, "", ""
        self.broken = self.heard = ""

    @property
    def of_speaker(self) -> bool:
        """Whether the clause was about who speaks."""
        return self.subject is not None and (self.subject.first or self.subject.we)

    def own(self, found: list[Fact], subject: Subject) -> list[Fact]:
        """The facts of a clause that began with "we": what is personal, such as a home, is the speaker's."""
        if not subject.we:
            return found
        row, me = self.predicates.row, self.cast.me.name
        return [replace(each, subject=me) if row(each.predicate).personal else each for each in found]

    def elliptic(self, word: str) -> Subject | None:
        """Who is meant by "Moved to Lisbon last week": whoever writes a diary so, but nobody by "Use tabs"."""
        table, folded = english(), word.casefold()
        forms = table.forms.get(folded, frozenset())
        past = Form.PAST in forms and Form.BASE not in forms
        telling = folded in _DECIDING or any(each.aspect is not Aspect.STATE for each in table.shapes.get(folded, ()))
        if not (self.opening and past and telling) or self.others:
            return None
        self.subject = self.cast.me
        return self.subject

    def note_mention(self, listed: Sequence[str]) -> None:
        """A clause without a verb that is known: whoever opens it may be who the next one is about."""
        length = next((at for at, word in enumerate(listed) if not word[0].isupper()), len(listed))
        self.subject = self.cast.of(listed[: min(length, 3)]) if length else None


# What takes the place of what, and since when.

#: "Decided to use Svelte": what is decided stands behind it.
_DECIDING = ("decided", "agreed")
#: What has one of these roles is to somebody's taste, not in use: a theme at any time, a drink where it is a change.
TASTES = ("drink", "theme")
_LONG_AGO = timedelta(days=60)


def instead(gone: str, new: str, text: str, scene: Scene) -> list[Fact]:
    if not gone or not new or same_value(gone, new):
        return []
    when = times(text, scene.said)
    if when.ahead:
        return []
    facts = [Fact(gone, "succeeded_by", new, True, when.since)]
    role = scene.predicates.role(new)
    if role is None or role in TASTES:
        return facts
    user = WE if _pattern.we.match(text) else scene.cast.me.name
    return [*facts, Fact(user, "uses", new, True, when.since)]


def since_when(clause: str, text: str, scene: Scene) -> datetime | None:
    """Since when; "takes over from 1 July", said in May of what lies ahead, means the next July."""
    since = times(text, scene.said).since
    if since is None or scene.said is None or not _pattern.ahead.search(clause) or re.search(r"\d{4}", clause):
        return since
    return since.replace(year=since.year + 1) if scene.said - since > _LONG_AGO else since
