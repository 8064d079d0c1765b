"""Commands that write and change notes."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from amem.cli.completion import complete_hidden, complete_id, complete_tag
from amem.cli.exits import ExitCode
from amem.cli.invocation import at_terminal, invocation, print_done, tell, tell_some
from amem.cli.options import Id, Ids, Json, NoteFields, Time, pairs, spreading, stamp
from amem.cli.render import count, on_terminal, one_line, print_json, say, short_id
from amem.labels import title

if TYPE_CHECKING:
    from amem.maintenance.purges import PurgeReport
    from amem.memory_system import AgenticMemorySystem
    from amem.settings import Settings

#: Of what stays after a purge so many are named.
_NAMED = 20

NewTags = Annotated[
    list[str] | None, typer.Option("--tag", "-t", help="A tag; repeatable.", autocompletion=complete_tag)
]
NewMeta = Annotated[list[str] | None, typer.Option("--meta", help="Metadata as key=value; repeatable.")]
Hidden = Annotated[
    list[str],
    typer.Argument(
        metavar="ID", help="Ids, or beginnings of them.", show_default=False, autocompletion=complete_hidden
    ),
]


@spreading()
def add(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="The note; - reads it from standard input.", show_default=False)],
    given: NoteFields,
    tag: NewTags = None,
    time: Time = None,
    meta: NewMeta = None,
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="Do not wait for a model: amem work or amem enrich finishes the note.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Remember a note: it is analysed, linked, and changes what it touches."""
    fields = given.given(tags=tag, metadata=pairs(meta) if meta else None)
    call = invocation(context)
    content = _standard_input() if text == "-" else text
    settings = call.settings()
    time = stamp(time, settings.timezone)
    _check(content, time, fields, settings)
    with call.memory(create=True, settings=settings) as memory:
        before = memory.list(limit=1, order="recorded")
        receipt = memory.add(content, time=time, wait=not no_wait, **fields)
        if as_json:
            print_json(receipt)
        elif on_terminal():
            from amem.cli.render import print_receipt

            print_receipt(memory, receipt)
            if receipt.stored:
                call.tell_undo()
        else:
            say(receipt.id)
    if receipt.astray and not as_json:
        some = ", ".join(map(short_id, receipt.astray))
        tell(f"dated by a clock in the future, so it overturns nothing: {some} ({call.command('doctor', '--repair')})")
    if no_wait and receipt.enrichment == "pending":
        tell(f"the note waits for its analysis: {call.command('work')} (or enrich) does it")
    if receipt.error:
        tell(f"the note is stored, but not fully analysed: {receipt.error} (finish it with: {call.command('enrich')})")
    elif receipt.stored and receipt.analyst and receipt.analyst not in [note.analyst for note in before]:
        # Said when it begins and when it changes, not with every note.
        looked = " (no model found)" if memory.settings.llm_backend == "auto" else ""
        who = f"built-in rules{looked}" if receipt.analyst == "offline" else receipt.analyst
        tell(f"analysed by {who}; see {call.command('models')}")


