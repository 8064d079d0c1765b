"""Statements of a note that end while the rest of it stands: which words they are, and what is left without them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from amem.note import Overturned
from amem.rendering import fallen, holding_text, segments
from amem.text import normalize
from amem.writing.conflict.grammar import Of
from amem.writing.conflict.statements import read

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from amem.note import MemoryNote
    from amem.writing.conflict.statement import Statement

#: What opens a clause that says more of what stands before it, and one that gives a reason or a condition.
_RELATIVE = re.compile(r"(?:who|which|whose|where)$", re.IGNORECASE)
_REASON = re.compile(r"(?:because|since|although|though|while|if|unless|so)$|因为|虽然|如果|要是|所以", re.IGNORECASE)
_BETWEEN = " ,，"
#: Marks at the end of a statement, which whoever names it may leave out.
_ENDS = " .!?;,…。！？；，"
#: Sorts of values that say when; a common word beside them ("搬过来的") tells nothing by itself.
_DATES = frozenset({"year", "month", "day"})
_COMMON = 0.5
#: Characters of the later note that a mark keeps.
_THEN = 160


@dataclass(frozen=True, slots=True)
class Named:
    """Statements of a note, in its words; `only_part` says that what was named is less than them."""

    text: str
    only_part: bool = False


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A statement from `start` to `said`, to `end` with what goes on with it.

    `alone` says that nothing goes on with it but what stands and falls with it.
    """

    start: int
    said: int
    end: int
    alone: bool = True


def marked(
    note: MemoryNote,
    quotes: Iterable[str],
    *,
    until: datetime,
    by: MemoryNote | None = None,
    reason: str = "",
    confidence: float = 1.0,
) -> list[Overturned]:
    """The note's overturned statements with these, in the order of its text; `by` None takes them back.

    What is marked already stays as it is; a quote that the note does not hold is left out.
    """
    then = "" if by is None else " ".join(by.content.split())[:_THEN]
    fresh = [
        Overturned(quote, until, "" if by is None else by.id, then, reason, confidence)
        for quote in quotes
        if quote in note.content
    ]
    found = segments(note.content, [*note.overturned, *fresh])
    return [each.overturned for each in found if each.overturned is not None]


def still_states(content: str, told: Sequence[Overturned]) -> bool:
    """Whether a note says anything without its overturned statements: nothing is left of it, else."""
    return bool(stated(holding_text(content, told)))


def statement_of(content: str, value: str) -> str | None:
    """The statement of the content that names a value, in its words; None where none does."""
    wanted = normalize(value)
    said = [each for each in read(content) if wanted and wanted in normalize(each.text)]
    best = next((each for each in said if each.said), said[0] if said else None)
    return None if best is None else quote(content, best)


def quote(content: str, statement: Statement) -> str | None:
    """A statement in the very words of the note, with what stands and falls with it; None where they are not there.

    That is since when it is so, what follows a colon, and what "which" adds: "I am a vegetarian since 2023: no fish".
    """
    start = content.find(statement.text)
    if start < 0:
        return statement.around if statement.around and statement.around in content else None
    end, below = start + len(statement.text), False
    for each in read(content):
        at = content.find(each.text, end) if each.sentence == statement.sentence else -1
        if at < 0 or content[end:at].strip(_BETWEEN).casefold() != each.opener.strip(_BETWEEN).casefold():
            continue
        below = below or each.opener.strip()[:1] in (":", "：")
        if not below and not _adds(each):
            break
        end = at + len(each.text)
    return content[start:end].strip()


def statements_of(content: str) -> list[str]:
    """What a note states, in its own words."""
    return [found for each in read(content) if each.about and (found := quote(content, each)) is not None]


def part_of(note: MemoryNote, told: Sequence[Overturned]) -> MemoryNote:
    """The note as if it said no more than these statements of it."""
    gone = fallen(replace(note, overturned=list(told)))
    words = " ".join(each.text for each in told)
    return replace(note, content=words, facts=[note.facts[place] for place in gone], overturned=[])


