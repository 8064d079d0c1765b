"""A note taken apart: what each clause is about, of whom, and whether it says it, denies it or leaves it open."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from amem.llm.offline.lexicon import Sort
from amem.llm.offline.reading import Word
from amem.llm.offline.reading import read as read_words
from amem.text import written_in_cjk
from amem.text.clauses import DENIAL, Stance, clauses, stances, without_idioms
from amem.text.stopwords import words as words_of
from amem.writing.conflict import cues, values
from amem.writing.conflict.cues import EXPLICIT, Cue, Mark
from amem.writing.conflict.grammar import NO_CLAIM, Frame, Of, frame_of
from amem.writing.conflict.people import people_of
from amem.writing.conflict.statement import Statement
from amem.writing.conflict.topic import about, named_in, words_in
from amem.writing.conflict.words import concepts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from amem.llm.offline.reading import Reading

#: Characters and clauses of a note that are read; a page pasted into a note is judged by how it begins.
_READ, _CLAUSES = 2_000, 24
#: Somebody else's words: two of them or more between quotation marks (less is a name), long titles, and what a chat
#: tells of a picture, in brackets.
_QUOTED = re.compile(
    r"\[[^\]\n]{3,400}\]|\"[^\"\n]{6,300}\"|“[^”\n]{5,300}”|「[^」\n]{5,300}」|『[^』\n]{5,300}』|《[^》\n]{7,100}》|‘[^’\n]{8,300}’(?!\w)|(?<!\w)'[^'\n]{12,300}'(?!\w)"
)
_YOU_ZH = re.compile(r"[你您]")
_PRONOUN = re.compile(r"\b(?:it|them|that|this|those|him|her)\b|[它他她这那]", re.IGNORECASE)
#: A "not" that stands last denies what a clause of its own would have said: "I opened a shop not / that long ago".
_LAST_NOT = re.compile(r"\bnot\W*$", re.IGNORECASE)
#: 换到 and 改成 say what it is now; 换了 says what was exchanged.
_TOWARDS = "到成为用至由归给在去往"
_TO = re.compile(r"\b(?:to|by|with|into|for)\b", re.IGNORECASE)
_EVENT = re.compile(
    r"\b(?:was|were|did|ran|went|bought|sold|met|ate|paid|cost|won|lost|took|had|came|\w{2,}[a-z]ed)\b|昨[天晚]|[过完]了|了[^，。]*$",
    re.IGNORECASE,
)
_LASTING = re.compile(r"\b(?:is|are|am|has|have)\b|['’](?:s|re|ve|m)\b|现在|是", re.IGNORECASE)
#: What stands behind it is what was, or would have been, and is not.
_INSTEAD_OF = re.compile(r"\b(?:instead of|in place of|rather than)\b|而不是", re.IGNORECASE)
#: What is asked of somebody is not so yet.
_REQUESTS = words_of("ask request demand")
#: Behind these and a colon stands what is to be done, or asked for.
_TO_COME = re.compile(
    r"\b(?:to[ -]?dos?|to do|checklist|wish ?list|next (?:steps?|try)|(?:proposal|suggestion|idea|option|request)s?)\b"
    r"|(?:清单|待办|打算|想法|建议|备选|愿望|要求|请求|下一步)(?:事项)?$",
    re.IGNORECASE,
)
_JOINING = words_of("and but or then , ,and ,but")
_DONE = re.compile(r"[不没]\S{0,12}?了")


@lru_cache(maxsize=1024)
def read(text: str) -> tuple[Statement, ...]:
    """The statements of a note, in order; quotations are left out."""
    cut = text[:_READ]
    plain = _QUOTED.sub(lambda match: " " * len(match[0]), cut) if _QUOTED.search(cut) else cut
    reading = read_words(plain)
    marked = list(cues.marks(reading))
    words = words_in(reading)
    named = named_in(reading, words)
    found: list[Statement] = []
    for statement in _statements(reading, words, marked, named):
        if found and _is_name_before_and(found[-1], statement):
            statement = _together(found.pop(), statement)
        found.append(_with_what_it_means(_with_its_subject(statement, found), found))
        if len(found) == _CLAUSES:
            break
    return tuple(found)


def quotes(text: str) -> bool:
    """Whether a note holds somebody else's words."""
    return _QUOTED.search(text[:_READ]) is not None


def _statements(
    reading: Reading, every: Sequence[Word], marked: Sequence[Mark], named: Mapping[str, str]
) -> Iterator[Statement]:
    for number, (start, end) in enumerate(reading.sentences):
        sentence = reading.text[start:end]
        parted = clauses(sentence)
        open_, before = False, start
        last: Statement | None = None
        for clause, stance in zip(parted, stances(sentence.strip(), parted) if parted else (), strict=True):
            at, end = start + clause.start, start + clause.start + len(clause.text)
            # "Since" and "before" stand between two clauses and belong to the second.
            inside = [mark for mark in marked if before <= mark.start < end]
            words = [word for word in every if at <= word.start < end]
            open_ = open_ or (last is not None and _opens(last, clause.opener))
            made = _statement(
                clause.text, at, words, inside, named, said=stance is Stance.SAID and not open_, opener=clause.opener
            )
            made = replace(made, sentence=number, around=sentence.strip())
            before, last = end, made
            # "If rents fall, I move": what follows a supposition is one, too.
            open_ = open_ or (made.planned and "if" in clause.opener.casefold()) or stance is Stance.UNCLEAR
            yield made


