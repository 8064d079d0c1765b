"""What a note is about: up to six of its own words and phrases as keywords, up to five broad tags."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from amem.language.lexicon import Sort, Theme, is_person, lexicon, terms_of
from amem.language.scripts import CHINESE_SINGLE_WORDS, word_list, words
from amem.language.word_reading import Name, Reading, Word, read, titles_in
from amem.note import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from amem.protocols import Vocabulary


# The phrases of a note that could become keywords: names, English words between function words, Chinese nouns.

#: From this many words on, how often two words stand side by side says something (and importing nltk pays).
_LONG = 150
#: Words that take the number behind them into the phrase ("port 8443", "room 12").
_NUMBERED = words("port room line chapter version floor gate bus issue ticket page route platform terminal")
#: A run of more words is no phrase.
_LONGEST_RUN = 24
#: Endings of English words that are seldom nouns: no keyword by themselves, and none that a phrase ends in.
_VERBAL = ("ed", "ing")
_MODIFIERS = (*_VERBAL, "ly", "ful", "ous", "less", "able", "ible")
#: Jieba's marks of Chinese words that a keyword may be made of: nouns, names, idioms, abbreviations.
_NOUNS = words("n nz ns nt nr nrt nrfg vn an j i")


@dataclass(slots=True)
class Phrase:
    """Words side by side: the text they make, their keys and greatest sort, and where each occurrence begins."""

    text: str
    keys: tuple[str, ...]
    sort: Sort
    fixed: bool = False
    name: bool = False
    starts: list[int] = field(default_factory=list)


def candidates_of(reading: Reading, names: Sequence[Name], kind: Kind) -> list[Phrase]:
    """Every phrase once, with all its occurrences. Of code, only what it names with a compound identifier."""
    bound = _bound(reading)
    found: dict[tuple[str, ...], Phrase] = {}
    for run, is_name in _runs(reading, names):
        for part in [run] if is_name else _cut(run, bound):
            keys = tuple(word.key for word in part)
            if not (is_name or keys in bound or _names_something(part)):
                continue
            if kind is Kind.CODE and not (len(part) == 1 and part[0].shaped and "_" in part[0].text[1:]):
                continue
            text, sort = _spelled(reading, part, is_name), max(word.sort for word in part)
            phrase = Phrase(text, keys, sort, keys in bound, is_name)
            found.setdefault(keys, phrase).starts.append(part[0].start)
    if kind is not Kind.CODE:
        covered = [(name.start, name.end) for name in names]
        for start, text in _chinese_nouns(reading):
            if not any(first < start + len(text) and start < last for first, last in covered):
                sort = lexicon().chinese.get(text, Sort.CONTENT)
                found.setdefault((text,), Phrase(text, (text,), sort)).starts.append(start)
    return list(found.values())


def _names_something(part: Sequence[Word]) -> bool:
    """Whether English words that no list joins may be a keyword: the last a noun, one alone not an everyday one."""
    last, lists = part[-1], lexicon()
    folded = last.text.casefold()
    if last.sort is Sort.NUMBER or last.shaped:
        return True
    if folded not in lists.triggers:
        verbal = folded.endswith(_VERBAL) and len(folded) > 4
        if verbal or (not (last.known or last.capital) and (folded.endswith(_MODIFIERS) or len(folded) < 4)):
            return False
    return len(part) > 1 or last.sort is Sort.CONTENT or last.key not in lists.general


def _chinese_nouns(reading: Reading) -> Iterator[tuple[int, str]]:
    """Nouns of the Chinese stretches, two side by side joined; (start, text)."""
    if reading.text.isascii():
        return
    lists = lexicon()
    run: list[Word] = []
    before: Word | None = None
    for word in reading.words:
        one = word.text in CHINESE_SINGLE_WORDS and not (before is not None and before.mark == "m")
        noun = word.mark in _NOUNS and word.text not in lists.chinese_general and not word.text.endswith("月份")
        noun = word.cjk and (len(word.text) > 1 or one) and (noun or lists.cues.get(word.text) == 2)
        noun = noun and word.sort >= Sort.COMMON
        tail = len(run) == 1 and len(word.text) == 1 and (word.mark == "ng" or one)
        if run and (len(run) > 1 or word.start != run[-1].end or not (noun or tail)):
            yield run[0].start, "".join(each.text for each in run)
            run = []
        if noun or (run and tail):
            run.append(word)
        before = word
    if run:
        yield run[0].start, "".join(each.text for each in run)


def _runs(reading: Reading, names: Sequence[Name]) -> Iterator[tuple[tuple[Word, ...], bool]]:
    """Stretches of English content words that nothing interrupts; a name in any script is a stretch of its own."""
    spans = {name.start: name.end for name in sorted(names, key=lambda name: name.end) if not name.date}
    run: list[Word] = []
    covered = -1
    for at, word in enumerate(reading.words):
        if word.start < covered:
            continue
        if word.start in spans:
            if run:
                yield tuple(run), False
                run = []
            covered = spans[word.start]
            end = at
            while end < len(reading.words) and reading.words[end].end <= covered:
                end += 1
            named = tuple(reading.words[at:end]) or (word,)
            if any(part.sort >= Sort.COMMON for part in named) or len(named) > 1:
                yield named, True
            continue
        if run and (word.gap or word.cjk or (run[-1].person and not word.capital)):
            yield tuple(run), False
            run = []
        if _belongs(reading.words, at, run):
            run.append(word)
            if not (word.possessive or word.sort is Sort.NUMBER):
                continue
        if run:
            yield tuple(run), False
            run = []
    if run:
        yield tuple(run), False


def _belongs(words: Sequence[Word], at: int, run: list[Word]) -> bool:
    """Whether the word may stand in an English phrase, after the words already in `run`."""
    word = words[at]
    if word.cjk:
        return False
    if word.sort >= Sort.COMMON:
        return word.known or word.capital or word.shaped or not word.text.endswith("ed")
    if word.sort is Sort.NUMBER:
        if not word.text[0].isdigit():
            return False
        named = (
            bool(run) and run[-1].sort is Sort.CONTENT and (run[-1].capital or run[-1].shaped) and not run[-1].person
        )
        return named or (bool(run) and run[-1].key in _NUMBERED)
    # "high blood pressure", "red wine": part of a fixed phrase although weak by itself.
    phrases = lexicon().phrases
    after = words[at + 1] if at + 1 < len(words) else None
    opens = after is not None and not after.gap and f"{word.key} {after.key}" in phrases
    return opens or (bool(run) and f"{run[-1].key} {word.key}" in phrases)


def _cut(run: tuple[Word, ...], bound: frozenset[tuple[str, ...]]) -> list[tuple[Word, ...]]:
    """A run of up to three words whole (unless a fixed phrase stands in it), a longer one in pairs."""
    if len({word.key for word in run}) == 1:
        return [run[:1]]
    if len(run) <= 2:
        return [run]
    if len(run) > _LONGEST_RUN:
        pieces = (run[start : start + _LONGEST_RUN] for start in range(0, len(run), _LONGEST_RUN))
        return [phrase for piece in pieces for phrase in _cut(piece, bound)]
    for size in (3, 2):
        for start in range(len(run) - size + 1):
            if tuple(word.key for word in run[start : start + size]) in bound:
                before, fixed, after = run[:start], run[start : start + size], run[start + size :]
                return [*(_cut(before, bound) if before else ()), fixed, *(_cut(after, bound) if after else ())]
    return [run] if len(run) == 3 else [run[:2], *_cut(run[2:], bound)]


def _bound(reading: Reading) -> frozenset[tuple[str, ...]]:
    """Pairs and triples of word keys that belong together: fixed phrases, and in long notes what recurs."""
    phrases, openings = lexicon().phrases, _openings()
    keys = [word.key for word in reading.words]
    together = {
        tuple(keys[at : at + size])
        for at, key in enumerate(keys)
        if key in openings
        for size in (2, 3)
        if at + size <= len(keys) and " ".join(keys[at : at + size]) in phrases
    }
    if len(keys) >= _LONG and not reading.chinese:
        together |= _collocations(reading)
    return frozenset(together)


@cache
def _openings() -> frozenset[str]:
    """The first words of all fixed phrases."""
    return frozenset(phrase.partition(" ")[0] for phrase in lexicon().phrases)


def _collocations(reading: Reading) -> set[tuple[str, ...]]:
    """Pairs that stand together more often than chance, by likelihood ratio (Dunning 1993)."""
    from nltk.collocations import BigramAssocMeasures, BigramCollocationFinder

    content = {word.key for word in reading.words if word.sort >= Sort.COMMON and not word.cjk}
    if not content:
        return set()
    finder = BigramCollocationFinder.from_words([word.key for word in reading.words if not word.cjk])
    finder.apply_freq_filter(2)
    finder.apply_word_filter(lambda key: key not in content)
    # A word that stands beside itself says nothing of a pair, and where it fills the note the ratio has no value.
    finder.apply_ngram_filter(lambda first, second: first == second)
    # 10.83 is the 0.1 % point of chi-squared with one degree of freedom.
    return {pair for pair, ratio in finder.score_ngrams(BigramAssocMeasures.likelihood_ratio) if ratio > 10.83}


# Which of the phrases become keywords, weighed against how common their words are in the collection.

_MOST = 6
#: A phrase worth less than this share of the best one is left out.
_WORTH = 0.4
_WEIGHT = {Sort.CONTENT: 1.0, Sort.COMMON: 0.72}


def keyphrases(reading: Reading, names: Sequence[Name], kind: Kind, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Up to six phrases that tell most about the note, best first; none of small talk."""
    if kind is Kind.CHITCHAT:
        return ()
    phrases = candidates_of(reading, names, kind)
    rarity = _rarities(phrases, vocabulary)
    scores = {id(phrase): _score(phrase, rarity, len(reading.text)) for phrase in phrases}
    least = _WORTH * max(scores.values(), default=0.0)
    ranked = sorted(phrases, key=lambda phrase: (-scores[id(phrase)], phrase.starts[0]))
    return tuple(phrase.text for phrase in _distinct(each for each in ranked if scores[id(each)] >= least))


