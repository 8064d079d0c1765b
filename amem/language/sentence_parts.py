"""Sentences, clauses and pieces of a text, and what one text quotes of others."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING

from amem.errors import InvalidInput
from amem.language.scripts import CJK, ENGLISH, Patterns, is_cjk, normalize, word_list, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Run = tuple[str, ...]

_pattern = Patterns("sentence_parts")

# Where sentences end, in English and Chinese, without cutting abbreviations, decimals, versions or URLs.

_CLOSERS = re.escape("\"'”’」』）)]】》»")
#: A possible end: Chinese stops end a sentence anywhere, Latin ones before white space only; a line end may be one.
_END = re.compile(
    rf"(?P<wide>[。！？｡]+[{_CLOSERS}]*)|(?P<latin>(?<![.!?…])(?:[.!?]++|…++)[{_CLOSERS}]*+(?=\s|$))|(?P<line>\n\s*+)"
)
_ABBREVIATIONS = word_list("abbreviations")
#: These never end a sentence: a name or number follows.
_BOUND = words("mr mrs ms dr prof sr sra st mt no nos fig figs eq sec vol vs cf e.g i.e")
_LAST_WORD = re.compile(r"(?:\w+['’])?[\w.]+(?=\.[^\w]*$)")
_WRAP = 60


def is_bound(word: str) -> bool:
    """Whether the word is an abbreviation that a name or number follows, with its stop: "Dr.", "No."."""
    return word.endswith(".") and word[:-1].casefold() in _BOUND


def sentences(text: str) -> list[str]:
    """The sentences of `text`, stripped, none empty; joined they hold every character but white space."""
    found: list[str] = []
    start = 0
    for end in sentence_ends(text):
        if piece := text[start:end].strip():
            found.append(piece)
        start = end
    if rest := text[start:].strip():
        found.append(rest)
    return found


def sentence_ends(text: str) -> Iterable[int]:
    """Positions just after each sentence's last character (or after the line break that ends it)."""
    return _known_ends(text) if len(text) <= _REMEMBERED else _ends_in(text)


#: Texts up to this length are remembered: a note that is added is cut by whoever reads it.
_REMEMBERED = 4_000


@lru_cache(maxsize=256)
def _known_ends(text: str) -> tuple[int, ...]:
    return tuple(_ends_in(text))


def _ends_in(text: str) -> Iterator[int]:
    line_start = 0
    for match in _END.finditer(text):
        if match["line"] is not None:
            short = match.start() - line_start < _WRAP
            if match[0].count("\n") > 1 or short or _pattern.list_item.match(text, match.end()):
                yield match.end()
            line_start = match.end()
        elif match["wide"] is not None or _ends(text, match):
            yield match.end()


def _ends(text: str, match: re.Match[str]) -> bool:
    following = text[match.end() : match.end() + 40].lstrip()[:1]
    if match["latin"][0] != "." or match["latin"].startswith(".."):
        # "Really?" she asked. Wait... what?
        return not following.islower()
    word = _LAST_WORD.search(text, max(0, match.start() - 20), match.start() + 1)
    last = word[0].casefold() if word else ""
    if last in _BOUND or (len(last) == 1 and last.isalpha() and last != "i") or _opens_item(text, match.start(), last):
        return False
    return not (following.islower() or (last in _ABBREVIATIONS and following.isdigit()))


def _opens_item(text: str, stop: int, word: str) -> bool:
    """Whether the stop belongs to a list marker such as "1." at the start of a line."""
    before = text[max(0, stop - len(word) - 1) : stop - len(word)]
    return word.isdigit() and len(word) <= 3 and before in ("", "\n")


# A sentence in clauses, and what each does with its words: says them, asks them, or only supposes them.
#
# Grammar by pattern, in English and Chinese. What stands behind "not" within a clause is for the caller to tell
# apart, with `DENIAL` on text `without_idioms`.


class Stance(Enum):
    """What a clause does with its words."""

    SAID = "said"
    DENIED = "denied"
    ASKED = "asked"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class Clause:
    text: str
    opener: str
    """What parts it from the clause before: marks, a conjunction, or both."""
    start: int = 0
    """Where in its sentence it begins."""


