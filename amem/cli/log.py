"""``amem log``, ``history``, ``undo``, ``redo`` and ``review``: what happened, and what waits for a person's word."""

from typing import TYPE_CHECKING, Annotated

import typer

from amem.cli.invocation import at_terminal, inform, invocation, tell
from amem.cli.options import TIMES, Id, Json, moment
from amem.cli.render import count, on_terminal, one_line, print_json, say, say_row, short_id
from amem.labels import title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.cli.invocation import Invocation
    from amem.memory_system import AgenticMemorySystem
    from amem.storage.records import Review, UndoReport
    from amem.storage.reviews import Flag


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
        decided = {each.id for each in memory.reviews()}
        report = memory.undo(operation)
        _print_report(memory, report, as_json)
        for each in memory.reviews():
            if each.id not in decided:
                _tell_published(call, memory, each)
    if report.passed_over is not None:
        tell(f"the maintenance since then stands; take it back with: {call.command('undo', str(report.passed_over))}")


def _tell_published(call: "Invocation", memory: "AgenticMemorySystem", review: "Review") -> None:
    """Say where the copy stays that a proposal published which is open again: it is taken back in the catalog alone."""
    from amem.maintenance.shared_notes import FIELD

    _, name = review.changes.get(FIELD, (None, ""))
    catalog = memory.catalogs.get(name)
    for each in [] if catalog is None else catalog.log(limit=_LOOKED_THROUGH, actor=memory.actor):
        if each.action == "publish" and not each.undone and short_id(review.note) in each.cause.split():
            undo = call.in_collection(name).command("undo", str(each.id))
            return tell(f"the copy stays in {name}; take it back with: {undo}")


def redo(context: typer.Context, as_json: Json = False) -> None:
    """Do again what was undone last."""
    with invocation(context).memory() as memory:
        report = memory.redo()
        _print_report(memory, report, as_json)


def _print_report(memory: "AgenticMemorySystem", report: "UndoReport", as_json: bool) -> None:
    from amem.interop.json_records import undo_record
    from amem.reversal import reversal_lines

    if as_json:
        return print_json(undo_record(report))
    done, *others = reversal_lines(memory, report)
    say(done)
    for line in others:
        tell(line)


# ``amem review``: what machines proposed and a person decides.


_SHOWN = 160
#: The newest operations of a catalog, among which a publication is looked for.
_LOOKED_THROUGH = 1000
review = typer.Typer(help="Decide the changes that machines proposed.", invoke_without_command=True)
Numbers = Annotated[list[int], typer.Argument(metavar="N", help="Numbers of reviews.", show_default=False)]


@review.callback()
def decide(
    context: typer.Context,
    interactive: Annotated[bool, typer.Option("--interactive", "-i", help="Ask even when not on a terminal.")] = False,
    as_json: Json = False,
) -> None:
    """Go through the open changes one by one on a terminal; list them elsewhere."""
    if context.invoked_subcommand is not None:
        return
    with invocation(context).browsed(as_json) as memory:
        found = memory.reviews()
        if as_json or not found or not (interactive or (at_terminal() and on_terminal())):
            return _list(memory, found, as_json)
        _ask(memory, found)


@review.command("list")
def list_reviews(context: typer.Context, as_json: Json = False) -> None:
    """List the open changes."""
    with invocation(context).browsed(as_json) as memory:
        _list(memory, memory.reviews(), as_json)


@review.command()
def accept(context: typer.Context, numbers: Numbers, as_json: Json = False) -> None:
    """Apply proposed changes."""
    with invocation(context).memory() as memory:
        for number in numbers:
            fields = memory.accept(number)
            if not as_json:
                say(f"accepted {number}: {', '.join(fields)}")
    if as_json:
        print_json({"accepted": numbers})


@review.command()
def reject(context: typer.Context, numbers: Numbers, as_json: Json = False) -> None:
    """Turn proposed changes down."""
    with invocation(context).memory() as memory:
        for number in numbers:
            memory.reject(number)
            if not as_json:
                say(f"rejected {number}")
    if as_json:
        print_json({"rejected": numbers})


