"""``amem vault``: a folder of Markdown files, such as an Obsidian vault, kept in step with the notes."""

from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated

import typer

from amem.cli.exits import ExitCode, ended_by_interrupt
from amem.cli.invocation import invocation, progress, tell, tell_some
from amem.cli.options import Json
from amem.cli.render import count, on_terminal, print_json, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.cli.invocation import Invocation
    from amem.vault.report import Step, SyncReport

_NAMED = 20
#: What a step is called when it is said what would be done.
_INFINITIVE = {
    "added": "add",
    "changed": "change",
    "merged": "merge",
    "renamed": "rename",
    "deleted": "delete",
    "restored": "restore",
    "linked": "link",
    "written": "write",
    "updated": "update",
    "put back": "put back",
    "removed": "remove",
}

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder; made where there is none.")]

vault = typer.Typer(help="Keep a folder of Markdown files and the notes in step, both ways.", no_args_is_help=True)


@vault.command()
def sync(
    context: typer.Context,
    folder: Folder,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Bring files and notes into step: what was changed on either side goes to the other."""
    call = invocation(context)
    with call.memory(create=not dry_run, notify=True) as memory, progress("writing files") as bar:
        report = memory.vault(folder).sync(dry_run=dry_run, progress=bar)
    if as_json:
        print_json(report)
    else:
        _print(call, report)
    if report.problems:
        raise typer.Exit(ExitCode.FAILED)


@vault.command()
def status(context: typer.Context, folder: Folder, as_json: Json = False) -> None:
    """Say what a sync would do, which conflicts wait, and which files cannot be used."""
    call = invocation(context)
    with call.memory() as memory:
        report = memory.vault(folder).sync(dry_run=True)
    if as_json:
        print_json(report)
    else:
        _print(call, report)


@vault.command()
def watch(
    context: typer.Context,
    folder: Folder,
    once: Annotated[bool, typer.Option("--once", help="End after the first sync that had something to do.")] = False,
    as_json: Json = False,
) -> None:
    """Sync whenever a file or a note changes, until Ctrl-C."""
    from amem.vault.watch import watch as watching

    call = invocation(context)

    def heard(report: "SyncReport") -> bool:
        if as_json:
            print_json(report)
        elif not report.is_quiet or report.problems:
            _print(call, report)
        return once and not report.is_quiet

    with call.memory(create=True, notify=True) as memory:
        tell(f"watching {folder} (Ctrl-C ends)")
        with ended_by_interrupt(stop := Event()):
            watching(memory.vault(folder), memory.pulse, heard, stop=stop)


def _print(call: "Invocation", report: "SyncReport") -> None:
    if report.is_quiet:
        notes = count(report.matching, "note")
        say(f"Nothing to do: {notes} {'matches its file' if report.matching == 1 else 'match their files'}")
    else:
        would = "would " if report.dry_run else ""
        _print_steps(f"{would}change in amem", report.to_notes, report.dry_run)
        _print_steps(f"{would}change in the folder", report.to_files, report.dry_run)
        for step in report.conflicts:
            say(f"conflict: {step.path}: {step.more}")
        if report.matching and on_terminal():
            tell(f"{count(report.matching, 'note')} matched before")
    tell_some([f"{step.path}: {step.more}" for step in report.remarks], _NAMED)
    tell_some([f"left alone: {step.path}: {step.more}" for step in report.problems], _NAMED)
    if report.waiting:
        tell(f"{count(len(report.waiting), 'conflict waits', 'conflicts wait')} to be settled: take from the file what")
        tell("you want into the note's own, then delete it:")
        tell_some([f"  {path}" for path in report.waiting], _NAMED)
    if report.operation is not None:
        tell(f"undo with: {call.command('undo', str(report.operation))}")


def _print_steps(title: str, steps: "Sequence[Step]", dry_run: bool) -> None:
    if not steps:
        return
    totals: dict[str, int] = {}
    for step in steps:
        totals[step.what] = totals.get(step.what, 0) + 1
    said = ", ".join(f"{number:,} {_INFINITIVE[what] if dry_run else what}" for what, number in totals.items())
    say(f"{title}: {said}")
    for step in steps[:_NAMED]:
        what = _INFINITIVE[step.what] if dry_run else step.what
        say(f"  {what:<9} {step.path}" + (f" ({step.more})" if step.more else ""))
    if len(steps) > _NAMED:
        say(f"  ... and {len(steps) - _NAMED:,} more (--json names them)")
