"""Commands that look after a collection: tags, enrichment, the index, copies, check-ups."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from amem.cli.exits import ExitCode, ended_by_interrupt
from amem.cli.invocation import invocation, progress, tell
from amem.cli.options import Json
from amem.cli.render import (
    console,
    count,
    on_terminal,
    print_json,
    print_table,
    print_wrapped,
    say,
    say_row,
    short_id,
    size,
    styled,
)

if TYPE_CHECKING:
    from amem.receipt import Receipt
    from amem.settings import Settings

_ENRICHED = {"done": 0, "failed": 0, "remaining": 0, "errors": ()}
tags = typer.Typer(help="List, rename and merge tags.", invoke_without_command=True)


@tags.callback()
def all_tags(context: typer.Context, as_json: Json = False) -> None:
    """Every tag and how many notes carry it."""
    if context.invoked_subcommand is None:
        list_tags(context, as_json)


@tags.command("list")
def list_tags(context: typer.Context, as_json: Json = False) -> None:
    """Every tag and how many notes carry it."""
    with invocation(context).browsed(as_json) as memory:
        # As `list` and the browser count: without superseded and archived notes.
        found = memory.census().tags
    if as_json:
        return print_json([{"tag": tag, "notes": number} for tag, number in found.items()])
    print_table(("tag", "notes"), [(tag, str(number)) for tag, number in found.items()])
    if not found:
        tell("no tags")


@tags.command()
def rename(context: typer.Context, old: str, new: str, as_json: Json = False) -> None:
    """Rename a tag everywhere; where the new one is in use, the two become one."""
    _retag(context, [old], new, as_json)


@tags.command()
def merge(
    context: typer.Context,
    old: Annotated[list[str], typer.Argument(metavar="TAG", help="Tags to merge.", show_default=False)],
    into: Annotated[str, typer.Option("--into", help="The tag they become.")],
    as_json: Json = False,
) -> None:
    """Make several tags one."""
    _retag(context, old, into, as_json)


def _retag(context: typer.Context, old: list[str], new: str, as_json: bool) -> None:
    from amem.errors import NotFound

    call = invocation(context)
    with call.memory() as memory:
        known = {tag.casefold() for tag in memory.tags()}
        for tag in old:
            if tag.casefold() not in known:
                raise NotFound(f"no note has the tag {tag!r}", hint="amem tags lists them")
        changed = sum(memory.rename_tag(tag, new) for tag in old)
    if as_json:
        return print_json({"from": old, "to": new, "notes": changed})
    say(f"{', '.join(old)} → {new}: {count(changed, 'note')}")
    call.tell_undo(len(old), "each tag")


def enrich(
    context: typer.Context,
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=1, help="At most this many notes.")] = None,
    upgrade: Annotated[
        bool, typer.Option("--upgrade", help="Have a model redo what the built-in rules analysed; each can be undone.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Finish notes whose analysis waits or failed."""
    with invocation(context).browsed(as_json, empty=_ENRICHED, notify=True) as memory, progress("analysing") as bar:
        report = memory.enrich(limit, upgrade=upgrade, progress=bar)
    if as_json:
        record = {"done": report.done, "failed": report.failed, "remaining": report.remaining}
        print_json(record | {"errors": list(report.errors)})
    else:
        say(f"finished {report.done}, failed {report.failed}, waiting {report.remaining}")
    for error in report.errors[:10]:
        tell(error)
    if report.failed:
        raise typer.Exit(ExitCode.FAILED)


def work(
    context: typer.Context,
    once: Annotated[bool, typer.Option("--once", help="End when nothing waits.")] = False,
    poll: Annotated[float, typer.Option("--poll", min=0.05, help="Seconds between two looks for more.")] = 1.0,
) -> None:
    """Do what waits, as it comes, until Ctrl-C: a line for each note. Any number of these may run."""
    call = invocation(context)
    with call.browsed(notify=True, chroma=True) as memory:
        if not once:
            tell("waiting for work; Ctrl-C ends it")
        ended = memory.parts.called_off
        with ended_by_interrupt(ended):
            memory.work(once=once, poll=poll, heard=_say_worked)
        if ended.is_set():
            tell("stopped; what was not done waits")
        if once and (waiting := memory.turns_waiting()):
            night = " until the day is over" if memory.settings.chat_learning == "night" else ""
            waits = f"{count(waiting, 'turn')} of chats {'wait' if waiting > 1 else 'waits'}"
            tell(f"{waits} to be learnt from{night} (now with: {call.command('enrich')})")


