"""What maintenance did, or would do: a summary above, and a line for every note below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from amem.labels import short_id
from amem.maintenance.health import amounts
from amem_tui.health.health_lines import MOST_DEEDS, by_whom
from amem_tui.lists import Line as NoteLine
from amem_tui.phrases import clean, moment, one_line, title

if TYPE_CHECKING:
    from datetime import tzinfo

    from amem.maintenance.health import Maintained
    from amem.maintenance.shift import MaintenanceReport
    from amem.memory_system import AgenticMemorySystem
    from amem_tui.health.health_lines import State


_ACTIONS = {
    "promote": "promoted",
    "demote": "demoted",
    "fade": "faded",
    "merge": "merged",
    "compress": "summed up",
    "topic": "topic",
}
_MADE = {"merge": "merged to", "compress": "summed to", "topic": "new topic"}
_ACTION_CELLS = 12
#: What a dry run names in other words, since nothing was done.
_PLANNED = {
    "promoted": "would rise",
    "demoted": "would fall",
    "faded": "would fade",
    "merged": "would merge",
    "compressed": "would sum",
    "topic": "would write",
}
_SIGNS = {"promoted": "good", "demoted": "agent", "faded": "watch", "superseded": "watch"}


def run_words(state: State, zone: tzinfo, *, ours: bool) -> Content:
    """The run that is open, unless it is `ours` and shown above, and the one that was last, phase by phase."""
    health, lines = state.health, []
    if health.open is not None and not ours:
        lines.append(_open_words(health.open, zone, gone=state.gone))
    last = health.last
    if last is None:
        lines.append(Content.styled("Nothing was maintained here yet.", "$muted"))
    else:
        ended = moment(last.finished, zone)
        lines.append(Content.assemble((f"{last.cycle} maintenance", "bold"), (f"  {ended}", "$muted")))
        if last.undone:
            lines.append(Content.styled("undone", "$warning"))
        lines += [_phase(each.name, amounts(each.counts.items())) for each in last.phases if each.finished is not None]
        lines += [_problem(problem) for problem in last.problems]
    return Content("\n").join(lines)


def rehearsal_words(report: MaintenanceReport) -> Content:
    """What a dry run says that would be done."""
    lines = [
        Content.assemble((f"{report.cycle} maintenance, if it ran now", "bold"), ("  nothing was changed", "$muted"))
    ]
    lines.append(Content(f"  {amounts(report.counts(), planned=True)}"))
    lines += [_problem(problem) for problem in report.problems]
    return Content("\n").join(lines)


def run_lines(state: State) -> list[NoteLine]:
    """What the last run did, note by note."""
    lines = []
    for deed in state.deeds:
        what = _MADE.get(deed.action, "made") if deed.made else _ACTIONS.get(deed.action, deed.action)
        name = state.titles.get(deed.note, short_id(deed.note))
        why = ["undone"] if deed.undone else []
        why += [deed.cause] if deed.cause != name else []
        lines.append(_line(deed.note, what, name, "; ".join(why), dim=deed.undone))
    if len(lines) >= MOST_DEEDS:
        lines.append(NoteLine("", "and more: the log (l) has all of it", look="dim"))
    return lines


def rehearsal_lines(memory: AgenticMemorySystem, report: MaintenanceReport) -> list[NoteLine]:
    """What a dry run would do, note by note; a page that would be new has no note yet."""
    shown = report.reasons[:MOST_DEEDS]
    cards = memory.cards_of(list(dict.fromkeys(reason.id for reason in shown if reason.id)))
    lines = []
    for reason in shown:
        name = title(cards[reason.id].text) if reason.id in cards else "a new note"
        what = _PLANNED.get(reason.what, reason.what)
        lines.append(_line(reason.id, what, name, reason.why, sign=_SIGNS.get(reason.what)))
    if len(report.reasons) > len(shown):
        lines.append(NoteLine("", f"and {len(report.reasons) - len(shown):,} more", look="dim"))
    return lines


def done_words(report: MaintenanceReport) -> str:
    """A report in a sentence."""
    goes_on = "Went on with what was stopped. " if report.resumed else ""
    failed = f" {len(report.problems)} phases failed." if report.problems else ""
    what = amounts(report.counts(), planned=report.dry_run)
    return f"{goes_on}{report.cycle} maintenance: {what}.{failed}"


def _open_words(run: Maintained, zone: tzinfo, *, gone: bool) -> Content:
    at = f", now at {run.phase}" if run.phase else ""
    if run.owner is None or gone:
        said = f"A {run.cycle} maintenance, begun {moment(run.began, zone)}, was stopped{at}; m goes on with it."
    else:
        said = f"{by_whom(run)} is at it: {run.cycle}, since {moment(run.began, zone)}{at}."
    return Content.styled(said, "$warning")


def _phase(name: str, what: str) -> Content:
    return Content.assemble(("✓ ", "$success"), f"{name:<10}", (what, "$muted"))


def _problem(problem: str) -> Content:
    return Content.assemble(("! ", "$warning"), clean(problem))


def _line(id: str, what: str, name: str, why: str, *, dim: bool = False, sign: str | None = None) -> NoteLine:
    return NoteLine(
        key=id,
        title=name,
        head=((f" {what:<{_ACTION_CELLS}}", "dim" if dim else sign or _SIGNS.get(what, "machine")),),
        below=" " * (_ACTION_CELLS - 2) + one_line(why, 600),
        look="dim" if dim else "",
    )