_BREAK = _pattern("break")
#: A word that denies what its clause says (behind it, in English).
DENIAL = _pattern("denial")
#: It is so no more: 不开了, but not 吃不了, which cannot be done.
NO_MORE = re.compile(r"[不没](?!了)\S{0,12}?了")


def without_idioms(text: str) -> str:
    """`text` with blanks in place of phrases that hold a word of denial and deny nothing ("not only", "差不多")."""
    return _pattern.no_denial.sub(lambda match: " " * len(match[0]), text.replace("’", "'"))


def clauses(sentence: str) -> list[Clause]:
    """The clauses of a sentence, none empty, in order."""
    found: list[Clause] = []
    start, opener = 0, ""
    for match in _BREAK.finditer(sentence):
        if text := sentence[start : match.start()].strip():
            found.append(Clause(text, opener, sentence.index(text, start)))
            opener = ""
        start, opener = match.end(), opener + match[0].strip()
    if text := sentence[start:].strip():
        found.append(Clause(text, opener, sentence.index(text, start)))
    return found


def stances(sentence: str, parted: Sequence[Clause]) -> list[Stance]:
    """For each clause whether it asks, says something, or only supposes it; denials are told apart later."""
    asks = _pattern.question.search(sentence) or (_pattern.unmarked.match(sentence) and sentence[-1] not in ".!。！…,")
    if not asks or _pattern.tells.match(sentence):
        return [Stance.UNCLEAR if _supposes(clause) else Stance.SAID for clause in parted]
    found: list[Stance] = []
    asking = False
    for number, clause in enumerate(parted):
        last = number == len(parted) - 1
        if last and number and _pattern.tag.fullmatch(clause.text):
            found[-1] = Stance.UNCLEAR
            found.append(Stance.UNCLEAR)
        elif (
            _pattern.relative.search(clause.opener) and asking and not _pattern.asks_who.search(parted[number - 1].text)
        ):
            found.append(Stance.UNCLEAR)
        elif _pattern.reason.search(clause.opener) or (asking and _turns_to_oneself(clause)):
            found.append(Stance.SAID)
        elif (
            last
            or asking
            or _supposes(clause)
            or _pattern.inverted.match(clause.text)
            or _pattern.asks_zh.search(clause.text)
        ):
            asking = True
            found.append(Stance.ASKED)
        else:
            found.append(Stance.SAID)
    return found


def _supposes(clause: Clause) -> bool:
    return (
        _pattern.condition.match(clause.text) is not None
        or _pattern.condition.search(clause.opener.rpartition(",")[2]) is not None
    )


def _turns_to_oneself(clause: Clause) -> bool:
    """ "What should I see, I live in Porto?" """
    return (
        clause.opener in (",", "，", ";", "；", "—", "–", ":")
        and _pattern.speaks_of_oneself.match(clause.text) is not None
    )


# Text that is too long for one note, cut where it hurts least.

_PARAGRAPH = re.compile(r"\n\s*\n")
_PAUSE = re.compile(r"[，、；：,;:)）]\s*|\s+")
_JOINER = "\u200d"


def split_text(text: str, limit: int) -> list[str]:
    """`text` in pieces of at most `limit` characters, stripped, none empty; only white space at the cuts is lost.

    Cuts fall at the end of a paragraph, else of a sentence, else at a pause or space, else between two characters as a
    reader sees them. Raises InvalidInput for a limit below 1.
    """
    if limit < 1:
        raise InvalidInput(f"cannot split text into pieces of {limit} characters", hint="give a limit of at least 1")
    pieces: list[str] = []
    rest = text.strip()
    start = 0
    while len(rest) - start > limit:
        cut = _cut(rest, start, limit)
        if piece := rest[start:cut].strip():
            pieces.append(piece)
        start = cut
        while start < len(rest) and rest[start].isspace():
            start += 1
    if start < len(rest):
        pieces.append(rest[start:])
    return pieces


