"""One sentence around a note, and what an old note should say once a new one has arrived."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.analysis import Rewrite
from amem.analysts.rules.keyphrases import keyphrases
from amem.analysts.rules.kinds import is_greeting, kind_of
from amem.analysts.rules.tags import hints_at, theme_named, themes_of
from amem.language import cjk_share, written_in_cjk
from amem.language.entities import names
from amem.language.lexicon import Sort, cue_in, is_person, is_place, lexicon, stem, terms_of
from amem.language.terms import contract
from amem.language.times import iso
from amem.language.times.relative import relative
from amem.language.word_reading import read
from amem.note import Kind, LinkType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from amem.analysis import Analysis, Draft, Neighbour
    from amem.analysts.rules.linking import Ground
    from amem.language.entities import Name
    from amem.language.word_reading import Reading
    from amem.protocols import Vocabulary


# The one clause that carries a note, without its greetings and lead-ins, short enough to stand in a sentence.

_LEAD_IN = re.compile(
    r"^(?:(?:oh|well|so|yeah|yes|no|yep|hey|hi|hello|wow|haha\w*|lol|ok|okay|sure|right|btw|by the way|also|and|but"
    r"|anyway|thanks|thank you|absolutely|totally|definitely|actually|honestly|fyi|note|reminder|remember|important"
    r"|please remember|update|tip|todo)(?:,? [A-Z][a-z]+)?(?:[,!:.…—-]+\s*|\s+-\s+)"
    r"|(?:i think|i guess|i just wanted to (?:say|tell you)|just so you know|i wanted to tell you)(?: that)?,?\s+"
    r"|(?:嗯+|哦+|哈哈+|对了|对|好的?|是的|是啊|哇|哎|唉|顺便说一下|其实|另外|记住|注意|备忘|提醒|更新|重要)[，,：:！!。～~]+\s*)",
    re.IGNORECASE,
)
_DECIDED = re.compile(
    r"^(?:(?:[A-Z]\w+|we|i|they|he|she|the team|my \w+)(?: and (?:i|[A-Z]\w+))?(?: have| has|'ve)?"
    r"(?: finally| now| all| both)* (?:decided|agreed|chose|opted)(?: today| together)? to "
    r"|decision(?: at \w+)?: ?|decided to )"
    r"|^(?:(?:我们|我|他们|大家|团队|项目组)?(?:已经|最终|最后|一致)?决定(?:了)?[:：，,]?|决定[:：])",
    re.IGNORECASE,
)
#: A sentence that begins so is not understood without the one before.
_POINTS_BACK = re.compile(r"(?:she|he|it|they|that|this|those|these|there|then)\b|[她他它]|这|那", re.IGNORECASE)
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
        text = _DECIDED.sub("", text, count=1) or text
    return shorten(_bare(text), longest)


def without_lead_in(text: str) -> str:
    """`text` without what only opens it ("Wow, ", "By the way, ", "对了，")."""
    for _ in range(3):
        shorter = _LEAD_IN.sub("", text, count=1)
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
        if _POINTS_BACK.match(sentence):
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
    if is_greeting(reading):
        return False
    content = sum(1 for word in reading.words if word.sort >= Sort.COMMON)
    return kind is Kind.CHITCHAT or (content <= _FEW and kind not in _OWN_FEET)


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


def context_of(draft: Draft, reading: Reading, kind: Kind, vocabulary: Vocabulary) -> str:
    """The sentence, in the note's language. Dates are given only as far as the draft and its words give them."""
    chinese = reading.chinese
    day = iso(draft.at.date(), chinese) if draft.at else ""
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


# What an old note should say once a new one has arrived beside it: a broader tag, a clause on what came later.
#
# Nothing is ever taken away, so that every rewrite proposed here is safe to apply.

_MOST_REWRITES = 2
_MOST_TAGS, _MOST_NEW_TAGS = 8, 2
_MOST_CLAUSES = 2
_LONGEST_CONTEXT = 300
_CLAUSE = {False: 90, True: 60}
#: Links less certain than this change nothing in the neighbour; small talk never does.
_SURE = 0.76
#: From this cosine on a shared person is what both notes are about, not only someone who was there.
_CLOSE = 0.55
_LATER = {False: "; later: ", True: "；后来："}


