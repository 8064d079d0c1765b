"""Whether two notes say the same thing about the same thing, so that one can stand for both."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import UTC
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from amem.clock import local_time
from amem.language import index_terms, normalize, sentences, written_in_cjk
from amem.language.lexicon import lexicon
from amem.language.numerals import CARDINALS, CHINESE, month_number, value_of, weekday_number
from amem.language.predicates import subject_key
from amem.language.scripts import CJK, Patterns, is_cjk, words
from amem.note import Enrichment, Kind, MemoryNote, MemoryType, Scope, Status

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping


# Numbers written in words, as digits: 三点 and 3点, "three" and "3" are the same.

_RUN = re.compile(rf"[{CHINESE}]+")
_ENGLISH = {word: str(value) for word, value in CARDINALS.items()} | {"once": "1", "twice": "2"}


def digits(text: str) -> str:
    """The text with Chinese numerals as digits: 三点 -> 3点, 十二个 -> 12个, 二〇二六年 -> 2026年.

    Also within words that are no numbers (一起 -> 1起): two texts are compared in the same form.
    """
    return text if text.isascii() else _RUN.sub(lambda found: _value(found[0]), text)


def number_word(word: str) -> str:
    """An English number in digits; any other word as it is. Versions lose their "v"."""
    if word[0] == "v" and word[1:2].isdigit():
        return word[1:]
    return _ENGLISH.get(word, word)


def _value(run: str) -> str:
    value = value_of(run)
    return run if value is None else str(value)


# When something is, taken out of a text in one form: it may stand at either end of a sentence and mean the same.

_pattern = Patterns("maintenance/sameness")
_KINDS = ("date", "weekday", "clock", "round")


def take_out_times(text: str) -> tuple[str, tuple[tuple[str, ...], ...]]:
    """A folded text without its times, and these in their order: dates, weekdays, hours, rounds."""
    found: dict[str, list[str]] = {kind: [] for kind in _KINDS}

    def keep(match: re.Match[str]) -> str:
        kind, value = _time(match)
        found[kind].append(value)
        return " "

    bare = _pattern.time.sub(keep, text)
    return bare, tuple(tuple(found[kind]) for kind in _KINDS)


def moves_with_the_day(text: str) -> bool:
    """Whether a text says when by the day on which it is said ("yesterday", 今天)."""
    return _pattern.moving.search(text.casefold()) is not None


def _time(match: re.Match[str]) -> tuple[str, str]:
    part = match.groupdict()
    if part["iso"]:
        year, month, day = part["iso"].split("-")
        return "date", f"{year}-{int(month)}-{int(day)}"
    if month := part["month1"] or part["month2"]:
        day, year = part["day1"] or part["day2"], part["year1"] or part["year2"] or ""
        return "date", f"{year}-{month_number(month)}-{int(day)}"
    if part["month3"]:
        return "date", f"{part['year3'] or ''}-{month_number(part['month3'])}"
    if part["weekday"]:
        which = "every" if part["many"] or part["which"] in ("every", "each") else part["which"] or ""
        return "weekday", f"{which} {weekday_number(part['weekday']) + 1}".strip()
    if part["hour"]:
        hour = int(part["hour"]) % 12 + (12 if part["half"].startswith("p") else 0)
        return "clock", f"{hour}:{part['minute'] or '00'}"
    if part["clock"]:
        hours, minutes = part["clock"].split(":")
        return "clock", f"{int(hours)}:{minutes}"
    if part["zh_month"]:
        return "date", f"{(part['zh_year'] or '').rstrip('年')}-{int(part['zh_month'])}-{int(part['zh_day'])}"
    if part["zh_weekday"]:
        day = "7" if part["zh_weekday"] in "日天" else part["zh_weekday"]
        return "weekday", f"{part['zh_week'].removesuffix('个')} {day}".strip()
    if part["zh_clock"]:
        return "clock", part["zh_clock"]
    return "round", " ".join((part["round"] or part["zh_round"]).replace("each", "every").split())


# What a text says, as words in an order that can be compared: times and numbers in one form, empty words left out.
#
# Vectors cannot tell "3 May" from "4 May", "tea to coffee" from "coffee to tea", or almost any two Chinese texts. So
# two texts count as the same only when the words that matter are the same, in the same order; only when something is
# may stand at either end of a sentence.

_TOKEN = re.compile(rf"[{CJK}]|\d+(?:[.:/]\d+)*%?|[^\W\d_{CJK}]+(?:[.\-_+'’]?[^\W_{CJK}]+)*(?:\+\+|\#)?|[%€$£°]")
_NUMBER = re.compile(r"v?\d+(?:[.:/]\d+)*%?")
_CLAUSE = re.compile(r"[，。；！？,;!?]+")
#: Say nothing that would be missed; "also" and the like tie a sentence to what stood before it.
_LIGHT = words("a an the is are am be been please remember note reminder fyi that our also btw of")
_LIGHT_CHARACTERS = frozenset("的了吧呢啊呀嘛哦哈")
#: Ways to say the same, in one form; read before a text is taken into words.
_PARAPHRASES = tuple(
    (re.compile(pattern), instead)
    for pattern, instead in (
        (r"\b(is|are|am) (?:called|named)\b", r"\1"),
        (r"\b(?:works?|working|employed) as\b", "is"),
        (r"\b(?:have|has) (?:an? )?allerg(?:y|ies) to\b", "is allergic to"),
        (r"\brelocat(e[ds]?|ing)\b", r"mov\1"),
        (r"\b(?:really|very much|actually)\b ?", ""),
        (r"\bper (day|week|month|year|hour|night|person)\b", r"a \1"),
        (r"每[一个]?个?(天|周|月|年|晚|星期)", r"每\1"),
        (r"住在", "住"),
        (r"这(?:个|家|间|台|款)", ""),
        (r"用的是|使用的是|用了|在用|使用", "用"),
        (r"(?:很|特别|非常)?喜欢(?=[喝吃看听玩])|(?:很|特别|非常)?爱(?=[喝吃看听玩])", "喜欢"),
        (r"吃(.{1,6}?)会过敏", r"对\1过敏"),
        (r"(?<=[^\W\d_])在(.{2,8}?)当", r"是\1"),
        (rf"(?<=[{CJK}])[:：](?=\s*\S)", "是"),
    )
)
_IS = re.compile(r"\s(?:is|are)\s|(?<=.)是(?=.)")
_ED = re.compile(r"[a-z]{2,}ed")
#: Words of no weight once the facts of two texts are the same; which way something goes is never one of them.
_TIES = words("of to at in on as for has have it there")
#: What stands after one of these is bound to it: "from Lisbon to Porto" is not "from Porto to Lisbon".
_BINDING = words("from than before after by with over under near without instead against between besides")
#: Whose something is can be left unsaid, but not be said to be somebody else's.
_WHOSE = words("his her its their")
_CONTRACTED = {"'m": " am", "'re": " are", "'ve": " have", "'ll": " will", "n't": " not", "cannot": "can not"}
_CONTRACTION = re.compile(r"(?:'(?:m|re|ve|ll)|n't)\b|\bcannot\b")
_USER = re.compile(r"\bthe user\b")
_NEGATIONS = words("not no never none neither nor without nobody nothing hardly rarely seldom stop stopped quit dont")
_CHINESE_NEGATIONS = frozenset("不没无非别未勿莫禁否")
#: What comes after one of these takes back or limits what was said.
_LIMITING = words("but however except unless if although though instead only until whereas yet maybe perhaps might")
#: A sentence may go on with one of these and still say what it said before.
_GOES_ON = words("for with because as so and at in on from by near since via")


@dataclass(frozen=True, slots=True)
class Wording:
    """One sentence (of Chinese: one clause): its `text`, its words in order, whose things are."""

    text: str
    words: tuple[str, ...]
    whose: tuple[str, ...] = ()

    @property
    def limits(self) -> bool:
        """Whether it takes back or limits what stands beside it."""
        return not _LIMITING.isdisjoint(self.words) or _pattern.limiting_zh.search(self.text) is not None


@dataclass(frozen=True, slots=True)
class Said:
    """What a text says: its sentences, and of the whole its numbers, times, denials and questions."""

    sentences: tuple[Wording, ...]
    numbers: tuple[tuple[str, int], ...]
    times: tuple[tuple[str, ...], ...]
    denials: int
    questions: int


@lru_cache(maxsize=512)
def said(text: str) -> Said:
    """Take a text apart."""
    plain = _plain(text)
    bare, times = take_out_times(plain)
    tokens = [token for token, _ in _tokens(bare)]
    return Said(
        sentences=tuple(filter(lambda each: each.words, map(_wording, _pieces(text)))),
        numbers=tuple(sorted(Counter(token for token in tokens if _NUMBER.fullmatch(token)).items())),
        times=times,
        denials=sum(token in _NEGATIONS or token in _CHINESE_NEGATIONS for token in tokens),
        questions=text.count("?") + text.count("？"),
    )


def denied(said: Said) -> set[tuple[str, str]]:
    """Each word of denial with the word after it: what is denied."""
    return {
        (word, after)
        for sentence in said.sentences
        for word, after in zip(sentence.words, (*sentence.words[1:], ""), strict=True)
        if word in _NEGATIONS or word in _CHINESE_NEGATIONS
    }


def same_words(one: Wording, other: Wording) -> bool:
    """Whether two sentences say the same with the same words."""
    return one.words == other.words and (not one.whose or not other.whose or one.whose == other.whose)


def goes_further(one: Wording, other: Wording) -> bool:
    """Whether `one` says all that `other` says, in its words, and then goes on: "... for the second shelf"."""
    rest = one.words[len(other.words) :]
    begins = one.words[: len(other.words)] == other.words and one.whose[: len(other.whose)] == other.whose
    return begins and bool(rest) and rest[0] in _GOES_ON and not one.limits


def reordered(one: Wording, other: Wording, stated: Iterable[str]) -> bool:
    """Whether two sentences differ only in where they say what is `stated` of both; the rest must stand in order."""
    known = {stem for text in stated for _, stem in _tokens(_plain(text))}
    first, second = (_bound(each) for each in (one, other))
    rest = [[word for word in words if word not in known] for words in (first, second)]
    return rest[0] == rest[1] and sorted(first) == sorted(second)


def _bound(sentence: Wording) -> list[str]:
    """A sentence's words, those that a preposition gives a direction together with it, without ties."""
    pairs = zip(("", *sentence.words), sentence.words, strict=False)
    bound = [f"{before} {word}" if before in _BINDING else word for before, word in pairs]
    return [each for each in bound if each not in _TIES and each not in _BINDING and each != "是"]


