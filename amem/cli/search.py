"""Finding notes: the answers, why they are the answers, what is known about a question, and what a note rests on."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from amem.checks import is_wordless
from amem.cli.command import (
    Drawing,
    Id,
    MinimumCosine,
    MinimumScore,
    Question,
    Ranking,
    Shown,
    Where,
    argument,
    command,
    not_empty,
    option,
)
from amem.cli.invocation import Invocation, inform, tell
from amem.cli.render import (
    FOUND,
    Page,
    cell_width,
    draw_hits,
    folded,
    hit_row,
    marked,
    on_terminal,
    one_line,
    say,
    styled,
    tagged,
    when,
)
from amem.clock import zone
from amem.labels import counted, short_id, short_ids
from amem.note import Link, MemoryNote, Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import tzinfo

    from rich.text import Text

    from amem.memory_system import AgenticMemorySystem
    from amem.query import Query
    from amem.retrieval.context import Context
    from amem.retrieval.expansion import Ancestor
    from amem.retrieval.explanation import Explanation, LegShare, Lent
    from amem.retrieval.tiers import Tiers


@command()
def search(
    call: Invocation,
    query: Question,
    where: Where,
    ranking: Ranking,
    touch: Annotated[bool, option("", "Count the answers as used, which keeps them from fading.")] = True,
    group_by: Annotated[
        str | None, option("", "Spread the answers over sessions or topics: session or topic.", show_default=False)
    ] = None,
) -> Shown:
    """Find notes by meaning, words, names and links, best first."""
    with call.browsed() as memory:
        settings, passages = memory.settings, not call.as_json and on_terminal()
        more = {"touch": touch, "passages": passages, "group_by": group_by}
        asked = ranking.query(" ".join(query), where, settings.timezone, **more)
        hits = memory.ask(asked)
        blank = not hits and not memory.catalogs and not memory.log(limit=1)
    local = zone(settings.timezone)
    told = [] if hits else [call.without_notes(settings) if blank else "nothing found"]
    if not hits and not blank and is_wordless(asked.text):
        told = [f"nothing found, as the question holds no word; {call.command('list')} shows every note"]
    if hits and group_by and not any(hit.group is not None and hit.group.id for hit in hits):
        told = [f"none of these is of a {group_by}, so they are listed as without --group-by"]
    return Drawing(hits, (hit_row(hit, local) for hit in hits), lambda page: draw_hits(page, hits, local), told=told)


@command()
def context(
    call: Invocation,
    query: Question,
    where: Where,
    budget: Annotated[int | None, option("--budget -b", "Most tokens; default: setting context_tokens.", min=0)] = None,
    order: Annotated[
        str | None, option("", "By time (oldest first) or relevance; default: setting context_order.")
    ] = None,
    core: Annotated[bool, option("", "Begin with the notes that are always shown; --tiers never does.")] = True,
    tiers: Annotated[
        bool, option("--tiers", "Read topics first, then notes, then sources, until it suffices.")
    ] = False,
    ask_model: Annotated[
        bool, option("--ask-model", "With --tiers: let the language model say whether it suffices.")
    ] = False,
    tokenizer: Annotated[
        str | None, option("", "Model whose tokens are counted, or a tokenizer.json; default: the settings'.")
    ] = None,
    minimum: MinimumScore = None,
    minimum_cosine: MinimumCosine = None,
    touch: Annotated[bool, option("", "Count what is placed as used, which keeps it from fading.")] = True,
) -> Shown | None:
    """Print what is known about a question, within a budget of tokens, for a prompt."""
    from amem.query import Query

    if ask_model and not tiers:
        raise typer.BadParameter("--ask-model goes with --tiers")
    with call.browsed(empty={}) as memory:
        wanted = where.filter(memory.settings.timezone, minimum_cosine=minimum_cosine)
        text = not_empty(" ".join(query), "say what a prompt is to know about")
        asked = Query(text, 0, wanted, touch=touch, minimum_score=minimum)
        found: Context | Tiers
        if tiers:
            found = memory.recall_tiers(asked, budget, order=order, ask_model=ask_model, tokenizer=tokenizer)
        else:
            found = memory.context(asked, budget, order=order, core=core, tokenizer=tokenizer)
    if call.as_json:
        return Shown(found)
    if found.text:
        say(found.text)
    _tell_of(found)
    return None


def _tell_of(found: "Context | Tiers") -> None:
    """On stderr, as the text goes to another program."""
    from amem.retrieval.tiers import Tiers

    if isinstance(found, Tiers):
        for tier in found.tiers:
            by = f" (says {tier.judged_by})" if tier.judged_by else ""
            enough = "enough" if tier.suffices else "not enough"
            inform(
                f"{tier.name}: {counted(len(tier.read), 'text')} read, {tier.tokens} tokens, {enough}: {tier.why}{by}"
            )
    left_out = () if isinstance(found, Tiers) else found.left_out
    if found.text:
        left = f", {len(left_out)} left out" if left_out else ""
        support = "" if isinstance(found, Tiers) else f"; support for an answer: {found.support}"
        return inform(f"{found.tokens} of {found.budget} tokens by {found.counted_by}{left}{support}")
    fitting = sum(each.reason == "budget" for each in left_out)
    tell(f"no room for any of {counted(fitting, 'note')}: give a larger --budget" if fitting else "nothing found")


# ``amem why``: one answer in full, or all of them side by side.


#: Where what does not fit into columns of its own is put together.
_REST = "others"
#: Cells: of a name, a rank, the longest bar, an id and its gap, what comes before the columns; and the inner margin.
_NAME, _RANK, _BAR, _ID, _LEAD, _INDENT = 14, 5, 16, 10, 21, 18
#: From so many columns on there is room for everything; so many take a row without its bar; a text wants so many.
_WIDE, _NARROW, _READABLE = 72, 32, 30


@command("minimum_confidence")
def why(
    call: Invocation,
    query: Annotated[str, argument("", "The question.")],
    where: Where,
    ranking: Ranking,
    id: Annotated[str | None, argument("ID", "The note to explain; default: every answer.", show_default=True)] = None,
) -> Shown:
    """Explain why a note is, or is not, among the answers; without one, the answers side by side."""
    with call.browsed() if id is None else call.memory() as memory:
        asked = ranking.query(query, where, memory.settings.timezone, touch=False)
        local = zone(memory.settings.timezone)
        if id is not None:
            return _explained(memory, asked, memory.resolve(id, deleted=True), local)
        hits = memory.ask(asked)
        notes = {hit.id: note for hit in hits if (note := memory.read(hit.id)) is not None}
    catalogs = {hit.id: hit.catalog for hit in hits if hit.is_catalog}
    found = [hit.explanation for hit in hits]
    return Drawing(
        [_record(hit.explanation, hit.catalog) for hit in hits],
        (_reasons(each, catalogs.get(each.id, "")) for each in found),
        lambda page: draw_comparison(page, found, notes, local, catalogs) if found else None,
        told=[f"one of them in full: {call.command('why', query, 'ID')}" if hits else "nothing found"],
    )


def _explained(memory: "AgenticMemorySystem", asked: "Query", id: str, local: "tzinfo") -> Shown:
    found, catalog, note = memory.explain(asked, id), memory.catalog_of(id), memory.read(id)
    named = [lent.id for leg in found.legs for lent in leg.lent]
    if found.kept_out is not None:
        named += found.kept_out.by[-1:]
    others = {other: held.content for other in named if (held := memory.read(other)) is not None}
    return Drawing(
        [_record(found, catalog)],
        [_reasons(found, catalog)],
        lambda page: draw_explanation(page, found, note, local, others, catalog),
    )


def _record(found: "Explanation", catalog: str) -> dict[str, Any]:
    return {"content": found.content} | found.to_dict() | ({"catalog": catalog} if catalog else {})


def _reasons(found: "Explanation", catalog: str) -> tuple[str, ...]:
    return (short_id(found.id), f"{found.score:.3f}", found.content, found.words(), *([catalog] if catalog else []))


def draw_explanation(
    page: Page,
    why: "Explanation",
    note: "MemoryNote | None",
    zone: "tzinfo",
    others: "Mapping[str, str]",
    catalog: str = "",
) -> None:
    """One note in full: what was asked, the sentence that matched, each leg's part, and the sum of them.

    `note` is None for one that was deleted. `others` holds the text of other notes by id: to show the turns that lent
    their words, and what took a superseded note's place. `catalog` is the one that the note is in.
    """
    _draw_reading(page, why)
    heading = styled((short_id(why.id), "bold cyan"))
    if note is not None:
        heading += styled(f"  {when(note.at, zone, minutes=False)}  {note.kind}  ")
        heading += styled((f"{catalog}  " if catalog else "", "magenta"), (tagged(note.tags), "green"))
    page.clipped(heading)
    page.write(marked(why.passage, why.content), indent=2)
    if why.kept_out is not None:
        page.write((_sentence(why.kept_out.detail), "yellow"), indent=2)
        for id in why.kept_out.by:
            if id in others:
                page.write((f"{short_id(id)}: {one_line(others[id], 240)}", "dim"), indent=4)
    page.line()
    shares, linked = why.shares, why.linked_share
    most = max([*(part for _, part in shares), linked, 1e-9])
    for leg, part in shares:
        _draw_leg(page, leg, part, most, ranked=why.place is not None)
        for lent in leg.lent:
            page.write(_lent(lent, others.get(lent.id)), indent=_inner(page), hanging=2)
    if why.via:
        _draw_row(page, "links", "", "", linked, most, why.via[0].words())
        for step in why.via[1:]:
            page.write((step.words(), "dim"), indent=_inner(page), hanging=2)
    if why.place is not None:
        _draw_sum(page, why)
    _draw_remarks(page, why.notes)


def draw_comparison(
    page: Page,
    explanations: "Sequence[Explanation]",
    notes: "Mapping[str, MemoryNote]",
    zone: "tzinfo",
    catalogs: "Mapping[str, str]",
) -> None:
    """The answers side by side: a row of shares for each, which add up to its score, and the sentence that matched.

    `catalogs` names the catalog of each note that is in one, by its id.
    """
    _draw_reading(page, explanations[0])
    # What is remarked of every answer is remarked of the ranking, and once is enough.
    remarks = [note for note in explanations[0].notes if all(note in why.notes for why in explanations)]
    rows = [_shares(why) for why in explanations]
    total = {head: sum(row.get(head, 0.0) for row in rows) for row in rows for head in row}
    wide = page.width >= _WIDE
    lead = _LEAD if wide else _LEAD - _ID
    heads = _fitting(total, page.width - lead)
    columns = "".join(f"{head:>{_column(head)}}" for head in heads)
    page.line((f"{'score':>{lead}}{columns}", "dim"))
    for why, row in zip(explanations, rows, strict=True):
        shown = {head: row.get(head, 0.0) for head in heads}
        if _REST in shown:
            shown[_REST] = sum(share for head, share in row.items() if head not in heads)
        cells = "".join(f"{_figure(share):>{_column(head)}}" for head, share in shown.items())
        id = (f"{short_id(why.id):<{_ID}.8}", "cyan") if wide else ""
        page.whole(f"{why.place or '':>3}  ", id, (f"{why.score:6.3f}", "bold"), cells)
        note = notes.get(why.id)
        said = "" if note is None else f"{when(note.at, zone, minutes=False)}  "
        catalog = f"{catalogs[why.id]}  " if why.id in catalogs else ""
        page.write((said, "dim"), (catalog, "magenta"), marked(why.passage, why.content), indent=5)
        lent = [f"“{', '.join(each.words)}” from {each.where()}" for leg in why.legs for each in leg.lent]
        own = [*lent, *(step.words() for step in why.via), *(note for note in why.notes if note not in remarks)]
        _draw_remarks(page, own, indent=5)
    _draw_remarks(page, remarks)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _draw_remarks(page: Page, remarks: "Sequence[str]", *, indent: int = 2) -> None:
    for remark in remarks:
        page.write((_sentence(remark), "dim"), indent=indent)


def _draw_reading(page: Page, why: "Explanation") -> None:
    if why.reading is not None and (words := why.reading.words()):
        page.write((words, "dim"))
        page.line()


def _draw_leg(page: Page, leg: "LegShare", part: float, most: float, *, ranked: bool) -> None:
    from amem.retrieval.explanation import ordinal

    rank = "" if leg.rank is None else ordinal(leg.rank)
    own = f"{leg.scaled:.2f} × {leg.weight:.2f}" if leg.speaks else ""
    detail = leg.detail().split("; ")[0] if leg.matched else leg.detail()
    _draw_row(page, leg.head, rank, own, part, most, detail, faint=not ranked)


def _draw_row(
    page: Page, head: str, rank: str, own: str, part: float, most: float, detail: str, *, faint: bool = False
) -> None:
    """One part of the score: by whom, in which place, worth how much of what, in a bar, and by what it was found."""
    wide = page.width >= _WIDE
    longest = _BAR if wide else max(0, min(_BAR // 2, page.width - _NARROW))
    bar = "█" * max(1, round(longest * part / most)) if part > 0 and longest else ""
    row = styled(
        f"  {head:<{_NAME}}{rank:>{_RANK}}",
        (f"  {own:>11}{' = ' if own else '   '}" if wide else "  ", "dim"),
        f"{_figure(part):>5}  ",
        (f"{bar:<{longest}}  ", "dim" if faint else "cyan"),
    )
    if cell_width(detail) <= page.width - cell_width(row.plain):
        return page.whole(row, (detail, "dim"))
    row.rstrip()
    page.whole(row)
    page.write((detail, "dim"), indent=_inner(page), hanging=2)


def _inner(page: Page) -> int:
    """How far in what belongs to a row stands."""
    return _INDENT if page.width >= _INDENT + _READABLE else 4


def _draw_sum(page: Page, why: "Explanation") -> None:
    from amem.retrieval.explanation import ordinal

    prior = why.prior
    place = ordinal(why.place or 0) + (f" of {why.among:,}" if why.among else "")
    page.line()
    page.write(
        f"{why.relevance:.3f} × freshness {prior.factor:.3f} = ",
        (f"{why.score:.3f}", "bold"),
        f", {place}",
        (f"  (freshness: {', '.join(prior.told())})", "dim"),
        indent=2,
        hanging=2,
    )


def _shares(why: "Explanation") -> dict[str, float]:
    """What each leg, and links, gave to the score, by what they are headed."""
    found = {leg.head: leg.share for leg in why.legs if leg.share > 0}
    return found | ({"links": why.link_share} if why.link_share > 0 else {})


def _fitting(total: "Mapping[str, float]", room: int) -> list[str]:
    """The heads of the columns that fit, most telling last to go; the others come together under `_REST`."""
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
    from amem.retrieval.explanation import passage

    where = styled((f"{lent.where()}: ", "dim"))
    if content is None:
        return where + styled((short_id(lent.id), "dim"))
    pieces = passage(content, lent.words).pieces()
    return where + styled(*((piece, FOUND if matched else "dim") for piece, matched in pieces))


# ``amem trace``: what a note rests on, as a tree on a terminal.


#: Longer texts and reasons are cut, so that the tree stays one; so many cells are left for words.
_CHARS, _LEAST = 240, 20


@command()
def trace(
    call: Invocation, id: Id, depth: Annotated[int, option("--depth -d", "How many links to follow.", min=0)] = 5
) -> Shown:
    """Show what a note is based on: its causes, what it was derived from, what supports it, and theirs."""
    with call.memory() as memory:
        full = memory.resolve(id)
        note = memory.read(full)
        # One link more, to tell whether there would be more to see.
        found = memory.ancestors(full, depth + 1)
        local = zone(memory.settings.timezone)
    assert note is not None
    shown = [each for each in found if each.hop <= depth]
    told = [] if found else ["no link says what it is based on"]
    if deeper := len(found) - len(shown):
        rest = f"{counted(deeper, 'note')} {'lies' if deeper == 1 else 'lie'} one link further"
        told.append(f"{rest}: {call.command('trace', short_id(full), '--depth', str(depth + 1))}")
    return Drawing(shown, _steps(shown, local), lambda page: _draw_tree(page, note, shown, local), told=told)


def _steps(found: "Sequence[Ancestor]", local: "tzinfo") -> "Iterator[tuple[object, ...]]":
    """Hop, id, how it is tied, the id of what rests on it, day, status, text, reason."""
    from amem.rendering import text_of
    from amem.retrieval.expansion import READS

    for each in found:
        note = each.note
        tie = (each.hop, short_id(each.id), READS[each.link.type], short_id(each.before))
        of = ("", "missing", "") if note is None else (_day(note, local), note.status, text_of(note))
        yield (*tie, *of, short_ids(each.reason))


def _draw_tree(page: Page, root: "MemoryNote", found: "Sequence[Ancestor]", local: "tzinfo") -> None:
    """The note, and below each note what it rests on. What several rest on is told once and named by the others."""
    from amem.rendering import text_of
    from amem.retrieval.expansion import resting

    below: dict[str, list[tuple[Link, Ancestor | None]]] = {}
    for each in found:
        below.setdefault(each.before, []).append((each.link, each))
    for each in found:
        for link in each.also:
            below.setdefault(resting(link), []).append((link, None))

    def bar(id: str) -> str:
        return "│  " if below.get(id) else ""

    def branches(id: str, stem: str) -> "list[tuple[Link, Ancestor | None, str, bool]]":
        """What the note rests on, last first, each with what stands before it and whether it is the last."""
        of = below.get(id, [])
        return [(*each, stem, each is of[-1]) for each in reversed(of)]

    head = styled((short_id(root.id), "bold cyan"), f"  {_day(root, local)}  {root.kind}", _standing(root))
    _draw_branch(page, [head, styled(one_line(text_of(root), _CHARS))], "", bar(root.id))
    # No recursion: a chain of causes may be longer than Python's stack.
    told: set[str] = set()
    waiting = branches(root.id, "")
    while waiting:
        link, ancestor, stem, last = waiting.pop()
        following = stem + ("   " if last else "│  ")
        texts = _cause(link, ancestor, told, local)
        _draw_branch(page, texts, stem + ("└─ " if last else "├─ "), following + (bar(ancestor.id) if ancestor else ""))
        if ancestor is not None:
            told.add(ancestor.id)
            waiting += branches(ancestor.id, following)


def _cause(link: "Link", ancestor: "Ancestor | None", told: set[str], local: "tzinfo") -> "list[Text]":
    from amem.rendering import text_of
    from amem.retrieval.expansion import READS, ground

    other = ground(link)
    tie = styled((f"{READS[link.type]} ", "bold"), (short_id(other), "cyan"))
    because = [styled((f"because: {one_line(short_ids(link.reason), _CHARS)}", "dim"))] if link.reason else []
    if ancestor is None:
        return [styled(tie, (f"  told {'above' if other in told else 'below'}", "dim")), *because]
    note = ancestor.note
    if note is None:
        return [styled(tie, ("  not there", "yellow")), *because]
    head = styled(tie, f"  {_day(note, local)}", _standing(note))
    return [head, styled(one_line(text_of(note), _CHARS)), *because]


def _draw_branch(page: Page, texts: "Sequence[Text]", first: str, later: str) -> None:
    """The texts in lines that fit, the first behind one stem, all others behind another."""
    # However deep the tree is, half of the width is for words.
    most = page.width // 2
    stem, later = (stem if len(stem) <= most else f"…{stem[1 - most :]}" for stem in (first, later))
    room = max(_LEAST, page.width - max(len(stem), len(later)))
    for text in texts:
        for line in folded(text, room):
            page.whole((stem, "dim"), line)
            stem = later


def _day(note: "MemoryNote", local: "tzinfo") -> str:
    return when(note.at, local, minutes=False)


def _standing(note: "MemoryNote") -> tuple[str, str]:
    by = f" by {short_id(note.superseded_by)}" if note.superseded_by else ""
    return ("" if note.status is Status.ACTIVE else f"  {note.status}{by}", "yellow")
