"""Whether what was read suffices to answer a question: rules that need no model, each with its reason in words.

A topic's page sums notes up. It suffices for an overview of its subject, and for a question that one of its lines holds
whole; never for a detail (when, how much, in which words), which only the note itself can be trusted with. A note
suffices when it holds what is asked, and the kind of thing that is asked for. In whose words something was said only
the source can tell.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.language import written_in_cjk
from amem.language.asking import NUMBER, QUANTITY
from amem.retrieval.confidence import share_held, weights_of
from amem.retrieval.question import Intent, Period, Reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from amem.note import MemoryNote
    from amem.retrieval.hit import Hit

#: From this share of what is asked on (by rarity), a text speaks of it; from this cosine on, it is about it.
HELD, CLOSE = 0.5, 0.5
#: A line, or a note for a detail, has to hold this share of what is asked (by rarity).
WHOLE = 0.75
#: A page is about what so large a share of its lines speaks of.
_ABOUT = 1 / 3
_SAID = re.compile(
    r"\b(?:what|which words) (?:exactly )?(?:did|does|had|has|have|was|were) (?:\S+ ){1,6}?(?:say|said|tell|told|write"
    r"|written|wrote|answer|reply|mention)\b|说(?:了|过)?(?:些)?什么|怎么说|是怎么讲|告诉(?:了)?.{0,6}什么",
    re.IGNORECASE,
)
_VERBATIM = re.compile(
    r"\b(?:verbatim|word for word|(?:the )?exact (?:words?|wording|phrase)|exactly (?:say|said|write|wrote)|quote"
    r"|in (?:his|her|their|my|your) own words|literally (?:say|said))\b|原话|原文|逐字|一字不差|原封不动",
    re.IGNORECASE,
)
_CITED = re.compile(r"\[\[((?:[^\]\[\n]|\[(?!\[))++)\]\]")
_CUT = "…"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a question wants: `subject` are its words without those that only ask and those of a time, `overview` that
    it wants a subject as a whole; `detail` names the kind of detail it wants, '' for none."""

    subject: str
    overview: bool
    detail: str
    period: Period | None
    quantity: bool
    verbatim: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether something suffices, and why, in words."""

    suffices: bool
    why: str


@dataclass(frozen=True, slots=True)
class Read:
    """A note, or a source of it, as it was read.

    `stated` says that it was found by a fact that is asked for, `timed` by the time that is, `cosine` how near its
    meaning is to the question's, `verbatim` that it stands in the words in which it was said.
    """

    note: MemoryNote
    text: str
    stated: bool = False
    timed: bool = False
    cosine: float = 0.0
    verbatim: bool = False

    @classmethod
    def of(cls, hit: Hit, note: MemoryNote, text: str) -> Read:
        """A hit, as it was read."""
        legs = {leg.leg: leg for leg in hit.explanation.legs}
        own = any(source.text.strip() == note.content.strip() for source in hit.sources)
        return cls(
            note,
            text,
            stated="facts" in hit.matched_by,
            timed="time" in legs and legs["time"].scaled >= 1.0,
            cosine=legs["dense"].raw if "dense" in legs else 0.0,
            verbatim=own,
        )


@dataclass(frozen=True, slots=True)
class PageLine:
    """A statement of a topic's page and the beginnings of the ids of the notes that it stands on."""

    text: str
    cites: tuple[str, ...]

    @property
    def whole(self) -> bool:
        """Whether it says all that its note says, as far as the line can tell."""
        return _CUT not in self.text


def wanted(reading: Reading) -> Wanted:
    """What a question wants, by its words."""
    text, period = reading.text, reading.period
    subject = reading.lexical
    if period is not None:
        subject = subject.replace(period.words, " ")
    # What is asked for "in the exact words" need not hold the word "exact".
    subject = _VERBATIM.sub(" ", subject).strip() or text
    verbatim = _VERBATIM.search(text) is not None
    quantity = QUANTITY.search(text) is not None
    kinds = {
        f"what was at a time ({period.words})" if period is not None else "": period is not None,
        "in which words something was said": verbatim,
        "a quantity": quantity,
        "a time": Intent.TEMPORAL in reading.intents and reading.recency is None,
        "what was said": _SAID.search(text) is not None,
    }
    detail = next((kind for kind, asked in kinds.items() if asked), "")
    overview = not detail and (reading.overview or reading.intents[0] is Intent.EXPLORATORY)
    return Wanted(subject, overview, detail, period, quantity, verbatim)