def turned_round(one: Wording, other: Wording) -> bool:
    """Whether one sentence says "A is B" where the other says "B is A"."""
    sides = [_IS.split(_plain(each.text)) for each in (one, other)]
    if any(len(parts) != 2 for parts in sides):
        return False
    (first, second), (third, fourth) = ([_kept(part) for part in parts] for parts in sides)
    return bool(first and second) and first == fourth and second == third


def covers(one: Wording, other: Wording) -> bool:
    """Whether `one` says what `other` says, or more."""
    return same_words(one, other) or goes_further(one, other)


def _pieces(text: str) -> list[str]:
    if not written_in_cjk(text):
        return sentences(text)
    return [piece for sentence in sentences(text) for piece in _CLAUSE.split(sentence) if piece.strip()]


def _wording(text: str) -> Wording:
    tokens = _tokens(take_out_times(_plain(text))[0])
    return Wording(text.strip(), _weighty(tokens), tuple(token for token, _ in tokens if token in _WHOSE))


def _plain(text: str) -> str:
    """A sentence in folded letters and digits, its opening left out, ways to say the same in one form."""
    plain = _pattern.opening.sub("", digits(normalize(text)))
    for pattern, instead in _PARAPHRASES:
        plain = pattern.sub(instead, plain)
    return plain