def propose_rewrites(draft: Draft, analysis: Analysis, grounds: Sequence[Ground]) -> Iterator[Rewrite]:
    """Rewrites for at most two of the linked neighbours, each with its reason."""
    if analysis.kind in (Kind.CHITCHAT, Kind.QUESTION):
        return
    proposed = 0
    for ground in grounds:
        if proposed >= _MOST_REWRITES or ground.link.confidence < _SURE:
            return
        if not ground.shared or ground.neighbour.kind is Kind.CHITCHAT:
            continue
        rewrite = _rewrite(draft, analysis, ground)
        if rewrite is not None:
            proposed += 1
            yield rewrite


def _rewrite(draft: Draft, analysis: Analysis, ground: Ground) -> Rewrite | None:
    neighbour = ground.neighbour
    chinese = written_in_cjk(neighbour.content)
    added = _new_tags(analysis, neighbour, chinese)
    clause = _clause(draft, analysis, ground, chinese)
    if not added and not clause:
        return None
    topic = ground.shared[0]
    if chinese:
        said = [f"新笔记带来的标签：{'、'.join(added)}"] if added else []
        said += [f"后续：{topic}"] if clause else []
        reason = "；".join(said)
    else:
        tags = "tag" if len(added) == 1 else "tags"
        said = [f"{tags} added from a newer note: {', '.join(added)}"] if added else []
        said += [f"follow-up: {topic}"] if clause else []
        reason = "; ".join(said)
    return Rewrite(
        neighbour.handle,
        context=clause or None,
        tags=(*neighbour.tags, *added) if added else None,
        reason=reason,
        confidence=round(min(0.98, 0.9 + 0.3 * (ground.link.confidence - _SURE)), 2),
    )


def _new_tags(analysis: Analysis, neighbour: Neighbour, chinese: bool) -> list[str]:
    """Themes of the new note that the old one belongs to as well, without having been tagged so."""
    own = {tag.casefold() for tag in neighbour.tags}
    added: list[str] = []
    for tag in analysis.tags:
        theme = theme_named(tag)
        if theme is None:
            continue
        spelled = tag if (cjk_share(tag) > 0) == chinese else lexicon().themes[theme].tag(chinese)
        names = {spelled, lexicon().themes[theme].english, lexicon().themes[theme].chinese}
        if own & names or len(neighbour.tags) + len(added) >= _MOST_TAGS or len(added) >= _MOST_NEW_TAGS:
            continue
        if hints_at(neighbour.content, theme):
            added.append(spelled)
    return added


def _topics(ground: Ground, analysis: Analysis) -> list[str]:
    """The shared phrases by which the new note continues the old one: a name or a fixed phrase, or two words.

    A place, someone who happened to be there, or one common word is a reason to link two notes, but does not make one
    the other's sequel.
    """
    named = {*analysis.entities, *ground.neighbour.entities}
    close = ground.neighbour.similarity >= _CLOSE
    topics = [phrase for phrase in ground.shared if not is_place(phrase) and (close or not is_person(phrase))]
    telling = [phrase for phrase in topics if phrase in named or " " in phrase or len(terms_of(phrase)) > 2]
    return topics if telling or len(topics) > 1 else []


def _clause(draft: Draft, analysis: Analysis, ground: Ground, chinese: bool) -> str:
    """The neighbour's context with what came later at its end; empty when it should stay as it is."""
    neighbour = ground.neighbour
    later = _LATER[chinese]
    context = neighbour.context.rstrip()
    if not context or context.count(later) >= _MOST_CLAUSES or ground.link.type is LinkType.SUPPORTS:
        return ""
    if draft.at is not None and neighbour.at is not None and draft.at < neighbour.at:
        return ""
    topics = _topics(ground, analysis)
    if not topics:
        return ""
    reading = read(draft.content)
    gist = gist_of(reading, analysis.kind, topics, _CLAUSE[chinese])
    if gist.casefold() in context.casefold() or not any(topic.casefold() in gist.casefold() for topic in topics):
        return ""
    stop = next((end for end in ("。", ".") if context.endswith(end) and not context.endswith("..")), "")
    day = draft.at.date() if draft.at else None
    when = (f"（{iso(day, True)}）" if chinese else f" ({iso(day, False)})") if day else ""
    body = gist if chinese else lowered(gist, names(reading))
    longer = f"{context.removesuffix(stop) if stop else context}{later}{body}{when}{stop or ('。' if chinese else '.')}"
    return longer if len(longer) <= _LONGEST_CONTEXT else ""
