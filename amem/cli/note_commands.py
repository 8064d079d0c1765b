"""Notes: added, listed, shown, changed, linked, hidden, brought back and destroyed; and their tags."""

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from amem.checks import is_wordless
from amem.cli.command import (
    Drawing,
    DryRun,
    Id,
    Ids,
    KnownAt,
    NoteFields,
    Reason,
    Shown,
    Table,
    Time,
    Where,
    Yes,
    argument,
    command,
    confirm,
    done,
    moment,
    option,
    pairs,
    resolved,
    stamp,
)
from amem.cli.completion import complete_collection, complete_hidden, complete_id, complete_tag
from amem.cli.invocation import ExitCode, Invocation, some, tell
from amem.cli.render import Page, draw_receipt, on_terminal, one_line, print_card, tagged, when
from amem.clock import ASTRAY, SystemClock, zone
from amem.errors import NoteNotFound, NotFound
from amem.labels import counted, short_id, title
from amem.note import MemoryNote, Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.maintenance.purges import PurgeReport
    from amem.memory_system import AgenticMemorySystem
    from amem.settings import Settings

#: Of what a deletion or a purge is about, and of what stays after it, so many are named.
_NAMED = 20
_NO_MATCH = "no notes match these filters"

Texts = list[str] | None
Hidden = Annotated[list[str], argument("ID", "Ids, or beginnings of them.", autocompletion=complete_hidden)]


@command()
def add(
    call: Invocation,
    text: Annotated[str, argument("", "The note; - reads it from standard input.")],
    given: NoteFields,
    tag: Annotated[Texts, option("--tag -t", "A tag; repeatable.", autocompletion=complete_tag)] = None,
    time: Time = None,
    meta: Annotated[Texts, option("--meta", "Metadata as key=value; repeatable.")] = None,
    no_wait: Annotated[
        bool, option("--no-wait", "Do not wait for a model: amem work or amem enrich finishes the note.")
    ] = False,
) -> Shown:
    """Remember a note: it is analysed, linked, and changes what it touches."""
    from amem.writing.intake import NewNote, take_in

    fields = given.given(tags=tag, metadata=pairs(meta) if meta else None)
    content, settings = _standard_input() if text == "-" else text, call.settings()
    time = stamp(time, settings.timezone)
    # What cannot be a note is refused before a collection is made for it.
    take_in(NewNote(content, time, None, fields), actor="user", settings=settings, clock=SystemClock())
    with call.memory(create=True, settings=settings) as memory:
        before = memory.list(limit=1, order="recorded")
        receipt = memory.add(content, time=time, wait=not no_wait, **fields)
        note = memory.read(receipt.id)
    told = ["it holds no word by which it would be found"] if receipt.stored and is_wordless(content) else []
    if receipt.stored and note is not None and note.at is not None and note.at > SystemClock().now() + ASTRAY:
        told += [f"its time is still to come: {note.at.astimezone(zone(settings.timezone)):%Y-%m-%d}"]
    if receipt.astray:
        ids, mend = ", ".join(map(short_id, receipt.astray)), call.command("doctor", "--repair")
        told += [f"dated by a clock in the future, so it overturns nothing: {ids} ({mend})"]
    if no_wait and receipt.enrichment == "pending":
        call.remarks.append(f"the note waits for its analysis: {call.command('work')} (or enrich) does it")
    if receipt.error:
        finish = f"(finish it with: {call.command('enrich')})"
        call.remarks.append(f"the note is stored, but not fully analysed: {receipt.error} {finish}")
    elif receipt.stored and receipt.analyst and receipt.analyst not in [each.analyst for each in before]:
        # Said when it begins and when it changes, not with every note.
        looked = " (no model found)" if settings.llm_backend == "auto" else ""
        who = f"built-in rules{looked}" if receipt.analyst == "offline" else receipt.analyst
        call.remarks.append(f"analysed by {who}; see {call.command('models')}")
    undo = int(receipt.stored and on_terminal())
    return Drawing(receipt, [(receipt.id,)], lambda page: draw_receipt(page, note, receipt), told=told, undo=undo)