@spreading()
def edit(
    context: typer.Context,
    id: Id,
    given: NoteFields,
    content: Annotated[str | None, typer.Option("--content", help="New text; - reads standard input.")] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", "-t", help="These tags instead; repeatable.")] = None,
    add_tag: Annotated[list[str] | None, typer.Option("--add-tag", help="One more tag; repeatable.")] = None,
    remove_tag: Annotated[
        list[str] | None, typer.Option("--remove-tag", help="A tag less; repeatable.", autocompletion=complete_tag)
    ] = None,
    time: Time = None,
    meta: Annotated[list[str] | None, typer.Option("--meta", help="Set metadata, key=value; repeatable.")] = None,
    as_json: Json = False,
) -> None:
    """Change a note: the given fields, or its text in $EDITOR. What you edit, machines leave alone."""
    call = invocation(context)
    with call.memory() as memory:
        note = memory.read(memory.resolve(id))
        assert note is not None
        fields = given.given(
            content=_standard_input() if content == "-" else content,
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
            from amem.cli.editor import edit_content

            edit_content(memory, note)
        after = memory.read(note.id)
    assert after is not None
    changed = after.version != note.version
    print_done("changed", [note.id] if changed else [], as_json)
    if changed and not as_json:
        call.tell_undo()
    elif not as_json:
        tell("nothing changed")


def delete(context: typer.Context, ids: Ids, as_json: Json = False) -> None:
    """Hide notes; undo or restore brings them back."""
    call = invocation(context)
    with call.memory() as memory:
        found = _resolve(memory, ids)
        for id in found:
            memory.delete(id)
    print_done("deleted", found, as_json)
    if not as_json:
        call.tell_undo(len(found))


def restore(context: typer.Context, ids: Hidden, as_json: Json = False) -> None:
    """Bring back deleted, archived or superseded notes."""
    with invocation(context).memory() as memory:
        found = _resolve(memory, ids, deleted=True)
        changed = [id for id in found if memory.restore(id)]
    print_done("restored", changed, as_json)
    for id in found:
        if id not in changed:
            tell(f"{short_id(id)} was active already")


def purge(
    context: typer.Context,
    ids: Ids,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Destroy notes, their history and what was made of them. The one thing that undo cannot take back."""
    from amem.errors import InvalidInput, NoteNotFound

    call = invocation(context)
    with call.memory() as memory:
        found = _resolve(memory, ids, deleted=True)
        # What is in a catalog is refused, whatever the answer.
        if not yes and not any(map(memory.catalog_of, found)):
            for id in found:
                note = memory.read(id)
                tell(f"{short_id(id)}  {one_line(title(note.content), 80) if note else '(deleted)'}")
            what = count(len(found), "note")
            if not at_terminal():
                raise InvalidInput(f"purging {what} cannot be undone", hint="give --yes if you mean it")
            typer.confirm(f"Destroy {what} for good?", abort=True, err=True)
        report = memory.purge(found)
        if report is None:
            raise NoteNotFound("another process has purged them already")
    if as_json:
        print_json(report)
    else:
        _print_purge(report, found)
    if report.owed:
        tell(f"the notes are gone, but files still hold their text: {report.owed}")
        tell(f"finish it with: {call.command('maintain')}")
        raise typer.Exit(ExitCode.FAILED)


def pin(
    context: typer.Context,
    ids: Ids,
    off: Annotated[bool, typer.Option("--off", help="Let them fade again.")] = False,
    as_json: Json = False,
) -> None:
    """Keep notes from ever fading."""
    with invocation(context).memory() as memory:
        found = _resolve(memory, ids)
        for id in found:
            memory.pin(id, not off)
    print_done("unpinned" if off else "pinned", found, as_json)


def link(
    context: typer.Context,
    source: Id,
    target: Annotated[
        str | None, typer.Argument(metavar="ID", help="The note to link to.", autocompletion=complete_id)
    ] = None,
    type: Annotated[str, typer.Option("--type", help="related, supports, contradicts, caused_by, ...")] = "related",
    reason: Annotated[str, typer.Option("--reason", "-r", help="Why, in words.")] = "",
    remove: Annotated[bool, typer.Option("--remove", help="Take the link away.")] = False,
    as_json: Json = False,
) -> None:
    """Link two notes, take a link away, or (with one id) show a note's links."""
    from amem.errors import NotFound
    from amem.interop.json_records import link_record

    call = invocation(context)
    with call.memory() as memory:
        start = memory.resolve(source)
        if target is None:
            from amem.cli.read import print_links

            return print_links(memory, start, as_json)
        end = _end(memory, start, target, type) if remove else memory.resolve(target)
        if remove:
            if not memory.unlink(start, end, type):
                raise NotFound(
                    f"{short_id(start)} has no link {type} to {short_id(end)}",
                    hint=f"amem link {source} shows its links",
                )
            if as_json:
                print_json({"unlinked": [start, end]})
            else:
                say(f"unlinked {short_id(start)} {type} {short_id(end)}")
        else:
            made = memory.link(start, end, type, reason)
            if as_json:
                print_json(link_record(made))
            else:
                say(f"linked {short_id(start)} {made.type} {short_id(end)}")
    if not as_json:
        call.tell_undo()


def _check(content: str, time: str | None, fields: dict[str, Any], settings: "Settings") -> None:
    """Refuse what cannot be a note before a collection is made for it."""
    from amem.clock import SystemClock
    from amem.writing.intake import NewNote, take_in

    take_in(NewNote(content, time, None, fields), actor="user", settings=settings, clock=SystemClock())


def _end(memory: "AgenticMemorySystem", source: str, target: str, type: str) -> str:
    """The end of a link to take away; it need not be a note that exists."""
    ends = {each.target for each in memory.links(source) if str(each.type) == type and each.target.startswith(target)}
    return ends.pop() if len(ends) == 1 else memory.resolve(target, deleted=True)


def _resolve(memory: "AgenticMemorySystem", ids: list[str], *, deleted: bool = False) -> list[str]:
    """Every id in full, each once; one that is wrong stops the command before anything is changed."""
    return list(dict.fromkeys(memory.resolve(id, deleted=deleted) for id in ids))


def _standard_input() -> str:
    import sys

    from amem.interop.decoding import decode

    return decode(sys.stdin.buffer.read(), "standard input").rstrip("\n")


def _print_purge(report: "PurgeReport", asked: list[str]) -> None:
    for id in report.notes:
        say(f"purged {short_id(id)}{'' if id in asked else ' (made of it)'}")
    for id in report.stands_again:
        tell(f"stands again: {short_id(id)}")
    if report.rewritten:
        tell(f"rewritten without it: {', '.join(map(short_id, report.rewritten))}")
    if report.removed:
        parts = [count(number, what.removesuffix("s"), what) for what, number in report.removed.items()]
        tell(f"removed with it: {', '.join(parts)}")
    lines = [
        f"stays: {short_id(each.note)} says the same in its own words ({each.where})"
        if each.note
        else f"stays: the file {each.where} in the home holds the same text"
        for each in report.left
    ]
    tell_some(lines, _NAMED, "more (--json names them)")
