"""Commands that find and show notes."""

# No ``from __future__ import annotations`` here: Typer reads annotations at run time.

from typing import TYPE_CHECKING, Annotated, Any

import typer

from amem.cli.filtering import Where, filtering
from amem.cli.invocation import invocation, tell
from amem.cli.options import (
    LEAST_SCORE,
    Diversity,
    Ids,
    Json,
    K,
    KnownAt,
    Links,
    MinimumConfidence,
    MinimumCosine,
    MinimumScore,
    Rerank,
    moment,
)
from amem.cli.render import count, on_terminal, one_line, print_json, print_table, short_id, when
from amem.labels import title

if TYPE_CHECKING:
    from amem.memory_system import AgenticMemorySystem

_PANEL = "Find"


def register(app: typer.Typer) -> None:
    """Add this room's commands."""
    app.command("list", rich_help_panel=_PANEL)(list_notes)
    app.command(rich_help_panel=_PANEL)(show)
    app.command(rich_help_panel=_PANEL)(search)


@filtering()
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
            | {
                "links_out": [link_record(link) for link in memory.links(note.id)],
                "links_in": [link_record(link) for link in memory.backlinks(note.id)],
                "sources": [source_record(source) for source in sources[note.id]],
            }
            for note in shown
        ]
        memory.opened([note.id for note in shown])
    print_json(records[0] if len(ids) == 1 else records)


@filtering()
def search(
    context: typer.Context,
    query: Annotated[list[str], typer.Argument(help="The question, in your own words.", show_default=False)],
    where: Where,
    k: K = 5,
    links: Links = True,
    minimum: MinimumScore = LEAST_SCORE,
    minimum_cosine: MinimumCosine = None,
    minimum_confidence: MinimumConfidence = None,
    rerank: Rerank = None,
    diversity: Diversity = None,
    touch: Annotated[bool, typer.Option(help="Count the answers as used, which keeps them from fading.")] = True,
    as_json: Json = False,
) -> None:
    """Find notes by meaning, words, names and links, best first."""
    from amem.clock import zone
    from amem.query import Query

    call = invocation(context)
    with call.browsed(as_json) as memory:
        timezone = memory.settings.timezone
        wanted = where.filter(timezone, minimum_cosine=minimum_cosine)
        asked = Query(
            " ".join(query),
            k,
            wanted,
            expand=links,
            touch=touch,
            minimum_score=minimum,
            rerank=rerank,
            diversity=diversity,
            minimum_confidence=minimum_confidence,
            passages=not as_json and on_terminal(),
        )
        hits = memory.ask(asked)
        blank = not hits and memory.count() == 0
    if as_json:
        return print_json([hit.to_dict() for hit in hits])
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
