"""Why the note is, or is not, among the hits of the search that is on; without one, what the note rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from amem.retrieval.expansion import READS, ground, resting
from amem.retrieval.explanation import ordinal
from amem_tui.browse.pane.page_blocks import Block, ToNote
from amem_tui.browse.pane.tab_pages import MOST, bar, card_title, entry, heading, say, space
from amem_tui.phrases import clean, maker, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from amem.memory_system import AgenticMemorySystem
    from amem.note import Link
    from amem.retrieval.expansion import Ancestor
    from amem.retrieval.explanation import Explanation, LegShare
    from amem.storage.note_lists import Card
    from amem_tui.browse.pane.page_blocks import Part
    from amem_tui.browse.pane.tab_pages import Asked

_NO_GROUND = """No link says what this note rests on.

Search (/) and this page tells why the note is found, leg by leg."""
_DEPTH = 5


def read(memory: AgenticMemorySystem, asked: Asked) -> list[Part]:
    """The explanation of a hit, or the ground of a note."""
    if asked.question:
        why = memory.explain(asked.question, asked.note.id)
        named = [lent.id for leg in why.legs for lent in leg.lent] + [step.from_id for step in why.via]
        named += why.kept_out.by if why.kept_out is not None else ()
        return list(_explained(why, memory.cards_of(list(dict.fromkeys(named)))))
    found = memory.ancestors(asked.note.id, _DEPTH)
    if not found:
        return [say(line) for line in _NO_GROUND.splitlines()]
    below: dict[str, list[tuple[Link, Ancestor | None]]] = {}
    for each in found[:MOST]:
        below.setdefault(each.before, []).append((each.link, each))
    for each in found[:MOST]:
        for link in each.also:
            below.setdefault(resting(link), []).append((link, None))
    cards = memory.cards_of([each.id for each in found[:MOST]])
    return [heading("It rests on"), *_tree(asked.note.id, below, cards)]


def _tree(
    root: str, below: Mapping[str, Sequence[tuple[Link, Ancestor | None]]], cards: Mapping[str, Card]
) -> Iterator[Part]:
    """What is nearest first, and below each what that rests on in turn; what several rest on is told once."""
    waiting = [(link, each, 0) for link, each in reversed(below.get(root, ()))]
    while waiting:
        link, each, hop = waiting.pop()
        other = ground(link)
        head = Content.assemble((f"{READS[link.type]} ", "$secondary"), card_title(cards.get(other), other))
        told = Content.styled("told above or below", "$muted italic") if each is None else _because(link)
        yield entry(head, ToNote(other), told, indent=2 * hop)
        if each is not None:
            waiting += [(link, under, hop + 1) for link, under in reversed(below.get(other, ()))]


def _because(link: Link) -> Content:
    reason = f"  {one_line(link.reason, 200)}" if link.reason else ""
    return Content.assemble(maker(link.made_by), (reason, "$muted"))


def _explained(why: Explanation, cards: Mapping[str, Card]) -> Iterator[Part]:
    place = "" if why.place is None else f"{ordinal(why.place)} of {why.among:,}" if why.among else ordinal(why.place)
    if why.kept_out is not None:
        detail = clean(why.kept_out.detail)
        yield say(f"Not among the hits: {detail}", "$warning")
        for id in why.kept_out.by:
            yield entry(card_title(cards.get(id), id), ToNote(id))
    else:
        yield Block(Content.assemble((f"{why.score:.2f} ", "bold"), bar(why.score), (f"  {place}", "$muted")))
    yield from _passage(why)
    shares, linked = why.shares, why.linked_share
    most = max([*(share for _, share in shares), linked, 1e-9])
    yield space()
    for leg, share in shares:
        yield _leg(leg, share, most)
        for lent in leg.lent:
            said = Content.assemble((f"{lent.where()}: ", "$muted"), card_title(cards.get(lent.id), lent.id))
            yield entry(said, ToNote(lent.id), indent=6)
    if why.via:
        yield _row("links", "", linked, most, clean(why.via[0].words()))
        for step in why.via:
            yield entry(card_title(cards.get(step.from_id), step.from_id), ToNote(step.from_id), indent=6)
    if why.place is not None:
        told = f"  (freshness: {', '.join(why.prior.told())})"
        total = f"{why.relevance:.3f} × freshness {why.prior.factor:.3f} = "
        yield space()
        yield Block(Content.assemble((total, "$muted"), (f"{why.score:.3f}", "bold"), (told, "$muted")))
    if why.reading is not None and (words := why.reading.words()):
        yield space()
        yield say(clean(words))
    for note in why.notes:
        yield say(clean(f"{note[:1].upper()}{note[1:]}."))


def _passage(why: Explanation) -> Iterator[Part]:
    part = why.passage
    # As long as it was, so that its marks stay where they are.
    text = Content("".join(char if char.isprintable() else " " for char in part.text))
    if part.text:
        for start, end in part.spans:
            text = text.stylize("bold $accent", start, end)
        before = "… " if why.content[: part.start].strip() else ""
        after = " …" if why.content[part.end :].strip() else ""
        edge = Content.styled("│ ", "$foreground 25%")
        yield Block(Content.assemble((before, "$muted"), text, (after, "$muted")), first=edge, rest=edge)


def _leg(leg: LegShare, share: float, most: float) -> Block:
    rank = "" if leg.rank is None else ordinal(leg.rank)
    detail = leg.detail().split("; ")[0] if leg.matched else leg.detail()
    sum_of = f" ({leg.scaled:.2f} × {leg.weight:.2f})" if leg.speaks else ""
    return _row(leg.head, rank, share, most, one_line(f"{detail}{sum_of}", 200))


def _row(head: str, rank: str, share: float, most: float, detail: str) -> Block:
    """Who gave how much of the score, and for what."""
    figure = f"{share:.3f}" if share > 0 else "  ·  "
    first = Content.assemble((f"{head:<8}", "$secondary"), (f"{rank:>5} ", "$muted"), figure, " ", bar(share / most, 6))
    return Block(Content.assemble(first, ("  ", ""), (detail, "$muted")), rest=Content(" " * 6))
