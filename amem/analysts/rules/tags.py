"""Up to five broad tags: themes that whole words and phrases name, and the collection's own tags among the keywords."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from amem.language.entities import titles_in
from amem.language.lexicon import Sort, is_person, lexicon
from amem.language.scripts import words
from amem.language.word_reading import read
from amem.note import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from amem.language.lexicon import Theme
    from amem.language.word_reading import Reading
    from amem.protocols import Vocabulary

_MOST, _THEMES = 5, 3
#: Weight of triggers from which a theme counts: a strong one weighs 2, a weak one 1. A theme with less than this share
#: of the strongest one's weight is left out.
_ENOUGH, _SHARE = 2, 0.4
#: A note of more sentences names things in passing: there a theme needs one more trigger.
_LONG = 4
#: Tags that earlier versions gave a note for its kind.
_FORMER = words(
    "decision rule preference how-to settings code bug question small-talk diary note topic"
    " 决定 规则 偏好 方法 配置 代码 故障 提问 闲聊 日记 笔记 主题"
)


def tags_for(
    reading: Reading, kind: Kind, keywords: Sequence[str], vocabulary: Vocabulary, before: Reading | None = None
) -> tuple[str, ...]:
    """0-5 lower-case tags in the note's language, strongest first; `before` is what a short reply answers."""
    if kind is Kind.CHITCHAT and before is None:
        return ()
    existing = vocabulary.tags()
    found = themes_of(reading) or (themes_of(before) if before else [])
    chosen = dict.fromkeys(_spelled(theme, reading.chinese, existing) for theme in found[:_THEMES])
    own = {tag for keyword in keywords if not is_person(keyword) for tag in _variants(keyword) if tag in existing}
    reused = [tag for tag in own if not is_common_tag(tag)]
    chosen |= dict.fromkeys(sorted(reused, key=lambda tag: (-existing[tag], tag)))
    return tuple(chosen)[:_MOST]


def themes_of(reading: Reading) -> list[Theme]:
    """The themes that the note's words name, strongest first."""
    return list(_themes(reading.text))


@lru_cache(maxsize=512)
def _themes(text: str) -> tuple[Theme, ...]:
    lists = lexicon()
    enough = _ENOUGH + (len(read(text).sentences) > _LONG)
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
    found = [word for word in reading.words if not any(title.start <= word.start < title.end for title in titles)]
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


def _spelled(theme: Theme, chinese: bool, existing: Mapping[str, int]) -> str:
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