def _distinct(ranked: Iterable[Phrase]) -> list[Phrase]:
    chosen: list[Phrase] = []
    for phrase in ranked:
        if len(chosen) == _MOST:
            break
        mine, text = set(phrase.keys), phrase.text.casefold()
        if not any(
            mine.issubset(each.keys) or mine.issuperset(each.keys) or text in each.text.casefold() for each in chosen
        ):
            chosen.append(phrase)
    return chosen


def _score(phrase: Phrase, rarity: Mapping[str, float], length: int) -> float:
    """Rarity of the rarest word, times what the sort of word, repetition, place and form add."""
    value = _WEIGHT.get(phrase.sort, 0.5) * max(rarity[key] for key in phrase.keys)
    value *= 1 + 0.35 * math.log(len(phrase.starts))
    value *= 1.1 - 0.1 * phrase.starts[0] / max(length, 1)
    return value * (1.2 if phrase.fixed or phrase.name or len(phrase.keys) > 1 else 1.0)


def _rarities(phrases: Sequence[Phrase], vocabulary: Vocabulary) -> dict[str, float]:
    """For each word key 0.4 (in every note) to 1 (new to the collection)."""
    keys = {key for phrase in phrases for key in phrase.keys}
    total = vocabulary.total
    if total <= 0 or not keys:
        return dict.fromkeys(keys, 1.0)
    terms = {key: terms_of(key) for key in keys}
    counts = vocabulary.document_frequency(sorted({term for own in terms.values() for term in own}))
    scale = math.log(total + 2)
    rarities: dict[str, float] = {}
    for key, own in terms.items():
        held = min((counts.get(term, 0) for term in own), default=0)
        rarities[key] = 0.4 + 0.6 * min(1.0, max(0.0, math.log((total + 2) / (held + 1)) / scale))
    return rarities


