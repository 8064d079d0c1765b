"""``amem maintain`` and ``amem health``: the night shift, now or every night, and how the notes are."""

import hashlib
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from amem.cli.exits import ExitCode
from amem.cli.invocation import invocation, tell
from amem.cli.options import Json
from amem.cli.render import (
    console,
    cut,
    on_terminal,
    one_line,
    print_json,
    print_wrapped,
    say,
    say_row,
    short_id,
    styled,
    when,
)
from amem.errors import InvalidInput
from amem.labels import title

if TYPE_CHECKING:
    from amem.cli.invocation import Invocation
    from amem.maintenance.schedule import Schedule
    from amem.maintenance.shift import MaintenanceReport
    from amem.memory_system import AgenticMemorySystem


#: So many notes of each sort are named on a terminal.
_MOST = 12
#: When the machine does it, unless another time is given.
_AT = "03:30"


def maintain(
    context: typer.Context,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")] = False,
    nightly: Annotated[bool, typer.Option("--nightly", help="Layers, fading, conflicts, merging, topics.")] = False,
    weekly: Annotated[bool, typer.Option("--weekly", help="Also sum up what is old and fading.")] = False,
    monthly: Annotated[bool, typer.Option("--monthly", help="Also the index, and links by use.")] = False,
    all_agents: Annotated[
        bool, typer.Option("--all-agents", help="Of every agent; what several noted is proposed for their catalogs.")
    ] = False,
    due: Annotated[bool, typer.Option("--due", help="Only what is due, which may be nothing.")] = False,
    install: Annotated[bool, typer.Option("--install", help="Have this machine do it every night.")] = False,
    uninstall: Annotated[bool, typer.Option("--uninstall", help="No longer every night.")] = False,
    at: Annotated[
        str | None, typer.Option("--at", help="With --install: when (03:30).", metavar="HH:MM", show_default=False)
    ] = None,
    show: Annotated[bool, typer.Option("--print", help="With --install: only show what would be set up.")] = False,
    as_json: Json = False,
) -> None:
    """Move, fade, settle, merge and sum up notes: what changed since the last time, and what time alone has moved."""
    named = [name for name, wanted in (("nightly", nightly), ("weekly", weekly), ("monthly", monthly)) if wanted]
    if len(named) + due + install + uninstall > 1:
        raise typer.BadParameter("--nightly, --weekly, --monthly, --due, --install and --uninstall exclude each other")
    for option, given in (("--print", show), ("--at", at is not None)):
        if given and not install:
            raise typer.BadParameter(f"{option} goes with --install")
    call = invocation(context)
    if install or uninstall:
        return (
            install_nightly(call, at or _AT, show=show, as_json=as_json)
            if install
            else uninstall_nightly(call, as_json)
        )
    if all_agents:
        return _of_all_agents(call, named[0] if named else "nightly", due=due, dry_run=dry_run, as_json=as_json)
    with call.browsed(as_json, empty={}, chroma=not dry_run) as memory:
        cycle = memory.maintenance_due() if due else (named[0] if named else "nightly")
        if cycle is None:
            tell("nothing is due yet; amem health says when")
            return
        with _progress() as heard:
            report = memory.maintain(cycle, dry_run=dry_run, progress=heard)
            if not dry_run:
                heard("chroma", 0, 0)
                memory.feed_chroma()
        if as_json:
            print_json(report)
        else:
            _print(memory, report)
            if report.operation is not None:
                tell(f"take all of it back with: {call.command('undo', str(report.operation))}")
    for problem in report.problems:
        tell(problem)
    if report.problems:
        raise typer.Exit(ExitCode.FAILED)


def _of_all_agents(call: "Invocation", cycle: str, *, due: bool, dry_run: bool, as_json: bool) -> None:
    """Maintain the memory of each agent that has one, then propose for their catalogs what several noted alike."""
    from contextlib import ExitStack
    from dataclasses import replace

    from amem.collection import collection_names

    settings = call.settings()
    there = collection_names(settings.home)
    names = []
    for name in settings.agents:
        try:
            names += [name] if settings.as_agent(name).collection in there else []
        except InvalidInput as error:
            tell(f"left out: {error} ({error.hint})")
    if not names:
        tell(f"no agent has a memory yet; {call.command('agents')} lists those that are named")
    records = []
    with ExitStack() as stack:
        memories = {
            name: stack.enter_context(replace(call, agent=name, collection=None).memory(chroma=not dry_run))
            for name in names
        }
        for name, memory in memories.items():
            wanted = memory.maintenance_due() if due else cycle
            report = None if wanted is None else memory.maintain(wanted, dry_run=dry_run)
            others = [other for other in memories.values() if other.folder != memory.folder]
            made = [] if dry_run else [number for other in others for number in memory.propose_shared(other)]
            records.append({"agent": name, "report": report, "proposed": made})
            if not as_json:
                say(f"{name}: {', '.join(_done(report)) or 'nothing to do'}")
                review = replace(call, agent=name, collection=None).command("review")
                tell(f"{len(made)} proposed for a catalog: {review}") if made else None
    if as_json:
        print_json(records)


def _done(report: "MaintenanceReport | None") -> list[str]:
    from amem.maintenance.health import amount

    return [] if report is None else [amount(name, number, planned=report.dry_run) for name, number in report.counts()]


