"""What is said of the chosen node below the picture: whose it is, and why it is linked to what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from amem.note import Status
from amem.storage.reach import TELLING
from amem_tui.cells import fit
from amem_tui.graph.types import COLOURS, called
from amem_tui.phrases import GLYPHS, day, maker, one_line, plural, title

if TYPE_CHECKING:
    from datetime import tzinfo

    from amem.maintenance.topics.topic import TopicMap
    from amem.neighbourhood import LocalGraph
    from amem.note import Link

_NAMED = 46
#: From this width on the first line has room for more than the date.
_ROOMY = 70


def about_note(graph: LocalGraph, id: str, zone: tzinfo, width: int) -> Content:
    """Its title and date in `width` cells, then its links to what is drawn: to the centre first, then the telling."""
    card = graph.cards[id]
    about: list[Content | str | tuple[str, str]] = [(f"  {day(card.at, zone).strip()}", "$muted")]
    if width >= _ROOMY:
        about += [(f"  {card.kind}", "$muted"), "  ", maker(card.author)]
    if card.status is not Status.ACTIVE:
        about.append((f"  {card.status}", "$warning"))
    if card.pinned:
        about.append(("  ▪ pinned", "$accent"))
    said = Content.assemble(*about)
    name = title(card.text)
    shown = fit(name, max(8, min(cell_len(name), width - said.cell_length - 2)))
    head = Content.assemble((f"{GLYPHS[card.kind]} ", "$secondary"), (shown, "bold"), said)
    mine = [link for link in graph.links if id in (link.source, link.target)]
    mine.sort(
        key=lambda link: (graph.centre not in (link.source, link.target), TELLING.index(link.type), -link.confidence)
    )
    lines = [head, *(_link(graph, link, id) for link in mine)]
    if not mine and not card.links:
        lines.append(Content.styled("Nothing is linked to this note yet.", "$muted"))
    elif not mine:
        lines.append(Content.styled("It has no link of the types that are shown.", "$muted"))
    elif card.links > len(mine):
        more = plural(card.links - len(mine), "more link")
        lines.append(Content.styled(f"{more}, to notes that are not drawn", "$muted"))
    return Content("\n").join(lines)


def about_topic(seen: TopicMap, id: str, zone: tzinfo) -> Content:
    """What a topic is about, how many notes it has, and what it has most in common with."""
    names = {topic.id: topic.name for topic in seen.topics}
    topic = next((each for each in seen.topics if each.id == id), None)
    if topic is None:
        return Content.assemble(
            ("Notes in no topic", "bold"),
            (f"  {plural(seen.loose, 'note')}\n", "$muted"),
            ("Maintenance finds topics where notes hang together (Health, H).", "$muted"),
        )
    found = "declared" if topic.declared else "found by its links"
    lines = [
        Content.assemble(
            (f"# {one_line(topic.name)}", "bold"),
            (f"  {plural(topic.notes, 'note')}  {found}  {day(topic.updated, zone).strip()}", "$muted"),
        )
    ]
    if topic.summary:
        lines.append(Content(one_line(topic.summary, 400)))
    for (one, other), number in sorted(seen.ties.items(), key=lambda tie: -tie[1]):
        if id in (one, other):
            there = names[other if one == id else one]
            lines.append(Content.assemble(("— ", "$muted"), one_line(there, _NAMED), (f"  {_tied(number)}", "$muted")))
    return Content("\n").join(lines)


def _tied(number: int) -> str:
    return "1 link or shared note" if number == 1 else f"{number:,} links and shared notes"


def _link(graph: LocalGraph, link: Link, id: str) -> Content:
    out = link.source == id
    other = graph.cards[link.target if out else link.source]
    # A related note is related either way; of all others it matters which is which.
    way = "→" if out else "←"
    parts: list[Content | str | tuple[str, str]] = [
        (f"{way} {called(link.type)}  ", COLOURS[link.type]),
        one_line(title(other.text), _NAMED),
    ]
    if link.reason:
        parts.append((f"  “{one_line(link.reason, 240)}”", "$muted"))
    return Content.assemble(*parts, "  ", maker(link.made_by), (f"  {link.confidence:.0%}", "$muted"))
