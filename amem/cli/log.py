"""Commands about what happened: the log, a note's history, undo and redo, the review queue."""

# No ``from __future__ import annotations`` here: Typer reads annotations at run time.

from typing import TYPE_CHECKING, Annotated

import typer

from amem.cli.invocation import invocation, tell
from amem.cli.options import TIMES, Id, Json, moment
from amem.cli.render import count, on_terminal, print_json, say, short_id

if TYPE_CHECKING:
    from amem.memory_system import AgenticMemorySystem
    from amem.storage.records import UndoReport

#: Far more than a person reads; keeps one look at a huge import bounded.
_MOST = 20_000


def log(
    context: typer.Context,
    since: Annotated[str, typer.Option("--since", help=f"all, or a time: {TIMES}.", metavar="TIME")] = "yesterday",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many operations.")] = 40,
    actor: Annotated[str | None, typer.Option("--actor", help="Only what this one did: user, agent, ...")] = None,
    everything: Annotated[bool, typer.Option("--all", "-a", help="Every step an operation set off.")] = False,
    as_json: Json = False,
) -> None:
    """What was written, linked and rewritten since yesterday, by whom; each line can be undone by its number."""
    from amem.cli.logbook import Logbook, nested, print_log
    from amem.clock import zone

    call = invocation(context)
    with call.browsed(as_json) as memory:
        timezone = memory.settings.timezone
        start = None if since == "all" else moment(since, timezone)
        trees = nested(memory.log(since=start, limit=_MOST, actor=actor))[:limit]
        book = Logbook(memory)
        if as_json:
            return print_json([book.record(tree) for tree in trees])
        print_log(book, trees, zone(timezone), everything=everything)
        total = memory.count()
        waiting = len(memory.reviews())
    if not trees:
        tell(
            "nothing happened" if since == "all" else f"nothing since {since}; see further back with --since 7d or all"
        )
    elif on_terminal():
        tell(f"{count(total, 'note')} in all; take one back with: {call.command('undo')} OP")
    if waiting:
        tell(f"{count(waiting, 'proposed change')} to decide: {call.command('review')}")


def history(
    context: typer.Context,
    id: Id,
    rollback: Annotated[int | None, typer.Option("--rollback", help="Set the note back to this version.")] = None,
    as_json: Json = False,
) -> None:
    """Every version of a note: what changed, by whom and why."""
    from amem.cli.logbook import print_versions
    from amem.clock import zone
    from amem.interop.json_records import version_record

    call = invocation(context)
    with call.memory() as memory:
        full = memory.resolve(id, deleted=True)
        if rollback is not None:
            fields = memory.rollback(full, rollback)
            if as_json:
                print_json({"id": full, "fields": list(fields)})
            elif fields:
                say(f"set back {', '.join(fields)} of {short_id(full)} to version {rollback}")
                call.tell_undo()
            else:
                tell(f"nothing differs from version {rollback}")
            return
        versions = memory.history(full)
        timezone = memory.settings.timezone
    if as_json:
        print_json([version_record(version) for version in versions])
    else:
        print_versions(versions, zone(timezone))


def undo(
    context: typer.Context,
    operation: Annotated[
        int | None, typer.Argument(metavar="OP", help="Its number in the log; default: the newest.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Take back the newest operation that somebody asked for, or the one named, with all it set off.

    Later work stays. Maintenance is taken back by its number only.
    """
    call = invocation(context)
    with call.memory() as memory:
        report = memory.undo(operation)
        _print_report(memory, report, as_json)
    if report.passed_over is not None:
        tell(f"the maintenance since then stands; take it back with: {call.command('undo', str(report.passed_over))}")


def redo(context: typer.Context, as_json: Json = False) -> None:
    """Do again what was undone last."""
    with invocation(context).memory() as memory:
        report = memory.redo()
        _print_report(memory, report, as_json, redone=True)


def _print_report(memory: "AgenticMemorySystem", report: "UndoReport", as_json: bool, *, redone: bool = False) -> None:
    from amem.cli.logbook import Logbook
    from amem.interop.json_records import undo_record

    if as_json:
        return print_json(undo_record(report))
    say(f"{'redone' if redone else 'undone'}: {Logbook(memory).reversal(report.operation, redone=redone)}")
    for each in report.kept:
        tell(f"left alone: {each.item} of {short_id(each.note)}, {each.why}")
    for each in report.settled:
        tell(f"changed with it: {each.item} of {short_id(each.note)}, {each.why}")