def _print(memory: "AgenticMemorySystem", report: "MaintenanceReport") -> None:
    done = _done(report)
    name = f"{report.cycle} maintenance{', gone on with where it was stopped' if report.resumed else ''}"
    if report.dry_run:
        name += ", if it ran now"
    if not on_terminal():
        for each in report.reasons:
            say_row(each.what, short_id(each.id), _text(memory, each.id), each.why)
        tell(f"{name}: {', '.join(done) or 'nothing to do'}")
        return
    out = console()
    out.print(styled((name, "bold"), (f"  {report.duration:.1f} s", "dim")))
    for line in done or ["nothing to do"]:
        out.print(styled("  ", line))
    for what in dict.fromkeys(each.what for each in report.reasons):
        some = [each for each in report.reasons if each.what == what]
        out.print()
        for each in some[:_MOST]:
            text = cut(one_line(title(_text(memory, each.id))), max(16, out.width // 3))
            head = ((f"{what:<11}", "bold"), (short_id(each.id), "cyan"))
            print_wrapped(out, styled(*head, f"  “{text}”  " if text else "  ", (each.why, "dim")), hanging=11)
        if len(some) > _MOST:
            out.print(styled((f"{'':<11}and {len(some) - _MOST:,} more (--json names all)", "dim")))


def _text(memory: "AgenticMemorySystem", id: str) -> str:
    note = memory.read(id)
    return "" if note is None else note.content


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    """Says on stderr what is being done, as long as it is; nothing when that is no terminal."""
    if not sys.stderr.isatty():
        yield lambda phase, done, of: None
        return
    from rich.console import Console

    with Console(stderr=True).status("maintenance") as status:
        yield lambda phase, done, of: status.update(f"{phase}: {done:,} of {of:,}" if of else f"{phase} …")


# ``amem maintain --install``: what the machine is told to do every night, for this home and collection.


_NAME = "amem-maintain"


def install_nightly(call: "Invocation", at: str, *, show: bool, as_json: bool) -> None:
    """Have the machine maintain this collection every day at that time; with `show` only print how."""
    from amem.maintenance.schedule import install, units_folder

    schedule = _schedule(call, _time(at))
    if show:
        if as_json:
            return print_json({"units": schedule.units(), "crontab": schedule.cron_line()})
        for name, text in schedule.units().items():
            say(f"# {units_folder() / name}\n{text}")
        say(f"# crontab -e, where there is no systemd\n{schedule.cron_line()}")
        return None
    done = install(schedule)
    if as_json:
        return print_json({"by": done.by, "where": list(done.where), "at": f"{schedule.at:%H:%M}"})
    for where in done.where:
        say(where)
    tell(f"every night at {schedule.at:%H:%M}, by {done.by}; no longer with: {call.command('maintain', '--uninstall')}")
    return None


def uninstall_nightly(call: "Invocation", as_json: bool) -> None:
    """No longer."""
    from amem.maintenance.schedule import uninstall

    gone = uninstall(_name(call))
    if as_json:
        return print_json({"removed": gone})
    for each in gone:
        say(each)
    tell("no longer every night" if gone else "nothing was installed for this collection")
    return None


def _schedule(call: "Invocation", at: time) -> "Schedule":
    from amem.maintenance.schedule import Schedule

    # Whoever starts it knows nothing of this shell: not its folder, not its variables.
    settings = call.settings()
    words = [*_program(), "--home", str(settings.home), "--collection", settings.collection]
    if call.env_file is not None:
        words += ["--env-file", str(Path(call.env_file).absolute())]
    return Schedule(_name(call), (*words, "maintain", "--due"), at)


def _name(call: "Invocation") -> str:
    """One for each collection: plain for the usual one, so that it is easily found."""
    from platformdirs import user_data_path

    from amem.settings import Settings

    settings = call.settings()
    name = _NAME
    if settings.collection != Settings.model_fields["collection"].default:
        name += f"-{settings.collection}"
    if settings.home != user_data_path("amem", appauthor=False):
        name += f"-{hashlib.sha256(str(settings.home).encode()).hexdigest()[:8]}"
    return name


def _program() -> list[str]:
    """How this program is called from anywhere."""
    called = Path(sys.argv[0]).absolute()
    if called.name == "amem" and called.is_file():
        return [str(called)]
    found = shutil.which("amem")
    return [found] if found else [sys.executable, "-c", "from amem.cli import main; main()"]


def _time(text: str) -> time:
    try:
        return time.fromisoformat(text).replace(second=0, microsecond=0, tzinfo=None)
    except ValueError as error:
        raise InvalidInput(f"cannot read {text!r} as a time of day", hint="write --at 03:30") from error


# ``amem health``: how the notes are, on one screen.


def health(context: typer.Context, as_json: Json = False) -> None:
    """How the notes are: stale, contradicting, loose, waiting, growing (that everything works: amem doctor)."""
    from amem.clock import zone
    from amem.maintenance.health import Mark, health_lines, size

    with invocation(context).browsed(as_json, empty={}) as memory:
        found = memory.health()
        where = zone(memory.settings.timezone)
        name = memory.settings.collection
    if as_json:
        return print_json(found)
    terminal = on_terminal()
    out = console()
    marks = {Mark.GOOD: ("✓ ", "green"), Mark.WATCH: ("! ", "yellow"), Mark.PLAIN: ("  ", "")}
    if terminal:
        out.print(styled((name, "bold"), ("  " + size(found), "dim")))
    for line in health_lines(found, partial(when, zone=where)):
        what = f"{line.what}: {line.command}" if line.command else line.what
        if not terminal:
            say(f"{line.about}\t{what}")
            continue
        if line.about == "notes":  # their number is above
            what = what.partition("; ")[2]
        print_wrapped(out, styled(marks[line.mark], (f"{line.about:<13}", "bold"), what), hanging=15)
    return None
