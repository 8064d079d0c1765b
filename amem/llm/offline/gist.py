"""The one clause that carries a note, without its greetings and lead-ins, short enough to stand in a sentence."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.llm.offline.cues import cue_in
from amem.llm.offline.lexicon import Sort, is_person, lexicon, stem
from amem.note import Kind
from amem.text.terms import contract

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from amem.llm.offline.entities import Name
    from amem.llm.offline.reading import Reading

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


def whole(reading: Reading, longest: int) -> str:
    """The note as it stands, on one line, for notes too slight to have a gist."""
    return shorten(_bare(reading.text), longest)


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