@command()
def edit(
    call: Invocation,
    id: Id,
    given: NoteFields,
    content: Annotated[str | None, option("--content", "New text; - reads standard input.")] = None,
    append: Annotated[str | None, option("--append", "Text to add at its end; - reads standard input.")] = None,
    tag: Annotated[Texts, option("--tag -t", "These tags instead; repeatable.")] = None,
    add_tag: Annotated[Texts, option("--add-tag", "Add this tag; repeatable.")] = None,
    remove_tag: Annotated[
        Texts, option("--remove-tag", "Remove this tag; repeatable.", autocompletion=complete_tag)
    ] = None,
    time: Time = None,
    meta: Annotated[Texts, option("--meta", "Set metadata, key=value; repeatable.")] = None,
) -> Shown:
    """Change a note: the given fields, or its text in $EDITOR. What you edit, machines leave alone."""
    if content is not None and append is not None:
        raise typer.BadParameter("--content and --append exclude each other")
    text = append if content is None else content
    text = _standard_input() if text == "-" else text
    with call.memory() as memory:
        note = memory.read(memory.resolve(id))
        assert note is not None
        fields = given.given(
            content=text if append is None else f"{note.content.rstrip()}\n{text}",
            tags=tag,
            timestamp=stamp(time, memory.settings.timezone),
            metadata={**note.metadata, **pairs(meta)} if meta else None,
        )
        if add_tag or remove_tag:
            gone = {each.casefold() for each in remove_tag or []}
            kept = [each for each in fields.get("tags", note.tags) if each.casefold() not in gone]
            fields["tags"] = [*kept, *(add_tag or [])]
        if fields:
            memory.update(note, **fields)
        else:
            from amem.editor import edit_content

            edit_content(memory, note)
        after = memory.read(note.id)
    assert after is not None
    if after.version == note.version:
        return done("changed", [], told=["nothing changed"])
    return done("changed", [note.id], undo=1)


Named = Annotated[list[str] | None, argument("ID", "Ids, or beginnings of them.", autocompletion=complete_id)]


@command("known_at")
def delete(call: Invocation, where: Where, ids: Named = None, dry_run: DryRun = False, yes: Yes = False) -> Shown:
    """Hide notes by their ids, or all that have something in common; undo or restore brings them back."""
    by_filter = _by_filter(where, ids)
    with call.memory() as memory:
        chosen = _chosen(memory, where, ids)
        found, many = list(chosen), counted(len(chosen), "note")
        if dry_run:
            told = [f"{many} would be deleted; nothing was"]
            return _listing(
                {"would_delete": found}, [note for note in chosen.values() if note], memory.settings, told=told
            )
        if by_filter and found and not yes:
            _name(chosen)
            confirm(f"Delete {many}?", f"{many} would be deleted, and nobody can be asked", "give --yes")
        memory.delete_notes(found)
    lines = [f"deleted {short_id(id)}" for id in found]
    told = [] if found else [_NO_MATCH]
    return Shown({"deleted": found}, *(some(lines, _NAMED) if on_terminal() else lines), told=told, undo=bool(found))


def _by_filter(where: Where, ids: list[str] | None) -> bool:
    """Whether options say which notes, and not ids. Raises BadParameter where both do or neither does."""
    if (where != Where()) is bool(ids):
        raise typer.BadParameter("say which notes: by their ids, or by options such as --tag")
    return not ids


def _chosen(
    memory: "AgenticMemorySystem", where: Where, ids: list[str] | None, *, deleted: bool = False
) -> "dict[str, MemoryNote | None]":
    """The notes that the ids name, or else the options; one that was `deleted` only where that is asked, or None."""
    if ids:
        return {id: memory.read(id) for id in resolved(memory, ids, deleted=deleted)}
    wanted = where.filter(memory.settings.timezone)
    if deleted and where.everything:
        wanted = replace(wanted, statuses=(*wanted.statuses, Status.DELETED))
    notes = memory.list(wanted, limit=memory.count(wanted))
    return {note.id: note for note in notes if deleted or note.status is not Status.DELETED}