def _opens(last: Statement, opener: str) -> bool:
    """Whether what follows a clause is only asked for, or still to be done: "To do: ...", "I asked that ..."."""
    if opener.strip()[:1] in (":", "：") and _TO_COME.search(last.text):
        return True
    return "that" in opener.casefold() and _requests(last.frame)


def _requests(frame: Frame | None) -> bool:
    return frame is not None and frame.verb in _REQUESTS


def _statement(
    text: str,
    at: int,
    words: Sequence[Word],
    marked: Sequence[Mark],
    named: Mapping[str, str],
    *,
    said: bool,
    opener: str,
) -> Statement:
    found = frozenset(cue for mark in marked for cue in mark.cues)
    # 无锡 denies nothing.
    whole = [
        Mark(word.start, word.end) for word in words if word.cjk and word.sort >= Sort.COMMON and len(word.text) > 1
    ]
    blanked = _blanked(without_idioms(text), at, [*marked, *whole])
    denials = (0 if _LAST_NOT.search(text) else len(DENIAL.findall(blanked))) + ("without" in opener.casefold())
    denials += sum(1 for mark in marked if Cue.DENIES in mark.cues)
    denied = denials % 2 == 1
    event = _EVENT.search(text) is not None and _LASTING.search(text) is None
    found |= cues.spread(text, past=event)
    ended = denied and _DONE.search(text) is not None
    over = any(Cue.ENDS in mark.cues and not mark.poles for mark in marked)
    telling, told = about(text, at, words, marked)
    frame = _frame(text, words)
    planned = _is_open(marked) or _requests(frame)
    return Statement(
        text,
        said=said and not planned,
        negative=Cue.OVER in found or denied != (Cue.ENDS in found),
        turned=Cue.OVER in found or denied != over,
        about=telling,
        names={key: named[key] for key in telling if key in named},
        values=values.of(text),
        people=people_of(words, named),
        frame=frame,
        poles=_poles(marked, denials),
        cues=found,
        ended=ended,
        planned=planned,
        opener=opener,
        target=_target(text, at, told, marked),
        given_up=_given_up(text, at, told),
        event=event,
    )


def _frame(text: str, words: Sequence[Word]) -> Frame | None:
    if written_in_cjk(text):
        return NO_CLAIM if _YOU_ZH.search(text) else None
    return frame_of(words, exclaimed=text.rstrip().endswith("!"))


def _blanked(text: str, at: int, marked: Iterable[Mark]) -> str:
    for mark in marked:
        if mark.start < at:
            continue
        text = text[: mark.start - at] + " " * (mark.end - mark.start) + text[mark.end - at :]
    return text


def _poles(marked: Sequence[Mark], denials: int) -> dict[str, int]:
    """Each pair's sign, turned by every negation but the one that the word is itself ("retired", "戒烟")."""
    found: dict[str, int] = {}
    for mark in marked:
        if mark.poles:
            others = {cue for other in marked if other is not mark for cue in other.cues}
            denied = (denials - (Cue.DENIES in mark.cues)) % 2 == 1
            turned = Cue.OVER in others or (denied != (Cue.ENDS in others))
            found |= {pair: -sign if turned else sign for pair, sign in mark.poles}
    return found


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
        to = _TO.search(text, max(0, change.end - at - 4))
        if to is None:
            return frozenset()
        start = at + to.end()
    return frozenset(key for word in told if word.start >= start for key in concepts(word.key))


def _given_up(text: str, at: int, told: Sequence[Word]) -> frozenset[str]:
    """The words behind "instead of"."""
    match = _INSTEAD_OF.search(text)
    if match is None:
        return frozenset()
    return frozenset(key for word in told if word.start >= at + match.end() for key in concepts(word.key))


def _is_open(marked: Sequence[Mark]) -> bool:
    """Whether a clause only plans or supposes; "we dropped the plan to" does not."""
    plans = min((mark.start for mark in marked if Cue.PLANS in mark.cues), default=None)
    done = min((mark.start for mark in marked if mark.cues & EXPLICIT), default=None)
    return plans is not None and (done is None or plans < done)


def _with_its_subject(statement: Statement, before: Sequence[Statement]) -> Statement:
    """ "I live in Rome and love it": who loves it stands in the clause before."""
    last, frame = before[-1] if before else None, statement.frame
    joined = last is not None and last.sentence == statement.sentence and statement.opener.casefold() in _JOINING
    if (
        not joined
        or last is None
        or last.frame is None
        or frame is None
        or frame.of is not Of.NOTHING
        or not frame.verb
    ):
        return statement
    return replace(statement, frame=replace(last.frame, verb=frame.verb), people=last.people)


def _with_what_it_means(statement: Statement, before: Sequence[Statement]) -> Statement:
    """ "I love it" is about what the clause before was about."""
    pointing = statement.frame is not None and statement.frame.of is Of.POINTED_AT
    turning = statement.negative or statement.cues & (EXPLICIT | {Cue.NOW})
    full = sum(statement.about.values()) > 0.5 and not (pointing and turning)
    if not before or full or not _PRONOUN.search(statement.text):
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