def _say_worked(receipt: "Receipt") -> None:
    done = [
        count(len(each), name)
        for each, name in ((receipt.links, "link"), (receipt.evolved, "rewrite"), (receipt.queued, "review"))
        if each
    ]
    why = receipt.error or "; ".join(receipt.dropped)
    what = why if receipt.enrichment != "done" else ", ".join(done)
    say_row(short_id(receipt.id), receipt.enrichment, receipt.analyst, what)
    sys.stdout.flush()  # whoever reads along sees it now


def reindex(context: typer.Context, as_json: Json = False) -> None:
    """Embed every note anew, as after a change of the embedding model."""
    with invocation(context).memory(notify=True) as memory, progress("embedding") as bar:
        done = memory.reindex(progress=bar)
        model = memory.model_name
    if as_json:
        return print_json({"notes": done, "model": model})
    say(f"embedded {count(done, 'note')} with {model}")


def doctor(
    context: typer.Context,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what can be mended.")] = False,
    as_json: Json = False,
) -> None:
    """Check that the database, the index and the models work, and mend them (how the notes are: amem health)."""
    from amem.errors import AmemError, CollectionNotFound
    from amem.maintenance.doctor import Finding

    findings: list[Finding]
    try:
        with invocation(context).browsed(as_json, chroma=repair) as memory:
            findings = memory.doctor(repair=repair)
    except CollectionNotFound:
        raise
    except AmemError as error:
        findings = [Finding("error", "collection", str(error), error.hint)]
    if as_json:
        print_json(findings)
    elif on_terminal():
        out = console()
        for each in findings:
            mark = {"ok": ("✓ ", "green"), "warning": ("! ", "yellow")}.get(each.level, ("✗ ", "red"))
            said = (f"{each.about}: ", "bold"), each.what, (f" ({each.hint})" if each.hint else "", "dim")
            print_wrapped(out, styled(mark, *said), hanging=2)
    else:
        print_table((), [(each.level, each.about, each.what, each.hint) for each in findings])
    if any(each.level == "error" for each in findings):
        raise typer.Exit(ExitCode.FAILED)


def copy(context: typer.Context, name: str, as_json: Json = False) -> None:
    """Copy the collection, whole and consistent, to a new one in the same home."""
    with invocation(context).memory() as memory:
        folder = memory.copy(name)
    if as_json:
        return print_json({"name": name, "path": str(folder)})
    say(str(folder))


def backup(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The backup: one file, its checksum in FILE.sha256 beside it.")],
    restore: Annotated[
        bool, typer.Option("--restore", help="Make the collection of the backup, rather than the backup of it.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the backup; with --restore: the collection, which is renamed.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Back the collection up to a file, whole while others write to it, or restore it from one."""
    call = invocation(context)
    if restore:
        return _restore(call.settings(), file, force, as_json)
    with call.memory() as memory:
        made = memory.backup(file, replace=force)
    if as_json:
        return print_json({"path": str(made.path), "notes": made.notes, "bytes": made.size, "sha256": made.sha256})
    say(str(made.path))
    tell(f"{count(made.notes, 'note')}, {size(made.size)}, checked")
    tell(f"restore with: {call.command('backup', '--restore', str(file))}")


def _restore(settings: "Settings", file: Path, force: bool, as_json: bool) -> None:
    from amem.collection import collection_names, listed_collection, restore_backup

    before = set(collection_names(settings.home))
    folder = restore_backup(file, settings.home, settings.collection, replace=force)
    held = listed_collection(settings.home, settings.collection)
    kept = sorted(set(collection_names(settings.home)) - before - {settings.collection})
    if as_json:
        return print_json({"path": str(folder), "notes": held.notes, "kept": kept})
    say(str(folder))
    tell(f"{count(held.notes or 0, 'note')} restored")
    for name in kept:
        tell(f"what was there before is the collection {name}")
