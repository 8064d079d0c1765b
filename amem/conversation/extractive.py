"""An answer without a model: the fact that is asked for as a sentence, else the sentence of a note that fits best.

It is in the language of the question; a note that is quoted keeps its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.clock import zone
from amem.conversation.lines import lines_for
from amem.rendering import text_within
from amem.retrieval.confidence import Support, supporting, told_over
from amem.retrieval.highlight import passage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from amem.conversation.ports import Memory
    from amem.note import MemoryNote
    from amem.retrieval import Hit
    from amem.retrieval.slots import Filled
    from amem.truth.intervals import Interval

#: Backends that leave it open whether there is a model; that there is none is no failure then.
NAMES_NO_MODEL = frozenset(("auto", "offline"))
#: A longer note is quoted by the sentence that says most of what is asked.
_WHOLE = 200
#: So many slots are told of a question that asks for more.
_MOST_FACTS = 3


@dataclass(frozen=True, slots=True)
class Extract:
    """`text` as it is to be said, and the ids of the notes that it rests on, in the order of their numbers in it."""

    text: str
    notes: tuple[str, ...] = ()


def extract(
    memory: Memory,
    question: str,
    hits: Sequence[Hit],
    notes: Mapping[str, MemoryNote],
    support: Support,
    *,
    cite: bool,
) -> Extract:
    """What these hits, which give an answer this `support`, say to the question.

    With `cite`, hit number n (from 1) is cited as ``[n]``.
    """
    said = lines_for(question)
    hits = [hit for hit in hits if hit.id in notes]
    if support is Support.NONE or not hits:
        return Extract(said.not_in_memory)
    places = {hit.id: place for place, hit in enumerate(hits, start=1)}
    best = supporting(hits) or tuple(hit.id for hit in sorted(hits, key=lambda hit: -hit.confidence))

    def cited(ids: Iterable[str]) -> str:
        return " " + "".join(f"[{places[id]}]" for id in ids) if cite else ""

    if support is Support.STRONG:
        facts = [
            (slot, rest, ended)
            for slot, ended in _slots(memory.facts_asked(question))
            if (rest := [id for id in _rests_on(slot, notes, ended=ended) if id in places]) and set(rest) & set(best)
        ]
        if facts:
            sentences = []
            for slot, rest, ended in facts[:_MOST_FACTS]:
                fact = memory.wording(slot, chinese=bool(said.language))
                quote = f"{said.colon}{_quoted(memory, hits[places[rest[0]] - 1], notes[rest[0]])}" if ended else ""
                sentences.append(f"{fact}{quote}{cited(rest)}")
            rests = tuple(dict.fromkeys(id for _, rest, _ in facts[:_MOST_FACTS] for id in rest))
            text = said.semicolon.join(sentences) + said.stop
            return Extract(f"{text[:1].upper()}{text[1:]}", rests)
    quote = _quoted(memory, hits[places[best[0]] - 1], notes[best[0]])
    lead = "" if support is Support.STRONG else said.nearest
    return Extract(f"{lead}{quote}{cited(best[:1])}", best[:1])


def _slots(filled: Filled) -> list[tuple[list[Interval], bool]]:
    """The facts of each subject and predicate, and whether they have ended."""
    slots: dict[tuple[str, str, bool], list[Interval]] = {}
    for ended, found in ((False, filled.facts), (True, filled.ended)):
        for each in found:
            slots.setdefault((each.subject, each.predicate, ended), []).append(each)
    return [(slot, ended) for (_, _, ended), slot in slots.items()]


def _rests_on(slot: Sequence[Interval], notes: Mapping[str, MemoryNote], *, ended: bool) -> Iterable[str]:
    """The notes that state it; of what has ended those that say so, or where that is presumed, said what was."""
    return dict.fromkeys(id for each in slot for id in (told_over(each, notes) if ended else each.notes))


def _quoted(memory: Memory, hit: Hit, note: MemoryNote) -> str:
    """The sentence of a note that says most of what is asked, with who said it and when."""
    text = " ".join(text_within(note, lambda whole: len(whole) <= _WHOLE).split())
    if len(text) > _WHOLE:
        why = hit.explanation
        found = passage(text, why.matched) if note.overturned else why.passage
        text = " ".join(found.text.split())
    day = f"{note.at.astimezone(zone(memory.settings.timezone)):%Y-%m-%d}" if note.at else ""
    told = ", ".join(filter(None, (note.speaker or "", day)))
    return f"“{text}”{f' ({told})' if told else ''}"