def _cut(text: str, start: int, limit: int) -> int:
    window = text[start : start + limit + 1]
    # A paragraph break early in the window would leave a crumb; a sentence near the limit serves better there.
    for ends, least in (
        ([match.start() for match in _PARAGRAPH.finditer(window)], limit // 4),
        (list(sentence_ends(window)), limit // 4),
        ([match.end() for match in _PAUSE.finditer(window)], limit // 2),
    ):
        fitting = [end for end in ends if least < end <= limit]
        if fitting:
            return start + fitting[-1]
    return _between_clusters(text, start, start + limit)


def _between_clusters(text: str, start: int, cut: int) -> int:
    """The last place at or before `cut` that splits no visible character, or `cut` where one fills the whole piece."""
    place = cut
    while place > start and _joined(text, place):
        place -= 1
    return place if place > start else cut


def _joined(text: str, place: int) -> bool:
    before, after = text[place - 1], text[place]
    if after == _JOINER or before == _JOINER or unicodedata.category(after).startswith("M"):
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return True
    return _is_flag(after) and _flags_before(text, place) % 2 == 1


def _is_flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flags_before(text: str, place: int) -> int:
    count = 0
    while count < place and _is_flag(text[place - 1 - count]):
        count += 1
    return count


# Where lines end on a terminal, in whose cells a Chinese character or an emoji takes two.

_NEVER_FIRST = frozenset("，。、；：！？）》」』”’…,.;:!?)]}%")
_NEVER_LAST = frozenset("（《「『“‘([{")
_UNBROKEN = "\u00a0"


def breaks(text: str, width: int, *, first: int) -> list[int]:
    """Where to break a text so that no line takes more than `width` cells (the first one more than `first`).

    Breaks come after a space or beside a CJK character, and inside a word only when it fills the line.
    """
    from rich.cells import cell_len

    found: list[int] = []
    start = place = taken = 0
    allowed = 0
    while place < len(text):
        char = text[place]
        if char == "\n":
            start = place = place + 1
            taken = allowed = 0
            if start < len(text):
                found.append(start)
            continue
        if place > start and may_break(text[place - 1], char):
            allowed = place
        taken += cell_len(char)
        if taken > (width if found else first) and not char.isspace():
            start = place = allowed if allowed > start else max(place, start + 1)
            found.append(start)
            taken = allowed = 0
            continue
        place += 1
    return found


def may_break(before: str, after: str) -> bool:
    """Whether a line may end between two characters."""
    if after in _NEVER_FIRST or before in _NEVER_LAST or after.isspace() or before == _UNBROKEN:
        return False
    return before.isspace() or is_cjk(before) or is_cjk(after)


#: A Chinese character, or a word with what is written into it: "77123", "v15.3", "2026-06-22", "ana@example.org".
_TOKEN = re.compile(rf"[{CJK}]|[^\W_{CJK}]+(?:[-_.,@:/'][^\W_{CJK}]+)*")
_CHARACTER = re.compile(f"[{CJK}]")
#: Of a day or a year many texts speak.
_DAY = re.compile(r"(?:19|20)\d\d(?:[-/.]\d\d?){0,2}")
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
        read = normalize(_pattern.escaped.sub(" ", text))
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
        tokens = list(_tokens(_pattern.escaped.sub(" ", text)))
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


#: Whether a sentence says something for a time, of a part, beside something else, or not for sure.
limited = lru_cache(maxsize=1024)(_pattern.says("limited"))


# What a clause says of a change, by its turns of phrase.

#: Whether a clause says that something is sought, awaited or being done: "waiting for my visa", 还在找房子.
pending = _pattern.says("pending")
#: Whether a clause says that something was found, came about or is done: "has come through", 租到房子了.
achieved = _pattern.says("achieved")
#: Whether a clause says that what was wrong is mended: "fixed the export bug", 接口的问题解决了.
trouble_over = _pattern.says("trouble_over")
#: Whether a clause is what somebody says, nobody knows who: "someone said", 听邻居说.
hearsay = _pattern.says("hearsay")
#: Whether a clause has words for moving to another home: "we've moved to Hull".
moves_house = _pattern.says("moves_house")
#: Whether a Chinese noun ends as those for people do: 病友, 班主任, 护士.
names_somebody = _pattern.says("somebody_zh")


def season_of(sentence: str) -> str | None:
    """The season or month that a sentence begins with, case-folded: "in winter"; None for other sentences."""
    found = _pattern.season.match(sentence)
    return None if found is None else found[0].casefold()


def from_then_on(sentence: str, end: int) -> bool:
    """Whether a sentence with a day that stops at `end` says that it is so from then on."""
    return _pattern.from_then.match(sentence, end) is not None or _pattern.from_now.search(sentence) is not None
