"""How things are now: the states that an event ends or that do not last, and what a text says of the present.

The table ``words/states.txt`` names the states in English and Chinese: who gave birth is not pregnant. A statement of
one is no yes to whether it is so now where a later note tells of the event, or where it was said longer ago than it
lasts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from amem.language import index_terms
from amem.language.times import named_in_note

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date

#: What "…" stands for.
_GAP = r"(?:[\w'’-]+ ){0,3}"
#: In a pattern: what must not follow, flags, and what stands for a letter or for several.
_NO_WORDS = re.compile(r"\(\?!(?:[^()]|\([^()]*\))*\)|\(\?[a-z-]*:|\\.|\[[^\]]*\]|(?<=\w)\?")
_ANYWHERE = frozenset(
    index_terms("a the is are was were am be been had has have her his my their our it that this at in on of for to")
)
_HEAD = re.compile(r"(?P<name>\w+) (?P<days>\d+|-)(?P<thing> of a thing)?")


@dataclass(frozen=True, slots=True)
class State:
    """One row of the table: `lasts` is None for a state that is so until something ends it; `of_a_thing` tells that
    only what names the thing that is asked about ends it. `stated_terms` and `ended_terms` are index terms of which
    every text holds one that `stated` or `ended` matches."""

    name: str
    lasts: timedelta | None
    of_a_thing: bool
    stated: re.Pattern[str]
    ended: re.Pattern[str]
    stated_terms: frozenset[str]
    ended_terms: frozenset[str]


def states_asked(text: str) -> list[State]:
    """The states that a question names, in the order of the table, but none whose very end it asks for."""
    if any(each.ended.search(text) for each in _table() if not each.of_a_thing):
        return []
    return [each for each in _table() if each.stated.search(text) and not each.ended.search(text)]


@cache
def _table() -> tuple[State, ...]:
    return tuple(_rows(files("amem.language").joinpath("words", "states.txt").read_text(encoding="utf-8").splitlines()))


def _rows(lines: Iterable[str]) -> Iterator[State]:
    for line in lines:
        if not line or line.startswith("#"):
            continue
        head, _, sides = line.partition(": ")
        found = _HEAD.fullmatch(head)
        assert found is not None, head
        lasts = None if found["days"] == "-" else timedelta(days=int(found["days"]))
        stated, ended = sides.split(" | ")
        thing = found["thing"] is not None
        yield State(found["name"], lasts, thing, _pattern(stated), _pattern(ended), _terms(stated), _terms(ended))


def _pattern(phrases: str) -> re.Pattern[str]:
    """Match any of these phrases, an English one as whole words."""
    listed = [each.strip() for each in re.split(r",(?![^(]*\))", phrases) if each.strip()]
    latin = "|".join(each.replace("… ", _GAP).replace("…", _GAP) for each in listed if each.isascii() or "…" in each)
    chinese = "|".join(each for each in listed if not (each.isascii() or "…" in each))
    return re.compile("|".join(filter(None, (latin and rf"\b(?:{latin})\b", chinese))), re.IGNORECASE)


def _terms(phrases: str) -> frozenset[str]:
    """The index terms of the words of these phrases, those left out that any sentence has."""
    return frozenset(index_terms(_NO_WORDS.sub(" ", phrases))) - _ANYWHERE


# What a question asks of the present, and whether a statement speaks of it.

_IS = re.compile(
    r"^\W*(?:(?:and|so|but|ok(?:ay)?)\W+)?(?:is|are|am)\b|^(?!.*过)[^，,]*(?:(?<!现)在|是)[^，,]*吗", re.IGNORECASE
)
_WAS_IT = re.compile(r"^\W*(?:(?:and|so|but|ok(?:ay)?)\W+)?(?:was|were|did|had)\b|过(?!敏)", re.IGNORECASE)
_WHERE = re.compile(
    r"^\W*(?:(?i:is|are|am|was|were)) [^?]*\b(?:in|at|to|near) (?:the )?[A-Z]"
    r"|^[^，,]{1,8}?(?:还|现在|目前|仍)*(?<!现)在[^，,？?]{1,8}?吗"
)
_WHERE_NOW = re.compile(
    r"^\W*(?:\w+\W+)?where(?:['’]s| (?:do|does|is|are|am)\b)(?!.*\b(?:want|plan|hope|like|dream)\b)"
    r"|^(?!.*[想要打希梦将会以]).*(?:在|住)(?:哪|什么地方)",
    re.IGNORECASE,
)
#: Whoever lives, works or studies somewhere is there until something else is said.
_SETTLED = re.compile(
    r"\b(?:liv(?:e|es|ing)|moved|based|settled|relocated|resides?|works?|working|stud(?:y|ies|ying)|student"
    r"|teach(?:es|ing)?|joined|for good)\b|住(?!院|酒店|宾馆)|搬|定居|上班|工作|常驻|读书|上学|老家",
    re.IGNORECASE,
)
_WAS = re.compile(r"\b(?:was|were|used to|had been)\b|之前|以前|曾经?|当时|那时", re.IGNORECASE)
_UNTIL = re.compile(
    r"\b(?:until|till|through|expir(?:es|ed|y)(?: date)?(?: on| in)?|runs? out(?: on| in)?)[: ]*"
    r"(?:the )?(?:(?:very )?(?:end|last day) of )?$|[到至]$",
    re.IGNORECASE,
)
_SINCE = re.compile(
    r"\b(?:since|from|until|till|every|on (?:mon|tues|wednes|thurs|fri|satur|sun)days|born)\b|起|自从|以来|每",
    re.IGNORECASE,
)
#: By what happened something came to be so: "got engaged", "went vegan".
_BECAME = re.compile(
    r"\b(?:is|are|am|be|been|got|gets|became|become|turned|went|gone|started|began|joined|moved|passed|signed|bought"
    r"|found|booked|fixed|finished|made|has|have)\b|['’](?:s|m|re|ve)\b|[\u4e00-\u9fff]",
    re.IGNORECASE,
)
_ANOTHER = re.compile(
    r"\b(?:new|another|different|changed|switched|swapped) (?P<what>(?:[\w-]+ )?[\w-]+)"
    r"|(?:换了?|改成|新的?)(?:个|位|一[个位])?(?P<zh>\w{2,4})",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    r"\b(?:instead(?! of)|rather than|moved to|put off|postponed|brought forward)\b|改[到在成为]|推迟|提前到",
    re.IGNORECASE,
)
_FIRST = re.compile(r"\b(?:I|my|we|our)\b|我", re.IGNORECASE)
#: Whoever did this does no more what they did for others.
_LEAVES = re.compile(
    r"\b(?:left|leav(?:es|ing)|quits?|resign(?:s|ed)|retire[sd]?|retiring|hand(?:s|ed|ing) in|gave notice|last day"
    r"|(?:went|goes|going) back to|mov(?:ed|es|ing) (?:away|to|back)|off to|laid off|fired|died|passed away"
    r"|stepp(?:ed|ing) down|(?:maternity|parental|sick) leave|(?:sold|sells|is selling) (?:the|his|her|their|up))\b"
    r"|离职|辞职|退休|休[产病长]假|被?顶替|代班|代课|调[去到走]|走了|离开|回[^，。]{1,6}了|去世|不干了|被裁|搬走|搬[到去]"
    r"|把[^，。]{1,8}卖[了给掉]",
    re.IGNORECASE,
)
#: "Priya has no leave left".
_REMAINS = re.compile(
    r"\b(?:no|any|some|few|little|enough|much|many|more|a|an|one|two|three|\d+) (?:[\w'’-]+ ){0,3}?left\b",
    re.IGNORECASE,
)
#: "Am I pregnant?", and a text that says of somebody else what they are.
_OWN_STATE = re.compile(r"^\W*(?:am|was) I\b", re.IGNORECASE)
_NAMED_IS = re.compile(r"^\W*[A-Z][\w'’-]*(?: [\w'’-]+){0,5}? (?:is|was|has|isn['’]t|wasn['’]t)\b")
#: So long at most lasts what is told for so many days, weeks or months, and not so many of them a week.
_FOR_SO_LONG = re.compile(
    r"\b(?:\d+|a|two|three|four|five|six|seven|eight|nine|ten|couple of) (?P<unit>day|week|month)s?\b"
    r"(?! (?:a|per|ago)\b)"
    r"|(?<!每)(?:\d+|[一二两三四五六七八九十几]+)个?(?P<zh>天|周|星期|礼拜|月)(?![起份前一二三四五六日天])",
    re.IGNORECASE,
)
_AT_MOST = {"day": 31, "天": 31, "week": 120, "周": 120, "星期": 120, "礼拜": 120, "month": 400, "月": 400}
#: What one gets from what one cannot take.
_HARMED = re.compile(
    r"\b(?:(?:makes?|made) (?:me|us|him|her|them|\w+) (?:ill|sick|sneeze|itch|throw up|bloated)"
    r"|(?:get|got|gets|give|gives|gave) (?:\w+ )?(?:an? |in )?"
    r"(?:rash|hives|cramps?|heartburn|headaches?|migraines?|swollen \w+|stomach ache|diarrh?oea)"
    r"|upsets? (?:my|his|her) stomach|(?:come|comes|came) out in)\b"
    r"|拉肚子|腹泻|过敏|不耐受?|起疹|发疹|红疹|肿|发痒|呕吐|恶心|胃[痛疼胀]|肚子[痛疼胀]|头[痛疼]|睡不着|胀气|反酸",
    re.IGNORECASE,
)
#: Whoever died is nothing any more.
_DIES = re.compile(
    r"\b(?:died|dies|dead|passed away|put (?:\w+ )?(?:to sleep|down)|buried|funeral)\b"
    r"|死了|去世|过世|安乐死|没了|埋在|葬礼",
    re.IGNORECASE,
)
#: What was sold, stolen or broken beyond use is no more what one has.
_LOST = re.compile(
    r"\b(?:sold|lost|scrapped|crashed|totall?ed|wrecked|returned|gave away|got rid of|traded in|threw (?:out|away))"
    r" (?:\w+ ){0,2}?(?=_name_)"
    r"|_name_\b.{0,30}?\b(?:(?:was|is|were|got|been|being) (?:\w+ )?"
    r"(?:sold|stolen|lost|scrapped|totall?ed|wrecked|destroyed|broken|written off|demolished|taken away)"
    r"|broke(?! \w+ record)|gave up the ghost|went missing|closed (?:down|for good)|shut down|went bankrupt)\b"
    r"|(?:卖[了掉]|弄?丢了|扔[了掉]|报废了?|撞坏了?|处理掉了?|退掉了?)[^，。；]{0,4}_name_"
    r"|_name_[^，。；]{0,8}?(?:卖[了掉]|盘出去|丢了|被偷|偷走|报废|坏了|撞坏|撞毁|扔[了掉]|送人|送给|退掉|倒闭|关门了|拆了)",
    re.IGNORECASE,
)
#: What says that somebody may have or do something, and does not deny it.
_AS_IT = re.compile(r"\b(?:it|them)\b|它", re.IGNORECASE)
_CALLED_OFF = re.compile(
    r"\b(?:cancel(?:s|l?ed|l?ing)?|call(?:s|ed|ing)? (?:\w+ )?off|(?:is|are|was|were) off"
    r"|(?:fell|falls?|fallen) through)\b"
    r"|取消|不[去办]了|泡汤|黄了|[去办]不成|没[去办]成",
    re.IGNORECASE,
)
_MAY = re.compile(
    r"\b(?:may|can|could|is allowed|are allowed|is okay|is ok|is fine|is safe|tolerates?|outgrew|outgrown)\b"
    r"|可以|能[吃喝碰用]|没事了?|不要紧|不用忌|放开",
    re.IGNORECASE,
)
_MAY_NOT = re.compile(
    r"\b(?:not|never|no|cannot|hardly)\b|n['’]t\b|[不没别未]|\bcan (?:cause|make|kill|trigger|be)\b", re.IGNORECASE
)
_TO = re.compile(r"\s*(?:to|till|until|through|[-–—~到至])\s*", re.IGNORECASE)
#: The stop of "Dr. Hofer" ends nothing.
_CLAUSES = re.compile(r"[,;!?，。；！？]|(?<!\b[DM]r)(?<!\bMrs)(?<!\bMs)(?<!\bProf)(?<!\bSt)\.")
_WHO = re.compile(r"\bwho(?:m|['’]s)?\b|谁", re.IGNORECASE)
_EXCEPT = re.compile(
    r"\b(?:except(?:ing)?(?: for)?|apart from|other than|bar|but for|with the exception of) (?P<what>[^,.;!?()]{1,60})"
    r"|除了?(?P<zh>[^，。；、！？]{1,12}?)(?:以外|之外|外|，|都|什么)",
    re.IGNORECASE,
)
#: Somebody else may live or stay with the speaker.
_AT_MINE = re.compile(
    r"我们?[这那](?:里|儿|边)?|\b(?:with|beside|near) (?:me|us)\b"
    r"|\b(?:at|to|in) (?:mine|ours|(?:my|our) (?:place|flat|house|home))\b",
    re.IGNORECASE,
)


def asks_how_things_are(question: str) -> bool:
    """Whether a question is for what is so now: "is Tomas in Gothenburg?", 小雅是学生吗."""
    return _IS.search(question) is not None


def asks_how_things_were(question: str) -> bool:
    """Whether a question is for what was so at some time."""
    return _WAS_IT.search(question) is not None


def asks_whether_there(question: str) -> bool:
    """Whether a question is for whether somebody is at a place."""
    return _WHERE.search(question) is not None


def asks_where_now(question: str) -> bool:
    """Whether a question is for where somebody or something is, not for where they would be."""
    return _WHERE_NOW.search(question) is not None


def is_settled(text: str) -> bool:
    """Whether a text tells of a place where somebody stays until something else is said."""
    return _SETTLED.search(text) is not None


def tells_since_when(text: str) -> bool:
    """Whether a text bounds or repeats what it tells, so that the days it names are not all of its time."""
    return _SINCE.search(text) is not None


def tells_until_when(text: str, said: date) -> date | None:
    """The last day until which a text of the day `said` tells that it is so; None where it names none."""
    named = [each for each in named_in_note(text, said) if _UNTIL.search(text[: each.start])]
    return max((each.span.last for each in named if each.span is not None), default=None)


def tells_how_long(text: str) -> timedelta | None:
    """How long at most what a text tells lasts, where it says for how many days, weeks or months; else None."""
    found = _FOR_SO_LONG.search(text)
    return None if found is None else timedelta(days=_AT_MOST[(found["unit"] or found["zh"]).lower()])


def tells_of_harm(text: str) -> bool:
    """Whether a text says that something makes somebody ill: "milk gives me cramps", 喝牛奶就拉肚子."""
    return _HARMED.search(text) is not None


def is_of_own_state(question: str) -> bool:
    """Whether a question asks what whoever asks is or was: "am I pregnant?"."""
    return _OWN_STATE.search(question) is not None


def names_its_subject(text: str) -> bool:
    """Whether a text begins with a name, and says what its bearer is or has."""
    return _NAMED_IS.search(text) is not None


def speaks_of_the_present(text: str, *, event: bool) -> bool:
    """Whether a text tells how things are, or with `event` by what they came to be so, and not how they were."""
    if _WAS.search(text) is not None and not tells_since_when(text):
        return False
    return not event or _BECAME.search(text) is not None


def is_of_the_speaker(text: str) -> bool:
    """Whether a text speaks of whoever says it, or of somebody of theirs."""
    return _FIRST.search(text) is not None


def asks_who(question: str) -> bool:
    """Whether a question is for a person."""
    return _WHO.search(question) is not None


def clauses(text: str) -> list[str]:
    """The parts of a text between its marks."""
    return _CLAUSES.split(text)


def tells_of_leaving(text: str, name: str) -> bool:
    """Whether a text says of somebody that they leave, move or retire."""
    parts = [_REMAINS.sub(" ", each) for each in clauses(text) if name in each]
    return any(_LEAVES.search(each, each.index(name)) for each in parts if name in each)


def tells_of_death(text: str, name: str) -> bool:
    """Whether a text says that somebody, or a pet, died."""
    return any(name in each and _DIES.search(each) for each in clauses(text))


def calls_off(text: str) -> bool:
    """Whether a text says that what was planned is not done: "the trip is off", 青岛不去了."""
    return _CALLED_OFF.search(text) is not None


def leads_on(between: str) -> bool:
    """Whether these words stand between the first and the last of some days: "to" of "from 4 to 9 December"."""
    return _TO.fullmatch(between) is not None


def tells_of_loss(text: str, name: str) -> bool:
    """Whether a text says of a thing or a place that it was sold, stolen, broken beyond use or closed.

    Once it is named it may go on as "it": "The Fabia won't start. Sold it for scrap."
    """
    named = False
    for each in clauses(text):
        told = each.replace(name, "_name_") if name in each else _AS_IT.sub("_name_", each) if named else ""
        if _LOST.search(told):
            return True
        named = named or name in each
    return False


def tells_of_leave(text: str) -> bool:
    """Whether a text says that something may be had or done: "Max may eat nuts", 可以吃花生."""
    return any(_MAY.search(each) and not _MAY_NOT.search(each) for each in clauses(text))


def exceptions(text: str) -> list[str]:
    """What a text leaves out of what it tells: "fish" of "vegetarian except for fish"."""
    return [each["what"] or each["zh"] for each in _EXCEPT.finditer(text)]


def without_own_place(text: str) -> str:
    """The text without its words for being with the speaker, who is not whom it tells of: "stays with me", 住我这里."""
    return _AT_MINE.sub(" ", text)


def told_anew(text: str) -> list[str]:
    """What a text tells of as another than before: "boss" of "my new boss", 班主任 of 换了班主任, with what follows."""
    return [each["what"] or each["zh"] for each in _ANOTHER.finditer(text)]


def tells_instead(text: str) -> bool:
    """Whether a text tells of something in place of what was to be: "at the pool instead", 改到周四."""
    return _INSTEAD.search(text) is not None