def _kept(plain: str) -> tuple[str, ...]:
    return _weighty(_tokens(take_out_times(plain)[0]))


def _weighty(tokens: list[tuple[str, str]]) -> tuple[str, ...]:
    left_out = _LIGHT | _LIGHT_CHARACTERS | _WHOSE
    return tuple(stem for token, stem in tokens if token not in left_out)


def _tokens(plain: str) -> list[tuple[str, str]]:
    """(token, what it counts as) of a text already folded."""
    spelled = _CONTRACTION.sub(lambda found: _CONTRACTED[found[0]], _USER.sub("i", plain))
    found: list[tuple[str, str]] = []
    for match in _TOKEN.finditer(spelled):
        token = number_word(match[0])
        found.append((token, token if is_cjk(token) or _NUMBER.fullmatch(token) else _stem(token)))
    return found


@lru_cache(maxsize=1 << 14)
def _stem(word: str) -> str:
    terms = index_terms(word)
    stem = terms[0] if terms else word
    # "used" is not "uses": what was need not be so any more.
    return f"{stem}-ed" if _ED.fullmatch(word) and stem != word else stem


#: What is made of other notes, or followed word for word, is never merged.
#: The difference that a person may overrule: nothing but the wording was found to differ.
OTHER_WORDS = "other words"
_NEVER = frozenset({Kind.EPISODE, Kind.TOPIC, Kind.PROCEDURE, Kind.CODE})


