"""A note taken apart: what each clause states, about what, of whom."""

from __future__ import annotations

import json
import re
import sys
import threading
import zlib
from bisect import bisect_left
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache
from hashlib import blake2b
from importlib.resources import files
from itertools import pairwise, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amem.conflict import cues
from amem.conflict.clause_parts import NO_CLAIM, Frame, Of, Value, frame_of, kin, people_of, value_places, values_of
from amem.conflict.cues import DENYING, EXPLICIT, Cue, Mark, chinese_names, concepts, is_state
from amem.language import written_in_cjk
from amem.language.lexicon import Sort, lexicon
from amem.language.scripts import Patterns, word_list
from amem.language.scripts import words as words_of
from amem.language.sentence_parts import Clause, Stance, achieved, clauses, hearsay, moves_house, pending, stances
from amem.language.word_reading import Word, names
from amem.language.word_reading import read as read_words

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from amem.language.word_reading import Reading


_pattern = Patterns("conflict/statements")

# One thing that a note states, as far as its words tell.


@dataclass(frozen=True, slots=True)
class Statement:
    """A clause. `about` weighs its telling words; `names` are those among them that name somebody or something, with
    the name in full; `values` its numbers and dates; `people` are who it is said of (empty: a thing, or left out);
    `frame` is its grammar, None for Chinese.

    `negative` says that it denies what it is about, or says that it is over; `poles` are its words with opposites, by
    pair, +1 or -1, turned round where they are denied. `target` are words for what something changed to ("moved to
    Friday"). `said` is False for questions, plans, requests and what is only
    supposed, `event` True for what happened once. `nouns` are those that open a Chinese clause.
    """

    text: str
    said: bool
    negative: bool
    about: Mapping[str, float]
    names: Mapping[str, str]
    values: frozenset[Value]
    people: frozenset[str]
    frame: Frame | None
    poles: Mapping[str, int]
    cues: frozenset[Cue]
    target: frozenset[str] = frozenset()
    event: bool = False
    ended: bool = False
    planned: bool = False
    sentence: int = 0
    nouns: tuple[str, ...] = ()
    inherited: bool = False
    """Whether it takes what it is about from the clause before: "it isn't"."""
    opener: str = ""
    around: str = ""
    """The sentence that it stands in."""

    @property
    def claims(self) -> bool:
        """Whether it is a claim at all, and no greeting, order or cry."""
        if self.frame is None:
            return True
        if self.people and any(is_state(pair) for pair in self.poles):
            return True  # "Anna and Lukas split up"
        if Cue.OVER in self.cues and not self.text.endswith("!"):
            return True  # "No more sugar in my coffee"
        return self.frame.of is not Of.NOTHING and (self.frame.of is not Of.POINTED_AT or self.inherited)

    @property
    def thing(self) -> tuple[str, ...]:
        """The nouns of the thing that it is said of, the head last; empty for people, and where it is not known."""
        return self.nouns if self.frame is None else self.frame.thing

    @property
    def reason(self) -> bool:
        """Whether it only says why something else is so."""
        return _pattern.because.match(f"{self.opener} {self.text}") is not None

    @property
    def pending(self) -> bool:
        """Whether it says that something is sought, awaited or being done: "still waiting for my visa", 还在找房子."""
        return pending(self.text)

    @property
    def achieved(self) -> bool:
        """Whether it says that something was found, came about or is done: "my visa has come through", 租到房子了."""
        return achieved(self.text)

    @property
    def past(self) -> bool:
        """Whether it says of itself that it was so once."""
        return Cue.PAST in self.cues


# What a clause is about: its telling words, each with its weight, and which of them are names.

