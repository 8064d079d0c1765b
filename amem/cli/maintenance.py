"""What is done between times, now or every night: maintenance, what would fade, and how the notes are."""

import math
import os
import shutil
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from amem.cli.command import Drawing, DryRun, Shown, argument, command, option
from amem.cli.invocation import ExitCode, Invocation, progress, tell
from amem.cli.render import Page, cell_width, on_terminal, one_line, styled, when
from amem.clock import zone
from amem.errors import InvalidInput
from amem.labels import counted, cut, short_id, title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.maintenance.forgetting_preview import Curve, FadePreview, Foreseen
    from amem.maintenance.phase import MaintenanceReport
    from amem.strength import Strength


#: So many notes of each sort are named on a terminal.
_MOST = 12
#: When the machine does it, unless another time is given.
_AT = "03:30"


@command()
def maintain(
    call: Invocation,
    dry_run: DryRun = False,
    nightly: Annotated[bool, option("--nightly", "Layers, fading, conflicts, merging, topics.")] = False,
    weekly: Annotated[bool, option("--weekly", "Also sum up what is old and fading.")] = False,
    monthly: Annotated[bool, option("--monthly", "Also the index, and links by use.")] = False,
    all_agents: Annotated[
        bool, option("--all-agents", "For every agent; what several noted is proposed for their catalogs.")
    ] = False,
    due: Annotated[bool, option("--due", "Only what is due now, if anything.")] = False,
    install: Annotated[bool, option("--install", "Run it every night on this machine.")] = False,
    uninstall: Annotated[bool, option("--uninstall", "Stop running it every night.")] = False,
    at: Annotated[
        str | None, option("--at", "With --install: when (03:30).", metavar="HH:MM", show_default=False)
    ] = None,
    show: Annotated[bool, option("--print", "With --install: only show what would be set up.")] = False,
) -> Shown | None:
    """Settle, merge, fade and sum up notes: those that changed since the last time, and those that time has changed."""
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
        with progress("maintenance") as bar:
            report = memory.maintain(
                wanted, dry_run=dry_run, progress=lambda what, done, of: bar(done, of or None, what)
            )
            if not dry_run:
                bar(0, None, "chroma")
                memory.feed_chroma()
        ids = [each.id for each in report.reasons]
        texts = dict.fromkeys(ids, "") | {id: card.text for id, card in memory.cards_of(ids).items()}
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
    from amem.collection_folders import collection_names

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
    page.line((name, "bold"), (f"  {report.duration:.1f} s", "dim"))
    for line in done:
        page.line("  ", line)
    for what in dict.fromkeys(each.what for each in report.reasons):
        some = [each for each in report.reasons if each.what == what]
        page.line()
        for each in some[:_MOST]:
            text = cut(one_line(title(texts[each.id])), max(16, page.width // 3))
            head = ((f"{what:<11}", "bold"), (short_id(each.id), "cyan"), f"  “{text}”  " if text else "  ")
            page.write(*head, (each.why, "dim"), hanging=11)
        if len(some) > _MOST:
            page.line((f"{'':<11}and {len(some) - _MOST:,} more (--json names all)", "dim"))


# ``amem maintain --install``: what the machine is told to do every night, for this home and collection.


def _installed(call: Invocation, at: str, *, show: bool) -> Shown:
    """Have the machine maintain this collection every day at that time; with `show` only say how."""
    from amem.maintenance.schedule import install, maintenance_of, units_folder

    schedule = maintenance_of(call.settings(), at, call.env_file)
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
        told=[f"it runs every night at {schedule.at:%H:%M}, by {done.by}; stop that with: {no_longer}"],
    )


def _uninstalled(call: Invocation) -> Shown:
    from amem.maintenance.schedule import name_for, uninstall

    gone = uninstall(name_for(call.settings()))
    told = "it no longer runs every night" if gone else "nothing was installed for this collection"
    return Shown({"removed": gone}, *gone, told=[told])


# How the notes are, and whether everything works.


@command()
def health(call: Invocation) -> Shown:
    """Show how the notes are: stale, contradicting, without links, waiting (amem doctor checks the program)."""
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
        page.line((settings.collection, "bold"), ("  " + size(found), "dim"))
        for mark, about, what in lines:
            said = what.partition("; ")[2] if about == "notes" else what  # their number is above
            page.write(marks[mark], (f"{about:<13}", "bold"), said, hanging=15)

    return Drawing(found, (), draw, lines=[f"{about}\t{what}" for _, about, what in lines])


# What time alone would do: notes that would fade or change layer, and curves of what is kept of them.


_SHOWN = 10
_DRAWN = (".png", ".svg", ".pdf")
_HEADINGS = {
    "faded": "to be archived: out of default search, never destroyed",
    "demoted": "back to short-term memory",
    "promoted": "to long-term memory",
    "stays": "unchanged",
}


@command()
def fade(
    call: Invocation,
    ids: Annotated[list[str] | None, argument("ID", "Only these notes; default: all.")] = None,
    days: Annotated[float, option("--days -d", "How many days to look ahead.")] = 30,
    everything: Annotated[bool, option("--all -a", f"All of them, not {_SHOWN} of each sort.")] = False,
    plot: Annotated[bool, option("--plot", "Draw what is kept of them, day by day.")] = False,
    output: Annotated[str | None, option("--output -o", "Draw that into a .png, .svg or .pdf file.")] = None,
) -> Shown:
    """Show which notes would fade or change layer if nothing recalled them, and why. Changes nothing."""
    with call.browsed(empty={}) as memory:
        preview = memory.fade(days, [memory.resolve(id) for id in ids] if ids else None)
    if output is not None:
        _save(preview, output)
    if not call.as_json:
        shown = Drawing(
            None, map(_cells, preview.notes), lambda page: _draw(page, preview, None if everything else _SHOWN)
        )
        shown.show(call)
        print_curves(preview.curves() if plot else ())
    told = []
    if not preview.notes:
        told.append(f"nothing fades or changes layer within {count_days(days)}")
    if preview.own and not ids:
        stay = "would be as weak and stay: what you wrote is archived only with archive_own_notes = true"
        told.append(f"{counted(preview.own, 'note')} of your own {stay}")
    return Shown(preview, told=told)


def count_days(days: float) -> str:
    """``1 day``, ``30 days``."""
    return "1 day" if days == 1 else f"{days:g} days"


def _save(preview: "FadePreview", path: str) -> None:
    file = Path(path).expanduser()
    if file.suffix.lower() not in _DRAWN:
        raise InvalidInput(f"cannot draw into {path}: it is no .png, .svg or .pdf file")
    if not file.parent.is_dir():
        raise InvalidInput(f"cannot draw into {path}: there is no folder {file.parent}", hint="make it first")
    preview.figure().savefig(file)
    tell(f"drawn into {path}")


def _cells(note: "Foreseen") -> tuple[str, ...]:
    """What, id, kind, strength now and then, importance, trust, recalls, age, stability, kept, the note."""
    now, then = note.now, note.then
    numbers = [f"{each:.3f}" for each in (now.value, then.value, now.importance, then.trust)]
    numbers += [str(then.recalls), f"{then.age_days:.1f}", f"{then.stability_days:.1f}", f"{then.retention:.3f}"]
    return (note.what, short_id(note.id), note.kind, *numbers, note.content)


def _draw(page: Page, preview: "FadePreview", most: int | None) -> None:
    for what, heading in _HEADINGS.items():
        notes = [note for note in preview.notes if note.what == what]
        if not notes:
            continue
        page.write((f"{len(notes):,} ", "bold"), (heading, "bold"))
        for note in notes[:most]:
            _draw_note(page, note)
        if more := len(notes) - len(notes[:most]):
            page.write((f"and {more:,} more: --all", "dim"), indent=2)
        page.line()


def _draw_note(page: Page, note: "Foreseen") -> None:
    change = f"{note.now.value:.2f} → {note.then.value:.2f}"
    head = styled("  ", (short_id(note.id), "cyan"), f"  {note.kind}  ", (change, "bold"))
    room = page.width - cell_width(head.plain) - 2
    if room >= 24:
        page.whole(head, f"  {one_line(note.content, room)}")
    else:
        page.whole(head)
        page.write(one_line(note.content, 2 * (page.width - 6)), indent=4)
    page.write((_terms(note.then, note.why), "dim"), indent=4)


def _terms(then: "Strength", why: str) -> str:
    if why.endswith(" already"):
        return why
    layer = str(then.layer).replace("_", "-")
    used = "never recalled" if not then.recalls else f"recalled {counted(then.recalls, 'time')}"
    kept = f"{then.retention:.0%} kept"
    if math.isinf(then.stability_days):
        kept = "does not decay"
    else:
        kept += f" after {count_days(round(then.age_days))} (stability {count_days(round(then.stability_days))})"
    return f"importance {then.importance:.2f} · trust {then.trust:.2f} · {used} · {kept} · {layer}"


# Retention curves in the terminal, by plotext, with a line below for each curve that says whose it is.


_WIDEST = 100


def print_curves(curves: "Sequence[Curve]") -> None:
    """What is kept of each note, by days from now; nothing for no notes."""
    from amem.maintenance.forgetting_preview import COLOURS, LETTERS, as_text

    if not curves:
        return
    colours = on_terminal() and not os.environ.get("NO_COLOR")
    print(as_text(curves, min(shutil.get_terminal_size().columns, _WIDEST), colours=colours))
    page = Page()
    for letter, colour, curve in zip(LETTERS, COLOURS, curves, strict=False):
        mark = ("━━ ", f"color({colour})") if colours else f"{letter} "
        alike = f" (and {curve.alike:,} like it)" if curve.alike else ""
        page.write(mark, (short_id(curve.id), "cyan"), f"{alike}  {one_line(curve.content, 60)}", indent=1, hanging=3)