def lines_of(page: str) -> list[PageLine]:
    """The statements of a page that hold; what is struck through holds no longer."""
    found = []
    for line in page.splitlines():
        if line.startswith("- ") and not line.startswith("- ~~"):
            found.append(PageLine(_CITED.sub("", line[2:]).strip(), tuple(_CITED.findall(line))))
    return found


def page_suffices(
    asked: Wanted, page: MemoryNote, best: Hit | None, frequency: Mapping[str, int], total: int
) -> Verdict:
    """Whether a topic's page answers; `best` is the note that answers best, stating what is asked where any does."""
    if asked.detail:
        return Verdict(False, f"it sums up, and the question asks for a detail: {asked.detail}")
    weights = weights_of(asked.subject, frequency, total)
    lines = lines_of(page.content)
    if asked.overview:
        # A page that mentions a thing somewhere is not about it.
        of_it = sum(share_held(weights, line.text) >= HELD for line in lines)
        if share_held(weights, named(page)) >= HELD or of_it >= max(2, _ABOUT * len(lines)):
            return Verdict(True, "an overview is asked for, and the page is about its subject")
        return Verdict(False, "an overview is asked for, and the page is about something else")
    if best is None:
        return Verdict(False, "no note was found that answers")
    own = [line for line in lines if any(best.id.startswith(cite) for cite in line.cites)]
    if not own:
        return Verdict(False, "the note that answers best does not stand on it")
    if not all(line.whole for line in own):
        return Verdict(False, "it holds only a part of the note that answers best")
    held = max(share_held(weights, f"{named(page)}\n{line.text}") for line in own)
    if "facts" in best.matched_by and held >= HELD:
        return Verdict(True, "one line of it states what is asked")
    if held >= WHOLE:
        return Verdict(True, "one line of it holds all that is asked")
    return Verdict(False, "no line of it holds all that is asked")


def named(page: MemoryNote) -> str:
    """By what a page is called, and what it says it is about."""
    title = page.content.partition("\n")[0]
    return "\n".join([title, " ".join(page.keywords), " ".join(page.entities)])


def notes_suffice(asked: Wanted, read: Sequence[Read], frequency: Mapping[str, int], total: int) -> Verdict:
    """Whether any one note answers, as read; for an overview all of them together."""
    if not read:
        return Verdict(False, "nothing was read")
    weights = weights_of(asked.subject, frequency, total)
    if asked.overview:
        enough = share_held(weights, "\n".join(each.text for each in read)) >= HELD
        return Verdict(enough, "they speak of the subject" if enough else "they do not speak of the subject")
    near = [each for each in read if _speaks(asked, each, weights)]
    if not near:
        return Verdict(False, "none of them holds what is asked")
    if asked.period is not None and not (near := [each for each in near if _lies_in(each, asked.period)]):
        return Verdict(False, f"none of them is about that time ({asked.period.words})")
    if asked.quantity and not (near := [each for each in near if NUMBER.search(each.text)]):
        return Verdict(False, "none of them holds a number")
    if asked.verbatim and not (near := [each for each in near if each.verbatim]):
        return Verdict(False, "they are not in the words in which it was said")
    stated = any(each.stated for each in near)
    return Verdict(True, "one of them states what is asked" if stated else "one of them holds all that is asked")


def _speaks(asked: Wanted, read: Read, weights: Mapping[str, float]) -> bool:
    if read.stated:
        return True
    held = share_held(weights, f"{read.text}\n{read.note.speaker or ''}\n{' '.join(read.note.keywords)}")
    near = read.cosine >= CLOSE and not written_in_cjk(asked.subject)
    return held >= (HELD if near else WHOLE)


def _lies_in(read: Read, period: Period) -> bool:
    if read.timed or period.words.casefold() in read.text.casefold():
        return True
    return read.note.at is not None and _within(read.note.at, period)


def _within(at: datetime, period: Period) -> bool:
    first = period.since or period.until
    if period.yearless and first is not None:
        # 29 February has no place in other years.
        at = at.replace(year=first.year, day=min(at.day, 28) if at.month == 2 else at.day)
    return (period.since is None or at >= period.since) and (period.until is None or at < period.until)