def may_merge(note: MemoryNote, owned: Mapping[str, str]) -> bool:
    """Whether a note may be merged with any other at all; `owned` says which of its fields people hold.

    What a person pinned or edited is that person's, and what an analyst has still to read may change.
    """
    return (
        note.status is Status.ACTIVE
        and not note.overturned  # merged, a statement would stand again, or lose what came after it
        and note.kind not in _NEVER
        and "episode" not in note.metadata
        and not note.pinned
        and "edited" not in owned.values()
        and note.enrichment is Enrichment.DONE
    )


def group_of(
    speaker: str | None, metadata: Mapping[str, Any], kind: str, valid_to: str | None, entities: Iterable[str]
) -> Hashable | None:
    """What two notes that may be merged have in common, from columns of a note's row; None for one that never is.

    `valid_to` is as the row holds it. Raises ValueError for a kind that there is not.
    """
    what = Kind(kind)
    if what in _NEVER:
        return None
    whose = normalize(speaker or ""), Scope.of(metadata)
    return *whose, what.memory_type, what is Kind.QUESTION, valid_to, _names(entities)


def difference(one: MemoryNote, other: MemoryNote, days: float) -> str:
    """Why two notes that may be merged are not the same, in words; '' when they are. `days` is the most between them.

    How near their vectors are is for the caller to ask.
    """
    first, second = said(one.content), said(other.content)
    if normalize(one.speaker or "") != normalize(other.speaker or ""):
        return "another speaker"
    if Scope.of(one.metadata) != Scope.of(other.metadata):
        return "another user, agent or session"
    if one.kind.memory_type is not other.kind.memory_type or (Kind.QUESTION in (one.kind, other.kind)) != (
        one.kind is other.kind is Kind.QUESTION
    ):
        return "another kind"
    if apart := _apart(one, other, days):
        return apart
    if _names(one.entities) != _names(other.entities):
        return "another name"
    if first.numbers != second.numbers:
        return "another number"
    if first.times != second.times:
        return "another time"
    if first.denials != second.denials or first.questions != second.questions:
        return "one denies or asks what the other states"
    if _disagree(one, other):
        return "another fact"
    if _same_words(first, second) or (_same_facts(one, other) and _another_verb(first, second)):
        return ""
    if len(first.sentences) == len(second.sentences) == 1 and _reworded(one, other, first, second):
        return ""
    return OTHER_WORDS


def may_say_the_same(one: MemoryNote, other: MemoryNote, days: float) -> bool:
    """Whether a person should say if two notes are the same: they state the same facts, and differ in wording alone."""
    return difference(one, other, days) == OTHER_WORDS and _same_facts(one, other)


