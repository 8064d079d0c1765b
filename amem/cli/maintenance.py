"""Looking after a collection: maintenance, how the notes are, what waits for a model, tags, the index and check-ups."""

import hashlib
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from amem.cli.command import Drawing, Shown, Table, command
from amem.cli.exits import ExitCode, ended_by_interrupt
from amem.cli.invocation import Invocation, progress, tell
from amem.cli.options import argument, option
from amem.cli.render import (
    Page,
    count,
    cut,
    on_terminal,
    one_line,
    say_row,
    short_id,
    styled,
    when,
)
from amem.clock import zone
from amem.errors import InvalidInput
from amem.labels import title

if TYPE_CHECKING:
    from amem.maintenance.schedule import Schedule
    from amem.maintenance.shift import MaintenanceReport
    from amem.memory_system import AgenticMemorySystem
    from amem.receipt import Receipt


#: So many notes of each sort are named on a terminal.
_MOST = 12
#: When the machine does it, unless another time is given; and what it calls that.
_AT, _NAME = "03:30", "amem-maintain"


@command()
def maintain(
    call: Invocation,
    dry_run: Annotated[bool, option("--dry-run", "Say what would be done, and do nothing.")] = False,
    nightly: Annotated[bool, option("--nightly", "Layers, fading, conflicts, merging, topics.")] = False,
    weekly: Annotated[bool, option("--weekly", "Also sum up what is old and fading.")] = False,
    monthly: Annotated[bool, option("--monthly", "Also the index, and links by use.")] = False,
    all_agents: Annotated[
        bool, option("--all-agents", "Of every agent; what several noted is proposed for their catalogs.")
    ] = False,
    due: Annotated[bool, option("--due", "Only what is due, which may be nothing.")] = False,
    install: Annotated[bool, option("--install", "Have this machine do it every night.")] = False,
    uninstall: Annotated[bool, option("--uninstall", "No longer every night.")] = False,
    at: Annotated[
        str | None, option("--at", "With --install: when (03:30).", metavar="HH:MM", show_default=False)
    ] = None,
    show: Annotated[bool, option("--print", "With --install: only show what would be set up.")] = False,
) -> Shown | None:
    """Move, fade, settle, merge and sum up notes: what changed since the last time, and what time alone has moved."""
    named = [name for name, wanted in (("nightly", nightly), ("weekly", weekly), ("monthly", monthly)) if wanted]
    if len(named) + due + install + uninstall > 1:
        raise typer.BadParameter("--nightly, --weekly, --monthly, --due, --install and --uninstall exclude each other")
    for name, given in (("--print", show), ("--at", at is not None)):
        if given and not install:
            raise typer.BadParameter(f"{name} goes with --install")
    if install or uninstall:
        return _installed(call, at or _AT, show=show) if install else _uninstalled(call)
    cycle = named[0] if named else "nightly"
    if all_agents:
        return _of_all_agents(call, cycle, due=due, dry_run=dry_run)
    with call.browsed(empty={}, chroma=not dry_run) as memory:
        wanted = memory.maintenance_due() if due else cycle
        if wanted is None:
            tell("nothing is due yet; amem health says when")
            return None
        with _progress() as heard:
            report = memory.maintain(wanted, dry_run=dry_run, progress=heard)
            if not dry_run:
                heard("chroma", 0, 0)
                memory.feed_chroma()
        texts = {each.id: _text(memory, each.id) for each in report.reasons}
    call.remarks += report.problems
    name = f"{report.cycle} maintenance{', gone on with where it was stopped' if report.resumed else ''}"
    name += ", if it ran now" if report.dry_run else ""
    done = _done(report) or ["nothing to do"]
    told = [] if on_terminal() else [f"{name}: {', '.join(done)}"]
    if report.operation is not None:
        told.append(f"take all of it back with: {call.command('undo', str(report.operation))}")
    return Drawing(
        report,
        ((each.what, short_id(each.id), texts[each.id], each.why) for each in report.reasons),
        lambda page: _draw_report(page, name, done, report, texts),
        told=told,
        code=ExitCode.FAILED if report.problems else ExitCode.OK,
    )


def _of_all_agents(call: Invocation, cycle: str, *, due: bool, dry_run: bool) -> Shown:
    """Maintain the memory of each agent that has one, then propose for their catalogs what several noted alike."""
    from amem.collection import collection_names

    settings = call.settings()
    there, calls, records = collection_names(settings.home), {}, []
    for name in settings.agents:
        try:
            if settings.as_agent(name).collection in there:
                calls[name] = replace(call, agent=name, collection=None)
        except InvalidInput as error:
            tell(f"left out: {error} ({error.hint})")
    if not calls:
        tell(f"no agent has a memory yet; {call.command('agents')} lists those that are named")
    with ExitStack() as stack:
        memories = {name: stack.enter_context(of.memory(chroma=not dry_run)) for name, of in calls.items()}
        for name, memory in memories.items():
            wanted = memory.maintenance_due() if due else cycle
            report = None if wanted is None else memory.maintain(wanted, dry_run=dry_run)
            others = [other for other in memories.values() if other.folder != memory.folder]
            made = [] if dry_run else [number for other in others for number in memory.propose_shared(other)]
            records.append({"agent": name, "report": report, "proposed": made})
            if not call.as_json:
                done = f"{name}: {', '.join(_done(report)) or 'nothing to do'}"
                told = [f"{len(made)} proposed for a catalog: {calls[name].command('review')}"] if made else []
                Shown(None, done, told=told).show(call)
    return Shown(records)


