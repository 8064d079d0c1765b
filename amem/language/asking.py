"""What a question asks for (predicates, yes or no, a price, a date, a name), and facts as sentences that answer it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from amem.language import normalize, query_terms
from amem.language.intervals import TIMELESS, Interval
from amem.language.predicates import KIN_ZH, USER, WE, Predicates
from amem.language.scripts import ENGLISH, Patterns, is_cjk, read_list

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime, tzinfo


_pattern = Patterns("asking")

# A yes or a no.

YES_NO = _pattern("yes_no")
"""A question that wants a yes or a no."""
OPEN = _pattern("open")
"""Words that ask for more than a yes or a no."""
NEGATED = _pattern("negated")
"""A question that is put as a denial: yes and no may mean either."""
TAKING = re.compile(r"\b(?:eat|drink|have|give|serve|try|taste)\b|[吃喝](?!什么)", re.IGNORECASE)
"""It asks what is eaten, drunk or given, which is not what harms."""
EATING = re.compile(r"\b(?:eats?|eating|drinks?|drinking|cook|serve)\b|[吃喝]", re.IGNORECASE)
"""It asks what is eaten or drunk."""
MEDICINE = re.compile(r"\b(?:medicines?|medications?|pills?|tablets?|drugs?)\b|药", re.IGNORECASE)
"""It asks for medicines."""
HARM = re.compile(r"\b(?:allerg|intoleran|react)|过敏|不耐受", re.IGNORECASE)
"""It asks what harms."""
AVOIDING = re.compile(r"\bavoid|忌|不吃", re.IGNORECASE)
"""It asks what is not eaten."""
LIKING = re.compile(r"\b(?:like|love|enjoy)\b|(?<!不)喜欢", re.IGNORECASE)
"""It asks what is liked, which is not what is disliked."""


def asks_yes_or_no(question: str) -> bool:
    """Whether yes or no is a whole answer."""
    return YES_NO.search(question) is not None and not OPEN.search(question)


#: Whether a question asks if something may be done: "may we bring pets?", 我能喝啤酒吗.
asks_whether_allowed = _pattern.says("allowed")


def what_a_guest_eats(question: str) -> str:
    """What whoever is cooked for does not eat, as a question, where it asks what to cook for them; '' for any other."""
    meal = _pattern.meal_for.search(question)
    if meal is None:
        return ""
    return f"What does {meal['whom']} not eat?" if meal["whom"] else f"{meal['whom_zh']}不能吃什么？"


#: Whether a message asks for what it says to be kept: "remember my locker number is 212".
asks_to_remember = _pattern.says("remember")
#: Whether a text advises against something, or to do it less: "go easy on beer", 少喝啤酒.
says_to_do_less = _pattern.says("less")


#: The characters of a Chinese question that a statement with the answer has to hold.
without_asking_zh = partial(_pattern.plain_zh.sub, "")


# Something of oneself.


def is_about_oneself(question: str) -> bool:
    """Whether a question asks what is or was so of whoever asks, and not what others told or gave."""
    return _pattern.of_me.search(question) is not None and not _pattern.from_others.search(question)


def is_of_another_owner(question: str, text: str) -> bool:
    """Whether a question is for something of one's own, and a text speaks of somebody else's alone: Mum's birthday."""
    owned = _pattern.mine.search(question)
    if owned is None:
        return False
    noun = re.escape(owned["noun"] or owned["zh"])
    if re.search(rf"\b(?:my|our) (?:\w+ )?{noun}|我们?的?{noun}", text, re.IGNORECASE):
        return False
    others = (
        rf"\w['’]s (?:\w+ )?{noun}|(?:{KIN_ZH}|[A-Za-z])的?{noun}"
        rf"|\b(?:has|owns)(?: got)? (?:an? |the )?(?:\w+ )?{noun}\b"
        rf"|(?:邻居|同事|朋友|同学|老板|领导|[他她]们?)家?(?:的|有|养了?)[^，。]{{0,3}}{noun}"
    )
    return re.search(others, text, re.IGNORECASE) is not None


#: Whether a question is for what phone somebody has, and not for its number.
asks_for_a_device = _pattern.says("device")
#: Whether a question is for a move that lies ahead: "where am I moving?", 我要搬去哪里.
asks_for_a_move = _pattern.says("moving")