def unsaid(one: Said, other: Said) -> list[Wording]:
    """The sentences of `other` that `one` does not say."""
    return [each for each in other.sentences if not any(covers(held, each) for held in one.sentences)]


def _apart(one: MemoryNote, other: MemoryNote, days: float) -> str:
    if one.at is None or other.at is None or abs((one.at - other.at).total_seconds()) > days * 86_400:
        return "too long between them"
    if one.valid_from != other.valid_from or one.valid_to != other.valid_to:
        moved = one.valid_from is not None and other.valid_from is not None
        if moved or one.valid_to != other.valid_to:
            return "true at another time"
    # What happened twice in the same words happened twice; so did what was "today" on two days.
    happened = one.kind.memory_type is MemoryType.EPISODIC
    if (happened or moves_with_the_day(one.content) or moves_with_the_day(other.content)) and _day(one) != _day(other):
        return "another day"
    return ""


def _day(note: MemoryNote) -> object:
    return local_time(note.timestamp, UTC).date()


def _names(entities: Iterable[str]) -> frozenset[str]:
    """A note's names; those with digits in them are compared as numbers and times."""
    return frozenset(normalize(name) for name in entities if not any(char.isdigit() for char in name))


def _in_order(note: MemoryNote) -> list[str]:
    """The note's names as they stand in its text."""
    text = normalize(note.content)
    return sorted(_names(note.entities), key=lambda name: (text.find(name), name))


def _disagree(one: MemoryNote, other: MemoryNote) -> bool:
    """Whether both state something of one subject and predicate, and not the same."""
    stated: list[defaultdict[tuple[str, str], set[tuple[str, bool]]]] = [defaultdict(set), defaultdict(set)]
    for held, note in zip(stated, (one, other), strict=True):
        for fact in note.facts:
            held[subject_key(fact.subject), normalize(fact.predicate)].add((normalize(fact.object), fact.holds))
    first, second = stated
    return any(first[key] != second[key] for key in first.keys() & second.keys())


def _same_words(one: Said, other: Said) -> bool:
    """Whether one of the texts says all that the other says, but for whole sentences that limit nothing."""
    if not one.sentences or not other.sentences:
        return False
    missing, extra = unsaid(one, other), unsaid(other, one)
    # A sentence that each says in its own way may say two things; one that only one of them has says one thing more.
    return not (missing and extra) and not any(each.limits for each in (*missing, *extra))


def _same_facts(one: MemoryNote, other: MemoryNote) -> bool:
    """Whether both state the same, and something."""
    stated = [
        {(subject_key(fact.subject), fact.predicate, normalize(fact.object), fact.holds) for fact in note.facts}
        for note in (one, other)
    ]
    return bool(stated[0]) and stated[0] == stated[1]


def _reworded(one: MemoryNote, other: MemoryNote, first: Said, second: Said) -> bool:
    """Whether two sentences say the same in another order.

    "A is B" may be turned round. Else the facts must be the same, which tell who does what to whom, and hold every
    name that the sentences do; then all other words must be in both.
    """
    left, right = first.sentences[0], second.sentences[0]
    if left.whose != right.whose and left.whose and right.whose:
        return False
    if turned_round(left, right):
        return True
    if not _same_facts(one, other):
        return False
    if _in_order(one) != _in_order(other):
        return False
    stated = [text for fact in one.facts for text in (fact.subject, fact.object)]
    named = all(any(name in normalize(text) for text in stated) for name in _names(one.entities))
    return named and reordered(left, right, stated)


def _another_verb(one: Said, other: Said) -> bool:
    """Whether two texts of one sentence differ in one verb only ("moved", "relocated")."""
    if len(one.sentences) != 1 or len(other.sentences) != 1 or one.sentences[0].whose != other.sentences[0].whose:
        return False
    first, second = one.sentences[0].words, other.sentences[0].words
    changed = [pair for pair in zip(first, second, strict=False) if pair[0] != pair[1]]
    return len(first) == len(second) and len(changed) == 1 and lexicon().verbs.issuperset(changed[0])
