"""``amem why``: how an answer was found."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from amem.cli.invocation import invocation, tell
from amem.cli.options import Json, Ranking, Where, spreading
from amem.cli.render import (
    FOUND,
    cell_width,
    console,
    marked,
    on_terminal,
    one_line,
    print_json,
    print_wrapped,
    say_row,
    short_id,
    styled,
    when,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import tzinfo

    from rich.console import Console
    from rich.text import Text

    from amem.memory_system import AgenticMemorySystem
    from amem.note import MemoryNote
    from amem.query import Query
    from amem.retrieval.explanation import Explanation, LegShare, Lent


@spreading("minimum_confidence")
def why(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="The question.", show_default=False)],
    where: Where,
    ranking: Ranking,
    id: Annotated[str | None, typer.Argument(metavar="ID", help="The note to explain; default: every answer.")] = None,
    as_json: Json = False,
) -> None:
    """Explain why a note is, or is not, among the answers; without one, the answers side by side."""
    call = invocation(context)
    with call.browsed(as_json) if id is None else call.memory() as memory:
        asked = ranking.query(query, where, memory.settings.timezone, touch=False)
        if id is not None:
            _explain(memory, asked, memory.resolve(id, deleted=True), as_json)
        elif _compare(memory, asked, as_json) and not as_json:
            tell(f"one of them in full: {call.command('why', query, 'ID')}")


def _explain(memory: "AgenticMemorySystem", asked: "Query", id: str, as_json: bool) -> None:
    from amem.clock import zone

    found = memory.explain(asked, id)
    catalog = memory.catalog_of(id)
    if as_json:
        return print_json([_record(found, catalog)])
    named = [lent.id for leg in found.legs for lent in leg.lent]
    if found.kept_out is not None:
        named += found.kept_out.by[-1:]
    others = {other: note.content for other in named if (note := memory.read(other)) is not None}
    print_explanation(found, memory.read(id), zone(memory.settings.timezone), others, catalog=catalog)


def _compare(memory: "AgenticMemorySystem", asked: "Query", as_json: bool) -> bool:
    """Print the answers side by side; False when there are none."""
    from amem.clock import zone

    hits = memory.ask(asked)
    if as_json:
        print_json([_record(hit.explanation, hit.catalog) for hit in hits])
        return bool(hits)
    if not hits:
        tell("nothing found")
        return False
    notes = {hit.id: note for hit in hits if (note := memory.read(hit.id)) is not None}
    catalogs = {hit.id: hit.catalog for hit in hits if hit.is_catalog}
    print_comparison([hit.explanation for hit in hits], notes, zone(memory.settings.timezone), catalogs=catalogs)
    return True


def _record(found: "Explanation", catalog: str) -> dict[str, Any]:
    return {"content": found.content} | found.to_dict() | ({"catalog": catalog} if catalog else {})


# Why a note is, or is not, among the answers, as a terminal shows it: one in full, or all of them side by side.


#: Where what does not fit into columns of its own is put together.
_REST = "others"
#: Cells: of a name, a rank, the longest bar, an id and its gap, what comes before the columns; and the inner margin.
_NAME, _RANK, _BAR, _ID, _LEAD, _INDENT = 9, 5, 16, 10, 21, 18
#: From so many columns on there is room for everything; so many take a row without its bar; a text wants so many.
_WIDE, _NARROW, _READABLE = 72, 27, 30


def print_reasons(explanations: "Sequence[Explanation]", catalogs: "Mapping[str, str]") -> None:
    """For a pipe: ``id, score, content, words`` by tabs, a line each, and the catalog of a note that is in one."""
    for each in explanations:
        catalog = (catalogs[each.id],) if each.id in catalogs else ()
        say_row(short_id(each.id), f"{each.score:.3f}", each.content, each.words(), *catalog)


def print_explanation(
    why: "Explanation",
    note: "MemoryNote | None",
    zone: "tzinfo",
    others: "Mapping[str, str]",
    *,
    catalog: str = "",
    out: "Console | None" = None,
) -> None:
    """One note in full: what was asked, the sentence that matched, each leg's part, and the sum of them.

    `note` is None for one that was deleted. `others` holds the text of other notes by id: to show the turns that lent
    their words, and what took a superseded note's place. `catalog` is the one that the note is in.
    """
    if out is None and not on_terminal():
        print_reasons([why], {why.id: catalog} if catalog else {})
        return
    out = out or console()
    _print_reading(out, why)
    heading = styled((short_id(why.id), "bold cyan"))
    if note is not None:
        heading += styled(f"  {when(note.at, zone, minutes=False)}  {note.kind}  ")
        heading += styled((f"{catalog}  " if catalog else "", "magenta"))
        heading += styled((" ".join(f"#{tag}" for tag in note.tags), "green"))
    out.print(heading, overflow="ellipsis", no_wrap=True)
    print_wrapped(out, marked_passage(why), indent=2)
    if why.kept_out is not None:
        detail = why.kept_out.detail
        print_wrapped(out, styled((f"{detail[:1].upper()}{detail[1:]}.", "yellow")), indent=2)
        for id in why.kept_out.by:
            if id in others:
                print_wrapped(out, styled((f"{short_id(id)}: {one_line(others[id], 240)}", "dim")), indent=4)
    out.print()
    shares, linked = why.shares, why.linked_share
    most = max([*(part for _, part in shares), linked, 1e-9])
    for leg, part in shares:
        _print_leg(out, leg, part, most, ranked=why.place is not None)
        for lent in leg.lent:
            print_wrapped(out, _lent(lent, others.get(lent.id)), indent=_inner(out), hanging=2)
    if why.via:
        _print_row(out, "links", "", "", linked, most, why.via[0].words())
        for step in why.via[1:]:
            print_wrapped(out, styled((step.words(), "dim")), indent=_inner(out), hanging=2)
    if why.place is not None:
        _print_sum(out, why)
    print_remarks(why.notes, out=out)


def print_comparison(
    explanations: "Sequence[Explanation]",
    notes: "Mapping[str, MemoryNote]",
    zone: "tzinfo",
    *,
    catalogs: "Mapping[str, str] | None" = None,
    out: "Console | None" = None,
) -> None:
    """The answers side by side: a row of shares for each, which add up to its score, and the sentence that matched.

    `catalogs` names the catalog of each note that is in one, by its id.
    """
    catalogs = catalogs or {}
    if out is None and not on_terminal():
        print_reasons(explanations, catalogs)
        return
    out = out or console()
    _print_reading(out, explanations[0])
    # What is remarked of every answer is remarked of the ranking, and once is enough.
    remarks = [note for note in explanations[0].notes if all(note in why.notes for why in explanations)]
    rows = [_shares(why) for why in explanations]
    total = {head: sum(row.get(head, 0.0) for row in rows) for row in rows for head in row}
    heads = _fitting(total, out.width)
    lead = _LEAD if out.width >= _WIDE else _LEAD - _ID
    columns = "".join(f"{head:>{_column(head)}}" for head in heads)
    out.print(styled((f"{'score':>{lead}}{columns}", "dim")))
    for why, row in zip(explanations, rows, strict=True):
        shown = {head: row.get(head, 0.0) for head in heads}
        if _REST in shown:
            shown[_REST] = sum(share for head, share in row.items() if head not in heads)
        cells = "".join(f"{_figure(share):>{_column(head)}}" for head, share in shown.items())
        id = (f"{short_id(why.id):<{_ID}.8}", "cyan") if out.width >= _WIDE else ""
        out.print(styled(f"{why.place or '':>3}  ", id, (f"{why.score:6.3f}", "bold"), cells), soft_wrap=True)
        note = notes.get(why.id)
        said = "" if note is None else f"{when(note.at, zone, minutes=False)}  "
        catalog = f"{catalogs[why.id]}  " if why.id in catalogs else ""
        print_wrapped(out, styled((said, "dim"), (catalog, "magenta")) + marked_passage(why), indent=5)
        lent = [f"“{', '.join(each.words)}” from {each.where()}" for leg in why.legs for each in leg.lent]
        own = [*lent, *(step.words() for step in why.via), *(note for note in why.notes if note not in remarks)]
        print_remarks(own, out=out, indent=5)
    print_remarks(remarks, out=out)


def marked_passage(why: "Explanation") -> "Text":
    """The sentence that matched, on one line, its matched words marked; cut off where the note goes on."""
    return marked(why.passage, why.content)


def print_remarks(remarks: "Sequence[str]", *, out: "Console", indent: int = 2) -> None:
    """What is to be said of how an answer came about, a line each."""
    for remark in remarks:
        print_wrapped(out, styled((f"{remark[:1].upper()}{remark[1:]}.", "dim")), indent=indent)


def _print_reading(out: "Console", why: "Explanation") -> None:
    if why.reading is not None and (words := why.reading.words()):
        print_wrapped(out, styled((words, "dim")))
        out.print()


def _print_leg(out: "Console", leg: "LegShare", part: float, most: float, *, ranked: bool) -> None:
    from amem.retrieval.explanation import ordinal

    rank = "" if leg.rank is None else ordinal(leg.rank)
    own = f"{leg.scaled:.2f} × {leg.weight:.2f}" if leg.speaks else ""
    detail = leg.detail().split("; ")[0] if leg.matched else leg.detail()
    _print_row(out, leg.head, rank, own, part, most, detail, faint=not ranked)


def _print_row(
    out: "Console", head: str, rank: str, own: str, part: float, most: float, detail: str, *, faint: bool = False
) -> None:
    """One part of the score: by whom, in which place, worth how much of what, in a bar, and by what it was found."""
    wide = out.width >= _WIDE
    longest = _BAR if wide else max(0, min(_BAR // 2, out.width - _NARROW))
    bar = "█" * max(1, round(longest * part / most)) if part > 0 and longest else ""
    row = styled(
        f"  {head:<{_NAME}}{rank:>{_RANK}}",
        (f"  {own:>11}{' = ' if own else '   '}" if wide else "  ", "dim"),
        f"{_figure(part):>5}  ",
        (f"{bar:<{longest}}  ", "dim" if faint else "cyan"),
    )
    room = out.width - cell_width(row.plain)
    if cell_width(detail) <= room:
        out.print(row + styled((detail, "dim")), soft_wrap=True)
        return
    row.rstrip()
    out.print(row, soft_wrap=True)
    print_wrapped(out, styled((detail, "dim")), indent=_inner(out), hanging=2)


def _inner(out: "Console") -> int:
    """How far in what belongs to a row stands."""
    return _INDENT if out.width >= _INDENT + _READABLE else 4


def _print_sum(out: "Console", why: "Explanation") -> None:
    from amem.retrieval.explanation import ordinal

    prior = why.prior
    place = ordinal(why.place or 0) + (f" of {why.among:,}" if why.among else "")
    out.print()
    text = styled(
        f"{why.relevance:.3f} × freshness {prior.factor:.3f} = ",
        (f"{why.score:.3f}", "bold"),
        f", {place}",
        (f"  (freshness: {', '.join(prior.told())})", "dim"),
    )
    print_wrapped(out, text, indent=2, hanging=2)


def _shares(why: "Explanation") -> dict[str, float]:
    """What each leg, and links, gave to the score, by what they are headed."""
    found = {leg.head: leg.share for leg in why.legs if leg.share > 0}
    return found | ({"links": why.link_share} if why.link_share > 0 else {})


def _fitting(total: "Mapping[str, float]", width: int) -> list[str]:
    """The heads of the columns that fit, most telling last to go; the others come together under `_REST`."""
    room = width - (_LEAD if width >= _WIDE else _LEAD - _ID)
    kept = sorted(total, key=lambda head: -total[head])
    if sum(map(_column, kept)) > room:
        while kept and sum(map(_column, kept)) + _column(_REST) > room:
            kept.pop()
        kept.append(_REST)
    return kept


def _figure(share: float) -> str:
    return f"{share:.3f}" if share > 0 else "·"


def _column(head: str) -> int:
    return max(len(head), 5) + 2


def _lent(lent: "Lent", content: str | None) -> "Text":
    """Which turn lent words, and where it says them."""
    from amem.retrieval.highlight import passage

    where = styled((f"{lent.where()}: ", "dim"))
    if content is None:
        return where + styled((short_id(lent.id), "dim"))
    pieces = passage(content, lent.words).pieces()
    return where + styled(*((piece, FOUND if matched else "dim") for piece, matched in pieces))