def _name(notes: "Mapping[str, MemoryNote | None]") -> None:
    """Say which notes it is about, before a question is asked."""
    lines = [
        f"{short_id(id)}  {one_line(title(note.content), 80) if note else '(deleted)'}" for id, note in notes.items()
    ]
    for line in some(lines, _NAMED):
        tell(line)


@command()
def restore(call: Invocation, ids: Hidden) -> Shown:
    """Bring back deleted, archived or superseded notes."""
    with call.memory() as memory:
        found = {id: memory.restore(id) for id in resolved(memory, ids, deleted=True)}
    call.remarks += [f"{short_id(id)} was active already" for id, changed in found.items() if not changed]
    return done("restored", [id for id, changed in found.items() if changed])


@command("known_at")
def purge(call: Invocation, where: Where, ids: Named = None, yes: Yes = False) -> Shown:
    """Destroy notes, their history and what was made of them. The one thing that undo cannot take back.

    Where options say which, --all takes in deleted notes, too.
    """
    _by_filter(where, ids)
    with call.memory() as memory:
        chosen = _chosen(memory, where, ids, deleted=True)
        found, what = list(chosen), counted(len(chosen), "note")
        if not found:
            raise NoteNotFound(_NO_MATCH, hint="amem list takes the same options")
        # What is in a catalog is refused, whatever the answer.
        if not yes and not any(map(memory.catalog_of, found)):
            _name(chosen)
            confirm(f"Destroy {what} for good?", f"purging {what} cannot be undone")
        report = memory.purge(found)
        if report is None:
            raise NoteNotFound("another process has purged them already")
    lines = [f"purged {short_id(id)}{'' if id in found else ' (made of it)'}" for id in report.notes]
    if report.owed:
        call.remarks.append(f"the notes are gone, but files still hold their text: {report.owed}")
        call.remarks.append(f"finish it with: {call.command('maintain')}")
    return Shown(report, *lines, told=_purged(report), code=ExitCode.FAILED if report.owed else ExitCode.OK)


def _purged(report: "PurgeReport") -> list[str]:
    """What else a purge did, and what it left."""
    told = [f"current again: {short_id(id)}" for id in report.stands_again]
    if report.rewritten:
        told.append(f"rewritten without it: {', '.join(map(short_id, report.rewritten))}")
    if report.removed:
        parts = [counted(number, what.removesuffix("s"), what) for what, number in report.removed.items()]
        told.append(f"removed with it: {', '.join(parts)}")
    left = [
        f"stays: {short_id(each.note)} says the same in its own words ({each.where})"
        if each.note
        else f"stays: the file {each.where} in the home holds the same text"
        for each in report.left
    ]
    return told + some(left, _NAMED, "more (--json names them)")


@command()
def pin(call: Invocation, ids: Ids, off: Annotated[bool, option("--off", "Let them fade again.")] = False) -> Shown:
    """Keep notes from fading."""
    with call.memory() as memory:
        found = resolved(memory, ids)
        for id in found:
            memory.pin(id, not off)
    return done("unpinned" if off else "pinned", found)


