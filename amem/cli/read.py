"""Commands that find and show notes, and put them into a prompt."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from amem.cli.invocation import inform, invocation, tell
from amem.cli.options import Ids, Json, KnownAt, MinimumCosine, MinimumScore, Ranking, Where, moment, spreading
from amem.cli.render import count, on_terminal, one_line, print_json, print_table, say, short_id, when
from amem.labels import title

if TYPE_CHECKING:
    from amem.memory_system import AgenticMemorySystem
    from amem.retrieval.context import Context
    from amem.retrieval.tiers import Tiers


@spreading()
def list_notes(
    context: typer.Context,
    where: Where,
    deleted: Annotated[bool, typer.Option("--deleted", help="Only deleted notes.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many.")] = 30,
    offset: Annotated[int, typer.Option(min=0, help="How many to skip.")] = 0,
    order: Annotated[str, typer.Option(help="time, recorded or importance.")] = "time",
    as_json: Json = False,
) -> None:
    """List notes, newest first."""
    from dataclasses import replace

    from amem.clock import zone
    from amem.interop.json_records import note_record
    from amem.note import Status
    from amem.rendering import text_of

    call = invocation(context)
    with call.browsed(as_json) as memory:
        timezone = memory.settings.timezone
        wanted = where.filter(timezone)
        if deleted:
            wanted = replace(wanted, statuses=(Status.DELETED,))
        notes = memory.list(wanted, limit=limit, offset=offset, order=order)
        total = memory.count(wanted)
        blank = memory.count() == 0
    if as_json:
        return print_json([note_record(note) for note in notes])
    local, shown = zone(timezone), on_terminal()
    print_table(
        ("id", "when", "kind", "note", "tags"),
        [
            (
                short_id(note.id),
                when(note.at, local, minutes=False),
                str(note.kind) if note.status is Status.ACTIVE else str(note.status),
                text_of(note) if note.overturned or not shown else title(note.content),
                " ".join(f"#{each}" for each in note.tags[:3]),
            )
            for note in notes
        ],
        wide="note",
        spare=("tags", "kind"),
    )
    if total > offset + len(notes):
        tell(f"{len(notes)} of {count(total, 'note')}; see more with --limit or --offset")
    elif blank:
        call.tell_no_notes(memory.settings)
    elif not notes:
        tell("no notes match these filters" if total == 0 else "no more notes")


def show(context: typer.Context, ids: Ids, known_at: KnownAt = None, as_json: Json = False) -> None:
    """Show notes whole: fields, links with their reasons, sources."""
    from amem.errors import NoteNotFound
    from amem.interop.json_records import link_record, note_record, source_record

    with invocation(context).memory() as memory:
        at = None if known_at is None else moment(known_at, memory.settings.timezone)
        asked = dict.fromkeys(memory.resolve(id, deleted=at is not None) for id in ids)
        notes = [memory.read(id, known_at=at) for id in asked]
        if at is not None and not any(notes):
            raise NoteNotFound(f"{', '.join(map(short_id, asked))} was not there at {known_at}")
        shown = [note for note in notes if note is not None]
        if not as_json:
            from amem.cli.render import print_card

            for note in shown:
                print_card(memory, note)
            memory.opened([note.id for note in shown])
            return
        sources = memory.sources([note.id for note in shown])
        records = [
            note_record(note)
            | ({"catalog": catalog} if (catalog := memory.catalog_of(note.id)) else {})
            | {
                "links_out": [link_record(link) for link in memory.links(note.id)],
                "links_in": [link_record(link) for link in memory.backlinks(note.id)],
                "sources": [source_record(source) for source in sources[note.id]],
            }
            for note in shown
        ]
        memory.opened([note.id for note in shown])
    print_json(records[0] if len(ids) == 1 else records)


@spreading()
def search(
    context: typer.Context,
    query: Annotated[list[str], typer.Argument(help="The question, in your own words.", show_default=False)],
    where: Where,
    ranking: Ranking,
    touch: Annotated[bool, typer.Option(help="Count the answers as used, which keeps them from fading.")] = True,
    as_json: Json = False,
) -> None:
    """Find notes by meaning, words, names and links, best first."""
    from amem.clock import zone

    call = invocation(context)
    with call.browsed(as_json) as memory:
        timezone = memory.settings.timezone
        asked = ranking.query(" ".join(query), where, timezone, touch=touch, passages=not as_json and on_terminal())
        hits = memory.ask(asked)
        blank = not hits and memory.count() == 0
    if as_json:
        return print_json(hits)
    from amem.cli.render import print_hits

    print_hits(hits, zone(timezone))
    if blank:
        call.tell_no_notes(memory.settings)
    elif not hits:
        tell("nothing found")


def print_links(memory: "AgenticMemorySystem", id: str, as_json: bool) -> None:
    """A note's links in both directions."""
    from amem.interop.json_records import link_record

    out, back = memory.links(id), memory.backlinks(id)
    if as_json:
        print_json({"links_out": [link_record(link) for link in out], "links_in": [link_record(link) for link in back]})
        return
    rows: list[tuple[Any, ...]] = []
    for arrow, found in (("→", out), ("←", back)):
        for link in found:
            other = link.target if arrow == "→" else link.source
            note = memory.read(other)
            words = one_line(title(note.content), 40) if note else "(not there)"
            rows.append((arrow, str(link.type), short_id(other), words, link.reason, link.made_by))
    print_table(("", "type", "id", "note", "reason", "by"), rows, wide="reason", spare=("by", "id"))
    if not rows:
        tell("no links")


