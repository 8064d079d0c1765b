"""What sort of thing a note says, how much that weighs, and one sentence around it: who, when, on which topic."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING

from amem.analysts.rules.keywords import keyphrases, themes_of
from amem.language import written_in_cjk
from amem.language.lexicon import CUES, Sort, cue_in, is_person, lexicon, stem
from amem.language.scripts import Patterns, word_list, words
from amem.language.terms import contract
from amem.language.times import iso
from amem.language.times.relative import relative
from amem.language.word_reading import Name, Reading, Word, names, read
from amem.note import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from amem.analysis import Draft
    from amem.protocols import Vocabulary


_pattern = Patterns("analysts/kind_and_context")

# What sort of thing a note says, by its cues in English and Chinese.

#: Cues are looked for in this much of a note; a longer one has shown its kind by then.
_WINDOW = 3000


_PAST_WORDS = word_list("acts in the past")
_BEFORE_PAST = words("i we she he they and also just finally both even recently all then almost never again")


def kind_of(reading: Reading) -> Kind:
    """The kind of the note, from the strongest cue; `Kind.FACT` where nothing says otherwise."""
    return _kind(reading.text)


# A turn of a conversation is asked for once as itself, and once as what the next one replies to.
@lru_cache(maxsize=256)
def _kind(whole: str) -> Kind:
    reading = read(whole)
    text = whole[:_WINDOW]
    if _is_code(text):
        return Kind.ERROR if re.search(r"\bTraceback\b", text) else Kind.CODE
    if not reading.words:
        return Kind.CHITCHAT
    stated = _stated(reading)
    if stated is None:
        return Kind.QUESTION
    for kind in CUES:
        if cue_in(stated, kind):
            return kind
    if is_small_talk(reading):
        return Kind.CHITCHAT
    return Kind.EPISODE if _happened(reading, stated) else Kind.FACT


def _is_code(text: str) -> bool:
    if "```" in text:
        return True
    lines = [line for line in text.splitlines() if line.strip()]
    return len(lines) >= 2 and sum(1 for line in lines if _pattern.code.search(line)) >= max(2, len(lines) * 0.4)


def _stated(reading: Reading) -> str | None:
    """What the note states, its questions left out; None when asking is its point."""
    questions = {at for at in range(len(reading.sentences)) if _asks(reading, at)}
    if not questions:
        return reading.text[:_WINDOW]
    weight = sum(
        1 for word in reading.words if word.sentence not in questions and word.sort in (Sort.COMMON, Sort.CONTENT)
    )
    if weight < 3:
        return None
    return " ".join(reading.sentence(at) for at in range(len(reading.sentences)) if at not in questions)[:_WINDOW]


def _asks(reading: Reading, at: int) -> bool:
    sentence = reading.sentence(at).rstrip("\"'”’）) ")
    if sentence.endswith(("?", "？")):
        return True
    last = at == len(reading.sentences) - 1
    if sentence[-1:] in ".!。！…" or not last:
        return False
    if reading.chinese:
        return _pattern.asks_zh.search(sentence) is not None
    return bool(_pattern.asks_en.match(sentence)) and len(sentence.split()) >= 3 and "," not in sentence


def is_small_talk(reading: Reading) -> bool:
    """Whether the note is a greeting, thanks or a reaction, with next to nothing else in it."""
    if any(word.shaped or word.sort is Sort.NUMBER for word in reading.words):
        return False
    reactions = sum(map(_is_reaction, reading.words))
    telling = [word for word in reading.words if word.sort in (Sort.COMMON, Sort.CONTENT)]
    content = [word for word in telling if not _is_reaction(word) and not _is_name(word)]
    if reactions:
        return len(content) <= 1 + (reactions > 1)
    return not content and all(word.sort in (Sort.STOP, Sort.WEAK) and word.known for word in reading.words)


def _happened(reading: Reading, stated: str) -> bool:
    if reading.chinese:
        return bool(_pattern.times_zh.search(stated) and _pattern.past_zh.search(stated))
    before = None
    for word in reading.words:
        if word.text.casefold() in _PAST_WORDS and word.text != "Read":
            acts = before is not None and not word.gap and (before.text.casefold() in _BEFORE_PAST or _is_name(before))
            if acts or (word.first and word.text not in ("Had", "Was", "Were", "Did", "Left")):
                return True
        before = word
    return False


# What is said out of courtesy: greetings, thanks, "ok", laughter, goodbyes. It tells nothing about anybody.


def is_courtesy(reading: Reading) -> bool:
    """Whether nothing is left of a sentence without its courtesies: nobody will ever ask for it again."""
    covered = [match.span() for match in _pattern.courtesy.finditer(reading.text)]
    left = [word for word in reading.words if not _within(word, covered)]
    if not left or all(_is_reaction(word) for word in left):
        return True
    if any(word.sort >= Sort.COMMON and not _is_name(word) and not _is_reaction(word) for word in left):
        return False
    if not covered and not is_small_talk(reading):
        return False
    if any(word.shaped or word.sort is Sort.NUMBER for word in left):
        return False
    left = [word for word in left if word.sort is not Sort.STOP and not _is_name(word) and not _is_reaction(word)]
    # Beside a courtesy a word of no weight ("thanks for helping", "hi Ben") is part of it; "can eat spicy" is not.
    return len(left) <= 1 and all(word.sort is Sort.WEAK for word in left)


def is_greeting(reading: Reading) -> bool:
    """Whether it only greets or takes leave, which is about nothing that was said before."""
    covered = [match.span() for match in _pattern.greeting.finditer(reading.text)]
    return bool(covered) and all(_within(word, covered) or _is_name(word) for word in reading.words)


def _within(word: Word, spans: list[tuple[int, int]]) -> bool:
    """Whether one of the spans, which are in order, holds the word."""
    last = bisect_right(spans, word.start, key=itemgetter(0)) - 1
    return last >= 0 and word.end <= spans[last][1]


def _is_reaction(word: Word) -> bool:
    lists = lexicon()
    return word.text in lists.chinese_reactions if word.cjk else word.key in lists.reactions


def _is_name(word: Word) -> bool:
    """Whether the word may name a person."""
    return word.person or (word.capital and not word.known and not word.shaped)


# How much a note weighs, 0..1: by its kind, then by what it says about itself.

_BY_KIND = {
    Kind.CONSTRAINT: 0.85,
    Kind.DECISION: 0.78,
    Kind.PREFERENCE: 0.68,
    Kind.PROCEDURE: 0.66,
    Kind.CONFIG: 0.64,
    Kind.CODE: 0.58,
    Kind.FACT: 0.56,
    Kind.TOPIC: 0.55,
    Kind.ERROR: 0.55,
    Kind.EPISODE: 0.48,
    Kind.QUESTION: 0.3,
    Kind.CHITCHAT: 0.1,
}


def importance_of(reading: Reading, kind: Kind, names: Sequence[Name]) -> float:
    """0..1, two decimals. A constraint outweighs a decision, that a preference, and small talk weighs least."""
    value = _BY_KIND[kind]
    if kind in (Kind.CHITCHAT, Kind.QUESTION) and not names:
        return value
    urgent = len({match[0].casefold() for match in _pattern.urgent.finditer(reading.text[:3000])})
    value += 0.05 * min(urgent, 2)
    if any(word.sort is Sort.NUMBER for word in reading.words):
        value += 0.02
    value += 0.01 * min(len(names), 3)
    if sum(1 for word in reading.words if word.sort >= Sort.COMMON) <= 1:
        value -= 0.08
    return round(min(1.0, max(0.05, value)), 2)


# The one clause that carries a note, without its greetings and lead-ins, short enough to stand in a sentence.

_CLAUSE_END = re.compile(r"[,;，；、。.!?！？](?=\s|[^\x00-\x7f]|$)|\s[—–-]\s")


def gist_of(reading: Reading, kind: Kind, keywords: Sequence[str], longest: int) -> str:
    """The clause of the note that holds most of its keywords, at most `longest` characters, no full stop at its end."""
    if not reading.sentences:
        return ""
    if kind is Kind.PROCEDURE:
        steps = [_bare(reading.sentence(at)) for at in range(min(len(reading.sentences), 8))]
        return shorten(("；" if reading.chinese else "; ").join(steps), longest)
    text = without_lead_in(reading.sentence(_best_sentence(reading, kind, keywords)))
    if kind is Kind.DECISION:
        text = _pattern.decided.sub("", text, count=1) or text
    return shorten(_bare(text), longest)


def without_lead_in(text: str) -> str:
    """`text` without what only opens it ("Wow, ", "By the way, ", "对了，")."""
    for _ in range(3):
        shorter = _pattern.lead_in.sub("", text, count=1)
        if shorter == text or not shorter.strip():
            break
        text = shorter
    return text


def shorten(text: str, longest: int) -> str:
    """`text` on one line in at most `longest` characters, cut after a clause if one ends late enough, else a word."""
    line = " ".join(text.split())
    if len(line) <= longest:
        return line
    window = line[: longest - 1]
    clauses = [match.start() for match in _CLAUSE_END.finditer(window) if match.start() > longest * 0.55]
    if clauses:
        return window[: clauses[-1]].rstrip() + "…"
    space = window.rfind(" ")
    return (window[:space] if space > longest * 0.6 else window).rstrip(" ,;:，；：、") + "…"


def lowered(text: str, names: Iterable[Name]) -> str:
    """`text`, a piece of the note, with a small letter first unless a name or "I" opens it."""
    first = contract(text.split(" ", 1)[0].rstrip(",.;:!?"))
    if not first[:1].isupper() or first == "I" or not (first[1:].islower() or first == "A"):
        return text
    everyday = stem(first) in lexicon().known and not any(name.text.startswith(first) for name in names)
    return text[0].lower() + text[1:] if everyday else text


def _best_sentence(reading: Reading, kind: Kind, keywords: Sequence[str]) -> int:
    """The sentence with most keywords and content; a question only where asking is the point."""
    reactions = lexicon().reactions
    weights = [0.0] * len(reading.sentences)
    for word in reading.words:
        if word.sort >= Sort.COMMON and word.key not in reactions and not word.person:
            weights[word.sentence] += 1
    telling = [keyword for keyword in keywords if not is_person(keyword)][:4]
    for at in range(len(weights)):
        sentence = reading.sentence(at)
        folded = sentence.casefold()
        weights[at] = min(weights[at], 6) + sum(1 for keyword in telling if keyword.casefold() in folded)
        if cue_in(sentence, kind):
            weights[at] += 4
        asks = sentence.rstrip("\"'”’）) ").endswith(("?", "？"))
        if kind is Kind.QUESTION and asks:
            weights[at] += 3
        elif asks:
            weights[at] *= 0.3
        if _pattern.points_back.match(sentence):
            weights[at] -= 2
        weights[at] -= 0.8 * at
    return max(range(len(weights)), key=lambda at: weights[at])


def _bare(text: str) -> str:
    return text.strip().rstrip(".。;；,，:： ").strip()


# Short turns of a conversation ("Three years now!", "Wow, cool!"), which lean on what was said before them.

#: A turn with no more content words than this leans on the one before.
_FEW = 3
_QUESTION = 110
_SPEAKER = re.compile(r"^([^:：\n?!.]{1,40})[:：]\s*(.+)$", re.DOTALL)
_OWN_FEET = (Kind.DECISION, Kind.CONSTRAINT, Kind.PREFERENCE, Kind.CODE, Kind.CONFIG, Kind.ERROR, Kind.PROCEDURE)


def leans(reading: Reading, kind: Kind) -> bool:
    """Whether the note needs what was said before it to be understood. A greeting has nothing to do with that."""
    content = sum(1 for word in reading.words if word.sort >= Sort.COMMON)
    short = kind is Kind.CHITCHAT or (content <= _FEW and kind not in _OWN_FEET)
    return short and not is_greeting(reading)


def said_before(previous: str) -> tuple[str | None, str]:
    """An earlier turn as its speaker, if it names one, and its text."""
    match = _SPEAKER.match(previous)
    return (match[1].strip(), match[2].strip()) if match else (None, previous.strip())


def reply_lead(draft: Draft, reading: Reading, kind: Kind, day: str, vocabulary: Vocabulary) -> str:
    """The beginning of a reply's context: whose, when, and what it replies to."""
    speaker, text = said_before(draft.previous[-1])
    before = read(text)
    other = None if speaker == draft.speaker else speaker
    asked = text.endswith(("?", "？")) and kind not in (Kind.QUESTION, Kind.CHITCHAT)
    if asked:
        topic = shorten(without_lead_in(before.sentence(len(before.sentences) - 1)), _QUESTION)
    else:
        topic = _topic(before, reading.chinese, vocabulary)
    return (
        _chinese(draft, kind, day, other, topic, asked)
        if reading.chinese
        else _english(draft, kind, day, other, topic, asked)
    )


