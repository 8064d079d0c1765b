"""Which neighbours a new note is linked to: where nearness and shared names or phrases support it, with the reason."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.analysis import ProposedLink
from amem.language import index_terms, sentences, written_in_cjk
from amem.language.lexicon import Sort, terms_of
from amem.language.word_reading import read
from amem.note import Kind, LinkType

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from amem.analysis import Analysis, Draft, Neighbour
    from amem.language.word_reading import Reading
    from amem.protocols import Vocabulary

_MOST = 4
#: Cosine that is enough by itself, between two Chinese notes as well; small talk needs something shared besides.
_ALONE, _ALONE_CHINESE, _TALK = 0.6, 0.88, 0.55
#: Cosine that is enough with three specific phrases or more shared, with two, with one phrase of several words, with
#: one word that is a keyword of both, with nothing but a name of both: two notes on one person are not on one thing.
_WITH_MANY, _WITH_TWO, _WITH_PHRASE, _WITH_ONE, _WITH_NAME = 0.1, 0.32, 0.24, 0.42, 0.5
#: The default embedder knows little Chinese: it finds any two Chinese texts so much more alike.
_CHINESE = 0.25
_RESTATES = 0.86
#: One shared phrase in the cause a note gives means that neighbour only if they are this close.
_CAUSAL = 0.6
#: A phrase in more notes than this (and than this share of them) is too common to tie two together.
_COMMON, _COMMON_SHARE = 4, 0.08
_CAUSE_BEHIND = re.compile(
    r"\b(?:because(?: of)?|since|due to|owing to|thanks to|caused by|as a result of)\b|因为|由于|起因是|多亏", re.I
)
_CAUSE_BEFORE = re.compile(
    r"(?:^|[,;.]\s*)(?:so|therefore|hence|as a result|that's why|which is why)\b|所以|因此|于是|导致|结果", re.I
)
_NEGATION = re.compile(r"\b(?:not?|never|none|without|\w+n't|no longer|stopped|quit)\b|不|没|无|非|别|禁", re.I)
#: 一, 万 and 零 stand in too many words that count nothing.
_NUMBERS = re.compile(r"\d+(?:\.\d+)*|[两二三四五六七八九十百千半]+")
_PERSONS = {
    form: forms[0]
    for forms in (
        ("he", "him", "his", "他"),
        ("she", "her", "hers", "她"),
        ("they", "them", "their", "他们"),
        ("you", "your", "你", "您"),
    )
    for form in forms
}


@dataclass(frozen=True, slots=True)
class Ground:
    """A proposed link with what it stands on."""

    neighbour: Neighbour
    link: ProposedLink
    shared: tuple[str, ...]


def propose_links(
    draft: Draft, analysis: Analysis, neighbours: Sequence[Neighbour], vocabulary: Vocabulary
) -> list[Ground]:
    """Up to four links, best supported first."""
    if not neighbours:
        return []
    reading = read(draft.content)
    phrases = {
        phrase: terms
        for phrase in (*analysis.entities, *analysis.keywords)
        if (terms := terms_of(phrase)) and not _speaks(draft.speaker, phrase)
    }
    mine = frozenset(index_terms(reading.text))
    shared_by = {neighbour.handle: _shared(phrases, reading.text, mine, neighbour) for neighbour in neighbours}
    specific = _specific({phrase for shared in shared_by.values() for phrase in shared}, vocabulary)
    grounds: list[Ground] = []
    for neighbour in neighbours:
        shared = tuple(phrase for phrase in shared_by[neighbour.handle] if phrase in specific)
        if _supported(analysis, neighbour, shared, reading.chinese):
            grounds.append(_ground(draft, reading, neighbour, shared))
    grounds.sort(key=lambda ground: -ground.link.confidence)
    return grounds[:_MOST]


def _speaks(speaker: str | None, phrase: str) -> bool:
    return speaker is not None and phrase.casefold() in speaker.casefold()


def _shared(phrases: dict[str, frozenset[str]], text: str, mine: frozenset[str], neighbour: Neighbour) -> list[str]:
    """The phrases of either note that the other holds too; of two, one within the other, the longer."""
    theirs = set(index_terms(neighbour.content))
    their_text, my_text = neighbour.content.casefold(), text.casefold()
    held = {phrase: terms for phrase, terms in phrases.items() if terms <= theirs and _literal(phrase, their_text)}
    for phrase in (*neighbour.entities, *neighbour.keywords):
        terms = terms_of(phrase)
        if terms and terms <= mine and _literal(phrase, my_text) and not _speaks(neighbour.speaker, phrase):
            held.setdefault(phrase, terms)
    kept: list[str] = []
    for phrase, terms in sorted(held.items(), key=lambda item: -len(item[1])):
        if not any(terms <= held[other] for other in kept):
            kept.append(phrase)
    return kept


def _literal(phrase: str, text: str) -> bool:
    """Numbers are shared only as they stand: "Pi 4" is not in "Pi 5 ... v0.4"."""
    return phrase.casefold() in text or not any(character.isdigit() for character in phrase)


def _specific(phrases: Iterable[str], vocabulary: Vocabulary) -> set[str]:
    """Those of the phrases that few notes of the collection hold."""
    terms = {phrase: terms_of(phrase) for phrase in phrases}
    if not terms:
        return set()
    counts = vocabulary.document_frequency(sorted({term for own in terms.values() for term in own}))
    limit = max(_COMMON, _COMMON_SHARE * vocabulary.total)
    return {phrase for phrase, own in terms.items() if min(counts.get(term, 0) for term in own) <= limit}


def _supported(analysis: Analysis, neighbour: Neighbour, shared: tuple[str, ...], chinese: bool) -> bool:
    talk = Kind.CHITCHAT in (analysis.kind, neighbour.kind) or neighbour.kind is Kind.QUESTION
    # Between an English and a Chinese note cosine says little, a shared name or version much.
    translated = chinese != written_in_cjk(neighbour.content)
    both = chinese and not translated
    if not shared:
        return not talk and neighbour.similarity >= (_ALONE_CHINESE if both else _ALONE)
    cosine = neighbour.similarity - (_CHINESE if both else 0)
    if talk:
        return neighbour.similarity >= _TALK
    phrase = any(len(terms_of(phrase)) > 2 or " " in phrase for phrase in shared)
    if len(shared) > 2 or (translated and (phrase or len(shared) > 1)):
        return cosine >= _WITH_MANY
    if len(shared) > 1 or phrase or translated:
        return cosine >= (_WITH_PHRASE if phrase else _WITH_TWO)
    named = _of_both(shared[0], analysis.entities, neighbour.entities)
    known = named or _of_both(shared[0], analysis.keywords, neighbour.keywords)
    return known and cosine >= (_WITH_NAME if named else _WITH_ONE)


def _of_both(phrase: str, mine: Iterable[str], theirs: Iterable[str]) -> bool:
    """Whether each of the two holds the phrase, or a longer name for it ("Ana", "Ana Moreno")."""
    terms = terms_of(phrase)
    return all(any(terms <= terms_of(each) for each in one) for one in (mine, theirs))


def _ground(draft: Draft, reading: Reading, neighbour: Neighbour, shared: tuple[str, ...]) -> Ground:
    similarity = max(0.0, min(1.0, neighbour.similarity))
    confidence = round(min(0.98, 0.4 + 0.45 * similarity + 0.08 * min(len(shared), 3)), 2)
    kind = _type(reading, neighbour, shared)
    if kind is LinkType.SUPPORTS and not shared:
        held = {word.key for word in read(neighbour.content).words}
        shared = tuple(word.text for word in reading.words if word.sort >= Sort.COMMON and word.key in held)
    named = _listed(shared[:3], reading.chinese)
    if reading.chinese:
        said = {
            LinkType.CAUSED_BY: f"说明了原因：{named.lstrip()}",
            LinkType.SUPPORTS: f"关于{named}说的是同一件事" if named else "说的是同一件事",
        }.get(kind, f"都提到{named}" if named else _alike(neighbour, True))
        reason = f"{said.rstrip()}；相似度 {similarity:.2f}"
    else:
        said = {
            LinkType.CAUSED_BY: f"gives {named} as the cause",
            LinkType.SUPPORTS: f"says the same of {named}" if named else "says the same",
        }.get(kind, f"both mention {named}" if named else _alike(neighbour, False))
        reason = f"{said}; similarity {similarity:.2f}"
    return Ground(neighbour, ProposedLink(neighbour.handle, kind, reason, confidence), shared)


def _alike(neighbour: Neighbour, chinese: bool) -> str:
    topics = _listed(neighbour.keywords[:2], chinese)
    if chinese:
        return f"意思与关于{topics}的笔记相近" if topics else "意思相近"
    return f"close in meaning to the note on {topics}" if topics else "close in meaning"


def _listed(phrases: Sequence[str], chinese: bool) -> str:
    if chinese:
        text = "、".join(phrases)
        return f"{' ' if text[:1].isascii() else ''}{text}{' ' if text[-1:].isascii() else ''}" if text else ""
    return ", ".join(phrases[:-1]) + " and " + phrases[-1] if len(phrases) > 1 else "".join(phrases)


def _type(reading: Reading, neighbour: Neighbour, shared: tuple[str, ...]) -> LinkType:
    cause = set(index_terms(_cause(reading.text)))
    if any(terms_of(phrase) <= cause for phrase in shared):
        words = {word.key for word in reading.words if word.sort >= Sort.COMMON}
        if len(words & cause & set(index_terms(neighbour.content))) > 1 or neighbour.similarity >= _CAUSAL:
            return LinkType.CAUSED_BY
    if neighbour.similarity >= _RESTATES and _same_claim(reading, read(neighbour.content)):
        return LinkType.SUPPORTS
    return LinkType.RELATED


def _cause(text: str) -> str:
    """The clause that the note itself gives as a cause; empty when it gives none."""
    behind = _CAUSE_BEHIND.search(text)
    if behind:
        return re.split(r"[,;.。，；]\s", text[behind.end() :] + " ", maxsplit=1)[0]
    before = _CAUSE_BEFORE.search(text)
    return sentences(text[: before.start()])[-1] if before and text[: before.start()].strip() else ""


def _same_claim(one: Reading, other: Reading) -> bool:
    """Whether two notes say the same: neither denies, counts, or names in the same place what the other does not.

    One may say more than the other. Where each has a word of its own, they differ ("painted it blue", "painted it
    green"); two wordings by synonyms are taken for different, too, since the rules cannot tell them apart.
    """
    if bool(_NEGATION.search(one.text)) != bool(_NEGATION.search(other.text)):
        return False
    if set(_NUMBERS.findall(one.text)) != set(_NUMBERS.findall(other.text)):
        return False
    mine, theirs = _said(one), _said(other)
    return mine <= theirs or theirs <= mine


def _said(reading: Reading) -> set[str]:
    """The words that carry a note's meaning, and whom it speaks of; "I" and "we" may be the same person."""
    words = {word.key for word in reading.words if word.sort > Sort.STOP}
    return words | {person for word in reading.words if (person := _PERSONS.get(word.text.casefold()))}
