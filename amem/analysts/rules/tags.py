"""Two to five broad tags: the collection's own where they fit, then themes of the lexicon, then what is left."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from amem.language.lexicon import Sort, is_person, lexicon, stem
from amem.language.word_reading import read
from amem.note import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from amem.language.lexicon import Theme
    from amem.language.word_reading import Reading
    from amem.protocols import Vocabulary

_LEAST, _MOST = 2, 5
_THEMES = 3
#: Weight of cues (2 for a strong one, 1 for a weak one, half a point for length) from which a theme counts, and from
#: which it is still a better second tag than an invented one.
_ENOUGH, _HINT = 1.5, 1.3
_KIND_TAGS = {
    Kind.DECISION: ("decision", "决定"),
    Kind.CONSTRAINT: ("rule", "规则"),
    Kind.PREFERENCE: ("preference", "偏好"),
    Kind.PROCEDURE: ("how-to", "方法"),
    Kind.CONFIG: ("settings", "配置"),
    Kind.CODE: ("code", "代码"),
    Kind.ERROR: ("bug", "故障"),
    Kind.QUESTION: ("question", "提问"),
    Kind.CHITCHAT: ("small-talk", "闲聊"),
    Kind.EPISODE: ("diary", "日记"),
    Kind.FACT: ("note", "笔记"),
    Kind.TOPIC: ("topic", "主题"),
}


def tags_for(
    reading: Reading, kind: Kind, keywords: Sequence[str], vocabulary: Vocabulary, before: Reading | None = None
) -> tuple[str, ...]:
    """2-5 lower-case tags in the note's language, the most telling first; `before` is what a short reply leans on."""
    existing = vocabulary.tags()
    chosen: dict[str, None] = {}
    for theme in (themes_of(reading) or (themes_of(before) if before else []))[:_THEMES]:
        chosen[_spelled(theme, reading.chinese, existing)] = None
    reused = sorted(
        {tag for keyword in keywords for tag in _variants(keyword) if tag in existing and not is_person(keyword)},
        key=lambda tag: (-existing[tag], tag),
    )
    for tag in reused[: _MOST - len(chosen)]:
        chosen.setdefault(tag)
    for theme in _themes(reading.text, _HINT):
        if len(chosen) < _LEAST:
            chosen.setdefault(_spelled(theme, reading.chinese, existing))
    for tag in _fillers(reading, kind, keywords):
        if len(chosen) >= _LEAST:
            break
        chosen.setdefault(tag)
    return tuple(chosen)[:_MOST]


def themes_of(reading: Reading) -> list[Theme]:
    """The themes that the note's words speak of, strongest first."""
    return list(_themes(reading.text, _ENOUGH))


@lru_cache(maxsize=512)
def _themes(text: str, least: float) -> tuple[Theme, ...]:
    reading = read(text)
    words = lexicon()
    weights: dict[int, float] = {}
    seen: set[str] = set()
    for cue, acts in _cues(reading):
        if cue in seen:
            continue
        seen.add(cue)
        for theme, weight in words.cues.get(cue, ()):
            # A phrase or long word says more than a short one, an early one a little more than a late one, and a weak
            # cue used as a verb ("listens on", "most recent call") next to nothing.
            worth = weight * (0.5 if acts and weight == 1 else 1) + (0.5 if len(cue) > 3 and not acts else 0)
            weights[theme] = weights.get(theme, 0) + worth - 0.01 * len(seen)
    ranked = sorted((weight, -theme) for theme, weight in weights.items() if weight >= least)
    strongest = ranked[-1][0] if ranked else 0
    return tuple(words.themes[-place] for weight, place in reversed(ranked) if weight >= 0.4 * strongest)


def _cues(reading: Reading) -> Iterator[tuple[str, bool]]:
    """The words and phrases that could be cues, and whether each is used as a verb."""
    keys = [word.key for word in reading.words]
    for at, key in enumerate(keys):
        word = reading.words[at]
        yield key, word.sort is Sort.WEAK
        if word.sort >= Sort.COMMON:
            yield f"={word.text.casefold()}", False
        for size in (2, 3):
            if at + size <= len(keys):
                yield ("" if word.cjk else " ").join(keys[at : at + size]), False


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


def kind_tag(kind: Kind, chinese: bool) -> str:
    """The tag a note gets from its kind when its words give none."""
    return _KIND_TAGS[kind][chinese]


def is_kind_tag(tag: str) -> bool:
    """Whether `tag` says what sort of note it is rather than what it is about."""
    return any(tag in pair for pair in _KIND_TAGS.values())


def _spelled(theme: Theme, chinese: bool, existing: Mapping[str, int]) -> str:
    own = theme.tag(chinese)
    if own in existing or not existing:
        return own
    candidates = [alias for alias in theme.aliases if alias in existing and alias.isascii() != chinese]
    return max(candidates, key=lambda tag: existing[tag], default=own)


def _variants(keyword: str) -> Iterator[str]:
    """How a keyword may be spelled as a tag."""
    low = keyword.casefold()
    yield low
    if " " in low:
        yield low.replace(" ", "-")
        yield low.replace(" ", "_")
    elif low.isascii():
        yield low + "s"
        if low.endswith("s"):
            yield low[:-1]
        root = stem(low)
        if root != low:
            yield root


def _fillers(reading: Reading, kind: Kind, keywords: Sequence[str]) -> Iterator[str]:
    if kind not in (Kind.FACT, Kind.EPISODE) or not keywords:
        yield kind_tag(kind, reading.chinese)
    telling = {word.text.casefold() for word in reading.words if word.sort >= Sort.COMMON and not word.person}
    for keyword in keywords:
        low = keyword.casefold()
        slight = low not in telling and not any(part in telling for part in low.split()) and low.isascii()
        if len(low) <= 24 and not slight and not is_person(low) and not any(character.isdigit() for character in low):
            yield "-".join(low.replace(".", "").split())
    yield kind_tag(kind, reading.chinese)