def _done(report: "MaintenanceReport | None") -> list[str]:
    from amem.maintenance.health import amount

    return [] if report is None else [amount(name, number, planned=report.dry_run) for name, number in report.counts()]


def _draw_report(page: Page, name: str, done: list[str], report: "MaintenanceReport", texts: dict[str, str]) -> None:
    page.out.print(styled((name, "bold"), (f"  {report.duration:.1f} s", "dim")))
    for line in done:
        page.out.print(styled("  ", line))
    for what in dict.fromkeys(each.what for each in report.reasons):
        some = [each for each in report.reasons if each.what == what]
        page.out.print()
        for each in some[:_MOST]:
            text = cut(one_line(title(texts[each.id])), max(16, page.width // 3))
            head = ((f"{what:<11}", "bold"), (short_id(each.id), "cyan"), f"  “{text}”  " if text else "  ")
            page.write(*head, (each.why, "dim"), hanging=11)
        if len(some) > _MOST:
            page.out.print(styled((f"{'':<11}and {len(some) - _MOST:,} more (--json names all)", "dim")))


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


def _installed(call: Invocation, at: str, *, show: bool) -> Shown:
    """Have the machine maintain this collection every day at that time; with `show` only say how."""
    from amem.maintenance.schedule import install, units_folder

    schedule = _schedule(call, at)
    if show:
        units, cron = schedule.units(), schedule.cron_line()
        lines = [f"# {units_folder() / name}\n{text}" for name, text in units.items()]
        cron_lines = f"# crontab -e, where there is no systemd\n{cron}"
        return Shown({"units": units, "crontab": cron}, *lines, cron_lines)
    done = install(schedule)
    no_longer = call.command("maintain", "--uninstall")
    return Shown(
        {"by": done.by, "where": list(done.where), "at": f"{schedule.at:%H:%M}"},
        *done.where,
        told=[f"every night at {schedule.at:%H:%M}, by {done.by}; no longer with: {no_longer}"],
    )


def _uninstalled(call: Invocation) -> Shown:
    from amem.maintenance.schedule import uninstall

    gone = uninstall(_name(call))
    told = "no longer every night" if gone else "nothing was installed for this collection"
    return Shown({"removed": gone}, *gone, told=[told])


def _schedule(call: Invocation, at: str) -> "Schedule":
    from amem.maintenance.schedule import Schedule

    try:
        clock = time.fromisoformat(at).replace(second=0, microsecond=0, tzinfo=None)
    except ValueError as error:
        raise InvalidInput(f"cannot read {at!r} as a time of day", hint="write --at 03:30") from error
    # Whoever starts it knows nothing of this shell: not its folder, not its variables.
    settings = call.settings()
    words = [*_program(), "--home", str(settings.home), "--collection", settings.collection]
    if call.env_file is not None:
        words += ["--env-file", str(Path(call.env_file).absolute())]
    return Schedule(_name(call), (*words, "maintain", "--due"), clock)


def _name(call: Invocation) -> str:
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


# How the notes are, and whether everything works.


@command()
def health(call: Invocation) -> Shown:
    """How the notes are: stale, contradicting, loose, waiting, growing (that everything works: amem doctor)."""
    from amem.maintenance.health import Mark, health_lines, size

    with call.browsed(empty={}) as memory:
        found = memory.health()
        settings = memory.settings
    marks = {Mark.GOOD: ("✓ ", "green"), Mark.WATCH: ("! ", "yellow"), Mark.PLAIN: ("  ", "")}
    lines = [
        (each.mark, each.about, f"{each.what}: {each.command}" if each.command else each.what)
        for each in health_lines(found, partial(when, zone=zone(settings.timezone)))
    ]

    def draw(page: Page) -> None:
        page.out.print(styled((settings.collection, "bold"), ("  " + size(found), "dim")))
        for mark, about, what in lines:
            said = what.partition("; ")[2] if about == "notes" else what  # their number is above
            page.write(marks[mark], (f"{about:<13}", "bold"), said, hanging=15)

    return Drawing(found, (), draw, lines=[f"{about}\t{what}" for _, about, what in lines])


@command()
def doctor(call: Invocation, repair: Annotated[bool, option("--repair", "Mend what can be mended.")] = False) -> Shown:
    """Check that the database, the index and the models work, and mend them (how the notes are: amem health)."""
    from amem.errors import AmemError, CollectionNotFound
    from amem.maintenance.doctor import Finding

    try:
        with call.browsed(chroma=repair) as memory:
            findings = memory.doctor(repair=repair)
    except CollectionNotFound:
        raise
    except AmemError as error:
        findings = [Finding("error", "collection", str(error), error.hint)]

    def draw(page: Page) -> None:
        for each in findings:
            mark = {"ok": ("✓ ", "green"), "warning": ("! ", "yellow")}.get(each.level, ("✗ ", "red"))
            hint = f" ({each.hint})" if each.hint else ""
            page.write(mark, (f"{each.about}: ", "bold"), each.what, (hint, "dim"), hanging=2)

    rows = [(each.level, each.about, each.what, each.hint) for each in findings]
    failed = any(each.level == "error" for each in findings)
    return Drawing(findings, rows, draw, code=ExitCode.FAILED if failed else ExitCode.OK)


# What waits for a model, and the index.


_ENRICHED = {"done": 0, "failed": 0, "remaining": 0, "errors": ()}


@command()
def enrich(
    call: Invocation,
    limit: Annotated[int | None, option("--limit -n", "At most this many notes.", min=1)] = None,
    upgrade: Annotated[
        bool, option("--upgrade", "Have a model redo what the built-in rules analysed; each can be undone.")
    ] = False,
) -> Shown:
    """Finish notes whose analysis waits or failed."""
    with call.browsed(empty=_ENRICHED, notify=True) as memory, progress("analysing") as bar:
        report = memory.enrich(limit, upgrade=upgrade, progress=bar)
    call.remarks += report.errors[:10]
    return Shown(
        {name: getattr(report, name) for name in _ENRICHED},
        f"finished {report.done}, failed {report.failed}, waiting {report.remaining}",
        code=ExitCode.FAILED if report.failed else ExitCode.OK,
    )


@command(json=False)
def work(
    call: Invocation,
    once: Annotated[bool, option("--once", "End when nothing waits.")] = False,
    poll: Annotated[float, option("--poll", "Seconds between two looks for more.", min=0.05)] = 1.0,
) -> None:
    """Do what waits, as it comes, until Ctrl-C: a line for each note. Any number of these may run."""
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
    parts = ((receipt.links, "link"), (receipt.evolved, "rewrite"), (receipt.queued, "review"))
    done = ", ".join(count(len(each), name) for each, name in parts if each)
    why = receipt.error or "; ".join(receipt.dropped)
    say_row(short_id(receipt.id), receipt.enrichment, receipt.analyst, done if receipt.enrichment == "done" else why)
    sys.stdout.flush()  # whoever reads along sees it now


@command()
def reindex(call: Invocation) -> Shown:
    """Embed every note anew, as after a change of the embedding model."""
    with call.memory(notify=True) as memory, progress("embedding") as bar:
        done = memory.reindex(progress=bar)
        model = memory.model_name
    return Shown({"notes": done, "model": model}, f"embedded {count(done, 'note')} with {model}")


tags = typer.Typer(help="List, rename and merge tags.", invoke_without_command=True)


@tags.callback()
@tags.command("list")
@command()
def list_tags(call: Invocation) -> Shown:
    """Every tag and how many notes carry it."""
    with call.browsed() as memory:
        # As `list` and the browser count: without superseded and archived notes.
        found = memory.census().tags
    data = [{"tag": tag, "notes": number} for tag, number in found.items()]
    rows = [(tag, str(number)) for tag, number in found.items()]
    return Table(data, ("tag", "notes"), rows, told=[] if rows else ["no tags"])


@tags.command()
@command()
def rename(call: Invocation, old: str, new: str) -> Shown:
    """Rename a tag everywhere; where the new one is in use, the two become one."""
    return _retagged(call, [old], new)


@tags.command()
@command()
def merge(
    call: Invocation,
    old: Annotated[list[str], argument("TAG", "Tags to merge.")],
    into: Annotated[str, option("--into", "The tag they become.")],
) -> Shown:
    """Make several tags one."""
    return _retagged(call, old, into)


def _retagged(call: Invocation, old: list[str], new: str) -> Shown:
    from amem.errors import NotFound

    with call.memory() as memory:
        known = {tag.casefold() for tag in memory.tags()}
        for tag in old:
            if tag.casefold() not in known:
                raise NotFound(f"no note has the tag {tag!r}", hint="amem tags lists them")
        changed = sum(memory.rename_tag(tag, new) for tag in old)
    undo = f"undo with: {call.command('undo')}{' (once for each tag)' if len(old) > 1 else ''}"
    data = {"from": old, "to": new, "notes": changed}
    return Shown(data, f"{', '.join(old)} → {new}: {count(changed, 'note')}", told=[undo])