#: What a word weighs in what a clause is about: verbs and adjectives of every day say little of it.
_WEIGHT = {Sort.WEAK: 0.5, Sort.COMMON: 1.0, Sort.CONTENT: 1.0}
#: A Chinese word of one character is half a word as often as not.
_LIGHT = 0.5
#: What a short name begins with: 小何, 阿强.
_NICK = frozenset({"小", "阿"})
_AFTER_NAME = word_list("after a name")
#: Nobody in particular, and how much: neither tells what a clause is about.
_ANYBODY = word_list("nobody in particular")
#: "v2" is a value, as 2 is.
_NUMBERED = re.compile(r"v?\d[\d.]*")


def words_in(reading: Reading) -> list[Word]:
    """The text's words, with names that the lists know ("飞书") kept whole."""
    known = [] if reading.text.isascii() else [*chinese_names(reading.text), *_nicknames(reading.words)]
    if not known:
        return list(reading.words)
    taken = {at for start, end in known for at in range(start, end)}
    words = [word for word in reading.words if taken.isdisjoint(range(word.start, word.end))]
    for start, end in known:
        text = reading.text[start:end]
        person = text[0] in _NICK
        words.append(Word(text, start, end, text, lexicon().chinese.get(text, Sort.CONTENT), cjk=True, person=person))
    return sorted(words, key=lambda word: word.start)


def _is_nickname(word: Word) -> bool:
    return word.cjk and not word.known and len(word.text) == 2 and word.text[0] in _NICK


