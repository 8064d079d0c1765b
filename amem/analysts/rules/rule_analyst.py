"""The analyst that needs no model: what its rules say of a note, its links, its neighbours, and of a conversation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from amem.analysis import Analysis, Draft, Evolution, Extraction, Neighbour, Passage, ProposedLink, Rewrite, Statement
from amem.analysts.rules.keywords import hints_at, keyphrases, tags_for, theme_named
from amem.analysts.rules.kind_and_context import (
    context_of,
    gist_of,
    importance_of,
    is_courtesy,
    kind_of,
    leans,
    lowered,
    said_before,
    shorten,
    without_lead_in,
)
from amem.language import cjk_share, held_terms, index_terms, sentences, split_text, written_in_cjk
from amem.language.lexicon import Sort, is_person, is_place, lexicon, terms_of
from amem.language.predicates import Predicates, load_predicates
from amem.language.scripts import Patterns
from amem.language.statements import facts_in
from amem.language.terms import beginning, beginnings
from amem.language.times import iso
from amem.language.word_reading import Reading, names, read, spelled
from amem.note import Kind, LinkType, Message, Role

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from amem.protocols import Vocabulary


_pattern = Patterns("analysts/rule_analyst")


class OfflineAnalyst:
    """Reads English and Chinese notes by rules and word lists: no model, no network, the same answer every time.

    `predicates` is the table of predicates that facts go by, asked for with the first note (None: amem's own).
    """

    def __init__(self, predicates: Callable[[], Predicates] | None = None) -> None:
        self._predicates = predicates or cache(load_predicates)

    @property
    def name(self) -> str:
        """The name kept with everything it changed."""
        return "offline"

    @property
    def local(self) -> bool:
        """True: quick, free and deterministic."""
        return True

    def analyze(self, draft: Draft, vocabulary: Vocabulary) -> Analysis:
        """Keywords, context, tags, kind, importance, entities and facts of a new note (A-Mem's Ps1)."""
        reading = read(draft.content)
        found = names(reading)
        kind = kind_of(reading)
        keywords = keyphrases(reading, found, kind, vocabulary)
        return Analysis(
            keywords=keywords,
            context=context_of(draft, reading, kind, vocabulary),
            tags=tags_for(reading, kind, keywords, vocabulary, _leaned_on(draft, reading, kind)),
            kind=kind,
            importance=importance_of(reading, kind, found),
            entities=spelled(found),
            facts=() if kind is Kind.CODE else facts_in(draft, self._predicates()),
        )

    def evolve(
        self, draft: Draft, analysis: Analysis, neighbours: Sequence[Neighbour], vocabulary: Vocabulary
    ) -> Evolution:
        """Links from the new note, and what its neighbours should say now that it is there (Ps2 and Ps3)."""
        grounds = propose_links(draft, analysis, neighbours, vocabulary)
        return Evolution(
            links=tuple(ground.link for ground in grounds),
            rewrites=tuple(propose_rewrites(draft, analysis, grounds)),
        )

    def extract(self, passage: Passage) -> Extraction:
        """One statement for each substantive sentence that a person said; no procedures."""
        return extract(passage)


def _leaned_on(draft: Draft, reading: Reading, kind: Kind) -> Reading | None:
    """What was said before, if the note makes no sense without it."""
    return read(said_before(draft.previous[-1])[1]) if draft.previous and leans(reading, kind) else None


# Which neighbours a new note is linked to: where nearness and shared names or phrases support it, with the reason.

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
    begins = {phrase: beginning(terms) for phrase, terms in phrases.items()}
    shared_by = {each.handle: _shared(phrases, begins, reading.text, mine, each) for each in neighbours}
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


def _shared(
    phrases: dict[str, frozenset[str]], begins: dict[str, str], text: str, mine: frozenset[str], neighbour: Neighbour
) -> list[str]:
    """The phrases of either note that the other holds too; of two, one within the other, the longer."""
    their_text, my_text = neighbour.content.casefold(), text.casefold()
    held = dict(phrases)
    if their_text.isascii():
        # Most neighbours hold none of them, as one look tells, and need not be cut into terms.
        plain = their_text.replace("'", "")
        held = {phrase: terms for phrase, terms in phrases.items() if begins[phrase] in plain}
    if held:
        wanted = {term for terms in held.values() for term in terms}
        theirs = _held(neighbour.content, wanted)
        held = {phrase: terms for phrase, terms in held.items() if terms <= theirs and _literal(phrase, their_text)}
    starts = beginnings(mine)
    for phrase in (*neighbour.entities, *neighbour.keywords):
        if phrase.isascii() and phrase.replace(" ", "").isalpha() and not phrase.lower().startswith(starts):
            continue  # as most do, which need not be cut into terms
        terms = terms_of(phrase)
        if terms and terms <= mine and _literal(phrase, my_text) and not _speaks(neighbour.speaker, phrase):
            held.setdefault(phrase, terms)
    kept: list[str] = []
    for phrase, terms in sorted(held.items(), key=lambda item: -len(item[1])):
        if not any(terms <= held[other] for other in kept):
            kept.append(phrase)
    return kept


def _held(text: str, wanted: Collection[str]) -> set[str]:
    """Those of the `wanted` terms that a text has, others perhaps besides."""
    return held_terms(text, wanted) if text.isascii() else set(index_terms(text))


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
    cause = _cause(reading.text)
    if any(terms_of(phrase) <= cause for phrase in shared):
        words = {word.key for word in reading.words if word.sort >= Sort.COMMON}
        if len(words & cause & set(index_terms(neighbour.content))) > 1 or neighbour.similarity >= _CAUSAL:
            return LinkType.CAUSED_BY
    if neighbour.similarity >= _RESTATES and _same_claim(reading, read(neighbour.content)):
        return LinkType.SUPPORTS
    return LinkType.RELATED


@lru_cache(maxsize=256)
def _cause(text: str) -> frozenset[str]:
    """The terms of the clause that the note itself gives as a cause; none when it gives none."""
    behind = _pattern.cause_behind.search(text)
    if behind:
        return frozenset(index_terms(re.split(r"[,;.。，；]\s", text[behind.end() :] + " ", maxsplit=1)[0]))
    before = _pattern.cause_before.search(text)
    said = sentences(text[: before.start()]) if before else []
    return frozenset(index_terms(said[-1])) if said else frozenset()


def _same_claim(one: Reading, other: Reading) -> bool:
    """Whether two notes say the same: neither denies, counts, or names in the same place what the other does not.

    One may say more than the other. Where each has a word of its own, they differ ("painted it blue", "painted it
    green"); two wordings by synonyms are taken for different, too, since the rules cannot tell them apart.
    """
    if bool(_pattern.negation.search(one.text)) != bool(_pattern.negation.search(other.text)):
        return False
    if set(_pattern.numbers.findall(one.text)) != set(_pattern.numbers.findall(other.text)):
        return False
    mine, theirs = _said(one), _said(other)
    return mine <= theirs or theirs <= mine


def _said(reading: Reading) -> set[str]:
    """The words that carry a note's meaning, and whom it speaks of; "I" and "we" may be the same person."""
    words = {word.key for word in reading.words if word.sort > Sort.STOP}
    return words | {person for word in reading.words if (person := _PERSONS.get(word.text.casefold()))}


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


# What a conversation teaches: each substantive sentence of a person's own is a statement of its own.

#: A sentence longer than this is cut, so that what it says can be found.
_LONGEST = 2_000
_SUMMARY = 240
_SUMMARY_SENTENCE = 110
_SUMMARISED = 3

# "Write me a poem" tells the assistant what to do now; "never use tabs" and "remind me on Friday" tell it something
# that stays true, as does "call me Ben".
_WHOLE = (Kind.CODE, Kind.ERROR)
#: From so many words on, a sentence with one that tells something is no small talk.
_TELLING_FROM = 7


def extract(passage: Passage) -> Extraction:
    """One statement for each substantive sentence that a person said; questions and orders to the assistant are none.

    Small talk that tells something is kept as chitchat, one statement for a message that has
    nothing else; greetings, thanks, "ok", laughter and goodbyes are none: they would only be found again. What an
    assistant, a tool or a system message says is not taken from; procedures are left to models.
    """
    found: list[Statement] = []
    for number, message in enumerate(passage.said, start=1):
        if message.role is Role.USER:
            found += _statements(message, f"m{number}")
    return Extraction(summary=summary_of(passage.said, found), statements=tuple(found))


def summary_of(said: Sequence[Message], statements: Sequence[Statement]) -> str:
    """What the passage is about in a line or two: its weightiest statements in their order, else its first words."""
    telling = [each for each in statements if each.kind is not Kind.CHITCHAT]
    if not telling:
        # Questions and answers that stated nothing still were about something.
        opening = next((message for message in said if message.role is Role.USER), said[0] if said else None)
        return "" if opening is None else shorten(without_lead_in(" ".join(opening.content.split())), _SUMMARY_SENTENCE)
    weights = {at: importance_of(read(each.text), each.kind, ()) for at, each in enumerate(telling)}
    chosen = sorted(sorted(weights, key=lambda at: (-weights[at], at))[:_SUMMARISED])
    lines = [shorten(without_lead_in(telling[at].text), _SUMMARY_SENTENCE).rstrip(" .。!！") for at in chosen]
    chinese = written_in_cjk("".join(lines))
    return shorten(("；" if chinese else "; ").join(lines), _SUMMARY)


def _statements(message: Message, handle: str) -> Iterator[Statement]:
    kind = kind_of(read(message.content))
    if ("```" in message.content and kind in _WHOLE) or len(_pattern.list_line.findall(message.content)) > 1:
        # Code, a traceback and a list of steps mean nothing line by line.
        for piece in split_text(message.content, _LONGEST):
            yield Statement(piece, kind, (handle,))
        return
    small: list[str] = []
    stated: list[str] = []
    for sentence in sentences(message.content):
        if _is_order(sentence):
            continue
        reading = read(sentence)
        kind = kind_of(reading)
        if kind is Kind.QUESTION or is_courtesy(reading):
            continue
        if _is_small(reading, kind):
            small.append(sentence)
        else:
            opening = _pattern.keep_in_mind.match(sentence)
            text = sentence[opening.end() :] if opening else sentence
            if stated and _pattern.points_back.match(text):
                stated[-1] += ("" if written_in_cjk(text) else " ") + text
            else:
                stated.append(text)
    for text in dict.fromkeys(stated):  # a page that says one thing a thousand times says it once
        for piece in split_text(text, _LONGEST):
            kind = kind_of(read(piece))
            yield Statement(piece, Kind.FACT if kind in (Kind.CHITCHAT, Kind.QUESTION) else kind, (handle,))
    if small and not stated:
        yield Statement(" ".join(small), Kind.CHITCHAT, (handle,))


def _is_small(reading: Reading, kind: Kind) -> bool:
    """Whether a sentence is only chat; "Make sure the invoice goes to Ana" holds more than that."""
    telling = any(word.sort >= Sort.COMMON for word in reading.words)
    return kind is Kind.CHITCHAT and not (telling and len(reading.words) >= _TELLING_FROM)


def _is_order(sentence: str) -> bool:
    return bool(_pattern.command_en.match(sentence) or _pattern.command_zh.match(sentence))