def _topic(before: Reading, chinese: bool, vocabulary: Vocabulary) -> str:
    topics = [theme.phrase(chinese) for theme in themes_of(before)[:1]]
    telling = {word.text.casefold() for word in before.words if word.sort >= Sort.COMMON and not word.person}
    for phrase in keyphrases(before, names(before), kind_of(before), vocabulary)[:4]:
        words = {phrase.casefold(), *phrase.casefold().split()}
        if words & telling and phrase.casefold() not in topics:
            topics.append(phrase)
    return ("、" if chinese else ", ").join(topics[:3])


def _english(draft: Draft, kind: Kind, day: str, other: str | None, topic: str, asked: bool) -> str:
    noun = "question" if kind is Kind.QUESTION else "answer" if asked else "reply"
    if kind is Kind.CHITCHAT:
        noun = "reaction"
    of = f" of {day}" if day else ""
    head = f"{draft.speaker}'s {noun}{of}" if draft.speaker else f"{'An' if noun[0] == 'a' else 'A'} {noun}{of}"
    if asked:
        return f'{head} to {other}\'s question "{topic}"' if other else f'{head} to the question "{topic}"'
    to = f" to {other}" if other else ""
    return f"{head}{to} on {topic}" if topic else head + to


def _chinese(draft: Draft, kind: Kind, day: str, other: str | None, topic: str, asked: bool) -> str:
    verb = "提问" if kind is Kind.QUESTION else "回答" if asked else "回应"
    space = " " if draft.speaker and draft.speaker[-1].isascii() and day else ""
    head = f"{draft.speaker or ''}{space}{day}{verb}"
    if asked:
        return f"{head}{f'{other}的' if other else ''}问题“{topic}”"
    about = f"关于{topic}的话" if topic else "话"
    return f"{head}{other or ''}{about}" if other or topic else head