@command()
def link(
    call: Invocation,
    source: Id,
    target: Annotated[
        str | None, argument("ID", "The note to link to.", show_default=True, autocompletion=complete_id)
    ] = None,
    type: Annotated[str, option("--type", "related, supports, contradicts, caused_by, ...")] = "related",
    reason: Reason = "",
    remove: Annotated[bool, option("--remove", "Take the link away.")] = False,
) -> Shown:
    """Link two notes, take a link away, or (with one id) show a note's links."""
    from amem.interop.json_records import link_record

    with call.memory() as memory:
        start = memory.resolve(source)
        if target is None:
            return _links(memory, start)
        if not remove:
            end = memory.resolve(target)
            made = memory.link(start, end, type, reason)
            return Shown(link_record(made), f"linked {short_id(start)} {made.type} {short_id(end)}", undo=1)
        # The other end need not be a note that exists.
        ends = {each.target for each in memory.links(start) if str(each.type) == type}
        named = [each for each in ends if each.startswith(target)]
        end = named[0] if len(named) == 1 else memory.resolve(target, deleted=True)
        if not memory.unlink(start, end, type):
            lacking = f"{short_id(start)} has no link {type} to {short_id(end)}"
            raise NotFound(lacking, hint=f"amem link {source} shows its links")
    return Shown({"unlinked": [start, end]}, f"unlinked {short_id(start)} {type} {short_id(end)}", undo=1)


