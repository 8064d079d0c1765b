"""What one text quotes of others: words in a row, and single words by which those can be told."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from amem.language.scripts import CJK, ENGLISH, normalize
from amem.language.sentence_parts import sentence_ends, sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Run = tuple[str, ...]

#: A Chinese character, or a word with what is written into it: "77123", "v15.3", "2026-06-22", "ana@example.org".
_TOKEN = re.compile(rf"[{CJK}]|[^\W_{CJK}]+(?:[-_.,@:/'][^\W_{CJK}]+)*")
_CHARACTER = re.compile(f"[{CJK}]")
#: Of a day or a year many texts speak.
_DAY = re.compile(r"(?:19|20)\d\d(?:[-/.]\d\d?){0,2}")
#: JSON text is read as it is stored: what stands for a line break there is no letter.
_ESCAPED = re.compile(r'\\[nrtbf"\\/]')
#: So many words in a row are a quotation, and so many Chinese characters.
_WORDS, _CHARACTERS = 3, 4
_LONG_WORD, _LONG_NUMBER = 4, 3
#: Three runs are five words in a row, mostly.
_EXACT = 3


@dataclass(frozen=True, slots=True)
class Quotes:
    """What would be a quotation of some texts: `runs` of three words (four Chinese characters) and numbers.

    `words` are their names and other words, which a text may well have of itself. `sentences` are theirs in full, as
    tokens with a space between. A text that holds no number nor sentence of theirs holds `least` of the others.
    """

    runs: frozenset[Run]
    words: frozenset[Run]
    sentences: frozenset[str] = frozenset()
    least: int = 1
    #: Of each the longest word: a text without any of these, which is quickly seen, quotes nothing.
    anchors: frozenset[str] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "anchors", frozenset(max(run, key=len) for run in self.runs | self.words))

    @classmethod
    def of(cls, texts: Iterable[str], *, names: Iterable[str] = (), but: Callable[[str], bool] | None = None) -> Quotes:
        """The quotations of these texts and of their `names`; single words that `but` holds for are none."""
        runs: set[Run] = set()
        words: set[Run] = set()
        whole: set[str] = set()
        for name in names:
            spelled = tuple(_tokens(name))
            if len("".join(spelled)) > 1:
                words.add(spelled)
        for text in texts:
            tokens = list(_tokens(text))
            whole.update(_spaced(said) for each in sentences(text) if _says_much(said := list(_tokens(each))))
            runs.update(run for run in _runs(tokens) if not all(token in ENGLISH for token in run))
            for token in set(tokens):
                if _is_telling(token):
                    runs.add((token,))
                elif len(token) >= _LONG_WORD and token not in ENGLISH and not (but and but(token)):
                    words.add((token,))
        return cls(frozenset(runs), frozenset(words), frozenset(whole))

    def __bool__(self) -> bool:
        return bool(self.runs or self.words)

    def without(self, found: Iterable[Run]) -> Quotes:
        """The same but for these."""
        gone = frozenset(found)
        return Quotes(self.runs - gone, self.words - gone, self.sentences, self.least)

    def exact(self) -> Quotes:
        """The same for texts of people, who may well use the same words, or three of them in a row."""
        return Quotes(self.runs, frozenset(), self.sentences, _EXACT)

    def found_in(self, text: str) -> set[Run]:
        """What of them `text` holds; it may be JSON text."""
        read = normalize(_ESCAPED.sub(" ", text))
        if not any(anchor in read for anchor in self.anchors):
            return set()
        tokens = _TOKEN.findall(read)
        sizes = {len(run) for run in self.runs | self.words}
        held = {tuple(tokens[at : at + size]) for size in sizes for at in range(len(tokens) - size + 1)}
        return (held & self.runs) | (held & self.words)

    def held_by(self, text: str) -> bool:
        """Whether `text` quotes them."""
        found = self.found_in(text)
        if len(found) >= self.least or any(run in self.runs and len(run) == 1 for run in found):
            return True
        return bool(found) and self.repeated_by(text)

    def repeated_by(self, text: str) -> bool:
        """Whether `text` holds a whole sentence of theirs, or a number of theirs that hardly anything else has."""
        tokens = list(_tokens(_ESCAPED.sub(" ", text)))
        if any((token,) in self.runs and len(token) > _LONG_NUMBER for token in tokens):
            return True
        spaced = _spaced(tokens)
        return any(sentence in spaced for sentence in self.sentences)

    def cut(self, text: str) -> str:
        """`text` without the sentences that quote them, spaced as it was."""
        kept, start = [], 0
        for end in [*sentence_ends(text), len(text)]:
            if not self.held_by(text[start:end]):
                kept.append(text[start:end])
            start = end
        left = "".join(kept)
        return text if left == text else left.strip()


def _tokens(text: str) -> Iterator[str]:
    return (match[0] for match in _TOKEN.finditer(normalize(text)))


def _runs(tokens: Sequence[str]) -> Iterator[Run]:
    for at in range(len(tokens)):
        size = _CHARACTERS if _CHARACTER.match(tokens[at]) else _WORDS
        if at + size <= len(tokens):
            yield tuple(tokens[at : at + size])


def _spaced(tokens: Sequence[str]) -> str:
    return f" {' '.join(tokens)} "


def _says_much(tokens: Sequence[str]) -> bool:
    """Whether a sentence is one that others would hardly write by chance."""
    return len(tokens) >= (_CHARACTERS if tokens and _CHARACTER.match(tokens[0]) else _WORDS)


def _is_telling(token: str) -> bool:
    """Whether a single word tells by itself where it is from: a number, but for days and years, or one in part."""
    figures = sum(character.isdigit() for character in token)
    if _DAY.fullmatch(token):
        return False
    return figures >= _LONG_NUMBER or (figures > 0 and figures < len(token) and len(token) >= _LONG_WORD)