def _nicknames(words: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """Where somebody stands by a short name that was cut in two: 小何 in 小何不赞成, 阿强 in 阿强没来."""
    for one, other in pairwise(words):
        cut = len(other.text) == 1 or (len(other.text) == 2 and other.text[1] in DENYING)
        if one.text in _NICK and one.end == other.start and cut and other.sort >= Sort.WEAK:
            yield one.start, other.start + 1


def named_in(reading: Reading, words: Sequence[Word]) -> dict[str, str]:
    """What is a name among the words' keys, with the name in full."""
    found = {key: word.text for word in words if word.person or _is_nickname(word) for key in concepts(word.key)}
    for word, following in pairwise(words):
        # "Nils doesn't": a capital, no word that anybody knows, and no "Rewrote".
        begins = not word.first or following.text.casefold() in _AFTER_NAME or following.verb or word.possessive
        if word.capital and not word.known and not word.cjk and begins:
            found[word.key] = word.text
    starts = [word.start for word in words]
    for name in names(reading):
        if not name.date:
            inside = words[bisect_left(starts, name.start) : bisect_left(starts, name.end)]
            found |= {key: name.text for word in inside if word.sort >= Sort.WEAK for key in concepts(word.key)}
    return found


def about(text: str, at: int, words: Sequence[Word], marked: Sequence[Mark]) -> tuple[dict[str, float], list[Word]]:
    """The weight of each telling word of a clause that begins at `at`, and the words that are left to tell anything."""
    # 七点开场 holds an hour, and no word 点开.
    taken = [] if text.isascii() else [(at + begin, at + end) for begin, end in value_places(text)]
    used = [(mark.start, mark.end) for mark in marked if _is_used(mark)]
    told = [
        word
        for each in words
        if (word := _behind(each, taken) if taken else each) is not None and not (used and _overlaps(word, used))
    ]
    found: dict[str, float] = {}
    for word in told:
        bare = _bare(word) if word.cjk else word.key
        if (weight := _WEIGHT.get(word.sort)) and bare not in _ANYBODY and not _NUMBERED.fullmatch(word.key):
            for key in kin(word) or concepts(bare):
                half = word.cjk and len(word.text) == 1 and key == word.key
                found[key] = max(_LIGHT if half else weight, found.get(key, 0.0))
    return found | {key: 1.0 for mark in marked if mark.base for key in concepts(mark.base)}, told


def _behind(word: Word, taken: Sequence[tuple[int, int]]) -> Word | None:
    """A word, or what of it stands behind a value that it begins with (一辆车); None within a value."""
    if not word.cjk:
        return word
    end = max((end for begin, end in taken if begin < word.end and word.start < end), default=word.start)
    if end >= word.end:
        return None
    text = word.text[end - word.start :]
    return word if end == word.start else replace(word, text=text, key=text, start=end)


def _overlaps(word: Word, places: Iterable[tuple[int, int]]) -> bool:
    return any(begin < word.end and word.start < end for begin, end in places)


def _bare(word: Word) -> str:
    """A Chinese word's key, without what only says where a verb went (寄出去, 寄出) or denies it (没签, 签)."""
    if len(word.key) > 1 and word.key[0] in DENYING and word.sort < Sort.COMMON:
        return word.key[1:]
    if (word.key[-1] == "了" or len(word.key) > 2) and word.key[-1] in "去来了":
        return word.key[:-1] or word.key
    return word.key


def _is_used(mark: Mark) -> bool:
    return Cue.NOTHING not in mark.cues and (bool(mark.poles) or bool(mark.cues - {Cue.FOREVER}))


# A note taken apart: what each clause is about, of whom, and whether it says it, denies it or leaves it open.

#: Characters and clauses of a note that are read; a page pasted into a note is judged by how it begins.
_READ, _CLAUSES = 2_000, 24
#: 换到 and 改成 say what it is now; 换了 says what was exchanged.
_TOWARDS = "到成为用至由归给在去往"


def read(text: str) -> tuple[Statement, ...]:
    """The statements of a note, in order; quotations are left out."""
    found = recent.get(text)
    if found is None:
        found = read_anew(text)
        _remember(text, found)
    return found


#: Texts that were read lately, those that came first first.
recent: dict[str, tuple[Statement, ...]] = {}
MOST_RECENT = 2048
_LOCK = threading.Lock()


def _remember(text: str, found: tuple[Statement, ...]) -> None:
    with _LOCK:
        while len(recent) >= MOST_RECENT:
            recent.pop(next(iter(recent)))
        recent[text] = found


def read_anew(text: str) -> tuple[Statement, ...]:
    """As `read`, whatever is remembered of the text."""
    cut = text[:_READ]
    plain = _pattern.quoted.sub(lambda match: " " * len(match[0]), cut) if _pattern.quoted.search(cut) else cut
    reading = read_words(plain)
    marked = cues.marks(plain)
    words = words_in(reading)
    named = named_in(reading, words)
    found: list[Statement] = []
    for statement in _statements(reading, words, marked, named):
        if found and _is_name_before_and(found[-1], statement):
            statement = _together(found.pop(), statement)
        found.append(_with_what_it_means(statement, found))
        if len(found) == _CLAUSES:
            break
    return tuple(found)


# Statements as they are kept beside the note that they were read in.


@cache
def reader() -> str:
    """What the code and word lists that read statements are known by: another where any of them changed."""
    hashed = blake2b(digest_size=8)
    for room in ("conflict", "language"):
        for path in sorted(Path(str(files("amem") / room)).rglob("*")):
            if path.suffix in (".py", ".txt"):
                hashed.update(path.read_bytes())
    return hashed.hexdigest()


def packed(text: str) -> bytes:
    """The statements of a text, as `unpack` takes them."""
    return zlib.compress(_as_json([[getattr(each, name) for name in _FIELDS] for each in read(text)]).encode(), 1)


def unpack(text: str, held: bytes) -> bool:
    """Let `read` know what this text states, as `packed` gave it; False for what is damaged, which is read anew."""
    if text in recent:
        return True
    try:
        rows = json.loads(zlib.decompress(held))
        found = tuple(
            Statement(*[back(each) if back else each for back, each in zip(_BACK, row, strict=True)]) for row in rows
        )
    except (zlib.error, ValueError, TypeError, KeyError):
        return False
    _remember(text, found)
    return True


def _plain(value: Any) -> list[Any]:
    """A set, a value or a frame as JSON has it."""
    return list(value) if isinstance(value, frozenset) else [getattr(value, name) for name in value.__slots__]


_as_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain).encode
# A process remembers thousands of statements, most with the same few sets of words: each is made once and shared.


