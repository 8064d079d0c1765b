"""What happened and what waits for a person's word: the log, versions of a note, undo, redo and review."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from amem import checks
from amem.cli.command import TIMES, Drawing, Id, Shown, Table, argument, command, moment, option
from amem.cli.invocation import Invocation, at_terminal
from amem.cli.render import Page, on_terminal, one_line, styled, when
from amem.clock import zone
from amem.labels import counted, short_id, title

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import tzinfo

    from rich.text import Text

    from amem.memory_system import AgenticMemorySystem
    from amem.storage.operations import Operation, Version
    from amem.storage.reviews import Flag, Review
    from amem.storage.undo import UndoReport
    from amem.summaries import Summaries, Tree


#: Operations that one look takes in: far more than a person reads, so that a huge import stays bounded.
_MOST = 20_000
#: So much of what an operation set off is shown without --all.
_CHILDREN = 3
#: Below so many columns a line of the log says too little.
_ROOMY = 72


#: An operation with what it set off, by its depth; or, in place of what is folded away, those operations.
_Line = tuple[int, "Tree | list[Operation]"]


@command()
def log(
    call: Invocation,
    since: Annotated[str, option("--since", f"How far back: all, or a time: {TIMES}.", metavar="TIME")] = "yesterday",
    limit: Annotated[int, option("--limit -n", "How many operations.", min=1)] = 40,
    actor: Annotated[str | None, option("--actor", "Only what this one did: user, agent, ...")] = None,
    everything: Annotated[bool, option("--all -a", "Every step an operation set off.")] = False,
) -> Shown:
    """Show what was written, linked and rewritten since yesterday, and by whom; undo any line by its number."""
    from amem.summaries import Summaries, Tree, nested

    with call.browsed() as memory:
        timezone = memory.settings.timezone
        start = None if since == "all" else moment(since, timezone)
        trees = nested(memory.log(since=start, limit=_MOST, actor=actor))
        # Whoever reads the log looks for what changed.
        folded = not everything and not call.as_json
        shown = [tree for tree in trees if tree.taught or not folded][:limit]
        quiet = sum(not tree.taught for tree in trees[: trees.index(shown[-1]) if shown else None]) if folded else 0
        trees, summaries = shown, Summaries(memory)
        if call.as_json:
            return Shown([summaries.record(tree) for tree in trees])
        lines = [line for tree in trees for line in _lines(tree, everything)]
        told = [f"{counted(quiet, 'conversation')} taught nothing new (--all shows them)"] if quiet else []
        if on_terminal():
            rows = [_row(summaries, line, zone(timezone)) for line in lines]
        else:
            rows = [_cells(summaries, shown) for _, shown in lines if isinstance(shown, Tree)]
            if steps := sum(len(shown) for _, shown in lines if not isinstance(shown, Tree)):
                told.append(f"{counted(steps, 'further step')} left out (--all shows them)")
        if not trees and not quiet:
            nothing = "nothing" if actor is None else f"nothing done by {checks.shown(actor)}"
            further = f"{nothing} since {since}; see further back with --since 7d or all"
            told = ["nothing happened" if actor is None else nothing] if since == "all" else [further]
        elif on_terminal():
            told.append(f"{counted(memory.count(), 'note')} in all; take one back with: {call.command('undo')} OP")
        if waiting := len(memory.reviews()):
            told.append(f"{counted(waiting, 'proposed change')} to decide: {call.command('review')}")
    columns = ("op", "when", "who", "what")
    return Table(None, columns, rows, wide="what", spare=("who", "when"), fold_below=_ROOMY, told=told)


def _cells(summaries: "Summaries", tree: "Tree") -> tuple[str, ...]:
    """Id, parent, time, actor, what it did in a word or two, state, summary."""
    from amem.summaries import deed_of

    each = tree.operation
    state = "undone" if each.undone else ""
    made = (each.at.isoformat(), each.actor, deed_of(each), state)
    return (str(each.id), str(each.parent or ""), *made, summaries.of(tree))


def _lines(tree: "Tree", everything: bool, depth: int = 0) -> "Iterator[_Line]":
    yield depth, tree
    if not (tree.taught or everything):
        return
    shown = tree.children if everything else tree.children[:_CHILDREN]
    for child in shown:
        yield from _lines(child, everything, depth + 1)
    if rest := [child.operation for child in tree.children[len(shown) :]]:
        yield depth + 1, rest


def _row(summaries: "Summaries", line: "_Line", zone: "tzinfo") -> "tuple[str | Text, ...]":
    """Operation, time, who, what."""
    depth, shown = line
    if isinstance(shown, list):
        links, rewritten = sum(each.links for each in shown), sum(len(each.notes) for each in shown)
        more = f"{len(shown):,} more (--all): {counted(links, 'link')}, {counted(rewritten, 'rewrite')}"
        return "", "", "", styled(("  " * depth + f"… {more}", "dim"))
    operation = shown.operation
    style = "dim strike" if operation.undone else "dim" if depth or not shown.taught else ""
    lead = ("  " * depth + ("↳ " if depth else ""), "dim")
    # Before the rest, which may be cut.
    what = styled(lead, ("(undone) " if operation.undone else "", "yellow"), (summaries.of(shown), style))
    return str(operation.id), when(operation.at, zone) if not depth else "", operation.actor, what


@command()
def history(
    call: Invocation,
    id: Id,
    rollback: Annotated[int | None, option("--rollback", "Set the note back to this version.")] = None,
) -> Shown:
    """Show every version of a note: what changed, by whom and why."""
    from amem.interop.json_records import version_record
    from amem.note_changes import change_words
    from amem.summaries import causes_in_words, deed

    with call.memory() as memory:
        full = memory.resolve(id, deleted=True)
        if rollback is not None:
            fields = memory.rollback(full, rollback)
            data = {"id": full, "fields": list(fields)}
            if not fields:
                return Shown(data, told=[f"nothing differs from version {rollback}"])
            return Shown(data, f"set back {', '.join(fields)} of {short_id(full)} to version {rollback}", undo=1)
        versions = memory.history(full)
        local = zone(memory.settings.timezone)
        # Of an edit the cause names the fields, which are told with what became of them.
        told = [] if call.as_json else [each for each in versions if each.action != "update"]
        causes = causes_in_words(memory, {each.cause for each in told})
    rows = []
    for each in [] if call.as_json else versions:
        # What the first version changed is that there was a note.
        changes = each.changes if each.version > 1 else {}
        changed = "; ".join(change_words(name, *values, local) for name, values in changes.items())
        rows.append(
            (each.version, each.at.isoformat(), each.actor, deed(each.action), changed, causes.get(each.cause, ""))
        )
    return Drawing(
        list(map(version_record, versions)), rows, lambda page: _draw_versions(page, versions, causes, local)
    )


def _draw_versions(page: Page, versions: "Sequence[Version]", causes: "Mapping[str, str]", zone: "tzinfo") -> None:
    from amem.summaries import deed

    for each in versions:
        head = f"  {when(each.at, zone)}  {each.actor}  {deed(each.action)}  (operation {each.operation})"
        page.line((f"version {each.version}", "bold cyan"), head)
        asked = f"prompts {each.prompts}" if each.prompts else ""
        if why := "; ".join(filter(None, (causes.get(each.cause, ""), asked))):
            page.line((f"    {why}", "dim"))
        if each.version > 1:
            draw_changes(page, each.changes, zone)


def draw_changes(page: Page, changes: "Mapping[str, tuple[Any, Any]]", zone: "tzinfo") -> None:
    """Fields with what they were and what they became, word by word."""
    from amem.note_changes import DiffKind, field_name, field_words, word_diff

    for name, values in changes.items():
        page.line((f"    {field_name(name)}", "bold"))
        pieces = word_diff(*(one_line(field_words(name, value, zone) or "(none)", 600) for value in values))
        for sign, kind, other, look in (
            ("-", DiffKind.REMOVED, DiffKind.ADDED, "red"),
            ("+", DiffKind.ADDED, DiffKind.REMOVED, "green"),
        ):
            words = [(each.text, look if each.kind is kind else "") for each in pieces if each.kind is not other]
            page.write((f"{sign} ", look), *words, indent=6, hanging=2)


@command()
def undo(
    call: Invocation,
    operation: Annotated[
        int | None, argument("OP", "Its number in the log; default: the newest.", show_default=True)
    ] = None,
) -> Shown:
    """Take back the newest operation that somebody asked for, or the one named, with all it set off.

    Later work stays. Maintenance is taken back by its number only.
    """
    with call.memory() as memory:
        decided = {each.id for each in memory.reviews()}
        report = memory.undo(operation)
        for each in memory.reviews():
            if each.id not in decided:
                call.remarks += _published(call, memory, each)
        if report.passed_over is not None:
            back = call.command("undo", str(report.passed_over))
            call.remarks.append(f"the maintenance since then was not undone; undo it with: {back}")
        return _reversed(memory, report)


def _published(call: Invocation, memory: "AgenticMemorySystem", review: "Review") -> list[str]:
    """Where the copy stays that a proposal published which is open again: it is taken back in the catalog alone."""
    from amem.maintenance.shared_notes import FIELD

    _, name = review.changes.get(FIELD, (None, ""))
    catalog = memory.catalogs.get(name)
    for each in [] if catalog is None else catalog.log(limit=_LOOKED_THROUGH, actor=memory.actor):
        if each.action == "publish" and not each.undone and short_id(review.note) in each.cause.split():
            undo = call.in_collection(name).command("undo", str(each.id))
            return [f"the copy stays in {name}; take it back with: {undo}"]
    return []


@command()
def redo(call: Invocation) -> Shown:
    """Do again what was undone last."""
    with call.memory() as memory:
        return _reversed(memory, memory.redo())


def _reversed(memory: "AgenticMemorySystem", report: "UndoReport") -> Shown:
    from amem.interop.json_records import undo_record
    from amem.summaries import reversal_lines

    done, *others = reversal_lines(memory, report)
    return Shown(undo_record(report), done, told=others)


# ``amem review``: what machines proposed and a person decides.


_SHOWN = 160
#: The newest operations of a catalog, among which a publication is looked for.
_LOOKED_THROUGH = 1000
review = typer.Typer(help="Decide the changes that machines proposed.", invoke_without_command=True)
Numbers = Annotated[list[int], argument("N", "Numbers of reviews.")]


@review.callback()
@command()
def decide(
    call: Invocation,
    interactive: Annotated[bool, option("--interactive -i", "Ask even when not on a terminal.")] = False,
) -> Shown:
    """Go through the open changes one by one on a terminal; list them elsewhere."""
    with call.browsed() as memory:
        found = memory.reviews()
        if call.as_json or not found or not (interactive or (at_terminal() and on_terminal())):
            return _listed(memory, found)
        return _asked(memory, found)


@review.command("list")
@command()
def list_reviews(call: Invocation) -> Shown:
    """List the open changes."""
    with call.browsed() as memory:
        return _listed(memory, memory.reviews())


@review.command()
@command()
def accept(call: Invocation, numbers: Numbers) -> Shown:
    """Apply proposed changes."""
    with call.memory() as memory:
        lines = [f"accepted {number}: {', '.join(memory.accept(number))}" for number in numbers]
    return Shown({"accepted": numbers}, *lines)


@review.command()
@command()
def reject(call: Invocation, numbers: Numbers) -> Shown:
    """Turn proposed changes down."""
    with call.memory() as memory:
        for number in numbers:
            memory.reject(number)
    return Shown({"rejected": numbers}, *(f"rejected {number}" for number in numbers))


@review.command()
@command()
def flags(call: Invocation) -> Shown:
    """List notes that are based on something no longer true (those that disagree: amem conflicts)."""
    with call.browsed() as memory:
        found = _leaning(memory)
        blocks = _flags(memory, found)
    names = ("note", "because", "reason", "at", "operation")
    data = [{name: getattr(each, name) for name in names} for each in found]
    return _blocks(data, blocks, [_OF_FLAGS if found else "nothing is flagged"])


#: What is listed: its cells in a pipe; on a terminal its name, words, changes and why.
_Block = tuple[tuple[object, ...], tuple[str, str, list[str], str]]
_OF_FLAGS = "amem keep ID keeps a note current, amem edit ID mends it, amem retract ID takes it back"


def _leaning(memory: "AgenticMemorySystem") -> "list[Flag]":
    """The flags but those of pairs that disagree, which `amem conflicts` lists."""
    apart = {(each.earlier, each.later) for each in memory.conflicts_open()}
    return [flag for flag in memory.flags() if (flag.note, flag.because) not in apart]


def _texts(memory: "AgenticMemorySystem", found: "Sequence[Flag | Review]") -> dict[str, str]:
    """What the notes say that these are about, by id; of one that is gone nothing."""
    notes = memory.read_many([each.note for each in found])
    return {each.note: notes[each.note].content if each.note in notes else "" for each in found}


def _flags(memory: "AgenticMemorySystem", found: "Sequence[Flag]") -> list[_Block]:
    blocks: list[_Block] = []
    texts = _texts(memory, found)
    for each in found:
        words, id = texts[each.note], short_id(each.note)
        cells = (id, one_line(words, 40), short_id(each.because), each.reason)
        blocks.append((cells, (id, title(words), [], f"may be out of date: {each.reason}")))
    return blocks


def _listed(memory: "AgenticMemorySystem", found: "Sequence[Review]") -> Shown:
    from amem.interop.json_records import review_record
    from amem.note_changes import field_name, field_words

    blocks: list[_Block] = []
    texts, local = _texts(memory, found), zone(memory.settings.timezone)
    for each in found:
        words, id, sure = texts[each.note], short_id(each.note), f"{each.confidence:.2f}"
        changes = [
            f"{field_name(name)}: {field_words(name, after, local) or '(none)'}"
            for name, (_, after) in each.changes.items()
        ]
        cells = (each.id, id, one_line(words, 40), "; ".join(changes), sure, each.reason)
        why = f"because {each.reason} ({sure})"
        blocks.append((cells, (str(each.id), f"{id}  {title(words)}", changes, why)))
    flagged = _flags(memory, _leaning(memory))
    told = [_OF_FLAGS] if flagged else [] if found else ["nothing to decide"]
    return _blocks([review_record(each) for each in found], blocks + flagged, told)


def _blocks(data: object, blocks: "Sequence[_Block]", told: list[str]) -> Shown:
    def draw(page: Page) -> None:
        for _, (name, words, changes, why) in blocks:
            hanging = len(name) + 2
            page.write((name, "cyan"), f"  {one_line(words, _SHOWN)}", hanging=hanging)
            for change in changes:
                page.write((one_line(change), "bold"), indent=hanging, hanging=2)
            page.write((one_line(why), "dim"), indent=hanging)

    return Drawing(data, (cells for cells, _ in blocks), draw, told=told)


def _asked(memory: "AgenticMemorySystem", found: "Sequence[Review]") -> Shown:
    """One after the other: accept, reject, skip, or accept all that are left."""
    page, every, accepted, rejected = Page(), False, 0, 0
    for place, each in enumerate(found, start=1):
        if not every:
            _draw_review(page, memory, each, f"{place} of {counted(len(found), 'change')}  ")
            answer = _answer()
            if answer == "q":
                break
            every = answer == "A"
        if every or answer == "a":
            memory.accept(each.id)
            accepted += 1
        elif answer == "r":
            memory.reject(each.id)
            rejected += 1
    return Shown(None, f"accepted {accepted}, rejected {rejected}, left {len(found) - accepted - rejected}")


def _answer() -> str:
    while True:
        said = typer.prompt("[a]ccept, [r]eject, [s]kip, accept [A]ll, [q]uit", default="s", err=True).strip()
        if said[:1] in ("a", "r", "s", "A", "q"):
            return str(said[:1])


def _draw_review(page: Page, memory: "AgenticMemorySystem", each: "Review", place: str) -> None:
    note = memory.read(each.note)
    page.out.print("", styled((place, "bold"), (short_id(each.note), "cyan"), f"  {each.made_by}"), sep="\n")
    if note is not None:
        page.line(f"  {one_line(note.content, 300)}")
    draw_changes(page, each.changes, zone(memory.settings.timezone))
    page.line((f"    because {each.reason} (confidence {each.confidence:.2f})", "dim"))