def _spelled(reading: Reading, part: Sequence[Word], is_name: bool) -> str:
    """The phrase as written, without the capital that a sentence's beginning gave it."""
    text = " ".join(reading.text[part[0].start : part[-1].end].split())
    first = part[0]
    kept = is_name or first.shaped or first.person or first.place or not first.known
    return text[0].lower() + text[1:] if first.first and first.capital and not kept else text


# Tags: the themes that whole words and phrases name, and the collection's own tags among the keywords.

_MOST_TAGS, _MOST_THEMES = 5, 3
#: Weight of triggers from which a theme counts: a strong one weighs 2, a weak one 1. A theme with less than this share
#: of the strongest one's weight is left out.
_ENOUGH, _SHARE = 2, 0.4
#: A note of more sentences names things in passing: there a theme needs one more trigger.
_MANY_SENTENCES = 4
#: Tags that earlier versions gave a note for its kind.
_FORMER = word_list("former tags")


def tags_for(
    reading: Reading, kind: Kind, keywords: Sequence[str], vocabulary: Vocabulary, before: Reading | None = None
) -> tuple[str, ...]:
    """0-5 lower-case tags in the note's language, strongest first; `before` is what a short reply answers."""
    if kind is Kind.CHITCHAT and before is None:
        return ()
    existing = vocabulary.tags()
    found = themes_of(reading) or (themes_of(before) if before else [])
    chosen = dict.fromkeys(_as_tag(theme, reading.chinese, existing) for theme in found[:_MOST_THEMES])
    own = {tag for keyword in keywords if not is_person(keyword) for tag in _variants(keyword) if tag in existing}
    reused = [tag for tag in own if not is_common_tag(tag)]
    chosen |= dict.fromkeys(sorted(reused, key=lambda tag: (-existing[tag], tag)))
    return tuple(chosen)[:_MOST_TAGS]