@lru_cache(maxsize=4096)
def _words(*found: str) -> frozenset[str]:
    return frozenset(found)


@lru_cache(maxsize=1024)
def _cues(*found: str) -> frozenset[Cue]:
    return frozenset(map(Cue, found))


_FIELDS = [each.name for each in fields(Statement)]
#: How a field is made again of what JSON has of it, where that is not the same.
_MADE: Mapping[str, Callable[[Any], Any]] = {
    "values": lambda rows: frozenset([Value(sort, text, _words(*units)) for sort, text, units in rows]),
    "people": lambda words: _words(*words),
    "frame": lambda row: row and Frame(Of(row[0]), row[1], tuple(row[2])),
    "cues": lambda names: _cues(*names),
    "target": lambda words: _words(*words),
    "nouns": tuple,
    "around": sys.intern,
}
_BACK = [_MADE.get(name) for name in _FIELDS]


def quotes(text: str) -> bool:
    """Whether a note holds somebody else's words."""
    return _pattern.quoted.search(text[:_READ]) is not None


def _statements(
    reading: Reading, every: Sequence[Word], marked: Sequence[Mark], named: Mapping[str, str]
) -> Iterator[Statement]:
    starts = [word.start for word in every]
    for number, (start, end) in enumerate(reading.sentences):
        sentence = reading.text[start:end]
        parted = clauses(sentence)
        open_, before = _pattern.fiction.search(sentence) is not None, start
        last: Statement | None = None
        for clause, stance in zip(parted, stances(sentence.strip(), parted) if parted else (), strict=True):
            at, end = start + clause.start, start + clause.start + len(clause.text)
            # "Since" and "before" stand between two clauses and belong to the second.
            inside = [mark for mark in marked if before <= mark.start < end]
            words = every[bisect_left(starts, at) : bisect_left(starts, end)]
            made = _statement(
                clause,
                at,
                words,
                inside,
                named,
                said=stance is Stance.SAID and not open_,
                of=(number, sentence.strip()),
            )
            if last is not None and last.text.endswith("之前") and not last.values and not made.cues & EXPLICIT:
                made = replace(made, cues=made.cues | {Cue.PAST})  # 小何之前，组长是老梁
            before, last = end, made
            # "If rents fall, I move": what follows a supposition is one, too; so is what one only dreamt.
            supposed = made.planned and (not made.about or "if" in clause.opener.casefold())
            open_ = open_ or supposed or stance is Stance.UNCLEAR
            yield made


def _statement(
    clause: Clause,
    at: int,
    words: Sequence[Word],
    marked: Sequence[Mark],
    named: Mapping[str, str],
    *,
    said: bool,
    of: tuple[int, str],
) -> Statement:
    """The statement of a clause that begins at `at`; `of` is the number and the text of its sentence."""
    text, opener = clause.text, clause.opener
    found = frozenset(cue for mark in marked for cue in mark.cues)
    event = _pattern.event.search(text) is not None and _pattern.lasting.search(text) is None
    found |= cues.spread(text, past=event)
    folded = cues.polarity_of(text, at, words, marked, found, without="without" in opener.casefold())
    telling, told = about(text, at, words, marked)
    frame = _frame(text, words)
    people = people_of(words, named)
    if _is_home(text, words, frame, people):
        telling.setdefault(_LIVE, _WEIGHT[Sort.WEAK])
    planned = _is_open(marked) or hearsay(text)
    return Statement(
        text,
        said=said and not planned,
        negative=folded.negative,
        about=telling,
        names={key: named[key] for key in telling if key in named},
        values=values_of(text),
        people=_words(*people),
        frame=frame,
        poles=folded.poles,
        cues=_cues(*found),
        ended=folded.ended,
        planned=planned,
        sentence=of[0],
        opener=opener,
        around=of[1],
        nouns=() if frame is not None else _nouns_first(words, named),
        target=_words(*_target(text, at, told, marked)),
        event=event,
    )


