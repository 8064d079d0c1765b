"""Answers of a search and their explanations, as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.cli.render import console, on_terminal, one_line, print_wrapped, say, short_id, short_ids, styled
from amem.labels import title
from amem.retrieval.confidence import NOTHING_CERTAIN, Support, best_support

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from rich.console import Console
    from rich.text import Text

    from amem.note import Source
    from amem.retrieval import Hit
    from amem.retrieval.highlight import Passage

#: How words look that matched.
FOUND = "bold yellow"
_TITLE = 60


def print_hits(hits: Sequence[Hit], zone: tzinfo, *, out: Console | None = None) -> None:
    """Each hit with its score, text and reasons; in a pipe ``id, score, day, content, reasons, confidence`` by tabs.

    Where none of them surely answers, a line says so first, and those that hardly do are dim.
    """
    if out is None and not on_terminal():
        for hit in hits:
            why = " ".join((hit.explanation.words(), *(f"May be out of date: {each}." for each in hit.doubts)))
            said = said_on(hit, zone), hit.text, why, f"{hit.confidence:.2f}"
            say("\t".join(one_line(cell) for cell in (short_id(hit.id), f"{hit.score:.3f}", *said)))
        return
    out = out or console()
    if hits and best_support(hits) is not Support.STRONG:
        out.print(styled((NOTHING_CERTAIN, "yellow")))
    for place, hit in enumerate(hits, start=1):
        tags = " ".join(f"#{tag}" for tag in hit.tags)
        out.print(
            styled(
                (f"{place:>2}  ", "dim"),
                (f"{hit.score:.2f}  ", "bold"),
                (short_id(hit.id), "cyan"),
                f"  {said_on(hit, zone)}  {hit.kind}  ",
                (tags, "green"),
            ),
            overflow="ellipsis",
            no_wrap=True,
        )
        faint = "dim" if hit.support is Support.NONE else ""
        print_wrapped(out, shown(hit, faint), indent=4)
        for doubt in hit.doubts:
            print_wrapped(out, styled((f"may be out of date: {doubt}", "yellow")), indent=4)
        print_wrapped(out, styled((hit.explanation.words(), "dim")), indent=4)
        for source in hit.sources:
            if origin := origin_of(source):
                print_wrapped(out, styled((f"from {origin}", "dim")), indent=4)


def shown(hit: Hit, look: str = "") -> Text:
    """What a list of hits shows of one: `Hit.passage` with its matched words marked, behind its title if need be."""
    part = hit.passage
    head = title(hit.text, _TITLE) if hit.text[: part.start].strip() else ""
    return styled((f"{head}  " if head else "", "dim")) + marked(part, hit.text, look)


def marked(part: Passage, whole: str, look: str = "") -> Text:
    """A part of a text on one line, its matched words marked; with an ellipsis where the text goes on."""
    before, after = whole[: part.start].strip(), whole[part.end :].strip()
    pieces = [(piece, FOUND if matched else look) for piece, matched in part.pieces()]
    return styled(("… " if before else "", look), *pieces, (" …" if after else "", look))


def said_on(hit: Hit, zone: tzinfo) -> str:
    """The hit's day as the reader's calendar has it; the text as given when it is no time."""
    from amem.clock import parse_time
    from amem.errors import InvalidInput

    try:
        return parse_time(hit.timestamp, zone).astimezone(zone).strftime("%Y-%m-%d")
    except InvalidInput:
        return hit.timestamp


def origin_of(source: Source) -> str:
    """Where a source is: ``talk-1 D1:5, Ana``, ``3f2b1c9e 2:user, Ana``; empty when it does not say."""
    # The id of a chat's message begins with the chat's.
    ref = (source.ref or "").removeprefix(f"{source.conversation}:")
    place = short_ids(" ".join(part for part in (source.conversation, ref) if part))
    return ", ".join(part for part in (place, source.speaker) if part)
