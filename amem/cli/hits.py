"""Answers of a search and their explanations, as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.cli.render import console, on_terminal, one_line, print_wrapped, short_id, short_ids, styled

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from rich.console import Console

    from amem.note import Source
    from amem.retrieval import Explanation, Hit

_BAR = 24


def print_hits(hits: Sequence[Hit], zone: tzinfo, *, out: Console | None = None) -> None:
    """Each hit with its score, text and reasons; in a pipe ``id, score, day, content, reasons`` by tabs."""
    if out is None and not on_terminal():
        for hit in hits:
            cells = (short_id(hit.id), f"{hit.score:.3f}", said_on(hit, zone), hit.content, hit.explanation.words())
            print("\t".join(one_line(cell) for cell in cells))
        return
    out = out or console()
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
        print_wrapped(out, styled(one_line(hit.content, 400)), indent=4)
        print_wrapped(out, styled((hit.explanation.words(), "dim")), indent=4)
        for source in hit.sources:
            if origin := origin_of(source):
                print_wrapped(out, styled((f"from {origin}", "dim")), indent=4)


def print_explanation(content: str, explanation: Explanation) -> None:
    """Why a note has its score: every leg's share, the links, the prior."""
    if not on_terminal():
        cells = (short_id(explanation.id), f"{explanation.score:.3f}", content, explanation.words())
        print("\t".join(one_line(cell) for cell in cells))
        return
    out = console()
    place = "not an answer" if explanation.kept_out else f"place {explanation.place}"
    out.print(styled((short_id(explanation.id), "bold cyan"), f"  {explanation.score:.3f}  {place}"))
    print_wrapped(out, styled(one_line(content, 240)), indent=4)
    print_wrapped(out, styled((explanation.words(), "italic")), indent=4)
    most = max([leg.share for leg in explanation.legs] + [explanation.link_share, 1e-9])
    for leg in explanation.legs:
        rank = "not found" if leg.rank is None else f"rank {leg.rank}"
        detail = f"  {', '.join(leg.matched)}" if leg.matched else ""
        _share(out, leg.leg, leg.share, most, f"{rank:<10} {leg.raw:8.3f}{detail}")
    if explanation.via:
        _share(out, "links", explanation.link_share, most, explanation.via[0].words())
    prior = explanation.prior
    words = (
        f"relevance {explanation.relevance:.3f} times {prior.factor:.3f} "
        f"(retention {prior.retention:.2f}, trust {prior.trust:.2f}, floor {prior.floor:.2f})"
    )
    print_wrapped(out, styled((words, "dim")), indent=4)
    out.print()


def said_on(hit: Hit, zone: tzinfo) -> str:
    """The hit's day as the reader's calendar has it; the text as given when it is no time."""
    from amem.clock import parse_time
    from amem.errors import InvalidInput

    try:
        return parse_time(hit.timestamp, zone).astimezone(zone).strftime("%Y-%m-%d")
    except InvalidInput:
        return hit.timestamp


def origin_of(source: Source) -> str:
    """Where a source is: ``conv-26 D1:5, Caroline``, ``3f2b1c9e 2:user, Ana``; empty when it does not say."""
    # The id of a chat's message begins with the chat's.
    ref = (source.ref or "").removeprefix(f"{source.conversation}:")
    place = short_ids(" ".join(part for part in (source.conversation, ref) if part))
    return ", ".join(part for part in (place, source.speaker) if part)


def _share(out: Console, name: str, share: float, most: float, detail: str) -> None:
    bar = "█" * round(_BAR * share / most) if share > 0 else ""
    out.print(
        styled(f"    {name:<8}{share:6.3f} ", (f"{bar:<{_BAR}} ", "cyan"), (detail, "dim")),
        overflow="ellipsis",
        no_wrap=True,
    )