#: The key of living somewhere; words for it that are cues or too short to tell; and what moves to a day is no home.
_LIVE = concepts("live")[0]
_HOME_ZH = words_of("住 住在 住到 住进 居住 搬到 搬去 搬进 搬来 搬至 搬家")
_WHEN = frozenset({"weekday", "month", "day"})


def _is_home(text: str, words: Sequence[Word], frame: Frame | None, people: Collection[str]) -> bool:
    """Whether a clause tells where somebody lives: "we've moved to Hull", 我们住九楼."""
    if frame is None:
        return any(word.text in _HOME_ZH for word in words)
    if not people or frame.verb != "move" or not moves_house(text):
        return False
    return _WHEN.isdisjoint(value.sort for value in values_of(text)) or text.count(" ") > 4


def _frame(text: str, words: Sequence[Word]) -> Frame | None:
    if written_in_cjk(text):
        return NO_CLAIM if "你" in text or "您" in text else None
    return frame_of(words, exclaimed=text.rstrip().endswith("!"))


def _nouns_first(words: Sequence[Word], named: Mapping[str, str]) -> tuple[str, ...]:
    """The nouns that a Chinese clause begins with; none where they name somebody."""
    nouns = [
        each
        for each in takewhile(lambda word: word.mark[:1] in "nsbu" or word.mark == "vn", words)
        if each.text != "的"
    ]
    if any(each.person or each.key in named for each in nouns):
        return ()
    return tuple(concepts(each.key)[0] for each in nouns)


def _target(text: str, at: int, told: Sequence[Word], marked: Sequence[Mark]) -> frozenset[str]:
    """The words behind "to" of a verb of change, or behind 改成."""
    change = next((mark for mark in marked if mark.cues & {Cue.CHANGES, Cue.RETURNS}), None)
    if change is None:
        return frozenset()
    start = change.end
    word = text[max(0, change.start - at) : change.end - at]
    if not word.isascii() and word[-1] not in _TOWARDS and word[0] != "改":
        return frozenset()
    if word.isascii():
        to = _pattern.to.search(text, max(0, change.end - at - 4))
        if to is None:
            return frozenset()
        start = at + to.end()
    return frozenset(key for word in told if word.start >= start for key in concepts(word.key))


def _is_open(marked: Sequence[Mark]) -> bool:
    """Whether a clause only plans or supposes; "we dropped the plan to" does not."""
    plans = min((mark.start for mark in marked if Cue.PLANS in mark.cues), default=None)
    done = min((mark.start for mark in marked if mark.cues & EXPLICIT), default=None)
    return plans is not None and (done is None or plans < done)


def _with_what_it_means(statement: Statement, before: Sequence[Statement]) -> Statement:
    """ "I love it" is about what the clause before was about."""
    pointing = statement.frame is not None and statement.frame.of is Of.POINTED_AT
    turning = statement.negative or statement.cues & (EXPLICIT | {Cue.NOW})
    full = sum(statement.about.values()) > 0.5 and not (pointing and turning)
    if not before or full or not _pattern.pronoun.search(statement.text):
        return statement
    last = before[-1]
    return replace(
        statement,
        about={**last.about, **statement.about},
        names={**last.names, **statement.names},
        people=statement.people or last.people,
        inherited=True,
    )


def _is_name_before_and(one: Statement, next_: Statement) -> bool:
    """ "Martin and Ella are married" is one clause, parted at its "and"."""
    named = bool(one.people) and set(one.about) == set(one.names) and not one.poles and not one.values
    return named and one.sentence == next_.sentence and next_.opener.casefold() in ("and", "or") and bool(next_.people)


def _together(one: Statement, next_: Statement) -> Statement:
    start = next_.around.find(one.text)
    return replace(
        next_,
        text=next_.around[start : next_.around.find(next_.text, start) + len(next_.text)] if start >= 0 else next_.text,
        opener=one.opener,
        about={**one.about, **next_.about},
        names={**one.names, **next_.names},
        people=one.people | next_.people,
    )