# One sentence around a note, which says what the note does not: who, when, what sort of thing, on which topic, and
# which days its words of time mean. The note itself is never repeated.

_NOUNS = {
    Kind.EPISODE: ("account", "经历"),
    Kind.FACT: ("note", "记录"),
    Kind.PREFERENCE: ("preference", "偏好"),
    Kind.DECISION: ("decision", "决定"),
    Kind.CONSTRAINT: ("constraint", "约束"),
    Kind.CONFIG: ("setting", "配置"),
    Kind.CODE: ("code", "代码"),
    Kind.ERROR: ("error", "报错"),
    Kind.QUESTION: ("question", "提问"),
    Kind.CHITCHAT: ("small talk", "闲聊"),
    Kind.PROCEDURE: ("procedure", "步骤"),
    Kind.TOPIC: ("topic", "主题"),
}
#: Kinds of which the person named first is the one who decided, likes, or did.
_PERSONAL = (Kind.DECISION, Kind.PREFERENCE, Kind.CONSTRAINT)
_UNCOUNTED = (Kind.CODE, Kind.CHITCHAT)
_MOST_TIMES = 3


#: What the setting user_name is until somebody gives a name: no word for a sentence.
_NAMELESS = "user"


def context_of(draft: Draft, reading: Reading, kind: Kind, vocabulary: Vocabulary) -> str:
    """The sentence, in the note's language. Dates are given only as far as the draft and its words give them."""
    chinese = reading.chinese
    day = iso(draft.at.date(), chinese) if draft.at else ""
    if draft.speaker == _NAMELESS:
        draft = replace(draft, speaker=None)
    who = draft.speaker or (_subject(reading) if kind in _PERSONAL else None)
    if draft.previous and leans(reading, kind):
        lead = reply_lead(draft, reading, kind, day, vocabulary)
    else:
        about = [theme.phrase(chinese) for theme in themes_of(reading)[:2]]
        lead = (_chinese_lead if chinese else _english_lead)(who, day, kind, about)
    times = _times(draft)
    if chinese:
        return f"{lead}{'；' if times else ''}{'，'.join(times)}。"
    return f"{lead}{'; ' if times else ''}{', '.join(times)}."