def speaks_of_oneself(text: str) -> bool:
    """Whether a statement speaks of whoever makes it, "my sister" before its verb aside."""
    return _pattern.first_person.search(_pattern.owned_subject.sub("", text)) is not None


# When something was so, from when to when.


#: Whether a question asks when something was so, or for how long.
asks_when = _pattern.says("when")


# Who somebody is.

_ROLE = r"(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir|[Tt]he|an?|\w+['’]s)"


def tells_who(question: str) -> Callable[[str], bool] | None:
    """What tells whether a text says what the person is whom a question asks about; None where it asks for no one."""
    found = _pattern.who_is.search(question)
    if found is None:
        return None
    name = re.escape(found["name"] or found["zh"])
    if found["zh"]:
        told = re.compile(
            rf"是{name}|{name}(?!是(?:否|不是))是|(?:{KIN_ZH}|经理|律师|老师|负责人|主任|主管|教练)(?:叫|：)?{name}"
        )
    else:
        told = re.compile(
            rf"\b(?:is|was|be|are|becomes|became|called|named|:) {name}\b|\b{name},? (?:is|was|will be|,) {_ROLE}\b"
            rf"|\b{name}, {_ROLE}\b|\b{_ROLE} (?:[a-z-]+ ){{1,3}}{name}\b"
        )
    return lambda text: told.search(text) is not None


# A kind of detail.

QUANTITY = _pattern("quantity")
NUMBER = _pattern("number")
#: Kinds of detail that questions ask for, and what a note holds that has one.
_LINES = [
    line.partition("  ")[2].replace("{NUMBER}", NUMBER.pattern).replace("{NO_PRICE}", _pattern.text("no_price"))
    for _, line in read_list("details.txt")
]
_DETAILS = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(held, re.IGNORECASE))
    for asked, held in zip(_LINES[::2], _LINES[1::2], strict=True)
)


def asked_for(question: str) -> str:
    """The words by which a question asks for a kind of detail ("when", 多少钱); '' where it has none."""
    found = _pattern.asked_for.search(question)
    return found[0].lower() if found else ""


def details_asked(question: str) -> list[Callable[[str], object]]:
    """For each kind of detail that a question asks for, what tells whether a text holds one."""
    return [held.search for asked, held in _DETAILS if asked.search(question)]


#: Whether a question asks which school, street or the like: the answer holds a name.
asks_for_a_name = _pattern.says("named_kind")


# Which predicates a question asks about, by the words that the table has for them.

