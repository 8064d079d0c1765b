"""Collections as a whole: forks of one, copies and backups, those of the home, and the agents that use them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from amem.cli.command import DryRun, Shown, Table, Yes, argument, command, confirm, option
from amem.cli.completion import complete_collection
from amem.cli.invocation import Invocation, some
from amem.cli.render import one_line, when
from amem.clock import parse_time, zone
from amem.errors import InvalidInput
from amem.labels import counted, short_id, size

if TYPE_CHECKING:
    from datetime import tzinfo

    from amem.forks.diff import Side
    from amem.forks.merge import MergeReport
    from amem.memory_system import AgenticMemorySystem
    from amem.settings import Settings

_NAMED = 20
Name = Annotated[str, argument("", "Name of a collection.", show_default=True, autocompletion=complete_collection)]
New = Annotated[str, argument("", "Name of the new collection.")]


# Forks: copies to try something in.


@command()
def fork(call: Invocation, name: New) -> Shown:
    """Copy the collection to try something in the copy: amem diff and amem merge know where it is from."""
    compare, bring = call.command("diff", name), call.command("merge", name)
    return _copied(call, name, told=[f"compare with: {compare}", f"bring back with: {bring}"])


@command()
def copy(call: Invocation, name: New) -> Shown:
    """Copy the collection, whole and consistent, to a new one in the same home."""
    return _copied(call, name)


def _copied(call: Invocation, name: str, **rest: Any) -> Shown:
    with call.memory() as memory:
        return _at(name, memory.copy(name), **rest)


def _at(name: str, folder: Path, **rest: Any) -> Shown:
    return Shown({"name": name, "path": str(folder)}, str(folder), **rest)


@command()
def diff(call: Invocation, name: Name) -> Shown:
    """Show what the collection and its fork did since they were last the same."""
    with call.memory() as memory:
        found, local = memory.diff(name), zone(memory.settings.timezone)
        lines = [*_side(memory.settings.collection, found.source, local), *_side(name, found.fork, local)]
        return Shown(found.as_dict(), *lines, told=_waiting(call, memory, name))


def _waiting(call: Invocation, memory: "AgenticMemorySystem", name: str) -> list[str]:
    """How many conflicts of merges of this fork wait for a person."""
    number = sum(each.made_by == f"fork:{name}" for each in memory.reviews())
    waits = counted(number, "conflict of a merge waits", "conflicts of merges wait")
    return [f"{waits} for you; decide with: {call.command('review')}"] if number else []


def _side(name: str, side: "Side", local: "tzinfo") -> list[str]:
    if not side.notes and not side.links:
        return [f"{name}: nothing"]
    lines = [f"{name}:"]
    for note in side.notes:
        lines.append(_line(note.what, note.id, note.text))
        for each in note.fields:
            before, after = (_shown(each.field, value, local) for value in (each.before, each.after))
            lines.append(f"           {each.field}: {before} → {after}")
    links = [f"{short_id(link.source)} {link.type} {short_id(link.target)}" for link in side.links]
    return lines + [f"  {each.what:<8} {words}" for each, words in zip(side.links, links, strict=True)]


def _line(what: str, id: str, text: str) -> str:
    return f"  {what:<8} {short_id(id)}  {one_line(text, 80)}"


def _shown(field: str, value: Any, local: "tzinfo") -> str:
    from amem.note_changes import field_words

    return one_line(field_words(field, value, local), 60) or "nothing"


@command()
def merge(
    call: Invocation,
    name: Name,
    strategy: Annotated[
        str, option("--strategy", "What settles a conflict: review (you decide), ours, theirs or newest.")
    ] = "review",
    dry_run: DryRun = False,
) -> Shown:
    """Bring in what a fork did since it was made or last merged; one undo takes it back."""
    with call.memory() as memory:
        changed = memory.diff(name).fork.notes if dry_run else ()
        report = memory.merge(name, strategy, dry_run=dry_run)
        ids = [*report.changed, *report.removed, *report.joined.values()]
        texts = {note.id: note.text for note in changed} | {id: card.text for id, card in memory.cards_of(ids).items()}
        told, local = _waiting(call, memory, name), zone(memory.settings.timezone)
    joined = [
        f"both sides added it: {short_id(its)} becomes {short_id(mine)}  {one_line(texts.get(mine, ''), 80)}"
        for its, mine in report.joined.items()
    ]
    purged = [f"left out, as it was purged: {short_id(id)}" for id in report.purged]
    told = [*some(joined, _NAMED), *some(purged, _NAMED), *told, *call.undoing(report.operation)]
    return Shown(report.as_dict(), *_merged(report, texts, local), told=told)


def _merged(report: "MergeReport", texts: "Mapping[str, str]", local: "tzinfo") -> list[str]:
    """What a merge did; of a dry run also each note, by what it says."""
    lines = [f"would merge: {report.words}" if report.dry_run else report.words]
    for what, ids in (("added", report.added), ("changed", report.changed), ("removed", report.removed)):
        if report.dry_run:
            lines += [_line(what, id, texts.get(id, "")) for id in ids[:_NAMED]]
            lines += [f"  ... and {len(ids) - _NAMED:,} more {what}"] * (len(ids) > _NAMED)
    for each in report.conflicts[:_NAMED]:
        pairs = {name: (value, each.theirs.get(name)) for name, value in each.ours.items()}
        fields = ", ".join(
            f"{name}: {_shown(name, mine, local)} | {_shown(name, its, local)}"
            for name, (mine, its) in pairs.items()
            if mine != its
        )
        held = "waits for you" if each.settled == "review" else each.settled
        lines.append(f"  conflict {short_id(each.note)}  {fields}  ({held})")
    return lines


@command()
def backup(
    call: Invocation,
    file: Annotated[
        Path, argument("", "The backup: one file, its checksum in FILE.sha256 beside it.", show_default=True)
    ],
    restore: Annotated[bool, option("--restore", "Restore the collection from the backup.")] = False,
    force: Annotated[
        bool,
        option("--force", "Replace the backup; with --restore: rename the collection that is there."),
    ] = False,
) -> Shown:
    """Back the collection up to a file, whole while others write to it, or restore it from one."""
    if restore:
        return _restored(call.settings(), file, force)
    with call.memory() as memory:
        made = memory.backup(file, replace=force)
    return Shown(
        {"path": str(made.path), "notes": made.notes, "bytes": made.size, "sha256": made.sha256},
        str(made.path),
        told=[
            f"{counted(made.notes, 'note')}, {size(made.size)}, checked",
            f"restore with: {call.command('backup', '--restore', str(file))}",
        ],
    )


def _restored(settings: "Settings", file: Path, force: bool) -> Shown:
    from amem.collection_folders import collection_names, listed_collection, restore_backup

    before = set(collection_names(settings.home))
    folder = restore_backup(file, settings.home, settings.collection, replace=force)
    held = listed_collection(settings.home, settings.collection)
    kept = sorted(set(collection_names(settings.home)) - before - {settings.collection})
    told = [f"{counted(held.notes or 0, 'note')} restored"]
    told += [f"what was there before is the collection {name}" for name in kept]
    return Shown({"path": str(folder), "notes": held.notes, "kept": kept}, str(folder), told=told)


# ``amem collections``: those of the home, and what is done with one as a whole.


collections = typer.Typer(help="List, rename, archive and purge collections.", invoke_without_command=True)


@collections.callback()
@collections.command("list")
@command()
def list_collections(call: Invocation) -> Shown:
    """List the collections of the home: whose each is, where forks are from, when it was last used."""
    from amem.collection_folders import collection_names, listed_collection, with_present_origins
    from amem.forks.fork import archived

    settings = call.settings()
    listed = [listed_collection(settings.home, name) for name in collection_names(settings.home)]
    found = [each.to_dict() | {"agents": _owners(settings, each.name)} for each in with_present_origins(listed)]
    rows = [
        (
            *(each["name"], each["problem"] or f"{each['notes']:,}", size(each["bytes"]), each["origin"] or ""),
            *(", ".join(each["agents"]), (each["last_used"] or "")[:10], each["path"]),
            "" if one.notes is None else f"{one.active:,}",
        )
        for one, each in zip(listed, found, strict=True)
    ]
    told = [] if found else [call.without_notes(settings)]
    if put_away := archived(settings.home):
        told.append(f"archived: {', '.join(put_away)} (amem collections unarchive NAME brings one back)")
    columns = ("name", "notes", "size", "fork of", "agents", "last used", "path", "active")
    return Table(found, columns, rows, spare=("path", "agents", "size"), told=told)


def _owners(settings: "Settings", name: str) -> list[str]:
    """The agents that keep their notes in a collection."""
    return [agent for agent, own in settings.agents.items() if own.get("collection", agent) == name]


@collections.command("rename")
@command()
def rename_collection(call: Invocation, name: Name, new: Annotated[str, argument("", "Its new name.")]) -> Shown:
    """Give a collection another name; forks go on knowing it."""
    from amem.forks.fork import rename

    return _moved(call, new, lambda home: rename(home, name, new), f"renamed: {name} is called {new} now", name)


@collections.command("archive")
@command()
def archive_collection(call: Invocation, name: Name) -> Shown:
    """Put a collection away, out of the list; nothing of it is lost."""
    from amem.forks.fork import archive

    back = call.command("collections", "unarchive", name)
    return _moved(call, name, lambda home: archive(home, name), f"archived: {name}; bring it back with: {back}", name)


@collections.command("unarchive")
@command()
def unarchive_collection(call: Invocation, name: Annotated[str, argument("", "Name of an archived one.")]) -> Shown:
    """Bring an archived collection back into the list."""
    from amem.forks.fork import unarchive

    return _moved(call, name, lambda home: unarchive(home, name), f"{name} is in the list again")


@collections.command("purge")
@command()
def purge_collection(call: Invocation, name: Name, yes: Yes = False) -> Shown:
    """Destroy a collection with all its files. Nothing can undo that."""
    from amem.forks.fork import collection_folder, purge_collection

    collection_folder(call.settings().home, name)
    if not yes:
        confirm(
            f"Destroy the collection {name} with all its notes for good?",
            f"purging the collection {name} cannot be undone",
        )
    return _moved(call, name, lambda home: purge_collection(home, name), f"purged: {name} with all its notes")


def _moved(call: Invocation, name: str, move: Callable[[Path], Path], told: str, was: str = "") -> Shown:
    """Move a collection's folder and say so, and which agents still name one that `was` called so."""
    settings = call.settings()
    folder = move(settings.home)
    call.remarks.append(told)
    readers = [agent for agent, own in settings.agents.items() if was in list(own.get("catalogs") or ())]
    if was and (named := dict.fromkeys([*_owners(settings, was), *readers])):
        who = f"{', '.join(named)}; amem agents shows what each has"
        call.remarks.append(f"config.toml still names {was} for {who}")
    return _at(name, folder)