def _links(memory: "AgenticMemorySystem", id: str) -> Shown:
    """A note's links in both directions."""
    from amem.interop.json_records import link_record

    out, back = memory.links(id), memory.backlinks(id)
    rows, room = [], max(16, Page().width // 3) if on_terminal() else 40
    for arrow, each in [*(("→", each) for each in out), *(("←", each) for each in back)]:
        other = each.target if arrow == "→" else each.source
        note = memory.read(other)
        words = one_line(title(note.content), room) if note else "(not there)"
        rows.append((arrow, str(each.type), short_id(other), words, each.reason, each.made_by))
    return Table(
        {"links_out": [link_record(each) for each in out], "links_in": [link_record(each) for each in back]},
        ("", "type", "id", "note", "reason", "by"),
        rows,
        wide="reason",
        spare=("by", "id"),
        told=[] if rows else ["no links"],
    )


@command()
def list_notes(
    call: Invocation,
    where: Where,
    deleted: Annotated[bool, option("--deleted", "Only deleted notes.")] = False,
    limit: Annotated[int, option("--limit -n", "How many.", min=1)] = 30,
    offset: Annotated[int, option("", "How many to skip.", min=0)] = 0,
    order: Annotated[str, option("", "By time, recorded, importance or pinned.")] = "time",
) -> Shown:
    """List notes, newest first."""
    from amem.interop.json_records import note_record

    with call.browsed() as memory:
        settings = memory.settings
        wanted = where.filter(settings.timezone)
        if deleted:
            wanted = replace(wanted, statuses=(Status.DELETED,))
        notes = memory.list(wanted, limit=limit, offset=offset, order=order)
        total = memory.count(wanted)
        blank = "" if notes or memory.count() else call.without_notes(settings, memory)
    told = []
    if total > offset + len(notes):
        told = [f"{len(notes)} of {counted(total, 'note')}; see more with --limit or --offset"]
    elif blank:
        told = [blank]
    elif not notes:
        told = [_NO_MATCH if total == 0 else "no more notes"]
    return _listing(list(map(note_record, notes)), notes, settings, told=told)


def _listing(data: object, notes: "Sequence[MemoryNote]", settings: "Settings", *, told: list[str]) -> Shown:
    """A line for each note: id, day, kind or status, text, tags."""
    from amem.rendering import text_of

    local, shown = zone(settings.timezone), on_terminal()
    rows = [
        (
            short_id(note.id),
            when(note.at, local, minutes=False),
            str(note.kind) if note.status is Status.ACTIVE else str(note.status),
            text_of(note) if note.overturned or not shown else title(note.content),
            tagged(note.tags[:3]),
        )
        for note in notes
    ]
    return Table(data, ("id", "when", "kind", "note", "tags"), rows, wide="note", spare=("tags", "kind"), told=told)


@command()
def show(call: Invocation, ids: Ids, known_at: KnownAt = None) -> Shown | None:
    """Show notes whole: fields, links with their reasons, sources."""
    from amem.interop.json_records import link_record, note_record, source_record

    with call.memory() as memory:
        at = None if known_at is None else moment(known_at, memory.settings.timezone)
        asked = resolved(memory, ids, deleted=at is not None)
        notes = [note for id in asked if (note := memory.read(id, known_at=at)) is not None]
        if at is not None and not notes:
            raise NoteNotFound(f"{', '.join(map(short_id, asked))} was not there at {known_at}")
        records: list[dict[str, Any]] = []
        sources = memory.sources([note.id for note in notes]) if call.as_json else {}
        for note in notes:
            if not call.as_json:
                print_card(memory, note)
                continue
            catalog = memory.catalog_of(note.id)
            records.append(
                note_record(note)
                | ({"catalog": catalog} if catalog else {})
                | {
                    "links_out": [link_record(each) for each in memory.links(note.id)],
                    "links_in": [link_record(each) for each in memory.backlinks(note.id)],
                    "sources": [source_record(each) for each in sources[note.id]],
                }
            )
        memory.opened([note.id for note in notes])
    return Shown(records[0] if len(ids) == 1 else records) if call.as_json else None


@command()
def publish(
    call: Invocation,
    id: Id,
    to: Annotated[
        str | None,
        option("--to", "The catalog; may be left out where there is one.", autocompletion=complete_collection),
    ] = None,
) -> Shown:
    """Copy a note, with its facts and sources, into a catalog that others read too."""
    with call.memory() as memory:
        note = memory.resolve(id)
        receipt = memory.publish(note, to)
        catalog = memory.parts.publisher.checked(to)
    new = receipt.status != "duplicate"
    known = "" if new else " (it was there already)"
    return Shown(
        {"id": receipt.id, "note": note, "catalog": catalog, "status": receipt.status},
        f"published {short_id(note)} in {catalog} as {short_id(receipt.id)}{known}",
        told=call.in_collection(catalog).undoing(receipt.operation if new else None),
    )


def _standard_input() -> str:
    from amem.interop.decoding import decode

    return decode(sys.stdin.buffer.read(), "standard input").rstrip("\n")


# ``amem tags``: those of all notes.


tags = typer.Typer(help="List, rename and merge tags.", invoke_without_command=True)


@tags.callback()
@tags.command("list")
@command()
def list_tags(call: Invocation) -> Shown:
    """List every tag and how many notes carry it."""
    with call.browsed() as memory:
        found = memory.tags(active=True)  # as `list` and the browser count
    data = [{"tag": tag, "notes": number} for tag, number in found.items()]
    rows = [(tag, str(number)) for tag, number in found.items()]
    return Table(data, ("tag", "notes"), rows, told=[] if rows else ["no tags"])


@tags.command()
@command()
def rename(
    call: Invocation,
    old: Annotated[str, argument("", "The tag.", autocompletion=complete_tag)],
    new: Annotated[str, argument("", "What it is called from now on.")],
) -> Shown:
    """Rename a tag everywhere; where the new one is in use, the two become one."""
    return _retagged(call, [old], new)


@tags.command()
@command()
def merge(
    call: Invocation,
    old: Annotated[list[str], argument("TAG", "Tags to merge.")],
    into: Annotated[str, option("--into", "The tag they become.")],
) -> Shown:
    """Merge several tags into one."""
    return _retagged(call, old, into)


def _retagged(call: Invocation, old: list[str], new: str) -> Shown:
    with call.memory() as memory:
        known = {tag.casefold() for tag in memory.tags()}
        for tag in old:
            if tag.casefold() not in known:
                raise NotFound(f"no note has the tag {tag!r}", hint="amem tags lists them")
        changed = sum(memory.rename_tag(tag, new) for tag in old)
    undo = f"undo with: {call.command('undo')}{' (once for each tag)' if len(old) > 1 else ''}"
    data = {"from": old, "to": new, "notes": changed}
    return Shown(data, f"{', '.join(old)} → {new}: {counted(changed, 'note')}", told=[undo])
