"""``amem review``: what machines proposed and a person decides."""

# No ``from __future__ import annotations`` here: Typer reads annotations at run time.

from typing import TYPE_CHECKING, Annotated

import typer

from amem.cli.context import at_terminal, invocation, tell
from amem.cli.options import Json
from amem.cli.render import count, on_terminal, one_line, print_json, print_table, short_id

if TYPE_CHECKING:
    from amem.memory_system import AgenticMemorySystem
    from amem.storage import Review

review = typer.Typer(help="Decide the changes that machines proposed.", invoke_without_command=True)
Numbers = Annotated[list[int], typer.Argument(metavar="N...", help="Numbers of reviews.", show_default=False)]


def register(app: typer.Typer) -> None:
    """Add this room's commands."""
    app.add_typer(review, name="review", rich_help_panel="Trust")


@review.callback()
def decide(
    context: typer.Context,
    interactive: Annotated[bool, typer.Option("--interactive", "-i", help="Ask even when not on a terminal.")] = False,
    as_json: Json = False,
) -> None:
    """Go through the open changes one by one on a terminal; list them elsewhere."""
    if context.invoked_subcommand is not None:
        return
    with invocation(context).browsed() as memory:
        found = [] if memory is None else memory.reviews()
        if memory is None or as_json or not found or not (interactive or (at_terminal() and on_terminal())):
            return _list(memory, found, as_json)
        _ask(memory, found)


@review.command("list")
def list_reviews(context: typer.Context, as_json: Json = False) -> None:
    """List the open changes."""
    with invocation(context).browsed() as memory:
        _list(memory, [] if memory is None else memory.reviews(), as_json)


@review.command()
def accept(context: typer.Context, numbers: Numbers, as_json: Json = False) -> None:
    """Apply proposed changes."""
    with invocation(context).memory() as memory:
        for number in numbers:
            fields = memory.accept(number)
            if not as_json:
                print(f"accepted {number}: {', '.join(fields)}")
    if as_json:
        print_json({"accepted": numbers})


@review.command()
def reject(context: typer.Context, numbers: Numbers, as_json: Json = False) -> None:
    """Turn proposed changes down."""
    with invocation(context).memory() as memory:
        for number in numbers:
            memory.reject(number)
            if not as_json:
                print(f"rejected {number}")
    if as_json:
        print_json({"rejected": numbers})


def _list(memory: "AgenticMemorySystem | None", found: "list[Review]", as_json: bool) -> None:
    from amem.cli.render import in_words
    from amem.interop.records import review_record

    if as_json:
        return print_json([review_record(each) for each in found])
    rows = []
    for each in found:
        note = memory.read(each.note) if memory else None
        changes = "; ".join(f"{name}: {in_words(after)}" for name, (_, after) in each.changes.items())
        words = one_line(note.content, 40) if note else ""
        rows.append((str(each.id), short_id(each.note), words, changes, f"{each.confidence:.2f}", each.reason))
    columns = ("n", "id", "note", "change", "sure", "why")
    print_table(columns, rows, wide="change", spare=("sure", "why", "id", "note"))
    if memory is not None and not found:
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
    print(f"accepted {done['a']}, rejected {done['r']}, left {len(found) - sum(done.values())}")


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