def themes_of(reading: Reading) -> list[Theme]:
    """The themes that the note's words name, strongest first."""
    return list(_ranked_themes(reading.text))


@lru_cache(maxsize=512)
def _ranked_themes(text: str) -> tuple[Theme, ...]:
    lists = lexicon()
    enough = _ENOUGH + (len(read(text).sentences) > _MANY_SENTENCES)
    weights = _hints(text)
    ranked = sorted(((weight, -theme) for theme, weight in weights.items() if weight >= enough), reverse=True)
    return tuple(lists.themes[-place] for weight, place in ranked if weight >= _SHARE * ranked[0][0])


@lru_cache(maxsize=4096)
def _hints(text: str) -> Mapping[int, float]:
    """The themes that any trigger in a note names, be it a weak one, with the weight of all of them."""
    triggers = lexicon().triggers
    weights: dict[int, float] = {}
    for trigger in dict.fromkeys(_triggers(read(text))):
        for theme, weight in triggers.get(trigger, ()):
            weights[theme] = weights.get(theme, 0) + weight
    return weights


def _triggers(reading: Reading) -> Iterator[str]:
    """The words and phrases of up to three words as written and in the singular; "=" marks a word used as a noun.

    The title of a book or song says nothing of the note's own subject.
    """
    titles = list(titles_in(reading.text))
    found: Sequence[Word] = reading.words
    if titles:
        found = [word for word in found if not any(title.start <= word.start < title.end for title in titles)]
    for at, word in enumerate(found):
        if word.cjk:
            for size in (1, 2, 3):
                yield "".join(each.text for each in found[at : at + size])
            continue
        forms = list(_singular(word.text.casefold()))
        yield from forms
        if word.sort >= Sort.COMMON:
            yield from (f"={form}" for form in forms)
        for size in (2, 3) if forms[0] in _phrases_begin_with() else ():
            if at + size <= len(found):
                *first, last = (each.text.casefold() for each in found[at : at + size])
                yield from (" ".join((*first, form)) for form in _singular(last))


@cache
def _phrases_begin_with() -> frozenset[str]:
    """The first words of all triggers of several words."""
    return frozenset(trigger.split(" ", 1)[0] for trigger in lexicon().triggers if " " in trigger)


def _singular(form: str) -> Iterator[str]:
    yield form
    if len(form) > 3 and form.endswith("s") and not form.endswith("ss"):
        yield form[:-1]
        if form.endswith("ies"):
            yield form[:-3] + "y"
        elif form.endswith("es"):
            yield form[:-2]


def hints_at(text: str, theme: int) -> bool:
    """Whether one of the theme's triggers, be it a weak one, stands in a note's text."""
    return theme in _hints(text)


def theme_named(tag: str) -> int | None:
    """The position of the theme that goes by this tag, None if none does."""
    return _theme_names().get(tag.casefold())


@cache
def _theme_names() -> dict[str, int]:
    named: dict[str, int] = {}
    for at, theme in enumerate(lexicon().themes):
        for name in (theme.english, theme.chinese, *theme.aliases):
            named.setdefault(name, at)
    return named


def is_common_tag(tag: str) -> bool:
    """Whether the rules file notes under this tag, so that it quotes no note that has it."""
    return tag in _FORMER or theme_named(tag) is not None


def _as_tag(theme: Theme, chinese: bool, existing: Mapping[str, int]) -> str:
    own = theme.tag(chinese)
    if own in existing or not existing:
        return own
    candidates = [alias for alias in theme.aliases if alias in existing and alias.isascii() != chinese]
    return max(candidates, key=lambda tag: existing[tag], default=own)


def _variants(keyword: str) -> Iterator[str]:
    """How a keyword may be spelled as a tag."""
    for form in _singular(keyword.casefold()):
        yield form
        yield form + "s"
        if " " in form:
            yield form.replace(" ", "-")
            yield form.replace(" ", "_")