def _times(draft: Draft) -> list[str]:
    """The first relative words of time with the days they mean: "yesterday: 2026-03-03"."""
    if draft.at is None:
        return []
    meant: dict[str, str] = {}
    for named in relative(draft.content, draft.at.date()):
        if named.span is not None:
            words = draft.content[named.start : named.end]
            chinese = written_in_cjk(words)
            meant.setdefault(words.casefold(), f"{words}{'：' if chinese else ': '}{named.span.written(chinese)}")
    return list(meant.values())[:_MOST_TIMES]


def _english_lead(who: str | None, day: str, kind: Kind, about: Sequence[str]) -> str:
    noun = _NOUNS[kind][0]
    subject = f"about {' and '.join(about)}" if about else ""
    of = f" of {day}" if day else ""
    subject = f" {subject}" if subject else ""
    if who:
        return f"{who}'s {noun}{of}{subject}"
    if kind in _UNCOUNTED:
        return f"{noun.capitalize()}{of}{subject}"
    return f"{'An' if noun[0] in 'aeiou' else 'A'} {noun}{of}{subject}"


def _chinese_lead(who: str | None, day: str, kind: Kind, about: Sequence[str]) -> str:
    space = " " if who and who[-1].isascii() and (day or about) else ""
    subject = f"关于{'和'.join(about)}" if about else ""
    head = f"{who or ''}{space}{day}{subject}"
    return f"{head}的{_NOUNS[kind][1]}" if head else _NOUNS[kind][1]


def _subject(reading: Reading) -> str | None:
    """The person whom the first word names and of whom the note then says something."""
    if not reading.words or not reading.words[0].person:
        return None
    first, *others = reading.words[:2]
    if first.possessive or not (first.cjk or first.capital) or (others and others[0].gap):
        return None
    return first.text