# ``amem agents``: who shares which collections.


@command()
def agents(call: Invocation) -> Shown:
    """List the agents that config.toml names: their collections, catalogs and rights."""
    settings = call.settings()
    found, local = [_agent(settings, name) for name in settings.agents], zone(settings.timezone)
    rows = []
    for each in found:
        notes = each["problem"] or ("" if each["notes"] is None else f"{each['notes']:,}")
        used = "never" if each["last_used"] is None else when(parse_time(each["last_used"], local), local)
        held = (notes, size(each["bytes"]), used)
        rows.append((each["name"], each["collection"], *map(", ".join, (each["catalogs"], each["publish"])), *held))
    none = f'no agents: name them in {settings.home / "config.toml"}, as with [agents.writer] and catalogs = ["team"]'
    columns = ("agent", "collection", "catalogs", "may publish to", "notes", "size", "last used")
    return Table(found, columns, rows, told=[] if found else [none])


def _agent(settings: "Settings", name: str) -> dict[str, Any]:
    """What the settings grant an agent, and what its collection holds; None where there is no collection yet."""
    from amem.collection_folders import collection_names, listed_collection

    said: dict[str, Any] = {"name": name, "collection": "", "catalogs": [], "publish": [], "notes": None, "bytes": 0}
    try:
        own = settings.as_agent(name)
    except InvalidInput as error:
        return said | {"last_used": None, "problem": str(error)}
    said |= {"collection": own.collection, "catalogs": list(own.catalogs), "publish": list(own.publish)}
    if own.collection not in collection_names(own.home):
        return said | {"last_used": None, "problem": None}
    held = listed_collection(own.home, own.collection)
    last = None if held.last_used is None else held.last_used.isoformat()
    return said | {"notes": held.notes, "bytes": held.size, "last_used": last, "problem": held.problem or None}