_WORD = re.compile(r"\w+")
_MOST_WORDS = 40
_DATED = ("deadline", "date", "time", "birthday")
_NONE: Mapping[frozenset[str], str] = {}


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question asks about: predicates of the table, the roles it names ("database"), and in `words` any
    predicate that is not in the table, by its very name. With `by_role` it names the predicates that play roles only by
    a role ("our database"), not by a word for them ("use")."""

    predicates: frozenset[str]
    roles: frozenset[str]
    words: frozenset[str]
    by_role: bool = False

    def covers(self, predicate: str, role: str | None) -> bool:
        """Whether it asks for a fact of this (canonical) predicate, whose object plays this role.

        A question that names roles asks for objects in them, where the predicate tells roles apart.
        """
        if predicate not in self.predicates:
            return predicate in self.words
        return role is None or not self.roles or role in self.roles


class Asking:
    """The words of one table, looked up in questions."""

    def __init__(self, predicates: Predicates) -> None:
        self._latin: dict[str, list[tuple[frozenset[str], str]]] = {}
        self._chinese: list[tuple[str, str]] = []
        self._of_role = frozenset(name for name, row in predicates.rows.items() if row.one == "role")
        self._roles = predicates.role_names
        self._known = frozenset(predicates.rows)
        for name, row in predicates.rows.items():
            self._learn(name, (name.replace("_", " "), *row.asks))
        own = {terms: name for held in self._latin.values() for terms, name in held}
        for name, row in predicates.rows.items():
            # A single Chinese character is in too many words, unless the table says that questions use it so; and
            # "works as" is no more than "work", which asks for another predicate.
            self._learn(name, (each for each in row.aliases if len(each) > 1), own)
        for role in self._roles:
            self._learn(role, (role.replace("_", " "), *predicates.role_words.get(role, ())))

    def of(self, question: str) -> Asked:
        """What the question asks about; nothing where it uses no word of the table."""
        folded = normalize(question)
        words_zh = {word for word, _ in self._chinese if word in folded}
        # Whoever asks for 吃素 asks for a diet, and not for all that one may 吃.
        words_zh = {word for word in words_zh if not any(word != other and word in other for other in words_zh)}
        named = {name for word, name in self._chinese if word in words_zh}
        terms = frozenset(query_terms(_pattern.pays.sub(" ", folded)))
        for term in terms & self._latin.keys():
            named.update(name for needed, name in self._latin[term] if needed <= terms)
        if not named and _pattern.uses.search(folded):
            named = set(self._of_role & {"uses"})
        if _pattern.when_is.search(folded) and named.isdisjoint(_DATED):
            named |= self._known & {"date", "time"}
        roles = frozenset(named) & self._roles
        # Whoever asks for "our database" asks for what plays that role.
        asked = frozenset(named) - self._roles | (self._of_role if roles else frozenset())
        words = [word for word in _WORD.findall(folded)[:_MOST_WORDS] if word not in ENGLISH]
        by_role = bool(roles) and self._of_role.isdisjoint(named)
        return Asked(asked, roles, frozenset([*words, *map("_".join, pairwise(words))]) - self._known, by_role)

    def _learn(self, name: str, phrases: Iterable[str], taken: Mapping[frozenset[str], str] = _NONE) -> None:
        for phrase in phrases:
            folded = normalize(phrase)
            if is_cjk(folded[:1]):
                self._chinese.append((folded, name))
            elif not ENGLISH.issuperset(folded.split()):
                terms = query_terms(folded)
                if taken.get(frozenset(terms), name) == name:
                    self._latin.setdefault(terms[0], []).append((frozenset(terms), name))


# Facts as sentences, said to the user: "You live in Lisbon, since 2026-06-06", 你住在里斯本（2026-06-06 起）.

_ABBREVIATIONS = frozenset(("ceo", "cto"))
_THIRD = {"have": "has"}
_IS = {"now": "is", "then": "was", "formerly": "used to be"}
_PAST = {"have": "had", "know": "knew", "drive": "drove", "take": "took", "forbid": "forbade", "prefer": "preferred"}
_OWNED = re.compile(rf"{USER}(?:'s |的)(?P<what>.+)")


def wording(
    found: Sequence[Interval], predicates: Predicates, now: datetime, zone: tzinfo, *, chinese: bool = False
) -> str:
    """What is so at `now` of the one subject and predicate of these intervals, as a clause: no capital, no full stop.

    Values that are so since different days each have their own. Where nothing is so any more, what was so last, and
    that it ended; '' for no intervals at all.
    """
    if not found:
        return ""
    holding = [each for each in found if each.at(now)]
    said = holding or [max(found, key=lambda each: (each.until is None, each.until or now))]
    begun: dict[str, datetime] = {}
    for each in said:
        begun[each.object] = min(each.since, begun.get(each.object, each.since))
    days = {value: _day(at, zone) for value, at in begun.items()}
    objects, since = list(days), min(days.values())
    last = max((each.until for each in said if each.until), default=None)
    until = "" if last is None else _day(last, zone)
    subject, predicate = said[0].subject, said[0].predicate
    timeless = bool(holding) and predicate in TIMELESS
    differ = bool(holding) and len(set(days.values())) > 1 and not timeless
    if chinese:
        objects = [f"{value}（{day} 起）" for value, day in days.items()] if differ else objects
        sentence = _chinese(subject, predicate, objects, predicates)
        if not holding:
            return f"{until} 起{'' if said[0].certain else '大概'}不再如此，之前{sentence}"
        return sentence if differ or timeless else f"{sentence}（{since} 起）"
    objects = [f"{value} (since {day})" for value, day in days.items()] if differ else objects
    sentence = _english(subject, predicate, objects, predicates, "now" if holding else "formerly")
    if differ or timeless:
        return sentence
    ended = f"but {'' if said[0].certain else 'presumably '}not since {until}"
    return f"{sentence}, {f'since {since}' if holding else ended}"


def wording_then(
    found: Sequence[Interval],
    predicates: Predicates,
    zone: tzinfo,
    words: str,
    since: datetime | None,
    until: datetime | None,
    *,
    chinese: bool = False,
    ahead: bool = False,
) -> str:
    """What was so in a time, from `since` until `until`, that is called `words`: "in 2025 you lived in Basel".

    With `ahead` that time is still to come: "in 2028 you live in Basel".

    The intervals are of one subject and predicate; where one begins or ends within that time (None: open to that side),
    its value says so. '' for no intervals at all.
    """
    if not found:
        return ""
    objects: dict[str, None] = {}
    for each in found:
        begun = f"{each.since.astimezone(zone):%Y-%m-%d}" if since is None or each.since > since else ""
        over = f"{each.until.astimezone(zone):%Y-%m-%d}" if each.until and (until is None or each.until < until) else ""
        bounds = _bounds("" if begun == over else begun, over, chinese)
        objects.setdefault(each.object + (bounds and (f"（{bounds}）" if chinese else f" ({bounds})")))
    subject, predicate = found[0].subject, found[0].predicate
    if chinese:
        return f"{words}{_chinese(subject, predicate, list(objects), predicates)}"
    sentence = _english(subject, predicate, list(objects), predicates, "now" if ahead else "then")
    return f"{words} {sentence}".strip()


def _bounds(begun: str, over: str, chinese: bool) -> str:
    if begun and over:
        return f"{begun} 至 {over}" if chinese else f"{begun} to {over}"
    if begun:
        return f"{begun} 起" if chinese else f"since {begun}"
    return over and (f"至 {over}" if chinese else f"until {over}")


def _listed(objects: Sequence[str]) -> str:
    return " and ".join([", ".join(objects[:-1]), objects[-1]] if len(objects) > 1 else objects)


def _day(at: datetime, zone: tzinfo) -> str:
    return f"{at.astimezone(zone):%Y-%m-%d}"


def _english(subject: str, predicate: str, objects: Sequence[str], predicates: Predicates, when: str) -> str:
    """What is so "now", was so "then" ("you lived in Basel") or "formerly" ("you used to live in Basel")."""
    value = _listed(objects)
    verb = predicates.row(predicate).said[0]
    if not verb and predicate not in predicates.rows:
        return f"{_you(subject)}: {predicates.phrase(predicate, value)}"
    if not verb:
        noun = predicate.upper() if predicate in _ABBREVIATIONS else predicates.words(predicate)
        return f"{_your(subject)} {noun} {_IS[when]} {value}"
    if when == "formerly":
        return f"{_you(subject)} used to {verb} {value}"
    first, _, rest = verb.partition(" ")
    many = subject in (USER, WE)
    am, does = ("are", first) if many else ("is", _THIRD.get(first, f"{first}s"))
    if when == "then":
        am, does = "were" if many else "was", _PAST.get(first, f"{first}{'d' if first.endswith('e') else 'ed'}")
    return " ".join(filter(None, (_you(subject), am if first == "be" else does, rest, value)))


def _chinese(subject: str, predicate: str, objects: Sequence[str], predicates: Predicates) -> str:
    value = "和".join(["、".join(objects[:-1]), objects[-1]] if len(objects) > 1 else objects)
    if clause := predicates.row(predicate).said[1]:
        return f"{_ni(subject)}{clause.format(value)}"
    if predicate not in predicates.rows:
        return f"{_ni(subject)}：{predicates.phrase(predicate, value, chinese=True)}"
    return f"{_ni(subject)}的{predicates.words(predicate, chinese=True)}是{value}"


def _you(subject: str) -> str:
    if owned := _OWNED.fullmatch(subject):
        return f"your {owned['what']}"
    return {USER: "you", WE: "we"}.get(subject, subject)


def _your(subject: str) -> str:
    name = _you(subject)
    several = name.endswith("s") and not name.endswith("ss") and name.split()[-1].islower()  # "Italian lessons"
    return {"you": "your", "we": "our"}.get(name, f"{name}'" if several else f"{name}'s")


def _ni(subject: str) -> str:
    if owned := _OWNED.fullmatch(subject):
        return f"你的{owned['what']}"
    return {USER: "你", WE: "我们"}.get(subject, subject)