@review.command()
def flags(context: typer.Context, as_json: Json = False) -> None:
    """List notes that lean on something that is no longer so (those that disagree: amem conflicts)."""
    with invocation(context).browsed(as_json) as memory:
        if as_json:
            names = ("note", "because", "reason", "at", "operation")
            return print_json([{name: getattr(each, name) for name in names} for each in _leaning(memory)])
        if not _list_flags(memory):
            tell("nothing is flagged")


def _list_flags(memory: "AgenticMemorySystem") -> int:
    """Print the flagged notes, if there are any; returns how many flags there are."""
    found = _leaning(memory)
    for each in found:
        note = memory.read(each.note)
        words = note.content if note else ""
        if on_terminal():
            _print_block((short_id(each.note), title(words)), (), f"may be out of date: {each.reason}")
        else:
            say_row(short_id(each.note), one_line(words, 40), short_id(each.because), each.reason)
    if found:
        inform("amem keep ID says that a note holds, amem edit ID mends it, amem retract ID takes it back")
    return len(found)


def _leaning(memory: "AgenticMemorySystem") -> "list[Flag]":
    """The flags but those of pairs that disagree, which `amem conflicts` lists."""
    apart = {(each.earlier, each.later) for each in memory.conflicts_open()}
    return [flag for flag in memory.flags() if (flag.note, flag.because) not in apart]


def _print_block(head: tuple[str, str], changes: "Sequence[str]", why: str) -> None:
    from amem.cli.render import console, print_wrapped, styled

    out, (name, words) = console(), head
    hanging = len(name) + 2
    print_wrapped(out, styled((name, "cyan"), f"  {one_line(words, _SHOWN)}"), hanging=hanging)
    for change in changes:
        print_wrapped(out, styled((one_line(change), "bold")), indent=hanging, hanging=2)
    print_wrapped(out, styled((one_line(why), "dim")), indent=hanging)


def _list(memory: "AgenticMemorySystem", found: "list[Review]", as_json: bool) -> None:
    from amem.cli.render import in_words
    from amem.interop.json_records import review_record

    if as_json:
        return print_json([review_record(each) for each in found])
    for each in found:
        note = memory.read(each.note)
        changes = [f"{name}: {in_words(after)}" for name, (_, after) in each.changes.items()]
        words, sure = note.content if note else "", f"{each.confidence:.2f}"
        if on_terminal():
            _print_block(
                (str(each.id), f"{short_id(each.note)}  {title(words)}"), changes, f"because {each.reason} ({sure})"
            )
        else:
            say_row(each.id, short_id(each.note), one_line(words, 40), "; ".join(changes), sure, each.reason)
    if not _list_flags(memory) and not found:
        tell("nothing to decide")


def _ask(memory: "AgenticMemorySystem", found: "list[Review]") -> None:
    """One after the other: accept, reject, skip, or accept all that are left."""
    every = False
    done = {"a": 0, "r": 0}
    for place, each in enumerate(found, start=1):
        if not every:
            _show(memory, each, place, len(found))
            answer = _answer()
            if answer == "q":
                break
            every = answer == "A"
        else:
            answer = "a"
        if answer in ("a", "A"):
            memory.accept(each.id)
            done["a"] += 1
        elif answer == "r":
            memory.reject(each.id)
            done["r"] += 1
    say(f"accepted {done['a']}, rejected {done['r']}, left {len(found) - sum(done.values())}")


def _answer() -> str:
    while True:
        said = typer.prompt("[a]ccept, [r]eject, [s]kip, accept [A]ll, [q]uit", default="s", err=True).strip()
        if said[:1] in ("a", "r", "s", "A", "q"):
            return str(said[:1])


def _show(memory: "AgenticMemorySystem", each: "Review", place: int, of: int) -> None:
    from amem.cli.logbook import print_changes
    from amem.cli.render import console, styled

    note = memory.read(each.note)
    out = console()
    out.print()
    out.print(
        styled((f"{place} of {count(of, 'change')}  ", "bold"), (short_id(each.note), "cyan"), f"  {each.made_by}")
    )
    if note is not None:
        out.print(styled(f"  {one_line(note.content, 300)}"))
    print_changes(each.changes)
    out.print(styled((f"    because {each.reason} (confidence {each.confidence:.2f})", "dim")))
