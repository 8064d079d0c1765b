"""Facts in words: what a question asks about, and facts as sentences."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from amem.language import normalize, query_terms
from amem.language.predicates import USER, WE
from amem.language.scripts import ENGLISH, is_cjk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime, tzinfo

    from amem.language.intervals import Interval
    from amem.language.predicates import Predicates


# Which predicates a question asks about, by the words that the table has for them.

_WORD = re.compile(r"\w+")
_MOST_WORDS = 40
#: "What does Heron use?": as a word by itself "use" says too little to be looked up.
_USES = re.compile(r"^(?:what|which)\b.*\b(?:do|does|did) .+ use\b")
#: "When is stand-up?" asks for a day or a time of day; "how much do I pay" is not about my pay.
_WHEN = re.compile(r"^(?:when|what time)(?:'s| is| are| does| do)\b|什么时候")
_PAYS = re.compile(r"\b(?:i|we|you|he|she|they|to) pay\b")
_DATED = ("deadline", "date", "time", "birthday")
_NONE: Mapping[frozenset[str], str] = {}
#: What the roles of amem's own table are called in Chinese; a role of one's own is called what it is.
ROLE_WORDS: Mapping[str, tuple[str, ...]] = {
    "database": ("数据库",),
    "cache": ("缓存",),
    "editor": ("编辑器",),
    "operating_system": ("操作系统",),
    "cloud": ("云服务", "云平台"),
    "message_queue": ("消息队列",),
    "language": ("编程语言", "什么语言"),
    "framework": ("框架",),
    "package_manager": ("包管理",),
    "vector_store": ("向量库", "向量数据库"),
    "chat": ("聊天工具", "通讯工具"),
    "theme": ("主题",),
}


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
            self._learn(role, (role.replace("_", " "), *ROLE_WORDS.get(role, ())))

    def of(self, question: str) -> Asked:
        """What the question asks about; nothing where it uses no word of the table."""
        folded = normalize(question)
        words_zh = {word for word, _ in self._chinese if word in folded}
        # Whoever asks for 吃素 asks for a diet, and not for all that one may 吃.
        words_zh = {word for word in words_zh if not any(word != other and word in other for other in words_zh)}
        named = {name for word, name in self._chinese if word in words_zh}
        terms = frozenset(query_terms(_PAYS.sub(" ", folded)))
        for term in terms & self._latin.keys():
            named.update(name for needed, name in self._latin[term] if needed <= terms)
        if not named and _USES.search(folded):
            named = set(self._of_role & {"uses"})
        if _WHEN.search(folded) and named.isdisjoint(_DATED):
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

#: What predicates say that are no nouns: an English verb, and a Chinese clause for the value. All others are nouns
#: ("Your manager is Priya").
_VERBS: Mapping[str, tuple[str, str]] = {
    "works_at": ("work at", "在{}工作"),
    "lives_in": ("live in", "住在{}"),
    "uses": ("use", "用{}"),
    "married_to": ("be married to", "和{}结了婚"),
    "prefers": ("prefer", "更喜欢{}"),
    "likes": ("like", "喜欢{}"),
    "dislikes": ("dislike", "不喜欢{}"),
    "allergic_to": ("be allergic to", "对{}过敏"),
    "knows": ("know", "认识{}"),
    "owns": ("own", "有{}"),
    "named": ("be called", "叫{}"),
    "drives": ("drive", "开{}"),
    "intolerant_to": ("be intolerant to", "对{}不耐受"),
    "cannot_eat": ("be unable to eat", "不能吃{}"),
    "takes_medication": ("take", "服用{}"),
    "has_condition": ("have", "患有{}"),
    "forbids": ("forbid", "禁止{}"),
    "time": ("be at", "在{}"),
    "covered_by": ("be covered by", "的工作由{}代替"),
    "succeeded_by": ("be succeeded by", "由{}接替"),
}
_ABBREVIATIONS = frozenset(("ceo", "cto"))
_THIRD = {"have": "has"}
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
    differ = bool(holding) and len(set(days.values())) > 1
    subject, predicate = said[0].subject, said[0].predicate
    if chinese:
        objects = [f"{value}（{day} 起）" for value, day in days.items()] if differ else objects
        sentence = _chinese(subject, predicate, objects, predicates)
        if not holding:
            return f"{until} 起{'' if said[0].certain else '大概'}不再如此，之前{sentence}"
        return sentence if differ else f"{sentence}（{since} 起）"
    objects = [f"{value} (since {day})" for value, day in days.items()] if differ else objects
    sentence = _english(subject, predicate, objects, predicates, past=not holding)
    if differ:
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
) -> str:
    """What was so in a time, from `since` until `until`, that is called `words`: "in 2025 you lived in Basel".

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
    return " ".join(filter(None, (words, _english_then(subject, predicate, list(objects), predicates))))


def _bounds(begun: str, over: str, chinese: bool) -> str:
    if begun and over:
        return f"{begun} 至 {over}" if chinese else f"{begun} to {over}"
    if begun:
        return f"{begun} 起" if chinese else f"since {begun}"
    return over and (f"至 {over}" if chinese else f"until {over}")


def _english_then(subject: str, predicate: str, objects: Sequence[str], predicates: Predicates) -> str:
    verb = _VERBS.get(predicate, ("", ""))[0]
    if not verb:
        return _english(subject, predicate, objects, predicates, past=True).replace(" used to be ", " was ", 1)
    value = _listed(objects)
    first, _, rest = verb.partition(" ")
    was = "were" if subject in (USER, WE) else "was"
    did = was if first == "be" else _PAST.get(first, f"{first}{'d' if first.endswith('e') else 'ed'}")
    return " ".join(filter(None, (_you(subject), did, rest, value)))


def _listed(objects: Sequence[str]) -> str:
    return " and ".join([", ".join(objects[:-1]), objects[-1]] if len(objects) > 1 else objects)


def _day(at: datetime, zone: tzinfo) -> str:
    return f"{at.astimezone(zone):%Y-%m-%d}"


def _english(subject: str, predicate: str, objects: Sequence[str], predicates: Predicates, *, past: bool) -> str:
    value = _listed(objects)
    verb = _VERBS.get(predicate, ("", ""))[0]
    if not verb and predicate not in predicates.rows:
        return f"{_you(subject)}: {predicates.phrase(predicate, value)}"
    if not verb:
        noun = predicate.upper() if predicate in _ABBREVIATIONS else predicates.words(predicate)
        return f"{_your(subject)} {noun} {'used to be' if past else 'is'} {value}"
    if past:
        return f"{_you(subject)} used to {verb} {value}"
    first, _, rest = verb.partition(" ")
    am, does = ("are", first) if subject in (USER, WE) else ("is", _THIRD.get(first, f"{first}s"))
    return " ".join(filter(None, (_you(subject), am if first == "be" else does, rest, value)))


def _chinese(subject: str, predicate: str, objects: Sequence[str], predicates: Predicates) -> str:
    value = "和".join(["、".join(objects[:-1]), objects[-1]] if len(objects) > 1 else objects)
    if clause := _VERBS.get(predicate, ("", ""))[1]:
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
    return {"you": "your", "we": "our"}.get(name, f"{name}'s")


def _ni(subject: str) -> str:
    if owned := _OWNED.fullmatch(subject):
        return f"你的{owned['what']}"
    return {USER: "你", WE: "我们"}.get(subject, subject)
