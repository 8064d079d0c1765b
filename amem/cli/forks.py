"""Copies of a collection to try something in, and the collections of the home as a whole."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from amem.cli.completion import complete_collection
from amem.cli.invocation import at_terminal, invocation, tell, tell_some
from amem.cli.options import Json
from amem.cli.render import in_words, one_line, print_json, print_table, say, short_id, size

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from amem.cli.invocation import Invocation
    from amem.collection import Listed
    from amem.forks.diff import Side
    from amem.forks.merge import MergeReport
    from amem.memory_system import AgenticMemorySystem
    from amem.settings import Settings

_NAMED = 20
Name = Annotated[str, typer.Argument(help="Name of a collection.", autocompletion=complete_collection)]


def fork(context: typer.Context, name: str, as_json: Json = False) -> None:
    """Copy the collection to try something in the copy: amem diff and amem merge know where it is from."""
    call = invocation(context)
    with call.memory() as memory:
        folder = memory.copy(name)
    if as_json:
        return print_json({"name": name, "path": str(folder)})
    say(str(folder))
    tell(f"compare with: {call.command('diff', name)}")
    tell(f"bring back with: {call.command('merge', name)}")


def diff(context: typer.Context, name: Name, as_json: Json = False) -> None:
    """What the collection and its fork did since they were last the same."""
    call = invocation(context)
    with call.memory() as memory:
        found = memory.diff(name)
        here, waiting = memory.settings.collection, _waiting(memory, name)
    if as_json:
        return print_json(found.as_dict())
    _print_side(here, found.source)
    _print_side(name, found.fork)
    _tell_waiting(call, waiting)


def _waiting(memory: "AgenticMemorySystem", name: str) -> int:
    """How many conflicts of merges of this fork wait for a person."""
    return sum(each.made_by == f"fork:{name}" for each in memory.reviews())


def _tell_waiting(call: "Invocation", number: int) -> None:
    if number:
        conflicts = "1 conflict of a merge waits" if number == 1 else f"{number:,} conflicts of merges wait"
        tell(f"{conflicts} for you; decide with: {call.command('review')}")


def _print_side(name: str, side: "Side") -> None:
    if not side.notes and not side.links:
        return say(f"{name}: nothing")
    say(f"{name}:")
    for note in side.notes:
        say(f"  {note.what:<8} {short_id(note.id)}  {one_line(note.text, 80)}")
        for each in note.fields:
            say(f"           {each.field}: {_shown(each.before)} → {_shown(each.after)}")
    for link in side.links:
        say(f"  {link.what:<8} {short_id(link.source)} {link.type} {short_id(link.target)}")


def _shown(value: Any) -> str:
    return one_line(in_words(value), 60) or "nothing"


def merge(
    context: typer.Context,
    name: Name,
    strategy: Annotated[
        str, typer.Option("--strategy", help="What settles a conflict: review (you decide), ours, theirs or newest.")
    ] = "review",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what it would do.")] = False,
    as_json: Json = False,
) -> None:
    """Bring in what a fork did since it was made or last merged; one undo takes it back."""
    call = invocation(context)
    with call.memory() as memory:
        changed = memory.diff(name).fork.notes if dry_run else ()
        report = memory.merge(name, strategy, dry_run=dry_run)
        ids = [*report.changed, *report.removed, *report.joined.values()]
        texts = {note.id: note.text for note in changed} | {id: card.text for id, card in memory.cards_of(ids).items()}
        waiting = _waiting(memory, name)
    if as_json:
        return print_json(report.as_dict())
    _print_merge(report, texts)
    _tell_waiting(call, waiting)
    if report.operation is not None:
        tell(f"undo with: {call.command('undo', str(report.operation))}")


def _print_merge(report: "MergeReport", texts: "Mapping[str, str]") -> None:
    """Print what a merge did; of a dry run also each note, by what it says."""
    say(f"would merge: {report.words}" if report.dry_run else report.words)
    for what, ids in (("added", report.added), ("changed", report.changed), ("removed", report.removed)):
        for id in ids[:_NAMED] if report.dry_run else ():
            say(f"  {what:<8} {short_id(id)}  {one_line(texts.get(id, ''), 80)}")
        if report.dry_run and len(ids) > _NAMED:
            say(f"  ... and {len(ids) - _NAMED:,} more {what}")
    joined = [
        f"both sides added it: {short_id(its)} becomes {short_id(mine)}  {one_line(texts.get(mine, ''), 80)}"
        for its, mine in report.joined.items()
    ]
    tell_some(joined, _NAMED)
    for each in report.conflicts[:_NAMED]:
        pairs = {name: (value, each.theirs.get(name)) for name, value in each.ours.items()}
        fields = ", ".join(
            f"{name}: {_shown(mine)} | {_shown(its)}" for name, (mine, its) in pairs.items() if mine != its
        )
        held = "waits for you" if each.settled == "review" else each.settled
        say(f"  conflict {short_id(each.note)}  {fields}  ({held})")
    tell_some([f"left out, as it was purged: {short_id(id)}" for id in report.purged], _NAMED)


# ``amem collections``: those of the home, and what is done with one as a whole.

collections = typer.Typer(help="List, rename, archive and purge collections.", invoke_without_command=True)


@collections.callback()
def every(context: typer.Context, as_json: Json = False) -> None:
    """List the collections of the home."""
    if context.invoked_subcommand is None:
        list_collections(context, as_json)


@collections.command("list")
def list_collections(context: typer.Context, as_json: Json = False) -> None:
    """List the collections of the home: whose each is, where forks are from, when it was last used."""
    from amem.collection import collection_names, listed_collection, with_present_origins
    from amem.forks.fork import archived

    call = invocation(context)
    settings = call.settings()
    listed = [listed_collection(settings.home, name) for name in collection_names(settings.home)]
    found = [_collection(each, _owners(settings, each.name)) for each in with_present_origins(listed)]
    if as_json:
        return print_json(found)
    rows = [
        (
            *(each["name"], each["problem"] or f"{each['notes']:,}", size(each["bytes"]), each["origin"] or ""),
            *(", ".join(each["agents"]), (each["last_used"] or "")[:10], each["path"]),
        )
        for each in found
    ]
    print_table(("name", "notes", "size", "fork of", "agents", "last used", "path"), rows)
    if not found:
        call.tell_no_notes(settings)
    if put_away := archived(settings.home):
        tell(f"archived: {', '.join(put_away)} (amem collections unarchive NAME brings one back)")


def _owners(settings: "Settings", name: str) -> list[str]:
    """The agents that keep their notes in a collection."""
    return [agent for agent, own in settings.agents.items() if own.get("collection", agent) == name]


def _tell_agents(settings: "Settings", name: str) -> None:
    """Say which agents still name a collection that is not there under this name any more."""
    readers = [agent for agent, own in settings.agents.items() if name in list(own.get("catalogs") or ())]
    if named := dict.fromkeys([*_owners(settings, name), *readers]):
        tell(f"config.toml still names {name} for {', '.join(named)}; amem agents shows what each has")


def _collection(found: "Listed", agents: list[str]) -> dict[str, Any]:
    """What is said of a collection; one that does not open says why."""
    return {
        "name": found.name,
        "notes": found.notes,
        "bytes": found.size,
        "path": str(found.folder),
        "problem": found.problem or None,
        "origin": found.origin or None,
        "agents": agents,
        "last_used": None if found.last_used is None else found.last_used.isoformat(),
    }


@collections.command("rename")
def rename_collection(context: typer.Context, name: Name, new: str, as_json: Json = False) -> None:
    """Give a collection another name; forks go on knowing it."""
    from amem.forks.fork import rename

    _done(context, as_json, new, lambda home: rename(home, name, new))
    tell(f"renamed: {name} is called {new} now")
    _tell_agents(invocation(context).settings(), name)


@collections.command("archive")
def archive_collection(context: typer.Context, name: Name, as_json: Json = False) -> None:
    """Put a collection away, out of the list; nothing of it is lost."""
    from amem.forks.fork import archive

    _done(context, as_json, name, lambda home: archive(home, name))
    tell(f"archived: {name}; bring it back with: {invocation(context).command('collections', 'unarchive', name)}")
    _tell_agents(invocation(context).settings(), name)


@collections.command("unarchive")
def unarchive_collection(context: typer.Context, name: str, as_json: Json = False) -> None:
    """Bring an archived collection back into the list."""
    from amem.forks.fork import unarchive

    _done(context, as_json, name, lambda home: unarchive(home, name))
    tell(f"{name} is in the list again")


@collections.command("purge")
def purge_collection(
    context: typer.Context,
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Destroy a collection with all its files. Nothing takes that back."""
    from amem.errors import InvalidInput
    from amem.forks.fork import collection_folder, purge_collection

    collection_folder(invocation(context).settings().home, name)
    if not yes:
        if not at_terminal():
            raise InvalidInput(f"purging the collection {name} cannot be undone", hint="give --yes if you mean it")
        typer.confirm(f"Destroy the collection {name} with all its notes for good?", abort=True, err=True)
    _done(context, as_json, name, lambda home: purge_collection(home, name))
    tell(f"purged: {name} with all its notes")


def _done(context: typer.Context, as_json: bool, name: str, move: "Callable[[Path], Path]") -> None:
    folder = move(invocation(context).settings().home)
    if as_json:
        return print_json({"name": name, "path": str(folder)})
    say(str(folder))