def around(content: str, words: str) -> str:
    """The statement of the content that these words of it are a part of; the words themselves where none is."""
    found = next((each for each in read(content) if words in each.text), None)
    return words if found is None else quote(content, found) or words


def part_named(content: str, words: str) -> Named | None:
    """The statements of the content that a person means by these words of it; None where it does not have them.

    Words that begin or stop within a statement ("to hazelnuts" of "I am allergic to penicillin and to hazelnuts") are
    `only_part` of it, and name nothing by themselves.
    """
    said = _stretches(content)
    wanted = re.split(r"\s+", words.strip().rstrip(_ENDS))
    if not any(wanted):
        return None
    found: Named | None = None
    for match in re.finditer(r"\s+".join(map(re.escape, wanted)), content, re.IGNORECASE):
        meant = [each for each in said if each.start < match.end() and match.start() < each.end]
        if not meant:
            found = found or Named(match[0])
            continue
        first, last = meant[0], meant[-1]
        whole = content[first.start : max(match.end(), last.end)].strip()
        named = not _words(content[first.start : match.start()]) and (
            not _words(content[match.end() : last.end]) or (last.alone and not _words(content[match.end() : last.said]))
        )
        if named:
            return Named(whole)
        found = found or Named(whole, only_part=True)
    return found


def _stretches(content: str) -> list[_Stretch]:
    """The statements of the content by place, each with the items and phrases that only go on with it."""
    found: list[_Stretch] = []
    at, sentence = 0, -1
    for each in read(content):
        start = content.find(each.text, at)
        text = each.text if start >= 0 else each.around
        start = start if start >= 0 else content.find(text)
        if start < 0 or (found and start < found[-1].end):
            continue
        at = start + len(text)
        goes_on = each.frame is not None and each.frame.of is Of.NOTHING and not each.claims
        if goes_on and found and each.sentence == sentence:
            found[-1] = replace(found[-1], end=at, alone=False)
            continue
        behind = quote(content, each) or ""
        at = max(at, start + len(behind)) if content.startswith(behind, start) else at
        found.append(_Stretch(start, start + len(text), at))
        sentence = each.sentence
    return found


def _words(text: str) -> bool:
    return any(map(str.isalnum, text))


def states_more(content: str, quotes: Sequence[str]) -> bool:
    """Whether a note states anything beside these quotes; without any, whether it states more than one thing."""
    rest = [each for each in stated(content) if not any(each.text in quote for quote in quotes)]
    return len(rest) > (0 if quotes else 1)


def stated(content: str) -> list[Statement]:
    """The clauses that say something by themselves: no heading before a colon, and nothing that only goes on."""
    said = read(content)
    found: list[Statement] = []
    for place, each in enumerate(said):
        before, behind = said[place - 1] if place else None, said[place + 1] if place + 1 < len(said) else None
        named = each.claims and (each.people or each.frame is not None)
        heading = behind is not None and behind.opener.strip()[:1] in (":", "：") and not named
        # "It is blue and old": "old" says no more by itself than "it is blue" does.
        beside = before is not None and before.sentence == each.sentence and _points(before)
        goes_on = beside and each.frame is not None and not each.frame.verb
        if _states(each) and not heading and not goes_on:
            found.append(each)
    return found


def _states(each: Statement) -> bool:
    """Whether a clause says something by itself: "which I love" and "because of the rain" belong to another."""
    reason = _REASON.search(each.opener) is not None
    return bool(each.about or each.values) and not (reason or _points(each) or _adds(each))


def _points(each: Statement) -> bool:
    """Whether a clause is about what the one before it is about: "it is blue"."""
    return each.inherited or (each.frame is not None and each.frame.of is Of.POINTED_AT)


def _adds(each: Statement) -> bool:
    """Whether a clause only says more of the statement before it: who or what that is, or since when it is so."""
    sorts = [value.sort for value in each.values]
    dated = not _DATES.isdisjoint(sorts) and sorts.count("number") <= 1
    return _RELATIVE.search(each.opener) is not None or (dated and sum(each.about.values()) <= _COMMON)