# ``amem context``: what is known about a question, as text for another program's prompt.


@spreading()
def context(
    context: typer.Context,
    query: Annotated[list[str], typer.Argument(help="The question, in your own words.", show_default=False)],
    where: Where,
    budget: Annotated[
        int | None, typer.Option("--budget", "-b", min=0, help="Most tokens; default: setting context_tokens.")
    ] = None,
    order: Annotated[
        str | None, typer.Option(help="time (oldest first) or relevance; default: setting context_order.")
    ] = None,
    core: Annotated[bool, typer.Option(help="Begin with the notes that always hold; --tiers never does.")] = True,
    tiers: Annotated[
        bool, typer.Option("--tiers", help="Read topics first, then notes, then sources, until it suffices.")
    ] = False,
    ask_model: Annotated[
        bool, typer.Option("--ask-model", help="With --tiers: let the language model say whether it suffices.")
    ] = False,
    tokenizer: Annotated[
        str | None, typer.Option(help="Model whose tokens are counted, or a tokenizer.json; default: the settings'.")
    ] = None,
    minimum: MinimumScore = None,
    minimum_cosine: MinimumCosine = None,
    touch: Annotated[bool, typer.Option(help="Count what is placed as used, which keeps it from fading.")] = True,
    as_json: Json = False,
) -> None:
    """Print what is known about a question, within a budget of tokens, for a prompt."""
    from amem.query import Query

    if ask_model and not tiers:
        raise typer.BadParameter("goes with --tiers", param_hint="--ask-model")
    with invocation(context).browsed(as_json, empty={}) as memory:
        wanted = where.filter(memory.settings.timezone, minimum_cosine=minimum_cosine)
        asked = Query(" ".join(query), 0, wanted, touch=touch, minimum_score=minimum)
        found: Context | Tiers
        if tiers:
            found = memory.recall_tiers(asked, budget, order=order, ask_model=ask_model, tokenizer=tokenizer)
        else:
            found = memory.context(asked, budget, order=order, core=core, tokenizer=tokenizer)
    if as_json:
        return print_json(found)
    if found.text:
        say(found.text)
    _say_what(found)


def _say_what(found: "Context | Tiers") -> None:
    """On stderr, as the text goes to another program."""
    from amem.retrieval.tiers import Tiers

    if isinstance(found, Tiers):
        for tier in found.tiers:
            by = f" (says {tier.judged_by})" if tier.judged_by else ""
            enough = "enough" if tier.suffices else "not enough"
            inform(f"{tier.name}: {count(len(tier.read), 'text')} read, {tier.tokens} tokens, {enough}: {tier.why}{by}")
    left_out = () if isinstance(found, Tiers) else found.left_out
    if not found.text:
        fitting = sum(each.reason == "budget" for each in left_out)
        tell(f"no room for any of {count(fitting, 'note')}: give a larger --budget" if fitting else "nothing found")
        return
    left = f", {len(left_out)} left out" if left_out else ""
    inform(f"{found.tokens} of {found.budget} tokens by {found.counted_by}{left}")
